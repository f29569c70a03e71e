/* SPDX-License-Identifier: BSD-2-Clause */
/* The mark of policies that must know how long every job will take. */
#ifndef REPORT_SIZES_H
#define REPORT_SIZES_H

#include "ballast/policy.h"

#define BLI_SIZES_NOTE "*: must know how long every job will take: a lab does, a proxy does not."

/* Behind the name of the policy in a table; "" for others. */
static inline const char *bli_sizes_mark(const struct bal_policy *policy) {
    return policy->flags & BAL_NEEDS_WORK ? "*" : "";
}

#endif
