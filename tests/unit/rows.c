/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of reports: the head of csv is that of its values, and JSON has the same columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/lab.h"
#include "report/rows.h"

#include <math.h>

struct thing {
    const char *name, *note;
    double size;
    struct bli_estimate mean;
    bool good;
    unsigned doubts;
    double tail[3];
    size_t levels;
};

static void put_thing(struct bli_rows *rows, const struct thing *thing) {
    do {
        bli_row_begin(rows);
        bli_row_quoted(rows, "name", thing->name);
        bli_row_doubts(rows, thing->doubts);
        bli_row_text(rows, "note", thing->note);
        bli_row_number(rows, "size", thing->size);
        bli_row_estimate(rows, "mean", thing->mean);
        bli_row_bool(rows, "good", thing->good, bli_no_yes);
        bli_row_list(rows, "tail", thing->tail, thing->levels);
        bli_row_count(rows, "levels", thing->levels);
    } while (bli_row_end(rows, NULL));
}

static const struct thing things[] = {
    {"a:d=2", "one, two", 0.5, {2, 0.25}, true, BLI_DOUBT_SETTLING, {1, 0.5, 0.25}, 3},
    {"b", NULL, NAN, {NAN, NAN}, false, 0, {0}, 0},
};

static void assert_rows(bool csv, bool names_only, const char *wanted) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct json json;
    bli_json_init(&json, out);
    struct bli_rows rows = {.json = csv ? NULL : &json, .csv = csv ? out : NULL, .names_only = names_only};
    if (!csv)
        bli_json_open(&json, NULL, '[');
    for (size_t i = 0; i < (names_only ? 1 : 2); i++)
        put_thing(&rows, &things[i]);
    if (!csv)
        bli_json_close(&json, ']');
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

#define NAMES "name,note,size,mean,mean.ci,good,tail,levels,doubts\n"

static void csv_has_names_once_and_doubts_last(void **state) {
    (void)state;
    assert_rows(true, false,
                NAMES "\"a:d=2\",\"one, two\",0.5,2,0.25,yes,1 0.5 0.25,3,settling\n"
                      "\"b\",,,,,no,,0,\n");
}

static void csv_without_rows_has_names(void **state) {
    (void)state;
    assert_rows(true, true, NAMES);
}

static void json_has_the_same_columns(void **state) {
    (void)state;
    assert_rows(false, false,
                "[\n"
                "  {\"name\": \"a:d=2\", \"doubts\": [\"settling\"], \"note\": \"one, two\", \"size\": 0.5, "
                "\"mean\": 2, \"mean.ci\": 0.25, \"good\": true, \"tail\": [1, 0.5, 0.25], \"levels\": 3},\n"
                "  {\"name\": \"b\", \"doubts\": [], \"note\": null, \"size\": null, \"mean\": null, "
                "\"mean.ci\": null, \"good\": false, \"tail\": [], \"levels\": 0}\n"
                "]\n");
}

static void names_of_users_are_quoted(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct bli_rows rows = {.csv = out, .quote_names = true};
    do {
        bli_row_begin(&rows);
        bli_row_number(&rows, "class.say \"a,b\"", 1);
    } while (bli_row_end(&rows, NULL));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\"class.say \"\"a,b\"\"\"\n1\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_names_once_and_doubts_last),
        cmocka_unit_test(csv_without_rows_has_names),
        cmocka_unit_test(json_has_the_same_columns),
        cmocka_unit_test(names_of_users_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
