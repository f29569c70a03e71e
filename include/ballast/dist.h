/* SPDX-License-Identifier: BSD-2-Clause */
/* Distributions of job sizes (and of set-up times and the like): positive random variables given by a short
 * text.
 *
 *   exp              exponential of mean 1                    exp(M)            of mean M
 *   det              always 1                                 det(M)            always M
 *   erlang(K)        sum of K exponentials, mean 1            erlang(K,M)       of mean M
 *   hyper(C2)        two exponential branches with balanced means (each brings half of the mean), squared
 *                    coefficient of variation C2 >= 1, mean 1                   hyper(C2,M) of mean M
 *   hyper(P1,R1,P2,R2,...)    branch i with probability Pi (they sum to 1), exponential of rate Ri
 *   phase(START;RATES;JUMPS)  phase-type. START: the probabilities r_1 .. r_K of the first phase (they sum to
 *                    1), separated by spaces. RATES: gamma_1 .. gamma_K. JUMPS: K rows r_i1 .. r_iK separated
 *                    by '/': where to on leaving phase i; a row sums to at most 1, the rest ends the job.
 *                    phase(1 0;2 2;0 1/0 0) is erlang(2).
 *   lognormal(C2)    squared coefficient of variation C2, mean 1                lognormal(C2,M) of mean M
 *   pareto(A)        tail (XM/x)^A for x >= XM, with XM such that the mean is 1 (A > 1)
 *   pareto(A,XM)     the same with XM given; for A <= 1 the mean is infinite
 *   bounded-pareto(A,L,H)     pareto(A,L) given that it is at most H
 *   uniform(A,B)     uniform on [A, B], 0 <= A < B
 *
 * Numbers are plain decimals. Means, scales and 1/rates lie between 1e-30 and 1e30, so that third moments
 * fit a double. Spaces are allowed around every number and sign. */
#ifndef BALLAST_DIST_H
#define BALLAST_DIST_H

#include "ballast/error.h"
#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BLI_DIST_PHASES = 16, /* most phases or branches of a distribution */
    BLI_DIST_TEXT = 8192, /* enough for the text of any distribution */
};

enum bli_dist_kind {
    BLI_DIST_EXP,
    BLI_DIST_DET,
    BLI_DIST_ERLANG,
    BLI_DIST_HYPER,
    BLI_DIST_PHASE,
    BLI_DIST_LOGNORMAL,
    BLI_DIST_PARETO,
    BLI_DIST_BOUNDED_PARETO,
    BLI_DIST_UNIFORM,
};

/* Made by bli_dist_parse, or below; read it freely, but leave changes to bli_dist_scale. A plain value: copy
 * it at will. */
struct bli_dist {
    enum bli_dist_kind kind;
    unsigned phases; /* hyper, phase: how many; erlang: K */
    double mean;     /* > 0; INFINITY for pareto with A <= 1 */

    /* erlang: a = mean of one phase. hyper: a = C2, or 0 if given branch by branch.
     * lognormal: a = C2, b and c = mean and standard deviation of the logarithm.
     * pareto: a = A, b = XM. bounded-pareto: a = A, b = L, c = H, d = A log(H/L). uniform: a = A, b = B. */
    double a, b, c, d;

    double start[BLI_DIST_PHASES];                 /* hyper, phase: probability of starting there */
    double rate[BLI_DIST_PHASES];                  /* hyper, phase: rate of leaving it */
    double jump[BLI_DIST_PHASES][BLI_DIST_PHASES]; /* phase: where to, given that it is left */
};

static inline struct bli_dist bli_dist_exponential(double mean) {
    return (struct bli_dist){.kind = BLI_DIST_EXP, .mean = mean};
}

static inline struct bli_dist bli_dist_constant(double mean) {
    return (struct bli_dist){.kind = BLI_DIST_DET, .mean = mean};
}

/* One row per kind, in the order of enum bli_dist_kind, for help texts and error messages. */
struct bli_dist_info {
    const char *name;    /* "hyper" */
    const char *usage;   /* "hyper(C2), hyper(C2,M) or hyper(P1,R1,P2,R2,...)" */
    const char *summary; /* one line */
};
extern const struct bli_dist_info bli_dist_table[];
extern const size_t bli_dist_count;

/* Reads a distribution. On failure *dist is unchanged and err names what is wrong and what would be right. */
enum bal_code bli_dist_parse(const char *text, struct bli_dist *dist, struct bal_error *err);

/* Writes the canonical text: parsing it gives the same distribution, bit for bit, and equal distributions
 * have equal texts. Always terminated if size > 0; returns the length that a large enough buffer would hold,
 * like snprintf. */
size_t bli_dist_print(const struct bli_dist *dist, char *text, size_t size);

/* One draw, > 0 except with a probability of about 2^-53. O(1); phase: a step for each phase passed. */
double bli_dist_sample(const struct bli_dist *dist, struct bal_rng *rng);

/* E[S^k], k = 1, 2, 3; INFINITY where it does not exist. */
double bli_dist_moment(const struct bli_dist *dist, int k);

/* P(S <= x), absolute error below 1e-12. Not for hot loops: phase needs some hundred operations times the
 * cube of its number of phases, erlang some sqrt(K). */
double bli_dist_cdf(const struct bli_dist *dist, double x);

/* 1 - E[exp(-s S)], s > 0: the probability that an exponential time of rate s ends before S. No digits are
 * lost for small s. NaN where there is no closed form: lognormal, pareto, bounded-pareto. */
double bli_dist_outlasts(const struct bli_dist *dist, double s);

/* The same distribution with all values multiplied by factor > 0. */
void bli_dist_scale(struct bli_dist *dist, double factor);

/* Is it exponential? It may be written in another form: erlang(1), hyper(1), a phase distribution with a
 * constant hazard. */
bool bli_dist_is_exponential(const struct bli_dist *dist);

#ifdef __cplusplus
}
#endif
#endif
