/* SPDX-License-Identifier: BSD-2-Clause */
/* slots=auto at a station in front of an app of a known curve, in simulated time: the p99 of the limit that
 * it finds is within 10 % of the best fixed one. bench/slots.c prints all cases; these are some, with fewer
 * requests. Fixed seeds; nothing is left to chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../bench/slots_world.h"

static struct trial trial_of(const char *speeds, const char *sizes, double load, enum disturbance what,
                             uint64_t requests) {
    struct trial trial = {.mean = 0.005, .load = load, .disturbance = what, .requests = requests, .seed = 5};
    assert_int_equal(bli_speeds_parse(speeds, &trial.speeds, NULL), 0);
    assert_int_equal(bli_dist_parse(sizes, &trial.sizes, NULL), 0);
    return trial;
}

/* Some fixed numbers are enough: the knee, and some around it. */
static double best_fixed(const struct trial *trial) {
    static const uint32_t slots[] = {4, 5, 6, 7, 8, 10, 12, 16, 24, 256};
    double best = INFINITY;
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (bli_speeds_top(&trial->speeds, slots[i]) > trial->load * bli_speeds_top(&trial->speeds, 0))
            best = fmin(best, slots_world_run(trial, LIMIT_FIXED, slots[i]).p99);
    return best;
}

static void check_at(enum limiter limiter, const char *speeds, const char *sizes, double load,
                     enum disturbance what, uint64_t requests) {
    static struct outcome found;
    const struct trial trial = trial_of(speeds, sizes, load, what, requests);
    found = slots_world_run(&trial, limiter, 0);
    const double best = best_fixed(&trial);
    const double cost = slots_world_run(&trial, LIMIT_FIXED, found.last).p99 / best;
    if (!(cost < 1.1))
        fail_msg("%s, %s, load %g: %u slots are found, whose p99 is %.3f of the best", speeds, sizes, load,
                 found.last, cost);
    if (what == CALM && load < 0.9 && !(found.p99 < 1.2 * best)) /* and what is found is kept to */
        fail_msg("%s, %s, load %g: p99 is %.3f of the best", speeds, sizes, load, found.p99 / best);
}

static void check(const char *speeds, const char *sizes, double load, enum disturbance what,
                  uint64_t requests) {
    check_at(LIMIT_AUTO, speeds, sizes, load, what, requests);
}

static void finds_the_knee(void **state) {
    (void)state;
    check("cores(4)", "exp", 0.5, CALM, 50000);
    check("cores(4)", "exp", 0.8, CALM, 200000);
    check("cores(4)", "lognormal(2)", 0.95, CALM, 100000);
    check("batch(8,0.15)", "exp", 0.8, CALM, 100000);
    check("batch(8,0.15)", "lognormal(2)", 0.95, CALM, 100000);
    check("cores(16)", "exp", 0.95, CALM, 100000);
    check("table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", "exp", 0.95, CALM, 100000);
    check("table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", "lognormal(2)", 0.8, CALM, 100000);
}

static void survives_a_slow_deploy(void **state) {
    (void)state;
    check("cores(4)", "exp", 0.95, DEPLOY, 200000);
    check("batch(8,0.15)", "lognormal(2)", 0.8, DEPLOY, 200000);
    check("table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", "exp", 0.8, DEPLOY, 200000);
}

static void survives_a_neighbour(void **state) {
    (void)state;
    check("cores(4)", "exp", 0.8, NEIGHBOUR, 200000);
    check("batch(8,0.15)", "exp", 0.95, NEIGHBOUR, 200000);
    check("table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", "lognormal(2)", 0.5, NEIGHBOUR, 200000);
}

/* Where the number that it begins with is right, what it tries costs the first requests little. Sums over
 * seeds, of the same arrivals and sizes. */
static void check_first(const char *speeds, double load, uint32_t right, double most) {
    double found = 0, fixed = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct trial trial = trial_of(speeds, "exp", load, CALM, FIRST_REQUESTS);
        trial.seed = seed;
        found += slots_world_run(&trial, LIMIT_AUTO, 0).first;
        fixed += slots_world_run(&trial, LIMIT_FIXED, right).first;
    }
    if (!(found < most * fixed))
        fail_msg("%s, load %g: the first mean is %.3f of that of %u slots", speeds, load, found / fixed,
                 right);
}

static void costs_the_first_requests_little(void **state) {
    (void)state;
    check_first("batch(8,0.15)", 0.8, 8, 1.02);
    check_first("batch(8,0.15)", 0.86, 8, 1.05);
    check_first("cores(8)", 0.8, 8, 1.02);
    check_first("table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", 0.8, 8, 1.05);
}

/* The same estimator at a dispatcher that holds requests; its server has no station. */
static void a_dispatcher_finds_it_too(void **state) {
    (void)state;
    check_at(LIMIT_HOLD, "cores(4)", "exp", 0.8, CALM, 200000);
    check_at(LIMIT_HOLD, "batch(8,0.15)", "exp", 0.8, CALM, 100000);
    check_at(LIMIT_HOLD, "cores(16)", "exp", 0.95, CALM, 100000);
    check_at(LIMIT_HOLD, "table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", "lognormal(2)", 0.8, DEPLOY, 100000);
}

/* A wrong number is costly in the same place: the test can fail. */
static void a_wrong_number_is_costly(void **state) {
    (void)state;
    const struct trial trial = trial_of("table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", "exp", 0.8, CALM, 50000);
    const double best = best_fixed(&trial);
    assert_true(slots_world_run(&trial, LIMIT_FIXED, 12).p99 > 1.1 * best);
    assert_true(slots_world_run(&trial, LIMIT_FIXED, 6).p99 > 1.1 * best);
}

/* The rivals are what they are described as: AIMD goes up without time-outs, and both stay within bounds. */
static void rivals_work(void **state) {
    (void)state;
    static struct outcome outcome;
    struct trial trial = trial_of("cores(16)", "exp", 0.8, CALM, 30000);
    outcome = slots_world_run(&trial, LIMIT_AIMD, 0);
    assert_true(outcome.limit > 20 && outcome.limit <= 200);
    trial.load = 0.3; /* it is never half used, and stays where it was */
    outcome = slots_world_run(&trial, LIMIT_GRADIENT2, 0);
    assert_true(outcome.limit >= 1 && outcome.limit <= 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_knee),
        cmocka_unit_test(survives_a_slow_deploy),
        cmocka_unit_test(survives_a_neighbour),
        cmocka_unit_test(costs_the_first_requests_little),
        cmocka_unit_test(a_dispatcher_finds_it_too),
        cmocka_unit_test(a_wrong_number_is_costly),
        cmocka_unit_test(rivals_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
