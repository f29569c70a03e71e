/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that several policies share: the choice without a token, splitting a batch, server numbers in
 * bits. */
#include "policy/policy_common.h"

/* ---- sets and indexes, and the servers that are eligible ---- */

/* Closed members that are met change places with the last of those that are left to be drawn. */
uint32_t bli_draw_among_eligible(struct bal_set *set, const struct bal_fleet *fleet, struct bal_rng *rng) {
    for (uint32_t left = set->count; left > 0; left--) {
        const uint32_t i = bal_rng_below(rng, left);
        const uint32_t server = set->slot[i], other = set->slot[left - 1];
        if (bal_is_eligible(fleet, server))
            return server;
        set->slot[i] = other;
        set->slot[left - 1] = server;
        set->slot[(size_t)set->capacity + other] = i;
        set->slot[(size_t)set->capacity + server] = left - 1;
    }
    return BAL_NONE;
}

const char *const bli_idle_words[] = {"any", "fastest", "lowest"};

uint32_t bli_draw_lowest(const struct bal_set *set, const struct bal_fleet *fleet) {
    uint32_t lowest = BAL_NONE;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->slot[i] < lowest && bal_is_eligible(fleet, set->slot[i]))
            lowest = set->slot[i];
    return lowest;
}

uint32_t bli_draw_fastest(const struct bal_set *set, const struct bal_fleet *fleet, struct bal_rng *rng) {
    uint32_t best = BAL_NONE, ties = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t server = set->slot[i];
        if (!bal_is_eligible(fleet, server) ||
            (best != BAL_NONE && bal_weight(fleet, server) < bal_weight(fleet, best)))
            continue;
        const bool faster = best == BAL_NONE || bal_weight(fleet, server) > bal_weight(fleet, best);
        ties = faster ? 1 : ties + 1;
        if (faster || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    return best;
}

/* All eligible leaves, one after the other. */
static uint32_t scan_least(const struct bli_tournament *tree, const struct bal_fleet *fleet,
                           struct bal_rng *rng) {
    uint32_t best = BAL_NONE, ties = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        const double key = bli_tournament_key(tree, server);
        if (key == INFINITY || key > least)
            continue;
        ties = key < least ? 1 : ties + 1;
        least = key;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    return best;
}

/* Closed leaves that are met are taken out for as long as this lasts; when they are many, it is better to
 * look at the open ones. */
uint32_t bli_draw_least(struct bli_tournament *tree, const struct bal_fleet *fleet, struct bal_rng *rng) {
    enum { FEW = 16 };
    uint32_t out[FEW];
    double key[FEW];
    uint32_t closed = 0, server = BAL_NONE;
    while (closed < FEW && bli_tournament_min(tree) < INFINITY) {
        server = bli_tournament_draw(tree, rng);
        if (bal_is_eligible(fleet, server))
            break;
        out[closed] = server;
        key[closed++] = bli_tournament_key(tree, server);
        bli_tournament_set(tree, server, INFINITY);
        server = BAL_NONE;
    }
    for (uint32_t i = 0; i < closed; i++)
        bli_tournament_set(tree, out[i], key[i]);
    return server == BAL_NONE && closed == FEW ? scan_least(tree, fleet, rng) : server;
}

/* ---- a few servers ---- */

/* Some may be closed, and they may have been asked already. */
static uint32_t probe_some_eligible(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng) {
    if (bal_eligible_count(fleet) == 0)
        return BAL_NONE;
    uint32_t best = BAL_NONE, shortest = UINT32_MAX;
    for (uint32_t i = 0; i < bli_candidates(fleet, d); i++) {
        const uint32_t server = bli_candidate(fleet, i, rng);
        if (server == BAL_NONE)
            continue;
        const uint32_t length = bal_probe(fleet, server);
        if (best == BAL_NONE || length < shortest) {
            best = server;
            shortest = length;
        }
    }
    return best == BAL_NONE ? bal_draw(fleet, rng) : best;
}

uint32_t bli_probe_some_undrawn(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng) {
    if (__builtin_expect(fleet->eligible || fleet->sample, 0))
        return probe_some_eligible(fleet, d, rng);
    struct bal_rng local = *rng; /* in registers */
    uint32_t best = bal_rng_below(&local, fleet->servers), shortest = bal_probe(fleet, best);
    for (uint32_t i = 1; i < d; i++) {
        const uint32_t server = bal_rng_below(&local, fleet->servers), length = bal_probe(fleet, server);
        const bool better = length < shortest;
        best = better ? server : best;
        shortest = better ? length : shortest;
    }
    *rng = local;
    return best;
}

void bli_ask_some(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng) {
    if (bal_eligible_count(fleet) == 0)
        return;
    for (uint32_t i = 0; i < d && bal_ask(fleet, bal_draw(fleet, rng)); i++)
        ;
}

void bli_ask_all(struct bal_fleet *fleet) {
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++)
        bal_ask(fleet, bal_eligible_at(fleet, i));
}

/* Floyd's algorithm (Bentley and Floyd 1987) gives a uniform subset with a draw for each; its order is not
 * uniform, so a draw more shuffles it. */
uint32_t bli_draw_distinct(const struct bal_fleet *fleet, uint32_t d, uint32_t *drawn, struct bal_rng *rng) {
    const uint32_t open = bal_eligible_count(fleet);
    const uint32_t count = d < open ? d : open;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t last = open - count + i;
        uint32_t place = bal_rng_below(rng, last + 1);
        for (uint32_t k = 0; k < i; k++)
            if (drawn[k] == place) {
                place = last;
                break;
            }
        drawn[i] = place;
    }
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t j = bal_rng_below(rng, i), other = drawn[j];
        drawn[j] = drawn[i - 1];
        drawn[i - 1] = other;
    }
    for (uint32_t i = 0; i < count; i++)
        drawn[i] = bal_eligible_at(fleet, drawn[i]);
    return count;
}

uint32_t bli_draw_again(const struct bal_fleet *fleet, uint32_t d, uint32_t *drawn, struct bal_rng *rng) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d; i++) {
        const uint32_t server = bal_draw(fleet, rng);
        uint32_t k = 0;
        while (k < count && drawn[k] != server)
            k++;
        if (k == count && server != BAL_NONE)
            drawn[count++] = server;
    }
    return count;
}

uint32_t bli_own_of(const struct bal_fleet *fleet, const uint32_t *drawn, uint32_t count) {
    uint32_t best = BAL_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (best == BAL_NONE || bal_own_over_weight(fleet, drawn[i]) < bal_own_over_weight(fleet, best))
            best = drawn[i];
    return best;
}

/* ---- batches ---- */

static struct bal_decision decision_of_shares(struct bal_fleet *fleet, uint32_t parts) {
    return parts ? (struct bal_decision){fleet->shares[0].server, parts, BAL_NONE, BAL_NONE}
                 : bal_to(BAL_NONE);
}

void bli_shares_begin(struct bal_fleet *fleet) {
    for (uint32_t server = 0; server < fleet->servers; server++)
        fleet->shares[server] = (struct bal_share){server, 0};
}

struct bal_decision bli_shares_end(struct bal_fleet *fleet) {
    struct bal_share *share = fleet->shares;
    uint32_t parts = 0;
    for (uint32_t server = 0; server < fleet->servers; server++)
        if (share[server].count > 0)
            share[parts++] = share[server];
    return decision_of_shares(fleet, parts);
}

struct bal_decision bli_scatter_by(uint32_t (*choose)(struct bal_fleet *, struct bal_rng *),
                                   struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng) {
    if (bal_eligible_count(fleet) == 0)
        return bal_to(BAL_NONE);
    bli_shares_begin(fleet);
    for (uint32_t i = 0; i < count; i++)
        fleet->shares[choose(fleet, rng)].count++;
    return bli_shares_end(fleet);
}

static uint32_t choose_any(struct bal_fleet *fleet, struct bal_rng *rng) {
    return bal_draw(fleet, rng);
}

uint32_t bli_own_best_of_shares(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng) {
    double least = INFINITY;
    uint32_t best = BAL_NONE, ties = 0;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        const double key = bal_own_key(fleet, server, rule, fleet->shares[server].count);
        if (key > least)
            continue;
        ties = key < least ? 1 : ties + 1;
        least = key;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    return best;
}

static uint32_t choose_own2(struct bal_fleet *fleet, struct bal_rng *rng) {
    uint32_t two[2];
    if (bli_draw_distinct(fleet, 2, two, rng) == 1)
        return two[0];
    const double key[2] = {bal_own_key(fleet, two[0], BAL_OWN_FEWEST, fleet->shares[two[0]].count),
                           bal_own_key(fleet, two[1], BAL_OWN_FEWEST, fleet->shares[two[1]].count)};
    return two[key[1] < key[0]];
}

struct bal_decision bli_scatter(struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng) {
    return bli_scatter_by(choose_any, fleet, count, rng);
}

struct bal_decision bli_divide_among(enum bli_idle which, struct bal_set *set, struct bal_fleet *fleet,
                                     uint32_t count, struct bal_rng *rng) {
    uint32_t parts = 0;
    while (parts < count) {
        const uint32_t server = bli_draw_idle(which, set, fleet, rng);
        if (server == BAL_NONE)
            break;
        bal_set_remove(set, server);
        fleet->shares[parts++].server = server;
    }
    for (uint32_t i = 0; i < parts; i++)
        fleet->shares[i].count = count / parts + (i < count % parts);
    return decision_of_shares(fleet, parts);
}

const char *const bli_divide_words[] = {"even", "each", "halves"};

/* Takes all eligible members of a set out of it and puts them into shares without jobs. */
static uint32_t take_members(enum bli_idle which, struct bal_set *set, struct bal_fleet *fleet,
                             struct bal_rng *rng) {
    uint32_t members = 0;
    for (uint32_t server; (server = bli_draw_idle(which, set, fleet, rng)) != BAL_NONE;) {
        bal_set_remove(set, server);
        fleet->shares[members++] = (struct bal_share){server, 0};
    }
    return members;
}

/* Those that got nothing go back. */
static uint32_t put_back(struct bal_set *set, struct bal_fleet *fleet, uint32_t members) {
    uint32_t parts = 0;
    for (uint32_t i = 0; i < members; i++)
        if (fleet->shares[i].count > 0)
            fleet->shares[parts++] = fleet->shares[i];
        else
            bal_set_insert(set, fleet->shares[i].server);
    return parts;
}

struct bal_decision bli_divide_by(enum bli_divide how, enum bli_idle which, struct bal_set *set,
                                  struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng) {
    if (how == BLI_DIVIDE_EVENLY)
        return bli_divide_among(which, set, fleet, count, rng);
    const uint32_t members = take_members(which, set, fleet, rng);
    for (uint32_t i = 0; how == BLI_DIVIDE_EACH && members > 0 && i < count; i++)
        fleet->shares[bal_rng_below(rng, members)].count++;
    for (uint32_t i = 0; how == BLI_DIVIDE_HALVES && i < members; i++) {
        fleet->shares[i].count = i + 1 < members ? count - count / 2 : count;
        count -= fleet->shares[i].count;
    }
    return decision_of_shares(fleet, put_back(set, fleet, members));
}

/* ---- without a token ---- */

const char *const bli_else_words[] = {"uniform", "least-conn", "least-conn2", "hold"};

unsigned bli_else_flags(double value) {
    static const unsigned flags[] = {
        [BLI_ELSE_UNIFORM] = 0,
        [BLI_ELSE_OWN] = BAL_NEEDS_OWN | BAL_NEEDS_INDEX,
        [BLI_ELSE_OWN2] = BAL_NEEDS_OWN,
        [BLI_ELSE_HOLD] = BAL_MAY_HOLD,
    };
    return flags[(unsigned)value];
}

/* As bli_water_fill, of counts over weights: job by job to the least. */
static struct bal_decision fill_by_weight(struct bal_fleet *fleet, uint32_t candidates, uint32_t count,
                                          struct bal_rng *rng) {
    struct bal_share *share = fleet->shares;
    for (uint32_t job = 0; job < count && candidates > 0; job++) {
        uint32_t best = 0, ties = 0;
        double least = INFINITY;
        for (uint32_t i = 0; i < candidates; i++) {
            const double key = share[i].count / fleet->weight[share[i].server];
            ties = key < least ? 1 : ties + (key == least);
            if (key < least || (key == least && bal_rng_below(rng, ties) == 0))
                best = i;
            least = fmin(least, key);
        }
        share[best].count++;
    }
    uint32_t parts = 0;
    for (uint32_t i = 0; i < candidates; i++) {
        const uint32_t server = share[i].server, got = share[i].count - bal_own(fleet, server);
        if (got > 0)
            share[parts++] = (struct bal_share){server, got};
    }
    return decision_of_shares(fleet, parts);
}

struct bal_decision bli_fill_own(struct bal_fleet *fleet, const uint32_t *drawn, uint32_t draws,
                                 uint32_t count, struct bal_rng *rng) {
    const uint32_t candidates = drawn ? draws : bal_eligible_count(fleet);
    for (uint32_t i = 0; i < candidates; i++) {
        const uint32_t server = drawn ? drawn[i] : bal_eligible_at(fleet, i);
        fleet->shares[i] = (struct bal_share){server, bal_own(fleet, server)};
    }
    return fleet->weight ? fill_by_weight(fleet, candidates, count, rng)
                         : bli_water_fill(fleet, candidates, count, rng);
}

/* A job that may not be held any longer goes where the dispatcher itself has sent least, if it knows. */
struct bal_decision bli_route_without_token_slow(enum bli_else rule, struct bal_fleet *fleet,
                                                 const struct bal_job *job, struct bal_rng *rng) {
    if (rule == BLI_ELSE_HOLD && !job->at_once)
        return bal_to(BAL_HOLD);
    if (rule == BLI_ELSE_HOLD)
        rule = fleet->own ? BLI_ELSE_OWN : BLI_ELSE_UNIFORM;
    const bool split = job->split && job->count > 1;
    uint32_t two[2];
    switch (rule) {
    case BLI_ELSE_OWN:
        return split ? bli_fill_own(fleet, NULL, 0, job->count, rng) : bal_to(bal_own_fewest(fleet, rng));
    case BLI_ELSE_OWN2:
        return split ? bli_scatter_by(choose_own2, fleet, job->count, rng)
                     : bal_to(bli_own_of(fleet, two, bli_draw_distinct(fleet, 2, two, rng)));
    default:
        return split ? bli_scatter(fleet, job->count, rng) : bal_to(bal_draw(fleet, rng));
    }
}

/* The level is found from above: spread everything over all candidates, drop those that stand above the level
 * that this gives, and again until no server is dropped; two or three rounds as a rule. */
struct bal_decision bli_water_fill(struct bal_fleet *fleet, uint32_t candidates, uint32_t count,
                                   struct bal_rng *rng) {
    if (candidates == 0)
        return bal_to(BAL_NONE);
    struct bal_share *share = fleet->shares;
    uint64_t level = UINT64_MAX;
    uint64_t rest = 0;
    uint32_t under = 0;
    for (uint32_t before = UINT32_MAX; under != before;) {
        before = under;
        uint64_t sum = count;
        under = 0;
        for (uint32_t i = 0; i < candidates; i++) {
            const bool low = share[i].count <= level;
            sum += low ? share[i].count : 0;
            under += low;
        }
        level = sum / under;
        rest = sum % under;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < candidates; i++)
        if (share[i].count <= level)
            share[kept++] = (struct bal_share){share[i].server, (uint32_t)(level - share[i].count)};
    for (uint32_t i = 0; i < rest; i++) {
        const uint32_t j = i + bal_rng_below(rng, kept - i);
        const struct bal_share chosen = {share[j].server, share[j].count + 1};
        share[j] = share[i];
        share[i] = chosen;
    }
    uint32_t parts = 0;
    for (uint32_t i = 0; i < kept; i++)
        if (share[i].count > 0)
            share[parts++] = share[i];
    return decision_of_shares(fleet, parts);
}
