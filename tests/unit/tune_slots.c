/* SPDX-License-Identifier: BSD-2-Clause */
/* Tuning of slots: what is tried, with which traffic, and what is called the best. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/tune_slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct bli_slots_question question_of(const char *servers, const char *speeds, double load,
                                             const char *policy) {
    struct bli_slots_question q = {
        .base = {.model = {.load = load}, .run = {.seed = 1, .time = 3000, .warmup = 0.2}, .replications = 4},
        .quantile = 0.99,
        .target = NAN};
    assert_int_equal(bli_servers_parse(servers, &q.base.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &q.base.model.size, NULL), BAL_OK);
    assert_int_equal(bli_speeds_parse(speeds, &q.base.model.speeds, NULL), BAL_OK);
    assert_int_equal(bal_policy_parse(policy, &q.base.policy, NULL), BAL_OK);
    return q;
}

static struct bli_slots_answer *answer_of(const struct bli_slots_question *q) {
    struct bli_slots_answer *answer = malloc(sizeof *answer);
    const struct bli_lab_options options = {.threads = 2};
    struct bal_error err;
    if (bli_tune_slots(q, &options, answer, &err))
        fail_msg("%s", err.text);
    return answer;
}

static void tries_what_it_says(void **unused) {
    (void)unused;
    const struct bli_slots_question q = question_of("4", "cores(3)", 0.5, "jsq");
    struct bli_slots_answer *answer = answer_of(&q);
    static const uint32_t wanted[] = {1, 2, 3, 4, 6, 8, 12, BLI_SLOTS_ALL};
    assert_int_equal(answer->points, sizeof wanted / sizeof *wanted);
    for (unsigned i = 0; i < answer->points; i++)
        assert_int_equal(answer->point[i].slots, wanted[i]);
    free(answer);
}

/* As many jobs come whatever the slots are, and those that cannot be served are not simulated. */
static void all_get_the_same_traffic(void **unused) {
    (void)unused;
    const struct bli_slots_question q = question_of("4x2", "cores(3)", 0.5, "jsq");
    struct bli_slots_answer *answer = answer_of(&q);
    for (unsigned i = 0; i < answer->points; i++) {
        const struct bli_slots_point *point = &answer->point[i];
        assert_true(fabs(bli_model_arrival_rate(&point->c.model) - 0.5 * 4 * 2 * 3) < 1e-9);
        assert_true(point->possible == (point->slots > 1)); /* one slot: 12 of 8 */
        assert_true(fabs(point->speed - fmin(point->slots, 3) / 3) < 1e-12);
        assert_true(point->possible == (point->result.replications > 0));
    }
    free(answer);
}

/* A server of one slot is as fast as the table says with one job: M/M/1. */
static void one_slot_has_the_speed_of_one_job(void **unused) {
    (void)unused;
    struct bli_slots_question q = question_of("1", "table(1:0.5 2:0.6)", 0.5, "random");
    q.base.run.time = 40000;
    struct bli_slots_answer *answer = answer_of(&q);
    const struct bli_slots_point *one = &answer->point[0];
    const double rate = 0.3, mu = 0.5; /* 0.5 of 0.6 */
    assert_true(fabs(one->alone.response_mean - 1 / (mu - rate)) < 1e-9);
    const struct bli_estimate mean = one->result.metric[BLI_RESPONSE_MEAN];
    /* The half-width is 3.18 standard errors with three degrees of freedom: three of them, 2e-3. */
    assert_true(fabs(mean.mean - 1 / (mu - rate)) < 3 * mean.half_width);
    free(answer);
}

static void the_best_are_near_the_least(void **unused) {
    (void)unused;
    struct bli_slots_question q = question_of("10", "table(1:1 4:3 16:1.5)", 0.7, "round-robin");
    q.base.run.time = 20000;
    q.base.run.warmup = 0.2;
    q.target = 8;
    struct bli_slots_answer *answer = answer_of(&q);
    assert_true(answer->least < answer->points);
    const struct bli_estimate least = bli_slots_value(&q, &answer->point[answer->least]);
    for (unsigned i = 0; i < answer->points; i++) {
        const struct bli_slots_point *point = &answer->point[i];
        if (!point->possible || !bli_result_is_sure(&point->result))
            continue;
        const struct bli_estimate value = bli_slots_value(&q, point);
        assert_true(value.mean >= least.mean);
        assert_true(point->best == (value.mean <= 1.02 * least.mean ||
                                    value.mean - value.half_width <= least.mean + least.half_width));
        assert_true(point->meets == (value.mean + value.half_width <= 8));
    }
    free(answer);
}

static void refuses_what_cannot_be_tuned(void **unused) {
    (void)unused;
    struct bli_slots_answer answer;
    const struct bli_lab_options options = {.threads = 1};
    struct bal_error err;
    struct bli_slots_question q = question_of("4", "none", 0.5, "jsq");
    assert_int_equal(bli_tune_slots(&q, &options, &answer, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "needs speeds"));
    q = question_of("4", "cores(2)", 1.2, "jsq");
    assert_int_equal(bli_tune_slots(&q, &options, &answer, &err), BAL_E_RANGE);
    q = question_of("4", "cores(2)", 0.5, "least-work");
    assert_int_equal(bli_tune_slots(&q, &options, &answer, &err), BAL_E_MODEL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tries_what_it_says),
        cmocka_unit_test(all_get_the_same_traffic),
        cmocka_unit_test(one_slot_has_the_speed_of_one_job),
        cmocka_unit_test(the_best_are_near_the_least),
        cmocka_unit_test(refuses_what_cannot_be_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
