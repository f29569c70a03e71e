/* SPDX-License-Identifier: BSD-2-Clause */
/* random: every job goes to a uniform server.
 *
 * Cost: nothing is asked, nothing is reported. Memory: none.
 * Proved: with equal servers each one is an M/G/1 queue of its own; unstable as soon as the slowest server is
 * overloaded, however idle the others are. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    if (job->split && job->count > 1)
        return bli_scatter(fleet, job->count, rng);
    return bal_to(bal_drawn(fleet, 0, rng));
}

static uint32_t draws(const double *value) {
    (void)value;
    return 1;
}

const struct bal_policy bli_policy_random = {
    .name = "random",
    .summary = "a uniform server",
    .paper = "classic",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_READS_ONLY,
    .route = route,
    .draws = draws,
};
