#include "report/beside.h"

#include "ballast/scheme.h"

#include <stdlib.h>

struct bal_beside bal_beside_of(const struct bal_case *c) {
    const struct bal_model *model = &c->model;
    struct bal_beside beside = {
        .known = bal_known_of(model, &c->policy),
        .critical_load = bal_known_critical_load(model, &c->policy),
        .floor_response = bal_known_floor(model),
        .chain = bal_scheme_of(c->policy.policy) == BAL_SCHEME_GENERATED,
    };
    if (beside.chain) {
        const uint32_t n = bal_servers_count(&model->servers);
        beside.proof = bal_stealing_prove(&model->steal, &model->placement, n, model->load, model->others);
        beside.bound = bal_stealing_bound(&model->steal, n, model->load, 0);
    }
    return beside;
}

struct bal_beside *bal_beside_new(const struct bal_case *cases, size_t count) {
    struct bal_beside *beside = malloc((count + 1) * sizeof *beside);
    for (size_t i = 0; beside && i < count; i++)
        beside[i] = bal_beside_of(&cases[i]);
    return beside;
}
