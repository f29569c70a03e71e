/* SPDX-License-Identifier: BSD-2-Clause */
/* The event list: growing its memory, and numbering the orders again from 0. */
#include "base/event_list.h"

#include <stdlib.h>

enum { LINE = 64, BEFORE = 3 }; /* places that are left free so that slot[1] begins a line */
#define LATEST (~(bli_due)0)

void bli_event_list_fini(struct bli_event_list *list) {
    free(list->slot ? list->slot - BEFORE : NULL);
    *list = (struct bli_event_list){0};
}

/* Three places more than the capacity: those behind the last entry are read. */
bool bli_event_list_grow(struct bli_event_list *list) {
    const size_t room = list->room ? 2 * (size_t)list->room : 64;
    if (room > UINT32_MAX / 8)
        return false;
    const size_t places = BEFORE + room + 5; /* a whole number of lines */
    bli_due *block = aligned_alloc(LINE, places * sizeof *block);
    if (!block)
        return false;
    bli_due *slot = block + BEFORE;
    if (list->count)
        memcpy(slot, list->slot, list->count * sizeof *slot);
    for (size_t i = list->count; i < room + 5; i++)
        slot[i] = LATEST;
    free(list->slot ? list->slot - BEFORE : NULL);
    list->slot = slot;
    list->room = (uint32_t)room;
    return true;
}

static int by_due(const void *a, const void *b) {
    const bli_due x = *(const bli_due *)a, y = *(const bli_due *)b;
    return (x > y) - (x < y);
}

/* What is sorted is a heap. */
void bli_event_list_renumber(struct bli_event_list *list) {
    qsort(list->slot, list->count, sizeof *list->slot, by_due);
    const bli_due order = (bli_due)UINT32_MAX << 32;
    for (uint32_t i = 0; i < list->count; i++)
        list->slot[i] = (list->slot[i] & ~order) | (bli_due)i << 32;
    list->order = list->count;
}
