/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine live-core, which hosts the code of live fleets, against the others: with one dispatcher and no
 * delay the event engine, and where there is one queue the formula; with several dispatchers, delays, losses
 * and failures the network engine, whose messages are compared in cross/live_network.
 *
 * Arrivals, sizes and classes are the same on both sides; delays, losses and failures are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/engine/core_engine.h"
#include "../agree.h"

#include <string.h>

/* Some 200 comparisons: with 1e-6 for each the test fails by chance with a probability below 2e-4. */
static const double alarm = 1e-6;
enum { RUNS = 24, JOBS = 10000 };

static struct bli_model model_of(const char *servers, double load, const char *size) {
    struct bli_model model = {.load = load};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(size, &model.size, NULL), BAL_OK);
    return model;
}

static struct replications run_by(enum bli_engine engine, const struct bli_model *model, const char *policy,
                                  double jobs) {
    struct bal_policy_spec spec;
    assert_int_equal(bal_policy_parse(policy, &spec, NULL), BAL_OK);
    const struct bli_run run = {
        .seed = 1, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1, .engine = engine};
    return replicate(model, &spec, &run, RUNS);
}

/* slack: what is known to differ, in parts of the mean. */
static bool same(const struct bli_model *model, enum bli_engine engine, const char *policy, double slack) {
    static const int compared[] = {
        BLI_RESPONSE_MEAN, BLI_RESPONSE_P99, BLI_WAITING_MEAN,       BLI_QUEUE_MEAN,
        BLI_FAILED,        BLI_REFUSED,      BLI_HIGH_RESPONSE_MEAN, BLI_LOW_RESPONSE_MEAN,
        BLI_SERVERS_BUSY,  BLI_METRIC_COUNT, BLI_METRIC_COUNT + 1};
    struct replications core = run_by(BLI_ENGINE_CORE, model, policy, JOBS);
    struct replications other = run_by(engine, model, policy, JOBS);
    double core_mean, other_mean, error;
    describe(&core, BLI_RESPONSE_MEAN, &core_mean, &error);
    describe(&other, BLI_RESPONSE_MEAN, &other_mean, &error);
    print_message("# %s, %s: %.4f and %.4f\n", policy, bli_engine_text(engine), core_mean, other_mean);
    bool good = true;
    for (unsigned i = 0; i < sizeof compared / sizeof *compared; i++)
        good &= agrees(&core, &other, compared[i], alarm, slack, policy);
    replications_free(&core);
    replications_free(&other);
    return good;
}

/* A time of a core is a whole number of nanoseconds, 1e-9 of a service. */
static void one_dispatcher_is_that_of_the_event_engine(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "jiq", "least-conn", "pod:d=2", "jsq", "round-robin"};
    bool good = true;
    for (unsigned i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct bli_model exponential = model_of("10", 0.8, "exp");
        good &= same(&exponential, BLI_ENGINE_EVENT, policies[i], 0);
        struct bli_model slots = model_of("4", 0.7, "hyper(4)");
        slots.slots = 3;
        /* A station offers each of its free slots; in the event engine a server has a free one, or none. */
        if (strcmp(policies[i], "jiq") == 0)
            slots.network.dispatchers.count = 2;
        good &= same(&slots, slots.network.dispatchers.count ? BLI_ENGINE_NETWORK : BLI_ENGINE_EVENT,
                     policies[i], 0);
    }
    const struct bli_model unequal = model_of("6x1,4x3", 0.8, "erlang(2)");
    good &= same(&unequal, BLI_ENGINE_EVENT, "least-conn", 0);
    struct bli_model classes = model_of("5", 0.8, "exp");
    classes.classes = true;
    classes.high = 0.3;
    good &= same(&classes, BLI_ENGINE_EVENT, "jsq", 0);
    classes.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    good &= same(&classes, BLI_ENGINE_EVENT, "jiq", 0);
    struct bli_model bursts = model_of("5", 0.6, "det");
    assert_int_equal(bli_arrivals_parse("mmpp(1,10;3,10)", &bursts.arrivals, NULL), BAL_OK);
    good &= same(&bursts, BLI_ENGINE_EVENT, "jsq", 0);
    assert_true(good);
}

static void check_mean(const struct bli_model *model, double exact) {
    struct replications core = run_by(BLI_ENGINE_CORE, model, "random", 3 * JOBS);
    double mean, error2;
    const unsigned runs = describe(&core, BLI_RESPONSE_MEAN, &mean, &error2);
    print_message("# load %g: %.4f, exactly %.4f\n", model->load, mean, exact);
    assert_true(fabs(mean - exact) < bli_student_quantile(1 - alarm / 2, runs - 1) * sqrt(error2));
    replications_free(&core);
}

/* M/M/1, and M/G/1 by the formula of Pollaczek and Khinchine, each dispatcher and server independently. */
static void one_queue_is_that_of_the_formula(void **state) {
    (void)state;
    struct bli_model model = model_of("2", 0.5, "exp");
    model.network.dispatchers.count = 2;
    check_mean(&model, 2);
    model = model_of("2", 0.6, "hyper(3)");
    model.network.dispatchers.count = 2;
    check_mean(&model, 1 + 0.6 * (1 + 3) / (2 * (1 - 0.6)));
}

static struct bli_model network_of(const char *servers, double load) {
    struct bli_model model = model_of(servers, load, "exp");
    model.network.dispatchers.count = 4;
    assert_int_equal(bli_dist_parse("det", &model.network.delay, NULL), BAL_OK);
    bli_dist_scale(&model.network.delay, 0.02);
    model.network.heartbeat = 2;
    model.network.timeout = 2;
    return model;
}

static void add_events(struct bli_model *model, const char *events) {
    assert_int_equal(bli_network_events_parse(events, &model->network.events, NULL), BAL_OK);
}

static void several_dispatchers_are_those_of_the_network_engine(void **state) {
    (void)state;
    struct bli_model model = network_of("10", 0.7);
    bool good = same(&model, BLI_ENGINE_NETWORK, "jiq:else=hold", 0.002);
    good &= same(&model, BLI_ENGINE_NETWORK, "pod:d=2", 0.002);
    good &= same(&model, BLI_ENGINE_NETWORK, "ewma", 0.002);
    model.network.dispatchers.unequal = true;
    memcpy(model.network.dispatchers.share, (double[]){0.4, 0.3, 0.2, 0.1}, 4 * sizeof(double));
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=least-conn", 0.002);
    model = network_of("5x1,5x3", 0.8);
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=least-conn", 0.002);
    model = network_of("10", 0.95);
    model.hold_limit = (struct bli_hold_limit){.given = true, .jobs = 3};
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=hold", 0.01);
    model = network_of("10", 0.8);
    model.classes = true;
    model.high = 0.3;
    model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=hold", 0.002);
    assert_true(good);
}

/* Stations offer their free slots whatever the policy is, and one that is back says so at once: so a
 * dispatcher that does not hold jobs knows sooner than in the network engine who is there again. A station
 * that has passed jobs on asks for others also when their responses pass. */
static void failures_are_those_of_the_network_engine(void **state) {
    (void)state;
    struct bli_model model = network_of("10", 0.6);
    model.network.churn = (struct bli_churn){.up = 300, .down = 20};
    model.network.ejection = true;
    bool good = same(&model, BLI_ENGINE_NETWORK, "jiq:else=hold", 0.01);
    good &= same(&model, BLI_ENGINE_NETWORK, "least-conn", 0.01);
    model.network.churn.lose = true;
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=least-conn", 0.01);
    model = network_of("10", 0.6);
    model.network.fail_fast.share = 0.1;
    model.network.ejection = true;
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=least-conn", 0.01);
    model = network_of("10", 0.6);
    add_events(&model, "restart-dispatchers@500+100 restart-servers:0.5,5@1000+100 cut:0.3,0.5@1500+30 "
                       "loss:0.4@2000+200");
    model.network.cold = (struct bli_cold){.factor = 3, .over = 50};
    good &= same(&model, BLI_ENGINE_NETWORK, "jiq:else=least-conn", 0.01);
    good &= same(&model, BLI_ENGINE_NETWORK, "least-conn", 0.01);
    model = network_of("10", 0.7);
    model.steal.kind = BAL_STEAL_HALF;
    model.others = true;
    good &= same(&model, BLI_ENGINE_NETWORK, "random", 0.03);
    assert_true(good);
}

/* Jobs that are passed on from a server that fails, or to one that does, are neither lost nor doubled: all
 * that came are answered, have failed, or are still there. */
static void nothing_is_lost(void **state) {
    (void)state;
    struct bli_model model = network_of("6", 0.7);
    model.network.churn = (struct bli_churn){.up = 20, .down = 3};
    model.network.ejection = true;
    model.steal.kind = BAL_STEAL_HALF;
    model.others = true;
    add_events(&model, "restart-dispatchers@100+400");
    struct bal_policy_spec spec;
    assert_int_equal(bal_policy_parse("random", &spec, NULL), BAL_OK);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct bli_run run = {.seed = seed, .time = 2000, .warmup = 0, .engine = BLI_ENGINE_CORE};
        struct bli_core_counts counts;
        const struct bli_core_options options = {.counts = &counts};
        struct bli_trial trial = {0};
        assert_int_equal(bli_core_measure(&model, &spec, &run, &options, &trial, NULL), BAL_OK);
        const double ended = (double)trial.jobs / (1 - trial.metric[BLI_FAILED]);
        print_message("# seed %u: %u came, %.0f ended, %.3f stolen for each\n", (unsigned)seed,
                      (unsigned)counts.arrived, ended, trial.metric[BLI_STEALING_MOVED]);
        assert_true(ended <= (double)counts.arrived && ended > (double)counts.arrived - 200);
        assert_true(trial.metric[BLI_STEALING_MOVED] > 0.05);
    }
}

/* Jobs that wait at dispatchers which restart come again, each of them once: some ten are there in the end,
 * and were there whenever all four restarted. */
static void nor_is_what_waits_where_dispatchers_restart(void **state) {
    (void)state;
    enum { SEEDS = 20 };
    struct bli_model model = network_of("6", 0.9);
    char events[400] = "";
    for (int i = 0; i < BLI_NETWORK_EVENTS_MAX; i++)
        snprintf(events + strlen(events), sizeof events - strlen(events), "%srestart-dispatchers@%d",
                 i ? " " : "", 100 + 100 * i);
    add_events(&model, events);
    struct bal_policy_spec spec;
    assert_int_equal(bal_policy_parse("jiq:else=hold", &spec, NULL), BAL_OK);
    double missing = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct bli_run run = {.seed = seed, .time = 2000, .warmup = 0, .engine = BLI_ENGINE_CORE};
        struct bli_core_counts counts;
        const struct bli_core_options options = {.counts = &counts};
        struct bli_trial trial = {0};
        assert_int_equal(bli_core_measure(&model, &spec, &run, &options, &trial, NULL), BAL_OK);
        missing += (double)counts.arrived - (double)trial.jobs;
    }
    print_message("# %.1f are there at the end\n", missing / SEEDS);
    assert_true(missing < 25 * SEEDS);
}

/* More jobs at one host than there was room for: the run begins again, and measures what one with more room
 * would have. */
static void an_overload_is_no_error(void **state) {
    (void)state;
    const struct bli_model model = model_of("2", 3, "exp");
    static const char *const policies[] = {"random", "jiq:else=hold"};
    for (int i = 0; i < 2; i++) {
        struct replications core = run_by(BLI_ENGINE_CORE, &model, policies[i], 2 * JOBS);
        struct replications network = run_by(BLI_ENGINE_NETWORK, &model, policies[i], 2 * JOBS);
        for (int run = 0; run < RUNS; run++) { /* two thirds of the jobs wait in the end */
            const double mean = core.value[run][BLI_QUEUE_TOTAL];
            assert_true(mean > 5000 && fabs(mean / network.value[run][BLI_QUEUE_TOTAL] - 1) < 0.05);
        }
        replications_free(&core);
        replications_free(&network);
    }
}

static void the_same_seed_gives_the_same(void **state) {
    (void)state;
    struct bli_model model = network_of("10", 0.7);
    model.network.loss = 0.05;
    model.network.churn = (struct bli_churn){.up = 100, .down = 10};
    struct replications one = run_by(BLI_ENGINE_CORE, &model, "jiq:else=hold", 5000);
    struct replications two = run_by(BLI_ENGINE_CORE, &model, "jiq:else=hold", 5000);
    for (int run = 0; run < RUNS; run++)
        for (int quantity = 0; quantity < QUANTITIES; quantity++)
            assert_memory_equal(&one.value[run][quantity], &two.value[run][quantity], sizeof(double));
    replications_free(&one);
    replications_free(&two);
}

static void expect_refused(const struct bli_model *model, const char *policy, const char *why) {
    struct bal_policy_spec spec;
    struct bal_error err = {0};
    enum bli_engine chosen;
    assert_int_equal(bal_policy_parse(policy, &spec, NULL), BAL_OK);
    assert_int_not_equal(bli_simulate_check(model, &spec, BLI_ENGINE_CORE, &chosen, &err), BAL_OK);
    if (!strstr(err.text, why))
        fail_msg("%s: '%s' does not say '%s'", policy, err.text, why);
}

static void what_it_cannot_do_is_said(void **state) {
    (void)state;
    struct bli_model model = model_of("10", 0.5, "exp");
    expect_refused(&model, "least-work", "needs the work that is left at each server");
    expect_refused(&model, "tabs", "policies that switch servers off");
    expect_refused(&model, "rcpb", "servers that report at a rate while they are idle");
    expect_refused(&model, "jiq:report=2", "which stations do not do; use report=1");
    model.network.heartbeat = 3601;
    expect_refused(&model, "jiq",
                   "heartbeat is 3601 mean service times; engine 'live-core' knows 0.001 to 3600");
    model.network.heartbeat = 0;
    model.buffer = 3;
    expect_refused(&model, "jiq", "buffers at the servers; use markov or auto");
    model.buffer = 0;
    model.steal.kind = BAL_STEAL_HALF;
    expect_refused(&model, "random", "thieves that may ask themselves (victims: all)");
    model.others = true;
    assert_int_equal(bli_servers_parse("100k", &model.servers, NULL), BAL_OK);
    expect_refused(&model, "random", "peers is");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dispatcher_is_that_of_the_event_engine),
        cmocka_unit_test(one_queue_is_that_of_the_formula),
        cmocka_unit_test(several_dispatchers_are_those_of_the_network_engine),
        cmocka_unit_test(failures_are_those_of_the_network_engine),
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(nor_is_what_waits_where_dispatchers_restart),
        cmocka_unit_test(an_overload_is_no_error),
        cmocka_unit_test(the_same_seed_gives_the_same),
        cmocka_unit_test(what_it_cannot_do_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
