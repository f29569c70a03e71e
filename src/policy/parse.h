/* The text form of a policy, for those who know more than the policies by name. */
#ifndef POLICY_PARSE_H
#define POLICY_PARSE_H

#include "ballast/policy.h"

/* As bal_policy_parse(), among those that at(0), at(1), ... give, up to NULL. */
enum bal_code bal_policy_parse_among(const struct bal_policy *(*at)(size_t i), const char *text,
                                     struct bal_policy_spec *spec, struct bal_error *err);

#endif
