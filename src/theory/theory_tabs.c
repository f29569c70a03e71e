/* SPDX-License-Identifier: BSD-2-Clause */
/* tabs: Mukherjee, Dhara, Borst and van Leeuwaarden (2017); and paths of rate-idle. */
#include "theory/policy_theory.h"

#include <math.h>

/* The limit is proved of set-ups that are never aborted, and is another otherwise (docs/autoscaling.md). */
static bool aborts(const struct bal_policy_spec *policy) {
    return bal_policy_flags(policy) & BAL_ABORTS;
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    return aborts(policy) ? bli_theory_unknown : bli_theory_no_wait(model, policy, u);
}

/* As in the paper. */
static bool chain(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules) {
    (void)u;
    const struct bal_power power = policy->policy->power(policy->value);
    rules->rule = bli_chain_tabs;
    rules->standby = power.standby_rate;
    rules->setup = power.setup_rate;
    return !aborts(policy) && bal_policy_value(policy, "after") == 1 &&
           !(bal_policy_value(policy, "none") > 0) && bli_else_is_uniform(policy);
}

/* Standby and set-up must be without memory: exponential in whatever form they are given. */
static enum bal_code fluid(struct bli_theory_fluid *f, const struct bli_model *model,
                           const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                           struct bal_error *err) {
    (void)variant;
    if (aborts(policy))
        return bal_fail(err, BAL_E_MODEL, "the fluid model of tabs is about abort=no");
    const struct bli_dist *dists[] = {&model->standby, &model->setup};
    const struct bal_power power = policy->policy->power(policy->value);
    const double gain = bal_policy_value(policy, "gain"); /* of rate-idle */
    const double unit = model->size.mean / model->servers.group[0].speed;
    double rate[] = {power.standby_rate, power.setup_rate};
    for (int i = 0; i < 2; i++) {
        if (!(dists[i]->mean > 0))
            continue;
        if (!bli_dist_is_exponential(dists[i]))
            return bal_fail(
                err, BAL_E_MODEL,
                "the fluid models of tabs and rate-idle are about exponential standby and set-up times");
        rate[i] = unit / dists[i]->mean;
    }
    f->kind = BLI_FLUID_TABS;
    const enum bal_code code =
        bli_tabs_init(&f->param.tabs, model->load, rate[0], rate[1], &model->size, &model->curve, err);
    if (code)
        return code;
    f->param.tabs.unit = unit;
    f->param.tabs.buffer = model->buffer;
    f->param.tabs.gain = isnan(gain) ? 0 : gain;
    f->model = bli_fluid_tabs(&f->param.tabs);
    return BAL_OK;
}

const struct bli_policy_theory bli_theory_tabs[] = {
    {.policy = "tabs", .fifo = fifo, .chain = chain, .fluid = fluid, .any_fluid = true},
    {.policy = "rate-idle", .fluid = fluid, .any_fluid = true},
    {0}};
