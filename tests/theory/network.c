/* SPDX-License-Identifier: BSD-2-Clause */
/* Dispatchers on a network beside what is known exactly.
 *
 * Intervals are of 99.99 % over replications, so that each assertion raises a false alarm with probability
 * 1e-4 if means over a run are normal; seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../texts.h"
#include "ballast/predict.h"
#include "ballast/simulate.h"
#include "ballast/theory.h"
#include "theory/jiq_tokens.h"

enum { REPLICATIONS = 10 };
#define T_9999 6.594 /* quantile 0.99995 of Student's law with 9 degrees of freedom */

struct measured {
    double mean, half_width;
};

static struct measured measure(const struct bli_model *model, const char *policy, double jobs,
                               uint64_t seed) {
    const struct bal_policy_spec spec = policy_of(policy);
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < REPLICATIONS; i++) {
        const struct bli_run run = {
            .seed = seed, .replication = i, .time = jobs / bli_model_arrival_rate(model), .warmup = NAN};
        struct bli_trial trial = {0};
        struct bal_error err;
        if (bli_simulate(model, &spec, &run, &trial, &err))
            fail_msg("%s: %s", policy, err.text);
        assert_int_equal(trial.engine, BLI_ENGINE_NETWORK);
        sum += trial.metric[BLI_RESPONSE_MEAN];
        squares += trial.metric[BLI_RESPONSE_MEAN] * trial.metric[BLI_RESPONSE_MEAN];
    }
    const double mean = sum / REPLICATIONS;
    const double variance = (squares - REPLICATIONS * mean * mean) / (REPLICATIONS - 1);
    return (struct measured){mean, T_9999 * sqrt(variance / REPLICATIONS)};
}

static void assert_inside(struct measured measured, double exact, const char *what) {
    if (!(fabs(measured.mean - exact) <= measured.half_width))
        fail_msg("%s: %g +- %g, not %g", what, measured.mean, measured.half_width, exact);
}

static struct bli_model model_of(const char *servers, double load, const char *dispatchers,
                                 const char *delay) {
    struct bli_model model = {.load = load};
    struct bal_error err;
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse("exp", &model.size, &err) ||
        bli_dispatchers_parse(dispatchers, &model.network.dispatchers, &err) ||
        (*delay && bli_dist_parse(delay, &model.network.delay, &err)))
        fail_msg("%s", err.text);
    return model;
}

/* A Poisson process whose points are all delayed is one again: every server stays M/M/1, and a job takes its
 * two ways besides. Losses of messages mean nothing to a policy that needs none. */
static void random_takes_two_ways_more(void **state) {
    (void)state;
    static const char *const delays[] = {"exp(0.5)", "det(0.5)", "uniform(0,1)"};
    for (int i = 0; i < 3; i++) {
        struct bli_model model = model_of("10", 0.7, "0.6,0.3,0.1", delays[i]);
        model.network.loss = 0.3;
        assert_inside(measure(&model, "random", 1e5, 11), 1 / (1 - 0.7) + 2 * 0.5, delays[i]);
    }
}

/* Jobs that wait at their dispatcher for the next idle server are served in the order of one queue. */
static void holding_with_one_dispatcher_is_one_queue(void **state) {
    (void)state;
    const struct bli_model model = model_of("8", 0.8, "1", "");
    const struct bli_wait wait = bli_wait_mmn(0.8, 8);
    assert_inside(measure(&model, "jiq:else=hold", 1e5, 12), bli_wait_response_mean(&wait), "M/M/8");
}

/* With several dispatchers the order is another and the mean the same, as long as no server is idle while a
 * job is held: which hunger sees to where messages take no time. */
static void holding_with_several_is_nearly_so(void **state) {
    (void)state;
    const struct bli_model model = model_of("8", 0.8, "4", "");
    const struct bli_wait wait = bli_wait_mmn(0.8, 8);
    assert_inside(measure(&model, "jiq:else=hold", 1e5, 13), bli_wait_response_mean(&wait), "M/M/8, hungry");
}

/* The mean field of tokens. Loads are low and high, and dispatchers have few servers and many: Lu et al.
 * (2011), who leave out that tokens grow stale, would be 5 % off in the first case. The last part is what a
 * finite number of dispatchers makes. */
static void tokens_are_as_simulated(void **state) {
    (void)state;
    static const struct {
        const char *servers, *dispatchers;
        double load, jobs, off;
    } cases[] = {
        {"2000", "200", 0.5, 6e5, 0.003}, {"600", "300", 0.8, 4e5, 0.003}, {"500", "5", 0.9, 4e5, 0.01}};
    const struct bal_policy_spec spec = policy_of("jiq");
    for (int i = 0; i < 3; i++) {
        const struct bli_model model = model_of(cases[i].servers, cases[i].load, cases[i].dispatchers, "");
        const struct bli_prediction known = bli_theory_predict(&model, &spec);
        assert_int_equal(known.kind, BLI_THEORY_LIMIT);
        const struct measured measured = measure(&model, "jiq", cases[i].jobs, 14);
        assert_true(measured.half_width < 0.02 * known.response_mean);
        assert_inside(
            (struct measured){measured.mean, measured.half_width + cases[i].off * known.response_mean},
            known.response_mean, cases[i].servers);
    }
}

/* What the fixed point must satisfy: all that comes is served, a token for each idle time; with ever more
 * servers for a dispatcher no job waits; what is not known is said. */
static void tokens_are_consistent(void **state) {
    (void)state;
    struct jiq_tokens few, many;
    assert_int_equal(bli_jiq_tokens_solve(0.8, 5, &few), JIQ_TOKENS_SOLVED);
    assert_true(fabs(few.tail[1] - 0.8) < 1e-6);
    assert_true(fabs((few.tail[1] - few.tail[2]) - 0.8 * (1 - few.no_token)) < 1e-6);
    assert_int_equal(bli_jiq_tokens_solve(0.8, 5000, &many), JIQ_TOKENS_SOLVED);
    assert_true(many.jobs < few.jobs && many.jobs < 0.8 * 1.003 && many.jobs > 0.8);
    assert_int_equal(bli_jiq_tokens_solve(0.5, 1e6, &many), JIQ_TOKENS_MANY);
    assert_int_equal(bli_jiq_tokens_solve(0.05, 1, &many), JIQ_TOKENS_UNKNOWN); /* many tokens a server */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_takes_two_ways_more),
        cmocka_unit_test(holding_with_one_dispatcher_is_one_queue),
        cmocka_unit_test(holding_with_several_is_nearly_so),
        cmocka_unit_test(tokens_are_as_simulated),
        cmocka_unit_test(tokens_are_consistent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
