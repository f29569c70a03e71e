/* SPDX-License-Identifier: BSD-2-Clause */
/* Laws of sizes in phases, and times that end when a Markov chain of phases does. */
#ifndef THEORY_PHASES_H
#define THEORY_PHASES_H

#include "ballast/dist.h"

#include <stdbool.h>
#include <stddef.h>

enum { PHASES_MAX = 64 };

/* Begins in phase j with probability start[j], leaves it at rate[j] for phase k with probability jump[j][k],
 * and ends otherwise. */
struct phases {
    unsigned count;
    bool rises; /* phases only lead to later ones */
    double start[PHASES_MAX], rate[PHASES_MAX], jump[PHASES_MAX][PHASES_MAX], leave[PHASES_MAX];
    unsigned first[PHASES_MAX], last[PHASES_MAX]; /* jumps go to first .. last - 1 */
};

/* exp, erlang, hyper and phase, scaled to mean 1; false: another law, or too many phases. */
bool bli_phases_of(const struct bli_dist *size, struct phases *phases);

/* Mixtures of Erlang laws that come close to another law of finite variance, scaled to mean 1: `finer` has
 * more of them. False: none is known for such a law. Up to some 10 ms. */
bool bli_phases_fit(const struct bli_dist *size, bool finer, struct phases *phases);

/* Sets what follows from count, start, rate and jump. */
void bli_phases_complete(struct phases *phases);

double bli_phases_moment(const struct phases *phases, int k); /* k >= 1 */

/* Solves x (a - T) = y, T the matrix of phases: the generator without what ends. */
void bli_phases_solve(const struct phases *phases, double a, const double *y, double *x);

/* The 50, 90, 99 and 99.9 % quantiles of the time until all services have ended. state[c count + j] is the
 * probability that one of them is in phase j and c < services more follow; it is changed. False, and NaN:
 * that would take too long, or there is no memory. */
bool bli_phases_quantiles(const struct phases *phases, size_t services, double *state, double time[4]);

#endif
