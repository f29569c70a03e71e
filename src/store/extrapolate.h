/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of values of larger and larger systems. */
#ifndef STORE_EXTRAPOLATE_H
#define STORE_EXTRAPOLATE_H

#include <stddef.h>

/* Three points or more, x > 0 and growing. */
struct bli_limit_series {
    size_t points;
    double *x, *y, *error, *dof; /* error > 0: standard error of y, with so many degrees of freedom */
};

struct bli_interval {
    double low, high;
};

/* The limit of y as x grows, with an interval wide enough for `family` such intervals to hold jointly with 95
 * %. target: what the limit should be. */
struct bli_interval bli_limit_extrapolate(const struct bli_limit_series *series, double target,
                                          size_t family);

#endif
