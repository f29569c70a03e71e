/* SPDX-License-Identifier: BSD-2-Clause */
/* Power of d choices with sizes in phases, in the limit of many servers. */
#ifndef THEORY_POD_PHASE_H
#define THEORY_POD_PHASE_H

#include "theory/phases.h"

enum { POD_PHASE_LEVELS = 256 };

struct pod_phase {
    double jobs; /* mean, at a server */
    size_t levels;
    double tail[POD_PHASE_LEVELS]; /* servers with at least i jobs */
    double response_quantile[4];   /* 50, 90, 99, 99.9 %, first come, first served; NaN: too expensive */
};

/* Mean size 1, 0 < lambda < 1, d >= 1. False: more than POD_PHASE_LEVELS levels would be needed, or there is
 * no memory. Some milliseconds without the quantiles, and less than a tenth of a second with them. */
bool bli_pod_phase_solve(const struct phases *phases, double lambda, unsigned d, struct pod_phase *answer);

#endif
