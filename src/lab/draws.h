/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean of several trials that differ in what policies, dispatchers and servers draw. */
#ifndef LAB_DRAWS_H
#define LAB_DRAWS_H

#include "ballast/lab.h"

/* bli_case_trial for a case with several `draws`. Metrics are means over the draws, histograms hold the times
 * of all of them. */
enum bal_code bli_case_drawn_trial(const struct bli_case *c, const struct bli_run *run,
                                   struct bli_trial *trial, struct bal_error *err);

#endif
