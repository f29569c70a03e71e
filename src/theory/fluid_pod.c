/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean-field equations of power-of-d-choices with one or two kinds of jobs: Niu, Wang, Feng and Xu
 * (2022), equation (10); with one kind, Mitzenmacher (2001). */
#include "ballast/fluid.h"
#include "theory/fluid_levels.h"

#include <math.h>

static double power(double x, unsigned n) {
    double result = 1.0;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            result *= x;
    return result;
}

/* Probability that a job joins a server with at least i jobs, of which there is a fraction v. */
static double join_probability(const struct bli_pod *pod, double v) {
    const double low = power(v, pod->d1);
    return pod->d1 == pod->d2 ? low : (1.0 - pod->p) * low + pod->p * power(v, pod->d2);
}

static void rhs(const void *param, int mode, double t, const double *v, size_t levels, double *dv) {
    (void)mode, (void)t;
    const struct bli_pod *pod = param;
    double above = 1.0; /* joins(v_{i-1}) */
    for (size_t i = 0; i < levels; i++) {
        const double here = join_probability(pod, v[i]);
        const double next = i + 1 < levels ? v[i + 1] : 0.0;
        dv[i] = pod->lambda * (above - here) - (v[i] - next);
        above = here;
    }
}

static enum bal_code check(const void *param, const double *y, size_t n, struct bal_error *err) {
    const struct bli_pod *pod = param;
    if (!(pod->lambda >= 0.0 && isfinite(pod->lambda)))
        return bal_fail(err, BAL_E_RANGE, "pod: lambda = %g; it must be a number >= 0", pod->lambda);
    if (!(pod->p >= 0.0 && pod->p <= 1.0))
        return bal_fail(err, BAL_E_RANGE, "pod: p = %g; it must lie between 0 and 1", pod->p);
    if (pod->d1 < 1 || pod->d2 < 1)
        return bal_fail(err, BAL_E_RANGE, "pod: d = %u, %u; they must be at least 1", pod->d1, pod->d2);
    return bli_fluid_levels_check("pod", y, n, err);
}

struct bli_fluid_model bli_fluid_pod(const struct bli_pod *pod) {
    return (struct bli_fluid_model){.name = "pod", .width = 1, .param = pod, .check = check, .rhs = rhs};
}
