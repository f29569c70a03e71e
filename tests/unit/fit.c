/* SPDX-License-Identifier: BSD-2-Clause */
/* Fitting: laws from which sizes were drawn are found again, curves and flows of arrivals too.
 *
 * A fit by maximum likelihood within the right family is at least as likely as the law that the sizes were
 * drawn from, and twice the logarithm of the ratio is about chi-square with as many degrees of freedom as
 * there are parameters (Wilks 1938). Distribution functions of samples obey the inequality of Dvoretzky,
 * Kiefer and Wolfowitz. Every statistical assertion raises a false alarm with probability 1e-6 at most, but
 * for the choice between families by BIC: the larger family wins wrongly when twice its gain exceeds log(n)
 * for each of at least two parameters, which has probability exp(-log n) = 2e-5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/fit.h"

#include "../goodness.h"

#include <math.h>
#include <string.h>

enum { N = 50000 };

static double drawn[N]; /* in seconds, whole nanoseconds */

static struct bli_dist law_of(const char *text) {
    struct bli_dist dist;
    assert_int_equal(bli_dist_parse(text, &dist, NULL), BAL_OK);
    return dist;
}

/* N sizes of the law, rounded to multiples of unit nanoseconds. */
static struct bli_fit_sample *sample_of(const char *text, int64_t unit, uint64_t seed) {
    const struct bli_dist dist = law_of(text);
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    struct bli_fit_sample *sample;
    assert_int_equal(bli_fit_sample_new(&sample, NULL), BAL_OK);
    for (size_t i = 0; i < N; i++) {
        int64_t size = 0;
        while (size == 0)
            size = llrint(bli_dist_sample(&dist, &rng) * 1e9 / (double)unit) * unit;
        drawn[i] = (double)size / 1e9;
        bli_fit_sample_add(sample, size);
    }
    return sample;
}

static void fit_sample(struct bli_fit_sample *sample, struct bli_fits *fits) {
    struct bal_error err;
    if (bli_fit_laws(sample, NULL, fits, &err)) {
        print_error("%s\n", err.text);
        fail();
    }
    bli_fit_sample_free(sample);
}

static void assert_near(const char *what, double got, double want, double error) {
    if (!(fabs(got - want) <= error)) {
        print_error("%s: %.9g instead of %.9g +- %.3g\n", what, got, want, error);
        fail();
    }
}

/* The distribution functions of the fit, of the sample and of the law that it was drawn from. */
static void assert_distances(const struct bli_fit *fit, const char *truth) {
    const struct bli_dist dist = law_of(truth);
    assert_true(fit->distance <= distance_limit(N));
    for (size_t i = 0; i < N; i += 97)
        assert_near(truth, bli_dist_cdf(&fit->dist, drawn[i]), bli_dist_cdf(&dist, drawn[i]),
                    2 * distance_limit(N));
    /* the percentiles of the fit are those of its law */
    for (unsigned i = 0; i < BLI_FIT_QUANTILES; i++)
        assert_near(truth, bli_dist_cdf(&fit->dist, fit->quantile[i]), bli_fit_quantile[i], 1e-6);
}

static double hyper_density(const struct bli_dist *dist, double x) {
    double sum = 0;
    for (unsigned i = 0; i < dist->phases; i++)
        sum += dist->start[i] * dist->rate[i] * exp(-dist->rate[i] * x);
    return sum;
}

static double erlang_density(const struct bli_dist *dist, double x) {
    const double k = dist->phases, rate = k / dist->mean;
    return exp(k * log(rate) + (k - 1) * log(x) - rate * x - lgamma(k));
}

static double lognormal_density(const struct bli_dist *dist, double x) {
    const double z = (log(x) - dist->b) / dist->c;
    return exp(-0.5 * z * z) / (x * dist->c * sqrt(2 * acos(-1)));
}

/* slack: what the cells of the sample cost, 1/64 of an octave wide: of order N (shape / 64)^2 / 24. */
static void assert_likelihood(const struct bli_fit *fit, const char *truth,
                              double (*density)(const struct bli_dist *, double), double slack) {
    const struct bli_dist dist = law_of(truth);
    double likelihood = 0;
    for (size_t i = 0; i < N; i++)
        likelihood += log(density(&dist, drawn[i]));
    const double gain = fit->log_likelihood - likelihood;
    if (!(gain >= -slack && 2 * gain <= chi_square_limit(fit->parameters) + 2 * slack)) {
        print_error("%s: the fit gains %g\n", truth, gain);
        fail();
    }
}

/* What holds of all fits. */
static void assert_sound(const struct bli_fits *fits) {
    assert_int_equal(fits->jobs, N);
    for (unsigned i = 0; i < BLI_FIT_METHOD_COUNT; i++) {
        const struct bli_fit *fit = &fits->fit[i];
        if (!fit->made)
            continue;
        assert_near("mean", fit->dist.mean, fits->mean, 3e-6 * fits->mean);
        assert_true(fit->bic >= fits->fit[fits->best].bic);
        char text[BLI_DIST_TEXT];
        struct bli_dist again;
        bli_dist_print(&fit->dist, text, sizeof text);
        assert_int_equal(bli_dist_parse(text, &again, NULL), BAL_OK);
    }
    if (fits->fit[BLI_FIT_MOMENTS].made)
        assert_near("variation", fits->fit[BLI_FIT_MOMENTS].c2, fits->c2, 1e-5 * (1 + fits->c2));
}

static void exponential(void **state) {
    (void)state;
    struct bli_fits fits;
    fit_sample(sample_of("exp(0.25)", 1, 1), &fits);
    assert_sound(&fits);
    assert_int_equal(fits.best, BLI_FIT_EXP);
    assert_near("mean", fits.mean, 0.25, NORMAL_LIMIT * 0.25 / sqrt(N));
    assert_distances(&fits.fit[BLI_FIT_EXP], "exp(0.25)");
    assert_near("resolution", fits.resolution, 1e-9, 1e-20);
}

static void erlang(void **state) {
    (void)state;
    struct bli_fits fits;
    fit_sample(sample_of("erlang(5,0.02385)", 1, 2), &fits);
    assert_sound(&fits);
    assert_int_equal(fits.best, BLI_FIT_ERLANG);
    /* the order as a real number has a standard deviation of about 5 sqrt(2/N) = 0.03 */
    assert_int_equal(fits.fit[BLI_FIT_ERLANG].dist.phases, 5);
    assert_distances(&fits.fit[BLI_FIT_ERLANG], "erlang(5,0.02385)");
    assert_likelihood(&fits.fit[BLI_FIT_ERLANG], "erlang(5,0.02385)", erlang_density, 1);
    assert_false(fits.fit[BLI_FIT_HYPER].made);
}

static void erlang_of_high_order(void **state) {
    (void)state;
    struct bli_fits fits;
    fit_sample(sample_of("erlang(200,3)", 1, 3), &fits);
    assert_sound(&fits);
    assert_true(fits.best == BLI_FIT_ERLANG || fits.best == BLI_FIT_LOGNORMAL); /* of nearly the same form */
    assert_near("order", fits.fit[BLI_FIT_ERLANG].dist.phases, 200, NORMAL_LIMIT * 200 * sqrt(2.0 / N) + 0.5);
    assert_false(fits.fit[BLI_FIT_MOMENTS].made);
}

static void two_branches(void **state) {
    (void)state;
    static const char truth[] = "hyper(0.9,20,0.1,0.5)";
    struct bli_fits fits;
    fit_sample(sample_of(truth, 1, 4), &fits);
    assert_sound(&fits);
    assert_int_equal(fits.best, BLI_FIT_HYPER);
    const struct bli_fit *fit = &fits.fit[BLI_FIT_HYPER];
    assert_int_equal(fit->parameters, 3);
    assert_distances(fit, truth);
    assert_likelihood(fit, truth, hyper_density, 1);
    /* Branches this far apart are told apart job by job but for a tenth: the errors are hardly larger than
     * those of the counts and means of the two. Twice that is allowed. */
    const unsigned fast = fit->dist.rate[0] > fit->dist.rate[1] ? 0 : 1;
    assert_near("weight", fit->dist.start[fast], 0.9, 2 * NORMAL_LIMIT * sqrt(0.9 * 0.1 / N));
    assert_near("fast", fit->dist.rate[fast], 20, 2 * NORMAL_LIMIT * 20 / sqrt(0.9 * N));
    assert_near("slow", fit->dist.rate[1 - fast], 0.5, 2 * NORMAL_LIMIT * 0.5 / sqrt(0.1 * N));
}

static void three_branches(void **state) {
    (void)state;
    static const char truth[] = "hyper(0.6,100,0.35,5,0.05,0.2)";
    struct bli_fits fits;
    fit_sample(sample_of(truth, 1, 5), &fits);
    assert_sound(&fits);
    assert_int_equal(fits.best, BLI_FIT_HYPER);
    assert_int_equal(fits.fit[BLI_FIT_HYPER].dist.phases, 3);
    assert_distances(&fits.fit[BLI_FIT_HYPER], truth);
    assert_likelihood(&fits.fit[BLI_FIT_HYPER], truth, hyper_density, 1);
}

static void lognormal(void **state) {
    (void)state;
    static const char truth[] = "lognormal(3,0.4)";
    struct bli_fits fits;
    fit_sample(sample_of(truth, 1, 6), &fits);
    assert_sound(&fits);
    assert_int_equal(fits.best, BLI_FIT_LOGNORMAL);
    const struct bli_fit *fit = &fits.fit[BLI_FIT_LOGNORMAL];
    assert_distances(fit, truth);
    /* the mean of the sample is not the most likely one: it is off by 0.4 sqrt(3/N) with the efficient one
     * off by less, which costs about as much as one parameter more */
    assert_likelihood(fit, truth, lognormal_density, chi_square_limit(1) / 2);
    const double log_variance = log1p(3);
    assert_near("variance of the logarithm", log1p(fit->dist.a), log_variance,
                2 * NORMAL_LIMIT * log_variance * sqrt(2.0 / N));
}

/* Two kinds of jobs, both more regular than exponential ones. */
static void branches_of_phases(void **state) {
    (void)state;
    const char *truth = "phase(0.7 0 0 0 0.3 0 0 0 0 0 0 0;400 400 400 400 8 8 8 8 8 8 8 8;"
                        "0 1 0 0 0 0 0 0 0 0 0 0/0 0 1 0 0 0 0 0 0 0 0 0/0 0 0 1 0 0 0 0 0 0 0 0/"
                        "0 0 0 0 0 0 0 0 0 0 0 0/0 0 0 0 0 1 0 0 0 0 0 0/0 0 0 0 0 0 1 0 0 0 0 0/"
                        "0 0 0 0 0 0 0 1 0 0 0 0/0 0 0 0 0 0 0 0 1 0 0 0/0 0 0 0 0 0 0 0 0 1 0 0/"
                        "0 0 0 0 0 0 0 0 0 0 1 0/0 0 0 0 0 0 0 0 0 0 0 1/0 0 0 0 0 0 0 0 0 0 0 0)";
    struct bli_fits fits;
    fit_sample(sample_of(truth, 1, 7), &fits);
    assert_sound(&fits);
    assert_int_equal(fits.best, BLI_FIT_PHASE);
    assert_int_equal(fits.fit[BLI_FIT_PHASE].dist.phases, 12);
    assert_distances(&fits.fit[BLI_FIT_PHASE], truth);
}

/* Less variable than exponential: the chain of phases has mean and variation of the sample. */
static void moments_below_one(void **state) {
    (void)state;
    static const char *const truths[] = {"uniform(0.5,1.5)", "uniform(0.1,3)", "erlang(2)", "lognormal(0.7)"};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        struct bli_fits fits;
        fit_sample(sample_of(truths[i], 1, 8 + i), &fits);
        assert_sound(&fits);
        assert_true(fits.fit[BLI_FIT_MOMENTS].made);
        const struct bli_dist truth = law_of(truths[i]);
        for (unsigned k = 0; k < BLI_FIT_QUANTILES; k++) /* within a cell, sizes are taken as spread evenly */
            assert_near("percentile", bli_dist_cdf(&truth, fits.quantile[k]), bli_fit_quantile[k],
                        distance_limit(N) + 1e-3);
    }
}

/* Whole milliseconds of a mean of 2.4: the law is found all the same, not one that piles up on the multiples.
 * The sizes that are rounded to 0 are missing, so the sample is drawn from a law without them. */
static void coarse_sizes(void **state) {
    (void)state;
    static const char truth[] = "erlang(6,0.0024)";
    struct bli_fits fits;
    fit_sample(sample_of(truth, 1000000, 12), &fits);
    assert_sound(&fits);
    assert_near("resolution", fits.resolution, 1e-3, 1e-15);
    /* what is rounded varies by 1/12 of a squared unit more: C2 = 1/6 + 1/(12 2.4^2) = 0.181 */
    assert_true(fits.fit[BLI_FIT_ERLANG].dist.phases == 5 || fits.fit[BLI_FIT_ERLANG].dist.phases == 6);
    assert_true(fits.fit[BLI_FIT_ERLANG].distance < 0.02);
    assert_near("median", fits.quantile[0], 0.0024 * 0.945, 0.0001);
    assert_true(fits.fit[BLI_FIT_PHASE].distance < 0.02);
}

static void equal_sizes(void **state) {
    (void)state;
    struct bli_fits fits;
    fit_sample(sample_of("det(0.02)", 1, 1), &fits);
    assert_int_equal(fits.best, BLI_FIT_DET);
    assert_int_equal(fits.fit[BLI_FIT_DET].dist.kind, BLI_DIST_DET);
    assert_near("mean", fits.fit[BLI_FIT_DET].dist.mean, 0.02, 1e-12);
    assert_false(fits.fit[BLI_FIT_EXP].made);
}

static void single_sizes(void **state) {
    (void)state;
    static const int64_t sizes[] = {1, 63, 64, 65, 1000000007, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bli_fit_sample *sample;
        struct bli_fits fits;
        assert_int_equal(bli_fit_sample_new(&sample, NULL), BAL_OK);
        bli_fit_sample_add(sample, sizes[i]);
        assert_int_equal(bli_fit_laws(sample, NULL, &fits, NULL), BAL_OK);
        assert_int_equal(fits.best, BLI_FIT_DET);
        assert_near("median", fits.quantile[0], (double)sizes[i] / 1e9, (double)sizes[i] / 1e9 / 32);
        bli_fit_sample_add(sample, 1 + sizes[i] / 1000); /* and two that are far apart */
        assert_int_equal(bli_fit_laws(sample, NULL, &fits, NULL), BAL_OK);
        bli_fit_sample_free(sample);
    }
}

static void no_sizes(void **state) {
    (void)state;
    struct bli_fit_sample *sample;
    struct bli_fits fits;
    struct bal_error err;
    assert_int_equal(bli_fit_sample_new(&sample, NULL), BAL_OK);
    assert_int_equal(bli_fit_laws(sample, NULL, &fits, &err), BAL_E_MODEL);
    const int stop = 1;
    bli_fit_sample_add(sample, 11);
    bli_fit_sample_add(sample, 37);
    assert_int_equal(bli_fit_laws(sample, &stop, &fits, &err), BAL_E_STOPPED);
    bli_fit_sample_free(sample);
}

/* ---- arrivals ---- */

/* Clusters of so many jobs, a microsecond apart, that arrive as a Poisson process thinned to the curve; or,
 * with a rate below 0, like clockwork. */
static struct bli_trace *trace_of(const char *text, double rate, double span, unsigned cluster,
                                  uint64_t seed) {
    struct bli_curve curve;
    struct bli_trace *trace;
    struct bal_rng rng;
    assert_int_equal(bli_curve_parse(text, &curve, NULL), BAL_OK);
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    const double most = bli_curve_max(&curve);
    double time = 0;
    while (time < span) {
        if (rate < 0 || bal_rng_uniform(&rng) * most < bli_curve_at(&curve, time))
            for (unsigned i = 0; i < cluster; i++)
                assert_int_equal(
                    bli_trace_add(trace,
                                  &(struct bli_trace_job){.time = (int64_t)(time * 1e9) + 1000 * i,
                                                          .size = 1 + llrint(1e8 * bal_rng_exp(&rng))},
                                  NULL),
                    BAL_OK);
        time += rate < 0 ? -1 / rate : bal_rng_exp(&rng) * cluster / (rate * most);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static void fit_trace(struct bli_trace *trace, struct bli_fit_arrivals *arrivals) {
    struct bli_fit_sample *sample;
    struct bli_fits fits;
    assert_int_equal(bli_fit_sample_new(&sample, NULL), BAL_OK);
    assert_int_equal(bli_fit_trace(trace, 1e-3, NULL, sample, arrivals, NULL), BAL_OK);
    assert_int_equal(bli_fit_laws(sample, NULL, &fits, NULL), BAL_OK);
    const struct bli_trace_info *info = bli_trace_info(trace);
    assert_int_equal(fits.jobs, info->jobs);
    assert_near("mean", fits.mean, info->size_mean, 1e-9 * info->size_mean);
    uint64_t total = 0;
    for (unsigned i = 0; i < arrivals->bins; i++)
        total += arrivals->count[i];
    assert_int_equal(total, info->jobs);
    bli_fit_sample_free(sample);
    bli_trace_free(trace);
}

/* So many jobs of given arrivals at a rate that follows a curve. */
static struct bli_trace *drawn_trace(const char *text, const char *curve_text, double rate, unsigned jobs,
                                     uint64_t seed) {
    struct bli_arrivals arrivals;
    struct bli_curve curve;
    struct bli_trace *trace;
    struct bal_rng rng, thinning;
    struct bli_arrival_source source;
    assert_int_equal(bli_arrivals_parse(text, &arrivals, NULL), BAL_OK);
    assert_int_equal(bli_curve_parse(curve_text, &curve, NULL), BAL_OK);
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    bal_rng_init(&thinning, seed, 1, BAL_STREAM_TEST);
    const double most = bli_curve_max(&curve);
    bli_arrival_source_init(&source, &arrivals, 1 / (rate * most), &rng);
    double time = 0;
    bool real = true;
    for (unsigned i = 0; i < jobs;) {
        time = bli_arrival_source_next(&source, time);
        if (source.first)
            real = bal_rng_uniform(&thinning) * most < bli_curve_at(&curve, time);
        if (!real)
            continue;
        const struct bli_trace_job job = {.time = (int64_t)(time * 1e9), .size = 100000000};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
        i++;
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

/* The integral of the curve over the span, exact for a table. */
static double curve_mean(const struct bli_fit_arrivals *arrivals) {
    const struct bli_curve *curve = &arrivals->curve;
    const unsigned last = curve->points - 1;
    double area =
        curve->factor[0] * curve->time[0] + curve->factor[last] * (arrivals->span - curve->time[last]);
    for (unsigned i = 0; i < last; i++)
        area += 0.5 * (curve->factor[i] + curve->factor[i + 1]) * (curve->time[i + 1] - curve->time[i]);
    return area / arrivals->span;
}

static void constant_rate(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    fit_trace(trace_of("constant", 20, 5000, 1, 21), &arrivals);
    assert_int_equal(arrivals.curve.kind, BLI_CURVE_CONSTANT);
    assert_int_equal(arrivals.flow, BLI_FIT_POISSON);
    assert_near("rate", arrivals.rate, 20, NORMAL_LIMIT * sqrt(20.0 / 5000));
    assert_true(arrivals.scales >= 3);
    for (unsigned i = 0; i < arrivals.scales; i++) /* about normal: a sum over many windows */
        assert_near("dispersion", arrivals.scale[i].dispersion, 1, NORMAL_LIMIT * arrivals.scale[i].error);
}

static void curved_rate(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    fit_trace(trace_of("sine(0.8,5000)", 20, 5000, 1, 22), &arrivals);
    assert_int_equal(arrivals.curve.kind, BLI_CURVE_TABLE);
    assert_int_equal(arrivals.flow, BLI_FIT_POISSON); /* the trend is none of a burst */
    assert_near("area", curve_mean(&arrivals), 1, 1e-6);
    struct bli_curve truth;
    assert_int_equal(bli_curve_parse("sine(0.8,5000)", &truth, NULL), BAL_OK);
    assert_true(arrivals.bins > 100 && arrivals.curve.points == arrivals.bins + 1);
    assert_near("end", bli_curve_end(&arrivals.curve), arrivals.span, 0.001); /* as long as the log */
    assert_true(bli_curve_end(&arrivals.curve) >= arrivals.span);
    const double bin = arrivals.rate * arrivals.width; /* jobs; standard deviation at most sqrt(1.8 bin) */
    for (unsigned i = 0; i < arrivals.bins; i++)
        assert_near("curve", arrivals.curve.factor[i], bli_curve_at(&truth, arrivals.curve.time[i]),
                    1.2 * NORMAL_LIMIT * sqrt(1.8 / bin)); /* 1.2: so many points, and the bend within a bin
                                                            */
    char text[BLI_CURVE_TEXT];
    assert_true(bli_curve_print(&arrivals.curve, text, sizeof text) < sizeof text);
    assert_int_equal(bli_curve_parse(text, &truth, NULL), BAL_OK);
}

static void bursts_and_clockwork(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    fit_trace(trace_of("constant", 20, 2000, 5, 23), &arrivals);
    assert_int_equal(arrivals.flow, BLI_FIT_BURSTY);
    for (unsigned i = 0; i < arrivals.scales; i++) /* clusters of 5: the dispersion and its error are 5-fold
                                                    */
        assert_near("dispersion", arrivals.scale[i].dispersion, 5,
                    NORMAL_LIMIT * 5 * sqrt(5) * arrivals.scale[i].error);
    fit_trace(trace_of("constant", -20, 2000, 1, 24), &arrivals);
    assert_int_equal(arrivals.flow, BLI_FIT_REGULAR);
    assert_int_equal(arrivals.curve.kind, BLI_CURVE_CONSTANT);
}

static void short_logs(void **state) {
    (void)state;
    struct bli_trace *trace;
    struct bli_fit_sample *sample;
    struct bli_fit_arrivals arrivals;
    struct bal_error err;
    for (int jobs = 1; jobs <= 3; jobs++) {
        assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
        assert_int_equal(bli_fit_sample_new(&sample, NULL), BAL_OK);
        for (int i = 0; i < jobs; i++)
            bli_trace_add(trace, &(struct bli_trace_job){.time = 1000 * (int64_t)i * i, .size = 7 + i}, NULL);
        assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
        const enum bal_code code = bli_fit_trace(trace, 1e-9, NULL, sample, &arrivals, &err);
        assert_int_equal(code, jobs == 1 ? BAL_E_MODEL : BAL_OK);
        if (!code)
            assert_int_equal(arrivals.curve.kind, BLI_CURVE_CONSTANT);
        bli_fit_sample_free(sample);
        bli_trace_free(trace);
    }
}

/* ---- bursts ---- */

/* Fits a log of known arrivals, and one of those that were fitted: is that as bursty at every scale? */
static void assert_as_bursty(const char *truth, enum bli_fit_burst_method method, double within,
                             struct bli_fit_arrivals *arrivals) {
    struct bli_fit_arrivals again;
    char text[BLI_ARRIVALS_TEXT];
    fit_trace(drawn_trace(truth, "constant", 20, 200000, 31), arrivals);
    assert_int_equal(arrivals->flow, BLI_FIT_BURSTY);
    bli_arrivals_print(&arrivals->burst[arrivals->as].arrivals, text, sizeof text);
    if (arrivals->as != method)
        fail_msg("%s: %s", truth, text);
    assert_int_equal(arrivals->curve.kind, BLI_CURVE_CONSTANT); /* bursts are no curve */
    fit_trace(drawn_trace(text, "constant", 20, 200000, 32), &again);
    assert_int_equal(again.scales, arrivals->scales);
    assert_true(again.scales >= 3);
    for (unsigned i = 0; i < again.scales; i++) {
        assert_near(text, arrivals->burst[arrivals->as].dispersion[i] / arrivals->scale[i].dispersion, 1,
                    within);
        assert_near(text, again.scale[i].dispersion / arrivals->scale[i].dispersion, 1, within);
    }
}

/* 10000 s with 1400 bursts. In windows of 0.1 to 10 s the dispersion has relative errors of some 5 % at most
 * (1000 windows: sqrt(3/1000)), for both logs together 8 %; 40 % is 5 of them. */
static void bursts_of_a_rate_that_changes(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    assert_as_bursty("mmpp(4,2;0.5,12)", BLI_FIT_AS_MMPP, 0.4, &arrivals);
    const struct bli_arrivals *fit = &arrivals.burst[BLI_FIT_AS_MMPP].arrivals;
    /* mean 1: rates 4 and 0.5; 1400 bursts */
    const double mean =
        (fit->rate[0] * fit->stay[0] + fit->rate[1] * fit->stay[1]) / (fit->stay[0] + fit->stay[1]);
    assert_near("mean", mean, 1, 1e-3);
    assert_near("high rate", fit->rate[0], 4, 0.8);
    assert_near("low rate", fit->rate[1], 0.5, 0.15);
    assert_near("bursts", fit->stay[0], 2, 0.5);
    assert_near("between", fit->stay[1], 12, 4);
}

static void bursts_of_batches(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    assert_as_bursty("batch(geometric(3))", BLI_FIT_AS_BATCH, 0.4, &arrivals);
    /* E[X^2] / E[X] = 7 in every window; the shortest ones tell it best: 100000 windows of 2 jobs */
    assert_near("mean", arrivals.burst[BLI_FIT_AS_BATCH].arrivals.batch.mean, 3, 0.15);
}

static void bursts_of_gaps(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    assert_as_bursty("renewal(hyper(9))", BLI_FIT_AS_RENEWAL, 0.4, &arrivals);
    assert_near("c2", bli_dist_moment(&arrivals.burst[BLI_FIT_AS_RENEWAL].arrivals.gap, 2) - 1, 9, 1);
}

/* Bursts on a curve: both are found, neither for the other. */
static void bursts_on_a_curve(void **state) {
    (void)state;
    struct bli_fit_arrivals arrivals;
    fit_trace(drawn_trace("mmpp(4,2;0.5,12)", "sine(0.8,10000)", 20, 200000, 33), &arrivals);
    assert_int_equal(arrivals.as, BLI_FIT_AS_MMPP);
    assert_int_equal(arrivals.curve.kind, BLI_CURVE_TABLE);
    assert_true(arrivals.curve.points < 60); /* of 256 for a Poisson process */
    struct bli_curve truth;
    assert_int_equal(bli_curve_parse("sine(0.8,10000)", &truth, NULL), BAL_OK);
    /* 100 times the dispersion jobs in a bin: an error of a tenth at factor 1 */
    for (unsigned i = 0; i < arrivals.bins; i++)
        assert_near("curve", arrivals.curve.factor[i], bli_curve_at(&truth, arrivals.curve.time[i]),
                    1.2 * NORMAL_LIMIT * 0.1 * sqrt(1.8));
    fit_trace(drawn_trace("renewal(hyper(9))", "sine(0.8,10000)", 20, 200000, 34), &arrivals);
    assert_int_equal(arrivals.curve.kind, BLI_CURVE_TABLE);
    assert_int_not_equal(arrivals.as, BLI_FIT_AS_RENEWAL); /* which follows no curve */
}

/* A Poisson log is not called bursty, nor is anything fitted to it. */
static void no_bursts(void **state) {
    (void)state;
    static const char *const truths[] = {"poisson", "renewal(erlang(2))"};
    for (size_t i = 0; i < 2; i++) {
        struct bli_fit_arrivals arrivals;
        fit_trace(drawn_trace(truths[i], "constant", 20, 200000, 35 + i), &arrivals);
        assert_int_equal(arrivals.flow, i ? BLI_FIT_REGULAR : BLI_FIT_POISSON);
        assert_int_equal(arrivals.as, BLI_FIT_AS_POISSON);
        assert_false(arrivals.burst[BLI_FIT_AS_MMPP].made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential),          cmocka_unit_test(erlang),
        cmocka_unit_test(erlang_of_high_order), cmocka_unit_test(two_branches),
        cmocka_unit_test(three_branches),       cmocka_unit_test(lognormal),
        cmocka_unit_test(branches_of_phases),   cmocka_unit_test(moments_below_one),
        cmocka_unit_test(coarse_sizes),         cmocka_unit_test(equal_sizes),
        cmocka_unit_test(single_sizes),         cmocka_unit_test(no_sizes),
        cmocka_unit_test(constant_rate),        cmocka_unit_test(curved_rate),
        cmocka_unit_test(bursts_and_clockwork), cmocka_unit_test(bursts_of_a_rate_that_changes),
        cmocka_unit_test(bursts_of_batches),    cmocka_unit_test(bursts_of_gaps),
        cmocka_unit_test(bursts_on_a_curve),    cmocka_unit_test(no_bursts),
        cmocka_unit_test(short_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
