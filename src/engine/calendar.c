/* SPDX-License-Identifier: BSD-2-Clause */
/* The calendar: allocating it, and its rare steps. What runs often is inline in calendar.h. */
#include "engine/calendar.h"

#include "engine/cacheline_alloc.h"

#include <stdlib.h>

enum { BUCKETS_PER_ID = 4, BUCKETS_MIN = 64 };

enum { FAR_DAYS = 4 * BLI_PENDING_MAX };

enum bal_code bli_calendar_init(struct bli_calendar *calendar, uint32_t ids, double rate) {
    *calendar = (struct bli_calendar){.next = INFINITY, .per_day = rate, .buckets = BUCKETS_MIN};
    if (ids > UINT32_MAX / 2 / BUCKETS_PER_ID)
        return BAL_E_MEMORY;
    while (calendar->buckets < BUCKETS_PER_ID * ids)
        calendar->buckets *= 2;
    calendar->bucket = bli_cacheline_alloc(calendar->buckets, sizeof *calendar->bucket);
    calendar->bits = calloc(calendar->buckets / 64, sizeof *calendar->bits);
    calendar->entry = bli_cacheline_alloc(ids, sizeof *calendar->entry);
    if (!calendar->bucket || !calendar->bits || !calendar->entry) {
        bli_calendar_fini(calendar);
        return BAL_E_MEMORY;
    }
    for (uint32_t id = 0; id < ids; id++)
        calendar->entry[id].bucket = BLI_CALENDAR_NONE;
    calendar->far = FAR_DAYS / rate;
    calendar->pending_first = INFINITY;
    return BAL_OK;
}

void bli_calendar_fini(struct bli_calendar *calendar) {
    free(calendar->bucket);
    free(calendar->bits);
    free(calendar->entry);
    *calendar = (struct bli_calendar){0};
}

void bli_calendar_insert_pending(struct bli_calendar *calendar) {
    for (; calendar->pending_count > 0; calendar->pending_count--) {
        const uint32_t id =
            calendar->pending[(calendar->pending_total - calendar->pending_count) % BLI_PENDING_MAX];
        const struct calendar_entry entry = calendar->entry[id];
        bli_calendar_link(calendar, id, entry.time, entry.bucket);
    }
    calendar->pending_first = INFINITY;
}

void bli_calendar_insert_and_seek(struct bli_calendar *calendar, uint64_t day) {
    bli_calendar_insert_pending(calendar);
    bli_calendar_seek(calendar, day, true);
}

void bli_calendar_seek_far(struct bli_calendar *calendar) {
    bli_calendar_insert_pending(calendar);
    calendar->next = INFINITY;
    for (uint32_t word = 0; word < calendar->buckets / 64; word++)
        for (uint64_t bits = calendar->bits[word]; bits; bits &= bits - 1) {
            const uint32_t id = calendar->bucket[word * 64 + (unsigned)__builtin_ctzll(bits)];
            const double time = calendar->entry[id].time;
            if (time <= calendar->next) {
                calendar->first = id;
                calendar->next = time;
            }
        }
}
