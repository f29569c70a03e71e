/* SPDX-License-Identifier: BSD-2-Clause */
/* Aligned text tables. */
#ifndef FORMAT_TABLE_H
#define FORMAT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table {
    unsigned columns;
    size_t cells, capacity;
    char **cell;
    bool failed; /* out of memory: the printed table is incomplete */
    enum { BLI_TABLE_NEW, BLI_TABLE_HEADS, BLI_TABLE_CELLS } state; /* of one that is made by columns */
    char align[64];                                                 /* of its columns */
};

/* Cells are added row by row, the head first; each becomes one line without control characters (base/utf8.h).
 * Width is counted in characters of UTF-8. */
void bli_table_init(struct table *table, unsigned columns);
void bli_table_fini(struct table *table);
/* Begins a table with its heads, which have bars between: "load|verdict|drift". */
void bli_table_begin(struct table *table, const char *heads);
void bli_table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number in a format of one double; an empty cell for NaN. */
void bli_table_add_number(struct table *table, const char *format, double value);

/* Tables by columns: one function goes through the columns of a row, the first row twice, for the heads too.
 *
 *     do {
 *         if (bli_table_column(&table, 'r', "load"))
 *             bli_table_add(&table, "%g", point->load);
 *     } while (bli_table_end_row(&table));
 *
 * bli_table_init with no columns begins it. The head is a format; whether the cell is to be added is
 * returned. */
bool bli_table_column(struct table *table, char align, const char *head, ...)
    __attribute__((format(printf, 3, 4)));
bool bli_table_end_row(struct table *table);

/* How a table looks: aligned, without or with a rule under its head, or in Markdown, where rows stand between
 * bars, which are escaped in cells. */
enum bli_table_style { BLI_TABLE_PLAIN, BLI_TABLE_RULED, BLI_TABLE_MARKDOWN };

/* Prints all rows; align has one letter per column, 'l' or 'r'. */
void bli_table_print(const struct table *table, const char *align, enum bli_table_style style, FILE *out);

/* Prints text broken at blanks into lines of at most BLI_TABLE_WIDTH characters, all of them indented. The
 * head is in the indent of the first line. BLI_TABLE_JOIN stands for a blank at which no line ends. */
enum { BLI_TABLE_WIDTH = 96 };
#define BLI_TABLE_JOIN "\x1f"
void bli_table_wrap(const char *head, const char *text, unsigned indent, FILE *out);
/* The same with lines of at most so many characters. */
void bli_table_wrap_at(const char *head, const char *text, unsigned indent, unsigned width, FILE *out);

/* Number of characters of a UTF-8 text. */
size_t bli_table_text_width(const char *text);

#endif
