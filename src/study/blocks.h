/* Other logs like this one: a block bootstrap over the parts of a log.
 *
 * The log is cut into BAL_REPLAY_SPANS parts, and a few of them on end make a block, within which what
 * belongs together stays together. What a block differs by from its neighbours is taken for chance: in
 * another log it has the one sign or the other. So the shape of the day stays as it is, which exchanging
 * blocks would spoil: the second difference of neighbours knows neither level nor slope (Gasser, Sroka and
 * Jennen-Steinmetz 1986), and signs drawn at random make a bootstrap of it (Wu 1986). */
#ifndef STUDY_BLOCKS_H
#define STUDY_BLOCKS_H

#include "ballast/random.h"
#include "ballast/replay.h"

enum {
    BAL_BLOCKS_DRAWN = 500, /* other logs that are drawn */
    BAL_BLOCKS_IN_LOG = BAL_REPLAY_SPANS / 4,
};

/* The sums over each part of the log of which a ratio is made; none is negative. */
struct bal_span_sums {
    double top[BAL_REPLAY_SPANS], bottom[BAL_REPLAY_SPANS];
};

/* One other log: the sign, 1 or -1, of what each block differs by. */
struct bal_blocks {
    int8_t sign[BAL_BLOCKS_IN_LOG];
};

/* Draws BAL_BLOCKS_DRAWN of them; the same for the same seed. */
void bal_blocks_draw(uint64_t seed, struct bal_blocks *blocks);

/* The ratio of sums, as it is (blocks NULL) and in another log. */
double bal_blocks_ratio(const struct bal_span_sums *sums, const struct bal_blocks *blocks);

/* Where it lies in 95 % of other logs; blocks[0..BAL_BLOCKS_DRAWN). */
struct bal_range bal_blocks_range(const struct bal_span_sums *sums, const struct bal_blocks *blocks);

/* The half-width of the 95 % interval of the sum of values, one for each part of the log, over the blocks
 * from `first` on: what a block differs by from its neighbours is chance, as above, but the values may have
 * any sign. Queues that remember for longer than a block make the blocks alike, so that two and three
 * together are looked at as well, and the widest counts. */
double bal_blocks_half(const double value[BAL_REPLAY_SPANS], int first);

#endif
