/* SPDX-License-Identifier: BSD-2-Clause */
/* sed: shortest expected delay. The server at which a job that comes now would be done first, if all jobs
 * were of one size: the least own requests, this one included, over the weight; ties uniform.
 *
 * Cost: nothing. A dispatcher knows what it has sent and sees what comes back. Memory: a count for each
 * server, which the host keeps, counted as for own.
 * Proved: with one dispatcher and exponential sizes it is stable whenever any policy is: the squared queue
 * lengths over the speeds, added up, fall wherever they are large. Best of all in light traffic and never far
 * from it, not optimal (Shenker and Weinrib 1989; Selen, Adan, Kapodistria and van Leeuwaarden 2016 for two
 * servers). Where all weights are the same it is own. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

static uint32_t choose_server(struct bal_fleet *fleet, struct bal_rng *rng) {
    return bli_own_best_of_shares(fleet, BAL_OWN_SOONEST, rng);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    if (job->split && job->count > 1)
        return bli_scatter_by(choose_server, fleet, job->count, rng);
    return bal_to(bal_own_best(fleet, BAL_OWN_SOONEST, rng));
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return context->servers * bits_of_count(context->servers);
}

const struct bal_policy bli_policy_sed = {
    .name = "sed",
    .summary = "the shortest expected delay: the fewest own requests, this one included, over the weight",
    .paper = "Shenker and Weinrib 1989; Linux IPVS",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_OWN | BAL_NEEDS_INDEX | BAL_READS_ONLY | BAL_TAKES_WEIGHTS,
    .route = route,
    .memory_bits = memory_bits,
};
