/* SPDX-License-Identifier: BSD-2-Clause */
/* How many requests should an app work on at once? `slots=auto` finds it from ordinary traffic.
 *
 * The idea. With k requests in service an app completes them at the rate g r(k): r is the shape of its curve,
 * g how fast it is at present. Within a window of a few thousand completions g is the same for every k, so
 * that it cancels out of comparisons: of n completions in a window, n p(k) should fall into the times with k
 * in service, p(k) = r(k) T(k) / sum of r(j) T(j), T the lengths of these times. What falls there beyond that
 * raises log r(k), by its part of the completions that r(k) rests on. A deploy that makes the app slower, or
 * a neighbour that takes half the processor, changes g alone: shape and limit stay where they are. A window
 * in which g changes is noticed (a cumulative sum, CUSUM) and dropped.
 *
 * The limit K is the knee of the curve: the least number from which on a step more gains less than `worth`.
 * It goes up when such a gain is certain, and down when it is certain that its own last step gains less;
 * otherwise it stays. Returns diminish, so that a step gains no more than its part of a longer way: this is
 * how flat parts of the curve are recognised with little traffic. No response time is a yardstick: there is
 * no minimum that could drift, and no measure of congestion that grows with every slowdown.
 *
 * Traffic itself visits the k below K. So that the neighbours of K are visited too, while there is doubt
 * about them, K alternates with them in phases of a few completions for each slot. That never keeps slots
 * from requests for longer. The lower one is half of K at least, and K less a step at first: too few slots
 * are overload, and what is lost by fewer still can be told by then. Those that seem to lose much are tried
 * rarely.
 *
 * Costs: O(1) for a request, O(levels) at the end of a phase. Memory: 3 kB. No clock: times, in nanoseconds,
 * are passed in, and all are monotonic. A process may die at any instruction: each number is stored at once,
 * and a window that is half learned is one window. */
#ifndef LIVE_CONCURRENCY_PRIVATE_H
#define LIVE_CONCURRENCY_PRIVATE_H

#include "ballast/live/concurrency.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONCURRENCY_LEVELS = 44 }; /* each number up to 8, then four for each doubling, up to 4096 */

struct concurrency_level {
    double shape;                   /* log r */
    double evidence;                /* completions that it rests on; those of old windows count less */
    double wanted;                  /* time with so many requests, those that wait included; likewise */
    double time, ended;             /* with so many in service, in this window: seconds, completions */
    double cycle_time, cycle_ended; /* and in this cycle */
};

struct concurrency {
    uint32_t min, max;
    uint32_t level;        /* of the limit */
    uint32_t allowed;      /* requests that may be in service in this phase */
    uint32_t phase;        /* since it began; a cycle is four of them */
    uint32_t window;       /* completions after which it ends, at the end of a cycle */
    uint64_t last;         /* time is counted up to here */
    uint64_t until;        /* the phase ends; UINT64_MAX: it is not known yet how fast the app is */
    double rate;           /* completions per second in service, in the last cycle */
    double speed;          /* g, in the last cycle */
    double dispersion;     /* variance of completions over that of a Poisson process */
    double faster, slower; /* CUSUM of the cycles in this window */
    uint64_t windows;      /* that have ended */
    uint64_t raised, lowered, changes;
    struct concurrency_level at[CONCURRENCY_LEVELS];
};

/* 1 <= min <= max <= BAL_CONCURRENCY_MAX. */
void bli_concurrency_init(struct concurrency *c, uint32_t min, uint32_t max, uint64_t now);

/* Time has passed with so many requests in service and so many that wait. Call it before either changes. */
void bli_concurrency_pass(struct concurrency *c, uint64_t now, uint32_t running, uint32_t waiting);
/* One of `running` requests, itself included, has been answered well. */
void bli_concurrency_end(struct concurrency *c, uint32_t running);

/* Requests that may be in service now: the limit, or a neighbour while it is tried. */
static inline uint32_t concurrency_allowed(const struct concurrency *c) {
    return c->allowed;
}

struct bal_concurrency_view bli_concurrency_get_view(const struct concurrency *c);
/* Could all of it have been written by these functions? */
bool bli_concurrency_is_sound(const struct concurrency *c);

#endif
