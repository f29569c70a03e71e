/* SPDX-License-Identifier: BSD-2-Clause */
/* When servers that are idle switch off and those in set-up come on, and when idle ones report, by
 * distributions of any kind. */
#include "engine/event.h"

#include <math.h>

/* A server begins to stand by or to be set up; or it leaves standby for a job, or its set-up is aborted
 * (state POWER_STATES). */
static void power_timer(struct system *system, uint32_t server, double now, unsigned state) {
    struct event_engine *event = (struct event_engine *)system;
    if (state == POWER_STATES) {
        if (event->timers.place[server] != BLI_HEAP_ABSENT)
            bli_heap_remove(&event->timers, server);
        return;
    }
    const struct bli_dist *dist = state == POWER_STANDBY ? &event->standby : &event->setup;
    if (isfinite(dist->mean)) /* a standby without end needs no timer */
        bli_heap_insert(&event->timers, server, now + bli_dist_sample(dist, &system->power_rng));
}

/* The timers that run out before the next event. */
enum bal_code bli_event_run_timers(struct event_engine *event, double until) {
    struct system *system = &event->system;
    while (event->timers.count > 0 && event->timers.slot[0].time < until) {
        const struct bli_pending first = event->timers.slot[0];
        const enum bal_code code = system_reach(system, first.time);
        if (code)
            return code;
        bli_heap_remove(&event->timers, first.id);
        if (bal_set_contains(system->setup, first.id))
            system_end_setup(system, first.time, first.id);
        else
            system_switch_off(system, first.time, first.id);
    }
    return BAL_OK;
}

/* The distributions of standby and set-up: the model's, or else exponential at the policy's rates. */
enum bal_code bli_event_set_up_timers(struct event_engine *event, const struct bli_model *model) {
    struct system *system = &event->system;
    if (bli_heap_init(&event->timers, system->servers))
        return BAL_E_MEMORY;
    event->standby = bli_dist_exponential(1);
    event->setup = event->standby;
    if (model->standby.mean > 0)
        event->standby = model->standby;
    else if (system->standby_rate > 0)
        bli_dist_scale(&event->standby, 1 / system->standby_rate);
    else
        event->standby.mean = INFINITY;
    if (model->setup.mean > 0)
        event->setup = model->setup;
    else
        bli_dist_scale(&event->setup, 1 / system->setup_rate);
    system->power_timer = power_timer;
    for (uint32_t i = 0; i < system->standby->count; i++)
        power_timer(system, system->standby->slot[i], 0, POWER_STANDBY);
    for (uint32_t i = 0; i < system->setup->count; i++)
        power_timer(system, system->setup->slot[i], 0, POWER_SETUP);
    return BAL_OK;
}

/* ---- reports ---- */

static void report_timer(struct system *system, uint32_t server, double now, bool idle) {
    struct event_engine *event = (struct event_engine *)system;
    if (idle)
        bli_heap_insert(&event->reports, server,
                        now + bli_dist_sample(&event->report_gap, &system->report_rng));
    else if (event->reports.place[server] != BLI_HEAP_ABSENT)
        bli_heap_remove(&event->reports, server);
}

/* The next report of a server is due before it leaves again, so that a job which is sent there stops it. */
enum bal_code bli_event_run_reports(struct event_engine *event, double until) {
    struct system *system = &event->system;
    enum bal_code code = BAL_OK;
    while (event->reports.count > 0 && event->reports.slot[0].time < until && !code) {
        const struct bli_pending first = event->reports.slot[0];
        if ((code = system_reach(system, first.time)))
            break;
        bli_heap_remove(&event->reports, first.id);
        report_timer(system, first.id, first.time, true);
        system->tally.totals.reports++;
        system->policy->report(system->state, &system->fleet, BAL_REPORT_STILL_IDLE, first.id, NULL);
        if (system->holds)
            code = bli_event_send_held(event, first.time);
    }
    return code;
}

/* The law of the model, at the policy's rate. At the start servers are somewhere between two reports, so that
 * they do not report in step; those that begin with jobs are idle until they join. */
enum bal_code bli_event_set_up_reports(struct event_engine *event, const struct bli_model *model) {
    struct system *system = &event->system;
    if (bli_heap_init(&event->reports, system->servers))
        return BAL_E_MEMORY;
    event->report_gap = model->reports;
    if (!(model->reports.mean > 0))
        event->report_gap = bli_dist_exponential(1);
    bli_dist_scale(&event->report_gap, 1 / (system->report_rate * event->report_gap.mean));
    system->report_timer = report_timer;
    for (uint32_t server = 0; server < system->servers; server++)
        bli_heap_insert(&event->reports, server,
                        bal_rng_uniform(&system->report_rng) *
                            bli_dist_sample(&event->report_gap, &system->report_rng));
    return BAL_OK;
}
