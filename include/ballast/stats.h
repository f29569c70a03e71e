/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of simulation output: moments, percentiles, warm-up, confidence intervals, stability.
 *
 * All of it is plain data that can be copied, stored and merged; nothing allocates. */
#ifndef BALLAST_STATS_H
#define BALLAST_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A log-linear histogram of non-negative values: 128 bins to an octave, so that a quantile read back lies
 * within 1/128 (0.8 %) of the exact one, and far closer where many values share its bin. Values below 2^-20
 * share bin 0 (they count as 0), values of 2^44 and more share the last bin. 64 kB, all zeros when empty;
 * adding costs one comparison, one shift, one subtraction and one increment. */
enum {
    BLI_HISTOGRAM_BITS = 7,
    BLI_HISTOGRAM_LOW = -20,
    BLI_HISTOGRAM_HIGH = 44,
    BLI_HISTOGRAM_BINS = ((BLI_HISTOGRAM_HIGH - BLI_HISTOGRAM_LOW) << BLI_HISTOGRAM_BITS) + 2
};

struct bli_histogram {
    uint64_t count[BLI_HISTOGRAM_BINS];
};

/* The bin of a value; NaN and negative values belong to bin 0. */
static inline unsigned bli_histogram_bin(double value) {
    if (!(value >= 0x1p-20)) /* 2^BLI_HISTOGRAM_LOW; a NaN fails every comparison */
        return 0;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t low = (uint64_t)(1023 + BLI_HISTOGRAM_LOW) << BLI_HISTOGRAM_BITS;
    const uint64_t bin = (bits >> (52 - BLI_HISTOGRAM_BITS)) - low + 1;
    return bin < BLI_HISTOGRAM_BINS ? (unsigned)bin : BLI_HISTOGRAM_BINS - 1;
}

static inline void bli_histogram_add(struct bli_histogram *h, double value) {
    h->count[bli_histogram_bin(value)]++;
}

/* The same value `count` times. */
static inline void bli_histogram_add_many(struct bli_histogram *h, double value, uint64_t count) {
    h->count[bli_histogram_bin(value)] += count;
}

/* Smallest value of a bin (0 for bin 0). */
double bli_histogram_edge(unsigned bin);
/* The total and the quantile walk over all bins, some microseconds. */
uint64_t bli_histogram_total(const struct bli_histogram *h);
/* The q-quantile, 0 <= q <= 1: the value of rank ceil(q total), interpolated inside its bin. It is 0 in bin 0
 * and 2^44 in the last bin; NaN when the histogram is empty. */
double bli_histogram_quantile(const struct bli_histogram *h, double q);
/* into += from; into -= from (every count of from must be contained in into). */
void bli_histogram_merge(struct bli_histogram *into, const struct bli_histogram *from);
void bli_histogram_subtract(struct bli_histogram *into, const struct bli_histogram *from);

/* An estimate with the half-width of its 95 % confidence interval. mean is NaN when unknown, half_width is
 * NaN when there are fewer than two observations. */
struct bli_estimate {
    double mean;
    double half_width;
};

/* Quantile of Student's t with dof >= 1 degrees of freedom, whole or not (dof = INFINITY: the normal), for
 * 1e-300 <= p < 1; accurate to 1e-12 relative. Some microseconds. */
double bli_student_quantile(double p, double dof);

/* Mean of n independent observations, one per replication, with its Student interval (n - 1 degrees of
 * freedom). Observations that are NaN are left out. */
struct bli_estimate bli_estimate_mean(const double *values, size_t n);

/* Ratio of means sum(a)/sum(b) over n independent pairs, with the Student interval of the delta method. Pairs
 * with a NaN are left out; when the b sum to 0 the ratio is unknown. Its bias is of order 1/n. */
struct bli_estimate bli_estimate_ratio(const double *a, const double *b, size_t n);

/* The half-width that an estimate from n observations has with another confidence than 95 %. */
double bli_estimate_half_width(struct bli_estimate estimate, size_t n, double confidence);

/* MSER-5 (White, Cobb and Spratt 2000): how many of the n leading observations to cut as warm-up, a multiple
 * of 5, at most n/2; O(n). values are equally spaced averages of the output, all finite. A cut near n/2 means
 * that the run may be too short for its transient. With n < 15 nothing can be decided and the cut is 0. */
size_t bli_warmup_mser5(const double *values, size_t n);

/* Were queues still on their way from how they began while they were measured? Judged from n replications by
 * two signs: drift, the relative growth of the total queue from the first quarter of what was measured to the
 * rest, is not 0 by its 99.8 % interval; or MSER-5 takes a larger part of the run for warm-up (transient)
 * than was cut (warmup), by its 95 % interval, and a larger part than it takes of runs that began settled, a
 * tenth on average. Of settled runs 1 in 300 is called settling; of runs whose mean is off by more than two
 * half-widths of its interval nearly all are (docs/statistics.md). With n < 2 nothing can be decided. */
bool bli_is_settling(struct bli_estimate drift, struct bli_estimate transient, double warmup, size_t n);

/* Is the system stable? Judged from how the total queue grows over a run that starts with empty queues. Its
 * mean over the second half of the run divided by that over the first is 1 when it is stationary, 3 when it
 * grows in proportion to time, and 1.83 on the border between stable and unstable, at critical load, where it
 * grows with the square root of time. With q1 ... q4 for the means over the quarters, its growth slows down
 * when q4 - q3 < 0.32 (q3 - q1), which is an equality at critical load.
 * - unstable: q3 + q4 > 1.83 (q1 + q2), and the growth does not slow down;
 * - stable: q3 + q4 < 1.83 (q1 + q2), and the growth slows down or there is none, not q4 > q3;
 * - undecided: all else, and whatever the replications do not establish. Longer runs or more of them decide.
 * The comparison with 1.83 must hold by the 95 % Student interval, over replications, of the difference of
 * its sides, q4 > q3 by the 99 % interval; slowing down is judged by the means alone. No quotient is formed,
 * and scale does not matter. At the very border a claim is wrong with probability 2.5 % at most each way,
 * less away from it. Queues that are 0 throughout are stable. */
enum bli_verdict { BLI_UNDECIDED, BLI_STABLE, BLI_UNSTABLE };
const char *bli_verdict_text(enum bli_verdict verdict); /* "stable", "unstable", "undecided" */

/* quarters[r][0..3]: time average of the total queue (jobs in service included) of replication r over each
 * quarter of its run, counted from the very start: the warm-up belongs to it. Replications with a NaN are
 * left out. With fewer than two there is no interval, and the answer is undecided. */
enum bli_verdict bli_verdict_of_drift(const double (*quarters)[4], size_t n);

#ifdef __cplusplus
}
#endif
#endif
