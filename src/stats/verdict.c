/* SPDX-License-Identifier: BSD-2-Clause */
/* The stability verdict.
 *
 * The dividing values come from the border itself. At critical load a queue that started empty behaves like
 * Brownian motion reflected at 0: its mean is proportional to t^(1/2), the integral of that to t^(3/2). The
 * means over the two halves of a run are then as 1 to 2^(3/2) - 1, those over its quarters as the differences
 * of 0, 1, 2^(3/2), 3^(3/2), 4^(3/2). Below critical load growth slows down more, above it less. Halves tell
 * the three cases apart several times better than the last two quarters would: the border lies at 1.83
 * against 1 for a stationary queue, instead of at 1.18, and a half is measured more closely. But they see
 * only proportions, and two things distort these: a large standing queue next to a growing one, and the start
 * of a short run, where queues of whole jobs are still far from Brownian motion (an M/M/1 queue at load 1 has
 * a ratio of 1.91 after 100 mean service times and of 1.85 after 1000). How growth slows down does not depend
 * on the level of the queue, and must agree. */
#include "stats/drift.h"

#include <math.h>
#include <stdbool.h>

static const double critical_growth = 1.82842712474619;   /* second half over first half: 2^(3/2) - 1 */
static const double critical_slowing = 0.318866866017082; /* (q4 - q3)/(q3 - q1) */

const char *bli_verdict_text(enum bli_verdict verdict) {
    switch (verdict) {
    case BLI_STABLE:
        return "stable";
    case BLI_UNSTABLE:
        return "unstable";
    case BLI_UNDECIDED:
        break;
    }
    return "undecided";
}

/* At critical load the means of the two halves are as 1 to 1.828 + 0.82/sqrt(T) for an M/M/1 queue (1.91
 * for T = 100, 1.885 for 200, 1.855 for 1000); twice that leaves room for the others. */
double bli_drift_border(double services, double variation) {
    static const double most = 2.5;
    const double border = critical_growth + 2 * sqrt(variation / services);
    return border < most ? border : most;
}

void bli_drift_add(struct bli_drift *drift, const double q[4]) {
    const double first = q[0] + q[1];
    const double second = q[2] + q[3];
    if (isnan(first + second))
        return;
    bli_moments_add(&drift->excess, second - critical_growth * first);
    bli_moments_add(&drift->beyond, second - (drift->border > 0 ? drift->border : critical_growth) * first);
    bli_moments_add(&drift->growth, q[3] - q[2]);
    bli_moments_add(&drift->before, q[2] - q[1]);
    bli_moments_add(&drift->slowing, critical_slowing * (q[2] - q[0]) - (q[3] - q[2]));
    drift->total += first + second;
}

enum bli_verdict bli_drift_verdict(const struct bli_drift *drift) {
    if (drift->excess.n < 2)
        return BLI_UNDECIDED;
    if (drift->total == 0)
        return BLI_STABLE;
    /* Whether the growth slows down is asked of the mean alone: an interval would need runs much longer than
     * those that settle the rest. Chance growth must not spoil the verdict on every 40th stable system, hence
     * the 99 %; and what grows has grown before: a fourth quarter that lies above the third by chance mostly
     * does so because the third is low, which then lies below the second. */
    const struct bli_moments *growth = &drift->growth;
    const struct bli_estimate excess = bli_moments_estimate(&drift->excess);
    const struct bli_estimate beyond = bli_moments_estimate(&drift->beyond);
    const bool slows = drift->slowing.mean > 0;
    const bool grows =
        drift->before.mean > 0 && growth->mean > bli_moments_half_width(growth->squares, growth->n, 0.99);
    if (beyond.mean - beyond.half_width > 0 && !slows)
        return BLI_UNSTABLE;
    if (excess.mean + excess.half_width < 0 && (slows || !grows))
        return BLI_STABLE;
    return BLI_UNDECIDED;
}

enum bli_verdict bli_verdict_of_drift(const double (*quarters)[4], size_t n) {
    struct bli_drift drift = {0};
    for (size_t r = 0; r < n; r++)
        bli_drift_add(&drift, quarters[r]);
    return bli_drift_verdict(&drift);
}
