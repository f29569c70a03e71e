/* SPDX-License-Identifier: BSD-2-Clause */
/* FIFO queues: allocating blocks, and exchanging them for larger or smaller ones. */
#include "engine/queues.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static unsigned log2_of(uint32_t size) {
    return (unsigned)__builtin_ctz(size);
}

/* A block of `size` items, or NULL. */
static char *acquire_block(struct bli_queues *queues, uint32_t size) {
    union bli_claim_word *vacant = queues->vacant[log2_of(size)];
    if (vacant) {
        queues->vacant[log2_of(size)] = vacant->vacant;
        return (char *)vacant;
    }
    char *block = bli_arena_take(&queues->arena, size, bli_item_bytes(queues->words));
    queues->used += block ? size : 0;
    return block;
}

static void release_block(struct bli_queues *queues, char *block, uint32_t size) {
    union bli_claim_word *vacant = (union bli_claim_word *)(void *)block;
    vacant->vacant = queues->vacant[log2_of(size)];
    queues->vacant[log2_of(size)] = vacant;
}

static struct bli_ring *ring_of(const struct bli_queues *queues, uint32_t i) {
    return bli_queues_ring(queues, i, queues->words);
}

enum bal_code bli_queues_init(struct bli_queues *queues, uint32_t count, uint32_t words) {
    assert(words <= BLI_ITEM_MAX);
    *queues = (struct bli_queues){.count = count, .words = words};
    if (count > UINT32_MAX / 4)
        return BAL_E_MEMORY;
    queues->length = bli_cacheline_alloc(count, sizeof *queues->length);
    queues->rings = bli_cacheline_alloc(count, bli_ring_line(words));
    if (!queues->length || !queues->rings) {
        bli_queues_fini(queues);
        return BAL_E_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        ring_of(queues, i)->block = ring_of(queues, i)->inside;
        ring_of(queues, i)->size = bli_ring_inside(words);
    }
    return BAL_OK;
}

void bli_queues_fini(struct bli_queues *queues) {
    free(queues->length);
    free(queues->rings);
    bli_arena_fini(&queues->arena);
    *queues = (struct bli_queues){0};
}

/* Copies the items in order to the start of another block and gives the old one back. */
static bool move_to_block(struct bli_queues *queues, uint32_t i, uint32_t size) {
    struct bli_ring *ring = ring_of(queues, i);
    const uint32_t words = queues->words;
    char *block = size < BLI_RING_MIN ? ring->inside : acquire_block(queues, size);
    if (!block)
        return false;
    for (uint32_t k = 0; k < queues->length[i]; k++)
        memcpy(bli_item_in(block, k, words), bli_queues_at(queues, i, words, k), bli_item_bytes(words));
    if (ring->block != ring->inside)
        release_block(queues, ring->block, ring->size);
    ring->block = block;
    ring->head = 0;
    ring->size = size;
    return true;
}

bool bli_queues_grow(struct bli_queues *queues, uint32_t i) {
    const uint32_t size = ring_of(queues, i)->size;
    return size < 1u << BLI_RING_MAX &&
           move_to_block(queues, i, size < BLI_RING_MIN ? BLI_RING_MIN : 2 * size);
}

void bli_queues_shrink(struct bli_queues *queues, uint32_t i) {
    const uint32_t size = ring_of(queues, i)->size;
    move_to_block(queues, i, size > BLI_RING_MIN ? size / 2 : bli_ring_inside(queues->words));
}

uint64_t bli_queues_bytes(const struct bli_queues *queues) {
    return queues->count * (uint64_t)(bli_ring_line(queues->words) + sizeof *queues->length);
}
