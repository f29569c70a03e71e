/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast the fleet of a case forgets how it began, and runs that are made longer because they were too
 * short to settle. */
#ifndef LAB_RUN_LENGTH_H
#define LAB_RUN_LENGTH_H

#include "ballast/lab.h"

/* A mean over fewer time constants is far from normal. */
enum { BLI_TIME_CONSTANTS_MIN = 10 };

/* result: what was measured of the case, which keeps it as `settling`; its queues may show that it is faster
 * than the slowest. NULL: nothing. */
struct bli_time_constant bli_time_constant_of(const struct bli_case *c, const struct bli_result *result);

/* How long servers take to go off and to come back; 0: they do not. */
double bli_switching_time(const struct bli_case *c);

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
