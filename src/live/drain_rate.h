/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast a backlog is worked off: the mean time between responses while requests wait, of the last 64 or
 * so. Only times during which requests waited without a break count: an empty queue says nothing about how
 * fast one that is full gets shorter. */
#ifndef LIVE_DRAIN_RATE_H
#define LIVE_DRAIN_RATE_H

#include <stdint.h>

struct drain_rate {
    uint64_t last;   /* when the last response came; 0: none has come since requests wait */
    uint32_t gaps;   /* between responses, so far; no more are counted than the average remembers */
    uint32_t unused; /* keeps the layout the same everywhere */
    double gap_ns;   /* their moving average */
};

/* A response while requests wait. */
static inline void drain_rate_add(struct drain_rate *rate, uint64_t now) {
    enum { REMEMBERED = 64 };
    if (rate->last) {
        rate->gaps += rate->gaps < REMEMBERED;
        rate->gap_ns += ((double)(now - rate->last) - rate->gap_ns) / rate->gaps;
    }
    rate->last = now;
}

/* No request waits any longer. */
static inline void drain_rate_end(struct drain_rate *rate) {
    rate->last = 0;
}

/* How long so many take, in nanoseconds; 0: it is not known. */
static inline uint64_t drain_rate_time(const struct drain_rate *rate, uint64_t requests) {
    const double ns = (double)requests * rate->gap_ns;
    return rate->gaps == 0 ? 0 : ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

#endif
