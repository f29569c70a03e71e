/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean-field equations of power-of-d-choices (d = 1: random choice) with servers that steal: one that
 * completes its last job probes a uniform server once and gets f(l) of its l jobs. With f = 1 from two jobs
 * on and d = 1 this is the stealing model of M. Mitzenmacher, "Analyses of load stealing models based on
 * differential equations" (2001). */
#include "ballast/fluid.h"
#include "theory/fluid_levels.h"

#include <math.h>
#include <string.h>

static double power(double x, unsigned n) {
    double result = 1.0;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            result *= x;
    return result;
}

/* A request that meets a server of l jobs leaves two servers of f(l) and l - f(l) behind in place of that one
 * and an idle one. Writes how many of the two have at least k jobs, on average, for every k: sums from above,
 * so that the small numbers of high levels keep their digits. */
static void write_divided(const struct bal_steal *steal, const double *s, size_t levels, double *divided) {
    memset(divided, 0, levels * sizeof *divided);
    for (size_t l = 1; l <= levels; l++) {
        const size_t amount = bal_steal_amount(steal, (uint32_t)l);
        const double p = s[l - 1] - (l < levels ? s[l] : 0.0); /* servers of exactly l jobs */
        divided[l - amount - 1] += p;
        if (amount > 0)
            divided[amount - 1] += p;
    }
    for (size_t k = levels - 1; k-- > 0;)
        divided[k] += divided[k + 1];
}

static void rhs(const void *param, int mode, double t, const double *s, size_t levels, double *ds) {
    (void)mode, (void)t;
    const struct bli_stealing *stealing = param;
    const double asked = s[0] - s[1]; /* requests: servers of one job complete it */
    write_divided(&stealing->steal, s, levels, ds);
    double above = 1.0; /* s_{i-1}^d */
    for (size_t i = 0; i < levels; i++) {
        const double here = power(s[i], stealing->d);
        const double next = i + 1 < levels ? s[i + 1] : 0.0;
        ds[i] = stealing->lambda * (above - here) - (s[i] - next) + asked * (ds[i] - s[i]);
        above = here;
    }
}

static enum bal_code check(const void *param, const double *y, size_t n, struct bal_error *err) {
    const struct bli_stealing *stealing = param;
    if (!(stealing->lambda >= 0.0 && isfinite(stealing->lambda)))
        return bal_fail(err, BAL_E_RANGE, "stealing: lambda = %g; it must be a number >= 0",
                        stealing->lambda);
    if (stealing->d < 1)
        return bal_fail(err, BAL_E_RANGE, "stealing: d = %u; it must be at least 1", stealing->d);
    return bli_fluid_levels_check("stealing", y, n, err);
}

struct bli_fluid_model bli_fluid_stealing(const struct bli_stealing *stealing) {
    return (struct bli_fluid_model){
        .name = "stealing", .width = 1, .hubs = 2, .param = stealing, .check = check, .rhs = rhs};
}
