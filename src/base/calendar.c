#include "base/calendar.h"

#include <stdlib.h>

enum { PAGES_AN_ID = 4, LEAST_PAGES = 64 };

enum bal_code bal_calendar_init(struct bal_calendar *calendar, uint32_t ids, double rate) {
    *calendar = (struct bal_calendar){.next = INFINITY, .per_day = rate, .pages = LEAST_PAGES};
    if (ids > UINT32_MAX / 2 / PAGES_AN_ID)
        return BAL_E_MEMORY;
    while (calendar->pages < PAGES_AN_ID * ids)
        calendar->pages *= 2;
    calendar->page = malloc(calendar->pages * sizeof *calendar->page);
    calendar->bits = calloc(calendar->pages / 64, sizeof *calendar->bits);
    calendar->entry = malloc(ids * sizeof *calendar->entry);
    if (!calendar->page || !calendar->bits || !calendar->entry) {
        bal_calendar_fini(calendar);
        return BAL_E_MEMORY;
    }
    for (uint32_t id = 0; id < ids; id++)
        calendar->entry[id].page = BAL_CALENDAR_NONE;
    return BAL_OK;
}

void bal_calendar_fini(struct bal_calendar *calendar) {
    free(calendar->page);
    free(calendar->bits);
    free(calendar->entry);
    *calendar = (struct bal_calendar){0};
}

void bal_calendar_seek_far(struct bal_calendar *calendar) {
    calendar->next = INFINITY;
    for (uint32_t word = 0; word < calendar->pages / 64; word++)
        for (uint64_t bits = calendar->bits[word]; bits; bits &= bits - 1) {
            const uint32_t id = calendar->page[word * 64 + (unsigned)__builtin_ctzll(bits)];
            const double time = calendar->entry[id].time;
            if (time <= calendar->next) {
                calendar->first = id;
                calendar->next = time;
            }
        }
}
