/* SPDX-License-Identifier: BSD-2-Clause */
/* MSER-5 against its definition, and on series whose transient is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/stats.h"

enum { LONGEST = 2000 };

static double batch(const double *values, size_t j) {
    return (values[5 * j] + values[5 * j + 1] + values[5 * j + 2] + values[5 * j + 3] + values[5 * j + 4]) /
           5;
}

/* The statistic for a cut of d batches, as the paper writes it. */
static double statistic(const double *values, size_t batches, size_t d) {
    const double left = (double)(batches - d);
    double mean = 0;
    for (size_t j = d; j < batches; j++)
        mean += batch(values, j) / left;
    double squares = 0;
    for (size_t j = d; j < batches; j++)
        squares += pow(batch(values, j) - mean, 2);
    return squares / (left * left);
}

static size_t literal_mser5(const double *values, size_t n) {
    const size_t batches = n / 5;
    size_t best = 0;
    for (size_t d = 1; d <= batches / 2 && batches - d >= 2; d++)
        if (statistic(values, batches, d) < statistic(values, batches, best))
            best = d;
    return 5 * best;
}

static void normal_noise(double *values, size_t n, uint64_t seed, double correlation) {
    struct bal_rng rng;
    bal_rng_init(&rng, seed, n, BAL_STREAM_TEST);
    double level = 0;
    for (size_t i = 0; i < n; i++) {
        const double radius = sqrt(-2 * log(bal_rng_open(&rng)));
        const double shock = radius * cos(6.283185307179586 * bal_rng_uniform(&rng));
        level = correlation * level + sqrt(1 - correlation * correlation) * shock;
        values[i] = level;
    }
}

static void agrees_with_its_definition(void **state) {
    (void)state;
    double values[LONGEST];
    for (size_t n = 0; n <= 400; n++) {
        normal_noise(values, n, 1, (double)(n % 3) * 0.45);
        for (size_t i = 0; i < n; i++)
            values[i] += 100 + (n % 2 ? 8 * exp(-10. * (double)i / (double)n) : 0);
        assert_int_equal(bli_warmup_mser5(values, n), literal_mser5(values, n));
    }
}

static void keeps_its_limits(void **state) {
    (void)state;
    double values[LONGEST];
    for (size_t i = 0; i < LONGEST; i++)
        values[i] = (double)i; /* never settles: wants the largest cut */
    for (size_t n = 0; n <= 300; n++) {
        const size_t cut = bli_warmup_mser5(values, n);
        assert_true(cut % 5 == 0 && 2 * cut <= n);
        if (n < 15)
            assert_int_equal(cut, 0);
        else
            assert_int_equal(cut, n / 10 * 5);
    }
}

static void leaves_a_constant_alone(void **state) {
    (void)state;
    double values[LONGEST];
    const double levels[] = {0, 1, 0.1, -7e300, 1e15 / 3};
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++) {
        for (size_t i = 0; i < LONGEST; i++)
            values[i] = levels[k];
        assert_int_equal(bli_warmup_mser5(values, LONGEST), 0);
    }
}

/* Without noise the answer is exact: the first batch that no longer holds any of the transient. */
static void finds_a_step(void **state) {
    (void)state;
    double values[LONGEST];
    for (size_t length = 0; length <= 500; length += 7) {
        for (size_t i = 0; i < 1000; i++)
            values[i] = i < length ? 3 : 10;
        assert_int_equal(bli_warmup_mser5(values, 1000), (length + 4) / 5 * 5);
    }
}

/* A transient of height 10 that falls to 1/e every 60 observations, under noise of deviation 1. Cutting one
 * more batch pays while its deviation exceeds sqrt 2 times that of the noise in a batch mean, sqrt(1/5):
 * without luck until 166. Of 20 000 other seeds all cut between 120 and 390, so one seed leaves the bounds
 * below with probability less than 1.5e-4 (95 % confidence), and one of the twenty with less than 0.3 %. */
static void finds_a_planted_transient(void **state) {
    (void)state;
    double values[LONGEST];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        normal_noise(values, LONGEST, seed, 0);
        for (size_t i = 0; i < LONGEST; i++)
            values[i] += 50 - 10 * exp((double)i / -60);
        const size_t cut = bli_warmup_mser5(values, LONGEST);
        assert_in_range(cut, 100, 500);
    }
}

static void does_not_depend_on_scale(void **state) {
    (void)state;
    double values[LONGEST];
    double scaled[LONGEST];
    normal_noise(values, LONGEST, 3, 0.9);
    for (size_t i = 0; i < LONGEST; i++) {
        values[i] += 5 * exp((double)i / -100);
        scaled[i] = ldexp(values[i], -40); /* exact */
    }
    assert_true(bli_warmup_mser5(values, LONGEST) > 0);
    assert_int_equal(bli_warmup_mser5(values, LONGEST), bli_warmup_mser5(scaled, LONGEST));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_its_definition), cmocka_unit_test(keeps_its_limits),
        cmocka_unit_test(leaves_a_constant_alone),    cmocka_unit_test(finds_a_step),
        cmocka_unit_test(finds_a_planted_transient),  cmocka_unit_test(does_not_depend_on_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
