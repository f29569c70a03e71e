/* SPDX-License-Identifier: BSD-2-Clause */
/* The fluid model of the resource constrained pull-based policy: Gamarnik, Tsitsiklis and Zubeldia (2016),
 * Definition 1.
 *
 *     ds_1/dt = lambda (1 - s_1 P0) - (s_1 - s_2)
 *     ds_i/dt = lambda (s_{i-1} - s_i) P0 - (s_i - s_{i+1}),  i >= 2
 *
 * P0, the probability that no name is stored, depends on the state through the variant; x = mu (1 -
 * s_1)/lambda is the load of the store. The right side is smooth in each mode, also a little beyond the end
 * of it, as Newton's method needs.
 *
 * Constrained: P0 = 1/(1 + x + .. + x^c), one mode. High memory: P0 = max(0, 1 - x), continuous with a kink:
 * names are scarce (x < 1) or plentiful (x > 1). High message: every idle server is known at once and P0 = 0
 * as long as s_1 < 1. When s_1 = 1 is reached with s_2 > 1 - lambda, more jobs come than servers become idle,
 * and P0 = 1 - (1 - s_2)/lambda is what keeps s_1 = 1, until s_2 has fallen to 1 - lambda. From then on s_2
 * falls further and s_1 never returns to 1 (Lemma 6). */
#include "ballast/fluid.h"
#include "theory/fluid_levels.h"
#include "theory/rcpb_equilibrium.h"

#include <math.h>

enum fluid_mode {
    MODE_STORE,  /* constrained: the only one; high memory: names are scarce */
    MODE_KNOWN,  /* high memory: names are plentiful; high message: s_1 < 1 */
    MODE_PINNED, /* high message: s_1 = 1 */
};

static double store_load(const struct bli_rcpb *rcpb, double s1) {
    return rcpb->mu * (1.0 - s1) / rcpb->lambda;
}

static double store_empty(const struct bli_rcpb *rcpb, int mode, const double *s) {
    if (mode == MODE_KNOWN || rcpb->lambda == 0.0)
        return 0.0;
    if (mode == MODE_PINNED)
        return 1.0 - (1.0 - s[1]) / rcpb->lambda;
    const double x = store_load(rcpb, s[0]);
    if (rcpb->variant == BLI_RCPB_HIGH_MEMORY)
        return 1.0 - x;
    return 1.0 / bli_rcpb_geometric_sum(x, (double)rcpb->c + 1.0);
}

static void rhs(const void *param, int mode, double t, const double *s, size_t levels, double *ds) {
    (void)t;
    const struct bli_rcpb *rcpb = param;
    const double uniform = rcpb->lambda * store_empty(rcpb, mode, s); /* rate of jobs sent to uniform servers
                                                                       */
    ds[0] = mode == MODE_PINNED ? 0.0 : rcpb->lambda - uniform * s[0] - (s[0] - s[1]);
    for (size_t i = 1; i < levels; i++) {
        const double next = i + 1 < levels ? s[i + 1] : 0.0;
        ds[i] = uniform * (s[i - 1] - s[i]) - (s[i] - next);
    }
}

static void memory_root(const void *param, int mode, double t, const double *s, double *g) {
    (void)t;
    const struct bli_rcpb *rcpb = param;
    const double spare = rcpb->mu * (1.0 - s[0]) - rcpb->lambda;
    g[0] = mode == MODE_STORE ? spare : -spare;
}

static int memory_next(const void *param, int mode, double t, double *s) {
    (void)t;
    const struct bli_rcpb *rcpb = param;
    if (mode < 0)
        return rcpb->mu * (1.0 - s[0]) < rcpb->lambda ? MODE_STORE : MODE_KNOWN;
    return mode == MODE_STORE ? MODE_KNOWN : MODE_STORE;
}

static void message_root(const void *param, int mode, double t, const double *s, double *g) {
    (void)t;
    const struct bli_rcpb *rcpb = param;
    g[0] = mode == MODE_KNOWN ? s[0] - 1.0 : 1.0 - rcpb->lambda - s[1];
}

static int message_next(const void *param, int mode, double t, double *s) {
    (void)t;
    const struct bli_rcpb *rcpb = param;
    if (mode == MODE_PINNED)
        return MODE_KNOWN;
    if (mode == MODE_KNOWN)
        s[0] = 1.0; /* where the root was found to within rounding */
    return s[0] >= 1.0 && s[1] > 1.0 - rcpb->lambda ? MODE_PINNED : MODE_KNOWN;
}

static enum bal_code check(const void *param, const double *y, size_t n, struct bal_error *err) {
    const struct bli_rcpb *rcpb = param;
    if (!(rcpb->lambda >= 0.0 && isfinite(rcpb->lambda)))
        return bal_fail(err, BAL_E_RANGE, "rcpb: lambda = %g; it must be a number >= 0", rcpb->lambda);
    if (rcpb->variant != BLI_RCPB_HIGH_MESSAGE && !(rcpb->mu >= 0.0 && isfinite(rcpb->mu)))
        return bal_fail(err, BAL_E_RANGE, "rcpb: mu = %g; it must be a number >= 0", rcpb->mu);
    if (rcpb->variant == BLI_RCPB_CONSTRAINED && rcpb->c < 1)
        return bal_fail(err, BAL_E_RANGE, "rcpb: c = 0; it must be at least 1");
    return bli_fluid_levels_check("rcpb", y, n, err);
}

struct bli_fluid_model bli_fluid_rcpb(const struct bli_rcpb *rcpb) {
    struct bli_fluid_model model = {
        .name = "rcpb", .width = 1, .hubs = 2, .param = rcpb, .check = check, .rhs = rhs};
    if (rcpb->variant == BLI_RCPB_HIGH_MEMORY) {
        model.roots = 1;
        model.root = memory_root;
        model.next = memory_next;
    }
    if (rcpb->variant == BLI_RCPB_HIGH_MESSAGE) {
        model.roots = 1;
        model.root = message_root;
        model.next = message_next;
    }
    return model;
}
