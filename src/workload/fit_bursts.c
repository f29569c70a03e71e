/* SPDX-License-Identifier: BSD-2-Clause */
/* The dispersion of counts in windows w of a log is 1 + excess(w). That of
 *   batches X is E[X(X-1)]/E[X] at every scale;
 *   a renewal process with two exponential branches of balanced means is (C2 - 1) psi(beta w), where
 *     beta = 2 rate / (C2 + 1);
 *   an mmpp of two states is a psi(r w), where r is the sum of the rates of change, a = 2 rate sigma2 / r,
 * and
 *     sigma2 the variance of its rate over the square of the mean (Heffes and Lucantoni 1986).
 * psi(x) = 1 - 2 g(x) + g(2x), g(x) = (1 - exp(-x)) / x, because differences of neighbouring windows are
 * looked at. What the dispersion leaves open of an mmpp, how long its bursts are, the third factorial
 * cumulant of the counts shows. */
#include "workload/fit_bursts.h"

#include <math.h>
#include <stdio.h>

const struct bli_fit_burst_info bli_fit_burst_table[BLI_FIT_BURST_COUNT] = {
#define X(name, text, meaning) {text, meaning},
    BLI_FIT_BURSTS(X)
#undef X
};

#define FLOOR 0.02 /* relative error of a dispersion beyond which no fit is asked to be better */
#define PENALTY 4  /* for a parameter: two that are not needed gain 8 with probability exp(-4) */

static double psi(double x) {
    if (x < 1e-3)
        return x * x * (1.0 / 3 - x / 4);
    return 1 + 2 * expm1(-x) / x - expm1(-2 * x) / (2 * x);
}

/* How much a scale counts: the inverse square of its relative error. With b jobs at once, m in a window, the
 * variance of the dispersion's estimate is (3 + b/m) / windows times its square; other bursts are about as
 * bad with b the dispersion, and neighbouring windows that depend on each other cost as much again. */
static double weight_of(const struct bli_fit_arrivals *seen, unsigned i) {
    const struct bli_fit_scale *scale = &seen->scale[i];
    const double per_job = scale->dispersion / (seen->rate * scale->window);
    return 1 / (FLOOR * FLOOR + 2 * (3 + per_job) / (double)scale->windows);
}

/* The excess in windows of that length as a part of that in long ones. */
static double excess_share(double rate, double window) {
    return isinf(rate) ? 1 : psi(rate * window);
}

static double relative_error(const struct bli_fit_scale *scale, double size, double rate) {
    return (1 + size * excess_share(rate, scale->window)) / scale->dispersion - 1;
}

/* How far an excess of that size and rate is from the log: the squares of the errors in units of what they
 * have by chance. */
static double misfit_of(const struct bli_fit_arrivals *seen, double size, double rate) {
    double sum = 0;
    for (unsigned i = 0; i < seen->scales; i++)
        sum += weight_of(seen, i) * pow(relative_error(&seen->scale[i], size, rate), 2);
    return sum;
}

/* The size with the least misfit at that rate. */
static double best_size(const struct bli_fit_arrivals *seen, double rate) {
    double with = 0, own = 0;
    for (unsigned i = 0; i < seen->scales; i++) {
        const double d = seen->scale[i].dispersion, part = excess_share(rate, seen->scale[i].window);
        with += weight_of(seen, i) * part * (d - 1) / (d * d);
        own += weight_of(seen, i) * part * part / (d * d);
    }
    return own > 0 ? fmax(with / own, 0) : 0;
}

static void store_fit(const struct bli_fit_arrivals *seen, const char *text, unsigned parameters, double size,
                      double rate, struct bli_fit_burst *fit) {
    *fit = (struct bli_fit_burst){
        .parameters = parameters, .excess = size, .misfit = misfit_of(seen, size, rate)};
    double squares = 0;
    for (unsigned i = 0; i < seen->scales; i++) {
        fit->dispersion[i] = 1 + size * excess_share(rate, seen->scale[i].window);
        squares += pow(relative_error(&seen->scale[i], size, rate), 2);
    }
    fit->error = sqrt(squares / seen->scales);
    fit->made = bli_arrivals_parse(text, &fit->arrivals, NULL) == BAL_OK;
}

static void fit_poisson(const struct bli_fit_arrivals *seen, struct bli_fit_burst *fit) {
    store_fit(seen, "poisson", 0, 0, INFINITY, fit);
}

/* Geometric batches, E[X(X-1)] / E[X] = 2M. */
static void fit_batch(const struct bli_fit_arrivals *seen, struct bli_fit_burst *fit) {
    char text[60];
    const double size = best_size(seen, INFINITY);
    snprintf(text, sizeof text, "batch(geometric(%.5g))", size / 2);
    store_fit(seen, text, 1, size, INFINITY, fit);
}

static double renewal_rate(const struct bli_fit_arrivals *seen, double excess) {
    return 2 * seen->rate / (excess + 2);
}

static double renewal_misfit(const struct bli_fit_arrivals *seen, double excess) {
    return misfit_of(seen, excess, renewal_rate(seen, excess));
}

static double mmpp_misfit(const struct bli_fit_arrivals *seen, double rate) {
    return misfit_of(seen, best_size(seen, rate), rate);
}

/* The place of the least value: the best of STEPS places evenly on a logarithmic scale, and golden sections
 * around it. */
static double minimize_misfit(const struct bli_fit_arrivals *seen, double low, double high,
                              double (*misfit)(const struct bli_fit_arrivals *, double)) {
    enum { STEPS = 100 };
    const double step = pow(high / low, 1.0 / STEPS), golden = 0.61803398874989485;
    double best = low;
    for (int i = 1; i <= STEPS; i++)
        if (misfit(seen, low * pow(step, i)) < misfit(seen, best))
            best = low * pow(step, i);
    double left = log(fmax(best / step, low)), right = log(fmin(best * step, high));
    for (int i = 0; i < 40; i++) {
        const double a = right - golden * (right - left), b = left + golden * (right - left);
        if (misfit(seen, exp(a)) < misfit(seen, exp(b)))
            right = b;
        else
            left = a;
    }
    return exp(0.5 * (left + right));
}

static void fit_renewal(const struct bli_fit_arrivals *seen, struct bli_fit_burst *fit) {
    const double excess = minimize_misfit(seen, 0.01, 1e6, renewal_misfit);
    char text[60];
    snprintf(text, sizeof text, "renewal(hyper(%.5g))", 1 + excess);
    store_fit(seen, text, 1, excess, renewal_rate(seen, excess), fit);
}

/* The scale whose windows are nearest to the time in which bursts come and go. */
static const struct bli_fit_scale *scale_of_bursts(const struct bli_fit_arrivals *seen, double rate) {
    const struct bli_fit_scale *nearest = &seen->scale[0];
    for (unsigned i = 1; i < seen->scales; i++)
        if (fabs(log(seen->scale[i].window * rate)) < fabs(log(nearest->window * rate)))
            nearest = &seen->scale[i];
    return nearest;
}

/* The third central moment of the rate over the cube of its mean: the third factorial cumulant of counts is
 * 6 rate^3 of it, times the integral of (w - y) y exp(-r y) from 0 to w. */
static double third_moment(const struct bli_fit_arrivals *seen, double r) {
    const struct bli_fit_scale *scale = scale_of_bursts(seen, r);
    const double w = scale->window, x = r * w, gone = exp(-x);
    const double integral =
        w * (1 - gone * (1 + x)) / (r * r) - (2 - gone * (x * x + 2 * x + 2)) / (r * r * r);
    return scale->third / (6 * seen->rate * seen->rate * seen->rate * integral);
}

/* Of two states with mean 1 and variance sigma2, the high one having probability p, the third central moment
 * over sigma^3 is (1 - 2p) / sqrt(p (1 - p)); and the low rate is not negative as long as
 * p <= 1 / (1 + sigma2). */
static void fit_mmpp(const struct bli_fit_arrivals *seen, struct bli_fit_burst *fit) {
    const double low = 0.1 / seen->scale[seen->scales - 1].window, high = 30 / seen->scale[0].window;
    const double r = minimize_misfit(seen, low, high, mmpp_misfit);
    const double size = best_size(seen, r), sigma2 = 0.5 * size * r / seen->rate;
    if (!(sigma2 > 0))
        return;
    const double skew = third_moment(seen, r) / (sigma2 * sqrt(sigma2));
    const double p = fmin(fmax(0.5 * (1 - skew / sqrt(4 + skew * skew)), 1e-4), 1 / (1 + sigma2));
    char text[120];
    snprintf(text, sizeof text, "mmpp(%.5g,%.5g;%.5g,%.5g)", 1 + sqrt(sigma2 * (1 - p) / p),
             1 / (r * (1 - p)), fmax(1 - sqrt(sigma2 * p / (1 - p)), 0), 1 / (r * p));
    store_fit(seen, text, 3, size, r, fit);
}

void bli_fit_bursts(struct bli_fit_arrivals *arrivals) {
    if (arrivals->flow != BLI_FIT_BURSTY)
        return;
    fit_poisson(arrivals, &arrivals->burst[BLI_FIT_AS_POISSON]);
    fit_batch(arrivals, &arrivals->burst[BLI_FIT_AS_BATCH]);
    fit_renewal(arrivals, &arrivals->burst[BLI_FIT_AS_RENEWAL]);
    fit_mmpp(arrivals, &arrivals->burst[BLI_FIT_AS_MMPP]);
}

void bli_fit_bursts_choose(struct bli_fit_arrivals *arrivals, bool curved) {
    double least_cost = HUGE_VAL;
    for (unsigned i = 0; i < BLI_FIT_BURST_COUNT; i++) {
        const struct bli_fit_burst *fit = &arrivals->burst[i];
        const double cost = fit->misfit + PENALTY * fit->parameters;
        if (!fit->made || (curved && i == BLI_FIT_AS_RENEWAL) || cost >= least_cost)
            continue;
        least_cost = cost;
        arrivals->as = (enum bli_fit_burst_method)i;
    }
}

double bli_fit_bursts_noise(const struct bli_fit_arrivals *arrivals) {
    const struct bli_fit_burst *nearest = &arrivals->burst[BLI_FIT_AS_POISSON];
    for (unsigned i = 1; i < BLI_FIT_BURST_COUNT; i++)
        if (arrivals->burst[i].made && arrivals->burst[i].misfit < nearest->misfit)
            nearest = &arrivals->burst[i];
    return 1 + nearest->excess;
}
