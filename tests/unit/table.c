/* SPDX-License-Identifier: BSD-2-Clause */
/* Aligned tables: widths are those of characters, not of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/table.h"

static void assert_printed(const struct table *table, const char *align, bool rule, const char *wanted) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    bli_table_print(table, align, rule ? BLI_TABLE_RULED : BLI_TABLE_PLAIN, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, wanted);
    free(text);
}

static void add_all(struct table *table, const char *const *cells, size_t count) {
    for (size_t i = 0; i < count; i++)
        bli_table_add(table, "%s", cells[i]);
}

static void begins_with_heads_and_adds_numbers(void **state) {
    (void)state;
    struct table table;
    bli_table_begin(&table, "policy|mean||waits");
    assert_int_equal(table.columns, 4);
    bli_table_add(&table, "jsq");
    bli_table_add_number(&table, "%.2f", 1.066);
    bli_table_add_number(&table, "%.0f", 0.0 / 0.0);
    bli_table_add_number(&table, "%.1f%%", 12.34);
    assert_printed(&table, "lrrr", false,
                   "policy  mean    waits\n"
                   "jsq     1.07    12.3%\n");
    bli_table_fini(&table);
}

static void has_heads_of_its_columns_once(void **state) {
    (void)state;
    struct table table;
    bli_table_init(&table, 0);
    for (int i = 0; i < 2; i++)
        do {
            if (bli_table_column(&table, 'l', "policy"))
                bli_table_add(&table, i ? "jsq" : "random");
            if (bli_table_column(&table, 'r', "mean, %s", "ms"))
                bli_table_add_number(&table, "%.1f", i + 1);
        } while (bli_table_end_row(&table));
    assert_int_equal(table.columns, 2);
    assert_printed(&table, table.align, false,
                   "policy  mean, ms\n"
                   "random       1.0\n"
                   "jsq          2.0\n");
    bli_table_fini(&table);
    bli_table_init(&table, 0);
    assert_printed(&table, table.align, false, ""); /* no row: not even heads */
    bli_table_fini(&table);
}

static void aligns(void **state) {
    (void)state;
    static const char *const cells[] = {"policy", "mean", "note", "pod:d=2",   "2.66",
                                        "x",      "jsq",  "1.07", "a long one"};
    struct table table;
    bli_table_init(&table, 3);
    add_all(&table, cells, 9);
    assert_printed(&table, "lrl", false,
                   "policy   mean  note\n"
                   "pod:d=2  2.66  x\n"
                   "jsq      1.07  a long one\n");
    assert_printed(&table, "rlr", false,
                   " policy  mean        note\n"
                   "pod:d=2  2.66           x\n"
                   "    jsq  1.07  a long one\n");
    bli_table_fini(&table);
}

/* The rule is as wide as the widest row. */
static void draws_a_rule(void **state) {
    (void)state;
    static const char *const cells[] = {"a", "b", "cc", "ddd"};
    struct table table;
    bli_table_init(&table, 2);
    add_all(&table, cells, 4);
    assert_printed(&table, "ll", true, "a   b\n\u2500\u2500\u2500\u2500\u2500\u2500\u2500\ncc  ddd\n");
    bli_table_fini(&table);
}

static void counts_characters(void **state) {
    (void)state;
    assert_int_equal(bli_table_text_width(""), 0);
    assert_int_equal(bli_table_text_width("abc"), 3);
    assert_int_equal(bli_table_text_width("1.07 \u00b1 0.02"), 11);
    assert_int_equal(bli_table_text_width("\u2588\u2588\u258c"), 3);
    static const char *const cells[] = {"x \u00b1 y", "|", "abcdef", "|"};
    struct table table;
    bli_table_init(&table, 2);
    add_all(&table, cells, 4);
    assert_printed(&table, "ll", false, "x \u00b1 y   |\nabcdef  |\n");
    bli_table_fini(&table);
}

/* Cells are formatted when they are added, and there is no end to their number. */
static void grows(void **state) {
    (void)state;
    struct table table;
    bli_table_init(&table, 2);
    for (int i = 0; i < 1000; i++) {
        bli_table_add(&table, "%d", i);
        bli_table_add(&table, "%.1f%%", i / 10.0);
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    bli_table_print(&table, "rr", BLI_TABLE_PLAIN, out);
    fclose(out);
    size_t lines = 0;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_true(strchr(line, '\n') == line + 3 + 2 + 5);
        lines++;
    }
    assert_int_equal(lines, 1000);
    assert_non_null(strstr(text, "  7   0.7%\n"));
    assert_non_null(strstr(text, "999  99.9%\n"));
    free(text);
    bli_table_fini(&table);
    bli_table_fini(&table); /* harmless */
}

/* A row that is not complete is not printed; nor is anything of an empty table. */
static void prints_whole_rows(void **state) {
    (void)state;
    struct table table;
    bli_table_init(&table, 3);
    assert_printed(&table, "lll", true, "");
    static const char *const cells[] = {"a", "b", "c", "d", "e"};
    add_all(&table, cells, 5);
    assert_printed(&table, "lll", false, "a  b  c\n");
    bli_table_fini(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_heads_and_adds_numbers),
        cmocka_unit_test(has_heads_of_its_columns_once),
        cmocka_unit_test(aligns),
        cmocka_unit_test(draws_a_rule),
        cmocka_unit_test(counts_characters),
        cmocka_unit_test(grows),
        cmocka_unit_test(prints_whole_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
