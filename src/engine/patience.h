/* Jobs that give up: each that waits has a time at which it leaves unless its service has begun.
 *
 * Whoever waits has a number. When its time has come it is gone, but its place in a queue stays until that
 * comes to the front: a queue drops those that are gone when it looks for the next one. */
#ifndef ENGINE_PATIENCE_H
#define ENGINE_PATIENCE_H

#include "ballast/law.h"
#include "base/heap.h"

#include <math.h>

#define PATIENCE_NOBODY UINT32_MAX

struct patience {
    const struct bal_law *law;
    struct bal_rng rng;
    struct bal_heap waiting; /* when each of them leaves */
    struct waiter {
        uint32_t where; /* it waits: a queue */
        bool high;      /* its class is the high one */
        bool gone;
        uint32_t next; /* of the numbers that are free */
    } * waiter;
    uint32_t room, free;
};

/* law: of the time that jobs wait; it must outlive the rest. */
void bal_patience_init(struct patience *patience, const struct bal_law *law, uint64_t seed,
                       uint64_t replication);
void bal_patience_fini(struct patience *patience);

/* How long the next job is going to wait. Drawn for every job that comes, whether it waits or not, so that
 * all policies see the same. */
static inline double patience_draw(struct patience *patience) {
    return bal_law_sample(patience->law, &patience->rng);
}

/* A job begins to wait; returns its number, or PATIENCE_NOBODY when there is no memory. */
uint32_t bal_patience_wait(struct patience *patience, double until, uint32_t where, bool high);

/* When the next of them leaves; INFINITY: nobody waits. */
static inline double patience_next(const struct patience *patience) {
    return patience->waiting.count > 0 ? patience->waiting.slot[0].time : INFINITY;
}

/* The next of them leaves. Returns who it was. */
static inline const struct waiter *patience_leave(struct patience *patience) {
    const uint32_t number = patience->waiting.slot[0].id;
    bal_heap_remove(&patience->waiting, number);
    patience->waiter[number].gone = true;
    return &patience->waiter[number];
}

static inline bool patience_is_gone(const struct patience *patience, uint32_t number) {
    return patience->waiter[number].gone;
}

/* Its place in the queue is given up, or its service begins: the number is free. */
void bal_patience_end(struct patience *patience, uint32_t number);

#endif
