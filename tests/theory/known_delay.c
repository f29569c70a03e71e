/* SPDX-License-Identifier: BSD-2-Clause */
/* The laws of response and waiting times against the quantiles and means that are known beside them, for
 * every policy. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/predict.h"

static struct bli_model model_of(const char *servers, const char *size, double load) {
    struct bli_model model = {.load = load};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(size, &model.size, NULL), BAL_OK);
    return model;
}

/* The integral of P(T > t) is the mean. Simpson's rule in steps far finer than the law needs. */
static double mean_of_law(const struct bli_model *model, const struct bal_policy_spec *policy,
                          enum bli_theory_time what, double end) {
    enum { STEPS = 4000 };
    double sum = 0;
    for (int i = 0; i <= STEPS; i++)
        sum += (i == 0 || i == STEPS ? 1
                : i % 2              ? 4
                                     : 2) *
               bli_theory_tail(model, policy, what, end * i / STEPS);
    return sum * end / STEPS / 3;
}

static void laws_agree_with_quantiles_and_means(void **state) {
    (void)state;
    static const double level[] = {0.5, 0.9, 0.99, 0.999}, loads[] = {0.2, 0.77};
    unsigned compared = 0;
    for (size_t p = 0; p < bal_policy_count; p++)
        for (int i = 0; i < 2; i++) {
            const struct bli_model model = model_of("30x2", "exp(3)", loads[i]);
            struct bal_policy_spec policy;
            assert_int_equal(bal_policy_parse(bal_policy_table[p]->name, &policy, NULL), BAL_OK);
            const struct bli_prediction known = bli_theory_predict(&model, &policy);
            if (isnan(bli_theory_tail(&model, &policy, BLI_THEORY_RESPONSE, 1)))
                continue;
            compared++;
            for (int q = 0; q < 4; q++) {
                const double longer =
                    bli_theory_tail(&model, &policy, BLI_THEORY_RESPONSE, known.response_quantile[q]);
                assert_true(fabs(longer - (1 - level[q])) < 1e-9);
            }
            const double end = 25 * known.response_quantile[1];
            assert_true(fabs(mean_of_law(&model, &policy, BLI_THEORY_RESPONSE, end) / known.response_mean -
                             1) < 1e-6);
            assert_true(fabs(mean_of_law(&model, &policy, BLI_THEORY_WAITING, end) - known.waiting_mean) <
                        1e-6);
            assert_true(bli_theory_tail(&model, &policy, BLI_THEORY_RESPONSE, 0) > 1 - 1e-12);
        }
    assert_true(compared >= 2 * 4); /* random, round-robin, least-work and pod at least */
}

static void what_is_not_known_is_nan(void **state) {
    (void)state;
    struct bal_policy_spec random, jsq;
    assert_int_equal(bal_policy_parse("random", &random, NULL), BAL_OK);
    assert_int_equal(bal_policy_parse("jsq", &jsq, NULL), BAL_OK);
    const struct bli_model plain = model_of("10", "exp", 0.5), constant = model_of("10", "det", 0.5),
                           mixed = model_of("5x1,5x2", "exp", 0.5), full = model_of("10", "exp", 1.2);
    assert_true(bli_theory_tail(&plain, &random, BLI_THEORY_WAITING, 1) > 0);
    assert_true(isnan(bli_theory_tail(&plain, &jsq, BLI_THEORY_WAITING, 1)));
    assert_true(isnan(bli_theory_tail(&constant, &random, BLI_THEORY_WAITING, 1)));
    assert_true(isnan(bli_theory_tail(&mixed, &random, BLI_THEORY_WAITING, 1)));
    assert_true(isnan(bli_theory_tail(&full, &random, BLI_THEORY_WAITING, 1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_agree_with_quantiles_and_means),
        cmocka_unit_test(what_is_not_known_is_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
