/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies with other parameters than the defaults, for tests that loop over the table. */
#ifndef BALLAST_TESTS_VARIANTS_H
#define BALLAST_TESTS_VARIANTS_H

#include "ballast/policy.h"

#include <math.h>
#include <stdbool.h>

enum { VARIANTS = 2 * BAL_PARAMS_MAX + 2 };

/* Another value than the default: a little more, or a good deal. */
static inline double other_value(const struct bal_param *param, unsigned which) {
    const double base =
        isnan(param->default_value) ? fmax(param->low, param->whole ? 0 : 0.1) : param->default_value;
    const double other = param->whole ? base + (which ? 3 : 1) : (base + 0.01) * (which ? 7 : 0.3);
    return other <= param->high ? fmax(other, param->low) : param->low;
}

/* Variant 0 has all defaults; the next ones have one other value each, the last all of them. False: there is
 * no such variant, it does not fit so many servers, or it holds jobs back, which is another contract. */
static inline bool variant_of(const struct bal_policy *policy, unsigned v, uint32_t servers,
                              struct bal_policy_spec *spec) {
    const unsigned last = 2 * policy->param_count + 1;
    if (v > last || (v == last && policy->param_count < 2) || bal_policy_parse(policy->name, spec, NULL))
        return false;
    for (unsigned i = 0; i < policy->param_count; i++)
        if (v == last || (v > 0 && (v - 1) / 2 == i))
            spec->value[i] = other_value(&policy->params[i], (v - 1) % 2);
    const struct bal_policy_context setting = {.servers = servers, .load = 0.9};
    return bal_policy_check(spec, &setting, NULL, NULL) == BAL_OK && !(bal_policy_flags(spec) & BAL_MAY_HOLD);
}

#endif
