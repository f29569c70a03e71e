/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from outside, made harmless. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/error.h"
#include "ballast/random.h"

#include "base/utf8.h"
#include "format/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tames(const char *text, const char *keep, const char *expected) {
    char copy[200];
    snprintf(copy, sizeof copy, "%s", text);
    assert_int_equal(bli_utf8_tame(copy, keep), strlen(expected));
    assert_string_equal(copy, expected);
}

static void good_text_stays(void **state) {
    (void)state;
    tames("plain ~ text", "", "plain ~ text");
    tames("λ ± → 漢字 🙂 é", "", "λ ± → 漢字 🙂 é");
    tames("", "", "");
}

static void controls_are_question_marks(void **state) {
    (void)state;
    tames("\033[31mred\a\b\x7f", "", "?[31mred???");
    tames("one\ntwo\tthree\r", "", "one two three ");
    tames("one\ntwo\tthree\r", "\n\t", "one\ntwo\tthree ");
    tames("\033\n", "\n", "?\n");
    tames("c1 \xc2\x9b"
          "31m \xc2\x85",
          "", "c1 ?31m ?");                                            /* CSI and NEL in two bytes */
    tames("\u202egnp.exe \u2066x\u2069 \u2028", "", "?gnp.exe ?x? ?"); /* right to left, separators */
}

static void what_is_no_utf8_is_shown_so(void **state) {
    (void)state;
    tames("\xff\xfe", "", "??");
    tames("a\xc3", "", "a?");              /* cut */
    tames("a\xe2\x86", "", "a??");         /* cut */
    tames("\xc0\xaf", "", "??");           /* too long for a slash */
    tames("\xe0\x80\xaf", "", "???");      /* the same */
    tames("\xed\xa0\x80", "", "???");      /* half a surrogate pair */
    tames("\xf4\x90\x80\x80", "", "????"); /* beyond Unicode */
    tames("\x80"
          "abc",
          "", "?abc");
    tames("\xc3(", "", "?("); /* what follows is read on its own */
}

/* Whatever the bytes: what comes out is harmless, no longer, and stays as it is. */
static void any_bytes_become_harmless(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (int i = 0; i < 20000; i++) {
        char text[40], again[40];
        const size_t length = bal_rng_below(&rng, sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = (char)(1 + bal_rng_below(&rng, 255));
        text[length] = '\0';
        const size_t tamed = bli_utf8_tame(text, "");
        assert_true(tamed <= length && tamed == strlen(text));
        for (const char *at = text; *at;) {
            bool valid;
            assert_true(bli_utf8_is_harmless(bli_utf8_decode(&at, &valid)) && valid);
        }
        strcpy(again, text);
        bli_utf8_tame(again, "");
        assert_string_equal(text, again);
    }
}

static void errors_are_one_harmless_line(void **state) {
    (void)state;
    struct bal_error err;
    bal_fail(&err, BAL_E_IO, "file '%s': no", "a\033[2J\377\nb");
    assert_string_equal(err.text, "file 'a?[2J? b': no");
    char many[1000];
    for (size_t i = 0; i + 2 < sizeof many; i += 2)
        memcpy(many + i, "é", 3);
    bal_fail(&err, BAL_E_IO, "x%s", many); /* cut inside of a character */
    for (const char *at = err.text; *at;) {
        bool valid;
        bli_utf8_decode(&at, &valid);
        assert_true(valid);
    }
    assert_string_equal(err.text + strlen(err.text) - 3, "...");
}

static void field_is(const char *text, const char *expected) {
    char *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size);
    bli_csv_text(text, out);
    fclose(out);
    assert_string_equal(memory, expected);
    free(memory);
}

/* A spreadsheet computes a cell that begins like a formula. */
static void csv_fields_are_no_formulas(void **state) {
    (void)state;
    field_is("plain", "plain");
    field_is("a,\"b\"", "\"a,\"\"b\"\"\"");
    field_is("=cmd|'/C calc'!A0", "'=cmd|'/C calc'!A0");
    field_is("@SUM(1,2)", "\"'@SUM(1,2)\"");
    field_is("+x", "'+x");
    field_is("-x", "'-x");
    field_is("-1.5", "-1.5"); /* a number */
    field_is("+3", "+3");
    field_is("a=b", "a=b");
    field_is("\033[1m\377\nx", "\"\uFFFD[1m\uFFFD x\"");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text_stays),
        cmocka_unit_test(controls_are_question_marks),
        cmocka_unit_test(what_is_no_utf8_is_shown_so),
        cmocka_unit_test(any_bytes_become_harmless),
        cmocka_unit_test(errors_are_one_harmless_line),
        cmocka_unit_test(csv_fields_are_no_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
