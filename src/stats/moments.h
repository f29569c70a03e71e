/* SPDX-License-Identifier: BSD-2-Clause */
/* Running mean and sum of squared deviations (Welford 1962). The update never subtracts two large sums, so a
 * constant series has a deviation of exactly 0, however large the constant. Start from all zeros. */
#ifndef BALLAST_STATS_MOMENTS_H
#define BALLAST_STATS_MOMENTS_H

#include <math.h>
#include <stddef.h>

#include "ballast/stats.h"

struct bli_moments {
    size_t n;
    double mean;
    double squares; /* sum of (x - mean)^2 over the n values */
};

static inline void bli_moments_add(struct bli_moments *m, double x) {
    const double before = x - m->mean;
    m->n++;
    m->mean += before / (double)m->n;
    m->squares += before * (x - m->mean);
}

/* Half-width of the Student interval of the mean of n observations whose squared deviations sum to squares,
 * with the given confidence; NaN when n < 2. */
static inline double bli_moments_half_width(double squares, size_t n, double confidence) {
    if (n < 2)
        return NAN;
    const double dof = (double)(n - 1);
    return bli_student_quantile((1 + confidence) / 2, dof) * sqrt(squares / dof / (double)n);
}

/* The mean and its 95 % interval; both NaN when nothing was added. */
static inline struct bli_estimate bli_moments_estimate(const struct bli_moments *m) {
    return (struct bli_estimate){
        .mean = m->n ? m->mean : (double)NAN,
        .half_width = bli_moments_half_width(m->squares, m->n, 0.95),
    };
}

#endif
