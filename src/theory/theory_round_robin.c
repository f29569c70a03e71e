/* SPDX-License-Identifier: BSD-2-Clause */
/* round-robin: every server gets every N-th job, so that the gaps between its jobs are Erlang. */
#include "theory/policy_theory.h"

static struct bal_wait wait(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    (void)policy;
    return bal_wait_round_robin(u->lambda, u->servers);
}

static struct bal_prediction fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_uniform *u) {
    (void)model;
    const struct bal_wait limit = bal_wait_dm1(u->lambda);
    struct bal_prediction known = bal_theory_from_wait(wait(policy, u), u->unit, BAL_THEORY_EXACT, "E_N/M/1");
    known.waiting_limit = bal_wait_mean(&limit) * u->unit;
    return known;
}

/* Every server gets the same rate. */
static double critical_load(const struct bal_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bal_critical_of_d(&model->servers, 1, true);
}

static double relaxation(const struct bal_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bal_relaxation_apart(model, 1.0 / bal_servers_count(&model->servers));
}

const struct bal_policy_theory bal_theory_round_robin[] = {{.policy = "round-robin",
                                                            .fifo = fifo,
                                                            .wait = wait,
                                                            .critical_load = critical_load,
                                                            .relaxation = relaxation},
                                                           {0}};
