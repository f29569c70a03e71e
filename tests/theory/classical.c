/* SPDX-License-Identifier: BSD-2-Clause */
/* M/M/1, M/M/N, E_k/M/1, D/M/1 and M/G/1 against independent evaluations of their formulas. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/theory.h"
#include "close.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const double loads[] = {1e-9, 0.01, 0.385, 0.5, 0.75, 0.9, 0.99, 0.99999};

static void mm1(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(loads); i++) {
        const double lambda = loads[i];
        const struct bli_wait wait = bli_wait_mm1(lambda);
        assert_close(bli_wait_mean(&wait), lambda / (1 - lambda), 1e-14);
        assert_close(bli_wait_response_mean(&wait), 1 / (1 - lambda), 1e-14);
        for (double q = 0.1; q < 1; q += 0.2) {
            assert_close(bli_wait_response_quantile(&wait, q), -log(1 - q) / (1 - lambda), 1e-13);
            const double t = bli_wait_quantile(&wait, q);
            if (1 - q < lambda)
                assert_close(t, log(lambda / (1 - q)) / (1 - lambda), 1e-13);
            else
                assert_close(t, 0, 0);
        }
    }
}

/* P(wait) = 1/(1 + (1 - rho) S) with S the sum over j >= 1 of n (n-1) .. (n-j+1)/a^j: Erlang's formula
 * divided by its last term, where the library climbs up by a recursion from no server. */
static double erlang_c(uint64_t n, double lambda) {
    const long double a = (long double)lambda * (long double)n;
    long double term = 1, sum = 0;
    for (uint64_t j = 0; j < n && term > 1e-25L * sum; j++) {
        term *= (long double)(n - j) / a;
        sum += term;
    }
    return (double)(1 / (1 + (1 - (long double)lambda) * sum));
}

static void mmn(void **state) {
    (void)state;
    static const uint64_t servers[] = {1, 2, 3, 10, 100, 1000, 1000000};
    for (size_t i = 0; i < LENGTH(loads); i++)
        for (size_t k = 0; k < LENGTH(servers); k++) {
            const uint64_t n = servers[k];
            const double lambda = loads[i];
            const struct bli_wait wait = bli_wait_mmn(lambda, n);
            const double wanted = erlang_c(n, lambda);
            /* The offered load lambda n is rounded once on each side, which moves small probabilities most.
             * */
            const double error = 1e-12 + 1e-16 * (double)n * fabs(log(lambda));
            if (wanted > 1e-290)
                assert_close(wait.probability, wanted, error);
            else
                assert_true(wait.probability < 1e-280);
            assert_close(bli_wait_mean(&wait), wait.probability / ((double)n * (1 - lambda)), 1e-14);
        }
    const struct bli_wait two = bli_wait_mmn(0.5, 2); /* 2 rho^2/(1 + rho) */
    assert_close(two.probability, 1.0 / 3, 1e-15);
    const struct bli_wait one = bli_wait_mmn(0.385, 1), same = bli_wait_mm1(0.385);
    assert_close(one.probability, same.probability, 1e-15);
    assert_close(one.rate, same.rate, 1e-15);
}

/* P(R > t) as an integral over the service time x: E[P(W > t - x)] by Simpson's rule. */
static double response_tail(const struct bli_wait *wait, double t) {
    enum { STEPS = 4000 };
    double sum = 0;
    for (int k = 0; k <= STEPS; k++) {
        const double x = t * k / STEPS;
        const double weight = k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2;
        sum += weight * exp(-x) * bli_wait_tail(wait, t - x);
    }
    return exp(-t) + sum * t / (3.0 * STEPS);
}

static void response_laws(void **state) {
    (void)state;
    /* The second has rate 1, where the formula divides 0 by 0; the third waits with a rate far above 1; the
     * last at length. */
    const struct bli_wait waits[] = {bli_wait_mm1(0.385), bli_wait_mmn(0.75, 4), bli_wait_mmn(0.9, 200),
                                     bli_wait_dm1(0.8),   bli_wait_mmn(0.99, 3), bli_wait_mm1(0.9999)};
    for (size_t i = 0; i < LENGTH(waits); i++)
        for (double t = 0.25; t < 9; t *= 2) {
            assert_close(bli_wait_response_tail(&waits[i], t), response_tail(&waits[i], t), 1e-9);
            const double q = 1 - bli_wait_response_tail(&waits[i], t);
            assert_close(bli_wait_response_quantile(&waits[i], q), t, 1e-11);
        }
    const struct bli_wait slow = bli_wait_mm1(0.9999);
    assert_close(bli_wait_response_tail(&slow, 1e5), exp(-1e5 * slow.rate), 1e-12);
}

static void round_robin(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(loads); i++) {
        const double lambda = loads[i];
        const struct bli_wait one = bli_wait_round_robin(lambda, 1), mm1 = bli_wait_mm1(lambda);
        assert_close(one.probability, mm1.probability, 1e-14);
        assert_close(one.rate, mm1.rate, 1e-14);
        /* Two servers: the fixed point is a cubic with the root 1 and sigma = (1 + 4 lambda - sqrt(1 + 8
         * lambda))/2. */
        const struct bli_wait two = bli_wait_round_robin(lambda, 2);
        const long double l = lambda, sigma = (1 + 4 * l - sqrtl(1 + 8 * l)) / 2;
        assert_close(two.rate, 1 - sigma, 1e-14);
        if (lambda > 1e-3) /* below, the closed form cancels even in long double */
            assert_close(two.probability, sigma, 1e-13);
        /* The limit of many, its distance of the order of 1/N. */
        const struct bli_wait many = bli_wait_round_robin(lambda, 1000000000), limit = bli_wait_dm1(lambda);
        assert_close(many.rate, limit.rate, 1e-8);
        assert_true(bli_wait_mean(&limit) < bli_wait_mean(&two) && bli_wait_mean(&two) < bli_wait_mean(&mm1));
    }
}

static void dm1(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(loads); i++) {
        const long double lambda = loads[i];
        const struct bli_wait wait = bli_wait_dm1(loads[i]);
        const long double x = wait.rate; /* 1 - sigma */
        assert_close(wait.probability, expl(-x / lambda), 1e-12);
        assert_close(wait.probability + wait.rate, 1, 1e-15);
        if (lambda > 0.1L) /* the same equation with x taken off both sides, which tells small x apart */
            assert_close((-log1pl(-x) - x) / x, (1 - lambda) / lambda, 1e-10);
    }
    /* Near saturation x = 2 e - (8/3 - 2) e^2 + .., e = 1 - lambda, from the series of the logarithm. */
    const double e = 1e-5;
    const struct bli_wait heavy = bli_wait_dm1(1 - e);
    assert_close(heavy.rate, 2 * e - 2.0 / 3 * e * e, 1e-9);
}

static void mg1(void **state) {
    (void)state;
    assert_close(bli_mg1_waiting(0.385, 1, 2), 0.385 / (1 - 0.385), 1e-15);     /* exponential */
    assert_close(bli_mg1_waiting(0.385, 1, 1), 0.385 / (1 - 0.385) / 2, 1e-15); /* deterministic */
    /* Other units: rate 3, uniform on [0, 1/2]. */
    assert_close(bli_mg1_waiting(3, 0.25, 1.0 / 12), 3.0 / 12 / (2 * 0.25), 1e-15);
    assert_close(bli_mg1_waiting(0.5, 1, INFINITY), INFINITY, 0);
    assert_close(bli_mg1_waiting(0, 1, INFINITY), 0, 0);
    assert_close(bli_mg1_waiting(0.5, 2, 8), INFINITY, 0);
    assert_nan(bli_mg1_waiting(-0.5, 1, 2));
    assert_nan(bli_mg1_waiting(NAN, 1, 2));
}

static void mg1_priorities(void **state) {
    (void)state;
    const struct bli_mg1_class classes[] = {{0.2, 1, 2}, {0.385, 0.5, 0.3}, {0.1, 3, 20}};
    /* Preemption: the first class sees nobody else; exponential classes of equal mean have the closed form
     * of M/M/1. */
    assert_close(bli_mg1_preemptive(classes, 3, 0), 1 / (1 - 0.2), 1e-15);
    const struct bli_mg1_class equal[] = {{0.3, 1, 2}, {0.4, 1, 2}};
    assert_close(bli_mg1_preemptive(equal, 2, 1), 1 / ((1 - 0.3) * (1 - 0.7)), 1e-14);
    /* Without preemption the work is conserved: sum of rho_k W_k = rho W0/(1 - rho) whatever the order. */
    const double w0 = (0.2 * 2 + 0.385 * 0.3 + 0.1 * 20) / 2, rho = 0.2 + 0.385 * 0.5 + 0.3;
    double conserved = 0;
    for (size_t k = 0; k < 3; k++)
        conserved +=
            classes[k].lambda * classes[k].m1 * (bli_mg1_nonpreemptive(classes, 3, k) - classes[k].m1);
    assert_close(conserved, rho * w0 / (1 - rho), 1e-14);
    assert_close(bli_mg1_nonpreemptive(classes, 3, 0), 1 + w0 / (1 - 0.2), 1e-14);
    /* A lower class that saturates the server: the upper one waits for it in the share 1 - 0.2 of time left
     * to it. */
    const struct bli_mg1_class flooded[] = {{0.2, 1, 2}, {5, 2, 8}, {1, 1, 1}};
    assert_close(bli_mg1_nonpreemptive(flooded, 3, 0), 1 + (0.2 + 0.8 * 8 / (2 * 2)) / 0.8, 1e-14);
    assert_close(bli_mg1_preemptive(flooded, 3, 0), 1 / 0.8, 1e-14);
    assert_close(bli_mg1_nonpreemptive(flooded, 3, 1), INFINITY, 0);
    assert_close(bli_mg1_preemptive(flooded, 3, 2), INFINITY, 0);
}

static void out_of_range(void **state) {
    (void)state;
    const struct bli_wait unstable[] = {bli_wait_mm1(1), bli_wait_mmn(1.5, 10), bli_wait_round_robin(1, 7),
                                        bli_wait_dm1(2)};
    for (size_t i = 0; i < LENGTH(unstable); i++) {
        assert_close(bli_wait_mean(&unstable[i]), INFINITY, 0);
        assert_close(bli_wait_response_quantile(&unstable[i], 0.5), INFINITY, 0);
        assert_close(bli_wait_quantile(&unstable[i], 0.5), INFINITY, 0);
    }
    const struct bli_wait unknown[] = {bli_wait_mm1(-1), bli_wait_mm1(NAN), bli_wait_mmn(0.5, 0),
                                       bli_wait_round_robin(0.5, 0), bli_wait_dm1(-0.1)};
    for (size_t i = 0; i < LENGTH(unknown); i++) {
        assert_nan(bli_wait_mean(&unknown[i]));
        assert_nan(bli_wait_response_quantile(&unknown[i], 0.5));
    }
    const struct bli_wait idle[] = {bli_wait_mm1(0), bli_wait_mmn(0, 1000000), bli_wait_round_robin(0, 3),
                                    bli_wait_dm1(0)};
    for (size_t i = 0; i < LENGTH(idle); i++) {
        assert_close(bli_wait_mean(&idle[i]), 0, 0);
        assert_close(bli_wait_quantile(&idle[i], 0.999), 0, 0);
        assert_close(bli_wait_response_quantile(&idle[i], 0.5), log(2), 1e-14);
    }
    const struct bli_wait some = bli_wait_mm1(0.5);
    assert_nan(bli_wait_quantile(&some, 1.1));
    assert_nan(bli_wait_response_quantile(&some, NAN));
    assert_close(bli_wait_response_quantile(&some, 1), INFINITY, 0);
    assert_close(bli_wait_response_quantile(&some, 0), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mm1),
        cmocka_unit_test(mmn),
        cmocka_unit_test(response_laws),
        cmocka_unit_test(round_robin),
        cmocka_unit_test(dm1),
        cmocka_unit_test(mg1),
        cmocka_unit_test(mg1_priorities),
        cmocka_unit_test(out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
