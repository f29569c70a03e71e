/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces: what comes out is what went in, in order of time and then of adding, however it was sorted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../sanitized.h"
#include "ballast/random.h"
#include "ballast/trace.h"
#include "workload/trace_private.h"
#include "workload/trace_sort.h"

static struct bli_trace *make(size_t window) {
    struct bli_trace *trace;
    struct bal_error err;
    assert_int_equal(
        window ? bli_trace_new_small(NULL, window, &trace, &err) : bli_trace_new(NULL, &trace, &err), BAL_OK);
    return trace;
}

static void add(struct bli_trace *trace, int64_t time, int64_t size, bool high) {
    struct bal_error err;
    assert_int_equal(
        bli_trace_add(trace, &(struct bli_trace_job){.time = time, .size = size, .high = high}, &err),
        BAL_OK);
}

static void finish(struct bli_trace *trace) {
    struct bal_error err;
    assert_int_equal(bli_trace_finish(trace, NULL, &err), BAL_OK);
}

static struct bli_trace_cursor *open_cursor(const struct bli_trace *trace) {
    struct bli_trace_cursor *cursor;
    struct bal_error err;
    assert_int_equal(bli_trace_cursor_new(trace, &cursor, &err), BAL_OK);
    return cursor;
}

static struct bli_trace_job next(struct bli_trace_cursor *cursor) {
    struct bli_trace_job job;
    struct bal_error err;
    assert_int_equal(bli_trace_next(cursor, &job, &err), BAL_OK);
    return job;
}

/* Sizes count up in order of adding, so that they tell it. */
static void assert_sorted(const struct bli_trace *trace, const int64_t *times, uint64_t count) {
    struct bli_trace_cursor *cursor = open_cursor(trace);
    bool *seen = calloc(count, sizeof *seen);
    assert_non_null(seen);
    struct bli_trace_job before = {0};
    for (uint64_t i = 0; i < count; i++) {
        const struct bli_trace_job job = next(cursor);
        assert_in_range(job.size, 1, count);
        assert_false(seen[job.size - 1]);
        seen[job.size - 1] = true;
        assert_true(job.time == times[job.size - 1]);
        assert_int_equal(job.high, job.size % 3 == 0);
        if (i > 0)
            assert_true(before.time < job.time || (before.time == job.time && before.size < job.size));
        before = job;
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(next(cursor).size, 0);
    bli_trace_cursor_free(cursor);
    free(seen);
}

/* The ways in which times may come, from all in order to none. */
static int64_t draw_time(struct bal_rng *rng, int way, uint64_t i) {
    switch (way) {
    case 0:
        return (int64_t)i / 3;
    case 1: /* as requests that are logged when they end: a little late */
        return (int64_t)(10 * i) - bal_rng_below(rng, 100);
    case 2:
        return -(int64_t)i;
    case 3: /* few values, many ties */
        return bal_rng_below(rng, 5);
    case 4:
        return (int64_t)bal_rng_next(rng);
    default: /* files one after the other, each in order */
        return (int64_t)(i % 1000);
    }
}

static void sorts(void **state) {
    (void)state;
    const size_t windows[] = {2, 3, 7, 16, 1000, 0};
    const uint64_t counts[] = {1, 2, 3, 15, 16, 17, 1000, 12345};
    static int64_t times[12345];
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
            for (int way = 0; way < 6; way++) {
                struct bal_rng rng;
                bal_rng_init(&rng, 61, w * 100 + c, BAL_STREAM_TEST + (uint64_t)way);
                struct bli_trace *trace = make(windows[w]);
                uint64_t unordered = 0;
                int64_t latest = INT64_MIN;
                for (uint64_t i = 0; i < counts[c]; i++) {
                    times[i] = draw_time(&rng, way, i);
                    unordered += times[i] < latest;
                    latest = times[i] > latest ? times[i] : latest;
                    add(trace, times[i], (int64_t)i + 1, (i + 1) % 3 == 0);
                }
                finish(trace);
                assert_int_equal(bli_trace_info(trace)->unordered, unordered);
                assert_sorted(trace, times, counts[c]);
                bli_trace_free(trace);
            }
}

/* The largest window there is, filled more than twice; with the sanitizers in one of two orders. */
static void sorts_many(void **state) {
    (void)state;
    const uint64_t count = 2500000;
    int64_t *times = malloc(count * sizeof *times);
    assert_non_null(times);
    for (int way = SANITIZED ? 4 : 1; way <= 4; way += 3) {
        struct bal_rng rng;
        bal_rng_init(&rng, 62, 0, BAL_STREAM_TEST);
        struct bli_trace *trace = make(0);
        for (uint64_t i = 0; i < count; i++) {
            times[i] = draw_time(&rng, way, i);
            add(trace, times[i], (int64_t)i + 1, (i + 1) % 3 == 0);
        }
        finish(trace);
        assert_sorted(trace, times, count);
        bli_trace_free(trace);
    }
    free(times);
}

static void tells_what_it_has(void **state) {
    (void)state;
    struct bli_trace *trace = make(4);
    add(trace, 5000000000, 250000000, false);
    add(trace, -1000000000, 1500000000, true);
    add(trace, 3000000000, 1250000000, false);
    add(trace, 5000000000, 1000000000, true);
    finish(trace);
    const struct bli_trace_info *info = bli_trace_info(trace);
    assert_int_equal(info->jobs, 4);
    assert_int_equal(info->high, 2);
    assert_int_equal(info->unordered, 2);
    assert_true(info->first == -1000000000 && info->last == 5000000000);
    assert_true(info->span == 6 && info->work == 4 && info->size_mean == 1 && info->max_size == 1.5);
    assert_true(info->size_square == (0.0625 + 2.25 + 1.5625 + 1) / 4);
    bli_trace_free(trace);
}

/* Nanoseconds of any size come back as they were, and the span does not overflow. */
static void keeps_extremes(void **state) {
    (void)state;
    struct bli_trace *trace = make(0);
    add(trace, INT64_MAX, INT64_MAX, true);
    add(trace, INT64_MIN, 1, false);
    add(trace, 1700000000123456789, INT64_MAX, false);
    finish(trace);
    assert_true(bli_trace_info(trace)->span == 0x1p64 / 1e9);
    struct bli_trace_cursor *cursor = open_cursor(trace);
    struct bli_trace_job job = next(cursor);
    assert_true(job.time == INT64_MIN && job.size == 1 && !job.high);
    job = next(cursor);
    assert_true(job.time == 1700000000123456789 && job.size == INT64_MAX && !job.high);
    job = next(cursor);
    assert_true(job.time == INT64_MAX && job.size == INT64_MAX && job.high);
    bli_trace_cursor_free(cursor);
    bli_trace_free(trace);
}

/* All that a job has besides. */
static void keeps_what_the_record_says(void **state) {
    (void)state;
    struct bli_trace *trace = make(2);
    const struct bli_trace_job jobs[] = {
        {.time = 1, .size = 5, .aborted = true, .server = BLI_TRACE_SERVERS, .kind = BLI_TRACE_KINDS - 1},
        {.time = 2, .size = 6, .server = 1, .high = true, .left_out = true, .request = UINT32_MAX},
        {.time = 3, .size = 7, .kind = 1, .ahead = INT64_MAX},
        {.time = 4, .size = 8, .aborted = true, .kind = 1},
    };
    for (int i = 0; i < 4; i++)
        assert_int_equal(bli_trace_add(trace, &jobs[i], NULL), BAL_OK);
    finish(trace);
    struct bli_trace_cursor *cursor = open_cursor(trace);
    for (int i = 0; i < 4; i++) {
        const struct bli_trace_job job = next(cursor);
        assert_true(job.time == jobs[i].time && job.size == jobs[i].size && job.high == jobs[i].high);
        assert_true(job.aborted == jobs[i].aborted && job.server == jobs[i].server &&
                    job.ahead == jobs[i].ahead);
        assert_true(job.kind == jobs[i].kind && !job.spread && job.drawn == 0);
        assert_true(job.left_out == jobs[i].left_out && job.request == jobs[i].request);
    }
    bli_trace_cursor_free(cursor);
    const struct bli_trace_info *info = bli_trace_info(trace);
    assert_true(info->kind[0] == 1 && info->kind[1] == 2 && info->kind[BLI_TRACE_KINDS - 1] == 1);
    assert_int_equal(info->spread, 0);
    bli_trace_free(trace);
}

static bool is_same(const struct bli_trace_job *a, const struct bli_trace_job *b) {
    return a->time == b->time && a->size == b->size && a->ahead == b->ahead && a->drawn == b->drawn &&
           a->server == b->server && a->kind == b->kind && a->high == b->high && a->aborted == b->aborted &&
           a->left_out == b->left_out && a->spread == b->spread && a->request == b->request;
}

/* The next job takes up to so many bits of each thing that it has. */
static struct bli_trace_job random_job(struct bal_rng *rng, unsigned bits, int64_t after) {
    const uint64_t mask = (UINT64_C(1) << bits) - 1, marks = bal_rng_next(rng) & mask;
    return (struct bli_trace_job){.time = after + (int64_t)(bal_rng_next(rng) & mask >> 13),
                                  .size = 1 + (int64_t)(bal_rng_next(rng) & mask >> 1),
                                  .ahead = (int64_t)(bal_rng_next(rng) & mask) - (int64_t)(mask >> 1),
                                  .spread = marks & 1,
                                  .drawn =
                                      marks & 1 ? (uint32_t)((bal_rng_next(rng) & mask) % 1000000000) : 0,
                                  .high = marks >> 1 & 1,
                                  .aborted = marks >> 2 & 1,
                                  .left_out = marks >> 3 & 1,
                                  .kind = marks >> 4 & (BLI_TRACE_KINDS - 1),
                                  .server = marks >> 9 & BLI_TRACE_SERVERS,
                                  .request = (uint32_t)(marks >> 7)};
}

/* Whatever the number of bytes that the values of a block take in the file, none to eight. */
static void keeps_values_of_any_width(void **state) {
    (void)state;
    enum { JOBS = 3000 };
    for (unsigned bits = 0; bits < 63; bits++) {
        static struct bli_trace_job jobs[JOBS];
        struct bal_rng rng;
        bal_rng_init(&rng, 5, bits, BAL_STREAM_TEST);
        struct bli_trace *trace = make(bits % 2 ? 100 : 0);
        for (int i = 0; i < JOBS; i++) {
            jobs[i] = random_job(&rng, bits, i ? jobs[i - 1].time : -1000);
            assert_int_equal(bli_trace_add(trace, &jobs[i], NULL), BAL_OK);
        }
        finish(trace);
        struct bli_trace_cursor *cursor = open_cursor(trace);
        for (int i = 0; i < JOBS; i++) {
            const struct bli_trace_job job = next(cursor);
            assert_true(is_same(&job, &jobs[i]));
        }
        assert_int_equal(next(cursor).size, 0);
        bli_trace_cursor_free(cursor);
        bli_trace_free(trace);
    }
}

/* Jobs of whole seconds, some with a fraction between them: each draw is in order, within the second, and
 * another for another stream; the same for the same. Sizes tell the jobs apart. */
static void draws_anew_within_seconds(void **state) {
    (void)state;
    enum { JOBS = 3000, SECOND = BLI_TRACE_STEP };
    struct bli_trace *trace = make(0);
    struct bal_rng rng;
    bal_rng_init(&rng, 3, 0, BAL_STREAM_TEST);
    int64_t base[JOBS];
    for (int i = 0; i < JOBS; i++) {
        const bool spread = i % 5 > 0;
        const uint32_t drawn = spread ? bal_rng_below(&rng, SECOND) : 0;
        base[i] = i / 30 * (int64_t)SECOND - 3 * (int64_t)bal_rng_below(&rng, SECOND);
        const struct bli_trace_job job = {
            .time = base[i] + drawn, .size = i + 1, .spread = spread, .drawn = drawn};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    finish(trace);
    assert_int_equal(bli_trace_info(trace)->spread, JOBS - JOBS / 5);
    int64_t drawn[3][JOBS];
    for (int draw = 0; draw < 4; draw++) { /* as added; stream 1, stream 2, stream 1 again */
        struct bli_trace_cursor *cursor = open_cursor(trace);
        bal_rng_init(&rng, 9, draw == 2 ? 2 : 1, BAL_STREAM_TEST);
        if (draw > 0)
            bli_trace_cursor_redraw(cursor, &rng);
        int64_t before = INT64_MIN;
        int moved = 0;
        for (int n = 0; n < JOBS; n++) {
            const struct bli_trace_job job = next(cursor);
            const int i = (int)job.size - 1;
            assert_true(job.time >= before && job.time >= bli_trace_info(trace)->first);
            assert_true(job.time <= bli_trace_info(trace)->last);
            before = job.time;
            assert_true(job.time - job.drawn == base[i] && job.drawn < SECOND && job.spread == (i % 5 > 0));
            if (!job.spread)
                assert_int_equal(job.drawn, 0);
            if (draw == 3)
                assert_true(job.time == drawn[1][i]);
            else
                drawn[draw][i] = job.time;
            moved += draw > 0 && job.time != drawn[0][i];
        }
        assert_int_equal(next(cursor).size, 0);
        assert_true(draw == 0 ? moved == 0 : moved > JOBS - JOBS / 5 - 5); /* equal by chance: 1e-9 each */
        bli_trace_cursor_free(cursor);
    }
    bli_trace_free(trace);
}

static int by_time_and_size(const void *a, const void *b) {
    const struct bli_trace_job *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* The plain way: all is drawn in the order of the trace, and sorted. Few jobs to a second and many, more than
 * are read at once. Sizes rise, so that of equal times the one that was added first has the smaller. */
static void draws_as_the_plain_way(void **state) {
    (void)state;
    enum { JOBS = 20000 };
    static struct bli_trace_job jobs[JOBS];
    for (int to_a_second = 3; to_a_second < JOBS; to_a_second *= 30) {
        struct bli_trace *trace = make(0);
        struct bal_rng rng;
        bal_rng_init(&rng, 4, (uint64_t)to_a_second, BAL_STREAM_TEST);
        for (int i = 0; i < JOBS; i++) {
            const struct bli_trace_job job = {.time = (int64_t)(i / to_a_second) * BLI_TRACE_STEP,
                                              .size = i + 1,
                                              .spread = bal_rng_below(&rng, 7) > 0};
            assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
        }
        finish(trace);
        struct bli_trace_cursor *cursor = open_cursor(trace);
        const struct bal_rng before = rng;
        for (int i = 0; i < JOBS; i++) {
            jobs[i] = next(cursor);
            jobs[i].drawn = jobs[i].spread ? bal_rng_below(&rng, BLI_TRACE_STEP) : 0;
            jobs[i].time += jobs[i].drawn;
        }
        qsort(jobs, JOBS, sizeof *jobs, by_time_and_size);
        bli_trace_cursor_free(cursor);
        cursor = open_cursor(trace);
        bli_trace_cursor_redraw(cursor, &before);
        for (int i = 0; i < JOBS; i++) {
            const struct bli_trace_job job = next(cursor);
            assert_true(is_same(&job, &jobs[i]));
        }
        assert_int_equal(next(cursor).size, 0);
        bli_trace_cursor_free(cursor);
        bli_trace_free(trace);
    }
}

enum { READERS = 2, READ = 20000 };

static void *read_all(void *context) {
    struct bli_trace_cursor *cursor;
    struct bli_trace_job job;
    if (bli_trace_cursor_new(context, &cursor, NULL))
        return NULL;
    uint64_t count = 0;
    while (!bli_trace_next(cursor, &job, NULL) && job.size > 0 && job.time == (int64_t)count)
        count++;
    bli_trace_cursor_free(cursor);
    return (void *)(uintptr_t)count;
}

static void is_read_by_many(void **state) {
    (void)state;
    struct bli_trace *trace = make(1000);
    for (int64_t i = READ; i-- > 0;)
        add(trace, i, 1, false);
    finish(trace);
    pthread_t reader[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_all, trace), 0);
    for (int i = 0; i < READERS; i++) {
        void *count;
        assert_int_equal(pthread_join(reader[i], &count), 0);
        assert_int_equal((uintptr_t)count, READ);
    }
    bli_trace_free(trace);
}

static void refuses(void **state) {
    (void)state;
    struct bli_trace *trace;
    struct bal_error err;
    assert_int_equal(bli_trace_new("/nowhere/at/all", &trace, &err), BAL_E_IO);
    assert_null(trace);
    assert_non_null(strstr(err.text, "'/nowhere/at/all'"));
    assert_int_equal(bli_trace_new("", &trace, &err), BAL_OK); /* as if there were no TMPDIR */
    assert_int_equal(bli_trace_finish(trace, NULL, &err), BAL_E_MODEL);
    const int64_t sizes[] = {0, -1, INT64_MIN};
    for (int i = 0; i < 3; i++)
        assert_int_equal(bli_trace_add(trace, &(struct bli_trace_job){.size = sizes[i]}, &err), BAL_E_RANGE);
    bli_trace_free(trace);
    bli_trace_free(NULL);
    bli_trace_cursor_free(NULL);
}

static void stops(void **state) {
    (void)state;
    struct bli_trace *trace = make(4);
    for (int64_t i = 0; i < 1000; i++)
        add(trace, -i, 1, false);
    const volatile int stop = 1;
    struct bal_error err;
    assert_int_equal(bli_trace_finish(trace, &stop, &err), BAL_E_STOPPED);
    bli_trace_free(trace);
}

/* A limit on the size of files does what a full disk does. */
static void tells_of_a_full_disk(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
    const struct rlimit little = {1 << 16, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    struct bli_trace *trace = make(16);
    struct bal_error err = {0};
    enum bal_code code = BAL_OK;
    int64_t added = 0;
    for (; !code && added < 10000; added++)
        code = bli_trace_add(trace, &(struct bli_trace_job){.time = added, .size = 1}, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(code, BAL_E_IO);
    assert_in_range(added, 4000, 9000); /* eight jobs take 64 bytes here */
    assert_non_null(strstr(err.text, "cannot grow beyond 0.1 MB"));
    assert_non_null(strstr(err.text, "TMPDIR"));
    bli_trace_free(trace);
}

/* Whose temporary files lie in that directory. */
static void leaves_nothing_behind(void **state) {
    (void)state;
    char directory[] = "/tmp/ballast-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    struct bli_trace *trace;
    struct bal_error err;
    assert_int_equal(bli_trace_new(directory, &trace, &err), BAL_OK);
    add(trace, 1, 1, false);
    finish(trace);
    assert_int_equal(rmdir(directory), 0); /* works only when it is empty */
    struct bli_trace_cursor *cursor = open_cursor(trace);
    assert_int_equal(next(cursor).size, 1);
    bli_trace_cursor_free(cursor);
    bli_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts),
        cmocka_unit_test(sorts_many),
        cmocka_unit_test(tells_what_it_has),
        cmocka_unit_test(keeps_extremes),
        cmocka_unit_test(keeps_what_the_record_says),
        cmocka_unit_test(keeps_values_of_any_width),
        cmocka_unit_test(draws_anew_within_seconds),
        cmocka_unit_test(draws_as_the_plain_way),
        cmocka_unit_test(is_read_by_many),
        cmocka_unit_test(refuses),
        cmocka_unit_test(stops),
        cmocka_unit_test(tells_of_a_full_disk),
        cmocka_unit_test(leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
