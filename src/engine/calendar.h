/* A calendar: at most one pending time for each of n ids; the earliest is at hand, any of them can be changed
 * or removed. O(1) where as many become due in a unit of time as was foretold.
 *
 * Time is cut into days, and day t has its page t modulo the number of pages, of which there are at least
 * four for each id. A page is a list of the ids due on its days, the earliest first, linked through the ids
 * themselves; most pages are empty or have one. A bit for each page tells which are not, so that empty ones
 * are passed 64 at a time. Of equal times the one that was set last is first. (Brown, "Calendar queues",
 * Communications of the ACM 31(10), 1988; here days need not adapt, as the rate of services is known.)
 *
 * A page is somewhere in memory, and so is who is first on it. Where there are many ids, one that is due far
 * ahead therefore lies on a tray until some more have come, and meanwhile both are fetched. What is on the
 * tray is put on its pages before anything could show that it was not there. */
#ifndef ENGINE_CALENDAR_H
#define ENGINE_CALENDAR_H

#include "ballast/error.h"
#include "base/folded.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define BAL_CALENDAR_NONE UINT32_MAX
#define BAL_CALENDAR_TRAY (UINT32_MAX - 1)
enum { BAL_TRAY = 16, BAL_LARGE_CALENDAR = 1 << 17 };

struct bal_entry {
    double time;
    uint32_t page; /* BAL_CALENDAR_NONE: it has no time */
    uint32_t next; /* on its page, if it has a time; BAL_CALENDAR_TRAY: it is on the tray */
};

struct bal_calendar {
    double next;    /* the earliest time; INFINITY: there is none */
    uint32_t first; /* whose it is */
    uint32_t count;
    uint32_t pages; /* a power of 2, from 64 on */
    double per_day; /* 1 / length of a day */
    uint32_t *page; /* the first on each; of an empty one any id */
    uint64_t *bits; /* of pages that are not empty */
    struct bal_entry *entry;
    /* The last entries that are far ahead, in a circle, whose pages are being fetched. */
    double far; /* so much later than the earliest they are */
    double tray_first;
    uint32_t on_tray, trayed; /* now, and ever */
    uint32_t tray[BAL_TRAY];
};

/* rate: how many will become due in a unit of time, about. */
enum bal_code bal_calendar_init(struct bal_calendar *calendar, uint32_t ids, double rate);
void bal_calendar_fini(struct bal_calendar *calendar);

/* Out of line: all are due in later years. O(pages). */
void bal_calendar_seek_far(struct bal_calendar *calendar);

/* Out of line: puts what is on the tray on its pages; and then finds the earliest. */
void bal_calendar_clear_tray(struct bal_calendar *calendar);
void bal_calendar_clear_and_seek(struct bal_calendar *calendar, uint64_t day);

/* Are there so many ids that a tray is worth while? Whoever uses one says so in every call below. */
FOLDED bool bal_calendar_is_large(const struct bal_calendar *calendar) {
    return calendar->pages >= BAL_LARGE_CALENDAR;
}

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

/* Whoever is first on the page of a day that is near; any id if nobody is. */
FOLDED uint32_t bal_calendar_near(const struct bal_calendar *calendar, uint64_t day) {
    return calendar->page[day & (calendar->pages - 1)];
}

/* Finds the earliest, none of which is due before `day`. */
FOLDED void bal_calendar_seek(struct bal_calendar *calendar, uint64_t day, bool tray) {
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
                if (tray && __builtin_expect(time >= calendar->tray_first, 0)) {
                    bal_calendar_clear_and_seek(calendar, day);
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

/* An entry that is far ahead is linked only when BAL_TRAY others have come: its page is fetched by then, and
 * who is first there. */
FOLDED void bal_calendar_put_on_tray(struct bal_calendar *calendar, uint32_t id, double time, uint64_t day) {
    const uint32_t page = (uint32_t)(day & (calendar->pages - 1));
    calendar->entry[id] = (struct bal_entry){time, page, BAL_CALENDAR_TRAY};
    __builtin_prefetch(&calendar->bits[page / 64]);
    __builtin_prefetch(&calendar->page[page]);
    uint32_t *const tray = calendar->tray;
    const uint32_t place = calendar->trayed++ % BAL_TRAY;
    if (calendar->on_tray == BAL_TRAY) {
        const struct bal_entry halfway = calendar->entry[tray[(place + BAL_TRAY / 2) % BAL_TRAY]];
        __builtin_prefetch(&calendar->entry[calendar->page[halfway.page]]);
        const uint32_t oldest = tray[place];
        const struct bal_entry entry = calendar->entry[oldest];
        bal_calendar_link(calendar, oldest, entry.time, entry.page);
    } else {
        calendar->on_tray++;
    }
    tray[place] = id;
    calendar->tray_first = time < calendar->tray_first ? time : calendar->tray_first;
}

FOLDED void bal_calendar_unlink(struct bal_calendar *calendar, uint32_t id, bool tray) {
    if (tray && __builtin_expect(calendar->entry[id].next == BAL_CALENDAR_TRAY, 0))
        bal_calendar_clear_tray(calendar);
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
FOLDED void bal_calendar_set(struct bal_calendar *calendar, uint32_t id, double time, bool tray) {
    const bool was_first = calendar->count && id == calendar->first;
    if (bal_calendar_has(calendar, id))
        bal_calendar_unlink(calendar, id, tray);
    else
        calendar->count++;
    const uint64_t day = bal_calendar_day(calendar, time);
    if (tray && time - calendar->next > calendar->far) {
        bal_calendar_put_on_tray(calendar, id, time, day);
    } else {
        if (tray && __builtin_expect(time >= calendar->tray_first, 0))
            bal_calendar_clear_tray(calendar); /* of equal times this one comes first */
        bal_calendar_link(calendar, id, time, day);
    }
    if (time <= calendar->next) {
        calendar->first = id;
        calendar->next = time;
    } else if (was_first) {
        bal_calendar_seek(calendar, bal_calendar_day(calendar, calendar->next), tray);
    }
}

/* Takes away the time of an id that has one. */
FOLDED void bal_calendar_remove(struct bal_calendar *calendar, uint32_t id, bool tray) {
    bal_calendar_unlink(calendar, id, tray);
    calendar->entry[id].page = BAL_CALENDAR_NONE;
    calendar->count--;
    if (id == calendar->first)
        bal_calendar_seek(calendar, bal_calendar_day(calendar, calendar->next), tray);
}

#endif
