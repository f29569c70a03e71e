/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean response time with N servers, from the expansion of the mean queue. */
#include "theory/expansion_pod.h"
#include "theory/policy_theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_SECOND = 20, /* up to so many levels 1/N^2 takes less than a tenth of a second */
    LEVELS_MORE = 4,    /* a fleet of N servers has a longer tail than the limit */
    D_MOST = 64,        /* beyond, hardly a queue is left in the limit, and terms of 1/N are as large as it */
};

/* The series does not converge: from some term on they grow. Where terms fall quickly the error is a part of
 * the last one, and else that term itself; but the last one may be small by chance, where it changes its
 * sign. So the error is also taken to be at least what a third term would be that follows from the first:
 * tests hold this to chains of up to eight servers, for which the factors were chosen. */
static double error_of(double limit_waiting, double first, double second, unsigned d) {
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

static void set_response(const struct expansion *jobs, unsigned order, unsigned d,
                         const struct bal_uniform *u, struct bal_expansion *expansion) {
    const double unit = u->unit / u->lambda, n = u->servers;
    expansion->limit = sum_of(jobs->x, jobs->n) * unit;
    expansion->first = sum_of(jobs->first, jobs->n) * unit;
    expansion->second = order > 1 ? sum_of(jobs->second, jobs->n) * unit : NAN;
    const double first = expansion->first / n, second = order > 1 ? expansion->second / n / n : 0;
    expansion->response_mean = expansion->limit + first + second;
    expansion->error = order > 1 ? error_of(expansion->limit - u->unit, first, second, d) : NAN;
}

bool bal_expand_pod(const struct bal_pod *pod, bool distinct, const struct bal_uniform *u,
                    struct bal_expansion *expansion) {
    double tail[EXPANSION_LEVELS] = {0};
    const size_t known = bal_pod_tail(pod, tail, EXPANSION_LEVELS);
    if (pod->d1 > D_MOST || pod->d2 > D_MOST || known <= 1 || known + LEVELS_MORE > EXPANSION_LEVELS)
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
    const struct expansion_model model = bal_expansion_pod_model(&events);
    struct expansion jobs;
    const bool solved = bal_expansion_init(&jobs, &model, tail + 1, order);
    if (solved)
        set_response(&jobs, order, pod->d1 > pod->d2 ? pod->d1 : pod->d2, u, expansion);
    bal_expansion_fini(&jobs);
    return solved;
}

bool bal_theory_expand(const struct bal_model *model, const struct bal_policy_spec *policy,
                       struct bal_expansion *expansion) {
    struct bal_policy_spec any;
    struct bal_uniform u;
    policy = bal_theory_equivalent_policy(model, policy, &any);
    const struct bal_policy_theory *about = bal_policy_theory(model, policy);
    if (!about->expand || !bal_model_is_steady(model) || !bal_uniform_of(model, &u) ||
        (u.dispatchers > 1 && !about->any_dispatchers) || !u.exponential || !(u.lambda > 0 && u.lambda < 1))
        return false;
    return about->expand(model, policy, &u, expansion);
}
