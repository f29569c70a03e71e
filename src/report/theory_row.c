/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects what theory predicts for a case. */
#include "report/theory_row.h"

#include "ballast/scheme.h"

#include <stdlib.h>

struct bli_theory_row bli_theory_row_of(const struct bli_case *c) {
    const struct bli_model *model = &c->model;
    struct bli_theory_row theory_row = {
        .known = bli_theory_predict(model, &c->policy),
        .critical_load = bli_theory_critical_load(model, &c->policy),
        .floor_response = bli_theory_lower_bound(model),
        .chain = bli_scheme_of(c->policy.policy) == BLI_SCHEME_GENERATED,
    };
    theory_row.expanded = bli_theory_expand(model, &c->policy, &theory_row.expansion);
    if (theory_row.chain) {
        const uint32_t n = bli_servers_count(&model->servers);
        theory_row.proof =
            bli_stealing_prove(&model->steal, &model->placement, n, model->load, model->others);
        theory_row.bound = bli_stealing_bound(&model->steal, n, model->load, 0);
    }
    return theory_row;
}

enum bli_chain_outcome bli_theory_row_solve(struct bli_theory_row *theory_row, const struct bli_case *c,
                                            bool quick) {
    enum { MOST = 100000, MOST_QUICK = 10000 };
    return bli_theory_solve_chain(&c->model, &c->policy, quick ? MOST_QUICK : MOST, quick, &theory_row->known,
                                  &theory_row->solved);
}

struct bli_theory_row *bli_theory_rows_new(struct bli_case *cases, size_t count) {
    struct bli_theory_row *theory_row = malloc((count + 1) * sizeof *theory_row);
    for (size_t i = 0; theory_row && i < count; i++) {
        theory_row[i] = bli_theory_row_of(&cases[i]);
        cases[i].known = &theory_row[i].known;
        cases[i].expansion = theory_row[i].expanded ? &theory_row[i].expansion : NULL;
    }
    return theory_row;
}
