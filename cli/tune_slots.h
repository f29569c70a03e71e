/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast tune slots. */
#ifndef CLI_TUNE_SLOTS_H
#define CLI_TUNE_SLOTS_H

#include "common.h"

/* What the slots are judged by: a quantile of the response times, 0 being the mean, and how large it may be,
 * in mean service times; NaN: not said. Reads "p99=10" or "mean=2". */
struct cli_slots_target {
    double quantile, most;
};
enum bal_code cli_slots_target_parse(const char *text, struct cli_slots_target *target,
                                     struct bal_error *err);

/* Runs the question and prints the answer; returns the exit status. */
int cli_tune_slots(struct cli_common *common, const struct cli_slots_target *target);

#endif
