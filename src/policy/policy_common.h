/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that several policies share: what is done without a token, choosing among few, splitting batches,
 * names in bits. */
#ifndef POLICY_COMMON_H
#define POLICY_COMMON_H

#include "ballast/policy.h"
#include "ballast/set.h"
#include "base/tournament.h"

#include <math.h>

/* Bits to name one of n servers. */
static inline double bits_of_index(uint32_t servers) {
    return servers > 1 ? ceil(log2((double)servers)) : 0;
}

/* Bits for a number of jobs, where N servers do not get more than N each. */
static inline double bits_of_count(uint32_t servers) {
    return ceil(log2(1.0 + servers));
}

/* Is the server one of these? O(count). */
static inline bool bli_shares_contain(const struct bal_share *share, uint32_t count, uint32_t server) {
    for (uint32_t i = 0; i < count; i++)
        if (share[i].server == server)
            return true;
    return false;
}

/* ---- sets and indexes of the policy's own, and the servers that are eligible ---- */

uint32_t bli_draw_among_eligible(struct bal_set *set, const struct bal_fleet *fleet, struct bal_rng *rng);

/* A uniform eligible member, or BAL_NONE. O(1), and O(1) more for each ineligible member that is met. */
static inline uint32_t bli_draw_among(struct bal_set *set, const struct bal_fleet *fleet,
                                      struct bal_rng *rng) {
    if (__builtin_expect(fleet->eligible || fleet->servers != set->capacity, 0))
        return bli_draw_among_eligible(set, fleet, rng);
    return set->count ? bal_set_uniform(set, rng) : BAL_NONE;
}

/* Which of several idle servers gets a job: the parameter `idle`. */
enum bli_idle { BLI_IDLE_ANY, BLI_IDLE_FASTEST, BLI_IDLE_LOWEST };

extern const char *const bli_idle_words[];
#define BLI_IDLE_PARAM                                                                                       \
    {                                                                                                        \
        "idle", 0, BLI_IDLE_LOWEST, BLI_IDLE_ANY, true, false,                                               \
            "which of the idle servers gets a job: any, the fastest (by weight), or the lowest number: "     \
            "servers are filled in order",                                                                   \
            bli_idle_words                                                                                   \
    }

/* The flags that it brings. */
static inline unsigned bli_idle_flags(double value) {
    return (value == BLI_IDLE_FASTEST ? BAL_TAKES_WEIGHTS : 0) |
           (value == BLI_IDLE_LOWEST ? 0 : BAL_SYMMETRIC);
}

uint32_t bli_draw_fastest(const struct bal_set *set, const struct bal_fleet *fleet, struct bal_rng *rng);
/* The eligible member with the lowest number, or BAL_NONE. O(members). */
uint32_t bli_draw_lowest(const struct bal_set *set, const struct bal_fleet *fleet);

/* That one, or BAL_NONE. O(1) for any, O(members) for the fastest, of which it is a uniform one, and for the
 * lowest. */
static inline uint32_t bli_draw_idle(enum bli_idle which, struct bal_set *set, const struct bal_fleet *fleet,
                                     struct bal_rng *rng) {
    if (__builtin_expect(which == BLI_IDLE_LOWEST, 0))
        return bli_draw_lowest(set, fleet);
    return which == BLI_IDLE_FASTEST && fleet->weight ? bli_draw_fastest(set, fleet, rng)
                                                      : bli_draw_among(set, fleet, rng);
}

/* A uniform one of the eligible leaves with the least key, or BAL_NONE. O(log n) for each ineligible leaf
 * that is met, O(servers) at most. */
uint32_t bli_draw_least(struct bli_tournament *tree, const struct bal_fleet *fleet, struct bal_rng *rng);

/* ---- a few servers that are probed ---- */

/* How many are compared when a policy wants d: those that were asked earlier, if the host did so. */
static inline uint32_t bli_candidates(const struct bal_fleet *fleet, uint32_t d) {
    return fleet->sample ? fleet->samples : d;
}

/* The i-th of them: drawn with replacement. BAL_NONE: not to be had. */
static inline uint32_t bli_candidate(const struct bal_fleet *fleet, uint32_t i, struct bal_rng *rng) {
    if (__builtin_expect(!fleet->sample, 1))
        return bal_draw(fleet, rng);
    return bal_is_eligible(fleet, fleet->sample[i]) ? fleet->sample[i] : BAL_NONE;
}

uint32_t bli_probe_some_undrawn(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng);

/* Probes d servers, drawn with replacement, and returns the shortest. Ties need no draw of their own: the
 * samples are exchangeable, so the first of the shortest is a uniform one. */
static inline uint32_t bli_probe_some(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng) {
    const uint32_t *const drawn = fleet->drawn;
    if (!drawn || fleet->sample) /* out of line, for a short path where they are */
        return bli_probe_some_undrawn(fleet, d, rng);
    uint32_t best = drawn[0];
    uint32_t shortest = bal_probe(fleet, best);
    for (uint32_t i = 1; i < d; i++) {
        const uint32_t server = drawn[i];
        const uint32_t length = bal_probe(fleet, server);
        const bool better = length < shortest;
        best = better ? server : best;
        shortest = better ? length : shortest;
    }
    return best;
}

/* Probes d servers, drawn with replacement. */
void bli_ask_some(struct bal_fleet *fleet, uint32_t d, struct bal_rng *rng);
/* Probes all that are eligible. */
void bli_ask_all(struct bal_fleet *fleet);

/* Draws d different eligible servers, or all of them if there are fewer; returns how many. O(d^2). */
uint32_t bli_draw_distinct(const struct bal_fleet *fleet, uint32_t d, uint32_t *drawn, struct bal_rng *rng);

/* Draws d eligible servers with replacement, each named once; returns how many different ones there are. */
uint32_t bli_draw_again(const struct bal_fleet *fleet, uint32_t d, uint32_t *drawn, struct bal_rng *rng);

enum { BLI_LEAST_CONN_MAX = 64 }; /* servers drawn whose own counts are compared */
/* The one of those drawn with the fewest own requests (over weights), the first of several, or BAL_NONE. */
uint32_t bli_own_of(const struct bal_fleet *fleet, const uint32_t *drawn, uint32_t count);

/* ---- without a token ---- */

/* What a job does when no idle server has reported: the parameter `else`, for all policies with tokens. */
enum bli_else { BLI_ELSE_UNIFORM, BLI_ELSE_OWN, BLI_ELSE_OWN2, BLI_ELSE_HOLD };

extern const char *const bli_else_words[];
#define BLI_ELSE_PARAM                                                                                       \
    {                                                                                                        \
        "else", 0, BLI_ELSE_HOLD, BLI_ELSE_UNIFORM, true, false,                                             \
            "where a job goes that finds no idle server: to any; to the one with the fewest requests in "    \
            "flight, of all or of two; or it waits",                                                         \
            bli_else_words                                                                                   \
    }

/* The flags that it brings. */
unsigned bli_else_flags(double value);

struct bal_decision bli_route_without_token_slow(enum bli_else rule, struct bal_fleet *fleet,
                                                 const struct bal_job *job, struct bal_rng *rng);

static inline struct bal_decision bli_route_without_token(enum bli_else rule, struct bal_fleet *fleet,
                                                          const struct bal_job *job, struct bal_rng *rng) {
    if (__builtin_expect(rule == BLI_ELSE_UNIFORM && !(job->split && job->count > 1), 1))
        return bal_to(bal_draw(fleet, rng));
    return bli_route_without_token_slow(rule, fleet, job, rng);
}

/* ---- batches ---- */

/* A batch that is divided job by job: shares[server] counts what each server has got so far, and in the end
 * those that got something are left. */
void bli_shares_begin(struct bal_fleet *fleet);
struct bal_decision bli_shares_end(struct bal_fleet *fleet);
/* Each job of a batch goes to the server that `choose` returns, which may look at what the others got. */
struct bal_decision bli_scatter_by(uint32_t (*choose)(struct bal_fleet *, struct bal_rng *),
                                   struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng);
/* A uniform one of the eligible servers that are best by a rule, with what they have got so far. */
uint32_t bli_own_best_of_shares(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng);

/* Sends each job of the batch to a uniform server: shares are merged per server. O(count), O(servers) at
 * most. */
struct bal_decision bli_scatter(struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng);

/* Divides the batch over the eligible members of a set as evenly as possible, the remainder to a uniform
 * subset (or to the fastest), and removes those that got something. To BAL_NONE when there are none.
 * O(min(count, members)). */
struct bal_decision bli_divide_among(enum bli_idle which, struct bal_set *set, struct bal_fleet *fleet,
                                     uint32_t count, struct bal_rng *rng);

/* How a batch is divided among idle servers; any way is allowed that gives nothing to the others. */
enum bli_divide {
    BLI_DIVIDE_EVENLY, /* as above */
    BLI_DIVIDE_EACH,   /* each job to a uniform one of them */
    BLI_DIVIDE_HALVES, /* half of what is left, rounded up, to the next of them, and the rest to the last */
};
extern const char *const bli_divide_words[];
struct bal_decision bli_divide_by(enum bli_divide how, enum bli_idle which, struct bal_set *set,
                                  struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng);

/* Raises the lowest own counts (over weights) first, of different servers that were drawn or (NULL) of all
 * that are eligible. */
struct bal_decision bli_fill_own(struct bal_fleet *fleet, const uint32_t *drawn, uint32_t draws,
                                 uint32_t count, struct bal_rng *rng);

/* Sends a job to an eligible member, which is removed, or divides it as above. */
static inline struct bal_decision bli_use_tokens(enum bli_idle which, struct bal_set *set,
                                                 struct bal_fleet *fleet, const struct bal_job *job,
                                                 struct bal_rng *rng) {
    if (__builtin_expect(job->split && job->count > 1, 0))
        return bli_divide_among(which, set, fleet, job->count, rng);
    const uint32_t server = bli_draw_idle(which, set, fleet, rng);
    if (server != BAL_NONE)
        bal_set_remove(set, server);
    return bal_to(server);
}

/* Water-filling: shares[0..candidates) hold the candidates (all different) with their queue lengths in count.
 * Raises the lowest level first, the remainder to a uniform subset of the level. On return shares[0..parts)
 * hold what goes where. No candidates: to BAL_NONE. */
struct bal_decision bli_water_fill(struct bal_fleet *fleet, uint32_t candidates, uint32_t count,
                                   struct bal_rng *rng);

#endif
