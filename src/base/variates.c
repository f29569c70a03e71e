/* SPDX-License-Identifier: BSD-2-Clause */
/* Random variates: exponential and normal (ziggurat), gamma, Poisson, geometric. */
#include "ballast/random.h"

#include "base/special.h"
#include "base/ziggurat.h"

#include <assert.h>
#include <stdbool.h>

/* A point of the exponential ziggurat that is not inside for certain: strip 0 beyond r, or near the curve.
 * About one draw in 45 comes here. */
double bal_rng_exp_edge(struct bal_rng *rng, uint64_t bits) {
    double shift = 0;
    for (;;) {
        const unsigned strip = bits & 255;
        const uint64_t point = bits >> 11;
        const double x = (double)point * bal_exp_width[strip];
        if (point < bal_exp_inside[strip])
            return shift + x;
        if (strip == 0) {
            /* The tail: given that it exceeds r, the excess over r has the same distribution. */
            shift += bal_exp_width[1] * 0x1p53;
        } else {
            const double low = bli_exp_height[strip];
            const double high = bli_exp_height[strip + 1];
            if (low + bal_rng_uniform(rng) * (high - low) < exp(-x))
                return shift + x;
        }
        bits = bal_rng_next(rng);
    }
}

/* The normal distribution beyond r, given that it exceeds r: x = r + y with y exponential of rate r, accepted
 * with probability exp(-y^2 / 2) (Marsaglia 1964). */
static double normal_tail(struct bal_rng *rng) {
    const double r = bli_normal_width[1] * 0x1p53;
    for (;;) {
        const double y = bal_rng_exp(rng) / r;
        if (2 * bal_rng_exp(rng) > y * y)
            return r + y;
    }
}

double bal_rng_normal(struct bal_rng *rng) {
    static const double signs[2] = {1, -1};
    for (;;) {
        const uint64_t bits = bal_rng_next(rng);
        const unsigned strip = bits & 255;
        const uint64_t point = bits >> 11;
        const double sign = signs[(bits >> 8) & 1]; /* a table, as a branch would be guessed wrongly */
        const double x = (double)point * bli_normal_width[strip];
        if (__builtin_expect(point < bli_normal_inside[strip], 1))
            return sign * x;
        if (strip == 0)
            return sign * normal_tail(rng);
        const double low = bli_normal_height[strip];
        const double high = bli_normal_height[strip + 1];
        if (low + bal_rng_uniform(rng) * (high - low) < exp(-0.5 * x * x))
            return sign * x;
    }
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). */
double bal_rng_gamma(struct bal_rng *rng, double shape) {
    assert(shape > 0);
    if (shape < 1) {
        /* Gamma(shape) = Gamma(shape + 1) U^(1/shape), and U = exp(-E). */
        const double boost = exp(-bal_rng_exp(rng) / shape);
        return boost * bal_rng_gamma(rng, shape + 1);
    }
    const double d = shape - 1 / 3.0;
    const double c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = bal_rng_normal(rng);
        const double root = 1 + c * x;
        if (root <= 0)
            continue;
        const double v = root * root * root;
        const double u = bal_rng_open(rng);
        const double squeeze = 1 - 0.0331 * (x * x) * (x * x);
        if (u < squeeze || log(u) < 0.5 * x * x + d * (1 - v + log(v)))
            return d * v;
    }
}

/* Algorithm PTRS of W. Hoermann, "The transformed rejection method for generating Poisson random variables",
 * Insurance: Mathematics and Economics 12 (1993), for mean >= 10. The whole part of the mean is kept out of
 * the floating-point sums, so that no digit is lost for large means. */
static uint64_t poisson_rejection(struct bal_rng *rng, double mean) {
    const double whole = floor(mean);
    const double part = mean - whole;
    const double b = 0.931 + 2.53 * sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double v_r = 0.9277 - 3.6224 / (b - 2);
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    for (;;) {
        const double u = bal_rng_open(rng) - 0.5;
        const double v = bal_rng_open(rng);
        const double us = 0.5 - fabs(u);
        const double step = floor((2 * a / us + b) * u + part + 0.43); /* k - whole */
        const double k = whole + step;
        const bool sure = us >= 0.07 && v <= v_r;
        if (!sure) {
            if (k < 0 || (us < 0.013 && v > us))
                continue;
            if (log(v * inverse_alpha / (a / (us * us) + b)) > bli_poisson_log(k, mean, step - part))
                continue;
        }
        return (uint64_t)((int64_t)whole + (int64_t)step);
    }
}

uint64_t bal_rng_poisson(struct bal_rng *rng, double mean) {
    assert(mean >= 0 && mean <= 0x1p62);
    if (mean >= 10)
        return poisson_rejection(rng, mean);
    /* The number of points before `mean` of a Poisson process of rate 1. */
    uint64_t count = 0;
    for (double time = bal_rng_exp(rng); time < mean; time += bal_rng_exp(rng))
        count++;
    return count;
}

/* P(floor(E / c) >= k) = exp(-c k) = (1-p)^k for c = -log(1-p). */
uint64_t bal_rng_geometric(struct bal_rng *rng, double p) {
    assert(p > 0 && p <= 1);
    const double failures = bal_rng_exp(rng) / -log1p(-p);
    return failures < 0x1p63 ? (uint64_t)failures : UINT64_C(1) << 63;
}
