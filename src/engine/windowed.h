/* How many servers should be on? The rule of windowed concurrency (ballast/scheme.h), for an engine that
 * tells it how many jobs are there. It keeps the integral of that number at the last decisions. */
#ifndef ENGINE_WINDOWED_H
#define ENGINE_WINDOWED_H

#include "ballast/scheme.h"

struct windowed {
    struct bal_window_rule rule;
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
enum bal_code bal_windowed_init(struct windowed *w, const struct bal_window_rule *rule, uint32_t servers);
void bal_windowed_fini(struct windowed *w);

/* A job more (1) or less (-1) is there. */
static inline void windowed_count(struct windowed *w, double now, int change) {
    w->sum += (double)w->jobs * (now - w->since);
    w->since = now;
    w->jobs += (uint64_t)(int64_t)change;
}

static inline double windowed_next(const struct windowed *w) {
    return (double)(w->ticks + 1) * w->rule.tick;
}

/* It is the time that windowed_next told, and so many servers are ready: sets w->wanted. */
void bal_windowed_decide(struct windowed *w, uint32_t ready);

#endif
