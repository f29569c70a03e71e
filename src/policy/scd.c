/* SPDX-License-Identifier: BSD-2-Clause */
/* scd: stochastically coordinated dispatchers. Each of m dispatchers sees all queues, and sends each of its
 * jobs to a server that it draws; the chances are such that together, without a word to each other, they do
 * what is best. If all joined the shortest queue, those that decide at the same moment would all join one.
 *
 * Let q be the queues, w the weights (speeds) and a the jobs that come to all dispatchers together: m times
 * those of this one. If each job goes to server s with chance p_s, s gets a binomial number B_s of them, and
 * the sum of E[(q_s + B_s)^2] / w_s is least for
 *
 *     p_s = max(0, level w_s - (2 q_s + 1)) / (2 (a - 1)),     level: such that they add up to 1.
 *
 * This is SCD (Goren, Vargaftik and Moses, PODC 2021), and with equal weights their tidal water filling (DISC
 * 2020). A batch that may not be divided is one job of its size c here: 2 q_s + c for 2 q_s + 1, and 2 c (m -
 * 1) for 2 (a - 1); this is our reading, as theirs always are divided. With m = 1 and one job only the least
 * (2 q_s + 1) / w_s is left, ties uniform: on equal servers this is jsq.
 *
 * Cost: N probes a job, or a batch. Memory: none; what it writes down is for one decision.
 * Proved: stable at every load below 1, if a is what comes (there). For single jobs this follows from the
 * definition whatever m is: chances in proportion to the weights are allowed, with them the expected sum of
 * squares over weights falls where queues are long, and those above leave at most a constant more. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

#include <string.h>

enum { M };

static const struct bal_param params[] = {
    [M] = {"m", 1, 1e6, 2, true, true, "dispatchers that decide at the same moment, each on as many jobs"},
};

/* key: 2 q + 1; upto: the chances of all up to this one, times their sum. */
struct candidate {
    double key, weight, upto;
    uint32_t server;
};

struct state {
    uint32_t m;
    uint32_t servers;
    _Alignas(double) struct candidate candidate[]; /* of the decision that is being made; then `place_of` */
};

/* Of each server: where it stands among the candidates, if it is one. What is left of earlier decisions
 * stays. */
static uint32_t *place_of(struct state *state) {
    return (uint32_t *)(void *)&state->candidate[state->servers];
}

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return sizeof(struct state) + context->servers * (sizeof(struct candidate) + sizeof(uint32_t));
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){.m = (uint32_t)value[M], .servers = context->servers};
    memset(place_of(state), 0, context->servers * sizeof(uint32_t));
}

static bool is_candidate(struct state *state, uint32_t count, uint32_t server) {
    const uint32_t place = place_of(state)[server];
    return place < count && state->candidate[place].server == server;
}

/* Probes all servers, and returns how many there are. In a sample one may stand twice. */
static uint32_t probe_all(struct state *state, struct bal_fleet *fleet, uint32_t jobs) {
    const uint32_t most = bli_candidates(fleet, bal_eligible_count(fleet));
    uint32_t count = 0;
    for (uint32_t i = 0; i < most && count < state->servers; i++) {
        const uint32_t server = fleet->sample ? fleet->sample[i] : bal_eligible_at(fleet, i);
        if (!bal_is_eligible(fleet, server) || (fleet->sample && is_candidate(state, count, server)))
            continue;
        place_of(state)[server] = count;
        state->candidate[count++] = (struct candidate){.key = 2.0 * bal_probe(fleet, server) + jobs,
                                                       .weight = bal_weight(fleet, server),
                                                       .server = server};
    }
    return count;
}

/* The sum of max(0, level w - key) is `sum`. Newton's method from above: the sum is convex in the level and
 * made of straight lines, so that it falls to the root and stops there, after two or three rounds as a rule.
 */
static double find_level(const struct candidate *candidate, uint32_t count, double sum) {
    for (double level = INFINITY;;) {
        double keys = sum, weights = 0;
        for (uint32_t i = 0; i < count; i++)
            if (level * candidate[i].weight > candidate[i].key) {
                keys += candidate[i].key;
                weights += candidate[i].weight;
            }
        if (!(keys / weights < level))
            return level;
        level = keys / weights;
    }
}

/* Leaves those with a chance, the chances added up. */
static uint32_t keep_likely(struct candidate *candidate, uint32_t count, double level) {
    uint32_t kept = 0;
    double upto = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double chance = level * candidate[i].weight - candidate[i].key;
        if (!(chance > 0))
            continue;
        upto += chance;
        candidate[kept] = candidate[i];
        candidate[kept++].upto = upto;
    }
    return kept;
}

static uint32_t draw_likely(const struct candidate *candidate, uint32_t count, struct bal_rng *rng) {
    const double u = bal_rng_uniform(rng) * candidate[count - 1].upto;
    uint32_t low = 0, high = count - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (u < candidate[middle].upto)
            high = middle;
        else
            low = middle + 1;
    }
    return candidate[low].server;
}

/* Where no other decides. */
static uint32_t draw_least_key(const struct candidate *candidate, uint32_t count, struct bal_rng *rng) {
    uint32_t best = 0, ties = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const double key = candidate[i].key / candidate[i].weight;
        if (key > least)
            continue;
        ties = key < least ? 1 : ties + 1;
        least = key;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = i;
    }
    return candidate[best].server;
}

static struct bal_decision route_one(struct state *state, struct bal_fleet *fleet, uint32_t jobs,
                                     struct bal_rng *rng) {
    const uint32_t count = probe_all(state, fleet, jobs);
    if (count == 0)
        return bal_to(bal_draw(fleet, rng));
    if (state->m == 1)
        return bal_to(draw_least_key(state->candidate, count, rng));
    const double level = find_level(state->candidate, count, 2.0 * jobs * (state->m - 1));
    const uint32_t likely = keep_likely(state->candidate, count, level);
    return bal_to(likely ? draw_likely(state->candidate, likely, rng)
                         : draw_least_key(state->candidate, count, rng)); /* rounded: the least alone */
}

static struct bal_decision route_each(struct state *state, struct bal_fleet *fleet, uint32_t jobs,
                                      struct bal_rng *rng) {
    const uint32_t count = probe_all(state, fleet, 1);
    if (count == 0)
        return bli_scatter(fleet, jobs, rng);
    const double level = find_level(state->candidate, count, 2 * ((double)state->m * jobs - 1));
    const uint32_t likely = keep_likely(state->candidate, count, level);
    if (likely == 0) /* as above */
        return bal_to(draw_least_key(state->candidate, count, rng));
    bli_shares_begin(fleet);
    for (uint32_t i = 0; i < jobs; i++)
        fleet->shares[draw_likely(state->candidate, likely, rng)].count++;
    return bli_shares_end(fleet);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    if (job->split && job->count > 1)
        return route_each(state, fleet, job->count, rng);
    if (state->m == 1 && !fleet->weight)
        return bal_to(bal_probe_shortest(fleet, rng));
    return route_one(state, fleet, job->count, rng);
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)block, (void)job, (void)rng;
    bli_ask_all(fleet);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    return state->m == (uint32_t)value[M] && state->servers == context->servers;
}

static unsigned more_flags(const double *value) {
    return value[M] == 1 ? BAL_NEEDS_INDEX : 0;
}

const struct bal_policy bli_policy_scd = {
    .name = "scd",
    .summary = "jsq for m dispatchers at once: servers drawn so that together they fill the short queues",
    .paper = "Goren et al. 2021",
    .cost = "N probes",
    .flags = BAL_SYMMETRIC | BAL_ON_REQUEST | BAL_ASKS_ALL,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .more_flags = more_flags,
};
