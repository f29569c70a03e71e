/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests whether a simulated system is stable, by the drift or the growth of its total queue. */
#include "study/sequential_test.h"

#include "stats/moments.h"

/* A claim errs to one side only, so that both tails of the interval may have the whole error. */
static double half_of(const struct bli_moments *m, double error) {
    return bli_moments_half_width(m->squares, m->n, 1 - 2 * error);
}

struct look bli_test_drift(const double (*quarters)[4], size_t n, double time, double error) {
    struct bli_moments drift = {0};
    for (size_t r = 0; r < n; r++)
        bli_moments_add(&drift, (quarters[r][3] - quarters[r][1]) / (time / 2));
    const double half = half_of(&drift, error);
    return (struct look){.seen = {drift.mean, half},
                         .verdict = drift.mean > half    ? BLI_UNSTABLE
                                    : drift.mean < -half ? BLI_STABLE
                                                         : BLI_UNDECIDED};
}

/* How growth slows down at critical load: (q4 - q3)/(q3 - q1). See stats/verdict.c. */
static const double critical_slowing = 0.318866866017082;
static const double settled_growth = 1.15;

struct look bli_test_growth(const double (*quarters)[4], size_t n, double border, double error) {
    struct bli_moments first = {0}, second = {0}, above = {0}, below = {0}, slowing = {0};
    for (size_t r = 0; r < n; r++) {
        const double *q = quarters[r];
        bli_moments_add(&first, q[0] + q[1]);
        bli_moments_add(&second, q[2] + q[3]);
        bli_moments_add(&above, q[2] + q[3] - border * (q[0] + q[1]));
        bli_moments_add(&below, q[2] + q[3] - settled_growth * (q[0] + q[1]));
        bli_moments_add(&slowing, critical_slowing * (q[2] - q[0]) - (q[3] - q[2]));
    }
    if (second.mean == 0)
        return (struct look){.seen = {1, 0}, .verdict = BLI_STABLE};
    const double above_half = half_of(&above, error / 1.5), below_half = half_of(&below, error / 1.5);
    struct look look = {.seen = {second.mean / first.mean, below_half / first.mean}};
    if (above.mean > above_half && !(slowing.mean > 0)) {
        look.verdict = BLI_UNSTABLE;
        look.seen.half_width = above_half / first.mean;
    } else if (below.mean < -below_half) {
        look.verdict = BLI_STABLE;
    }
    return look;
}

bool bli_test_has_met(const double (*from_long)[4], const double (*from_empty)[4], size_t n, double length,
                      double error) {
    struct bli_moments rest = {0};
    for (size_t r = 0; r < n; r++)
        bli_moments_add(&rest, from_long[r][3] - from_empty[r][3]);
    return rest.mean + half_of(&rest, error) < length / 2;
}
