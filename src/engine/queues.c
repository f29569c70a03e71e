#include "engine/queues.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static unsigned log2_of(uint32_t size) {
    return (unsigned)__builtin_ctz(size);
}

/* A block of `size` items, or NULL. */
static union bal_word *take_block(struct bal_queues *queues, uint32_t size) {
    union bal_word *vacant = queues->vacant[log2_of(size)];
    if (vacant) {
        queues->vacant[log2_of(size)] = vacant->vacant;
        return vacant;
    }
    union bal_word *block = bal_arena_take(&queues->arena, (size_t)size * queues->words, sizeof *block);
    queues->used += block ? size : 0;
    return block;
}

static void give_block(struct bal_queues *queues, union bal_word *block, uint32_t size) {
    block->vacant = queues->vacant[log2_of(size)];
    queues->vacant[log2_of(size)] = block;
}

enum bal_code bal_queues_init(struct bal_queues *queues, uint32_t count, uint32_t words) {
    assert(words >= 1 && words <= BAL_RING_INSIDE);
    *queues = (struct bal_queues){.count = count, .words = words};
    if (count > UINT32_MAX / 4)
        return BAL_E_MEMORY;
    queues->length = bal_lines_new(count, sizeof *queues->length);
    queues->ring = bal_lines_new(count, sizeof *queues->ring);
    if (!queues->length || !queues->ring) {
        bal_queues_fini(queues);
        return BAL_E_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        queues->ring[i].block = queues->ring[i].inside;
        queues->ring[i].size = BAL_RING_INSIDE / words;
    }
    return BAL_OK;
}

void bal_queues_fini(struct bal_queues *queues) {
    free(queues->length);
    free(queues->ring);
    bal_arena_fini(&queues->arena);
    *queues = (struct bal_queues){0};
}

/* Copies the items in order to the start of another block and gives the old one back. */
static bool exchange(struct bal_queues *queues, uint32_t i, uint32_t size) {
    struct bal_ring *ring = &queues->ring[i];
    const uint32_t words = queues->words;
    union bal_word *block = size < BAL_RING_LEAST ? ring->inside : take_block(queues, size);
    if (!block)
        return false;
    for (uint32_t k = 0; k < queues->length[i]; k++)
        memcpy(block + (size_t)k * words, bal_queues_at(queues, i, words, k), words * sizeof *block);
    if (ring->block != ring->inside)
        give_block(queues, ring->block, ring->size);
    ring->block = block;
    ring->head = 0;
    ring->size = size;
    return true;
}

bool bal_queues_grow(struct bal_queues *queues, uint32_t i) {
    const uint32_t size = queues->ring[i].size;
    return size < 1u << BAL_RING_MOST &&
           exchange(queues, i, size < BAL_RING_LEAST ? BAL_RING_LEAST : 2 * size);
}

void bal_queues_shrink(struct bal_queues *queues, uint32_t i) {
    const uint32_t size = queues->ring[i].size;
    exchange(queues, i, size > BAL_RING_LEAST ? size / 2 : BAL_RING_INSIDE / queues->words);
}
