#include "engine/calendar.h"

#include "engine/lines.h"

#include <stdlib.h>

enum { PAGES_AN_ID = 4, LEAST_PAGES = 64 };

enum { FAR_DAYS = 4 * BAL_TRAY };

enum bal_code bal_calendar_init(struct bal_calendar *calendar, uint32_t ids, double rate) {
    *calendar = (struct bal_calendar){.next = INFINITY, .per_day = rate, .pages = LEAST_PAGES};
    if (ids > UINT32_MAX / 2 / PAGES_AN_ID)
        return BAL_E_MEMORY;
    while (calendar->pages < PAGES_AN_ID * ids)
        calendar->pages *= 2;
    calendar->page = bal_lines_new(calendar->pages, sizeof *calendar->page);
    calendar->bits = calloc(calendar->pages / 64, sizeof *calendar->bits);
    calendar->entry = bal_lines_new(ids, sizeof *calendar->entry);
    if (!calendar->page || !calendar->bits || !calendar->entry) {
        bal_calendar_fini(calendar);
        return BAL_E_MEMORY;
    }
    for (uint32_t id = 0; id < ids; id++)
        calendar->entry[id].page = BAL_CALENDAR_NONE;
    calendar->far = FAR_DAYS / rate;
    calendar->tray_first = INFINITY;
    return BAL_OK;
}

void bal_calendar_fini(struct bal_calendar *calendar) {
    free(calendar->page);
    free(calendar->bits);
    free(calendar->entry);
    *calendar = (struct bal_calendar){0};
}

void bal_calendar_clear_tray(struct bal_calendar *calendar) {
    for (; calendar->on_tray > 0; calendar->on_tray--) {
        const uint32_t id = calendar->tray[(calendar->trayed - calendar->on_tray) % BAL_TRAY];
        const struct bal_entry entry = calendar->entry[id];
        bal_calendar_link(calendar, id, entry.time, entry.page);
    }
    calendar->tray_first = INFINITY;
}

void bal_calendar_clear_and_seek(struct bal_calendar *calendar, uint64_t day) {
    bal_calendar_clear_tray(calendar);
    bal_calendar_seek(calendar, day, true);
}

void bal_calendar_seek_far(struct bal_calendar *calendar) {
    bal_calendar_clear_tray(calendar);
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
