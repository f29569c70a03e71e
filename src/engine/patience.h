/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that give up: each that waits has a time at which it leaves unless its service has begun.
 *
 * Each job that waits has a number. When its time has come it leaves, but its entry stays in the queue until
 * it reaches the front: a queue drops such entries when it looks for the next job. */
#ifndef ENGINE_PATIENCE_H
#define ENGINE_PATIENCE_H

#include "ballast/dist.h"
#include "base/heap.h"

#include <math.h>

#define PATIENCE_NONE UINT32_MAX

struct patience {
    const struct bli_dist *dist;
    struct bal_rng rng;
    struct bli_heap waiting; /* when each of them leaves */
    struct waiter {
        uint32_t where; /* it waits: a queue */
        bool high;      /* its class is the high one */
        bool gone;
        uint32_t next; /* of the numbers that are free */
    } * waiter;
    uint32_t room, free;
};

/* law: the distribution of the time that jobs wait; it must outlive this struct. */
void bli_patience_init(struct patience *patience, const struct bli_dist *dist, uint64_t seed,
                       uint64_t replication);
void bli_patience_fini(struct patience *patience);

/* How long the next job is going to wait. Drawn for every job that comes, whether it waits or not, so that
 * all policies see the same. */
static inline double patience_draw(struct patience *patience) {
    return bli_dist_sample(patience->dist, &patience->rng);
}

/* A job begins to wait; returns its number, or PATIENCE_NONE when there is no memory. */
uint32_t bli_patience_wait(struct patience *patience, double until, uint32_t where, bool high);

/* When the next of them leaves; INFINITY: no job waits. */
static inline double patience_next(const struct patience *patience) {
    return patience->waiting.count > 0 ? patience->waiting.slot[0].time : INFINITY;
}

/* The next of them leaves. Returns its entry. */
static inline const struct waiter *patience_leave(struct patience *patience) {
    const uint32_t number = patience->waiting.slot[0].id;
    bli_heap_remove(&patience->waiting, number);
    patience->waiter[number].gone = true;
    return &patience->waiter[number];
}

static inline bool patience_is_gone(const struct patience *patience, uint32_t number) {
    return patience->waiter[number].gone;
}

/* Its place in the queue is given up, or its service begins: the number is free. */
void bli_patience_end(struct patience *patience, uint32_t number);

#endif
