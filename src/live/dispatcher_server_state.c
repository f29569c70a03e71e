/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a dispatcher's servers: counts and indexes, which may be chosen, what is reported to the
 * policy. */
#include "live/dispatcher_private.h"

#include "policy/policy_common.h"

#include <math.h>
#include <string.h>

/* ---- counts and indexes ---- */

static bool is_indexed(const struct bal_dispatcher *d) {
    return d->flags & BAL_NEEDS_INDEX;
}

/* Of one server at least. */
static bool have_equal_weights(const struct bal_dispatcher *d) {
    return !d->block->weighted && d->open->count && d->open->count == d->block->present;
}

static double key_of(const struct bal_dispatcher *d, uint32_t server) {
    return d->server[server].closed ? INFINITY : d->own[server] / d->weight[server];
}

/* The tree is built when it is first needed, and kept up to date as long as it is needed. */
static void update_tree(struct bal_dispatcher *d, uint32_t server) {
    if (!is_indexed(d) || !d->block->tree_valid)
        return;
    d->block->tree_valid = !have_equal_weights(d);
    if (d->block->tree_valid)
        bli_tournament_set(d->by_weight, server, key_of(d, server));
}

static void make_tree(struct bal_dispatcher *d) {
    bli_tournament_init(d->by_weight, d->servers, INFINITY);
    for (uint32_t server = 0; server < d->servers; server++)
        bli_tournament_set(d->by_weight, server, key_of(d, server));
    d->block->tree_valid = 1;
}

/* Servers that this request has tried are not in the open set, though the tree has them. */
static uint32_t fewest_own(struct bal_fleet *fleet, struct bal_rng *rng) {
    struct bal_dispatcher *d = fleet->host;
    if (have_equal_weights(d)) {
        const uint32_t ties = bli_length_index_ties(&d->by_own, d->own[d->by_own.order[0]]);
        return d->by_own.order[ties > 1 ? bal_rng_below(rng, ties) : 0];
    }
    if (!d->block->tree_valid)
        make_tree(d);
    return bli_draw_least(d->by_weight, fleet, rng);
}

void bli_dispatcher_init_fleet_view(struct bal_dispatcher *d) {
    const struct bal_dispatcher_config *config = &d->block->config;
    d->fleet = (struct bal_fleet){.servers = d->servers,
                                  .length = config->stations || d->loads ? d->load : d->own,
                                  .own = d->own,
                                  .fewest_own = is_indexed(d) ? fewest_own : NULL,
                                  .host = d,
                                  .ask = d->ask,
                                  .ask_room = d->inquiry_room};
    d->shortest = config->stations || d->loads ? NULL : d->fleet.fewest_own;
    if (config->classes > 1)
        d->fleet.urgent = config->stations ? d->urgent_load : d->urgent;
}

/* Where a server stands in the index: those that are not THERE behind all others. */
static uint32_t level_of(const struct bal_dispatcher *d, uint32_t server) {
    return d->server[server].presence == THERE ? d->own[server] : d->by_own.levels - 1;
}

void bli_dispatcher_rebuild_indexes(struct bal_dispatcher *d) {
    const uint32_t n = d->servers;
    for (uint32_t level = 0; level < d->by_own.levels; level++)
        d->by_own.end[level] = 0;
    for (uint32_t server = 0; server < n; server++)
        d->by_own.end[level_of(d, server)]++;
    uint32_t sum = 0;
    for (uint32_t level = 0; level < d->by_own.levels; level++) { /* first where each begins */
        const uint32_t count = d->by_own.end[level];
        d->by_own.end[level] = sum;
        sum += count;
    }
    for (uint32_t server = 0; server < n; server++) {
        const uint32_t place = d->by_own.end[level_of(d, server)]++;
        d->by_own.order[place] = server;
        d->by_own.place[server] = place;
    }
    d->block->tree_valid = 0;
}

void bli_dispatcher_server_add_request(struct bal_dispatcher *d, uint32_t server, uint32_t rank) {
    const struct server *s = &d->server[server];
    if (d->concurrency)
        bli_dispatcher_slots_pass(d, server);
    if (is_indexed(d))
        bli_length_index_increment(&d->by_own, server, d->own[server]);
    d->own[server]++;
    d->urgent[server] += rank == 0;
    bli_dispatcher_update_load(d, server);
    update_tree(d, server);
    if (s->max_conns && d->own[server] >= s->max_conns)
        bli_dispatcher_server_mark(d, server, FULL, true);
}

void bli_dispatcher_server_remove_request(struct bal_dispatcher *d, uint32_t server, uint32_t rank) {
    const struct server *s = &d->server[server];
    if (d->concurrency)
        bli_dispatcher_slots_pass(d, server);
    if (is_indexed(d) && s->presence == THERE)
        bli_length_index_decrement(&d->by_own, server, d->own[server]);
    d->own[server]--;
    d->urgent[server] -= rank == 0;
    bli_dispatcher_update_load(d, server);
    update_tree(d, server);
    if (s->closed & FULL && (!s->max_conns || d->own[server] < s->max_conns))
        bli_dispatcher_server_mark(d, server, FULL, false);
    if (s->presence == LEAVING && d->own[server] == 0)
        bli_dispatcher_server_release(d, server);
}

/* ---- which are open ---- */

void bli_dispatcher_server_mark(struct bal_dispatcher *d, uint32_t server, enum bli_closed reason,
                                bool closed) {
    const struct server *s = &d->server[server];
    const struct bli_closing closing = closing_of(d);
    const bool was_open = s->closed == 0;
    const bool changed = closing_mark(&closing, server, reason, closed);
    if (closed && !was_open && s->tokens.count) /* it was full, and could be used soon; now it may not be */
        bli_dispatcher_backlog_decline(d, server);
    if (!changed)
        return;
    const bool open = !was_open;
    refresh_fleet_view(d);
    update_tree(d, server);
    if (open || reason != FULL) /* what is known of a full server is still valid */
        bli_dispatcher_report_state(d, server);
    if (open)
        bli_dispatcher_backlog_reopen(d, server);
    else
        bli_dispatcher_backlog_decline(d, server);
    if (!open && d->open->count == 0)
        bli_dispatcher_lift_slow_start(d);
}

static enum bal_report current_report(const struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    if (!d->block->config.stations)
        return heard_report(d->policy.policy, s->closed == 0, BAL_SERVER_ON, is_below_slots(d, server));
    return heard_report(d->policy.policy, s->closed == 0, dispatcher_server_status(s), s->tokens.count > 0);
}

void bli_dispatcher_report_idle(struct bal_dispatcher *d, uint32_t server) {
    bal_policy_report(&d->policy, d->state, &d->fleet, current_report(d, server), server, NULL);
}

void bli_dispatcher_report_state(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    bli_dispatcher_report_idle(d, server);
    s->retracted |= s->closed != 0;
    /* For a new server the policy keeps its initial assumption. */
    if (s->closed || !s->retracted)
        return;
    const bool stations = d->block->config.stations;
    const struct bal_reply load = {.length = d->fleet.length[server],
                                   .urgent = stations ? d->urgent_load[server] : d->urgent[server],
                                   .latency = stations ? s->latency : NAN};
    bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_LOAD, server, &load);
}

/* ---- what expires ---- */

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

double bli_dispatcher_server_next_expiry(const struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    uint64_t due = NEVER;
    if (s->presence != THERE)
        return INFINITY;
    if (d->block->config.stations) {
        due = s->closed & SILENT || d->block->detached ? NEVER : s->known_until;
        due = s->tokens.count ? earlier(due, s->token_until) : due;
    }
    if (s->others_until > 0)
        due = earlier(due, s->others_until);
    double key = due == NEVER ? INFINITY : (double)due;
    if (s->start.left)
        key = fmin(key, s->start.again_at);
    if (s->request.asked_until > 0)
        key = fmin(key, s->request.asked_until);
    if (!(s->closed & EJECTED) || d->ejection->server[server].trying)
        return key;
    return fmin(key, bli_ejection_until(d->ejection, server));
}

void bli_dispatcher_server_update_expiry(struct bal_dispatcher *d, uint32_t server) {
    const double key = bli_dispatcher_server_next_expiry(d, server);
    if (key != bli_tournament_key(d->due, server))
        bli_tournament_set(d->due, server, key);
}

void bli_dispatcher_server_refresh(struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    const bool there = s->presence == THERE;
    if (there)
        bli_dispatcher_server_mark(d, server, EJECTED,
                                   !bli_ejection_allows(d->ejection, server, (double)d->block->now));
    if (there && d->block->config.stations) {
        bli_dispatcher_server_mark(d, server, SILENT, !d->block->detached && is_due(d, s->known_until));
        bli_dispatcher_server_mark(d, server, DRAINING, s->power == BAL_POWER_DRAINING);
        bli_dispatcher_server_mark(d, server, OFF,
                                   (s->power == BAL_POWER_OFF || s->power == BAL_POWER_SETUP) &&
                                       !policy_wants(d, BAL_WANTS_POWER));
    }
    bli_dispatcher_server_update_expiry(d, server);
}

/* ---- coming and going ---- */

/* Hashes the part of an address in front of its port. FNV-1a. */
static uint64_t hash_host(const char *name) {
    const char *port = strrchr(name, ':');
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = name; *c && c != port; c++)
        hash = (hash ^ (uint8_t)*c) * UINT64_C(0x100000001b3);
    return hash;
}

void bli_dispatcher_server_reset(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    memset(&s->window, 0, sizeof s->window);
    s->power = BAL_POWER_ON;
    s->slots = 1;
    bli_dispatcher_find_slots(d, server, false);
    s->latency = NAN;
    s->known_until = d->block->now + d->block->config.grace_ns;
    s->token_until = s->token_since = 0;
    s->heard_at = s->join_at = 0;
    s->joined_there = 0;
    s->host = hash_host(s->name);
    bli_dispatcher_backlog_reset(d, server);
    s->tokens = (struct bli_tokens){0};
    s->start = (struct bli_start_request){0};
    s->latency_ewma = (struct latency_ewma){0, 0};
    d->load[server] = d->urgent_load[server] = 0;
    s->others = 0;
    s->others_until = 0;
    s->unreported = 0;
    if (d->loads)
        __atomic_store_n(&d->loads[server], 0, __ATOMIC_RELAXED);
}

void bli_dispatcher_server_release(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    bli_ejection_reset(d->ejection, server);
    bli_slow_start_end(d->slow, server);
    bli_dispatcher_backlog_reset(d, server);
    s->closed = REMOVED;
    s->presence = NOT_THERE;
    s->others = 0;
    s->others_until = 0;
    bli_dispatcher_update_load(d, server);
    bli_dispatcher_server_update_expiry(d, server);
}
