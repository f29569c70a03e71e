/* SPDX-License-Identifier: BSD-2-Clause */
/* The fixed point of power-of-d-choices level by level, for the files of this directory. */
#ifndef BALLAST_THEORY_LEVELS_H
#define BALLAST_THEORY_LEVELS_H

#include "ballast/theory.h"

#include <math.h>
#include <stdbool.h>

enum { POD_LEVELS_MAX = 1 << 24 };

/* Walks v_0 = 1, v_i = lambda ((1-p) v_{i-1}^d1 + p v_{i-1}^d2) in logarithms: w_i = log v_i is a sum of
 * negative numbers, so its relative error stays at a few roundings, where powers of v_i would multiply it
 * by d at each level. */
struct pod_levels {
    const struct bli_pod *pod;
    double log_lambda;
    double w;    /* log v_i */
    double step; /* log(v_{i+1} / v_i), never rising with i */
};

static inline bool pod_in_range(const struct bli_pod *pod) {
    return pod->lambda >= 0.0 && pod->p >= 0.0 && pod->p <= 1.0 && pod->d1 >= 1 && pod->d2 >= 1;
}

/* log((1-p) e^(d1 w) + p e^(d2 w)) for w <= 0. */
static inline double pod_log_choice(const struct bli_pod *pod, double w) {
    if (pod->p == 0.0 || pod->d1 == pod->d2)
        return pod->d1 * w;
    if (pod->p == 1.0)
        return pod->d2 * w;
    /* The smaller power stands in front, so that the exponent inside is negative. */
    const bool d1_first = pod->d1 < pod->d2;
    const double d = d1_first ? pod->d1 : pod->d2;
    const double q = d1_first ? pod->p : 1.0 - pod->p; /* share of the other */
    const double x = (d1_first ? pod->d2 : pod->d1) * w - d * w;
    return d * w + (x > -0.5 ? log1p(q * expm1(x)) : log((1.0 - q) + q * exp(x)));
}

static inline void pod_levels_step(struct pod_levels *levels) {
    levels->step = levels->log_lambda + pod_log_choice(levels->pod, levels->w) - levels->w;
}

static inline void pod_levels_init(struct pod_levels *levels, const struct bli_pod *pod) {
    levels->pod = pod;
    levels->log_lambda = log(pod->lambda);
    levels->w = 0.0;
    pod_levels_step(levels);
}

static inline void pod_levels_next(struct pod_levels *levels) {
    levels->w = levels->log_lambda + pod_log_choice(levels->pod, levels->w);
    pod_levels_step(levels);
}

/* Is v_{i+1}/v_i the same at all levels from here on, to the last digit? Only where some jobs probe one
 * server alone. */
static inline bool pod_levels_geometric(const struct pod_levels *levels) {
    const struct bli_pod *pod = levels->pod;
    const double one = (pod->d1 == 1 ? 1.0 - pod->p : 0.0) + (pod->d2 == 1 ? pod->p : 0.0);
    if (one == 0.0 || one == 1.0)
        return one == 1.0;
    const unsigned other = pod->d1 == 1 ? pod->d2 : pod->d1;
    return (1.0 - one) * exp((other - 1) * levels->w) < 0x1p-60 * one;
}

/* A compensated sum (Kahan): there may be millions of terms. */
struct sum {
    double value, carry;
};

static inline void sum_add(struct sum *sum, double term) {
    const double y = term - sum->carry;
    const double next = sum->value + y;
    sum->carry = (next - sum->value) - y;
    sum->value = next;
}

#endif
