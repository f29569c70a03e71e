/* SPDX-License-Identifier: BSD-2-Clause */
/* Fitting a workload to recorded jobs: a distribution to their sizes, a curve to their arrivals.
 *
 * Everything is summed up in one pass and bounded memory (60 kB) first, so that a fit takes about a second,
 * however long the log is. Every distribution that is fitted has the mean of the sizes, because the load
 * depends on it; its likelihood, its distance and its percentiles show how well it fits. */
#ifndef BALLAST_FIT_H
#define BALLAST_FIT_H

#include "ballast/arrivals.h"
#include "ballast/curve.h"
#include "ballast/dist.h"
#include "ballast/error.h"
#include "ballast/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sizes ---- */

/* A sample of sizes: how many fall into each of narrow cells (1/64 of an octave), and their sums. */
struct bli_fit_sample;
enum bal_code bli_fit_sample_new(struct bli_fit_sample **sample, struct bal_error *err);
void bli_fit_sample_free(struct bli_fit_sample *sample); /* NULL is allowed */
void bli_fit_sample_add(struct bli_fit_sample *sample, int64_t nanoseconds /* > 0 */);

/* The ways to fit a distribution, the simplest first. */
#define BLI_FIT_METHODS(X)                                                                                   \
    X(DET, "det", "always the same; taken when the sizes vary less than they were measured")                 \
    X(EXP, "exp", "exponential")                                                                             \
    X(ERLANG, "erlang", "erlang, by maximum likelihood")                                                     \
    X(LOGNORMAL, "lognormal", "lognormal, by maximum likelihood given the mean")                             \
    X(MOMENTS, "moments", "of the same variation: two exponential branches, or a chain of phases below 1")   \
    X(HYPER, "hyper", "up to 6 exponential branches, by expectation maximisation")                           \
    X(PHASE, "phase", "up to 6 branches, 16 phases in all, by expectation maximisation")

enum bli_fit_method {
#define X(name, text, meaning) BLI_FIT_##name,
    BLI_FIT_METHODS(X)
#undef X
        BLI_FIT_METHOD_COUNT
};
struct bli_fit_method_info {
    const char *name, *meaning;
};
extern const struct bli_fit_method_info bli_fit_method_table[BLI_FIT_METHOD_COUNT];

enum { BLI_FIT_QUANTILES = 4 };
extern const double bli_fit_quantile[BLI_FIT_QUANTILES]; /* 0.5, 0.9, 0.99, 0.999 */

struct bli_fit {
    bool made; /* false: this method cannot fit these sizes */
    struct bli_dist dist;
    unsigned parameters;   /* that were fitted */
    double log_likelihood; /* of all sizes, in seconds */
    double bic;            /* Schwarz's criterion: parameters log n - 2 log-likelihood; the least is best */
    double c2;             /* squared coefficient of variation */
    double distance;       /* of Kolmogorov and Smirnov: greatest difference of the distribution functions */
    double quantile[BLI_FIT_QUANTILES];
};

struct bli_fits {
    uint64_t jobs;
    double mean, c2; /* of the sizes, in seconds */
    double quantile[BLI_FIT_QUANTILES];
    double resolution;   /* to which they were measured, in seconds: the largest power of ten that divides all
                            but a thousandth of them. A size stands for all within half of it. */
    double distance_5pc; /* a distance that a distribution known beforehand exceeds in one of 20
                            samples: 1.358 / sqrt(n). Fitted distributions that are right are nearer. */
    struct bli_fit fit[BLI_FIT_METHOD_COUNT];
    enum bli_fit_method best; /* by bic */
};

/* Fits in every way. BAL_E_MODEL when the sample is empty. stop: when set and not 0, ends early with
 * BAL_E_STOPPED; may be NULL. */
enum bal_code bli_fit_laws(const struct bli_fit_sample *sample, const volatile int *stop,
                           struct bli_fits *fits, struct bal_error *err);

/* ---- arrivals ---- */

enum { BLI_FIT_BINS = BLI_CURVE_POINTS - 1, BLI_FIT_SCALES = 6 };

/* Is it a Poisson process, looked at in windows of some length? N_i being the arrivals in the i-th, the
 * dispersion is E[(N_(i+1) - N_i)^2] / (2 E[N]): 1 for a Poisson process, also for one whose rate varies
 * slowly (differences of neighbours know no trend), more for bursts, less for clockwork. */
struct bli_fit_scale {
    double window; /* seconds */
    uint64_t windows;
    double dispersion;
    double error; /* standard deviation of the dispersion if it is a Poisson process */
    double third; /* third factorial cumulant of the counts (0 for a Poisson process), within 32 windows */
};

enum bli_fit_flow { BLI_FIT_UNKNOWN, BLI_FIT_POISSON, BLI_FIT_BURSTY, BLI_FIT_REGULAR };

/* The ways to fit arrivals to a log that is burstier than a Poisson process, the simplest first. */
#define BLI_FIT_BURSTS(X)                                                                                    \
    X(POISSON, "poisson", "as if there were no bursts")                                                      \
    X(BATCH, "batch", "geometric batches")                                                                   \
    X(RENEWAL, "renewal", "independent gaps of two exponential branches")                                    \
    X(MMPP, "mmpp", "a rate that changes between two values")

enum bli_fit_burst_method {
#define X(name, text, meaning) BLI_FIT_AS_##name,
    BLI_FIT_BURSTS(X)
#undef X
        BLI_FIT_BURST_COUNT
};
struct bli_fit_burst_info {
    const char *name, *meaning;
};
extern const struct bli_fit_burst_info bli_fit_burst_table[BLI_FIT_BURST_COUNT];

struct bli_fit_burst {
    bool made;
    struct bli_arrivals arrivals;
    unsigned parameters;
    double excess;                     /* of the dispersion in long windows, above 1 */
    double dispersion[BLI_FIT_SCALES]; /* in the windows of the log */
    double misfit; /* squares of its relative errors there, in units of what they have by chance */
    double error;  /* root of the mean square of the relative errors */
};

struct bli_fit_arrivals {
    double span;       /* seconds */
    double resolution; /* of the times, in seconds */
    double rate;       /* jobs a second, over the whole span */
    unsigned bins;
    double width;                 /* of a bin, in seconds */
    uint64_t count[BLI_FIT_BINS]; /* arrivals in each */
    /* Through the middles of the bins, time 0 being the first arrival; its mean over the span is 1. Constant
     * when the counts vary no more than those of a Poisson process of constant rate. */
    struct bli_curve curve;
    unsigned scales;
    struct bli_fit_scale scale[BLI_FIT_SCALES];
    enum bli_fit_flow flow; /* judged by all scales: bursty or regular if one differs from 1 by 4 errors and
                             * by a tenth; unknown if there is none */
    /* If it is bursty: what is as bursty, and which of them is taken: that with the least misfit, 4 being
     * added for each parameter; no renewal process where there is a curve. Bins are then so wide that bursts
     * draw no curve. */
    struct bli_fit_burst burst[BLI_FIT_BURST_COUNT];
    enum bli_fit_burst_method as; /* poisson, unless it is bursty */
};

/* Reads the jobs of a finished trace: their sizes are added to the sample, the arrivals fitted. resolution:
 * of the times, in seconds; windows are longer. BAL_E_MODEL when all jobs arrive at the same moment. */
enum bal_code bli_fit_trace(const struct bli_trace *trace, double resolution, const volatile int *stop,
                            struct bli_fit_sample *sample, struct bli_fit_arrivals *arrivals,
                            struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
