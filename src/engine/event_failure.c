/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that fail in the middle of a run: their jobs are dispatched again. */
#include "engine/event_server.h"

#include <math.h>
#include <stdlib.h>

/* Jobs of servers that are gone, on their way to others. */
struct stranded {
    union bli_claim_word *job;
    size_t count, room;
};

static bool save_for_redispatch(struct stranded *stranded, const union bli_claim_word *job, uint32_t words) {
    if (stranded->count == stranded->room) {
        const size_t room = stranded->room ? 2 * stranded->room : 64;
        union bli_claim_word *jobs = realloc(stranded->job, room * (WORDS + 1) * sizeof *jobs);
        if (!jobs)
            return false;
        stranded->job = jobs;
        stranded->room = room;
    }
    union bli_claim_word *to = stranded->job + stranded->count++ * (WORDS + 1);
    for (uint32_t i = 0; i < words; i++)
        to[i] = job[i];
    return true;
}

static uint32_t rank_of(const union bli_claim_word *job, unsigned features) {
    return features & HAS_CLASSES ? tag_rank(job[WORDS].bits) : 0;
}

/* Takes all jobs off a server; it sends no more messages. */
static bool remove_jobs(struct event_engine *event, double now, uint32_t server, struct stranded *stranded,
                        unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots;
    const unsigned silent = features & ~(unsigned)(IDLE_REPORTS | POISSON_IDLE_REPORTS | POWER_SWITCHING);
    for (uint32_t slot = server * slots; slot < (server + 1) * slots; slot++) {
        if (!bli_calendar_has(&event->completions, slot))
            continue;
        bli_calendar_remove(&event->completions, slot, false);
        if (!(features & MULTISERVER))
            continue;
        const union bli_claim_word *job = system->in_slot + (size_t)slot * words;
        if (!save_for_redispatch(stranded, job, words))
            return false;
        tally_work_down(&system->tally, now);
        system_count_down(system, now, server, rank_of(job, features), silent);
    }
    const uint32_t lanes = features & CLASS_QUEUES ? 2 : 1;
    for (uint32_t lane = server * lanes; lane < (server + 1) * lanes; lane++)
        while (system->queues.length[lane] > 0) {
            const union bli_claim_word *job = bli_queues_at(&system->queues, lane, words, 0);
            if (!save_for_redispatch(stranded, job, words))
                return false;
            bli_queues_drop(&system->queues, lane, words);
            system_count_down(system, now, server,
                              rank_of(stranded->job + (stranded->count - 1) * (WORDS + 1), features), silent);
        }
    return true;
}

/* The server, which has no jobs left, is gone: reports this to the policy, and ends its use of power. */
static void remove_server(struct event_engine *event, double now, uint32_t server, bool was_busy,
                          unsigned features) {
    struct system *system = &event->system;
    bal_set_remove(event->eligible, server);
    if (features & POISSON_IDLE_REPORTS)
        bal_set_remove(system->idle, server);
    if (features & POWER_SWITCHING && !was_busy) {
        const bool standby = bal_set_remove(system->standby, server);
        const bool setup = !standby && bal_set_remove(system->setup, server);
        if (event->timers.place[server] != BLI_HEAP_ABSENT)
            bli_heap_remove(&event->timers, server);
        if (standby || setup)
            tally_power_change(&system->tally, now, standby ? POWER_STANDBY : POWER_SETUP, POWER_OFF);
    } else {
        tally_power_up(&system->tally, now, POWER_OFF);
    }
    if (knows_work(event)) {
        for (uint32_t slot = server * system->slots; slot < (server + 1) * system->slots; slot++)
            event->free_at[slot] = INFINITY;
    }
    if (system->policy->wants)
        system->policy->report(system->state, &system->fleet, BAL_REPORT_GONE, server, NULL);
}

/* A job that was elsewhere joins a server, with the time at which it first came. */
static enum bal_code rejoin_server(struct event_engine *event, double now, uint32_t server,
                                   const union bli_claim_word *job, unsigned features) {
    struct system *system = &event->system;
    if (!system_admits(system, server, features))
        return BAL_OK;
    const uint32_t words = item_words(WORDS, features), rank = rank_of(job, features);
    if (knows_work(event))
        bli_event_add_work(event, server, now, job[LEFT].real);
    if (features & MULTISERVER)
        return enter_many(event, now, server, rank, job, features);
    const uint32_t before = system->length[server];
    union bli_claim_word *item = system_push(system, now, server, rank, words, features);
    if (!item)
        return BAL_E_MEMORY;
    for (uint32_t i = 0; i < words; i++)
        item[i] = job[i];
    if (before > 0)
        return BAL_OK;
    if (features & NONPREEMPTIVE)
        system->serving[server] = (uint8_t)rank;
    if (features & HAS_CLASSES)
        system_serve(system, now, item, words, true);
    else
        tally_start(&system->tally, &system->tally.all, now - item[ARRIVAL].real, true);
    work_on(event, now, server, item, features);
    return BAL_OK;
}

static enum bal_code redispatch_job(struct event_engine *event, double now, const union bli_claim_word *job,
                                    unsigned features) {
    struct system *system = &event->system;
    event->now = now;
    system->job.rank = rank_of(job, features);
    const struct bal_decision decision = system_route(system, now, features);
    enum bal_code code = rejoin_server(event, now, decision.server, job, features);
    const struct bal_move last = {1, decision.server, decision.move_to};
    if (features & CLASS_QUEUES && decision.move_to != BAL_NONE && !code)
        code = move_job(system, now, &last, features);
    return code;
}

/* The last servers of the fleet fail, all at once; then their jobs go to those that are left. */
enum bal_code bli_event_fail_servers(struct event_engine *event, double now, unsigned features) {
    struct system *system = &event->system;
    const uint32_t left = system->servers - system->run->failing;
    struct stranded stranded = {0};
    enum bal_code code = BAL_OK;
    system->fleet.eligible = event->eligible;
    for (uint32_t server = left; server < system->servers && !code; server++) {
        const bool was_busy = system->length[server] > 0;
        if (!remove_jobs(event, now, server, &stranded, features))
            code = BAL_E_MEMORY;
        else
            remove_server(event, now, server, was_busy, features);
    }
    for (size_t i = 0; i < stranded.count && !code; i++)
        code = redispatch_job(event, now, stranded.job + i * (WORDS + 1), features);
    free(stranded.job);
    event->fails_at = INFINITY;
    return code;
}

enum bal_code bli_event_set_up_failure(struct event_engine *event, const struct bli_run *run) {
    event->fails_at = run->fail_at;
    const uint32_t servers = event->system.servers;
    event->eligible = malloc(bal_set_size(servers));
    if (!event->eligible)
        return BAL_E_MEMORY;
    bal_set_init(event->eligible, servers);
    for (uint32_t server = 0; server < servers; server++)
        bal_set_insert(event->eligible, server);
    return BAL_OK;
}
