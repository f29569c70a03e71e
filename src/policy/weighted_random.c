/* SPDX-License-Identifier: BSD-2-Clause */
/* weighted-random: every job goes to a server drawn with a probability in proportion to its weight.
 *
 * Cost: nothing is asked, nothing is reported. Memory: none; the weights are the host's.
 * Proved: with Poisson arrivals each server is an M/G/1 queue of its own, and if the weights are the speeds
 * all have the same load: stable whenever any policy is, and slower at slow servers in proportion. Where all
 * weights are the same it is random. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    if (job->split && job->count > 1)
        return bli_scatter_by(bal_draw_by_weight, fleet, job->count, rng);
    return bal_to(bal_draw_by_weight(fleet, rng));
}

const struct bal_policy bli_policy_weighted_random = {
    .name = "weighted-random",
    .summary = "a server drawn in proportion to its weight (speed)",
    .paper = "classic",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_READS_ONLY | BAL_TAKES_WEIGHTS,
    .route = route,
};
