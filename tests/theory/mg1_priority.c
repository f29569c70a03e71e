/* SPDX-License-Identifier: BSD-2-Clause */
/* One server with two classes, against its textbook formulas: preemptive-resume and non-preemptive (Cobham
 * 1954) M/G/1.
 *
 * Every mean must lie within 1 % of its formula, and the runs must be long enough for that to mean something:
 * the 95 % interval over 8 replications (Student's t of 7 degrees of freedom) may be 0.6 % wide at most. The
 * tolerance is then at least 3.9 standard errors: a false alarm has probability below 1e-4 for each of the 50
 * means. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/lab.h"
#include "ballast/predict.h"
#include "ballast/theory.h"

static const struct {
    const char *dist;
    const char *servers;
    double load, high, jobs;
} cases[] = {
    {"exp", "1", 0.6, 0.4, 0.5e6},
    {"det", "1", 0.6, 0.5, 0.3e6},
    {"erlang(3)", "1x2.5", 0.6, 0.3, 0.3e6},
    {"hyper(3)", "1", 0.45, 0.4, 2e6},
    {"lognormal(2)", "1x0.5", 0.45, 0.6, 1e6},
};
enum { CASES = sizeof cases / sizeof *cases, REPLICATIONS = 8 };
static const double TOLERANCE = 0.01, WIDEST = 0.006;

struct means {
    double high, low, high_waiting, low_waiting, all;
};

/* The formulas, for sizes with moments m1 and m2 at rates high and low of the two classes. */
static struct means textbook(enum bli_discipline discipline, double high, double low, double m1, double m2) {
    const struct bli_mg1_class classes[] = {{high, m1, m2}, {low, m1, m2}};
    const double residual = (high + low) * m2 / 2, rho_high = high * m1, rho = (high + low) * m1;
    struct means means;
    if (discipline == BLI_DISCIPLINE_PREEMPTIVE) {
        means.high_waiting = high * m2 / 2 / (1 - rho_high);
        means.low_waiting = residual / (1 - rho_high) / (1 - rho);
        means.high = bli_mg1_preemptive(classes, 2, 0);
        means.low = bli_mg1_preemptive(classes, 2, 1);
        assert_true(fabs(means.low - means.low_waiting - m1 / (1 - rho_high)) < 1e-12 * means.low);
    } else {
        means.high_waiting = residual / (1 - rho_high);
        means.low_waiting = residual / (1 - rho_high) / (1 - rho);
        means.high = bli_mg1_nonpreemptive(classes, 2, 0);
        means.low = bli_mg1_nonpreemptive(classes, 2, 1);
        assert_true(fabs(means.low - means.low_waiting - m1) < 1e-12 * means.low);
    }
    assert_true(fabs(means.high - means.high_waiting - m1) < 1e-12 * means.high);
    means.all = (high * means.high + low * means.low) / (high + low);
    return means;
}

/* Errors are measured against the mean response time, also those of the waiting time, which is a part of it.
 */
static void assert_mean(const struct bli_result *result, enum bli_metric metric, double expected,
                        double response, const char *dist) {
    const struct bli_estimate estimate = result->metric[metric];
    const char *name = bli_metric_table[metric].name;
    if (!(estimate.half_width <= WIDEST * response))
        fail_msg("%s: %s: the interval ± %g of %g is too wide", dist, name, estimate.half_width, expected);
    if (!(fabs(estimate.mean - expected) <= TOLERANCE * response))
        fail_msg("%s: %s is %g ± %g, not %g", dist, name, estimate.mean, estimate.half_width, expected);
}

static void check(enum bli_discipline discipline) {
    struct bli_case list[CASES];
    static struct bli_result results[CASES];
    for (size_t i = 0; i < CASES; i++) {
        list[i] = (struct bli_case){.model = {.load = cases[i].load,
                                              .classes = true,
                                              .high = cases[i].high,
                                              .discipline = discipline},
                                    .run = {.seed = 7, .warmup = 0.01, .engine = BLI_ENGINE_EVENT},
                                    .replications = REPLICATIONS};
        assert_int_equal(bli_servers_parse(cases[i].servers, &list[i].model.servers, NULL), BAL_OK);
        assert_int_equal(bli_dist_parse(cases[i].dist, &list[i].model.size, NULL), BAL_OK);
        assert_int_equal(bal_policy_parse("random", &list[i].policy, NULL), BAL_OK);
        list[i].run.time = cases[i].jobs / bli_model_arrival_rate(&list[i].model);
    }
    const struct bli_lab_options options = {.threads = 1};
    assert_int_equal(bli_lab_run(list, CASES, &options, results, NULL), BAL_OK);
    for (size_t i = 0; i < CASES; i++) {
        const struct bli_model *model = &list[i].model;
        const double rate = bli_model_arrival_rate(model), speed = model->servers.group[0].speed;
        const struct means means =
            textbook(discipline, model->high * rate, (1 - model->high) * rate, model->size.mean / speed,
                     bli_dist_moment(&model->size, 2) / (speed * speed));
        assert_mean(&results[i], BLI_HIGH_RESPONSE_MEAN, means.high, means.high, cases[i].dist);
        assert_mean(&results[i], BLI_LOW_RESPONSE_MEAN, means.low, means.low, cases[i].dist);
        assert_mean(&results[i], BLI_HIGH_WAITING_MEAN, means.high_waiting, means.high, cases[i].dist);
        assert_mean(&results[i], BLI_LOW_WAITING_MEAN, means.low_waiting, means.low, cases[i].dist);
        assert_mean(&results[i], BLI_RESPONSE_MEAN, means.all, means.all, cases[i].dist);
        /* and what is shown beside a simulation is the same */
        const struct bli_prediction known = bli_theory_predict(model, &list[i].policy);
        assert_int_equal(known.kind, BLI_THEORY_EXACT);
        assert_true(fabs(known.high.response_mean / means.high - 1) < 1e-12);
        assert_true(fabs(known.low.response_mean / means.low - 1) < 1e-12);
        assert_true(fabs(known.high.waiting_mean / means.high_waiting - 1) < 1e-12);
        assert_true(fabs(known.low.waiting_mean / means.low_waiting - 1) < 1e-12);
        assert_true(fabs(known.response_mean / means.all - 1) < 1e-12);
    }
}

static void preemptive_resume(void **state) {
    (void)state;
    check(BLI_DISCIPLINE_PREEMPTIVE);
}

static void nonpreemptive(void **state) {
    (void)state;
    check(BLI_DISCIPLINE_NONPREEMPTIVE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preemptive_resume),
        cmocka_unit_test(nonpreemptive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
