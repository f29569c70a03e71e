/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors: the code comes back, the text is one line that always fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/error.h"

static void fills_in_and_returns(void **state) {
    (void)state;
    struct bal_error err;
    assert_int_equal(bal_fail(&err, BAL_E_RANGE, "load %g is not a number above %d", -1.5, 0), BAL_E_RANGE);
    assert_int_equal(err.code, BAL_E_RANGE);
    assert_string_equal(err.text, "load -1.5 is not a number above 0");
}

static void nobody_need_listen(void **state) {
    (void)state;
    assert_int_equal(bal_fail(NULL, BAL_E_IO, "%s", "unheard"), BAL_E_IO);
}

/* Around the size of the text, of which only the last character is not for use. */
static void long_text_is_cut_with_dots(void **state) {
    (void)state;
    enum { ROOM = sizeof((struct bal_error *)NULL)->text };
    for (size_t length = ROOM - 6; length < ROOM + 6; length++) {
        char *piece = malloc(length + 1);
        assert_non_null(piece);
        memset(piece, 'a', length);
        piece[length] = 0;
        struct bal_error err;
        memset(&err, '#', sizeof err);
        bal_fail(&err, BAL_E_SYNTAX, "%s", piece);
        const size_t written = strlen(err.text);
        if (length < ROOM) {
            assert_string_equal(err.text, piece);
        } else {
            assert_int_equal(written, ROOM - 1);
            assert_string_equal(err.text + written - 4, "a...");
        }
        free(piece);
    }
}

/* A quoted value cannot smuggle a second line or an escape sequence to a terminal; UTF-8 passes. */
static void control_characters_are_shown(void **state) {
    (void)state;
    struct bal_error err;
    bal_fail(&err, BAL_E_UNKNOWN, "unknown policy '%s'", "a\nb\tc\033[1md\177\r\xc2\xb1");
    assert_string_equal(err.text, "unknown policy 'a b c?[1md? \xc2\xb1'");
}

static void every_code_has_a_meaning(void **state) {
    (void)state;
    static const enum bal_code codes[] = {
#define X(name, text) BAL_##name,
        BAL_CODES(X)
#undef X
    };
    const size_t count = sizeof codes / sizeof *codes;
    assert_int_equal(codes[0], 0); /* so that `if (f(...))` means failure */
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(bal_code_text(codes[i])) > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(bal_code_text(codes[i]), bal_code_text(codes[j]));
    }
    assert_non_null(bal_code_text((enum bal_code)count));
    assert_non_null(bal_code_text((enum bal_code) - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_and_returns),       cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(long_text_is_cut_with_dots), cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test(every_code_has_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
