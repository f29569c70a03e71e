/* SPDX-License-Identifier: BSD-2-Clause */
/* What the results of an experiment were computed from: a row for each trial, or for each bin of each
 * histogram of each trial. Both name their columns as the results do. */
#ifndef REPORT_RAW_RESULTS_H
#define REPORT_RAW_RESULTS_H

#include "ballast/store.h"
#include "report/rows.h"

enum bli_raw_kind {
    BLI_RAW_TRIALS,     /* every metric of every replication */
    BLI_RAW_HISTOGRAMS, /* distribution, low, high, count of the bins that are not empty */
};

/* The trials that count for the experiment, in the order of points, policies and replications, as csv or
 * JSON:
 * {"version", "experiment", "mode", "axes", "trials" or "histograms": [...]}, an object for each row. */
enum bal_code bli_raw_print(struct bli_store *store, const struct bli_experiment *experiment,
                            enum bli_raw_kind kind, struct bli_rows *rows, struct bal_error *err);

#endif
