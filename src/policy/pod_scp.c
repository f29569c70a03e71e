/* SPDX-License-Identifier: BSD-2-Clause */
/* pod-scp: scheduling priority. A low job probes d1 servers, a high one d2; each joins the shortest queue it
 * sees. Servers are first come, first served and blind to the class.
 *
 * Cost: d1 or d2 probes a job. Memory: none.
 * Proved: the limit of many servers is a recursion for the fraction of servers with at least i jobs, in which
 * the two classes share one distribution of queue lengths and differ in what they see of it (the paper's
 * Theorems 4 and 5). */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { D1, D2 };

static const struct bal_param params[] = {
    [D1] = {"d1", 1, 1e6, 1, true, true, "servers probed for a low job"},
    [D2] = {"d2", 1, 1e6, 2, true, true, "servers probed for a high job"},
};

struct state {
    uint32_t d[2]; /* of the most urgent, of the others */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    struct state *state = block;
    state->d[0] = (uint32_t)value[D2];
    state->d[1] = (uint32_t)value[D1];
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    const struct state *state = block;
    return bal_to(bli_probe_some(fleet, state->d[job->rank > 0], rng));
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    const struct state *state = block;
    return state->d[0] == (uint32_t)value[D2] && state->d[1] == (uint32_t)value[D1];
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    const struct state *state = block;
    bli_ask_some(fleet, state->d[job->rank > 0], rng);
}

const struct bal_policy bli_policy_pod_scp = {
    .name = "pod-scp",
    .summary = "pod with d2 probes for a high job and d1 for a low one; servers blind to class",
    .paper = "Niu et al. 2022",
    .cost = "d1 or d2 probes",
    .flags = BAL_SYMMETRIC | BAL_TAKES_RANKS | BAL_READS_ONLY,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
};
