/* SPDX-License-Identifier: BSD-2-Clause */
/* Power of d choices in the limit of many servers: the fixed point v_i of the mean-field equations and the
 * delay it means. Vvedenskaya, Dobrushin and Karpelevich (1996); Mitzenmacher (2001); with two kinds of
 * jobs, Niu, Wang, Feng and Xu (2022), Lemma 5. A job that probes d servers finds at least k jobs at the
 * one it joins with probability v_k^d, whence E[R] = sum over k of v_k^d, and, services being exponential
 * and FIFO,
 *     P(R > t) = sum over k >= 0 of v_k^d P(N_t = k),  P(W > t) = sum over k >= 0 of v_{k+1}^d P(N_t = k),
 * N_t Poisson of mean t: the job is there at t if fewer than its position's number of services have ended. */
#include "base/memory.h"
#include "theory/jobs_found.h"
#include "theory/levels.h"

#include <stdlib.h>

size_t bli_pod_tail(const struct bli_pod *pod, double *v, size_t size) {
    if (!pod_in_range(pod) || pod->lambda >= 1.0)
        return 0;
    const double log_least = log(1e-15);
    struct pod_levels levels;
    pod_levels_init(&levels, pod);
    size_t n = 0;
    while (levels.w >= log_least) {
        if (n < size)
            v[n] = exp(levels.w);
        n++;
        pod_levels_next(&levels);
    }
    return n;
}

double bli_pod_waiting(const struct bli_pod *pod, unsigned d) {
    if (!pod_in_range(pod) || d == 0)
        return NAN;
    if (pod->lambda >= 1.0)
        return INFINITY;
    if (pod->lambda == 0.0)
        return 0.0;
    struct pod_levels levels;
    pod_levels_init(&levels, pod);
    struct sum sum = {0};
    for (int i = 1; i < POD_LEVELS_MAX; i++) {
        pod_levels_next(&levels);
        const double term = exp(d * levels.w);
        const double rest = term / -expm1(d * levels.step); /* at least this and all later terms */
        if (pod_levels_geometric(&levels))
            return sum.value + rest;
        if (rest <= 0x1p-55 * sum.value)
            return sum.value;
        sum_add(&sum, term);
    }
    return NAN;
}

double bli_pod_response(const struct bli_pod *pod, unsigned d) {
    return 1.0 + bli_pod_waiting(pod, d);
}

/* v_k^d is the probability that a job finds at least k others; down to 1e-17. */
static bool found_init(struct found *found, const struct bli_pod *pod, unsigned d) {
    const double log_least = log(1e-17);
    struct pod_levels levels;
    size_t n = 0;
    for (pod_levels_init(&levels, pod); d * levels.w >= log_least && n < POD_LEVELS_MAX; n++)
        pod_levels_next(&levels);
    if (n == POD_LEVELS_MAX)
        return false;
    found->n = n;
    found->value = malloc(n * sizeof *found->value);
    if (!found->value) {
        bli_memory_lose();
        return false;
    }
    pod_levels_init(&levels, pod);
    for (size_t k = 0; k < n; k++, pod_levels_next(&levels))
        found->value[k] = exp(d * levels.w);
    return true;
}

/* Where every job probes one server the queues are M/M/1 and found[k] = rho^k, rho = lambda^d, a list
 * without end as lambda tends to 1; its sum is P(. > t) = rho^first exp(-(1 - rho) t). */
static bool only_one_probe(const struct bli_pod *pod) {
    return (pod->d1 == 1 || pod->p == 1.0) && (pod->d2 == 1 || pod->p == 0.0);
}

/* P(R > t) with first = 0, P(W > t) with first = 1; t >= 0. */
static double tail_at(const struct bli_pod *pod, unsigned d, size_t first, double t) {
    if (!pod_in_range(pod) || d == 0 || isnan(t))
        return NAN;
    if (pod->lambda >= 1.0)
        return 1.0;
    if (only_one_probe(pod))
        return pow(pod->lambda, d * (double)first) * exp(expm1(d * log(pod->lambda)) * t);
    struct found found;
    if (!found_init(&found, pod, d))
        return NAN;
    const double tail = bli_found_tail(&found, first, t);
    free(found.value);
    return tail;
}

static double quantile_at(const struct bli_pod *pod, unsigned d, size_t first, double q) {
    if (!pod_in_range(pod) || d == 0 || !(q >= 0.0 && q < 1.0))
        return NAN;
    if (pod->lambda >= 1.0)
        return INFINITY;
    if (only_one_probe(pod)) {
        const double log_rho = d * log(pod->lambda);
        const double log_wait = first == 0 ? 0.0 : log_rho;
        return fmax(0.0, log_wait - log1p(-q)) / -expm1(log_rho);
    }
    struct found found;
    if (!found_init(&found, pod, d))
        return NAN;
    const double quantile = bli_found_quantile(&found, first, q);
    free(found.value);
    return quantile;
}

double bli_pod_response_tail(const struct bli_pod *pod, unsigned d, double t) {
    return t < 0.0 ? 1.0 : tail_at(pod, d, 0, t);
}

double bli_pod_waiting_tail(const struct bli_pod *pod, unsigned d, double t) {
    return t < 0.0 ? 1.0 : tail_at(pod, d, 1, t);
}

double bli_pod_response_quantile(const struct bli_pod *pod, unsigned d, double q) {
    return quantile_at(pod, d, 0, q);
}

double bli_pod_waiting_quantile(const struct bli_pod *pod, unsigned d, double q) {
    return quantile_at(pod, d, 1, q);
}
