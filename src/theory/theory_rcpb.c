/* rcpb: Gamarnik, Tsitsiklis and Zubeldia (2016), Theorem 1 and equations (4) and (5). */
#include "theory/policy_theory.h"

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

static struct bal_wait wait(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    const struct bal_rcpb rcpb = constrained(policy, u);
    return bal_rcpb_wait(&rcpb);
}

static struct bal_prediction fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_uniform *u) {
    (void)model;
    const struct bal_rcpb rcpb = constrained(policy, u);
    struct bal_prediction known =
        bal_theory_from_wait(bal_rcpb_wait(&rcpb), u->unit, BAL_THEORY_LIMIT, "fluid limit");
    known.waiting_bound = bal_rcpb_bound(&rcpb) * u->unit;
    if (u->lambda < 1)
        for (known.levels = 0; known.levels < BAL_THEORY_LEVELS; known.levels++)
            known.tail[known.levels] = bal_rcpb_tail(&rcpb, known.levels);
    return known;
}

static enum bal_code fluid(struct bal_theory_fluid *f, const struct bal_model *model,
                           const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                           struct bal_error *err) {
    (void)err;
    const struct bal_rcpb rcpb = rcpb_of(policy, variant, bal_servers_count(&model->servers), model->load);
    return bal_fluid_use_rcpb(f, &rcpb);
}

const struct bal_policy_theory bal_theory_rcpb[] = {{.policy = "rcpb",
                                                     .else_uniform = true,
                                                     .fifo = fifo,
                                                     .wait = wait,
                                                     .critical_load = bal_critical_if_equal,
                                                     .fluid = fluid},
                                                    {0}};
