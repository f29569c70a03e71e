/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers of the event engine with processor sharing: n jobs are all worked on at once, each at 1/n of the
 * speed, as on most web servers.
 *
 * A server keeps V, the service that each of its jobs has got since it was last idle: V grows at speed / n. A
 * job of size x that comes at V is done at V + x, whatever other jobs come and go meanwhile, so that the one
 * with the least such mark is next. The jobs of a server are a binary heap by their marks, which lies in its
 * queue: the front is the least. */
#ifndef ENGINE_EVENT_SHARING_H
#define ENGINE_EVENT_SHARING_H

#include "engine/event.h"

enum { MARK = LEFT }; /* of a job that shares: V when it will be done */

struct sharing {
    double attained; /* V */
    double since;    /* as of then */
};

/* Brings V up to date, before the number of jobs changes. */
ALWAYS_INLINE void sharing_advance(struct event_engine *event, double now, uint32_t server) {
    struct sharing *sharing = &event->sharing[server];
    const uint32_t jobs = event->system.length[server];
    if (jobs == 0)
        sharing->attained = 0;
    else
        sharing->attained += (now - sharing->since) / (service_duration(event, server, 1) * jobs);
    sharing->since = now;
}

/* When the next job of a server that has some will be done. */
ALWAYS_INLINE void sharing_schedule(struct event_engine *event, double now, uint32_t server, uint32_t words) {
    const struct sharing *sharing = &event->sharing[server];
    const double mark = bal_queues_front(&event->system.queues, server, words)[MARK].real;
    const double left = mark > sharing->attained ? mark - sharing->attained : 0; /* rounding */
    bal_calendar_set(&event->completions, server,
                     now + service_duration(event, server, left) * event->system.length[server], false);
}

ALWAYS_INLINE void sharing_swap(struct event_engine *event, uint32_t server, uint32_t words, uint32_t a,
                                uint32_t b) {
    union bal_claim_word *x = bal_queues_at(&event->system.queues, server, words, a);
    union bal_claim_word *y = bal_queues_at(&event->system.queues, server, words, b);
    for (uint32_t i = 0; i < words; i++) {
        const union bal_claim_word other = x[i];
        x[i] = y[i];
        y[i] = other;
    }
}

ALWAYS_INLINE double sharing_mark(const struct event_engine *event, uint32_t server, uint32_t words,
                                  uint32_t k) {
    return bal_queues_at(&event->system.queues, server, words, k)[MARK].real;
}

static inline void sharing_rise(struct event_engine *event, uint32_t server, uint32_t words, uint32_t k) {
    for (; k > 0; k = (k - 1) / 2) {
        if (sharing_mark(event, server, words, k) >= sharing_mark(event, server, words, (k - 1) / 2))
            return;
        sharing_swap(event, server, words, k, (k - 1) / 2);
    }
}

static inline void sharing_sink(struct event_engine *event, uint32_t server, uint32_t words) {
    const uint32_t jobs = event->system.queues.length[server];
    for (uint32_t k = 0, child; (child = 2 * k + 1) < jobs; k = child) {
        if (child + 1 < jobs &&
            sharing_mark(event, server, words, child + 1) < sharing_mark(event, server, words, child))
            child++;
        if (sharing_mark(event, server, words, k) <= sharing_mark(event, server, words, child))
            return;
        sharing_swap(event, server, words, k, child);
    }
}

/* A job joins, and is worked on at once: no job waits, but all become slower. */
ALWAYS_INLINE enum bal_code join_sharing(struct event_engine *event, double now, uint32_t server, double size,
                                         unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), before = system->length[server];
    sharing_advance(event, now, server);
    union bal_claim_word *item = system_push(system, now, server, system->job.rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[MARK].real = event->sharing[server].attained + size;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    else
        system->tally.all.immediate++;
    if (knows_work(event))
        bal_event_add_work(event, server, now, size);
    sharing_rise(event, server, words, before);
    sharing_schedule(event, now, server, words);
    return BAL_OK;
}

/* The job with the least mark is done. */
ALWAYS_INLINE void complete_sharing(struct event_engine *event, double now, uint32_t server,
                                    unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), last = system->queues.length[server] - 1;
    union bal_claim_word done[WORDS + 1];
    sharing_advance(event, now, server);
    for (uint32_t i = 0; i < words; i++)
        done[i] = bal_queues_front(&system->queues, server, words)[i];
    if (last > 0)
        sharing_swap(event, server, words, 0, last);
    bal_queues_drop_back(&system->queues, server, words);
    sharing_sink(event, server, words);
    const uint32_t rank = system_measure(system, now, done, words, features);
    const uint32_t left = system_count_down(system, now, server, rank, features);
    if (features & (RESPONSES_SEEN | ASYNC_PROBES | LOAD_REPORTS))
        system_after(system, now, server, now - done[ARRIVAL].real, left, features);
    if (left > 0) {
        sharing_schedule(event, now, server, words);
        return;
    }
    bal_calendar_remove(&event->completions, server, false);
    if (knows_work(event))
        bal_event_end_work(event, server, now);
}

#endif
