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
    struct bal_estimate mean;
    bool good;
    unsigned doubts;
    double tail[3];
    size_t levels;
};

static void put_thing(struct bal_rows *rows, const struct thing *thing) {
    do {
        bal_row_begin(rows);
        bal_row_quoted(rows, "name", thing->name);
        bal_row_doubts(rows, thing->doubts);
        bal_row_text(rows, "note", thing->note);
        bal_row_number(rows, "size", thing->size);
        bal_row_estimate(rows, "mean", thing->mean);
        bal_row_bool(rows, "good", thing->good, bal_no_yes);
        bal_row_list(rows, "tail", thing->tail, thing->levels);
        bal_row_count(rows, "levels", thing->levels);
    } while (bal_row_end(rows, NULL));
}

static const struct thing things[] = {
    {"a:d=2", "one, two", 0.5, {2, 0.25}, true, BAL_DOUBT_SETTLING, {1, 0.5, 0.25}, 3},
    {"b", NULL, NAN, {NAN, NAN}, false, 0, {0}, 0},
};

static void assert_rows(bool csv, bool names_only, const char *wanted) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct json json;
    bal_json_init(&json, out);
    struct bal_rows rows = {.json = csv ? NULL : &json, .csv = csv ? out : NULL, .names_only = names_only};
    if (!csv)
        bal_json_open(&json, NULL, '[');
    for (size_t i = 0; i < (names_only ? 1 : 2); i++)
        put_thing(&rows, &things[i]);
    if (!csv)
        bal_json_close(&json, ']');
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
    struct bal_rows rows = {.csv = out, .quote_names = true};
    do {
        bal_row_begin(&rows);
        bal_row_number(&rows, "class.say \"a,b\"", 1);
    } while (bal_row_end(&rows, NULL));
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
