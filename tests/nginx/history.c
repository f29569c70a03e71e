/* SPDX-License-Identifier: BSD-2-Clause */
/* The last hour of an upstream: what becomes a point, and in which order points are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../nginx/history.h"

static const uint64_t second = 1000000000;

struct fleet {
    struct bli_ngx_history history;
    struct bli_ngx_times times[BAL_CLASSES_MAX];
    struct bli_ngx_moment moment;
    struct bli_ngx_point point[BLI_NGX_POINTS];
};

static struct fleet *new_fleet(void) {
    struct fleet *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->moment.now = 100 * second;
    return f;
}

static void answer(struct fleet *f, uint32_t rank, uint64_t ns) {
    f->times[rank].count++;
    f->times[rank].bucket[bli_ngx_times_bucket(ns)]++;
}

static void tick_after(struct fleet *f, uint64_t ns, uint32_t held) {
    f->moment.now += ns;
    if (bli_ngx_history_tick(&f->history, f->moment.now, held))
        bli_ngx_history_add(&f->history, &f->moment, f->times, 2);
}

/* Ticks come eight times a second. */
static void pass(struct fleet *f, uint32_t seconds, uint32_t rate) {
    for (uint32_t i = 0; i < 8 * seconds; i++) {
        f->moment.arrived += i % 8 == 3 ? rate : 0;
        tick_after(f, second / 8, 0);
    }
}

static void counts_and_times_are_those_of_the_point(void **state) {
    (void)state;
    struct fleet *f = new_fleet();
    f->moment.arrived = 1000; /* what was before is in no point */
    for (int i = 0; i < 50; i++)
        answer(f, 0, 20000000);
    tick_after(f, 0, 3);
    assert_int_equal(bli_ngx_history_points(&f->history, f->point), 0);
    for (int i = 0; i < 100; i++)
        answer(f, 1, i < 98 ? 1000000 : 500000000);
    f->moment.arrived += 102;
    f->moment.failed += 2;
    f->moment.refused += 1;
    f->moment.messages += 17;
    f->moment.on = 4;
    f->moment.activity_ns[BLI_NGX_BUSY] += 3 * second;
    tick_after(f, second / 2, 9);
    tick_after(f, second / 2 + second / 4, 5);
    assert_int_equal(bli_ngx_history_points(&f->history, f->point), 1);
    const struct bli_ngx_point *p = f->point;
    assert_int_equal(p->ms, 1250);
    assert_true(p->end_ns == f->moment.now);
    assert_int_equal(p->arrived, 102);
    assert_int_equal(p->failed, 2);
    assert_int_equal(p->refused, 1);
    assert_int_equal(p->messages, 17);
    assert_int_equal(p->on, 4);
    assert_int_equal(p->held, 9); /* the most, not what was there before the point or at its end */
    assert_int_equal(p->activity_ms[BLI_NGX_BUSY], 3000);
    assert_int_equal(p->p50_us[0], 0); /* none was answered in it */
    /* Buckets are a quarter of a factor of two wide. */
    assert_true(p->p50_us[1] >= 1000 / 1.25 && p->p50_us[1] <= 1000 * 1.25);
    assert_true(p->p99_us[1] >= 500000 / 1.25 && p->p99_us[1] <= 500000 * 1.25);
    free(f);
}

/* Each point begins where the one before it ended, whatever its length; none is there twice. */
static void assert_one_behind_the_other(const struct bli_ngx_point *point, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        assert_true(point[i].end_ns - (uint64_t)point[i].ms * 1000000 == point[i - 1].end_ns);
}

static void seconds_become_tens_and_then_go(void **state) {
    (void)state;
    struct fleet *f = new_fleet();
    tick_after(f, 0, 0);
    pass(f, 60, 7);
    assert_int_equal(bli_ngx_history_points(&f->history, f->point), 60);
    assert_one_behind_the_other(f->point, 60);
    pass(f, 600, 7);
    const uint32_t count = bli_ngx_history_points(&f->history, f->point);
    assert_int_equal(count, 54 + 120); /* 660 s: 540 in tens, 120 in seconds */
    assert_one_behind_the_other(f->point, count);
    uint64_t arrived = 0;
    for (uint32_t i = 0; i < count; i++)
        arrived += f->point[i].arrived;
    assert_true(arrived == 660 * 7);
    assert_int_equal(f->point[0].arrived, 70);
    assert_int_equal(f->point[count - 1].arrived, 7);
    pass(f, 2 * 3600, 7);
    const uint32_t most = bli_ngx_history_points(&f->history, f->point);
    assert_one_behind_the_other(f->point, most);
    assert_true(f->moment.now - f->point[0].end_ns >= 3500 * second);
    assert_true(most <= BLI_NGX_POINTS && most >= 120 + 347);
    free(f);
}

static void a_pause_is_one_point(void **state) {
    (void)state;
    struct fleet *f = new_fleet();
    tick_after(f, 0, 0);
    pass(f, 3, 1);
    f->moment.arrived += 5;
    tick_after(f, 77 * second, 2);
    pass(f, 2, 1);
    const uint32_t count = bli_ngx_history_points(&f->history, f->point);
    assert_int_equal(count, 6);
    assert_one_behind_the_other(f->point, count);
    assert_int_equal(f->point[3].ms, 77000);
    assert_int_equal(f->point[3].arrived, 5);
    free(f);
}

/* A process that is killed while it copies leaves counts that are larger than those that come. */
static void torn_counts_are_no_requests(void **state) {
    (void)state;
    struct fleet *f = new_fleet();
    f->moment.arrived = 50;
    answer(f, 0, 1000000);
    answer(f, 0, 1000000);
    tick_after(f, 0, 0);
    f->moment.arrived = 20;
    f->times[0].bucket[bli_ngx_times_bucket(1000000)] = 1;
    tick_after(f, second, 0);
    assert_int_equal(bli_ngx_history_points(&f->history, f->point), 1);
    assert_int_equal(f->point[0].arrived, 0);
    assert_int_equal(f->point[0].p50_us[0], 0);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_times_are_those_of_the_point),
        cmocka_unit_test(seconds_become_tens_and_then_go),
        cmocka_unit_test(a_pause_is_one_point),
        cmocka_unit_test(torn_counts_are_no_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
