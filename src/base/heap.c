#include "base/heap.h"

enum bal_code bal_heap_init(struct bal_heap *heap, uint32_t ids) {
    *heap = (struct bal_heap){0};
    heap->slot = malloc(ids * sizeof *heap->slot);
    heap->place = malloc(ids * sizeof *heap->place);
    if (!heap->slot || !heap->place) {
        bal_heap_fini(heap);
        return BAL_E_MEMORY;
    }
    for (uint32_t id = 0; id < ids; id++)
        heap->place[id] = BAL_HEAP_ABSENT;
    return BAL_OK;
}

void bal_heap_fini(struct bal_heap *heap) {
    free(heap->slot);
    free(heap->place);
    *heap = (struct bal_heap){0};
}
