/* The messages of a station: offers of free slots, loads, power, stealing; and its timers.
 *
 * Who is offered a free slot. A dispatcher that holds requests sends BACKLOG: to all stations, again with
 * every beat as long as it holds any, or to this one alone, which requests one slot now and is always
 * answered. A slot goes to a dispatcher that has a backlog, else to one chosen uniformly at random; a slot
 * that is offered to one without a backlog is taken back for one that has a backlog. The invariant: an idle
 * slot is not reserved for a dispatcher that cannot use it while another one has reported a backlog, for
 * longer than a beat and a quarter. The reason: a dispatcher that holds requests uses an offer as soon as it
 * receives it. One that has reported a backlog and has not used its offer for a beat is dead, cut off, or has
 * closed this server. When another one requests the slot it gets it, and the one that did not use it is
 * barred for three beats: it is chosen last, and its offers may be taken back at once. A request from it ends
 * the bar. A dispatcher that knows that it cannot use offers reports that itself (BACKLOG to this station,
 * with none held), which bars it for the time in the message. */
#include "live/directory.h"
#include "live/station_private.h"

#include <math.h>

enum { BEATS_VALID = 3, STOP_GUARD = 2 };

static void enqueue_message(struct bal_station *s, struct bal_message message) {
    struct bal_station_counts *counts = &s->block->counts;
    if (bal_outbox_add(&s->box, &s->block->sender, &message))
        counts->messages_sent[message.type] += message.receiver == BAL_EVERYONE ? s->dispatchers->count : 1;
    else
        counts->unsent++;
}

static uint32_t validity_ms(const struct bal_station *s) {
    return bal_milliseconds(BEATS_VALID * s->block->config.beat_ns);
}

static uint32_t find_peer(const struct bal_station *s, uint64_t id) {
    return bal_directory_find(s->directory, s->places, s->peer_id, id);
}

/* ---- the present state ---- */

static uint32_t queue_length(const struct bal_station *s) {
    return s->block->slots_used + s->block->waiting_count;
}

static uint32_t reported_power(const struct bal_station *s) {
    return s->block->draining ? BAL_POWER_DRAINING : s->block->power;
}

static uint32_t expected_latency_us(const struct bal_station *s) {
    const struct station_block *block = s->block;
    if (block->counts.answered == 0)
        return UINT32_MAX;
    const double us = latency_ewma_predict(&block->latency_ewma, queue_length(s)) * 1e6;
    return us < UINT32_MAX - 1 ? (uint32_t)us : UINT32_MAX - 1;
}

static void send_load(struct bal_station *s, uint64_t to, uint64_t probe) {
    const struct station_block *block = s->block;
    const uint32_t taken = block->waiting_count + block->away;
    struct bal_message message = {
        .type = BAL_MSG_LOAD,
        .receiver = to,
        .load = {.probe = probe,
                 .slots = block->config.slots,
                 .in_service = block->slots_used,
                 .room = block->config.slots - block->slots_used + (block->config.queue - taken),
                 .answers = block->answers,
                 .errors = block->errors,
                 .latency_us = expected_latency_us(s),
                 .valid_ms = validity_ms(s),
                 .power = reported_power(s),
                 .classes = block->config.classes}};
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        message.load.jobs[rank] = block->jobs[rank];
    enqueue_message(s, message);
}

static void send_power_to(struct bal_station *s, uint64_t to) {
    enqueue_message(s,
                    (struct bal_message){.type = BAL_MSG_POWER,
                                         .receiver = to,
                                         .power = {.power = reported_power(s), .valid_ms = validity_ms(s)}});
}

static void broadcast_power(struct bal_station *s) {
    send_power_to(s, BAL_EVERYONE);
}

/* ---- offers ---- */

/* Slots that may be offered: those that are not in use and not kept for requests that were granted. */
static uint32_t offerable_slots(const struct bal_station *s) {
    const struct station_block *block = s->block;
    const uint32_t slots = free_slots(s);
    const uint32_t expected = block->now < block->expected_until ? block->expected : 0;
    return slots > expected ? slots - expected : 0;
}

static void set_offered(struct bal_station *s, uint32_t number, uint32_t offered) {
    struct peer *peer = &s->peer[number];
    if (peer->offered == 0 || offered < peer->offered)
        peer->claim.offered_at = (double)s->block->now;
    s->block->offered += offered - peer->offered;
    peer->offered = offered;
    if (offered)
        bal_set_insert(s->holders, number);
    else
        bal_set_remove(s->holders, number);
    if (peer->claim.held > offered)
        bal_set_insert(s->backlogged, number);
    else
        bal_set_remove(s->backlogged, number);
}

/* An IDLE message that offers it so many slots. */
static struct bal_message idle_message(const struct bal_station *s, uint32_t number, uint32_t offered) {
    return (struct bal_message){.type = BAL_MSG_IDLE,
                                .receiver = s->peer_id[number],
                                .idle = {.free = offered,
                                         .slots = s->block->config.slots,
                                         .valid_ms = validity_ms(s),
                                         .token = s->peer[number].offers}};
}

static void send_offer(struct bal_station *s, uint32_t number) {
    enqueue_message(s, idle_message(s, number, s->peer[number].offered));
}

/* Sends it its unused offers; if there are none, the load. */
static void send_current_state(struct bal_station *s, uint32_t number) {
    if (s->peer[number].offered)
        send_offer(s, number);
    else
        send_load(s, s->peer_id[number], 0);
}

/* Unused offers are sent again, because the message may have been lost. */
static void send_heartbeat_to(struct bal_station *s, uint32_t number) {
    struct peer *peer = &s->peer[number];
    peer->offers += peer->offered;
    send_current_state(s, number);
}

static bool is_barred(const struct bal_station *s, uint32_t number) {
    return claim_is_barred(&s->peer[number].claim, (double)s->block->now);
}

static bool has_backlog(const struct bal_station *s, uint32_t number) {
    return claim_has_backlog(&s->peer[number].claim, (double)s->block->now);
}

/* One that holds more requests than it has offers, BAL_SET_ABSENT: there is none. Those that have no backlog
 * any longer are removed on the way, and those that are barred, until they report a backlog again. */
static uint32_t draw_backlogged(struct bal_station *s) {
    while (s->backlogged->count) {
        const uint32_t number = bal_set_uniform(s->backlogged, &s->rng);
        if (has_backlog(s, number) && !is_barred(s, number))
            return number;
        if (!has_backlog(s, number))
            s->peer[number].claim.held = 0;
        bal_set_remove(s->backlogged, number);
    }
    return BAL_SET_ABSENT;
}

/* One of those that are not barred, uniformly. Where almost all are barred, a barred one may be drawn: its
 * offer can be taken back at any time. */
static uint32_t draw_dispatcher(struct bal_station *s) {
    enum { DRAWS = 16 };
    uint32_t number = bal_set_uniform(s->dispatchers, &s->rng);
    for (int i = 0; i < DRAWS && is_barred(s, number); i++)
        number = bal_set_uniform(s->dispatchers, &s->rng);
    return number;
}

/* A dispatcher with a backlog, if any is known; else any, uniformly; BAL_SET_ABSENT: there is none. */
static uint32_t pick_offer_target(struct bal_station *s) {
    const uint32_t backlogged = draw_backlogged(s);
    if (backlogged != BAL_SET_ABSENT || s->dispatchers->count == 0)
        return backlogged;
    return draw_dispatcher(s);
}

static void offer_to(struct bal_station *s, uint32_t number) {
    s->peer[number].offers++;
    s->block->counts.offers++;
    set_offered(s, number, s->peer[number].offered + 1);
    send_offer(s, number);
}

void bal_station_offer(struct bal_station *s) {
    while (s->block->config.offer_ns == 0 && s->block->offered < offerable_slots(s)) {
        const uint32_t number = pick_offer_target(s);
        if (number == BAL_SET_ABSENT)
            return;
        offer_to(s, number);
    }
}

/* The same for an offer that was returned. Where no other dispatcher can use it either, it is offered again
 * with the next beat only: otherwise it would come back at once, again and again. */
static void offer_elsewhere(struct bal_station *s) {
    while (s->block->config.offer_ns == 0 && s->block->offered < offerable_slots(s)) {
        const uint32_t number = pick_offer_target(s);
        if (number == BAL_SET_ABSENT || is_barred(s, number))
            return;
        offer_to(s, number);
    }
}

void bal_station_use_offer(struct bal_station *s, uint64_t dispatcher) {
    const uint32_t number = find_peer(s, dispatcher);
    if (number == BAL_DIRECTORY_NOBODY)
        return;
    struct peer *peer = &s->peer[number];
    claim_slot_used(&peer->claim);
    set_offered(s, number, peer->offered - (peer->offered > 0));
}

/* ---- offers that are sent with responses ---- */

/* Will a slot be free that may be offered, when this request has ended and nothing else happens? */
static bool will_be_free(const struct bal_station *s) {
    const struct station_block *block = s->block;
    return block->config.offer_ns == 0 && block->power == BAL_POWER_ON && !block->draining &&
           block->waiting_count == 0 && block->offered <= offerable_slots(s);
}

bool bal_station_piggyback_offer(struct bal_station *s, uint64_t now, uint64_t ticket,
                                 struct bal_message *message) {
    bal_station_enter(s, now);
    const uint32_t i = bal_ledger_find(&s->ledger, ticket);
    struct job *j = i == BAL_NOBODY ? NULL : job_at(s, i);
    const bool may = j && j->entry.state == RUNNING && !j->moved && !j->reserved_for && will_be_free(s);
    const uint32_t sender = may && j->dispatcher ? find_peer(s, j->dispatcher) : BAL_DIRECTORY_NOBODY;
    const bool known = sender != BAL_DIRECTORY_NOBODY && s->peer[sender].kind == DISPATCHER;
    const uint32_t reserved_for = known ? pick_offer_target(s) : BAL_SET_ABSENT;
    if (known)
        j->reserved_for = s->peer_id[reserved_for];
    if (known && reserved_for == sender) {
        s->peer[reserved_for].offers++;
        *message = idle_message(s, reserved_for, s->peer[reserved_for].offered + 1);
        bal_sender_stamp(&s->block->sender, message);
        j->piggyback_seq = message->sequence;
    }
    station_end(s);
    return known && reserved_for == sender;
}

/* Messages sent since may make the piggybacked offer look late: then it is sent again. */
void bal_station_offer_reserved_slot(struct bal_station *s, uint64_t reserved_for, uint64_t piggyback_seq) {
    const uint32_t number = find_peer(s, reserved_for);
    if (number == BAL_DIRECTORY_NOBODY)
        return;
    const bool others_wait = draw_backlogged(s) != BAL_SET_ABSENT && !bal_set_contains(s->backlogged, number);
    if (others_wait || s->block->offered >= offerable_slots(s)) {
        if (piggyback_seq)
            send_current_state(s, number);
    } else if (piggyback_seq && s->block->sender.sequence == piggyback_seq) {
        s->block->counts.offers++;
        s->block->counts.piggybacked++;
        set_offered(s, number, s->peer[number].offered + 1);
    } else {
        offer_to(s, number);
    }
}

void bal_station_retract_offers(struct bal_station *s) {
    while (s->block->offered > offerable_slots(s)) {
        const uint32_t number = bal_set_uniform(s->holders, &s->rng);
        set_offered(s, number, s->peer[number].offered - 1);
    }
}

static bool is_reserved(const struct bal_station *s, uint32_t number) {
    return claim_is_reserved(&s->peer[number].claim, (double)s->block->now, (double)s->block->config.beat_ns);
}

/* A dispatcher whose offer may be taken back, drawn uniformly or nearly so; BAL_SET_ABSENT: there is none. */
static uint32_t find_holder(struct bal_station *s, uint32_t but) {
    const uint32_t count = s->holders->count;
    const uint32_t first = count ? bal_rng_below(&s->rng, count) : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = s->holders->slot[(first + i) % count];
        if (number != but && !is_reserved(s, number))
            return number;
    }
    return BAL_SET_ABSENT;
}

static void retract_offer(struct bal_station *s, uint32_t number) {
    struct peer *peer = &s->peer[number];
    claim_retract(&peer->claim, (double)s->block->now, (double)s->block->config.beat_ns);
    set_offered(s, number, peer->offered - 1);
    send_current_state(s, number);
}

/* As many slots as a dispatcher with a backlog holds requests are offered to it, if need be after they have
 * been taken back from others. True: at least one has been. */
static bool offer_to_backlogged(struct bal_station *s, uint32_t number) {
    const uint32_t slots = offerable_slots(s), before = s->peer[number].offered;
    const uint32_t wanted = s->peer[number].claim.held < slots ? s->peer[number].claim.held : slots;
    while (s->block->config.offer_ns == 0 && s->peer[number].offered < wanted) {
        if (s->block->offered >= slots) {
            const uint32_t holder = find_holder(s, number);
            if (holder == BAL_SET_ABSENT)
                break;
            retract_offer(s, holder);
        }
        offer_to(s, number);
    }
    return s->peer[number].offered > before;
}

/* Does a dispatcher have a backlog while all free slots are offered to others? */
static bool is_backlog_unserved(const struct bal_station *s) {
    return s->backlogged->count && s->holders->count && offerable_slots(s);
}

/* Slots may be taken back that were reserved before. Iterates backwards, because one that gets an offer may
 * leave the set. */
static void offer_to_all_backlogged(struct bal_station *s) {
    for (uint32_t i = s->backlogged->count; i-- > 0;) {
        const uint32_t number = s->backlogged->slot[i];
        if (!has_backlog(s, number)) {
            s->peer[number].claim.held = 0;
            bal_set_remove(s->backlogged, number);
        } else if (!is_barred(s, number)) {
            offer_to_backlogged(s, number);
        }
    }
}

/* ---- stealing ---- */

void bal_station_steal(struct bal_station *s) {
    struct station_block *block = s->block;
    if (block->config.steal.kind == BAL_STEAL_NONE || block->steal || s->stations->count == 0 ||
        free_slots(s) == 0)
        return;
    const uint32_t victim = bal_set_uniform(s->stations, &s->rng);
    block->steal = bal_rng_next(&s->rng) | 1;
    block->steal_until = block->now + block->config.steal_ns;
    enqueue_message(s, (struct bal_message){.type = BAL_MSG_STEAL,
                                            .receiver = s->peer_id[victim],
                                            .steal = {.steal = block->steal, .most = BAL_GRANT_MAX}});
}

static void receive_steal(struct bal_station *s, const struct bal_message *message) {
    struct bal_message grant = {
        .type = BAL_MSG_GRANT, .receiver = message->sender, .grant = {.steal = message->steal.steal}};
    uint32_t amount = bal_steal_amount(&s->block->config.steal, queue_length(s));
    amount = amount < message->steal.most ? amount : message->steal.most;
    amount = amount < BAL_GRANT_MAX ? amount : BAL_GRANT_MAX;
    grant.grant.count = bal_station_forward_waiting(s, amount, 0, message->sender, grant.grant.tickets);
    enqueue_message(s, grant);
}

static void receive_grant(struct bal_station *s, const struct bal_message_grant *grant) {
    struct station_block *block = s->block;
    if (grant->steal != block->steal)
        return;
    block->steal = 0;
    block->expected = grant->count;
    block->expected_until = block->now + block->config.steal_ns;
}

/* The last one of the low classes; where there is one class, of that. */
static void receive_move(struct bal_station *s, const struct bal_message_move *move) {
    const uint32_t target = find_peer(s, move->target);
    uint64_t ticket;
    if (target != BAL_DIRECTORY_NOBODY && s->peer[target].kind == STATION)
        bal_station_forward_waiting(s, 1, s->block->config.classes > 1, move->target, &ticket);
}

/* ---- power ---- */

static void send_start(struct bal_station *s) {
    enqueue_message(s, (struct bal_message){.type = BAL_MSG_START, .receiver = s->block->config.keeper});
}

void bal_station_request_start(struct bal_station *s) {
    struct station_block *block = s->block;
    if (!block->config.keeper || block->power != BAL_POWER_OFF || block->wakes)
        return;
    block->wakes = 1;
    send_start(s);
}

/* From here on nothing is passed to the app until the keeper reports that it is on. */
static void request_stop(struct bal_station *s) {
    struct station_block *block = s->block;
    block->power = BAL_POWER_OFF;
    block->stop_sent_at = block->now;
    for (uint32_t i = 0; i < s->dispatchers->count; i++)
        set_offered(s, s->dispatchers->slot[i], 0);
    enqueue_message(s, (struct bal_message){.type = BAL_MSG_STOP, .receiver = block->config.keeper});
    broadcast_power(s);
}

static void receive_power(struct bal_station *s, const struct bal_message_power *state) {
    struct station_block *block = s->block;
    /* What the keeper reported before it received STOP is out of date. */
    if (state->power == BAL_POWER_ON && block->stop_sent_at &&
        block->now < block->stop_sent_at + STOP_GUARD * block->config.beat_ns)
        return;
    const bool changed = state->power != block->power;
    block->power = state->power == BAL_POWER_DRAINING ? BAL_POWER_OFF : state->power;
    block->stop_sent_at = 0;
    /* A failed start is repeated only for requests that wait here. */
    block->wakes =
        block->wakes && block->power == BAL_POWER_OFF && (block->waiting_count || !state->failures);
    if (!changed)
        return;
    block->idle_since = block->now;
    broadcast_power(s);
    bal_station_start_next(s);
    bal_station_offer(s);
    if (queue_length(s)) /* a keeper that drains an app which works must not stop it */
        bal_station_request_start(s);
}

void bal_station_drain(struct bal_station *s, uint64_t now, bool on) {
    bal_station_enter(s, now);
    s->block->draining = on;
    for (uint32_t i = 0; on && i < s->dispatchers->count; i++)
        set_offered(s, s->dispatchers->slot[i], 0);
    broadcast_power(s);
    bal_station_offer(s);
    station_end(s);
}

/* ---- messages received ---- */

/* A BACKLOG to this station alone. It requests one slot, and gets it or the present state; or it declines
 * offers. */
static void receive_backlog_question(struct bal_station *s, uint32_t number, uint64_t until) {
    struct peer *peer = &s->peer[number];
    peer->claim.asked = 1;
    if (peer->claim.held == 0) {
        peer->claim.barred_until = (double)until;
        set_offered(s, number, 0);
        offer_elsewhere(s);
    } else if (!offer_to_backlogged(s, number)) {
        peer->claim.held = 0;
        set_offered(s, number, peer->offered);
        send_heartbeat_to(s, number);
    }
}

static void receive_backlog(struct bal_station *s, uint32_t number, const struct bal_message *message) {
    struct peer *peer = &s->peer[number];
    const uint64_t until = s->block->now + (uint64_t)message->backlog.valid_ms * 1000000;
    claim_update(&peer->claim, message->backlog.held, (double)until);
    set_offered(s, number, peer->offered);
    if (message->receiver == s->block->config.id)
        receive_backlog_question(s, number, until);
    else if (!is_barred(s, number))
        offer_to_backlogged(s, number);
    if (peer->claim.held == 0 && is_backlog_unserved(s)) /* another dispatcher may be able to use its offer
                                                            now */
        offer_to_all_backlogged(s);
}

/* The dispatcher has restarted: sends it the present state. */
static void reset_dispatcher(struct bal_station *s, uint32_t number) {
    struct peer *peer = &s->peer[number];
    claim_reset(&peer->claim);
    set_offered(s, number, 0);
    send_load(s, s->peer_id[number], 0);
    bal_station_offer(s);
}

static void receive_from_dispatcher(struct bal_station *s, uint32_t number, const struct bal_message *message,
                                    bool fresh) {
    switch (message->type) {
    case BAL_MSG_PROBE:
        s->block->counts.probed++;
        send_load(s, message->sender, message->probe.probe);
        break;
    case BAL_MSG_START:
        bal_station_request_start(s);
        send_power_to(s, message->sender);
        break;
    case BAL_MSG_MOVE:
        receive_move(s, &message->move);
        break;
    case BAL_MSG_BACKLOG:
        if (fresh)
            receive_backlog(s, number, message);
        break;
    case BAL_MSG_RESYNC:
        reset_dispatcher(s, number);
        break;
    case BAL_MSG_CHALLENGE: /* it needs the present state */
        send_load(s, message->sender, 0);
        break;
    default:
        break;
    }
}

static void receive_from_station(struct bal_station *s, const struct bal_message *message) {
    if (message->type == BAL_MSG_STEAL)
        receive_steal(s, message);
    if (message->type == BAL_MSG_GRANT)
        receive_grant(s, &message->grant);
    bal_station_offer(s);
}

/* A sender that has restarted must prove its boot; one that sends a challenge is answered, whatever is known
 * of it. */
static enum bal_receipt admit_message(struct bal_station *s, struct bal_replay_window *window,
                                      const struct bal_message *message) {
    struct bal_message challenge;
    const enum bal_receipt receipt = bal_replay_window_admit(window, s->block->now, message);
    if (message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt))
        enqueue_message(s, (struct bal_message){
                               .type = BAL_MSG_PROOF, .receiver = message->sender, .nonce = message->nonce});
    if (receipt == BAL_RECEIPT_UNPROVEN &&
        bal_replay_window_challenge(window, s->block->now, bal_rng_next(&s->rng), message, &challenge))
        enqueue_message(s, challenge);
    return receipt;
}

/* A challenge from the keeper may mean that it has not accepted what was requested. */
static enum bal_receipt receive_from_keeper(struct bal_station *s, const struct bal_message *message) {
    struct station_block *block = s->block;
    const enum bal_receipt receipt = admit_message(s, &block->keeper_window, message);
    if (receipt == BAL_RECEIPT_FRESH && message->type == BAL_MSG_POWER)
        receive_power(s, &message->power);
    if (message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt) && block->wakes)
        send_start(s);
    return receipt;
}

static enum bal_receipt receive_message(struct bal_station *s, const struct bal_message *message) {
    struct station_block *block = s->block;
    if (block->config.keeper && message->sender == block->config.keeper)
        return receive_from_keeper(s, message);
    const uint32_t number = find_peer(s, message->sender);
    if (number == BAL_DIRECTORY_NOBODY)
        return BAL_RECEIPT_UNKNOWN_SENDER;
    struct peer *peer = &s->peer[number];
    const uint64_t boot = peer->window.boot;
    const enum bal_receipt receipt = admit_message(s, &peer->window, message);
    if (boot && peer->window.boot != boot && peer->kind == DISPATCHER)
        reset_dispatcher(s, number);
    if (receipt <= BAL_RECEIPT_LATE && peer->kind == DISPATCHER)
        receive_from_dispatcher(s, number, message, receipt == BAL_RECEIPT_FRESH);
    else if (receipt <= BAL_RECEIPT_LATE)
        receive_from_station(s, message);
    return receipt;
}

enum bal_receipt bal_station_receive(struct bal_station *s, uint64_t now, const struct bal_message *message) {
    bal_station_enter(s, now);
    const enum bal_receipt receipt = receive_message(s, message);
    s->block->counts.receipts[receipt]++;
    if (receipt <= BAL_RECEIPT_LATE)
        s->block->counts.messages_received[message->type]++;
    station_end(s);
    return receipt;
}

/* ---- time ---- */

static void send_heartbeats(struct bal_station *s) {
    struct station_block *block = s->block;
    block->beat_at = block->now + block->config.beat_ns;
    block->answers -= (block->answers + 3) / 4; /* older answers lose weight */
    block->errors -= (block->errors + 3) / 4;
    bal_station_retract_offers(s);
    for (uint32_t i = 0; i < s->dispatchers->count; i++)
        send_heartbeat_to(s, s->dispatchers->slot[i]);
    if (block->waiting_count || block->config.standby_ns == 0)
        bal_station_request_start(s);
    if (block->wakes)
        send_start(s);
    if (queue_length(s) == 0)
        bal_station_steal(s);
    bal_station_offer(s);
}

static bool may_stop(const struct bal_station *s) {
    const struct station_block *block = s->block;
    return block->config.standby_ns && block->power == BAL_POWER_ON && queue_length(s) == 0;
}

/* For policies that need reports of idle servers at a rate. The dispatcher that got the previous offer may
 * still use it, and learns of the change with the next heartbeat. */
static void offer_at_rate(struct bal_station *s) {
    struct station_block *block = s->block;
    block->offer_at = block->now + 1 + (uint64_t)(bal_rng_exp(&s->rng) * (double)block->config.offer_ns);
    const uint32_t number = pick_offer_target(s);
    if (number == BAL_SET_ABSENT || offerable_slots(s) == 0)
        return;
    while (s->holders->count)
        set_offered(s, s->holders->slot[0], 0);
    offer_to(s, number);
}

static uint64_t next_deadline(const struct bal_station *s) {
    const struct station_block *block = s->block;
    uint64_t next = block->beat_at < block->offer_at ? block->beat_at : block->offer_at;
    if (block->steal && block->steal_until < next)
        next = block->steal_until;
    if (is_backlog_unserved(s) && block->now + block->config.beat_ns / 4 < next)
        next = block->now + block->config.beat_ns / 4;
    if (may_stop(s) && block->idle_since + block->config.standby_ns < next)
        next = block->idle_since + block->config.standby_ns;
    return next > block->now ? next : block->now + 1;
}

uint64_t bal_station_run_timers(struct bal_station *s, uint64_t now) {
    bal_station_enter(s, now);
    struct station_block *block = s->block;
    if (block->steal && block->now >= block->steal_until)
        block->steal = 0;
    if (block->expected && block->now >= block->expected_until)
        block->expected = 0;
    if (block->now >= block->beat_at)
        send_heartbeats(s);
    if (is_backlog_unserved(s))
        offer_to_all_backlogged(s);
    if (block->now >= block->offer_at)
        offer_at_rate(s);
    if (may_stop(s) && block->now >= block->idle_since + block->config.standby_ns)
        request_stop(s);
    const uint64_t next = next_deadline(s);
    station_end(s);
    return next;
}

uint64_t bal_station_offered(const struct bal_station *s, uint64_t dispatcher, uint32_t *open) {
    const uint32_t number = find_peer(s, dispatcher);
    const bool known = number != BAL_DIRECTORY_NOBODY;
    *open = known ? s->peer[number].offered : 0;
    return known ? s->peer[number].offers : 0;
}
