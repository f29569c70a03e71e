/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that work on several jobs at once: what they can do, what dispatchers learn of them, what they
 * draw; and M/M/k. That every time is right is what tests/cross/event_steal_twin.c asks.
 *
 * Statistical tests compare the mean of R replications with its exact value: with the seeds left free they
 * would fail wrongly with probability 1e-4 each (Student's t with R - 1 degrees of freedom). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/simulate.h"
#include "ballast/theory.h"
#include "texts.h"

#include <math.h>

static struct bli_model model_of(const char *servers, const char *size, double load, uint32_t slots) {
    struct bli_model model = {.load = load, .slots = slots};
    struct bal_error err;
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse(size, &model.size, &err))
        fail_msg("%s", err.text);
    return model;
}

static struct bli_trial simulate(const struct bli_model *model, const char *policy, uint64_t seed,
                                 uint64_t replication, double jobs) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run run = {.seed = seed,
                                .replication = replication,
                                .time = jobs / bli_model_arrival_rate(model),
                                .warmup = 0.1};
    struct bli_trial trial = {0};
    struct bal_error err;
    if (bli_simulate(model, &spec, &run, &trial, &err))
        fail_msg("%s: %s", policy, err.text);
    return trial;
}

static void capacity_counts_the_slots(void **state) {
    (void)state;
    const struct bli_model model = model_of("3x2,4x1", "det(4)", 0.5, 6);
    assert_true(bli_model_capacity(&model) == 60);
    assert_true(bli_model_arrival_rate(&model) == 0.5 * 60 / 4);
    struct bli_model plain = model;
    plain.slots = 0;
    assert_true(bli_model_capacity(&plain) == 10);
    /* One slot is the model without slots. */
    plain.slots = 1;
    const struct bli_trial one = simulate(&plain, "jiq", 3, 0, 3000);
    plain.slots = 0;
    const struct bli_trial none = simulate(&plain, "jiq", 3, 0, 3000);
    assert_memory_equal(one.metric, none.metric, sizeof one.metric);
}

/* ---- exact values ---- */

enum { REPLICATIONS = 20 };

static void expect_mean(const struct bli_model *model, const char *policy, enum bli_metric metric,
                        double exact, double jobs) {
    double value[REPLICATIONS];
    for (unsigned r = 0; r < REPLICATIONS; r++)
        value[r] = simulate(model, policy, 7, r, jobs).metric[metric];
    const struct bli_estimate mean = bli_estimate_mean(value, REPLICATIONS);
    const double wider =
        bli_student_quantile(1 - 0.5e-4, REPLICATIONS - 1) / bli_student_quantile(0.975, REPLICATIONS - 1);
    if (!(fabs(mean.mean - exact) <= wider * mean.half_width))
        fail_msg("%s, %u slots: %s is %g, not %g within %g", policy, model->slots,
                 bli_metric_table[metric].name, mean.mean, exact, wider * mean.half_width);
    if (!(wider * mean.half_width < 0.1 * exact))
        fail_msg("%s, %u slots: %s known to within %g only", policy, model->slots,
                 bli_metric_table[metric].name, wider * mean.half_width);
}

static void one_server_is_mmk(void **state) {
    (void)state;
    static const uint32_t slots[] = {2, 5, 16};
    for (int i = 0; i < 3; i++) {
        const double speed = 2.385;
        struct bli_model model = model_of("1x2.385", "exp(1.7)", 0.8, slots[i]);
        const struct bli_wait wait = bli_wait_mmn(0.8, slots[i]);
        const double unit = 1.7 / speed;
        expect_mean(&model, "random", BLI_RESPONSE_MEAN, bli_wait_response_mean(&wait) * unit, 40000);
        expect_mean(&model, "jsq", BLI_WAITING_PROBABILITY, wait.probability, 40000);
    }
}

/* Under random each of many servers is M/M/k, under least-work all of them together are M/M/(N k); the
 * theory that is shown beside results says so. */
static void fleets_are_what_theory_says(void **state) {
    (void)state;
    const struct bli_model model = model_of("8", "exp", 0.9, 4);
    const struct bal_policy_spec random = policy_of("random"), least_work = policy_of("least-work"),
                                 pod = policy_of("pod:d=2"), jiq = policy_of("jiq");
    const struct bli_prediction each = bli_theory_predict(&model, &random),
                                all = bli_theory_predict(&model, &least_work);
    const struct bli_wait mm4 = bli_wait_mmn(0.9, 4), mm32 = bli_wait_mmn(0.9, 32);
    assert_true(each.response_mean == bli_wait_response_mean(&mm4));
    assert_true(all.response_mean == bli_wait_response_mean(&mm32));
    assert_true(bli_theory_lower_bound(&model) == bli_wait_response_mean(&mm32));
    expect_mean(&model, "random", BLI_RESPONSE_MEAN, each.response_mean, 50000);
    expect_mean(&model, "random", BLI_WAITING_PROBABILITY, each.waiting_probability, 50000);
    expect_mean(&model, "least-work", BLI_RESPONSE_MEAN, all.response_mean, 50000);
    expect_mean(&model, "least-work", BLI_WAITING_PROBABILITY, all.waiting_probability, 50000);
    /* ... and of what it does not know it is silent. */
    assert_true(bli_theory_predict(&model, &pod).kind == BLI_THEORY_UNKNOWN);
    struct bli_model steals = model;
    steals.slots = 1;
    bal_steal_parse("half", &steals.steal, NULL);
    assert_true(bli_theory_predict(&steals, &jiq).kind == BLI_THEORY_UNKNOWN);
    assert_true(isnan(bli_theory_critical_load(&steals, &pod)));
}

/* ---- what dispatchers learn ---- */

/* With several slots a server reports room that the dispatcher knows of already. No policy may be confused:
 * a report said twice is a report said once. */
static void reports_may_be_repeated(void **state) {
    (void)state;
    enum { SERVERS = 12 };
    const struct bal_policy_context setting = {SERVERS, 0.5};
    unsigned tried = 0;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy *policy = bal_policy_table[i];
        if (!(policy->wants & (BAL_WANTS_IDLE | BAL_WANTS_STILL_IDLE)))
            continue;
        const struct bal_policy_spec spec = policy_of(policy->name);
        const enum bal_report what = policy->wants & BAL_WANTS_IDLE ? BAL_REPORT_IDLE : BAL_REPORT_STILL_IDLE;
        void *once = malloc(bal_policy_size(&spec, &setting) + 1);
        void *often = malloc(bal_policy_size(&spec, &setting) + 1);
        assert_true(once && often);
        bal_policy_init(&spec, &setting, once);
        bal_policy_init(&spec, &setting, often);
        uint32_t length[SERVERS] = {0};
        struct bal_fleet fleet = {.servers = SERVERS, .length = length, .own = length};
        const struct bal_job job = {.count = 1};
        uint32_t to_once[SERVERS] = {0}, to_often[SERVERS] = {0};
        /* Three servers have room. The next jobs go to each of these once, however often they said it. */
        static const uint32_t room[] = {2, 5, 11};
        for (int r = 0; r < 3; r++) {
            bal_policy_report(&spec, once, &fleet, what, room[r], NULL);
            for (int k = 0; k < 1 + r; k++)
                bal_policy_report(&spec, often, &fleet, what, room[r], NULL);
        }
        struct bal_rng rng_once, rng_often;
        bal_rng_init(&rng_once, 1, 0, BAL_STREAM_TEST);
        bal_rng_init(&rng_often, 1, 0, BAL_STREAM_TEST);
        const unsigned known = strcmp(policy->name, "rcpb") == 0        ? (unsigned)spec.value[0]
                               : strcmp(policy->name, "last-idle") == 0 ? 1
                                                                        : 3;
        for (unsigned k = 0; k < known; k++) {
            to_once[bal_policy_route(&spec, once, &fleet, &job, &rng_once).server]++;
            to_often[bal_policy_route(&spec, often, &fleet, &job, &rng_often).server]++;
        }
        unsigned reached = 0;
        for (int r = 0; r < 3; r++) {
            assert_true(to_once[room[r]] <= 1 && to_often[room[r]] <= 1);
            reached += to_often[room[r]];
        }
        assert_int_equal(reached, known);
        free(once);
        free(often);
        tried++;
    }
    assert_true(tried >= 4); /* jiq, pi, rcpb, tabs */
}

/* At a load where there is nearly always a server with room, a dispatcher that is told of room makes hardly
 * anybody wait; each completion that leaves a slot free is a report. */
static void a_free_slot_is_reported(void **state) {
    (void)state;
    const struct bli_model model = model_of("20", "exp", 0.4, 5);
    const struct bli_trial jiq = simulate(&model, "jiq", 11, 0, 40000);
    const struct bli_trial random = simulate(&model, "random", 11, 0, 40000);
    assert_true(jiq.metric[BLI_REPORTS_PER_JOB] > 0.95 && jiq.metric[BLI_REPORTS_PER_JOB] <= 1.001);
    assert_true(jiq.metric[BLI_WAITING_PROBABILITY] < 0.2 * random.metric[BLI_WAITING_PROBABILITY]);
    /* Servers with a free slot report at a rate; here all of them nearly always: mu = 3 for each in a mean
     * service time, in which 20 x 5 x 0.01 jobs come. */
    const struct bli_model quiet = model_of("20", "exp(0.25)", 0.01, 5);
    const struct bli_trial rcpb = simulate(&quiet, "rcpb:c=2,mu=3", 11, 0, 20000);
    assert_true(fabs(rcpb.metric[BLI_REPORTS_PER_JOB] - 20 * 3 / (20 * 5 * 0.01)) < 2);
    /* ... and at any load those that have one: a Poisson number, 1 % being six of its deviations. */
    const struct bli_model busy = model_of("20", "exp", 0.9, 5);
    const struct bli_trial told = simulate(&busy, "rcpb:c=2,mu=50", 11, 0, 100000);
    const double rate = 20 * 50 * (1 - told.tail[5]);
    assert_true(told.tail[5] > 0.3 && fabs(told.metric[BLI_MESSAGES_PER_TIME] / rate - 1) < 0.01);
}

/* least-work: of several servers with a free slot each is as likely to get a job, by the index as by a scan.
 * No response time depends on it, but how many servers are busy does. */
static void ties_are_uniform(void **state) {
    (void)state;
    const struct bli_model model = model_of("6", "exp", 0.25, 4);
    const struct bal_policy_spec spec = policy_of("least-work");
    double difference[REPLICATIONS];
    for (unsigned r = 0; r < REPLICATIONS; r++) {
        double busy[2];
        for (int plain = 0; plain < 2; plain++) {
            const struct bli_run run = {
                .seed = 19, .replication = r, .time = 2000, .warmup = 0.1, .reference = plain};
            struct bli_trial trial = {0};
            assert_int_equal(bli_simulate(&model, &spec, &run, &trial, NULL), BAL_OK);
            busy[plain] = trial.metric[BLI_SERVERS_BUSY];
        }
        difference[r] = busy[0] - busy[1];
    }
    const struct bli_estimate mean = bli_estimate_mean(difference, REPLICATIONS);
    const double wider =
        bli_student_quantile(1 - 0.5e-4, REPLICATIONS - 1) / bli_student_quantile(0.975, REPLICATIONS - 1);
    assert_true(fabs(mean.mean) <= wider * mean.half_width && wider * mean.half_width < 0.01);
}

/* ---- power ---- */

/* A server is busy as long as it has a job. With long standby and few jobs, each alone at its server, that is
 * load x slots of the servers; what the work needs is load. */
static void power_follows_servers_not_slots(void **state) {
    (void)state;
    struct bli_model model = model_of("200", "det", 0.002, 4);
    model.watts = (struct bli_watts){100, 0, 0, 0};
    const struct bli_trial trial = simulate(&model, "jsq", 13, 0, 20000);
    assert_true(fabs(trial.metric[BLI_SERVERS_BUSY] - 0.008) < 0.0004);
    assert_true(fabs(trial.metric[BLI_POWER_WASTE] - 3) < 0.01);
    /* tabs: everybody accounted for, and servers that are empty switch off */
    model.load = 0.3;
    const struct bli_trial tabs = simulate(&model, "tabs:mu=1,nu=1", 13, 0, 60000);
    const double *m = tabs.metric;
    assert_true(fabs(m[BLI_SERVERS_BUSY] + m[BLI_SERVERS_STANDBY] + m[BLI_SERVERS_SETUP] +
                     m[BLI_SERVERS_OFF] - 1) < 1e-9);
    assert_true(m[BLI_SERVERS_OFF] > 0.01 && m[BLI_SERVERS_BUSY] >= 0.3 * 0.98);
    assert_true(m[BLI_REPORTS_PER_JOB] < 3);
}

/* ---- what does not fit ---- */

static void expect_refused(const struct bli_model *model, const char *policy, enum bli_engine engine,
                           const char *text) {
    const struct bal_policy_spec spec = policy_of(policy);
    enum bli_engine chosen;
    struct bal_error err = {0};
    assert_true(bli_simulate_check(model, &spec, engine, &chosen, &err) != BAL_OK);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    const struct bli_model good = model_of("10", "exp", 0.5, 4);
    const struct bal_policy_spec random = policy_of("random");
    enum bli_engine chosen;
    assert_int_equal(bli_simulate_check(&good, &random, BLI_ENGINE_AUTO, &chosen, NULL), BAL_OK);
    assert_int_equal(chosen, BLI_ENGINE_EVENT);
    expect_refused(&good, "random", BLI_ENGINE_MARKOV,
                   "cannot simulate servers of several slots; use event or auto");
    struct bli_model model = good;
    model.classes = true;
    model.high = 0.5;
    expect_refused(&model, "pod-ssp", BLI_ENGINE_AUTO,
                   "servers of several slots cannot be had with discipline preemptive");
    model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    expect_refused(&model, "least-work", BLI_ENGINE_AUTO, "under another discipline than fifo");
    const struct bli_trial trial = simulate(&model, "pod-ssp", 17, 0, 20000); /* moves jobs that wait */
    assert_true(trial.metric[BLI_HIGH_RESPONSE_MEAN] <= trial.metric[BLI_LOW_RESPONSE_MEAN]);
    model.slots = 1;
    bal_steal_parse("half", &model.steal, NULL);
    expect_refused(&model, "random", BLI_ENGINE_AUTO,
                   "servers that steal cannot be had with classes of jobs");
    model = good;
    model.slots = 1000000000;
    expect_refused(&model, "random", BLI_ENGINE_AUTO, "10 servers of 1000000000 slots");
    model = good;
    model.clock = BLI_CLOCK_SLOTTED;
    bli_batch_parse("poisson", &model.batch, NULL);
    expect_refused(&model, "random", BLI_ENGINE_AUTO, "need continuous time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capacity_counts_the_slots),
        cmocka_unit_test(one_server_is_mmk),
        cmocka_unit_test(fleets_are_what_theory_says),
        cmocka_unit_test(reports_may_be_repeated),
        cmocka_unit_test(a_free_slot_is_reported),
        cmocka_unit_test(power_follows_servers_not_slots),
        cmocka_unit_test(ties_are_uniform),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
