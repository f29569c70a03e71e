/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of theory: which row is whose. */
#include "theory/policy_theory.h"

#include "policy/policy_common.h"

#include <math.h>
#include <string.h>

/* Each file has an array of rows whose last one has no name. */
#define BLI_THEORY(name) extern const struct bli_policy_theory bli_theory_##name[];
#include "theory/list.def"
#undef BLI_THEORY
#define BLI_THEORY(name) bli_theory_##name,
static const struct bli_policy_theory *const files[] = {
#include "theory/list.def"
};
#undef BLI_THEORY

const struct bli_policy_theory *bli_policy_theory_at(size_t i) {
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (const struct bli_policy_theory *row = files[f]; row->policy; row++)
            if (i-- == 0)
                return row;
    return NULL;
}

/* Where all weights are the same, policies that look at them are others under another name. And a dispatcher
 * that is alone and next to the servers has sent all jobs that are there: then own is jsq, or pod without
 * replacement, and so is lsq when every completion is reported. */
static const char *name_of(const struct bli_model *model, const struct bal_policy_spec *policy) {
    const char *name = policy->policy->name;
    const bool weighted = bli_model_is_weighted(model);
    if (!weighted && strcmp(name, "weighted-random") == 0)
        return "random";
    if (!weighted && strcmp(name, "weighted-round-robin") == 0)
        return "round-robin";
    if (!weighted && (strcmp(name, "sed") == 0 || strcmp(name, "fastest-idle") == 0))
        name = "least-conn";
    if (!bli_network_is_plain(&model->network))
        return name;
    if (!weighted && strcmp(name, "least-conn") == 0)
        return isnan(bal_policy_value(policy, "d")) ? "jsq" : "pod";
    if (strcmp(name, "lsq") == 0 && bal_policy_value(policy, "p") == 1)
        return "jsq";
    return name;
}

const struct bli_policy_theory *bli_policy_theory(const struct bli_model *model,
                                                  const struct bal_policy_spec *policy) {
    static const struct bli_policy_theory nothing;
    const struct bli_policy_theory *row;
    const char *name = name_of(model, policy);
    for (size_t i = 0; (row = bli_policy_theory_at(i)); i++)
        if (strcmp(row->policy, name) == 0)
            return row->else_uniform && !bli_else_is_uniform(policy) ? &nothing : row;
    return &nothing;
}

const struct bal_policy_spec *bli_theory_equivalent_policy(const struct bli_model *model,
                                                           const struct bal_policy_spec *policy,
                                                           struct bal_policy_spec *any) {
    const struct bal_policy *p = policy->policy;
    const bool alone = bli_servers_count(&model->servers) == 1 && model->clock == BLI_CLOCK_CONTINUOUS &&
                       !model->classes && bli_network_is_plain(&model->network) &&
                       bal_policy_value(policy, "else") != BLI_ELSE_HOLD;
    const struct bal_policy_context setting = {1, model->load};
    if (!alone || !p->route || p->power || p->flags & (BAL_NEEDS_WORK | BAL_TAKES_RANKS) ||
        bal_policy_check(policy, &setting, NULL, NULL) || bal_policy_parse("random", any, NULL))
        return policy;
    return any;
}

bool bli_else_is_uniform(const struct bal_policy_spec *policy) {
    const double otherwise = bal_policy_value(policy, "else");
    return isnan(otherwise) || otherwise == 0;
}
