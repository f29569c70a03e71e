/* SPDX-License-Identifier: BSD-2-Clause */
/* Special functions that the C library lacks or has only in a form that loses digits (or, like lgamma, is
 * not safe to call from several threads). */
#ifndef BALLAST_BASE_SPECIAL_H
#define BALLAST_BASE_SPECIAL_H

/* log P(N = k) for N Poisson of the given mean > 0; k >= 0 a whole number. excess is k - mean: the caller
 * often knows it more exactly than the difference of two large doubles would. The relative error of the
 * probability is about 1e-15 (1 + |log P|) for every k and mean, however large. */
double bli_poisson_log(double k, double mean, double excess);

/* Regularised lower incomplete gamma function P(k, x) of a whole number k >= 1, x >= 0: the probability that
 * the sum of k exponentials of mean 1 is at most x. O(sqrt(k)). */
double bli_gamma_below(double k, double x);

#endif
