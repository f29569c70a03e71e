/* SPDX-License-Identifier: BSD-2-Clause */
/* Control variates: the regression on the controls, and the interval of the mean. */
#include "stats/control_regression.h"

#include <math.h>

/* As Welford (1962), for products. */
void bli_control_regression_add(struct bli_control_regression *c, const double control[BLI_CONTROLS],
                                double value) {
    double before[BLI_CONTROLS + 1], after[BLI_CONTROLS + 1];
    c->n++;
    for (unsigned i = 0; i <= BLI_CONTROLS; i++) {
        const double x = i < BLI_CONTROLS ? control[i] : value;
        before[i] = x - c->mean[i];
        c->mean[i] += before[i] / (double)c->n;
        after[i] = x - c->mean[i];
    }
    for (unsigned i = 0; i <= BLI_CONTROLS; i++)
        for (unsigned j = 0; j <= i; j++)
            c->product[i][j] += before[i] * after[j];
}

/* Regression by elimination: control k is taken out of all that come after it, the quantity itself among
 * them. With b its coefficient and g_k how far its mean is off, the estimate moves by -b g_k, and what g_k
 * leaves uncertain of b adds g_k^2 / (sum of squares of control k) to the 1/n of the variance. */
struct bli_estimate bli_control_regression_estimate(const struct bli_control_regression *c,
                                                    const double expected[BLI_CONTROLS], unsigned *used) {
    enum { VALUE = BLI_CONTROLS };
    static const double rounding = 1e-12;
    double product[BLI_CONTROLS + 1][BLI_CONTROLS + 1], off[BLI_CONTROLS + 1];
    for (unsigned i = 0; i <= VALUE; i++) {
        off[i] = c->mean[i] - (i < VALUE ? expected[i] : 0);
        for (unsigned j = 0; j <= i; j++)
            product[i][j] = c->product[i][j];
    }
    double spread = 1 / (double)c->n;
    *used = 0;
    for (unsigned k = 0; k < VALUE; k++) {
        if (!(product[k][k] > rounding * c->product[k][k]))
            continue;
        ++*used;
        spread += off[k] * off[k] / product[k][k];
        for (unsigned i = k + 1; i <= VALUE; i++) {
            const double b = product[i][k] / product[k][k];
            off[i] -= b * off[k];
            for (unsigned j = k + 1; j <= i; j++)
                product[i][j] -= b * product[j][k];
        }
    }
    const double dof = (double)c->n - 1 - *used;
    if (dof < 1)
        return (struct bli_estimate){c->n ? off[VALUE] : (double)NAN, NAN};
    return (struct bli_estimate){off[VALUE], bli_student_quantile(0.975, dof) *
                                                 sqrt(fmax(product[VALUE][VALUE], 0) / dof * spread)};
}
