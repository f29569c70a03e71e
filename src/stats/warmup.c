/* SPDX-License-Identifier: BSD-2-Clause */
/* MSER-5: cut the warm-up where the standard error of what remains is smallest.
 *
 * With batch means Y_1 ... Y_k of 5 observations each, the cut after d batches minimises the sum over j > d
 * of (Y_j - their mean)^2, divided by (k - d)^2 (White, Cobb and Spratt 2000): leaving the transient in
 * raises the sum, cutting too much shrinks the divisor. */
#include "ballast/stats.h"

#include "stats/moments.h"

enum { BATCH = 5 };

static double batch_mean(const double *values) {
    double sum = 0;
    for (int i = 0; i < BATCH; i++)
        sum += values[i];
    return sum / BATCH;
}

size_t bli_warmup_mser5(const double *values, size_t n) {
    const size_t batches = n / BATCH;
    if (batches < 3)
        return 0;
    /* From the end to the front, so that every remainder grows by one batch at a time. */
    struct bli_moments rest = {0};
    double best = INFINITY;
    size_t cut = 0;
    for (size_t d = batches; d-- > 0;) {
        bli_moments_add(&rest, batch_mean(values + d * BATCH));
        const double left = (double)rest.n;
        const double score = rest.squares / (left * left);
        if (d <= batches / 2 && score <= best) { /* of equal scores the shortest cut */
            best = score;
            cut = d;
        }
    }
    return cut * BATCH;
}
