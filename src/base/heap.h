/* SPDX-License-Identifier: BSD-2-Clause */
/* An indexed 4-ary heap: at most one pending time for each of n ids; the earliest is at hand, any of them can
 * be changed or removed. O(log n). Four children lie in two cache lines at most, which makes it about half as
 * deep and a good deal faster than a binary heap. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct bli_pending {
    double time;
    uint32_t id;
};

struct bli_heap {
    uint32_t count;
    struct bli_pending *slot;
    uint32_t *place; /* place[id]: its slot, or BLI_HEAP_ABSENT */
};

#define BLI_HEAP_ABSENT UINT32_MAX

enum bal_code bli_heap_init(struct bli_heap *heap, uint32_t ids);
/* Adds capacity for more ids, those from `before` on; false: there is no memory, and nothing has changed. */
bool bli_heap_grow(struct bli_heap *heap, uint32_t before, uint32_t ids);
void bli_heap_fini(struct bli_heap *heap);

static inline void bli_heap_put(struct bli_heap *heap, uint32_t slot, struct bli_pending entry) {
    heap->slot[slot] = entry;
    heap->place[entry.id] = slot;
}

static inline void bli_heap_sift_up(struct bli_heap *heap, uint32_t slot, struct bli_pending entry) {
    while (slot > 0) {
        const uint32_t parent = (slot - 1) / 4;
        if (heap->slot[parent].time <= entry.time)
            break;
        bli_heap_put(heap, slot, heap->slot[parent]);
        slot = parent;
    }
    bli_heap_put(heap, slot, entry);
}

static inline void bli_heap_sift_down(struct bli_heap *heap, uint32_t slot, struct bli_pending entry) {
    for (;;) {
        const uint32_t first = 4 * slot + 1;
        if (first >= heap->count)
            break;
        const uint32_t end = first + 4 < heap->count ? first + 4 : heap->count;
        uint32_t least = first;
        for (uint32_t child = first + 1; child < end; child++)
            least = heap->slot[child].time < heap->slot[least].time ? child : least;
        if (entry.time <= heap->slot[least].time)
            break;
        bli_heap_put(heap, slot, heap->slot[least]);
        slot = least;
    }
    bli_heap_put(heap, slot, entry);
}

/* Sets the time of an id that has none. */
static inline void bli_heap_insert(struct bli_heap *heap, uint32_t id, double time) {
    bli_heap_sift_up(heap, heap->count++, (struct bli_pending){time, id});
}

/* An id that has a time gets another one, earlier or later. */
static inline void bli_heap_change(struct bli_heap *heap, uint32_t id, double time) {
    const uint32_t slot = heap->place[id];
    const struct bli_pending entry = {time, id};
    if (time < heap->slot[slot].time)
        bli_heap_sift_up(heap, slot, entry);
    else
        bli_heap_sift_down(heap, slot, entry);
}

/* Removes the entry of an id that has one. */
static inline void bli_heap_remove(struct bli_heap *heap, uint32_t id) {
    const uint32_t slot = heap->place[id];
    heap->place[id] = BLI_HEAP_ABSENT;
    const struct bli_pending last = heap->slot[--heap->count];
    if (slot == heap->count)
        return;
    if (slot > 0 && heap->slot[(slot - 1) / 4].time > last.time)
        bli_heap_sift_up(heap, slot, last);
    else
        bli_heap_sift_down(heap, slot, last);
}

#endif
