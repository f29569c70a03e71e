/* SPDX-License-Identifier: BSD-2-Clause */
/* The expansion of a steady state to 1/N where a fleet has, next to its servers, something that changes N
 * times as fast as these: what a dispatcher remembers. Allmeier and Gast, "Bias and refinement of multiscale
 * mean field models" (2022). */
#ifndef THEORY_EXPANSION_FAST_H
#define THEORY_EXPANSION_FAST_H

#include "theory/expansion.h"

/* Happens N times the rate times in a unit of time while the fast variable is `from`, which becomes `to`, and
 * moves the state by jump / N. */
struct fast_event {
    unsigned from, to;
    struct expansion_event slow;
};

struct fast_model {
    const void *param;
    size_t n;        /* coordinates of the state, at most EXPANSION_LEVELS */
    unsigned states; /* of the fast variable; 1: there is none */
    size_t events;
    /* Adds to an event without arguments whose linear forms are 0. */
    void (*event)(const void *param, size_t i, struct fast_event *event);
    /* As that of struct expansion_model. */
    struct jet (*rate)(const void *param, size_t i, const struct jet_space *space,
                       const struct jet *argument);
};

/* From a state near the fixed point x of the averaged equations, to x and E[X] = x + first / N + .., n
 * numbers each, at least 2; lag is the part of first that noise is not the cause of: B in expansion_fast.c.
 * False: there is no memory, or no solution. Time: n^2 events + n^3. */
bool bli_expansion_fast(const struct fast_model *model, double *x, double *first, double *lag);

/* The stationary distribution of the fast variable where the servers are x, states numbers. */
bool bli_expansion_fast_average(const struct fast_model *model, const double *x, double *probability);

#endif
