/* SPDX-License-Identifier: BSD-2-Clause */
/* One declaration for each policy of list.def. */
#ifndef POLICY_POLICY_TABLE_H
#define POLICY_POLICY_TABLE_H

#include "ballast/policy.h"

#define BAL_POLICY(name) extern const struct bal_policy bal_policy_##name;
#include "policy/list.def"
#undef BAL_POLICY

#endif
