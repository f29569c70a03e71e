/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways of a job in the engine live-core: what the core decides about it, and what clients, connections
 * and apps do with that. */
#include "engine/core_engine.h"

#include <stdlib.h>

/* ---- jobs ---- */

uint32_t bli_core_new_job(struct core *core) {
    uint32_t job = core->free_job;
    if (job != NO_CORE) {
        core->free_job = core->job[job].next_free;
    } else {
        if ((core->jobs & (core->jobs - 1)) == 0) { /* full at powers of two */
            const size_t room = core->jobs ? 2 * (size_t)core->jobs : 1;
            struct core_job *grown = realloc(core->job, room * sizeof *grown);
            if (!grown) {
                core->no_memory = true;
                return NO_CORE;
            }
            core->job = grown;
        }
        job = core->jobs++;
        core->job[job].version = 0;
    }
    struct core_job *j = &core->job[job];
    j->version++;
    j->arrival = core->now;
    j->boot = 0;
    j->guest = NO_CORE;
    j->failures = 0;
    j->alive = true;
    j->started = j->offers = false;
    core_transit_begin(core);
    return job;
}

static void free_job(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    core_transit_end(core);
    j->version++;
    j->alive = false;
    j->next_free = core->free_job;
    core->free_job = job;
}

/* It is there, or on its way there, and this happens after so much time. */
static void travel(struct core *core, uint32_t job, enum core_place place, double after,
                   enum core_event_type then) {
    struct core_job *j = &core->job[job];
    j->place = (uint8_t)place;
    j->version++;
    bli_core_schedule(core, after,
                      (struct core_event){.type = (uint8_t)then, .job = job, .version = j->version});
}

/* What has become of a job, to its dispatcher; it waits for the end of a cut. */
static void send_news(struct core *core, uint32_t job, enum core_event_type news) {
    const struct core_job *j = &core->job[job];
    const double until = bli_links_cut_until(&core->links, j->dispatcher, j->station);
    travel(core, job, TO_DISPATCHER, fmax(until - core->now, 0) + core_delay(core), news);
}

static void complete_job(struct core *core, uint32_t job, bool failed) {
    struct system *system = &core->system;
    const struct core_job *j = &core->job[job];
    const double response = core->now - j->arrival;
    if (failed) {
        system->tally.totals.failed++;
    } else {
        tally_complete(&system->tally, &system->tally.all, response);
        if (system->features & HAS_CLASSES)
            tally_complete(&system->tally, &system->tally.by_class[j->rank], response);
    }
    free_job(core, job);
}

/* It gets no answer, or a wrong one where it has been at a server. One that was never in service leaves its
 * size to the next one, so that all policies see the same sizes in the same order. */
static void refuse_job(struct core *core, uint32_t job) {
    struct tally *tally = &core->system.tally;
    const struct core_job *j = &core->job[job];
    if (j->failures) {
        complete_job(core, job, true);
        return;
    }
    core->spare_size = j->size;
    if (core->system.features & HAS_CLASSES)
        tally->by_class[j->rank].refused++;
    tally->totals.refused++;
    free_job(core, job);
}

/* ---- at the dispatcher ---- */

static void send_job(struct core *core, uint32_t job, uint32_t server) {
    struct core_job *j = &core->job[job];
    j->station = server;
    j->guest = NO_CORE;
    if (link_is_cut(&core->links, j->dispatcher, server)) /* no connection comes about */
        travel(core, job, TO_DISPATCHER, core->timeout, JOB_FAILED);
    else
        travel(core, job, TO_STATION, core_delay(core), JOB_COMES);
}

static void follow_decision(struct core *core, uint32_t job, const struct bal_dispatch *to) {
    struct core_job *j = &core->job[job];
    if (to->verdict == BAL_REFUSE) {
        core->no_requests |= to->reason == BAL_REASON_LEDGER;
        refuse_job(core, job);
        return;
    }
    j->ticket = to->ticket;
    core->host[j->dispatcher].job[(uint32_t)to->ticket] = job;
    if (to->verdict == BAL_SEND) {
        send_job(core, job, to->server);
        return;
    }
    j->place = AT_DISPATCHER;
    core->counts.held += core->counting;
}

void bli_core_job_arrives(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    struct core_host *host = &core->host[j->dispatcher];
    struct bal_dispatch to;
    j->boot = host->boot;
    core->probing_rank = j->rank;
    bal_dispatcher_arrive(host->dispatcher, core->clock, j->rank, &to);
    follow_decision(core, job, &to);
}

/* One that the dispatcher does not know is new to it; it may have restarted. */
static bool is_known(const struct core *core, const struct core_job *j) {
    return j->boot == core->host[j->dispatcher].boot;
}

static void receive_answer(struct core *core, uint32_t job) {
    const struct core_job *j = &core->job[job];
    struct core_host *host = &core->host[j->dispatcher];
    const bool wrong = core->app[j->guest != NO_CORE ? j->guest : j->station].fails_fast;
    const uint32_t dispatcher = j->dispatcher;
    if (is_known(core, j))
        bal_dispatcher_respond(host->dispatcher, core->clock, j->ticket,
                               wrong ? BAL_OUTCOME_BAD : BAL_OUTCOME_GOOD);
    if (j->offers) {
        bal_dispatcher_receive_piggyback(host->dispatcher, core->clock, &j->offer);
        core->counts.rides += core->counting;
    }
    complete_job(core, job, wrong);
    bli_core_flush(core, dispatcher);
}

static void receive_failure(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    struct core_host *host = &core->host[j->dispatcher];
    const uint32_t dispatcher = j->dispatcher;
    j->failures++;
    core->probing_rank = j->rank;
    if (core->wire->churn.lose || j->failures >= CORE_TRIES) {
        if (is_known(core, j))
            bal_dispatcher_respond(host->dispatcher, core->clock, j->ticket, BAL_OUTCOME_FAILED);
        complete_job(core, job, true);
    } else if (is_known(core, j)) {
        struct bal_dispatch to;
        bal_dispatcher_retry(host->dispatcher, core->clock, j->ticket, BAL_OUTCOME_FAILED, &to);
        follow_decision(core, job, &to);
    } else {
        bli_core_job_arrives(core, job);
    }
    bli_core_flush(core, dispatcher);
}

/* ---- at stations ---- */

/* A server is counted as standing by while it has no jobs. */
static void count_power(struct core *core, bool idle) {
    if (!core->system.tally.powered)
        return;
    if (idle)
        tally_power_up(&core->system.tally, core->now, POWER_STANDBY);
    else
        tally_power_down(&core->system.tally, core->now, POWER_STANDBY);
}

static void count_up(struct core *core, uint32_t server, uint32_t rank) {
    struct system *system = &core->system;
    const uint32_t length = ++system->length[server];
    if (system->features & HAS_CLASSES && rank == 0)
        tally_class_up(&system->tally, core->now, 0, ++system->urgent[server]);
    core_transit_end(core);
    tally_up(&system->tally, core->now, length);
    if (length == 1)
        count_power(core, false);
}

static void count_down(struct core *core, uint32_t server, uint32_t rank) {
    struct system *system = &core->system;
    const uint32_t left = --system->length[server];
    if (system->features & HAS_CLASSES && rank == 0)
        tally_class_down(&system->tally, core->now, 0, system->urgent[server]--);
    tally_down(&system->tally, core->now, left + 1);
    core_transit_begin(core);
    if (left == 0)
        count_power(core, true);
}

static uint32_t server_of(const struct core_job *j) {
    return j->guest != NO_CORE ? j->guest : j->station;
}

static bool is_at(const struct core_job *j, uint32_t server) {
    return (j->place == AT_STATION || j->place == AT_GUEST) && server_of(j) == server;
}

/* How many times as long as at a warm server a job takes that begins there now. */
static double cold_factor(struct core *core, struct core_app *app) {
    const struct bli_cold *law = &core->wire->cold;
    if (isnan(app->cold_since))
        return 1;
    const double part = (law->jobs ? app->begun++ : core->now - app->cold_since) / law->over;
    if (part >= 1) {
        app->cold_since = NAN;
        return 1;
    }
    return law->factor - (law->factor - 1) * part;
}

static void start_service(struct core *core, uint32_t job) {
    struct system *system = &core->system;
    struct core_job *j = &core->job[job];
    struct core_app *app = &core->app[server_of(j)];
    if (system->features & MULTISERVER)
        tally_work_up(&system->tally, core->now);
    const double time =
        app->fails_fast ? core->fail_fast_time : j->size * app->per_speed * cold_factor(core, app);
    travel(core, job, (enum core_place)j->place, time, JOB_ENDS);
    j->running = true;
    if (j->started)
        return;
    j->started = true;
    tally_first_start(&system->tally, system->features & HAS_CLASSES, j->rank, core->now - j->arrival);
}

static void leave_server(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    if (j->running && core->system.features & MULTISERVER)
        tally_work_down(&core->system.tally, core->now);
    j->running = false;
    count_down(core, server_of(j), j->rank);
}

static void reach_station(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    const uint32_t server = server_of(j), host = core_station(core, server);
    const bool guest = j->guest != NO_CORE;
    if (core->host[host].down) {
        if (guest)
            travel(core, job, PASSED_BACK, core_delay(core), JOB_RETURNED);
        else
            send_news(core, job, JOB_FAILED);
        return;
    }
    struct bal_station_task task;
    bal_station_arrive(core->host[host].station, core->clock, j->rank, DISPATCHER_ID + j->dispatcher, guest,
                       &task);
    if (task.verdict == BAL_FULL) {
        core->no_queue = true;
        return;
    }
    *(guest ? &j->guest_ticket : &j->station_ticket) = task.ticket;
    core->host[host].job[(uint32_t)task.ticket] = job;
    j->place = guest ? AT_GUEST : AT_STATION;
    j->running = false;
    count_up(core, server, j->rank);
    if (task.verdict == BAL_RUN)
        start_service(core, job);
    bli_core_flush(core, host);
}

static void end_service(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    const uint32_t server = server_of(j), host = core_station(core, server);
    struct bal_station *s = core->host[host].station;
    const bool wrong = core->app[server].fails_fast;
    leave_server(core, job);
    if (j->guest != NO_CORE) {
        bal_station_done(s, core->clock, j->guest_ticket, wrong);
        travel(core, job, PASSED_BACK, core_delay(core), JOB_PASSED);
    } else {
        j->offers = bal_station_piggyback_offer(s, core->clock, j->station_ticket, &j->offer);
        bal_station_done(s, core->clock, j->station_ticket, wrong);
        send_news(core, job, JOB_ANSWERED);
    }
    bli_core_flush(core, host);
}

/* The response of the station that it was passed to. */
static void pass_back(struct core *core, uint32_t job) {
    const struct core_job *j = &core->job[job];
    const uint32_t host = core_station(core, j->station);
    bal_station_done(core->host[host].station, core->clock, j->station_ticket, false);
    send_news(core, job, JOB_ANSWERED);
    bli_core_flush(core, host);
}

/* It waits again where it was. */
static void take_back(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    const uint32_t host = core_station(core, j->station);
    j->guest = NO_CORE;
    j->place = AT_STATION;
    count_up(core, j->station, j->rank);
    bal_station_returned(core->host[host].station, core->clock, j->station_ticket);
    bli_core_flush(core, host);
}

static void pass_on(struct core *core, uint32_t job, uint32_t to) {
    struct core_job *j = &core->job[job];
    leave_server(core, job);
    j->guest = to;
    if (core->model->steal.kind == BAL_STEAL_NONE)
        core->system.tally.totals.moves++;
    travel(core, job, PASSED_ON, core_delay(core), JOB_COMES);
}

void bli_core_read_decisions(struct core *core, uint32_t number) {
    struct core_host *host = &core->host[number];
    struct bal_dispatch to;
    struct bal_station_task task;
    if (number < core->dispatchers) {
        while (bal_dispatcher_next_decision(host->dispatcher, core->clock, &to))
            follow_decision(core, host->job[(uint32_t)to.ticket], &to);
        return;
    }
    while (bal_station_next_decision(host->station, core->clock, &task))
        if (task.verdict == BAL_RUN)
            start_service(core, host->job[(uint32_t)task.ticket]);
        else if (task.verdict == BAL_FORWARD)
            pass_on(core, host->job[(uint32_t)task.ticket], (uint32_t)(task.target - STATION_ID));
        else
            core->no_queue = true; /* it has given up its place to a more urgent one */
}

/* ---- failures ---- */

/* The process that has passed it on is gone: no one waits for its answer. */
static void abandon_guest(struct core *core, uint32_t job) {
    struct core_job *j = &core->job[job];
    const uint32_t host = core_station(core, j->guest);
    if (j->place != AT_GUEST)
        return;
    leave_server(core, job);
    j->place = PASSED_BACK;
    j->version++;
    bal_station_cancel(core->host[host].station, core->clock, j->guest_ticket);
    bli_core_flush(core, host);
}

void bli_core_fail_jobs(struct core *core, uint32_t server) {
    for (uint32_t job = 0; job < core->jobs; job++) {
        struct core_job *j = &core->job[job];
        const bool here = j->alive && is_at(j, server);
        const bool passed = j->alive && j->station == server && j->guest != NO_CORE &&
                            (j->place == PASSED_ON || j->place == AT_GUEST || j->place == PASSED_BACK);
        if (!here && !passed)
            continue;
        if (here)
            leave_server(core, job);
        else
            abandon_guest(core, job);
        j = &core->job[job];
        j->started = false;
        if (here && j->guest != NO_CORE && j->station != server) {
            travel(core, job, PASSED_BACK, core_delay(core), JOB_RETURNED);
            continue;
        }
        send_news(core, job, JOB_FAILED);
    }
}

/* ---- events ---- */

void bli_core_job_event(struct core *core, const struct core_event *event) {
    const uint32_t job = event->job;
    if (core->job[job].version != event->version)
        return;
    switch ((enum core_event_type)event->type) {
    case JOB_COMES:
        reach_station(core, job);
        break;
    case JOB_ENDS:
        end_service(core, job);
        break;
    case JOB_PASSED:
        pass_back(core, job);
        break;
    case JOB_RETURNED:
        take_back(core, job);
        break;
    case JOB_ANSWERED:
        receive_answer(core, job);
        break;
    case JOB_FAILED:
        receive_failure(core, job);
        break;
    default:
        break;
    }
}
