/* SPDX-License-Identifier: BSD-2-Clause */
/* The policies that there are: those of list.def. */
#include "policy/policy_table.h"

const struct bal_policy *const bal_policy_table[] = {
#define BLI_POLICY(name) &bli_policy_##name,
#include "policy/list.def"
#undef BLI_POLICY
};
const size_t bal_policy_count = sizeof bal_policy_table / sizeof *bal_policy_table;
