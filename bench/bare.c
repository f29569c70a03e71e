/* SPDX-License-Identifier: BSD-2-Clause */
/* The bare loop, by itself: the state of the generator must stay in registers. */
#include "bare.h"

#include "ballast/random.h"

enum { SERVERS = 1000, ARRIVALS = 900 };

static uint32_t queue[SERVERS];

/* bal_rng_below() without a call, for which the state would have to leave its registers. */
static inline uint32_t draw_below(struct bal_rng *rng, uint32_t n) {
    uint64_t product = (bal_rng_next(rng) >> 32) * n;
    if (__builtin_expect((uint32_t)product < n, 0)) {
        const uint32_t threshold = (uint32_t)(-n) % n;
        while ((uint32_t)product < threshold)
            product = (bal_rng_next(rng) >> 32) * n;
    }
    return (uint32_t)(product >> 32);
}

static inline uint32_t add_arrival(struct bal_rng *rng) {
    const uint32_t a = draw_below(rng, SERVERS), b = draw_below(rng, SERVERS);
    queue[queue[b] < queue[a] ? b : a]++;
    return 1;
}

/* Returns whether there was a job. */
static inline uint32_t complete_job(uint32_t server) {
    const uint32_t length = queue[server], done = length > 0;
    queue[server] = length - done;
    return done;
}

double bare_speed(uint64_t events) {
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    const double lambda = ARRIVALS;
    uint64_t done = 0;
    const double start = processor_time();
    while (done < events) {
        const double which = bal_rng_uniform(&rng) * (lambda + SERVERS);
        if (which < lambda)
            done += add_arrival(&rng);
        else
            done += complete_job((uint32_t)(which - lambda));
    }
    return (double)done / (processor_time() - start);
}

double bare_whole_speed(uint64_t events) {
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    uint64_t done = 0;
    const double start = processor_time();
    while (done < events) {
        const uint32_t which = draw_below(&rng, ARRIVALS + SERVERS);
        if (which < ARRIVALS)
            done += add_arrival(&rng);
        else
            done += complete_job(which - ARRIVALS);
    }
    return (double)done / (processor_time() - start);
}
