/* SPDX-License-Identifier: BSD-2-Clause */
/* The last requests: room, clocks that are set, and what has not ended. */
#include "twin/recent_requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const int64_t second = 1000000000;

static void add(struct bli_recent_requests *window, double arrival, double took) {
    const struct bli_trace_job job = {.time = (int64_t)(arrival * 1e9), .size = (int64_t)(took * 1e9)};
    bli_recent_add(window, &job);
}

static uint64_t copied(const struct bli_recent_requests *window, const struct bli_view *view) {
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    assert_int_equal(bli_recent_copy(window, view, trace, NULL), BAL_OK);
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    const uint64_t jobs = bli_trace_info(trace)->jobs;
    bli_trace_free(trace);
    return jobs;
}

static void what_has_not_ended_is_left_out(void **state) {
    (void)state;
    struct bli_recent_requests window;
    assert_int_equal(bli_recent_init(&window, 1000, NULL), BAL_OK);
    for (int i = 0; i < 300; i++)
        add(&window, 1000 + i, i == 250 ? 4 : 0.5);
    const struct bli_view view = bli_recent_view(&window, window.latest, 100 * second);
    assert_int_equal(view.unfinished, 4 * second);
    assert_int_equal(view.to, window.latest - 4 * second);
    assert_int_equal(view.from, view.to - 100 * second);
    assert_int_equal(view.jobs, 100);
    assert_false(view.shortened);
    assert_int_equal(copied(&window, &view), 100 + 10 + 4); /* with those of 10 s before and of what is left
                                                               out */
    bli_recent_fini(&window);
}

static void room_for_so_many(void **state) {
    (void)state;
    struct bli_recent_requests window;
    assert_int_equal(bli_recent_init(&window, 50, NULL), BAL_OK);
    for (int i = 0; i < 333; i++)
        add(&window, 1000 + i, 0.5);
    assert_int_equal(window.count, 50);
    assert_int_equal(window.taken, 333);
    const struct bli_view view = bli_recent_view(&window, window.latest, 100 * second);
    assert_true(view.shortened);
    assert_int_equal(view.from, 1282 * second + second / 2); /* when the last of those ended that are gone */
    assert_int_equal(view.jobs, 49);                         /* the last one has only just ended */
    bli_recent_fini(&window);
}

static void a_clock_that_is_set_back(void **state) {
    (void)state;
    struct bli_recent_requests window;
    assert_int_equal(bli_recent_init(&window, 1000, NULL), BAL_OK);
    for (int i = 0; i < 200; i++)
        add(&window, 10000 + i, 0.5);
    for (int i = 0; i < 100; i++)
        add(&window, 6400 + i, 0.5);
    assert_int_equal(window.stepped, 1);
    assert_int_equal(window.latest, 6499 * second + second / 2);
    const struct bli_view view = bli_recent_view(&window, window.latest, 60 * second);
    assert_int_equal(view.jobs, 60);
    bli_recent_fini(&window);
}

/* One line from the future is forgotten, and nothing else. */
static void a_line_from_the_future(void **state) {
    (void)state;
    struct bli_recent_requests window;
    assert_int_equal(bli_recent_init(&window, 1000, NULL), BAL_OK);
    for (int i = 0; i < 200; i++) {
        add(&window, 10000 + i, 0.5);
        if (i == 150)
            add(&window, 4e9, 0.5);
    }
    assert_int_equal(window.stepped, 1);
    const struct bli_view view = bli_recent_view(&window, window.latest, 150 * second);
    assert_int_equal(view.jobs, 150);
    bli_recent_fini(&window);
}

/* Requests that end together may be logged in any order; a long one began long ago. */
static void late_lines_set_no_clock(void **state) {
    (void)state;
    struct bli_recent_requests window;
    assert_int_equal(bli_recent_init(&window, 1000, NULL), BAL_OK);
    for (int i = 0; i < 200; i++)
        add(&window, 10000 + i - (i % 7), 0.5);
    add(&window, 10000, 200);
    assert_int_equal(window.stepped, 0);
    assert_int_equal(window.count, 201);
    bli_recent_fini(&window);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_not_ended_is_left_out), cmocka_unit_test(room_for_so_many),
        cmocka_unit_test(a_clock_that_is_set_back),       cmocka_unit_test(a_line_from_the_future),
        cmocka_unit_test(late_lines_set_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
