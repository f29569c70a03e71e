/* A calendar: at most one pending time for each of n ids; the earliest is at hand, any of them can be changed
 * or removed. O(1) where as many become due in a unit of time as was foretold.
 *
 * Time is cut into days, and day t has its page t modulo the number of pages, of which there are at least
 * four for each id. A page is a list of the ids due on its days, the earliest first, linked through the ids
 * themselves; most pages are empty or have one. A bit for each page tells which are not, so that empty ones
 * are passed 64 at a time. Of equal times the one that was set last is first. (Brown, "Calendar queues",
 * Communications of the ACM 31(10), 1988; here days need not adapt, as the rate of services is known.) */
#ifndef BASE_CALENDAR_H
#define BASE_CALENDAR_H

#include "ballast/error.h"
#include "base/folded.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define BAL_CALENDAR_NONE UINT32_MAX

struct bal_entry {
    double time;
    uint32_t page; /* BAL_CALENDAR_NONE: it has no time */
    uint32_t next; /* on its page, if it has a time */
};

struct bal_calendar {
    double next;    /* the earliest time; INFINITY: there is none */
    uint32_t first; /* whose it is */
    uint32_t count;
    uint32_t pages; /* a power of 2, from 64 on */
    double per_day; /* 1 / length of a day */
    uint32_t *page; /* the first on each that is not empty */
    uint64_t *bits; /* of pages that are not */
    struct bal_entry *entry;
};

/* rate: how many will become due in a unit of time, about. */
enum bal_code bal_calendar_init(struct bal_calendar *calendar, uint32_t ids, double rate);
void bal_calendar_fini(struct bal_calendar *calendar);

/* Out of line: all are due in later years. O(pages). */
void bal_calendar_seek_far(struct bal_calendar *calendar);

FOLDED bool bal_calendar_has(const struct bal_calendar *calendar, uint32_t id) {
    return calendar->entry[id].page != BAL_CALENDAR_NONE;
}

/* The time of an id that has one. */
FOLDED double bal_calendar_time(const struct bal_calendar *calendar, uint32_t id) {
    return calendar->entry[id].time;
}

/* The day of a time that is not negative. */
FOLDED uint64_t bal_calendar_day(const struct bal_calendar *calendar, double time) {
    const double day = time * calendar->per_day;
    return (uint64_t)(int64_t)(day < 0x1p62 ? day : 0x1p62);
}

/* Finds the earliest, none of which is due before `day`. */
FOLDED void bal_calendar_seek(struct bal_calendar *calendar, uint64_t day) {
    if (calendar->count == 0) {
        calendar->next = INFINITY;
        return;
    }
    const uint32_t words = calendar->pages / 64;
    uint32_t word = (uint32_t)(day & (calendar->pages - 1)) / 64;
    uint64_t start = day & ~(uint64_t)63; /* the day of the first page of this word */
    uint64_t bits = calendar->bits[word] & ~(uint64_t)0 << (day & 63);
    for (uint32_t passed = 0; passed <= words; passed++) {
        for (; bits; bits &= bits - 1) {
            const unsigned bit = (unsigned)__builtin_ctzll(bits);
            const uint32_t id = calendar->page[word * 64 + bit];
            const double time = calendar->entry[id].time;
            if (bal_calendar_day(calendar, time) == start + bit) {
                calendar->first = id;
                calendar->next = time;
                return;
            }
        }
        word = (word + 1) & (words - 1);
        start += 64;
        bits = calendar->bits[word];
    }
    bal_calendar_seek_far(calendar);
}

FOLDED void bal_calendar_link(struct bal_calendar *calendar, uint32_t id, double time, uint64_t day) {
    const uint32_t page = (uint32_t)(day & (calendar->pages - 1));
    const uint64_t bit = (uint64_t)1 << (page & 63);
    uint32_t *at = &calendar->page[page];
    if (calendar->bits[page / 64] & bit) {
        while (*at != BAL_CALENDAR_NONE && calendar->entry[*at].time < time)
            at = &calendar->entry[*at].next;
        calendar->entry[id] = (struct bal_entry){time, page, *at};
    } else {
        calendar->bits[page / 64] |= bit;
        calendar->entry[id] = (struct bal_entry){time, page, BAL_CALENDAR_NONE};
    }
    *at = id;
}

FOLDED void bal_calendar_unlink(struct bal_calendar *calendar, uint32_t id) {
    const struct bal_entry entry = calendar->entry[id];
    uint32_t *at = &calendar->page[entry.page];
    if (*at == id && entry.next == BAL_CALENDAR_NONE) {
        calendar->bits[entry.page / 64] &= ~((uint64_t)1 << (entry.page & 63));
        return;
    }
    while (*at != id)
        at = &calendar->entry[*at].next;
    *at = entry.next;
}

/* Sets the time of an id, whether it has one or not; not negative. */
FOLDED void bal_calendar_set(struct bal_calendar *calendar, uint32_t id, double time) {
    const bool was_first = calendar->count && id == calendar->first;
    if (bal_calendar_has(calendar, id))
        bal_calendar_unlink(calendar, id);
    else
        calendar->count++;
    bal_calendar_link(calendar, id, time, bal_calendar_day(calendar, time));
    if (time <= calendar->next) {
        calendar->first = id;
        calendar->next = time;
    } else if (was_first) {
        bal_calendar_seek(calendar, bal_calendar_day(calendar, calendar->next));
    }
}

/* Takes away the time of an id that has one. */
FOLDED void bal_calendar_remove(struct bal_calendar *calendar, uint32_t id) {
    bal_calendar_unlink(calendar, id);
    calendar->entry[id].page = BAL_CALENDAR_NONE;
    calendar->count--;
    if (id == calendar->first)
        bal_calendar_seek(calendar, bal_calendar_day(calendar, calendar->next));
}

#endif
