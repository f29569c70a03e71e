/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a report for programs. A report says once what its columns are, in a function that goes through
 * those of one row: the name of each, its value, and, by an `if`, when there is one. As csv or as JSON, the
 * head of csv included, is decided here.
 *
 *     do {
 *         bli_row_begin(rows);
 *         bli_row_number(rows, "load", point->load);
 *         bli_row_estimate(rows, "drift", point->drift);
 *     } while (bli_row_end(rows, settings));
 *
 * The first row of csv is gone through twice, for the names and for the values. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "ballast/stats.h"
#include "format/json.h"
#include "spec/setting.h"

struct bli_rows {
    struct json *json; /* a row is an object of this, or ... */
    FILE *csv;         /* ... a line of that */
    const char *half;  /* behind the name of an estimate; NULL: ".ci" */
    bool lines;        /* a JSON object in several lines */
    bool quote_names;  /* csv: of the columns that follow, which have words of users in them */
    bool names_only;   /* csv: there are no values, and one row is gone through once */
    enum { BLI_ROWS_NEW, BLI_ROWS_NAMES, BLI_ROWS_VALUES } state; /* of csv */
    bool first;                                                   /* no column of this row has been printed */
    bool doubted; /* csv has doubts behind the other columns */
    unsigned doubts;
};

void bli_row_begin(struct bli_rows *rows);
/* settings: the last column of csv; NULL: there is none. Returns whether to go through the row again. */
bool bli_row_end(struct bli_rows *rows, const struct bli_draft *settings);

/* A name is printed as it is; NULL or not finite: empty, and null in JSON. */
void bli_row_text(struct bli_rows *rows, const char *name, const char *text);
void bli_row_quoted(struct bli_rows *rows, const char *name, const char *text); /* csv always quotes it */
void bli_row_number(struct bli_rows *rows, const char *name, double value);
void bli_row_count(struct bli_rows *rows, const char *name, uint64_t count);
void bli_row_bool(struct bli_rows *rows, const char *name, bool value, const char *const words[2]);
extern const char *const bli_no_yes[2], *const bli_zero_one[2]; /* how csv says it */
void bli_row_estimate(struct bli_rows *rows, const char *name, struct bli_estimate estimate);
void bli_row_doubts(struct bli_rows *rows, unsigned doubts);
/* csv has all of them in one column, with blanks between. */
void bli_row_list(struct bli_rows *rows, const char *name, const double *value, size_t count);

#endif
