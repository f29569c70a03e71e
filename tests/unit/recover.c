/* SPDX-License-Identifier: BSD-2-Clause */
/* Service times recovered from logs of fleets that are simulated here, so that their truth is known.
 *
 * Where a log tells everything, recovery is exact, and the tests demand it of each job. What is estimated is
 * compared with the truth of one fixed draw, with limits that are several standard errors wide (said there).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/recover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MS INT64_C(1000000)

enum { JOBS = 30000, SLOTS_MAX = 16, SERVERS_MAX = 64 };

/* A job of a fleet: when it came, how long it was served, where, when it left. */
struct truth {
    int64_t arrives, size, leaves;
    uint32_t server; /* from 0 */
};

enum kind { EXPONENTIAL = 0, LOGNORMAL = 1, SHARED = 2, SWINGING = 4 }; /* sizes, servers, arrivals */

struct fleet {
    uint32_t servers, slots;
    double load;
    unsigned kind;
};

static const double mean_size = 0.04;

static void draw_jobs(const struct fleet *fleet, struct truth *job) {
    struct bal_rng rng;
    bal_rng_init(&rng, 14, fleet->servers * 1000 + fleet->slots, BAL_STREAM_TEST);
    const double rate = fleet->load * fleet->servers * fleet->slots / mean_size;
    double now = 1000;
    for (int i = 0; i < JOBS; i++) {
        now += bal_rng_exp(&rng) / (rate * (1 + (fleet->kind & SWINGING ? 0.5 : 0) * sin(20.0 * i / JOBS)));
        const double size = !(fleet->kind & LOGNORMAL) ? mean_size * bal_rng_exp(&rng)
                                                       : mean_size * exp(bal_rng_normal(&rng) - 0.5);
        job[i] = (struct truth){.arrives = (int64_t)(now * 1e9),
                                .size = 1 + (int64_t)(size * 1e9),
                                .server = (uint32_t)i % fleet->servers};
    }
}

/* Each server takes its jobs in order, each when one of its slots is free. */
static void serve_in_order(const struct fleet *fleet, struct truth *job) {
    static int64_t free_at[SERVERS_MAX][SLOTS_MAX];
    memset(free_at, 0, sizeof free_at);
    for (int i = 0; i < JOBS; i++) {
        int64_t *slot = free_at[job[i].server];
        for (uint32_t k = 1; k < fleet->slots; k++)
            if (free_at[job[i].server][k] < *slot)
                slot = &free_at[job[i].server][k];
        job[i].leaves = *slot = (*slot > job[i].arrives ? *slot : job[i].arrives) + job[i].size;
    }
}

/* Each server works on all of its jobs, with the speed of at most so many cores. Time goes from event to
 * event. */
static void share(const struct fleet *fleet, struct truth *job) {
    static double left[JOBS];
    static int there[JOBS];
    for (uint32_t server = 0; server < fleet->servers; server++) {
        int count = 0;
        double now = 0;
        for (int next = (int)server; next < JOBS || count > 0;) {
            const double arrives = next < JOBS ? (double)job[next].arrives : INFINITY;
            const double speed = count > (int)fleet->slots ? (double)fleet->slots / count : 1;
            int first = 0;
            for (int k = 1; k < count; k++)
                first = left[there[k]] < left[there[first]] ? k : first;
            const double ends = count > 0 ? now + left[there[first]] / speed : INFINITY;
            const double until = fmin(arrives, ends);
            for (int k = 0; k < count; k++)
                left[there[k]] -= (until - now) * speed;
            now = until;
            if (arrives < ends) {
                left[next] = (double)job[next].size;
                there[count++] = next;
                next += (int)fleet->servers;
            } else {
                job[there[first]].leaves = (int64_t)now;
                there[first] = there[--count];
            }
        }
    }
}

static struct truth *simulate(const struct fleet *fleet) {
    static struct truth job[JOBS];
    draw_jobs(fleet, job);
    if (fleet->kind & SHARED)
        share(fleet, job);
    else
        serve_in_order(fleet, job);
    return job;
}

/* The log of it: times in whole steps; with or without the names of servers. */
static struct bli_trace *log_of(const struct truth *job, int64_t step, bool named) {
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int i = 0; i < JOBS; i++) {
        const int64_t arrives = job[i].arrives / step * step, leaves = job[i].leaves / step * step;
        const struct bli_trace_job logged = {.time = arrives,
                                             .size = leaves > arrives ? leaves - arrives : step / 4 + 1,
                                             .server = named ? job[i].server + 1 : 0};
        assert_int_equal(bli_trace_add(trace, &logged, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static int by_size(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void true_values(const struct truth *job, double *mean, double *p99) {
    static int64_t size[JOBS];
    double sum = 0;
    for (int i = 0; i < JOBS; i++) {
        size[i] = job[i].size;
        sum += (double)size[i];
    }
    qsort(size, JOBS, sizeof *size, by_size);
    *mean = sum / JOBS / 1e9;
    *p99 = (double)size[JOBS * 99 / 100] / 1e9;
}

static struct bli_trace *recover(struct bli_trace *logged, struct bli_recover_options options,
                                 struct bli_recovery *recovery) {
    struct bli_trace *recovered;
    struct bal_error err = {0};
    if (bli_recover(logged, &options, &recovered, recovery, &err))
        fail_msg("%s", err.text);
    return recovered;
}

static void assert_near(double value, double wanted, double part) {
    if (!(fabs(value - wanted) <= part * wanted))
        fail_msg("%.5g is not %.5g within %g %%", value, wanted, 100 * part);
}

/* ---- exact ---- */

static void is_exact_with_given_slots(void **unused) {
    (void)unused;
    static const struct fleet fleets[] = {
        {8, 1, 0.7, EXPONENTIAL}, {1, 1, 0.95, LOGNORMAL}, {4, 3, 0.9, LOGNORMAL}, {2, 16, 0.8, EXPONENTIAL}};
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++) {
        const struct truth *job = simulate(&fleets[f]);
        struct bli_trace *logged = log_of(job, 1, true);
        struct bli_recovery recovery;
        struct bli_trace *recovered =
            recover(logged, (struct bli_recover_options){.slots = fleets[f].slots, .step = 1e-9}, &recovery);
        assert_non_null(recovered);
        struct bli_trace_cursor *cursor;
        assert_int_equal(bli_trace_cursor_new(recovered, &cursor, NULL), BAL_OK);
        for (int i = 0; i < JOBS; i++) {
            struct bli_trace_job got;
            assert_int_equal(bli_trace_next(cursor, &got, NULL), BAL_OK);
            assert_true(got.time == job[i].arrives && got.size == job[i].size);
            assert_int_equal(got.server, job[i].server + 1);
        }
        bli_trace_cursor_free(cursor);
        double mean, p99;
        true_values(job, &mean, &p99);
        assert_near(recovery.service_mean, mean, 1e-9);
        assert_near(recovery.service_p99, p99, 0.01);
        assert_int_equal(recovery.servers, fleets[f].servers);
        assert_int_equal(recovery.times, BLI_TIMES_IN_ORDER);
        assert_near(recovery.service_load, fleets[f].load, 0.06); /* the span is random: 4 sigma */
        assert_true(recovery.logged_load > recovery.service_load);
        bli_trace_free(recovered);
        bli_trace_free(logged);
    }
}

/* ---- the log tells the slots ---- */

static void tells_slots_from_the_log(void **unused) {
    (void)unused;
    static const struct fleet fleets[] = {
        {8, 1, 0.7, EXPONENTIAL}, {8, 1, 0.4, LOGNORMAL},   {8, 2, 0.7, LOGNORMAL},
        {4, 4, 0.8, EXPONENTIAL}, {2, 8, 0.9, EXPONENTIAL}, {8, 1, 0.6, SWINGING},
    };
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++) {
        const struct truth *job = simulate(&fleets[f]);
        struct bli_trace *logged = log_of(job, MS, true);
        struct bli_recovery recovery;
        struct bli_trace *recovered = recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery);
        double mean, p99;
        true_values(job, &mean, &p99);
        assert_int_equal(recovery.slots, fleets[f].slots);
        assert_in_range(fleets[f].slots, recovery.slots_low, recovery.slots_high);
        assert_int_equal(recovery.times, BLI_TIMES_IN_ORDER);
        assert_near(recovery.service_mean, mean, 0.005);
        assert_near(recovery.service_p99, p99, 0.02);
        assert_true(recovery.overtaking < 0.001);
        assert_true(fabs(log(recovery.dependence)) < 0.1); /* several standard errors, 0.015 to 0.03 */
        bli_trace_free(recovered);
        bli_trace_free(logged);
    }
}

/* Who gives up while waiting leaves before those that came earlier, and does not overtake them: there is one
 * slot. Every tenth that waits for longer than 10 ms is followed by one that gives up after 5. */
static void who_gives_up_does_not_overtake(void **unused) {
    (void)unused;
    const struct fleet fleet = {8, 1, 0.7, EXPONENTIAL};
    const struct truth *job = simulate(&fleet);
    struct bli_trace *logged;
    assert_int_equal(bli_trace_new(NULL, &logged, NULL), BAL_OK);
    uint64_t gave_up = 0, waited = 0;
    for (int i = 0; i < JOBS; i++) {
        const int64_t in_all = job[i].leaves - job[i].arrives;
        struct bli_trace_job one = {.time = job[i].arrives, .size = in_all, .server = job[i].server + 1};
        assert_int_equal(bli_trace_add(logged, &one, NULL), BAL_OK);
        if (in_all < job[i].size + 10 * MS || ++waited % 10 > 0)
            continue;
        one = (struct bli_trace_job){
            .time = job[i].arrives + 1, .size = 5 * MS, .server = job[i].server + 1, .aborted = true};
        assert_int_equal(bli_trace_add(logged, &one, NULL), BAL_OK);
        gave_up++;
    }
    assert_int_equal(bli_trace_finish(logged, NULL, NULL), BAL_OK);
    assert_true(gave_up > 500);
    struct bli_recovery recovery;
    bli_trace_free(recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery));
    assert_int_equal(recovery.slots, 1);
    assert_int_equal(recovery.slots_low, 1);
    assert_int_equal(recovery.abandoned, gave_up);
    assert_true(recovery.overtaking < 0.001);
    bli_trace_free(logged);
}

/* Too few slots are disproved by jobs that overtake, also when they are given. */
static void shows_that_given_slots_are_wrong(void **unused) {
    (void)unused;
    const struct fleet fleet = {4, 4, 0.8, EXPONENTIAL};
    struct bli_trace *logged = log_of(simulate(&fleet), MS, true);
    struct bli_recovery recovery;
    bli_trace_free(recover(logged, (struct bli_recover_options){.slots = 2, .step = 1e-3}, &recovery));
    assert_int_equal(recovery.slots, 2);
    assert_int_equal(recovery.slots_low, 4);
    assert_true(recovery.overtaking > 0.1);
    bli_trace_free(recover(logged, (struct bli_recover_options){.slots = 8, .step = 1e-3}, &recovery));
    assert_int_equal(recovery.slots_high, 4);
    assert_true(recovery.dependence > 1.3);
    bli_trace_free(logged);
}

/* When hardly anybody waits the log cannot tell how many slots there are, and it does not matter. */
static void says_when_slots_cannot_be_told(void **unused) {
    (void)unused;
    const struct fleet fleet = {4, 16, 0.15, EXPONENTIAL};
    const struct truth *job = simulate(&fleet);
    struct bli_trace *logged = log_of(job, MS, true);
    struct bli_recovery recovery;
    struct bli_trace *recovered = recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery);
    double mean, p99;
    true_values(job, &mean, &p99);
    assert_int_equal(recovery.slots_high, 0);
    assert_near(recovery.service_mean, mean, 0.01);
    bli_trace_free(recovered);
    bli_trace_free(logged);
}

/* ---- servers that share their time ---- */

static void servers_that_share_are_seen(void **unused) {
    (void)unused;
    static const struct fleet fleets[] = {
        {8, 1, 0.6, SHARED}, {4, 1, 0.7, LOGNORMAL | SHARED}, {4, 4, 0.8, SHARED}};
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++) {
        const struct truth *job = simulate(&fleets[f]);
        struct bli_trace *logged = log_of(job, MS, true);
        struct bli_recovery recovery;
        struct bli_trace *recovered = recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery);
        double mean, p99;
        true_values(job, &mean, &p99);
        assert_int_equal(recovery.times, BLI_TIMES_SHARED);
        assert_int_equal(recovery.slots, fleets[f].slots);
        assert_near(recovery.service_mean, mean, 0.01);
        assert_near(recovery.service_p99, p99, 0.05);
        assert_true(recovery.shared_mean > 1.3 * mean); /* what the reading in order would have said */
        assert_int_equal(bli_trace_info(recovered)->jobs, JOBS);
        bli_trace_free(recovered);
        bli_trace_free(logged);
    }
}

/* ---- whole seconds ---- */

/* Lines stand in the order in which requests end; within their second they are put in that order. */
static struct bli_trace *coarse_log_of(struct truth *job) {
    static struct truth *line[JOBS];
    struct bli_trace *trace;
    struct bal_rng rng;
    bal_rng_init(&rng, 7, 7, BAL_STREAM_TEST);
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int i = 0; i < JOBS; i++) { /* insertion: they are almost in order */
        int at = i;
        for (; at > 0 && line[at - 1]->leaves > job[i].leaves; at--)
            line[at] = line[at - 1];
        line[at] = &job[i];
    }
    for (int i = 0, end; i < JOBS; i = end) {
        const int64_t second = line[i]->leaves / SECOND * SECOND;
        for (end = i; end < JOBS && line[end]->leaves < second + SECOND; end++)
            ;
        double sum = bal_rng_exp(&rng), gap[2000];
        assert_true(end - i < 2000);
        for (int k = i; k < end; k++) {
            gap[k - i] = sum;
            sum += bal_rng_exp(&rng);
        }
        for (int k = i; k < end; k++) {
            const int64_t took = (line[k]->leaves - line[k]->arrives) / MS * MS + MS / 2;
            const uint32_t drawn = (uint32_t)(gap[k - i] / sum * 1e9);
            const struct bli_trace_job logged = {.time = second + drawn - took,
                                                 .size = took,
                                                 .server = line[k]->server + 1,
                                                 .spread = true,
                                                 .drawn = drawn};
            assert_int_equal(bli_trace_add(trace, &logged, NULL), BAL_OK);
        }
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static void order_of_lines_stands_for_fractions_of_seconds(void **unused) {
    (void)unused;
    static const struct fleet fleets[] = {{8, 1, 0.7, EXPONENTIAL},
                                          {8, 2, 0.7, EXPONENTIAL},
                                          {40, 1, 0.6, LOGNORMAL},
                                          {8, 1, 0.3, EXPONENTIAL}};
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++) {
        struct truth *job = simulate(&fleets[f]);
        struct bli_trace *logged = coarse_log_of(job);
        struct bli_recovery recovery;
        struct bli_trace *recovered = recover(logged, (struct bli_recover_options){.step = 1}, &recovery);
        double mean, p99;
        true_values(job, &mean, &p99);
        assert_int_equal(recovery.slots, fleets[f].slots);
        assert_near(recovery.service_mean, mean, 0.05);
        assert_near(recovery.service_p99, p99, 0.1);
        assert_true(bli_trace_info(recovered)->spread == JOBS);
        bli_trace_free(recovered);
        bli_trace_free(logged);
    }
}

/* ---- by hand ---- */

static struct bli_trace *finished(const struct bli_trace_job *job, size_t count) {
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(bli_trace_add(trace, &job[i], NULL), BAL_OK);
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static void assert_jobs(const struct bli_trace *trace, const struct bli_trace_job *job, size_t count) {
    struct bli_trace_cursor *cursor;
    struct bli_trace_job got;
    assert_int_equal(bli_trace_cursor_new(trace, &cursor, NULL), BAL_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bli_trace_next(cursor, &got, NULL), BAL_OK);
        if (got.time != job[i].time || got.size != job[i].size)
            fail_msg("job %zu came at %lld and took %lld, not %lld and %lld", i, (long long)got.time,
                     (long long)got.size, (long long)job[i].time, (long long)job[i].size);
    }
    assert_int_equal(bli_trace_next(cursor, &got, NULL), BAL_OK);
    assert_int_equal(got.size, 0);
    bli_trace_cursor_free(cursor);
}

/* A job that was given up counts for as long as it had the server: the second one 1 s of its 9; the third,
 * given up before its turn, not at all; and nobody waits for it. */
static void jobs_given_up_count_while_served(void **unused) {
    (void)unused;
    const struct bli_trace_job logged[] = {
        {.time = 10 * SECOND, .size = 10 * SECOND, .server = 1},
        {.time = 12 * SECOND, .size = 9 * SECOND, .server = 1, .aborted = true},
        {.time = 13 * SECOND, .size = 2 * SECOND, .server = 1, .aborted = true},
        {.time = 14 * SECOND, .size = 12 * SECOND, .server = 1},
        {.time = 14 * SECOND, .size = 1 * SECOND, .server = 2},
        {.time = 15 * SECOND, .size = 7 * SECOND, .server = 0},
    };
    const struct bli_trace_job wanted[] = {{.time = 10 * SECOND, .size = 10 * SECOND},
                                           {.time = 12 * SECOND, .size = 1 * SECOND},
                                           {.time = 14 * SECOND, .size = 5 * SECOND},
                                           {.time = 14 * SECOND, .size = 1 * SECOND},
                                           {.time = 15 * SECOND, .size = 7 * SECOND}};
    struct bli_trace *trace = finished(logged, 6);
    struct bli_recovery recovery;
    struct bli_trace *recovered =
        recover(trace, (struct bli_recover_options){.slots = 1, .step = 1e-3}, &recovery);
    assert_jobs(recovered, wanted, 5);
    assert_int_equal(recovery.abandoned, 1);
    assert_int_equal(recovery.unserved, 1);
    bli_trace_free(recovered);
    bli_trace_free(trace);
}

/* Jobs that are left out occupied their server all the same: the second one waited for the first. */
static void jobs_left_out_occupied_their_server(void **unused) {
    (void)unused;
    const struct bli_trace_job logged[] = {
        {.time = 10 * SECOND, .size = 10 * SECOND, .server = 1, .left_out = true},
        {.time = 12 * SECOND, .size = 9 * SECOND, .server = 1},
    };
    const struct bli_trace_job wanted = {.time = 12 * SECOND, .size = 1 * SECOND},
                               kept = {.time = 12 * SECOND, .size = 9 * SECOND};
    struct bli_trace *trace = finished(logged, 2);
    struct bli_recovery recovery;
    struct bli_trace *recovered =
        recover(trace, (struct bli_recover_options){.slots = 1, .step = 1e-3}, &recovery);
    assert_jobs(recovered, &wanted, 1);
    assert_int_equal(recovery.jobs, 1);
    assert_near(recovery.logged_mean, 9, 1e-12);
    assert_near(recovery.service_mean, 1, 1e-12);
    bli_trace_free(recovered);
    recovered =
        recover(trace, (struct bli_recover_options){.slots = 1, .step = 1e-3, .keep = true}, &recovery);
    assert_jobs(recovered, &kept, 1);
    bli_trace_free(recovered);
    bli_trace_free(trace);
    trace = finished(logged, 1);
    struct bal_error err = {0};
    const struct bli_recover_options options = {.step = 1e-3};
    assert_int_equal(bli_recover(trace, &options, &recovered, &recovery, &err), BAL_E_MODEL);
    bli_trace_free(trace);
}

/* Tries at several servers, one after the other, each for its own time; one without a time is left out, as is
 * one that was refused at once. What an unfinished try took is no whole service. */
static void each_try_is_a_job_at_its_server(void **unused) {
    (void)unused;
    struct bli_log_record record = {.job = {.time = 100 * SECOND, .size = 7 * SECOND, .high = true},
                                    .ahead = 2 * SECOND,
                                    .wanted = true,
                                    .tries = 5,
                                    .visit = {{.server = 4, .took = 3 * SECOND, .status = 504},
                                              {.server = 5, .took = 0, .status = 502},
                                              {.server = 6, .took = -1},
                                              {.server = 4, .took = 1 * SECOND, .status = 502},
                                              {.server = 0, .took = 3 * SECOND, .status = 200}}};
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    assert_int_equal(bli_recover_take(trace, &record, NULL), BAL_OK);
    record = (struct bli_log_record){.job = {.time = 200 * SECOND, .size = 250}, .tries = 0, .ahead = -1};
    assert_int_equal(bli_recover_take(trace, &record, NULL), BAL_OK);
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    const struct bli_trace_job wanted[] = {
        {.time = 102 * SECOND, .size = 3 * SECOND, .server = 5, .ahead = 2 * SECOND, .aborted = true},
        {.time = 105 * SECOND, .size = 1 * SECOND, .server = 5, .aborted = true},
        {.time = 106 * SECOND, .size = 3 * SECOND, .server = 1},
        {.time = 200 * SECOND, .size = 250, .left_out = true}};
    struct bli_trace_cursor *cursor;
    assert_int_equal(bli_trace_cursor_new(trace, &cursor, NULL), BAL_OK);
    for (int i = 0; i < 4; i++) {
        struct bli_trace_job got;
        assert_int_equal(bli_trace_next(cursor, &got, NULL), BAL_OK);
        assert_true(got.time == wanted[i].time && got.size == wanted[i].size && got.high == (i < 3));
        assert_true(got.server == wanted[i].server && got.ahead == wanted[i].ahead);
        assert_true(got.aborted == wanted[i].aborted && got.left_out == wanted[i].left_out);
    }
    bli_trace_cursor_free(cursor);
    bli_trace_free(trace);
}

/* What a job had waited at the proxy is not service, but it is when it arrived. */
static void jobs_arrive_at_the_proxy(void **unused) {
    (void)unused;
    const struct bli_trace_job logged[] = {
        {.time = 20 * SECOND, .size = 4 * SECOND, .server = 1, .ahead = 3 * SECOND},
        {.time = 21 * SECOND, .size = 5 * SECOND, .server = 1, .ahead = 20 * SECOND},
    };
    const struct bli_trace_job wanted[] = {{.time = 1 * SECOND, .size = 2 * SECOND},
                                           {.time = 17 * SECOND, .size = 4 * SECOND}};
    const struct bli_trace_job kept[] = {{.time = 1 * SECOND, .size = 5 * SECOND},
                                         {.time = 17 * SECOND, .size = 4 * SECOND}};
    struct bli_trace *trace = finished(logged, 2);
    struct bli_recovery recovery;
    struct bli_trace *recovered =
        recover(trace, (struct bli_recover_options){.slots = 1, .step = 1e-3}, &recovery);
    assert_jobs(recovered, wanted, 2);
    bli_trace_free(recovered);
    recovered =
        recover(trace, (struct bli_recover_options){.slots = 1, .step = 1e-3, .keep = true}, &recovery);
    assert_jobs(recovered, kept, 2);
    assert_int_equal(recovery.times, BLI_TIMES_WAITING);
    assert_near(recovery.share.mean, 3.0 / 9, 1e-9);
    bli_trace_free(recovered);
    recovered = recover(trace, (struct bli_recover_options){.service = true}, &recovery);
    assert_jobs(recovered, kept, 2);
    assert_int_equal(recovery.times, BLI_TIMES_SERVICE);
    bli_trace_free(recovered);
    bli_trace_free(trace);
}

/* Servers that are replaced one by one are not a fleet of all of them. */
static void servers_are_counted_at_once(void **unused) {
    (void)unused;
    struct bli_trace_job job[60];
    for (int i = 0; i < 60; i++) /* two at a time, each for 10 jobs */
        job[i] = (struct bli_trace_job){
            .time = i * SECOND, .size = SECOND / 2, .server = 1 + 2 * ((uint32_t)i / 20) + (uint32_t)i % 2};
    struct bli_trace *trace = finished(job, 60);
    struct bli_recovery recovery;
    bli_trace_free(recover(trace, (struct bli_recover_options){.slots = 1, .step = 1e-3}, &recovery));
    assert_int_equal(recovery.servers, 2);
    assert_int_equal(recovery.servers_seen, 6);
    bli_trace_free(trace);
}

/* ---- without names of servers ---- */

static void light_parts_tell_service_times(void **unused) {
    (void)unused;
    static const struct fleet fleets[] = {
        {8, 1, 0.7, EXPONENTIAL}, {8, 1, 0.6, SWINGING}, {4, 2, 0.8, LOGNORMAL}, {8, 1, 0.5, SHARED}};
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++) {
        const struct truth *job = simulate(&fleets[f]);
        struct bli_trace *logged = log_of(job, MS, false);
        struct bli_recovery recovery;
        struct bli_trace *recovered = recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery);
        double mean, p99;
        true_values(job, &mean, &p99);
        print_message("# %ux%u load %g: logged %.4f, true %.4f, light %.4f (p99 %.4f, true %.4f), share %.3f "
                      "+- %.3f, others %.2f of %.2f\n",
                      fleets[f].servers, fleets[f].slots, fleets[f].load, recovery.logged_mean, mean,
                      recovery.service_mean, recovery.service_p99, p99, recovery.share.mean,
                      recovery.share.half_width, recovery.light_others, recovery.mean_others);
        assert_int_equal(recovery.times, BLI_TIMES_LIGHT);
        assert_true(bli_times_are_doubtful(recovery.times));
        assert_near(recovery.service_mean, mean, 0.15); /* about 1000 jobs, sizes with cv 1: 3 % each sigma */
        assert_int_equal(recovery.servers, 0);
        bli_trace_free(recovered);
        recovered = recover(logged, (struct bli_recover_options){.step = 1e-3, .keep = true}, &recovery);
        assert_null(recovered);
        assert_int_equal(recovery.times, BLI_TIMES_WAITING);
        bli_trace_free(logged);
    }
}

/* No servers are named, and nobody waits: the times are right as they are. */
static void times_without_waiting_stay(void **unused) {
    (void)unused;
    struct fleet fleet = {SERVERS_MAX, SLOTS_MAX, 0.02, EXPONENTIAL};
    struct bli_trace *logged = log_of(simulate(&fleet), MS, false);
    struct bli_recovery recovery;
    assert_null(recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery));
    assert_int_equal(recovery.times, BLI_TIMES_CLEAN);
    assert_true(fabs(recovery.share.mean) < 0.1);
    bli_trace_free(logged);
    /* Too few jobs tell nothing, and that is said. */
    const struct bli_trace_job few[] = {{.time = 0, .size = 5}, {.time = 2, .size = 50}};
    logged = finished(few, 2);
    assert_null(recover(logged, (struct bli_recover_options){.step = 1e-3}, &recovery));
    assert_int_equal(recovery.times, BLI_TIMES_UNKNOWN);
    assert_true(bli_times_are_doubtful(recovery.times));
    bli_trace_free(logged);
}

/* ---- a proxy that holds requests until a slot is free ---- */

/* One line for all; who comes first takes the slot that is free first. In the log each of the three times of
 * a request is cut to its digits on its own, so that it may seem to come before the one whose place it takes
 * has left. */
static struct bli_trace *hold(const struct fleet *fleet, int64_t step) {
    static struct truth job[JOBS];
    static int64_t free_at[SERVERS_MAX * SLOTS_MAX];
    const uint32_t all = fleet->servers * fleet->slots;
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    memset(free_at, 0, sizeof free_at);
    draw_jobs(fleet, job);
    for (int i = 0; i < JOBS; i++) {
        uint32_t slot = 0;
        for (uint32_t k = 1; k < all; k++)
            slot = free_at[k] < free_at[slot] ? k : slot;
        const int64_t begins = free_at[slot] > job[i].arrives ? free_at[slot] : job[i].arrives;
        free_at[slot] = begins + job[i].size;
        const int64_t start = job[i].arrives / step * step, wait = (begins - job[i].arrives) / step * step;
        const int64_t time = job[i].size / step * step;
        const struct bli_trace_job logged = {.time = start + wait,
                                             .ahead = wait,
                                             .size = time > 0 ? time : 1,
                                             .server = slot % fleet->servers + 1};
        assert_int_equal(bli_trace_add(trace, &logged, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static struct bli_recovery recover_held(const struct fleet *fleet, int64_t step, uint32_t told) {
    struct bli_trace *logged = hold(fleet, step), *recovered;
    const double seconds = (double)step / 1e9;
    const struct bli_recover_options options = {.step = seconds, .length_step = seconds, .told_slots = told};
    struct bli_recovery recovery;
    struct bal_error err;
    assert_int_equal(bli_recover(logged, &options, &recovered, &recovery, &err), BAL_OK);
    bli_trace_free(logged);
    bli_trace_free(recovered);
    return recovery;
}

static void digits_do_not_make_slots(void **unused) {
    (void)unused;
    static const int64_t steps[] = {1000, MS};
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        for (uint32_t slots = 1; slots <= 4; slots++) {
            const struct fleet fleet = {6, slots, 0.9, EXPONENTIAL};
            const struct bli_recovery recovery = recover_held(&fleet, steps[i], 0);
            assert_int_equal(recovery.slots, slots);
            /* no one waits at a server, as far as digits tell */
            assert_true(fabs(recovery.share.mean) < (double)steps[i] / 1e9 / mean_size);
        }
}

/* Nothing tells that a server of one slot could not have worked on two: it is a guess, and said to be one. */
static void slots_that_nothing_tells_are_a_guess(void **unused) {
    (void)unused;
    const struct fleet fleet = {6, 1, 0.9, EXPONENTIAL};
    struct bli_recovery recovery = recover_held(&fleet, 1000, 0);
    assert_true(recovery.slots_open);
    assert_false(recovery.slots_told);
    recovery = recover_held(&fleet, 1000, 1);
    assert_false(recovery.slots_open);
    assert_true(recovery.slots_told);
    assert_int_equal(recovery.slots, 1);
}

/* A number that the times disprove is not taken, whoever says it. */
static void slots_that_are_told_wrongly_are_not_taken(void **unused) {
    (void)unused;
    const struct fleet fleet = {6, 4, 0.9, EXPONENTIAL};
    const struct bli_recovery recovery = recover_held(&fleet, 1000, 1);
    assert_false(recovery.slots_told);
    assert_int_equal(recovery.slots, 4);
}

static void stops_when_told(void **unused) {
    (void)unused;
    const struct fleet fleet = {4, 1, 0.5, EXPONENTIAL};
    const struct truth *job = simulate(&fleet);
    for (int named = 0; named < 2; named++) {
        struct bli_trace *logged = log_of(job, MS, named), *recovered;
        const volatile int stop = 1;
        const struct bli_recover_options options = {.step = 1e-3, .stop = &stop};
        struct bli_recovery recovery;
        struct bal_error err;
        assert_int_equal(bli_recover(logged, &options, &recovered, &recovery, &err), BAL_E_STOPPED);
        assert_null(recovered);
        bli_trace_free(logged);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_exact_with_given_slots),
        cmocka_unit_test(tells_slots_from_the_log),
        cmocka_unit_test(who_gives_up_does_not_overtake),
        cmocka_unit_test(shows_that_given_slots_are_wrong),
        cmocka_unit_test(says_when_slots_cannot_be_told),
        cmocka_unit_test(servers_that_share_are_seen),
        cmocka_unit_test(order_of_lines_stands_for_fractions_of_seconds),
        cmocka_unit_test(jobs_given_up_count_while_served),
        cmocka_unit_test(jobs_left_out_occupied_their_server),
        cmocka_unit_test(each_try_is_a_job_at_its_server),
        cmocka_unit_test(jobs_arrive_at_the_proxy),
        cmocka_unit_test(servers_are_counted_at_once),
        cmocka_unit_test(light_parts_tell_service_times),
        cmocka_unit_test(times_without_waiting_stay),
        cmocka_unit_test(digits_do_not_make_slots),
        cmocka_unit_test(slots_that_nothing_tells_are_a_guess),
        cmocka_unit_test(slots_that_are_told_wrongly_are_not_taken),
        cmocka_unit_test(stops_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
