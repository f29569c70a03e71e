/* SPDX-License-Identifier: BSD-2-Clause */
/* The indexed heap: allocating, growing and freeing it. What runs often is inline in heap.h. */
#include "base/heap.h"

enum bal_code bli_heap_init(struct bli_heap *heap, uint32_t ids) {
    *heap = (struct bli_heap){0};
    heap->slot = malloc(ids * sizeof *heap->slot);
    heap->place = malloc(ids * sizeof *heap->place);
    if (!heap->slot || !heap->place) {
        bli_heap_fini(heap);
        return BAL_E_MEMORY;
    }
    for (uint32_t id = 0; id < ids; id++)
        heap->place[id] = BLI_HEAP_ABSENT;
    return BAL_OK;
}

bool bli_heap_grow(struct bli_heap *heap, uint32_t before, uint32_t ids) {
    struct bli_pending *slot = realloc(heap->slot, ids * sizeof *slot);
    if (slot)
        heap->slot = slot;
    uint32_t *place = realloc(heap->place, ids * sizeof *place);
    if (place)
        heap->place = place;
    for (uint32_t id = before; place && id < ids; id++)
        place[id] = BLI_HEAP_ABSENT;
    return slot && place;
}

void bli_heap_fini(struct bli_heap *heap) {
    free(heap->slot);
    free(heap->place);
    *heap = (struct bli_heap){0};
}
