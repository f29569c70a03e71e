/* The outcome of several policies on one model, as text, csv and JSON. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "format/table.h"
#include "report/beside.h"
#include "report/head.h"

struct comparison {
    const struct bal_case *cases; /* all of the same model */
    const struct bal_result *results;
    const struct bal_beside *beside; /* what theory says of each case */
    size_t count;
    double jobs;                   /* expected per replication */
    double precision;              /* wanted, 0: none */
    const struct bal_draft *draft; /* the settings that were given */
    bool cut_short;
};

void bal_comparison_text(const struct comparison *comparison, enum bal_table_style style, FILE *out);
/* What the table means and what to do, in a few sentences. */
void bal_comparison_explain(const struct comparison *comparison, FILE *out);
void bal_comparison_csv(const struct comparison *comparison, FILE *out);
void bal_comparison_json(const struct comparison *comparison, FILE *out);

/* One object of the "results" list: what is known of one case; and its fields alone, for a larger object. */
void bal_comparison_json_result(struct json *json, const struct bal_case *c, const struct bal_result *result,
                                const struct bal_beside *beside);
void bal_comparison_json_fields(struct json *json, const struct bal_case *c, const struct bal_result *result,
                                const struct bal_beside *beside);

/* The fields of a csv row, and the row, without line end; an unstable mean is an empty field. */
void bal_comparison_csv_head(const struct bal_case *c, FILE *out);
void bal_comparison_csv_row(const struct bal_case *c, const struct bal_result *result,
                            const struct bal_beside *beside, FILE *out);

/* Are there means to speak of? That of a queue which grows without bound is not a number, nor is that of no
 * job. If not, what a table says in their place: "unstable", "no job done", "no trial done"; else NULL. */
bool bal_comparison_has_means(const struct bal_result *result);
const char *bal_comparison_no_means(const struct bal_result *result);

/* Of runs that went on after the end of their load curve. */
extern const char bal_outlasted_text[];

/* Indices of the results, best mean response time first, unstable and unknown ones last. */
void bal_comparison_order(const struct bal_result *results, size_t count, size_t *order);

#endif
