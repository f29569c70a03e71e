/* SPDX-License-Identifier: BSD-2-Clause */
/* The policies that there are: those of list.def. */
#include "policy/policy_table.h"

static const struct bal_policy *const table[] = {
#define BLI_POLICY(name) &bli_policy_##name,
#include "policy/list.def"
#undef BLI_POLICY
};
/* A pointer: an array that is exported would change the binary interface with each policy. */
const struct bal_policy *const *const bal_policy_table = table;
const size_t bal_policy_count = sizeof table / sizeof *table;
