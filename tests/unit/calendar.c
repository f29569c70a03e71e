/* SPDX-License-Identifier: BSD-2-Clause */
/* The calendar against a scan of all times. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "engine/calendar.h"

static double earliest(const double *time, uint32_t ids) {
    double least = INFINITY;
    for (uint32_t id = 0; id < ids; id++)
        least = time[id] < least ? time[id] : least; /* a NaN is not less */
    return least;
}

/* time[id] is NaN when the id has none. */
static void assert_calendar(const struct bli_calendar *calendar, const double *time, uint32_t ids) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < ids; id++) {
        assert_true(bli_calendar_has(calendar, id) == !isnan(time[id]));
        if (isnan(time[id]))
            continue;
        count++;
        assert_true(bli_calendar_time(calendar, id) == time[id]);
    }
    assert_int_equal(calendar->count, count);
    assert_true(calendar->next == earliest(time, ids));
    if (count > 0)
        assert_true(time[calendar->first] == calendar->next);
}

/* Times of four kinds: near, whole numbers that are shared, years ahead, and too far for days to tell apart.
 */
static double draw_time(struct bal_rng *rng) {
    const uint32_t kind = bal_rng_below(rng, 16);
    return kind == 0   ? 1e30 * bal_rng_uniform(rng)
           : kind < 4  ? 1e5 * bal_rng_uniform(rng)
           : kind < 10 ? bal_rng_below(rng, 100)
                       : 100 * bal_rng_uniform(rng);
}

/* far: see bli_calendar; INFINITY: nothing is deferred. */
static void follow_a_scan(uint32_t ids, double rate, double far) {
    const bool deferring = isfinite(far);
    struct bli_calendar calendar;
    assert_int_equal(bli_calendar_init(&calendar, ids, rate), BAL_OK);
    calendar.far = far;
    double *time = malloc(ids * sizeof *time);
    assert_non_null(time);
    for (uint32_t id = 0; id < ids; id++)
        time[id] = NAN;
    struct bal_rng rng;
    bal_rng_init(&rng, 53, ids, BAL_STREAM_TEST);
    uint32_t most = 0;
    for (int step = 0; step < 5000; step++) {
        const uint32_t id = bal_rng_below(&rng, ids);
        if (!isnan(time[id]) && bal_rng_below(&rng, 3) == 0) {
            bli_calendar_remove(&calendar, id, deferring);
            time[id] = NAN;
        } else if (!isnan(time[id]) && bal_rng_below(&rng, 2)) {
            const uint32_t first = calendar.first;
            bli_calendar_set(&calendar, first, time[first] += draw_time(&rng), deferring);
        } else {
            bli_calendar_set(&calendar, id, time[id] = draw_time(&rng), deferring);
        }
        assert_calendar(&calendar, time, ids);
        most = calendar.count > most ? calendar.count : most;
    }
    assert_true(most >= ids - ids / 4);
    bli_calendar_fini(&calendar);
    bli_calendar_fini(&calendar); /* harmless */
    free(time);
}

static void follows_a_scan(void **state) {
    (void)state;
    const uint32_t ids[] = {1, 2, 5, 16, 17, 100};
    const double far[] = {INFINITY, 0, 3, 60};
    const double rates[] = {1e-9, 0.01, 1, 50, 1e9}; /* right ones, and days far too long and too short */
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
            for (size_t f = 0; f < sizeof far / sizeof *far; f++)
                follow_a_scan(ids[i], rates[k], far[f]);
}

/* Taking the first away again and again sorts; of equal times the one that was set last comes first. Some are
 * set while others are taken. */
static void sort(double far) {
    const bool deferring = isfinite(far);
    enum { N = 1000, FIRST = 600 };
    struct bli_calendar calendar;
    assert_int_equal(bli_calendar_init(&calendar, N, 2), BAL_OK);
    calendar.far = far;
    struct bal_rng rng;
    bal_rng_init(&rng, 54, 0, BAL_STREAM_TEST);
    for (uint32_t id = 0; id < FIRST; id++)
        bli_calendar_set(&calendar, id, bal_rng_below(&rng, N / 2), deferring);
    double last = -1;
    uint32_t before = N, taken = 0, set = FIRST;
    while (calendar.count > 0) {
        const uint32_t id = calendar.first;
        assert_true(calendar.next > last || (calendar.next == last && id < before));
        last = calendar.next;
        before = id;
        taken++;
        bli_calendar_remove(&calendar, id, deferring);
        if (set < N)
            bli_calendar_set(&calendar, set++, last + 1 + bal_rng_below(&rng, 20), deferring);
    }
    assert_int_equal(taken, N);
    assert_true(calendar.next == INFINITY && calendar.pending_count == 0);
    bli_calendar_fini(&calendar);
}

static void sorts(void **state) {
    (void)state;
    sort(INFINITY);
    sort(0);
    sort(5);
    sort(12.5);
}

/* What is far ahead lies pending, until time comes near it. */
static void what_is_far_lies_on_the_tray(void **state) {
    (void)state;
    struct bli_calendar calendar;
    assert_int_equal(bli_calendar_init(&calendar, 1000, 1000), BAL_OK);
    assert_false(bli_calendar_is_large(&calendar));
    bli_calendar_set(&calendar, 0, 0.25, true);
    bli_calendar_set(&calendar, 1, 0.75, true);
    bli_calendar_set(&calendar, 2, 0.26, true);
    assert_true(calendar.pending_count == 1 && bli_calendar_has(&calendar, 1));
    bli_calendar_remove(&calendar, 0, true);
    assert_true(calendar.first == 2 && calendar.pending_count == 1);
    bli_calendar_remove(&calendar, 2, true);
    assert_true(calendar.first == 1 && calendar.next == 0.75 && calendar.pending_count == 0);
    bli_calendar_fini(&calendar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_scan),
        cmocka_unit_test(sorts),
        cmocka_unit_test(what_is_far_lies_on_the_tray),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
