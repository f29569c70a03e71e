/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations of a dispatcher: requests, decisions, received messages, timers. */
#include "live/directory.h"
#include "live/dispatcher_private.h"
#include "policy/hold_place.h"

#include <math.h>
#include <string.h>

static void dispatch_held(struct bal_dispatcher *d);

/* ---- what every operation does ---- */

void bli_dispatcher_recover(struct bal_dispatcher *d) {
    d->block->counts.rebuilds++;
    bli_dispatcher_rebuild(d);
    dispatch_held(d);
}

void bli_dispatcher_make_due_reports(struct bal_dispatcher *d) {
    if (bli_timed_report(d) && d->block->held_count)
        dispatch_held(d);
}

void bli_dispatcher_enqueue_message(struct bal_dispatcher *d, struct bal_message message) {
    struct block *block = d->block;
    if (bli_outbox_add(&d->box, &block->sender, &message))
        block->counts.messages_sent[message.type] += message.receiver == BAL_EVERYONE ? block->present : 1;
    else
        block->counts.unsent++;
}

const struct bal_message *bal_dispatcher_outgoing(struct bal_dispatcher *d, uint32_t *count) {
    return bli_outbox_drain(&d->box, count);
}

uint32_t bal_dispatcher_next_to_wake(struct bal_dispatcher *d) {
    return bli_outbox_next_to_wake(&d->box);
}

const bool *bal_dispatcher_wake_pending(const struct bal_dispatcher *d) {
    return &d->box.wakes;
}

uint32_t bal_dispatcher_worker_number(const struct bal_dispatcher *d) {
    return d->self;
}

/* ---- servers, as requests come and go ---- */

/* The request goes there: a slot that its station has offered is used. */
static void use_token(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    if (s->tokens.count == 0)
        return;
    s->tokens.count--;
    d->block->counts.used++;
    bli_dispatcher_report_idle(d, server);
    bli_dispatcher_server_refresh(d, server);
}

/* Where servers have no stations, one that works on fewer requests than it could has a free slot. */
static bool has_free_slot(const struct bal_dispatcher *d, uint32_t server) {
    return d->block->config.stations ? d->server[server].tokens.count > 0 : is_below_slots(d, server);
}

/* Without stations the report of a server that has a free slot, by the rule of ballast/policy.h: after a
 * response and, where requests are held, when one has come and left a slot free. */
static void report_idle(struct bal_dispatcher *d, uint32_t server) {
    if (d->reports_idle && d->server[server].closed == 0 && has_free_slot(d, server))
        bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_IDLE, server, NULL);
}

static void assign_server(struct bal_dispatcher *d, struct request *r, uint32_t server,
                          enum request_state state) {
    r->reason = r->tries.count             ? BAL_REASON_RETRY
                : r->entry.state == HELD   ? BAL_REASON_HELD
                : has_free_slot(d, server) ? BAL_REASON_TOKEN
                                           : BAL_REASON_ELSE;
    r->server = server;
    r->length = d->fleet.length[server];
    r->waited = d->block->now - r->since;
    r->since = d->block->now;
    r->trial = 0;
    d->block->counts.reasons[r->reason]++;
    d->block->counts.unheard += (d->server[server].closed & (SILENT | SUSPECT)) != 0;
    bli_dispatcher_server_add_request(d, server, r->entry.rank);
    if (d->block->config.stations)
        use_token(d, server); /* the policy, which gets this report, uses own counts */
    if (bli_ejection_suspects(d->ejection, server)) {
        bli_ejection_sent(d->ejection, server);
        r->trial = 1;
        bli_dispatcher_server_refresh(d, server);
    }
    if (__builtin_expect(d->slow->server[server].warming, 0))
        bli_dispatcher_warming_chosen(d, server);
    if (d->flags & BAL_MAY_HOLD && d->server[server].slots > 1)
        report_idle(d, server);
    bli_ledger_entry_set(&r->entry, state);
}

static void update_ejection(struct bal_dispatcher *d, uint32_t server, enum bal_outcome outcome) {
    const struct bli_ejection_server *q = &d->ejection->server[server];
    if (outcome == BAL_OUTCOME_GOOD && (q->failures | q->losses) == 0 &&
        !bli_ejection_suspects(d->ejection, server))
        return;
    if (d->server[server].closed & FAILING) /* its checks alone open it again */
        return;
    const bool suspect = bli_ejection_suspects(d->ejection, server);
    const double now = (double)d->block->now;
    /* Where a server has a station, its station decides whether it is up, not max_fails. */
    if (d->block->config.stations && !d->block->detached && outcome == BAL_OUTCOME_FAILED)
        bli_dispatcher_server_mark(d, server, SUSPECT, true);
    bli_ejection_answered(d->ejection, server, outcome != BAL_OUTCOME_GOOD, now);
    bli_ejection_reached(d->ejection, server, outcome != BAL_OUTCOME_FAILED, now);
    bli_dispatcher_server_refresh(d, server);
    if (suspect && !bli_ejection_suspects(d->ejection, server))
        bli_dispatcher_begin_slow_start(d, server);
}

static void report_load(struct bal_dispatcher *d, uint32_t server, double latency) {
    const struct bal_reply load = {d->fleet.length[server], d->urgent[server], latency};
    bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_LOAD, server, &load);
}

/* After every so many completions, those of requests that were given up too, or when a slot is free and else
 * with the probability that the policy sets. */
static bool is_load_due(struct bal_dispatcher *d, uint32_t server) {
    const double share = bal_policy_load_share(&d->policy);
    if (!(share > 1))
        return is_below_slots(d, server) || bal_rng_uniform(&d->chance) < share;
    if (++d->server[server].unreported < share)
        return false;
    d->server[server].unreported = 0;
    return true;
}

/* Reports the remaining load, where no station does, to policies that need it after responses. */
static void report_remaining_load(struct bal_dispatcher *d, uint32_t server) {
    if (d->reports_load && !d->server[server].closed && is_load_due(d, server))
        report_load(d, server, NAN);
}

/* The request is no longer under way: updates own counts and what depends on them, but not the outcome.
 * Without stations this is the server's report when it has a free slot. False: the server has been
 * removed. */
static bool release_from_server(struct bal_dispatcher *d, const struct request *r) {
    const uint32_t server = r->server;
    bli_dispatcher_server_remove_request(d, server, r->entry.rank);
    if (d->server[server].presence == NOT_THERE)
        return false;
    if (d->concurrency)
        bli_dispatcher_slots_update(d, server);
    report_idle(d, server);
    return true;
}

/* A trial that ends without an answer decides nothing: another request may try the server. */
static void end_trial(struct bal_dispatcher *d, const struct request *r) {
    if (!r->trial)
        return;
    d->ejection->server[r->server].trying = false;
    bli_dispatcher_server_refresh(d, r->server);
}

static void record_response(struct bal_dispatcher *d, const struct request *r, enum bal_outcome outcome) {
    const uint32_t server = r->server;
    const bool failed = outcome != BAL_OUTCOME_GOOD;
    const double took = seconds(d->block->now - r->since);
    if (d->timed && !failed)
        bli_timed_response(d, took);
    d->block->counts.answered++;
    d->block->counts.failed += failed;
    d->server[server].answered++;
    d->server[server].failed += failed;
    d->server[server].took_ns += d->block->now - r->since;
    if (d->concurrency && !failed)
        bli_dispatcher_slots_end(d, server);
    if (!release_from_server(d, r))
        return;
    if (d->flags & BAL_ASKS && !failed)
        latency_ewma_add(&d->server[server].latency_ewma, took, d->fleet.length[server]);
    bal_policy_response(&d->policy, d->state, &d->fleet, server, took, failed);
    report_remaining_load(d, server);
    update_ejection(d, server, outcome);
    end_trial(d, r);
}

/* ---- probes ---- */

static void send_probe(struct bal_dispatcher *d, uint32_t server, uint64_t id) {
    d->block->counts.probes++;
    bli_dispatcher_enqueue_message(
        d,
        (struct bal_message){.type = BAL_MSG_PROBE, .receiver = d->station[server], .probe = {.probe = id}});
}

/* Probes for which no request waits. Without stations the answer is known at once. */
static void send_policy_probes(struct bal_dispatcher *d) {
    struct bal_fleet *fleet = &d->fleet;
    for (uint32_t i = 0; i < fleet->asks; i++) {
        const uint32_t server = fleet->ask[i];
        if (d->block->config.stations)
            send_probe(d, server, bal_rng_next(&d->chance) | UINT64_C(1) << 63);
        else
            report_load(d, server,
                        latency_ewma_predict(&d->server[server].latency_ewma, d->fleet.length[server]));
    }
    fleet->asks = 0;
}

static void free_inquiry(struct bal_dispatcher *d, uint32_t i) {
    if (i == BLI_NOBODY)
        return;
    inquiry_at(d, i)->probe = 0;
    inquiry_at(d, i)->next = d->block->free_inquiry;
    d->block->free_inquiry = i;
}

/* ---- routing ---- */

/* Has the request failed at the same address, and has this station sent nothing since? When a host dies its
 * stations die together, and are silent together only some beats later. */
static bool is_doubtful(const struct bal_dispatcher *d, const struct request *r, uint32_t server) {
    const struct server *s = &d->server[server];
    for (uint32_t i = 0; s->heard_at <= r->since && i < tries_kept(&r->tries); i++)
        if (d->server[r->tries.server[i]].host == s->host)
            return true;
    return false;
}

/* Where a request has failed at a station, others of that address are closed to it until they send something,
 * if there are servers elsewhere. */
static void close_doubtful(struct bal_dispatcher *d, const struct request *r) {
    uint32_t others = 0;
    for (uint32_t i = 0; i < d->open->count; i++)
        others += !is_doubtful(d, r, d->open->slot[i]);
    for (uint32_t i = d->open->count; others && i-- > 0;)
        if (is_doubtful(d, r, d->open->slot[i]))
            bal_set_remove(d->open, d->open->slot[i]);
}

/* Servers at which a request has failed are closed to it alone. */
static void close_tried(struct bal_dispatcher *d, const struct request *r) {
    if (r->tries.count == 0)
        return;
    const struct bli_closing closing = closing_of(d);
    bli_closing_close_tried(&closing, &r->tries);
    if (d->open->count == 0 && bli_dispatcher_lift_slow_start(d))
        bli_closing_close_tried(&closing, &r->tries);
    if (d->block->config.stations && !d->block->detached)
        close_doubtful(d, r);
    refresh_fleet_view(d);
}

static void reopen_tried(struct bal_dispatcher *d, const struct request *r) {
    if (r->tries.count == 0)
        return;
    const struct bli_closing closing = closing_of(d);
    bli_closing_reopen(&closing);
    refresh_fleet_view(d);
}

/* held: for a request that waits, how many do. */
static struct bal_decision route_by_policy(struct bal_dispatcher *d, const struct request *r, bool at_once,
                                           uint32_t held) {
    const struct bal_job job = {.count = 1, .rank = r->entry.rank, .at_once = at_once, .held = held};
    close_tried(d, r);
    struct bal_decision decision = bal_policy_route(&d->policy, d->state, &d->fleet, &job, &d->rng);
    if (decision.server < d->servers && !bal_is_eligible(&d->fleet, decision.server))
        decision.server = BAL_NONE;
    reopen_tried(d, r);
    return decision;
}

/* Sends the probes that the policy needs; false: there are none, or no more requests can wait for replies
 * now. */
static bool start_probing(struct bal_dispatcher *d, uint32_t i) {
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    const struct bal_job job = {.count = 1, .rank = r->entry.rank};
    if (block->free_inquiry == BLI_NOBODY)
        return false;
    close_tried(d, r);
    const uint32_t asked = bal_policy_sample(&d->policy, d->state, &d->fleet, &job, &d->rng);
    reopen_tried(d, r);
    d->fleet.asks = 0;
    if (asked == 0)
        return false;
    const uint32_t index = block->free_inquiry;
    struct inquiry *inquiry = inquiry_at(d, index);
    block->free_inquiry = inquiry->next;
    inquiry->probe = (bal_rng_next(&d->chance) << 16 | index) & ~(UINT64_C(1) << 63);
    inquiry->probe |= UINT64_C(1) << 62; /* never 0 */
    inquiry->request = i;
    inquiry_begin(&inquiry->replies, inquiry->server, d->fleet.ask, asked);
    for (uint32_t k = 0; k < asked; k++)
        send_probe(d, inquiry->server[k], inquiry->probe);
    r->inquiry = index;
    r->deadline = block->now + block->config.probe_ns;
    bli_ledger_push(&d->ledger, &block->asking, i);
    bli_ledger_entry_set(&r->entry, ASKING);
    return true;
}

static void send_start(struct bal_dispatcher *d, uint32_t server) {
    bli_dispatcher_enqueue_message(
        d, (struct bal_message){.type = BAL_MSG_START, .receiver = d->station[server]});
}

static void request_server_start(struct bal_dispatcher *d, uint32_t server) {
    const struct block *block = d->block;
    if (server >= d->servers || !block->config.stations ||
        !start_requested(&d->server[server].start, (double)block->now, (double)block->config.beat_ns))
        return;
    send_start(d, server);
    bli_dispatcher_server_refresh(d, server);
}

static void hold_request(struct bal_dispatcher *d, uint32_t i) {
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    const uint64_t own_ns =
        block->config.refuse_beyond ? block->config.class_limit[r->entry.rank].wait_ns : 0;
    r->deadline = block->now + (own_ns ? own_ns : block->config.hold_ns);
    block->counts.held++;
    block->held_count++;
    bli_ledger_push(&d->ledger, &block->held[r->entry.rank], i);
    bli_ledger_entry_set(&r->entry, HELD);
}

static void send_move(struct bal_dispatcher *d, uint32_t server, uint32_t target) {
    if (d->block->config.stations)
        bli_dispatcher_enqueue_message(d, (struct bal_message){.type = BAL_MSG_MOVE,
                                                               .receiver = d->station[server],
                                                               .move = {.target = d->station[target]}});
}

/* What else the policy's decision requests. */
static void apply_decision_extras(struct bal_dispatcher *d, const struct bal_decision *decision) {
    if (decision->wake != BAL_NONE)
        request_server_start(d, decision->wake);
    if (decision->move_to < d->servers && decision->server < d->servers)
        send_move(d, decision->server, decision->move_to);
    if (d->fleet.asks)
        send_policy_probes(d);
}

static uint32_t choose_fallback(struct bal_dispatcher *d, const struct request *r, uint32_t decided) {
    const struct bli_closing closing = closing_of(d);
    return bli_closing_fallback(&closing, &r->tries, decided);
}

static bool refuse_request(struct bal_dispatcher *d, struct request *r, enum bal_reason reason) {
    d->block->counts.refused++;
    d->block->counts.reasons[reason]++;
    r->reason = reason;
    r->waited = d->block->now - r->since;
    return false;
}

static void notify_owner(struct bal_dispatcher *d, uint32_t i) {
    struct request *r = request_at(d, i);
    bli_ledger_push(&d->ledger, &d->worker[r->entry.owner].news, i);
    bli_outbox_wake(&d->box, r->entry.owner);
}

static void remove_from_hold_queue(struct bal_dispatcher *d, uint32_t i) {
    bli_ledger_remove(&d->ledger, &d->block->held[request_at(d, i)->entry.rank], i);
    if (--d->block->held_count == 0)
        drain_rate_end(&d->block->drain_rate);
}

static void refuse_waiting(struct bal_dispatcher *d, uint32_t i, enum bal_reason reason) {
    struct request *r = request_at(d, i);
    refuse_request(d, r, reason);
    notify_owner(d, i);
    bli_ledger_entry_set(&r->entry, REFUSED);
}

/* Is there a place in the hold queue for one more of that class? Where requests beyond it are refused, one
 * that is less urgent may give up its own. */
static bool make_hold_place(struct bal_dispatcher *d, uint32_t rank) {
    struct block *block = d->block;
    const struct bal_dispatcher_config *config = &block->config;
    const uint32_t places = block->held_count < config->held ? config->held - block->held_count : 0;
    if (!config->refuse_beyond)
        return places > 0;
    uint32_t waiting[BAL_CLASSES_MAX];
    for (uint32_t class = 0; class < config->classes; class ++)
        waiting[class] = block->held[class].count;
    const uint32_t place =
        hold_place(waiting, config->classes, rank, config->class_limit[rank].waiting, places);
    if (place == BLI_PLACE_NONE || place == BLI_PLACE_FREE)
        return place == BLI_PLACE_FREE;
    const uint32_t i = block->held[place].last;
    block->counts.overflow++;
    block->counts.replaced++;
    remove_from_hold_queue(d, i);
    refuse_waiting(d, i, BAL_REASON_NO_ROOM);
    return true;
}

/* The policy has no server for it now. */
static bool dispatch_by_fallback(struct bal_dispatcher *d, uint32_t i, struct bal_decision decision,
                                 enum request_state sent) {
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    decision.server = choose_fallback(d, r, decision.server);
    const bool crowded = d->crowded && sent == SENT; /* one that has waited for replies waits already */
    if (decision.server == BAL_HOLD && (crowded || !make_hold_place(d, r->entry.rank))) {
        block->counts.crowded += crowded;
        apply_decision_extras(d, &decision);
        block->counts.overflow++;
        if (block->config.refuse_beyond)
            return refuse_request(d, r, BAL_REASON_NO_ROOM);
        decision = route_by_policy(d, r, true, 0);
        if (decision.server == BAL_NONE)
            decision.server = choose_fallback(d, r, BAL_NONE);
    }
    if (decision.server == BAL_HOLD)
        hold_request(d, i);
    else if (decision.server < d->servers)
        assign_server(d, r, decision.server, sent);
    apply_decision_extras(d, &decision);
    return decision.server < d->servers || decision.server == BAL_HOLD ||
           refuse_request(d, r, BAL_REASON_NONE_OPEN);
}

/* Dispatches a request that is in no list. `sent` is its state then: SENT where its process is the caller,
 * else DECIDED. Returns false when no server can take it: its reason tells why. */
static bool dispatch_request(struct bal_dispatcher *d, uint32_t i, bool at_once, enum request_state sent) {
    struct request *r = request_at(d, i);
    const struct bal_decision decision = route_by_policy(d, r, at_once, 0);
    if (decision.server >= d->servers)
        return dispatch_by_fallback(d, i, decision, sent);
    assign_server(d, r, decision.server, sent);
    apply_decision_extras(d, &decision);
    return true;
}

/* The same for one that waits: its process gets the decision later. */
static void dispatch_waiting(struct bal_dispatcher *d, uint32_t i, bool at_once) {
    struct request *r = request_at(d, i);
    if (!dispatch_request(d, i, at_once, DECIDED))
        bli_ledger_entry_set(&r->entry, REFUSED);
    if (r->entry.state != HELD)
        notify_owner(d, i);
}

/* After a report, requests that wait may be sent: first come, first served within a class. When all stations
 * are silent they are sent by own counts. One for which there is no server keeps its place, unless there are
 * servers elsewhere and waiting here cannot help. */
static bool dispatch_first_held(struct bal_dispatcher *d, uint32_t rank, uint32_t held) {
    const uint32_t i = d->block->held[rank].first;
    struct request *r = request_at(d, i);
    struct bal_decision decision = route_by_policy(d, r, false, held);
    if (decision.server >= d->servers)
        decision.server = choose_fallback(d, r, BAL_HOLD);
    if (decision.server < d->servers) {
        remove_from_hold_queue(d, i);
        assign_server(d, r, decision.server, DECIDED);
        notify_owner(d, i);
    }
    apply_decision_extras(d, &decision);
    const bool moves_on = decision.server == BAL_NONE && d->block->config.backed;
    if (moves_on) {
        remove_from_hold_queue(d, i);
        refuse_waiting(d, i, BAL_REASON_NONE_OPEN);
    }
    return moves_on || decision.server < d->servers;
}

static void dispatch_held_classes(struct bal_dispatcher *d, uint32_t classes) {
    struct block *block = d->block;
    for (uint32_t rank = 0; block->held_count && rank < classes; rank++)
        while (block->held[rank].count && dispatch_first_held(d, rank, block->held_count))
            ;
}

static void dispatch_held(struct bal_dispatcher *d) {
    dispatch_held_classes(d, d->block->config.classes);
    bli_dispatcher_backlog_update(d);
}

void bli_dispatcher_dispatch_held(struct bal_dispatcher *d) {
    dispatch_held(d);
}

/* Replies are complete, or the wait for them is over. */
static void finish_probing(struct bal_dispatcher *d, uint32_t i) {
    struct request *r = request_at(d, i);
    const uint32_t index = r->inquiry;
    bli_ledger_remove(&d->ledger, &d->block->asking, i);
    d->fleet.sample = index == BLI_NOBODY ? d->fleet.ask : inquiry_at(d, index)->server;
    d->fleet.samples = index == BLI_NOBODY ? 0 : inquiry_at(d, index)->replies.answered;
    dispatch_waiting(d, i, false);
    d->fleet.sample = NULL;
    free_inquiry(d, index);
}

/* ---- requests ---- */

/* For one of that class that is refused: see bal_dispatch. */
static uint64_t retry_time(const struct bal_dispatcher *d, uint32_t rank) {
    uint64_t ahead = 0;
    for (uint32_t k = 0; k <= rank; k++)
        ahead += d->block->held[k].count;
    return drain_rate_time(&d->block->drain_rate, ahead + 1);
}

/* Fills in what a process gets to know of its request. */
static void fill_dispatch(const struct bal_dispatcher *d, uint32_t i, enum bal_dispatch_verdict verdict,
                          struct bal_dispatch *to) {
    const struct request *r = request_at(d, i);
    *to = (struct bal_dispatch){.verdict = verdict,
                                .server = verdict == BAL_SEND ? r->server : BAL_NONE,
                                .ticket = bli_ledger_ticket(&d->ledger, i),
                                .reason = verdict == BAL_WAIT ? BAL_REASON_HELD : (enum bal_reason)r->reason,
                                .rank = r->entry.rank,
                                .length = verdict == BAL_SEND ? r->length : 0,
                                .waited_ns = verdict == BAL_WAIT ? 0 : r->waited};
    if (verdict == BAL_REFUSE && (r->reason == BAL_REASON_NO_ROOM || r->reason == BAL_REASON_TOO_LONG))
        to->retry_ns = retry_time(d, r->entry.rank);
}

/* Queues it behind those of its class; false: the hold queue is full, or there is nothing to wait for. Like
 * them it may start a server: the policy decides as if the first of them had just come. */
static bool enqueue_behind_held(struct bal_dispatcher *d, uint32_t i) {
    struct block *block = d->block;
    const struct bli_closing closing = closing_of(d);
    const uint32_t to = closing_behind_held(&closing, &request_at(d, i)->tries);
    if (to < d->servers) {
        assign_server(d, request_at(d, i), to, SENT);
        return true;
    }
    if (to == BAL_NONE)
        return refuse_request(d, request_at(d, i), BAL_REASON_NONE_OPEN);
    if (d->crowded || !make_hold_place(d, request_at(d, i)->entry.rank)) {
        block->counts.overflow++;
        block->counts.crowded += d->crowded;
        return refuse_request(d, request_at(d, i), BAL_REASON_NO_ROOM);
    }
    hold_request(d, i);
    uint32_t rank = 0; /* if a server is free by now, the most urgent gets it */
    while (block->held[rank].count == 0)
        rank++;
    if (d->policy.policy->power)
        dispatch_first_held(d, rank, 0);
    return true;
}

/* A new one, or one that has failed elsewhere. */
static void start_request(struct bal_dispatcher *d, uint32_t i, struct bal_dispatch *to) {
    const struct block *block = d->block;
    struct request *r = request_at(d, i);
    const bool warming = bli_slow_start_warming(d->slow)->count;
    bool placed = true;
    r->since = block->now;
    if (__builtin_expect(warming, 0)) { /* a server may open, for those that are as urgent or more */
        bli_dispatcher_warm_up(d, r->tries.count == 0);
        dispatch_held_classes(d, r->entry.rank + 1);
    }
    const bool others_wait = block->held_count && block->held[r->entry.rank].count;
    if (others_wait && (block->held_count < block->config.held || block->config.refuse_beyond))
        placed = enqueue_behind_held(d, i);
    else if (!d->probes || block->detached || !start_probing(d, i))
        placed = dispatch_request(d, i, block->detached, SENT);
    fill_dispatch(d, i, !placed ? BAL_REFUSE : r->entry.state == SENT ? BAL_SEND : BAL_WAIT, to);
    if (!placed)
        bli_ledger_release(&d->ledger, i);
    if (__builtin_expect(warming, 0))
        dispatch_held_classes(d, block->config.classes);
    bli_dispatcher_backlog_update(d);
}

void bal_dispatcher_arrive(struct bal_dispatcher *d, uint64_t now, uint32_t rank, struct bal_dispatch *to) {
    dispatcher_begin(d, now);
    struct block *block = d->block;
    block->counts.arrived++;
    rank = rank < block->config.classes ? rank : block->config.classes - 1;
    if (d->timed)
        bli_timed_arrival(d);
    const uint32_t i = bli_ledger_acquire(&d->ledger, d->self);
    if (i == BLI_NOBODY) {
        block->counts.no_room++;
        block->counts.reasons[BAL_REASON_LEDGER]++;
        *to = (struct bal_dispatch){
            .verdict = BAL_REFUSE, .server = BAL_NONE, .rank = rank, .reason = BAL_REASON_LEDGER};
    } else {
        struct request *r = request_at(d, i);
        r->entry.rank = rank;
        r->tries.count = 0;
        start_request(d, i, to);
    }
    dispatcher_end(d);
}

/* The request of a ticket that this process has and that is in one of these states; BLI_NOBODY: none. */
static uint32_t find_request(struct bal_dispatcher *d, uint64_t ticket, unsigned states) {
    const uint32_t i = bli_ledger_find(&d->ledger, ticket);
    if (i != BLI_NOBODY && request_at(d, i)->entry.owner == d->self &&
        states >> request_at(d, i)->entry.state & 1)
        return i;
    d->block->counts.void_tickets++;
    return BLI_NOBODY;
}

bool bal_dispatcher_respond(struct bal_dispatcher *d, uint64_t now, uint64_t ticket,
                            enum bal_outcome outcome) {
    dispatcher_begin(d, now);
    const uint32_t i = find_request(d, ticket, 1 << SENT);
    if (i != BLI_NOBODY) {
        if (d->block->held_count) /* a try that goes on elsewhere makes the backlog no shorter */
            drain_rate_add(&d->block->drain_rate, d->block->now);
        bli_ledger_entry_set(&request_at(d, i)->entry, BLI_ENTRY_FREE);
        record_response(d, request_at(d, i), outcome);
        bli_ledger_release(&d->ledger, i);
        if (d->block->held_count)
            dispatch_held(d);
    }
    dispatcher_end(d);
    return i != BLI_NOBODY;
}

bool bal_dispatcher_retry(struct bal_dispatcher *d, uint64_t now, uint64_t ticket, enum bal_outcome outcome,
                          struct bal_dispatch *to) {
    dispatcher_begin(d, now);
    const uint32_t i = find_request(d, ticket, 1 << SENT);
    *to = (struct bal_dispatch){.verdict = BAL_REFUSE, .server = BAL_NONE, .reason = BAL_REASON_NONE_OPEN};
    if (i != BLI_NOBODY) {
        struct request *r = request_at(d, i);
        bli_ledger_entry_set(&r->entry, BLI_ENTRY_FREE);
        record_response(d, r, outcome);
        tries_add(&r->tries, r->server);
        if (d->block->held_count)
            dispatch_held(d);
        d->block->counts.retried++;
        start_request(d, i, to);
    }
    dispatcher_end(d);
    return i != BLI_NOBODY;
}

void bal_dispatcher_set_crowded(struct bal_dispatcher *d, bool crowded) {
    d->crowded = crowded;
}

/* Drops a request in any state: its client has gone, or its process is dead. */
static void drop_request(struct bal_dispatcher *d, uint32_t i) {
    struct request *r = request_at(d, i);
    const enum request_state state = (enum request_state)r->entry.state;
    bli_ledger_entry_set(&r->entry, BLI_ENTRY_FREE);
    if (state == ASKING) {
        bli_ledger_remove(&d->ledger, &d->block->asking, i);
        free_inquiry(d, r->inquiry);
    } else if (state == HELD) {
        remove_from_hold_queue(d, i);
    } else if (state != SENT) {
        bli_ledger_remove(&d->ledger, &d->worker[r->entry.owner].news, i);
    }
    if (state == DECIDED || state == SENT) {
        if (release_from_server(d, r)) {
            report_remaining_load(d, r->server);
            end_trial(d, r);
        }
    }
    bli_ledger_release(&d->ledger, i);
}

bool bal_dispatcher_cancel(struct bal_dispatcher *d, uint64_t now, uint64_t ticket) {
    dispatcher_begin(d, now);
    const uint32_t i = find_request(d, ticket, ~0u);
    if (i != BLI_NOBODY) {
        d->block->counts.cancelled++;
        drop_request(d, i);
        dispatch_held(d);
    }
    dispatcher_end(d);
    return i != BLI_NOBODY;
}

bool bal_dispatcher_next_decision(struct bal_dispatcher *d, uint64_t now, struct bal_dispatch *to) {
    dispatcher_begin(d, now);
    struct bli_list *news = &d->worker[d->self].news;
    const uint32_t i = news->first;
    if (i != BLI_NOBODY) {
        const bool sent = request_at(d, i)->entry.state == DECIDED;
        fill_dispatch(d, i, sent ? BAL_SEND : BAL_REFUSE, to);
        bli_ledger_remove(&d->ledger, news, i);
        if (sent)
            bli_ledger_entry_set(&request_at(d, i)->entry, SENT);
        else
            bli_ledger_release(&d->ledger, i);
    }
    dispatcher_end(d);
    return i != BLI_NOBODY;
}

/* ---- processes ---- */

enum bal_code bal_dispatcher_join(struct bal_dispatcher *d, uint64_t now, uint64_t pid, uint64_t start_time,
                                  struct bal_error *err) {
    dispatcher_begin(d, now);
    const uint32_t workers = d->block->config.workers;
    d->self = bli_worker_join(d->worker, workers, pid, start_time);
    dispatcher_end(d);
    return d->self != BLI_NOBODY
               ? BAL_OK
               : bal_fail(err, BAL_E_RANGE, "%u processes take part already: the block is for %u", workers,
                          workers);
}

bool bal_dispatcher_worker(struct bal_dispatcher *d, uint32_t i, uint64_t *pid, uint64_t *start_time) {
    if (i >= d->block->config.workers || !d->worker[i].used)
        return false;
    *pid = d->worker[i].pid;
    *start_time = d->worker[i].start;
    return true;
}

static void reap_worker(struct bal_dispatcher *d, uint32_t owner) {
    for (uint32_t i = 0; i < d->block->config.requests; i++) {
        const struct bli_ledger_entry *entry = &request_at(d, i)->entry;
        if (entry->state == BLI_ENTRY_FREE || entry->owner != owner)
            continue;
        d->block->counts.reaped++;
        drop_request(d, i);
    }
    bli_checks_release(d->checks, owner);
    bli_worker_leave(&d->worker[owner]);
    dispatch_held(d);
}

void bal_dispatcher_reap(struct bal_dispatcher *d, uint64_t now, uint32_t i) {
    dispatcher_begin(d, now);
    if (i < d->block->config.workers && d->worker[i].used)
        reap_worker(d, i);
    dispatcher_end(d);
}

void bal_dispatcher_leave(struct bal_dispatcher *d, uint64_t now) {
    bal_dispatcher_reap(d, now, d->self);
    d->self = BLI_NOBODY;
}

/* ---- messages received ---- */

/* piggybacked: it came with a response. That is no heartbeat: where datagrams are lost, servers that happen
 * to answer would seem better known than all others, and would get every request. */
static void receive_idle(struct bal_dispatcher *d, uint32_t server, const struct bal_message_idle *idle,
                         bool piggybacked) {
    struct server *s = &d->server[server];
    const uint32_t new = heard_offers(&s->tokens, &d->load[server], idle->token, idle->free, idle->slots);
    d->block->counts.tokens += new;
    s->token_since = new ? d->block->now : s->token_since;
    s->token_until = d->block->now + (uint64_t)idle->valid_ms * 1000000;
    if (!piggybacked && s->known_until < s->token_until)
        s->known_until = s->token_until;
    s->power = BAL_POWER_ON;
    start_answered(&s->start, false);
    s->slots = idle->slots;
    s->retracted = 1;
    bli_dispatcher_server_refresh(d, server);
    bli_dispatcher_backlog_decline(d, server);
    bli_dispatcher_report_state(d, server);
}

static void set_power(struct bal_dispatcher *d, uint32_t server, uint32_t power, uint32_t valid_ms) {
    struct server *s = &d->server[server];
    s->power = power;
    s->known_until = d->block->now + (uint64_t)valid_ms * 1000000;
    start_answered(&s->start, power == BAL_POWER_OFF);
    heard_power(&s->tokens, power == BAL_POWER_ON);
}

/* A reply to a probe for which a request waits. */
static void receive_probe_reply(struct bal_dispatcher *d, uint32_t server, uint64_t probe) {
    const uint32_t index = probe & 0xffff;
    if (!d->probes || index >= INQUIRIES || index >= d->block->config.requests ||
        inquiry_at(d, index)->probe != probe)
        return;
    struct inquiry *inquiry = inquiry_at(d, index);
    if (inquiry_reply(&inquiry->replies, inquiry->server, server))
        finish_probing(d, inquiry->request);
}

static void receive_load(struct bal_dispatcher *d, uint32_t server, const struct bal_message_load *load,
                         bool fresh) {
    struct server *s = &d->server[server];
    if (fresh) {
        uint64_t jobs = 0;
        for (uint32_t rank = 0; rank < load->classes; rank++)
            jobs += load->jobs[rank];
        heard_load(&s->tokens, &d->load[server], jobs < UINT32_MAX ? (uint32_t)jobs : UINT32_MAX,
                   load->probe != 0);
        d->urgent_load[server] = load->jobs[0];
        s->slots = load->slots;
        s->latency = load->latency_us == UINT32_MAX ? NAN : load->latency_us * 1e-6;
        set_power(d, server, load->power, load->valid_ms);
        s->retracted = 1;
        bli_dispatcher_server_refresh(d, server);
        bli_dispatcher_report_state(d, server);
    }
    if (load->probe)
        receive_probe_reply(d, server, load->probe);
}

/* A station has sent a message: it can be reached. */
static void mark_station_alive(struct bal_dispatcher *d, uint32_t server, bool rebooted) {
    struct server *s = &d->server[server];
    s->heard_at = d->block->now;
    if (is_member(s)) {
        const uint64_t silent_ns = d->block->config.join.silent_ns;
        const uint64_t beats_ns = BLI_STATEMENT_BEATS * heartbeat_round_ns(d);
        s->member_until = d->block->now + (silent_ns > beats_ns ? silent_ns : beats_ns);
    }
    if (rebooted)
        s->request.declined_until = 0;
    if (closing_is_healthy_again(s->closed, rebooted))
        bli_ejection_release(d->ejection, server);
    if (s->closed & SUSPECT)
        bli_dispatcher_server_mark(d, server, SUSPECT, false);
}

/* A station that has restarted must prove its boot. If no datagrams come from it, a message that came with a
 * response is accepted instead. */
static enum bal_receipt admit_message(struct bal_dispatcher *d, uint32_t server,
                                      const struct bal_message *message, bool piggybacked) {
    struct server *s = &d->server[server];
    struct bal_message challenge;
    const uint64_t boot = s->window.boot;
    enum bal_receipt receipt = bal_replay_window_admit(&s->window, d->block->now, message);
    if (receipt == BAL_RECEIPT_UNPROVEN && piggybacked && s->closed & SILENT) {
        bal_replay_window_trust_boot(&s->window, message->boot, message->sequence);
        receipt = BAL_RECEIPT_FRESH;
    } else if (receipt == BAL_RECEIPT_UNPROVEN &&
               bal_replay_window_challenge(&s->window, d->block->now, bal_rng_next(&d->chance), message,
                                           &challenge)) {
        bli_dispatcher_enqueue_message(d, challenge);
    }
    if (s->window.boot != boot) { /* it counts its offers from 1 again, and knows of no pace */
        s->tokens = (struct bli_tokens){0};
        s->pace = (struct bli_pace){0};
    }
    if (receipt == BAL_RECEIPT_FRESH && !piggybacked)
        mark_station_alive(d, server, s->window.boot != boot);
    return receipt;
}

/* Whatever is known of the sender of the challenge. */
static void send_proof(struct bal_dispatcher *d, const struct bal_message *message) {
    bli_dispatcher_enqueue_message(
        d, (struct bal_message){.type = BAL_MSG_PROOF, .receiver = message->sender, .nonce = message->nonce});
}

/* Its station may send heartbeats too often, by a statement that is valid for so long. */
static void check_pace(struct bal_dispatcher *d, uint32_t server, uint32_t valid_ms) {
    const struct block *block = d->block;
    const double wanted = pace_wanted(block->present, (double)block->config.gap_ns);
    if (block->detached || !(wanted > 0) ||
        !pace_is_due(&d->server[server].pace, wanted, valid_ms * 1e6, (double)block->now))
        return;
    bli_dispatcher_enqueue_message(d, (struct bal_message){.type = BAL_MSG_PACE,
                                                           .receiver = d->station[server],
                                                           .pace = {bli_milliseconds((uint64_t)wanted)}});
}

static void process_message(struct bal_dispatcher *d, uint32_t server, const struct bal_message *message,
                            bool fresh, bool piggybacked) {
    switch (message->type) {
    case BAL_MSG_IDLE:
        if (fresh)
            receive_idle(d, server, &message->idle, piggybacked);
        if (fresh && !piggybacked)
            check_pace(d, server, message->idle.valid_ms);
        break;
    case BAL_MSG_LOAD:
        receive_load(d, server, &message->load, fresh);
        if (fresh)
            check_pace(d, server, message->load.valid_ms);
        break;
    case BAL_MSG_POWER:
        if (!fresh)
            break;
        set_power(d, server, message->power.power, message->power.valid_ms);
        bli_dispatcher_server_refresh(d, server);
        bli_dispatcher_report_state(d, server);
        break;
    case BAL_MSG_JOIN: /* it is known; so that it hears of us */
        bli_dispatcher_enqueue_message(
            d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = message->sender});
        break;
    default: /* not for dispatchers, but it may be the first message of a station that has restarted */
        bli_dispatcher_server_refresh(d, server);
        bli_dispatcher_report_state(d, server);
        break;
    }
}

static enum bal_receipt receive_message(struct bal_dispatcher *d, uint64_t now,
                                        const struct bal_message *message, bool piggybacked) {
    dispatcher_begin(d, now);
    uint32_t server = bli_directory_find(d->stations, d->places, d->station, message->sender);
    enum bal_receipt receipt = BAL_RECEIPT_UNKNOWN_SENDER;
    const bool known = server != BLI_DIRECTORY_NOBODY && d->server[server].presence == THERE;
    if (known)
        receipt = admit_message(d, server, message, piggybacked);
    else if (!piggybacked)
        receipt = bli_dispatcher_receive_unknown(d, message, &server);
    if (known && message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt)) {
        send_proof(d, message);
        bli_dispatcher_answer_challenge(d, server, message->nonce.nonce);
    }
    d->block->counts.receipts[receipt]++;
    if (receipt <= BAL_RECEIPT_LATE) {
        d->block->counts.messages_received[message->type]++;
        process_message(d, server, message, receipt == BAL_RECEIPT_FRESH, piggybacked);
        bli_dispatcher_backlog_answered(d, server);
        bli_dispatcher_server_refresh(d, server);
        dispatch_held(d);
    }
    dispatcher_end(d);
    return receipt;
}

enum bal_receipt bal_dispatcher_receive(struct bal_dispatcher *d, uint64_t now,
                                        const struct bal_message *message) {
    return receive_message(d, now, message, false);
}

enum bal_receipt bal_dispatcher_receive_piggyback(struct bal_dispatcher *d, uint64_t now,
                                                  const struct bal_message *message) {
    return receive_message(d, now, message, true);
}

/* ---- time ---- */

static void expire_server_state(struct bal_dispatcher *d, uint32_t server) {
    struct block *block = d->block;
    struct server *s = &d->server[server];
    if (heard_offers_expire(&s->tokens, (double)s->token_until, (double)block->now)) {
        block->counts.expired += s->tokens.count;
        s->tokens.count = 0;
        bli_dispatcher_report_idle(d, server);
    }
    if (start_repeat(&s->start, (double)block->now, (double)block->config.beat_ns))
        send_start(d, server);
    bli_dispatcher_backlog_expire(d, server);
    bli_dispatcher_expire_load(d, server);
    bli_dispatcher_server_refresh(d, server);
}

static void expire_all(struct bal_dispatcher *d) {
    while (bli_tournament_min(d->due) <= (double)d->block->now)
        expire_server_state(d, bli_tournament_draw(d->due, &d->chance));
}

static void handle_deadlines(struct bal_dispatcher *d) {
    struct block *block = d->block;
    while (block->asking.count && request_at(d, block->asking.first)->deadline <= block->now)
        finish_probing(d, block->asking.first);
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        while (block->held[rank].count && request_at(d, block->held[rank].first)->deadline <= block->now) {
            const uint32_t i = block->held[rank].first;
            block->counts.overdue++;
            remove_from_hold_queue(d, i);
            if (block->config.refuse_beyond)
                refuse_waiting(d, i, BAL_REASON_TOO_LONG);
            else
                dispatch_waiting(d, i, true);
        }
}

/* The next time, at least one nanosecond from now. */
static uint64_t next_deadline(const struct bal_dispatcher *d) {
    const struct block *block = d->block;
    const double known = fmin(bli_tournament_min(d->due), (double)block->members_at);
    const double due = fmin(known, block->backlog.announce_at);
    uint64_t next = due < 1.8e19 ? (uint64_t)due : NEVER;
    for (uint32_t k = 0; k <= block->config.classes; k++) {
        const struct bli_list *list = k ? &block->held[k - 1] : &block->asking;
        if (list->count && request_at(d, list->first)->deadline < next)
            next = request_at(d, list->first)->deadline;
    }
    if (d->timed && block->held_count && block->report_at < next)
        next = block->report_at;
    return next > block->now ? next : block->now + 1;
}

uint64_t bal_dispatcher_run_timers(struct bal_dispatcher *d, uint64_t now) {
    dispatcher_begin(d, now);
    expire_all(d);
    if (bli_slow_start_warming(d->slow)->count)
        bli_dispatcher_warm_up(d, false);
    if (d->block->now >= d->block->members_at)
        bli_dispatcher_update_members(d);
    handle_deadlines(d);
    dispatch_held(d);
    const uint64_t next = next_deadline(d);
    dispatcher_end(d);
    return next;
}

static void dispatch_all_held(struct bal_dispatcher *d) {
    struct block *block = d->block;
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        while (block->held[rank].count) {
            const uint32_t i = block->held[rank].first;
            remove_from_hold_queue(d, i);
            dispatch_waiting(d, i, true);
        }
}

void bal_dispatcher_detach_stations(struct bal_dispatcher *d, uint64_t now) {
    struct block *block = d->block;
    dispatcher_begin(d, now);
    if (block->config.stations && !block->detached) {
        block->detached = 1;
        for (uint32_t server = 0; server < d->servers; server++) {
            bli_dispatcher_server_mark(d, server, SUSPECT, false);
            bli_dispatcher_server_refresh(d, server);
        }
        while (block->asking.count)
            finish_probing(d, block->asking.first);
        dispatch_all_held(d);
        bli_dispatcher_backlog_update(d);
    }
    dispatcher_end(d);
}

/* ---- inspection ---- */

const char *bal_reason_name(enum bal_reason reason) {
    static const char *const names[BAL_REASONS] = {[BAL_REASON_TOKEN] = "token",
                                                   [BAL_REASON_ELSE] = "else",
                                                   [BAL_REASON_RETRY] = "retry",
                                                   [BAL_REASON_HELD] = "held",
                                                   [BAL_REASON_NONE_OPEN] = "none open",
                                                   [BAL_REASON_NO_ROOM] = "no room",
                                                   [BAL_REASON_TOO_LONG] = "held too long",
                                                   [BAL_REASON_LEDGER] = "too many requests"};
    return (unsigned)reason < BAL_REASONS ? names[reason] : "?";
}

struct bal_dispatcher_counts bal_dispatcher_counts(const struct bal_dispatcher *d) {
    struct bal_dispatcher_counts counts = d->block->counts;
    for (int reason = BAL_REASON_TOKEN; reason <= BAL_REASON_HELD; reason++)
        counts.sent += counts.reasons[reason];
    counts.load_reports = __atomic_load_n(&d->block->load_reports, __ATOMIC_RELAXED);
    counts.load_malformed = __atomic_load_n(&d->block->load_malformed, __ATOMIC_RELAXED);
    return counts;
}

struct bal_server_view bal_dispatcher_server(const struct bal_dispatcher *d, uint32_t number) {
    const struct server *s = &d->server[number];
    if (s->presence == NOT_THERE)
        return (struct bal_server_view){.status = BAL_SERVER_GONE};
    const struct bli_ejection_server *q = &d->ejection->server[number];
    const bool suspect = bli_ejection_suspects(d->ejection, number);
    const struct bal_concurrency_view found = bli_dispatcher_slots_view(d, number);
    return (struct bal_server_view){.name = s->name,
                                    .open = s->closed == 0,
                                    .leaving = s->presence == LEAVING,
                                    .ejected = q->back_off > 0,
                                    .shut = q->shut_until > 0,
                                    .on_trial = suspect && q->trying,
                                    .until = suspect ? (uint64_t)bli_ejection_until(d->ejection, number) : 0,
                                    .down = s->closed & DOWN && !s->drain,
                                    .joined = is_member(s),
                                    .heard_at = s->heard_at,
                                    .drain = s->drain,
                                    .full = s->closed & FULL,
                                    .silent = s->closed & SILENT,
                                    .weight = d->weight[number],
                                    .max_conns = s->max_conns,
                                    .in_flight = d->own[number],
                                    .jobs = d->fleet.length[number],
                                    .others = s->others,
                                    .slots = found.limit ? found.limit : s->slots,
                                    .concurrency = found,
                                    .tokens = s->tokens.count,
                                    .token_since = s->token_since,
                                    .status = dispatcher_server_status(s),
                                    .answered = s->answered,
                                    .failed = s->failed,
                                    .took_ns = s->took_ns};
}

uint64_t bal_dispatcher_silent_for(const struct bal_dispatcher *d, uint64_t now, uint32_t number) {
    const struct server *s = &d->server[number];
    if (s->presence == NOT_THERE || !(s->closed & SILENT) || !d->open->count || d->block->detached)
        return 0;
    return now > s->known_until ? now - s->known_until : 0;
}

uint32_t bal_dispatcher_held(const struct bal_dispatcher *d, uint32_t rank) {
    return rank < BAL_CLASSES_MAX ? d->block->held[rank].count : d->block->held_count;
}
