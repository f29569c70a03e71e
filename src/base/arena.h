/* SPDX-License-Identifier: BSD-2-Clause */
/* An arena: many small allocations that live as long as their owner and are freed together. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct bli_arena {
    struct bli_arena_block *block; /* the newest one */
    bool lost;                     /* something did not fit into memory: what was built is not whole */
};

/* All zeros is an empty arena. */
void bli_arena_fini(struct bli_arena *arena);

/* Zeroed memory for count things of a size, aligned for anything; NULL when there is none. Zero things give a
 * valid pointer. */
void *bli_arena_take(struct bli_arena *arena, size_t count, size_t size);

/* A copy of the first length characters, terminated. Never NULL: without memory it is "", and the arena is
 * lost, which its owner asks in the end. */
const char *bli_arena_text(struct bli_arena *arena, const char *text, size_t length);

#endif
