#include "study/blocks.h"

#include <math.h>
#include <stdlib.h>

enum { SPANS = BAL_REPLAY_SPANS, BLOCKS = BAL_BLOCKS_IN_LOG, LENGTH = SPANS / BLOCKS };

/* Student's t of 22 degrees of freedom, which so many second differences have, over the normal one. */
#define ENLARGE 1.06

void bal_blocks_draw(uint64_t seed, struct bal_blocks *blocks) {
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_RESAMPLING);
    for (int b = 0; b < BAL_BLOCKS_DRAWN; b++)
        for (int at = 0; at < BLOCKS; at++)
            blocks[b].sign[at] = bal_rng_below(&rng, 2) ? 1 : -1;
}

static double block_sum(const double *value, int block) {
    double sum = 0;
    for (int i = 0; i < LENGTH; i++)
        sum += value[block * LENGTH + i];
    return sum;
}

/* What a block differs by from the line through its neighbours, scaled to the variance of a block; the first
 * and the last have that of the block beside them. */
static double difference(const double *value, int block) {
    const int middle = block == 0 ? 1 : block == BLOCKS - 1 ? BLOCKS - 2 : block;
    return ENLARGE / sqrt(6) *
           (2 * block_sum(value, middle) - block_sum(value, middle - 1) - block_sum(value, middle + 1));
}

/* A ratio, and what its parts differ by. */
struct parts {
    double top, bottom;
    double top_difference[BLOCKS], bottom_difference[BLOCKS];
};

static void take_parts(const struct bal_span_sums *sums, struct parts *parts) {
    parts->top = parts->bottom = 0;
    for (int b = 0; b < BLOCKS; b++) {
        parts->top += block_sum(sums->top, b);
        parts->bottom += block_sum(sums->bottom, b);
        parts->top_difference[b] = difference(sums->top, b);
        parts->bottom_difference[b] = difference(sums->bottom, b);
    }
}

static double ratio_in(const struct parts *parts, const struct bal_blocks *blocks) {
    double top = parts->top, bottom = parts->bottom;
    for (int b = 0; b < BLOCKS; b++) {
        top += blocks->sign[b] * parts->top_difference[b];
        bottom += blocks->sign[b] * parts->bottom_difference[b];
    }
    return bottom > 0 ? fmax(top, 0) / bottom : parts->top / parts->bottom;
}

double bal_blocks_ratio(const struct bal_span_sums *sums, const struct bal_blocks *blocks) {
    struct parts parts;
    take_parts(sums, &parts);
    return blocks ? ratio_in(&parts, blocks) : parts.top / parts.bottom;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bal_range bal_blocks_range(const struct bal_span_sums *sums, const struct bal_blocks *blocks) {
    struct parts parts;
    take_parts(sums, &parts);
    double ratio[BAL_BLOCKS_DRAWN];
    for (int b = 0; b < BAL_BLOCKS_DRAWN; b++)
        ratio[b] = ratio_in(&parts, &blocks[b]);
    qsort(ratio, BAL_BLOCKS_DRAWN, sizeof *ratio, by_value);
    const int tail = (int)(0.025 * BAL_BLOCKS_DRAWN);
    return (struct bal_range){ratio[tail], ratio[BAL_BLOCKS_DRAWN - 1 - tail]};
}

/* By blocks of so many of ours; the normal one is enlarged to Student's t of as many second differences. */
static double half_by(const double *value, int first, int together, double enlarge) {
    const int length = together * LENGTH, blocks = (BLOCKS - first) / together;
    const double *from = value + (BLOCKS - blocks * together) * LENGTH;
    double sum[BLOCKS] = {0}, squares = 0;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < length; i++)
            sum[b] += from[b * length + i];
    for (int b = 1; b + 1 < blocks; b++)
        squares += pow(2 * sum[b] - sum[b - 1] - sum[b + 1], 2) / 6;
    const double normal = 1.959964; /* 95 % */
    return enlarge * normal * sqrt(squares * blocks / (blocks - 2));
}

double bal_blocks_half(const double value[BAL_REPLAY_SPANS], int first) {
    static const struct {
        int together;
        double enlarge;
    } ways[] = {{1, 1.06}, {2, 1.15}, {3, 1.28}};
    double half = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        half = fmax(half, half_by(value, first, ways[i].together, ways[i].enlarge));
    return half;
}
