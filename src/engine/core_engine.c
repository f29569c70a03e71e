/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine live-core: time, datagrams, arrivals, and what is measured. core_engine.h describes its parts.
 */
#include "engine/core_engine.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

/* A free place of an array that doubles; NO_CORE: no memory. `next_free` of those that are free names the
 * next one. */
static uint32_t grow(struct core *core, void **array, uint32_t *count, size_t size) {
    if ((*count & (*count - 1)) == 0) { /* full at powers of two */
        void *grown = realloc(*array, (*count ? 2 * (size_t)*count : 1) * size);
        if (!grown) {
            core->no_memory = true;
            return NO_CORE;
        }
        *array = grown;
    }
    return (*count)++;
}

/* At a time in ns since time 0. */
static void schedule_at(struct core *core, double ns, struct core_event event) {
    uint32_t i = core->free_event;
    if (i != NO_CORE)
        core->free_event = core->event[i].next_free;
    else
        i = grow(core, (void **)&core->event, &core->events, sizeof *core->event);
    if (i == NO_CORE || !bli_event_list_add(&core->agenda, ns, i)) {
        core->no_memory = true;
        return;
    }
    core->event[i] = event;
}

void bli_core_schedule(struct core *core, double after, struct core_event event) {
    schedule_at(core, (double)(core->clock - core->begun) + rint(after * core->scale), event);
}

static struct core_event next_event(struct core *core) {
    const uint32_t i = bli_event_list_pop(&core->agenda);
    const struct core_event event = core->event[i];
    core->event[i].next_free = core->free_event;
    core->free_event = i;
    return event;
}

/* ---- datagrams ---- */

/* Few are longer: those are copied whole. */
enum { MESSAGE_BYTES = offsetof(struct bal_message, load) + sizeof(struct bal_message_load) };

static uint32_t new_parcel(struct core *core, const struct bal_message *message) {
    uint32_t i = core->free_parcel;
    if (i != NO_CORE)
        core->free_parcel = core->parcel[i].next_free;
    else
        i = grow(core, (void **)&core->parcel, &core->parcels, sizeof *core->parcel);
    if (i == NO_CORE)
        return NO_CORE;
    core->parcel[i].receivers = 1; /* its sender, for now */
    memcpy(&core->parcel[i].message, message,
           message->type == BAL_MSG_GRANT ? sizeof *message : MESSAGE_BYTES);
    return i;
}

static void free_parcel(struct core *core, uint32_t i) {
    if (--core->parcel[i].receivers > 0)
        return;
    core->parcel[i].next_free = core->free_parcel;
    core->free_parcel = i;
}

/* Probes are counted as probes, with their replies; what is asked of another station, and what that grants,
 * as stealing; all else as reports, from both sides. */
static void count_message(struct core *core, const struct bal_message *message, uint32_t receivers) {
    struct system *system = &core->system;
    struct totals *totals = &system->tally.totals;
    switch (message->type) {
    case BAL_MSG_STEAL:
        totals->requests++;
        /* fall through */
    case BAL_MSG_PROBE:
        system->fleet.probes++;
        if (message->type == BAL_MSG_PROBE && system->features & HAS_CLASSES)
            system->tally.by_class[core->probing_rank].probes++;
        break;
    case BAL_MSG_GRANT:
        totals->steals += message->grant.count > 0;
        totals->stolen += message->grant.count;
        break;
    case BAL_MSG_MOVE:
        break;
    case BAL_MSG_LOAD:
        totals->reports += message->load.probe == 0;
        break;
    default:
        totals->reports += receivers;
    }
}

static void send_message(struct core *core, uint32_t from, const struct bal_message *message) {
    const bool dispatcher = from < core->dispatchers, all = message->receiver == BAL_EVERYONE;
    const uint32_t hosts = dispatcher ? core->servers : core->dispatchers;
    const uint32_t first = all ? (dispatcher ? core->dispatchers : 0)
                           : message->receiver < STATION_ID
                               ? (uint32_t)message->receiver - DISPATCHER_ID
                               : core_station(core, (uint32_t)(message->receiver - STATION_ID));
    const uint32_t count = all ? hosts : 1;
    count_message(core, message, count);
    if (core->counting) {
        core->counts.datagrams += count;
        core->counts.received += first < core->dispatchers ? count : 0;
    }
    const uint32_t parcel = new_parcel(core, message);
    for (uint32_t to = first; parcel != NO_CORE && to < first + count; to++) {
        const uint32_t d = dispatcher ? from : to, s = (dispatcher ? to : from) - core->dispatchers;
        if (core->links.loss > 0 && bal_rng_uniform(&core->wires) < core->links.loss)
            continue;
        if (d < core->dispatchers && link_is_cut(&core->links, d, s))
            continue;
        core->parcel[parcel].receivers++;
        bli_core_schedule(core, core_delay(core),
                          (struct core_event){.type = DATAGRAM, .host = to, .job = parcel});
    }
    if (parcel != NO_CORE)
        free_parcel(core, parcel);
}

static void send_messages(struct core *core, uint32_t number) {
    const struct core_host *host = &core->host[number];
    uint32_t count;
    const struct bal_message *out = number < core->dispatchers
                                        ? bal_dispatcher_outgoing(host->dispatcher, &count)
                                        : bal_station_outgoing(host->station, &count);
    for (uint32_t i = 0; i < count; i++)
        send_message(core, number, &out[i]);
}

static void receive_datagram(struct core *core, const struct core_event *event) {
    const struct core_host *host = &core->host[event->host];
    if (!host->down) {
        const struct bal_message *message = &core->parcel[event->job].message;
        core->probing_rank = 0;
        if (event->host < core->dispatchers)
            bal_dispatcher_receive(host->dispatcher, core->clock, message);
        else
            bal_station_receive(host->station, core->clock, message);
        bli_core_flush(core, event->host);
    }
    free_parcel(core, event->job);
}

/* ---- hosts ---- */

void bli_core_flush(struct core *core, uint32_t number) {
    struct core_host *host = &core->host[number];
    if (host->down || core->no_memory)
        return;
    bli_core_read_decisions(core, number);
    send_messages(core, number);
    const uint64_t next = number < core->dispatchers
                              ? bal_dispatcher_run_timers(host->dispatcher, core->clock)
                              : bal_station_run_timers(host->station, core->clock);
    bli_core_read_decisions(core, number);
    send_messages(core, number);
    if (next >= host->timers_at && host->timers_at > core->clock)
        return;
    host->timers_at = next;
    if (next != UINT64_MAX)
        schedule_at(core, (double)(next - core->begun), (struct core_event){.type = TIMERS, .host = number});
}

/* ---- arrivals ---- */

static double draw_size(struct core *core) {
    const double spare = core->spare_size;
    core->spare_size = NAN;
    return isnan(spare) ? bli_dist_sample(&core->model->size, &core->sizes) : spare;
}

static enum bal_code handle_arrival(struct core *core) {
    struct system *system = &core->system;
    /* A batch is real as a whole. */
    if (system->features & VARYING_RATE && core->arrivals.first &&
        !system_arrival_is_real(system, core->arrival)) {
        bli_arrival_source_drop(&core->arrivals);
        return BAL_OK;
    }
    const uint32_t job = bli_core_new_job(core);
    if (job == NO_CORE)
        return BAL_E_MEMORY;
    system_draw_class(system, system->features);
    struct core_job *j = &core->job[job];
    j->rank = (uint8_t)system->job.rank;
    j->size = draw_size(core);
    j->dispatcher = bli_dispatchers_draw(&core->wire->dispatchers, &core->origins);
    if (system->features & HAS_CLASSES)
        system->tally.by_class[j->rank].routed++;
    core->counts.arrived += core->counting;
    const uint32_t dispatcher = j->dispatcher;
    bli_core_job_arrives(core, job);
    bli_core_flush(core, dispatcher);
    return BAL_OK;
}

/* ---- what happens at stated times ---- */

static void fail_or_return(struct core *core, uint32_t server) {
    const bool fails = !core->host[core_station(core, server)].down;
    const struct bli_churn *churn = &core->wire->churn;
    bli_core_schedule(core, (fails ? churn->down : churn->up) * bal_rng_exp(&core->churn),
                      (struct core_event){.type = FAILS_RETURNS, .host = server});
    if (fails)
        bli_core_server_fails(core, server);
    else
        bli_core_server_returns(core, server);
}

/* A server that is down already goes on as it would. */
static void planned_change(struct core *core, const struct core_event *event) {
    switch ((enum event_part)event->part) {
    case LINKS_CHANGE:
    case LINKS_ARE_BACK:
        bli_links_change(&core->links, event->job, event->part == LINKS_CHANGE);
        break;
    case RESTARTS_DISPATCHER:
        bli_core_restart_dispatcher(core, event->host);
        break;
    case RESTARTS_SERVER:
        if (core->host[core_station(core, event->host)].down)
            break;
        bli_core_server_fails(core, event->host);
        bli_core_schedule(core, core->wire->events.event[event->job].down,
                          (struct core_event){.type = PLANNED_CHANGE, .part = RETURNS, .host = event->host});
        break;
    case RETURNS:
        bli_core_server_returns(core, event->host);
        break;
    }
}

static void plan_change(void *context, double time, enum event_part part, unsigned event, uint32_t member) {
    bli_core_schedule(
        context, time,
        (struct core_event){.type = PLANNED_CHANGE, .part = (uint8_t)part, .host = member, .job = event});
}

/* ---- time ---- */

static void handle_event(struct core *core, const struct core_event *event) {
    switch ((enum core_event_type)event->type) {
    case DATAGRAM:
        receive_datagram(core, event);
        break;
    case TIMERS:
        if (core->host[event->host].timers_at == core->clock) /* else it was asked for at another time */
            bli_core_flush(core, event->host);
        break;
    case FAILS_RETURNS:
        fail_or_return(core, event->host);
        break;
    case PLANNED_CHANGE:
        planned_change(core, event);
        break;
    default:
        bli_core_job_event(core, event);
    }
}

static void draw_arrival(struct core *core) {
    core->arrival = bli_arrival_source_next(&core->arrivals, core->arrival);
    core->arrives = rint(core->arrival * core->scale);
}

/* Does dispatcher 0 work in this event? */
static bool is_first_dispatchers(const struct core *core, const struct core_event *event) {
    if (event->type == DATAGRAM || event->type == TIMERS)
        return event->host == 0;
    return (event->type == JOB_ANSWERED || event->type == JOB_FAILED) &&
           core->job[event->job].dispatcher == 0;
}

static void watch_work(const struct core *core, bool works, bool begins) {
    if (core->options->works && works && core->counting)
        core->options->works(core->options->context, begins);
}

static enum bal_code step(struct core *core) {
    struct system *system = &core->system;
    const double due = bli_event_list_next_time(&core->agenda);
    const bool arrival = core->arrives < due;
    const double ns = arrival ? core->arrives : due;
    if (ns == INFINITY) /* nothing will ever happen again */
        return bli_system_advance(system, system->run->time);
    enum bal_code code = system_reach(system, ns / core->scale);
    if (code)
        return code;
    core->now = ns / core->scale;
    core->clock = core->begun + (uint64_t)ns;
    if (!core->counting && core->now >= core->counts.since) {
        core->counting = true;
        core->counts.since = core->now;
    }
    if (arrival) {
        watch_work(core, core->dispatchers == 1, true);
        code = handle_arrival(core);
        watch_work(core, core->dispatchers == 1, false);
        draw_arrival(core);
    } else {
        const struct core_event event = next_event(core);
        const bool first = is_first_dispatchers(core, &event);
        watch_work(core, first, true);
        handle_event(core, &event);
        watch_work(core, first, false);
    }
    if (core->no_memory)
        return BAL_E_MEMORY;
    if (core->no_requests || core->no_queue)
        return BAL_E_RANGE;
    /* A slice may have any number of events: it, too, can be stopped. */
    if ((++core->handled & 0xffff) == 0 && !code && system->run->stop && *system->run->stop)
        return BAL_E_STOPPED;
    return code;
}

/* ---- a run ---- */

static void init_streams(struct core *core) {
    const struct bli_run *run = core->system.run;
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bli_arrival_source_init(&core->arrivals, &core->model->arrivals,
                            core->system.per_max / bli_model_arrival_rate(core->model), &arrivals);
    bal_rng_init(&core->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    bal_rng_init(&core->origins, run->seed, run->replication, BAL_STREAM_ORIGINS);
    bal_rng_init(&core->wires, run->seed, run->replication, BAL_STREAM_NETWORK);
    bal_rng_init(&core->churn, run->seed, run->replication, BAL_STREAM_CHURN);
}

static void init_failures(struct core *core) {
    const struct bli_network *wire = core->wire;
    bli_links_init(&core->links, wire, core->servers, core->dispatchers);
    if (!(wire->churn.up > 0) && !bli_network_events_include(&wire->events, BLI_EVENT_RESTART_SERVERS))
        return;
    core->system.tally.powered = true;
    for (uint32_t server = 0; server < core->servers; server++)
        tally_power_up(&core->system.tally, 0, POWER_STANDBY);
}

static void plan_failures(struct core *core) {
    for (uint32_t server = 0; core->wire->churn.up > 0 && server < core->servers; server++)
        bli_core_schedule(core, bal_rng_exp(&core->churn) * core->wire->churn.up,
                          (struct core_event){.type = FAILS_RETURNS, .host = server});
    bli_links_plan(&core->links, core->servers, core->dispatchers, plan_change, core);
}

/* All that there is at time 0. */
static enum bal_code begin_run(struct core *core, struct bal_error *err) {
    struct system *system = &core->system;
    const struct bli_run *run = system->run;
    const double unit = 1 / system->per_unit;
    system->unbounded_reports = true;
    core->free_job = core->free_event = core->free_parcel = NO_CORE;
    core->spare_size = NAN;
    core->servers = system->servers;
    core->dispatchers = core->wire->dispatchers.count ? core->wire->dispatchers.count : 1;
    core->scale = 1e9 * system->per_unit;
    core->timeout = bli_network_timeout(core->wire, unit);
    core->fail_fast_time = core->wire->fail_fast.time > 0 ? core->wire->fail_fast.time : unit / 20;
    core->counts.since = (run->warmup >= 0 ? run->warmup : 0) * run->time;
    init_streams(core);
    init_failures(core);
    enum bal_code code = bli_core_configure(core, &core->room, err);
    if (!code)
        code = bli_core_hosts_init(core, err);
    if (code)
        return code;
    plan_failures(core);
    draw_arrival(core);
    return BAL_OK;
}

/* Four times as much of what was missing; false: there may not be more. */
static bool enlarge(struct core_room *room, const struct core *core) {
    uint32_t *what = core->no_requests ? &room->requests : &room->queue;
    const bool more = *what < BLI_CORE_REQUESTS_MAX;
    *what = *what < BLI_CORE_REQUESTS_MAX / 4 ? 4 * *what : BLI_CORE_REQUESTS_MAX;
    return more;
}

/* *again: there was too little room, and there is more in *room now. */
static enum bal_code run_once(const struct bli_model *model, const struct bal_policy_spec *policy,
                              const struct bli_run *run, const struct bli_core_options *options,
                              struct core_room *room, bool *again, struct bli_trial *trial,
                              struct bal_error *err) {
    struct core *core = calloc(1, sizeof *core);
    *again = false;
    if (!core)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    core->model = model;
    core->wire = &model->network;
    core->spec = policy;
    core->options = options;
    core->room = *room;
    enum bal_code code = bli_system_init(&core->system, model, policy, run, 1, 0, err);
    if (code) {
        free(core);
        return code;
    }
    code = begin_run(core, err);
    const bool begun = !code;
    while (!code)
        code = step(core);
    const bool narrow = core->no_requests || core->no_queue;
    *again = narrow && enlarge(room, core);
    if (narrow && !*again)
        code = bal_fail(err, BAL_E_MODEL, "more than %d jobs are under way at one host; use a lower load",
                        BLI_CORE_REQUESTS_MAX);
    else if (!narrow && (begun || code == BAL_E_MEMORY))
        code = bli_system_end(&core->system, code, trial, err);
    if (options->counts)
        *options->counts = core->counts;
    bli_core_hosts_fini(core);
    bli_system_fini(&core->system);
    bli_event_list_fini(&core->agenda);
    free(core->job);
    free(core->event);
    free(core->parcel);
    free(core);
    return code;
}

enum bal_code bli_core_measure(const struct bli_model *model, const struct bal_policy_spec *policy,
                               const struct bli_run *run, const struct bli_core_options *options,
                               struct bli_trial *trial, struct bal_error *err) {
    struct core_room room = bli_core_first_room(model);
    bool again;
    enum bal_code code;
    do
        code = run_once(model, policy, run, options, &room, &again, trial, err);
    while (again);
    return code;
}

enum bal_code bli_engine_core(const struct bli_model *model, const struct bal_policy_spec *policy,
                              const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    const struct bli_core_options none = {0};
    return bli_core_measure(model, policy, run, &none, trial, err);
}
