/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that are last come, first served, against what is known exactly of M/G/1 and against first come,
 * first served.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 15 comparisons 4e-3 in all; and each comparison must be able to see 5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "close.h"
#include "exact.h"

enum { RUNS = 20, TIMES = 2 };

static const double load = 0.5;
static const double times[TIMES] = {2, 8}; /* powers of 2, which are edges of bins */

static struct bli_model lifo(const char *servers, const char *size) {
    struct bli_model model = model_of(servers, size, load);
    model.discipline = BLI_DISCIPLINE_LIFO;
    return model;
}

/* E[W^2], from the histogram of waiting times: their bins are narrow. */
static double second_moment(const struct bli_histogram *waiting) {
    double sum = 0;
    for (unsigned bin = 1; bin + 1 < BLI_HISTOGRAM_BINS; bin++) {
        const double middle = 0.5 * (bli_histogram_edge(bin) + bli_histogram_edge(bin + 1));
        sum += (double)waiting->count[bin] * middle * middle;
    }
    return sum / (double)bli_histogram_total(waiting);
}

static double share_above(const struct bli_histogram *waiting, double t) {
    uint64_t above = 0;
    for (unsigned bin = bli_histogram_bin(t); bin < BLI_HISTOGRAM_BINS; bin++)
        above += waiting->count[bin];
    return (double)above / (double)bli_histogram_total(waiting);
}

enum { MEAN, WAITS, SQUARE, ABOVE };

/* The same in each of RUNS runs of one server. */
static struct replications measure(const struct bli_model *model) {
    const struct bal_policy_spec random = policy_of("random");
    struct replications r = replications_new(RUNS);
    struct bli_histogram *waiting = malloc(sizeof *waiting);
    assert_non_null(waiting);
    for (unsigned i = 0; i < RUNS; i++) {
        const struct bli_run run = {.seed = 3131, .replication = i, .time = 500000 / load, .warmup = 0.05};
        struct bli_trial trial = {0};
        struct bal_error err;
        *waiting = (struct bli_histogram){0};
        trial.histogram[BLI_OF_WAITING] = waiting;
        if (bli_simulate(model, &random, &run, &trial, &err))
            fail_msg("%s", err.text);
        r.value[i][MEAN] = trial.metric[BLI_WAITING_MEAN];
        r.value[i][WAITS] = trial.metric[BLI_WAITING_PROBABILITY];
        r.value[i][SQUARE] = second_moment(waiting);
        for (int k = 0; k < TIMES; k++)
            r.value[i][ABOVE + k] = share_above(waiting, times[k]);
    }
    free(waiting);
    return r;
}

/* M/G/1: first come, first served has E[W] = lambda E[S^2] / (2 (1 - load)) and E[W^2] = 2 E[W]^2 +
 * lambda E[S^3] / (3 (1 - load)) (Takacs 1962); last come, first served has the same mean, and the second
 * moment of it divided by 1 - load, twice as much here. */
static void moments_are_those_of_theory(void **state) {
    (void)state;
    static const struct {
        const char *size;
        double second, third;
    } laws[] = {{"det", 1, 1}, {"erlang(4)", 1.25, 1.875}, {"exp", 2, 6}};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        const struct bli_model model = lifo("1", laws[i].size);
        const double mean = load * laws[i].second / (2 * (1 - load));
        const double fifo_square = 2 * mean * mean + load * laws[i].third / (3 * (1 - load));
        struct replications r = measure(&model);
        assert_mean(&r, MEAN, mean, 0, laws[i].size);
        assert_mean(&r, WAITS, load, 0, laws[i].size);
        assert_mean(&r, SQUARE, fifo_square / (1 - load), 0, laws[i].size);
        replications_free(&r);
        const struct bal_policy_spec random = policy_of("random");
        const struct bli_prediction known = bli_theory_predict(&model, &random);
        assert_int_equal(known.kind, BLI_THEORY_EXACT);
        assert_close(known.waiting_mean, mean, 1e-12);
        assert_close(known.waiting_probability, load, 1e-12);
        assert_true(isnan(known.response_quantile[2]));
        assert_true(isnan(bli_theory_tail(&model, &random, BLI_THEORY_WAITING, 1)));
    }
}

/* exp(-x) I_1(x), by its integral over a half turn, of which the trapezoidal rule is exact to rounding. */
static double scaled_bessel(double x) {
    enum { POINTS = 400 };
    double sum = 0;
    for (int k = 0; k <= POINTS; k++) {
        const double angle = acos(-1) * k / POINTS;
        sum += exp(x * (cos(angle) - 1)) * cos(angle) * (k % POINTS ? 1 : 0.5);
    }
    return sum / POINTS;
}

/* The probability that a busy period of M/M/1 is longer than t, by Simpson's rule over its density
 * exp(-(1 + load) u) I_1(2 u sqrt(load)) / (u sqrt(load)). */
static double busy_period_tail(double t) {
    enum { STEPS = 2000 };
    const double root = sqrt(load);
    double below = 0;
    for (int k = 0; k <= STEPS; k++) {
        const double u = t * k / STEPS;
        const double density =
            k == 0 ? 1 : exp(-(1 - root) * (1 - root) * u) * scaled_bessel(2 * u * root) / (u * root);
        below += density * (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2);
    }
    return 1 - below * t / STEPS / 3;
}

/* M/M/1: a job that waits does so for a busy period: the job in service, and all that come before it ends. */
static void waiting_is_a_busy_period(void **state) {
    (void)state;
    const struct bli_model model = lifo("1", "exp");
    struct replications r = measure(&model);
    assert_close(busy_period_tail(1e-3), 1 - 1e-3, 1e-5);
    for (int k = 0; k < TIMES; k++)
        assert_mean(&r, ABOVE + k, load * busy_period_tail(times[k]), 0, "a busy period");
    replications_free(&r);
}

/* With sizes that are all the same the order in which jobs are served changes no time of a completion: the
 * fractions of servers with so many jobs are those of first come, first served, to the last bit. */
static void lengths_are_those_of_fifo(void **state) {
    (void)state;
    static const char *const policies[] = {"random",     "pod:d=2",           "jsq", "jiq", "rcpb:c=2,mup=1",
                                           "least-work", "pod-memory:d=1,b=1"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct bal_policy_spec spec = policy_of(policies[i]);
        const struct bli_run run = {.seed = 31, .time = 500, .warmup = 0};
        struct bli_model model = lifo("2x1,3x2", "det");
        struct bli_trial last = {0}, first = {0};
        struct bal_error err;
        model.load = 0.9;
        if (bli_simulate(&model, &spec, &run, &last, &err))
            fail_msg("%s: %s", policies[i], err.text);
        model.discipline = BLI_DISCIPLINE_FIFO;
        if (bli_simulate(&model, &spec, &run, &first, &err))
            fail_msg("%s: %s", policies[i], err.text);
        assert_memory_equal(last.tail, first.tail, sizeof last.tail);
        assert_true(last.metric[BLI_WAITING_PROBABILITY] > 0 && last.jobs == first.jobs);
    }
}

/* What is known of means also holds here, but for policies that look at work. */
static void means_are_known(void **state) {
    (void)state;
    const struct bli_model model = lifo("100", "exp");
    struct bli_model fifo = model;
    fifo.discipline = BLI_DISCIPLINE_FIFO;
    const struct bal_policy_spec pod = policy_of("pod:d=2"), least = policy_of("least-work");
    const struct bli_prediction known = bli_theory_predict(&model, &pod),
                                usual = bli_theory_predict(&fifo, &pod);
    assert_int_equal(known.kind, BLI_THEORY_LIMIT);
    assert_true(known.waiting_mean == usual.waiting_mean && known.response_mean == usual.response_mean);
    assert_int_equal(bli_theory_predict(&model, &least).kind, BLI_THEORY_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_those_of_theory),
        cmocka_unit_test(waiting_is_a_busy_period),
        cmocka_unit_test(lengths_are_those_of_fifo),
        cmocka_unit_test(means_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
