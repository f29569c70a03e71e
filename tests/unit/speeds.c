/* SPDX-License-Identifier: BSD-2-Clause */
/* Speeds by the number of jobs in service: what is read, what is refused, values, and the way back to text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/speeds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct bli_speeds parsed(const char *text) {
    struct bli_speeds speeds;
    struct bal_error err = {0};
    if (bli_speeds_parse(text, &speeds, &err))
        fail_msg("%s", err.text);
    return speeds;
}

static void assert_rate(const char *text, double jobs, double wanted) {
    const struct bli_speeds speeds = parsed(text);
    const double rate = bli_speeds_rate(&speeds, jobs);
    if (!(fabs(rate - wanted) < 1e-12))
        fail_msg("%s with %g jobs is %.15g, not %.15g", text, jobs, rate, wanted);
}

static void has_the_values_it_says(void **unused) {
    (void)unused;
    assert_rate("none", 7, 7);
    assert_rate("cores(4)", 1, 1);
    assert_rate("cores(4)", 4, 4);
    assert_rate("cores(4)", 400, 4);
    assert_rate("cores(1.5)", 1, 1);
    assert_rate("cores(1.5)", 2, 1.5);
    assert_rate("batch(8,0.15)", 1, 1);
    assert_rate("batch(8, 0.15)", 8, 8 / 2.05);
    assert_rate("batch(8,0.15)", 9, 8 / 2.05);
    assert_rate("table(1:1 2:1.8  8:4.5)", 1, 1);
    assert_rate("table(1:1 2:1.8 8:4.5)", 2, 1.8);
    assert_rate("table(1:1 2:1.8 8:4.5)", 5, 3.15);
    assert_rate("table(1:1 2:1.8 8:4.5)", 100, 4.5);
    assert_rate("table(4:2)", 1, 0.5); /* a line from nothing at no job */
}

static void knows_its_best_and_its_last(void **unused) {
    (void)unused;
    const struct bli_speeds none = parsed("none"), thrashing = parsed("table(1:1 4:3 16:2)");
    assert_false(bli_speeds_given(&none));
    assert_true(bli_speeds_top(&none, 0) == 1 && bli_speeds_top(&none, 5) == 5);
    assert_int_equal(bli_speeds_last(&thrashing), 16);
    assert_true(bli_speeds_top(&thrashing, 0) == 3);
    assert_true(bli_speeds_top(&thrashing, 16) == 3);
    assert_true(fabs(bli_speeds_top(&thrashing, 2) - 5 / 3.) < 1e-12);
    const struct bli_speeds cores = parsed("cores(2.5)");
    assert_int_equal(bli_speeds_last(&cores), 3);
    assert_true(bli_speeds_top(&cores, 0) == 2.5 && bli_speeds_top(&cores, 2) == 2);
}

static void comes_back_from_text(void **unused) {
    (void)unused;
    static const char *const texts[] = {"none",          "cores(4)",   "cores(0.25)",
                                        "batch(8,0.15)", "batch(1,0)", "table(1:1 2:1.8 8:4.5)"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct bli_speeds speeds = parsed(texts[i]);
        char text[100], cut[4];
        assert_int_equal(bli_speeds_print(&speeds, text, sizeof text), strlen(texts[i]));
        assert_string_equal(text, texts[i]);
        assert_int_equal(bli_speeds_print(&speeds, cut, sizeof cut), strlen(texts[i]));
        assert_int_equal(strlen(cut), 3);
    }
}

static void refuses_what_it_cannot_be(void **unused) {
    (void)unused;
    static const char *const texts[] = {"",
                                        "fast",
                                        "cores",
                                        "cores()",
                                        "cores(0)",
                                        "cores(-1)",
                                        "cores(1e9)",
                                        "cores(4) ",
                                        "cores(4",
                                        "batch(8)",
                                        "batch(0,1)",
                                        "batch(2.5,1)",
                                        "batch(8,-1)",
                                        "batch(8,inf)",
                                        "batch(8,1,2)",
                                        "table()",
                                        "table(1)",
                                        "table(1:0)",
                                        "table(1:1 1:2)",
                                        "table(2:1 1:2)",
                                        "table(1:1,2:2)",
                                        "table(0:1)",
                                        "table(1.5:1)",
                                        "table(1:nan)",
                                        "table(1:1)x",
                                        "table(1:1 2:2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bli_speeds speeds = {.points = 77};
        struct bal_error err = {0};
        if (bli_speeds_parse(texts[i], &speeds, &err) != BAL_E_RANGE)
            fail_msg("'%s' is read", texts[i]);
        assert_int_equal(speeds.points, 77);
        assert_non_null(strstr(err.text, "write cores(4)"));
    }
    char many[500] = "table(";
    for (int i = 1; i <= BLI_SPEEDS_POINTS + 1; i++) {
        char point[16];
        snprintf(point, sizeof point, "%d:1 ", i);
        strcat(many, point);
    }
    strcat(many, ")");
    struct bli_speeds speeds;
    assert_int_equal(bli_speeds_parse(many, &speeds, NULL), BAL_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_values_it_says),
        cmocka_unit_test(knows_its_best_and_its_last),
        cmocka_unit_test(comes_back_from_text),
        cmocka_unit_test(refuses_what_it_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
