/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over Poisson weights, and their quantiles by bisection. */
#include "theory/jobs_found.h"

#include "base/special.h"

#include <math.h>

/* Sum over k of found[k + first] P(N_t = k). Beyond 12 standard deviations and 40 more the Poisson weights
 * add to less than 1e-30. */
double bli_found_tail(const struct found *found, size_t first, double t) {
    if (found->n <= first)
        return 0.0;
    if (t <= 0.0)
        return found->value[first];
    const double reach = 12.0 * sqrt(t) + 40.0;
    const double from = t > reach ? floor(t - reach) : 0.0;
    const double until = fmin(t + reach, (double)(found->n - first - 1));
    if (from > until)
        return 0.0;
    double weight = exp(bli_poisson_log(from, t, from - t));
    double sum = 0.0;
    for (double k = from; k <= until; k++) {
        sum += weight * found->value[(size_t)k + first];
        weight *= t / (k + 1.0);
    }
    return sum;
}

double bli_found_quantile(const struct found *found, size_t first, double q) {
    const double wanted = 1.0 - q;
    if (bli_found_tail(found, first, 0.0) <= wanted)
        return 0.0;
    double below = 0.0, above = 1.0;
    while (bli_found_tail(found, first, above) > wanted) {
        below = above;
        above *= 2.0;
    }
    while (above - below > 1e-13 * above) {
        const double t = 0.5 * (below + above);
        if (bli_found_tail(found, first, t) > wanted)
            below = t;
        else
            above = t;
    }
    return above;
}
