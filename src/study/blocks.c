/* SPDX-License-Identifier: BSD-2-Clause */
/* Estimates how a number would vary from log to log.
 *
 * With Z_b for what block b has above the ratio of the whole log, the variance of the sum of all Z_b is about
 * the sum of the second differences (2 Z_b - Z_{b-1} - Z_{b+1})^2 / 6 if blocks are independent. If they
 * have a memory, autocorrelations exp(-t/m) with blocks of length k m, it is more by
 *     2 k / ((6 V - 8 C + 2 C exp(-k)) / 6),  V = 2 (k - 1 + exp(-k)),  C = (1 - exp(-k))^2.
 * An M/M/N queue near load 1 has m = 2.86 / (N (1 - load)^2) mean service times (Odoni and Roth 1983, as
 * theory/relaxation.c has it) and a mean wait W = 1 / (N (1 - load)), so that m = 2.86 N W^2. Servers that
 * are left alone are M/M/1 queues, with m = 2.86 (W + 1)^2 each; no queue has a longer memory than these.
 *
 * The logarithm of a time is closer to normal than the time. Another log differs from this one by sqrt 2 of
 * what each differs by from their common mean. */
#include "study/blocks.h"

#include "ballast/stats.h"

#include <math.h>

enum { SPANS = BLI_REPLAY_SPANS, BLOCKS = BLI_BLOCKS_IN_LOG, LENGTH = SPANS / BLOCKS };

static double block_sum(const double *value, int block) {
    double sum = 0;
    for (int i = 0; i < LENGTH; i++)
        sum += value[block * LENGTH + i];
    return sum;
}

/* ---- memory ---- */

/* The blocks around one whose means tell of its queues: fewer vary too much by themselves. */
enum { AROUND = 5 };

static double memory_of(double response, double jobs, double time, const struct bli_blocks_fleet *fleet) {
    static const double constant = 2.86;
    const double wait = fmax(response / jobs - fleet->service, 0) / fleet->service;
    const double slack = 1 - jobs * fleet->service / (fleet->servers * time);
    const double own = constant * (wait + 1) * (wait + 1), all = constant * fleet->servers * wait * wait;
    const double most = slack > 0 ? constant / (slack * slack) : INFINITY;
    return fmin(fleet->apart ? own : all, most) * fleet->service;
}

struct bli_blocks_memory bli_blocks_memory(const struct bli_span_sums *times,
                                           const struct bli_blocks_fleet *fleet) {
    struct bli_blocks_memory memory = {.queues = fleet->apart ? fleet->servers : 1};
    const double block = fleet->time / BLOCKS;
    for (int b = 0; b < BLOCKS; b++) {
        double response = 0, jobs = 0, blocks = 0;
        for (int at = b - AROUND; at <= b + AROUND; at++) {
            if (at < 0 || at >= BLOCKS)
                continue;
            response += block_sum(times->top, at);
            jobs += block_sum(times->bottom, at);
            blocks++;
        }
        memory.length[b] = jobs > 0 ? block / memory_of(response, jobs, blocks * block, fleet) : INFINITY;
    }
    return memory;
}

/* The ratio of the variance of blocks to that given by their second differences. */
static double falls_short(double length) {
    static const double least = 1e-3, most = 1e3;
    const double k = fmin(fmax(length, least), most), e = exp(-k), c = (1 - e) * (1 - e);
    return 2 * k / ((6 * 2 * (k - (1 - e)) - 8 * c + 2 * c * e) / 6);
}

/* ---- chance ---- */

/* What a block differs by from the line through its neighbours, squared, and scaled to the variance of a
 * block; the first and the last have that of the block next to them. */
static double squared_difference(const double *z, int block) {
    const int middle = block == 0 ? 1 : block == BLOCKS - 1 ? BLOCKS - 2 : block;
    const double difference = 2 * z[middle] - z[middle - 1] - z[middle + 1];
    return difference * difference / 6;
}

struct bli_confidence_range bli_blocks_range(const struct bli_span_sums *sums,
                                             const struct bli_blocks_memory *memory) {
    static const double too_short = 0.3, most_of_it = 0.25, freedom = 1.5;
    double top = 0, bottom = 0, z[BLOCKS], variance = 0, squares = 0, untold = 0;
    for (int b = 0; b < BLOCKS; b++) {
        top += block_sum(sums->top, b);
        bottom += block_sum(sums->bottom, b);
    }
    const double ratio = top / bottom;
    for (int b = 0; b < BLOCKS; b++)
        z[b] = block_sum(sums->top, b) - ratio * block_sum(sums->bottom, b);
    for (int b = 0; b < BLOCKS; b++) {
        const double part = squared_difference(z, b) * falls_short(memory->length[b]);
        variance += part;
        squares += part * part;
        untold += memory->length[b] < too_short ? part : 0;
    }
    if (!(variance > 0))
        return (struct bli_confidence_range){ratio, ratio};
    if (untold > most_of_it * variance)
        return (struct bli_confidence_range){NAN, NAN};
    /* Fewer degrees of freedom where few blocks have most of it (Satterthwaite 1946); half of those that
     * normal differences would have, as long queues make some of them large. */
    const double dof = fmax(freedom * variance * variance / squares, 1);
    const double half = bli_student_quantile(0.975, dof) * sqrt(2 * variance) / bottom / ratio;
    return (struct bli_confidence_range){ratio * exp(-half), ratio * exp(half)};
}

double bli_blocks_spells(const struct bli_span_sums *late, const struct bli_blocks_memory *memory) {
    double spells = 0;
    for (int b = 0; b < BLOCKS; b++) {
        const double top = block_sum(late->top, b), bottom = block_sum(late->bottom, b);
        spells += top > 0 ? fmin(memory->queues * memory->length[b] * top / bottom, top) : 0;
    }
    return spells;
}

/* ---- differences ---- */

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

double bli_blocks_half(const double value[BLI_REPLAY_SPANS], int first) {
    static const struct {
        int together;
        double enlarge;
    } ways[] = {{1, 1.06}, {2, 1.15}, {3, 1.28}};
    double half = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        half = fmax(half, half_by(value, first, ways[i].together, ways[i].enlarge));
    return half;
}
