/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean response time with N servers, from the expansion of the mean queue. */
#include "theory/expansion_pod.h"
#include "theory/jobs_found.h"
#include "theory/policy_theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_SECOND = 20, /* up to so many levels 1/N^2 takes less than a tenth of a second */
    LEVELS_MORE = 4,    /* a fleet of N servers has a longer tail than the limit */
    LEVELS_FIRST = 100, /* up to so many 1/N does, where a matrix is full */
    D_MAX = 64,         /* beyond, hardly a queue is left in the limit, and terms of 1/N are as large as it */
};

static const double least_level = 1e-11; /* of a level that counts */
static const double first_factor = 2;    /* see below */

/* The series does not converge: from some term on they grow. Where terms fall quickly the error is a part of
 * the last one, and else that term itself; but the last one may be small by chance, where it changes its
 * sign. So the error is also taken to be at least what a third term would be that follows from the first:
 * tests hold this to chains of up to eight servers, for which the factors were chosen. */
double bli_expansion_error(double limit_waiting, double first, double second, unsigned d) {
    const double factor = d <= 2 ? 0.25 : 0.5;
    const double last = first == 0 ? 0 : fabs(second) * fmin(1, 4 * fabs(second / first));
    return fmax(last, factor * first * first / limit_waiting);
}

static double sum_of(const double *value, size_t n) {
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += value[i];
    return sum;
}

/* The sum of value[k] P(N_t = k), and its derivatives in t. As many jobs come to servers with k jobs as end
 * at servers with k + 1, so that a job finds at least k others with probability E[x_{k+1}] / lambda: P(R > t)
 * is such a sum, to each order in 1/N. */
static double tail_of(const double *value, size_t n, double t, unsigned derivative) {
    double change[EXPANSION_LEVELS], weight = exp(-t), sum = 0;
    memcpy(change, value, n * sizeof *change);
    for (unsigned i = 0; i < derivative; i++)
        for (size_t k = 0; k < n; k++)
            change[k] = (k + 1 < n ? change[k + 1] : 0) - change[k];
    for (size_t k = 0; k < n; weight *= t / (double)++k)
        sum += weight * change[k];
    return sum;
}

/* P(R > t) = 1 - q, solved order by order. Percentiles are less well behaved than means: the error is taken
 * to be the last term, or what follows from the square of the first. */
static void set_quantiles(const struct expansion *jobs, const struct bli_uniform *u,
                          struct bli_expansion *expansion) {
    double value[EXPANSION_LEVELS];
    for (size_t k = 0; k < jobs->n; k++)
        value[k] = jobs->x[k] / u->lambda;
    const struct found found = {value, jobs->n};
    const double n = u->servers;
    for (int i = 0; i < 4; i++) {
        const double q = bli_theory_quantiles[i], t = bli_found_quantile(&found, 0, q);
        const double slope = tail_of(jobs->x, jobs->n, t, 1);
        const double first = -tail_of(jobs->first, jobs->n, t, 0) / slope;
        const double second =
            -(tail_of(jobs->second, jobs->n, t, 0) + first * tail_of(jobs->first, jobs->n, t, 1) +
              0.5 * first * first * tail_of(jobs->x, jobs->n, t, 2)) /
            slope;
        const double e1 = first / n, e2 = second / n / n, waiting = t + log1p(-q);
        expansion->response_quantile[i] = (t + e1 + e2) * u->unit;
        expansion->quantile_error[i] = fmax(fabs(e2), 2 * e1 * e1 / waiting) * u->unit;
    }
}

static void set_response(const struct expansion *jobs, unsigned order, unsigned d,
                         const struct bli_uniform *u, struct bli_expansion *expansion) {
    const double unit = u->unit / u->lambda, n = u->servers;
    expansion->limit = sum_of(jobs->x, jobs->n) * unit;
    expansion->first = sum_of(jobs->first, jobs->n) * unit;
    expansion->second = order > 1 ? sum_of(jobs->second, jobs->n) * unit : NAN;
    const double first = expansion->first / n, second = order > 1 ? expansion->second / n / n : 0;
    expansion->response_mean = expansion->limit + first + second;
    expansion->error = order > 1 ? bli_expansion_error(expansion->limit - u->unit, first, second, d) : NAN;
    for (int i = 0; i < 4; i++)
        expansion->response_quantile[i] = expansion->quantile_error[i] = NAN;
    if (order > 1)
        set_quantiles(jobs, u, expansion);
}

bool bli_expand_pod(const struct bli_pod *pod, bool distinct, const struct bli_uniform *u,
                    struct bli_expansion *expansion) {
    double tail[EXPANSION_LEVELS] = {0};
    const size_t known = bli_pod_tail(pod, tail, EXPANSION_LEVELS);
    if (pod->d1 > D_MAX || pod->d2 > D_MAX || known <= 1 || known + LEVELS_MORE > EXPANSION_LEVELS)
        return false;
    const size_t levels = known - 1 + LEVELS_MORE;
    const unsigned order = levels <= LEVELS_SECOND ? 2 : 1;
    const struct expansion_pod events = {.lambda = u->lambda,
                                         .p = pod->p,
                                         .d = {pod->d1, pod->d2},
                                         .distinct = distinct,
                                         .groups = 1,
                                         .share = {1},
                                         .speed = {1},
                                         .levels = levels};
    const struct expansion_model model = bli_expansion_pod_model(&events);
    struct expansion jobs;
    const bool solved = bli_expansion_init(&jobs, &model, tail + 1, order);
    if (solved)
        set_response(&jobs, order, pod->d1 > pod->d2 ? pod->d1 : pod->d2, u, expansion);
    bli_expansion_fini(&jobs);
    return solved;
}

/* Without a term of 1/N^2 the error is taken to be twice what would follow from the first, of which noise and
 * the lag of the fast variable are parts that may cancel out: tests hold this to chains of up to six servers.
 */
bool bli_expand_first(const struct fast_model *model, double *x, const struct bli_uniform *u,
                      struct bli_expansion *expansion) {
    double first[EXPANSION_LEVELS], lag[EXPANSION_LEVELS];
    if (!bli_expansion_fast(model, x, first, lag))
        return false;
    const double unit = u->unit / u->lambda;
    *expansion = (struct bli_expansion){
        .limit = sum_of(x, model->n) * unit, .first = sum_of(first, model->n) * unit, .second = NAN};
    const double term = expansion->first / u->servers, late = sum_of(lag, model->n) * unit / u->servers,
                 size = fabs(term - late) + fabs(late);
    expansion->response_mean = expansion->limit + term;
    expansion->error = first_factor * size * size / (expansion->limit - u->unit);
    for (int i = 0; i < 4; i++)
        expansion->response_quantile[i] = expansion->quantile_error[i] = NAN;
    return true;
}

/* One of the servers that are drawn may be drawn again. */
static bool expand_stealing(const struct bli_model *model, const struct bal_policy_spec *policy,
                            struct bli_expansion *expansion) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    struct bli_model plain = *model;
    plain.steal.kind = BAL_STEAL_NONE;
    struct bli_uniform u;
    double x[EXPANSION_LEVELS], jobs;
    if (!about->choices || model->classes || !bli_uniform_of(&plain, &u) || !u.exponential ||
        u.dispatchers > 1 || !(u.lambda > 0 && u.lambda < 1) || bli_choices_are_distinct(policy))
        return false;
    const struct bli_stealing stealing = {
        .lambda = u.lambda, .d = about->choices(policy), .steal = model->steal};
    struct expansion_stealing events = {.stealing = &stealing, .others = model->others};
    if (stealing.d > D_MAX || bli_stealing_equilibrium(&stealing, x, EXPANSION_LEVELS, &jobs, NULL))
        return false;
    while (events.levels < EXPANSION_LEVELS && x[events.levels] > least_level)
        events.levels++;
    const struct fast_model steals = bli_expansion_stealing_model(&events);
    return events.levels <= LEVELS_FIRST && bli_expand_first(&steals, x, &u, expansion);
}

bool bli_theory_expand(const struct bli_model *model, const struct bal_policy_spec *policy,
                       struct bli_expansion *expansion) {
    struct bal_policy_spec any;
    struct bli_uniform u;
    policy = bli_theory_equivalent_policy(model, policy, &any);
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    if (model->steal.kind != BAL_STEAL_NONE)
        return bli_model_is_steady(model) && expand_stealing(model, policy, expansion);
    if (!bli_servers_are_equal(&model->servers))
        return about->expand_unequal && bli_model_is_steady(model) && bli_is_plain_unequal(model) &&
               bli_dist_is_exponential(&model->size) && about->expand_unequal(model, policy, expansion);
    if (!about->expand || !bli_model_is_steady(model) || !bli_uniform_of(model, &u) ||
        (u.dispatchers > 1 && !about->any_dispatchers) || !u.exponential || !(u.lambda > 0 && u.lambda < 1))
        return false;
    if (!about->expand(model, policy, &u, expansion))
        return false;
    const bool in_order =
        model->discipline != BLI_DISCIPLINE_SHARING && model->discipline != BLI_DISCIPLINE_LIFO &&
        bli_model_discipline(model, policy->policy->flags & BAL_SERVES_RANKS) == BLI_DISCIPLINE_FIFO;
    for (int i = 0; i < 4 && !in_order; i++)
        expansion->response_quantile[i] = expansion->quantile_error[i] = NAN;
    return true;
}
