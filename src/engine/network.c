/* The network engine: several dispatchers, messages that take time or get lost, servers that come and go.
 *
 * Everything that the event engine can simulate of jobs of one task, plus what docs/network.md tells. It is a
 * good deal slower, since nothing happens at once: see network.h for how it is laid out. */
#include "engine/network.h"

#include "engine/engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- jobs ---- */

uint32_t bal_network_new_job(struct network *net) {
    uint32_t job = net->free_job;
    if (job != NOBODY) {
        net->free_job = net->job[job].next;
    } else {
        if ((net->jobs & (net->jobs - 1)) == 0) { /* full at powers of two */
            const size_t room = net->jobs ? 2 * (size_t)net->jobs : 1;
            struct job *grown = realloc(net->job, room * sizeof *grown);
            if (!grown) {
                net->no_memory = true;
                return NOBODY;
            }
            net->job = grown;
        }
        job = net->jobs++;
        net->job[job].version = 0;
    }
    struct job *j = &net->job[job];
    j->next = j->before = j->server = NOBODY;
    j->version++;
    j->tries = 0;
    j->started = false;
    j->arrival = j->sent = j->joined = net->now;
    net->alive++;
    return job;
}

void bal_network_free_job(struct network *net, uint32_t job) {
    net->job[job].version++;
    net->job[job].next = net->free_job;
    net->free_job = job;
    net->alive--;
}

void bal_list_push(struct network *net, struct list *list, uint32_t job) {
    net->job[job].next = NOBODY;
    net->job[job].before = list->last;
    *(list->count ? &net->job[list->last].next : &list->first) = job;
    list->last = job;
    list->count++;
}

void bal_list_push_first(struct network *net, struct list *list, uint32_t job) {
    net->job[job].next = list->first;
    net->job[job].before = NOBODY;
    *(list->count ? &net->job[list->first].before : &list->last) = job;
    list->first = job;
    list->count++;
}

void bal_list_remove(struct network *net, struct list *list, uint32_t job) {
    struct job *j = &net->job[job];
    *(j->before != NOBODY ? &net->job[j->before].next : &list->first) = j->next;
    *(j->next != NOBODY ? &net->job[j->next].before : &list->last) = j->before;
    j->next = j->before = NOBODY;
    list->count--;
}

/* ---- messages ---- */

uint32_t bal_network_more_messages(struct network *net) {
    if ((net->messages & (net->messages - 1)) == 0) { /* full at powers of two */
        const size_t room = net->messages ? 2 * (size_t)net->messages : 1;
        struct message *grown = realloc(net->message, room * sizeof *grown);
        if (!grown)
            return NOBODY;
        net->message = grown;
    }
    return net->messages++;
}

static struct message take_first(struct network *net) {
    const uint32_t index = bal_agenda_take(&net->agenda);
    const struct message message = net->message[index];
    net->message[index].next_free = net->free_message;
    net->free_message = index;
    if (net->agenda.count)
        __builtin_prefetch(&net->message[bal_agenda_first(&net->agenda)].next_free);
    return message;
}

void bal_network_now(struct network *net, struct message message) {
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

static void set_hungry(struct network *net, const struct message *message) {
    if (message->other == 0) {
        bal_set_remove(net->hungry, message->dispatcher);
        return;
    }
    bal_set_insert(net->hungry, message->dispatcher);
    bal_stations_feed(net, message->dispatcher, message->other);
}

static void deliver(struct network *net, const struct message *message) {
    switch ((enum what)message->what) {
    case JOB:
    case PROBE:
    case WAKE:
    case MOVE:
    case STEAL:
        bal_station_told(net, message);
        break;
    case ANSWER:
    case FAILURE:
    case LOST:
        bal_dispatcher_answer(net, message);
        break;
    case REPORT:
    case PRESENT:
    case REPLY:
        bal_dispatcher_told(net, message);
        break;
    case HUNGRY:
        set_hungry(net, message);
        break;
    case COMPLETE:
        bal_station_complete(net, message);
        break;
    case TIMER:
        bal_station_timer(net, message);
        break;
    case TIMEOUT:
        bal_dispatcher_timeout(net, message);
        break;
    case BEAT:
        bal_station_beat(net, message->server);
        break;
    case CHURN:
        bal_station_churn(net, message->server);
        break;
    case AGAIN: /* unless it has looked meanwhile and knows another time */
        if (net->dispatcher[message->dispatcher].looks_at == net->now)
            bal_dispatcher_look(net, message->dispatcher);
        break;
    case HUNGER:
        bal_dispatcher_hunger(net, message->dispatcher);
        break;
    }
}

/* Everything that takes no time. */
static enum bal_code settle(struct network *net) {
    while (net->in_fifo && !net->no_memory) {
        const struct message message = net->fifo[net->fifo_first];
        net->fifo_first = (net->fifo_first + 1) % net->fifo_room;
        net->in_fifo--;
        deliver(net, &message);
    }
    return net->no_memory ? BAL_E_MEMORY : BAL_OK;
}

/* ---- arrivals ---- */

static enum bal_code next_arrival(struct network *net, double *next) {
    if (!(net->system.features & RECORDED)) {
        *next = bal_arrival_source_next(&net->arrivals, net->now);
        return BAL_OK;
    }
    const enum bal_code code = bal_trace_next(net->cursor, &net->recorded, net->err);
    const uint64_t since = (uint64_t)net->recorded.time - (uint64_t)net->first;
    *next = net->recorded.size > 0 ? (double)since * net->seconds : INFINITY;
    return code;
}

static double draw_size(struct network *net) {
    if (net->system.features & RECORDED)
        return (double)net->recorded.size * 1e-9;
    const double spare = net->spare_size;
    net->spare_size = NAN;
    return isnan(spare) ? bal_law_sample(&net->model->size, &net->sizes) : spare;
}

static uint32_t new_arrival(struct network *net) {
    struct system *system = &net->system;
    const uint32_t job = bal_network_new_job(net);
    if (job == NOBODY)
        return NOBODY;
    system_draw_class(system, system->features);
    if ((system->features & (RECORDED | RANKED)) == (RECORDED | RANKED))
        system->job.rank = !net->recorded.high;
    struct job *j = &net->job[job];
    j->rank = (uint8_t)system->job.rank;
    j->size = j->left = draw_size(net);
    j->dispatcher = bal_dispatchers_draw(&net->wire->dispatchers, &net->wires);
    network_afloat(net);
    return job;
}

static enum bal_code arrive(struct network *net) {
    struct system *system = &net->system;
    /* A batch is real as a whole. */
    if (system->features & VARYING && net->arrivals.first && !system_arrival_is_real(system, net->now)) {
        bal_arrival_source_drop(&net->arrivals);
        return BAL_OK;
    }
    const uint32_t job = new_arrival(net);
    if (job == NOBODY)
        return BAL_E_MEMORY;
    if (system->features & RANKED)
        system->tally.by_class[net->job[job].rank].routed++;
    bal_dispatcher_take(net, job);
    return BAL_OK;
}

/* ---- time ---- */

/* Idle servers report at their rate between now and then. */
static enum bal_code report_until(struct network *net, double until) {
    struct system *system = &net->system;
    while (system->features & RATED && system->idle->count > 0) {
        const double rate = system->report_rate * system->idle->count;
        if (lasts(&system->report_left, rate, net->now, until))
            return BAL_OK;
        net->now = fmin(net->now + system->report_left / rate, until);
        system->report_left = bal_rng_exp(&system->report_rng);
        enum bal_code code = system_reach(system, net->now);
        if (code)
            return code;
        bal_station_still_idle(net, bal_set_uniform(system->idle, &system->report_rng));
        code = settle(net);
        if (code || bal_agenda_next(&net->agenda) < until) /* an answer that took a decision */
            return code ? code : BAL_OK;
    }
    return BAL_OK;
}

static enum bal_code loop(struct network *net) {
    struct system *system = &net->system;
    double arrives;
    enum bal_code code = next_arrival(net, &arrives);
    while (!code) {
        const double due = bal_agenda_next(&net->agenda);
        const bool arrival = arrives < due;
        const double now = arrival ? arrives : due;
        if (system->features & RECORDED && arrives == INFINITY && net->alive == 0 &&
            !(now < system->run->time)) {
            const double end = fmax(net->now, system->run->time);
            code = report_until(net, end);
            return code ? code : bal_system_drained(system, end);
        }
        if (now == INFINITY) /* nothing will ever happen again */
            return bal_system_advance(system, system->run->time);
        code = report_until(net, now);
        if (code)
            return code;
        if (bal_agenda_next(&net->agenda) < now) /* a report has caused something sooner */
            continue;
        if (__builtin_expect(code = system_reach(system, now), 0))
            return code;
        net->now = now;
        if (arrival) {
            code = arrive(net);
            if (!code)
                code = settle(net);
            if (!code)
                code = next_arrival(net, &arrives);
        } else {
            const struct message message = take_first(net);
            deliver(net, &message);
            code = settle(net);
            /* A slice may have any number of messages: it, too, can be stopped. */
            if (__builtin_expect((++net->delivered & 0xffff) == 0, 0) && !code && system->run->stop &&
                *system->run->stop)
                return BAL_E_STOPPED;
        }
    }
    return code;
}

/* ---- beginning ---- */

static enum bal_code join_first(struct system *system, uint32_t server) {
    struct network *net = (struct network *)system;
    const uint32_t job = bal_network_new_job(net);
    if (job == NOBODY)
        return BAL_E_MEMORY;
    struct job *j = &net->job[job];
    j->rank = (uint8_t)system->job.rank;
    j->size = j->left = bal_law_sample(&net->model->size, &net->sizes);
    j->dispatcher = bal_dispatchers_draw(&net->wire->dispatchers, &net->wires);
    j->server = server;
    network_afloat(net);
    bal_dispatcher_own(net, job);
    bal_station_begin(net, server, job);
    return net->no_memory ? BAL_E_MEMORY : BAL_OK;
}

/* What servers are at the start dispatchers know, one of them that a server is idle. It costs nothing. */
static void tell_first(struct network *net) {
    const struct system *system = &net->system;
    for (uint32_t server = 0; server < system->servers; server++) {
        const uint32_t jobs = bal_system_first_jobs(system, server);
        struct station *s = &net->station[server];
        const bool idle = s->power == ON && jobs <= system_room(system, system->features);
        if (s->power == ON && !idle)
            continue;
        const uint32_t to = net->dispatchers > 1 ? bal_rng_below(&net->wires, net->dispatchers) : 0;
        for (uint32_t i = 0; i < net->dispatchers; i++) {
            struct dispatcher *d = &net->dispatcher[i];
            bal_policy_report(net->spec, d->state, &d->fleet,
                              idle && i == to     ? BAL_REPORT_IDLE
                              : idle              ? BAL_REPORT_BUSY
                              : s->power == SETUP ? BAL_REPORT_SETUP
                                                  : BAL_REPORT_OFF,
                              server, NULL);
            if (d->said && idle && i == to)
                d->said[server] = BAL_REPORT_IDLE;
        }
        if (idle)
            s->holder = to;
    }
}

static void first_timers(struct network *net) {
    struct system *system = &net->system;
    if (system->features & POWERED)
        bal_stations_first_timers(net);
    for (uint32_t server = 0; server < system->servers; server++) {
        if (net->wire->heartbeat > 0)
            network_at(net, bal_rng_uniform(&net->wires) * net->wire->heartbeat,
                       (struct message){.what = BEAT, .server = server});
        if (net->wire->churn.up > 0)
            network_at(net, bal_rng_exp(&net->churn) * net->wire->churn.up,
                       (struct message){.what = CHURN, .server = server});
    }
    for (uint32_t d = 0; net->wire->heartbeat > 0 && d < net->dispatchers; d++) {
        bal_dispatcher_look(net, d);
        if (net->flags & BAL_MAY_HOLD && net->dispatchers > 1)
            network_at(net, bal_rng_uniform(&net->wires) * net->wire->heartbeat,
                       (struct message){.what = HUNGER, .dispatcher = d});
    }
}

/* The laws of standby and set-up: the model's, or else exponential at the policy's rates. */
static void set_up_power(struct network *net) {
    struct system *system = &net->system;
    if (net->wire->churn.up > 0 && !(system->features & POWERED)) {
        system->tally.powered = true;
        for (uint32_t server = 0; server < system->servers; server++)
            tally_power_up(&system->tally, 0, POWER_STANDBY);
    }
    if (!(system->features & POWERED))
        return;
    bal_law_parse("exp", &net->standby, NULL);
    net->setup = net->standby;
    if (net->model->standby.mean > 0)
        net->standby = net->model->standby;
    else if (system->standby_rate > 0)
        bal_law_scale(&net->standby, 1 / system->standby_rate);
    else
        net->standby.mean = INFINITY;
    if (net->model->setup.mean > 0)
        net->setup = net->model->setup;
    else
        bal_law_scale(&net->setup, 1 / system->setup_rate);
}

static enum bal_code set_up(struct network *net, const struct bal_setting *setting, struct bal_error *err) {
    struct system *system = &net->system;
    const struct bal_model *model = net->model;
    const struct bal_run *run = system->run;
    const struct bal_network *wire = net->wire;
    const double unit = 1 / system->per_unit;
    system->chatty = !bal_network_is_plain(wire);
    net->free_job = net->free_message = net->free_inquiry = NOBODY;
    net->spare_size = NAN;
    net->takes_time = wire->delay.mean > 0 || wire->loss > 0 || wire->churn.up > 0;
    net->timeout = wire->timeout > 0      ? wire->timeout
                   : wire->delay.mean > 0 ? 10 * wire->delay.mean
                                          : unit / 10;
    net->sink_time = wire->sinkhole.time > 0 ? wire->sinkhole.time : unit / 20;
    struct bal_rng arrivals;
    bal_rng_init(&arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_arrival_source_init(&net->arrivals, &model->arrivals,
                            system->per_most / bal_model_arrival_rate(model), &arrivals);
    bal_rng_init(&net->sizes, run->seed, run->replication, BAL_STREAM_SIZES);
    bal_rng_init(&net->stealing, run->seed, run->replication, BAL_STREAM_STEALING);
    bal_rng_init(&net->wires, run->seed, run->replication, BAL_STREAM_NETWORK);
    bal_rng_init(&net->churn, run->seed, run->replication, BAL_STREAM_CHURN);
    net->dispatchers = wire->dispatchers.count ? wire->dispatchers.count : 1;
    net->dispatcher = calloc(net->dispatchers, sizeof *net->dispatcher);
    net->hungry = malloc(bal_set_size(net->dispatchers));
    if (!net->dispatcher || !net->hungry || bal_stations_init(net) || bal_dispatchers_init(net, setting))
        return BAL_E_MEMORY;
    bal_set_init(net->hungry, net->dispatchers);
    set_up_power(net);
    tell_first(net);
    first_timers(net);
    if (!run->trace)
        return BAL_OK;
    net->err = err;
    net->first = bal_trace_info(run->trace)->first;
    net->seconds = 1e-9 / (run->speedup > 0 ? run->speedup : 1);
    const enum bal_code code = bal_trace_cursor_new(run->trace, &net->cursor, err);
    if (!code)
        bal_trace_cursor_redraw(net->cursor, &net->arrivals.rng);
    return code;
}

enum bal_code bal_engine_network(const struct bal_model *model, const struct bal_policy_spec *policy,
                                 const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    struct network *net = calloc(1, sizeof *net);
    if (!net)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    net->model = model;
    net->wire = &model->network;
    net->spec = policy;
    net->flags = bal_policy_flags(policy);
    const struct bal_setting setting = {.servers = bal_servers_count(&model->servers), .load = model->load};
    enum bal_code code = bal_system_init(&net->system, model, policy, run, 1, 0, err);
    if (code)
        goto out;
    code = set_up(net, &setting, err);
    if (!code)
        code = bal_system_begin(&net->system, join_first);
    if (!code)
        code = settle(net);
    if (!code)
        code = loop(net);
    code = bal_system_end(&net->system, code, trial, err);
    bal_dispatchers_fini(net);
    bal_stations_fini(net);
    bal_system_fini(&net->system);
out:
    bal_trace_cursor_free(net->cursor);
    free(net->hungry);
    free(net->job);
    free(net->message);
    bal_agenda_fini(&net->agenda);
    free(net->fifo);
    free(net);
    return code;
}
