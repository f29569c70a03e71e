/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcome of several policies on one model, as text, csv and JSON. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "format/table.h"
#include "report/head.h"
#include "report/rows.h"
#include "report/theory_row.h"

struct comparison {
    const struct bli_case *cases; /* all of the same model */
    const struct bli_result *results;
    const struct bli_theory_row *theory_row; /* the prediction of theory for each case */
    size_t count;
    double jobs;                   /* expected per replication */
    double precision;              /* wanted, 0: none */
    const struct bli_draft *draft; /* the settings that were given */
    const char *const *called; /* the alias by which each policy was given; NULL: none; NULL instead of the
                                  list: no policy has one */
    bool cut_short;
    bool theory_columns; /* in text: theory of percentiles, too */
};

void bli_comparison_print(const struct comparison *comparison, struct bli_rows *rows);
/* What the table means and what to do, in a few sentences. */
void bli_comparison_explain(const struct comparison *comparison, FILE *out);
/* What bli_comparison_print does for people; the order is that of the rows. */
void bli_comparison_text(const struct comparison *comparison, const size_t *order, enum bli_table_style style,
                         FILE *out);

/* One object of the "results" list: what is known of one case; and its fields alone, for a larger object. */
void bli_comparison_json_result(struct json *json, const struct bli_case *c, const struct bli_result *result,
                                const struct bli_theory_row *theory_row);
void bli_comparison_json_fields(struct json *json, const struct bli_case *c, const struct bli_result *result,
                                const struct bli_theory_row *theory_row);

/* All metrics that the result has, by their names: members of an open object, {"mean", "ci"} each. */
void bli_comparison_json_metrics(struct json *json, const struct bli_result *result);
/* The columns of a row of csv; an unstable mean is an empty field. */
void bli_comparison_put(struct bli_rows *rows, const struct bli_case *c, const struct bli_result *result,
                        const struct bli_theory_row *theory_row);

/* Are there means? The mean of a queue that grows without bound is not a number, nor is the mean of no jobs.
 * If not, the text that a table prints instead: "unstable", "no job done", "no trial done"; else NULL. */
bool bli_comparison_has_means(const struct bli_result *result);
const char *bli_comparison_no_means(const struct bli_result *result);

/* For runs that continued after the end of their load curve. */
extern const char bli_outlasted_text[];

/* Indices of the results, best mean response time first, unstable and unknown ones last. */
void bli_comparison_order(const struct bli_result *results, size_t count, size_t *order);

#endif
