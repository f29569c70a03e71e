/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares the means of two kinds of jobs block by block, with a jackknife standard error. */
#include "recover/strata.h"

#include <math.h>

enum {
    BASE_MIN = 30,    /* jobs of kind 0 in a block that are enough for their mean to represent it */
    COMPARED_MIN = 5, /* blocks */
};

/* What kind 1 sums up to, and what it would if its jobs were like those of kind 0 in the same block. */
struct stratum_totals {
    double is, would_be;
};

static struct stratum_totals totals_of(const struct bli_stratum *stratum) {
    if (stratum->count[0] < BASE_MIN || stratum->count[1] == 0)
        return (struct stratum_totals){0, 0};
    const double mean = stratum->sum[0] / (double)stratum->count[0];
    return (struct stratum_totals){stratum->sum[1], (double)stratum->count[1] * mean};
}

struct bli_contrast bli_strata_compare(const struct bli_stratum strata[BLI_STRATA]) {
    struct stratum_totals each[BLI_STRATA], all = {0, 0};
    unsigned blocks = 0;
    for (unsigned b = 0; b < BLI_STRATA; b++) {
        each[b] = totals_of(&strata[b]);
        all.is += each[b].is;
        all.would_be += each[b].would_be;
        blocks += each[b].would_be > 0;
    }
    struct bli_contrast contrast = {NAN, NAN};
    if (blocks < COMPARED_MIN || !(all.is > 0))
        return contrast;
    contrast.log_ratio = log(all.is / all.would_be);
    double sum = 0, squares = 0;
    for (unsigned b = 0; b < BLI_STRATA; b++) {
        if (!(each[b].would_be > 0))
            continue;
        const double without = log(fmax(all.is - each[b].is, 0) / (all.would_be - each[b].would_be));
        sum += without;
        squares += without * without;
    }
    const double n = blocks;
    contrast.error = sqrt(fmax(squares - sum * sum / n, 0) * (n - 1) / n);
    return contrast;
}
