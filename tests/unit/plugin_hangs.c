/* SPDX-License-Identifier: BSD-2-Clause */
/* A policy that never decides is refused in time, though it cancels the alarm of its process. usage:
 * plugin_hangs FILE */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin/examine.h"

#include <stdio.h>
#include <string.h>

static const char *file;

static void a_policy_that_never_decides_is_refused(void **state) {
    (void)state;
    struct bal_error err = {0};
    assert_int_equal(bli_plugin_examine_within(file, 1, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "it could not be examined in 1 seconds; a decision never waits"));
}

/* One that decides is examined as usual. */
static void one_that_decides_is_not(void **state) {
    (void)state;
    struct bal_error err = {0};
    assert_int_equal(bli_plugin_examine_within("jiq", 60, &err), BAL_OK);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_never_decides_is_refused),
        cmocka_unit_test(one_that_decides_is_not),
    };
    if (argc != 2)
        return 2;
    file = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
