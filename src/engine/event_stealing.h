/* SPDX-License-Identifier: BSD-2-Clause */
/* How servers of the event engine steal. */
#ifndef ENGINE_EVENT_STEALING_H
#define ENGINE_EVENT_STEALING_H

#include "engine/event_server.h"

/* The last job of a server is complete, but still there: the server tries to steal from another server once,
 * and stolen jobs queue behind that job. So it goes on from one job to the next and reports no idleness. If
 * it gets nothing it waits for what the dispatcher sends and does not try again. *victim: the server that
 * lost jobs, or BAL_NONE. */
ALWAYS_INLINE enum bal_code steal_jobs(struct event_engine *event, double now, uint32_t server,
                                       uint32_t *victim, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features);
    *victim = BAL_NONE;
    uint32_t from = bal_rng_below(&event->stealing, system->servers - event->others);
    from += event->others && from >= server;
    system->fleet.probes++;
    system->tally.totals.requests++;
    /* Its own job is done, so that a server that draws itself gets nothing. */
    const uint32_t amount = from == server ? 0 : bal_steal_amount(event->steal, system->length[from]);
    const uint32_t queue = system->queues.length[from];
    const uint32_t taken = amount < queue ? amount : queue; /* MULTISERVER: only those that wait */
    if (taken == 0)
        return BAL_OK;
    for (uint32_t k = queue - taken; k < queue; k++) {
        union bli_claim_word job[WORDS + 1];
        for (uint32_t i = 0; i < words; i++)
            job[i] = bli_queues_at(&system->queues, from, words, k)[i];
        if (features & MULTISERVER) {
            const enum bal_code code = enter_many(event, now, server, 0, job, features);
            if (code)
                return code;
            continue;
        }
        union bli_claim_word *item = system_push(system, now, server, 0, words, features);
        if (!item)
            return BAL_E_MEMORY;
        for (uint32_t i = 0; i < words; i++)
            item[i] = job[i];
    }
    for (uint32_t k = 0; k < taken; k++) {
        bli_queues_drop_back(&system->queues, from, words);
        system_count_down(system, now, from, 0, features);
    }
    system->tally.totals.steals++;
    system->tally.totals.stolen += taken;
    *victim = from;
    return BAL_OK;
}

#endif
