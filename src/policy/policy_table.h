/* SPDX-License-Identifier: BSD-2-Clause */
/* One declaration for each policy of list.def. */
#ifndef POLICY_POLICY_TABLE_H
#define POLICY_POLICY_TABLE_H

#include "ballast/policy.h"

#define BLI_POLICY(name) extern const struct bal_policy bli_policy_##name;
#include "policy/list.def"
#undef BLI_POLICY

#endif
