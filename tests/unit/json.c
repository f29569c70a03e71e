/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON writer: every form it can take, against text written by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/json.h"

/* What write() writes. */
static void assert_written(void (*write)(struct json *), const char *wanted) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct json json;
    bli_json_init(&json, out);
    write(&json);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void write_nested(struct json *json) {
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "version", "0.1.0");
    bli_json_open(json, "spec", '{');
    bli_json_number(json, "load", 0.9);
    bli_json_count(json, "seed", 18446744073709551615u);
    bli_json_close(json, '}');
    bli_json_open(json, "results", '[');
    bli_json_open(json, NULL, '{');
    bli_json_bool(json, "precise", true);
    bli_json_null(json, "theory");
    bli_json_close(json, '}');
    bli_json_open(json, NULL, '{');
    bli_json_bool(json, "precise", false);
    bli_json_close(json, '}');
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

static void nests(void **state) {
    (void)state;
    assert_written(write_nested, "{\n"
                                 "  \"version\": \"0.1.0\",\n"
                                 "  \"spec\": {\n"
                                 "    \"load\": 0.9,\n"
                                 "    \"seed\": 18446744073709551615\n"
                                 "  },\n"
                                 "  \"results\": [\n"
                                 "    {\n"
                                 "      \"precise\": true,\n"
                                 "      \"theory\": null\n"
                                 "    },\n"
                                 "    {\n"
                                 "      \"precise\": false\n"
                                 "    }\n"
                                 "  ]\n"
                                 "}\n");
}

/* What is opened inside a line stays on that line. */
static void write_lines(struct json *json) {
    bli_json_open(json, NULL, '[');
    bli_json_open_line(json, NULL, '{');
    bli_json_number(json, "mean", 2.385);
    bli_json_open(json, "tail", '[');
    bli_json_number(json, NULL, 1);
    bli_json_number(json, NULL, 0.5);
    bli_json_close(json, ']');
    bli_json_open_line(json, "none", '[');
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    bli_json_number(json, NULL, -3);
    bli_json_close(json, ']');
}

static void keeps_lines_together(void **state) {
    (void)state;
    assert_written(write_lines, "[\n"
                                "  {\"mean\": 2.385, \"tail\": [1, 0.5], \"none\": []},\n"
                                "  -3\n"
                                "]\n");
}

static void write_empty(struct json *json) {
    bli_json_open(json, NULL, '{');
    bli_json_open(json, "a", '[');
    bli_json_close(json, ']');
    bli_json_open(json, "b", '{');
    bli_json_close(json, '}');
    bli_json_close(json, '}');
}

static void empty_ones_are_short(void **state) {
    (void)state;
    assert_written(write_empty, "{\n  \"a\": [],\n  \"b\": {}\n}\n");
}

/* JSON has no NaN and no infinity. */
static void write_numbers(struct json *json) {
    bli_json_open_line(json, NULL, '[');
    const double numbers[] = {0,         -0.0, 1e300, 1e-300,   0.1,      1.0 / 3,
                              123456789, 1e15, NAN,   INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        bli_json_number(json, NULL, numbers[i]);
    bli_json_close(json, ']');
}

static void numbers_read_back_the_same(void **state) {
    (void)state;
    assert_written(write_numbers,
                   "[0, 0, 1e+300, 1e-300, 0.1, 0.3333333333333333, 123456789, 1e+15, null, null, null]\n");
}

static void write_texts(struct json *json) {
    bli_json_open_line(json, NULL, '{');
    bli_json_text(json, "a\"b", "quote \" backslash \\ slash /");
    bli_json_text(json, "controls", "\b\f\n\r\t\x01\x1f");
    bli_json_text(json, "utf-8", "\xc2\xb1 \xe2\x86\x92 \x7f");
    bli_json_text(json, "", "");
    bli_json_text(json, "no\xff", "\xc3( \xe2\x80\xae");
    bli_json_close(json, '}');
}

static void texts_are_escaped(void **state) {
    (void)state;
    assert_written(write_texts, "{\"a\\\"b\": \"quote \\\" backslash \\\\ slash /\", "
                                "\"controls\": \"\\u0008\\u000c\\u000a\\u000d\\u0009\\u0001\\u001f\", "
                                "\"utf-8\": \"\xc2\xb1 \xe2\x86\x92 \\u007f\", \"\": \"\", "
                                "\"no\uFFFD\": \"\uFFFD( \\u202e\"}\n");
}

static void write_deep(struct json *json) {
    for (int depth = 1; depth < JSON_DEPTH; depth++)
        bli_json_open_line(json, NULL, '[');
    for (int depth = 1; depth < JSON_DEPTH; depth++)
        bli_json_close(json, ']');
}

static void goes_deep(void **state) {
    (void)state;
    char wanted[2 * JSON_DEPTH] = "";
    memset(wanted, '[', JSON_DEPTH - 1);
    memset(wanted + JSON_DEPTH - 1, ']', JSON_DEPTH - 1);
    wanted[2 * (JSON_DEPTH - 1)] = '\n';
    assert_written(write_deep, wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests),
        cmocka_unit_test(keeps_lines_together),
        cmocka_unit_test(empty_ones_are_short),
        cmocka_unit_test(numbers_read_back_the_same),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(goes_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
