/* Many FIFO queues in one arena: ring buffers that grow and shrink.
 *
 * Queue i keeps its items in a block of 2^k items of the arena; a full block is exchanged for one of twice
 * the size, one that is at most a quarter full for half of it, so that memory follows the jobs that are
 * there, not the most that ever were. All operations are O(1) amortised. Lengths lie in one dense array,
 * because that is what dispatch policies look at.
 *
 * An item is `words` 8-byte words. The functions on the hot path take it as an argument so that a constant is
 * folded in; it must be the one given to bal_queues_init. */
#ifndef BASE_QUEUES_H
#define BASE_QUEUES_H

#include "ballast/error.h"
#include "base/folded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bal_ring {
    uint32_t block; /* first item of its block in the arena */
    uint32_t head : 27;
    uint32_t log2 : 5; /* the block has 2^log2 items */
};

enum { BAL_RING_LEAST = 2, BAL_RING_MOST = 27 }; /* log2 of the smallest and the largest block */

union bal_word {
    double real;
    uint64_t bits;
};

struct bal_queues {
    uint32_t count;
    uint32_t words;
    uint32_t *length;
    struct bal_ring *ring;
    union bal_word *arena;
    uint64_t used;                      /* items of the arena handed out so far */
    uint64_t capacity;                  /* items the arena has room for */
    uint64_t vacant[BAL_RING_MOST + 1]; /* by log2: first free block plus 1, linked through its first word */
};

enum bal_code bal_queues_init(struct bal_queues *queues, uint32_t count, uint32_t words);
void bal_queues_fini(struct bal_queues *queues);

/* Out of line: exchange the block. Returns false when there is no memory (only growing can fail). */
bool bal_queues_grow(struct bal_queues *queues, uint32_t i);
void bal_queues_shrink(struct bal_queues *queues, uint32_t i);

/* The item k places behind the front. Behind the last one there may be anything, but never memory that was
 * not set: the front of an empty queue can be read where that saves a branch. */
FOLDED union bal_word *bal_queues_at(const struct bal_queues *queues, uint32_t i, uint32_t words,
                                     uint32_t k) {
    const struct bal_ring ring = queues->ring[i];
    const uint32_t place = (ring.head + k) & ((1u << ring.log2) - 1);
    return queues->arena + ((uint64_t)ring.block + place) * words;
}

/* Room for one more item at the back; the caller writes it. NULL when there is no memory. */
FOLDED union bal_word *bal_queues_push(struct bal_queues *queues, uint32_t i, uint32_t words) {
    const uint32_t length = queues->length[i];
    if (__builtin_expect(length == 1u << queues->ring[i].log2, 0) && !bal_queues_grow(queues, i))
        return NULL;
    queues->length[i] = length + 1;
    return bal_queues_at(queues, i, words, length);
}

/* A block of `size` items with fewer than this is exchanged for a smaller one: a quarter, and never for the
 * smallest size (4 items, whose quarter is odd). */
FOLDED uint32_t bal_ring_sparse(uint32_t size) {
    return size / 4 & ~1u;
}

/* Drops the front / the back item of a queue that is not empty. */
FOLDED void bal_queues_drop(struct bal_queues *queues, uint32_t i) {
    struct bal_ring *ring = &queues->ring[i];
    const uint32_t size = 1u << ring->log2;
    const uint32_t length = --queues->length[i];
    ring->head = (ring->head + 1) & (size - 1) & ((1u << BAL_RING_MOST) - 1);
    if (__builtin_expect(length < bal_ring_sparse(size), 0))
        bal_queues_shrink(queues, i);
}

FOLDED void bal_queues_drop_back(struct bal_queues *queues, uint32_t i) {
    const uint32_t length = --queues->length[i];
    if (__builtin_expect(length < bal_ring_sparse(1u << queues->ring[i].log2), 0))
        bal_queues_shrink(queues, i);
}

#endif
