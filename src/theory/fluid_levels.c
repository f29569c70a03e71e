/* SPDX-License-Identifier: BSD-2-Clause */
/* What fluid models with the state s_1, s_2, .. have in common. */
#include "theory/fluid_levels.h"

enum bal_code bli_fluid_levels_check(const char *model, const double *s, size_t n, struct bal_error *err) {
    double before = 1.0;
    for (size_t i = 0; i < n; i++) {
        if (!(s[i] >= 0.0 && s[i] <= before))
            return bal_fail(err, BAL_E_RANGE,
                            "%s: starting state: s_%zu = %g; it must lie between 0 and s_%zu = %g", model,
                            i + 1, s[i], i, before);
        before = s[i];
    }
    return BAL_OK;
}
