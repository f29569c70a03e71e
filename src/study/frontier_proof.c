/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds from theorems for the number of jobs that must be stolen at a time. */
#include "ballast/frontier.h"
#include "ballast/scheme.h"
#include "ballast/theory.h"

#include <math.h>

/* Theorem 9 speaks of generators on fixed hosts; 0: they are not. */
static uint32_t hosts_of(const struct bli_frontier_question *q) {
    const struct bal_placement *placement = &q->model.placement;
    const bool chain = bli_scheme_of(q->policy.policy) == BLI_SCHEME_GENERATED;
    return chain && placement->kind == BAL_PLACEMENT_HOSTS ? placement->hosts : 0;
}

void bli_frontier_lines(const struct bli_frontier_question *q, double load, double line[2]) {
    const uint32_t n = bli_servers_count(&q->model.servers), hosts = hosts_of(q);
    line[0] = bli_stealing_frontier(n, load, hosts);
    line[1] = bli_stealing_frontier_asked(n, load, hosts, q->model.others);
}

/* Theorem 1 asks for constants that can be passed on z times: half of what it needs of a queue for f = half.
 */
struct bli_frontier_proof bli_frontier_prove(const struct bli_frontier_question *q) {
    const struct bal_steal one = {.kind = BAL_STEAL_ONE}, half = {.kind = BAL_STEAL_HALF};
    const uint32_t n = bli_servers_count(&q->model.servers);
    const double load = q->model.load;
    struct bli_frontier_proof proof = {.hosts = q->axis == BLI_FRONTIER_CONSTANT ? hosts_of(q) : 0,
                                       .stable_from_log10 = NAN};
    if (proof.hosts == 0)
        return proof;
    bli_frontier_lines(q, load, proof.line);
    const struct bli_stealing_proof every =
        bli_stealing_prove(&one, &q->model.placement, n, load, q->model.others);
    const struct bli_stealing_bound bound = bli_stealing_bound(&half, n, load, 0);
    proof.all_stable = every.proof == BLI_PROOF_STABLE ? every.why : NULL;
    if (bound.holds)
        proof.stable_from_log10 = ceil(bli_tower_log10(&bound.phi) - log10(2.0 * n));
    proof.servers_from = bli_stealing_bound_from(load);
    return proof;
}
