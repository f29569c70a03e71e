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
    enum { BAL_TABLE_NEW, BAL_TABLE_HEADS, BAL_TABLE_CELLS } state; /* of one that is made by columns */
    char align[64];                                                 /* of its columns */
};

/* Cells are added row by row, the head first; each becomes one line without control characters (base/utf8.h).
 * Width is counted in characters of UTF-8. */
void bal_table_init(struct table *table, unsigned columns);
void bal_table_fini(struct table *table);
/* Begins a table with its heads, which have bars between: "load|verdict|drift". */
void bal_table_begin(struct table *table, const char *heads);
void bal_table_add(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number in a format of one double; an empty cell for NaN. */
void bal_table_add_number(struct table *table, const char *format, double value);

/* Tables by columns: one function goes through the columns of a row, the first row twice, for the heads too.
 *
 *     do {
 *         if (bal_table_column(&table, 'r', "load"))
 *             bal_table_add(&table, "%g", point->load);
 *     } while (bal_table_end_row(&table));
 *
 * bal_table_init with no columns begins it. The head is a format; whether the cell is to be added is
 * returned. */
bool bal_table_column(struct table *table, char align, const char *head, ...)
    __attribute__((format(printf, 3, 4)));
bool bal_table_end_row(struct table *table);

/* How a table looks: aligned, without or with a rule under its head, or in Markdown, where rows stand between
 * bars, which are escaped in cells. */
enum bal_table_style { BAL_TABLE_PLAIN, BAL_TABLE_RULED, BAL_TABLE_MARKDOWN };

/* Prints all rows; align has one letter per column, 'l' or 'r'. */
void bal_table_print(const struct table *table, const char *align, enum bal_table_style style, FILE *out);

/* Prints text broken at blanks into lines of at most BAL_TABLE_WIDTH characters, all of them indented. The
 * head is in the indent of the first line. BAL_TABLE_JOIN stands for a blank at which no line ends. */
enum { BAL_TABLE_WIDTH = 96 };
#define BAL_TABLE_JOIN "\x1f"
void bal_table_wrap(const char *head, const char *text, unsigned indent, FILE *out);
/* The same with lines of at most so many characters. */
void bal_table_wrap_at(const char *head, const char *text, unsigned indent, unsigned width, FILE *out);

/* Number of characters of a UTF-8 text. */
size_t bal_table_text_width(const char *text);

#endif
