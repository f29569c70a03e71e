/* SPDX-License-Identifier: BSD-2-Clause */
/* Stations that no list of the dispatcher names, and stations that may not know the dispatcher.
 *
 * A member is a server, named after its address, with a time at which it is removed; each message of its
 * station puts that off. The dispatcher itself asks to join at stations of its list from which nothing comes,
 * and goes on asking where it is a member, so that it is not forgotten. */
#include "live/directory.h"
#include "live/dispatcher_private.h"

/* In beats; messages in one beat. */
enum { SILENT_BEATS = 5, JOINS_MAX = 32 };

enum bal_receipt bli_dispatcher_receive_unknown(struct bal_dispatcher *d, const struct bal_message *message,
                                                uint32_t *server) {
    struct block *block = d->block;
    struct bal_message challenge;
    bool challenged;
    enum bal_receipt receipt = bli_joins_receive(&block->joins, &block->config.join, BAL_JOIN_STATION,
                                                 block->now, &d->chance, message, &challenge, &challenged);
    if (challenged)
        bli_dispatcher_enqueue_message(d, challenge);
    if (receipt != BAL_RECEIPT_FRESH)
        return receipt;
    const struct bal_member member = {message->sender, message->join.address};
    *server = bli_dispatcher_add_member(d, &member);
    if (*server == BAL_NONE)
        return BAL_RECEIPT_REFUSED;
    bal_replay_window_trust_boot(&d->server[*server].window, message->boot, message->sequence);
    d->server[*server].heard_at = block->now;
    return receipt;
}

void bli_dispatcher_answer_challenge(struct bal_dispatcher *d, uint32_t server, uint64_t nonce) {
    struct server *s = &d->server[server];
    const struct bal_join_config *join = &d->block->config.join;
    if (is_member(s) || !join->own.family)
        return;
    s->joined_there = 1;
    bli_dispatcher_enqueue_message(d, bli_join_message(join, BAL_JOIN_DISPATCHER, d->station[server], nonce));
}

/* Returns whether it was sent. */
static bool send_join(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    const uint64_t now = d->block->now, sign_of_life = SILENT_BEATS * d->block->config.beat_ns;
    const uint64_t silence = SILENT_BEATS * heartbeat_round_ns(d);
    if (s->presence != THERE || is_member(s) || now < s->join_at)
        return false;
    if (!s->joined_there && s->heard_at && now < s->heard_at + silence)
        return false;
    s->join_at = now + sign_of_life;
    bli_dispatcher_enqueue_message(
        d, bli_join_message(&d->block->config.join, BAL_JOIN_DISPATCHER, d->station[server], 0));
    return true;
}

void bli_dispatcher_update_members(struct bal_dispatcher *d) {
    struct block *block = d->block;
    block->members_at = block->now + block->config.beat_ns;
    if (block->joins.members && !block->detached) /* else another block hears them, and ours nothing */
        bli_dispatcher_remove_silent_members(d);
    uint32_t sent = 0;
    for (uint32_t server = 0; block->config.join.own.family && !block->detached && server < d->servers;
         server++)
        if (sent < JOINS_MAX)
            sent += send_join(d, server);
}

/* except: those closed for one of these reasons are left out. */
static uint32_t list_members(const struct bal_dispatcher *d, struct bal_member *members, uint32_t room,
                             uint32_t except) {
    uint32_t count = 0;
    for (uint32_t server = 0; server < d->servers; server++) {
        if (!is_member(&d->server[server]) || d->server[server].closed & except)
            continue;
        if (count < room)
            members[count] = (struct bal_member){d->station[server], d->server[server].address};
        count++;
    }
    return count;
}

uint32_t bal_dispatcher_members(const struct bal_dispatcher *d, struct bal_member *members, uint32_t room) {
    return list_members(d, members, room, 0);
}

uint32_t bal_dispatcher_heard_members(const struct bal_dispatcher *d, struct bal_member *members,
                                      uint32_t room) {
    return list_members(d, members, room, SILENT);
}

uint64_t bal_dispatcher_members_version(const struct bal_dispatcher *d) {
    return d->block->joins.version;
}
