/* SPDX-License-Identifier: BSD-2-Clause */
/* jiq. One dispatcher knows every idle server at once, as rcpb does when reports come without end. Several:
 * jiq_tokens.c. */
#include "policy/policy_common.h"
#include "theory/jiq_tokens.h"
#include "theory/jobs_found.h"
#include "theory/policy_theory.h"

#include <math.h>

static bool is_plain(const struct bal_policy_spec *policy) {
    return bal_policy_value(policy, "else") == 0 && bal_policy_value(policy, "report") == 1;
}

/* Jobs wait at the dispatcher, which holds any number, until a server is idle: one common queue. */
static struct bli_prediction held(const struct bli_uniform *u) {
    struct bli_prediction known =
        bli_theory_from_wait(bli_wait_mmn(u->lambda, u->servers), u->unit, BLI_THEORY_EXACT, "M/M/N");
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

enum { STATES_MAX = 1000000 }; /* of a chain that is summed up */

/* At most K of them wait, so that the number of jobs is that of M/M/N/N+K. */
static struct bli_prediction held_at_most(const struct bli_model *model, const struct bal_policy_spec *policy,
                                          const struct bli_uniform *u) {
    const double n = u->servers, most = n + model->hold_limit.jobs;
    if (bal_policy_value(policy, "else") != BLI_ELSE_HOLD || model->backlog > 0 || most > STATES_MAX)
        return bli_theory_unknown;
    double p = 1, all = 0, wait = 0, queue = 0; /* p: of `jobs` jobs, relative to the others */
    for (double jobs = 0; jobs <= most; jobs++) {
        all += p;
        wait += jobs >= n && jobs < most ? p : 0;
        queue += jobs > n ? p * (jobs - n) : 0;
        if (jobs < most)
            p *= u->lambda * n / fmin(jobs + 1, n);
        if (p > 1e200)
            p *= 1e-200, all *= 1e-200, wait *= 1e-200, queue *= 1e-200;
    }
    const double accepted = 1 - p / all;
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = "M/M/N/N+K";
    known.waiting_probability = wait / all / accepted;
    known.waiting_mean = queue / all / (accepted * u->lambda * n) * u->unit;
    known.response_mean = known.waiting_mean + u->unit;
    return known;
}

/* What is open requests to one dispatcher are all jobs. */
static bool chain(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules) {
    (void)u;
    const double otherwise = bal_policy_value(policy, "else");
    rules->rule = otherwise == BLI_ELSE_OWN ? bli_chain_jsq : bli_chain_jiq;
    rules->level_rule = otherwise == BLI_ELSE_OWN ? bli_chain_jsq_levels : bli_chain_jiq_levels;
    return otherwise == BLI_ELSE_OWN || otherwise == BLI_ELSE_UNIFORM;
}

/* A job finds at least k others where at least k + 1 are, as in exact.c. */
static void set_times(const struct jiq_tokens *answer, const struct bli_uniform *u,
                      struct bli_prediction *known) {
    double value[JIQ_LEVELS];
    const struct found found = {value, answer->levels - 1};
    for (size_t k = 0; k + 1 < answer->levels; k++)
        value[k] = answer->tail[k + 1] / answer->tail[1];
    known->response_mean = answer->jobs / answer->tail[1] * u->unit;
    known->waiting_mean = known->response_mean - u->unit;
    known->waiting_probability = value[1];
    for (int i = 0; i < 4; i++)
        known->response_quantile[i] = bli_found_quantile(&found, 0, bli_theory_quantiles[i]) * u->unit;
    known->levels = (unsigned)fmin((double)answer->levels, BLI_THEORY_LEVELS);
    for (unsigned i = 0; i < known->levels; i++)
        known->tail[i] = answer->tail[i];
}

/* With more servers for these dispatchers no job waits in the end (Lu et al. 2011). */
static struct bli_prediction with_dispatchers(const struct bli_model *model,
                                              const struct bal_policy_spec *policy,
                                              const struct bli_uniform *u) {
    struct jiq_tokens answer;
    struct bli_prediction known = bli_theory_unknown;
    switch (bli_jiq_tokens_solve(u->lambda, (double)u->servers / u->dispatchers, &answer)) {
    case JIQ_TOKENS_SOLVED:
        set_times(&answer, u, &known);
        known.waiting_limit = 0;
        known.kind = BLI_THEORY_LIMIT;
        known.source = "mean field of tokens";
        return known;
    case JIQ_TOKENS_MANY:
        return bli_theory_no_wait(model, policy, u);
    case JIQ_TOKENS_UNKNOWN:
        break;
    }
    return known;
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    if (u->dispatchers == 1 && bal_policy_value(policy, "else") == BLI_ELSE_HOLD && !model->classes &&
        model->backlog == 0)
        return held(u);
    if (u->dispatchers == 1)
        return bli_theory_no_wait(model, policy, u);
    return is_plain(policy) && u->lambda > 0 && u->lambda < 1 ? with_dispatchers(model, policy, u)
                                                              : bli_theory_unknown;
}

static enum bal_code fluid(struct bli_theory_fluid *f, const struct bli_model *model,
                           const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                           struct bal_error *err) {
    (void)policy, (void)variant, (void)err;
    return bli_fluid_use_rcpb(f, &(struct bli_rcpb){BLI_RCPB_HIGH_MESSAGE, model->load, 0, 1});
}

const struct bli_policy_theory bli_theory_jiq[] = {{.policy = "jiq",
                                                    .fifo = fifo,
                                                    .any_dispatchers = true,
                                                    .chain = chain,
                                                    .hold_limit = held_at_most,
                                                    .critical_load = bli_critical_if_equal,
                                                    .fluid = fluid},
                                                   {0}};
