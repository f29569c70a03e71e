/* SPDX-License-Identifier: BSD-2-Clause */
/* What the columns of each report are, and the JSON schema of each: for help, documentation and programs.
 * Both are made by the functions that print the report. */
#ifndef REPORT_REPORT_COLUMNS_H
#define REPORT_REPORT_COLUMNS_H

#include "report/rows.h"
#include "report/theory_row.h"

/* Prints a table of columns for each report of the command, or of all; false if it has none. */
bool bli_columns_print(const char *command, enum bli_table_style style, FILE *out);

/* One JSON schema, in which each report has a definition; of the command, or of all; false if it has none. */
bool bli_columns_schema(const char *command, FILE *out);

/* What each report puts in its source: goes through its columns, or writes its JSON, from a sample. */
typedef void bli_describe(struct bli_rows *rows);
bli_describe bli_comparison_describe, bli_outcome_describe, bli_trials_describe, bli_histograms_describe,
    bli_paper_describe, bli_replay_describe, bli_price_list_describe, bli_price_offers_describe,
    bli_share_describe, bli_tune_describe, bli_slots_describe, bli_frontier_describe,
    bli_frontier_map_describe, bli_fluid_describe, bli_load_describe, bli_live_describe, bli_fit_describe,
    bli_twin_describe;

struct bli_comparison_sample {
    struct bli_draft draft;
    struct bli_result result;
    struct bli_theory_row theory_row;
};
void bli_comparison_sample(struct bli_comparison_sample *sample);

/* An experiment for samples, with a point, a policy, a claim, a definition and a finding; the caller frees
 * it. NULL without memory. */
struct bli_experiment *bli_columns_experiment(void);

#endif
