/* How a dispatcher that holds requests gets free slots, and how it returns those that it cannot use.
 *
 * Stations offer a free slot to one dispatcher. policy/backlog.h decides, for the lab as well, which station
 * a dispatcher with a backlog and no offer sends a request for a slot, and when it sends its backlog to all
 * stations. This file sends the messages.
 *
 * An offer of a server that this dispatcher has closed is of no use to it and would be to another one. It is
 * returned, and the station is requested not to make another for a while. The backlog is not announced to
 * such a station: it gets the message that offers cannot be used instead. */
#include "live/dispatcher_private.h"

#include <math.h>

enum { BEATS_VALID = 3 };

/* Reasons for which offers cannot be used; a full server can be used soon, and servers closed for other
 * reasons make no offers. */
static const uint32_t unusable = REMOVED | DOWN | EJECTED | SUSPECT | SILENT;

static void send_backlog(struct bal_dispatcher *d, uint64_t receiver, uint32_t held, uint64_t valid_ns) {
    bal_dispatcher_enqueue_message(
        d, (struct bal_message){.type = BAL_MSG_BACKLOG,
                                .receiver = receiver,
                                .backlog = {.held = held, .valid_ms = bal_milliseconds(valid_ns)}});
}

/* ---- offers that cannot be used ---- */

static void decline_offers(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    const uint64_t valid_ns = BEATS_VALID * d->block->config.beat_ns;
    d->block->counts.expired += s->tokens;
    s->tokens = 0;
    s->declined_until = d->block->now + valid_ns;
    send_backlog(d, d->station[server], 0, valid_ns);
}

void bal_dispatcher_backlog_decline(struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    if (d->block->config.stations && !d->block->detached && s->closed & unusable &&
        (s->tokens || d->block->backlog.announced))
        decline_offers(d, server);
}

void bal_dispatcher_backlog_reopen(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    if (s->declined_until <= d->block->now)
        return;
    s->declined_until = 0;
    bal_dispatcher_enqueue_message(
        d, (struct bal_message){.type = BAL_MSG_RESYNC, .receiver = d->station[server]});
}

/* ---- requests for a slot ---- */

static void close_question(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    s->asked_until = 0;
    bal_backlog_answered(&d->block->backlog, s->tokens > 0);
}

void bal_dispatcher_backlog_reset(struct bal_dispatcher *d, uint32_t server) {
    d->block->backlog.questions -= d->server[server].asked_until && d->block->backlog.questions;
    d->server[server].asked_until = d->server[server].declined_until = 0;
}

void bal_dispatcher_backlog_answered(struct bal_dispatcher *d, uint32_t server) {
    if (d->server[server].asked_until)
        close_question(d, server);
}

void bal_dispatcher_backlog_expire(struct bal_dispatcher *d, uint32_t server) {
    if (d->server[server].asked_until && is_due(d, d->server[server].asked_until))
        close_question(d, server);
}

static bool looks_idle(const void *host, uint32_t server) {
    const struct bal_dispatcher *d = host;
    const struct server *s = &d->server[server];
    return s->tokens == 0 && s->asked_until == 0 && s->power == BAL_POWER_ON && d->load[server] < s->slots &&
           d->own[server] < s->slots;
}

static void ask_station(struct bal_dispatcher *d, uint32_t server) {
    struct block *block = d->block;
    bal_backlog_asked(&block->backlog);
    d->server[server].asked_until = block->now + block->config.probe_ns;
    bal_dispatcher_server_refresh(d, server);
    send_backlog(d, d->station[server], 1, block->config.probe_ns);
}

/* ---- the backlog ---- */

/* Sends all stations how many requests are held, except those whose offers cannot be used: they are sent
 * that. */
static void announce_backlog(struct bal_dispatcher *d) {
    const struct block *block = d->block;
    send_backlog(d, BAL_EVERYONE, block->held_count, BEATS_VALID * block->config.beat_ns);
    if (block->held_count == 0 || d->open->count == block->present)
        return;
    for (uint32_t server = 0; server < d->servers; server++)
        if (d->server[server].presence == THERE && d->server[server].closed & unusable) {
            decline_offers(d, server);
            bal_dispatcher_server_refresh(d, server);
        }
}

static enum bal_backlog_step next_step(struct bal_dispatcher *d) {
    struct block *block = d->block;
    const double patience = floor(bal_backlog_patience(block->present, (double)block->config.probe_ns));
    return bal_backlog_next(&block->backlog, block->held_count, (double)block->now, patience,
                            (double)block->config.beat_ns);
}

void bal_dispatcher_backlog_update(struct bal_dispatcher *d) {
    if (!d->block->config.stations)
        return;
    enum bal_backlog_step step = next_step(d);
    if (step == BAL_BACKLOG_ANNOUNCE)
        announce_backlog(d);
    while (step == BAL_BACKLOG_ASK) {
        const uint32_t server = bal_backlog_find(d->open, looks_idle, d, &d->chance);
        if (server == BAL_SET_ABSENT)
            return;
        ask_station(d, server);
        step = next_step(d);
    }
}
