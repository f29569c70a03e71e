/* SPDX-License-Identifier: BSD-2-Clause */
/* Goodness of fit for tests of random variates. Every assertion here raises a false alarm with probability
 * 1e-6 at most; seeds are fixed, so a test that passes once passes always.
 *
 * Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_GOODNESS_H
#define BALLAST_TESTS_GOODNESS_H

#include "ballast/random.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* What chi-square with df degrees of freedom exceeds with probability at most 1e-6: the approximation of
 * Wilson and Hilferty (1931), which errs on the safe side this far out (the true probability is 1.6e-7 for
 * df = 1, 6.3e-7 for df = 10, 9.9e-7 for df = 1000). */
static inline double chi_square_limit(double df) {
    const double normal_limit = 4.7534243088229; /* exceeded with probability 1e-6 */
    const double h = 2 / (9 * df);
    return df * pow(1 - h + normal_limit * sqrt(h), 3);
}

/* sup |F_n - F| exceeds this with probability at most 1e-6: the inequality of Dvoretzky, Kiefer and
 * Wolfowitz with Massart's constant (1990), 2 exp(-2 n D^2), which holds for every n and every law. */
static inline double distance_limit(double n) {
    return sqrt(log(2e6) / (2 * n));
}

/* A sum of many draws, standardised, exceeds this in absolute value with probability 1e-6. */
#define NORMAL_LIMIT 4.8916

/* count[i] of the draws fell into cell i, which has probability p[i]; the cells are in ascending order and
 * exhaust the line. Neighbours are pooled until 20 draws are expected there. Two assertions. */
static inline void assert_fits(const char *what, const double p[], const uint64_t count[], size_t cells) {
    double n = 0;
    double total = 0;
    for (size_t i = 0; i < cells; i++) {
        n += (double)count[i];
        total += p[i];
    }
    if (fabs(total - 1) > 1e-9) {
        print_error("%s: the probabilities of the cells sum to %.12g\n", what, total);
        fail();
    }
    double statistic = 0, distance = 0, pooled_p = 0, pooled = 0, cumulated_p = 0, cumulated = 0, left_p = 1;
    int df = -1;
    for (size_t i = 0; i < cells; i++) {
        if (p[i] <= 0 && count[i] > 0) {
            print_error("%s: %g draws in cell %zu, which has probability 0\n", what, (double)count[i], i);
            fail();
        }
        pooled_p += p[i];
        pooled += (double)count[i];
        cumulated_p += p[i];
        cumulated += (double)count[i];
        left_p -= p[i];
        distance = fmax(distance, fabs(cumulated / n - cumulated_p));
        if (i + 1 < cells && (n * pooled_p < 20 || n * left_p < 20))
            continue;
        if (pooled_p > 0)
            statistic += (pooled - n * pooled_p) * (pooled - n * pooled_p) / (n * pooled_p);
        df++;
        pooled_p = pooled = 0;
    }
    if (df > 0 && !(statistic <= chi_square_limit(df))) {
        print_error("%s: chi-square is %g with %d degrees of freedom\n", what, statistic, df);
        fail();
    }
    if (!(distance <= distance_limit(n))) {
        print_error("%s: the distribution functions differ by %g\n", what, distance);
        fail();
    }
}

static inline int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The cell of x when the line is cut at bound[0] < bound[1] < ...: how many bounds are below x. */
static inline size_t cell_of(double x, const double bound[], size_t bounds) {
    size_t low = 0;
    while (bounds > 0) {
        const size_t half = bounds / 2;
        if (bound[low + half] < x) {
            low += half + 1;
            bounds -= half + 1;
        } else {
            bounds = half;
        }
    }
    return low;
}

/* n draws against a continuous distribution function. The line is cut at quantiles of a pilot sample from
 * another stream, so that the cells suit every law and cdf is called only a hundred times. */
static inline void assert_law(const char *what, double (*draw)(const void *, struct bal_rng *),
                              double (*cdf)(const void *, double), const void *context, uint64_t seed,
                              size_t n) {
    enum { PILOT = 2500, EVERY = 25, BOUNDS = PILOT / EVERY - 1 };
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 1, BAL_STREAM_TEST);
    double pilot[PILOT];
    for (size_t i = 0; i < PILOT; i++)
        pilot[i] = draw(context, &rng);
    qsort(pilot, PILOT, sizeof *pilot, compare_doubles);
    double bound[BOUNDS];
    double p[BOUNDS + 1];
    double below = 0;
    for (size_t i = 0; i < BOUNDS; i++) {
        bound[i] = pilot[(i + 1) * EVERY];
        const double next = cdf(context, bound[i]);
        p[i] = next - below;
        below = next;
    }
    p[BOUNDS] = 1 - below;
    uint64_t count[BOUNDS + 1] = {0};
    bal_rng_init(&rng, seed, 2, BAL_STREAM_TEST);
    for (size_t i = 0; i < n; i++)
        count[cell_of(draw(context, &rng), bound, BOUNDS)]++;
    assert_fits(what, p, count, BOUNDS + 1);
}

#endif
