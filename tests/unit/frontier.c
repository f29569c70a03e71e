/* SPDX-License-Identifier: BSD-2-Clause */
/* The sequential tests on made-up queues whose truth is known, and the search for a frontier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sanitized.h"
#include "ballast/frontier.h"
#include "ballast/random.h"
#include "study/sequential_test.h"

#include <math.h>
#include <string.h>

enum { RUNS = 32, STEPS = 64 };
static const double critical_growth = 1.82842712474619;

/* Quarters of a walk with normal steps that begins at `start`, reflected at 0 if told. */
static void walk(struct bal_rng *rng, double start, double drift, bool reflected, double quarters[4]) {
    double x = start;
    for (int k = 0; k < 4; k++) {
        quarters[k] = 0;
        for (int t = 0; t < STEPS / 4; t++) {
            x += drift + bal_rng_normal(rng);
            if (reflected)
                x = fabs(x);
            quarters[k] += x / (STEPS / 4.0);
        }
    }
}

enum test { DRIFT, GROWTH };

/* Counts verdicts over many looks at RUNS walks. */
static void count_verdicts(enum test test, double drift, double error, int looks, unsigned count[3]) {
    struct bal_rng rng;
    bal_rng_init(&rng, 11, (uint64_t)test, 0);
    memset(count, 0, 3 * sizeof *count);
    for (int i = 0; i < looks; i++) {
        double quarters[RUNS][4];
        for (int r = 0; r < RUNS; r++)
            walk(&rng, test == DRIFT ? 1e6 : 0, drift, test == GROWTH, quarters[r]);
        const struct look look =
            test == DRIFT ? bli_test_drift((const double(*)[4])quarters, RUNS, STEPS, error)
                          : bli_test_growth((const double(*)[4])quarters, RUNS, critical_growth, error);
        count[look.verdict]++;
    }
}

/* On the very border each claim is wrong, and is made with the error given on each side. 8000 looks at 1 %
 * make 80 claims a side with standard deviation 9; the limits are four of those away: false alarm 1e-4. (With
 * the sanitizers 400 looks, of which four or so make a claim.) */
static void test_drift_error(void **state) {
    (void)state;
    unsigned count[3];
    count_verdicts(DRIFT, 0, 0.01, SANITIZED ? 400 : 8000, count);
    assert_in_range(count[BLI_STABLE], SANITIZED ? 0 : 44, SANITIZED ? 16 : 116);
    assert_in_range(count[BLI_UNSTABLE], SANITIZED ? 0 : 44, SANITIZED ? 16 : 116);
}

/* Growth is judged from two sides of a gap, and so errs less. At most 1 % on the border: 8000 looks make 80
 * claims or fewer. A claim of stability is far off there. */
static void test_growth_error(void **state) {
    (void)state;
    unsigned count[3];
    count_verdicts(GROWTH, 0, 0.01, SANITIZED ? 400 : 8000, count);
    assert_in_range(count[BLI_UNSTABLE], 0, 80);
    assert_int_equal(count[BLI_STABLE], 0);
}

/* Away from it the claims are right, and nearly all are made. */
static void test_power(void **state) {
    (void)state;
    unsigned count[3];
    /* the standard error of the drift is (5/3/64/32)^(1/2) = 0.029; at 7 of them nothing is missed */
    const int looks = SANITIZED ? 50 : 500;
    count_verdicts(DRIFT, 0.2, 0.01, looks, count);
    assert_int_equal(count[BLI_UNSTABLE], looks);
    count_verdicts(DRIFT, -0.2, 0.01, looks, count);
    assert_int_equal(count[BLI_STABLE], looks);
    count_verdicts(GROWTH, 1, 0.01, looks, count);
    assert_int_equal(count[BLI_UNSTABLE], looks);
    count_verdicts(GROWTH, -2, 0.01, looks, count); /* |x| of a strong pull: settled at once */
    assert_int_equal(count[BLI_STABLE], looks);
}

static void test_growth_by_hand(void **state) {
    (void)state;
    const double none[2][4] = {{0}}, straight[2][4] = {{1, 3, 5, 7}, {1.1, 3.2, 5.2, 7.3}},
                 level[3][4] = {{5, 5.1, 5, 5}, {5, 4.9, 5, 5}, {5.05, 5, 5, 5}};
    assert_int_equal(bli_test_growth(none, 2, critical_growth, 0.01).verdict, BLI_STABLE);
    const struct look up = bli_test_growth(straight, 2, critical_growth, 0.1);
    assert_int_equal(up.verdict, BLI_UNSTABLE);
    assert_true(fabs(up.seen.mean - (12 + 12.5) / (4 + 4.3)) < 1e-12);
    assert_int_equal(bli_test_growth(level, 3, critical_growth, 0.01).verdict, BLI_STABLE);
    static const double rising[3][4] = {{10, 11, 13, 14.3}, {10, 11, 13, 14.31}, {10, 11, 13, 14.29}};
    assert_int_equal(bli_test_growth(rising, 3, critical_growth, 0.01).verdict, BLI_UNDECIDED); /* 1.3, and
                                                                                                      not
                                                                                                      settled
                                                                                                    */
    /* The drift of the first is (7 - 3)/2 per unit of time when the run is 4 long. */
    assert_true(fabs(bli_test_drift(straight, 2, 4, 0.1).seen.mean - (4 + 4.1) / 4) < 1e-12);
}

/* ---- the search ---- */

static struct bli_frontier_question question(const char *policy, const char *servers) {
    struct bli_frontier_question q = {.error = 0.01, .seed = 3};
    assert_int_equal(bli_scheme_parse(policy, &q.policy, NULL), BAL_OK);
    assert_int_equal(bli_servers_parse(servers, &q.model.servers, NULL), BAL_OK);
    bli_dist_parse("exp", &q.model.size, NULL);
    bli_batch_parse("poisson", &q.model.batch, NULL);
    q.model.load = 0.5;
    return q;
}

static struct bli_frontier_question chain(uint32_t hosts) {
    struct bli_frontier_question q = question("stealing", "16");
    q.model.clock = BLI_CLOCK_SLOTTED;
    q.model.placement = (struct bal_placement){.kind = BAL_PLACEMENT_HOSTS, .hosts = hosts};
    q.axis = BLI_FRONTIER_CONSTANT;
    return q;
}

/* Slotted runs begin with the queues that they are given: ten jobs, one served in a slot, next to no
 * arrivals. */
static void test_begins_long(void **state) {
    (void)state;
    static const char *const policies[] = {"jiq", "stealing"};
    const uint32_t initial[4] = {10, 0, 0, 0};
    const double expected[4] = {8.5, 6.5, 4.5, 2.5};
    for (int p = 0; p < 2; p++) {
        struct bli_frontier_question q = question(policies[p], "4");
        q.model.clock = BLI_CLOCK_SLOTTED;
        q.model.load = 1e-6;
        if (p == 1)
            q.model.steal = (struct bal_steal){.kind = BAL_STEAL_CONSTANT};
        const struct bli_run run = {.seed = 1, .time = 8, .warmup = 0, .initial = initial};
        struct bli_trial trial = {0};
        struct bal_error err = {0};
        if (bli_simulate(&q.model, &q.policy, &run, &trial, &err))
            fail_msg("%s", err.text);
        for (int k = 0; k < 4; k++)
            assert_true(fabs(trial.quarter[k] - expected[k]) < 1e-9);
        assert_true(trial.metric[BLI_RESPONSE_MEAN] == 5.5); /* 2 to 9 slots: they arrived in slot 0 */
    }
}

static struct bli_frontier find(const struct bli_frontier_question *q, unsigned threads) {
    const struct bli_lab_options options = {.threads = threads};
    struct bli_frontier f;
    struct bal_error err = {0};
    if (bli_frontier_find(q, &options, &f, &err))
        fail_msg("%s", err.text);
    return f;
}

static void assert_in_order(const struct bli_frontier *f, bool stable_below) {
    for (unsigned i = 0; i + 1 < f->points; i++)
        assert_true(f->point[i].at < f->point[i + 1].at);
    for (unsigned i = 0; i < f->points; i++) {
        const struct bli_frontier_point *point = &f->point[i];
        assert_in_range(point->looks, 1, BLI_FRONTIER_LOOKS);
        if (point->verdict == BLI_STABLE)
            assert_true(stable_below ? point->at <= f->stable : point->at >= f->stable);
        if (point->verdict == BLI_UNSTABLE)
            assert_true(stable_below ? point->at >= f->unstable : point->at <= f->unstable);
    }
}

static void test_finds_constant(void **state) {
    (void)state;
    const struct bli_frontier_question q = chain(1);
    const struct bli_frontier f = find(&q, 2), again = find(&q, 1);
    assert_int_equal(f.test, BLI_FRONTIER_SATURATED);
    assert_in_order(&f, false);
    assert_true(f.stable - f.unstable >= 1 && f.stable - f.unstable <= 2);
    assert_true(f.estimate > f.unstable && f.estimate < f.stable);
    assert_int_equal(again.points, f.points); /* threads do not matter */
    assert_memory_equal(again.point, f.point, f.points * sizeof *f.point);
}

/* Two servers of speeds 1 and 3, each with half of the jobs: the slow one bears a load of 0.5. */
static void test_finds_load(void **state) {
    (void)state;
    struct bli_frontier_question q = question("random", "1x1,1x3");
    q.width = 0.1;
    q.longest = 64000;
    const struct bli_frontier f = find(&q, 2);
    assert_int_equal(f.test, BLI_FRONTIER_STARTS);
    assert_in_order(&f, true);
    assert_true(f.stable < 0.5 && f.unstable > 0.5 && f.unstable - f.stable <= 0.2);
    assert_true(isnan(f.estimate) || (f.estimate > f.stable && f.estimate < f.unstable));
    for (unsigned i = 0; i < f.points; i++) {
        /* the longest, halved as often as leaves 4000 mean service times of a server of mean speed 2 */
        assert_true(f.point[i].time == ldexp(2000, (int)f.point[i].looks - 1));
        assert_true(f.point[i].verdict || f.point[i].time == q.longest);
    }
}

/* Short runs see the host fill the others and take that for growth, whatever the constant: they are
 * refused. */
static void test_refuses_short_runs(void **state) {
    (void)state;
    const struct bli_lab_options options = {.threads = 1};
    struct bli_frontier f;
    struct bal_error err = {0};
    struct bli_frontier_question q = chain(1);
    q.longest = 1000;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "runs of at most 1000; here they must be 2000 long"));
    assert_int_equal(f.points, 0);
    q = chain(1);
    q.axis = BLI_FRONTIER_LOAD;
    q.model.steal = (struct bal_steal){.kind = BAL_STEAL_CONSTANT, .amount = 1e5};
    q.longest = 1e6;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_RANGE); /* 40 of the constant */
    q.model.steal = (struct bal_steal){.kind = BAL_STEAL_HALF};
    q.longest = 1e12;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "tasks at a host"));
}

static void test_stable_everywhere(void **state) {
    (void)state;
    struct bli_frontier_question q = question("jsq", "10");
    q.high = 0.9;
    const struct bli_frontier f = find(&q, 2);
    assert_true(f.stable == 0.9 && isnan(f.unstable) && f.undecided == 0);
}

static void test_stops(void **state) {
    (void)state;
    const volatile int stop = 1;
    const struct bli_lab_options options = {.threads = 1, .stop = &stop};
    const struct bli_frontier_question q = chain(1);
    struct bli_frontier f;
    assert_int_equal(bli_frontier_find(&q, &options, &f, NULL), BAL_E_STOPPED);
    assert_int_equal(f.points, 0);
    assert_true(isnan(f.stable) && isnan(f.unstable));
}

static void test_refuses(void **state) {
    (void)state;
    const struct bli_lab_options options = {.threads = 1};
    struct bli_frontier f;
    struct bal_error err;
    struct bli_frontier_question q = chain(1);
    q.error = 0;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_RANGE);
    q = chain(1);
    q.low = 5;
    q.high = 4;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_RANGE);
    q = chain(1);
    q.high = 2.5;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_RANGE);
    q = question("jiq", "10");
    q.axis = BLI_FRONTIER_CONSTANT;
    assert_int_equal(bli_frontier_find(&q, &options, &f, &err), BAL_E_MODEL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift_error),
        cmocka_unit_test(test_growth_error),
        cmocka_unit_test(test_power),
        cmocka_unit_test(test_growth_by_hand),
        cmocka_unit_test(test_begins_long),
        cmocka_unit_test(test_finds_constant),
        cmocka_unit_test(test_finds_load),
        cmocka_unit_test(test_stable_everywhere),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_refuses_short_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
