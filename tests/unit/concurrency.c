/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit that finds itself: levels, phases that end at a time, what is learned from exact completions,
 * that a change of speed alone moves nothing, and bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/speeds.h"
#include "live/concurrency_private.h"

static void assert_near(double value, double right, double tolerance) {
    if (!(fabs(value - right) <= tolerance))
        fail_msg("%g is not %g +- %g", value, right, tolerance);
}

/* An app whose completions are a Poisson process of the curve's rate, with jobs without end: always as many
 * in service as may be, or as many as `demand` allows. */
struct app {
    struct concurrency c;
    struct bal_rng rng;
    struct bli_speeds speeds;
    double speed; /* completions per second of the curve's unit */
    double now;   /* seconds */
    uint32_t running, demand;
    uint32_t most, least; /* in service */
};

static struct app begin(const char *speeds, uint32_t min, uint32_t max, uint64_t seed) {
    struct app a = {.speed = 1000, .demand = UINT32_MAX};
    assert_int_equal(bli_speeds_parse(speeds, &a.speeds, NULL), BAL_OK);
    bal_rng_init(&a.rng, seed, 0, BAL_STREAM_SERVICE);
    bli_concurrency_init(&a.c, min, max, 0);
    a.least = UINT32_MAX;
    return a;
}

static uint64_t nanoseconds(const struct app *a) {
    return (uint64_t)(a->now * 1e9);
}

static void fill(struct app *a) {
    const uint32_t allowed = concurrency_allowed(&a->c);
    while (a->running < allowed && a->running < a->demand)
        a->running++;
}

/* So many completions; demand, if it is not without end, is drawn again with each, up to a number. */
static void run(struct app *a, uint64_t completions, uint32_t most_demand) {
    for (uint64_t i = 0; i < completions; i++) {
        if (most_demand)
            a->demand = 1 + (uint32_t)bal_rng_below(&a->rng, most_demand);
        fill(a);
        a->most = a->running > a->most ? a->running : a->most;
        a->least = a->running < a->least ? a->running : a->least;
        a->now += bal_rng_exp(&a->rng) / (a->speed * bli_speeds_rate(&a->speeds, a->running));
        const uint32_t waiting = a->demand > a->running ? 1 : 0;
        bli_concurrency_pass(&a->c, nanoseconds(a), a->running, waiting);
        bli_concurrency_end(&a->c, a->running--);
        assert_true(bli_concurrency_is_sound(&a->c));
    }
}

static uint32_t limit(const struct app *a) {
    return bli_concurrency_get_view(&a->c).limit;
}

/* A queue without end, so that only neighbours are ever compared: it finds the knee from below and above. */
static void climbs_and_falls_to_the_knee(void **state) {
    (void)state;
    static const struct {
        const char *speeds;
        uint32_t low, high;
    } cases[] = {{"cores(1)", 1, 1},      {"cores(4)", 4, 5},
                 {"cores(20)", 20, 24},   {"batch(8,0.15)", 8, 8},
                 {"cores(100)", 96, 128}, {"table(1:1 2:1.8 4:3 8:4.5 16:4 32:3)", 8, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct app a = begin(cases[i].speeds, 1, 256, 1);
        run(&a, 300000, 0);
        if (limit(&a) < cases[i].low || limit(&a) > cases[i].high)
            fail_msg("%s: %u slots are found", cases[i].speeds, limit(&a));
    }
}

/* The shape, for all numbers in service that traffic visits, relative to that at 8: within 4 standard
 * deviations of what it rests on; 4 ratios, a false alarm in 4000 seeds. */
static void learns_the_shape(void **state) {
    (void)state;
    struct app a = begin("batch(8,0.15)", 8, 8, 2);
    run(&a, 200000, 8);
    for (uint32_t k = 4; k < 8; k++) {
        const struct concurrency_level *one = &a.c.at[k - 1], *all = &a.c.at[7];
        const double sd = sqrt(1 / one->evidence + 1 / all->evidence);
        assert_true(sd < 0.05);
        assert_near(one->shape - all->shape,
                    log(bli_speeds_rate(&a.speeds, k) / bli_speeds_rate(&a.speeds, 8)), 4 * sd);
    }
    const struct bal_concurrency_view view = bli_concurrency_get_view(&a.c);
    assert_near(view.rate, 1000 * bli_speeds_rate(&a.speeds, 8), 0.1 * view.rate);
}

/* Twice as slow, then as fast as before, then ten times faster: the limit stays, and the change is noticed.
 */
static void a_change_of_speed_moves_nothing(void **state) {
    (void)state;
    static const double factors[] = {0.5, 2, 10};
    struct app a = begin("cores(4)", 1, 256, 3);
    run(&a, 200000, 12);
    assert_int_equal(limit(&a), 4);
    for (size_t i = 0; i < 3; i++) {
        const uint64_t changes = bli_concurrency_get_view(&a.c).changes;
        const double shape = a.c.at[7].shape - a.c.at[3].shape;
        a.speed *= factors[i];
        run(&a, 20000, 12);
        assert_int_equal(limit(&a), 4);
        assert_true(bli_concurrency_get_view(&a.c).changes > changes);
        assert_near(a.c.at[7].shape - a.c.at[3].shape, shape, 0.03);
    }
}

/* Never outside, and the same number as both bounds is kept. */
static void keeps_within_its_bounds(void **state) {
    (void)state;
    static const uint32_t bounds[][2] = {{1, 1}, {2, 3}, {9, 9}, {5, 7}, {30, 37}, {4000, 4096}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        struct app a = begin("cores(6)", bounds[i][0], bounds[i][1], 4);
        run(&a, 20000, 0);
        assert_in_range(a.most, bounds[i][0], bounds[i][1]);
        assert_in_range(limit(&a), bounds[i][0], bounds[i][1]);
        assert_in_range(concurrency_allowed(&a.c), bounds[i][0], bounds[i][1]);
    }
    struct app a = begin("cores(1)", 1, 3, 5); /* the first one is within them as well */
    assert_int_equal(concurrency_allowed(&a.c), 3);
    a = begin("cores(1)", 20, 30, 5);
    assert_int_equal(concurrency_allowed(&a.c), 20);
}

/* With a queue without end, what is tried is never below half of the limit. */
static void trials_starve_nobody(void **state) {
    (void)state;
    struct app a = begin("batch(8,0.15)", 1, 8, 6);
    run(&a, 50000, 0);
    assert_int_equal(limit(&a), 8);
    const double began = a.now;
    double lost = 0, last = a.now;
    for (int i = 0; i < 100000; i++) {
        run(&a, 1, 0);
        assert_true(2 * (a.running + 1) >= 8);
        lost += a.running + 1 < 8 ? a.now - last : 0;
        last = a.now;
    }
    if (!(lost < 0.05 * (a.now - began))) /* once it is known that fewer are worse, rarely */
        fail_msg("in %g of the time fewer than 8 are in service (%u)", lost / (a.now - began), limit(&a));
}

/* It does not begin with half of the limit: not below it in the first window, and then by one step until that
 * one is known. */
static void trials_begin_next_to_the_limit(void **state) {
    (void)state;
    struct app a = begin("batch(8,0.15)", 1, 8, 9);
    while (a.c.windows == 0) {
        run(&a, 1, 0);
        assert_int_equal(concurrency_allowed(&a.c), 8);
    }
    while (a.c.windows == 1) {
        run(&a, 1, 0);
        assert_in_range(concurrency_allowed(&a.c), 7, 8);
    }
    assert_int_equal(a.least, 7);
}

/* Fewer than the limit that seem to lose much are tried once in 32 cycles; that is how a false impression of
 * them ends. */
static void what_seems_costly_is_tried_rarely(void **state) {
    (void)state;
    struct app a = begin("cores(8)", 1, 8, 10);
    run(&a, 3000, 0);
    assert_int_equal(limit(&a), 8);
    uint64_t fewer = 0, all = 0;
    for (; all < 32 * 4 * 96; all++) {
        run(&a, 1, 0);
        fewer += concurrency_allowed(&a.c) < 8;
    }
    assert_in_range(fewer, 1, all / 32);
}

/* An app that answers nothing is no reason to change anything; nor is time without requests. */
static void silence_teaches_nothing(void **state) {
    (void)state;
    struct app a = begin("cores(4)", 1, 256, 7);
    run(&a, 100000, 12);
    const uint32_t before = limit(&a);
    const double shape = a.c.at[3].shape;
    for (int i = 0; i < 1000; i++) {
        a.now += 10;
        bli_concurrency_pass(&a.c, nanoseconds(&a), i % 2 ? before : 0, 3);
    }
    assert_int_equal(limit(&a), before);
    assert_true(a.c.at[3].shape == shape);
    assert_true(bli_concurrency_is_sound(&a.c));
}

static void knows_its_uncertainty(void **state) {
    (void)state;
    struct app a = begin("cores(4)", 1, 256, 8);
    const struct bal_concurrency_view first = bli_concurrency_get_view(&a.c);
    assert_true(first.gain == 0 && first.gain_sd > 0.3 && first.loss_sd > 0.3 && first.rate == 0);
    run(&a, 300000, 0);
    const struct bal_concurrency_view then = bli_concurrency_get_view(&a.c);
    assert_int_equal(then.limit, 4);
    assert_true(then.loss_sd < 0.05 && then.gain_sd < 0.05);
    assert_near(then.loss, 0.25, 5 * then.loss_sd); /* three of four cores */
    assert_near(then.gain, 0, 5 * then.gain_sd);
    assert_true(then.lowered >= 1);
    a = begin("cores(4)", 4, 4, 8); /* at both bounds there is nothing to gain or to lose */
    assert_true(bli_concurrency_get_view(&a.c).gain_sd == 0 && bli_concurrency_get_view(&a.c).loss_sd == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(climbs_and_falls_to_the_knee),
        cmocka_unit_test(learns_the_shape),
        cmocka_unit_test(a_change_of_speed_moves_nothing),
        cmocka_unit_test(keeps_within_its_bounds),
        cmocka_unit_test(trials_starve_nobody),
        cmocka_unit_test(trials_begin_next_to_the_limit),
        cmocka_unit_test(what_seems_costly_is_tried_rarely),
        cmocka_unit_test(silence_teaches_nothing),
        cmocka_unit_test(knows_its_uncertainty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
