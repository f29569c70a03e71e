/* SPDX-License-Identifier: BSD-2-Clause */
/* Time counted in events against time that is drawn.
 *
 * Both ways of the markov engine see the same events in the same order, so that what they measure differs by
 * the noise of the drawn times alone: pairs of runs are compared, which is far sharper than their results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../agree.h"
#include "engine/system.h"
#include "texts.h"
#include "trials.h"

#include <math.h>

enum { PAIRS = 8 };

struct twin_case {
    const char *policy, *servers;
    double load;
    double high; /* above 0: classes */
    uint32_t tasks, buffer;
    enum bli_discipline discipline;
};

static const struct twin_case cases[] = {
    {"random", "1", 0.7, 0, 0, 0, 0},
    {"pod:d=2", "10", 0.9, 0, 0, 0, 0},
    {"jiq", "5x1,3x2,2x0.5", 0.8, 0, 0, 0, 0},
    {"jsq", "100", 0.95, 0, 0, 0, 0},
    {"pod:d=3", "20", 0.9, 0, 4, 0, 0},
    {"random", "10", 1.2, 0, 0, 5, 0},
    {"pod-ssp:d1=2,d2=2", "10", 0.9, 0.3, 0, 0, 0},
    {"pod:d=2", "10", 0.9, 0.3, 0, 0, BLI_DISCIPLINE_NONPREEMPTIVE},
    {"pod:d=2", "10", 0.9, 0.3, 0, 0, BLI_DISCIPLINE_FIFO},
};

static struct bli_model model_of(const struct twin_case *c) {
    struct bli_model model = {.load = c->load,
                              .classes = c->high > 0,
                              .high = c->high,
                              .tasks = c->tasks,
                              .buffer = c->buffer,
                              .discipline = c->discipline};
    struct bal_error err;
    if (bli_servers_parse(c->servers, &model.servers, &err) || bli_dist_parse("exp", &model.size, &err))
        fail_msg("%s", err.text);
    return model;
}

/* Possible events come at this rate. */
static double rate_of(const struct bli_model *model) {
    return bli_model_arrival_rate(model) / (model->tasks > 1 ? model->tasks : 1) +
           bli_servers_capacity(&model->servers) / model->size.mean;
}

static struct bli_run run_of(const struct bli_model *model, double events) {
    return (struct bli_run){
        .seed = 77, .time = events / rate_of(model), .warmup = 0.2, .engine = BLI_ENGINE_MARKOV};
}

/* ---- the same events ---- */

static void assert_same_quantity(const struct twin_case *c, int quantity, const struct replications *counted,
                                 const struct replications *timed) {
    const double t = bli_student_quantile(1 - 5e-8, PAIRS - 1);
    double sum = 0, squares = 0, scale = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        const double a = counted->value[i][quantity], b = timed->value[i][quantity];
        if (isnan(a) && isnan(b))
            return;
        sum += a - b;
        squares += (a - b) * (a - b);
        scale += fabs(b) / PAIRS;
    }
    const double mean = sum / PAIRS, spread = fmax(squares - PAIRS * mean * mean, 0) / (PAIRS - 1);
    /* Beside it the bins of histograms, an eighth of one. */
    if (!(fabs(mean) <= t * sqrt(spread / PAIRS) + 0.001 * scale))
        fail_msg("%s on %s: %s is %g off, of %g", c->policy, c->servers, quantity_name(quantity), mean,
                 scale);
}

/* False alarm: 1e-7 for each quantity, of which there are some 40 in each case. */
static void counting_measures_the_same(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of(&cases[i]);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        struct bli_run run = run_of(&model, COUNTED_MIN + 10);
        struct replications counted = replicate(&model, &spec, &run, PAIRS);
        run.timed = true;
        struct replications timed = replicate(&model, &spec, &run, PAIRS);
        for (int q = 0; q < QUANTITIES; q++)
            if (q != BLI_TRANSIENT && q != BLI_DRIFT) /* where a run is cut, and a small difference */
                assert_same_quantity(&cases[i], q, &counted, &timed);
        replications_free(&counted);
        replications_free(&timed);
    }
}

/* If the events were others, results would be as far from each other as those of two seeds. */
static void the_events_are_the_same(void **state) {
    (void)state;
    const struct twin_case c = {"pod:d=2", "10", 0.9, 0, 0, 0, 0};
    const struct bli_model model = model_of(&c);
    const struct bal_policy_spec spec = policy_of(c.policy);
    struct bli_run run = run_of(&model, COUNTED_MIN + 10);
    struct replications counted = replicate(&model, &spec, &run, PAIRS);
    run.timed = true;
    struct replications timed = replicate(&model, &spec, &run, PAIRS);
    double between = 0, apart = 0, mean = 0;
    for (unsigned i = 0; i < PAIRS; i++)
        mean += counted.value[i][BLI_RESPONSE_MEAN] / PAIRS;
    for (unsigned i = 0; i < PAIRS; i++) {
        between += pow(counted.value[i][BLI_RESPONSE_MEAN] - mean, 2);
        apart += pow(counted.value[i][BLI_RESPONSE_MEAN] - timed.value[i][BLI_RESPONSE_MEAN], 2);
    }
    assert_true(apart > 0); /* these are two ways, not one */
    assert_true(apart < 0.1 * between);
    replications_free(&counted);
    replications_free(&timed);
}

/* ---- a law that is known ---- */

/* One server: response times are exponential, and few events happen in one, so that the law of a number of
 * events is far from its mean. False alarm: 1e-6 for each of four percentiles and the mean; beside it an
 * eighth of a bin. */
static void one_server_has_exponential_times(void **state) {
    (void)state;
    static const double loads[] = {0.2, 0.5, 0.8};
    static const double percentiles[] = {0.5, 0.9, 0.99, 0.999};
    for (unsigned i = 0; i < 3; i++) {
        const struct twin_case c = {"random", "1", loads[i], 0, 0, 0, 0};
        const struct bli_model model = model_of(&c);
        const struct bal_policy_spec spec = policy_of(c.policy);
        const struct bli_run run = run_of(&model, 2 * COUNTED_MIN);
        struct replications r = replicate(&model, &spec, &run, PAIRS);
        const double t = bli_student_quantile(1 - 5e-7, PAIRS - 1), scale = 1 / (1 - loads[i]);
        double mean, error2;
        describe(&r, BLI_RESPONSE_MEAN, &mean, &error2);
        assert_true(fabs(mean - scale) <= t * sqrt(error2));
        for (unsigned p = 0; p < 4; p++) {
            const double exact = -log(1 - percentiles[p]) * scale;
            describe(&r, BLI_RESPONSE_P50 + (int)p, &mean, &error2);
            if (!(fabs(mean - exact) <= t * sqrt(error2) + 0.001 * exact))
                fail_msg("load %g: percentile %g is %g instead of %g", loads[i], percentiles[p], mean, exact);
        }
        replications_free(&r);
    }
}

/* ---- the same loop ---- */

/* The loop that decides everything as it goes gives the same to the last bit. */
static void plain_loops_count_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of(&cases[i]);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        if (bal_policy_flags(&spec) & BAL_NEEDS_INDEX) /* which draws ties in another way than a scan */
            continue;
        struct bli_run run = run_of(&model, COUNTED_MIN + 10);
        const struct bli_trial fast = trial_of(&model, &spec, &run);
        run.reference = true;
        const struct bli_trial plain = trial_of(&model, &spec, &run);
        assert_same_trial(&fast, &plain, cases[i].policy);
        assert_true(fast.events == plain.events);
    }
}

/* ---- when events are counted ---- */

static bool counts(const char *policy, double load, const char *curve, const struct bli_run *run,
                   double rate) {
    const struct twin_case c = {policy, "10", load, 0, 0, 0, 0};
    struct bli_model model = model_of(&c);
    const struct bal_policy_spec spec = policy_of(policy);
    struct system *system = malloc(sizeof *system);
    struct bal_error err = {0};
    assert_non_null(system);
    assert_int_equal(bli_curve_parse(curve, &model.curve, &err), BAL_OK);
    assert_int_equal(bli_system_init(system, &model, &spec, run, 1, rate, &err), BAL_OK);
    const bool counted = system->features & COUNTED;
    bli_system_fini(system);
    free(system);
    return counted;
}

static void only_long_runs_without_clocks_count(void **state) {
    (void)state;
    const double rate = 19;
    struct bli_path path = {.times = 0, .levels = 1};
    const struct bli_run usual = {.time = 1e6}, brief = {.time = 1e4}, endless = {.time = 1e8};
    const struct bli_run timed = {.time = 1e6, .timed = true}, sampled = {.time = 1e6, .path = &path};
    const struct bli_watch watch = {0};
    const struct bli_run watched = {.time = 1e6, .watch = &watch};
    assert_true(counts("pod:d=2", 0.9, "constant", &usual, rate));
    assert_true(counts("jiq", 0.9, "constant", &usual, rate));
    assert_false(counts("pod:d=2", 0.9, "constant", &usual, 0)); /* another engine */
    assert_false(counts("pod:d=2", 0.9, "constant", &brief, rate));
    assert_false(counts("pod:d=2", 0.9, "constant", &endless, rate)); /* more than a stamp can hold */
    assert_false(counts("pod:d=2", 0.9, "constant", &timed, rate));
    assert_false(counts("pod:d=2", 0.9, "constant", &sampled, rate));
    assert_false(counts("pod:d=2", 0.9, "constant", &watched, rate)); /* who watches wants times */
    assert_false(counts("pod:d=2", 0.9, "sine(0.5,100)", &usual, rate));
    assert_false(counts("rcpb:c=2,mup=1", 0.9, "constant", &usual, rate)); /* reports come at times */
    assert_false(counts("tabs", 0.5, "constant", &usual, rate));
    assert_false(counts("ewma", 0.9, "constant", &usual, rate));    /* is told of response times */
    assert_false(counts("prequal", 0.9, "constant", &usual, rate)); /* looks at the clock */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_measures_the_same),          cmocka_unit_test(the_events_are_the_same),
        cmocka_unit_test(one_server_has_exponential_times),    cmocka_unit_test(plain_loops_count_alike),
        cmocka_unit_test(only_long_runs_without_clocks_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
