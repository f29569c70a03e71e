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

enum bli_scheme bli_scheme_of(const struct bal_policy *policy) {
    if (policy->route)
        return BLI_SCHEME_POLICY;
    return is_among(policy, bli_pooled_table, bli_pooled_count) ? BLI_SCHEME_POOLED : BLI_SCHEME_GENERATED;
}

const struct bal_policy *bli_scheme_at(size_t i) {
    if (i < bal_policy_count)
        return bal_policy_table[i];
    i -= bal_policy_count;
    if (i < bli_pooled_count)
        return bli_pooled_table[i];
    i -= bli_pooled_count;
    return i < bli_generated_count ? bli_generated_table[i] : NULL;
}

const struct bal_policy *bli_scheme_find(const char *name) {
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bli_scheme_at(i)); i++)
        if (strcmp(policy->name, name) == 0)
            return policy;
    return NULL;
}

enum bal_code bli_scheme_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err) {
    return bli_policy_parse_among(bli_scheme_at, text, spec, err);
}
