/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a trial to end early: because the caller stops it, or because its observer has seen enough? */
#ifndef ENGINE_EARLY_END_H
#define ENGINE_EARLY_END_H

#include "engine/tally.h"

/* For the end of a slice, when all that was noted has been taken into the sums. */
static inline bool tally_is_enough(const struct tally *tally) {
    const struct bli_run *run = tally->run;
    if (run->stop && *run->stop)
        return true;
    if (!run->watch)
        return false;
    const struct bli_so_far so_far = {.jobs = tally->all.completed,
                                      .refused = tally->totals.refused + tally->totals.lost,
                                      .response = tally->all.response,
                                      .responses = &tally->all.response_histogram};
    return run->watch->is_enough(run->watch->context, &so_far);
}

#endif
