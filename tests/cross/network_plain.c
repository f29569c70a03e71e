/* SPDX-License-Identifier: BSD-2-Clause */
/* One dispatcher next to its servers is what the event engine simulates: without delay, loss and failures the
 * network engine must go through the same states and measure the same, to the last bit, for every policy and
 * every kind of fleet that both know. What looks at the network alone is judged by what must be conserved. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../texts.h"
#include "../trials.h"
#include "ballast/simulate.h"

enum {
    FIFO,
    CLASSES,
    PATIENT,
    SLOTS,
    STEALING,
    CURVE,
    BUFFER,
    MANY,
    MANY_WAIT,
    SPEEDS,
    SPEEDS_ALL,
    SPEEDS_CLASSES,
    SPEEDS_STEALING,
    SHAPES
};

static struct bli_model model_of(const char *servers, const char *size, int shape) {
    struct bli_model model = {.load = 0.8};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse(size, &model.size, &err) ||
        (shape == CURVE && bli_curve_parse("sine(0.5,20)", &model.curve, &err)) ||
        ((shape == STEALING || shape == SPEEDS_STEALING) && bal_steal_parse("half", &model.steal, &err)) ||
        (shape >= SPEEDS && bli_speeds_parse("table(1:1 2:1.8 4:2.5 5:2)", &model.speeds, &err)))
        fail_msg("%s", err.text);
    model.classes = shape == CLASSES || shape == PATIENT || shape == SPEEDS_CLASSES;
    model.high = model.classes ? 0.3 : 0;
    if ((shape == MANY || shape == MANY_WAIT) && bli_model_parse_classes("0.2,0.1,0.3,0.4", &model, &err))
        fail_msg("%s", err.text);
    if (shape == PATIENT || shape == MANY_WAIT || shape == SPEEDS_CLASSES)
        model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    if (shape == SLOTS)
        model.slots = 3;
    if (shape >= SPEEDS)
        model.slots = shape == SPEEDS_ALL ? BLI_SLOTS_ALL : 4;
    if (shape == BUFFER)
        model.buffer = 2;
    return model;
}

static struct bli_trial simulate(const struct bli_model *model, const struct bal_policy_spec *spec,
                                 enum bli_engine engine, uint64_t replication) {
    const struct bli_run run = {.seed = 77,
                                .replication = replication,
                                .time = 4000 / bli_model_arrival_rate(model),
                                .warmup = NAN,
                                .engine = engine};
    return trial_of(model, spec, &run);
}

static void one_dispatcher_without_delay_is_the_event_engine(void **state) {
    (void)state;
    static const char *const fleets[] = {"1", "10", "4x1,4x2"};
    static const char *const sizes[] = {"exp", "lognormal(4)"};
    unsigned compared = 0;
    for (size_t i = 0; i < bal_policy_count; i++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int f = 0; f < 3; f++) {
                const struct bal_policy_spec spec = policy_of(bal_policy_table[i]->name);
                const struct bli_model model = model_of(fleets[f], sizes[shape % 2], shape);
                enum bli_engine chosen;
                if (bli_simulate_check(&model, &spec, BLI_ENGINE_EVENT, &chosen, NULL) ||
                    bli_simulate_check(&model, &spec, BLI_ENGINE_NETWORK, &chosen, NULL))
                    continue;
                const struct bli_trial event = simulate(&model, &spec, BLI_ENGINE_EVENT, i);
                const struct bli_trial network = simulate(&model, &spec, BLI_ENGINE_NETWORK, i);
                assert_same_trial(&event, &network, spec.policy->name);
                compared++;
            }
    assert_true(compared >= 400);
}

/* ---- the worst of networks ---- */

static struct bli_model stormy_of(int shape, double delay) {
    struct bli_model model = model_of("6x1,4x2", "exp", shape);
    struct bal_error err = {0};
    struct bli_network *network = &model.network;
    model.load = 0.6;
    if (bli_dispatchers_parse("0.5,0.3,0.2", &network->dispatchers, &err) ||
        (delay > 0 && bli_dist_parse("exp", &network->delay, &err)) ||
        bli_churn_parse(shape % 2 ? "50,5" : "50,5,lose", &network->churn, &err) ||
        bli_fail_fast_parse("0.1,0.1", &network->fail_fast, &err) ||
        bli_network_events_parse("restart-dispatchers@100+60 cut:0.3,0.4@150+20 loss:0.5@200+30",
                                 &network->events, &err))
        fail_msg("%s", err.text);
    if (delay > 0)
        bli_dist_scale(&network->delay, delay);
    network->loss = 0.2;
    network->heartbeat = 2;
    network->ejection = shape % 3 == 0;
    return model;
}

/* Power adds up (the engine asserts it), jobs are answered, refused or failed and nothing else, and a job
 * takes at least its two ways. */
static void storms_lose_no_job(void **state) {
    (void)state;
    for (size_t i = 0; i < bal_policy_count; i++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int late = 0; late < 2; late++) {
                const struct bal_policy_spec spec = policy_of(bal_policy_table[i]->name);
                const struct bli_model model = stormy_of(shape, late ? 0.2 : 0);
                enum bli_engine chosen;
                if (bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &chosen, NULL))
                    continue;
                assert_int_equal(chosen, BLI_ENGINE_NETWORK);
                const struct bli_trial trial = simulate(&model, &spec, BLI_ENGINE_AUTO, i);
                const double *metric = trial.metric;
                assert_true(trial.jobs > 0 && metric[BLI_RESPONSE_MEAN] > 0);
                assert_true(metric[BLI_FAILED] > 0 && metric[BLI_FAILED] < 1);
                assert_true(metric[BLI_REFUSED] >= 0 && metric[BLI_LOST] >= 0);
                assert_true(metric[BLI_WAITING_MEAN] <= metric[BLI_RESPONSE_MEAN]);
            }
}

/* A job and its response each take the delay, so that on an idle fleet the response time is the size and
 * twice that; who probes waits for it twice more. */
static void delays_add_up(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        double ways;
    } cases[] = {{"random", 2}, {"least-conn", 2}, {"jiq", 2}, {"pod:d=2", 4}, {"jsq", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_of("1000", "det", FIFO);
        model.load = 0.0001;
        assert_int_equal(bli_dist_parse("det(0.25)", &model.network.delay, NULL), BAL_OK);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        const struct bli_run run = {.seed = 3, .time = 2000, .warmup = 0};
        struct bli_trial trial = {0};
        assert_int_equal(bli_simulate(&model, &spec, &run, &trial, NULL), BAL_OK);
        const double expected = 1 + 0.25 * cases[i].ways;
        if (fabs(trial.metric[BLI_RESPONSE_P50] - expected) > 0.01 * expected)
            fail_msg("%s: %g, not %g", cases[i].policy, trial.metric[BLI_RESPONSE_P50], expected);
    }
}

/* A server that fails fast swallows the traffic of who looks for short queues, and ejection keeps it out.
 */
static void ejection_keeps_the_sinkhole_out(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq", "least-conn", "pod:d=2", "jsq", "pi", "rcpb"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bli_model model = model_of("10", "exp", FIFO);
        model.load = 0.6;
        model.network.fail_fast = (struct bli_fail_fast){0.1, 0.05};
        const struct bal_policy_spec spec = policy_of(policies[i]);
        const double open = simulate(&model, &spec, BLI_ENGINE_AUTO, 0).metric[BLI_FAILED];
        model.network.ejection = true;
        const double shunned = simulate(&model, &spec, BLI_ENGINE_AUTO, 0).metric[BLI_FAILED];
        if (!(open > 0.1 && shunned < 0.01))
            fail_msg("%s: %g failed without and %g with ejection", policies[i], open, shunned);
    }
}

/* Lost reports starve pi's servers for ever; heartbeats bring them back. With one dispatcher none is lost:
 * they come with responses. */
static void heartbeats_mend_losses(void **state) {
    (void)state;
    struct bli_model model = model_of("10", "exp", FIFO);
    const struct bal_policy_spec spec = policy_of("pi");
    const struct bli_trial alone = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
    model.network.loss = 0.1;
    const struct bli_trial one = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
    model.network.dispatchers.count = 2;
    const struct bli_trial lossy = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
    model.network.heartbeat = 1;
    const struct bli_trial beaten = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
    assert_true(one.metric[BLI_RESPONSE_MEAN] < 1.2 * alone.metric[BLI_RESPONSE_MEAN]);
    assert_true(lossy.metric[BLI_RESPONSE_MEAN] > 10 * beaten.metric[BLI_RESPONSE_MEAN]);
}

/* Jobs that wait for an idle server at their dispatcher wait as in one queue, as long as hungry dispatchers
 * are told first. */
static void holding_is_one_queue(void **state) {
    (void)state;
    struct bli_model model = model_of("16", "exp", FIFO);
    model.load = 0.9;
    model.network.dispatchers.count = 4;
    struct bal_policy_spec spec = policy_of("jiq:else=hold");
    const struct bli_run run = {.seed = 5, .time = 20000, .warmup = NAN};
    struct bli_trial trial = {0};
    assert_int_equal(bli_simulate(&model, &spec, &run, &trial, NULL), BAL_OK);
    /* M/M/16 has 1.3696; the standard error of such a run is 0.02. */
    assert_true(fabs(trial.metric[BLI_RESPONSE_MEAN] - 1.3696) < 0.1);
}

/* A job that has failed at the only server there is, is not held for ever, nor does it keep others waiting.
 */
static void holding_outlives_failures(void **state) {
    (void)state;
    static const char *const fleets[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        struct bli_model model = model_of(fleets[i], "exp", FIFO);
        model.load = 0.5;
        model.network.churn = (struct bli_churn){.up = 20, .down = 2};
        const struct bal_policy_spec spec = policy_of("jiq:else=hold");
        const struct bli_trial trial = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
        assert_true(trial.metric[BLI_QUEUE_TOTAL] < 10);
        assert_true(trial.metric[BLI_FAILED] < 0.15);
    }
}

/* That a dispatcher has begun or ceased to hold jobs may be lost like anything else: it is said again. */
static void hunger_is_repeated(void **state) {
    (void)state;
    struct bli_model model = model_of("10", "exp", FIFO);
    model.load = 0.9;
    model.network.dispatchers.count = 4;
    model.network.loss = 0.02;
    model.network.heartbeat = 5;
    const struct bal_policy_spec spec = policy_of("jiq:else=hold");
    const struct bli_run run = {.seed = 5, .time = 10000, .warmup = NAN};
    struct bli_trial trial = {0};
    assert_int_equal(bli_simulate(&model, &spec, &run, &trial, NULL), BAL_OK);
    assert_true(trial.metric[BLI_RESPONSE_MEAN] < 4); /* M/M/10 has 1.67; without it more than 100 */
}

/* An idle server is idle to one dispatcher: heartbeats do not spread its token, so that where nothing gets
 * lost they change nothing. */
static void heartbeats_do_not_multiply_tokens(void **state) {
    (void)state;
    struct bli_model model = model_of("10", "exp", FIFO);
    model.load = 0.9;
    model.network.dispatchers.count = 4;
    const struct bal_policy_spec spec = policy_of("jiq:else=hold");
    double mean[2];
    for (int beats = 0; beats < 2; beats++) {
        model.network.heartbeat = beats;
        const struct bli_run run = {.seed = 6, .time = 4000, .warmup = NAN};
        struct bli_trial trial = {0};
        assert_int_equal(bli_simulate(&model, &spec, &run, &trial, NULL), BAL_OK);
        mean[beats] = trial.metric[BLI_RESPONSE_MEAN];
    }
    assert_true(fabs(mean[1] / mean[0] - 1) < 0.01); /* the same arrivals; with copies of tokens 1.1 */
}

/* A job that leaves a server which fails fast unserved is as it was: at the next server it takes its size,
 * and its answer is right. Here that server never answers. */
static void a_job_forgets_the_sinkhole(void **state) {
    (void)state;
    struct bli_model model = model_of("2", "exp", FIFO);
    model.load = 0.2;
    model.network.fail_fast = (struct bli_fail_fast){0.5, 1e9};
    model.network.churn = (struct bli_churn){.up = 20, .down = 2};
    const struct bal_policy_spec spec = policy_of("random");
    const struct bli_trial trial = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
    assert_true(trial.metric[BLI_RESPONSE_MEAN] < 20);
    assert_true(trial.metric[BLI_FAILED] < 0.3); /* without it 0.9 */
}

/* Where messages take no time, a server in set-up answers at once, and the policy of the job that is held
 * requests its start again: that would go on for ever in one moment. */
static void starts_are_requested_once_in_a_moment(void **state) {
    (void)state;
    struct bli_model model = model_of("5", "exp", FIFO);
    model.load = 0.1;
    model.network.churn = (struct bli_churn){.up = 20, .down = 2};
    const struct bal_policy_spec spec = policy_of("tabs:else=hold");
    const struct bli_trial trial = simulate(&model, &spec, BLI_ENGINE_AUTO, 0);
    assert_true(trial.metric[BLI_MESSAGES_PER_JOB] < 5); /* a job: 2.4 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dispatcher_without_delay_is_the_event_engine),
        cmocka_unit_test(storms_lose_no_job),
        cmocka_unit_test(delays_add_up),
        cmocka_unit_test(ejection_keeps_the_sinkhole_out),
        cmocka_unit_test(heartbeats_mend_losses),
        cmocka_unit_test(holding_is_one_queue),
        cmocka_unit_test(holding_outlives_failures),
        cmocka_unit_test(hunger_is_repeated),
        cmocka_unit_test(heartbeats_do_not_multiply_tokens),
        cmocka_unit_test(a_job_forgets_the_sinkhole),
        cmocka_unit_test(starts_are_requested_once_in_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
