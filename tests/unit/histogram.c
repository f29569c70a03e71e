/* SPDX-License-Identifier: BSD-2-Clause */
/* The log-linear histogram: where values go, and how close a quantile read back is to the exact one. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/stats.h"

enum { LAST = BLI_HISTOGRAM_BINS - 1 };

static struct bli_histogram *empty_histogram(void) {
    struct bli_histogram *h = test_calloc(1, sizeof *h);
    assert_non_null(h);
    return h;
}

static void every_edge_opens_its_bin(void **state) {
    (void)state;
    assert_true(bli_histogram_edge(0) == 0);
    assert_true(bli_histogram_edge(1) == 0x1p-20);
    assert_true(bli_histogram_edge(LAST) == 0x1p44);
    for (unsigned bin = 1; bin <= LAST; bin++) {
        const double edge = bli_histogram_edge(bin);
        assert_true(edge > bli_histogram_edge(bin - 1));
        assert_int_equal(bli_histogram_bin(edge), bin);
        assert_int_equal(bli_histogram_bin(nextafter(edge, INFINITY)), bin);
        assert_int_equal(bli_histogram_bin(nextafter(edge, 0)), bin - 1);
    }
}

static void no_bin_is_wider_than_its_share(void **state) {
    (void)state;
    for (unsigned bin = 1; bin < LAST; bin++) {
        const double low = bli_histogram_edge(bin);
        assert_true((bli_histogram_edge(bin + 1) - low) * 128 <= low);
    }
}

static void awkward_values_have_a_bin(void **state) {
    (void)state;
    const double nothing[] = {0,  -0.0, DBL_TRUE_MIN, DBL_MIN,  0x0.fffffp-20, -DBL_TRUE_MIN,
                              -1, NAN,  -INFINITY,    -DBL_MAX, -NAN,          -0x1p44};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        assert_int_equal(bli_histogram_bin(nothing[i]), 0);
    const double huge[] = {0x1p44, 1e15, DBL_MAX, INFINITY};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++)
        assert_int_equal(bli_histogram_bin(huge[i]), LAST);
    assert_int_equal(bli_histogram_bin(1), 20 * 128 + 1);
    assert_int_equal(bli_histogram_bin(2.385), 21 * 128 + 1 + 24); /* 2.385/2 = 1 + 24.64/128 */
}

static void ends_of_the_range_read_back(void **state) {
    (void)state;
    struct bli_histogram *h = empty_histogram();
    assert_true(isnan(bli_histogram_quantile(h, 0.5)));
    assert_int_equal(bli_histogram_total(h), 0);

    bli_histogram_add(h, 0x1p-21);
    assert_true(bli_histogram_quantile(h, 0) == 0);
    assert_true(bli_histogram_quantile(h, 1) == 0);
    bli_histogram_add(h, INFINITY);
    assert_true(bli_histogram_quantile(h, 0.5) == 0);
    assert_true(bli_histogram_quantile(h, 0.51) == 0x1p44);
    assert_true(bli_histogram_quantile(h, 1) == 0x1p44);
    assert_int_equal(bli_histogram_total(h), 2);
    test_free(h);
}

/* Three of four jobs do not wait: the median must be 0 exactly, and p90 the time that the fourth waits. */
static void a_mass_at_zero_stays_there(void **state) {
    (void)state;
    struct bli_histogram *h = empty_histogram();
    for (int i = 0; i < 1000; i++)
        bli_histogram_add(h, i % 4 ? 0 : 3.7);
    assert_true(bli_histogram_quantile(h, 0.5) == 0);
    assert_true(bli_histogram_quantile(h, 0.75) == 0);
    assert_true(fabs(bli_histogram_quantile(h, 0.9) / 3.7 - 1) <= 1. / 128);
    test_free(h);
}

/* Four values in one bin: the quantile climbs evenly from its lower edge to its upper one. */
static void quantile_is_linear_inside_a_bin(void **state) {
    (void)state;
    struct bli_histogram *h = empty_histogram();
    for (int i = 0; i < 4; i++)
        bli_histogram_add(h, 1.001);
    for (int i = 0; i <= 8; i++)
        assert_true(bli_histogram_quantile(h, i / 8.) == 1 + i / 8. / 128);
    test_free(h);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The exact quantile: the value of rank ceil(q n), at least the first. The product is formed as in the
 * histogram, so that both mean the same rank where q n is whole. */
static double exact_quantile(const double *sorted, size_t n, double q) {
    const double rank = ceil(q * (double)n);
    return sorted[rank < 1 ? 0 : (size_t)rank - 1];
}

static double *sorted_sample(size_t n, double (*draw)(struct bal_rng *), struct bli_histogram *h) {
    struct bal_rng rng;
    bal_rng_init(&rng, 4711, n, BAL_STREAM_TEST);
    double *values = test_malloc(n * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < n; i++)
        bli_histogram_add(h, values[i] = draw(&rng));
    qsort(values, n, sizeof *values, ascending);
    return values;
}

static double exponential(struct bal_rng *rng) {
    return -log(bal_rng_open(rng));
}

/* From about 1e-5 to 1e8, all inside the range of the bins. */
static double spread_out(struct bal_rng *rng) {
    return exp(30 * bal_rng_uniform(rng) - 11.5);
}

static double few_values(struct bal_rng *rng) {
    return 0.385 + bal_rng_below(rng, 5);
}

/* The promise of the header, which has no exceptions: within 1/128. */
static void quantiles_keep_their_bound(void **state) {
    (void)state;
    double (*const draws[])(struct bal_rng *) = {exponential, spread_out, few_values};
    const size_t sizes[] = {1, 2, 3, 10, 999, 20000};
    for (size_t k = 0; k < 3; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct bli_histogram *h = empty_histogram();
            double *values = sorted_sample(sizes[s], draws[k], h);
            assert_int_equal(bli_histogram_total(h), sizes[s]);
            for (int i = 0; i <= 1000; i++) {
                const double exact = exact_quantile(values, sizes[s], i / 1000.);
                const double read = bli_histogram_quantile(h, i / 1000.);
                assert_true(fabs(read - exact) * 128 <= exact);
            }
            test_free(values);
            test_free(h);
        }
}

/* Where a bin holds c values of a smooth law, interpolation errs by about 1/(2 sqrt c) of the width of the
 * bin at most; c is about 300 at p99 here, and more below. 1/800 is then over 5 deviations: false alarm below
 * 1e-6. */
static void interpolation_helps_smooth_laws(void **state) {
    (void)state;
    const size_t n = 1000000;
    struct bli_histogram *h = empty_histogram();
    double *values = sorted_sample(n, exponential, h);
    const double q[] = {0.5, 0.9, 0.99};
    for (size_t i = 0; i < 3; i++) {
        const double exact = exact_quantile(values, n, q[i]);
        assert_true(fabs(bli_histogram_quantile(h, q[i]) / exact - 1) < 1. / 800);
    }
    test_free(values);
    test_free(h);
}

static void merge_and_subtract_are_inverse(void **state) {
    (void)state;
    struct bli_histogram *whole = empty_histogram();
    struct bli_histogram *early = empty_histogram();
    struct bli_histogram *late = empty_histogram();
    struct bal_rng rng;
    bal_rng_init(&rng, 5, 0, BAL_STREAM_TEST);
    for (int i = 0; i < 10000; i++) {
        const double value = spread_out(&rng);
        bli_histogram_add(whole, value);
        bli_histogram_add(i < 3000 ? early : late, value);
    }
    bli_histogram_merge(late, early);
    assert_memory_equal(late, whole, sizeof *whole);
    bli_histogram_subtract(late, whole);
    assert_int_equal(bli_histogram_total(late), 0);
    bli_histogram_subtract(whole, early);
    assert_int_equal(bli_histogram_total(whole), 7000);
    bli_histogram_merge(whole, early);
    assert_int_equal(bli_histogram_total(whole), 10000);
    test_free(whole);
    test_free(early);
    test_free(late);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_edge_opens_its_bin),       cmocka_unit_test(no_bin_is_wider_than_its_share),
        cmocka_unit_test(awkward_values_have_a_bin),      cmocka_unit_test(ends_of_the_range_read_back),
        cmocka_unit_test(a_mass_at_zero_stays_there),     cmocka_unit_test(quantile_is_linear_inside_a_bin),
        cmocka_unit_test(quantiles_keep_their_bound),     cmocka_unit_test(interpolation_helps_smooth_laws),
        cmocka_unit_test(merge_and_subtract_are_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
