/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of numbers below a capacity with uniform sampling: insert, remove, contains and the i-th member are
 * all O(1). A number out of range is no member and cannot become one. It is one flat block without pointers,
 * so it can live inside a policy's state or in shared memory. */
#ifndef BALLAST_SET_H
#define BALLAST_SET_H

#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bal_set {
    uint32_t count;
    uint32_t capacity;
    /* slot[0..count) are the members in no particular order; slot[capacity + x] is the place of member x,
     * or BAL_SET_ABSENT */
    __extension__ uint32_t slot[];
};

#define BAL_SET_ABSENT UINT32_MAX

/* Bytes that a set of numbers below capacity takes. */
static inline size_t bal_set_size(uint32_t capacity) {
    return sizeof(struct bal_set) + 2 * sizeof(uint32_t) * (size_t)capacity;
}

static inline void bal_set_init(struct bal_set *set, uint32_t capacity) {
    set->count = 0;
    set->capacity = capacity;
    for (uint32_t x = 0; x < capacity; x++)
        set->slot[(size_t)capacity + x] = BAL_SET_ABSENT;
}

static inline bool bal_set_contains(const struct bal_set *set, uint32_t x) {
    return x < set->capacity && set->slot[(size_t)set->capacity + x] != BAL_SET_ABSENT;
}

/* Returns whether x was new. */
static inline bool bal_set_insert(struct bal_set *set, uint32_t x) {
    if (x >= set->capacity)
        return false;
    uint32_t *where = &set->slot[(size_t)set->capacity + x];
    if (*where != BAL_SET_ABSENT)
        return false;
    *where = set->count;
    set->slot[set->count++] = x;
    return true;
}

/* Returns whether x was a member. The last member takes its place. */
static inline bool bal_set_remove(struct bal_set *set, uint32_t x) {
    if (x >= set->capacity)
        return false;
    uint32_t *where = &set->slot[(size_t)set->capacity + x];
    const uint32_t place = *where;
    if (place == BAL_SET_ABSENT)
        return false;
    const uint32_t last = set->slot[--set->count];
    set->slot[place] = last;
    set->slot[(size_t)set->capacity + last] = place;
    *where = BAL_SET_ABSENT;
    return true;
}

/* Is it a set of this capacity, and whole? O(capacity). */
static inline bool bal_set_sound(const struct bal_set *set, uint32_t capacity) {
    if (set->capacity != capacity || set->count > capacity)
        return false;
    uint32_t members = 0;
    for (uint32_t x = 0; x < capacity; x++) {
        const uint32_t place = set->slot[(size_t)capacity + x];
        if (place == BAL_SET_ABSENT)
            continue;
        if (place >= set->count || set->slot[place] != x)
            return false;
        members++;
    }
    return members == set->count;
}

/* A uniform member of a set that is not empty. */
static inline uint32_t bal_set_uniform(const struct bal_set *set, struct bal_rng *rng) {
    return set->slot[bal_rng_below(rng, set->count)];
}

#ifdef __cplusplus
}
#endif
#endif
