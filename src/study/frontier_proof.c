/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds from theorems for the number of jobs that must be stolen at a time. */
#include "ballast/frontier.h"
#include "ballast/scheme.h"
#include "ballast/theory.h"

#include <math.h>

/* Theorem 9 speaks of generators on fixed hosts; 0: they are not. */
static uint32_t hosts_of(const struct bal_frontier_question *q) {
    const struct bal_placement *placement = &q->model.placement;
    const bool chain = bal_scheme_of(q->policy.policy) == BAL_SCHEME_GENERATED;
    return chain && placement->kind == BAL_PLACEMENT_HOSTS ? placement->hosts : 0;
}

void bal_frontier_lines(const struct bal_frontier_question *q, double load, double line[2]) {
    const uint32_t n = bal_servers_count(&q->model.servers), hosts = hosts_of(q);
    line[0] = bal_stealing_frontier(n, load, hosts);
    line[1] = bal_stealing_frontier_asked(n, load, hosts, q->model.others);
}

/* Theorem 1 asks for constants that can be passed on z times: half of what it needs of a queue for f = half.
 */
struct bal_frontier_proof bal_frontier_prove(const struct bal_frontier_question *q) {
    const struct bal_steal one = {.kind = BAL_STEAL_ONE}, half = {.kind = BAL_STEAL_HALF};
    const uint32_t n = bal_servers_count(&q->model.servers);
    const double load = q->model.load;
    struct bal_frontier_proof proof = {.hosts = q->axis == BAL_FRONTIER_CONSTANT ? hosts_of(q) : 0,
                                       .stable_from_log10 = NAN};
    if (proof.hosts == 0)
        return proof;
    bal_frontier_lines(q, load, proof.line);
    const struct bal_stealing_proof every =
        bal_stealing_prove(&one, &q->model.placement, n, load, q->model.others);
    const struct bal_stealing_bound bound = bal_stealing_bound(&half, n, load, 0);
    proof.all_stable = every.proof == BAL_PROOF_STABLE ? every.why : NULL;
    if (bound.holds)
        proof.stable_from_log10 = ceil(bal_tower_log10(&bound.phi) - log10(2.0 * n));
    proof.servers_from = bal_stealing_bound_from(load);
    return proof;
}
