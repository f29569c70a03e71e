/* SPDX-License-Identifier: BSD-2-Clause */
/* The log-linear histogram: bins that divide every octave [2^e, 2^(e+1)) into 2^BLI_HISTOGRAM_BITS equal
 * parts. The bits of an IEEE double, read as an integer, grow with its value, and their leading part is
 * exactly (exponent, first bits of the fraction): that is why finding a bin needs no logarithm. */
#include "ballast/stats.h"

#include <assert.h>
#include <math.h>

double bli_histogram_edge(unsigned bin) {
    assert(bin < BLI_HISTOGRAM_BINS);
    if (bin == 0)
        return 0;
    const unsigned parts = 1u << BLI_HISTOGRAM_BITS;
    const unsigned place = bin - 1;
    const int exponent = BLI_HISTOGRAM_LOW + (int)(place / parts);
    return ldexp(1 + (double)(place % parts) / parts, exponent);
}

uint64_t bli_histogram_total(const struct bli_histogram *h) {
    uint64_t total = 0;
    for (unsigned bin = 0; bin < BLI_HISTOGRAM_BINS; bin++)
        total += h->count[bin];
    return total;
}

double bli_histogram_quantile(const struct bli_histogram *h, double q) {
    assert(q >= 0 && q <= 1);
    const uint64_t total = bli_histogram_total(h);
    if (total == 0)
        return NAN;
    /* The exact quantile is the value of rank ceil(q total), at least 1. It lies in the first non-empty bin
     * up to whose end there are at least q total values. Rounding may carry q total past the total itself,
     * never past total + 1, hence fmin. */
    const double rank = fmin(q * (double)total, (double)total);
    uint64_t below = 0;
    unsigned bin = 0;
    while (h->count[bin] == 0 || (double)(below + h->count[bin]) < rank)
        below += h->count[bin++];
    if (bin == 0 || bin == BLI_HISTOGRAM_BINS - 1)
        return bli_histogram_edge(bin);
    const double low = bli_histogram_edge(bin);
    const double high = bli_histogram_edge(bin + 1);
    const double inside = (rank - (double)below) / (double)h->count[bin];
    return low + (high - low) * fmax(inside, 0);
}

void bli_histogram_merge(struct bli_histogram *into, const struct bli_histogram *from) {
    for (unsigned bin = 0; bin < BLI_HISTOGRAM_BINS; bin++)
        into->count[bin] += from->count[bin];
}

void bli_histogram_subtract(struct bli_histogram *into, const struct bli_histogram *from) {
    for (unsigned bin = 0; bin < BLI_HISTOGRAM_BINS; bin++) {
        assert(into->count[bin] >= from->count[bin]);
        into->count[bin] -= from->count[bin];
    }
}
