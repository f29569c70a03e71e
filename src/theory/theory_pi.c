/* SPDX-License-Identifier: BSD-2-Clause */
/* pi: Theorems 3.2 and 3.4 of Atar et al. 2020 are about slotted time. */
#include "theory/policy_theory.h"

#include <math.h>

static double critical_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return model->clock == BLI_CLOCK_SLOTTED ? 1 : NAN;
}

static bool chain(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules) {
    (void)policy, (void)u;
    rules->rule = bli_chain_pi;
    return true;
}

const struct bli_policy_theory bli_theory_pi[] = {
    {.policy = "pi", .chain = chain, .critical_load = critical_load}, {0}};
