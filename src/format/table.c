/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints aligned text tables and wrapped text. */
#include "format/table.h"

#include "base/strbuf.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void bli_table_init(struct table *table, unsigned columns) {
    *table = (struct table){.columns = columns};
}

void bli_table_fini(struct table *table) {
    for (size_t i = 0; i < table->cells; i++)
        free(table->cell[i]);
    free(table->cell);
    *table = (struct table){0};
}

static bool reserve_cell(struct table *table) {
    if (table->cells < table->capacity)
        return true;
    const size_t capacity = 2 * table->capacity + 64;
    char **cell = realloc(table->cell, capacity * sizeof *cell);
    if (!cell)
        return false;
    table->cell = cell;
    table->capacity = capacity;
    return true;
}

void bli_table_add(struct table *table, const char *format, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0 || !reserve_cell(table)) {
        if (length >= 0)
            free(text);
        table->failed = true;
        return;
    }
    bli_utf8_tame(text, "");
    table->cell[table->cells++] = text;
}

void bli_table_begin(struct table *table, const char *heads) {
    bli_table_init(table, 0);
    for (const char *end = heads; *end; heads = end + 1) {
        end = heads + strcspn(heads, "|");
        bli_table_add(table, "%.*s", (int)(end - heads), heads);
        table->columns++;
    }
}

void bli_table_add_number(struct table *table, const char *format, double value) {
    char text[64] = "";
    if (!isnan(value))
        snprintf(text, sizeof text, format, value);
    bli_table_add(table, "%s", text);
}

bool bli_table_column(struct table *table, char align, const char *head, ...) {
    char text[200];
    va_list args;
    if (table->state == BLI_TABLE_CELLS)
        return true;
    va_start(args, head);
    vsnprintf(text, sizeof text, head, args);
    va_end(args);
    bli_table_add(table, "%s", text);
    assert(table->columns + 1 < sizeof table->align);
    table->align[table->columns++] = align;
    table->state = BLI_TABLE_HEADS;
    return false;
}

bool bli_table_end_row(struct table *table) {
    const bool heads = table->state == BLI_TABLE_HEADS;
    table->state = BLI_TABLE_CELLS;
    return heads;
}

size_t bli_table_text_width(const char *text) {
    size_t width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

static size_t column_width(const struct table *table, unsigned column) {
    size_t most = 0;
    for (size_t i = column; i < table->cells; i += table->columns) {
        const size_t width = bli_table_text_width(table->cell[i]);
        most = width > most ? width : most;
    }
    return most;
}

static void print_padding(FILE *out, size_t width, const char *with) {
    while (width-- > 0)
        fputs(with, out);
}

/* Blanks are printed only when something follows them: no line ends in white space. */
static void print_row(const struct table *table, size_t first, const char *align, const size_t *width,
                      FILE *out) {
    size_t blanks = 0;
    for (unsigned column = 0; column < table->columns; column++) {
        const char *text = table->cell[first + column];
        const size_t gap = width[column] - bli_table_text_width(text);
        if (align[column] == 'r')
            blanks += gap;
        if (*text) {
            print_padding(out, blanks, " ");
            fputs(text, out);
            blanks = 0;
        }
        blanks += (align[column] == 'r' ? 0 : gap) + 2;
    }
    fputc('\n', out);
}

static void print_aligned(const struct table *table, const char *align, bool rule, FILE *out) {
    size_t *width = calloc(table->columns, sizeof *width);
    if (!width || table->failed) {
        free(width);
        bli_stream_mark_incomplete(out);
        return;
    }
    size_t total = 0;
    for (unsigned column = 0; column < table->columns; column++) {
        width[column] = column_width(table, column);
        total += width[column] + (column ? 2 : 0);
    }
    for (size_t first = 0; first + table->columns <= table->cells; first += table->columns) {
        print_row(table, first, align, width, out);
        if (rule && first == 0) {
            print_padding(out, total, "\u2500");
            fputc('\n', out);
        }
    }
    free(width);
}

static void print_escaped(const char *text, FILE *out) {
    for (; *text; text++) {
        if (strchr("|*_<>\\`", *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void print_markdown(const struct table *table, const char *align, FILE *out) {
    if (table->failed)
        bli_stream_mark_incomplete(out);
    for (size_t first = 0; !table->failed && first + table->columns <= table->cells;
         first += table->columns) {
        for (unsigned column = 0; column < table->columns; column++) {
            fputs(column ? " | " : "| ", out);
            print_escaped(table->cell[first + column], out);
        }
        fputs(" |\n", out);
        for (unsigned column = 0; first == 0 && column < table->columns; column++)
            fputs(align[column] == 'r' ? "|--:" : "|---", out);
        if (first == 0)
            fputs("|\n", out);
    }
}

void bli_table_print(const struct table *table, const char *align, enum bli_table_style style, FILE *out) {
    if (table->columns == 0 && !table->failed)
        return;
    if (style == BLI_TABLE_MARKDOWN)
        print_markdown(table, align, out);
    else
        print_aligned(table, align, style == BLI_TABLE_RULED, out);
}

/* A word, its joins as blanks. */
static void print_word(const char *word, size_t length, FILE *out) {
    for (size_t i = 0; i < length; i++)
        fputc(word[i] == *BLI_TABLE_JOIN ? ' ' : word[i], out);
}

void bli_table_wrap_at(const char *head, const char *text, unsigned indent, unsigned width, FILE *out) {
    fputs(head, out);
    size_t column = bli_table_text_width(head);
    for (bool first = true; *text; first = false) {
        const size_t length = strcspn(text, " \n");
        char word[200];
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
        const size_t more = bli_table_text_width(word);
        if (!first && column + 1 + more > width) {
            fputc('\n', out);
            column = 0;
            first = true;
        }
        const size_t blanks = !first ? 1 : column < indent ? indent - column : 0;
        print_padding(out, blanks, " ");
        print_word(text, length, out);
        column += blanks + more;
        text += length;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

void bli_table_wrap(const char *head, const char *text, unsigned indent, FILE *out) {
    bli_table_wrap_at(head, text, indent, BLI_TABLE_WIDTH, out);
}
