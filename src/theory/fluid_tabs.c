/* SPDX-License-Identifier: BSD-2-Clause */
/* The fluid model of tabs: Mukherjee, Dhara, Borst and van Leeuwaarden (2017), Theorems 3.1 and 4.1, for
 * sizes in phases, of which the exponential is the case of one.
 *
 * q_ij is the fraction of servers with at least i jobs whose job in service is in phase j, d0 the fraction
 * off, d1 in set-up, u = 1 - sum_j q_1j - d0 - d1 that which is idle and on. With starts r_j, jumps r_kj,
 * departures r_k0 and rates g_k,
 *
 *     dq_ij/dt = lambda p_{i-1,j} + sum_k q_ik g_k r_kj - g_j q_ij + r_j sum_k q_{i+1,k} g_k r_k0
 *     dd0/dt = mu u - x,  dd1/dt = x - nu d1,  x = lambda (1 - P) [d0 > 0]
 *     p_0j = r_j P,  p_ij = (1 - P)(q_ij - q_{i+1,j})/q_1 for i >= 1,  q_1 = sum_j q_1j
 *
 * P is the chance that a job finds an idle server which is on: 1 while u > 0; when u = 0 it is F/lambda,
 * where F = nu d1 + sum_j (q_1j - q_2j) g_j r_j0 is the flow of servers that become idle or are set up, as
 * long as F < lambda. (The printed system of the phase case takes differences over i where mass must be moved
 * whole; this is derived afresh.)
 *
 * Under rate-idle x = gain (lambda - F)+ d0/(d0 + 1e-6), whether or not servers are idle: where none is off
 * none can be started, and nearly none where nearly none is.
 *
 * With a buffer of B jobs there are B levels; what joins a full server is lost.
 *
 * So there are three modes. SPARE: u > 0. SLIDING: u = 0 and F < lambda, every server that becomes idle gets
 * a job at once, and the others start servers that are off. EXHAUSTED: the same, but none is off. SPARE ends
 * where u = 0 with F < lambda, the two others where F reaches lambda; SLIDING also where d0 = 0, which
 * nothing but SPARE makes grow again. Near the fixed point u and F - lambda both vanish and their signs are
 * noise, so SPARE is left only when F is below lambda by more than `band`, or u below 0 by more than `depth`;
 * the root functions say just that, so that noise makes no roots. */
#include "ballast/fluid.h"

#include <math.h>
#include <string.h>

enum { SPARE, SLIDING, EXHAUSTED };
enum { OFF, SETUP, HEAD }; /* d0 and d1 stand before the levels */

static const double band = 1e-10, depth = 1e-9;

static double lambda_at(const struct bli_tabs *tabs, double t) {
    return tabs->lambda * bli_curve_at(&tabs->curve, t * tabs->unit);
}

/* Servers with work, and the flow of those that run out of it. */
static double busy_of(const struct bli_tabs *tabs, const double *y) {
    double busy = 0;
    for (unsigned j = 0; j < tabs->phases; j++)
        busy += y[HEAD + j];
    return busy;
}

static double emptying_of(const struct bli_tabs *tabs, const double *y) {
    const unsigned phases = tabs->phases;
    double flow = 0;
    for (unsigned j = 0; j < phases; j++)
        flow +=
            (y[HEAD + j] - (tabs->buffer == 1 ? 0 : y[HEAD + phases + j])) * tabs->rate[j] * tabs->leave[j];
    return flow;
}

static double spare_of(const struct bli_tabs *tabs, const double *y) {
    return 1 - busy_of(tabs, y) - y[OFF] - y[SETUP];
}

/* F - lambda. */
static double excess_of(const struct bli_tabs *tabs, double t, const double *y) {
    return tabs->nu * y[SETUP] + emptying_of(tabs, y) - lambda_at(tabs, t);
}

/* Servers that are started, where `queued` jobs find none idle. */
static double waking_of(const struct bli_tabs *tabs, int mode, double t, const double *y, double queued) {
    static const double hardly_any = 1e-6;
    if (!(tabs->gain > 0))
        return mode == SLIDING ? queued : 0;
    return y[OFF] > 0 ? tabs->gain * fmax(0, -excess_of(tabs, t, y)) * y[OFF] / (y[OFF] + hardly_any) : 0;
}

/* The levels: `placed` jobs per unit of time start at idle servers, `queued` join busy ones. */
static void move_levels(const struct bli_tabs *tabs, const double *y, size_t levels, double placed,
                        double queued, double *dy) {
    const unsigned phases = tabs->phases;
    const double busy = busy_of(tabs, y);
    const double each = busy > 0 ? queued / busy : 0;
    for (size_t i = 0; i < levels; i++) {
        const double *q = y + HEAD + i * phases, *above = i + 1 < levels ? q + phases : NULL;
        double done_above = 0;
        for (unsigned k = 0; above && k < phases; k++)
            done_above += above[k] * tabs->rate[k] * tabs->leave[k];
        for (unsigned j = 0; j < phases; j++) {
            double flow = tabs->start[j] * done_above - tabs->rate[j] * q[j];
            flow += i == 0 ? tabs->start[j] * placed : each * (q[(long)j - (long)phases] - q[j]);
            for (unsigned k = 0; k < phases; k++)
                flow += q[k] * tabs->rate[k] * tabs->jump[k][j];
            dy[HEAD + i * phases + j] = flow;
        }
    }
}

static void rhs(const void *param, int mode, double t, const double *y, size_t levels, double *dy) {
    const struct bli_tabs *tabs = param;
    const double lambda = lambda_at(tabs, t);
    const double placed = mode == SPARE ? lambda : lambda + excess_of(tabs, t, y);
    const double queued = lambda - placed;
    const double waking = waking_of(tabs, mode, t, y, queued);
    dy[OFF] = (mode == SPARE ? tabs->mu * spare_of(tabs, y) : 0) - waking;
    dy[SETUP] = waking - tabs->nu * y[SETUP];
    move_levels(tabs, y, levels, placed, queued, dy);
}

static void root(const void *param, int mode, double t, const double *y, double *g) {
    const struct bli_tabs *tabs = param;
    const double spare = spare_of(tabs, y), excess = excess_of(tabs, t, y);
    g[0] = mode == SPARE ? fmin(-spare, -excess - band) : excess;
    g[1] = mode == SPARE ? -spare - depth : mode == SLIDING ? -y[OFF] : -1;
}

/* Puts a state exactly on u = 0 by changing its largest part. */
static void project_to_boundary(const struct bli_tabs *tabs, double *y) {
    size_t largest = 0;
    for (size_t i = 1; i < HEAD + tabs->phases; i++)
        largest = y[i] > y[largest] ? i : largest;
    y[largest] += spare_of(tabs, y);
}

static int next(const void *param, int mode, double t, double *y) {
    const struct bli_tabs *tabs = param;
    const double spare = spare_of(tabs, y), excess = excess_of(tabs, t, y);
    if (mode == SLIDING || mode == EXHAUSTED) {
        if (excess >= -band)
            return SPARE;
        if (mode == SLIDING && y[OFF] > depth)
            return SLIDING;
        y[OFF] = 0;
        return EXHAUSTED;
    }
    if (spare > depth || excess >= 0 || (excess >= -band / 2 && spare > -depth / 2))
        return SPARE;
    project_to_boundary(tabs, y);
    return y[OFF] > 0 ? SLIDING : EXHAUSTED;
}

static enum bal_code check_levels(const struct bli_tabs *tabs, const double *y, size_t n,
                                  struct bal_error *err) {
    for (size_t i = HEAD; i < n; i++) {
        const size_t level = (i - HEAD) / tabs->phases + 1;
        if (tabs->buffer > 0 && level > tabs->buffer && y[i] != 0)
            return bal_fail(err, BAL_E_RANGE,
                            "tabs: starting state: q_%zu = %g; it must be 0 with buffers of %u jobs", level,
                            y[i], tabs->buffer);
        const double before = level > 1 ? y[i - tabs->phases] : 1;
        if (!(y[i] >= 0 && y[i] <= before))
            return bal_fail(err, BAL_E_RANGE,
                            "tabs: starting state: q_%zu = %g; it must lie between 0 and q_%zu = %g", level,
                            y[i], level - 1, before);
    }
    return BAL_OK;
}

static enum bal_code check(const void *param, const double *y, size_t n, struct bal_error *err) {
    const struct bli_tabs *tabs = param;
    if (!(tabs->lambda > 0 && isfinite(tabs->lambda)))
        return bal_fail(err, BAL_E_RANGE, "tabs: lambda = %g; it must be a number > 0", tabs->lambda);
    if (!(tabs->mu >= 0 && isfinite(tabs->mu)) || !(tabs->nu > 0 && isfinite(tabs->nu)))
        return bal_fail(err, BAL_E_RANGE, "tabs: mu = %g and nu = %g; they must be numbers >= 0 and > 0",
                        tabs->mu, tabs->nu);
    double state[HEAD + BLI_DIST_PHASES] = {0};
    const size_t first = HEAD + tabs->phases;
    memcpy(state, y, (n < first ? n : first) * sizeof *y);
    const double busy = busy_of(tabs, state), sum = busy + state[OFF] + state[SETUP];
    if (!(state[OFF] >= 0 && state[SETUP] >= 0 && busy >= 0 && sum <= 1 + 1e-12))
        return bal_fail(err, BAL_E_RANGE,
                        "tabs: starting state: %g off, %g in set-up, %g busy; they must not be negative and "
                        "sum to at most "
                        "1",
                        state[OFF], state[SETUP], busy);
    if (!(busy > 0) && !(sum < 1 - depth))
        return bal_fail(err, BAL_E_RANGE,
                        "tabs: starting state: no server is on; at least some must be busy or idle");
    return check_levels(tabs, y, n, err);
}

/* The equations follow lambda(t) step by step; roots that it makes must not be passed twice in one. */
static double stride_of(const struct bli_tabs *tabs) {
    const struct bli_curve *curve = &tabs->curve;
    if (curve->kind == BLI_CURVE_CONSTANT)
        return 0;
    double shortest = curve->kind == BLI_CURVE_SINE ? curve->period / 16 : INFINITY;
    for (unsigned i = 1; i < curve->points; i++)
        shortest = fmin(shortest, (curve->time[i] - curve->time[i - 1]) / 2);
    if (curve->repeat && curve->time[0] > 0)
        shortest = fmin(shortest, curve->time[0] / 2);
    return isfinite(shortest) ? shortest / tabs->unit : 0;
}

struct bli_fluid_model bli_fluid_tabs(const struct bli_tabs *tabs) {
    return (struct bli_fluid_model){
        .name = "tabs",
        .head = HEAD,
        .width = tabs->phases,
        .most = tabs->buffer,
        .hubs = HEAD + (tabs->buffer == 1 ? 1 : 2) * (size_t)tabs->phases, /* u and F are in all equations */
        .roots = 2,
        .stride = stride_of(tabs),
        .param = tabs,
        .check = check,
        .rhs = rhs,
        .root = root,
        .next = next,
    };
}

/* ---- sizes in phases ---- */

/* A distribution as phases, with mean 1; false when it is none such. */
static bool set_phases(struct bli_tabs *tabs, const struct bli_dist *size) {
    struct bli_dist dist = *size;
    bli_dist_scale(&dist, 1 / size->mean);
    tabs->phases = dist.kind == BLI_DIST_EXP ? 1 : dist.phases;
    if (dist.kind == BLI_DIST_EXP || dist.kind == BLI_DIST_ERLANG) {
        if (tabs->phases > BLI_DIST_PHASES)
            return false;
        tabs->start[0] = 1;
        for (unsigned j = 0; j < tabs->phases; j++) {
            tabs->rate[j] = tabs->phases;
            if (j + 1 < tabs->phases)
                tabs->jump[j][j + 1] = 1;
        }
    } else if (dist.kind == BLI_DIST_HYPER || dist.kind == BLI_DIST_PHASE) {
        memcpy(tabs->start, dist.start, sizeof tabs->start);
        memcpy(tabs->rate, dist.rate, sizeof tabs->rate);
        if (dist.kind == BLI_DIST_PHASE)
            memcpy(tabs->jump, dist.jump, sizeof tabs->jump);
    } else {
        return false;
    }
    for (unsigned j = 0; j < tabs->phases; j++) {
        tabs->leave[j] = 1;
        for (unsigned k = 0; k < tabs->phases; k++)
            tabs->leave[j] -= tabs->jump[j][k];
        tabs->leave[j] = fmax(tabs->leave[j], 0);
    }
    return true;
}

enum bal_code bli_tabs_init(struct bli_tabs *tabs, double lambda, double mu, double nu,
                            const struct bli_dist *size, const struct bli_curve *curve,
                            struct bal_error *err) {
    memset(tabs, 0, sizeof *tabs);
    tabs->lambda = lambda;
    tabs->mu = mu;
    tabs->nu = nu;
    tabs->unit = size->mean;
    if (curve)
        tabs->curve = *curve;
    if (isfinite(size->mean) && set_phases(tabs, size))
        return BAL_OK;
    return bal_fail(
        err, BAL_E_MODEL,
        "the fluid model of tabs needs sizes in at most %d phases; use exp, erlang, hyper or phase",
        BLI_DIST_PHASES);
}

/* A job is in phase j for n_j / g_j of its time, n_j being the mean number of visits: n = r + n R, which is
 * solved by elimination. I - R is diagonally dominant, so it needs no pivots. */
void bli_tabs_fixed_point(const struct bli_tabs *tabs, double *y) {
    const unsigned phases = tabs->phases;
    double a[BLI_DIST_PHASES][BLI_DIST_PHASES + 1];
    for (unsigned j = 0; j < phases; j++) {
        for (unsigned k = 0; k < phases; k++)
            a[j][k] = (j == k) - tabs->jump[k][j];
        a[j][phases] = tabs->start[j];
    }
    for (unsigned p = 0; p < phases; p++)
        for (unsigned j = 0; j < phases; j++) {
            if (j == p)
                continue;
            const double factor = a[j][p] / a[p][p];
            for (unsigned k = p; k <= phases; k++)
                a[j][k] -= factor * a[p][k];
        }
    y[OFF] = 1 - tabs->lambda;
    y[SETUP] = 0;
    for (unsigned j = 0; j < phases; j++)
        y[HEAD + j] = tabs->lambda * a[j][phases] / a[j][j] / tabs->rate[j];
}

void bli_tabs_start(const struct bli_tabs *tabs, const struct bli_start *start, double *y) {
    y[OFF] = start->off;
    y[SETUP] = start->setup;
    for (uint32_t i = 0; i < bli_start_jobs(start); i++)
        for (unsigned j = 0; j < tabs->phases; j++)
            y[HEAD + i * tabs->phases + j] = start->busy * tabs->start[j];
}
