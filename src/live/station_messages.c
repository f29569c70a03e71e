/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of a station: offers of free slots, loads, power, stealing; and its timers.
 *
 * Who is offered a free slot: policy/offers.h decides, for the lab as well. A dispatcher that holds requests
 * sends BACKLOG: to all stations, again with every beat as long as it holds any, or to this one alone, which
 * requests one slot now and is always answered. One that knows that it cannot use offers sends BACKLOG to
 * this station with none held. */
#include "live/directory.h"
#include "live/station_private.h"

#include <math.h>

enum { STOP_GUARD = 2 };

void bli_station_enqueue_message(struct bal_station *s, struct bal_message message) {
    struct bal_station_counts *counts = &s->block->counts;
    if (bli_outbox_add(&s->box, &s->block->sender, &message))
        counts->messages_sent[message.type] += message.receiver == BAL_EVERYONE ? s->dispatchers->count : 1;
    else
        counts->unsent++;
}

static uint32_t validity_ms(uint64_t interval_ns) {
    return bli_milliseconds(BLI_STATEMENT_BEATS * interval_ns);
}

static uint32_t find_peer(const struct bal_station *s, uint64_t id) {
    return bli_directory_find(s->directory, s->places, s->peer_id, id);
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

static void send_load(struct bal_station *s, uint32_t number, uint64_t probe) {
    const struct station_block *block = s->block;
    const uint32_t taken = block->waiting_count + block->away, slots = slots_now(block);
    const uint32_t unused = slots > block->slots_used ? slots - block->slots_used : 0;
    struct bal_message message = {.type = BAL_MSG_LOAD,
                                  .receiver = s->peer_id[number],
                                  .load = {.probe = probe,
                                           .slots = slots,
                                           .in_service = block->slots_used,
                                           .room = unused + (block->config.queue - taken),
                                           .answers = block->answers,
                                           .errors = block->errors,
                                           .latency_us = expected_latency_us(s),
                                           .valid_ms = validity_ms(heartbeat_interval_ns(s, number)),
                                           .power = reported_power(s),
                                           .classes = block->config.classes}};
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        message.load.jobs[rank] = block->jobs[rank];
    bli_station_enqueue_message(s, message);
}

static void send_power(struct bal_station *s, uint64_t to, uint64_t interval) {
    bli_station_enqueue_message(
        s, (struct bal_message){.type = BAL_MSG_POWER,
                                .receiver = to,
                                .power = {.power = reported_power(s), .valid_ms = validity_ms(interval)}});
}

/* One message for all: valid until the next heartbeat to that with the longest interval. */
static void broadcast_power(struct bal_station *s) {
    uint64_t longest = s->block->config.beat_ns;
    for (uint32_t i = 0; i < s->dispatchers->count; i++) {
        const uint64_t interval = heartbeat_interval_ns(s, s->dispatchers->slot[i]);
        longest = interval > longest ? interval : longest;
    }
    send_power(s, BAL_EVERYONE, longest);
}

/* ---- offers ---- */

/* Slots that may be offered: those that are not in use and not kept for requests that were granted. */
static uint32_t offerable_slots(const struct bal_station *s) {
    const struct station_block *block = s->block;
    const uint32_t slots = free_slots(s);
    const uint32_t expected = block->now < block->expected_until ? block->expected : 0;
    return slots > expected ? slots - expected : 0;
}

/* An IDLE message that offers it so many slots. */
static struct bal_message idle_message(const struct bal_station *s, uint32_t number, uint32_t offered) {
    return (struct bal_message){.type = BAL_MSG_IDLE,
                                .receiver = s->peer_id[number],
                                .idle = {.free = offered,
                                         .slots = slots_now(s->block),
                                         .valid_ms = validity_ms(heartbeat_interval_ns(s, number)),
                                         .token = s->peer[number].party.offers}};
}

static void send_offer(struct bal_station *s, uint32_t number) {
    bli_station_enqueue_message(s, idle_message(s, number, s->peer[number].party.offered));
}

/* Sends it its unused offers; if there are none, the load. */
static void send_current_state(struct bal_station *s, uint32_t number) {
    if (s->peer[number].party.offered)
        send_offer(s, number);
    else
        send_load(s, number, 0);
}

/* Unused offers are sent again, because the message may have been lost. */
static void send_heartbeat_to(struct bal_station *s, uint32_t number) {
    offer_renew(&s->peer[number].party);
    send_current_state(s, number);
}

static void send_offer_news(void *host, uint32_t number, enum bli_offer_news news) {
    struct bal_station *s = host;
    switch (news) {
    case BLI_OFFER_MADE:
        s->block->counts.offers++;
        s->peer[number].news = s->peer[number].news ? s->peer[number].news : PACE_REPEAT_BEATS;
        send_offer(s, number);
        break;
    case BLI_OFFER_CHANGED:
        send_current_state(s, number);
        break;
    case BLI_OFFER_REFUSED:
        send_heartbeat_to(s, number);
        break;
    }
}

struct bli_offers bli_station_offers(struct bal_station *s) {
    struct station_block *block = s->block;
    return (struct bli_offers){.party = &s->peer[0].party,
                               .stride = sizeof *s->peer,
                               .dispatchers = s->dispatchers,
                               .holders = s->holders,
                               .backlogged = s->backlogged,
                               .offered = &block->offered,
                               .slots = offerable_slots(s),
                               .at_rate = block->config.offer_ns != 0,
                               .now = (double)block->now,
                               .beat = (double)block->config.beat_ns,
                               .rng = &s->rng,
                               .send = send_offer_news,
                               .host = s};
}

void bli_station_offer(struct bal_station *s) {
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_fill(&offers);
}

void bli_station_retract_offers(struct bal_station *s) {
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_trim(&offers);
}

static void clear_offers(struct bal_station *s) {
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_clear(&offers);
}

void bli_station_use_offer(struct bal_station *s, uint64_t dispatcher) {
    const uint32_t number = find_peer(s, dispatcher);
    if (number == BLI_DIRECTORY_NOBODY || s->peer[number].kind != DISPATCHER)
        return;
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_use(&offers, number);
}

/* ---- offers that are sent with responses ---- */

bool bal_station_piggyback_offer(struct bal_station *s, uint64_t now, uint64_t ticket,
                                 struct bal_message *message) {
    bli_station_enter(s, now);
    const struct station_block *block = s->block;
    const uint32_t i = bli_ledger_find(&s->ledger, ticket);
    struct station_job *j = i == BLI_NOBODY ? NULL : job_at(s, i);
    const struct bli_offers offers = bli_station_offers(s);
    const bool may = j && j->entry.state == RUNNING && !j->moved && !j->reserved_for &&
                     block->power == BAL_POWER_ON && !block->draining &&
                     offers_fit_response(&offers, block->waiting_count);
    const uint32_t sender = may && j->dispatcher ? find_peer(s, j->dispatcher) : BLI_DIRECTORY_NOBODY;
    const bool known = sender != BLI_DIRECTORY_NOBODY && s->peer[sender].kind == DISPATCHER;
    const uint32_t reserved_for = known ? bli_offers_reserve(&offers, sender) : BAL_SET_ABSENT;
    if (known)
        j->reserved_for = s->peer_id[reserved_for];
    if (known && reserved_for == sender) {
        *message = idle_message(s, reserved_for, s->peer[reserved_for].party.offered + 1);
        bal_sender_stamp(&s->block->sender, message);
        j->piggyback_seq = message->sequence;
    }
    station_end(s);
    return known && reserved_for == sender;
}

/* Messages sent since may make the piggybacked offer look late: then it is sent again. */
void bli_station_offer_reserved_slot(struct bal_station *s, uint64_t reserved_for, uint64_t piggyback_seq) {
    const uint32_t number = find_peer(s, reserved_for);
    if (number == BLI_DIRECTORY_NOBODY)
        return;
    const struct bli_offers offers = bli_station_offers(s);
    const bool newest = s->block->sender.sequence == piggyback_seq;
    if (bli_offers_end_reservation(&offers, number,
                                   piggyback_seq == 0 ? BLI_RIDE_NONE
                                   : newest           ? BLI_RIDE_NEWEST
                                                      : BLI_RIDE_OUTDATED)) {
        s->block->counts.offers++;
        s->block->counts.piggybacked++;
    }
}

/* ---- stealing ---- */

void bli_station_steal(struct bal_station *s) {
    struct station_block *block = s->block;
    if (block->config.steal.kind == BAL_STEAL_NONE || block->steal || s->stations->count == 0 ||
        free_slots(s) == 0)
        return;
    const uint32_t victim = bal_set_uniform(s->stations, &s->rng);
    block->steal = bal_rng_next(&s->rng) | 1;
    block->steal_until = block->now + block->config.steal_ns;
    bli_station_enqueue_message(
        s, (struct bal_message){.type = BAL_MSG_STEAL,
                                .receiver = s->peer_id[victim],
                                .steal = {.steal = block->steal, .most = BAL_GRANT_MAX}});
}

static void receive_steal(struct bal_station *s, const struct bal_message *message) {
    struct bal_message grant = {
        .type = BAL_MSG_GRANT, .receiver = message->sender, .grant = {.steal = message->steal.steal}};
    uint32_t amount = bal_steal_amount(&s->block->config.steal, queue_length(s));
    amount = amount < message->steal.most ? amount : message->steal.most;
    amount = amount < BAL_GRANT_MAX ? amount : BAL_GRANT_MAX;
    grant.grant.count = bli_station_forward_waiting(s, amount, 0, message->sender, grant.grant.tickets);
    bli_station_enqueue_message(s, grant);
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
    if (target != BLI_DIRECTORY_NOBODY && s->peer[target].kind == STATION)
        bli_station_forward_waiting(s, 1, s->block->config.classes > 1, move->target, &ticket);
}

/* ---- power ---- */

static void send_start(struct bal_station *s) {
    struct station_block *block = s->block;
    block->start_sent_at = block->start_sent_at ? block->start_sent_at : block->now;
    bli_station_enqueue_message(
        s, (struct bal_message){.type = BAL_MSG_START, .receiver = block->config.keeper});
}

void bli_station_request_start(struct bal_station *s) {
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
    clear_offers(s);
    bli_station_enqueue_message(s,
                                (struct bal_message){.type = BAL_MSG_STOP, .receiver = block->config.keeper});
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
    bli_station_start_next(s);
    bli_station_offer(s);
    if (queue_length(s)) /* a keeper that drains an app which works must not stop it */
        bli_station_request_start(s);
}

void bal_station_drain(struct bal_station *s, uint64_t now, bool on) {
    bli_station_enter(s, now);
    s->block->draining = on;
    if (on)
        clear_offers(s);
    broadcast_power(s);
    bli_station_offer(s);
    station_end(s);
}

/* ---- messages received ---- */

static void receive_backlog(struct bal_station *s, uint32_t number, const struct bal_message *message) {
    const struct bli_offers offers = bli_station_offers(s);
    const uint64_t until = s->block->now + (uint64_t)message->backlog.valid_ms * 1000000;
    bli_offers_receive_backlog(&offers, number, message->backlog.held, (double)until,
                               message->receiver == s->block->config.id);
}

/* The dispatcher has restarted: sends it the present state. */
void bli_station_reset_dispatcher(struct bal_station *s, uint32_t number) {
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_reset(&offers, number);
}

/* It hears of us at once, so that it knows how long that is valid; when it hears of us again is random, so
 * that not all stations do it at the same time. */
static void set_pace(struct bal_station *s, uint32_t number, uint32_t beat_ms) {
    struct station_peer *peer = &s->peer[number];
    peer->pace_ns = (uint64_t)beat_ms * 1000000;
    peer->beat_due = s->block->now + (uint64_t)(bal_rng_uniform(&s->rng) * (double)peer->pace_ns);
    send_heartbeat_to(s, number);
}

static void receive_from_dispatcher(struct bal_station *s, uint32_t number, const struct bal_message *message,
                                    bool fresh) {
    switch (message->type) {
    case BAL_MSG_PROBE:
        s->block->counts.probed++;
        send_load(s, number, message->probe.probe);
        break;
    case BAL_MSG_START:
        bli_station_request_start(s);
        send_power(s, message->sender, heartbeat_interval_ns(s, number));
        break;
    case BAL_MSG_MOVE:
        receive_move(s, &message->move);
        break;
    case BAL_MSG_BACKLOG:
        if (fresh)
            receive_backlog(s, number, message);
        break;
    case BAL_MSG_RESYNC:
        bli_station_reset_dispatcher(s, number);
        break;
    case BAL_MSG_PACE:
        if (fresh)
            set_pace(s, number, message->pace.beat_ms);
        break;
    case BAL_MSG_CHALLENGE: /* it needs the present state */
        send_load(s, number, 0);
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
    bli_station_offer(s);
}

/* A sender that has restarted must prove its boot; one that sends a challenge is answered, whatever is known
 * of it. */
static enum bal_receipt admit_message(struct bal_station *s, struct bal_replay_window *window,
                                      const struct bal_message *message) {
    struct bal_message challenge;
    const enum bal_receipt receipt = bal_replay_window_admit(window, s->block->now, message);
    if (message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt))
        bli_station_enqueue_message(s, (struct bal_message){.type = BAL_MSG_PROOF,
                                                            .receiver = message->sender,
                                                            .nonce = message->nonce});
    if (receipt == BAL_RECEIPT_UNPROVEN &&
        bal_replay_window_challenge(window, s->block->now, bal_rng_next(&s->rng), message, &challenge))
        bli_station_enqueue_message(s, challenge);
    return receipt;
}

/* A challenge from the keeper may mean that it has not accepted what was requested. */
static enum bal_receipt receive_from_keeper(struct bal_station *s, const struct bal_message *message) {
    struct station_block *block = s->block;
    const enum bal_receipt receipt = admit_message(s, &block->keeper_window, message);
    if (receipt == BAL_RECEIPT_FRESH)
        block->start_sent_at = 0;
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
    if (number == BLI_DIRECTORY_NOBODY)
        return bli_station_receive_unknown(s, message);
    struct station_peer *peer = &s->peer[number];
    const uint64_t boot = peer->window.boot;
    const enum bal_receipt receipt = admit_message(s, &peer->window, message);
    if (receipt <= BAL_RECEIPT_LATE)
        bli_station_peer_heard(s, number);
    if (message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt))
        bli_station_answer_challenge(s, number, message->nonce.nonce);
    if (boot && peer->window.boot != boot && peer->kind == DISPATCHER) {
        peer->pace_ns = 0;
        bli_station_reset_dispatcher(s, number);
    }
    if (receipt <= BAL_RECEIPT_LATE && peer->kind == DISPATCHER)
        receive_from_dispatcher(s, number, message, receipt == BAL_RECEIPT_FRESH);
    else if (receipt <= BAL_RECEIPT_LATE)
        receive_from_station(s, message);
    return receipt;
}

enum bal_receipt bal_station_receive(struct bal_station *s, uint64_t now, const struct bal_message *message) {
    bli_station_enter(s, now);
    const enum bal_receipt receipt = receive_message(s, message);
    s->block->counts.receipts[receipt]++;
    if (receipt <= BAL_RECEIPT_LATE)
        s->block->counts.messages_received[message->type]++;
    station_end(s);
    return receipt;
}

/* ---- time ---- */

static void send_heartbeat_in_turn(struct bal_station *s, uint32_t number) {
    const struct station_block *block = s->block;
    struct station_peer *peer = &s->peer[number];
    const bool due = pace_is_time((double)peer->pace_ns, (double)block->config.beat_ns, (double)block->now,
                                  (double)peer->beat_due);
    const bool again = peer->news == 1 && peer->party.offered;
    peer->news -= peer->news > 0;
    if (!due && !again)
        return;
    peer->news = 0;
    if (due)
        peer->beat_due = block->now + peer->pace_ns;
    send_heartbeat_to(s, number);
}

static void send_heartbeats(struct bal_station *s) {
    struct station_block *block = s->block;
    block->beat_at = block->now + block->config.beat_ns;
    block->answers -= (block->answers + 3) / 4; /* older answers lose weight */
    block->errors -= (block->errors + 3) / 4;
    bli_station_retract_offers(s);
    for (uint32_t i = 0; i < s->dispatchers->count; i++)
        send_heartbeat_in_turn(s, s->dispatchers->slot[i]);
    if (block->waiting_count || block->config.standby_ns == 0)
        bli_station_request_start(s);
    if (block->wakes)
        send_start(s);
    if (queue_length(s) == 0)
        bli_station_steal(s);
    const struct bli_offers offers = bli_station_offers(s);
    bli_offers_beat(&offers);
}

static bool may_stop(const struct bal_station *s) {
    const struct station_block *block = s->block;
    return block->config.standby_ns && block->power == BAL_POWER_ON && queue_length(s) == 0;
}

/* For policies that need reports of idle servers at a rate. The dispatcher that got the previous offer may
 * still use it, and learns of the change with the next heartbeat. */
static void offer_at_rate(struct bal_station *s) {
    struct station_block *block = s->block;
    const struct bli_offers offers = bli_station_offers(s);
    block->offer_at = block->now + 1 + (uint64_t)(bal_rng_exp(&s->rng) * (double)block->config.offer_ns);
    bli_offers_move(&offers);
}

/* overdue_at: when a request will have waited for too long. */
static uint64_t next_deadline(struct bal_station *s, uint64_t overdue_at) {
    const struct station_block *block = s->block;
    uint64_t next = block->beat_at < block->offer_at ? block->beat_at : block->offer_at;
    next = overdue_at < next ? overdue_at : next;
    if (block->steal && block->steal_until < next)
        next = block->steal_until;
    if (may_stop(s) && block->idle_since + block->config.standby_ns < next)
        next = block->idle_since + block->config.standby_ns;
    return next > block->now ? next : block->now + 1;
}

uint64_t bal_station_run_timers(struct bal_station *s, uint64_t now) {
    bli_station_enter(s, now);
    struct station_block *block = s->block;
    if (block->steal && block->now >= block->steal_until)
        block->steal = 0;
    if (block->expected && block->now >= block->expected_until)
        block->expected = 0;
    const uint64_t overdue_at = bli_station_refuse_overdue(s);
    if (block->now >= block->beat_at) {
        bli_station_update_members(s);
        send_heartbeats(s);
    }
    if (block->now >= block->offer_at)
        offer_at_rate(s);
    if (may_stop(s) && block->now >= block->idle_since + block->config.standby_ns)
        request_stop(s);
    const uint64_t next = next_deadline(s, overdue_at);
    station_end(s);
    return next;
}

uint64_t bal_station_offered(const struct bal_station *s, uint64_t dispatcher, uint32_t *open) {
    const uint32_t number = find_peer(s, dispatcher);
    const bool known = number != BLI_DIRECTORY_NOBODY;
    *open = known ? s->peer[number].party.offered : 0;
    return known ? s->peer[number].party.offers : 0;
}
