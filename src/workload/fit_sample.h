/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample of sizes as the fitting sees it: weighted cells. */
#ifndef WORKLOAD_FIT_SAMPLE_H
#define WORKLOAD_FIT_SAMPLE_H

#include "ballast/fit.h"

enum {
    BLI_FIT_BITS = 6, /* 2^6 cells to an octave */
    BLI_FIT_CELLS = (63 - BLI_FIT_BITS + 1) << BLI_FIT_BITS,
    BLI_FIT_DIVISORS = 10, /* 1 ns, 10 ns, ... 1 s */
};

struct bli_fit_sample {
    uint64_t jobs;
    double sum, square;                   /* of seconds */
    uint64_t divisible[BLI_FIT_DIVISORS]; /* sizes that are multiples of 10^i ns */
    uint64_t count[BLI_FIT_CELLS];
    double total[BLI_FIT_CELLS]; /* sum of the sizes in a cell, in seconds */
};

/* Sizes from low up to high, all in seconds. */
struct bli_fit_cell {
    double low, high, mean, log_mean;
    double weight; /* sizes in it; the weights sum to the number of jobs */
    bool wide;     /* because the sizes were measured coarsely: a density at its mean does not describe it */
};

/* The resolution in seconds. */
double bli_fit_resolution(const struct bli_fit_sample *sample);

/* The cells that are not empty, in ascending order, without overlap, at most BLI_FIT_CELLS; returns how many.
 */
size_t bli_fit_cells(const struct bli_fit_sample *sample, struct bli_fit_cell *cell);

/* Joins every `group` neighbours that are not wide; returns how many cells are left. */
size_t bli_fit_join(const struct bli_fit_cell *cell, size_t cells, unsigned group, struct bli_fit_cell *into);

#endif
