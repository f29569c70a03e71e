/* SPDX-License-Identifier: BSD-2-Clause */
/* csv with a header: fields between commas, semicolons or tabs, in quotes where they contain one, a quote in
 * quotes written twice (RFC 4180). A field with a newline in it is not understood. */
#include "log/format.h"
#include "log/source.h"

#include <stdlib.h>

enum { COLUMNS = 1024, WANTED = 16 };

struct csv {
    char separator;
    char *header;
    struct bli_log_span name[COLUMNS];
    size_t columns;
    signed char wanted[COLUMNS]; /* which field a column is, -1: none */
    size_t last;                 /* columns behind this one are not looked at */
    int count;
    char *scratch;
};

/* A field in quotes, `at` being behind the first. Returns where it ends: behind the last. */
static const char *read_quoted(const char *at, const char *end, char **scratch, struct bli_log_span *value) {
    const char *quote = memchr(at, '"', (size_t)(end - at));
    if (!quote)
        return NULL;
    if (quote + 1 == end || quote[1] != '"') { /* nothing to resolve */
        *value = (struct bli_log_span){at, (size_t)(quote - at)};
        return quote + 1;
    }
    char *start = *scratch;
    for (; at < end; at++) {
        if (*at == '"' && (at + 1 == end || at[1] != '"')) {
            *value = (struct bli_log_span){start, (size_t)(*scratch - start)};
            return at + 1;
        }
        at += *at == '"';
        *(*scratch)++ = *at;
    }
    return NULL;
}

/* One field; *at moves to what follows it, a separator or the end. */
static bool read_field(const char **at, const char *end, char separator, char **scratch,
                       struct bli_log_span *value) {
    if (*at < end && **at == '"') {
        *at = read_quoted(*at + 1, end, scratch, value);
        return *at && (*at == end || **at == separator);
    }
    const char *stop = memchr(*at, separator, (size_t)(end - *at));
    stop = stop ? stop : end;
    *value = (struct bli_log_span){*at, (size_t)(stop - *at)};
    *at = stop;
    return true;
}

static bool split_csv(const struct bli_log_format *format, struct bli_log_span line,
                      struct bli_log_span *fields) {
    const struct csv *csv = format->state;
    const char *at = line.text, *end = line.text + line.length;
    char *scratch = csv->scratch;
    /* A line with more columns than names has a separator inside of a value: which is not known. */
    for (size_t column = 0; column < csv->columns; column++, at++) {
        struct bli_log_span value;
        if (!read_field(&at, end, csv->separator, &scratch, &value))
            return false;
        if (csv->wanted[column] >= 0)
            fields[csv->wanted[column]] = value;
        if (at == end)
            return column >= csv->last;
    }
    return false;
}

static bool same_letters(struct bli_log_span a, struct bli_log_span b) {
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++) {
        const char x = a.text[i], y = b.text[i];
        if (x != y && ((x | 32) != (y | 32) || (x | 32) < 'a' || (x | 32) > 'z'))
            return false;
    }
    return true;
}

static int find_csv_column(struct bli_log_format *format, struct bli_log_span name,
                           const struct bli_log_sample *sample, bool usual) {
    (void)sample, (void)usual;
    struct csv *csv = format->state;
    size_t column = 0;
    while (column < csv->columns && !same_letters(csv->name[column], name))
        column++;
    if (column == csv->columns || (csv->wanted[column] < 0 && csv->count == WANTED))
        return -1;
    if (csv->wanted[column] < 0)
        csv->wanted[column] = (signed char)csv->count++;
    csv->last = column > csv->last ? column : csv->last;
    return csv->wanted[column];
}

static struct bli_log_span name_of(const struct bli_log_format *format, const struct bli_log_sample *sample,
                                   size_t i) {
    (void)sample;
    const struct csv *csv = format->state;
    return i < csv->columns ? csv->name[i] : (struct bli_log_span){0};
}

static void free_csv(void *state) {
    struct csv *csv = state;
    if (csv) {
        free(csv->header);
        free(csv->scratch);
    }
    free(csv);
}

/* The one of these that the header has the most of. */
static char find_separator(struct bli_log_span header) {
    char best = ',';
    size_t most = 0;
    for (const char *c = ",;\t"; *c; c++) {
        size_t count = 0;
        for (size_t i = 0; i < header.length; i++)
            count += header.text[i] == *c;
        if (count > most) {
            best = *c;
            most = count;
        }
    }
    return best;
}

/* Names lie in the copy of the header; those that had quotes inside of quotes in what is left of it. */
static bool read_header(struct csv *csv, size_t length) {
    const char *at = csv->header, *end = at + length;
    char *scratch = csv->header + length;
    for (;; at++) {
        if (csv->columns == COLUMNS ||
            !read_field(&at, end, csv->separator, &scratch, &csv->name[csv->columns]))
            return false;
        csv->name[csv->columns] = bli_log_trim(csv->name[csv->columns]);
        csv->columns++;
        if (at == end)
            return true;
    }
}

static const struct bli_log_field_names *csv_field_names(struct bli_log_format *format,
                                                         const struct bli_log_sample *sample) {
    (void)format, (void)sample;
    return &bli_log_names_any;
}

static const struct bli_log_kind kind = {
    .find = find_csv_column, .split = split_csv, .words = csv_field_names, .name = name_of, .free = free_csv};

enum bal_code bli_log_csv_new(struct bli_log_span header, struct bli_log_format *format,
                              struct bal_error *err) {
    struct csv *csv = calloc(1, sizeof *csv);
    *format = (struct bli_log_format){.kind = &kind, .state = csv, .name = "csv"};
    if (!csv)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a log format");
    csv->header = malloc(2 * header.length + 1);
    csv->scratch = malloc(BLI_LOG_LINE_MAX);
    if (!csv->header || !csv->scratch)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a log format");
    memcpy(csv->header, header.text, header.length);
    memset(csv->wanted, -1, sizeof csv->wanted);
    csv->separator = find_separator(header);
    if (read_header(csv, header.length))
        return BAL_OK;
    char first[80];
    bli_log_show(header, first, sizeof first);
    return bal_fail(err, BAL_E_FORMAT,
                    "the first line of a csv file has the names of its columns, at most %d; this one is '%s'",
                    (int)COLUMNS, first);
}
