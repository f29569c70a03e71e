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
 * Together 6e-3, on fixed seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* ---- a fleet whose servers share what they can do ---- */

/* Of k requests each gets rate(k) / k, as docs/servers.md says of batch(4,0.2). */
enum { SHARING_ROOM = 10000 };
static const double sharing_size = 0.2;

static double rate_of(uint32_t k) {
    const uint32_t m = k < 4 ? k : 4;
    return m / (1 + 0.2 * (m - 1));
}

struct sharing_fleet {
    struct bal_rng rng;
    double now;
    uint32_t there[SERVERS];
    double left[SERVERS][SHARING_ROOM], arrival[SERVERS][SHARING_ROOM];
};

/* All of the work that is done, step by step; each request is logged when it ends. */
static void share_until(struct sharing_fleet *f, double until, struct bli_recent_requests *log) {
    double comes = f->now + sharing_size / (load * SERVERS * rate_of(4)) * bal_rng_exp(&f->rng);
    while (f->now < until) {
        double next = fmin(comes, until);
        uint32_t who = SERVERS, which = 0;
        for (uint32_t s = 0; s < SERVERS; s++)
            for (uint32_t i = 0; i < f->there[s]; i++) {
                const double ends = f->now + f->left[s][i] * f->there[s] / rate_of(f->there[s]);
                if (ends < next) {
                    next = ends;
                    who = s;
                    which = i;
                }
            }
        for (uint32_t s = 0; s < SERVERS; s++)
            for (uint32_t i = 0; i < f->there[s]; i++)
                f->left[s][i] -= (next - f->now) * rate_of(f->there[s]) / f->there[s];
        f->now = next;
        if (who < SERVERS) {
            const double came = f->arrival[who][which];
            const struct bli_trace_job job = {.time = (int64_t)((1.7e9 + came) * 1e9),
                                              .size = 1 + (int64_t)((next - came) * 1e9),
                                              .server = who + 1};
            bli_recent_add(log, &job);
            const uint32_t last = --f->there[who];
            f->left[who][which] = f->left[who][last];
            f->arrival[who][which] = f->arrival[who][last];
        } else if (next == comes) {
            const uint32_t s = bal_rng_below(&f->rng, SERVERS);
            assert_true(f->there[s] < SHARING_ROOM);
            f->left[s][f->there[s]] = sharing_size * bal_rng_exp(&f->rng);
            f->arrival[s][f->there[s]++] = next;
            comes = next + sharing_size / (load * SERVERS * rate_of(4)) * bal_rng_exp(&f->rng);
        }
    }
}

/* Each server is a birth-death process, by its definition. */
static double sharing_response(double at_load) {
    double p = 1, sum = 1, jobs = 0;
    const double arrivals = at_load * rate_of(4) / sharing_size;
    for (uint32_t k = 1; k < 2000; k++) {
        p *= arrivals * sharing_size / rate_of(k);
        sum += p;
        jobs += k * p;
    }
    return jobs / sum / arrivals;
}

/* ---- its twin ---- */

/* speeds: NULL: servers of one slot; "find": in each window. */
static struct bli_twin *twin_at(const char *now, unsigned traffic, const char *speeds) {
    const bool find = speeds && strcmp(speeds, "find") == 0;
    struct bli_twin_options options = {.has_now = true,
                                       .now = policy_of(now),
                                       .traffic = traffic,
                                       .window = window,
                                       .slots_given = !speeds,
                                       .find_speeds = find,
                                       .step = 1e-9,
                                       .seed = 1};
    options.model.slots = speeds ? 0 : 1;
    if (speeds && !find)
        assert_int_equal(bli_speeds_parse(speeds, &options.model.speeds, NULL), BAL_OK);
    struct bli_twin *twin;
    assert_int_equal(bli_twin_new(&options, 50000, &twin, NULL), BAL_OK);
    return twin;
}

static struct bli_twin *twin_of(const char *now, unsigned traffic) {
    return twin_at(now, traffic, NULL);
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

/* The same where servers share. Where the window must tell their speeds, the error of these is not in the
 * intervals, which matters at twice the traffic, where numbers are there that the window hardly has. */
static void look_at_sharing(const char *speeds, bool known) {
    struct bli_twin *twin = twin_at("random", 2, speeds);
    struct sharing_fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    bal_rng_init(&fleet->rng, 2224, 0, BAL_STREAM_TEST);
    int now = 0, doubled = 0, alarms = 0;
    double width = 0;
    for (int i = 1; i <= WINDOWS; i++) {
        share_until(fleet, i * (window + 15), &twin->window);
        look(twin);
        now += is_inside(&twin->row[0], sharing_response(load));
        doubled += is_inside(&twin->row[1], sharing_response(2 * load));
        alarms += twin->parted;
        width += bli_twin_error(twin->row[0].time[BLI_TIME_MEAN], twin->row[0].log[BLI_TIME_MEAN]) /
                 sharing_response(load) / WINDOWS;
    }
    print_message(
        "# %s: the truth is inside for now in %d of %d, doubled in %d; %d false alarms; error %.1f %%\n",
        speeds, now, WINDOWS, doubled, alarms, 100 * width);
    assert_true(now >= INSIDE_MIN && (!known || doubled >= INSIDE_MIN));
    assert_true(alarms <= ALARMS_MAX);
    assert_true(width < 0.1);
    bli_twin_free(twin);
    free(fleet);
}

static void speeds_that_are_known(void **unused) {
    (void)unused;
    look_at_sharing("batch(4,0.2)", true);
}

static void speeds_that_are_found(void **unused) {
    (void)unused;
    look_at_sharing("find", false);
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
        cmocka_unit_test(speeds_that_are_known),
        cmocka_unit_test(speeds_that_are_found),
        cmocka_unit_test(another_policy_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
