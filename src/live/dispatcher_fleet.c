/* What a dispatcher knows of its servers: counts and indexes, which may be chosen, what the policy is told.
 */
#include "live/dispatcher_private.h"

#include "policy/parts.h"

#include <math.h>
#include <string.h>

/* ---- counts and indexes ---- */

static bool is_indexed(const struct bal_dispatcher *d) {
    return d->flags & BAL_NEEDS_INDEX;
}

/* Of one server at least. */
static bool all_alike(const struct bal_dispatcher *d) {
    return !d->block->weighted && d->open->count && d->open->count == d->block->present;
}

static double key_of(const struct bal_dispatcher *d, uint32_t server) {
    return d->server[server].closed ? INFINITY : d->own[server] / d->weight[server];
}

/* The tree is made when it is needed first, and kept up to date for as long as it is. */
static void update_tree(struct bal_dispatcher *d, uint32_t server) {
    if (!is_indexed(d) || !d->block->tree_valid)
        return;
    d->block->tree_valid = !all_alike(d);
    if (d->block->tree_valid)
        bal_tournament_set(d->by_weight, server, key_of(d, server));
}

static void make_tree(struct bal_dispatcher *d) {
    bal_tournament_init(d->by_weight, d->servers, INFINITY);
    for (uint32_t server = 0; server < d->servers; server++)
        bal_tournament_set(d->by_weight, server, key_of(d, server));
    d->block->tree_valid = 1;
}

/* Servers that this request has tried are not in the open set, though the tree has them. */
static uint32_t fewest_own(struct bal_fleet *fleet, struct bal_rng *rng) {
    struct bal_dispatcher *d = fleet->host;
    if (all_alike(d)) {
        const uint32_t ties = bal_by_length_ties(&d->by_own, d->own[d->by_own.order[0]]);
        return d->by_own.order[ties > 1 ? bal_rng_below(rng, ties) : 0];
    }
    if (!d->block->tree_valid)
        make_tree(d);
    return bal_draw_least(d->by_weight, fleet, rng);
}

void bal_fleet_set(struct bal_dispatcher *d) {
    const struct bal_dispatcher_config *config = &d->block->config;
    d->fleet = (struct bal_fleet){.servers = d->servers,
                                  .length = config->stations ? d->load : d->own,
                                  .own = d->own,
                                  .fewest_own = is_indexed(d) ? fewest_own : NULL,
                                  .host = d,
                                  .ask = d->ask,
                                  .ask_room = d->inquiry_room};
    d->shortest = config->stations ? NULL : d->fleet.fewest_own;
    if (config->classes > 1)
        d->fleet.urgent = config->stations ? d->urgent_load : d->urgent;
}

/* Where a server stands in the index: those that are not THERE behind all others. */
static uint32_t level_of(const struct bal_dispatcher *d, uint32_t server) {
    return d->server[server].presence == THERE ? d->own[server] : d->by_own.levels - 1;
}

void bal_fleet_reindex(struct bal_dispatcher *d) {
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

void bal_fleet_own_up(struct bal_dispatcher *d, uint32_t server, uint32_t rank) {
    const struct server *s = &d->server[server];
    if (is_indexed(d))
        bal_by_length_up(&d->by_own, server, d->own[server]);
    d->own[server]++;
    d->urgent[server] += rank == 0;
    update_tree(d, server);
    if (s->most && d->own[server] >= s->most)
        bal_fleet_mark(d, server, FULL, true);
}

void bal_fleet_own_down(struct bal_dispatcher *d, uint32_t server, uint32_t rank) {
    const struct server *s = &d->server[server];
    if (is_indexed(d) && s->presence == THERE)
        bal_by_length_down(&d->by_own, server, d->own[server]);
    d->own[server]--;
    d->urgent[server] -= rank == 0;
    update_tree(d, server);
    if (s->closed & FULL && (!s->most || d->own[server] < s->most))
        bal_fleet_mark(d, server, FULL, false);
    if (s->presence == LEAVING && d->own[server] == 0)
        bal_fleet_bury(d, server);
}

/* ---- which are open ---- */

void bal_fleet_mark(struct bal_dispatcher *d, uint32_t server, enum closed reason, bool closed) {
    struct server *s = &d->server[server];
    const bool was_open = s->closed == 0;
    s->closed = closed ? s->closed | reason : s->closed & ~(uint32_t)reason;
    const bool open = s->closed == 0;
    if (open == was_open)
        return;
    if (open)
        bal_set_insert(d->open, server);
    else
        bal_set_remove(d->open, server);
    fleet_refresh(d);
    update_tree(d, server);
    if (open || reason != FULL) /* what is known of a full server is as good as before */
        bal_fleet_tell(d, server);
}

static enum bal_report report_of(const struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    if (s->closed)
        return BAL_REPORT_GONE;
    if (d->block->config.stations && s->power != BAL_POWER_ON)
        return s->power == BAL_POWER_OFF ? BAL_REPORT_OFF : BAL_REPORT_SETUP;
    const bool idle = d->block->config.stations ? s->tokens > 0 : d->own[server] < d->block->config.slots;
    if (!idle)
        return BAL_REPORT_BUSY;
    return wants(d, BAL_WANTS_STILL_IDLE) ? BAL_REPORT_STILL_IDLE : BAL_REPORT_IDLE;
}

void bal_fleet_report(struct bal_dispatcher *d, uint32_t server) {
    bal_policy_report(&d->policy, d->state, &d->fleet, report_of(d, server), server, NULL);
}

void bal_fleet_tell(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    bal_fleet_report(d, server);
    s->taken_back |= s->closed != 0;
    /* Of a server that is new the policy thinks what it thinks at the beginning. */
    if (s->closed || !s->taken_back)
        return;
    const bool stations = d->block->config.stations;
    const struct bal_reply load = {.length = stations ? d->load[server] : d->own[server],
                                   .urgent = stations ? d->urgent_load[server] : d->urgent[server],
                                   .latency = stations ? s->latency : NAN};
    bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_LOAD, server, &load);
}

/* ---- what expires ---- */

static uint64_t sooner(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

double bal_fleet_due(const struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    uint64_t due = NEVER;
    if (s->presence != THERE)
        return INFINITY;
    if (d->block->config.stations) {
        due = s->closed & SILENT || d->block->deaf ? NEVER : s->known_until;
        due = s->tokens ? sooner(due, s->token_until) : due;
        due = s->wakes ? sooner(due, s->wake_at) : due;
    }
    const double key = due == NEVER ? INFINITY : (double)due;
    if (!(s->closed & SHUNNED) || d->quarantine->server[server].trying)
        return key;
    return fmin(key, bal_quarantine_until(d->quarantine, server));
}

static void set_due(struct bal_dispatcher *d, uint32_t server) {
    const double key = bal_fleet_due(d, server);
    if (key != bal_tournament_key(d->due, server))
        bal_tournament_set(d->due, server, key);
}

void bal_fleet_look(struct bal_dispatcher *d, uint32_t server) {
    const struct server *s = &d->server[server];
    const bool there = s->presence == THERE;
    if (there)
        bal_fleet_mark(d, server, SHUNNED,
                       !bal_quarantine_open(d->quarantine, server, (double)d->block->now));
    if (there && d->block->config.stations) {
        bal_fleet_mark(d, server, SILENT, !d->block->deaf && has_come(d, s->known_until));
        bal_fleet_mark(d, server, DRAINING, s->power == BAL_POWER_DRAINING);
        bal_fleet_mark(d, server, RESTING,
                       (s->power == BAL_POWER_OFF || s->power == BAL_POWER_SETUP) &&
                           !wants(d, BAL_WANTS_POWER));
    }
    set_due(d, server);
}

/* ---- coming and going ---- */

void bal_fleet_greet(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    memset(&s->window, 0, sizeof s->window);
    s->power = BAL_POWER_ON;
    s->slots = 1;
    s->latency = NAN;
    s->known_until = d->block->now + d->block->config.grace_ns;
    s->tokens_seen = s->token_until = s->token_since = s->wake_at = 0;
    s->tokens = s->wakes = 0;
    s->pace = (struct pace){0, 0};
    d->load[server] = d->urgent_load[server] = 0;
}

void bal_fleet_bury(struct bal_dispatcher *d, uint32_t server) {
    struct server *s = &d->server[server];
    bal_quarantine_forget(d->quarantine, server);
    s->closed = ABSENT;
    s->presence = NOT_THERE;
    set_due(d, server);
}
