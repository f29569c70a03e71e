/* What a station says and hears: offers of free slots, loads, power, stealing; and what time brings. */
#include "live/directory.h"
#include "live/station_private.h"

#include <math.h>

enum { BEATS_VALID = 3, BEATS_FORGOTTEN = 10, WORDS_FORGOTTEN = 3, REST_GUARD = 2 };

static void say(struct bal_station *s, struct bal_message message) {
    struct bal_station_counts *counts = &s->block->counts;
    if (bal_outbox_say(&s->box, &s->block->sender, &message))
        counts->said[message.type] += message.receiver == BAL_EVERYONE ? s->dispatchers->count : 1;
    else
        counts->unsent++;
}

static uint32_t validity(const struct bal_station *s) {
    return bal_milliseconds(BEATS_VALID * s->block->config.beat_ns);
}

static uint32_t find_peer(const struct bal_station *s, uint64_t id) {
    return bal_directory_find(s->directory, s->places, s->peer_id, id);
}

/* ---- what is so ---- */

static uint32_t length(const struct bal_station *s) {
    return s->block->slots_used + s->block->waiting_count;
}

static uint32_t power(const struct bal_station *s) {
    return s->block->draining ? BAL_POWER_DRAINING : s->block->power;
}

static uint32_t latency(const struct bal_station *s) {
    const struct station_block *block = s->block;
    if (block->counts.answered == 0)
        return UINT32_MAX;
    const double us = pace_latency(&block->pace, length(s)) * 1e6;
    return us < UINT32_MAX - 1 ? (uint32_t)us : UINT32_MAX - 1;
}

static void say_load(struct bal_station *s, uint64_t to, uint64_t probe) {
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
                 .latency_us = latency(s),
                 .valid_ms = validity(s),
                 .power = power(s),
                 .classes = block->config.classes}};
    for (uint32_t rank = 0; rank < block->config.classes; rank++)
        message.load.jobs[rank] = block->jobs[rank];
    say(s, message);
}

static void say_power_to(struct bal_station *s, uint64_t to) {
    say(s, (struct bal_message){
               .type = BAL_MSG_POWER, .receiver = to, .power = {.power = power(s), .valid_ms = validity(s)}});
}

static void say_power(struct bal_station *s) {
    say_power_to(s, BAL_EVERYONE);
}

/* ---- offers ---- */

/* Slots that may be offered: those that nobody uses and nobody is expected for. */
static uint32_t available(const struct bal_station *s) {
    const struct station_block *block = s->block;
    const uint32_t slots = free_slots(s);
    const uint32_t expected = block->now < block->expected_until ? block->expected : 0;
    return slots > expected ? slots - expected : 0;
}

static void set_offered(struct bal_station *s, uint32_t number, uint32_t offered) {
    struct peer *peer = &s->peer[number];
    s->block->offered += offered - peer->offered;
    peer->offered = offered;
    if (offered)
        bal_set_insert(s->holders, number);
    else
        bal_set_remove(s->holders, number);
    if (peer->held > offered)
        bal_set_insert(s->hungry, number);
    else
        bal_set_remove(s->hungry, number);
}

/* So many slots are offered to it. */
static struct bal_message idle_message(const struct bal_station *s, uint32_t number, uint32_t offered) {
    return (struct bal_message){.type = BAL_MSG_IDLE,
                                .receiver = s->peer_id[number],
                                .idle = {.free = offered,
                                         .slots = s->block->config.slots,
                                         .valid_ms = validity(s),
                                         .token = s->peer[number].offers}};
}

static void say_idle(struct bal_station *s, uint32_t number) {
    say(s, idle_message(s, number, s->peer[number].offered));
}

/* What it has been offered and not used; nothing: how busy the station is. */
static void say_present(struct bal_station *s, uint32_t number) {
    if (s->peer[number].offered)
        say_idle(s, number);
    else
        say_load(s, s->peer_id[number], 0);
}

/* A hungry one, if any is known to be; else a uniform one; BAL_SET_ABSENT: there is none. */
static uint32_t whom(struct bal_station *s) {
    while (s->hungry->count) {
        const uint32_t number = bal_set_uniform(s->hungry, &s->rng);
        struct peer *peer = &s->peer[number];
        if (s->block->now < peer->hungry_until)
            return number;
        peer->held = 0;
        bal_set_remove(s->hungry, number);
    }
    return s->dispatchers->count ? bal_set_uniform(s->dispatchers, &s->rng) : BAL_SET_ABSENT;
}

static void offer_to(struct bal_station *s, uint32_t number) {
    s->peer[number].offers++;
    s->block->counts.offers++;
    set_offered(s, number, s->peer[number].offered + 1);
    say_idle(s, number);
}

void bal_station_offer(struct bal_station *s) {
    while (s->block->config.offer_ns == 0 && s->block->offered < available(s)) {
        const uint32_t number = whom(s);
        if (number == BAL_SET_ABSENT)
            return;
        offer_to(s, number);
    }
}

void bal_station_use_offer(struct bal_station *s, uint64_t dispatcher) {
    const uint32_t number = find_peer(s, dispatcher);
    if (number != BAL_DIRECTORY_NOBODY && s->peer[number].offered)
        set_offered(s, number, s->peer[number].offered - 1);
}

/* ---- offers that ride on responses ---- */

/* Will a slot be free that may be offered, when this request has ended and nothing else happens? */
static bool will_be_free(const struct bal_station *s) {
    const struct station_block *block = s->block;
    return block->config.offer_ns == 0 && block->power == BAL_POWER_ON && !block->draining &&
           block->waiting_count == 0 && block->offered <= available(s);
}

bool bal_station_promise(struct bal_station *s, uint64_t now, uint64_t ticket, struct bal_message *message) {
    bal_station_enter(s, now);
    const uint32_t i = bal_ledger_find(&s->ledger, ticket);
    struct job *j = i == BAL_NOBODY ? NULL : job_at(s, i);
    const bool may = j && j->entry.state == RUNNING && !j->moved && !j->heir && will_be_free(s);
    const uint32_t sender = may && j->dispatcher ? find_peer(s, j->dispatcher) : BAL_DIRECTORY_NOBODY;
    const bool known = sender != BAL_DIRECTORY_NOBODY && s->peer[sender].kind == DISPATCHER;
    const uint32_t heir = known ? whom(s) : BAL_SET_ABSENT;
    if (known)
        j->heir = s->peer_id[heir];
    if (known && heir == sender) {
        s->peer[heir].offers++;
        *message = idle_message(s, heir, s->peer[heir].offered + 1);
        bal_sender_stamp(&s->block->sender, message);
        j->promise = message->sequence;
    }
    station_end(s);
    return known && heir == sender;
}

/* What has been said since may make the promise look late: then it is said again. */
void bal_station_bequeath(struct bal_station *s, uint64_t heir, uint64_t promise) {
    const uint32_t number = find_peer(s, heir);
    if (number == BAL_DIRECTORY_NOBODY)
        return;
    const bool others_starve = s->hungry->count && !bal_set_contains(s->hungry, number);
    if (others_starve || s->block->offered >= available(s)) {
        if (promise)
            say_present(s, number);
    } else if (promise && s->block->sender.sequence == promise) {
        s->block->counts.offers++;
        s->block->counts.rode++;
        set_offered(s, number, s->peer[number].offered + 1);
    } else {
        offer_to(s, number);
    }
}

void bal_station_void_offers(struct bal_station *s) {
    while (s->block->offered > available(s)) {
        const uint32_t number = bal_set_uniform(s->holders, &s->rng);
        set_offered(s, number, s->peer[number].offered - 1);
    }
}

static void take_back(struct bal_station *s, uint32_t number) {
    set_offered(s, number, s->peer[number].offered - 1);
    say_present(s, number);
}

/* Somebody who has been offered a slot and is not hungry himself; BAL_SET_ABSENT: nobody was found. */
static uint32_t find_holder(struct bal_station *s, uint32_t but) {
    enum { DRAWS = 4 };
    for (int i = 0; s->holders->count && i < DRAWS; i++) {
        const uint32_t number = bal_set_uniform(s->holders, &s->rng);
        if (number != but && s->peer[number].held == 0)
            return number;
    }
    return BAL_SET_ABSENT;
}

/* As many slots as a hungry dispatcher holds requests are offered to it, if need be after they have been
 * taken back from others. */
static void feed(struct bal_station *s, uint32_t number) {
    const uint32_t slots = available(s);
    const uint32_t wanted = s->peer[number].held < slots ? s->peer[number].held : slots;
    while (s->block->config.offer_ns == 0 && s->peer[number].offered < wanted) {
        if (s->block->offered >= slots) {
            const uint32_t holder = find_holder(s, number);
            if (holder == BAL_SET_ABSENT)
                return;
            take_back(s, holder);
        }
        offer_to(s, number);
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
    say(s, (struct bal_message){.type = BAL_MSG_STEAL,
                                .receiver = s->peer_id[victim],
                                .steal = {.steal = block->steal, .most = BAL_GRANT_MAX}});
}

static void hear_steal(struct bal_station *s, const struct bal_message *message) {
    struct bal_message grant = {
        .type = BAL_MSG_GRANT, .receiver = message->sender, .grant = {.steal = message->steal.steal}};
    uint32_t amount = bal_steal_amount(&s->block->config.steal, length(s));
    amount = amount < message->steal.most ? amount : message->steal.most;
    amount = amount < BAL_GRANT_MAX ? amount : BAL_GRANT_MAX;
    grant.grant.count = bal_station_give(s, amount, 0, message->sender, grant.grant.tickets);
    say(s, grant);
}

static void hear_grant(struct bal_station *s, const struct bal_message_grant *grant) {
    struct station_block *block = s->block;
    if (grant->steal != block->steal)
        return;
    block->steal = 0;
    block->expected = grant->count;
    block->expected_until = block->now + block->config.steal_ns;
}

/* The last one of the low classes; where there is one class, of that. */
static void hear_move(struct bal_station *s, const struct bal_message_move *move) {
    const uint32_t target = find_peer(s, move->target);
    uint64_t ticket;
    if (target != BAL_DIRECTORY_NOBODY && s->peer[target].kind == STATION)
        bal_station_give(s, 1, s->block->config.classes > 1, move->target, &ticket);
}

/* ---- power ---- */

static void say_wake(struct bal_station *s) {
    say(s, (struct bal_message){.type = BAL_MSG_WAKE, .receiver = s->block->config.keeper});
}

void bal_station_wake_app(struct bal_station *s) {
    struct station_block *block = s->block;
    if (!block->config.keeper || block->power != BAL_POWER_OFF || block->wakes)
        return;
    block->wakes = 1;
    say_wake(s);
}

/* From here on nothing is passed to the app before the keeper says that it is on. */
static void let_rest(struct bal_station *s) {
    struct station_block *block = s->block;
    block->power = BAL_POWER_OFF;
    block->rested_at = block->now;
    for (uint32_t i = 0; i < s->dispatchers->count; i++)
        set_offered(s, s->dispatchers->slot[i], 0);
    say(s, (struct bal_message){.type = BAL_MSG_REST, .receiver = block->config.keeper});
    say_power(s);
}

static void hear_keeper(struct bal_station *s, const struct bal_message_power *said) {
    struct station_block *block = s->block;
    /* What the keeper said before it heard that the app may rest is not true any longer. */
    if (said->power == BAL_POWER_ON && block->rested_at &&
        block->now < block->rested_at + REST_GUARD * block->config.beat_ns)
        return;
    const bool changed = said->power != block->power;
    block->power = said->power == BAL_POWER_DRAINING ? BAL_POWER_OFF : said->power;
    block->rested_at = 0;
    /* A start that came to nothing is tried again for those that wait here alone. */
    block->wakes = block->wakes && block->power == BAL_POWER_OFF && (block->waiting_count || !said->failures);
    if (!changed)
        return;
    block->idle_since = block->now;
    say_power(s);
    bal_station_call_next(s);
    bal_station_offer(s);
    if (length(s)) /* a keeper that drains an app which works must not stop it */
        bal_station_wake_app(s);
}

void bal_station_drain(struct bal_station *s, uint64_t now, bool on) {
    bal_station_enter(s, now);
    s->block->draining = on;
    for (uint32_t i = 0; on && i < s->dispatchers->count; i++)
        set_offered(s, s->dispatchers->slot[i], 0);
    say_power(s);
    bal_station_offer(s);
    station_end(s);
}

/* ---- what is heard ---- */

static void hear_dispatcher(struct bal_station *s, uint32_t number, const struct bal_message *message,
                            bool fresh) {
    struct peer *peer = &s->peer[number];
    switch (message->type) {
    case BAL_MSG_PROBE:
        s->block->counts.probed++;
        say_load(s, message->sender, message->probe.probe);
        break;
    case BAL_MSG_WAKE:
        bal_station_wake_app(s);
        say_power_to(s, message->sender);
        break;
    case BAL_MSG_MOVE:
        hear_move(s, &message->move);
        break;
    case BAL_MSG_HUNGRY:
        if (!fresh)
            break;
        peer->held = message->hungry.held;
        peer->hungry_until = s->block->now + (uint64_t)message->hungry.valid_ms * 1000000;
        set_offered(s, number, peer->offered);
        feed(s, number);
        break;
    case BAL_MSG_RESYNC:
        peer->held = 0;
        set_offered(s, number, 0);
        say_load(s, message->sender, 0);
        bal_station_offer(s);
        break;
    default:
        break;
    }
}

static void hear_station(struct bal_station *s, const struct bal_message *message) {
    if (message->type == BAL_MSG_STEAL)
        hear_steal(s, message);
    if (message->type == BAL_MSG_GRANT)
        hear_grant(s, &message->grant);
    bal_station_offer(s);
}

/* Whose clock has gone back is believed again when nothing has been heard of it for long. */
static enum bal_receipt admit(struct bal_station *s, struct bal_window *window, uint64_t *heard,
                              uint64_t forgotten_ns, const struct bal_message *message) {
    enum bal_receipt receipt = bal_window_pass(window, message->boot, message->sequence);
    if (receipt == BAL_RECEIPT_OLD && s->block->now >= *heard + forgotten_ns &&
        bal_window_forgive(window, message->boot, message->sequence))
        receipt = BAL_RECEIPT_FRESH;
    if (receipt <= BAL_RECEIPT_LATE)
        *heard = s->block->now;
    return receipt;
}

/* A keeper beats at a pace of its own: it says for how long its word is good. */
static enum bal_receipt hear_of_keeper(struct bal_station *s, const struct bal_message *message) {
    struct station_block *block = s->block;
    const enum bal_receipt receipt = admit(s, &block->keeper_window, &block->keeper_heard,
                                           block->keeper_valid_ns * WORDS_FORGOTTEN, message);
    if (receipt == BAL_RECEIPT_FRESH && message->type == BAL_MSG_POWER) {
        block->keeper_valid_ns = (uint64_t)message->power.valid_ms * 1000000;
        hear_keeper(s, &message->power);
    }
    return receipt;
}

static enum bal_receipt hear(struct bal_station *s, const struct bal_message *message) {
    struct station_block *block = s->block;
    if (block->config.keeper && message->sender == block->config.keeper)
        return hear_of_keeper(s, message);
    const uint32_t number = find_peer(s, message->sender);
    if (number == BAL_DIRECTORY_NOBODY)
        return BAL_RECEIPT_STRANGER;
    struct peer *peer = &s->peer[number];
    const enum bal_receipt receipt =
        admit(s, &peer->window, &peer->heard, BEATS_FORGOTTEN * block->config.beat_ns, message);
    if (receipt <= BAL_RECEIPT_LATE && s->peer[number].kind == DISPATCHER)
        hear_dispatcher(s, number, message, receipt == BAL_RECEIPT_FRESH);
    else if (receipt <= BAL_RECEIPT_LATE)
        hear_station(s, message);
    return receipt;
}

enum bal_receipt bal_station_hear(struct bal_station *s, uint64_t now, const struct bal_message *message) {
    bal_station_enter(s, now);
    const enum bal_receipt receipt = hear(s, message);
    s->block->counts.receipts[receipt]++;
    if (receipt <= BAL_RECEIPT_LATE)
        s->block->counts.heard[message->type]++;
    station_end(s);
    return receipt;
}

/* ---- time ---- */

/* What is offered is offered anew, for it may have been lost on the way. */
static void beat_to(struct bal_station *s, uint32_t number) {
    struct peer *peer = &s->peer[number];
    peer->offers += peer->offered;
    say_present(s, number);
}

static void beat(struct bal_station *s) {
    struct station_block *block = s->block;
    block->beat_at = block->now + block->config.beat_ns;
    block->answers -= (block->answers + 3) / 4; /* what is of late fades */
    block->errors -= (block->errors + 3) / 4;
    bal_station_void_offers(s);
    for (uint32_t i = 0; i < s->dispatchers->count; i++)
        beat_to(s, s->dispatchers->slot[i]);
    if (block->waiting_count || block->config.standby_ns == 0)
        bal_station_wake_app(s);
    if (block->wakes)
        say_wake(s);
    if (length(s) == 0)
        bal_station_steal(s);
    bal_station_offer(s);
}

static bool may_rest(const struct bal_station *s) {
    const struct station_block *block = s->block;
    return block->config.standby_ns && block->power == BAL_POWER_ON && length(s) == 0;
}

/* For policies that want to hear of idle servers at a rate. Whoever was told before may go there too, and
 * hears of it with the next heartbeat. */
static void offer_at_rate(struct bal_station *s) {
    struct station_block *block = s->block;
    block->offer_at = block->now + 1 + (uint64_t)(bal_rng_exp(&s->rng) * (double)block->config.offer_ns);
    const uint32_t number = whom(s);
    if (number == BAL_SET_ABSENT || available(s) == 0)
        return;
    while (s->holders->count)
        set_offered(s, s->holders->slot[0], 0);
    offer_to(s, number);
}

static uint64_t next_time(const struct bal_station *s) {
    const struct station_block *block = s->block;
    uint64_t next = block->beat_at < block->offer_at ? block->beat_at : block->offer_at;
    if (block->steal && block->steal_until < next)
        next = block->steal_until;
    if (may_rest(s) && block->idle_since + block->config.standby_ns < next)
        next = block->idle_since + block->config.standby_ns;
    return next > block->now ? next : block->now + 1;
}

uint64_t bal_station_pass(struct bal_station *s, uint64_t now) {
    bal_station_enter(s, now);
    struct station_block *block = s->block;
    if (block->steal && block->now >= block->steal_until)
        block->steal = 0;
    if (block->expected && block->now >= block->expected_until)
        block->expected = 0;
    if (block->now >= block->beat_at)
        beat(s);
    if (block->now >= block->offer_at)
        offer_at_rate(s);
    if (may_rest(s) && block->now >= block->idle_since + block->config.standby_ns)
        let_rest(s);
    const uint64_t next = next_time(s);
    station_end(s);
    return next;
}

uint64_t bal_station_offered(const struct bal_station *s, uint64_t dispatcher, uint32_t *open) {
    const uint32_t number = find_peer(s, dispatcher);
    const bool known = number != BAL_DIRECTORY_NOBODY;
    *open = known ? s->peer[number].offered : 0;
    return known ? s->peer[number].offers : 0;
}
