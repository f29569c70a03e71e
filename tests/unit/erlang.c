/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers of events made into times, against sums of Erlang laws one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "base/special.h"
#include "stats/erlang.h"

#include <math.h>

enum { NUMBERS = 64 };

/* Values of k events; those of a bin of several numbers are spread evenly over them. */
struct erlang_numbers {
    unsigned kinds;
    double k[NUMBERS];
    uint64_t count[NUMBERS];
};

static double width_at(double k) {
    const unsigned bin = bli_histogram_bin(k);
    return bli_histogram_edge(bin + 1) - bli_histogram_edge(bin);
}

/* How many of them are expected to take less than x. */
static double expected_below(const struct erlang_numbers *numbers, double mean) {
    double sum = 0;
    for (unsigned i = 0; i < numbers->kinds; i++) {
        const double width = width_at(numbers->k[i]);
        const double first = bli_histogram_edge(bli_histogram_bin(numbers->k[i]));
        for (double j = 0; j < width; j++) /* once below 256 */
            sum += (double)numbers->count[i] / fmax(width, 1) * bli_gamma_below(first + j, mean);
    }
    return sum;
}

/* The most by which the counts below an edge are wrong, over all values. */
static double worst_of(const struct erlang_numbers *numbers, double rate, uint64_t *total) {
    struct bli_histogram *histogram = calloc(1, sizeof *histogram);
    assert_non_null(histogram);
    *total = 0;
    for (unsigned i = 0; i < numbers->kinds; i++) {
        bli_histogram_add_many(histogram, numbers->k[i], numbers->count[i]);
        *total += numbers->count[i];
    }
    bli_erlang_mix(histogram, rate);
    assert_true(bli_histogram_total(histogram) == *total);
    double worst = 0;
    uint64_t below = 0;
    for (unsigned bin = 0; bin < BLI_HISTOGRAM_BINS - 1; bin++) {
        below += histogram->count[bin];
        if (bin % 3 != 0 || (histogram->count[bin] == 0 && bin % 63 != 0))
            continue;
        const double expected = expected_below(numbers, rate * bli_histogram_edge(bin + 1));
        worst = fmax(worst, fabs((double)below - expected));
    }
    free(histogram);
    return worst;
}

/* Few events: every number has a bin of its own, and hardly anything is left but rounding. */
static void small_numbers_are_exact(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (unsigned round = 0; round < 20; round++) {
        struct erlang_numbers numbers = {.kinds = 1 + bal_rng_below(&rng, 6)};
        for (unsigned i = 0; i < numbers.kinds; i++) {
            numbers.k[i] = 1 + bal_rng_below(&rng, round < 10 ? 5 : 20);
            numbers.count[i] = 1 + bal_rng_below(&rng, 1000000);
        }
        uint64_t total;
        const double worst = worst_of(&numbers, exp(6 * bal_rng_uniform(&rng) - 3), &total);
        assert_true(worst <= 0.5 + 1e-6 * (double)total);
    }
}

/* The hardest case: all values at one place, so that cells of a third of a standard deviation show. */
static void one_number_is_close(void **state) {
    (void)state;
    static const double events[] = {30, 60, 200, 255, 1000, 5000, 20000, 60000};
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
        const struct erlang_numbers numbers = {1, {events[i]}, {1000000}};
        uint64_t total;
        assert_true(worst_of(&numbers, 1.9 * events[i], &total) <= 0.004 * (double)total);
    }
}

/* What the engine has: numbers all over a range. */
static void many_numbers_are_closer(void **state) {
    (void)state;
    for (double scale = 20; scale <= 20000; scale *= 10) {
        struct erlang_numbers numbers = {.kinds = NUMBERS};
        for (unsigned i = 0; i < NUMBERS; i++) {
            numbers.k[i] = ceil(scale * (i + 1) / 16);
            numbers.count[i] = (uint64_t)(1e6 * exp(-(double)i / 12));
        }
        uint64_t total;
        assert_true(worst_of(&numbers, scale, &total) <= 0.0003 * (double)total);
    }
}

/* From a quarter of a million on a number is taken for the time itself, but for the bin it is in. */
static void large_numbers_are_times(void **state) {
    (void)state;
    struct bli_histogram *histogram = calloc(1, sizeof *histogram);
    assert_non_null(histogram);
    bli_histogram_add_many(histogram, 3e6, 1000);
    bli_erlang_mix(histogram, 1e6);
    assert_true(bli_histogram_total(histogram) == 1000);
    for (double q = 0; q <= 1; q += 0.125) {
        const double quantile = bli_histogram_quantile(histogram, q);
        assert_true(fabs(quantile - 3) <= 3.0 / 128);
    }
    free(histogram);
}

/* The mean is that of the numbers: k events take k / rate on average. */
static void the_mean_stays(void **state) {
    (void)state;
    struct bli_histogram *histogram = calloc(1, sizeof *histogram);
    assert_non_null(histogram);
    bli_histogram_add_many(histogram, 4, 500000);
    bli_histogram_add_many(histogram, 100, 500000);
    bli_histogram_add_many(histogram, 3000, 500000);
    bli_erlang_mix(histogram, 50);
    double sum = 0;
    for (unsigned bin = 0; bin < BLI_HISTOGRAM_BINS - 1; bin++)
        sum += (double)histogram->count[bin] * (bli_histogram_edge(bin) + bli_histogram_edge(bin + 1)) / 2;
    const double shared = 2992 + 15.0 / 2; /* that bin's numbers are 2992 to 3007 */
    assert_true(fabs(sum / 1.5e6 - (4 + 100 + shared) / 3 / 50) < 0.002);
    free(histogram);
}

static void nothing_stays_nothing(void **state) {
    (void)state;
    struct bli_histogram *histogram = calloc(1, sizeof *histogram);
    assert_non_null(histogram);
    bli_erlang_mix(histogram, 50);
    assert_true(bli_histogram_total(histogram) == 0);
    free(histogram);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_numbers_are_exact), cmocka_unit_test(one_number_is_close),
        cmocka_unit_test(many_numbers_are_closer), cmocka_unit_test(large_numbers_are_times),
        cmocka_unit_test(the_mean_stays),          cmocka_unit_test(nothing_stays_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
