/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of a report for programs. A report says once what its columns are, in a function that goes through
 * those of one row: the name of each, what it is, its value, and, by an `if`, when there is one. As csv or as
 * JSON, the head of csv included, is decided here; or the columns are described, for help, documentation and
 * the JSON schema (report/report_columns.h).
 *
 *     do {
 *         bli_row_begin(rows);
 *         bli_row_number(rows, "load", "arriving work|of the capacity", point->load);
 *         if (bli_row_if(rows, point->lost > 0))
 *             bli_row_estimate(rows, "lost", "jobs that get lost|share|with --buffer", point->lost);
 *     } while (bli_row_end(rows, settings));
 *
 * What it is: "meaning", "meaning|unit", or "meaning|unit|when there is such a column".
 * The first row of csv is gone through twice, for the names and for the values. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "ballast/experiment.h"
#include "format/json.h"
#include "format/table.h"
#include "spec/setting.h"

/* How a report is printed. */
enum bli_form { BLI_FORM_TEXT, BLI_FORM_CSV, BLI_FORM_JSON, BLI_FORM_MARKDOWN };

struct bli_rows {
    FILE *text; /* the report is for people; or */
    enum bli_table_style style;
    struct json *json;   /* a row is an object of this, or ... */
    FILE *csv;           /* ... a line of that; or ... */
    struct table *names; /* ... there are no values, and each column is a line of this */
    const char *half;    /* behind the name of an estimate; NULL: ".ci" */
    bool lines;          /* a JSON object in several lines */
    bool quote_names;    /* csv: of the columns that follow, which have words of users in them */
    bool names_only;     /* csv: there are no values, and one row is gone through once */
    enum { BLI_ROWS_NEW, BLI_ROWS_NAMES, BLI_ROWS_VALUES } state; /* of csv */
    bool first;                                                   /* no column of this row has been printed */
    bool doubted; /* csv has doubts behind the other columns */
    unsigned doubts;
    struct json own; /* what `json` may be */
};

/* Returns rows, which must stay where they are. BLI_ROWS has them in the block around it. */
struct bli_rows *bli_rows_init(struct bli_rows *rows, enum bli_form form, FILE *out);
#define BLI_ROWS(form, out) bli_rows_init(&(struct bli_rows){.text = NULL}, form, out)
/* Opens the object that most reports are. */
void bli_rows_open(struct bli_rows *rows);

void bli_row_begin(struct bli_rows *rows);
/* settings: the last column of csv; NULL: there is none. Returns whether to go through the row again. */
bool bli_row_end(struct bli_rows *rows, const struct bli_draft *settings);

/* A case for reports that print a sample of themselves: one server, random, and the settings that say so. */
struct bli_draft bli_rows_sample(void);

/* Is there a column that is there under this condition? Where columns are described, each is. */
bool bli_row_if(const struct bli_rows *rows, bool condition);

/* A name is printed as it is; NULL or not finite: empty, and null in JSON. */
void bli_row_text(struct bli_rows *rows, const char *name, const char *about, const char *text);
/* csv always quotes it. */
void bli_row_quoted(struct bli_rows *rows, const char *name, const char *about, const char *text);
void bli_row_number(struct bli_rows *rows, const char *name, const char *about, double value);
void bli_row_count(struct bli_rows *rows, const char *name, const char *about, uint64_t count);
/* The text, or the count if that is NULL. */
void bli_row_count_or_text(struct bli_rows *rows, const char *name, const char *about, uint64_t count,
                           const char *text);
void bli_row_bool(struct bli_rows *rows, const char *name, const char *about, bool value,
                  const char *const words[2]);
extern const char *const bli_no_yes[2], *const bli_zero_one[2]; /* how csv says it */
void bli_row_estimate(struct bli_rows *rows, const char *name, const char *about,
                      struct bli_estimate estimate);
/* Its name depends on what was asked. */
void bli_row_varying(struct bli_rows *rows, const char *name, const char *about,
                     struct bli_estimate estimate);
/* csv has all of them in one column, with blanks between. */
void bli_row_list(struct bli_rows *rows, const char *name, const char *about, const double *value,
                  size_t count);

/* Columns that are described together, by a name that stands for them: true if that has been done. */
bool bli_row_several(struct bli_rows *rows, const char *name, const char *about);

/* Columns that mean the same in every report. A metric has its name and is what its table says. */
void bli_row_policy(struct bli_rows *rows, const struct bal_policy_spec *policy);
void bli_row_label(struct bli_rows *rows, const struct bli_experiment *e, size_t policy, uint64_t seed);
void bli_row_verdict(struct bli_rows *rows, enum bli_verdict verdict);
void bli_row_doubts(struct bli_rows *rows, unsigned doubts);
void bli_row_engine(struct bli_rows *rows, enum bli_engine engine);
void bli_row_work(struct bli_rows *rows, uint64_t jobs, uint64_t events);
extern const char bli_row_metrics_about[], bli_row_tail_about[], bli_row_axis_about[], bli_row_doubts_about[];
void bli_row_metric(struct bli_rows *rows, enum bli_metric metric, struct bli_estimate value);

#endif
