/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome of several policies on one model, as text, csv and JSON. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "format/table.h"
#include "report/head.h"
#include "report/rows.h"
#include "report/theory_row.h"

struct comparison {
    const struct bal_case *cases; /* all of the same model */
    const struct bal_result *results;
    const struct bal_theory_row *theory_row; /* the prediction of theory for each case */
    size_t count;
    double jobs;                   /* expected per replication */
    double precision;              /* wanted, 0: none */
    const struct bal_draft *draft; /* the settings that were given */
    const char *const *called; /* the alias by which each policy was given; NULL: none; NULL instead of the
                                  list: no policy has one */
    bool cut_short;
    bool theory_columns; /* in text: theory of percentiles, too */
};

void bal_comparison_text(const struct comparison *comparison, enum bal_table_style style, FILE *out);
/* What the table means and what to do, in a few sentences. */
void bal_comparison_explain(const struct comparison *comparison, FILE *out);
void bal_comparison_csv(const struct comparison *comparison, FILE *out);
void bal_comparison_json(const struct comparison *comparison, FILE *out);

/* One object of the "results" list: what is known of one case; and its fields alone, for a larger object. */
void bal_comparison_json_result(struct json *json, const struct bal_case *c, const struct bal_result *result,
                                const struct bal_theory_row *theory_row);
void bal_comparison_json_fields(struct json *json, const struct bal_case *c, const struct bal_result *result,
                                const struct bal_theory_row *theory_row);

/* All metrics that the result has, by their names: members of an open object, {"mean", "ci"} each. */
void bal_comparison_json_metrics(struct json *json, const struct bal_result *result);
/* The columns of a row of csv; an unstable mean is an empty field. */
void bal_comparison_put(struct bal_rows *rows, const struct bal_case *c, const struct bal_result *result,
                        const struct bal_theory_row *theory_row);

/* Are there means? The mean of a queue that grows without bound is not a number, nor is the mean of no jobs.
 * If not, the text that a table prints instead: "unstable", "no job done", "no trial done"; else NULL. */
bool bal_comparison_has_means(const struct bal_result *result);
const char *bal_comparison_no_means(const struct bal_result *result);

/* For runs that continued after the end of their load curve. */
extern const char bal_outlasted_text[];

/* Indices of the results, best mean response time first, unstable and unknown ones last. */
void bal_comparison_order(const struct bal_result *results, size_t count, size_t *order);

#endif
