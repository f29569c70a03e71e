/* SPDX-License-Identifier: BSD-2-Clause */
/* The expansion of a steady state in 1/N: Gast and Van Houdt (2017), to 1/N^2 Gast, Bortolussi and Tribastone
 * (2019). A model is a list of events, each with a rate and a jump, as a fleet of N servers has them; all
 * else follows from these. */
#ifndef THEORY_EXPANSION_H
#define THEORY_EXPANSION_H

#include "theory/jet.h"

#include <stdbool.h>
#include <stddef.h>

enum { EXPANSION_LEVELS = 256 };

/* A constant plus a sum of coordinates of the state with factors. */
struct linear_form {
    double constant;
    unsigned count;
    unsigned coordinate[EXPANSION_LEVELS];
    double factor[EXPANSION_LEVELS];
};

static inline void linear_form_add(struct linear_form *form, size_t coordinate, double factor) {
    form->coordinate[form->count] = (unsigned)coordinate;
    form->factor[form->count++] = factor;
}

/* Happens N times the rate times in a unit of time, and moves the state by jump / N. */
struct expansion_event {
    struct linear_form jump;
    unsigned arguments;
    struct linear_form argument[JET_ARGUMENTS]; /* what the rate looks at */
};

struct expansion_model {
    const void *param;
    size_t n; /* coordinates of the state, at most EXPANSION_LEVELS */
    size_t events;
    /* Adds to an event that is all zero. */
    void (*event)(const void *param, size_t i, struct expansion_event *event);
    /* The rate of event i, a polynomial or a quotient of its arguments and of 1/N. */
    struct jet (*rate)(const void *param, size_t i, const struct jet_space *space,
                       const struct jet *argument);
};

/* E[x] = x + first / N + second / N^2 + .., and the covariance is about `spread` / N. */
struct expansion {
    size_t n;
    double *x, *first, *second, *spread;
};

/* From a state near the fixed point; order 1 or 2 (second is 0 with order 1). False: there is no memory, or
 * the equations have no solution; *expansion must be ended in any case. Time: order 1 about n^2.5, order 2
 * n^4. */
bool bli_expansion_init(struct expansion *expansion, const struct expansion_model *model, const double *near,
                        unsigned order);
void bli_expansion_fini(struct expansion *expansion);

#endif
