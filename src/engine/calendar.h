/* SPDX-License-Identifier: BSD-2-Clause */
/* A calendar: at most one pending time for each of n ids; the earliest is at hand, any of them can be changed
 * or removed. O(1) if the rate at which they become due is as given to init.
 *
 * Time is cut into days, and day t has its bucket t modulo the number of buckets, of which there are at least
 * four for each id. A bucket is a list of the ids due on its days, the earliest first, linked through the ids
 * themselves; most buckets are empty or have one. A bitmap marks the buckets that are not empty, so that
 * empty ones are skipped 64 at a time. Of equal times the one that was set last is first. (Brown, "Calendar
 * queues", Communications of the ACM 31(10), 1988; here days need not adapt, as the rate of services is
 * known.)
 *
 * A bucket and its first entry may both miss the cache. Where there are many ids, one that is due far ahead
 * is therefore put on a list of pending ones until some more have come, while both are prefetched. Pending
 * ids are put into their buckets before the difference could be seen. */
#ifndef ENGINE_CALENDAR_H
#define ENGINE_CALENDAR_H

#include "ballast/error.h"
#include "base/inline.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define BLI_CALENDAR_NONE UINT32_MAX
#define BLI_CALENDAR_PENDING (UINT32_MAX - 1)
enum { BLI_PENDING_MAX = 16, BLI_LARGE_CALENDAR = 1 << 17 };

struct calendar_entry {
    double time;
    uint32_t bucket; /* BLI_CALENDAR_NONE: it has no time */
    uint32_t next;   /* in its bucket, if it has a time; BLI_CALENDAR_PENDING: it is pending */
};

struct bli_calendar {
    double next;    /* the earliest time; INFINITY: there is none */
    uint32_t first; /* whose it is */
    uint32_t count;
    uint32_t buckets; /* a power of 2, from 64 on */
    double per_day;   /* 1 / length of a day */
    uint32_t *bucket; /* the first on each; of an empty one any id */
    uint64_t *bits;   /* of buckets that are not empty */
    struct calendar_entry *entry;
    /* The last entries that are far ahead, in a circle, whose buckets are being fetched. */
    double far; /* so much later than the earliest they are */
    double pending_first;
    uint32_t pending_count, pending_total; /* now, and ever */
    uint32_t pending[BLI_PENDING_MAX];
};

/* rate: how many will become due in a unit of time, about. */
enum bal_code bli_calendar_init(struct bli_calendar *calendar, uint32_t ids, double rate);
void bli_calendar_fini(struct bli_calendar *calendar);

/* Out of line: all are due in later years. O(buckets). */
void bli_calendar_seek_far(struct bli_calendar *calendar);

/* Out of line: puts what is pending into its buckets; and then finds the earliest. */
void bli_calendar_insert_pending(struct bli_calendar *calendar);
void bli_calendar_insert_and_seek(struct bli_calendar *calendar, uint64_t day);

/* Are there so many ids that a list of pending ones is worth while? A caller that uses one passes this in
 * every call below. */
ALWAYS_INLINE bool bli_calendar_is_large(const struct bli_calendar *calendar) {
    return calendar->buckets >= BLI_LARGE_CALENDAR;
}

ALWAYS_INLINE bool bli_calendar_has(const struct bli_calendar *calendar, uint32_t id) {
    return calendar->entry[id].bucket != BLI_CALENDAR_NONE;
}

/* The time of an id that has one. */
ALWAYS_INLINE double bli_calendar_time(const struct bli_calendar *calendar, uint32_t id) {
    return calendar->entry[id].time;
}

/* The day of a time that is not negative. */
ALWAYS_INLINE uint64_t bli_calendar_day(const struct bli_calendar *calendar, double time) {
    const double day = time * calendar->per_day;
    return (uint64_t)(int64_t)(day < 0x1p62 ? day : 0x1p62);
}

/* The first id in the bucket of a near day; any id if the bucket is empty. */
ALWAYS_INLINE uint32_t bli_calendar_near(const struct bli_calendar *calendar, uint64_t day) {
    return calendar->bucket[day & (calendar->buckets - 1)];
}

/* Finds the earliest, none of which is due before `day`. */
ALWAYS_INLINE void bli_calendar_seek(struct bli_calendar *calendar, uint64_t day, bool deferring) {
    if (calendar->count == 0) {
        calendar->next = INFINITY;
        return;
    }
    const uint32_t words = calendar->buckets / 64;
    uint32_t word = (uint32_t)(day & (calendar->buckets - 1)) / 64;
    uint64_t start = day & ~(uint64_t)63; /* the day of the first bucket of this word */
    uint64_t bits = calendar->bits[word] & ~(uint64_t)0 << (day & 63);
    for (uint32_t passed = 0; passed <= words; passed++) {
        for (; bits; bits &= bits - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(bits);
            const uint32_t id = calendar->bucket[word * 64 + bit];
            const double time = calendar->entry[id].time;
            if (bli_calendar_day(calendar, time) == start + bit) {
                if (deferring && __builtin_expect(time >= calendar->pending_first, 0)) {
                    bli_calendar_insert_and_seek(calendar, day);
                    return;
                }
                calendar->first = id;
                calendar->next = time;
                return;
            }
        }
        word = (word + 1) & (words - 1);
        start += 64;
        bits = calendar->bits[word];
    }
    bli_calendar_seek_far(calendar);
}

ALWAYS_INLINE void bli_calendar_link(struct bli_calendar *calendar, uint32_t id, double time, uint64_t day) {
    const uint32_t bucket = (uint32_t)(day & (calendar->buckets - 1));
    const uint64_t bit = (uint64_t)1 << (bucket & 63);
    uint32_t *at = &calendar->bucket[bucket];
    if (calendar->bits[bucket / 64] & bit) {
        while (*at != BLI_CALENDAR_NONE && calendar->entry[*at].time < time)
            at = &calendar->entry[*at].next;
        calendar->entry[id] = (struct calendar_entry){time, bucket, *at};
    } else {
        calendar->bits[bucket / 64] |= bit;
        calendar->entry[id] = (struct calendar_entry){time, bucket, BLI_CALENDAR_NONE};
    }
    *at = id;
}

/* An entry that is far ahead is linked only when BLI_PENDING_MAX others have come: its bucket is fetched by
 * then, and who is first there. */
ALWAYS_INLINE void bli_calendar_defer(struct bli_calendar *calendar, uint32_t id, double time, uint64_t day) {
    const uint32_t bucket = (uint32_t)(day & (calendar->buckets - 1));
    calendar->entry[id] = (struct calendar_entry){time, bucket, BLI_CALENDAR_PENDING};
    __builtin_prefetch(&calendar->bits[bucket / 64]);
    __builtin_prefetch(&calendar->bucket[bucket]);
    uint32_t *const pending = calendar->pending;
    const uint32_t place = calendar->pending_total++ % BLI_PENDING_MAX;
    if (calendar->pending_count == BLI_PENDING_MAX) {
        const struct calendar_entry halfway =
            calendar->entry[pending[(place + BLI_PENDING_MAX / 2) % BLI_PENDING_MAX]];
        __builtin_prefetch(&calendar->entry[calendar->bucket[halfway.bucket]]);
        const uint32_t oldest = pending[place];
        const struct calendar_entry entry = calendar->entry[oldest];
        bli_calendar_link(calendar, oldest, entry.time, entry.bucket);
    } else {
        calendar->pending_count++;
    }
    pending[place] = id;
    calendar->pending_first = time < calendar->pending_first ? time : calendar->pending_first;
}

ALWAYS_INLINE void bli_calendar_unlink(struct bli_calendar *calendar, uint32_t id, bool deferring) {
    if (deferring && __builtin_expect(calendar->entry[id].next == BLI_CALENDAR_PENDING, 0))
        bli_calendar_insert_pending(calendar);
    const struct calendar_entry entry = calendar->entry[id];
    uint32_t *at = &calendar->bucket[entry.bucket];
    if (*at == id && entry.next == BLI_CALENDAR_NONE) {
        calendar->bits[entry.bucket / 64] &= ~((uint64_t)1 << (entry.bucket & 63));
        return;
    }
    while (*at != id)
        at = &calendar->entry[*at].next;
    *at = entry.next;
}

/* Sets the time of an id, whether it has one or not; not negative. */
ALWAYS_INLINE void bli_calendar_set(struct bli_calendar *calendar, uint32_t id, double time, bool deferring) {
    const bool was_first = calendar->count && id == calendar->first;
    if (bli_calendar_has(calendar, id))
        bli_calendar_unlink(calendar, id, deferring);
    else
        calendar->count++;
    const uint64_t day = bli_calendar_day(calendar, time);
    if (deferring && time - calendar->next > calendar->far) {
        bli_calendar_defer(calendar, id, time, day);
    } else {
        if (deferring && __builtin_expect(time >= calendar->pending_first, 0))
            bli_calendar_insert_pending(calendar); /* of equal times this one comes first */
        bli_calendar_link(calendar, id, time, day);
    }
    if (time <= calendar->next) {
        calendar->first = id;
        calendar->next = time;
    } else if (was_first) {
        bli_calendar_seek(calendar, bli_calendar_day(calendar, calendar->next), deferring);
    }
}

/* Takes away the time of an id that has one. */
ALWAYS_INLINE void bli_calendar_remove(struct bli_calendar *calendar, uint32_t id, bool deferring) {
    bli_calendar_unlink(calendar, id, deferring);
    calendar->entry[id].bucket = BLI_CALENDAR_NONE;
    calendar->count--;
    if (id == calendar->first)
        bli_calendar_seek(calendar, bli_calendar_day(calendar, calendar->next), deferring);
}

#endif
