/* Other logs like this one: a local block bootstrap over the parts of a log.
 *
 * The log is cut into BAL_REPLAY_SPANS parts. For each run of a few of them another run of as many stands,
 * drawn uniformly from those that begin up to an eighth of the log before or after it: so the dependence
 * within a run is kept (Kunsch 1989), and so is the shape of the day (Paparoditis and Politis 2002).
 * Neighbours differ less than strangers would: deviations are enlarged by what that takes away where parts
 * are independent. */
#ifndef STUDY_BLOCKS_H
#define STUDY_BLOCKS_H

#include "ballast/random.h"
#include "ballast/replay.h"

enum { BAL_BLOCKS = 500 }; /* other logs that are drawn */

/* The sums over each part of the log of which a ratio is made. */
struct bal_span_sums {
    double top[BAL_REPLAY_SPANS], bottom[BAL_REPLAY_SPANS];
};

/* One other log: which part stands for each. */
struct bal_blocks {
    uint8_t stands_in[BAL_REPLAY_SPANS];
};

/* Draws BAL_BLOCKS of them; the same for the same seed. */
void bal_blocks_draw(uint64_t seed, struct bal_blocks *blocks);

/* The ratio of sums, as it is (blocks NULL) and in another log; in this the deviation is enlarged. */
double bal_blocks_ratio(const struct bal_span_sums *sums, const struct bal_blocks *blocks);

/* Where it lies in 95 % of other logs; blocks[0..BAL_BLOCKS). */
struct bal_range bal_blocks_range(const struct bal_span_sums *sums, const struct bal_blocks *blocks);

#endif
