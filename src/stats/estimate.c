/* SPDX-License-Identifier: BSD-2-Clause */
/* Confidence intervals over independent replications. */
#include "ballast/stats.h"

#include <math.h>

#include "stats/moments.h"

struct bli_estimate bli_estimate_mean(const double *values, size_t n) {
    struct bli_moments m = {0};
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            bli_moments_add(&m, values[i]);
    return bli_moments_estimate(&m);
}

/* With r = sum a / sum b the residuals a_i - r b_i have mean 0, and to first order r errs by their mean over
 * the mean of b (Cochran, Sampling Techniques, section 6.3). */
struct bli_estimate bli_estimate_ratio(const double *a, const double *b, size_t n) {
    struct bli_moments top = {0};
    struct bli_moments bottom = {0};
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) || isnan(b[i]))
            continue;
        bli_moments_add(&top, a[i]);
        bli_moments_add(&bottom, b[i]);
    }
    if (bottom.n == 0 || bottom.mean == 0)
        return (struct bli_estimate){.mean = NAN, .half_width = NAN};
    const double ratio = top.mean / bottom.mean;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) || isnan(b[i]))
            continue;
        const double residual = a[i] - ratio * b[i];
        squares += residual * residual;
    }
    return (struct bli_estimate){
        .mean = ratio,
        .half_width = bli_moments_half_width(squares, bottom.n, 0.95) / fabs(bottom.mean),
    };
}

double bli_estimate_half_width(struct bli_estimate estimate, size_t n, double confidence) {
    if (n < 2)
        return NAN;
    const double dof = (double)(n - 1);
    return estimate.half_width * bli_student_quantile((1 + confidence) / 2, dof) /
           bli_student_quantile(0.975, dof);
}
