/* Servers that fail and are repaired: what becomes of the jobs there, and what the policy is told.
 *
 * A server that is down has jobs in its slots that will go on, or begin anew, and others that wait; nothing
 * of it is in the calendar. As long as it is up as many jobs as there are, up to the number of slots, are in
 * service, as without failures. */
#include "engine/event_server.h"

#include <math.h>
#include <stdlib.h>

enum bal_code bal_event_set_up_repairs(struct event *event, const struct bal_model *model) {
    struct system *system = &event->system;
    if (!(system->features & UNRELIABLE))
        return BAL_OK;
    const uint32_t servers = system->servers;
    struct repairs *repairs = calloc(1, sizeof *repairs);
    event->repairs = repairs;
    if (!repairs)
        return BAL_E_MEMORY;
    repairs->how = &model->failures;
    bal_rng_init(&repairs->rng, system->run->seed, system->run->replication, BAL_STREAM_FAILURES);
    repairs->down = malloc(bal_set_size(servers));
    repairs->held = calloc(servers, sizeof *repairs->held);
    event->open = malloc(bal_set_size(servers));
    if (!repairs->down || !repairs->held || !event->open || bal_heap_init(&repairs->changes, servers))
        return BAL_E_MEMORY;
    bal_set_init(repairs->down, servers);
    bal_set_init(event->open, servers);
    for (uint32_t server = 0; server < servers; server++) {
        bal_set_insert(event->open, server);
        bal_heap_insert(&repairs->changes, server, bal_law_sample(&repairs->how->up, &repairs->rng));
    }
    if (!repairs->how->unseen)
        system->fleet.open = event->open;
    return BAL_OK;
}

void bal_event_fini_repairs(struct event *event) {
    if (!event->repairs)
        return;
    bal_heap_fini(&event->repairs->changes);
    free(event->repairs->down);
    free(event->repairs->held);
    free(event->repairs);
    event->repairs = NULL;
}

/* A job whose server has failed under it is lost; its slot is free. */
static void lose(struct event *event, double now, uint32_t slot, uint32_t busy, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots, server = slot / slots;
    const unsigned silent = features & ~(unsigned)(REPORTING | RATED | POWERED);
    union bal_word *item = system->in_slot + (size_t)slot * words;
    const uint32_t rank = features & RANKED ? *item_tag(item, words) & TAG_RANK : 0;
    system_count_down(system, now, server, rank, silent);
    system->tally.totals.failed++;
    system->vacant[server * slots + slots - busy] = slot;
}

/* Work stops. What is left of a job stays with it. */
static void stop_work(struct event *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    const enum bal_failed_jobs jobs = event->repairs->how->jobs;
    const uint32_t words = item_words(WORDS, features), slots = system->slots;
    uint32_t busy = system->length[server] < slots ? system->length[server] : slots;
    for (uint32_t slot = server * slots; slot < (server + 1) * slots; slot++) {
        if (!bal_calendar_has(&event->completions, slot))
            continue;
        const double left = bal_calendar_time(&event->completions, slot) - now;
        union bal_word *item = system->in_slot + (size_t)slot * words;
        bal_calendar_remove(&event->completions, slot, false);
        tally_work_down(&system->tally, now);
        if (jobs == BAL_JOBS_RESUME)
            item[LEFT].real = event->per_speed ? left / event->per_speed[server] : left;
        if (jobs == BAL_JOBS_LOST)
            lose(event, now, slot, busy--, features);
    }
    event->repairs->held[server] = busy;
}

/* Jobs in slots go on or begin anew, and those that wait take the slots that are free. */
static void start_work(struct event *event, double now, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    const uint32_t words = item_words(WORDS, features), slots = system->slots, row = server * slots;
    uint32_t busy = event->repairs->held[server];
    for (uint32_t slot = row; busy > 0 && slot < row + slots; slot++) {
        bool vacant = false; /* the first places of the row are those that are free */
        for (uint32_t i = 0; i < slots - busy && !vacant; i++)
            vacant = system->vacant[row + i] == slot;
        if (vacant)
            continue;
        const union bal_word *item = system->in_slot + (size_t)slot * words;
        tally_work_up(&system->tally, now);
        bal_calendar_set(&event->completions, slot, now + duration(event, server, item[LEFT].real), false);
    }
    while (busy < slots &&
           begin_next(event, now, server, system->vacant[row + slots - busy - 1], words, features))
        busy++;
}

static void close_server(struct event *event, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    bal_set_remove(event->open, server);
    if (features & RATED)
        bal_set_remove(system->idle, server);
    if (system->policy->wants)
        system->policy->report(system->state, &system->fleet, BAL_REPORT_GONE, server, NULL);
}

/* It says that it is back: how many jobs it has, to whoever keeps count of that, and that it has a free slot.
 */
static void open_server(struct event *event, uint32_t server, unsigned features) {
    struct system *system = &event->system;
    bal_set_insert(event->open, server);
    if (features & LOADED) {
        const struct bal_reply load = {system->length[server], system->urgent ? system->urgent[server] : 0,
                                       NAN};
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_LOAD, server, &load);
    }
    if (system->length[server] > system_room(system, features))
        return;
    if (features & RATED)
        bal_set_insert(system->idle, server);
    if (features & REPORTING) {
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_IDLE, server, NULL);
    }
}

enum bal_code bal_event_change_server(struct event *event, double now, unsigned features) {
    struct repairs *repairs = event->repairs;
    const uint32_t server = repairs->changes.slot[0].id;
    const bool returns = bal_set_remove(repairs->down, server);
    const struct bal_law *next = returns ? &repairs->how->up : &repairs->how->down;
    bal_heap_change(&repairs->changes, server, now + bal_law_sample(next, &repairs->rng));
    if (returns) {
        start_work(event, now, server, features);
    } else {
        bal_set_insert(repairs->down, server);
        stop_work(event, now, server, features);
    }
    if (!repairs->how->unseen)
        (returns ? open_server : close_server)(event, server, features);
    return BAL_OK;
}
