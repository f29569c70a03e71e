/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean of one kind of jobs over that of another, compared block by block of a log: so that changes over
 * the time of the log are not mistaken for a difference between the kinds. */
#ifndef RECOVER_STRATA_H
#define RECOVER_STRATA_H

#include <stdint.h>

enum { BLI_STRATA = 40 }; /* blocks of a log, of equal numbers of jobs */

/* Sums over one block. */
struct bli_stratum {
    uint64_t count[2];
    double sum[2];
};

/* The logarithm of the mean of kind 1 over that of kind 0, and its standard error by the jackknife over
 * blocks. NaN when there are too few of either. */
struct bli_contrast {
    double log_ratio, error;
};
struct bli_contrast bli_strata_compare(const struct bli_stratum strata[BLI_STRATA]);

/* The block of job number i of so many. */
static inline unsigned bli_strata_of(uint64_t i, uint64_t jobs) {
    const uint64_t each = jobs / BLI_STRATA + 1;
    return (unsigned)(i / each);
}

#endif
