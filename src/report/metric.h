/* SPDX-License-Identifier: BSD-2-Clause */
/* Metrics in the words of a figure or a table. */
#ifndef REPORT_METRIC_H
#define REPORT_METRIC_H

#include "ballast/experiment.h"
#include "format/json.h"

enum { BLI_METRIC_TEXT = 128 };

/* A few words: "mean response time", "messages per slot". */
void bli_metric_label(struct bli_quantity quantity, const struct bli_model *model,
                      char text[BLI_METRIC_TEXT]);

/* Its unit: "slots" or "service times" rather than "time", where that is what the model counts in; "" when
 * the words say it already or there is none. */
const char *bli_metric_unit(struct bli_quantity quantity, const struct bli_model *model);

/* What a column or member of it is: "meaning|unit" (report/rows.h). Returns text. */
const char *bli_metric_about(enum bli_metric metric, char text[BLI_ABOUT_TEXT]);

/* "2.658 ± 0.005": as many digits as the half-width justifies; "" for NaN. */
void bli_metric_print(struct bli_estimate estimate, char text[BLI_METRIC_TEXT]);
/* "4.64 ± 0.05": a percentile, to the first digit of its half-width, two if that is a 1; without one where
 * there is one run. */
void bli_percentile_cell(struct bli_estimate estimate, char text[BLI_METRIC_TEXT]);

/* The value, or 0 (and never -0) if it is less than half of the last digit that is shown. */
double bli_shown(double value, int decimals);

#endif
