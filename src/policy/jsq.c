/* SPDX-License-Identifier: BSD-2-Clause */
/* jsq: join the shortest queue, ties uniform.
 *
 * Cost: N probes a job. Memory: none.
 * Proved: least mean response time of all policies that know queue lengths only, for equal servers and
 * exponential sizes (Winston 1977); no waiting as N grows; stable whenever any policy is. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

static struct bal_decision fill_shortest(struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng) {
    const uint32_t most = bli_candidates(fleet, bal_eligible_count(fleet));
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < most; i++) {
        const uint32_t server = fleet->sample ? fleet->sample[i] : bal_eligible_at(fleet, i);
        if (bal_is_eligible(fleet, server) &&
            !(fleet->sample && bli_shares_contain(fleet->shares, candidates, server)))
            fleet->shares[candidates++] = (struct bal_share){server, bal_probe(fleet, server)};
    }
    return candidates ? bli_water_fill(fleet, candidates, count, rng) : bli_scatter(fleet, count, rng);
}

static void sample(void *state, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)state, (void)job, (void)rng;
    bli_ask_all(fleet);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    if (job->split && job->count > 1)
        return fill_shortest(fleet, job->count, rng);
    return bal_to(bal_probe_shortest(fleet, rng));
}

const struct bal_policy bli_policy_jsq = {
    .name = "jsq",
    .summary = "the shortest queue of all, ties uniform",
    .paper = "Winston 1977",
    .cost = "N probes",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_INDEX | BAL_READS_ONLY | BAL_ASKS_ALL,
    .route = route,
    .sample = sample,
};
