/* SPDX-License-Identifier: BSD-2-Clause */
/* Extrapolation of values of larger and larger systems by laws limit + b x^-order. */
#include "store/extrapolate.h"

#include "ballast/stats.h"

#include <math.h>

/* The limit of the law y = limit + b x^-order with its standard error and degrees of freedom, and how badly
 * the law fits: the mean square of the residuals in units of their errors, 1 where it is true. */
struct dist {
    double limit, error, dof, misfit;
};

/* By least squares with the weights that the errors give. The limit is a sum of c_i y_i; its degrees of
 * freedom are those of Welch and Satterthwaite. Where the law fits badly, the error of the limit is larger by
 * as much. */
static struct dist fit_law(const struct bli_limit_series *series, double order) {
    double w0 = 0, w1 = 0, w2 = 0, wy = 0, wxy = 0, squares = 0, variance = 0, spread = 0;
    for (size_t i = 0; i < series->points; i++) {
        const double w = 1 / (series->error[i] * series->error[i]), x = pow(series->x[i], -order);
        w0 += w;
        w1 += w * x;
        w2 += w * x * x;
        wy += w * series->y[i];
        wxy += w * x * series->y[i];
    }
    const double determinant = w0 * w2 - w1 * w1;
    const double limit = (w2 * wy - w1 * wxy) / determinant, b = (w0 * wxy - w1 * wy) / determinant;
    for (size_t i = 0; i < series->points; i++) {
        const double x = pow(series->x[i], -order),
                     residual = (series->y[i] - limit - b * x) / series->error[i];
        const double part = pow((w2 - w1 * x) / determinant / series->error[i], 2);
        squares += residual * residual;
        variance += part;
        spread += part * part / series->dof[i];
    }
    const double misfit = fmax(1, squares / ((double)series->points - 2));
    return (struct dist){limit, sqrt(variance * misfit), variance * variance / spread, misfit};
}

/* Corrections of large systems are of order 1/N where the drift is smooth, of order 1/sqrt(N) where it has a
 * kink, and slower where something grows with a small power of N. The limit lies between the extrapolations
 * of the orders from 1/4 to 1 that do not fit far worse than the best of them. */
static struct bli_interval extrapolate_series(const struct bli_limit_series *series, size_t family) {
    enum { ORDERS = 16, FAR_WORSE = 4 };
    struct dist dist[ORDERS];
    double best = INFINITY;
    for (int i = 0; i < ORDERS; i++) {
        dist[i] = fit_law(series, 0.25 + 0.05 * i);
        best = fmin(best, dist[i].misfit);
    }
    struct bli_interval limit = {INFINITY, -INFINITY};
    for (int i = 0; i < ORDERS; i++) {
        if (dist[i].misfit > FAR_WORSE * best)
            continue;
        const double reach = dist[i].error * bli_student_quantile(1 - 0.025 / (double)family, dist[i].dof);
        limit.low = fmin(limit.low, dist[i].limit - reach);
        limit.high = fmax(limit.high, dist[i].limit + reach);
    }
    return limit;
}

/* What should tend to 0 and has fallen to less than a hundredth of its first value has vanished. Then no law
 * is needed, which a fall faster than any power would not obey. */
struct bli_interval bli_limit_extrapolate(const struct bli_limit_series *series, double target,
                                          size_t family) {
    const size_t last = series->points - 1;
    const double reach =
        bli_student_quantile(1 - 0.025 / (double)family, series->dof[last]) * series->error[last];
    if (target == 0 && fabs(series->y[last]) + reach <= 0.01 * fabs(series->y[0]))
        return (struct bli_interval){series->y[last] - reach, series->y[last] + reach};
    return extrapolate_series(series, family);
}
