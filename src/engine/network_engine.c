/* SPDX-License-Identifier: BSD-2-Clause */
/* The network engine: several dispatchers, messages that take time or get lost, servers that come and go.
 *
 * Everything that the event engine can simulate of jobs of one task, plus what docs/network.md describes. It
 * is a good deal slower, since every message is an event: network_engine.h describes its parts. */
#include "engine/network_engine.h"

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- jobs ---- */

uint32_t bli_network_new_job(struct network *net) {
    uint32_t job = net->free_job;
    if (job != NO_INDEX) {
        net->free_job = net->job[job].next;
    } else {
        if ((net->jobs & (net->jobs - 1)) == 0) { /* full at powers of two */
            const size_t room = net->jobs ? 2 * (size_t)net->jobs : 1;
            struct job *grown = realloc(net->job, room * sizeof *grown);
            if (!grown) {
                net->no_memory = true;
                return NO_INDEX;
            }
            net->job = grown;
        }
        job = net->jobs++;
        net->job[job].version = 0;
    }
    struct job *j = &net->job[job];
    j->next = j->before = j->server = NO_INDEX;
    j->version++;
    j->tries.count = 0;
    j->started = j->moved = false;
    j->arrival = j->sent = j->joined = net->now;
    net->alive++;
    return job;
}

void bli_network_free_job(struct network *net, uint32_t job) {
    net->job[job].version++;
    net->job[job].next = net->free_job;
    net->free_job = job;
    net->alive--;
}

void bli_list_push(struct network *net, struct list *list, uint32_t job) {
    net->job[job].next = NO_INDEX;
    net->job[job].before = list->last;
    *(list->count ? &net->job[list->last].next : &list->first) = job;
    list->last = job;
    list->count++;
}

void bli_list_push_first(struct network *net, struct list *list, uint32_t job) {
    net->job[job].next = list->first;
    net->job[job].before = NO_INDEX;
    *(list->count ? &net->job[list->first].before : &list->last) = job;
    list->first = job;
    list->count++;
}

void bli_list_remove(struct network *net, struct list *list, uint32_t job) {
    struct job *j = &net->job[job];
    *(j->before != NO_INDEX ? &net->job[j->before].next : &list->first) = j->next;
    *(j->next != NO_INDEX ? &net->job[j->next].before : &list->last) = j->before;
    j->next = j->before = NO_INDEX;
    list->count--;
}

/* ---- messages ---- */

uint32_t bli_network_grow_messages(struct network *net) {
    if ((net->messages & (net->messages - 1)) == 0) { /* full at powers of two */
        const size_t room = net->messages ? 2 * (size_t)net->messages : 1;
        struct message *grown = realloc(net->message, room * sizeof *grown);
        if (!grown)
            return NO_INDEX;
        net->message = grown;
    }
    return net->messages++;
}

static struct message pop_message(struct network *net) {
    const uint32_t index = bli_event_list_pop(&net->events);
    const struct message message = net->message[index];
    net->message[index].next_free = net->free_message;
    net->free_message = index;
    if (net->events.count)
        __builtin_prefetch(&net->message[bli_event_list_first(&net->events)].next_free);
    return message;
}

void bli_network_deliver_now(struct network *net, struct message message) {
    if (net->in_fifo == net->fifo_room) {
        const uint32_t room = net->fifo_room ? 2 * net->fifo_room : 64;
        struct message *grown = malloc(room * sizeof *grown);
        if (!grown) {
            net->no_memory = true;
            return;
        }
        for (uint32_t i = 0; i < net->in_fifo; i++)
            grown[i] = net->fifo[(net->fifo_first + i) % net->fifo_room];
        free(net->fifo);
        net->fifo = grown;
        net->fifo_room = room;
        net->fifo_first = 0;
    }
    net->fifo[(net->fifo_first + net->in_fifo++) % net->fifo_room] = message;
}

static void deliver_message(struct network *net, const struct message *message) {
    if (__builtin_expect(net->observer != NULL, 0))
        net->observer->delivers(net->observer->context, message);
    switch ((enum message_type)message->type) {
    case JOB:
    case PROBE:
    case WAKE:
    case ABORT:
    case MOVE:
    case STEAL_REQUEST:
        bli_net_server_receive(net, message);
        break;
    case RESPONSE:
    case FAILURE:
    case LOST:
        bli_net_dispatcher_receive_response(net, message);
        break;
    case REPORT:
    case HEARTBEAT:
    case REPLY:
        bli_net_dispatcher_receive_report(net, message);
        break;
    case BACKLOG:
        bli_network_offers_receive_backlog(net, message);
        break;
    case RESUME:
        bli_network_offers_resume(net, message);
        break;
    case COMPLETE:
        bli_net_server_complete(net, message);
        break;
    case POWER_TIMER:
        bli_net_server_power_timer(net, message);
        break;
    case START_TIMER:
        bli_net_dispatcher_start_timer(net, message);
        break;
    case PROBE_TIMEOUT:
        bli_net_dispatcher_probe_timeout(net, message);
        break;
    case HEARTBEAT_TIMER:
        bli_net_server_heartbeat_timer(net, message->server);
        break;
    case CHURN:
        bli_net_server_fail_or_repair(net, message->server);
        break;
    case ELIGIBILITY_TIMER: /* unless it has looked meanwhile and knows another time */
        if (net->dispatcher[message->dispatcher].looks_at == net->now)
            bli_net_dispatcher_update_eligible(net, message->dispatcher);
        break;
    case BACKLOG_TIMER:
        bli_network_backlog_timer(net, message->dispatcher);
        break;
    case SLOT_REQUEST_TIMEOUT:
        bli_network_backlog_request_timeout(net, message->dispatcher, message->server);
        break;
    case EVENT:
        bli_network_event(net, message);
        break;
    }
}

/* Everything that takes no time. */
static enum bal_code deliver_immediate(struct network *net) {
    while (net->in_fifo && !net->no_memory) {
        const struct message message = net->fifo[net->fifo_first];
        net->fifo_first = (net->fifo_first + 1) % net->fifo_room;
        net->in_fifo--;
        deliver_message(net, &message);
    }
    return net->no_memory ? BAL_E_MEMORY : BAL_OK;
}

/* ---- arrivals ---- */

static enum bal_code next_arrival(struct network *net, double *next) {
    if (!(net->system.features & TRACE_JOBS)) {
        *next = bli_arrival_source_next(&net->arrivals, net->now);
        return BAL_OK;
    }
    const enum bal_code code = bli_trace_next(net->cursor, &net->recorded, net->err);
    const uint64_t since = (uint64_t)net->recorded.time - (uint64_t)net->first;
    *next = net->recorded.size > 0 ? (double)since * net->seconds : INFINITY;
    return code;
}

static double draw_size(struct network *net) {
    if (net->system.features & TRACE_JOBS)
        return (double)net->recorded.size * 1e-9;
    const double spare = net->spare_size;
    net->spare_size = NAN;
    return isnan(spare) ? bli_dist_sample(&net->model->size, &net->sizes) : spare;
}

static uint32_t new_arrival(struct network *net) {
    struct system *system = &net->system;
    const uint32_t job = bli_network_new_job(net);
    if (job == NO_INDEX)
        return NO_INDEX;
    system_draw_class(system, system->features);
    if ((system->features & (TRACE_JOBS | HAS_CLASSES)) == (TRACE_JOBS | HAS_CLASSES))
        system->job.rank = !net->recorded.high;
    struct job *j = &net->job[job];
    j->rank = (uint8_t)system->job.rank;
    j->kind = net->recorded.kind;
    j->size = j->left = draw_size(net);
    j->dispatcher = bli_dispatchers_draw(&net->wire->dispatchers, &net->origins);
    transit_begin(net);
    return job;
}

static enum bal_code handle_arrival(struct network *net) {
    struct system *system = &net->system;
    /* A batch is real as a whole. */
    if (system->features & VARYING_RATE && net->arrivals.first && !system_arrival_is_real(system, net->now)) {
        bli_arrival_source_drop(&net->arrivals);
        return BAL_OK;
    }
    const uint32_t job = new_arrival(net);
    if (job == NO_INDEX)
        return BAL_E_MEMORY;
    if (system->features & HAS_CLASSES)
        system->tally.by_class[net->job[job].rank].routed++;
    bli_net_dispatcher_receive_job(net, job);
    return BAL_OK;
}

/* ---- time ---- */

/* Idle servers report at their rate between now and then. */
static enum bal_code report_until(struct network *net, double until) {
    struct system *system = &net->system;
    while (system->features & POISSON_IDLE_REPORTS && system->idle->count > 0) {
        const double rate = system->report_rate * system->idle->count;
        if (exponential_outlasts(&system->report_left, rate, net->now, until))
            return BAL_OK;
        net->now = fmin(net->now + system->report_left / rate, until);
        system->report_left = bal_rng_exp(&system->report_rng);
        enum bal_code code = system_reach(system, net->now);
        if (code)
            return code;
        bli_net_server_report_still_idle(net, bal_set_uniform(system->idle, &system->report_rng));
        code = deliver_immediate(net);
        if (code || bli_event_list_next_time(&net->events) < until) /* an answer that took a decision */
            return code ? code : BAL_OK;
    }
    return BAL_OK;
}

/* Fetches into the cache what the next event will need, while there is something else to do. Its message was
 * fetched when the event before it was taken. */
static inline void prefetch_next_event(const struct network *net) {
    if (net->events.count == 0)
        return;
    const struct message *next = &net->message[bli_event_list_first(&net->events)];
    if (next->type != COMPLETE)
        return;
    __builtin_prefetch(&net->job[next->job]);
    __builtin_prefetch(&net->job[next->job].started);
    __builtin_prefetch(&net->net_server[next->server]);
    if (net->offers)
        bli_network_offers_prefetch(net, next->server);
}

static inline enum bal_code step(struct network *net) {
    struct system *system = &net->system;
    const double due = bli_event_list_next_time(&net->events);
    const bool arrival = net->arrives < due;
    const double now = arrival ? net->arrives : due;
    if (system->features & TRACE_JOBS && net->arrives == INFINITY && net->alive == 0 &&
        !(now < system->run->time)) {
        const double end = fmax(net->now, system->run->time);
        const enum bal_code code = report_until(net, end);
        return code ? code : bli_system_drained(system, end);
    }
    if (now == INFINITY) /* nothing will ever happen again */
        return bli_system_advance(system, system->run->time);
    enum bal_code code = report_until(net, now);
    if (code || bli_event_list_next_time(&net->events) < now) /* a report has caused something sooner */
        return code;
    if (__builtin_expect(code = system_reach(system, now), 0))
        return code;
    net->now = now;
    if (arrival) {
        prefetch_next_event(net);
        code = handle_arrival(net);
        if (!code)
            code = deliver_immediate(net);
        return code ? code : next_arrival(net, &net->arrives);
    }
    const struct message message = pop_message(net);
    deliver_message(net, &message);
    prefetch_next_event(net);
    code = deliver_immediate(net);
    /* A slice may have any number of messages: it, too, can be stopped. */
    if (__builtin_expect((++net->delivered & 0xffff) == 0, 0) && !code && system->run->stop &&
        *system->run->stop)
        return BAL_E_STOPPED;
    return code;
}

enum bal_code bli_network_step(struct network *net) {
    return step(net);
}

/* ---- beginning ---- */

static enum bal_code join_first(struct system *system, uint32_t server) {
    struct network *net = (struct network *)system;
    const uint32_t job = bli_network_new_job(net);
    if (job == NO_INDEX)
        return BAL_E_MEMORY;
    struct job *j = &net->job[job];
    j->rank = (uint8_t)system->job.rank;
    j->size = j->left = bli_dist_sample(&net->model->size, &net->sizes);
    j->dispatcher = bli_dispatchers_draw(&net->wire->dispatchers, &net->origins);
    j->server = server;
    transit_begin(net);
    bli_net_dispatcher_count_own(net, job);
    bli_net_server_add_initial_job(net, server, job);
    return net->no_memory ? BAL_E_MEMORY : BAL_OK;
}

/* What a dispatcher knows of a server at the start. */
static void set_initial_report(struct network *net, uint32_t dispatcher, uint32_t server, bool idle) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    const struct net_server *s = &net->net_server[server];
    if (d->seen) {
        const struct bli_offer_party *party = bli_network_offers_party(net, server, dispatcher);
        d->seen[server] = (struct seen){.tokens = {.seen = party->offers, .count = party->offered},
                                        .until = BLI_STATEMENT_BEATS * net->wire->heartbeat,
                                        .status = s->power == ON      ? BAL_SERVER_ON
                                                  : s->power == SETUP ? BAL_SERVER_SETUP
                                                                      : BAL_SERVER_OFF};
    }
    const bool has_token = d->seen ? d->seen[server].tokens.count : idle;
    const enum bal_report report = has_token           ? BAL_REPORT_IDLE
                                   : s->power == ON    ? BAL_REPORT_BUSY
                                   : s->power == SETUP ? BAL_REPORT_SETUP
                                                       : BAL_REPORT_OFF;
    bal_policy_report(net->spec, d->state, &d->fleet, report, server, NULL);
}

/* What servers are at the start dispatchers know, one of them that a slot is free. It costs nothing. */
static void send_initial_reports(struct network *net) {
    const struct system *system = &net->system;
    for (uint32_t server = 0; server < system->servers; server++) {
        const uint32_t jobs = bli_system_first_jobs(system, server);
        const bool on = net->net_server[server].power == ON;
        const bool idle = on && jobs <= system_room(system, system->features);
        if (on && !idle)
            continue;
        if (net->offers)
            bli_network_offers_start(net, server, idle ? system->slots - jobs : 0);
        for (uint32_t i = 0; i < net->dispatchers; i++)
            set_initial_report(net, i, server, idle);
    }
}

static void first_timers(struct network *net) {
    struct system *system = &net->system;
    if (system->features & POWER_SWITCHING)
        bli_net_servers_start_timers(net);
    for (uint32_t server = 0; server < system->servers; server++) {
        if (net->wire->heartbeat > 0)
            network_schedule(net, bal_rng_uniform(&net->wires) * net->wire->heartbeat,
                             (struct message){.type = HEARTBEAT_TIMER, .server = server});
        if (net->wire->churn.up > 0)
            network_schedule(net, bal_rng_exp(&net->churn) * net->wire->churn.up,
                             (struct message){.type = CHURN, .server = server});
    }
    for (uint32_t d = 0; net->wire->heartbeat > 0 && d < net->dispatchers; d++)
        bli_net_dispatcher_update_eligible(net, d);
    bli_network_events_init(net);
}

/* The distributions of standby and set-up: the model's, or else exponential at the policy's rates. */
static void set_up_power(struct network *net) {
    struct system *system = &net->system;
    const bool fail =
        net->wire->churn.up > 0 || bli_network_events_include(&net->wire->events, BLI_EVENT_RESTART_SERVERS);
    if (fail && !(system->features & POWER_SWITCHING)) {
        system->tally.powered = true;
        for (uint32_t server = 0; server < system->servers; server++)
            tally_power_up(&system->tally, 0, POWER_STANDBY);
    }
    if (!(system->features & POWER_SWITCHING))
        return;
    net->discards = net->flags & BAL_DISCARDS;
    net->standby = bli_dist_exponential(1);
    net->setup = net->standby;
    if (net->model->standby.mean > 0)
        net->standby = net->model->standby;
    else if (system->standby_rate > 0)
        bli_dist_scale(&net->standby, 1 / system->standby_rate);
    else
        net->standby.mean = INFINITY;
    if (net->model->setup.mean > 0)
        net->setup = net->model->setup;
    else
        bli_dist_scale(&net->setup, 1 / system->setup_rate);
}

static enum bal_code init_network(struct network *net, const struct bal_policy_context *context,
                                  struct bal_error *err) {
    struct system *system = &net->system;
    const struct bli_model *model = net->model;
    const struct bli_run *run = system->run;
    const struct bli_network *wire = net->wire;
    const double unit = 1 / system->per_unit;
    system->unbounded_reports = !bli_network_is_plain(wire);
    system->holds = bal_policy_flags(net->spec) & BAL_MAY_HOLD;
    net->free_job = net->free_message = net->free_inquiry = NO_INDEX;
    net->spare_size = NAN;
    net->takes_time = bli_network_takes_time(wire);
    net->timeout = bli_network_timeout(wire, unit);
    net->sink_time = wire->fail_fast.time > 0 ? wire->fail_fast.time : unit / 20;
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bli_arrival_source_init(&net->arrivals, &model->arrivals, system->per_max / bli_model_arrival_rate(model),
                            &arrivals);
    bal_rng_init(&net->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    bal_rng_init(&net->origins, run->seed, run->replication, BAL_STREAM_ORIGINS);
    bal_rng_init(&net->stealing, run->seed, run->replication, BAL_STREAM_STEALING);
    bal_rng_init(&net->wires, run->seed, run->replication, BAL_STREAM_NETWORK);
    bal_rng_init(&net->churn, run->seed, run->replication, BAL_STREAM_CHURN);
    net->dispatchers = wire->dispatchers.count ? wire->dispatchers.count : 1;
    net->dispatcher = calloc(net->dispatchers, sizeof *net->dispatcher);
    if (!net->dispatcher || bli_net_servers_init(net) || bli_network_offers_init(net) ||
        bli_net_dispatchers_init(net, context))
        return BAL_E_MEMORY;
    set_up_power(net);
    send_initial_reports(net);
    first_timers(net);
    if (!run->trace)
        return BAL_OK;
    net->err = err;
    net->first = bli_trace_info(run->trace)->first;
    net->seconds = 1e-9 / (run->speedup > 0 ? run->speedup : 1);
    const enum bal_code code = bli_trace_cursor_new(run->trace, &net->cursor, err);
    if (!code)
        bli_trace_cursor_redraw(net->cursor, &net->arrivals.rng);
    return code;
}

enum bal_code bli_network_close(struct network *net, enum bal_code code, struct bli_trial *trial,
                                struct bal_error *err) {
    if (code)
        code = bli_system_end(&net->system, code, trial, err);
    bli_net_dispatchers_fini(net);
    bli_net_servers_fini(net);
    bli_network_offers_fini(net);
    bli_system_fini(&net->system);
    bli_trace_cursor_free(net->cursor);
    free(net->job);
    free(net->message);
    bli_event_list_fini(&net->events);
    free(net->fifo);
    free(net);
    return code;
}

/* What there is at time 0, and what follows from that at once. */
static enum bal_code begin(struct network *net, const struct bal_policy_context *context,
                           struct bal_error *err) {
    enum bal_code code = init_network(net, context, err);
    if (!code)
        code = bli_system_begin(&net->system, join_first);
    if (!code)
        code = deliver_immediate(net);
    return code ? code : next_arrival(net, &net->arrives);
}

enum bal_code bli_network_open(const struct bli_model *model, const struct bal_policy_spec *policy,
                               const struct bli_run *run, struct network **opened, struct bal_error *err) {
    struct network *net = calloc(1, sizeof *net);
    if (!net)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    net->model = model;
    net->wire = &model->network;
    net->spec = policy;
    net->flags = bal_policy_flags(policy);
    const struct bal_policy_context context = {.servers = bli_servers_count(&model->servers),
                                               .load = model->load};
    enum bal_code code = bli_system_init(&net->system, model, policy, run, 1, 0, err);
    if (code) {
        free(net);
        return code;
    }
    code = begin(net, &context, err);
    if (code)
        return bli_network_close(net, code, NULL, err);
    *opened = net;
    return BAL_OK;
}

enum bal_code bli_engine_network(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    struct network *net;
    enum bal_code code = bli_network_open(model, policy, run, &net, err);
    if (code)
        return code;
    while (!code)
        code = step(net);
    return bli_network_close(net, code, trial, err);
}
