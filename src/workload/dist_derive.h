/* SPDX-License-Identifier: BSD-2-Clause */
/* What dist.c and dist_text.c share. */
#ifndef BALLAST_WORKLOAD_LAW_DERIVE_H
#define BALLAST_WORKLOAD_LAW_DERIVE_H

#include "ballast/dist.h"

/* The fields of a distribution that its text gives are set; fills in the others. Because they are a function
 * of what is printed, a distribution survives printing and parsing bit for bit.
 *
 *   exp, det         mean                    hyper by C2       a, mean
 *   erlang           phases, mean            hyper by branch   a = 0, phases, start, rate
 *   lognormal        a, mean                 phase             phases, start, rate, jump
 *   pareto           a, b                    bounded-pareto    a, b, c
 *   uniform          a, b
 */
void bli_dist_derive(struct bli_dist *dist);

/* XM of the Pareto distribution of mean 1. */
static inline double bli_pareto_unit_scale(double a) {
    return (a - 1) / a;
}

/* Replaces value[i] by the expected sum of value over the phases that a job passes through which starts in
 * phase i. If some phase is never left for the end, returns false and stores its number (from 0) in *stuck,
 * which may be NULL. */
bool bli_dist_accumulate(const struct bli_dist *dist, double value[], unsigned *stuck);

#endif
