/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers sorted by queue length, kept up to date in O(1) when a length changes by one: what makes
 * join-the-shortest-queue cheap.
 *
 * All servers stand in one array in order of length; end[l] is the number of servers with at most l jobs. A
 * server that gains a job changes places with the last one of its length and the boundary moves down by one;
 * one that loses a job does the mirror image. */
#ifndef BASE_LENGTH_INDEX_H
#define BASE_LENGTH_INDEX_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stdint.h>

struct bli_length_index {
    uint32_t count;
    uint32_t *order; /* servers by length */
    uint32_t *place; /* place[s]: where s stands in order */
    uint32_t *end;
    uint32_t levels; /* capacity of end */
};

/* All servers start empty. */
enum bal_code bli_length_index_init(struct bli_length_index *index, uint32_t count);
void bli_length_index_fini(struct bli_length_index *index);
/* Extends the index to lengths up to `length`. Returns false without memory. */
bool bli_length_index_reserve(struct bli_length_index *index, uint32_t length);

static inline void bli_length_index_swap(struct bli_length_index *index, uint32_t a, uint32_t b) {
    const uint32_t x = index->order[a], y = index->order[b];
    index->order[a] = y;
    index->order[b] = x;
    index->place[x] = b;
    index->place[y] = a;
}

/* The server had `length` jobs and gets one more. Returns false without memory. */
static inline bool bli_length_index_increment(struct bli_length_index *index, uint32_t server,
                                              uint32_t length) {
    if (length + 1 >= index->levels && !bli_length_index_reserve(index, length + 1))
        return false;
    bli_length_index_swap(index, index->place[server], --index->end[length]);
    return true;
}

/* The server had `length` >= 1 jobs and loses one. */
static inline void bli_length_index_decrement(struct bli_length_index *index, uint32_t server,
                                              uint32_t length) {
    bli_length_index_swap(index, index->place[server], index->end[length - 1]++);
}

/* How many servers share the shortest length `shortest`; they are order[0..that). */
static inline uint32_t bli_length_index_ties(const struct bli_length_index *index, uint32_t shortest) {
    return index->end[shortest];
}

#endif
