/* jiq: the dispatcher knows every idle server at once, as rcpb does when reports come without end. */
#include "theory/about.h"

static enum bal_code fluid(struct bal_known_fluid *f, const struct bal_model *model,
                           const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                           struct bal_error *err) {
    (void)policy, (void)variant, (void)err;
    return bal_fluid_use_rcpb(f, &(struct bal_rcpb){BAL_RCPB_HIGH_MESSAGE, model->load, 0, 1});
}

const struct bal_about bal_about_jiq[] = {
    {.policy = "jiq", .fifo = bal_known_no_wait, .critical_load = bal_critical_if_equal, .fluid = fluid},
    {0}};
