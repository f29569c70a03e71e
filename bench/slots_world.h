/* SPDX-License-Identifier: BSD-2-Clause */
/* One app of a known curve behind a limit of requests in service, in simulated time: how good is a limit that
 * finds itself? Used by bench/slots.c and tests/live/slots_auto.c. */
#ifndef BENCH_SLOTS_WORLD_H
#define BENCH_SLOTS_WORLD_H

#include "ballast/dist.h"
#include "ballast/speeds.h"

#include <stdint.h>

enum limiter {
    LIMIT_FIXED,     /* a station with so many slots */
    LIMIT_AUTO,      /* a station with slots=auto */
    LIMIT_HOLD,      /* a dispatcher with slots=auto, without stations, whose policy holds requests */
    LIMIT_GRADIENT2, /* rivals, from their published descriptions: see slots_world.c */
    LIMIT_AIMD,
};

enum disturbance {
    CALM,      /* none: the second half of the requests is measured */
    DEPLOY,    /* in the middle the app becomes half as fast; the load is that of the slow app. The last
                * quarter is measured */
    NEIGHBOUR, /* in the middle half of the processor is gone for a minute, so that twice the load is there;
                * two minutes from then on are measured */
    DISTURBANCES,
};

struct trial {
    struct bli_speeds speeds;
    struct bli_dist sizes; /* mean 1 */
    double mean;           /* seconds that a request of mean size takes alone */
    double load;           /* of the best rate */
    enum disturbance disturbance;
    uint64_t requests, seed;
};

enum { STEPS_MAX = 4096, FIRST_REQUESTS = 1000 };

struct outcome {
    double p99;     /* seconds; of the response */
    double first;   /* seconds; mean response of the first requests that are answered */
    double limit;   /* mean over requests that were measured */
    uint32_t last;  /* in the end */
    uint64_t began; /* the request from which on the limit has to settle */
    /* The limit over time: from which request on it was so. */
    uint32_t steps;
    struct {
        uint64_t request;
        uint32_t limit;
    } step[STEPS_MAX];
};

/* slots: of LIMIT_FIXED. Aborts when there is no memory. */
struct outcome slots_world_run(const struct trial *trial, enum limiter limiter, uint32_t slots);

#endif
