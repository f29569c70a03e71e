/* SPDX-License-Identifier: BSD-2-Clause */
/* Many servers whose queue lengths are looked at once in a period: policy board, exponential sizes. */
#ifndef THEORY_BOARD_PERIOD_H
#define THEORY_BOARD_PERIOD_H

#include <stdbool.h>
#include <stddef.h>

enum { BOARD_LEVELS = 1024 };

enum board_pick { BOARD_CHOICES, BOARD_SHORTEST, BOARD_INTERPRET }; /* as the parameter of the policy */

struct board_period {
    double lambda, period; /* times in mean services */
    enum board_pick pick;
    unsigned d; /* of BOARD_CHOICES */
};

/* Over a period. */
struct board_answer {
    double jobs; /* mean, at a server */
    size_t levels;
    double tail[BOARD_LEVELS];  /* servers with at least i jobs */
    double found[BOARD_LEVELS]; /* jobs that find at least i others */
};

/* 0 < lambda < 1. False: the period is shorter than 0.001 or longer than 100, queues are too long, no fixed
 * point is found soon (which happens to BOARD_SHORTEST near full load), or there is no memory. Some
 * milliseconds, half a second at most. */
bool bli_board_period_solve(const struct board_period *board, struct board_answer *answer);

#endif
