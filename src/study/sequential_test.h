/* SPDX-License-Identifier: BSD-2-Clause */
/* A sequential test of a simulation that may be continued: is it stable, unstable, or is a longer run needed?
 *
 * A look sees independent replications of equal length by the means of the total queue over their quarters,
 * and makes a wrong claim with at most the probability that it is given. Looks are made at longer and longer
 * runs, each with replications of its own; the probabilities of all looks that may be made sum to that of an
 * error anywhere. Both statements are about a queue on the border or beyond it on the other side, of a
 * system whose quarters have forgotten how they began. */
#ifndef STUDY_SEQUENTIAL_TEST_H
#define STUDY_SEQUENTIAL_TEST_H

#include "ballast/stats.h"

#include <stdbool.h>

struct look {
    enum bli_verdict verdict;
    struct bli_estimate seen; /* what was looked at, with the half-width at which a claim is made */
};

/* Runs that begin with long queues. What is seen is the drift of the total queue, in jobs per unit of time,
 * between the second and the fourth quarter, the first being the warm-up: above 0 is unstable, below 0
 * stable. Student's test: exact for normal drifts. n >= 2. */
struct look bli_test_drift(const double (*quarters)[4], size_t n, double time, double error);

/* Runs that begin with empty queues. What is seen is how many times as long the queue is in the second half
 * as in the first: 3 when it grows in proportion to time, 1.83 at critical load, 1 when it is settled.
 * Unstable is more than the border by growth that does not slow down (as bli_verdict_of_drift has it), where
 * the border is 1.83 and what whole jobs make of it in a run of that length (bli_drift_border); stable is
 * less than 1.15: a second half of 1.3 times the first may well be the work of a few servers that fill while
 * many hide it. On the border the true error is up to one and a half times the nominal one for a Brownian
 * queue, which the test allows for. n >= 2. */
struct look bli_test_growth(const double (*quarters)[4], size_t n, double border, double error);

/* Have runs that began with `length` jobs at some servers forgotten it in the last quarter? That is so when
 * the total queue exceeds that of runs that began empty by less than half of what a single server had. */
bool bli_test_has_met(const double (*from_long)[4], const double (*from_empty)[4], size_t n, double length,
                      double error);

#endif
