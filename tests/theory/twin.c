/* SPDX-License-Identifier: BSD-2-Clause */
/* The twin beside the truth, in simulated time: a fleet of FIFO servers that requests come to at random, so
 * that each is an M/M/1 queue, runs for hours, and the twin looks at WINDOWS = 40 windows of 5 minutes that
 * have nothing in common.
 *
 * Intervals: the true mean, of an endless window, must lie within the error that is printed in at least 28 of
 * them: measured, predicted, and for twice the traffic. If it does with probability 0.88 (bootstraps of
 * dependent times are a little short of 95 %, as in tests/theory/other_logs), as few do with probability 6e-4
 * each.
 *
 * Alarms: prediction and measurement have the same arrivals and service times, and differ by what the policy
 * draws. That they have parted may be said in at most 7 windows: more are said with probability 7e-4 if one
 * is with 0.05. Where the fleet does not have the policy that was said, it must be said in every window.
 *
 * Together 2.4e-3, on a fixed seed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "texts.h"
#include "twin/twin.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOWS = 40, SERVERS = 6, INSIDE_MIN = 28, ALARMS_MAX = 7 };

static const double mean_size = 0.02, load = 0.4, window = 300;

/* ---- the fleet ---- */

struct fleet {
    struct bal_rng rng;
    double now, free[SERVERS]; /* when a server has done all that it has got */
};

static int by_end(const void *a, const void *b) {
    const struct bli_trace_job *x = a, *y = b;
    const int64_t one = x->time + x->size, other = y->time + y->size;
    return (one > other) - (one < other);
}

/* Requests until that time, logged in the order of their ends. */
static void run_until(struct fleet *fleet, double until, struct bli_recent_requests *log) {
    static struct bli_trace_job job[100000];
    size_t count = 0;
    for (;;) {
        const double next = fleet->now + mean_size / (load * SERVERS) * bal_rng_exp(&fleet->rng);
        if (next >= until)
            break;
        const uint32_t server = bal_rng_below(&fleet->rng, SERVERS);
        fleet->now = next;
        fleet->free[server] = fmax(fleet->free[server], next) + mean_size * bal_rng_exp(&fleet->rng);
        assert_true(count < sizeof job / sizeof *job);
        job[count++] = (struct bli_trace_job){.time = (int64_t)((1.7e9 + next) * 1e9),
                                              .size = 1 + (int64_t)((fleet->free[server] - next) * 1e9),
                                              .server = server + 1};
    }
    fleet->now = until; /* which exponential times forget */
    qsort(job, count, sizeof *job, by_end);
    for (size_t i = 0; i < count; i++)
        bli_recent_add(log, &job[i]);
}

/* ---- its twin ---- */

static struct bli_twin *twin_of(const char *now, unsigned traffic) {
    struct bli_twin_options options = {.has_now = true,
                                       .now = policy_of(now),
                                       .traffic = traffic,
                                       .window = window,
                                       .slots_given = true,
                                       .step = 1e-9,
                                       .seed = 1};
    options.model.slots = 1;
    struct bli_twin *twin;
    assert_int_equal(bli_twin_new(&options, 50000, &twin, NULL), BAL_OK);
    return twin;
}

static void look(struct bli_twin *twin) {
    struct bal_error err = {0};
    if (bli_twin_analyse(twin, twin->window.latest, &err))
        fail_msg("%s", err.text);
    assert_int_equal(twin->state, BLI_TWIN_READY);
    for (size_t i = 0; i < twin->rows; i++) {
        if (bli_twin_evaluate(twin, i, &err))
            fail_msg("%s", err.text);
        assert_true(twin->row[i].answered);
    }
    bli_twin_judge(twin);
    assert_true(twin->compared);
}

static bool is_inside(const struct bli_twin_row *row, double truth) {
    const double value = row->time[BLI_TIME_MEAN];
    return fabs(value - truth) <= bli_twin_error(value, row->log[BLI_TIME_MEAN]);
}

static void intervals_and_alarms(void **unused) {
    (void)unused;
    struct bli_twin *twin = twin_of("random", 2);
    struct fleet fleet = {.now = 0};
    bal_rng_init(&fleet.rng, 2222, 0, BAL_STREAM_TEST);
    int now = 0, doubled = 0, measured = 0, alarms = 0;
    double width = 0;
    for (int i = 1; i <= WINDOWS; i++) {
        run_until(&fleet, i * (window + 15), &twin->window);
        look(twin);
        const double truth = mean_size / (1 - load), value = twin->times.time[BLI_TIME_MEAN];
        now += is_inside(&twin->row[0], truth);
        doubled += is_inside(&twin->row[1], mean_size / (1 - 2 * load));
        measured += fabs(value - truth) <= bli_twin_error(value, twin->times.log[BLI_TIME_MEAN]);
        alarms += twin->parted;
        width += bli_twin_error(value, twin->times.log[BLI_TIME_MEAN]) / truth / WINDOWS;
    }
    print_message("# the truth is inside for now in %d of %d, measured in %d, doubled in %d; %d false "
                  "alarms; error %.1f %%\n",
                  now, WINDOWS, measured, doubled, alarms, 100 * width);
    assert_true(now >= INSIDE_MIN && measured >= INSIDE_MIN && doubled >= INSIDE_MIN);
    assert_true(alarms <= ALARMS_MAX);
    assert_true(width < 0.1);
    bli_twin_free(twin);
}

static void another_policy_is_found_out(void **unused) {
    (void)unused;
    struct bli_twin *twin = twin_of("pod:d=2", 0);
    struct fleet fleet = {.now = 0};
    bal_rng_init(&fleet.rng, 2223, 0, BAL_STREAM_TEST);
    for (int i = 1; i <= 10; i++) {
        run_until(&fleet, i * (window + 15), &twin->window);
        look(twin);
        assert_true(twin->parted);
    }
    bli_twin_free(twin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_and_alarms),
        cmocka_unit_test(another_policy_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
