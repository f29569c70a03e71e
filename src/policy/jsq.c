/* jsq: join the shortest queue, ties uniform.
 *
 * Cost: N probes a job. Memory: none.
 * Proved: least mean response time of all policies that know queue lengths only, for equal servers and
 * exponential sizes (Winston 1977); no waiting as N grows; stable whenever any policy is. */
#include "policy/parts.h"
#include "policy/table.h"

static struct bal_decision fill(struct bal_fleet *fleet, uint32_t count, struct bal_rng *rng) {
    for (uint32_t server = 0; server < fleet->servers; server++)
        fleet->shares[server] = (struct bal_share){server, bal_probe(fleet, server)};
    return bal_water_fill(fleet, fleet->servers, count, rng);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state;
    if (job->split && job->count > 1)
        return fill(fleet, job->count, rng);
    return bal_to(bal_probe_shortest(fleet, rng));
}

const struct bal_policy bal_policy_jsq = {
    .name = "jsq",
    .summary = "the shortest queue of all, ties uniform",
    .paper = "Winston 1977",
    .cost = "N probes",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_INDEX,
    .route = route,
};
