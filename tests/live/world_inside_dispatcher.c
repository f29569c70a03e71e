#include "live/dispatcher_private.h"
#include "tear.h"
#include "world_inside.h"

void inside_tear_dispatcher(struct bal_dispatcher *d, const char *before, struct bal_rng *rng) {
    const struct torn_part servers = {(char *)d->server, d->servers * sizeof *d->server, sizeof *d->server};
    const struct torn_part requests = {d->ledger.entries, d->block->config.requests * sizeof(struct request),
                                       sizeof(struct request)};
    const struct torn_part owners = {(char *)d->owner, d->block->config.owners * sizeof *d->owner, 0};
    tear((char *)d->block, before, d->block->size, &servers, &requests, &owners, rng);
    d->block->busy = 1;
}

bool inside_is_held(const struct bal_dispatcher *d, uint64_t ticket) {
    const uint32_t i = bal_ledger_find(&d->ledger, ticket);
    return i != BAL_NOBODY && request_at(d, i)->entry.state == HELD;
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
        if (d->server[i].presence == THERE && d->server[i].tokens &&
            d->block->now > d->server[i].token_until + slack_ns)
            return true;
    return false;
}
