/* SPDX-License-Identifier: BSD-2-Clause */
/* What the paper of Persistent-Idle allows beyond its own figures: any way of dividing a batch among idle
 * servers (equations (6) and (7)), and any starting state (Theorems 3.2 and 3.4, part iii). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
enum { SERVERS = 12 };

struct bench {
    struct bal_policy_spec spec;
    void *state;
    uint32_t length[SERVERS];
    struct bal_share shares[SERVERS];
    struct bal_fleet fleet;
    struct bal_rng rng;
};

static void set_up(struct bench *bench, const char *policy) {
    struct bal_error err;
    memset(bench, 0, sizeof *bench);
    if (bal_policy_parse(policy, &bench->spec, &err))
        fail_msg("%s", err.text);
    const struct bal_policy_context setting = {SERVERS, 0.9};
    bench->fleet = (struct bal_fleet){.servers = SERVERS, .length = bench->length, .shares = bench->shares};
    bench->state = malloc(bal_policy_size(&bench->spec, &setting));
    assert_non_null(bench->state);
    bal_policy_init(&bench->spec, &setting, bench->state);
    bal_rng_init(&bench->rng, 7, 0, 0);
}

static struct bal_decision route(struct bench *bench, uint32_t count) {
    const struct bal_job job = {.count = count, .split = true};
    return bal_policy_route(&bench->spec, bench->state, &bench->fleet, &job, &bench->rng);
}

static void report_idle(struct bench *bench, uint32_t server) {
    bal_policy_report(&bench->spec, bench->state, &bench->fleet, BAL_REPORT_IDLE, server, NULL);
}

/* Condition (7): all jobs are assigned, and where there are idle servers only these get some. */
static void splits_obey_condition_7(void **state) {
    (void)state;
    static const char *const policies[] = {"pi", "pi:split=each", "pi:split=halves"};
    for (size_t p = 0; p < LENGTH(policies); p++) {
        static struct bench bench;
        set_up(&bench, policies[p]);
        bool idle[SERVERS] = {false};
        for (int slot = 0; slot < 20000; slot++) {
            const uint32_t count = 1 + bal_rng_below(&bench.rng, 40);
            bool any = false;
            for (uint32_t s = 0; s < SERVERS; s++) {
                if (!idle[s] && bal_rng_below(&bench.rng, 5) == 0) {
                    idle[s] = true;
                    report_idle(&bench, s);
                }
                any = any || idle[s];
            }
            const struct bal_decision decision = route(&bench, count);
            uint64_t sum = decision.parts ? 0 : count;
            bool gets[SERVERS] = {false};
            for (uint32_t i = 0; i < decision.parts; i++) {
                assert_false(gets[bench.shares[i].server]);
                gets[bench.shares[i].server] = true;
                assert_true(bench.shares[i].count > 0);
                sum += bench.shares[i].count;
            }
            if (!decision.parts)
                gets[decision.server] = true;
            assert_int_equal(sum, count);
            for (uint32_t s = 0; s < SERVERS; s++) {
                assert_true(!gets[s] || !any || idle[s]);
                idle[s] = idle[s] && !gets[s];
            }
            uint32_t left = 0;
            for (uint32_t k = 0; k < SERVERS; k++)
                left += idle[k];
            assert_int_equal(bench.spec.policy->tokens(bench.state), left);
        }
        free(bench.state);
    }
}

static int larger_first(const void *a, const void *b) {
    const struct bal_share *x = a, *y = b;
    return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void halves_are_halves(void **state) {
    (void)state;
    static struct bench bench;
    set_up(&bench, "pi:split=halves");
    for (uint32_t s = 0; s < 4; s++)
        report_idle(&bench, s);
    assert_int_equal(route(&bench, 21).parts, 4);
    qsort(bench.shares, 4, sizeof *bench.shares, larger_first);
    const uint32_t expected[] = {11, 5, 3, 2};
    for (int i = 0; i < 4; i++)
        assert_int_equal(bench.shares[i].count, expected[i]);
    free(bench.state);
}

/* The number of jobs of a server is binomial. 4 of 5 idle servers are looked at, in 20 000 batches of ten
 * jobs: the mean is 2 and the variance 1.6. Normal quantile of a false-alarm probability of 1e-6 each. */
static void each_job_goes_by_itself(void **state) {
    (void)state;
    enum { BATCHES = 20000, IDLE = 5, JOBS = 10 };
    static struct bench bench;
    set_up(&bench, "pi:split=each");
    double sum[IDLE] = {0}, square[IDLE] = {0};
    for (int batch = 0; batch < BATCHES; batch++) {
        for (uint32_t s = 0; s < IDLE; s++)
            report_idle(&bench, s);
        const struct bal_decision decision = route(&bench, JOBS);
        for (uint32_t i = 0; i < decision.parts; i++) {
            sum[bench.shares[i].server] += bench.shares[i].count;
            square[bench.shares[i].server] += (double)bench.shares[i].count * bench.shares[i].count;
        }
    }
    const double mean = JOBS / (double)IDLE, variance = mean * (1 - 1.0 / IDLE);
    for (int s = 0; s + 1 < IDLE; s++) {
        assert_true(fabs(sum[s] / BATCHES - mean) < 4.9 * sqrt(variance / BATCHES));
        /* The fourth central moment of this law is 3 v^2 + v (1 - 6 p (1 - p)) = 7.74. */
        assert_true(fabs(square[s] / BATCHES - mean * mean - variance) <
                    4.9 * sqrt((7.74 - variance * variance) / BATCHES) +
                        2 * mean * 4.9 * sqrt(variance / BATCHES));
    }
    free(bench.state);
}

/* A start by the model is the same as the same queues given one by one. */
static void starts_are_queues(void **state) {
    (void)state;
    static const char *const policies[] = {"pi", "jiq", "jsq", "pod:d=2"};
    struct bli_model model = {.load = 0.7, .clock = BLI_CLOCK_SLOTTED};
    struct bal_error err;
    assert_int_equal(bli_servers_parse("6x1,4xuniform(1,19)", &model.servers, &err), BAL_OK);
    assert_int_equal(bli_batch_parse("poisson", &model.batch, &err), BAL_OK);
    const struct bli_model idle = model;
    assert_int_equal(bli_start_parse("busy=0.5,jobs=300", &model.start, &err), BAL_OK);
    static const uint32_t initial[10] = {300, 300, 300, 300, 300};
    for (size_t p = 0; p < LENGTH(policies); p++) {
        struct bal_policy_spec policy;
        assert_int_equal(bal_policy_parse(policies[p], &policy, &err), BAL_OK);
        struct bli_run run = {.seed = 3, .time = 2000, .warmup = 0};
        struct bli_trial a = {.jobs = 0}, b = {.jobs = 0}, c = {.jobs = 0};
        assert_int_equal(bli_simulate(&model, &policy, &run, &a, &err), BAL_OK);
        assert_int_equal(bli_simulate(&idle, &policy, &run, &c, &err), BAL_OK);
        run.initial = initial;
        assert_int_equal(bli_simulate(&idle, &policy, &run, &b, &err), BAL_OK);
        assert_true(a.metric[BLI_QUEUE_TOTAL] == b.metric[BLI_QUEUE_TOTAL]);
        assert_true(a.metric[BLI_RESPONSE_MEAN] == b.metric[BLI_RESPONSE_MEAN]);
        assert_true(a.metric[BLI_QUEUE_TOTAL] > c.metric[BLI_QUEUE_TOTAL]);
    }
    assert_int_equal(bli_start_parse("busy=0.5,off=0.2", &model.start, &err), BAL_OK);
    assert_int_not_equal(bli_model_check(&model, &err), BAL_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_obey_condition_7),
        cmocka_unit_test(halves_are_halves),
        cmocka_unit_test(each_job_goes_by_itself),
        cmocka_unit_test(starts_are_queues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
