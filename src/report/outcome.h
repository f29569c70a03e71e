/* SPDX-License-Identifier: BSD-2-Clause */
/* The results of an experiment as text, csv and JSON: one row for each point and policy, and the claims. */
#ifndef REPORT_OUTCOME_H
#define REPORT_OUTCOME_H

#include "ballast/store.h"
#include "report/rows.h"

/* Everything is read from the store, a cell at a time, but for the verdicts (bli_judgements_new).
 *
 * csv: the fields of `ballast compare --format csv` behind the coordinates of the point and the policy's
 * label; then, for each metric that the experiment shows, its ratio to the baseline. With seconds there is a
 * last column that differs from run to run.
 * JSON: {"version", "experiment", "results": [...], "claims": [...], "findings": [...]}. */
enum bal_code bli_outcome_print(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_judged *judged, bool seconds, struct bli_rows *rows,
                                struct bal_error *err);

#endif
