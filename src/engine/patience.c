/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that give up: adding and removing those that wait. */
#include "engine/patience.h"

#include "ballast/random.h"

void bli_patience_init(struct patience *patience, const struct bli_dist *dist, uint64_t seed,
                       uint64_t replication) {
    *patience = (struct patience){.dist = dist, .free = PATIENCE_NONE};
    bal_rng_init(&patience->rng, seed, replication, BAL_STREAM_PATIENCE);
}

void bli_patience_fini(struct patience *patience) {
    bli_heap_fini(&patience->waiting);
    free(patience->waiter);
    patience->waiter = NULL;
}

/* Twice as many numbers; those that are new are free. */
static bool grow_waiters(struct patience *patience) {
    const uint32_t before = patience->room, room = before ? 2 * before : 64;
    struct waiter *waiter = realloc(patience->waiter, room * sizeof *waiter);
    if (waiter)
        patience->waiter = waiter;
    if (!waiter || before > UINT32_MAX / 4 || !bli_heap_grow(&patience->waiting, before, room))
        return false;
    for (uint32_t i = room; i-- > before;) {
        waiter[i].next = patience->free;
        patience->free = i;
    }
    patience->room = room;
    return true;
}

uint32_t bli_patience_wait(struct patience *patience, double until, uint32_t where, bool high) {
    if (patience->free == PATIENCE_NONE && !grow_waiters(patience))
        return PATIENCE_NONE;
    const uint32_t number = patience->free;
    struct waiter *waiter = &patience->waiter[number];
    patience->free = waiter->next;
    *waiter = (struct waiter){.where = where, .high = high};
    bli_heap_insert(&patience->waiting, number, until);
    return number;
}

void bli_patience_end(struct patience *patience, uint32_t number) {
    struct waiter *waiter = &patience->waiter[number];
    if (!waiter->gone)
        bli_heap_remove(&patience->waiting, number);
    waiter->next = patience->free;
    patience->free = number;
}
