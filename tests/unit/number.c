/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people write them, there and back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/number.h"
#include "ballast/percentile.h"
#include "ballast/random.h"

#include "comma_locale.h"

static bool parse(const char *text, double *value) {
    return bli_number_parse(text, strlen(text), value);
}

static void reads_what_people_write(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"-0", 0},
        {"1", 1},
        {"+7", 7},
        {"-3", -3},
        {"0.9", 0.9},
        {".5", 0.5},
        {"5.", 5},
        {"1e6", 1e6},
        {"1E6", 1e6},
        {"2.5e-3", 2.5e-3},
        {"1e+2", 100},
        {"10k", 1e4},
        {"2M", 2e6},
        {"1.5G", 1.5e9},
        {"1e3k", 1e6},
        {"-2k", -2000},
        {"0.001k", 1},
        {"007", 7},
        {"1e-400", 0},
        {"4.9e-324", 4.9e-324},
        {"2.385", 2.385},
        {"9007199254740993", 9007199254740992.0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        if (!parse(cases[i].text, &value) || value != cases[i].value)
            fail_msg("'%s' was read as %.17g", cases[i].text, value);
    }
}

static void refuses_the_rest(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        " ",
        "1 ",
        " 1",
        "x",
        "1.5x",
        "k",
        "1kk",
        "1km",
        "1K",
        "1m",
        "1g",
        "1e",
        "1e+",
        "e5",
        ".",
        "-",
        "+",
        "--1",
        "+-1",
        "1.2.3",
        "1,5",
        "nan",
        "NaN",
        "inf",
        "-inf",
        "Infinity",
        "0x10",
        "0x1p-3",
        "1e999",
        "-1e999",
        "1e308k",
        "1'000",
        "1_000",
        "\t1",
        "1\n",
        "\xef\xbc\x91",
        "1e5.5",
        "ten",
        "1k5",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 2.385;
        if (parse(cases[i], &value))
            fail_msg("'%s' was read as %.17g", cases[i], value);
        assert_true(value == 2.385); /* untouched */
    }
    char digits[200];
    memset(digits, '1', sizeof digits);
    double value;
    assert_false(bli_number_parse(digits, sizeof digits, &value)); /* too long to be meant */
}

/* Only the given characters count, and nothing behind them is read. */
static void minds_the_length(void **state) {
    (void)state;
    double value = NAN;
    assert_true(bli_number_parse("12,34", 2, &value) && value == 12);
    assert_true(bli_number_parse("1e55", 3, &value) && value == 1e5);
    assert_false(bli_number_parse("1e55", 2, &value));
    assert_false(bli_number_parse("12k", 0, &value));
    char *tight = malloc(3); /* not terminated: the sanitizer sees a step beyond */
    assert_non_null(tight);
    memcpy(tight, "2.5", 3);
    assert_true(bli_number_parse(tight, 3, &value) && value == 2.5);
    free(tight);
}

static void reads_the_longest_number(void **state) {
    (void)state;
    static const struct {
        const char *text, *rest;
        double value;
    } cases[] = {
        {"1.5;2", ";2", 1.5}, {"3e4)", ")", 3e4}, {"3e)", "e)", 3}, {"3e+)", "e+)", 3},      {"7x", "x", 7},
        {"10k", "k", 10},     {"0x10", "x10", 0}, {"1.", "", 1},    {"1e999", "", INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = NAN;
        const char *rest = bli_number_read(cases[i].text, &value);
        assert_non_null(rest);
        assert_string_equal(rest, cases[i].rest);
        assert_true(value == cases[i].value);
    }
    double value = 2.385;
    assert_null(bli_number_read("", &value));
    assert_null(bli_number_read(" 1", &value));
    assert_null(bli_number_read("-.e1", &value));
    assert_null(bli_number_read("nan", &value));
    assert_true(value == 2.385);
}

static void prints_the_shortest(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {1, "1"},
        {-3, "-3"},
        {0.1, "0.1"},
        {2.385, "2.385"},
        {1e5, "100000"},
        {123456789012345, "123456789012345"},
        {999999999999999, "999999999999999"},
        {1.0 / 3, "0.3333333333333333"},
        {1e-5, "1e-05"},
        {-2.5, "-2.5"},
        {0.30000000000000004, "0.30000000000000004"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BLI_NUMBER_TEXT];
        bli_number_print(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Any finite double comes back, bit for bit, and fits. */
static void survives_printing(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 61, 0, BAL_STREAM_TEST);
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = bal_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[BLI_NUMBER_TEXT + 1];
        memset(text, '#', sizeof text);
        bli_number_print(value, text);
        assert_true(memchr(text, 0, BLI_NUMBER_TEXT) != NULL && text[BLI_NUMBER_TEXT] == '#');
        double back;
        assert_true(parse(text, &back));
        assert_memory_equal(&back, &value, sizeof value);
        int digits = 0;
        for (const char *c = text; *c && *c != 'e'; c++)
            digits += *c >= '0' && *c <= '9';
        if (digits > 1 && fabs(value) > 1e15) { /* always with an exponent: one digit less would not do */
            char fewer[400];
            snprintf(fewer, sizeof fewer, "%.*e", digits - 2, value);
            assert_true(strtod(fewer, NULL) != value);
        }
    }
}

/* A program with a comma for its decimal point reads and prints the same. */
static void the_locale_plays_no_part(void **state) {
    (void)state;
    char directory[] = "/tmp/ballast-locale-XXXXXX";
    enter_comma_locale(directory);
    char text[BLI_NUMBER_TEXT], same[BLI_NUMBER_TEXT];
    double value = NAN, other = NAN;
    bli_number_print(0.5, text);
    const bool point = parse("2.385", &value), comma = parse("2,385", &other);
    snprintf(same, sizeof same, "%.1f", 0.5);
    leave_comma_locale(directory);
    assert_string_equal(same, "0,5"); /* the program's own locale is still what it was */
    assert_string_equal(text, "0.5");
    assert_true(point && value == 2.385 && !comma);
}

static void shares_may_be_in_percent(void **state) {
    (void)state;
    double value = NAN;
    assert_true(bli_share_parse("12.5%", 5, &value) && value == 0.125);
    assert_true(bli_share_parse("0.9", 3, &value) && value == 0.9);
    assert_false(bli_share_parse("%", 1, &value) || bli_share_parse("5%%", 3, &value) ||
                 bli_share_parse("", 0, &value) || bli_share_parse("5 %", 3, &value));
}

static void percentiles_have_one_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *shown, *name;
        double quantile;
    } good[] = {{"p95", "p95", "p95", 0.95},
                {"p99.9", "p99.9", "p999", 0.999},
                {"p999", "p99.9", "p999", 0.999},
                {"p97.5", "p97.5", "p975", 0.975},
                {"p2.5", "p2.5", "p2.5", 0.025},
                {"p50", "p50", "p50", 0.5},
                {"p9", "p9", "p9", 0.09},
                {"p99.999", "p99.999", "p99999", 0.99999},
                {"p9999", "p99.99", "p9999", 0.9999},
                {"p9.75", "p9.75", "p9.75", 0.0975},
                {"p99.999999", "p99.999999", "p99999999", 0.99999999},
                {"p0.000001", "p0.000001", "p0.000001", 1e-8}};
    char text[BLI_PERCENTILE_TEXT];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double quantile = NAN, again = NAN;
        assert_int_equal(bli_percentile_parse(good[i].text, strlen(good[i].text), &quantile, NULL), BAL_OK);
        assert_true(fabs(quantile - good[i].quantile) < 1e-15);
        assert_string_equal(bli_percentile_print(quantile, text), good[i].shown);
        assert_string_equal(bli_percentile_name(quantile, text), good[i].name);
        assert_int_equal(bli_percentile_parse(text, strlen(text), &again, NULL), BAL_OK);
        assert_true(again == quantile);
    }
    static const char *const bad[] = {
        "p0",   "p100",       "p101",        "p9.",        "p",
        "95",   "p-1",        "p1e1",        "p.5",        "p95%",
        "p 95", "p0.0",       "pp5",         "p9.5.1",     "p95x",
        "p5k",  "p0.0000001", "p99.9999999", "p999999999", "p99.99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bal_error err = {0};
        double quantile = NAN;
        assert_int_equal(bli_percentile_parse(bad[i], strlen(bad[i]), &quantile, &err), BAL_E_RANGE);
        assert_true(isnan(quantile) && strstr(err.text, bad[i]) && strstr(err.text, "p99.9"));
    }
}

static void lists_of_percentiles_are_sorted(void **state) {
    (void)state;
    struct bli_percentiles p = {0};
    assert_int_equal(bli_percentiles_add("99.9, p50", &p, NULL), BAL_OK);
    assert_int_equal(bli_percentiles_add("95", &p, NULL), BAL_OK);
    assert_int_equal(p.count, 3);
    assert_true(p.quantile[0] == 0.5 && p.quantile[1] == 0.95 && fabs(p.quantile[2] - 0.999) < 1e-15);
    static const char *const bad[] = {"", "50,", ",50", "50 95", "50,50", "50,100", "1,2,3,4,5,6,7,8,9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(bli_percentiles_add(bad[i], &p, NULL), BAL_OK);
    assert_int_equal(p.count, 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_people_write),   cmocka_unit_test(refuses_the_rest),
        cmocka_unit_test(minds_the_length),          cmocka_unit_test(reads_the_longest_number),
        cmocka_unit_test(prints_the_shortest),       cmocka_unit_test(survives_printing),
        cmocka_unit_test(the_locale_plays_no_part),  cmocka_unit_test(shares_may_be_in_percent),
        cmocka_unit_test(percentiles_have_one_name), cmocka_unit_test(lists_of_percentiles_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
