/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatchers that no list of the station names, and dispatchers that may not know the station.
 *
 * A member is a peer with a time at which it is forgotten; each of its messages puts that off. The station
 * itself asks to join at dispatchers of its list from which nothing comes: soon where it is a member or knows
 * nothing yet, because the dispatcher may have restarted and forgotten it, and seldom elsewhere. */
#include "live/directory.h"
#include "live/station_private.h"

/* In heartbeats to it: how long a dispatcher is silent until it is sent a JOIN. */
enum { SOON = 5, SELDOM = 30 };

static bool is_member(const struct station_peer *peer) {
    return peer->kind == DISPATCHER && peer->member_until > 0;
}

/* The caller rebuilds the sets. NULL: there is no room. */
static struct station_peer *add_member(struct bal_station *s, const struct bal_member *member) {
    struct station_block *block = s->block;
    const uint32_t number = bli_station_free_peer(s);
    if (number == BLI_NOBODY)
        return NULL;
    struct station_peer *peer = &s->peer[number];
    *peer = (struct station_peer){.member_until = block->now + block->config.join.silent_ns,
                                  .heard_at = block->now,
                                  .address = member->address,
                                  .party = {.offers = block->offers_before}};
    s->peer_id[number] = member->id;
    __atomic_store_n(&peer->kind, (uint32_t)DISPATCHER, __ATOMIC_RELEASE);
    bli_joins_add(&block->joins);
    return peer;
}

void bal_station_adopt_members(struct bal_station *s, uint64_t now, const struct bal_member *members,
                               uint32_t count) {
    bli_station_enter(s, now);
    for (uint32_t i = 0; i < count; i++)
        if (bli_directory_find(s->directory, s->places, s->peer_id, members[i].id) == BLI_DIRECTORY_NOBODY &&
            bli_joins_may_adopt(&s->block->joins, &s->block->config.join, &members[i]))
            add_member(s, &members[i]);
    bli_station_rebuild_peer_sets(s);
    bli_station_offer(s);
    station_end(s);
}

enum bal_receipt bli_station_receive_unknown(struct bal_station *s, const struct bal_message *message) {
    struct station_block *block = s->block;
    struct bal_message challenge;
    bool challenged;
    const enum bal_receipt receipt =
        bli_joins_receive(&block->joins, &block->config.join, BAL_JOIN_DISPATCHER, block->now, &s->rng,
                          message, &challenge, &challenged);
    if (challenged)
        bli_station_enqueue_message(s, challenge);
    if (receipt != BAL_RECEIPT_FRESH)
        return receipt;
    const struct bal_member member = {message->sender, message->join.address};
    struct station_peer *peer = add_member(s, &member);
    if (!peer)
        return BAL_RECEIPT_REFUSED;
    bal_replay_window_trust_boot(&peer->window, message->boot, message->sequence);
    bli_station_rebuild_peer_sets(s);
    bli_station_reset_dispatcher(s, (uint32_t)(peer - s->peer));
    return receipt;
}

void bli_station_peer_heard(struct bal_station *s, uint32_t number) {
    struct station_peer *peer = &s->peer[number];
    peer->heard_at = s->block->now;
    if (is_member(peer))
        peer->member_until = s->block->now + s->block->config.join.silent_ns;
}

void bli_station_answer_challenge(struct bal_station *s, uint32_t number, uint64_t nonce) {
    struct station_peer *peer = &s->peer[number];
    const struct bal_join_config *join = &s->block->config.join;
    if (peer->kind != DISPATCHER || is_member(peer) || !join->own.family)
        return;
    peer->joined_there = 1;
    bli_station_enqueue_message(s, bli_join_message(join, BAL_JOIN_STATION, s->peer_id[number], nonce));
}

/* Those that are silent leave; returns whether there were any. */
static bool forget_silent(struct bal_station *s) {
    struct station_block *block = s->block;
    const uint64_t before = block->joins.departures;
    for (uint32_t i = 0; block->joins.members && i < block->config.peers; i++) {
        if (!is_member(&s->peer[i]) || block->now < s->peer[i].member_until)
            continue;
        bli_station_remove_peer(s, i);
        bli_joins_remove(&block->joins, true);
    }
    return block->joins.departures != before;
}

static void send_join(struct bal_station *s, uint32_t number) {
    struct station_peer *peer = &s->peer[number];
    const uint64_t now = s->block->now;
    const bool soon = !peer->heard_at || peer->joined_there;
    if (is_member(peer) || now < peer->join_at)
        return;
    const uint64_t silence = (soon ? SOON : SELDOM) * heartbeat_interval_ns(s, number);
    peer->join_at = peer->heard_at + silence > now ? peer->heard_at + silence : now + silence;
    if (!peer->heard_at || now >= peer->heard_at + silence)
        bli_station_enqueue_message(
            s, bli_join_message(&s->block->config.join, BAL_JOIN_STATION, s->peer_id[number], 0));
}

void bli_station_update_members(struct bal_station *s) {
    if (forget_silent(s)) {
        bli_station_rebuild_peer_sets(s);
        bli_station_offer(s);
    }
    for (uint32_t i = 0; s->block->config.join.own.family && i < s->dispatchers->count; i++)
        send_join(s, s->dispatchers->slot[i]);
}

uint32_t bal_station_members(const struct bal_station *s, struct bal_member *members, uint32_t room) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->block->config.peers; i++) {
        if (!is_member(&s->peer[i]))
            continue;
        if (count < room)
            members[count] = (struct bal_member){s->peer_id[i], s->peer[i].address};
        count++;
    }
    return count;
}

uint64_t bal_station_members_version(const struct bal_station *s) {
    return s->block->joins.version;
}

static uint64_t silence_of(const struct station_peer *peer, uint64_t now) {
    if (!peer->heard_at)
        return UINT64_MAX;
    return now > peer->heard_at ? now - peer->heard_at : 0;
}

uint64_t bal_station_silent_for(const struct bal_station *s, uint64_t now, uint64_t dispatcher) {
    const uint32_t number = bli_directory_find(s->directory, s->places, s->peer_id, dispatcher);
    return number == BLI_DIRECTORY_NOBODY ? UINT64_MAX : silence_of(&s->peer[number], now);
}

bool bal_station_heard_within(const struct bal_station *s, uint64_t now, uint64_t ns) {
    bool heard = false;
    for (uint32_t i = 0; i < s->dispatchers->count && !heard; i++)
        heard = silence_of(&s->peer[s->dispatchers->slot[i]], now) <= ns;
    return heard;
}
