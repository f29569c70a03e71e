/* SPDX-License-Identifier: BSD-2-Clause */
/* Many queues, first in, first out unless told otherwise: ring buffers that grow and shrink.
 *
 * A queue has one cache line, or half of one if its items are small, with its head and space for its first
 * items; one that is longer keeps its items in a block elsewhere. A full block is exchanged for one of twice
 * the size, one that is at most a quarter full for half of it or for the space inside the line, so that
 * memory follows the jobs that are there, not the most that ever were. All operations are O(1) amortised.
 * Lengths lie in one dense array, because that is what dispatch policies look at.
 *
 * An item is `words` 8-byte words, at most BLI_ITEM_MAX, or BLI_STAMP: half a word, a uint32_t. The
 * functions on the hot path take it as an argument so that a constant is folded in; it must be the one given
 * to bli_queues_init. */
#ifndef ENGINE_QUEUES_H
#define ENGINE_QUEUES_H

#include "ballast/error.h"
#include "base/arena.h"
#include "base/inline.h"
#include "engine/cacheline_alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

union bli_claim_word {
    double real;
    uint64_t bits;
    union bli_claim_word *vacant; /* of a free block: the next one */
};

enum { BLI_STAMP = 0, BLI_ITEM_MAX = 6, BLI_RING_MIN = 8, BLI_RING_MAX = 27 };

struct bli_ring {
    char *block;                      /* of its items: inside or elsewhere */
    _Alignas(uint64_t) uint32_t head; /* the place of the front; also where pointers are short */
    uint32_t size;                    /* places: what fits inside, or a power of 2 from BLI_RING_MIN on */
    char inside[];                    /* up to the end of its line */
};
_Static_assert(sizeof(struct bli_ring) + BLI_ITEM_MAX * sizeof(union bli_claim_word) == BLI_CACHELINE,
               "the head of a queue is a cache line");

struct bli_queues {
    uint32_t count;
    uint32_t words;
    uint32_t *length;
    char *rings;                                    /* one after another, a line each */
    struct bli_arena arena;                         /* blocks elsewhere */
    union bli_claim_word *vacant[BLI_RING_MAX + 1]; /* free ones, by log2 of their size */
    uint64_t used;                                  /* items in all blocks, also the free ones */
};

enum bal_code bli_queues_init(struct bli_queues *queues, uint32_t count, uint32_t words);
void bli_queues_fini(struct bli_queues *queues);
/* What all of them take while they are short. */
uint64_t bli_queues_bytes(const struct bli_queues *queues);

/* Out of line: exchange the block. Returns false when there is no memory (only growing can fail). */
bool bli_queues_grow(struct bli_queues *queues, uint32_t i);
void bli_queues_shrink(struct bli_queues *queues, uint32_t i);

ALWAYS_INLINE uint32_t bli_item_bytes(uint32_t words) {
    return words == BLI_STAMP ? sizeof(uint32_t) : words * (uint32_t)sizeof(union bli_claim_word);
}

/* The line of a queue: its bytes, and the items that fit inside. */
ALWAYS_INLINE uint32_t bli_ring_line(uint32_t words) {
    return words == BLI_STAMP ? BLI_CACHELINE / 2 : BLI_CACHELINE;
}

ALWAYS_INLINE uint32_t bli_ring_inside(uint32_t words) {
    return (bli_ring_line(words) - (uint32_t)sizeof(struct bli_ring)) / bli_item_bytes(words);
}

ALWAYS_INLINE union bli_claim_word *bli_item_in(char *block, uint32_t place, uint32_t words) {
    return (union bli_claim_word *)(void *)(block + (size_t)place * bli_item_bytes(words));
}

ALWAYS_INLINE struct bli_ring *bli_queues_ring(const struct bli_queues *queues, uint32_t i, uint32_t words) {
    return (struct bli_ring *)(void *)(queues->rings + (size_t)i * bli_ring_line(words));
}

/* The item k places behind the front. Behind the last one there may be anything, but never memory that was
 * not set: the front of an empty queue can be read where that saves a branch. */
ALWAYS_INLINE union bli_claim_word *bli_queues_at(const struct bli_queues *queues, uint32_t i, uint32_t words,
                                                  uint32_t k) {
    const struct bli_ring *ring = bli_queues_ring(queues, i, words);
    const uint32_t place = ring->head + k;
    return bli_item_in(ring->block, place < ring->size ? place : place - ring->size, words);
}

/* The same with k = 0. */
ALWAYS_INLINE union bli_claim_word *bli_queues_front(const struct bli_queues *queues, uint32_t i,
                                                     uint32_t words) {
    const struct bli_ring *ring = bli_queues_ring(queues, i, words);
    return bli_item_in(ring->block, ring->head, words);
}

/* Adds one item at the back; the caller writes it. NULL when there is no memory. */
ALWAYS_INLINE union bli_claim_word *bli_queues_push(struct bli_queues *queues, uint32_t i, uint32_t words) {
    const uint32_t length = queues->length[i];
    if (__builtin_expect(length == bli_queues_ring(queues, i, words)->size, 0) && !bli_queues_grow(queues, i))
        return NULL;
    queues->length[i] = length + 1;
    return bli_queues_at(queues, i, words, length);
}

/* Moves the back item of a queue that is not empty to its front. The place in front of the front is free, or,
 * in a full ring, that of the back item itself. */
ALWAYS_INLINE void bli_queues_back_to_front(struct bli_queues *queues, uint32_t i, uint32_t words) {
    struct bli_ring *ring = bli_queues_ring(queues, i, words);
    const union bli_claim_word *back = bli_queues_at(queues, i, words, queues->length[i] - 1);
    ring->head = (ring->head > 0 ? ring->head : ring->size) - 1;
    memmove(bli_queues_front(queues, i, words), back, bli_item_bytes(words));
}

/* A block of `size` items with fewer than this is exchanged for a smaller one; never what is inside, whose
 * quarter is below 2. */
ALWAYS_INLINE uint32_t bli_ring_sparse(uint32_t size) {
    return size / 4 & ~1u;
}

/* Drops the front / the back item of a queue that is not empty. */
ALWAYS_INLINE void bli_queues_drop(struct bli_queues *queues, uint32_t i, uint32_t words) {
    struct bli_ring *ring = bli_queues_ring(queues, i, words);
    const uint32_t length = --queues->length[i], next = ring->head + 1;
    ring->head = next < ring->size ? next : 0;
    if (__builtin_expect(length < bli_ring_sparse(ring->size), 0))
        bli_queues_shrink(queues, i);
}

ALWAYS_INLINE void bli_queues_drop_back(struct bli_queues *queues, uint32_t i, uint32_t words) {
    const uint32_t length = --queues->length[i];
    if (__builtin_expect(length < bli_ring_sparse(bli_queues_ring(queues, i, words)->size), 0))
        bli_queues_shrink(queues, i);
}

#endif
