/* SPDX-License-Identifier: BSD-2-Clause */
/* board: periodic updates in the limit of many servers (Mitzenmacher 2000). */
#include "base/memory.h"
#include "theory/board_period.h"
#include "theory/jobs_found.h"
#include "theory/policy_theory.h"

#include <math.h>
#include <stdlib.h>

static void set_times(struct board_answer *answer, const struct bli_uniform *u,
                      struct bli_prediction *known) {
    const struct found found = {answer->found, answer->levels};
    known->kind = BLI_THEORY_LIMIT;
    known->source = "mean field of periods";
    known->response_mean = answer->jobs / u->lambda * u->unit;
    known->waiting_mean = known->response_mean - u->unit;
    known->waiting_limit = known->waiting_mean;
    known->waiting_probability = answer->found[1];
    for (int i = 0; i < 4; i++)
        known->response_quantile[i] = bli_found_quantile(&found, 0, bli_theory_quantiles[i]) * u->unit;
    known->levels = (unsigned)fmin((double)answer->levels, BLI_THEORY_LEVELS);
    for (unsigned i = 0; i < known->levels; i++)
        known->tail[i] = answer->tail[i];
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    (void)model;
    const double d = bal_policy_value(policy, "d");
    const struct board_period board = {.lambda = u->lambda,
                                       .period = bal_policy_value(policy, "t"),
                                       .pick = (enum board_pick)bal_policy_value(policy, "pick"),
                                       .d = isnan(d) ? 2 : (unsigned)d};
    struct bli_prediction known = bli_theory_unknown;
    struct board_answer *answer = malloc(sizeof *answer);
    if (!answer)
        bli_memory_lose();
    else if (u->lambda > 0 && u->lambda < 1 && bli_board_period_solve(&board, answer))
        set_times(answer, u, &known);
    free(answer);
    return known;
}

const struct bli_policy_theory bli_theory_board[] = {{.policy = "board", .fifo = fifo}, {0}};
