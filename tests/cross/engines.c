/* SPDX-License-Identifier: BSD-2-Clause */
/* The two continuous-time engines are different programs for the same system: the one draws transitions of a
 * Markov chain, the other sizes and completion times. They must agree on every policy that both can run, in
 * everything they measure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../agree.h"
#include "ballast/theory.h"
#include "texts.h"

/* A comparison fails by chance with probability 1e-7; there are some 13 policies x 4 models x 60 quantities
 * of them, most of them correlated or empty: 3e-4 altogether. */
enum { RUNS = 60 };
static const double alarm = 1e-7;

struct setting {
    const char *servers, *size;
    double load, high, jobs;
};

static struct bli_model model_of(const struct setting *setting, bool classes) {
    struct bli_model model = {.load = setting->load, .classes = classes, .high = classes ? setting->high : 0};
    struct bal_error err;
    if (bli_servers_parse(setting->servers, &model.servers, &err) ||
        bli_dist_parse(setting->size, &model.size, &err))
        fail_msg("%s", err.text);
    return model;
}

static struct bli_run run_of(const struct setting *setting, const struct bli_model *model,
                             enum bli_engine engine, uint64_t seed) {
    return (struct bli_run){
        .seed = seed, .time = setting->jobs / bli_model_arrival_rate(model), .warmup = 0.2, .engine = engine};
}

static bool both_engines_agree(const struct setting *setting, const struct bli_model *model,
                               const struct bal_policy_spec *spec) {
    const struct bli_run markov = run_of(setting, model, BLI_ENGINE_MARKOV, 201);
    const struct bli_run event = run_of(setting, model, BLI_ENGINE_EVENT, 202);
    struct replications a = replicate(model, spec, &markov, RUNS), b = replicate(model, spec, &event, RUNS);
    char what[200], name[100];
    bal_policy_print(spec, name, sizeof name);
    snprintf(what, sizeof what, "%s on %s%s", name, setting->servers, model->classes ? " with classes" : "");
    bool good = true;
    for (int quantity = 0; quantity < QUANTITIES; quantity++)
        good &= agrees(&a, &b, quantity, alarm, 0, what);
    replications_free(&a);
    replications_free(&b);
    return good;
}

/* Policies that look at classes run with classes, and so does plain pod; the others without. */
static bool wants_classes(const struct bal_policy *policy) {
    return policy->flags & BAL_TAKES_RANKS;
}

static void agree_on(const struct setting *setting, unsigned least) {
    unsigned compared = 0;
    bool good = true;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy_spec spec = policy_of(bal_policy_table[i]->name);
        const struct bli_model model = model_of(setting, wants_classes(spec.policy));
        enum bli_engine engine;
        struct bal_error err;
        if (bli_simulate_check(&model, &spec, BLI_ENGINE_MARKOV, &engine, &err)) {
            /* Nothing may drop out of this comparison unnoticed. */
            if (!(spec.policy->flags & BAL_NEEDS_WORK))
                fail_msg("%s cannot run on %s: %s", spec.policy->name, setting->servers, err.text);
            continue;
        }
        good &= both_engines_agree(setting, &model, &spec);
        compared++;
    }
    assert_true(compared >= least);
    assert_true(good);
}

static void equal_servers(void **state) {
    (void)state;
    const struct setting setting = {"10", "exp", 0.8, 0.4, 5000};
    agree_on(&setting, 12);
}

/* Another unit of time: sizes of mean 0.25. */
static void two_servers(void **state) {
    (void)state;
    const struct setting setting = {"2", "exp(0.25)", 0.7, 0.3, 5000};
    agree_on(&setting, 12);
}

static void mixed_servers(void **state) {
    (void)state;
    const struct setting setting = {"5x1,3x2", "exp", 0.6, 0.5, 5000};
    agree_on(&setting, 12);
}

/* At critical load nothing is stationary, and the engines must still agree on the way up. */
static void overloaded_servers(void **state) {
    (void)state;
    const struct setting setting = {"3", "exp", 1.1, 0.5, 2000};
    bool good = true;
    static const char *const names[] = {"random", "jsq", "pod", "jiq", "pi", "round-robin", "pod-memory"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct bal_policy_spec spec = policy_of(names[i]);
        const struct bli_model model = model_of(&setting, false);
        good &= both_engines_agree(&setting, &model, &spec);
    }
    assert_true(good);
}

/* Sizes that are exponential by another name run on both. */
static void exponential_in_disguise(void **state) {
    (void)state;
    static const char *const sizes[] = {"erlang(1)", "hyper(0.3,2,0.7,2)"};
    for (int i = 0; i < 2; i++) {
        const struct setting setting = {"4", sizes[i], 0.8, 0, 5000};
        const struct bli_model model = model_of(&setting, false);
        const struct bal_policy_spec spec = policy_of("pod:d=2");
        assert_true(both_engines_agree(&setting, &model, &spec));
    }
}

/* What the markov engine cannot do it says, and auto chooses the other. */
static void the_engine_is_chosen_from_the_model(void **state) {
    (void)state;
    static const struct {
        const char *policy, *size;
        enum bli_engine wanted, chosen;
        enum bal_code code;
    } cases[] = {
        {"jsq", "exp", BLI_ENGINE_AUTO, BLI_ENGINE_MARKOV, BAL_OK},
        {"jsq", "exp", BLI_ENGINE_EVENT, BLI_ENGINE_EVENT, BAL_OK},
        {"jsq", "det", BLI_ENGINE_AUTO, BLI_ENGINE_EVENT, BAL_OK},
        {"jsq", "det", BLI_ENGINE_MARKOV, BLI_ENGINE_AUTO, BAL_E_MODEL},
        {"least-work", "exp", BLI_ENGINE_AUTO, BLI_ENGINE_EVENT, BAL_OK},
        {"least-work", "exp", BLI_ENGINE_MARKOV, BLI_ENGINE_AUTO, BAL_E_MODEL},
        {"pod:d=9,replace=0", "exp", BLI_ENGINE_AUTO, BLI_ENGINE_AUTO, BAL_E_MODEL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct setting setting = {"8", cases[i].size, 0.8, 0, 1};
        const struct bli_model model = model_of(&setting, false);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        enum bli_engine chosen = BLI_ENGINE_AUTO;
        struct bal_error err = {0};
        assert_int_equal(bli_simulate_check(&model, &spec, cases[i].wanted, &chosen, &err), cases[i].code);
        assert_int_equal(chosen, cases[i].chosen);
        if (cases[i].code)
            assert_true(strlen(err.text) > 0);
        const struct bli_run run = {.time = 10, .warmup = 0, .engine = cases[i].wanted};
        struct bli_trial trial = {0};
        assert_int_equal(bli_simulate(&model, &spec, &run, &trial, &err), cases[i].code);
        if (!cases[i].code)
            assert_int_equal(trial.engine, cases[i].chosen);
    }
}

/* Where servers are idle nearly always, the engine that does not pass their possible completions one by one.
 */
static void idle_fleets_are_not_waited_for(void **state) {
    (void)state;
    static const struct {
        double load;
        const char *curve;
        enum bli_engine chosen;
    } cases[] = {
        {0.001, "constant", BLI_ENGINE_EVENT},       {0.0499, "constant", BLI_ENGINE_EVENT},
        {0.05, "constant", BLI_ENGINE_MARKOV},       {0.9, "constant", BLI_ENGINE_MARKOV},
        {0.01, "table(0:1 5:5)", BLI_ENGINE_MARKOV}, {0.1, "table(0:0.2 5:0.4)", BLI_ENGINE_EVENT},
        {0.04, "sine(0.1,10)", BLI_ENGINE_EVENT},    {0.04, "sine(0.9,10)", BLI_ENGINE_MARKOV},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct setting setting = {"3", "exp", cases[i].load, 0, 1};
        struct bli_model model = model_of(&setting, false);
        assert_int_equal(bli_curve_parse(cases[i].curve, &model.curve, NULL), BAL_OK);
        const struct bal_policy_spec spec = policy_of("pod");
        enum bli_engine chosen;
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &chosen, NULL), BAL_OK);
        assert_int_equal(chosen, cases[i].chosen);
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_MARKOV, &chosen, NULL), BAL_OK);
        assert_int_equal(chosen, BLI_ENGINE_MARKOV);
    }
}

/* least-work is one common queue, job by job: the event engine against the exact M/M/N, in place of the
 * markov engine. Each of 4 comparisons fails by chance with probability 1e-6; runs are long enough that the
 * start, cut to a fifth, does not matter. */
static void least_work_is_a_common_queue(void **state) {
    (void)state;
    const struct setting setting = {"10", "exp", 0.8, 0, 50000};
    const struct bli_model model = model_of(&setting, false);
    const struct bal_policy_spec spec = policy_of("least-work");
    const struct bli_run run = run_of(&setting, &model, BLI_ENGINE_AUTO, 203);
    struct replications r = replicate(&model, &spec, &run, RUNS);
    const struct bli_wait wait = bli_wait_mmn(0.8, 10);
    const struct {
        enum bli_metric metric;
        double exact;
    } known[] = {
        {BLI_RESPONSE_MEAN, bli_wait_response_mean(&wait)},
        {BLI_WAITING_MEAN, bli_wait_mean(&wait)},
        {BLI_WAITING_PROBABILITY, wait.probability},
        {BLI_QUEUE_TOTAL, 8 * bli_wait_response_mean(&wait)},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double mean, error2;
        describe(&r, (int)known[i].metric, &mean, &error2);
        if (!(fabs(mean - known[i].exact) <= bli_student_quantile(1 - 5e-7, RUNS - 1) * sqrt(error2)))
            fail_msg("%s is %g, exactly %g (error %g)", quantity_name((int)known[i].metric), mean,
                     known[i].exact, sqrt(error2));
    }
    replications_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_servers),
        cmocka_unit_test(two_servers),
        cmocka_unit_test(mixed_servers),
        cmocka_unit_test(overloaded_servers),
        cmocka_unit_test(exponential_in_disguise),
        cmocka_unit_test(the_engine_is_chosen_from_the_model),
        cmocka_unit_test(idle_fleets_are_not_waited_for),
        cmocka_unit_test(least_work_is_a_common_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
