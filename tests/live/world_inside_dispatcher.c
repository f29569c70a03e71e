/* SPDX-License-Identifier: BSD-2-Clause */
/* What only the block of a dispatcher shows to the checks of the world. */
#include "live/dispatcher_private.h"
#include "tear.h"
#include "world_inside.h"

#include <math.h>

void inside_tear_dispatcher(struct bal_dispatcher *d, const char *before, struct bal_rng *rng) {
    const struct torn_part servers = {(char *)d->server, d->servers * sizeof *d->server, sizeof *d->server};
    const struct torn_part requests = {d->ledger.entries, d->block->config.requests * sizeof(struct request),
                                       sizeof(struct request)};
    const struct torn_part workers = {(char *)d->worker, d->block->config.workers * sizeof *d->worker, 0};
    tear((char *)d->block, before, d->block->size, &servers, &requests, &workers, rng);
    d->block->busy = 1;
}

bool inside_is_held(const struct bal_dispatcher *d, uint64_t ticket) {
    const uint32_t i = bli_ledger_find(&d->ledger, ticket);
    return i != BLI_NOBODY && request_at(d, i)->entry.state == HELD;
}

uint32_t inside_decided(const struct bal_dispatcher *d, uint32_t server) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->block->config.requests; i++)
        count += request_at(d, i)->entry.state == DECIDED && request_at(d, i)->server == server;
    return count;
}

uint32_t inside_requests(const struct bal_dispatcher *d) {
    return d->block->config.requests - d->ledger.head->free.count;
}

uint32_t inside_idle(const struct bal_dispatcher *d) {
    return d->policy.policy->wants & BAL_WANTS_IDLE ? bal_policy_tokens(&d->policy, d->state) : UINT32_MAX;
}

bool inside_has_stale_token(const struct bal_dispatcher *d, uint64_t slack_ns) {
    for (uint32_t i = 0; i < d->servers; i++)
        if (d->server[i].presence == THERE && d->server[i].tokens.count &&
            d->block->now > d->server[i].token_until + slack_ns)
            return true;
    return false;
}

uint64_t inside_dispatcher_now(const struct bal_dispatcher *d) {
    return d->block->now;
}

uint64_t inside_dispatcher_order(const struct bal_dispatcher *d) {
    return d->block->busy ? UINT64_MAX : d->ledger.head->order;
}

bool inside_dispatcher_has_news(const struct bal_dispatcher *d, uint32_t owner) {
    return owner != BLI_NOBODY && d->worker[owner].news.count > 0;
}

/* Those whose time is over go whatever their class; one that has been tried somewhere may wait for another
 * server, and the rest of its class behind it. */
static bool overtakes(const struct bal_dispatcher *d, const struct request *r) {
    if (r->entry.state != DECIDED || r->reason != BAL_REASON_HELD || r->waited >= d->block->config.hold_ns)
        return false;
    for (uint32_t rank = 0; rank < r->entry.rank; rank++)
        if (d->block->held[rank].count && request_at(d, d->block->held[rank].first)->tries.count == 0)
            return true;
    return false;
}

const char *inside_dispatcher_disorder(const struct bal_dispatcher *d, uint64_t since) {
    for (uint32_t owner = 0; owner < d->block->config.workers; owner++)
        for (uint32_t i = d->worker[owner].news.last;
             i != BLI_NOBODY && request_at(d, i)->entry.order >= since; i = request_at(d, i)->entry.before)
            if (overtakes(d, request_at(d, i)))
                return "a request is sent, and a more urgent one is held";
    return NULL;
}

void inside_stamp_dispatcher(struct bal_dispatcher *d, struct bal_message *message) {
    bal_sender_stamp(&d->block->sender, message);
}

bool inside_has_useless_offer(const struct bal_dispatcher *d) {
    const uint32_t useless = REMOVED | DOWN | EJECTED | SUSPECT | SILENT;
    for (uint32_t i = 0; i < d->servers; i++)
        if (d->server[i].presence == THERE && d->server[i].closed & useless && d->server[i].tokens.count)
            return true;
    return false;
}

double inside_silent_load(const struct bal_dispatcher *d, uint32_t server) {
    const uint32_t closed = d->server[server].closed;
    if (!(closed & (SILENT | SUSPECT)) || closed & ~(uint32_t)(SILENT | SUSPECT | OFF))
        return INFINITY;
    return d->own[server] / d->weight[server];
}

uint64_t inside_unheard(const struct bal_dispatcher *d) {
    return d->block->counts.unheard;
}

bool inside_is_deafened(const struct bal_dispatcher *d) {
    return d->block->detached;
}
