/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of an experiment as text, csv and JSON: one row for each point and policy, and the claims. */
#ifndef REPORT_OUTCOME_H
#define REPORT_OUTCOME_H

#include "ballast/store.h"
#include "format/table.h"

/* Everything is read from the store, a cell at a time, but for the verdicts (bli_judgements_new). */
enum bal_code bli_outcome_text(struct bli_store *store, const struct bli_experiment *experiment,
                               const struct bli_judged *judged, enum bli_table_style style, FILE *out,
                               struct bal_error *err);

/* The fields of `ballast compare --format csv` behind the coordinates of the point and the policy's label;
 * then, for each metric that the experiment shows, its ratio to the baseline. With seconds there is a last
 * column that differs from run to run. */
enum bal_code bli_outcome_csv(struct bli_store *store, const struct bli_experiment *experiment, bool seconds,
                              FILE *out, struct bal_error *err);

/* One object: {"version", "experiment", "results": [...], "claims": [...], "findings": [...]}. */
enum bal_code bli_outcome_json(struct bli_store *store, const struct bli_experiment *experiment,
                               const struct bli_judged *judged, FILE *out, struct bal_error *err);

#endif
