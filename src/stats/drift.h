/* SPDX-License-Identifier: BSD-2-Clause */
/* The stability verdict, one replication after the other: no list of them is needed. */
#ifndef STATS_DRIFT_H
#define STATS_DRIFT_H

#include "ballast/stats.h"

#include "stats/moments.h"

/* All 0 to begin with, but for the border that unstable growth must be beyond; 0: that at critical load. */
struct bli_drift {
    double border;
    struct bli_moments beyond;  /* what the second half has above the border */
    struct bli_moments excess;  /* of the second half over what critical load would make of the first */
    struct bli_moments growth;  /* from the third quarter to the fourth */
    struct bli_moments before;  /* from the second to the third */
    struct bli_moments slowing; /* above what critical load would make of it */
    double total;
};

/* What bli_verdict_of_drift takes as a list. */
void bli_drift_add(struct bli_drift *drift, const double quarters[4]);
enum bli_verdict bli_drift_verdict(const struct bli_drift *drift);

/* What the second half of a run from empty queues has at most over the first at critical load, if the run
 * takes so many mean service times: whole jobs are not yet Brownian motion. variation: the mean of the
 * squared coefficients of variation of interarrival and service times. */
double bli_drift_border(double services, double variation);

#endif
