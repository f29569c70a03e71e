/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that share themselves among their jobs, against what is known exactly.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 25 comparisons 6e-3 in all; and each comparison must be able to see 5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "close.h"
#include "exact.h"

enum { RUNS = 20 };

static struct bli_model sharing(const char *servers, const char *size, double load) {
    struct bli_model model = model_of(servers, size, load);
    model.discipline = BLI_DISCIPLINE_SHARING;
    return model;
}

static struct replications run(const struct bli_model *model, const char *policy, double jobs) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run how = {.seed = 2361, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1};
    return replicate(model, &spec, &how, RUNS);
}

/* M/G/1-PS: the number of jobs is geometric with the load, and the mean response time 1/(1 - load), whatever
 * the law of sizes (Sakata, Noguchi and Oizumi 1969). First come, first served it is 1.4 to 3.25 times as
 * long between these laws. */
static void one_server_is_insensitive(void **state) {
    (void)state;
    static const char *const dists[] = {"det", "erlang(4)", "exp", "hyper(4)", "lognormal(2)"};
    const double load = 0.6;
    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        const struct bli_model model = sharing("1", dists[i], load);
        struct replications r = run(&model, "random", 150000);
        assert_mean(&r, BLI_RESPONSE_MEAN, 1 / (1 - load), 0, dists[i]);
        for (int level = 1; level <= 3; level++)
            assert_mean(&r, BLI_METRIC_COUNT + level - 1, pow(load, level), 0, dists[i]);
        replications_free(&r);
        const struct bal_policy_spec random = policy_of("random");
        const struct bli_prediction known = bli_theory_predict(&model, &random);
        assert_int_equal(known.kind, BLI_THEORY_EXACT);
        assert_close(known.response_mean, 1 / (1 - load), 1e-12);
        assert_true(isnan(known.response_quantile[2])); /* which are not insensitive */
    }
}

/* Two choices: with exponential sizes the numbers of jobs are those of first come, first served, and so is
 * the mean field; 500 servers come within 1 % of it. */
static void two_choices_are_their_mean_field(void **state) {
    (void)state;
    const struct bli_model model = sharing("500", "exp", 0.8);
    const struct bal_policy_spec pod = policy_of("pod:d=2");
    const struct bli_prediction known = bli_theory_predict(&model, &pod);
    assert_int_equal(known.kind, BLI_THEORY_LIMIT);
    double jobs = 0;
    for (int i = 1; i < 12; i++)
        jobs += pow(0.8, pow(2, i) - 1);
    assert_close(known.response_mean, jobs / 0.8, 1e-9);
    struct replications r = run(&model, "pod:d=2", 100000);
    assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0.01, "pod");
    for (int level = 1; level <= 3; level++)
        assert_mean(&r, BLI_METRIC_COUNT + level - 1, pow(0.8, pow(2, level) - 1), 0.01, "pod");
    replications_free(&r);
}

/* Servers of different speeds, buffers, and policies that are told who is idle or how much work is left. */
static void others_share_too(void **state) {
    (void)state;
    struct bli_model model = sharing("2x1,1x3", "exp", 0.6);
    const struct bal_policy_spec weighted = policy_of("weighted-random");
    const double mean = 3 * 1 / 5. / (1 - 0.6);
    struct replications r = run(&model, "weighted-random", 100000);
    assert_mean(&r, BLI_RESPONSE_MEAN, mean, 0, "weighted-random");
    replications_free(&r);
    (void)weighted;
    model = sharing("1", "erlang(2)", 0.8);
    model.buffer = 3; /* M/G/1-PS with a buffer is M/M/1/3, whatever the law */
    r = run(&model, "jiq", 100000);
    assert_mean(&r, BLI_LOST, pow(0.8, 3) * 0.2 / (1 - pow(0.8, 4)), 0, "a buffer");
    replications_free(&r);
    model = sharing("10", "hyper(4)", 0.7);
    r = run(&model, "least-work", 20000); /* whoever has least work has it, shared or not */
    struct replications in_turn;
    model.discipline = BLI_DISCIPLINE_FIFO;
    in_turn = run(&model, "least-work", 20000);
    assert_true(agrees(&r, &in_turn, BLI_METRIC_COUNT, 1e-6, 0, "busy servers"));
    replications_free(&r);
    replications_free(&in_turn);
}

/* What cannot be shared is refused in one line. */
static void what_cannot_be_is_refused(void **state) {
    (void)state;
    enum bli_engine engine;
    struct bal_error err;
    struct bli_model model = sharing("4", "exp", 0.6);
    const struct bal_policy_spec random = policy_of("random");
    assert_int_equal(bli_simulate_check(&model, &random, BLI_ENGINE_AUTO, &engine, &err), BAL_OK);
    assert_int_equal(engine, BLI_ENGINE_EVENT);
    assert_int_equal(bli_simulate_check(&model, &random, BLI_ENGINE_MARKOV, &engine, &err), BAL_E_MODEL);
    model.slots = 2;
    assert_int_equal(bli_simulate_check(&model, &random, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
    model.slots = 1;
    model.steal.kind = BAL_STEAL_HALF;
    assert_int_equal(bli_simulate_check(&model, &random, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server_is_insensitive),
        cmocka_unit_test(two_choices_are_their_mean_field),
        cmocka_unit_test(others_share_too),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
