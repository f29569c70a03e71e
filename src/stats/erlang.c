/* SPDX-License-Identifier: BSD-2-Clause */
/* The distribution of times that are known as numbers of events.
 *
 * k events of a Poisson process take an Erlang time of k stages, which is at most x if at least k events
 * happen until x. So, with C(m) values of at most m events and a Poisson number N of events until x, E C(N)
 * values are expected to be at most x: one sum for each edge x, and no Erlang distribution. C is linear
 * inside the bins of the numbers, and sums over many m are taken in cells of a third of a standard
 * deviation. */
#include "stats/erlang.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum {
    OCTAVE = 1 << BLI_HISTOGRAM_BITS,
    ONE = 1 - BLI_HISTOGRAM_LOW * OCTAVE, /* the bin of one event */
    BINS = BLI_ERLANG_OCTAVES * OCTAVE,   /* from there on */
    FEW = 32,                             /* if fewer events are expected every m counts by itself ... */
    ALONE = 140,                          /* ... up to this one */
    MANY = 1 << 16,                       /* from here on N is its mean, or less than half a bin off */
    CELLS = 1024
};
static const double deviations = 7; /* beyond these N is not looked at */

/* The numbers of events. `first` is the first bin, from ONE on, that has values, `end` is behind the last;
 * `below` and `sum` are, for each of them, the values below it and the sum of C(m) over all m below it. */
struct erlang_numbers {
    unsigned first, end;
    double below[BINS + 1], sum[BINS + 1];
};

static double edge_of(unsigned bin) {
    return bli_histogram_edge(ONE + bin);
}

/* Whole numbers in a bin: below 128 a bin has one at its edge, or none. */
static double whole_in(unsigned bin) {
    const double edge = edge_of(bin), width = edge_of(bin + 1) - edge;
    return width >= 1 ? width : edge == floor(edge);
}

/* False: there are none. */
static bool read_numbers(struct erlang_numbers *numbers, const struct bli_histogram *histogram) {
    const uint64_t *const count = histogram->count + ONE;
    unsigned first = 0, end = BINS;
    while (first < end && count[first] == 0)
        first++;
    while (end > first && count[end - 1] == 0)
        end--;
    numbers->first = first;
    numbers->end = end;
    numbers->below[first] = numbers->sum[first] = 0;
    for (unsigned bin = first; bin < end; bin++) {
        const double whole = whole_in(bin), below = numbers->below[bin];
        numbers->below[bin + 1] = below + (double)count[bin];
        numbers->sum[bin + 1] = numbers->sum[bin] + whole * below + (double)count[bin] * (whole + 1) / 2;
    }
    return first < end;
}

static double all_of(const struct erlang_numbers *numbers) {
    return numbers->below[numbers->end];
}

/* The bin of m, at most the end; how far m is inside, and which part of the bin's values that is. */
static unsigned find_bin(const struct erlang_numbers *numbers, double m, double *inside, double *part) {
    const unsigned found = bli_histogram_bin(m);
    if (found < ONE + numbers->first) {
        *inside = *part = 0;
        return numbers->first;
    }
    const unsigned bin = found - ONE < numbers->end ? found - ONE : numbers->end;
    *inside = m - ceil(edge_of(bin)); /* behind the last one it need not be whole */
    *part = bin < numbers->end ? *inside / (edge_of(bin + 1) - edge_of(bin)) *
                                     (numbers->below[bin + 1] - numbers->below[bin])
                               : 0;
    return bin;
}

/* Values below m. */
static double count_below(const struct erlang_numbers *numbers, double m) {
    double inside, part;
    return numbers->below[find_bin(numbers, m, &inside, &part)] + part;
}

/* The sum of C over all whole numbers below m, which is one. */
static double sum_below(const struct erlang_numbers *numbers, double m) {
    double inside, part;
    const unsigned bin = find_bin(numbers, m, &inside, &part);
    return numbers->sum[bin] + inside * numbers->below[bin] + part * (inside + 1) / 2;
}

/* ---- E C(N) ---- */

static double expect_alone(const double *at_most, double mean) {
    const double end = fmin(mean + deviations * sqrt(mean) + 12, ALONE);
    double probability = exp(-mean), sum = 0;
    for (unsigned m = 0; m < end; m++) {
        sum += probability * at_most[m];
        probability *= mean / (m + 1);
    }
    return sum;
}

/* Numbers m in cells of equal width, for means from `low` to twice that. */
struct erlang_cells {
    double low, start, width;
    unsigned count;
    double c[CELLS];    /* the mean of C in a cell */
    double step[CELLS]; /* the probability of the next cell over that of this one, if the mean is `low` */
};

/* Of a number from 1 on, whole or not: Stirling's series. */
static double log_factorial(double x) {
    const double two_pi = 6.283185307179586, per = 1 / x;
    return 0.5 * log(two_pi * x) + x * log(x) - x + per * (1 / 12.0 - per * per * (1 / 360.0));
}

static void make_cells(struct erlang_cells *cells, const struct erlang_numbers *numbers, double low) {
    cells->low = low;
    cells->width = fmax(floor(sqrt(low) / 3), 1);
    cells->start = fmax(floor(low - deviations * sqrt(low)), 1);
    const double end = 2 * low + deviations * sqrt(2 * low), log_low = log(low);
    cells->count = (unsigned)ceil((end - cells->start) / cells->width);
    assert(cells->count <= CELLS);
    double middle = cells->start + (cells->width - 1) / 2;
    double before = sum_below(numbers, cells->start), here = log_factorial(middle);
    for (unsigned i = 0; i < cells->count; i++) {
        middle += cells->width;
        const double behind = sum_below(numbers, cells->start + cells->width * (i + 1));
        const double next = log_factorial(middle);
        cells->c[i] = (behind - before) / cells->width;
        cells->step[i] = exp(cells->width * log_low + here - next);
        before = behind;
        here = next;
    }
}

static double expect_in_cells(const struct erlang_cells *cells, double mean) {
    const double spread = deviations * sqrt(mean);
    const double from = fmax((mean - spread - cells->start) / cells->width, 0);
    const double to = fmin((mean + spread - cells->start) / cells->width, cells->count);
    const double higher = pow(mean / cells->low, cells->width);
    double weight = 1, weights = 0, sum = 0;
    for (unsigned i = (unsigned)from; i < to; i++) {
        weights += weight;
        sum += weight * cells->c[i];
        weight *= higher * cells->step[i];
    }
    return sum / weights;
}

/* ---- the histogram of times ---- */

/* Values that are expected below each edge of an octave of times, the first of which has this mean number of
 * events. */
static void expected_counts(const struct erlang_numbers *numbers, double low, double *expected) {
    const double most = edge_of(numbers->end), least = edge_of(numbers->first);
    const double spread = deviations * sqrt(2 * low) + 12;
    double at_most[ALONE];
    struct erlang_cells cells;
    const bool none = 2 * low + spread<least, all = low - spread> most;
    if (!none && !all && low < FEW)
        for (unsigned m = 0; m < ALONE; m++)
            at_most[m] = count_below(numbers, m + 1);
    else if (!none && !all && low < MANY)
        make_cells(&cells, numbers, low);
    for (unsigned i = 0; i < OCTAVE; i++) {
        const double mean = low * (1 + (double)i / OCTAVE);
        expected[i] = none         ? 0
                      : all        ? all_of(numbers)
                      : low < FEW  ? expect_alone(at_most, mean)
                      : low < MANY ? expect_in_cells(&cells, mean)
                                   : count_below(numbers, mean);
    }
}

void bli_erlang_mix(struct bli_histogram *events, double rate) {
    struct erlang_numbers numbers;
    if (!read_numbers(&numbers, events))
        return;
    const double all = all_of(&numbers);
    double before = 0; /* values below the edge, to the nearest whole number */
    for (unsigned bin = 1; bin < BLI_HISTOGRAM_BINS - 1; bin += OCTAVE) {
        double expected[OCTAVE];
        expected_counts(&numbers, rate * bli_histogram_edge(bin), expected);
        for (unsigned i = 0; i < OCTAVE; i++) {
            const double now = fmin(fmax(round(expected[i]), before), all);
            events->count[bin + i - 1] = (uint64_t)(now - before);
            before = now;
        }
    }
    events->count[BLI_HISTOGRAM_BINS - 2] = (uint64_t)(all - before);
    events->count[BLI_HISTOGRAM_BINS - 1] = 0;
}
