/* SPDX-License-Identifier: BSD-2-Clause */
/* The resource constrained pull-based policy at equilibrium: the paper's equations (4) and (5) and Table 1.
 * */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/theory.h"
#include "close.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct bli_rcpb constrained(double lambda, double mup, uint64_t c) {
    return (struct bli_rcpb){BLI_RCPB_CONSTRAINED, lambda, bli_rcpb_mu(lambda, mup), c};
}

static double mean_wait(const struct bli_rcpb *rcpb) {
    const struct bli_wait wait = bli_rcpb_wait(rcpb);
    return bli_wait_mean(&wait);
}

static void known_values(void **state) {
    (void)state;
    const struct bli_rcpb two = {BLI_RCPB_CONSTRAINED, 0.9, 9, 2}, five = {BLI_RCPB_CONSTRAINED, 0.9, 9, 5};
    assert_close(mean_wait(&two), 3.0 / 7, 1e-14);
    assert_close(mean_wait(&five), 0.15 / 0.85, 1e-14);
    const struct bli_rcpb doubled = constrained(0.9, 2, 5);
    assert_close(mean_wait(&doubled), 0.01449, 1e-3);
    assert_close(bli_rcpb_report_rate(&two), 0.9, 1e-15);
    assert_close(bli_rcpb_memory_bits(2, 1000), 20, 0);
    assert_close(bli_rcpb_memory_bits(5, 1024), 50, 0);
    assert_close(bli_rcpb_memory_bits(5, 1025), 55, 0);
    assert_close(bli_rcpb_memory_bits(1, 1), 0, 0);
    assert_close(bli_rcpb_memory_bits(1, UINT64_MAX), 64, 0);
}

static const double loads[] = {1e-9, 0.1, 0.385, 0.9, 0.99, 0.99999};
static const double rates[] = {1e-6, 0.1, 0.5, 0.999999, 1, 1.000001, 2, 10};

/* P0 by Horner's rule, the delay as the sum over the tails, its bound, and what the variants have to do
 * with each other. */
static void sums(void **state) {
    (void)state;
    static const uint64_t stores[] = {1, 2, 5, 50};
    for (size_t i = 0; i < LENGTH(loads); i++)
        for (size_t j = 0; j < LENGTH(rates); j++)
            for (size_t k = 0; k < LENGTH(stores); k++) {
                const double lambda = loads[i];
                const struct bli_rcpb rcpb = constrained(lambda, rates[j], stores[k]);
                const long double mup = (long double)rcpb.mu * (1 - (long double)lambda) / lambda;
                long double sum = 0;
                for (uint64_t n = 0; n < stores[k]; n++)
                    sum = (sum + 1) * mup; /* mu' + .. + mu'^c */
                const long double p0 = 1 / (1 + sum);
                /* mu' itself carries the rounding of 1 - lambda in mu, which mu'^c multiplies by c. */
                const double error = 1e-13 + 1e-15 * (double)stores[k];
                assert_close(bli_rcpb_empty(&rcpb, lambda), p0, error);
                assert_close(bli_rcpb_bound(&rcpb), 1 / sum, error);
                const long double rho = lambda * p0;
                assert_close(mean_wait(&rcpb), rho / (1 - rho), 20 * error);
                assert_true(mean_wait(&rcpb) <= bli_rcpb_bound(&rcpb));
                assert_close(bli_rcpb_report_rate(&rcpb), rates[j] * lambda, 1e-10);
                if (rates[j] < 0.01)
                    continue; /* millions of levels */
                long double jobs = 0;
                double s = 1;
                for (uint64_t n = 1; s > 1e-18 * lambda; n++)
                    jobs += s = bli_rcpb_tail(&rcpb, n);
                assert_close(jobs / lambda, 1 + mean_wait(&rcpb), 1e-12);
            }
}

static void bounded_as_lambda_tends_to_one(void **state) {
    (void)state;
    double before = 0;
    for (double gap = 0.5; gap > 1e-9; gap /= 2) {
        const struct bli_rcpb rcpb = constrained(1 - gap, 0.5, 2);
        assert_true(mean_wait(&rcpb) > before);
        before = mean_wait(&rcpb);
        const struct bli_rcpb silent = constrained(1 - gap, 0, 2); /* no reports: M/M/1, without bound */
        assert_close(mean_wait(&silent), (1 - gap) / gap, 1e-6);
        assert_close(bli_rcpb_bound(&silent), INFINITY, 0);
    }
    assert_close(before, 1 / 0.75, 1e-8);
}

static void variants(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(loads); i++)
        for (size_t j = 0; j < LENGTH(rates); j++) {
            const double lambda = loads[i];
            const struct bli_rcpb large = constrained(lambda, rates[j], UINT64_C(1) << 53);
            const struct bli_rcpb memory = {BLI_RCPB_HIGH_MEMORY, lambda, large.mu, 0};
            /* mu' = 1 is the edge, where rounding decides. */
            assert_true(within(mean_wait(&large), mean_wait(&memory), 1e-9 * mean_wait(&memory) + 1e-9));
            assert_true(within(bli_rcpb_bound(&large), bli_rcpb_bound(&memory),
                               1e-9 * bli_rcpb_bound(&memory) + 1e-9));
            assert_true(mean_wait(&memory) <= bli_rcpb_bound(&memory) + 1e-12);
            if (rates[j] > 1)
                assert_close(mean_wait(&memory), 0, 0);
            const struct bli_rcpb message = {BLI_RCPB_HIGH_MESSAGE, lambda, 0, 0};
            assert_close(mean_wait(&message), 0, 0);
            assert_close(bli_rcpb_tail(&message, 1), lambda, 0);
            assert_close(bli_rcpb_tail(&message, 2), 0, 0);
            assert_close(bli_rcpb_report_rate(&message), INFINITY, 0);
        }
    const struct bli_rcpb loud = {BLI_RCPB_CONSTRAINED, 0.9, 1e12, 1};
    assert_true(mean_wait(&loud) < 1e-10);
    const struct bli_rcpb memory = {BLI_RCPB_HIGH_MEMORY, 0.9, 4.5, 0};
    assert_close(mean_wait(&memory), 0.45 / 0.55, 1e-14);
    assert_close(bli_rcpb_empty(&memory, 1), 1, 0);
    assert_close(bli_rcpb_empty(&memory, 0), 0, 0);
}

static void out_of_range(void **state) {
    (void)state;
    const struct bli_rcpb wrong[] = {{BLI_RCPB_CONSTRAINED, 0.5, 1, 0},
                                     {BLI_RCPB_CONSTRAINED, 0.5, -1, 1},
                                     {BLI_RCPB_HIGH_MEMORY, 0.5, NAN, 1},
                                     {BLI_RCPB_HIGH_MESSAGE, -0.5, 1, 1},
                                     {(enum bli_rcpb_variant)9, 0.5, 1, 1}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_nan(mean_wait(&wrong[i]));
        assert_nan(bli_rcpb_empty(&wrong[i], 0.5));
        assert_nan(bli_rcpb_tail(&wrong[i], 1));
        assert_nan(bli_rcpb_bound(&wrong[i]));
        assert_nan(bli_rcpb_report_rate(&wrong[i]));
    }
    const struct bli_rcpb good = {BLI_RCPB_CONSTRAINED, 0.5, 1, 1},
                          unstable = {BLI_RCPB_CONSTRAINED, 1, 1, 1};
    const struct bli_rcpb message = {BLI_RCPB_HIGH_MESSAGE, 0.5, 0, 1},
                          empty = {BLI_RCPB_CONSTRAINED, 0, 1, 3};
    assert_nan(bli_rcpb_empty(&good, 1.5));
    assert_nan(bli_rcpb_empty(&message, 1));
    assert_nan(bli_rcpb_mu(-1, 1));
    assert_nan(bli_rcpb_memory_bits(0, 10));
    assert_close(bli_rcpb_mu(1, 1), INFINITY, 0);
    assert_close(mean_wait(&unstable), INFINITY, 0);
    assert_close(bli_rcpb_bound(&unstable), INFINITY, 0);
    assert_close(mean_wait(&empty), 0, 0);
    assert_close(bli_rcpb_bound(&empty), 0, 0);
    assert_close(bli_rcpb_tail(&empty, 0), 1, 0);
    assert_close(bli_rcpb_tail(&empty, 1), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(sums),
        cmocka_unit_test(bounded_as_lambda_tends_to_one),
        cmocka_unit_test(variants),
        cmocka_unit_test(out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
