/* SPDX-License-Identifier: BSD-2-Clause */
/* round-robin: every server gets every N-th job, so that the gaps between its jobs are Erlang. */
#include "theory/policy_theory.h"

static struct bli_wait wait(const struct bal_policy_spec *policy, const struct bli_uniform *u) {
    (void)policy;
    return bli_wait_round_robin(u->lambda, u->servers);
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    (void)model;
    const struct bli_wait limit = bli_wait_dm1(u->lambda);
    struct bli_prediction known = bli_theory_from_wait(wait(policy, u), u->unit, BLI_THEORY_EXACT, "E_N/M/1");
    known.waiting_limit = bli_wait_mean(&limit) * u->unit;
    return known;
}

/* Every server gets the same rate. */
static double critical_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_critical_of_d(&model->servers, 1, true);
}

static double relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_relaxation_apart(model, 1.0 / bli_servers_count(&model->servers));
}

const struct bli_policy_theory bli_theory_round_robin[] = {{.policy = "round-robin",
                                                            .fifo = fifo,
                                                            .wait = wait,
                                                            .critical_load = critical_load,
                                                            .relaxation = relaxation},
                                                           {0}};
