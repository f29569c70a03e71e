/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials that are compared with the fluid model of their policy. */
#ifndef LAB_FLUID_TRIAL_H
#define LAB_FLUID_TRIAL_H

#include "ballast/lab.h"

/* bli_case_trial for a case with `fluid`: also measures the distance. */
enum bal_code bli_case_fluid_trial(const struct bli_case *c, const struct bli_run *run,
                                   struct bli_trial *trial, struct bal_error *err);

#endif
