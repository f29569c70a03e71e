/* SPDX-License-Identifier: BSD-2-Clause */
/* A sample of sizes: counts them in narrow cells, and finds the resolution of the log. */
#include "workload/fit_sample.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double second = 1e9; /* nanoseconds */

enum bal_code bli_fit_sample_new(struct bli_fit_sample **sample, struct bal_error *err) {
    *sample = calloc(1, sizeof **sample);
    return *sample ? BAL_OK : bal_fail(err, BAL_E_MEMORY, "not enough memory to sum up the sizes");
}

void bli_fit_sample_free(struct bli_fit_sample *sample) {
    free(sample);
}

/* The first 2^BITS cells hold one number each; above, the leading BITS + 1 bits choose the cell. */
static unsigned cell_of(uint64_t x) {
    if (x >> BLI_FIT_BITS == 0)
        return (unsigned)x;
    const unsigned shift = 63 - (unsigned)__builtin_clzll(x) - BLI_FIT_BITS;
    return (shift << BLI_FIT_BITS) + (unsigned)(x >> shift);
}

/* The least number of a cell. */
static double edge_of(unsigned cell) {
    if (cell >> BLI_FIT_BITS == 0)
        return cell;
    const unsigned shift = (cell >> BLI_FIT_BITS) - 1;
    return ldexp((double)(cell - (shift << BLI_FIT_BITS)), (int)shift);
}

void bli_fit_sample_add(struct bli_fit_sample *sample, int64_t nanoseconds) {
    assert(nanoseconds > 0);
    const double x = (double)nanoseconds / second;
    sample->jobs++;
    sample->sum += x;
    sample->square += x * x;
    int64_t rest = nanoseconds;
    unsigned tens = 0;
    for (; tens + 1 < BLI_FIT_DIVISORS && rest % 10 == 0; tens++)
        rest /= 10;
    /* A quarter of a power of ten is what a log calls 0 (ballast/log.h) and has no information about the
     * others. */
    if (rest != 25)
        for (unsigned i = 0; i <= tens; i++)
            sample->divisible[i]++;
    const unsigned cell = cell_of((uint64_t)nanoseconds);
    sample->count[cell]++;
    sample->total[cell] += x;
}

double bli_fit_resolution(const struct bli_fit_sample *sample) {
    const uint64_t needed = sample->divisible[0] - sample->divisible[0] / 1000;
    double resolution = 1;
    for (unsigned i = 1; i < BLI_FIT_DIVISORS && needed > 0 && sample->divisible[i] >= needed; i++)
        resolution *= 10;
    return resolution / second;
}

/* A size stands for everything that is rounded to it, so the edge between two cells lies half-way between the
 * last multiple of the resolution in the one and the first in the other. */
static double rounded_edge(unsigned cell, double resolution) {
    const double unit = resolution * second;
    return (ceil(edge_of(cell) / unit) - 0.5) * resolution;
}

size_t bli_fit_cells(const struct bli_fit_sample *sample, struct bli_fit_cell *cell) {
    const double resolution = bli_fit_resolution(sample);
    size_t cells = 0;
    for (unsigned i = 0; i < BLI_FIT_CELLS; i++) {
        if (sample->count[i] == 0)
            continue;
        const double weight = (double)sample->count[i];
        struct bli_fit_cell next = {.low = fmax(rounded_edge(i, resolution), 0),
                                    .high = rounded_edge(i + 1, resolution),
                                    .mean = sample->total[i] / weight,
                                    .weight = weight};
        if (next.mean < resolution / 2) { /* rounded to 0 */
            next.low = 0;
            next.high = resolution / 2;
        }
        /* the odd size that is no multiple may lie in a cell without one */
        if (!(next.low < next.high) || !(next.mean > next.low && next.mean < next.high)) {
            next.low = edge_of(i) / second;
            next.high = edge_of(i + 1) / second;
        }
        if (cells > 0)
            next.low = fmax(next.low, cell[cells - 1].high);
        next.high = fmax(next.high, next.low);
        next.log_mean = log(next.mean);
        next.wide = next.high - next.low > next.mean / (1 << (BLI_FIT_BITS - 2));
        cell[cells++] = next;
    }
    return cells;
}

size_t bli_fit_join(const struct bli_fit_cell *cell, size_t cells, unsigned group,
                    struct bli_fit_cell *into) {
    size_t joined = 0, i = 0;
    while (i < cells) {
        struct bli_fit_cell sum = cell[i++];
        sum.mean *= sum.weight;
        for (unsigned j = 1; j < group && !sum.wide && i < cells && !cell[i].wide; j++, i++) {
            sum.high = cell[i].high;
            sum.mean += cell[i].weight * cell[i].mean;
            sum.weight += cell[i].weight;
        }
        sum.mean /= sum.weight;
        sum.log_mean = log(sum.mean);
        into[joined++] = sum;
    }
    return joined;
}
