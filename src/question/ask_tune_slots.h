/* SPDX-License-Identifier: BSD-2-Clause */
/* The question tune slots, a part of tune. */
#ifndef QUESTION_ASK_TUNE_SLOTS_H
#define QUESTION_ASK_TUNE_SLOTS_H

#include "question/kind.h"

/* What the slots are judged by: a quantile of the response times, 0 being the mean, and how large it may be,
 * in mean service times; NaN: not said. Reads "p99=10" or "mean=2". */
struct bli_slots_target {
    double quantile, most;
};
enum bal_code bli_slots_target_parse(const char *text, struct bli_slots_target *target,
                                     struct bal_error *err);

enum bal_code bli_check_tune_slots(const struct bli_request *request, struct bal_error *err);
enum bal_code bli_ask_tune_slots(struct bli_request *request, const struct bli_slots_target *target,
                                 struct bli_asking *asking, struct bal_error *err);

#endif
