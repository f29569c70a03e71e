/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs that are made longer because they were too short to settle. */
#ifndef LAB_RUN_LENGTH_H
#define LAB_RUN_LENGTH_H

#include "ballast/lab.h"

/* What became of a case so far. All zero at first. */
struct run_length_state {
    bool grown;   /* its runs were made longer for a doubt ... */
    bool spare;   /* ... and once more when there was hardly any left */
    bool planned; /* its length was chosen again when the first runs had shown how far it is from its
                     precision */
};

/* Does the case ask for runs of twice the length after this result? */
bool bli_run_length_should_double(struct run_length_state *run_length_state, const struct bli_case *c,
                                  const struct bli_result *result);

/* The length of runs that are so many times as long: rounded up to what can be typed. */
double bli_scaled_run_length(const struct bli_case *c, double factor);

#endif
