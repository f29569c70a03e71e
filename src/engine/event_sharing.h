/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers of the event engine whose jobs in service share what the server can do: all of its jobs (processor
 * sharing), as on most web servers, or, with slots (MULTISERVER), so many of them, behind which the others
 * wait in the order in which they came, or the more urgent first.
 *
 * Of k jobs in service each is worked on at 1/stretch(k) of the speed: stretch(k) is k where they share one
 * speed, otherwise k over the total rate with k jobs (`speeds`). A server keeps V, the service that each of
 * its jobs has got since it was last idle: V grows at speed / stretch(k). A job of size x whose service
 * begins at V is done at V + x, whatever other jobs come and go meanwhile, so that the one with the least
 * such mark is next. The jobs in service are a binary heap by their marks: in the queue of the server where
 * all are in service, whose front is the least; otherwise in its slots, the first of which is the least. */
#ifndef ENGINE_EVENT_SHARING_H
#define ENGINE_EVENT_SHARING_H

#include "engine/event.h"

#include <math.h>

enum { MARK = LEFT }; /* of a job in service: V when it will be done */

struct sharing {
    double attained; /* V */
    double since;    /* as of then */
};

ALWAYS_INLINE uint32_t sharing_in_service(const struct event_engine *event, uint32_t server,
                                          unsigned features) {
    const uint32_t jobs = event->system.length[server];
    return features & MULTISERVER && jobs > event->system.slots ? event->system.slots : jobs;
}

ALWAYS_INLINE union bli_claim_word *sharing_item(const struct event_engine *event, uint32_t server,
                                                 uint32_t words, uint32_t k, unsigned features) {
    const struct system *system = &event->system;
    return features & MULTISERVER ? system->in_slot + ((size_t)server * system->slots + k) * words
                                  : bli_queues_at(&system->queues, server, words, k);
}

/* Brings V up to date, before the number of jobs changes. */
ALWAYS_INLINE void sharing_advance(struct event_engine *event, double now, uint32_t server,
                                   unsigned features) {
    struct sharing *sharing = &event->sharing[server];
    const uint32_t jobs = sharing_in_service(event, server, features);
    if (jobs == 0)
        sharing->attained = 0;
    else
        sharing->attained +=
            (now - sharing->since) / (service_duration(event, server, 1) * stretch_of(&event->stretch, jobs));
    sharing->since = now;
}

/* When the next job of a server that has some will be done. */
ALWAYS_INLINE void sharing_schedule(struct event_engine *event, double now, uint32_t server, uint32_t words,
                                    unsigned features) {
    const struct sharing *sharing = &event->sharing[server];
    const double mark = sharing_item(event, server, words, 0, features)[MARK].real;
    const double left = mark > sharing->attained ? mark - sharing->attained : 0; /* rounding */
    bli_calendar_set(&event->completions, server,
                     now + service_duration(event, server, left) *
                               stretch_of(&event->stretch, sharing_in_service(event, server, features)),
                     false);
}

ALWAYS_INLINE void sharing_swap(struct event_engine *event, uint32_t server, uint32_t words, uint32_t a,
                                uint32_t b, unsigned features) {
    union bli_claim_word *x = sharing_item(event, server, words, a, features);
    union bli_claim_word *y = sharing_item(event, server, words, b, features);
    for (uint32_t i = 0; i < words; i++) {
        const union bli_claim_word other = x[i];
        x[i] = y[i];
        y[i] = other;
    }
}

ALWAYS_INLINE double sharing_mark(const struct event_engine *event, uint32_t server, uint32_t words,
                                  uint32_t k, unsigned features) {
    return sharing_item(event, server, words, k, features)[MARK].real;
}

static inline void sharing_rise(struct event_engine *event, uint32_t server, uint32_t words, uint32_t k,
                                unsigned features) {
    for (; k > 0; k = (k - 1) / 2) {
        if (sharing_mark(event, server, words, k, features) >=
            sharing_mark(event, server, words, (k - 1) / 2, features))
            return;
        sharing_swap(event, server, words, k, (k - 1) / 2, features);
    }
}

/* The first of so many jobs goes to its place. */
static inline void sharing_sink(struct event_engine *event, uint32_t server, uint32_t words, uint32_t jobs,
                                unsigned features) {
    for (uint32_t k = 0, child; (child = 2 * k + 1) < jobs; k = child) {
        if (child + 1 < jobs && sharing_mark(event, server, words, child + 1, features) <
                                    sharing_mark(event, server, words, child, features))
            child++;
        if (sharing_mark(event, server, words, k, features) <=
            sharing_mark(event, server, words, child, features))
            return;
        sharing_swap(event, server, words, k, child, features);
    }
}

/* The next item for a job in service, the last of the heap; NULL: there is no memory. */
ALWAYS_INLINE union bli_claim_word *add_shared(struct event_engine *event, double now, uint32_t server,
                                               uint32_t rank, uint32_t words, unsigned features) {
    struct system *system = &event->system;
    if (!(features & MULTISERVER))
        return system_push(system, now, server, rank, words, features);
    union bli_claim_word *item = sharing_item(event, server, words, system->length[server], features);
    return system_count_up(system, now, server, rank, features) ? item : NULL;
}

/* A job comes to a server. If no slot is free it waits, and keeps its size in place of a mark; otherwise it
 * is worked on at once, and all others become slower. */
ALWAYS_INLINE enum bal_code enter_sharing(struct event_engine *event, double now, uint32_t server,
                                          uint32_t rank, const union bli_claim_word *job, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), before = system->length[server];
    const bool waits = features & MULTISERVER && before >= system->slots;
    if (!waits)
        sharing_advance(event, now, server, features);
    union bli_claim_word *item = waits ? system_push(system, now, server, rank, words, features)
                                       : add_shared(event, now, server, rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    for (uint32_t i = 0; i < words; i++)
        item[i] = job[i];
    if (waits)
        return BAL_OK;
    const double waited = now - item[ARRIVAL].real;
    item[MARK].real = event->sharing[server].attained + job[LEFT].real;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    else if (waited > 0) /* elsewhere */
        tally_start(&system->tally, &system->tally.all, waited, true);
    else
        system->tally.all.immediate++;
    sharing_rise(event, server, words, before, features);
    sharing_schedule(event, now, server, words, features);
    return BAL_OK;
}

/* A new job, of the present arrival. */
ALWAYS_INLINE enum bal_code join_sharing(struct event_engine *event, double now, uint32_t server, double size,
                                         unsigned features) {
    const struct system *system = &event->system;
    const uint32_t rank = system->job.rank;
    const union bli_claim_word job[WORDS + 1] = {
        {.real = now}, {.real = size}, {.bits = (uint64_t)rank << TAG_RANK | system->kind_tag}};
    if (knows_work(event))
        bli_event_add_work(event, server, now, size);
    return enter_sharing(event, now, server, rank, job, features);
}

/* Its last job is done, but still there while the server steals: it stays the first, however small those are
 * that it gets. */
ALWAYS_INLINE void keep_first(struct event_engine *event, uint32_t server, unsigned features) {
    sharing_item(event, server, item_words(WORDS, features), 0, features)[MARK].real = -INFINITY;
}

/* The first job in service is done; the first of those that wait, of the most urgent class, takes its place,
 * else the last one of the heap. */
ALWAYS_INLINE void replace_first(struct event_engine *event, double now, uint32_t server, uint32_t words,
                                 uint32_t jobs, unsigned features) {
    struct system *system = &event->system;
    if (!(features & MULTISERVER)) {
        if (jobs > 1)
            sharing_swap(event, server, words, 0, jobs - 1, features);
        bli_queues_drop_back(&system->queues, server, words);
        sharing_sink(event, server, words, jobs - 1, features);
        return;
    }
    uint32_t lane = lane_of(system, server, 0, features);
    if (features & CLASS_QUEUES && system->queues.length[lane] == 0)
        lane++;
    if (system->queues.length[lane] == 0) {
        if (jobs > 1)
            sharing_swap(event, server, words, 0, jobs - 1, features);
        sharing_sink(event, server, words, jobs - 1, features);
        return;
    }
    const union bli_claim_word *next = bli_queues_front(&system->queues, lane, words);
    union bli_claim_word *item = sharing_item(event, server, words, 0, features);
    for (uint32_t i = 0; i < words; i++)
        item[i] = next[i];
    bli_queues_drop(&system->queues, lane, words);
    item[MARK].real += event->sharing[server].attained;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    else
        tally_start(&system->tally, &system->tally.all, now - item[ARRIVAL].real, true);
    sharing_sink(event, server, words, jobs, features);
}

/* The job with the least mark is done. */
ALWAYS_INLINE void complete_sharing(struct event_engine *event, double now, uint32_t server,
                                    unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), jobs = sharing_in_service(event, server, features);
    union bli_claim_word done[WORDS + 1];
    sharing_advance(event, now, server, features);
    for (uint32_t i = 0; i < words; i++)
        done[i] = sharing_item(event, server, words, 0, features)[i];
    replace_first(event, now, server, words, jobs, features);
    const uint32_t rank = system_measure(system, now, done, words, features);
    const uint32_t left = system_count_down(system, now, server, rank, features);
    if (features & (RESPONSES_SEEN | ASYNC_PROBES | LOAD_REPORTS))
        system_after(system, now, server, now - done[ARRIVAL].real, left, features);
    if (left > 0) {
        sharing_schedule(event, now, server, words, features);
        return;
    }
    bli_calendar_remove(&event->completions, server, false);
    if (knows_work(event))
        bli_event_end_work(event, server, now);
}

#endif
