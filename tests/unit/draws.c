/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials that are means over what policies draw, on the same arrivals and sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct bli_case case_of(const char *policy, unsigned dispatchers, unsigned draws) {
    struct bli_case c = {.model = {.load = 0.8, .network.dispatchers.count = dispatchers},
                         .run = {.seed = 3, .replication = 2, .time = 50, .warmup = 0},
                         .replications = 1,
                         .draws = draws};
    assert_int_equal(bli_servers_parse("6", &c.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &c.model.size, NULL), BAL_OK);
    assert_int_equal(bal_policy_parse(policy, &c.policy, NULL), BAL_OK);
    return c;
}

static struct bli_trial trial_of(const struct bli_case *c, unsigned draw, struct bli_histogram *response) {
    struct bli_trial trial = {.histogram = {[BLI_OF_RESPONSE] = response}};
    struct bli_run run = c->run;
    struct bal_error err = {0};
    run.draw = draw;
    memset(response, 0, sizeof *response);
    if (bli_case_trial(c, &run, &trial, &err))
        fail_msg("%s", err.text);
    return trial;
}

static void a_trial_is_the_mean_of_its_draws(void **state) {
    (void)state;
    static struct bli_histogram response, all;
    for (unsigned dispatchers = 1; dispatchers <= 2; dispatchers++) {
        const struct bli_case one = case_of("least-conn:d=2", dispatchers, 1),
                              three = case_of("least-conn:d=2", dispatchers, 3);
        double mean = 0, p99 = 0, total = 0, first = 0;
        for (unsigned draw = 0; draw < 3; draw++) {
            const struct bli_trial trial = trial_of(&one, draw, &response);
            assert_true(draw == 0 || trial.metric[BLI_RESPONSE_MEAN] != first);
            first = draw ? first : trial.metric[BLI_RESPONSE_MEAN];
            mean += trial.metric[BLI_RESPONSE_MEAN] / 3;
            p99 += trial.metric[BLI_RESPONSE_P99] / 3;
            total += (double)bli_histogram_total(&response);
        }
        const struct bli_trial trial = trial_of(&three, 0, &all);
        assert_true(fabs(trial.metric[BLI_RESPONSE_MEAN] - mean) < 1e-12);
        assert_true(fabs(trial.metric[BLI_RESPONSE_P99] - p99) < 1e-12);
        assert_true((double)bli_histogram_total(&all) == total);
    }
}

/* Who draws nothing does the same in each draw: arrivals and sizes are the same. */
static void draws_have_the_same_arrivals_and_sizes(void **state) {
    (void)state;
    static struct bli_histogram response;
    static const char *const policies[] = {"round-robin", "least-conn:ties=turn", "least-conn:ties=queue"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct bli_case c = case_of(policies[i], 3, 1);
        const struct bli_trial a = trial_of(&c, 0, &response), b = trial_of(&c, 7, &response);
        if (a.metric[BLI_RESPONSE_MEAN] != b.metric[BLI_RESPONSE_MEAN])
            fail_msg("%s: %g and %g", policies[i], a.metric[BLI_RESPONSE_MEAN], b.metric[BLI_RESPONSE_MEAN]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trial_is_the_mean_of_its_draws),
        cmocka_unit_test(draws_have_the_same_arrivals_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
