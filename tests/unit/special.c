/* SPDX-License-Identifier: BSD-2-Clause */
/* Special functions against values computed with 200 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/special.h"

#include <math.h>

static void assert_close(double got, double want, double relative) {
    if (!(fabs(got - want) <= relative * fabs(want))) {
        print_error("%.17g instead of %.17g\n", got, want);
        fail();
    }
}

static void poisson_log(void **state) {
    (void)state;
    static const struct {
        double k, mean, want;
    } known[] = {
        {0, 0.3, -0.3},
        {1, 0.3, -1.5039728043259359926},
        {7, 2.385, -4.8257674906832825238},
        {15, 14.5, -2.2870416424429607996},
        {16, 10.01, -3.8245066128466053288},
        {500, 495.5, -4.0467815751347441857},
        {40, 495.5, -357.59794556395568821},
        {1e6, 1003000, -12.317714097041331517},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double k = known[i].k, mean = known[i].mean;
        assert_close(bli_poisson_log(k, mean, k - mean), known[i].want, 1e-14);
    }
    /* Differences that a double cannot tell from the mean are still told apart. */
    assert_close(bli_poisson_log(0x1p60, 0x1p60 - 0x1p31, 0x1p31), -23.713353952486558893, 1e-14);
}

static void poisson_sums_to_one(void **state) {
    (void)state;
    static const double means[] = {0.01, 0.7, 2.385, 10, 15.5, 99.9, 1234.5};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        double sum = 0;
        for (double k = 0; k < 3000; k++)
            sum += exp(bli_poisson_log(k, means[i], k - means[i]));
        assert_close(sum, 1, 1e-13);
    }
}

static void gamma_below(void **state) {
    (void)state;
    static const struct {
        double k, x, want;
    } known[] = {
        {1, 0.3, 0.25918177931828213393},       {1, 1e-20, 9.9999999999999999999e-21},
        {2, 2.385, 0.68827880412413323731},     {5, 1.5, 0.018575936222140674301},
        {5, 20, 0.99998305525606993262},        {100, 70, 0.00043037259497989085847},
        {100, 100, 0.51329879827914866486},     {100, 101, 0.55289629343451124579},
        {100, 140, 0.99983894282528744414},     {1e6, 999000, 0.15865521357430365246},
        {1e6, 1000500, 0.69155047577149718153},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_close(bli_gamma_below(known[i].k, known[i].x), known[i].want, 1e-13);
    assert_true(bli_gamma_below(3, 0) == 0);
    assert_true(bli_gamma_below(3, 1e9) == 1);
    assert_true(bli_gamma_below(1e6, 1) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_log),
        cmocka_unit_test(poisson_sums_to_one),
        cmocka_unit_test(gamma_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
