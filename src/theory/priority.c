/* SPDX-License-Identifier: BSD-2-Clause */
/* Power of d choices with two classes, in the limit of many servers. Niu, Wang, Feng and Xu (2022):
 * Theorems 1 to 4 for pod-ssp, 5 and 6 for pod-scp, 7 and 8 for pod-sep; for the low class of pod-sep the
 * exact value in place of Theorem 8's bound.
 *
 * v_i is the fraction of servers with at least i jobs, w_i its logarithm. */
#include "theory/levels.h"

#include <assert.h>

/* ---- pod-ssp ---------------------------------------------------------------------------------------------
 *
 * The total queues are those of pod-scp, and the high jobs see pod:d=d2 at load p lambda alone. With A, B
 * the means of jobs that probe d1, d2 servers (Theorem 6) and u_i the tails of the high jobs, (1-p) T_L =
 * (1-p) A + p B - p T_H gives
 *     T_L = A + p sum over i of (v_i^d2 - u_i^d2)/(1-p).
 * The differences are taken from g_i = log(v_i/u_i) = d2 g_{i-1} + log(1 + (1-p)/p v_{i-1}^(d1-d2)), g_0 =
 * 0, so that no digits are lost as p tends to 1. Here 0 < p < 1. */
static double ssp_low_excess(const struct bli_pod *pod) {
    const double d1 = pod->d1, d2 = pod->d2;
    const double odds = (1.0 - pod->p) / pod->p;
    struct pod_levels levels;
    pod_levels_init(&levels, pod);
    double g = 0.0;
    struct sum sum = {0};
    for (int i = 1; i < POD_LEVELS_MAX; i++) {
        g = d2 * g + log1p(odds * exp((d1 - d2) * levels.w));
        pod_levels_next(&levels);
        const double most = exp(d2 * levels.w) / (1.0 - pod->p); /* a term without its - u_i^d2 */
        if (most / -expm1(d2 * levels.step) <= 0x1p-55 * sum.value)
            return sum.value;
        sum_add(&sum, most * -expm1(-d2 * g));
    }
    return NAN;
}

/* The same sum in the limit p = 1, where v_i^d2 g_i/(1-p) tends to h_i. Its terms d2 h_i rise and fall
 * once. */
static double ssp_low_excess_limit(const struct bli_pod *pod) {
    const double d1 = pod->d1, d2 = pod->d2;
    struct pod_levels levels;
    pod_levels_init(&levels, pod);
    double h = 0.0;
    struct sum sum = {0};
    for (int i = 1; i < POD_LEVELS_MAX; i++) {
        const double w = levels.w, before = h;
        pod_levels_next(&levels);
        h = exp(d2 * levels.w + (d1 - d2) * w) + d2 * exp(d2 * (levels.w - w)) * h;
        sum_add(&sum, d2 * h);
        if (h < before && d2 * h * h <= 0x1p-55 * sum.value * (before - h)) /* a geometric rest of ratio
                                                                               h/before */
            return sum.value;
    }
    return NAN;
}

static double ssp_low(const struct bli_pod *pod) {
    const double joined = bli_pod_response(pod, pod->d1);
    if (pod->p == 0.0 || pod->lambda == 0.0)
        return joined;
    return joined + pod->p * (pod->p == 1.0 ? ssp_low_excess_limit(pod) : ssp_low_excess(pod));
}

/* ---- pod-sep ---------------------------------------------------------------------------------------------
 *
 * A server with j jobs receives others at rate lambda p_j, p_j = (v_j^d - v_{j+1}^d)/(v_j - v_{j+1}),
 * whatever their classes. Follow a low job at position i among j, high jobs standing in front of low ones;
 * r(i, j) is the mean time until it leaves:
 *     (1 + lambda p_j) r(i,j) = 1 + r(i-1,j-1) + lambda (1-p) p_j r(i,j+1) + lambda p p_j r(i+1,j+1),
 *     r(0,j) = 0.
 * The number m = j - i of jobs behind it never falls, so that the equations come apart into one tridiagonal
 * system in i for each m, solved from the largest m down to m = 0; and T_L = sum of r(i,i) (v_{i-1}^d -
 * v_i^d).
 *
 * The list is cut at j = top. There r(i,top) lies between i (no more arrivals) and the paper's bound a_1 + ..
 * + a_i with a_i = 1 + lambda p p_i a_{i+1} (which forgets the jobs behind; p_j falls with j, so it lets too
 * many come). Solving with both gives a bracket of T_L; the probability of ever reaching the top being below
 * 1e-40, it is as narrow as rounding allows. */
enum { SEP_LEVELS = 72 }; /* enough for the largest double below 1: lambda^(2^62) < 1e-40 */

struct sep {
    double p;
    int top;
    double power[SEP_LEVELS]; /* v_j^d */
    double come[SEP_LEVELS];  /* lambda p_j */
    double bound[SEP_LEVELS]; /* a_j, j >= 1 */
};

/* 0 < lambda < 1, d >= 2 */
static void sep_init(struct sep *sep, double lambda, double p, unsigned d) {
    const struct bli_pod pod = bli_pod_plain(lambda, d);
    struct pod_levels levels;
    pod_levels_init(&levels, &pod);
    sep->p = p;
    int j = 0;
    for (;; j++, pod_levels_next(&levels)) {
        assert(j < SEP_LEVELS);
        sep->power[j] = exp(d * levels.w);
        sep->come[j] = lambda * exp((d - 1) * levels.w) * (expm1(d * levels.step) / expm1(levels.step));
        if (j >= 2 && levels.w < -92.0)
            break;
    }
    sep->top = j;
    sep->bound[j] = 1.0 / (1.0 - p * sep->come[j]);
    while (--j >= 1)
        sep->bound[j] = 1.0 + p * sep->come[j] * sep->bound[j + 1];
}

/* Theorem 8, summed by parts: sum over i >= 1 of a_i v_{i-1}^d. */
static double sep_bound(const struct sep *sep) {
    double sum = 0.0;
    for (int i = 1; i <= sep->top; i++)
        sum += sep->bound[i] * sep->power[i - 1];
    return sum;
}

/* T_L when the boundary r(i, top) is edge[i], i = 1..top. */
static double sep_low_with(const struct sep *sep, const double *edge) {
    const int top = sep->top;
    double behind[SEP_LEVELS] = {0};                /* r with one more job behind */
    double constant[SEP_LEVELS], slope[SEP_LEVELS]; /* r(i) = constant + slope r(i+1) */
    behind[1] = edge[1];
    for (int m = top - 2; m >= 0; m--) {
        const int last = top - m;
        constant[0] = slope[0] = 0.0;
        for (int i = 1; i < last; i++) {
            const double come = sep->come[i + m];
            const double pivot = 1.0 + come - slope[i - 1];
            constant[i] = (1.0 + constant[i - 1] + (1.0 - sep->p) * come * behind[i]) / pivot;
            slope[i] = sep->p * come / pivot;
        }
        behind[last] = edge[last];
        for (int i = last - 1; i >= 1; i--)
            behind[i] = constant[i] + slope[i] * behind[i + 1];
    }
    double sum = 0.0;
    for (int i = 1; i <= top; i++)
        sum += behind[i] * (sep->power[i - 1] - sep->power[i]);
    return sum;
}

static double sep_low(const struct sep *sep) {
    double least[SEP_LEVELS], most[SEP_LEVELS];
    least[0] = most[0] = 0.0;
    for (int i = 1; i <= sep->top; i++) {
        least[i] = i;
        most[i] = most[i - 1] + sep->bound[i];
    }
    const double low = sep_low_with(sep, least);
    const double high = sep_low_with(sep, most);
    assert(high - low <= 1e-12 * high);
    return 0.5 * (low + high);
}

double bli_sep_low_bound(double lambda, double p, unsigned d) {
    if (!(lambda >= 0.0) || !(p >= 0.0 && p <= 1.0) || d == 0)
        return NAN;
    if (lambda >= 1.0)
        return INFINITY;
    if (lambda == 0.0)
        return 1.0;
    if (d == 1) /* M/M/1 with priorities: the jobs behind make no difference and the bound is the value */
        return 1.0 / ((1.0 - p * lambda) * (1.0 - lambda));
    struct sep sep;
    sep_init(&sep, lambda, p, d);
    return sep_bound(&sep);
}

/* What the paper has for j = levels: a_i as if no high job came to a queue longer than that. */
double bli_sep_low_cut(double lambda, double p, unsigned d, unsigned levels) {
    if (!(lambda > 0.0 && lambda < 1.0) || d < 2)
        return bli_sep_low_bound(lambda, p, d);
    struct sep sep;
    sep_init(&sep, lambda, p, d);
    for (int i = sep.top; i >= 1; i--)
        sep.bound[i] =
            i > (int)levels ? 1.0 : 1.0 + p * sep.come[i] * (i < (int)levels ? sep.bound[i + 1] : 1.0);
    return sep_bound(&sep);
}

static double sep_low_exact(double lambda, double p, unsigned d) {
    if (lambda == 0.0 || d == 1)
        return bli_sep_low_bound(lambda, p, d);
    struct sep sep;
    sep_init(&sep, lambda, p, d);
    return sep_low(&sep);
}

/* ---- all three -------------------------------------------------------------------------------------------
 * */

static void solve_scp(const struct bli_pod *pod, struct bli_priority_result *result) {
    result->low = bli_pod_response(pod, pod->d1);
    result->high = bli_pod_response(pod, pod->d2);
    result->all = (1.0 - pod->p) * result->low + pod->p * result->high;
}

static void solve_ssp(const struct bli_pod *pod, struct bli_priority_result *result) {
    const struct bli_pod high = bli_pod_plain(pod->p * pod->lambda, pod->d2);
    result->high = bli_pod_response(&high, pod->d2);
    result->low = pod->lambda >= 1.0 ? (double)INFINITY : ssp_low(pod);
    result->all = (1.0 - pod->p) * bli_pod_response(pod, pod->d1) + pod->p * bli_pod_response(pod, pod->d2);
}

static void solve_sep(const struct bli_pod *pod, struct bli_priority_result *result) {
    result->all = result->pod;
    if (pod->lambda >= 1.0) {
        result->low = INFINITY;
        return;
    }
    result->low = sep_low_exact(pod->lambda, pod->p, pod->d1);
    if (pod->lambda == 0.0)
        result->high = 1.0;
    else if (pod->d1 == 1)
        result->high = 1.0 / (1.0 - pod->p * pod->lambda);
    else if (pod->p > 0.0)
        result->high = (result->all - (1.0 - pod->p) * result->low) / pod->p;
}

struct bli_priority_result bli_priority_solve(const struct bli_priority *priority) {
    struct bli_priority_result result = {NAN, NAN, NAN, NAN, NAN, NAN};
    const struct bli_pod pod = {priority->lambda, priority->p, priority->d1,
                                priority->policy == BLI_PRIORITY_SEP ? priority->d1 : priority->d2};
    if (!pod_in_range(&pod))
        return result;
    const struct bli_pod plain = bli_pod_plain(pod.lambda, pod.d1);
    result.pod = bli_pod_response(&plain, plain.d1);
    switch (priority->policy) {
    case BLI_PRIORITY_SCP:
        solve_scp(&pod, &result);
        break;
    case BLI_PRIORITY_SEP:
        solve_sep(&pod, &result);
        break;
    case BLI_PRIORITY_SSP:
        solve_ssp(&pod, &result);
        break;
    }
    if (pod.lambda < 1.0) {
        result.gain = result.pod / result.high;
        result.loss = result.low / result.pod;
    }
    return result;
}

static bool share_is_good(const struct bli_priority *priority, double p, double gain, double loss) {
    struct bli_priority with = *priority;
    with.p = p;
    const struct bli_priority_result result = bli_priority_solve(&with);
    return result.gain >= gain && result.loss <= loss;
}

double bli_priority_share(const struct bli_priority *priority, double gain, double loss) {
    enum { STEPS = 1000 };
    const double least = 1e-6;
    double good = NAN, bad = 1.0;
    for (int k = STEPS - 1; k >= 0; k--) {
        const double p = fmax(k / (double)STEPS, least);
        if (share_is_good(priority, p, gain, loss)) {
            good = p;
            break;
        }
        bad = p;
    }
    while (bad - good > 1e-10) { /* not entered if good is NAN */
        const double p = 0.5 * (good + bad);
        if (share_is_good(priority, p, gain, loss))
            good = p;
        else
            bad = p;
    }
    return good;
}
