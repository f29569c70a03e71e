/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens at a server of the event engine: jobs join it, are moved and complete. */
#ifndef ENGINE_EVENT_SERVER_H
#define ENGINE_EVENT_SERVER_H

#include "engine/event_sharing.h"

/* The job at the front of the queue in service is worked on from now on. */
ALWAYS_INLINE void work_on(struct event_engine *event, double now, uint32_t server,
                           const union bli_claim_word *item, unsigned features) {
    if (features & CLASS_QUEUES)
        event->since[server] = now;
    bli_calendar_set(&event->completions, server, now + service_duration(event, server, item[LEFT].real),
                     features & PREFETCH);
}

/* The job in service is interrupted: it keeps what is left of its work. */
static inline void preempt_job(struct event_engine *event, double now, uint32_t server, uint32_t words,
                               unsigned features) {
    union bli_claim_word *item =
        bli_queues_front(&event->system.queues, lane_in_service(&event->system, server, features), words);
    const double spent = now - event->since[server];
    const double done = event->per_speed ? spent / event->per_speed[server] : spent;
    item[LEFT].real = item[LEFT].real > done ? item[LEFT].real - done : 0;
}

/* ---- servers of several slots ---- */

/* Service begins in a slot that is free, or has just become so; nothing was waited for if the job has just
 * come. */
ALWAYS_INLINE void begin_in_slot(struct event_engine *event, double now, uint32_t server, uint32_t slot,
                                 union bli_claim_word *item, uint32_t words, unsigned features) {
    struct system *system = &event->system;
    const double waiting = now - item[ARRIVAL].real;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    else if (waiting > 0)
        tally_start(&system->tally, &system->tally.all, waiting, true);
    else
        system->tally.all.immediate++;
    tally_work_up(&system->tally, now);
    bli_calendar_set(&event->completions, slot, now + service_duration(event, server, item[LEFT].real),
                     false);
}

/* ---- jobs that give up ---- */

/* A job begins to wait in a lane; false: there is no memory. */
ALWAYS_INLINE bool begin_waiting(struct event_engine *event, uint32_t lane, uint32_t rank,
                                 union bli_claim_word *item, uint32_t words) {
    const uint32_t number =
        bli_patience_wait(&event->patience, item[ARRIVAL].real + event->endures, lane, rank == 0);
    *item_tag(item, words) |= (uint64_t)number << TAG_WAITER;
    return number != PATIENCE_NONE;
}

/* The first job of a lane that is still there; NULL: there is none. */
ALWAYS_INLINE const union bli_claim_word *first_waiting(struct event_engine *event, uint32_t lane,
                                                        uint32_t words, unsigned features) {
    struct bli_queues *queues = &event->system.queues;
    while (queues->length[lane] > 0) {
        union bli_claim_word *item = bli_queues_front(queues, lane, words);
        const uint32_t number = features & ABANDONMENT ? (uint32_t)(*item_tag(item, words) >> TAG_WAITER) : 0;
        if (!(features & ABANDONMENT) || !patience_is_gone(&event->patience, number))
            return item;
        bli_patience_end(&event->patience, number);
        bli_queues_drop(queues, lane, words);
    }
    return NULL;
}

/* The next job of a server that has a free slot begins there; false: none waits. */
ALWAYS_INLINE bool begin_next(struct event_engine *event, double now, uint32_t server, uint32_t slot,
                              uint32_t words, unsigned features) {
    struct system *system = &event->system;
    uint32_t lane = features & CLASS_QUEUES ? 2 * server : server;
    const union bli_claim_word *next = first_waiting(event, lane, words, features);
    if (!next && features & CLASS_QUEUES)
        next = first_waiting(event, ++lane, words, features);
    if (!next)
        return false;
    union bli_claim_word *item = system->in_slot + (size_t)slot * words;
    for (uint32_t i = 0; i < words; i++)
        item[i] = next[i];
    if (features & ABANDONMENT)
        bli_patience_end(&event->patience, (uint32_t)(*item_tag(item, words) >> TAG_WAITER));
    bli_queues_drop(&system->queues, lane, words);
    begin_in_slot(event, now, server, slot, item, words, features);
    return true;
}

/* Jobs whose time comes before `until` leave. No report is sent: they were not in service, and no slot of
 * their server has become free. */
static inline enum bal_code abandon_waiting(struct event_engine *event, double until, unsigned features) {
    struct system *system = &event->system;
    const unsigned silent = features & ~(unsigned)(IDLE_REPORTS | POISSON_IDLE_REPORTS | POWER_SWITCHING);
    for (double now; (now = patience_next(&event->patience)) < until;) {
        const enum bal_code code = system_reach(system, now);
        if (code)
            return code;
        const struct waiter *waiter = patience_leave(&event->patience);
        const uint32_t server = features & CLASS_QUEUES ? waiter->where / 2 : waiter->where;
        system_count_down(system, now, server, features & HAS_CLASSES ? !waiter->high : 0, silent);
        system->tally.totals.gave_up++;
        system->tally.all.gave_up++;
        if (system->tally.by_class)
            system->tally.by_class[!waiter->high].gave_up++;
    }
    return BAL_OK;
}

/* A job comes to a server: into a slot, if one is free, else into the queue. */
ALWAYS_INLINE enum bal_code enter_many(struct event_engine *event, double now, uint32_t server, uint32_t rank,
                                       const union bli_claim_word *job, unsigned features) {
    struct system *system = &event->system;
    if (features & PROCESSOR_SHARING)
        return enter_sharing(event, now, server, rank, job, features);
    const uint32_t words = item_words(WORDS, features), before = system->length[server];
    const bool begins = before < system->slots && !is_down(event, server, features);
    const uint32_t slot = begins ? system->vacant[server * system->slots + system->slots - before - 1] : 0;
    union bli_claim_word *item = begins ? system->in_slot + (size_t)slot * words
                                        : system_push(system, now, server, rank, words, features);
    if (!item || (begins && !system_count_up(system, now, server, rank, features)))
        return BAL_E_MEMORY;
    for (uint32_t i = 0; i < words; i++)
        item[i] = job[i];
    if (begins)
        begin_in_slot(event, now, server, slot, item, words, features);
    else if (features & ABANDONMENT &&
             !begin_waiting(event, lane_of(system, server, rank, features), rank, item, words))
        return BAL_E_MEMORY;
    return BAL_OK;
}

/* The job in a slot is complete; the next one, if any waits, takes its place. */
ALWAYS_INLINE void complete_many(struct event_engine *event, double now, uint32_t slot, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots, server = slot / slots;
    union bli_claim_word *item = system->in_slot + (size_t)slot * words;
    const double age = now - item[ARRIVAL].real;
    const uint32_t rank = system_measure(system, now, item, words, features);
    const uint32_t left = system_count_down(system, now, server, rank, features);
    if (features & (RESPONSES_SEEN | ASYNC_PROBES | LOAD_REPORTS))
        system_after(system, now, server, age, left, features);
    tally_work_down(&system->tally, now);
    if (left < slots) {
        system->vacant[server * slots + slots - left - 1] = slot;
        bli_calendar_remove(&event->completions, slot, false);
        if (knows_work(event))
            bli_event_end_work(event, server, now);
        if (features & ABANDONMENT) { /* the job of that queue entry has left */
            first_waiting(event, features & CLASS_QUEUES ? 2 * server : server, words, features);
            if (features & CLASS_QUEUES)
                first_waiting(event, 2 * server + 1, words, features);
        }
        return;
    }
    begin_next(event, now, server, slot, words, features);
}

/* Takes the last low job that waits at one server to another. Those in service stay. */
static inline enum bal_code move_many(struct event_engine *event, double now, uint32_t from, uint32_t to,
                                      unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), lane = 2 * from + 1;
    const uint32_t low = system->queues.length[lane];
    system_check_server(system, now, to);
    if (low == 0)
        return BAL_OK;
    union bli_claim_word job[WORDS + 1];
    for (uint32_t i = 0; i < words; i++)
        job[i] = bli_queues_at(&system->queues, lane, words, low - 1)[i];
    bli_queues_drop_back(&system->queues, lane, words);
    system_count_down(system, now, from, 1, features);
    system->tally.totals.moves++;
    return enter_many(event, now, to, 1, job, features);
}

/* ---- jobs come and go ---- */

/* A job, or a task of one, joins a server; if it is first there its service begins. */
ALWAYS_INLINE enum bal_code join_server(struct system *system, double now, uint32_t server,
                                        unsigned features) {
    struct event_engine *event = (struct event_engine *)system;
    if (!system_admits(system, server, features))
        return BAL_OK;
    const uint32_t words = item_words(WORDS, features);
    const uint32_t rank = system->job.rank;
    const double size = features & TRACE_JOBS ? (double)event->recorded.size * 1e-9
                                              : bli_dist_sample(event->dist, &event->sizes);
    if (features & PROCESSOR_SHARING)
        return join_sharing(event, now, server, size, features);
    if (features & MULTISERVER) {
        const union bli_claim_word job[WORDS + 1] = {
            {.real = now}, {.real = size}, {.bits = (uint64_t)rank << TAG_RANK | system->kind_tag}};
        if (knows_work(event))
            bli_event_add_work(event, server, now, size);
        if (features & ABANDONMENT)
            event->endures = patience_draw(&event->patience);
        return enter_many(event, now, server, rank, job, features);
    }
    const uint32_t before = system->length[server];
    const bool interrupts = (features & (CLASS_QUEUES | NONPREEMPTIVE)) == CLASS_QUEUES && before > 0 &&
                            rank < first_rank(system, server, features);
    if (interrupts)
        preempt_job(event, now, server, words, features);
    union bli_claim_word *item = system_push(system, now, server, rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = now;
    item[LEFT].real = size;
    if (knows_work(event))
        bli_event_add_work(event, server, now, size);
    if (!(features & HAS_CLASSES))
        tally_join(&system->tally, before + 1);
    if (before > 0 && !interrupts)
        return BAL_OK;
    if (features & NONPREEMPTIVE)
        system->serving[server] = (uint8_t)rank;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    work_on(event, now, server, item, features);
    return BAL_OK;
}

static inline enum bal_code move_job(struct system *system, double now, const struct bal_move *move_job,
                                     unsigned features) {
    struct event_engine *event = (struct event_engine *)system;
    const uint32_t to = move_job->to;
    if (features & MULTISERVER)
        return move_many(event, now, move_job->from, to, features);
    const uint32_t words = item_words(WORDS, features);
    /* With two classes a low job moves, which interrupts no other job. */
    const bool interrupts = (features & (GRADED | NONPREEMPTIVE)) == GRADED && system->length[to] > 0 &&
                            move_job->rank < first_rank(system, to, features);
    if (interrupts)
        preempt_job(event, now, to, words, features);
    union bli_claim_word *item;
    if (!system_move(system, now, move_job, words, features, &item))
        return BAL_E_MEMORY;
    if (!item)
        system->fleet.moves = 0; /* the others gave way to it */
    if (!item || (system->length[to] > 1 && !interrupts))
        return BAL_OK;
    if (features & NONPREEMPTIVE)
        system->serving[to] = (uint8_t)move_job->rank;
    system_serve(system, now, item, words, true);
    work_on(event, now, to, item, features);
    return BAL_OK;
}

ALWAYS_INLINE void complete_one(struct event_engine *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features);
    if (system_complete(system, now, server, words, features) > 0) {
        if (features & LAST_FIRST)
            bli_queues_back_to_front(&system->queues, server, words);
        work_on(event, now, server, system_next(system, now, server, words, features, true), features);
        return;
    }
    bli_calendar_remove(&event->completions, server, features & PREFETCH);
    if (knows_work(event))
        bli_event_end_work(event, server, now);
}

#endif
