/* tabs: Mukherjee, Dhara, Borst and van Leeuwaarden (2017). */
#include "theory/about.h"

/* Standby and set-up must be without memory: exponential in whatever form they are given. */
static enum bal_code fluid(struct bal_known_fluid *f, const struct bal_model *model,
                           const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                           struct bal_error *err) {
    (void)variant;
    const struct bal_law *laws[] = {&model->standby, &model->setup};
    const struct bal_power power = policy->policy->power(policy->value);
    const double unit = model->size.mean / model->servers.group[0].speed;
    double rate[] = {power.standby_rate, power.setup_rate};
    for (int i = 0; i < 2; i++) {
        if (!(laws[i]->mean > 0))
            continue;
        if (!bal_law_is_exponential(laws[i]))
            return bal_fail(err, BAL_E_MODEL,
                            "the fluid model of tabs is about exponential standby and set-up times");
        rate[i] = unit / laws[i]->mean;
    }
    f->kind = BAL_FLUID_TABS;
    const enum bal_code code =
        bal_tabs_init(&f->param.tabs, model->load, rate[0], rate[1], &model->size, &model->curve, err);
    if (code)
        return code;
    f->param.tabs.unit = unit;
    f->model = bal_fluid_tabs(&f->param.tabs);
    return BAL_OK;
}

const struct bal_about bal_about_tabs[] = {
    {.policy = "tabs", .fifo = bal_known_no_wait, .fluid = fluid, .any_fluid = true}, {0}};
