/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers of the event engine whose jobs in service share what the server can do: all of its jobs (processor
 * sharing), as on most web servers, or, with slots (MULTISERVER), so many of them, behind which the others
 * wait in the order in which they came.
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

/* How many times as long as alone at full speed jobs take when so many are in service. */
ALWAYS_INLINE double sharing_stretch(const struct event_engine *event, uint32_t jobs) {
    const struct stretch *stretch = &event->stretch;
    if (!stretch->known)
        return jobs;
    return jobs < stretch->known ? stretch->of[jobs] : jobs * stretch->each_more;
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
            (now - sharing->since) / (service_duration(event, server, 1) * sharing_stretch(event, jobs));
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
                               sharing_stretch(event, sharing_in_service(event, server, features)),
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

/* All slots are taken: a job waits, and keeps its size in place of a mark. */
ALWAYS_INLINE enum bal_code wait_to_share(struct event_engine *event, double now, uint32_t server,
                                          double size, uint32_t words, unsigned features) {
    union bli_claim_word *item =
        system_push(&event->system, now, server, event->system.job.rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[LEFT].real = size;
    return BAL_OK;
}

/* The next item for a job in service, the last of the heap; NULL: there is no memory. */
ALWAYS_INLINE union bli_claim_word *add_shared(struct event_engine *event, double now, uint32_t server,
                                               uint32_t before, uint32_t words, unsigned features) {
    struct system *system = &event->system;
    const uint32_t rank = system->job.rank;
    if (!(features & MULTISERVER))
        return system_push(system, now, server, rank, words, features);
    if (!system_count_up(system, now, server, rank, features))
        return NULL;
    union bli_claim_word *item = sharing_item(event, server, words, before, features);
    if (words > WORDS)
        *item_tag(item, words) = (uint64_t)rank << TAG_RANK | system->kind_tag;
    return item;
}

/* A job joins. If no slot is free it waits; otherwise it is worked on at once, and all others become slower.
 */
ALWAYS_INLINE enum bal_code join_sharing(struct event_engine *event, double now, uint32_t server, double size,
                                         unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), before = system->length[server];
    if (features & MULTISERVER && before >= system->slots)
        return wait_to_share(event, now, server, size, words, features);
    sharing_advance(event, now, server, features);
    union bli_claim_word *item = add_shared(event, now, server, before, words, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[MARK].real = event->sharing[server].attained + size;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    else
        system->tally.all.immediate++;
    if (knows_work(event))
        bli_event_add_work(event, server, now, size);
    sharing_rise(event, server, words, before, features);
    sharing_schedule(event, now, server, words, features);
    return BAL_OK;
}

/* The first job in service is done; the first of those that wait, if any does, takes its place, else the last
 * one of the heap. */
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
    if (system->queues.length[server] == 0) {
        if (jobs > 1)
            sharing_swap(event, server, words, 0, jobs - 1, features);
        sharing_sink(event, server, words, jobs - 1, features);
        return;
    }
    const union bli_claim_word *next = bli_queues_front(&system->queues, server, words);
    union bli_claim_word *item = sharing_item(event, server, words, 0, features);
    for (uint32_t i = 0; i < words; i++)
        item[i] = next[i];
    bli_queues_drop(&system->queues, server, words);
    item[MARK].real += event->sharing[server].attained;
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
