#include "base/queues.h"

#include <stdlib.h>
#include <string.h>

/* A block of 2^log2 items; its first item, or UINT64_MAX when there is no memory. */
static uint64_t take_block(struct bal_queues *queues, unsigned log2) {
    const uint64_t vacant = queues->vacant[log2];
    if (vacant) {
        queues->vacant[log2] = queues->arena[(vacant - 1) * queues->words].bits;
        return vacant - 1;
    }
    const uint64_t block = queues->used;
    const uint64_t needed = block + (1u << log2);
    if (needed > UINT32_MAX)
        return UINT64_MAX;
    if (needed > queues->capacity) {
        const uint64_t capacity = needed + needed / 2;
        void *arena = realloc(queues->arena, capacity * queues->words * sizeof *queues->arena);
        if (!arena)
            return UINT64_MAX;
        queues->arena = arena;
        queues->capacity = capacity;
    }
    queues->used = needed;
    memset(queues->arena + block * queues->words, 0,
           (needed - block) * queues->words * sizeof *queues->arena);
    return block;
}

static void give_block(struct bal_queues *queues, uint64_t block, unsigned log2) {
    queues->arena[block * queues->words].bits = queues->vacant[log2];
    queues->vacant[log2] = block + 1;
}

enum bal_code bal_queues_init(struct bal_queues *queues, uint32_t count, uint32_t words) {
    *queues = (struct bal_queues){.count = count, .words = words};
    const uint64_t first = (uint64_t)count << BAL_RING_LEAST;
    if (first > UINT32_MAX)
        return BAL_E_MEMORY;
    queues->length = calloc(count, sizeof *queues->length);
    queues->ring = malloc(count * sizeof *queues->ring);
    queues->arena = calloc(first * words, sizeof *queues->arena);
    if (!queues->length || !queues->ring || !queues->arena) {
        bal_queues_fini(queues);
        return BAL_E_MEMORY;
    }
    queues->capacity = queues->used = first;
    for (uint32_t i = 0; i < count; i++)
        queues->ring[i] = (struct bal_ring){.block = i << BAL_RING_LEAST, .head = 0, .log2 = BAL_RING_LEAST};
    return BAL_OK;
}

void bal_queues_fini(struct bal_queues *queues) {
    free(queues->length);
    free(queues->ring);
    free(queues->arena);
    *queues = (struct bal_queues){0};
}

/* Copies the items in order to the start of another block and gives the old one back. */
static bool exchange(struct bal_queues *queues, uint32_t i, unsigned log2) {
    const uint64_t block = take_block(queues, log2);
    if (block == UINT64_MAX)
        return false;
    const struct bal_ring old = queues->ring[i];
    const uint32_t words = queues->words;
    for (uint32_t k = 0; k < queues->length[i]; k++)
        memcpy(queues->arena + (block + k) * words, bal_queues_at(queues, i, words, k),
               words * sizeof *queues->arena);
    give_block(queues, old.block, old.log2);
    queues->ring[i] = (struct bal_ring){.block = (uint32_t)block, .head = 0, .log2 = log2 & 31};
    return true;
}

bool bal_queues_grow(struct bal_queues *queues, uint32_t i) {
    const unsigned log2 = queues->ring[i].log2 + 1u;
    return log2 <= BAL_RING_MOST && exchange(queues, i, log2);
}

void bal_queues_shrink(struct bal_queues *queues, uint32_t i) {
    exchange(queues, i, queues->ring[i].log2 - 1u);
}
