/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials that are compared with the fluid model of their policy. */
#ifndef LAB_FLUID_TRIAL_H
#define LAB_FLUID_TRIAL_H

#include "ballast/lab.h"

/* bal_case_trial for a case with `fluid`: also measures the distance. */
enum bal_code bal_case_fluid_trial(const struct bal_case *c, const struct bal_run *run,
                                   struct bal_trial *trial, struct bal_error *err);

#endif
