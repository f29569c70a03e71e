/* SPDX-License-Identifier: BSD-2-Clause */
/* jiq. One dispatcher knows every idle server at once, as rcpb does when reports come without end.
 *
 * Several: Lu et al. 2011, section 3. There are r = N/M servers to a dispatcher, of which r (1 - lambda) are
 * idle. The tokens at a dispatcher are geometric, so that it has none with probability P0 = 1 / (1 + r (1 -
 * lambda)); a busy server gets jobs at rate lambda P0, and is M/M/1 with that load from there on. That
 * assumes every idle server to have exactly one token and busy ones none; real tokens grow stale, the more so
 * the lower the load. */
#include "policy/policy_common.h"
#include "theory/policy_theory.h"

#include <math.h>

static bool is_plain(const struct bal_policy_spec *policy) {
    return bal_policy_value(policy, "else") == 0 && bal_policy_value(policy, "report") == 1;
}

/* Jobs wait at the dispatcher, which holds any number, until a server is idle: one common queue. */
static struct bal_prediction held(const struct bal_uniform *u) {
    struct bal_prediction known =
        bal_theory_from_wait(bal_wait_mmn(u->lambda, u->servers), u->unit, BAL_THEORY_EXACT, "M/M/N");
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

enum { STATES_MAX = 1000000 }; /* of a chain that is summed up */

/* At most K of them wait, so that the number of jobs is that of M/M/N/N+K. */
static struct bal_prediction held_at_most(const struct bal_model *model, const struct bal_policy_spec *policy,
                                          const struct bal_uniform *u) {
    const double n = u->servers, most = n + model->hold_limit.jobs;
    if (bal_policy_value(policy, "else") != BAL_ELSE_HOLD || model->backlog > 0 || most > STATES_MAX)
        return bal_theory_unknown;
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
    struct bal_prediction known = bal_theory_unknown;
    known.kind = BAL_THEORY_EXACT;
    known.source = "M/M/N/N+K";
    known.waiting_probability = wait / all / accepted;
    known.waiting_mean = queue / all / (accepted * u->lambda * n) * u->unit;
    known.response_mean = known.waiting_mean + u->unit;
    return known;
}

/* What is open requests to one dispatcher are all jobs. */
static bool chain(const struct bal_policy_spec *policy, const struct bal_uniform *u,
                  struct chain_rules *rules) {
    (void)u;
    const double otherwise = bal_policy_value(policy, "else");
    rules->rule = otherwise == BAL_ELSE_OWN ? bal_chain_jsq : bal_chain_jiq;
    return otherwise == BAL_ELSE_OWN || otherwise == BAL_ELSE_UNIFORM;
}

static struct bal_prediction fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_uniform *u) {
    if (u->dispatchers == 1 && bal_policy_value(policy, "else") == BAL_ELSE_HOLD && !model->classes &&
        model->backlog == 0)
        return held(u);
    if (u->dispatchers == 1)
        return bal_theory_no_wait(model, policy, u);
    if (!is_plain(policy))
        return bal_theory_unknown;
    const double r = (double)u->servers / u->dispatchers;
    const double rho = u->lambda < 1 ? u->lambda / (1 + r * (1 - u->lambda)) : 1;
    struct bal_prediction known = bal_theory_unknown;
    known.kind = BAL_THEORY_APPROXIMATE;
    known.source = "Lu et al. 2011";
    known.response_mean = u->unit / (1 - rho);
    known.waiting_mean = known.waiting_limit = known.response_mean - u->unit;
    return known;
}

static enum bal_code fluid(struct bal_theory_fluid *f, const struct bal_model *model,
                           const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                           struct bal_error *err) {
    (void)policy, (void)variant, (void)err;
    return bal_fluid_use_rcpb(f, &(struct bal_rcpb){BAL_RCPB_HIGH_MESSAGE, model->load, 0, 1});
}

const struct bal_policy_theory bal_theory_jiq[] = {{.policy = "jiq",
                                                    .fifo = fifo,
                                                    .any_dispatchers = true,
                                                    .chain = chain,
                                                    .hold_limit = held_at_most,
                                                    .critical_load = bal_critical_if_equal,
                                                    .fluid = fluid},
                                                   {0}};
