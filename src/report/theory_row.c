/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects what theory predicts for a case. */
#include "report/theory_row.h"

#include "ballast/scheme.h"

#include <stdlib.h>

struct bal_theory_row bal_theory_row_of(const struct bal_case *c) {
    const struct bal_model *model = &c->model;
    struct bal_theory_row theory_row = {
        .known = bal_theory_predict(model, &c->policy),
        .critical_load = bal_theory_critical_load(model, &c->policy),
        .floor_response = bal_theory_lower_bound(model),
        .chain = bal_scheme_of(c->policy.policy) == BAL_SCHEME_GENERATED,
    };
    theory_row.expanded = bal_theory_expand(model, &c->policy, &theory_row.expansion);
    if (theory_row.chain) {
        const uint32_t n = bal_servers_count(&model->servers);
        theory_row.proof =
            bal_stealing_prove(&model->steal, &model->placement, n, model->load, model->others);
        theory_row.bound = bal_stealing_bound(&model->steal, n, model->load, 0);
    }
    return theory_row;
}

enum bal_chain_outcome bal_theory_row_solve(struct bal_theory_row *theory_row, const struct bal_case *c) {
    enum { MOST = 100000 };
    return bal_theory_solve_chain(&c->model, &c->policy, MOST, &theory_row->known, &theory_row->solved);
}

struct bal_theory_row *bal_theory_rows_new(const struct bal_case *cases, size_t count) {
    struct bal_theory_row *theory_row = malloc((count + 1) * sizeof *theory_row);
    for (size_t i = 0; theory_row && i < count; i++)
        theory_row[i] = bal_theory_row_of(&cases[i]);
    return theory_row;
}
