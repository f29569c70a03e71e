/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics in the words of a figure or a table. */
#ifndef REPORT_METRIC_H
#define REPORT_METRIC_H

#include "ballast/experiment.h"

enum { BAL_METRIC_TEXT = 128 };

/* A few words: "mean response time", "messages per slot". */
void bal_metric_label(struct bal_quantity quantity, const struct bal_model *model,
                      char text[BAL_METRIC_TEXT]);

/* Its unit: "slots" or "service times" rather than "time", where that is what the model counts in; "" when
 * the words say it already or there is none. */
const char *bal_metric_unit(struct bal_quantity quantity, const struct bal_model *model);

/* "2.658 ± 0.005": as many digits as the half-width justifies; "" for NaN. */
void bal_metric_print(struct bal_estimate estimate, char text[BAL_METRIC_TEXT]);
/* "4.64 ± 0.05": a percentile, to the first digit of its half-width, two if that is a 1; without one where
 * there is one run. */
void bal_percentile_cell(struct bal_estimate estimate, char text[BAL_METRIC_TEXT]);

/* The value, or 0 (and never -0) if it is less than half of the last digit that is shown. */
double bal_shown(double value, int decimals);

#endif
