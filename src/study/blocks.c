#include "study/blocks.h"

#include <assert.h>
#include <stdlib.h>

enum { SPANS = BAL_REPLAY_SPANS, LENGTH = SPANS / 24, REACH = SPANS / 8 };

/* 1 / sqrt(0.833): runs of 4 of 96 independent parts, drawn so, have 0.833 of their variance. */
#define ENLARGE 1.096

static_assert(SPANS == 96, "ENLARGE was worked out for 96 parts");

void bal_blocks_draw(uint64_t seed, struct bal_blocks *blocks) {
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_RESAMPLING);
    for (int b = 0; b < BAL_BLOCKS; b++)
        for (int at = 0; at < SPANS; at += LENGTH) {
            const int first = at > REACH ? at - REACH : 0;
            const int last = at + REACH < SPANS - LENGTH ? at + REACH : SPANS - LENGTH;
            const int from = first + (int)bal_rng_below(&rng, (uint32_t)(last - first + 1));
            for (int i = 0; i < LENGTH; i++)
                blocks[b].stands_in[at + i] = (uint8_t)(from + i);
        }
}

double bal_blocks_ratio(const struct bal_span_sums *sums, const struct bal_blocks *blocks) {
    double top = 0, bottom = 0, top_there = 0, bottom_there = 0;
    for (int i = 0; i < SPANS; i++) {
        top += sums->top[i];
        bottom += sums->bottom[i];
        if (!blocks)
            continue;
        top_there += sums->top[blocks->stands_in[i]];
        bottom_there += sums->bottom[blocks->stands_in[i]];
    }
    const double ratio = top / bottom;
    if (!blocks || !(bottom_there > 0))
        return ratio;
    return ratio + ENLARGE * (top_there / bottom_there - ratio);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bal_range bal_blocks_range(const struct bal_span_sums *sums, const struct bal_blocks *blocks) {
    double ratio[BAL_BLOCKS];
    for (int b = 0; b < BAL_BLOCKS; b++)
        ratio[b] = bal_blocks_ratio(sums, &blocks[b]);
    qsort(ratio, BAL_BLOCKS, sizeof *ratio, by_value);
    const int tail = (int)(0.025 * BAL_BLOCKS);
    return (struct bal_range){ratio[tail], ratio[BAL_BLOCKS - 1 - tail]};
}
