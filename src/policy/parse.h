/* SPDX-License-Identifier: BSD-2-Clause */
/* The text form of a policy, for those who know more than the policies by name. */
#ifndef POLICY_PARSE_H
#define POLICY_PARSE_H

#include "ballast/policy.h"

/* As bal_policy_parse(), among those that at(0), at(1), ... give, up to NULL, and those that were added. */
enum bal_code bli_policy_parse_among(const struct bal_policy *(*at)(size_t i), const char *text,
                                     struct bal_policy_spec *spec, struct bal_error *err);

/* Policies that are not in the table, such as those from files: from now on this thread parses them like the
 * others. Of several with one name the last is meant; one that is there becomes the last. They are not
 * copied. Returns false when there are too many. */
enum { BLI_POLICIES_ADDED_MAX = 256 };
bool bli_policy_add(const struct bal_policy *policy);
bool bli_policy_is_added(const struct bal_policy *policy);
/* This thread parses none of them any longer. */
void bli_policy_remove_added(void);

#endif
