/* SPDX-License-Identifier: BSD-2-Clause */
/* Arena: blocks that hold many small allocations and are freed together. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384, ALIGNMENT = alignof(max_align_t) };

struct bli_arena_block {
    struct bli_arena_block *older;
    size_t used, size; /* of data */
    alignas(max_align_t) char data[];
};

void bli_arena_fini(struct bli_arena *arena) {
    while (arena->block) {
        struct bli_arena_block *older = arena->block->older;
        free(arena->block);
        arena->block = older;
    }
}

static struct bli_arena_block *add_block(struct bli_arena *arena, size_t size) {
    struct bli_arena_block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->older = arena->block;
    block->size = size;
    arena->block = block;
    return block;
}

void *bli_arena_take(struct bli_arena *arena, size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2 - ALIGNMENT) / size) {
        arena->lost = true;
        return NULL;
    }
    const size_t bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct bli_arena_block *block = arena->block;
    if (!block || bytes > block->size - block->used)
        block = add_block(arena, bytes > BLOCK ? bytes : BLOCK);
    if (!block) {
        arena->lost = true;
        return NULL;
    }
    void *piece = block->data + block->used;
    block->used += bytes;
    return piece;
}

const char *bli_arena_text(struct bli_arena *arena, const char *text, size_t length) {
    char *copy = bli_arena_take(arena, length + 1, 1);
    if (!copy)
        return "";
    memcpy(copy, text, length);
    return copy;
}
