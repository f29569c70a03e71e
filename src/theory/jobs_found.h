/* SPDX-License-Identifier: BSD-2-Clause */
/* The response time of a job by how many others it finds at its server, first come, first served, with
 * exponential sizes of mean 1. */
#ifndef THEORY_JOBS_FOUND_H
#define THEORY_JOBS_FOUND_H

#include <stddef.h>

/* value[k] is the probability that a job finds at least k others; value[0] = 1. */
struct found {
    double *value;
    size_t n;
};

/* P(R > t) with first = 0, P(W > t) with first = 1. */
double bli_found_tail(const struct found *found, size_t first, double t);
/* The least t that this part of all jobs does not exceed, 0 <= q < 1. */
double bli_found_quantile(const struct found *found, size_t first, double q);

#endif
