/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean response time with control variates. */
#ifndef LAB_CONTROL_VARIATES_H
#define LAB_CONTROL_VARIATES_H

#include "ballast/lab.h"

/* Where a precision is wanted: puts a better estimate of the mean response time in place of the mean over
 * trials, if the case has quantities whose mean is known and the trials are settled; sets controls. What the
 * trials say of everything else must be in the result already. */
void bli_result_apply_control_variates(const struct bli_case *c, const struct bli_trial *trial, size_t count,
                                       struct bli_result *result);

#endif
