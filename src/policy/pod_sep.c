/* SPDX-License-Identifier: BSD-2-Clause */
/* pod-sep: service priority. Jobs are routed as by pod, and servers let high jobs interrupt low ones
 * (preemptive-resume), first come, first served within a class.
 *
 * Cost: d probes a job. Memory: none.
 * Proved: the total queues are those of pod; the paper bounds the response time of low jobs (Theorem 7), and
 * following a tagged low job gives it exactly in the limit of many servers. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { D };

static const struct bal_param params[] = {
    [D] = {"d", 1, 1e6, 2, true, true, "servers probed for a job"},
};

struct state {
    uint32_t d;
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    struct state *state = block;
    state->d = (uint32_t)value[D];
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)job;
    const struct state *state = block;
    return bal_to(bli_probe_some(fleet, state->d, rng));
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    const struct state *state = block;
    return state->d == (uint32_t)value[D];
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)job;
    const struct state *state = block;
    bli_ask_some(fleet, state->d, rng);
}

const struct bal_policy bli_policy_pod_sep = {
    .name = "pod-sep",
    .summary = "routed as pod; servers let high jobs interrupt low ones",
    .paper = "Niu et al. 2022",
    .cost = "d probes",
    .flags = BAL_SYMMETRIC | BAL_TAKES_RANKS | BAL_SERVES_RANKS | BAL_READS_ONLY,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
};
