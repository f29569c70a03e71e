/* SPDX-License-Identifier: BSD-2-Clause */
/* rcpb: Gamarnik, Tsitsiklis and Zubeldia (2016), Theorem 1 and equations (4) and (5). */
#include "theory/policy_theory.h"

#include <math.h>

static struct bli_rcpb rcpb_of(const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                               uint32_t servers, double lambda) {
    const struct bal_policy_context setting = {.servers = servers, .load = lambda};
    return (struct bli_rcpb){variant, lambda, bal_policy_report_rate(policy, &setting),
                             (uint64_t)bal_policy_value(policy, "c")};
}

/* With c and mu held fixed. */
static struct bli_rcpb constrained(const struct bal_policy_spec *policy, const struct bli_uniform *u) {
    return rcpb_of(policy, BLI_RCPB_CONSTRAINED, u->servers, u->lambda);
}

/* Whatever the law of the reports, a server that works gets jobs at rate lambda P0, so that waiting is that
 * of M/M/1. */
static struct bli_wait wait(const struct bal_policy_spec *policy, const struct bli_uniform *u) {
    const struct bli_rcpb rcpb = constrained(policy, u);
    if (!u->reports)
        return bli_rcpb_wait(&rcpb);
    const double rho = u->lambda * bli_rcpb_renewal(&rcpb, u->reports).empty;
    return (struct bli_wait){.probability = rho, .rate = 1 - rho};
}

static struct bli_prediction renewal(const struct bal_policy_spec *policy, const struct bli_uniform *u) {
    const struct bli_wait waiting = wait(policy, u);
    if (isnan(waiting.probability))
        return bli_theory_unknown;
    struct bli_prediction known =
        bli_theory_from_wait(waiting, u->unit, BLI_THEORY_LIMIT, "fluid limit, renewal reports");
    known.tail[0] = 1;
    for (known.levels = 1; known.levels < BLI_THEORY_LEVELS; known.levels++)
        known.tail[known.levels] = u->lambda * pow(waiting.probability, known.levels - 1);
    return known;
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    (void)model;
    if (u->reports)
        return renewal(policy, u);
    const struct bli_rcpb rcpb = constrained(policy, u);
    struct bli_prediction known =
        bli_theory_from_wait(bli_rcpb_wait(&rcpb), u->unit, BLI_THEORY_LIMIT, "fluid limit");
    known.waiting_bound = bli_rcpb_bound(&rcpb) * u->unit;
    if (u->lambda < 1)
        for (known.levels = 0; known.levels < BLI_THEORY_LEVELS; known.levels++)
            known.tail[known.levels] = bli_rcpb_tail(&rcpb, known.levels);
    return known;
}

static bool expand(const struct bli_model *model, const struct bal_policy_spec *policy,
                   const struct bli_uniform *u, struct bli_expansion *expansion) {
    enum { NAMES = 32, LEVELS = 60 };
    (void)model;
    const struct bli_rcpb rcpb = constrained(policy, u);
    struct expansion_rcpb events = {.lambda = u->lambda, .mu = rcpb.mu, .c = (unsigned)rcpb.c};
    double x[LEVELS];
    if (u->reports || rcpb.c > NAMES || !(rcpb.mu > 0 && isfinite(rcpb.mu)))
        return false;
    for (events.levels = 0; events.levels < LEVELS; events.levels++) {
        x[events.levels] = bli_rcpb_tail(&rcpb, events.levels + 1);
        if (x[events.levels] < 1e-11)
            break;
    }
    const struct fast_model names = bli_expansion_rcpb_model(&events);
    return events.levels > 1 && events.levels < LEVELS && bli_expand_first(&names, x, u, expansion);
}

static bool chain(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules) {
    const struct bli_rcpb rcpb = constrained(policy, u);
    rules->rule = bli_chain_rcpb;
    rules->names = (unsigned)rcpb.c;
    rules->report = rcpb.mu;
    return true;
}

static enum bal_code fluid(struct bli_theory_fluid *f, const struct bli_model *model,
                           const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                           struct bal_error *err) {
    if (bli_model_reports_renew(model))
        return bal_fail(err, BAL_E_MODEL, "the fluid model of rcpb is about reports exp");
    const struct bli_rcpb rcpb = rcpb_of(policy, variant, bli_servers_count(&model->servers), model->load);
    return bli_fluid_use_rcpb(f, &rcpb);
}

const struct bli_policy_theory bli_theory_rcpb[] = {{.policy = "rcpb",
                                                     .else_uniform = true,
                                                     .fifo = fifo,
                                                     .expand = expand,
                                                     .chain = chain,
                                                     .wait = wait,
                                                     .critical_load = bli_critical_if_equal,
                                                     .fluid = fluid},
                                                    {0}};
