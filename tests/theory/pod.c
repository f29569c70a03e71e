/* SPDX-License-Identifier: BSD-2-Clause */
/* The mean-field fixed point of power-of-d-choices against its formulas, evaluated in long double. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/theory.h"
#include "close.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const double loads[] = {1e-9, 0.1, 0.385, 0.9, 0.95, 0.99, 0.99999};
static const unsigned probes[] = {1, 2, 3, 10, 1000};

/* Sum over i >= 1 of lambda^((d^i - d)/(d - 1)), term by term. */
static long double response_sum(double lambda, unsigned d) {
    if (d == 1)
        return 1 / (1 - (long double)lambda);
    long double sum = 0, term = 1;
    for (int i = 1; term > 1e-22L; i++) {
        term = powl(lambda, (powl(d, i) - d) / (d - 1));
        sum += term;
    }
    return sum;
}

static void response(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(loads); i++)
        for (size_t k = 0; k < LENGTH(probes); k++) {
            const struct bli_pod pod = bli_pod_plain(loads[i], probes[k]);
            const long double wanted = response_sum(loads[i], probes[k]);
            assert_close(bli_pod_response(&pod, pod.d1), wanted, 1e-13);
            if (wanted > 1.01L)
                assert_close(bli_pod_waiting(&pod, pod.d1), wanted - 1, 1e-13);
        }
    const struct bli_pod pod = bli_pod_plain(0.9, 2);
    assert_close(bli_pod_response(&pod, 2), 2.6141, 2e-5);
    /* A waiting time far below the rounding of the response time: lambda^d + .. */
    const struct bli_pod light = bli_pod_plain(1e-9, 3);
    assert_close(bli_pod_waiting(&light, 3), 1e-27, 1e-13);
}

static void tails(void **state) {
    (void)state;
    for (size_t i = 0; i < LENGTH(loads); i++)
        for (size_t k = 0; k < LENGTH(probes); k++) {
            const unsigned d = probes[k];
            const struct bli_pod pod = bli_pod_plain(loads[i], d);
            double v[50];
            const size_t n = bli_pod_tail(&pod, v, LENGTH(v));
            for (size_t j = 0; j < n && j < LENGTH(v); j++) {
                const long double power = d == 1 ? (long double)j : (powl(d, (long double)j) - 1) / (d - 1);
                assert_close(v[j], powl(loads[i], power), 1e-13);
            }
            /* The last one counted is at least 1e-15, the next one is not; 1e-10 allows for its rounding. */
            const double last = d == 1 ? (double)(n - 1) : (pow(d, (double)(n - 1)) - 1) / (d - 1);
            const double next = d == 1 ? (double)n : (pow(d, (double)n) - 1) / (d - 1);
            assert_true(last * log(loads[i]) >= log(1e-15) - 1e-10);
            assert_true(next * log(loads[i]) < log(1e-15) + 1e-10);
        }
    double untouched = 7;
    const struct bli_pod pod = bli_pod_plain(0.9, 2);
    assert_int_equal(bli_pod_tail(&pod, &untouched, 0), 9);
    assert_close(untouched, 7, 0);
}

static long double powers(long double x, unsigned n) {
    return powl(x, n);
}

/* Two kinds of jobs: v_i = lambda ((1-p) v^d1 + p v^d2) iterated as it stands. */
static void two_kinds(void **state) {
    (void)state;
    static const struct { unsigned d1, d2; } choices[] = {{1, 2}, {2, 4}, {2, 2}, {3, 1}, {1, 50}, {2, 3}};
    static const double shares[] = {0, 1e-3, 0.1, 0.5, 0.9, 0.999, 1};
    static const double some_loads[] = {0.1, 0.385, 0.9, 0.95, 0.999};
    for (size_t i = 0; i < LENGTH(some_loads); i++)
        for (size_t j = 0; j < LENGTH(shares); j++)
            for (size_t k = 0; k < LENGTH(choices); k++) {
                const struct bli_pod pod = {some_loads[i], shares[j], choices[k].d1, choices[k].d2};
                const long double p = pod.p;
                long double v = 1, low = 0, high = 0, mass = 0;
                while (v > 1e-24L) {
                    low += powers(v, pod.d1);
                    high += powers(v, pod.d2);
                    v = pod.lambda * ((1 - p) * powers(v, pod.d1) + p * powers(v, pod.d2));
                    mass += v;
                }
                assert_close(bli_pod_response(&pod, pod.d1), low, 1e-12);
                assert_close(bli_pod_response(&pod, pod.d2), high, 1e-12);
                /* Little's law over all jobs. */
                const double all =
                    (1 - pod.p) * bli_pod_response(&pod, pod.d1) + pod.p * bli_pod_response(&pod, pod.d2);
                assert_close(all, mass / pod.lambda, 1e-12);
            }
}

static void few_of_another_kind(void **state) {
    (void)state;
    /* As the share of the second kind vanishes the first is M/M/1, here at a load where that means millions
     * of levels. */
    const struct bli_pod nearly = {0.99999, 1e-12, 1, 2};
    assert_close(bli_pod_response(&nearly, 1), 1 / (1 - 0.99999), 1e-4);
    /* A stranger that probes d servers of M/M/1 queues finds at least k jobs with probability lambda^(d k).
     * */
    const struct bli_pod random = bli_pod_plain(0.9, 1);
    assert_close(bli_pod_response(&random, 3), 1 / (1 - 0.9 * 0.9 * 0.9), 1e-13);
}

/* The law of the response time of pod, its mean by integration, its quantiles by inversion. */
static void dists(void **state) {
    (void)state;
    const struct bli_pod pods[] = {
        bli_pod_plain(0.9, 2), bli_pod_plain(0.385, 3), {0.95, 0.3, 1, 2}, bli_pod_plain(0.7, 1)};
    for (size_t i = 0; i < LENGTH(pods); i++) {
        const struct bli_pod *pod = &pods[i];
        const unsigned d = pod->d1;
        enum { STEPS = 4000 };
        const double end = 200, h = end / STEPS;
        double response = 0, waiting = 0;
        for (int k = 0; k <= STEPS; k++) {
            const double weight = (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2) * h / 3;
            response += weight * bli_pod_response_tail(pod, d, k * h);
            waiting += weight * bli_pod_waiting_tail(pod, d, k * h);
        }
        assert_close(response, bli_pod_response(pod, d), 1e-7);
        assert_close(waiting, bli_pod_waiting(pod, d), 1e-7);
        for (double q = 0.5; q < 0.9999; q += (1 - q) / 2) {
            const double r = bli_pod_response_quantile(pod, d, q), w = bli_pod_waiting_quantile(pod, d, q);
            assert_close(bli_pod_response_tail(pod, d, r), 1 - q, 1e-8);
            if (w > 0)
                assert_close(bli_pod_waiting_tail(pod, d, w), 1 - q, 1e-8);
            else
                assert_true(bli_pod_waiting_tail(pod, d, 0) <= 1 - q);
            assert_true(w < r);
        }
    }
    /* d = 1 is M/M/1, also where the list of levels would be long. */
    const struct bli_pod random = bli_pod_plain(0.99999, 1);
    const struct bli_wait mm1 = bli_wait_mm1(0.99999);
    assert_close(bli_pod_response_quantile(&random, 1, 0.99), bli_wait_response_quantile(&mm1, 0.99), 1e-12);
    assert_close(bli_pod_waiting_quantile(&random, 1, 0.99), bli_wait_quantile(&mm1, 0.99), 1e-9);
    /* The general path, forced by a second kind of vanishing share, agrees with it. */
    const struct bli_pod forced = {0.99, 1e-13, 1, 2}, plain = bli_pod_plain(0.99, 1);
    assert_close(bli_pod_response_quantile(&forced, 1, 0.99), bli_pod_response_quantile(&plain, 1, 0.99),
                 1e-9);
    assert_close(bli_pod_waiting_quantile(&forced, 1, 0.5), bli_pod_waiting_quantile(&plain, 1, 0.5), 1e-9);
}

static void out_of_range(void **state) {
    (void)state;
    const struct bli_pod unstable = bli_pod_plain(1, 2);
    assert_close(bli_pod_response(&unstable, 2), INFINITY, 0);
    assert_close(bli_pod_response_quantile(&unstable, 2, 0.5), INFINITY, 0);
    assert_close(bli_pod_waiting_tail(&unstable, 2, 10), 1, 0);
    assert_int_equal(bli_pod_tail(&unstable, NULL, 0), 0);
    const struct bli_pod wrong[] = {{-0.1, 0, 2, 2},  {NAN, 0, 2, 2}, {0.5, -0.1, 2, 2}, {0.5, 1.1, 2, 2},
                                    {0.5, NAN, 2, 2}, {0.5, 0, 0, 2}, {0.5, 0, 2, 0}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        assert_nan(bli_pod_response(&wrong[i], 2));
        assert_nan(bli_pod_response_tail(&wrong[i], 2, 1));
        assert_nan(bli_pod_waiting_quantile(&wrong[i], 2, 0.5));
        assert_int_equal(bli_pod_tail(&wrong[i], NULL, 0), 0);
    }
    const struct bli_pod pod = bli_pod_plain(0.5, 2), empty = bli_pod_plain(0, 2),
                         greedy = bli_pod_plain(0.99999, UINT_MAX);
    assert_nan(bli_pod_response(&pod, 0));
    assert_nan(bli_pod_response_quantile(&pod, 2, 1));
    assert_nan(bli_pod_response_tail(&pod, 2, NAN));
    assert_close(bli_pod_response_tail(&pod, 2, -1), 1, 0);
    assert_close(bli_pod_response(&empty, 2), 1, 0);
    assert_close(bli_pod_response_quantile(&empty, 2, 0.5), log(2), 1e-12);
    assert_close(bli_pod_waiting_quantile(&empty, 2, 0.999), 0, 0);
    assert_int_equal(bli_pod_tail(&empty, NULL, 0), 1);
    assert_close(bli_pod_response(&greedy, UINT_MAX), 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(response),  cmocka_unit_test(tails),
        cmocka_unit_test(two_kinds), cmocka_unit_test(few_of_another_kind),
        cmocka_unit_test(dists),     cmocka_unit_test(out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
