/* SPDX-License-Identifier: BSD-2-Clause */
/* How many servers should be on? The rule of windowed concurrency (ballast/scheme.h), for an engine that
 * reports each change of the number of jobs. It keeps the integral of that number at the last decisions. */
#ifndef ENGINE_WINDOW_AUTOSCALER_H
#define ENGINE_WINDOW_AUTOSCALER_H

#include "ballast/scheme.h"

struct window_autoscaler {
    struct bli_window_rule rule;
    uint64_t stable, panic; /* the windows, in ticks */
    uint32_t servers;
    uint32_t wanted;  /* that should be on */
    uint64_t ticks;   /* decisions so far */
    uint64_t calm_at; /* the tick from which on there is no panic */
    double *area;     /* the integral at the last ticks, a ring of stable + 1 */
    double sum, since;
    uint64_t jobs;
};

/* Begins with all servers wanted. */
enum bal_code bli_window_autoscaler_init(struct window_autoscaler *w, const struct bli_window_rule *rule,
                                         uint32_t servers);
void bli_window_autoscaler_fini(struct window_autoscaler *w);

/* A job more (1) or less (-1) is there. */
static inline void window_autoscaler_count(struct window_autoscaler *w, double now, int change) {
    w->sum += (double)w->jobs * (now - w->since);
    w->since = now;
    w->jobs += (uint64_t)(int64_t)change;
}

static inline double window_autoscaler_next(const struct window_autoscaler *w) {
    return (double)(w->ticks + 1) * w->rule.tick;
}

/* Called at the time that window_autoscaler_next returned, when so many servers are ready: sets w->wanted. */
void bli_window_autoscaler_decide(struct window_autoscaler *w, uint32_t ready);

#endif
