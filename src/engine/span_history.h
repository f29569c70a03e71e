/* SPDX-License-Identifier: BSD-2-Clause */
/* A run in equal spans of time, as struct bli_history wants it: jobs belong to the span in which they arrive,
 * energy to that in which it is spent. */
#ifndef ENGINE_SPAN_HISTORY_H
#define ENGINE_SPAN_HISTORY_H

#include "engine/tally.h"

#include <math.h>

struct history {
    struct bli_history *to;          /* NULL: nothing is kept */
    double time;                     /* of the run */
    size_t closed;                   /* spans that have ended */
    double energy;                   /* spent until then */
    struct bli_histogram *responses; /* one a span, in the units of the tally: the caller's, or our own */
    bool own;
};

/* to may be NULL. */
enum bal_code bli_history_init(struct history *history, struct bli_history *to, double time);
void bli_history_fini(struct history *history);

/* Closes all spans that end by now. What happens at that time has not happened yet. */
void bli_history_advance(struct history *history, const struct tally *tally, uint32_t servers, double now);
/* From sums to means, all spans being closed. */
void bli_history_finish(struct history *history, const struct tally *tally);

/* When a span ends; spans count from 0. */
static inline double history_end(const struct history *history, size_t span) {
    return history->time * (double)(span + 1) / (double)history->to->spans;
}

/* When the next call of bli_history_advance is due. */
static inline double history_next(const struct history *history) {
    return history->to && history->closed < history->to->spans ? history_end(history, history->closed)
                                                               : INFINITY;
}

static inline void history_complete(struct history *history, const struct tally *tally, double arrival,
                                    double response) {
    const size_t spans = history->to->spans;
    const size_t span = (size_t)(arrival / history->time * (double)spans);
    const size_t at = span < spans ? span : spans - 1;
    history->to->jobs[at]++;
    history->to->response[at] += response;
    bli_histogram_add(&history->responses[at], response * tally->per_unit);
}

static inline void history_complete_kind(struct history *history, const struct tally *tally, uint64_t number,
                                         double response) {
    struct bli_kind_times *kind = &history->to->kind[number];
    kind->jobs++;
    kind->response += response;
    bli_histogram_add(&kind->responses, response * tally->per_unit);
}

#endif
