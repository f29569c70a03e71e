/* SPDX-License-Identifier: BSD-2-Clause */
/* The nearest of several names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *nearest(const char *text) {
    static const char *const names[] = {"servers", "service", "seed", "load", "jiq", "pod", "pi"};
    struct bli_nearest found = {.text = text, .length = strlen(text)};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bli_nearest_offer(&found, names[i]);
    return found.name ? found.name : "";
}

static void finds_the_nearest(void **state) {
    (void)state;
    assert_string_equal(nearest("server"), "servers");
    assert_string_equal(nearest("sevrers"), "servers"); /* two swapped */
    assert_string_equal(nearest("servce"), "service");
    assert_string_equal(nearest("laod"), "load");
    assert_string_equal(nearest("jqi"), "jiq");
    assert_string_equal(nearest("pod2"), "pod");
    assert_string_equal(nearest("seed"), "seed");
}

static void leaves_strangers_alone(void **state) {
    (void)state;
    assert_string_equal(nearest("throughput"), "");
    assert_string_equal(nearest("x"), "");
    assert_string_equal(nearest(""), "");
    assert_string_equal(nearest("serversserversserversserversserversservers"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_nearest),
        cmocka_unit_test(leaves_strangers_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
