/* What is to be done when: ids by time, those of equal times in the order in which they were put there.
 *
 * A 4-ary heap. An entry is one number of 128 bits, the time above (the bits of doubles that are not negative
 * sort as the doubles do), then the order, then the id: so that a comparison needs no branch, and the four
 * children of an entry fill one cache line. Places behind the last entry hold LATEST, so that every entry
 * that has a child has four. O(log entries). */
#ifndef BASE_AGENDA_H
#define BASE_AGENDA_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 bal_due;

struct bal_agenda {
    bal_due *slot; /* slot[1] begins a cache line */
    uint32_t count, room;
    uint32_t order; /* of the next entry */
};

/* All zero is an empty agenda. */
void bal_agenda_fini(struct bal_agenda *agenda);

/* What bal_agenda_add needs now and then: more room, or orders that begin at 0 again. Returns false without
 * memory. */
bool bal_agenda_grow(struct bal_agenda *agenda);
void bal_agenda_renumber(struct bal_agenda *agenda);

/* The time of the first, or INFINITY. */
static inline double bal_agenda_next(const struct bal_agenda *agenda) {
    if (agenda->count == 0)
        return INFINITY;
    const uint64_t bits = (uint64_t)(agenda->slot[0] >> 64);
    double time;
    memcpy(&time, &bits, sizeof time);
    return time;
}

/* The id of the first, of which there must be one. */
static inline uint32_t bal_agenda_first(const struct bal_agenda *agenda) {
    return (uint32_t)agenda->slot[0];
}

/* time: not negative. Returns false without memory. */
static inline bool bal_agenda_add(struct bal_agenda *agenda, double time, uint32_t id) {
    if (__builtin_expect(agenda->count == agenda->room, 0) && !bal_agenda_grow(agenda))
        return false;
    if (__builtin_expect(agenda->order == UINT32_MAX, 0))
        bal_agenda_renumber(agenda);
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    const bal_due due = (bal_due)bits << 64 | (uint64_t)agenda->order++ << 32 | id;
    uint32_t place = agenda->count++;
    for (; place > 0 && due < agenda->slot[(place - 1) / 4]; place = (place - 1) / 4)
        agenda->slot[place] = agenda->slot[(place - 1) / 4];
    agenda->slot[place] = due;
    return true;
}

/* Takes the first out, of which there must be one; returns its id. */
static inline uint32_t bal_agenda_take(struct bal_agenda *agenda) {
    bal_due *const slot = agenda->slot;
    const uint32_t id = bal_agenda_first(agenda);
    const size_t count = --agenda->count;
    const bal_due last = slot[count];
    slot[count] = ~(bal_due)0;
    size_t place = 0;
    for (size_t first = 1; first < count; first = 4 * place + 1) {
        /* The least of four, by arithmetic: which it is cannot be foretold. */
        const size_t left = first + (slot[first + 1] < slot[first]);
        const size_t right = first + 2 + (slot[first + 3] < slot[first + 2]);
        const size_t least = left ^ ((left ^ right) & -(size_t)(slot[right] < slot[left]));
        if (last < slot[least])
            break;
        slot[place] = slot[least];
        place = least;
    }
    slot[place] = count ? last : ~(bal_due)0;
    return id;
}

#endif
