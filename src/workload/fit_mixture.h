/* SPDX-License-Identifier: BSD-2-Clause */
/* Mixtures of Erlang distributions: exponential, Erlang, hyper-exponential and hyper-Erlang distributions in
 * one form. */
#ifndef WORKLOAD_FIT_MIXTURE_H
#define WORKLOAD_FIT_MIXTURE_H

#include "workload/fit_sample.h"

enum { BLI_FIT_ORDER_MAX = 10000 };

struct bli_fit_mixture {
    unsigned branches; /* 1 to BLI_DIST_PHASES */
    unsigned order[BLI_DIST_PHASES];
    double weight[BLI_DIST_PHASES];
    double rate[BLI_DIST_PHASES]; /* of a phase: the mean of a branch is order / rate */
};

/* What the fits are made for. */
struct bli_fit_target {
    const struct bli_fit_cell *cell;
    size_t cells;
    double jobs; /* sum of the weights */
    double mean;
    const volatile int *stop;
};

/* Log-likelihood of all sizes: that of a cell is its probability over its width. */
double bli_fit_mixture_likelihood(const struct bli_fit_mixture *mixture, const struct bli_fit_target *target);
double bli_fit_mixture_cdf(const struct bli_fit_mixture *mixture, double x);

/* Improves weights and rates, the orders being given, until a round gains less than 1e-8 a job or so many
 * rounds are done; then scales the distribution to the mean of the target and returns the log-likelihood.
 * Branches that nothing belongs to are dropped. */
double bli_fit_mixture_improve(struct bli_fit_mixture *mixture, const struct bli_fit_target *target,
                               unsigned rounds);

/* As a distribution, its numbers rounded to what a reader can bear. */
enum bal_code bli_fit_mixture_dist(const struct bli_fit_mixture *mixture, struct bli_dist *dist,
                                   struct bal_error *err);

#endif
