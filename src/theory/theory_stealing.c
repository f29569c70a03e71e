/* SPDX-License-Identifier: BSD-2-Clause */
/* The chain of natural work stealing: Theorem 9 of Berenbrink et al. 2001. */
#include "theory/policy_theory.h"

#include <math.h>

/* How many servers have generators, as far as that stays so; 0: it does not. */
static uint32_t hosts_of(const struct bli_model *model) {
    const uint32_t servers = bli_servers_count(&model->servers);
    switch (model->placement.kind) {
    case BAL_PLACEMENT_EVEN:
        return servers;
    case BAL_PLACEMENT_HOSTS:
        return model->placement.hosts;
    case BAL_PLACEMENT_MAP:
        return model->placement.entries;
    case BAL_PLACEMENT_MOVING:
    case BAL_PLACEMENT_WALK:
    case BAL_PLACEMENT_LONGEST:
    case BAL_PLACEMENT_SHORTEST:
    case BAL_PLACEMENT_CYCLING:
        break;
    }
    return 0;
}

/* hosts (most + 1) < lambda n. */
static double unstable_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    const uint32_t hosts = hosts_of(model);
    const double most = bli_steal_max(&model->steal);
    return hosts && isfinite(most) ? hosts * (most + 1) / bli_servers_count(&model->servers) : NAN;
}

const struct bli_policy_theory bli_theory_stealing[] = {
    {.policy = "stealing", .unstable_load = unstable_load}, {0}};
