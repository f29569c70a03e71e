/* SPDX-License-Identifier: BSD-2-Clause */
/* What is to be done when: ids by time, those of equal times in the order in which they were put there.
 *
 * A 4-ary heap. An entry is one number of 128 bits, the time above (the bits of doubles that are not negative
 * sort as the doubles do), then the order, then the id: so that a comparison needs no branch, and the four
 * children of an entry fill one cache line. Places behind the last entry hold LATEST, so that every entry
 * that has a child has four. O(log entries). */
#ifndef BASE_EVENT_LIST_H
#define BASE_EVENT_LIST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 bli_due;

struct bli_event_list {
    bli_due *slot; /* slot[1] begins a cache line */
    uint32_t count, room;
    uint32_t order; /* of the next entry */
};

/* All zero is an empty agenda. */
void bli_event_list_fini(struct bli_event_list *list);

/* What bli_event_list_add needs now and then: more capacity, or orders that begin at 0 again. Returns false
 * without memory. */
bool bli_event_list_grow(struct bli_event_list *list);
void bli_event_list_renumber(struct bli_event_list *list);

/* The time of the first, or INFINITY. */
static inline double bli_event_list_next_time(const struct bli_event_list *list) {
    if (list->count == 0)
        return INFINITY;
    const uint64_t bits = (uint64_t)(list->slot[0] >> 64);
    double time;
    memcpy(&time, &bits, sizeof time);
    return time;
}

/* The id of the first, of which there must be one. */
static inline uint32_t bli_event_list_first(const struct bli_event_list *list) {
    return (uint32_t)list->slot[0];
}

/* time: not negative. Returns false without memory. */
static inline bool bli_event_list_add(struct bli_event_list *list, double time, uint32_t id) {
    if (__builtin_expect(list->count == list->room, 0) && !bli_event_list_grow(list))
        return false;
    if (__builtin_expect(list->order == UINT32_MAX, 0))
        bli_event_list_renumber(list);
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    const bli_due due = (bli_due)bits << 64 | (uint64_t)list->order++ << 32 | id;
    uint32_t place = list->count++;
    for (; place > 0 && due < list->slot[(place - 1) / 4]; place = (place - 1) / 4)
        list->slot[place] = list->slot[(place - 1) / 4];
    list->slot[place] = due;
    return true;
}

/* Takes the first out, of which there must be one; returns its id. */
static inline uint32_t bli_event_list_pop(struct bli_event_list *list) {
    bli_due *const slot = list->slot;
    const uint32_t id = bli_event_list_first(list);
    const size_t count = --list->count;
    const bli_due last = slot[count];
    slot[count] = ~(bli_due)0;
    size_t place = 0;
    for (size_t first = 1; first < count; first = 4 * place + 1) {
        /* The least of four, by arithmetic: a branch could not be predicted. */
        const size_t left = first + (slot[first + 1] < slot[first]);
        const size_t right = first + 2 + (slot[first + 3] < slot[first + 2]);
        const size_t least = left ^ ((left ^ right) & -(size_t)(slot[right] < slot[left]));
        if (last < slot[least])
            break;
        slot[place] = slot[least];
        place = least;
    }
    slot[place] = count ? last : ~(bli_due)0;
    return id;
}

#endif
