/* SPDX-License-Identifier: BSD-2-Clause */
/* Frontiers, knees, and a small tuning from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/tune.h"

#include <math.h>
#include <string.h>

static void frontier_is_what_nothing_betters(void **unused) {
    (void)unused;
    /*                  0  1  2  3    4  5    6 */
    const double x[] = {1, 2, 3, 2, 4.5, 3, NAN}, y[] = {9, 4, 3, 5, 3, 3, 0};
    const bool wanted[] = {true, true, true, false, false, true, false};
    bool on[7];
    bli_frontier_mark(x, y, 7, on);
    for (int i = 0; i < 7; i++)
        if (on[i] != wanted[i])
            fail_msg("point %d is %s the frontier", i, on[i] ? "on" : "off");
}

static void knee_is_farthest_from_the_chord(void **unused) {
    (void)unused;
    const bool all[] = {true, true, true, true, true};
    const double x[] = {0, 1, 2, 6, 10}, y[] = {100, 40, 10, 4, 0};
    assert_int_equal(bli_frontier_knee(x, y, 5, all), 2); /* 1 - 0.2 - 0.1 */
    /* Scale and order do not matter. */
    const double back_x[] = {1010, 1006, 1002, 1001, 1000}, back_y[] = {0, 0.4, 1, 4, 10};
    assert_int_equal(bli_frontier_knee(back_x, back_y, 5, all), 2);
    /* A straight line, two points and a single height have none. */
    const double line[] = {4, 3, 2, 1, 0}, flat[] = {1, 1, 1, 1, 1}, up[] = {0, 1, 2, 3, 4};
    assert_int_equal(bli_frontier_knee(up, line, 5, all), 5);
    assert_int_equal(bli_frontier_knee(up, flat, 5, all), 5);
    const bool two[] = {true, false, false, false, true};
    assert_int_equal(bli_frontier_knee(x, y, 5, two), 5);
}

static struct bli_tuning small_tuning(void) {
    struct bli_tuning tuning = {.run = {.seed = 1, .time = 2000, .warmup = NAN},
                                .replications = 2,
                                .shortest = 0.1,
                                .longest = 100,
                                .points = 4,
                                .model = {.load = 0.3}};
    assert_int_equal(bli_servers_parse("50", &tuning.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &tuning.model.size, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("det(10)", &tuning.model.setup, NULL), BAL_OK);
    return tuning;
}

static void tuning_runs_what_it_says(void **unused) {
    (void)unused;
    const struct bli_tuning tuning = small_tuning();
    const struct bli_lab_options options = {.threads = 2};
    struct bli_tuned tuned;
    struct bal_error err = {0};
    if (bli_tune(&tuning, &options, &tuned, &err))
        fail_msg("%s", err.text);
    assert_int_equal(tuned.points, 4);
    double before = INFINITY;
    for (unsigned i = 0; i < 4; i++) {
        const struct bli_tune_point *point = &tuned.point[i];
        assert_true(fabs(point->standby - 0.1 * pow(10, i)) < 1e-9 * point->standby);
        assert_int_equal(point->tabs.engine, BLI_ENGINE_EVENT); /* set-ups are not exponential */
        assert_int_equal(point->pooled.engine, BLI_ENGINE_POOLED);
        assert_true(point->tabs.metric[BLI_WAITING_MEAN].mean < before); /* longer standby, less waiting */
        before = point->tabs.metric[BLI_WAITING_MEAN].mean;
    }
    assert_true(tuned.point[3].frontier); /* nobody waits less */
    assert_true(fabs(tuned.always_on.metric[BLI_POWER_MEAN].mean - 158) < 3);
    bli_tuned_fini(&tuned);
}

static void impossible_tunings_are_refused(void **unused) {
    (void)unused;
    const struct bli_lab_options options = {.threads = 1};
    struct bli_tuned tuned;
    struct bal_error err = {0};
    struct bli_tuning tuning = small_tuning();
    tuning.shortest = 0;
    assert_int_equal(bli_tune(&tuning, &options, &tuned, &err), BAL_E_RANGE);
    tuning = small_tuning();
    tuning.longest = tuning.shortest;
    assert_int_equal(bli_tune(&tuning, &options, &tuned, &err), BAL_E_RANGE);
    tuning = small_tuning();
    tuning.points = 1;
    assert_int_equal(bli_tune(&tuning, &options, &tuned, &err), BAL_E_RANGE);
    tuning = small_tuning();
    tuning.model.setup = (struct bli_dist){0};
    assert_int_equal(bli_tune(&tuning, &options, &tuned, &err), BAL_E_MODEL);
    tuning = small_tuning();
    tuning.model.load = -1;
    assert_int_equal(bli_tune(&tuning, &options, &tuned, &err), BAL_E_RANGE);
}

/* The share of time for which at most n servers are busy, if none waits. */
static double at_most(double mean, int n) {
    double term = exp(-mean), sum = term;
    for (int k = 1; k <= n; k++)
        sum += term *= mean / k;
    return sum;
}

static void proposals_are_what_they_say(void **unused) {
    (void)unused;
    struct bli_tune_point points[] = {{.standby = 2.385}, {.standby = 7.5}};
    struct bli_tuned tuned = {.point = points, .points = 2, .knee = 1};
    struct bli_tuning tuning = {.model = {.load = 0.3, .watts = {200, 140, 210, 10}}, .run = {.time = 100}};
    bli_servers_parse("50", &tuning.model.servers, NULL);
    bli_dist_parse("det(13)", &tuning.model.setup, NULL);
    struct bli_tune_proposal p = bli_tune_propose(&tuning, &tuned);
    assert_true(p.standby == 7.5);
    assert_true(fabs(p.on - 13 * 200. / 130) < 1e-9);
    assert_true(at_most(15, (int)p.least - 1) <= 0.01 && at_most(15, (int)p.least) > 0.01);
    assert_true(1 - at_most(15, (int)p.most) <= 0.001 && 1 - at_most(15, (int)p.most - 1) > 0.001);
    bli_curve_parse("sine(0.5,40)", &tuning.model.curve, NULL);
    tuned.knee = 2;
    p = bli_tune_propose(&tuning, &tuned);
    assert_true(isnan(p.standby));
    assert_true(at_most(7.5, (int)p.least - 1) <= 0.01 && at_most(7.5, (int)p.least) > 0.01);
    assert_true(1 - at_most(22.5, (int)p.most) <= 0.001 && 1 - at_most(22.5, (int)p.most - 1) > 0.001);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frontier_is_what_nothing_betters), cmocka_unit_test(knee_is_farthest_from_the_chord),
        cmocka_unit_test(tuning_runs_what_it_says),         cmocka_unit_test(impossible_tunings_are_refused),
        cmocka_unit_test(proposals_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
