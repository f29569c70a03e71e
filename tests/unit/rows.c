/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of reports: the head of csv is that of its values, JSON has the same columns, and the same function
 * describes them and makes the JSON schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/lab.h"
#include "format/json_schema.h"
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
        bli_row_quoted(rows, "name", "who", thing->name);
        bli_row_doubts(rows, thing->doubts);
        bli_row_text(rows, "note", "", thing->note);
        bli_row_number(rows, "size", "how large|m", thing->size);
        bli_row_estimate(rows, "mean", "its mean|s", thing->mean);
        bli_row_bool(rows, "good", "", thing->good, bli_no_yes);
        bli_row_list(rows, "tail", "", thing->tail, thing->levels);
        bli_row_count(rows, "levels", "", thing->levels);
        if (bli_row_if(rows, thing->size > 1))
            bli_row_varying(rows, "p50", "half|s|`--half`", thing->mean);
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
        bli_row_number(&rows, "class.say \"a,b\"", "", 1);
    } while (bli_row_end(&rows, NULL));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "\"class.say \"\"a,b\"\"\"\n1\n");
    free(text);
}

/* The last column is not there, and is described nevertheless; rows behind the first are not. */
static void columns_are_described_once(void **state) {
    static const char *const wanted[] = {
        /* clang-format off */
        "column", "unit", "when", "what",
        "`name`", "", "", "who",
        "`note`", "", "", "",
        "`size`", "m", "", "how large",
        "`mean`, `mean.ci`", "s", "", "its mean",
        "`good`", "", "", "",
        "`tail`", "", "", "",
        "`levels`", "", "", "",
        "`p50`, `p50.ci`", "s", "`--half`", "half",
        /* clang-format on */
    };
    (void)state;
    struct table table;
    bli_table_begin(&table, "column|unit|when|what");
    struct bli_rows rows = {.names = &table};
    put_thing(&rows, &things[1]);
    put_thing(&rows, &things[0]);
    assert_int_equal(table.cells, 40); /* and the doubts */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_string_equal(table.cell[i], wanted[i]);
    assert_string_equal(table.cell[36], "`doubts`");
    bli_table_fini(&table);
}

static void write_things(struct json *json, const void *things_of) {
    struct bli_rows rows = {.json = json};
    bli_json_open(json, NULL, '{');
    bli_json_open(json, "things", '[');
    for (size_t i = 0; i < 2; i++)
        put_thing(&rows, &((const struct thing *)things_of)[i]);
    bli_json_close(json, ']');
    bli_json_open_map(json, "by_name", true);
    bli_json_count(json, "a", 1);
    bli_json_number(json, "b", 2);
    bli_json_close(json, '}');
    bli_json_number_or_text(json, "warmup", 1, NULL);
    if (bli_json_if(json, true))
        bli_json_bool(json, "perhaps", true);
    bli_json_close(json, '}');
}

/* Of a list and a map the first stands for all; what depends on a condition is not required, whether or not
 * it holds; names that vary are allowed. */
static void schema_has_what_is_written(void **state) {
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct json json;
    bli_json_init(&json, out);
    assert_true(bli_json_schema(&json, NULL, write_things, things));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "\"size\": {\"description\": \"how large\", \"unit\": \"m\", "
                                 "\"type\": [\"number\", \"null\"]}"));
    assert_non_null(strstr(text,
                           "\"additionalProperties\": {\"type\": [\"number\", \"string\", \"null\"]}, "
                           "\"required\": [\"name\", \"doubts\", \"note\", \"size\", \"mean\", \"mean.ci\", "
                           "\"good\", \"tail\", \"levels\"]"));
    assert_non_null(strstr(text, "\"by_name\": {\"type\": [\"object\", \"null\"], "
                                 "\"additionalProperties\": {\"type\": [\"integer\"]}}"));
    assert_non_null(strstr(text, "\"warmup\": {\"type\": [\"number\", \"string\", \"null\"]}"));
    assert_non_null(strstr(text, "\"required\": [\"things\", \"by_name\", \"warmup\"]"));
    assert_null(strstr(text, "p50"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_names_once_and_doubts_last), cmocka_unit_test(csv_without_rows_has_names),
        cmocka_unit_test(json_has_the_same_columns),          cmocka_unit_test(names_of_users_are_quoted),
        cmocka_unit_test(columns_are_described_once),         cmocka_unit_test(schema_has_what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
