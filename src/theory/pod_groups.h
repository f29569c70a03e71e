/* SPDX-License-Identifier: BSD-2-Clause */
/* pod on servers of different speeds, exponential sizes. */
#ifndef THEORY_POD_GROUPS_H
#define THEORY_POD_GROUPS_H

#include "theory/expansion_pod.h"

#include <stdbool.h>
#include <stddef.h>

struct pod_groups {
    double jobs, first, second; /* mean, at a server: jobs + first / N + second / N^2; NaN: not computed */
    double busy;                /* servers that work */
    size_t levels;
    double tail[EXPANSION_LEVELS + 1]; /* servers with at least i jobs */
};

/* All fields of *pod but levels are given; p is 0. Below the critical load. False: no solution within the
 * levels that there may be, or no memory. About a tenth of a second at most. */
bool bli_pod_groups_solve(struct expansion_pod *pod, struct pod_groups *answer);

#endif
