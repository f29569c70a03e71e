/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of schemes: all policies, and the schemes without a dispatcher. */
#include "ballast/scheme.h"

#include "policy/parse.h"

#include <string.h>

static bool is_among(const struct bal_policy *policy, const struct bal_policy *const *table, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (table[i] == policy)
            return true;
    return false;
}

enum bal_scheme bal_scheme_of(const struct bal_policy *policy) {
    if (policy->route)
        return BAL_SCHEME_POLICY;
    return is_among(policy, bal_pooled_table, bal_pooled_count) ? BAL_SCHEME_POOLED : BAL_SCHEME_GENERATED;
}

const struct bal_policy *bal_scheme_at(size_t i) {
    if (i < bal_policy_count)
        return bal_policy_table[i];
    i -= bal_policy_count;
    if (i < bal_pooled_count)
        return bal_pooled_table[i];
    i -= bal_pooled_count;
    return i < bal_generated_count ? bal_generated_table[i] : NULL;
}

const struct bal_policy *bal_scheme_find(const char *name) {
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bal_scheme_at(i)); i++)
        if (strcmp(policy->name, name) == 0)
            return policy;
    return NULL;
}

enum bal_code bal_scheme_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    return bal_policy_parse_among(bal_scheme_at, text, spec, err);
}
