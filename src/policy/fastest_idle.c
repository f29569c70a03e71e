/* SPDX-License-Identifier: BSD-2-Clause */
/* fastest-idle: the fastest server that has nothing of this dispatcher's, ties uniform; without one, the
 * shortest expected delay.
 *
 * A job never queues behind others while a server is idle, be it slow: IPVS calls this never queue. sed
 * rather waits for a fast server than to use one that is much slower.
 *
 * Cost: nothing. A dispatcher knows what it has sent and sees what comes back. Memory: a count for each
 * server, which the host keeps, counted as for own.
 * Proved: with one dispatcher and exponential sizes stable whenever any policy is, as sed. Of all ways to
 * choose among idle servers the fastest first is the best in large fleets (Armony 2005, one common queue).
 * Where all weights are the same it is own. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

static uint32_t choose_server(struct bal_fleet *fleet, struct bal_rng *rng) {
    return bli_own_best_of_shares(fleet, BAL_OWN_IDLE_FIRST, rng);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    if (job->split && job->count > 1)
        return bli_scatter_by(choose_server, fleet, job->count, rng);
    return bal_to(bal_own_best(fleet, BAL_OWN_IDLE_FIRST, rng));
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return context->servers * bits_of_count(context->servers);
}

const struct bal_policy bli_policy_fastest_idle = {
    .name = "fastest-idle",
    .summary = "the fastest of the servers without own requests, else the shortest expected delay",
    .paper = "Armony 2005; Linux IPVS (never queue)",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_OWN | BAL_NEEDS_INDEX | BAL_READS_ONLY | BAL_TAKES_WEIGHTS,
    .route = route,
    .memory_bits = memory_bits,
};
