/* SPDX-License-Identifier: BSD-2-Clause */
/* rcpb: Gamarnik, Tsitsiklis and Zubeldia (2016), Theorem 1 and equations (4) and (5). */
#include "theory/policy_theory.h"

#include <math.h>

static struct bal_rcpb rcpb_of(const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                               uint32_t servers, double lambda) {
    const struct bal_policy_context setting = {.servers = servers, .load = lambda};
    return (struct bal_rcpb){variant, lambda, bal_policy_report_rate(policy, &setting),
                             (uint64_t)bal_policy_value(policy, "c")};
}

/* With c and mu held fixed. */
static struct bal_rcpb constrained(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    return rcpb_of(policy, BAL_RCPB_CONSTRAINED, u->servers, u->lambda);
}

/* Whatever the law of the reports, a server that works gets jobs at rate lambda P0, so that waiting is that
 * of M/M/1. */
static struct bal_wait wait(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    const struct bal_rcpb rcpb = constrained(policy, u);
    if (!u->reports)
        return bal_rcpb_wait(&rcpb);
    const double rho = u->lambda * bal_rcpb_renewal(&rcpb, u->reports).empty;
    return (struct bal_wait){.probability = rho, .rate = 1 - rho};
}

static struct bal_prediction renewal(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    const struct bal_wait waiting = wait(policy, u);
    if (isnan(waiting.probability))
        return bal_theory_unknown;
    struct bal_prediction known =
        bal_theory_from_wait(waiting, u->unit, BAL_THEORY_LIMIT, "fluid limit, renewal reports");
    known.tail[0] = 1;
    for (known.levels = 1; known.levels < BAL_THEORY_LEVELS; known.levels++)
        known.tail[known.levels] = u->lambda * pow(waiting.probability, known.levels - 1);
    return known;
}

static struct bal_prediction fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_uniform *u) {
    (void)model;
    if (u->reports)
        return renewal(policy, u);
    const struct bal_rcpb rcpb = constrained(policy, u);
    struct bal_prediction known =
        bal_theory_from_wait(bal_rcpb_wait(&rcpb), u->unit, BAL_THEORY_LIMIT, "fluid limit");
    known.waiting_bound = bal_rcpb_bound(&rcpb) * u->unit;
    if (u->lambda < 1)
        for (known.levels = 0; known.levels < BAL_THEORY_LEVELS; known.levels++)
            known.tail[known.levels] = bal_rcpb_tail(&rcpb, known.levels);
    return known;
}

static bool chain(const struct bal_policy_spec *policy, const struct bal_uniform *u,
                  struct chain_rules *rules) {
    const struct bal_rcpb rcpb = constrained(policy, u);
    rules->rule = bal_chain_rcpb;
    rules->names = (unsigned)rcpb.c;
    rules->report = rcpb.mu;
    return true;
}

static enum bal_code fluid(struct bal_theory_fluid *f, const struct bal_model *model,
                           const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                           struct bal_error *err) {
    if (bal_model_reports_renew(model))
        return bal_fail(err, BAL_E_MODEL, "the fluid model of rcpb is about reports exp");
    const struct bal_rcpb rcpb = rcpb_of(policy, variant, bal_servers_count(&model->servers), model->load);
    return bal_fluid_use_rcpb(f, &rcpb);
}

const struct bal_policy_theory bal_theory_rcpb[] = {{.policy = "rcpb",
                                                     .else_uniform = true,
                                                     .fifo = fifo,
                                                     .chain = chain,
                                                     .wait = wait,
                                                     .critical_load = bal_critical_if_equal,
                                                     .fluid = fluid},
                                                    {0}};
