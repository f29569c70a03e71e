/* SPDX-License-Identifier: BSD-2-Clause */
/* Laws of sizes in phases, and times that end when a Markov chain of phases does. */
#include "theory/phases.h"

#include "base/memory.h"
#include "theory/jobs_found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- laws ---- */

void bli_phases_complete(struct phases *phases) {
    phases->rises = true;
    for (unsigned j = 0; j < phases->count; j++) {
        phases->leave[j] = 1;
        phases->first[j] = phases->last[j] = 0;
        for (unsigned k = 0; k < phases->count; k++) {
            phases->leave[j] -= phases->jump[j][k];
            if (phases->jump[j][k] == 0)
                continue;
            phases->rises = phases->rises && k > j;
            if (phases->last[j] == 0)
                phases->first[j] = k;
            phases->last[j] = k + 1;
        }
        phases->leave[j] = fmax(phases->leave[j], 0);
    }
}

static void phases_of_erlang(unsigned count, struct phases *phases) {
    phases->count = count;
    phases->start[0] = 1;
    for (unsigned j = 0; j < count; j++) {
        phases->rate[j] = count;
        if (j + 1 < count)
            phases->jump[j][j + 1] = 1;
    }
}

bool bli_phases_of(const struct bli_dist *size, struct phases *phases) {
    memset(phases, 0, sizeof *phases);
    switch (size->kind) {
    case BLI_DIST_EXP:
        phases_of_erlang(1, phases);
        break;
    case BLI_DIST_ERLANG:
        if (size->phases > PHASES_MAX)
            return false;
        phases_of_erlang(size->phases, phases);
        break;
    case BLI_DIST_HYPER:
    case BLI_DIST_PHASE:
        phases->count = size->phases;
        for (unsigned j = 0; j < size->phases; j++) {
            phases->start[j] = size->start[j];
            phases->rate[j] = size->rate[j] * size->mean;
            for (unsigned k = 0; k < size->phases && size->kind == BLI_DIST_PHASE; k++)
                phases->jump[j][k] = size->jump[j][k];
        }
        break;
    default:
        return false;
    }
    bli_phases_complete(phases);
    return true;
}

/* ---- linear equations ---- */

/* Phases that only lead to later ones: one after the other. */
static void substitute(const struct phases *p, double a, const double *y, double *x) {
    memcpy(x, y, p->count * sizeof *x);
    for (unsigned j = 0; j < p->count; j++) {
        x[j] /= a + p->rate[j];
        for (unsigned k = p->first[j]; k < p->last[j]; k++)
            x[k] += x[j] * p->rate[j] * p->jump[j][k];
    }
}

void bli_phases_solve(const struct phases *p, double a, const double *y, double *x) {
    double m[PHASES_MAX][PHASES_MAX]; /* row j: the equation of column j */
    const unsigned n = p->count;
    if (p->rises) {
        substitute(p, a, y, x);
        return;
    }
    for (unsigned j = 0; j < n; j++) {
        x[j] = y[j];
        for (unsigned i = 0; i < n; i++)
            m[j][i] = (i == j ? a + p->rate[i] : 0) - p->rate[i] * p->jump[i][j];
    }
    for (unsigned k = 0; k < n; k++) /* columns are diagonally dominant: no pivots */
        for (unsigned j = k + 1; j < n; j++) {
            const double factor = m[j][k] / m[k][k];
            for (unsigned i = k; i < n && factor != 0; i++)
                m[j][i] -= factor * m[k][i];
            x[j] -= factor * x[k];
        }
    for (unsigned k = n; k-- > 0;) {
        for (unsigned i = k + 1; i < n; i++)
            x[k] -= m[k][i] * x[i];
        x[k] /= m[k][k];
    }
}

static double sum_of(const double *x, size_t n) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double bli_phases_moment(const struct phases *phases, int k) {
    double x[PHASES_MAX], y[PHASES_MAX] = {0}, factor = 1;
    memcpy(x, phases->start, sizeof x);
    for (int i = 1; i <= k; i++) {
        bli_phases_solve(phases, 0, x, y);
        memcpy(x, y, sizeof x);
        factor *= i;
    }
    return factor * sum_of(x, phases->count);
}

/* ---- times ---- */

enum { STEPS_MAX = 400000 };
static const double work_most = 1e8, rest = 1e-6;

/* One step of the uniformised chain; state[c n + j]: c more services must end after this one. */
static void step(const struct phases *p, double fastest, size_t services, double *state) {
    const unsigned n = p->count;
    double other[PHASES_MAX];
    for (size_t c = 0; c < services; c++) {
        double *here = state + c * n, ends = 0;
        for (unsigned j = 0; j < n; j++)
            other[j] = here[j] * (1 - p->rate[j] / fastest);
        for (unsigned j = 0; j < n; j++) {
            const double leaves = here[j] * p->rate[j] / fastest;
            ends += leaves * p->leave[j];
            for (unsigned k = p->first[j]; k < p->last[j]; k++)
                other[k] += leaves * p->jump[j][k];
        }
        memcpy(here, other, n * sizeof *other);
        for (unsigned j = 0; j < n && c > 0; j++)
            here[j - (ptrdiff_t)n] += ends * p->start[j];
    }
}

/* P(R > t) is the sum of P(not done after k steps) P(N_t = k), N_t Poisson. */
bool bli_phases_quantiles(const struct phases *p, size_t services, double *state, double time[4]) {
    static const double quantiles[4] = {0.5, 0.9, 0.99, 0.999};
    double fastest = 0, left = 1;
    for (unsigned j = 0; j < p->count; j++)
        fastest = fmax(fastest, p->rate[j]);
    struct found found = {malloc(STEPS_MAX * sizeof(double)), 0};
    if (!found.value)
        bli_memory_lose();
    for (double work = 0; found.value && left > rest && found.n < STEPS_MAX && work < work_most;) {
        left = sum_of(state, services * p->count);
        found.value[found.n++] = left;
        while (services > 1 && sum_of(state + (services - 1) * p->count, p->count) < 1e-12)
            services--;
        step(p, fastest, services, state);
        work += (double)services * p->count;
    }
    const bool known = found.value && left <= rest;
    for (int i = 0; i < 4; i++)
        time[i] = known ? bli_found_quantile(&found, 0, quantiles[i]) / fastest : NAN;
    free(found.value);
    return known;
}
