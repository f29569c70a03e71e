/* SPDX-License-Identifier: BSD-2-Clause */
/* Laws of sizes as mixtures of Erlang laws of one order, by expectation and maximisation (Thuemmler, Buchholz
 * and Telek 2006). Such mixtures come as close to any law as wanted; the order is chosen so that one branch
 * is about half as wide as the law, on a logarithmic scale. Equal sizes are one Erlang law of high order.
 *
 * The law is looked at in many cells of equal width on a logarithmic scale. What such a fit keeps is the
 * mean; how far off a result may be is found by comparing two of them. */
#include "theory/phases.h"

#include <math.h>
#include <string.h>

static const double shortest = 0.02; /* of the mean: what is less than that does not matter */
enum { CELLS = 300, STEPS = 200, BRANCHES_MAX = 32 };

/* The x with P(S <= x) = p; of the part above it, if p is large, to the digits that there are. */
static double quantile_of(const struct bli_dist *size, double p) {
    double low = -60, high = 60; /* logarithms */
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(bli_dist_cdf(size, size->mean * exp(middle)) < p ? &low : &high) = middle;
    }
    return size->mean * exp(0.5 * (low + high));
}

struct fit_cells {
    unsigned count;
    double x[CELLS], weight[CELLS];
};

/* As they are, with mean 1. */
static void set_cells(const struct bli_dist *size, struct fit_cells *cells) {
    const double first = log(quantile_of(size, 1e-4)), last = log(quantile_of(size, 1 - 1e-9));
    double sum = 0, mean = 0, below = 0;
    cells->count = CELLS;
    for (unsigned i = 0; i < CELLS; i++) {
        const double edge = exp(first + (last - first) * (i + 1) / CELLS), here = bli_dist_cdf(size, edge);
        cells->x[i] = fmax(exp(first + (last - first) * (i + 0.5) / CELLS), shortest * size->mean);
        cells->weight[i] = fmax(here - below, 0);
        below = here;
        sum += cells->weight[i];
        mean += cells->weight[i] * cells->x[i];
    }
    for (unsigned i = 0; i < CELLS; i++) {
        cells->weight[i] /= sum;
        cells->x[i] *= sum / mean;
    }
}

struct mixture {
    unsigned order, branches;
    double part[BRANCHES_MAX], mean[BRANCHES_MAX];
};

/* One branch should be about half as wide as the law, and all of them together reach over most of it. */
static unsigned choose_order(const struct fit_cells *cells, double variance, unsigned phases) {
    double mean = 0, square = 0, below = 0, from = 0;
    for (unsigned i = 0; i < cells->count; i++) {
        const double y = log(cells->x[i]);
        mean += cells->weight[i] * y;
        square += cells->weight[i] * y * y;
        if (below < 0.05)
            from = y;
        below += cells->weight[i];
    }
    const double narrow = fmax(4 / (square - mean * mean), 4 / variance);
    const double reach = log(cells->x[cells->count - 1]) - from;
    const double most = pow(2.5 * PHASES_MAX / reach, 2.0 / 3);
    return (unsigned)fmin(fmax(rint(fmin(narrow, most)), 1), phases);
}

static void begin_mixture(const struct fit_cells *cells, double variance, unsigned phases,
                          struct mixture *mixture) {
    mixture->order = choose_order(cells, variance, phases);
    mixture->branches = phases / mixture->order;
    if (mixture->branches > BRANCHES_MAX)
        mixture->branches = BRANCHES_MAX;
    const double first = log(cells->x[0]), last = log(cells->x[cells->count - 1]);
    for (unsigned b = 0; b < mixture->branches; b++) {
        mixture->part[b] = 1.0 / mixture->branches;
        mixture->mean[b] = exp(first + (last - first) * (b + 0.5) / mixture->branches);
    }
}

/* Densities but for a factor that is the same for all branches. */
static void improve(const struct fit_cells *cells, struct mixture *mixture) {
    double part[BRANCHES_MAX] = {0}, sum[BRANCHES_MAX] = {0}, log_mean[BRANCHES_MAX];
    for (unsigned b = 0; b < mixture->branches; b++)
        log_mean[b] = log(mixture->mean[b]);
    for (unsigned i = 0; i < cells->count; i++) {
        double density[BRANCHES_MAX], most = -INFINITY, all = 0;
        for (unsigned b = 0; b < mixture->branches; b++) {
            density[b] =
                log(mixture->part[b]) - mixture->order * (log_mean[b] + cells->x[i] / mixture->mean[b]);
            most = fmax(most, density[b]);
        }
        for (unsigned b = 0; b < mixture->branches; b++)
            all += density[b] = exp(density[b] - most);
        for (unsigned b = 0; b < mixture->branches; b++) {
            const double weight = cells->weight[i] * density[b] / all;
            part[b] += weight;
            sum[b] += weight * cells->x[i];
        }
    }
    for (unsigned b = 0; b < mixture->branches; b++) {
        mixture->part[b] = fmax(part[b], 1e-300);
        if (part[b] > 1e-200)
            mixture->mean[b] = sum[b] / part[b];
    }
}

static void set_phases(const struct mixture *mixture, struct phases *phases) {
    memset(phases, 0, sizeof *phases);
    const unsigned k = mixture->order;
    phases->count = k * mixture->branches;
    for (unsigned b = 0; b < mixture->branches; b++) {
        phases->start[b * k] = mixture->part[b];
        for (unsigned j = b * k; j < (b + 1) * k; j++) {
            phases->rate[j] = k / mixture->mean[b];
            if (j + 1 < (b + 1) * k)
                phases->jump[j][j + 1] = 1;
        }
    }
    bli_phases_complete(phases);
}

bool bli_phases_fit(const struct bli_dist *size, bool finer, struct phases *phases) {
    const unsigned most = finer ? PHASES_MAX : PHASES_MAX / 2;
    struct mixture mixture = {.order = most, .branches = 1, .part = {1}, .mean = {1}};
    if (size->kind != BLI_DIST_DET) {
        struct fit_cells cells;
        if (!isfinite(bli_dist_moment(size, 2)))
            return false;
        set_cells(size, &cells);
        begin_mixture(&cells, bli_dist_moment(size, 2) / (size->mean * size->mean) - 1, most, &mixture);
        for (int i = 0; i < STEPS; i++)
            improve(&cells, &mixture);
    }
    set_phases(&mixture, phases);
    return true;
}
