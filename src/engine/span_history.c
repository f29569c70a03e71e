/* SPDX-License-Identifier: BSD-2-Clause */
/* The history of a run: allocating it, advancing from span to span, and filling in struct bli_history. */
#include "engine/span_history.h"

#include <stdlib.h>

enum bal_code bli_history_init(struct history *history, struct bli_history *to, double time) {
    *history = (struct history){.to = to, .time = time};
    if (!to)
        return BAL_OK;
    for (size_t span = 0; span < to->spans; span++)
        to->jobs[span] = to->response[span] = 0;
    /* Most bins are never used, and what is not touched takes no memory. */
    history->own = !to->responses;
    history->responses = history->own ? calloc(to->spans, sizeof *history->responses) : to->responses;
    return history->responses ? BAL_OK : BAL_E_MEMORY;
}

void bli_history_fini(struct history *history) {
    if (history->own)
        free(history->responses);
    history->responses = NULL;
}

void bli_history_advance(struct history *history, const struct tally *tally, uint32_t servers, double now) {
    while (history_next(history) <= now && isfinite(history_next(history))) {
        const size_t span = history->closed;
        const double end = history_end(history, span);
        const double energy = bli_tally_energy(tally, servers, end);
        const double width = end - (span > 0 ? history_end(history, span - 1) : 0);
        history->to->watts[span] = (energy - history->energy) / width;
        history->energy = energy;
        history->closed++;
    }
}

void bli_history_finish(struct history *history, const struct tally *tally) {
    for (size_t span = 0; history->to && span < history->to->spans; span++) {
        history->to->response[span] /= history->to->jobs[span]; /* NaN where there are none */
        history->to->p99[span] = bli_histogram_quantile(&history->responses[span], 0.99) / tally->per_unit;
    }
}
