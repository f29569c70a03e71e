/* SPDX-License-Identifier: BSD-2-Clause */
/* What the chain of a few servers says of response times. */
#include "theory/chain.h"
#include "theory/jobs_found.h"
#include "theory/policy_theory.h"

#include <math.h>

/* Servers work on one job after the other, so that in the steady state as many jobs a unit of time come to a
 * server with k jobs as end at one with k + 1: a job finds at least k others with probability
 * tail[k + 1] / tail[1]. What it finds has an exponential time left for each. */
static void set_times(const struct chain_answer *answer, bool in_order, const struct bli_uniform *u,
                      struct bli_prediction *known) {
    double value[CHAIN_LEVELS] = {0};
    struct found found = {value, 0};
    while (found.n + 1 < CHAIN_LEVELS && answer->tail[found.n + 1] > 0) {
        value[found.n] = answer->tail[found.n + 1] / answer->tail[1];
        found.n++;
    }
    known->response_mean = answer->jobs / answer->accepted * u->unit;
    known->waiting_mean = known->response_mean - u->unit;
    known->waiting_probability = value[1];
    for (int i = 0; i < 4 && in_order; i++)
        known->response_quantile[i] = bli_found_quantile(&found, 0, bli_theory_quantiles[i]) * u->unit;
    for (known->levels = 0; known->levels < BLI_THEORY_LEVELS; known->levels++)
        known->tail[known->levels] = answer->tail[known->levels];
}

enum bli_chain_outcome bli_theory_solve_chain(const struct bli_model *model,
                                              const struct bal_policy_spec *policy, size_t most,
                                              struct bli_prediction *known, struct bli_chain *chain) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    struct bli_uniform u;
    struct chain_rules rules;
    if (!about->chain || !bli_model_is_steady(model) || !bli_uniform_of(model, &u) || u.dispatchers > 1 ||
        !u.exponential || u.reports || model->classes || model->standby.mean > 0 || model->setup.mean > 0 ||
        !(u.lambda > 0 && u.lambda < 1))
        return BLI_CHAIN_NONE;
    rules = (struct chain_rules){.servers = u.servers, .lambda = u.lambda};
    if (!about->chain(policy, &u, &rules))
        return BLI_CHAIN_NONE;
    if (u.servers > (rules.level_rule ? CHAIN_MANY : CHAIN_SERVERS))
        return BLI_CHAIN_LARGE;
    if (u.servers > CHAIN_SERVERS) {
        rules.by_levels = true;
        rules.rule = rules.level_rule;
    }
    struct chain_answer answer;
    if (!bli_chain_solve(&rules, most, &answer))
        return BLI_CHAIN_LARGE;
    *known = bli_theory_unknown;
    known->kind = BLI_THEORY_EXACT;
    known->source = "Markov chain";
    set_times(&answer,
              model->discipline != BLI_DISCIPLINE_SHARING && model->discipline != BLI_DISCIPLINE_LIFO, &u,
              known);
    *chain = (struct bli_chain){answer.states, answer.lost};
    return BLI_CHAIN_SOLVED;
}
