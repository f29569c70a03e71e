/* SPDX-License-Identifier: BSD-2-Clause */
/* How a dispatcher that holds requests gets free slots, and how it returns those that it cannot use.
 *
 * Stations offer a free slot to one dispatcher. policy/slot_requests.h decides, for the lab as well, which
 * station a dispatcher with a backlog and no offer sends a request for a slot, when it sends its backlog to
 * all stations, and which offers it returns. This file sends the messages. */
#include "live/dispatcher_private.h"

#include <math.h>

/* Reasons for which offers cannot be used; a full server can be used soon, and servers closed for other
 * reasons make no offers. */
static const uint32_t unusable = REMOVED | DOWN | EJECTED | SUSPECT | SILENT;

static bool is_unusable(const void *host, uint32_t server) {
    const struct bal_dispatcher *d = host;
    return d->server[server].closed & unusable;
}

static bool is_present(const void *host, uint32_t server) {
    const struct bal_dispatcher *d = host;
    return d->server[server].presence == THERE;
}

static bool looks_idle(const void *host, uint32_t server) {
    const struct bal_dispatcher *d = host;
    const struct server *s = &d->server[server];
    return heard_looks_idle(&s->tokens, s->power == BAL_POWER_ON, d->load[server], d->own[server], s->slots);
}

static void send_backlog(struct bal_dispatcher *d, uint64_t receiver, uint32_t held, uint64_t valid_ns) {
    bli_dispatcher_enqueue_message(
        d, (struct bal_message){.type = BAL_MSG_BACKLOG,
                                .receiver = receiver,
                                .backlog = {.held = held, .valid_ms = bli_milliseconds(valid_ns)}});
}

static void drop_tokens(struct bal_dispatcher *d, uint32_t server) {
    d->block->counts.expired += d->server[server].tokens.count;
    d->server[server].tokens.count = 0;
}

static void send_slot_message(void *host, enum bli_slot_message message, uint32_t server) {
    struct bal_dispatcher *d = host;
    const struct block *block = d->block;
    const uint64_t beats = BLI_CLAIM_BEATS_BARRED * heartbeat_round_ns(d);
    switch (message) {
    case BLI_SLOT_REQUEST:
        bli_dispatcher_server_refresh(d, server);
        send_backlog(d, d->station[server], 1, block->config.probe_ns);
        break;
    case BLI_SLOT_BACKLOG:
        send_backlog(d, BAL_EVERYONE, block->held_count, beats);
        break;
    case BLI_SLOT_DECLINE:
        drop_tokens(d, server);
        bli_dispatcher_server_update_expiry(d, server);
        send_backlog(d, d->station[server], 0, beats);
        break;
    case BLI_SLOT_RESUME:
        bli_dispatcher_enqueue_message(
            d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = d->station[server]});
        break;
    }
}

static struct bli_slot_requests slot_requests(struct bal_dispatcher *d) {
    struct block *block = d->block;
    return (struct bli_slot_requests){
        .backlog = &block->backlog,
        .request = &d->server[0].request,
        .stride = sizeof *d->server,
        .open = d->open,
        .numbers = d->servers,
        .present = block->present,
        .held = block->held_count,
        .now = (double)block->now,
        .beat = (double)heartbeat_round_ns(d),
        .timeout = (double)block->config.probe_ns,
        .patience = floor(bli_backlog_patience(block->present, (double)block->config.probe_ns)),
        .rng = &d->chance,
        .looks_idle = looks_idle,
        .is_unusable = is_unusable,
        .is_present = is_present,
        .send = send_slot_message,
        .host = d};
}

void bli_dispatcher_backlog_decline(struct bal_dispatcher *d, uint32_t server) {
    if (!d->block->config.stations || d->block->detached)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_close(&requests, server, d->server[server].tokens.count);
}

void bli_dispatcher_backlog_reopen(struct bal_dispatcher *d, uint32_t server) {
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_open(&requests, server);
}

void bli_dispatcher_backlog_reset(struct bal_dispatcher *d, uint32_t server) {
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_forget(&requests, server);
}

void bli_dispatcher_backlog_answered(struct bal_dispatcher *d, uint32_t server) {
    if (d->server[server].request.asked_until == 0)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_answered(&requests, server, d->server[server].tokens.count);
}

void bli_dispatcher_backlog_expire(struct bal_dispatcher *d, uint32_t server) {
    if (d->server[server].request.asked_until == 0)
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_expire(&requests, server, d->server[server].tokens.count);
}

void bli_dispatcher_backlog_update(struct bal_dispatcher *d) {
    const struct block *block = d->block;
    if (!block->config.stations || (block->held_count == 0 && backlog_is_over(&block->backlog)))
        return;
    const struct bli_slot_requests requests = slot_requests(d);
    bli_slot_requests_update(&requests);
}
