/* SPDX-License-Identifier: BSD-2-Clause */
/* A mean with control variates (Lavenberg and Welch 1981): quantities whose true mean is known are observed
 * together with one whose mean is wanted, and the part of its error that correlates with theirs is removed.
 * With q of them and n observations that are jointly normal the interval is exact, with n - 1 - q degrees of
 * freedom. */
#ifndef BALLAST_STATS_CONTROL_REGRESSION_H
#define BALLAST_STATS_CONTROL_REGRESSION_H

#include "ballast/stats.h"

enum { BLI_CONTROLS = 2 };

/* Running means and products of deviations. All zero at first. */
struct bli_control_regression {
    size_t n;
    double mean[BLI_CONTROLS + 1];
    double product[BLI_CONTROLS + 1][BLI_CONTROLS + 1]; /* i >= j; the quantity itself comes last */
};

void bli_control_regression_add(struct bli_control_regression *c, const double control[BLI_CONTROLS],
                                double value);

/* The mean and its 95 % interval, where expected are the true means of the controls. *used is how many of
 * them there were: one that never varies, or that follows from those before it, is left out. The half-width
 * is NaN when no degree of freedom is left. */
struct bli_estimate bli_control_regression_estimate(const struct bli_control_regression *c,
                                                    const double expected[BLI_CONTROLS], unsigned *used);

#endif
