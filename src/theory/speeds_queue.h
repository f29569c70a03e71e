/* SPDX-License-Identifier: BSD-2-Clause */
/* One server whose speed depends on the number of jobs in service. */
#ifndef THEORY_SPEEDS_QUEUE_H
#define THEORY_SPEEDS_QUEUE_H

#include "theory/policy_theory.h"

/* Jobs come in a Poisson process; mean: of a job alone at rate 1; slots: jobs in service at once, 0: all.
 * O(the number of jobs from which on the rate does not change). */
struct bli_prediction bli_theory_speeds_queue(const struct bli_speeds *speeds, uint32_t slots,
                                              double arrivals, double mean, bool exponential);

#endif
