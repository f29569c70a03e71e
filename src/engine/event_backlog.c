/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that wait at the dispatcher, which holds at most so many of them: first come, first served. After each
 * report the policy is asked again for the first of them. One that comes when it holds as many as it may goes
 * to a uniform server, as does a job that finds no name in the papers' policies. */
#include "engine/event_server.h"

#include <stdlib.h>

enum bal_code bli_event_set_up_backlog(struct event_engine *event, uint32_t most) {
    event->backlog.most = most;
    event->backlog.job = malloc(most * sizeof *event->backlog.job);
    return event->backlog.job ? BAL_OK : BAL_E_MEMORY;
}

/* A job of known size joins a server, and waits there no longer if it is the first. */
static enum bal_code join_sized(struct event_engine *event, double now, uint32_t server,
                                const struct held_job *job) {
    struct system *system = &event->system;
    const unsigned features = system->features;
    union bli_claim_word *item = system_push(system, now, server, 0, WORDS, features);
    if (!item)
        return BAL_E_MEMORY;
    item[ARRIVAL].real = job->arrival;
    item[LEFT].real = job->size;
    if (system->length[server] > 1)
        return BAL_OK;
    const double waited = now - job->arrival;
    if (waited > 0)
        tally_start(&system->tally, &system->tally.all, waited, true);
    else
        tally_join(&system->tally, 1);
    work_on(event, now, server, item, features);
    return BAL_OK;
}

enum bal_code bli_event_route_or_hold(struct event_engine *event, double now) {
    struct system *system = &event->system;
    struct backlog *backlog = &event->backlog;
    const uint32_t server = system_route(system, now, system->features).server;
    const struct held_job job = {now, bli_dist_sample(event->dist, &event->sizes)};
    if (server != BAL_HOLD)
        return join_sized(event, now, server, &job);
    if (backlog->count == backlog->most)
        return join_sized(event, now, bal_draw(&system->fleet, &system->rng), &job);
    backlog->job[(backlog->first + backlog->count++) % backlog->most] = job;
    return BAL_OK;
}

enum bal_code bli_event_send_held(struct event_engine *event, double now) {
    struct system *system = &event->system;
    struct backlog *backlog = &event->backlog;
    enum bal_code code = BAL_OK;
    while (backlog->count > 0 && !code) {
        system->job.held = backlog->count;
        const uint32_t server = system_route(system, now, system->features).server;
        if (server == BAL_HOLD)
            break;
        const struct held_job job = backlog->job[backlog->first];
        backlog->first = (backlog->first + 1) % backlog->most;
        backlog->count--;
        code = join_sized(event, now, server, &job);
    }
    system->job.held = 0;
    return code;
}
