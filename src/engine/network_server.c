/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens at the servers of the network engine: jobs that join and leave, reports, power, failures. */
#include "engine/network_engine.h"

#include <stdlib.h>

/* ---- where a server sends its reports ---- */

static bool policy_wants(const struct network *net, enum bal_report what) {
    return net->spec->policy->wants >> what & 1;
}

/* Its load, as it sends it. */
static struct bal_reply load_of(const struct network *net, uint32_t server) {
    const struct system *system = &net->system;
    return (struct bal_reply){
        .length = system->length[server],
        .urgent = system->urgent ? system->urgent[server] : 0,
        .latency = latency_ewma_predict(&net->net_server[server].latency_ewma, system->length[server])};
}

/* Reports that take back go to all that want any. */
void bli_net_server_send_report(struct network *net, uint32_t server, enum bal_report what,
                                uint32_t dispatcher) {
    struct message message = {.type = REPORT,
                              .detail = (uint8_t)what,
                              .server = server,
                              .dispatcher = dispatcher,
                              .number = net_server_next_statement(net, server)};
    if (what == BAL_REPORT_LOAD)
        message.load = load_of(net, server);
    net->system.tally.totals.reports++;
    network_send(net, message);
}

static void send_report_to_others(struct network *net, uint32_t server, enum bal_report what, uint32_t but) {
    for (uint32_t d = 0; d < net->dispatchers; d++)
        if (d != but)
            bli_net_server_send_report(net, server, what, d);
}

static uint32_t pick_report_target(struct network *net, uint32_t server) {
    if (net->dispatchers == 1)
        return 0;
    return net->offers ? bli_network_offers_draw(net, server) : bal_rng_below(&net->wires, net->dispatchers);
}

/* That it is on concerns all dispatchers; that it is idle, one. */
static void report_power_on(struct network *net, uint32_t server) {
    bli_network_offers_fill(net, server, BAL_REPORT_ON);
    for (uint32_t d = 0; d < net->dispatchers; d++)
        if (bli_network_offers_party(net, server, d)->offered == 0)
            bli_net_server_send_report(net, server, BAL_REPORT_BUSY, d);
}

static void report_idle(struct network *net, uint32_t server, enum bal_report what) {
    if (!net->offers)
        bli_net_server_send_report(net, server, what, 0);
    else if (what == BAL_REPORT_ON)
        report_power_on(net, server);
    else
        bli_network_offers_fill(net, server, what);
}

bool bli_net_server_is_idle(const struct network *net, uint32_t server) {
    return net->net_server[server].power == ON &&
           net->system.length[server] <= system_room(&net->system, net->system.features);
}

void bli_net_server_report_still_idle(struct network *net, uint32_t server) {
    report_idle(net, server, BAL_REPORT_STILL_IDLE);
}

/* ---- states without jobs, and what is counted ---- */

/* Where a server is counted that is not busy; POWER_STATES: it is busy, or nothing is counted. Jobs at one
 * that is not on wait, and do not make it busy. */
static unsigned state_of(const struct network *net, uint32_t server) {
    if (!net->system.tally.powered)
        return POWER_STATES;
    switch (net->net_server[server].power) {
    case ON:
        return net->system.length[server] ? POWER_STATES : POWER_STANDBY;
    case SETUP:
        return POWER_SETUP;
    case OFF:
    case DOWN:
        break;
    }
    return POWER_OFF;
}

static void count_state(struct network *net, unsigned before, unsigned after) {
    if (before == after)
        return;
    if (before != POWER_STATES)
        tally_power_down(&net->system.tally, net->now, before);
    if (after != POWER_STATES)
        tally_power_up(&net->system.tally, net->now, after);
}

/* The end of its standby or set-up is void. */
static void set_timer(struct network *net, uint32_t server, const struct bli_dist *dist) {
    struct net_server *s = &net->net_server[server];
    s->timer++;
    if (dist && isfinite(dist->mean))
        network_schedule(net, net->now + bli_dist_sample(dist, &net->system.power_rng),
                         (struct message){.type = POWER_TIMER, .server = server, .version = s->timer});
}

/* Jobs that have waited at a server which was not on are now at one that is, or the other way round. */
static void count_jobs(struct network *net, uint32_t server, bool on) {
    for (uint32_t k = 1; k <= net->system.length[server]; k++) {
        if (on) {
            transit_end(net);
            tally_up(&net->system.tally, net->now, k);
        } else {
            tally_down(&net->system.tally, net->now, k);
            transit_begin(net);
        }
    }
}

static void set_idle(struct network *net, uint32_t server) {
    if (!(net->system.features & POISSON_IDLE_REPORTS))
        return;
    if (bli_net_server_is_idle(net, server))
        bal_set_insert(net->system.idle, server);
    else
        bal_set_remove(net->system.idle, server);
}

static void set_power(struct network *net, uint32_t server, enum power power) {
    struct net_server *s = &net->net_server[server];
    const unsigned before = state_of(net, server);
    if ((s->power == ON) != (power == ON))
        count_jobs(net, server, power == ON);
    s->power = power;
    if (power != ON)
        bli_network_offers_clear(net, server, power == DOWN);
    count_state(net, before, state_of(net, server));
    set_idle(net, server);
}

/* A job has joined the server; until now it was at no server. */
static void count_up(struct network *net, uint32_t server, uint32_t rank) {
    struct system *system = &net->system;
    const unsigned before = state_of(net, server);
    const uint32_t length = ++system->length[server];
    if (system->features & HAS_CLASSES && rank == 0)
        tally_class_up(&system->tally, net->now, 0, ++system->urgent[server]);
    if (system->features & LENGTH_INDEX &&
        !bli_length_index_increment(&system->length_index, server, length - 1))
        net->no_memory = true;
    if (net->net_server[server].power == ON) {
        transit_end(net);
        tally_up(&system->tally, net->now, length);
    }
    set_idle(net, server);
    count_state(net, before, state_of(net, server));
    if (system->features & POWER_SWITCHING && length == 1 && net->net_server[server].power == ON)
        set_timer(net, server, NULL);
}

/* A job has left: slots that are free may be offered. */
static void report_free_slots(struct network *net, uint32_t server) {
    const struct system *system = &net->system;
    if (system->features & IDLE_REPORTS && bli_net_server_is_idle(net, server))
        report_idle(net, server, BAL_REPORT_IDLE);
}

/* A job leaves the server and is at none, for a while or for ever. */
static void count_down(struct network *net, uint32_t server, uint32_t rank) {
    struct system *system = &net->system;
    const unsigned before = state_of(net, server);
    const uint32_t left = --system->length[server];
    if (system->features & HAS_CLASSES && rank == 0)
        tally_class_down(&system->tally, net->now, 0, system->urgent[server]--);
    if (system->features & LENGTH_INDEX)
        bli_length_index_decrement(&system->length_index, server, left + 1);
    if (net->net_server[server].power == ON) {
        tally_down(&system->tally, net->now, left + 1);
        transit_begin(net);
    }
    set_idle(net, server);
    count_state(net, before, state_of(net, server));
    if (net->net_server[server].power == ON && system->features & POWER_SWITCHING && left == 0)
        set_timer(net, server, &net->standby);
}

/* ---- service ---- */

/* How many times as long as at a warm server a job takes that begins there now. */
static double cold_factor(struct network *net, uint32_t server) {
    const struct bli_cold *law = &net->wire->cold;
    struct cold_server *c = &net->cold[server];
    if (isnan(c->since))
        return 1;
    const double part = (law->jobs ? c->begun++ : net->now - c->since) / law->over;
    if (part >= 1) {
        c->since = NAN;
        return 1;
    }
    return law->factor - (law->factor - 1) * part;
}

static void start_service(struct network *net, uint32_t server, uint32_t job) {
    struct system *system = &net->system;
    struct net_server *s = &net->net_server[server];
    struct job *j = &net->job[job];
    if (__builtin_expect(net->sharing != NULL, 0) && !bli_network_sharing_make_room(net, server)) {
        net->no_memory = true;
        return;
    }
    const double slower = net->cold ? cold_factor(net, server) : 1;
    j->since = net->now;
    j->version++;
    if (net_server_shares(net, s)) {
        j->left *= slower;
        bli_network_sharing_join(net, server, job);
    } else {
        s->in_slot[s->running++] = job;
        if (system->features & MULTISERVER)
            tally_work_up(&system->tally, net->now);
        network_schedule(
            net, net->now + (s->fails_fast ? net->sink_time : j->left * s->per_speed * slower),
            (struct message){.type = COMPLETE, .server = server, .job = job, .version = j->version});
    }
    if (j->started)
        return;
    j->started = true;
    tally_first_start(&system->tally, system->features & HAS_CLASSES, j->rank, net->now - j->arrival);
}

static void leave_slot(struct network *net, uint32_t server, uint32_t job) {
    struct net_server *s = &net->net_server[server];
    net->job[job].version++;
    if (net_server_shares(net, s)) {
        bli_network_sharing_leave(net, server, job);
        return;
    }
    uint32_t slot = 0;
    while (s->in_slot[slot] != job)
        slot++;
    s->in_slot[slot] = s->in_slot[--s->running];
    if (net->system.features & MULTISERVER)
        tally_work_down(&net->system.tally, net->now);
}

/* Where a job of a rank waits. */
static struct list *waiting_lane(struct network *net, uint32_t server, uint32_t rank) {
    const unsigned features = net->system.features;
    if (!(features & CLASS_QUEUES))
        rank = 0;
    return features & GRADED ? &net->lane[server * net->system.classes + rank]
                             : &net->net_server[server].waiting[rank];
}

/* The lane of the most urgent jobs that wait; NULL: there are none. */
static struct list *first_lane(struct network *net, uint32_t server) {
    const uint32_t lanes = system_lanes(&net->system, net->system.features);
    struct list *lane = waiting_lane(net, server, 0);
    for (uint32_t rank = 0; rank < lanes; rank++)
        if (lane[rank].count)
            return &lane[rank];
    return NULL;
}

/* A job makes place for a more urgent one and keeps what is left of its work. */
static void preempt(struct network *net, uint32_t server) {
    struct net_server *s = &net->net_server[server];
    const uint32_t job = s->in_slot[0];
    struct job *j = &net->job[job];
    const double done = s->fails_fast ? 0 : (net->now - j->since) / s->per_speed;
    leave_slot(net, server, job);
    j->left = j->left > done ? j->left - done : 0;
    bli_list_push_first(net, waiting_lane(net, server, j->rank), job);
}

/* Begins with as many of those that wait as there are free slots. */
static void start_waiting(struct network *net, uint32_t server) {
    struct net_server *s = &net->net_server[server];
    struct list *lane;
    while (s->power == ON && s->running < net->most_running && (lane = first_lane(net, server))) {
        const uint32_t job = lane->first;
        bli_list_remove(net, lane, job);
        start_service(net, server, job);
    }
}

static void start_setup(struct network *net, uint32_t server, uint32_t but) {
    set_power(net, server, SETUP);
    set_timer(net, server, &net->setup);
    if (net->dispatchers > 1 || net->takes_time)
        send_report_to_others(net, server, BAL_REPORT_SETUP, net->takes_time ? NO_INDEX : but);
}

/* Jobs that wait for the end of a set-up keep it going. */
static void abort_setup(struct network *net, uint32_t server) {
    if (net->net_server[server].power != SETUP || net->system.length[server] > 0)
        return;
    set_power(net, server, OFF);
    set_timer(net, server, NULL);
    send_report_to_others(net, server, BAL_REPORT_OFF, NO_INDEX);
}

static void add_job(struct network *net, uint32_t server, uint32_t job) {
    struct net_server *s = &net->net_server[server];
    struct job *j = &net->job[job];
    const unsigned features = net->system.features;
    if (isnan(j->joined))
        j->joined = net->now;
    if (features & POWER_SWITCHING && s->power == OFF)
        start_setup(net, server, NO_INDEX);
    count_up(net, server, j->rank);
    const bool interrupts = (features & (CLASS_QUEUES | NONPREEMPTIVE)) == CLASS_QUEUES && s->running > 0 &&
                            j->rank < net->job[s->in_slot[0]].rank;
    if (interrupts)
        preempt(net, server);
    if (s->power == ON && s->running < net->most_running)
        start_service(net, server, job);
    else
        bli_list_push(net, waiting_lane(net, server, j->rank), job);
    bli_network_offers_trim(net, server);
    /* Where jobs are held and each free slot is reported, none comes unless one is: so it reports again while
     * there are others. */
    if (!net->offers && features & MULTISERVER && features & IDLE_REPORTS && net->flags & BAL_MAY_HOLD &&
        bli_net_server_is_idle(net, server))
        report_idle(net, server, BAL_REPORT_IDLE);
}

void bli_net_server_add_initial_job(struct network *net, uint32_t server, uint32_t job) {
    add_job(net, server, job);
}

/* ---- stealing ---- */

/* May it be moved, or stolen? Where that takes time, once at most, as live. */
static bool may_be_moved(const struct network *net, uint32_t job) {
    return job != NO_INDEX && !(net->takes_time && net->job[job].moved);
}

/* Takes so many of those that wait from the back, in the order in which they came. */
static uint32_t hand_over_jobs(struct network *net, uint32_t from, uint32_t amount, uint32_t to) {
    struct list *list = &net->net_server[from].waiting[0];
    uint32_t job = NO_INDEX, taken = 0;
    for (uint32_t last = list->last; taken < amount && may_be_moved(net, last); taken++) {
        job = last;
        last = net->job[last].before;
    }
    if (taken == 0)
        return 0;
    for (uint32_t i = 0; i < taken; i++) {
        const uint32_t next = net->job[job].next;
        bli_list_remove(net, list, job);
        net->job[job].moved = true;
        if (net->takes_time)
            network_send_reliable(net, (struct message){.type = JOB, .server = to, .job = job});
        else
            add_job(net, to, job);
        job = next;
    }
    for (uint32_t i = 0; i < taken; i++) {
        count_down(net, from, 0);
        report_free_slots(net, from);
    }
    net->system.tally.totals.steals++;
    net->system.tally.totals.stolen += taken;
    return taken;
}

static uint32_t draw_victim(struct network *net, uint32_t server) {
    const bool others = net->model->others;
    uint32_t from = bal_rng_below(&net->stealing, net->system.servers - others);
    from += others && from >= server;
    net->system.fleet.probes++;
    net->system.tally.totals.requests++;
    return from;
}

/* Where messages take no time, stolen jobs arrive before its last job has left, so that it reports no
 * idleness; otherwise it tries to steal when it is idle. */
static void steal_jobs(struct network *net, uint32_t server) {
    const uint32_t from = draw_victim(net, server);
    if (from == server)
        return;
    if (net->takes_time)
        network_send(net, (struct message){.type = STEAL_REQUEST, .server = from, .other = server});
    else
        hand_over_jobs(net, from, bal_steal_amount(&net->model->steal, net->system.length[from]), server);
}

/* ---- what is received ---- */

static void receive_job(struct network *net, const struct message *message) {
    const struct system *system = &net->system;
    const uint32_t server = message->server;
    const struct net_server *s = &net->net_server[server];
    const bool full = system->features & FINITE_BUFFERS && system->length[server] >= system->buffer;
    const bool discarded = net->discards && s->power == OFF;
    if (s->power == DOWN || full || discarded) {
        network_send_news(net, server,
                          (struct message){.type = full || discarded ? LOST : FAILURE, .job = message->job});
        return;
    }
    if (net->offers && net->job[message->job].server == server) /* it was sent here, not moved or stolen */
        bli_network_offers_use(net, server, net->job[message->job].dispatcher);
    add_job(net, server, message->job);
}

static void move_job(struct network *net, uint32_t from, uint32_t to) {
    struct list *low = &net->net_server[from].waiting[1];
    const uint32_t job = low->last;
    if (low->count == 0 || !may_be_moved(net, job)) /* gone meanwhile, or in service and not interrupted */
        return;
    bli_list_remove(net, low, job);
    net->job[job].moved = true;
    count_down(net, from, 1);
    report_free_slots(net, from);
    net->system.tally.totals.moves++;
    network_send_reliable(net, (struct message){.type = JOB, .server = to, .job = job});
}

void bli_net_server_receive(struct network *net, const struct message *message) {
    const uint32_t server = message->server;
    struct net_server *s = &net->net_server[server];
    switch (message->type) {
    case JOB:
        receive_job(net, message);
        break;
    case PROBE:
        if (s->power != DOWN)
            network_send(net, (struct message){.type = REPLY,
                                               .server = server,
                                               .dispatcher = message->dispatcher,
                                               .other = message->other,
                                               .version = message->version,
                                               .number = net_server_next_statement(net, server),
                                               .load = load_of(net, server)});
        break;
    case WAKE:
        if (s->power == OFF)
            start_setup(net, server, message->dispatcher);
        else if (s->power != DOWN && net->takes_time)
            bli_net_server_send_state(net, server, message->dispatcher);
        break;
    case ABORT:
        abort_setup(net, server);
        break;
    case MOVE:
        move_job(net, server, message->other);
        break;
    case STEAL_REQUEST:
        hand_over_jobs(net, server, bal_steal_amount(&net->model->steal, net->system.length[server]),
                       message->other);
        break;
    default:
        bli_system_internal_error(&net->system, "a server got a message that is not for servers");
    }
}

void bli_net_server_complete(struct network *net, const struct message *message) {
    const uint32_t server = message->server, job = message->job;
    struct net_server *s = &net->net_server[server];
    struct job *j = &net->job[job];
    if (!net_service_ends(net, message))
        return;
    const bool steals = net->system.features & STEALING && net->system.length[server] == 1;
    if (steals && !net->takes_time) {
        if (net_server_shares(net, s))
            j->left = -INFINITY; /* it is the first, however small those are that now join */
        steal_jobs(net, server);
    }
    struct message response = {
        .type = RESPONSE, .dispatcher = j->dispatcher, .server = server, .job = job, .detail = s->fails_fast};
    const uint32_t reserved_for = bli_network_offers_reserve(net, server, job, &response);
    leave_slot(net, server, job);
    count_down(net, server, j->rank);
    if (reserved_for != NO_INDEX)
        bli_network_offers_end_reservation(net, server, reserved_for, response.token != 0);
    report_free_slots(net, server);
    if (net->system.features & ASYNC_PROBES)
        latency_ewma_add(&s->latency_ewma, (net->now - j->joined) * net->system.per_unit,
                         net->system.length[server]);
    network_send_news(net, server, response);
    if (steals && net->takes_time)
        steal_jobs(net, server);
    if (net->system.features & LOAD_REPORTS &&
        system_load_is_due(&net->system, server, bli_net_server_is_idle(net, server)))
        bli_net_server_send_report(net, server, BAL_REPORT_LOAD, pick_report_target(net, server));
    start_waiting(net, server);
}

void bli_net_server_power_timer(struct network *net, const struct message *message) {
    const uint32_t server = message->server;
    struct net_server *s = &net->net_server[server];
    if (s->timer != message->version)
        return;
    if (s->power == ON) {
        set_power(net, server, OFF);
        send_report_to_others(net, server, BAL_REPORT_OFF, NO_INDEX);
        return;
    }
    set_power(net, server, ON);
    if (net->system.length[server] == 0) {
        set_timer(net, server, &net->standby);
        report_idle(net, server, BAL_REPORT_ON);
        return;
    }
    send_report_to_others(net, server, BAL_REPORT_BUSY, NO_INDEX);
    start_waiting(net, server);
}

void bli_net_server_send_state(struct network *net, uint32_t server, uint32_t dispatcher) {
    static const uint8_t standing[] = {
        [ON] = BAL_SERVER_ON, [OFF] = BAL_SERVER_OFF, [SETUP] = BAL_SERVER_SETUP, [DOWN] = BAL_SERVER_GONE};
    struct message message = {.type = HEARTBEAT,
                              .detail = standing[net->net_server[server].power],
                              .server = server,
                              .dispatcher = dispatcher,
                              .number = net_server_next_statement(net, server),
                              .load = load_of(net, server)};
    if (net->offers) {
        const struct bli_offer_party *party = bli_network_offers_party(net, server, dispatcher);
        message.offered = party->offered;
        message.token = party->offers;
    }
    net->system.tally.totals.reports++;
    network_send(net, message);
}

void bli_net_server_send_heartbeat(struct network *net, uint32_t server, uint32_t dispatcher) {
    if (net->offers)
        offer_renew(bli_network_offers_party(net, server, dispatcher));
    bli_net_server_send_state(net, server, dispatcher);
}

void bli_net_server_heartbeat_timer(struct network *net, uint32_t server) {
    network_schedule(net, net->now + net->wire->heartbeat,
                     (struct message){.type = HEARTBEAT_TIMER, .server = server});
    if (net->net_server[server].power == DOWN)
        return;
    for (uint32_t d = 0; d < net->dispatchers; d++)
        bli_net_server_send_heartbeat(net, server, d);
    bli_network_offers_beat(net, server);
    if (net->system.features & STEALING && net->net_server[server].power == ON &&
        net->system.length[server] == 0)
        steal_jobs(net, server);
}

/* ---- failures ---- */

/* The dispatchers of its jobs see the failure on their connections. */
static void drop_jobs(struct network *net, uint32_t server) {
    struct net_server *s = &net->net_server[server];
    while (s->running) {
        const uint32_t job = s->in_slot[0];
        leave_slot(net, server, job);
        bli_list_push_first(net, waiting_lane(net, server, 0), job);
    }
    struct list *lane;
    while ((lane = first_lane(net, server))) {
        const uint32_t job = lane->first;
        struct job *j = &net->job[job];
        bli_list_remove(net, lane, job);
        j->started = false;
        j->left = j->size;
        count_down(net, server, j->rank);
        network_send_news(net, server, (struct message){.type = FAILURE, .job = job});
    }
}

void bli_net_server_fail(struct network *net, uint32_t server) {
    set_timer(net, server, NULL);
    set_power(net, server, DOWN);
    drop_jobs(net, server);
}

void bli_net_server_repair(struct network *net, uint32_t server) {
    set_power(net, server, ON);
    if (net->cold)
        net->cold[server] = (struct cold_server){.since = net->now};
    if (net->system.features & POWER_SWITCHING)
        set_timer(net, server, &net->standby);
    if (policy_wants(net, BAL_REPORT_ON))
        report_idle(net, server, BAL_REPORT_ON);
    else if (policy_wants(net, BAL_REPORT_IDLE))
        report_idle(net, server, BAL_REPORT_IDLE);
}

void bli_net_server_fail_or_repair(struct network *net, uint32_t server) {
    const bool fails = net->net_server[server].power != DOWN;
    const struct bli_churn *churn = &net->wire->churn;
    const double mean = fails ? churn->down : churn->up;
    network_schedule(net, net->now + mean * bal_rng_exp(&net->churn),
                     (struct message){.type = CHURN, .server = server});
    if (fails)
        bli_net_server_fail(net, server);
    else
        bli_net_server_repair(net, server);
}

/* ---- setting up ---- */

enum bal_code bli_net_servers_init(struct network *net) {
    const struct bli_servers *servers = &net->model->servers;
    const struct system *system = &net->system;
    const uint32_t n = system->servers;
    const bool shares = system->features & PROCESSOR_SHARING;
    const bool all = shares && !(system->features & MULTISERVER);
    net->net_server = calloc(n, sizeof *net->net_server);
    net->slots = all ? NULL : malloc((size_t)n * system->slots * sizeof *net->slots);
    const size_t lanes = system->features & GRADED ? (size_t)n * system->classes : 0;
    net->lane = lanes ? malloc(lanes * sizeof *net->lane) : NULL;
    const bool cold = net->wire->cold.factor > 0;
    net->cold = cold ? malloc(n * sizeof *net->cold) : NULL;
    if (!net->net_server || (!all && !net->slots) || (lanes && !net->lane) || (cold && !net->cold) ||
        (shares && bli_network_sharing_init(net)))
        return BAL_E_MEMORY;
    net->most_running = all ? UINT32_MAX : system->slots;
    for (uint32_t i = 0; cold && i < n; i++)
        net->cold[i] = (struct cold_server){.since = NAN};
    for (size_t i = 0; i < lanes; i++)
        net->lane[i] = (struct list){NO_INDEX, NO_INDEX, 0};
    const uint32_t good = n - (uint32_t)lrint(net->wire->fail_fast.share * n);
    uint32_t server = 0;
    for (unsigned g = 0; g < servers->groups; g++)
        for (uint32_t i = 0; i < servers->group[g].count; i++, server++) {
            const bool off = system->features & POWER_SWITCHING && !bal_set_contains(system->standby, server);
            const bool setup = off && bal_set_contains(system->setup, server);
            net->net_server[server] = (struct net_server){
                .waiting = {{NO_INDEX, NO_INDEX, 0}, {NO_INDEX, NO_INDEX, 0}},
                .in_slot = net->slots ? net->slots + (size_t)server * system->slots : NULL,
                .power = setup ? SETUP
                         : off ? OFF
                               : ON,
                .per_speed = 1 / servers->group[g].speed,
                .fails_fast = server >= good};
        }
    return BAL_OK;
}

void bli_net_servers_start_timers(struct network *net) {
    const struct system *system = &net->system;
    for (uint32_t i = 0; i < system->standby->count; i++)
        set_timer(net, system->standby->slot[i], &net->standby);
    for (uint32_t i = 0; i < system->setup->count; i++)
        set_timer(net, system->setup->slot[i], &net->setup);
}

void bli_net_servers_fini(struct network *net) {
    bli_network_sharing_fini(net);
    free(net->net_server);
    free(net->slots);
    free(net->lane);
    free(net->cold);
}
