/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that fail and are repaired: what happens to the jobs there, and what is reported to the policy.
 *
 * A server that is down has jobs in its slots that will go on, or begin again, and others that wait; it has
 * no entry in the calendar. As long as it is up as many jobs as there are, up to the number of slots, are in
 * service, as without failures. */
#include "engine/event_server.h"

#include <math.h>
#include <stdlib.h>

enum bal_code bli_event_set_up_repairs(struct event_engine *event, const struct bli_model *model) {
    struct system *system = &event->system;
    const uint32_t servers = system->servers;
    struct repairs *repairs = calloc(1, sizeof *repairs);
    event->repairs = repairs;
    if (!repairs)
        return BAL_E_MEMORY;
    repairs->how = &model->failures;
    bal_rng_init(&repairs->rng, system->run->seed, system->run->replication, BAL_STREAM_FAILURES);
    repairs->down = malloc(bal_set_size(servers));
    repairs->held = calloc(servers, sizeof *repairs->held);
    event->eligible = malloc(bal_set_size(servers));
    if (!repairs->down || !repairs->held || !event->eligible || bli_heap_init(&repairs->changes, servers))
        return BAL_E_MEMORY;
    bal_set_init(repairs->down, servers);
    bal_set_init(event->eligible, servers);
    for (uint32_t server = 0; server < servers; server++) {
        bal_set_insert(event->eligible, server);
        bli_heap_insert(&repairs->changes, server, bli_dist_sample(&repairs->how->up, &repairs->rng));
    }
    if (!repairs->how->unseen)
        system->fleet.eligible = event->eligible;
    return BAL_OK;
}

void bli_event_fini_repairs(struct event_engine *event) {
    bli_heap_fini(&event->repairs->changes);
    free(event->repairs->down);
    free(event->repairs->held);
    free(event->repairs);
    event->repairs = NULL;
}

/* A job whose server has failed under it is lost; its slot is free. */
static void drop_job(struct event_engine *event, double now, uint32_t slot, uint32_t busy,
                     unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots, server = slot / slots;
    const unsigned silent = features & ~(unsigned)(IDLE_REPORTS | POISSON_IDLE_REPORTS | POWER_SWITCHING);
    union bli_claim_word *item = system->in_slot + (size_t)slot * words;
    const uint32_t rank = features & HAS_CLASSES ? tag_rank(*item_tag(item, words)) : 0;
    system_count_down(system, now, server, rank, silent);
    system->tally.totals.failed++;
    system->vacant[server * slots + slots - busy] = slot;
}

/* Work stops. What is left of a job stays with it. */
static void stop_work(struct event_engine *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    const enum bli_failed_jobs jobs = event->repairs->how->jobs;
    const uint32_t words = item_words(WORDS, features), slots = system->slots;
    uint32_t busy = system->length[server] < slots ? system->length[server] : slots;
    for (uint32_t slot = server * slots; slot < (server + 1) * slots; slot++) {
        if (!bli_calendar_has(&event->completions, slot))
            continue;
        const double left = bli_calendar_time(&event->completions, slot) - now;
        union bli_claim_word *item = system->in_slot + (size_t)slot * words;
        bli_calendar_remove(&event->completions, slot, false);
        tally_work_down(&system->tally, now);
        if (jobs == BLI_JOBS_RESUME)
            item[LEFT].real = event->per_speed ? left / event->per_speed[server] : left;
        if (jobs == BLI_JOBS_LOST)
            drop_job(event, now, slot, busy--, features);
    }
    event->repairs->held[server] = busy;
}

/* Jobs in slots go on or begin again, and those that wait take the slots that are free. */
static void start_work(struct event_engine *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots, row = server * slots;
    uint32_t busy = event->repairs->held[server];
    for (uint32_t slot = row; busy > 0 && slot < row + slots; slot++) {
        bool vacant = false; /* the first places of the row are those that are free */
        for (uint32_t i = 0; i < slots - busy && !vacant; i++)
            vacant = system->vacant[row + i] == slot;
        if (vacant)
            continue;
        const union bli_claim_word *item = system->in_slot + (size_t)slot * words;
        tally_work_up(&system->tally, now);
        bli_calendar_set(&event->completions, slot, now + service_duration(event, server, item[LEFT].real),
                         false);
    }
    while (busy < slots &&
           begin_next(event, now, server, system->vacant[row + slots - busy - 1], words, features))
        busy++;
}

static void mark_failed(struct event_engine *event, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    bal_set_remove(event->eligible, server);
    if (features & POISSON_IDLE_REPORTS)
        bal_set_remove(system->idle, server);
    if (system->policy->wants)
        system->policy->report(system->state, &system->fleet, BAL_REPORT_GONE, server, NULL);
}

/* Reports that it is back: its number of jobs, if the policy wants load reports, and whether it has a free
 * slot. */
static void mark_repaired(struct event_engine *event, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    bal_set_insert(event->eligible, server);
    if (features & LOAD_REPORTS) {
        const struct bal_reply load = {system->length[server], system->urgent ? system->urgent[server] : 0,
                                       NAN};
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_LOAD, server, &load);
    }
    if (system->length[server] > system_room(system, features))
        return;
    if (features & POISSON_IDLE_REPORTS)
        bal_set_insert(system->idle, server);
    if (features & IDLE_REPORTS) {
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_IDLE, server, NULL);
    }
}

enum bal_code bli_event_change_server(struct event_engine *event, double now, unsigned features) {
    struct repairs *repairs = event->repairs;
    const uint32_t server = repairs->changes.slot[0].id;
    if (features & POLICY_CLOCK)
        event->system.fleet.now = now * event->system.per_unit;
    const bool returns = bal_set_remove(repairs->down, server);
    const struct bli_dist *next = returns ? &repairs->how->up : &repairs->how->down;
    bli_heap_change(&repairs->changes, server, now + bli_dist_sample(next, &repairs->rng));
    if (returns) {
        start_work(event, now, server, features);
    } else {
        bal_set_insert(repairs->down, server);
        stop_work(event, now, server, features);
    }
    if (!repairs->how->unseen)
        (returns ? mark_repaired : mark_failed)(event, server, features);
    return BAL_OK;
}
