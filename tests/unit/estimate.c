/* SPDX-License-Identifier: BSD-2-Clause */
/* Confidence intervals: by hand on small data, and by how often they cover on random data. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/stats.h"
#include "stats/control_regression.h"

static void assert_close(double value, double exact, double tolerance) {
    if (!(fabs(value - exact) <= tolerance * fabs(exact)))
        fail_msg("%.17g, but should be %.17g", value, exact);
}

static void mean_by_hand(void **state) {
    (void)state;
    const double values[] = {1, 2, 3, 4};
    const struct bli_estimate e = bli_estimate_mean(values, 4);
    assert_close(e.mean, 2.5, 0);
    /* t(0.975; 3) s/sqrt(4), and t is as accurate as ballast/stats.h says */
    assert_close(e.half_width, 3.1824463052837084359 * sqrt(5. / 3 / 4), 1e-12);
}

static void mean_of_too_few(void **state) {
    (void)state;
    const double values[] = {NAN, 2.385, NAN};
    assert_true(isnan(bli_estimate_mean(NULL, 0).mean));
    assert_true(isnan(bli_estimate_mean(NULL, 0).half_width));
    assert_true(isnan(bli_estimate_mean(values, 1).mean));
    assert_true(bli_estimate_mean(values, 3).mean == 2.385);
    assert_true(isnan(bli_estimate_mean(values, 3).half_width));
}

static void mean_leaves_out_nan(void **state) {
    (void)state;
    const double with[] = {1, NAN, 2, 3, NAN, 4};
    const double without[] = {1, 2, 3, 4};
    const struct bli_estimate a = bli_estimate_mean(with, 6);
    const struct bli_estimate b = bli_estimate_mean(without, 4);
    assert_true(a.mean == b.mean && a.half_width == b.half_width);
}

/* The spread is tiny beside the mean: sums of squares would have cancelled to nothing. */
static void mean_survives_a_large_offset(void **state) {
    (void)state;
    double values[1000];
    for (int i = 0; i < 1000; i++)
        values[i] = 1e9 + i % 2; /* exact */
    const struct bli_estimate e = bli_estimate_mean(values, 1000);
    assert_close(e.mean, 1e9 + 0.5, 1e-15);
    assert_close(e.half_width, bli_student_quantile(0.975, 999) * 0.5 / sqrt(999), 1e-6);
    for (int i = 0; i < 1000; i++)
        values[i] = 0.1;
    assert_true(bli_estimate_mean(values, 1000).half_width == 0);
}

static void ratio_by_hand(void **state) {
    (void)state;
    const double a[] = {2, 5, 5};
    const double b[] = {1, 2, 3};
    /* r = 2; residuals 0, 1, -1; s^2 = 1; mean of b = 2 */
    const struct bli_estimate e = bli_estimate_ratio(a, b, 3);
    assert_close(e.mean, 2, 1e-15);
    assert_close(e.half_width, bli_student_quantile(0.975, 2) / sqrt(3) / 2, 1e-14);
}

static void ratio_to_ones_is_the_mean(void **state) {
    (void)state;
    const double a[] = {0.3, 7, 2.385, 1};
    const double ones[] = {1, 1, 1, 1};
    const struct bli_estimate ratio = bli_estimate_ratio(a, ones, 4);
    const struct bli_estimate mean = bli_estimate_mean(a, 4);
    assert_close(ratio.mean, mean.mean, 1e-15);
    assert_close(ratio.half_width, mean.half_width, 1e-14);
}

static void ratio_of_awkward_pairs(void **state) {
    (void)state;
    const double a[] = {1, NAN, 3, 5};
    const double b[] = {1, 2, NAN, 5};
    const double zeros[] = {0, 0, 0, 0};
    const double below[] = {-1, -2, -3, -5};
    assert_true(isnan(bli_estimate_ratio(NULL, NULL, 0).mean));
    assert_true(bli_estimate_ratio(a, b, 1).mean == 1);
    assert_true(isnan(bli_estimate_ratio(a, b, 1).half_width));
    assert_true(bli_estimate_ratio(a, b, 4).mean == 1); /* the first and the last pair */
    assert_true(bli_estimate_ratio(a, b, 4).half_width == 0);
    assert_true(isnan(bli_estimate_ratio(b, zeros, 4).mean));
    assert_true(isnan(bli_estimate_ratio(b, zeros, 4).half_width));
    assert_true(bli_estimate_ratio(zeros, b, 4).mean == 0);
    const double c[] = {1, 3, 2, 4};
    assert_true(bli_estimate_ratio(c, below, 4).half_width > 0);
}

enum { TRIALS = 10000 };

/* The number of covering intervals is binomial with deviation sqrt(10000 0.95 0.05) = 21.8. The bounds are 5
 * deviations, 109, away: false alarm below 1e-6 for each use. */
static void assert_covers(int covered, int slack) {
    if (covered < 9500 - 109 - slack || covered > 9500 + 109 + slack)
        fail_msg("%d of %d intervals cover", covered, TRIALS);
}

/* Box and Muller 1958. */
static double normal(struct bal_rng *rng) {
    const double radius = sqrt(-2 * log(bal_rng_open(rng)));
    return radius * cos(6.283185307179586 * bal_rng_uniform(rng));
}

/* Student's interval is exact for normal data, however few. */
static void mean_covers(void **state) {
    (void)state;
    const size_t sizes[] = {2, 5, 30};
    for (size_t s = 0; s < 3; s++) {
        struct bal_rng rng;
        bal_rng_init(&rng, 2718, sizes[s], BAL_STREAM_TEST);
        int covered = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            double values[30];
            for (size_t i = 0; i < sizes[s]; i++)
                values[i] = 10 + 3 * normal(&rng);
            const struct bli_estimate e = bli_estimate_mean(values, sizes[s]);
            covered += fabs(e.mean - 10) <= e.half_width;
        }
        assert_covers(covered, 0);
    }
}

/* The delta method is exact only in the limit. With a relative deviation of 0.2 in the denominator and 20
 * pairs, 95.06 % of two million other intervals covered: 6 in 10 000 too many, for which the slack allows. */
static void ratio_covers(void **state) {
    (void)state;
    enum { N = 20 };
    struct bal_rng rng;
    bal_rng_init(&rng, 3141, 0, BAL_STREAM_TEST);
    int covered = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        double a[N];
        double b[N];
        for (int i = 0; i < N; i++) {
            b[i] = 10 + 2 * normal(&rng);
            a[i] = 2 * b[i] + normal(&rng);
        }
        const struct bli_estimate e = bli_estimate_ratio(a, b, N);
        covered += fabs(e.mean - 2) <= e.half_width;
    }
    assert_covers(covered, 6);
}

/* One control, whose mean should be 0 and is 0.5; the other never varies and says nothing. */
static void controlled_by_hand(void **state) {
    (void)state;
    const double x[] = {-1, 0, 1, 2}, y[] = {0, 1, 1, 4};
    const double expected[BLI_CONTROLS] = {7, 0};
    struct bli_control_regression c = {0};
    for (int i = 0; i < 4; i++)
        bli_control_regression_add(&c, (double[]){7, x[i]}, y[i]);
    unsigned used;
    const struct bli_estimate e = bli_control_regression_estimate(&c, expected, &used);
    /* slope 6/5, residual squares 9 - 36/5 = 1.8, two degrees of freedom; 1/4 + 0.5^2/5 = 0.3 */
    assert_int_equal(used, 1);
    assert_close(e.mean, 1.5 - 1.2 * 0.5, 1e-14);
    assert_close(e.half_width, bli_student_quantile(0.975, 2) * sqrt(1.8 / 2 * 0.3), 1e-14);
}

/* A control that is another one in another unit is used once; what is explained wholly is known exactly. */
static void controlled_of_awkward_data(void **state) {
    (void)state;
    const double expected[BLI_CONTROLS] = {3, 6};
    struct bli_control_regression c = {0};
    unsigned used;
    assert_true(isnan(bli_control_regression_estimate(&c, expected, &used).mean));
    for (int i = 0; i < 5; i++) {
        const double x = 0.1 * i * i;
        bli_control_regression_add(&c, (double[]){x, 2 * x}, 2.385 * x - 1);
        const struct bli_estimate e = bli_control_regression_estimate(&c, expected, &used);
        assert_true(i >= 2 || isnan(e.half_width));
    }
    const struct bli_estimate e = bli_control_regression_estimate(&c, expected, &used);
    assert_int_equal(used, 1);
    assert_close(e.mean, 2.385 * 3 - 1, 1e-12);
    assert_true(e.half_width < 1e-6);
}

/* Exact for normal data too; and with three quarters of the variance explained far narrower than without. */
static void controlled_covers(void **state) {
    (void)state;
    const size_t sizes[] = {5, 10, 30};
    const double expected[BLI_CONTROLS] = {1, -2};
    for (size_t s = 0; s < 3; s++) {
        struct bal_rng rng;
        bal_rng_init(&rng, 31415, sizes[s], BAL_STREAM_TEST);
        int covered = 0;
        double width = 0, plain = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            struct bli_control_regression c = {0};
            double values[30];
            for (size_t i = 0; i < sizes[s]; i++) {
                const double a = normal(&rng), b = 0.5 * a + normal(&rng);
                values[i] = 10 + a + b + 0.9 * normal(&rng);
                bli_control_regression_add(&c, (double[]){1 + 3 * a, -2 + b}, values[i]);
            }
            unsigned used;
            const struct bli_estimate e = bli_control_regression_estimate(&c, expected, &used);
            assert_int_equal(used, 2);
            covered += fabs(e.mean - 10) <= e.half_width;
            width += e.half_width;
            plain += bli_estimate_mean(values, sizes[s]).half_width;
        }
        assert_covers(covered, 0);
        assert_true(sizes[s] < 10 || width < 0.6 * plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_by_hand),
        cmocka_unit_test(mean_of_too_few),
        cmocka_unit_test(mean_leaves_out_nan),
        cmocka_unit_test(mean_survives_a_large_offset),
        cmocka_unit_test(ratio_by_hand),
        cmocka_unit_test(ratio_to_ones_is_the_mean),
        cmocka_unit_test(ratio_of_awkward_pairs),
        cmocka_unit_test(mean_covers),
        cmocka_unit_test(ratio_covers),
        cmocka_unit_test(controlled_by_hand),
        cmocka_unit_test(controlled_of_awkward_data),
        cmocka_unit_test(controlled_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
