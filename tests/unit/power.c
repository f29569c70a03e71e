/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting states and watts as texts; rules of one common queue among policies; what a model with power must
 * be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void starts_are_read_and_printed(void **unused) {
    (void)unused;
    static const struct {
        const char *text, *canonical;
        struct bli_start start;
    } good[] = {
        {"idle", "idle", {0, 0, 0}},
        {"busy=0.3,off=0.7", "busy=0.3,off=0.7", {0.3, 0, 0.7}},
        {"off=0.5,busy=0.25,setup=0.125", "busy=0.25,setup=0.125,off=0.5", {0.25, 0.125, 0.5}},
        {"busy=0", "idle", {0, 0, 0}},
        {"off=1", "off=1", {0, 0, 1}},
        {"off=0.5,jobs=7,busy=0.5", "busy=0.5,off=0.5,jobs=7", {0.5, 0, 0.5, 7}},
        {"busy=0.5,jobs=1", "busy=0.5", {0.5, 0, 0}},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct bli_start start;
        struct bal_error err = {0};
        if (bli_start_parse(good[i].text, &start, &err))
            fail_msg("%s", err.text);
        assert_true(start.busy == good[i].start.busy && start.setup == good[i].start.setup &&
                    start.off == good[i].start.off && start.jobs == good[i].start.jobs);
        char text[80], small[4];
        assert_int_equal(bli_start_print(&start, text, sizeof text), strlen(good[i].canonical));
        assert_string_equal(text, good[i].canonical);
        assert_int_equal(bli_start_print(&start, small, sizeof small), strlen(good[i].canonical));
    }
    static const char *const bad[] = {"",
                                      "busy",
                                      "busy=",
                                      "busy=2",
                                      "busy=-0.1",
                                      "busy=0.6,off=0.6",
                                      "busy=0.1,busy=0.1",
                                      "asleep=1",
                                      "busy=0.1,",
                                      "idle,off=1",
                                      "busy=nan",
                                      "jobs=3",
                                      "busy=0.5,jobs=0",
                                      "busy=0.5,jobs=1.5",
                                      "busy=0.5,jobs=1e7",
                                      "busy=0.5,jobs=2,jobs=3",
                                      "busy=0.5,jobs=nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bli_start start = {.busy = 42};
        if (bli_start_parse(bad[i], &start, NULL) == BAL_OK)
            fail_msg("'%s' was read", bad[i]);
        assert_true(start.busy == 42);
    }
}

static void watts_are_read_and_printed(void **unused) {
    (void)unused;
    struct bli_watts watts;
    char text[80];
    assert_int_equal(bli_watts_parse("250,100.5,180,2", &watts, NULL), BAL_OK);
    assert_true(watts.busy == 250 && watts.idle == 100.5 && watts.setup == 180 && watts.off == 2);
    assert_int_equal(bli_watts_print(&watts, text, sizeof text), strlen("250,100.5,180,2"));
    assert_string_equal(text, "250,100.5,180,2");
    const struct bli_watts none = {0, 0, 0, 0};
    bli_watts_print(&none, text, sizeof text);
    assert_string_equal(text, "200,140,200,0");
    static const char *const bad[] = {
        "",        "200",     "200,140,200",  "200,140,200,0,1", "200,140,200,-1",
        "0,0,0,0", "a,b,c,d", "200,140,200,", "200,inf,200,0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (bli_watts_parse(bad[i], &watts, NULL) == BAL_OK)
            fail_msg("'%s' was read", bad[i]);
    assert_true(watts.busy == 250);
}

static struct bli_model small_model(void) {
    struct bli_model model = {.load = 0.5};
    assert_int_equal(bli_servers_parse("4", &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
    return model;
}

/* A common queue is found like a policy, but a dispatcher is told that it cannot host it. */
static void common_queues_are_for_simulation_alone(void **unused) {
    (void)unused;
    assert_true(bli_pooled_count >= 2);
    for (size_t i = 0; i < bli_pooled_count; i++) {
        const struct bal_policy *policy = bli_pooled_table[i];
        assert_ptr_equal(bli_scheme_find(policy->name), policy);
        assert_true(bli_scheme_of(policy) == BLI_SCHEME_POOLED && !policy->route);
        struct bal_policy_spec spec, again;
        assert_int_equal(bli_scheme_parse(policy->name, &spec, NULL), BAL_OK);
        char text[100];
        bal_policy_print(&spec, text, sizeof text);
        assert_int_equal(bli_scheme_parse(text, &again, NULL), BAL_OK);
        const struct bal_policy_context setting = {4, 0.5};
        struct bal_error err = {0};
        assert_int_equal(bal_policy_check(&spec, &setting, NULL, &err), BAL_E_MODEL);
        assert_non_null(strstr(err.text, policy->name));
        struct bli_model model = small_model();
        enum bli_engine engine;
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL), BAL_OK);
        assert_int_equal(engine, BLI_ENGINE_POOLED);
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_EVENT, &engine, NULL), BAL_E_MODEL);
        model.buffer = 3;
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL), BAL_E_MODEL);
        model = small_model();
        model.tasks = 2;
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL), BAL_E_MODEL);
        model = small_model();
        assert_int_equal(bli_servers_parse("2x1,2x3", &model.servers, NULL), BAL_OK);
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL), BAL_E_MODEL);
    }
    struct bal_policy_spec jiq;
    enum bli_engine engine;
    const struct bli_model model = small_model();
    assert_int_equal(bli_scheme_parse("jiq", &jiq, NULL), BAL_OK);
    assert_int_equal(bli_simulate_check(&model, &jiq, BLI_ENGINE_POOLED, &engine, NULL), BAL_E_MODEL);
}

static void impossible_power_is_refused(void **unused) {
    (void)unused;
    struct bli_model model = small_model();
    model.watts.idle = -1;
    assert_int_equal(bli_model_check(&model, NULL), BAL_E_RANGE);
    model = small_model();
    model.watts.idle = 1; /* but nothing when busy */
    assert_int_equal(bli_model_check(&model, NULL), BAL_E_RANGE);
    model = small_model();
    model.start = (struct bli_start){.busy = 0.7, .off = 0.7};
    assert_int_equal(bli_model_check(&model, NULL), BAL_E_RANGE);
    model = small_model();
    assert_int_equal(bli_dist_parse("pareto(0.5,1)", &model.setup, NULL), BAL_OK);
    assert_int_equal(bli_model_check(&model, NULL), BAL_E_MODEL);
    /* Laws that are not exponential need the event engine. */
    model = small_model();
    assert_int_equal(bli_dist_parse("det(3)", &model.setup, NULL), BAL_OK);
    struct bal_policy_spec tabs;
    enum bli_engine engine;
    assert_int_equal(bli_scheme_parse("tabs", &tabs, NULL), BAL_OK);
    assert_int_equal(bli_simulate_check(&model, &tabs, BLI_ENGINE_MARKOV, &engine, NULL), BAL_E_MODEL);
    assert_int_equal(bli_simulate_check(&model, &tabs, BLI_ENGINE_AUTO, &engine, NULL), BAL_OK);
    assert_int_equal(engine, BLI_ENGINE_EVENT);
    model = small_model();
    model.clock = BLI_CLOCK_SLOTTED;
    assert_int_equal(bli_batch_parse("poisson", &model.batch, NULL), BAL_OK);
    assert_int_equal(bli_model_check(&model, NULL), BAL_OK);
    model.start.busy = 0.5;
    assert_int_equal(bli_model_check(&model, NULL), BAL_OK);
    model.start.off = 0.5;
    assert_int_equal(bli_model_check(&model, NULL), BAL_E_MODEL);
}

/* Watts, fractions and energy of a run belong together. */
static void energy_is_metered(void **unused) {
    (void)unused;
    static const char *const policies[] = {"jiq", "tabs:mu=0.5,nu=0.5", "delayed-off:mu=0.5,nu=0.5",
                                           "central"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bli_model model = small_model();
        assert_int_equal(bli_watts_parse("100,30,70,5", &model.watts, NULL), BAL_OK);
        struct bal_policy_spec policy;
        assert_int_equal(bli_scheme_parse(policies[i], &policy, NULL), BAL_OK);
        const struct bli_run run = {.seed = 1, .time = 5000, .warmup = 0};
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        if (bli_simulate(&model, &policy, &run, &trial, &err))
            fail_msg("%s", err.text);
        const double *m = trial.metric;
        const double sum =
            m[BLI_SERVERS_BUSY] + m[BLI_SERVERS_STANDBY] + m[BLI_SERVERS_SETUP] + m[BLI_SERVERS_OFF];
        assert_true(fabs(sum - 1) < 1e-9);
        const double watts = 100 * m[BLI_SERVERS_BUSY] + 30 * m[BLI_SERVERS_STANDBY] +
                             70 * m[BLI_SERVERS_SETUP] + 5 * m[BLI_SERVERS_OFF];
        assert_true(fabs(m[BLI_POWER_MEAN] - watts) < 1e-9 * watts);
        const double per_job = watts * 4 * 5000 / (double)trial.jobs;
        assert_true(fabs(m[BLI_ENERGY_PER_JOB] - per_job) < 1e-9 * per_job);
        const double least = 100 * m[BLI_SERVERS_BUSY] + 5 * (1 - m[BLI_SERVERS_BUSY]);
        assert_true(fabs(m[BLI_POWER_WASTE] - (watts / least - 1)) < 1e-9);
        assert_true((m[BLI_SERVERS_OFF] > 0.01) == (policy.policy->power != NULL));
    }
}

static void simulate(const struct bli_model *model, const char *name, const struct bli_run *run,
                     struct bli_trial *trial) {
    struct bal_policy_spec policy;
    assert_int_equal(bli_scheme_parse(name, &policy, NULL), BAL_OK);
    struct bal_error err = {0};
    if (bli_simulate(model, &policy, run, trial, &err))
        fail_msg("%s: %s", name, err.text);
}

/* Servers that nobody asks for do what their timers say: the part of the time in each state is known to the
 * last digit, also where a timer runs out after the end or a cut lies between two timers. */
static void timers_count_where_they_run_out(void **unused) {
    (void)unused;
    static const struct {
        const char *start, *standby;
        double time, warmup, standing, setup, off;
    } cases[] = {
        {"idle", "det(1)", 10, 0, 0.1, 0, 0.9},
        {"idle", "det(20)", 10, 0, 1, 0, 0},
        {"idle", "det(1)", 10, 0.5, 0, 0, 1},
        {"setup=1", "det(1)", 10, 0, 0.1, 0.3, 0.6},
        {"setup=1", "det(1)", 1, 0, 0, 1, 0},
        {"setup=1", "det(1)", 0.001, 0.999, 0, 1, 0},
        {"setup=1", "det(20)", 10, 0.2, 0.875, 0.125, 0},
        {"setup=0.5,off=0.5", "det(1)", 8, 0.25, 0.0833333333333333, 0.0833333333333333, 0.833333333333333},
        {"off=1", "det(1)", 1e-6, 0, 0, 0, 1},
        {"setup=1", "det(1)", 4, 0.875, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = small_model();
        model.load = 1e-9;
        assert_int_equal(bli_dist_parse(cases[i].standby, &model.standby, NULL), BAL_OK);
        assert_int_equal(bli_dist_parse("det(3)", &model.setup, NULL), BAL_OK);
        assert_int_equal(bli_start_parse(cases[i].start, &model.start, NULL), BAL_OK);
        const struct bli_run run = {.seed = 1, .time = cases[i].time, .warmup = cases[i].warmup};
        struct bli_trial trial = {0};
        simulate(&model, "tabs", &run, &trial);
        const double *m = trial.metric;
        if (fabs(m[BLI_SERVERS_STANDBY] - cases[i].standing) > 1e-12 ||
            fabs(m[BLI_SERVERS_SETUP] - cases[i].setup) > 1e-12 ||
            fabs(m[BLI_SERVERS_OFF] - cases[i].off) > 1e-12)
            fail_msg("case %zu: %.17g standing by, %.17g in set-up, %.17g off", i, m[BLI_SERVERS_STANDBY],
                     m[BLI_SERVERS_SETUP], m[BLI_SERVERS_OFF]);
    }
}

/* One of many settings: small and short, so that a run has few events or none. */
static void draw_setting(struct bal_rng *rng, struct bli_model *model, struct bli_run *run, char *policy,
                         size_t size) {
    static const char *const dists[] = {"exp", "det", "hyper(4)", "erlang(3)"};
    *model = (struct bli_model){.load = 0.02 + 1.2 * bal_rng_uniform(rng)};
    char text[80];
    snprintf(text, sizeof text, "%u", 2 + bal_rng_below(rng, 5));
    assert_int_equal(bli_servers_parse(text, &model->servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(dists[bal_rng_below(rng, 2) * bal_rng_below(rng, 4)], &model->size, NULL),
                     BAL_OK);
    if (bal_rng_below(rng, 2)) {
        assert_int_equal(bli_dist_parse(dists[bal_rng_below(rng, 4)], &model->standby, NULL), BAL_OK);
        bli_dist_scale(&model->standby, pow(10, 3 * bal_rng_uniform(rng) - 2));
    }
    if (bal_rng_below(rng, 2)) {
        assert_int_equal(bli_dist_parse(dists[bal_rng_below(rng, 4)], &model->setup, NULL), BAL_OK);
        bli_dist_scale(&model->setup, pow(10, 3 * bal_rng_uniform(rng) - 2));
    }
    const double busy = bal_rng_below(rng, 2) * bal_rng_uniform(rng), left = 1 - busy,
                 setup = bal_rng_below(rng, 2) * left * bal_rng_uniform(rng);
    model->start = (struct bli_start){busy, setup, bal_rng_below(rng, 2) * (left - setup)};
    model->watts = (struct bli_watts){1 + bal_rng_below(rng, 200), bal_rng_below(rng, 200),
                                      bal_rng_below(rng, 200), bal_rng_below(rng, 20)};
    static const double warmups[] = {0, 0.2, 0.5, 0.999, BLI_WARMUP_MSER};
    *run = (struct bli_run){.seed = bal_rng_below(rng, 1000),
                            .time = pow(10, 6 * bal_rng_uniform(rng) - 4),
                            .warmup = warmups[bal_rng_below(rng, 5)],
                            .engine = bal_rng_below(rng, 2) ? BLI_ENGINE_EVENT : BLI_ENGINE_AUTO};
    static const char *const rules[] = {"central", "jiq", "rcpb:c=1,mu=2", "delayed-off", "tabs", "tabs"};
    const uint32_t rule = bal_rng_below(rng, 6);
    snprintf(policy, size, "%s", rules[rule]);
    if (rule >= 3)
        snprintf(policy, size, "%s:mu=%.3g,nu=%.3g", rules[rule], pow(10, 4 * bal_rng_uniform(rng) - 2),
                 pow(10, 4 * bal_rng_uniform(rng) - 2));
    if (rule == 0 || rule == 3)
        run->engine = BLI_ENGINE_AUTO;
    else if (bal_rng_below(rng, 4) == 0)
        model->buffer = 1 + bal_rng_below(rng, 3);
}

/* Every server is busy, stands by, is in set-up or off at every moment, and so spends no less and no more
 * watts than those states do, however short the run, whatever it starts from and wherever it is cut. */
static void power_is_conserved(void **unused) {
    (void)unused;
    struct bal_rng rng;
    bal_rng_init(&rng, 13, 0, 0);
    for (int i = 0; i < 3000; i++) {
        struct bli_model model;
        struct bli_run run;
        char policy[80];
        draw_setting(&rng, &model, &run, policy, sizeof policy);
        double jobs[7], response[7], p99[7], watts[7];
        struct bli_history history = {
            .spans = 7, .jobs = jobs, .response = response, .p99 = p99, .watts = watts};
        run.history = run.engine == BLI_ENGINE_EVENT ? &history : NULL;
        struct bli_trial trial = {0};
        simulate(&model, policy, &run, &trial);
        const double *m = trial.metric;
        const double part[] = {m[BLI_SERVERS_BUSY], m[BLI_SERVERS_STANDBY], m[BLI_SERVERS_SETUP],
                               m[BLI_SERVERS_OFF]};
        const double watt[] = {model.watts.busy, model.watts.idle, model.watts.setup, model.watts.off};
        double sum = 0, mean = 0, least = INFINITY, most = 0;
        for (int k = 0; k < 4; k++) {
            if (!(part[k] >= 0 && part[k] <= 1))
                fail_msg("setting %d, %s: state %d has the part %.17g", i, policy, k, part[k]);
            sum += part[k];
            mean += part[k] * watt[k];
            least = fmin(least, watt[k]);
            most = fmax(most, watt[k]);
        }
        if (!(fabs(sum - 1) < 1e-6))
            fail_msg("setting %d, %s: the parts sum to %.17g", i, policy, sum);
        assert_true(fabs(m[BLI_POWER_MEAN] - mean) <= 1e-9 * most);
        assert_true(m[BLI_POWER_MEAN] > least - 1e-3 && m[BLI_POWER_MEAN] < most + 1e-3);
        if (!run.history)
            continue;
        double spent = 0;
        const double servers = bli_servers_count(&model.servers);
        for (int k = 0; k < 7; k++) {
            if (!(watts[k] > servers * least - 1e-6 && watts[k] < servers * most + 1e-6))
                fail_msg("setting %d, %s: %.17g W in span %d", i, policy, watts[k], k);
            spent += watts[k] / 7;
        }
        if (run.warmup == 0 && !(fabs(spent - servers * mean) < 1e-6))
            fail_msg("setting %d, %s: %.17g W in all spans, %.17g in the run", i, policy, spent,
                     servers * mean);
    }
}

/* Idle servers report at their rate until the run ends, and not until the next event after it. The reports of
 * 2000 runs are Poisson; five deviations: false alarm 6e-7. */
static void reports_end_with_the_run(void **unused) {
    (void)unused;
    static const enum bli_engine engines[] = {BLI_ENGINE_MARKOV, BLI_ENGINE_EVENT};
    for (int e = 0; e < 2; e++) {
        struct bli_model model = small_model();
        model.load = 1e-9;
        double reports = 0;
        for (unsigned r = 0; r < 2000; r++) {
            const struct bli_run run = {
                .seed = 1, .replication = r, .time = 0.1, .warmup = 0, .engine = engines[e]};
            struct bli_trial trial = {0};
            simulate(&model, "rcpb:c=1,mu=2", &run, &trial);
            reports += trial.metric[BLI_MESSAGES_PER_TIME] * 0.1;
        }
        const double expected = 2000 * 0.1 * 4 * 2;
        if (!(fabs(reports - expected) < 5 * sqrt(expected)))
            fail_msg("%s: %g reports where %g are due", bli_engine_text(engines[e]), reports, expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_are_read_and_printed),
        cmocka_unit_test(watts_are_read_and_printed),
        cmocka_unit_test(common_queues_are_for_simulation_alone),
        cmocka_unit_test(impossible_power_is_refused),
        cmocka_unit_test(energy_is_metered),
        cmocka_unit_test(timers_count_where_they_run_out),
        cmocka_unit_test(power_is_conserved),
        cmocka_unit_test(reports_end_with_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
