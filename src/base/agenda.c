#include "base/agenda.h"

#include <stdlib.h>

enum { LINE = 64, BEFORE = 3 }; /* places that are left free so that slot[1] begins a line */
#define LATEST (~(bal_due)0)

void bal_agenda_fini(struct bal_agenda *agenda) {
    free(agenda->slot ? agenda->slot - BEFORE : NULL);
    *agenda = (struct bal_agenda){0};
}

/* Three places more than the room: those behind the last entry are looked at. */
bool bal_agenda_grow(struct bal_agenda *agenda) {
    const size_t room = agenda->room ? 2 * (size_t)agenda->room : 64;
    if (room > UINT32_MAX / 8)
        return false;
    const size_t places = BEFORE + room + 5; /* a whole number of lines */
    bal_due *block = aligned_alloc(LINE, places * sizeof *block);
    if (!block)
        return false;
    bal_due *slot = block + BEFORE;
    if (agenda->count)
        memcpy(slot, agenda->slot, agenda->count * sizeof *slot);
    for (size_t i = agenda->count; i < room + 5; i++)
        slot[i] = LATEST;
    free(agenda->slot ? agenda->slot - BEFORE : NULL);
    agenda->slot = slot;
    agenda->room = (uint32_t)room;
    return true;
}

static int by_due(const void *a, const void *b) {
    const bal_due x = *(const bal_due *)a, y = *(const bal_due *)b;
    return (x > y) - (x < y);
}

/* What is sorted is a heap. */
void bal_agenda_renumber(struct bal_agenda *agenda) {
    qsort(agenda->slot, agenda->count, sizeof *agenda->slot, by_due);
    const bal_due order = (bal_due)UINT32_MAX << 32;
    for (uint32_t i = 0; i < agenda->count; i++)
        agenda->slot[i] = (agenda->slot[i] & ~order) | (bal_due)i << 32;
    agenda->order = agenda->count;
}
