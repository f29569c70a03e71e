/* SPDX-License-Identifier: BSD-2-Clause */
/* Fluid models: how the fractions s_i(t) of servers with at least i jobs move in a system of very many
 * servers.
 *
 * A model is a system of ordinary differential equations over infinitely many levels i, of which as many
 * are carried as hold all mass but 1e-12 at every time; levels are added while the path is computed. Where
 * the right side of a model is discontinuous it is a hybrid system: it has modes, each with a smooth right
 * side, and functions whose crossing of zero ends a mode; crossings are located by root finding, never
 * stepped over.
 *
 * Units as in ballast/theory.h: mean service time 1, lambda arrivals per server and unit of time. lambda >=
 * 1 is allowed: then the queues grow.
 *
 * Integration is by CVODE (variable order and step, relative tolerance 1e-12, absolute 1e-14); along a path
 * errors add up to some 1e-11. Functions may be called from several threads at once. */
#ifndef BALLAST_FLUID_H
#define BALLAST_FLUID_H

#include "ballast/curve.h"
#include "ballast/dist.h"
#include "ballast/error.h"
#include "ballast/model.h"
#include "ballast/stealing.h"
#include "ballast/theory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A state y is `head` numbers, then `width` numbers for each of the levels 1, 2, ...; level 0 is not part
 * of it. Most models have head = 0 and width = 1: y[i - 1] = s_i. All fields are constant; param
 * belongs to the caller and must outlive the model. To add a model is to fill such a struct in a file of
 * its own. */
struct bli_fluid_model {
    const char *name;
    size_t head, width;
    size_t most;   /* levels; 0: any number of them */
    size_t hubs;   /* so many numbers, the first, may occur in all equations; a later one only in those of its
                      own level and of the levels next to it */
    size_t roots;  /* functions that end a mode; 0 for a model without modes */
    double stride; /* longest step of the integrator, 0 for any: short enough that no root function changes
                      its sign twice in one, which matters where it depends on time more than on the state */
    const void *param;

    /* Are the parameters and the state y (n numbers, the rest 0) possible? */
    enum bal_code (*check)(const void *param, const double *y, size_t n, struct bal_error *err);

    /* dy/dt at (t, y) in the given mode, with so many levels; the level above the last counts as 0. Must be
     * smooth in y as long as no root function of the mode has changed sign, and a little beyond. */
    void (*rhs)(const void *param, int mode, double t, const double *y, size_t levels, double *dy);

    /* Only with roots > 0. A mode ends when one of its g[0..roots-1] passes from negative to positive; a
     * function without a meaning in this mode is set to -1. */
    void (*root)(const void *param, int mode, double t, const double *y, double *g);

    /* Only with roots > 0. The mode that follows `mode` (-1 at the start) at this state; may put y exactly
     * on the boundary that it has reached. The same mode may be returned. */
    int (*next)(const void *param, int mode, double t, double *y);
};

/* pod and pod-scp: for i >= 1, with v_0 = 1,
 *     dv_i/dt = lambda ((1-p) (v_{i-1}^d1 - v_i^d1) + p (v_{i-1}^d2 - v_i^d2)) - (v_i - v_{i+1}). */
struct bli_fluid_model bli_fluid_pod(const struct bli_pod *pod);

/* rcpb in its three variants:
 *     ds_1/dt = lambda (1 - s_1 P0) - (s_1 - s_2),
 *     ds_i/dt = lambda (s_{i-1} - s_i) P0 - (s_i - s_{i+1}) for i >= 2,
 * P0 being bli_rcpb_empty(rcpb, s_1), and 1 - (1 - s_2)/lambda while the high message variant slides along
 * s_1 = 1. */
struct bli_fluid_model bli_fluid_rcpb(const struct bli_rcpb *rcpb);

/* pod (d = 1: random) with servers that steal: one that completes its last job probes a uniform server once
 * and gets f(l) of its l jobs. With p_l = s_l - s_{l+1},
 *     ds_k/dt = lambda (s_{k-1}^d - s_k^d) - (s_k - s_{k+1})
 *               + p_1 (sum of p_l over f(l) >= k  -  sum of p_l over l - f(l) < k <= l). */
struct bli_stealing {
    double lambda;
    unsigned d;
    struct bal_steal steal;
};
struct bli_fluid_model bli_fluid_stealing(const struct bli_stealing *stealing);

/* The fixed point for 0 < lambda < 1: writes s_1 .. s_n and the mean number of jobs at a server, to some
 * 1e-12. BAL_E_NUMERIC where more than 2048 levels would be needed: lambda very near 1 and little stolen.
 * O(levels^2): some milliseconds for the usual 128.
 *
 * For d = 1 and f = one it is known in closed form: p_k = p_1 rho^(k-1), rho = lambda / (1 + p_1), and
 * 2 p_1 = lambda - 1 + sqrt((1 - lambda) (1 + 3 lambda)). */
enum bal_code bli_stealing_equilibrium(const struct bli_stealing *stealing, double *s, size_t n, double *jobs,
                                       struct bal_error *err);

/* tabs, with sizes in phases and a load that varies. Made by bli_tabs_init; a plain value. */
struct bli_tabs {
    double lambda, mu, nu; /* lambda is multiplied by the curve */
    struct bli_curve curve;
    double unit;     /* a mean service time in the unit of the curve */
    double gain;     /* of rate-idle; 0, as bli_tabs_init leaves it: tabs */
    uint32_t buffer; /* most jobs at a server; one more is lost; 0, as bli_tabs_init leaves it: no limit */
    unsigned phases;
    double start[BLI_DIST_PHASES], rate[BLI_DIST_PHASES], jump[BLI_DIST_PHASES][BLI_DIST_PHASES],
        leave[BLI_DIST_PHASES];
};

/* size must be exponential, erlang, hyper or phase, of any finite mean; curve may be NULL. */
enum bal_code bli_tabs_init(struct bli_tabs *tabs, double lambda, double mu, double nu,
                            const struct bli_dist *size, const struct bli_curve *curve,
                            struct bal_error *err);

/* A hybrid system: head = 2, width = phases. y[0] is the fraction of servers that are off, y[1] in set-up,
 * and y[2 + (i - 1) phases + j] that of servers with at least i jobs whose job in service is in phase j (from
 * 0); the others are idle and on. At least some servers must be on. */
struct bli_fluid_model bli_fluid_tabs(const struct bli_tabs *tabs);

/* What its paths tend to under a constant load lambda < 1, for all mu > 0 and nu: a fraction lambda of the
 * servers has one job each, the others are off. Writes 2 + phases numbers; the rest are 0. O(phases^3). */
void bli_tabs_fixed_point(const struct bli_tabs *tabs, double *y);

/* The starting state that a simulation has: jobs begin in the phase that they start in. Writes 2 + phases
 * numbers for each of the jobs of a busy server. */
void bli_tabs_start(const struct bli_tabs *tabs, const struct bli_start *start, double *y);

struct bli_fluid_path {
    size_t times;    /* rows */
    size_t columns;  /* numbers of a state that were carried at the end; the others are 0 */
    double *state;   /* times * columns, row by row */
    double edge;     /* the largest mass ever seen in the outermost eighth of the levels, where more are added
                        from 1e-13 on; what is neglected beyond them is less. 0: all levels are carried */
    size_t steps;    /* of the integrator */
    size_t switches; /* of the mode */
};

/* Computes the path from the state start (n numbers, the rest 0; n = 0: all empty) at time 0, at
 * times[0..count-1], which are >= 0 and do not fall. On success the caller ends with bli_fluid_path_fini;
 * on failure there is nothing to end. O(levels) memory and O(levels) time per step. */
enum bal_code bli_fluid_path_init(struct bli_fluid_path *path, const struct bli_fluid_model *model,
                                  const double *start, size_t n, const double *times, size_t count,
                                  struct bal_error *err);
void bli_fluid_path_fini(struct bli_fluid_path *path);

/* Number i of the state at times[k], 0 if it was not carried. */
static inline double bli_fluid_path_at(const struct bli_fluid_path *path, size_t k, size_t i) {
    return i < path->columns ? path->state[k * path->columns + i] : 0.0;
}

#ifdef __cplusplus
}
#endif
#endif
