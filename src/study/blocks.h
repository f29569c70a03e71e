/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a result would vary over other logs like this one, estimated from the parts of the log.
 *
 * The log is cut into BLI_REPLAY_SPANS parts, and a few consecutive parts make a block. The difference
 * between a block and its neighbours is taken as chance. The second difference of neighbours knows neither
 * level nor slope (Gasser, Sroka and Jennen-Steinmetz 1986), so that the shape of the day stays as it is.
 *
 * Queues have a memory: one that is long in a block is long in the next, and the two then differ by less than
 * they vary. How long a queue remembers follows from how long it is, and from that by how much the
 * differences are too small. Where the memory of a queue is longer than the blocks can show, as in an
 * overload, there is no estimate. */
#ifndef STUDY_BLOCKS_H
#define STUDY_BLOCKS_H

#include "ballast/replay.h"

enum { BLI_BLOCKS_IN_LOG = BLI_REPLAY_SPANS / 4 };

/* The sums over each part of the log of which a ratio is made; none is negative. */
struct bli_span_sums {
    double top[BLI_REPLAY_SPANS], bottom[BLI_REPLAY_SPANS];
};

/* The length of a block in multiples of the memory of the queues; and the number of independent queues. */
struct bli_blocks_memory {
    double length[BLI_BLOCKS_IN_LOG];
    double queues;
};

/* A fleet that jobs are sent to. */
struct bli_blocks_fleet {
    double servers; /* all slots of all of them */
    double service; /* mean time of a job at one of them */
    double time;    /* how long the log is, in the same unit */
    bool apart;     /* every server is an independent queue: jobs are sent there without looking at it */
};

/* times: in each part of the log, the sum of response times over how many there are. */
struct bli_blocks_memory bli_blocks_memory(const struct bli_span_sums *times,
                                           const struct bli_blocks_fleet *fleet);

/* Where the ratio of the sums would lie in 95 % of other logs; never below 0. NaN: unknown. */
struct bli_confidence_range bli_blocks_range(const struct bli_span_sums *sums,
                                             const struct bli_blocks_memory *memory);

/* How many spells of long queues the ratio depends on, if that is the share of jobs which are late: with few
 * of them it varies by more than a log can show: with fewer than 15, ranges cover 87 % and less. */
enum { BLI_BLOCKS_SPELLS = 15 };
double bli_blocks_spells(const struct bli_span_sums *late, const struct bli_blocks_memory *memory);

/* The half-width of the 95 % interval of the sum of values, one for each part of the log, over the blocks
 * from `first` on: what a block differs by from its neighbours is chance, as above, but the values may have
 * any sign. Queues that remember for longer than a block make the blocks alike, so that two and three
 * together are looked at as well, and the widest counts. */
double bli_blocks_half(const double value[BLI_REPLAY_SPANS], int first);

#endif
