/* What a dispatcher does: requests that come and go, messages that are heard, time that passes. */
#include "live/directory.h"
#include "live/dispatcher_private.h"

#include <math.h>
#include <string.h>

static void try_held(struct bal_dispatcher *d);

/* ---- what every operation does ---- */

void bal_dispatcher_resume(struct bal_dispatcher *d) {
    bal_dispatcher_rebuild(d);
    try_held(d);
}

void bal_dispatcher_catch_up(struct bal_dispatcher *d) {
    if (bal_timed_report(d) && d->block->held_count)
        try_held(d);
}

void bal_dispatcher_say(struct bal_dispatcher *d, struct bal_message message) {
    struct block *block = d->block;
    if (bal_outbox_say(&d->box, &block->sender, &message))
        block->counts.said[message.type] += message.receiver == BAL_EVERYONE ? block->present : 1;
    else
        block->counts.unsent++;
}

const struct bal_message *bal_dispatcher_out(struct bal_dispatcher *d, uint32_t *count) {
    return bal_outbox_take(&d->box, count);
}

uint32_t bal_dispatcher_woken(struct bal_dispatcher *d) {
    return bal_outbox_woken(&d->box);
}

const bool *bal_dispatcher_wakes(const struct bal_dispatcher *d) {
    return &d->box.wakes;
}

uint32_t bal_dispatcher_self(const struct bal_dispatcher *d) {
    return d->self;
}

/* ---- hunger ---- */

/* Says how many are held when that begins or ceases, and as often as it is time. */
static void tell_hunger(struct bal_dispatcher *d) {
    struct block *block = d->block;
    const bool hungry = block->held_count > 0;
    if (!block->config.stations || (hungry == (bool)block->hungry && block->now < block->hungry_at))
        return;
    block->hungry = hungry;
    block->hungry_at = hungry ? block->now + block->config.beat_ns : NEVER;
    bal_dispatcher_say(
        d, (struct bal_message){.type = BAL_MSG_HUNGRY,
                                .hungry = {.held = block->held_count,
                                           .valid_ms = bal_milliseconds(3 * block->config.beat_ns)}});
}

/* ---- servers, as requests come and go ---- */

/* The request goes there: a slot that its station has offered is used. */
static void use_token(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    if (s->tokens == 0)
        return;
    s->tokens--;
    d->block->counts.used++;
    bal_fleet_report(d, server);
    bal_fleet_look(d, server);
}

/* Where servers have no stations, one that works on fewer requests than it could has a free slot. */
static bool has_free_slot(const struct bal_dispatcher *d, uint32_t server) {
    return d->block->config.stations ? d->server[server].tokens > 0 : d->own[server] < d->block->config.slots;
}

/* Without stations the report of a server that has a free slot, by the rule of ballast/policy.h: after a
 * response and, where requests are held, when one has come and left a slot free. */
static void say_idle(struct bal_dispatcher *d, uint32_t server) {
    if (d->says_idle && d->server[server].closed == 0 && has_free_slot(d, server))
        bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_IDLE, server, NULL);
}

static void go(struct bal_dispatcher *d, struct request *r, uint32_t server, enum request_state state) {
    r->reason = r->tries                   ? BAL_REASON_RETRY
                : r->entry.state == HELD   ? BAL_REASON_HELD
                : has_free_slot(d, server) ? BAL_REASON_TOKEN
                                           : BAL_REASON_ELSE;
    r->server = server;
    r->length = d->fleet.length[server];
    r->waited = d->block->now - r->since;
    r->since = d->block->now;
    r->trial = 0;
    d->block->counts.reasons[r->reason]++;
    bal_fleet_own_up(d, server, r->entry.rank);
    if (d->block->config.stations)
        use_token(d, server); /* the policy, which hears of it, looks at own counts */
    if (bal_quarantine_suspects(d->quarantine, server)) {
        bal_quarantine_sent(d->quarantine, server);
        r->trial = 1;
        bal_fleet_look(d, server);
    }
    if (d->flags & BAL_MAY_HOLD && d->block->config.slots > 1)
        say_idle(d, server);
    bal_entry_set(&r->entry, state);
}

static void judge(struct bal_dispatcher *d, uint32_t server, enum bal_outcome outcome) {
    const struct bal_quarantine_server *q = &d->quarantine->server[server];
    if (outcome == BAL_OUTCOME_GOOD && (q->failures | q->losses) == 0 &&
        !bal_quarantine_suspects(d->quarantine, server))
        return;
    const double now = (double)d->block->now;
    bal_quarantine_answered(d->quarantine, server, outcome != BAL_OUTCOME_GOOD, now);
    bal_quarantine_reached(d->quarantine, server, outcome != BAL_OUTCOME_FAILED, now);
    bal_fleet_look(d, server);
}

static void say_load(struct bal_dispatcher *d, uint32_t server, double latency) {
    const struct bal_reply load = {d->own[server], d->urgent[server], latency};
    bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_LOAD, server, &load);
}

/* The load that is left, where no station tells it, for policies that want to hear of it after responses:
 * always when a slot is free, else with the probability that they name. */
static void say_load_left(struct bal_dispatcher *d, uint32_t server) {
    if (!d->says_load || d->server[server].closed)
        return;
    if (d->own[server] < d->block->config.slots ||
        bal_rng_uniform(&d->chance) < bal_policy_load_share(&d->policy))
        say_load(d, server, NAN);
}

/* It is not under way any longer: own counts and whatever follows from them, but nothing is said of how it
 * went. Without stations that is the server's report when it has a free slot. False: the server is not there
 * any longer. */
static bool come_back(struct bal_dispatcher *d, const struct request *r) {
    const uint32_t server = r->server;
    bal_fleet_own_down(d, server, r->entry.rank);
    if (d->server[server].presence == NOT_THERE)
        return false;
    say_idle(d, server);
    return true;
}

/* A trial that ends without an answer proves nothing: another request may. */
static void end_trial(struct bal_dispatcher *d, const struct request *r) {
    if (!r->trial)
        return;
    d->quarantine->server[r->server].trying = false;
    bal_fleet_look(d, r->server);
}

static void answer(struct bal_dispatcher *d, const struct request *r, enum bal_outcome outcome) {
    const uint32_t server = r->server;
    const bool failed = outcome != BAL_OUTCOME_GOOD;
    const double took = seconds(d->block->now - r->since);
    if (d->timed && !failed)
        bal_timed_response(d, took);
    d->block->counts.answered++;
    d->block->counts.failed += failed;
    d->server[server].answered++;
    d->server[server].failed += failed;
    d->server[server].took_ns += d->block->now - r->since;
    if (!come_back(d, r))
        return;
    if (d->flags & BAL_ASKS && !failed)
        pace_learn(&d->server[server].pace, took, d->own[server]);
    bal_policy_response(&d->policy, d->state, &d->fleet, server, took, failed);
    say_load_left(d, server);
    judge(d, server, outcome);
    end_trial(d, r);
}

/* ---- probes ---- */

static void say_probe(struct bal_dispatcher *d, uint32_t server, uint64_t id) {
    d->block->counts.probes++;
    bal_dispatcher_say(d, (struct bal_message){
                              .type = BAL_MSG_PROBE, .receiver = d->station[server], .probe = {.probe = id}});
}

/* Probes that nobody waits for. Without stations the answer is at hand. */
static void answer_asks(struct bal_dispatcher *d) {
    struct bal_fleet *fleet = &d->fleet;
    for (uint32_t i = 0; i < fleet->asks; i++) {
        const uint32_t server = fleet->ask[i];
        if (d->block->config.stations)
            say_probe(d, server, bal_rng_next(&d->chance) | UINT64_C(1) << 63);
        else
            say_load(d, server, pace_latency(&d->server[server].pace, d->own[server]));
    }
    fleet->asks = 0;
}

static void free_inquiry(struct bal_dispatcher *d, uint32_t i) {
    if (i == BAL_NOBODY)
        return;
    inquiry_at(d, i)->probe = 0;
    inquiry_at(d, i)->next = d->block->free_inquiry;
    d->block->free_inquiry = i;
}

/* ---- routing ---- */

static uint32_t remembered(const struct request *r) {
    return r->tries < BAL_TRIES_MAX ? r->tries : BAL_TRIES_MAX;
}

/* Servers at which a request has failed are closed to it alone. Which of them were open, as bits. */
static uint32_t close_tried(struct bal_dispatcher *d, const struct request *r) {
    uint32_t open = 0;
    if (r->tries == 0)
        return open;
    for (uint32_t i = 0; i < remembered(r); i++)
        open |= (uint32_t)bal_set_remove(d->open, r->tried[i]) << i;
    fleet_refresh(d);
    return open;
}

static void reopen_tried(struct bal_dispatcher *d, const struct request *r, uint32_t open) {
    if (open == 0)
        return;
    for (uint32_t i = 0; i < remembered(r); i++)
        if (open >> i & 1)
            bal_set_insert(d->open, r->tried[i]);
    fleet_refresh(d);
}

/* held: of one that waits, how many do. */
static struct bal_decision ask_policy(struct bal_dispatcher *d, const struct request *r, bool at_once,
                                      uint32_t held) {
    const struct bal_job job = {.count = 1, .rank = r->entry.rank, .at_once = at_once, .held = held};
    const uint32_t open = close_tried(d, r);
    struct bal_decision decision = bal_policy_route(&d->policy, d->state, &d->fleet, &job, &d->rng);
    if (decision.server < d->servers && !bal_is_open(&d->fleet, decision.server))
        decision.server = BAL_NONE;
    reopen_tried(d, r, open);
    return decision;
}

/* Which servers the policy would ask; false: none, or nobody else can wait now. */
static bool inquire(struct bal_dispatcher *d, uint32_t i) {
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    const struct bal_job job = {.count = 1, .rank = r->entry.rank};
    if (block->free_inquiry == BAL_NOBODY)
        return false;
    const uint32_t open = close_tried(d, r);
    const uint32_t asked = bal_policy_sample(&d->policy, d->state, &d->fleet, &job, &d->rng);
    reopen_tried(d, r, open);
    d->fleet.asks = 0;
    if (asked == 0)
        return false;
    const uint32_t index = block->free_inquiry;
    struct inquiry *inquiry = inquiry_at(d, index);
    block->free_inquiry = inquiry->next;
    inquiry->probe = (bal_rng_next(&d->chance) << 16 | index) & ~(UINT64_C(1) << 63);
    inquiry->probe |= UINT64_C(1) << 62; /* never 0 */
    inquiry->request = i;
    inquiry->asked = asked;
    inquiry->answered = 0;
    memcpy(inquiry->server, d->fleet.ask, asked * sizeof *inquiry->server);
    for (uint32_t k = 0; k < asked; k++)
        say_probe(d, inquiry->server[k], inquiry->probe);
    r->inquiry = index;
    r->deadline = block->now + block->config.probe_ns;
    bal_ledger_push(&d->ledger, &block->asking, i);
    bal_entry_set(&r->entry, ASKING);
    return true;
}

static void say_wake(struct bal_dispatcher *d, uint32_t server) {
    bal_dispatcher_say(d, (struct bal_message){.type = BAL_MSG_WAKE, .receiver = d->station[server]});
}

/* It is said until the server's power answers; once in a beat, however often the policy asks. Else a server
 * that is still off, and answers so, is woken again for those that are held, answers, and so on. */
static void wake_server(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    if (server >= d->servers || !d->block->config.stations || (s->wakes && !has_come(d, s->wake_at)))
        return;
    s->wakes = WAKES;
    s->wake_at = d->block->now + d->block->config.beat_ns;
    say_wake(d, server);
    bal_fleet_look(d, server);
}

static void hold(struct bal_dispatcher *d, uint32_t i) {
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    r->deadline = block->now + block->config.hold_ns;
    block->counts.held++;
    block->held_count++;
    bal_ledger_push(&d->ledger, &block->held[r->entry.rank], i);
    bal_entry_set(&r->entry, HELD);
}

static void say_move(struct bal_dispatcher *d, uint32_t server, uint32_t target) {
    if (d->block->config.stations)
        bal_dispatcher_say(d, (struct bal_message){.type = BAL_MSG_MOVE,
                                                   .receiver = d->station[server],
                                                   .move = {.target = d->station[target]}});
}

/* What the policy wants besides. */
static void follow(struct bal_dispatcher *d, const struct bal_decision *decision) {
    if (decision->wake != BAL_NONE)
        wake_server(d, decision->wake);
    if (decision->move_to < d->servers && decision->server < d->servers)
        say_move(d, decision->server, decision->move_to);
    if (d->fleet.asks)
        answer_asks(d);
}

static bool has_tried(const struct request *r, uint32_t server) {
    for (uint32_t i = 0; i < remembered(r); i++)
        if (r->tried[i] == server)
            return true;
    return false;
}

/* Every server is down, has failed, or has been tried by this request: there is nothing to wait for. One that
 * is full may be had soon, and so may one that has not been heard of for a while, if there are no others
 * elsewhere. */
static bool is_hopeless(const struct bal_dispatcher *d, const struct request *r) {
    const uint32_t hopeless = ABSENT | DOWN | SHUNNED | (d->block->config.backed ? SILENT : 0);
    if (d->open->count > remembered(r))
        return false;
    for (uint32_t server = 0; server < d->servers; server++)
        if (!(d->server[server].closed & hopeless) && !has_tried(r, server))
            return false;
    return true;
}

/* Where nobody may be chosen, here or elsewhere: one of those that are closed for their silence alone. When
 * nothing is heard of all of them that says more of the network, or of us, than of them. BAL_NONE: there is
 * none such. */
static uint32_t choose_silent(struct bal_dispatcher *d, const struct request *r) {
    uint32_t chosen = BAL_NONE, count = 0;
    const struct bal_dispatcher_config *config = &d->block->config;
    for (uint32_t server = 0; config->stations && !config->backed && server < d->servers; server++)
        if (d->server[server].closed == SILENT && !has_tried(r, server) &&
            bal_rng_below(&d->chance, ++count) == 0)
            chosen = server;
    return chosen;
}

static bool refuse(struct bal_dispatcher *d, struct request *r, enum bal_reason reason) {
    d->block->counts.refused++;
    d->block->counts.reasons[reason]++;
    r->reason = reason;
    r->waited = d->block->now - r->since;
    return false;
}

/* The policy has no server for it now. */
static bool place_elsewhere(struct bal_dispatcher *d, uint32_t i, struct bal_decision decision,
                            enum request_state sent) {
    struct block *block = d->block;
    struct request *r = request_at(d, i);
    if (decision.server == BAL_HOLD && is_hopeless(d, r))
        decision.server = BAL_NONE;
    if (decision.server == BAL_HOLD && block->held_count >= block->config.held) {
        follow(d, &decision);
        block->counts.overflow++;
        if (block->config.refuse_beyond)
            return refuse(d, r, BAL_REASON_NO_ROOM);
        decision = ask_policy(d, r, true, 0);
    }
    if (decision.server == BAL_NONE)
        decision.server = choose_silent(d, r);
    if (decision.server == BAL_HOLD)
        hold(d, i);
    else if (decision.server < d->servers)
        go(d, r, decision.server, sent);
    follow(d, &decision);
    return decision.server < d->servers || decision.server == BAL_HOLD || refuse(d, r, BAL_REASON_NONE_OPEN);
}

/* A request that stands in no list is given a place. `sent` is its state then: SENT where its process is the
 * one that asks, else DECIDED. Returns false when nobody can take it: its reason says why. */
static bool place(struct bal_dispatcher *d, uint32_t i, bool at_once, enum request_state sent) {
    struct request *r = request_at(d, i);
    const struct bal_decision decision = ask_policy(d, r, at_once, 0);
    if (decision.server >= d->servers)
        return place_elsewhere(d, i, decision, sent);
    go(d, r, decision.server, sent);
    follow(d, &decision);
    return true;
}

static void tell_owner(struct bal_dispatcher *d, uint32_t i) {
    struct request *r = request_at(d, i);
    bal_ledger_push(&d->ledger, &d->owner[r->entry.owner].news, i);
    bal_outbox_wake(&d->box, r->entry.owner);
}

/* The same for one that waits: its process hears of it as news. */
static void place_waiting(struct bal_dispatcher *d, uint32_t i, bool at_once) {
    struct request *r = request_at(d, i);
    if (!place(d, i, at_once, DECIDED))
        bal_entry_set(&r->entry, REFUSED);
    if (r->entry.state != HELD)
        tell_owner(d, i);
}

static void leave_held(struct bal_dispatcher *d, uint32_t i) {
    bal_ledger_remove(&d->ledger, &d->block->held[request_at(d, i)->entry.rank], i);
    d->block->held_count--;
}

static void refuse_waiting(struct bal_dispatcher *d, uint32_t i, enum bal_reason reason) {
    struct request *r = request_at(d, i);
    refuse(d, r, reason);
    tell_owner(d, i);
    bal_entry_set(&r->entry, REFUSED);
}

/* After a report those that wait may have a place: first come, first served within a class. One for which
 * there is none keeps its place, unless there are servers elsewhere and no hope here. */
static bool try_first(struct bal_dispatcher *d, uint32_t rank, uint32_t held) {
    const uint32_t i = d->block->held[rank].first;
    struct request *r = request_at(d, i);
    const struct bal_decision decision = ask_policy(d, r, false, held);
    if (decision.server < d->servers) {
        leave_held(d, i);
        go(d, r, decision.server, DECIDED);
        tell_owner(d, i);
    }
    follow(d, &decision);
    const bool moves_on = decision.server >= d->servers && d->block->config.backed && is_hopeless(d, r);
    if (moves_on) {
        leave_held(d, i);
        refuse_waiting(d, i, BAL_REASON_NONE_OPEN);
    }
    return moves_on || decision.server < d->servers;
}

static void try_held(struct bal_dispatcher *d) {
    struct block *block = d->block;
    for (uint32_t rank = 0; block->held_count && rank < block->config.classes; rank++)
        while (block->held[rank].count && try_first(d, rank, block->held_count))
            ;
    tell_hunger(d);
}

/* Replies are complete, or not waited for any longer. */
static void conclude(struct bal_dispatcher *d, uint32_t i) {
    struct request *r = request_at(d, i);
    const uint32_t index = r->inquiry;
    bal_ledger_remove(&d->ledger, &d->block->asking, i);
    d->fleet.sample = index == BAL_NOBODY ? d->fleet.ask : inquiry_at(d, index)->server;
    d->fleet.samples = index == BAL_NOBODY ? 0 : inquiry_at(d, index)->answered;
    place_waiting(d, i, false);
    d->fleet.sample = NULL;
    free_inquiry(d, index);
}

/* ---- requests ---- */

/* What a process is told of its request. */
static void tell(const struct bal_dispatcher *d, uint32_t i, enum bal_dispatch_verdict verdict,
                 struct bal_dispatch *to) {
    const struct request *r = request_at(d, i);
    *to = (struct bal_dispatch){.verdict = verdict,
                                .server = verdict == BAL_SEND ? r->server : BAL_NONE,
                                .ticket = bal_ledger_ticket(&d->ledger, i),
                                .reason = verdict == BAL_WAIT ? BAL_REASON_HELD : (enum bal_reason)r->reason,
                                .rank = r->entry.rank,
                                .length = verdict == BAL_SEND ? r->length : 0,
                                .waited_ns = verdict == BAL_WAIT ? 0 : r->waited};
}

/* Behind those of its class; false: there is no room, or nothing to wait for. It wakes a server as they did:
 * the policy is asked as if the first of them had just come. */
static bool hold_behind(struct bal_dispatcher *d, uint32_t i) {
    struct block *block = d->block;
    if (is_hopeless(d, request_at(d, i)))
        return refuse(d, request_at(d, i), BAL_REASON_NONE_OPEN);
    if (block->held_count >= block->config.held) {
        block->counts.overflow++;
        return refuse(d, request_at(d, i), BAL_REASON_NO_ROOM);
    }
    hold(d, i);
    if (d->policy.policy->power)
        try_first(d, request_at(d, i)->entry.rank, 0);
    return true;
}

/* A new one, or one that has failed elsewhere. */
static void start(struct bal_dispatcher *d, uint32_t i, struct bal_dispatch *to) {
    const struct block *block = d->block;
    struct request *r = request_at(d, i);
    const bool others_wait = block->held_count && block->held[r->entry.rank].count;
    bool placed = true;
    r->since = block->now;
    if (others_wait && (block->held_count < block->config.held || block->config.refuse_beyond))
        placed = hold_behind(d, i);
    else if (!d->probes || block->deaf || !inquire(d, i))
        placed = place(d, i, block->deaf, SENT);
    tell(d, i, !placed ? BAL_REFUSE : r->entry.state == SENT ? BAL_SEND : BAL_WAIT, to);
    if (!placed)
        bal_ledger_drop(&d->ledger, i);
    if (block->config.stations)
        tell_hunger(d);
}

void bal_dispatcher_arrive(struct bal_dispatcher *d, uint64_t now, uint32_t rank, struct bal_dispatch *to) {
    dispatcher_begin(d, now);
    struct block *block = d->block;
    block->counts.arrived++;
    if (d->timed)
        bal_timed_arrival(d);
    const uint32_t i = bal_ledger_take(&d->ledger, d->self);
    if (i == BAL_NOBODY) {
        block->counts.no_room++;
        block->counts.reasons[BAL_REASON_LEDGER]++;
        *to = (struct bal_dispatch){
            .verdict = BAL_REFUSE, .server = BAL_NONE, .rank = rank, .reason = BAL_REASON_LEDGER};
    } else {
        struct request *r = request_at(d, i);
        r->entry.rank = rank < block->config.classes ? rank : block->config.classes - 1;
        r->tries = 0;
        start(d, i, to);
    }
    dispatcher_end(d);
}

/* The request of a ticket that this process has and that is in one of these states; BAL_NOBODY: none. */
static uint32_t find(struct bal_dispatcher *d, uint64_t ticket, unsigned states) {
    const uint32_t i = bal_ledger_find(&d->ledger, ticket);
    if (i != BAL_NOBODY && request_at(d, i)->entry.owner == d->self &&
        states >> request_at(d, i)->entry.state & 1)
        return i;
    d->block->counts.void_tickets++;
    return BAL_NOBODY;
}

bool bal_dispatcher_respond(struct bal_dispatcher *d, uint64_t now, uint64_t ticket,
                            enum bal_outcome outcome) {
    dispatcher_begin(d, now);
    const uint32_t i = find(d, ticket, 1 << SENT);
    if (i != BAL_NOBODY) {
        bal_entry_set(&request_at(d, i)->entry, BAL_ENTRY_FREE);
        answer(d, request_at(d, i), outcome);
        bal_ledger_drop(&d->ledger, i);
        if (d->block->held_count)
            try_held(d);
    }
    dispatcher_end(d);
    return i != BAL_NOBODY;
}

bool bal_dispatcher_retry(struct bal_dispatcher *d, uint64_t now, uint64_t ticket, enum bal_outcome outcome,
                          struct bal_dispatch *to) {
    dispatcher_begin(d, now);
    const uint32_t i = find(d, ticket, 1 << SENT);
    *to = (struct bal_dispatch){.verdict = BAL_REFUSE, .server = BAL_NONE, .reason = BAL_REASON_NONE_OPEN};
    if (i != BAL_NOBODY) {
        struct request *r = request_at(d, i);
        bal_entry_set(&r->entry, BAL_ENTRY_FREE);
        answer(d, r, outcome);
        r->tried[r->tries % BAL_TRIES_MAX] = r->server;
        r->tries += r->tries < UINT32_MAX;
        if (d->block->held_count)
            try_held(d);
        d->block->counts.retried++;
        start(d, i, to);
    }
    dispatcher_end(d);
    return i != BAL_NOBODY;
}

/* Whatever it was doing, nobody waits for it any longer. */
static void forget(struct bal_dispatcher *d, uint32_t i) {
    struct request *r = request_at(d, i);
    const enum request_state state = (enum request_state)r->entry.state;
    bal_entry_set(&r->entry, BAL_ENTRY_FREE);
    if (state == ASKING) {
        bal_ledger_remove(&d->ledger, &d->block->asking, i);
        free_inquiry(d, r->inquiry);
    } else if (state == HELD) {
        leave_held(d, i);
    } else if (state != SENT) {
        bal_ledger_remove(&d->ledger, &d->owner[r->entry.owner].news, i);
    }
    if (state == DECIDED || state == SENT) {
        if (come_back(d, r)) {
            say_load_left(d, r->server);
            end_trial(d, r);
        }
    }
    bal_ledger_drop(&d->ledger, i);
}

bool bal_dispatcher_cancel(struct bal_dispatcher *d, uint64_t now, uint64_t ticket) {
    dispatcher_begin(d, now);
    const uint32_t i = find(d, ticket, ~0u);
    if (i != BAL_NOBODY) {
        d->block->counts.cancelled++;
        forget(d, i);
        try_held(d);
    }
    dispatcher_end(d);
    return i != BAL_NOBODY;
}

bool bal_dispatcher_news(struct bal_dispatcher *d, uint64_t now, struct bal_dispatch *to) {
    dispatcher_begin(d, now);
    struct bal_list *news = &d->owner[d->self].news;
    const uint32_t i = news->first;
    if (i != BAL_NOBODY) {
        const bool sent = request_at(d, i)->entry.state == DECIDED;
        tell(d, i, sent ? BAL_SEND : BAL_REFUSE, to);
        bal_ledger_remove(&d->ledger, news, i);
        if (sent)
            bal_entry_set(&request_at(d, i)->entry, SENT);
        else
            bal_ledger_drop(&d->ledger, i);
    }
    dispatcher_end(d);
    return i != BAL_NOBODY;
}

/* ---- processes ---- */

enum bal_code bal_dispatcher_join(struct bal_dispatcher *d, uint64_t now, uint64_t pid, uint64_t start_time,
                                  struct bal_error *err) {
    dispatcher_begin(d, now);
    const uint32_t owners = d->block->config.owners;
    d->self = bal_crew_join(d->owner, owners, pid, start_time);
    dispatcher_end(d);
    return d->self != BAL_NOBODY
               ? BAL_OK
               : bal_fail(err, BAL_E_RANGE, "%u processes take part already: the block is for %u", owners,
                          owners);
}

bool bal_dispatcher_owner(struct bal_dispatcher *d, uint32_t i, uint64_t *pid, uint64_t *start_time) {
    if (i >= d->block->config.owners || !d->owner[i].used)
        return false;
    *pid = d->owner[i].pid;
    *start_time = d->owner[i].start;
    return true;
}

static void reap(struct bal_dispatcher *d, uint32_t owner) {
    for (uint32_t i = 0; i < d->block->config.requests; i++) {
        const struct bal_entry *entry = &request_at(d, i)->entry;
        if (entry->state == BAL_ENTRY_FREE || entry->owner != owner)
            continue;
        d->block->counts.reaped++;
        forget(d, i);
    }
    bal_crew_leave(&d->owner[owner]);
    try_held(d);
}

void bal_dispatcher_reap(struct bal_dispatcher *d, uint64_t now, uint32_t i) {
    dispatcher_begin(d, now);
    if (i < d->block->config.owners && d->owner[i].used)
        reap(d, i);
    dispatcher_end(d);
}

void bal_dispatcher_leave(struct bal_dispatcher *d, uint64_t now) {
    bal_dispatcher_reap(d, now, d->self);
    d->self = BAL_NOBODY;
}

/* ---- what is heard ---- */

static void hear_idle(struct bal_dispatcher *d, uint32_t server, const struct bal_message_idle *idle) {
    struct server *s = &d->server[server];
    uint64_t new = idle->token > s->tokens_seen ? idle->token - s->tokens_seen : 0;
    new = new < idle->free ? new : idle->free;
    s->tokens_seen = idle->token > s->tokens_seen ? idle->token : s->tokens_seen;
    d->block->counts.tokens += new;
    const uint64_t tokens = s->tokens + new;
    s->tokens = tokens < idle->free ? (uint32_t)tokens : idle->free;
    s->token_since = new ? d->block->now : s->token_since;
    s->token_until = d->block->now + (uint64_t)idle->valid_ms * 1000000;
    s->known_until = s->known_until > s->token_until ? s->known_until : s->token_until;
    s->power = BAL_POWER_ON;
    s->wakes = 0;
    s->slots = idle->slots;
    d->load[server] = idle->slots - idle->free;
    s->taken_back = 1;
    bal_fleet_look(d, server);
    bal_fleet_tell(d, server);
}

static void set_power(struct bal_dispatcher *d, uint32_t server, uint32_t power, uint32_t valid_ms) {
    struct server *s = &d->server[server];
    s->power = power;
    s->known_until = d->block->now + (uint64_t)valid_ms * 1000000;
    s->wakes = power == BAL_POWER_OFF ? s->wakes : 0;
    if (power != BAL_POWER_ON)
        s->tokens = 0;
}

/* A reply to a probe for which a request waits. */
static void hear_reply(struct bal_dispatcher *d, uint32_t server, uint64_t probe) {
    const uint32_t index = probe & 0xffff;
    if (!d->probes || index >= INQUIRIES || index >= d->block->config.requests ||
        inquiry_at(d, index)->probe != probe)
        return;
    struct inquiry *inquiry = inquiry_at(d, index);
    for (uint32_t i = inquiry->answered; i < inquiry->asked; i++)
        if (inquiry->server[i] == server) {
            inquiry->server[i] = inquiry->server[inquiry->answered];
            inquiry->server[inquiry->answered++] = server;
            break;
        }
    if (inquiry->answered == inquiry->asked)
        conclude(d, inquiry->request);
}

static void hear_load(struct bal_dispatcher *d, uint32_t server, const struct bal_message_load *load,
                      bool fresh) {
    struct server *s = &d->server[server];
    if (fresh) {
        uint64_t jobs = 0;
        for (uint32_t rank = 0; rank < load->classes; rank++)
            jobs += load->jobs[rank];
        d->load[server] = jobs < UINT32_MAX ? (uint32_t)jobs : UINT32_MAX;
        d->urgent_load[server] = load->jobs[0];
        s->slots = load->slots;
        s->latency = load->latency_us == UINT32_MAX ? NAN : load->latency_us * 1e-6;
        if (load->probe == 0) /* nothing is offered to us any longer */
            s->tokens = 0;
        set_power(d, server, load->power, load->valid_ms);
        s->taken_back = 1;
        bal_fleet_look(d, server);
        bal_fleet_tell(d, server);
    }
    if (load->probe)
        hear_reply(d, server, load->probe);
}

/* Whose clock has gone back is believed again when all that it said before has expired. */
static enum bal_receipt admit(struct bal_dispatcher *d, uint32_t server, const struct bal_message *message) {
    struct server *s = &d->server[server];
    const uint64_t boot = s->window.boot;
    enum bal_receipt receipt = bal_window_pass(&s->window, message->boot, message->sequence);
    if (receipt == BAL_RECEIPT_OLD && s->closed & SILENT &&
        bal_window_forgive(&s->window, message->boot, message->sequence))
        receipt = BAL_RECEIPT_FRESH;
    if (s->window.boot != boot) /* it counts its offers anew */
        s->tokens_seen = s->tokens = 0;
    return receipt;
}

static void take_in(struct bal_dispatcher *d, uint32_t server, const struct bal_message *message,
                    bool fresh) {
    switch (message->type) {
    case BAL_MSG_IDLE:
        if (fresh)
            hear_idle(d, server, &message->idle);
        break;
    case BAL_MSG_LOAD:
        hear_load(d, server, &message->load, fresh);
        break;
    case BAL_MSG_POWER:
        if (!fresh)
            break;
        set_power(d, server, message->power.power, message->power.valid_ms);
        bal_fleet_look(d, server);
        bal_fleet_tell(d, server);
        break;
    default: /* not for dispatchers, but it may be the first word of one that has begun anew */
        bal_fleet_look(d, server);
        bal_fleet_tell(d, server);
        break;
    }
}

enum bal_receipt bal_dispatcher_hear(struct bal_dispatcher *d, uint64_t now,
                                     const struct bal_message *message) {
    dispatcher_begin(d, now);
    const uint32_t server = bal_directory_find(d->stations, d->places, d->station, message->sender);
    enum bal_receipt receipt = BAL_RECEIPT_STRANGER;
    if (server != BAL_DIRECTORY_NOBODY && d->server[server].presence == THERE)
        receipt = admit(d, server, message);
    d->block->counts.receipts[receipt]++;
    if (receipt <= BAL_RECEIPT_LATE) {
        d->block->counts.heard[message->type]++;
        take_in(d, server, message, receipt == BAL_RECEIPT_FRESH);
        try_held(d);
    }
    dispatcher_end(d);
    return receipt;
}

/* ---- time ---- */

static void expire(struct bal_dispatcher *d, uint32_t server) {
    struct block *block = d->block;
    struct server *s = &d->server[server];
    if (s->tokens && has_come(d, s->token_until)) {
        block->counts.expired += s->tokens;
        s->tokens = 0;
        bal_fleet_report(d, server);
    }
    if (s->wakes && has_come(d, s->wake_at)) {
        s->wakes--;
        s->wake_at = block->now + block->config.beat_ns;
        say_wake(d, server);
    }
    bal_fleet_look(d, server);
}

static void expire_all(struct bal_dispatcher *d) {
    while (bal_tournament_least(d->due) <= (double)d->block->now)
        expire(d, bal_tournament_draw(d->due, &d->chance));
}

static void serve_overdue(struct bal_dispatcher *d) {
    struct block *block = d->block;
    while (block->asking.count && request_at(d, block->asking.first)->deadline <= block->now)
        conclude(d, block->asking.first);
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        while (block->held[rank].count && request_at(d, block->held[rank].first)->deadline <= block->now) {
            const uint32_t i = block->held[rank].first;
            block->counts.overdue++;
            leave_held(d, i);
            if (block->config.refuse_beyond)
                refuse_waiting(d, i, BAL_REASON_TOO_LONG);
            else
                place_waiting(d, i, true);
        }
}

/* The next time, at least one nanosecond from now. */
static uint64_t next_time(const struct bal_dispatcher *d) {
    const struct block *block = d->block;
    uint64_t next = block->hungry_at;
    const double due = bal_tournament_least(d->due);
    if (due < 1.8e19 && (uint64_t)due < next)
        next = (uint64_t)due;
    for (uint32_t k = 0; k <= block->config.classes; k++) {
        const struct bal_list *list = k ? &block->held[k - 1] : &block->asking;
        if (list->count && request_at(d, list->first)->deadline < next)
            next = request_at(d, list->first)->deadline;
    }
    if (d->timed && block->held_count && block->report_at < next)
        next = block->report_at;
    return next > block->now ? next : block->now + 1;
}

uint64_t bal_dispatcher_pass(struct bal_dispatcher *d, uint64_t now) {
    dispatcher_begin(d, now);
    expire_all(d);
    serve_overdue(d);
    try_held(d);
    const uint64_t next = next_time(d);
    dispatcher_end(d);
    return next;
}

static void send_held(struct bal_dispatcher *d) {
    struct block *block = d->block;
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        while (block->held[rank].count) {
            const uint32_t i = block->held[rank].first;
            leave_held(d, i);
            place_waiting(d, i, true);
        }
}

void bal_dispatcher_deafen(struct bal_dispatcher *d, uint64_t now) {
    struct block *block = d->block;
    dispatcher_begin(d, now);
    if (block->config.stations && !block->deaf) {
        block->deaf = 1;
        for (uint32_t server = 0; server < d->servers; server++)
            bal_fleet_look(d, server);
        while (block->asking.count)
            conclude(d, block->asking.first);
        send_held(d);
        tell_hunger(d);
    }
    dispatcher_end(d);
}

void bal_dispatcher_resync(struct bal_dispatcher *d, uint64_t now) {
    dispatcher_begin(d, now);
    if (d->block->config.stations)
        bal_dispatcher_say(d, (struct bal_message){.type = BAL_MSG_RESYNC});
    dispatcher_end(d);
}

/* ---- looking at it ---- */

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
    return counts;
}

struct bal_server_view bal_dispatcher_server(const struct bal_dispatcher *d, uint32_t number) {
    const struct server *s = &d->server[number];
    static const enum bal_standing standing[] = {[BAL_POWER_OFF] = BAL_STANDING_OFF,
                                                 [BAL_POWER_SETUP] = BAL_STANDING_SETUP,
                                                 [BAL_POWER_ON] = BAL_STANDING_ON,
                                                 [BAL_POWER_DRAINING] = BAL_STANDING_GONE};
    if (s->presence == NOT_THERE)
        return (struct bal_server_view){.standing = BAL_STANDING_GONE};
    const struct bal_quarantine_server *q = &d->quarantine->server[number];
    const bool suspect = bal_quarantine_suspects(d->quarantine, number);
    return (struct bal_server_view){.name = s->name,
                                    .open = s->closed == 0,
                                    .leaving = s->presence == LEAVING,
                                    .quarantined = q->back_off > 0,
                                    .shut = q->shut_until > 0,
                                    .on_trial = suspect && q->trying,
                                    .until =
                                        suspect ? (uint64_t)bal_quarantine_until(d->quarantine, number) : 0,
                                    .down = s->closed & DOWN,
                                    .full = s->closed & FULL,
                                    .silent = s->closed & SILENT,
                                    .in_flight = d->own[number],
                                    .jobs = d->block->config.stations ? d->load[number] : d->own[number],
                                    .slots = d->block->config.stations ? s->slots : d->block->config.slots,
                                    .tokens = s->tokens,
                                    .token_since = s->token_since,
                                    .standing = standing[s->power],
                                    .answered = s->answered,
                                    .failed = s->failed,
                                    .took_ns = s->took_ns};
}

uint32_t bal_dispatcher_held(const struct bal_dispatcher *d, uint32_t rank) {
    return rank < BAL_CLASSES_MAX ? d->block->held[rank].count : d->block->held_count;
}
