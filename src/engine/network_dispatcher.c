/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens at the dispatchers of the network engine: jobs that come, replies, reports and responses. */
#include "engine/cacheline_alloc.h"
#include "engine/network_engine.h"

#include <stdlib.h>
#include <string.h>

/* Ejection: after so many failures in a row, for so many mean service times the first time. */
enum { FAILURES = 3, BACK_OFF = 10 };

static uint32_t find_fewest_own(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct dispatcher *d = fleet->host;
    const uint32_t ties = bli_length_index_ties(&d->own_index, d->own[d->own_index.order[0]]);
    return d->own_index.order[ties > 1 ? bal_rng_below(rng, ties) : 0];
}

static uint32_t find_shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct dispatcher *d = fleet->host;
    const struct bli_length_index *index = &d->net->system.length_index;
    const uint32_t ties = bli_length_index_ties(index, fleet->length[index->order[0]]);
    return index->order[ties > 1 ? bal_rng_below(rng, ties) : 0];
}

static uint32_t find_best_own(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng) {
    struct dispatcher *d = fleet->host;
    return bli_ranking_best(&d->ranking, fleet, rule, rng);
}

static uint32_t fewest_by_weight(struct bal_fleet *fleet, struct bal_rng *rng) {
    return find_best_own(fleet, BAL_OWN_FEWEST, rng);
}

static uint32_t draw_by_weight(struct bal_fleet *fleet, struct bal_rng *rng) {
    const struct dispatcher *d = fleet->host;
    return bli_weights_draw(&d->net->system.weights, rng);
}

/* An index that knows nothing of closed servers answers only while all are open. */
static void update_eligible_set(const struct network *net, struct dispatcher *d) {
    const bool all = d->eligible->count == net->system.servers;
    const bool indexed = all && net->system.features & LENGTH_INDEX;
    d->fleet.eligible = all ? NULL : d->eligible;
    const bool ranked = all && net->system.features & WEIGHT_INDEX;
    d->fleet.fewest_own = indexed ? find_fewest_own : ranked ? fewest_by_weight : NULL;
    d->fleet.best_own = ranked ? find_best_own : NULL;
    d->fleet.draw_by_weight = all ? draw_by_weight : NULL;
    d->fleet.shortest = indexed && !net->takes_time ? find_shortest : NULL;
}

/* ---- own counts ---- */

static void increment_own(struct network *net, struct dispatcher *d, uint32_t server) {
    if (net->system.features & LENGTH_INDEX &&
        !bli_length_index_increment(&d->own_index, server, d->own[server]))
        net->no_memory = true;
    d->own[server]++;
    if (net->system.features & WEIGHT_INDEX)
        bli_ranking_change(&d->ranking, &d->fleet, server);
}

/* A job is back. A dispatcher that has restarted since does not know that it had been sent. */
static void decrement_own(struct network *net, struct dispatcher *d, const struct job *j) {
    const uint32_t server = j->server;
    if (j->restarts != d->restarts)
        return;
    if (net->system.features & LENGTH_INDEX)
        bli_length_index_decrement(&d->own_index, server, d->own[server]);
    d->own[server]--;
    if (net->system.features & WEIGHT_INDEX)
        bli_ranking_change(&d->ranking, &d->fleet, server);
}

void bli_net_dispatcher_count_own(struct network *net, uint32_t job) {
    increment_own(net, &net->dispatcher[net->job[job].dispatcher], net->job[job].server);
}

/* ---- which servers are open ---- */

static void dispatch_held(struct network *net, uint32_t dispatcher);

/* Tells the policy what is known of a server, but not its load. */
static void report_state(struct network *net, struct dispatcher *d, uint32_t server, bool open) {
    const struct seen *seen = d->seen ? &d->seen[server] : NULL;
    const enum bal_report state =
        heard_report(net->spec->policy, open, seen ? (enum bal_server_status)seen->status : BAL_SERVER_ON,
                     seen && seen->tokens.count);
    bal_policy_report(net->spec, d->state, &d->fleet, state, server, NULL);
}

static struct bli_closing closing_of(struct network *net, struct dispatcher *d) {
    return (struct bli_closing){.closed = d->closed,
                                .stride = sizeof *d->closed,
                                .servers = net->system.servers,
                                .open = d->eligible,
                                .own = d->own,
                                .weight = d->fleet.weight,
                                .rng = &net->wires};
}

static void mark_warming(void *host, uint32_t server, bool closed);

/* `closing` must outlive it. */
static struct bli_warming warming_of(const struct network *net, struct dispatcher *d,
                                     const struct bli_closing *closing) {
    const struct weights *weights = &net->system.weights;
    return (struct bli_warming){
        .slow = d->slow,
        .closing = closing,
        .now = net->now,
        .per_weight = closing->weight ? net->system.servers / weights->end[weights->groups - 1] : 1,
        .mark = mark_warming,
        .host = d};
}

static bool is_warming(const struct dispatcher *d) {
    return d->slow && bli_slow_start_warming(d->slow)->count;
}

/* Time has passed, or a job has come that has not been anywhere. */
static void warm_up(struct network *net, struct dispatcher *d, bool arrival) {
    const struct bli_closing closing = closing_of(net, d);
    const struct bli_warming warming = warming_of(net, d, &closing);
    bli_slow_start_update(&warming, arrival);
}

static void begin_slow_start(struct network *net, struct dispatcher *d, uint32_t server) {
    if (!d->slow)
        return;
    bli_slow_start_begin(d->slow, server, net->now);
    warm_up(net, d, false);
}

/* None but servers that warm up are open, or could be. */
static bool lift_slow_start(struct network *net, struct dispatcher *d) {
    const struct bli_closing closing = closing_of(net, d);
    const struct bli_warming warming = warming_of(net, d, &closing);
    return bli_slow_start_lift(&warming);
}

/* A reason for not choosing it begins or ceases to hold. Reports of a closed server are not passed on before
 * it is open again. */
static void mark_server(struct network *net, struct dispatcher *d, uint32_t server, enum bli_closed reason,
                        bool closed) {
    const struct bli_closing closing = closing_of(net, d);
    if (!closing_mark(&closing, server, reason, closed))
        return;
    const bool open = !closed;
    update_eligible_set(net, d);
    report_state(net, d, server, open);
    if (open && d->load)
        bal_policy_report(net->spec, d->state, &d->fleet, BAL_REPORT_LOAD, server, &d->load[server]);
    if (open)
        bli_network_backlog_server_eligible(d, server);
    else
        bli_network_backlog_server_ineligible(d, server);
    if (open && reason != BLI_CLOSED_WARMING) /* it has come back */
        begin_slow_start(net, d, server);
    if (!open && d->eligible->count == 0 && is_warming(d))
        lift_slow_start(net, d);
}

static void mark_warming(void *host, uint32_t server, bool closed) {
    struct dispatcher *d = host;
    mark_server(d->net, d, server, BLI_CLOSED_WARMING, closed);
}

/* The last statement of a server has expired; its offers may have come with a later response. */
static void expire_offers(const struct network *net, struct seen *seen) {
    if (heard_offers_expire(&seen->tokens, seen->until, net->now))
        seen->tokens.count = 0;
}

static void update_eligible(struct network *net, struct dispatcher *d, uint32_t server) {
    const bool silent = d->known_until && net->now >= d->known_until[server];
    if (silent && d->seen && !(d->closed[server] & BLI_CLOSED_SILENT))
        expire_offers(net, &d->seen[server]);
    if (d->known_until)
        mark_server(net, d, server, BLI_CLOSED_SILENT, silent);
    if (d->ejection)
        mark_server(net, d, server, BLI_CLOSED_EJECTED, !bli_ejection_allows(d->ejection, server, net->now));
}

/* When the statement that expires first does so. */
static double next_silence(const struct network *net, const struct dispatcher *d) {
    double next = INFINITY;
    for (uint32_t server = 0; d->known_until && server < net->system.servers; server++)
        if (!(d->closed[server] & BLI_CLOSED_SILENT))
            next = fmin(next, d->known_until[server]);
    return next;
}

void bli_net_dispatcher_update_eligible(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    for (uint32_t server = 0; server < net->system.servers; server++)
        update_eligible(net, d, server);
    const double next =
        fmin(next_silence(net, d), d->ejection ? bli_ejection_next(d->ejection, net->now) : INFINITY);
    d->looks_at = next;
    if (next < INFINITY)
        network_schedule(net, next, (struct message){.type = ELIGIBILITY_TIMER, .dispatcher = dispatcher});
    dispatch_held(net, dispatcher);
}

/* It has made a statement: it can be reached. */
static void mark_heard(struct network *net, struct dispatcher *d, uint32_t server) {
    if (!d->known_until)
        return;
    if (d->ejection && closing_is_healthy_again(d->closed[server], false))
        bli_ejection_release(d->ejection, server);
    const double until = net->now + BLI_STATEMENT_BEATS * net->wire->heartbeat;
    d->known_until[server] = until;
    mark_server(net, d, server, BLI_CLOSED_SUSPECT, false);
    update_eligible(net, d, server);
    if (until < d->looks_at) {
        d->looks_at = until;
        network_schedule(
            net, until,
            (struct message){.type = ELIGIBILITY_TIMER, .dispatcher = (uint32_t)(d - net->dispatcher)});
    }
}

/* An answer may have put the server into ejection, or have ended it. */
static void update_ejection(struct network *net, uint32_t dispatcher, uint32_t server, bool failed) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    if (!d->ejection)
        return;
    bli_ejection_answered(d->ejection, server, failed, net->now);
    update_eligible(net, d, server);
    const double until = d->ejection->server[server].until;
    if (until > net->now && until < d->looks_at) {
        d->looks_at = until;
        network_schedule(net, until, (struct message){.type = ELIGIBILITY_TIMER, .dispatcher = dispatcher});
    }
}

/* ---- routing ---- */

static void discard_job(struct network *net, uint32_t job, uint64_t *count) {
    (*count)++;
    transit_end(net);
    bli_network_free_job(net, job);
}

/* A job that was never in service leaves its size to the next one, so that all policies see the same sizes in
 * the same order. */
static void reuse_size(struct network *net, const struct job *j) {
    if (!(net->system.features & TRACE_JOBS))
        net->spare_size = j->size;
}

/* The job goes there: a slot that the server has offered is used. */
static void use_token(struct network *net, struct dispatcher *d, uint32_t server) {
    struct seen *seen = &d->seen[server];
    if (seen->tokens.count == 0)
        return;
    seen->tokens.count--;
    report_state(net, d, server, true);
}

/* On a large fleet a server is not in the cache, and the job comes there soon. */
static void prefetch_server(const struct network *net, const struct dispatcher *d, uint32_t server) {
    __builtin_prefetch(&net->net_server[server]);
    if (!d->seen)
        return;
    __builtin_prefetch(&d->seen[server]);
    bli_network_offers_prefetch(net, server);
}

static void send_job(struct network *net, uint32_t job, uint32_t server) {
    struct job *j = &net->job[job];
    struct dispatcher *d = &net->dispatcher[j->dispatcher];
    j->server = server;
    j->sent = net->now;
    j->joined = NAN;
    j->moved = false;
    j->restarts = d->restarts;
    prefetch_server(net, d, server);
    increment_own(net, d, server);
    if (d->seen)
        use_token(net, d, server);
    if (d->ejection) {
        bli_ejection_sent(d->ejection, server);
        update_eligible(net, d, server);
    }
    if (d->slow && d->slow->server[server].warming) {
        const struct bli_closing closing = closing_of(net, d);
        const struct bli_warming warming = warming_of(net, d, &closing);
        bli_slow_start_chosen(&warming, server);
    }
    if (link_is_cut(&net->links, j->dispatcher, server)) /* no connection comes about */
        network_schedule(net, net->now + net->timeout, (struct message){.type = FAILURE, .job = job});
    else
        network_send_reliable(
            net, (struct message){.type = JOB, .server = server, .dispatcher = j->dispatcher, .job = job});
}

/* ---- servers that are off ---- */

/* Without heartbeats the message is sent whenever the policy requests it, and not repeated. */
static double start_beat(const struct network *net) {
    return net->wire->heartbeat > 0 ? net->wire->heartbeat : 0;
}

static void send_start(struct network *net, struct dispatcher *d, uint32_t server) {
    const uint32_t dispatcher = (uint32_t)(d - net->dispatcher);
    network_send(net, (struct message){.type = WAKE, .server = server, .dispatcher = dispatcher});
    if (start_beat(net) > 0 && d->start[server].left)
        network_schedule(net, d->start[server].again_at,
                         (struct message){.type = START_TIMER, .server = server, .dispatcher = dispatcher});
}

static void request_server_start(struct network *net, struct dispatcher *d, uint32_t server) {
    if (start_requested(&d->start[server], net->now, start_beat(net)))
        send_start(net, d, server);
}

void bli_net_dispatcher_start_timer(struct network *net, const struct message *message) {
    struct dispatcher *d = &net->dispatcher[message->dispatcher];
    struct bli_start_request *start = &d->start[message->server];
    if (start->again_at == net->now && start_repeat(start, net->now, start_beat(net)))
        send_start(net, d, message->server);
}

/* Probes whose replies are not waited for. */
static void send_async_probes(struct network *net, uint32_t dispatcher) {
    struct bal_fleet *fleet = &net->dispatcher[dispatcher].fleet;
    for (uint32_t i = 0; i < fleet->asks; i++)
        network_send(
            net, (struct message){
                     .type = PROBE, .server = fleet->ask[i], .dispatcher = dispatcher, .other = NO_INDEX});
    fleet->asks = 0;
}

/* It gets no answer, or a wrong one where it has been at a server. */
static void refuse_job(struct network *net, uint32_t job) {
    struct tally *tally = &net->system.tally;
    const struct job *j = &net->job[job];
    if (j->tries.count) {
        discard_job(net, job, &tally->totals.failed);
        return;
    }
    reuse_size(net, j);
    if (net->system.features & HAS_CLASSES)
        tally->by_class[j->rank].refused++;
    discard_job(net, job, &tally->totals.refused);
}

static void remove_held(struct network *net, struct dispatcher *d, uint32_t job) {
    bli_list_remove(net, &d->held[net->job[job].rank], job);
    d->held_jobs--;
}

/* May one more of that class wait? A less urgent one may give up its place for it. */
static bool make_hold_place(struct network *net, struct dispatcher *d, uint32_t rank) {
    const struct bli_hold_limit *limit = &net->model->hold_limit;
    const uint32_t classes = net->system.classes;
    uint32_t waiting[BLI_JOB_CLASSES_MAX];
    if (!limit->given)
        return true;
    for (uint32_t class = 0; class < classes; class ++)
        waiting[class] = d->held[class].count;
    const uint32_t own = limit->classes ? limit->of_class[rank] : 0;
    const uint32_t places = d->held_jobs < limit->jobs ? limit->jobs - d->held_jobs : 0;
    const uint32_t place = hold_place(waiting, classes, rank, own, places);
    if (place == BLI_PLACE_NONE || place == BLI_PLACE_FREE)
        return place == BLI_PLACE_FREE;
    const uint32_t job = d->held[place].last;
    remove_held(net, d, job);
    refuse_job(net, job);
    return true;
}

static void hold_job(struct network *net, uint32_t job) {
    struct dispatcher *d = &net->dispatcher[net->job[job].dispatcher];
    const uint32_t rank = net->job[job].rank;
    if (!make_hold_place(net, d, rank)) {
        refuse_job(net, job);
        return;
    }
    bli_list_push(net, &d->held[rank], job);
    d->held_jobs++;
}

static void apply_decision(struct network *net, uint32_t job, const struct bal_decision *decision) {
    struct system *system = &net->system;
    const uint32_t dispatcher = net->job[job].dispatcher;
    if (decision->wake != BAL_NONE)
        request_server_start(net, &net->dispatcher[dispatcher], decision->wake);
    struct bal_fleet *fleet = &net->dispatcher[dispatcher].fleet;
    if (fleet->aborts)
        network_send(net, (struct message){.type = ABORT, .server = fleet->abort, .dispatcher = dispatcher});
    fleet->aborts = false;
    if (decision->server == BAL_HOLD) {
        hold_job(net, job);
    } else if (decision->server == BAL_NONE) {
        refuse_job(net, job);
    } else {
        system_check_server(system, net->now, decision->server);
        send_job(net, job, decision->server);
        if (system->features & CLASS_QUEUES && decision->move_to != BAL_NONE)
            network_send(net, (struct message){.type = MOVE,
                                               .server = decision->server,
                                               .other = decision->move_to,
                                               .dispatcher = dispatcher});
    }
    send_async_probes(net, dispatcher);
}

/* Servers at which a job has failed are closed to it alone. */
static void close_tried(struct network *net, struct dispatcher *d, const struct job *j) {
    if (j->tries.count == 0)
        return;
    const struct bli_closing closing = closing_of(net, d);
    bli_closing_close_tried(&closing, &j->tries);
    if (d->eligible->count == 0 && is_warming(d) && lift_slow_start(net, d))
        bli_closing_close_tried(&closing, &j->tries);
    update_eligible_set(net, d);
}

static void reopen_tried(struct network *net, struct dispatcher *d, const struct job *j) {
    if (j->tries.count == 0)
        return;
    const struct bli_closing closing = closing_of(net, d);
    bli_closing_reopen(&closing);
    update_eligible_set(net, d);
}

/* Has the policy route a job; held: for a job that waits here, how many are held. */
static struct bal_decision call_policy(struct network *net, uint32_t job, uint32_t held, bool sampling,
                                       uint32_t *asked) {
    struct system *system = &net->system;
    struct job *j = &net->job[job];
    struct dispatcher *d = &net->dispatcher[j->dispatcher];
    const uint64_t probes = d->fleet.probes;
    const struct bal_job what = {.count = 1, .rank = j->rank, .held = held};
    struct bal_decision decision = {0};
    d->fleet.now = net->now * system->per_unit;
    close_tried(net, d, j);
    if (sampling)
        *asked = bal_policy_sample(net->spec, d->state, &d->fleet, &what, &d->rng);
    else
        decision = bal_policy_route(net->spec, d->state, &d->fleet, &what, &d->rng);
    reopen_tried(net, d, j);
    if (!sampling && decision.server >= system->servers) {
        const struct bli_closing closing = closing_of(net, d);
        decision.server = bli_closing_fallback(&closing, &j->tries, held ? BAL_HOLD : decision.server);
    }
    system->fleet.probes += d->fleet.probes - probes;
    if (system->features & HAS_CLASSES)
        system->tally.by_class[j->rank].probes += d->fleet.probes - probes;
    return decision;
}

static void route_job(struct network *net, uint32_t job) {
    if (__builtin_expect(net->observer != NULL, 0))
        net->observer->routes(net->observer->context, job);
    const struct bal_decision decision = call_policy(net, job, 0, false, NULL);
    const uint32_t dispatcher = net->job[job].dispatcher;
    apply_decision(net, job, &decision);
    bli_network_backlog_update(net, dispatcher);
}

/* ---- probes that take time ---- */

static struct job_inquiry *new_inquiry(struct network *net, uint32_t *index) {
    if (net->free_inquiry != NO_INDEX) {
        *index = net->free_inquiry;
        net->free_inquiry = net->inquiry[*index].next;
        return &net->inquiry[*index];
    }
    struct job_inquiry *grown = realloc(net->inquiry, (net->inquiries + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    net->inquiry = grown;
    *index = net->inquiries;
    struct job_inquiry *inquiry = &grown[*index];
    *inquiry = (struct job_inquiry){.server = malloc(net->system.servers * sizeof *inquiry->server)};
    net->inquiries++;
    return inquiry->server ? inquiry : NULL;
}

/* All replies are there, or no more are waited for. */
static void finish_inquiry(struct network *net, uint32_t index) {
    struct job_inquiry *inquiry = &net->inquiry[index];
    const uint32_t job = inquiry->job;
    struct dispatcher *d = &net->dispatcher[net->job[job].dispatcher];
    d->fleet.sample = inquiry->server;
    d->fleet.samples = inquiry->replies.answered;
    route_job(net, job);
    d->fleet.sample = NULL;
    inquiry = &net->inquiry[index];
    inquiry->version++;
    inquiry->next = net->free_inquiry;
    net->free_inquiry = index;
}

/* Probes the servers that the policy names, and waits. False: it names none. */
static bool send_probes(struct network *net, uint32_t job) {
    struct dispatcher *d = &net->dispatcher[net->job[job].dispatcher];
    uint32_t asked = 0, index;
    call_policy(net, job, 0, true, &asked);
    d->fleet.asks = 0;
    if (asked == 0)
        return false;
    struct job_inquiry *inquiry = new_inquiry(net, &index);
    if (!inquiry) {
        net->no_memory = true;
        return true;
    }
    inquiry->job = job;
    inquiry_begin(&inquiry->replies, inquiry->server, d->fleet.ask, asked);
    const uint32_t version = inquiry->version;
    for (uint32_t i = 0; i < asked; i++)
        network_send(net, (struct message){.type = PROBE,
                                           .server = d->fleet.ask[i],
                                           .dispatcher = net->job[job].dispatcher,
                                           .other = index,
                                           .version = version});
    network_schedule(net, net->now + net->timeout,
                     (struct message){.type = PROBE_TIMEOUT, .other = index, .version = version});
    return true;
}

void bli_net_dispatcher_probe_timeout(struct network *net, const struct message *message) {
    if (net->inquiry[message->other].version == message->version)
        finish_inquiry(net, message->other);
}

static bool dispatch_first_held(struct network *net, uint32_t dispatcher, uint32_t rank, uint32_t held);

/* Others of its class are held. Like them it may start a server: the policy decides as if the first of them
 * had just come. */
static void wait_behind_held(struct network *net, uint32_t job) {
    const struct job *j = &net->job[job];
    const uint32_t dispatcher = j->dispatcher;
    struct dispatcher *d = &net->dispatcher[dispatcher];
    const struct bli_closing closing = closing_of(net, d);
    const struct bal_decision decision = {
        .server = closing_behind_held(&closing, &j->tries), .wake = BAL_NONE, .move_to = BAL_NONE};
    apply_decision(net, job, &decision);
    uint32_t rank = 0;
    while (net->spec->policy->power && d->held_jobs && d->held[rank].count == 0)
        rank++;
    if (net->spec->policy->power && d->held_jobs)
        dispatch_first_held(net, dispatcher, rank, 0);
    bli_network_backlog_update(net, dispatcher);
}

void bli_net_dispatcher_receive_job(struct network *net, uint32_t job) {
    struct dispatcher *d = &net->dispatcher[net->job[job].dispatcher];
    if (is_warming(d)) {
        d->fleet.now = net->now * net->system.per_unit;
        warm_up(net, d, net->job[job].tries.count == 0);
    }
    if (d->held[net->job[job].rank].count) {
        wait_behind_held(net, job);
        return;
    }
    if (net->takes_time && net->spec->policy->sample && send_probes(net, job))
        return;
    route_job(net, job);
}

/* The first of those of a class that are held is sent, if it can be; held: what the policy is told. One that
 * has failed somewhere and for which there is nothing to wait for has failed for good; a live one may not be
 * held for so long. */
static bool dispatch_first_held(struct network *net, uint32_t dispatcher, uint32_t rank, uint32_t held) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    const uint32_t job = d->held[rank].first;
    const struct bal_decision decision = call_policy(net, job, held, false, NULL);
    const bool failed = decision.server == BAL_NONE && net->job[job].tries.count;
    if (decision.server < net->system.servers || failed) {
        remove_held(net, d, job);
        apply_decision(net, job, &decision);
        return true;
    }
    if (decision.wake != BAL_NONE)
        request_server_start(net, d, decision.wake);
    return false;
}

/* Those that wait may have a place: first come, first served within a class. */
static void dispatch_held(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    for (uint32_t rank = 0; rank < net->system.classes; rank++)
        while (d->held[rank].count && dispatch_first_held(net, dispatcher, rank, d->held_jobs))
            ;
    bli_network_backlog_update(net, dispatcher);
}

/* ---- what is received ---- */

static void receive_reply(struct network *net, const struct message *message) {
    struct job_inquiry *inquiry = &net->inquiry[message->other];
    if (inquiry->version == message->version &&
        inquiry_reply(&inquiry->replies, inquiry->server, message->server))
        finish_inquiry(net, message->other);
}

static bool tells_load(const struct message *message) {
    return message->type == HEARTBEAT || message->type == REPLY ||
           (message->type == REPORT && message->detail == BAL_REPORT_LOAD);
}

/* What a statement tells of offers and of the jobs that are there. */
static void update_heard(struct network *net, struct dispatcher *d, const struct message *message) {
    struct bli_tokens none = {0};
    struct seen *seen = d->seen ? &d->seen[message->server] : NULL;
    struct bli_tokens *tokens = seen ? &seen->tokens : &none;
    uint32_t *length = &d->length[message->server];
    if (message->offered)
        heard_offers(tokens, length, message->token, message->offered, net->system.slots);
    else if (tells_load(message))
        heard_load(tokens, length, message->load.length, message->type == REPLY);
    else /* busy is as good as off: it offers us nothing */
        heard_power(tokens, false);
    if (tells_load(message))
        d->urgent[message->server] = message->load.urgent;
    if (tells_load(message) && d->load)
        d->load[message->server] = message->load;
    if (seen && message->offered && d->known_until)
        seen->until = net->now + BLI_STATEMENT_BEATS * net->wire->heartbeat;
}

/* Whether it is on. A reply or a load tells nothing of this. */
static void update_status(struct seen *seen, const struct message *message) {
    if (message->type == HEARTBEAT)
        seen->status = message->detail;
    else if (!tells_load(message))
        seen->status = message->type == RESPONSE             ? BAL_SERVER_ON
                       : message->detail == BAL_REPORT_OFF   ? BAL_SERVER_OFF
                       : message->detail == BAL_REPORT_SETUP ? BAL_SERVER_SETUP
                                                             : BAL_SERVER_ON;
}

/* Has the server told that it is off? A reply to a probe tells nothing of this. */
static void update_start(struct dispatcher *d, const struct message *message) {
    const bool off = message->type == HEARTBEAT
                         ? message->detail == BAL_SERVER_OFF
                         : message->type == REPORT && message->detail == BAL_REPORT_OFF;
    if (d->start && message->type != REPLY)
        start_answered(&d->start[message->server], off);
}

/* The message is stored before the server may be opened by it: so the policy gets the new state of a server
 * that opens again, not the one from before it was closed. */
static void record_report(struct network *net, struct dispatcher *d, const struct message *message) {
    const uint32_t server = message->server;
    update_heard(net, d, message);
    update_start(d, message);
    if (d->seen) {
        update_status(&d->seen[server], message);
        bli_network_backlog_server_reported(d, server);
    }
    if (message->type != RESPONSE)
        mark_heard(net, d, server);
    if (d->seen && d->seen[server].tokens.count && !bal_is_eligible(&d->fleet, server))
        bli_network_backlog_server_ineligible(d, server);
}

/* Is it the newest statement of its server? */
static bool is_newest(struct dispatcher *d, const struct message *message) {
    if (!d->newest)
        return true;
    if (!statement_is_newest(message->number, d->newest[message->server]))
        return false;
    d->newest[message->server] = message->number;
    return true;
}

/* Tells the policy what was received. A dispatcher without offers is told of each free slot. */
static void report_to_policy(struct network *net, struct dispatcher *d, const struct message *message) {
    if (!d->seen && message->type == REPORT) {
        bal_policy_report(net->spec, d->state, &d->fleet, (enum bal_report)message->detail, message->server,
                          &message->load);
        return;
    }
    if (message->type != REPLY)
        report_state(net, d, message->server, true);
    if (tells_load(message))
        bal_policy_report(net->spec, d->state, &d->fleet, BAL_REPORT_LOAD, message->server, &message->load);
}

/* A statement that comes late is not used; but it answers a question, and a reply is a reply. */
void bli_net_dispatcher_receive_report(struct network *net, const struct message *message) {
    struct dispatcher *d = &net->dispatcher[message->dispatcher];
    const bool was_open = bal_is_eligible(&d->fleet, message->server);
    const bool newest = is_newest(d, message), awaited = message->type == REPLY && message->other != NO_INDEX;
    d->fleet.now = net->now * net->system.per_unit;
    if (newest) {
        record_report(net, d, message);
        if (!awaited && was_open && bal_is_eligible(&d->fleet, message->server))
            report_to_policy(net, d, message); /* else it was told when the server was opened */
    } else if (d->seen) {
        bli_network_backlog_server_reported(d, message->server);
    }
    if (awaited)
        receive_reply(net, message);
    if (net_dispatcher_held(d))
        dispatch_held(net, message->dispatcher);
    else
        bli_network_backlog_update(net, message->dispatcher);
}

static void complete_job(struct network *net, uint32_t job, bool failed) {
    struct system *system = &net->system;
    const struct job *j = &net->job[job];
    const double response = net->now - j->arrival;
    transit_end(net);
    if (failed) {
        system->tally.totals.failed++;
    } else {
        tally_complete(&system->tally, &system->tally.all, response);
        if (system->features & HAS_CLASSES)
            tally_complete(&system->tally, &system->tally.by_class[j->rank], response);
        if (system->features & TIME_SERIES)
            history_complete(&system->history, &system->tally, j->arrival, response);
        if (system->features & JOB_GROUPS)
            history_complete_kind(&system->history, &system->tally, j->kind, response);
    }
    bli_network_free_job(net, job);
}

/* It did not fit into the buffer of the server. */
static void drop_lost_job(struct network *net, uint32_t job) {
    const struct job *j = &net->job[job];
    decrement_own(net, &net->dispatcher[j->dispatcher], j);
    reuse_size(net, j);
    discard_job(net, job, &net->system.tally.totals.lost);
}

/* Where servers send heartbeats, one that could not be reached is closed until its next statement. */
static void mark_unreachable(struct network *net, struct dispatcher *d, uint32_t server) {
    if (d->known_until)
        mark_server(net, d, server, BLI_CLOSED_SUSPECT, true);
}

static void receive_response(struct network *net, const struct message *message) {
    struct job *j = &net->job[message->job];
    struct dispatcher *d = &net->dispatcher[j->dispatcher];
    const bool gone = message->type == FAILURE, failed = gone || message->detail;
    const uint32_t server = j->server, dispatcher = j->dispatcher;
    decrement_own(net, d, j);
    d->fleet.now = net->now * net->system.per_unit;
    if (net->system.features & RESPONSES_SEEN && j->restarts == d->restarts)
        bal_policy_response(net->spec, d->state, &d->fleet, server,
                            (net->now - j->sent) * net->system.per_unit, failed);
    if (gone)
        mark_unreachable(net, d, server);
    update_ejection(net, dispatcher, server, failed);
    if (!gone || net->wire->churn.lose || j->tries.count + 1 >= TRIES) {
        complete_job(net, message->job, failed);
    } else {
        tries_add(&j->tries, server);
        bli_net_dispatcher_receive_job(net, message->job);
    }
}

/* A server from which one of its own jobs has come back may look idle now. */
void bli_net_dispatcher_receive_response(struct network *net, const struct message *message) {
    const uint32_t dispatcher = net->job[message->job].dispatcher;
    const struct dispatcher *d = &net->dispatcher[dispatcher];
    if (message->type == LOST)
        drop_lost_job(net, message->job);
    else
        receive_response(net, message);
    if (message->token)
        bli_net_dispatcher_receive_report(net, message);
    else if (d->ejection && net_dispatcher_held(d)) /* it may have opened the server */
        dispatch_held(net, dispatcher);
    else
        bli_network_backlog_update(net, dispatcher);
}

/* ---- setting up ---- */

/* Of one that is all zeros: what it knows of servers that were heard of just now. */
static enum bal_code init_knowledge(struct network *net, struct dispatcher *d,
                                    const struct bal_policy_context *context) {
    const struct system *system = &net->system;
    const uint32_t n = system->servers;
    const struct bli_network *wire = net->wire;
    bal_policy_init(net->spec, context, d->state);
    d->own = calloc(n, sizeof *d->own);
    d->length = calloc(n, sizeof *d->length);
    d->urgent = calloc(n, sizeof *d->urgent);
    d->eligible = malloc(bal_set_size(n));
    d->fleet = (struct bal_fleet){.servers = n, .own = d->own, .weight = system->weights.of, .host = d};
    d->fleet.length = net->takes_time ? d->length : system->length;
    d->fleet.urgent = !(system->features & HAS_CLASSES) ? NULL : net->takes_time ? d->urgent : system->urgent;
    d->fleet.ask = malloc(n * sizeof *d->fleet.ask);
    d->fleet.ask_room = n;
    bli_backlog_init(&d->backlog);
    if (net->offers) {
        d->seen = bli_cacheline_alloc(n, sizeof *d->seen);
        d->request = calloc(n, sizeof *d->request);
    }
    d->closed = calloc(n, sizeof *d->closed);
    if (system->features & POWER_SWITCHING)
        d->start = calloc(n, sizeof *d->start);
    if (wire->delay.mean > 0)
        d->newest = calloc(n, sizeof *d->newest);
    if (wire->heartbeat > 0)
        d->known_until = calloc(n, sizeof *d->known_until);
    if (net->spec->policy->wants & BAL_WANTS_LOAD)
        d->load = calloc(n, sizeof *d->load);
    if (wire->ejection && (d->ejection = malloc(bli_ejection_size(n))))
        bli_ejection_init(d->ejection, n, FAILURES, BACK_OFF / system->per_unit);
    if (wire->slow_start > 0 && (d->slow = malloc(bli_slow_start_size(n))))
        bli_slow_start_init(d->slow, n, wire->slow_start);
    if ((wire->slow_start > 0 && !d->slow) || !d->own || !d->length || !d->urgent || !d->eligible ||
        !d->fleet.ask || (net->offers && (!d->seen || !d->request)) ||
        (wire->heartbeat > 0 && !d->known_until) || !d->closed ||
        (system->features & POWER_SWITCHING && !d->start) || (wire->delay.mean > 0 && !d->newest) ||
        (net->spec->policy->wants & BAL_WANTS_LOAD && !d->load) || (wire->ejection && !d->ejection) ||
        (system->features & LENGTH_INDEX && bli_length_index_init(&d->own_index, n)) ||
        (system->features & WEIGHT_INDEX && bli_ranking_init(&d->ranking, &d->fleet)))
        return BAL_E_MEMORY;
    bal_set_init(d->eligible, n);
    for (uint32_t server = 0; server < n; server++) {
        bal_set_insert(d->eligible, server);
        if (d->known_until) /* as if it had just been heard of */
            d->known_until[server] = net->now + BLI_STATEMENT_BEATS * wire->heartbeat;
    }
    update_eligible_set(net, d);
    d->looks_at = INFINITY;
    return BAL_OK;
}

static void fini_knowledge(struct dispatcher *d) {
    bli_length_index_fini(&d->own_index);
    bli_ranking_fini(&d->ranking);
    free(d->own);
    free(d->length);
    free(d->urgent);
    free(d->eligible);
    free(d->closed);
    free(d->start);
    free(d->newest);
    free(d->known_until);
    free(d->load);
    free(d->seen);
    free(d->request);
    free(d->ejection);
    free(d->slow);
    free(d->fleet.ask);
}

static enum bal_code init_dispatcher(struct network *net, uint32_t index,
                                     const struct bal_policy_context *context) {
    struct dispatcher *d = &net->dispatcher[index];
    const struct bli_run *run = net->system.run;
    d->net = net;
    if (index > 0 && !(d->state = malloc(bal_policy_size(net->spec, context) + 1)))
        return BAL_E_MEMORY;
    if (index == 0)
        d->state = net->system.state;
    bal_rng_init(&d->rng, run->seed, run->replication,
                 BAL_STREAM_POLICY + ((uint64_t)index << 32) + ((uint64_t)run->draw << 48));
    for (uint32_t rank = 0; rank < BLI_JOB_CLASSES_MAX; rank++)
        d->held[rank] = (struct list){NO_INDEX, NO_INDEX, 0};
    return init_knowledge(net, d, context);
}

/* What it asks all servers for, and where there is nothing to ask for, nothing. */
static void request_states(struct network *net, uint32_t dispatcher) {
    for (uint32_t server = 0; (net->offers || net->wire->heartbeat > 0) && server < net->system.servers;
         server++) {
        net->system.tally.totals.reports++;
        network_send(net, (struct message){.type = RESUME, .server = server, .dispatcher = dispatcher});
    }
}

void bli_net_dispatcher_restart(struct network *net, uint32_t dispatcher) {
    struct dispatcher *d = &net->dispatcher[dispatcher];
    const struct bal_policy_context context = {.servers = net->system.servers, .load = net->model->load};
    fini_knowledge(d);
    struct dispatcher fresh = {.net = net,
                               .state = d->state,
                               .rng = d->rng,
                               .held_jobs = d->held_jobs,
                               .statements = d->statements,
                               .restarts = (uint8_t)(d->restarts + 1)};
    memcpy(fresh.held, d->held, sizeof fresh.held);
    *d = fresh;
    if (init_knowledge(net, d, &context)) {
        net->no_memory = true;
        return;
    }
    d->fleet.now = net->now * net->system.per_unit;
    request_states(net, dispatcher);
    if (net->wire->heartbeat > 0)
        bli_net_dispatcher_update_eligible(net, dispatcher);
    else
        dispatch_held(net, dispatcher);
}

enum bal_code bli_net_dispatchers_init(struct network *net, const struct bal_policy_context *context) {
    for (uint32_t i = 0; i < net->dispatchers; i++)
        if (init_dispatcher(net, i, context))
            return BAL_E_MEMORY;
    return BAL_OK;
}

void bli_net_dispatchers_fini(struct network *net) {
    for (uint32_t i = 0; net->dispatcher && i < net->dispatchers; i++) {
        struct dispatcher *d = &net->dispatcher[i];
        if (i > 0)
            free(d->state);
        fini_knowledge(d);
    }
    for (uint32_t i = 0; i < net->inquiries; i++)
        free(net->inquiry[i].server);
    free(net->inquiry);
    free(net->dispatcher);
}
