/* SPDX-License-Identifier: BSD-2-Clause */
/* Two classes of jobs, simulated, against the theory of Niu, Wang, Feng and Xu (2022): the means of both
 * classes with 1000 servers, and their Lemmas 1, 2 and 4, which hold for any number of servers.
 *
 * Means: a run in which servers were by chance busier than usual has longer queues than usual. The mean of
 * the busy fraction being exactly lambda, busy - lambda is a control variate: subtracting any constant times
 * it leaves the expectation as it is, and with dT/dlambda for the constant most of the variance goes. Over 12
 * other seeds, what is left has a standard error of 0.1 to 0.3 %, and 1000 servers lie 0 to 0.6 % above the
 * limit; never is the tolerance of 1 % closer than 3 standard errors. A false alarm has probability below
 * 2e-3 in the worst of the 126 comparisons, and far below in most. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/simulate.h"
#include "ballast/theory.h"
#include "close.h"
#include "texts.h"

#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct bli_model model_of(const char *servers, double load, double high) {
    struct bli_model model = {.load = load, .classes = true, .high = high};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("exp", &model.size, NULL), BAL_OK);
    return model;
}

static struct bli_trial simulate(const struct bli_model *model, const char *text, double jobs,
                                 uint64_t replication, double *high_tail) {
    const struct bal_policy_spec policy = policy_of(text);
    const struct bli_run run = {
        .seed = 11, .replication = replication, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1};
    struct bli_trial trial = {.high_tail = high_tail};
    struct bal_error err;
    if (bli_simulate(model, &policy, &run, &trial, &err))
        fail_msg("%s: %s", text, err.text);
    return trial;
}

/* ---- means ---- */

static void print_policy(const struct bli_priority *priority, char *text, size_t size) {
    static const char *const names[] = {"scp", "sep", "ssp"};
    if (priority->policy == BLI_PRIORITY_SEP)
        snprintf(text, size, "pod-sep:d=%u", priority->d1);
    else
        snprintf(text, size, "pod-%s:d1=%u,d2=%u", names[priority->policy], priority->d1, priority->d2);
}

/* How the means grow with lambda. */
static struct bli_priority_result slope_of(const struct bli_priority *priority) {
    const double step = 1e-4;
    struct bli_priority below = *priority, above = *priority;
    below.lambda -= step;
    above.lambda += step;
    const struct bli_priority_result x = bli_priority_solve(&below), y = bli_priority_solve(&above);
    return (struct bli_priority_result){.high = (y.high - x.high) / (2 * step),
                                        .low = (y.low - x.low) / (2 * step),
                                        .all = (y.all - x.all) / (2 * step)};
}

/* Mean response times of the classes and of all, corrected for the busy fraction. */
static struct bli_priority_result measure(const struct bli_priority *priority, double jobs) {
    char text[64];
    print_policy(priority, text, sizeof text);
    const struct bli_model model = model_of("1000", priority->lambda, priority->p);
    const struct bli_trial trial = simulate(&model, text, jobs, 0, NULL);
    const struct bli_priority_result slope = slope_of(priority);
    const double excess = trial.tail[1] - priority->lambda;
    return (struct bli_priority_result){
        .high = trial.metric[BLI_HIGH_RESPONSE_MEAN] - slope.high * excess,
        .low = trial.metric[BLI_LOW_RESPONSE_MEAN] - slope.low * excess,
        .all = trial.metric[BLI_RESPONSE_MEAN] - slope.all * excess,
    };
}

static void assert_mean(const struct bli_priority *priority, const char *what, double value, double wanted) {
    char text[64];
    print_policy(priority, text, sizeof text);
    if (!(fabs(value - wanted) <= 0.01 * wanted))
        fail_msg("%s at load %g, p %g: mean response of %s jobs %g, wanted %g", text, priority->lambda,
                 priority->p, what, value, wanted);
}

static double jobs_for(double lambda) {
    return lambda > 0.8 ? 3e6 : 1e6;
}

static void check_means(const struct bli_priority *priority) {
    const struct bli_priority_result theory = bli_priority_solve(priority);
    const struct bli_priority_result measured = measure(priority, jobs_for(priority->lambda));
    assert_mean(priority, "high", measured.high, theory.high);
    assert_mean(priority, "low", measured.low, theory.low);
    assert_mean(priority, "all", measured.all, theory.all);
}

static void check_grid(enum bli_priority_policy policy) {
    static const double loads[] = {0.7, 0.9, 0.95}, shares[] = {0.3, 0.7};
    static const struct { unsigned d1, d2; } choices[] = {{1, 2}, {2, 2}, {2, 4}};
    for (size_t i = 0; i < LENGTH(loads); i++)
        for (size_t j = 0; j < LENGTH(shares); j++)
            for (size_t k = 0; k < LENGTH(choices); k++) {
                if (policy == BLI_PRIORITY_SEP && choices[k].d1 != choices[k].d2)
                    continue;
                const struct bli_priority priority = {policy, loads[i], shares[j], choices[k].d1,
                                                      choices[k].d2};
                check_means(&priority);
            }
}

static void scp(void **state) {
    (void)state;
    check_grid(BLI_PRIORITY_SCP);
}

static void ssp(void **state) {
    (void)state;
    check_grid(BLI_PRIORITY_SSP);
}

/* The exact value, not the bound; which holds, and is loose. */
static void sep(void **state) {
    (void)state;
    check_grid(BLI_PRIORITY_SEP);
    const struct bli_priority priority = {BLI_PRIORITY_SEP, 0.95, 0.3, 2, 2};
    const struct bli_priority_result measured = measure(&priority, jobs_for(0.95));
    const double bound = bli_sep_low_bound(0.95, 0.3, 2);
    assert_true(measured.low < bound);
    assert_true(measured.low < 0.9 * bound);
    assert_mean(&priority, "low", measured.low, 4.32);
}

/* Values that others have simulated, also with 1000 servers. */
static void check_values(void **state) {
    (void)state;
    static const struct {
        struct bli_priority priority;
        double high, low;
    } values[] = {
        {{BLI_PRIORITY_SSP, 0.95, 0.5, 1, 2}, 1.238, 8.81},
        {{BLI_PRIORITY_SSP, 0.95, 0.5, 2, 4}, 1.052, 4.18},
        {{BLI_PRIORITY_SCP, 0.95, 0.5, 1, 2}, 4.27, 5.77},
    };
    for (size_t i = 0; i < LENGTH(values); i++) {
        const struct bli_priority_result measured = measure(&values[i].priority, jobs_for(0.95));
        assert_mean(&values[i].priority, "high", measured.high, values[i].high);
        assert_mean(&values[i].priority, "low", measured.low, values[i].low);
    }
}

/* ---- tails ----
 *
 * Few servers, so that the law of the queues is far from its limit. Replications are independent, and so are
 * the two sides of a comparison: Student's t of 2 REPLICATIONS - 2 degrees of freedom at a false-alarm
 * probability of 1e-6 for each of 32 levels. */

enum { REPLICATIONS = 20, LEVELS = 8 };

struct tails {
    double value[LEVELS][REPLICATIONS];
};

/* Of all jobs, or of high ones. */
static void measure_tails(const char *policy, double load, double p, bool high, uint64_t seed,
                          struct tails *tails) {
    const struct bli_model model = model_of("12", load, p);
    double high_tail[BLI_TAIL_LEVELS];
    for (uint64_t r = 0; r < REPLICATIONS; r++) {
        const struct bli_trial trial = simulate(&model, policy, 40000, 1000 * seed + r, high_tail);
        for (unsigned i = 0; i < LEVELS; i++)
            tails->value[i][r] = high ? high_tail[i + 1] : trial.tail[i + 1];
    }
}

static void moments(const double *value, double *mean, double *variance) {
    *mean = *variance = 0;
    for (int r = 0; r < REPLICATIONS; r++)
        *mean += value[r] / REPLICATIONS;
    for (int r = 0; r < REPLICATIONS; r++)
        *variance += (value[r] - *mean) * (value[r] - *mean) / (REPLICATIONS - 1.0);
}

/* Rare levels say nothing: their means are not normal. */
static unsigned assert_same_law(const struct tails *x, const struct tails *y, const char *what) {
    const double limit = -bli_student_quantile(0.5e-6, 2 * REPLICATIONS - 2);
    unsigned compared = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        double mean_x, mean_y, variance_x, variance_y;
        moments(x->value[i], &mean_x, &variance_x);
        moments(y->value[i], &mean_y, &variance_y);
        if (mean_y < 1e-3)
            continue;
        const double error = sqrt((variance_x + variance_y) / REPLICATIONS);
        if (!(fabs(mean_x - mean_y) <= limit * error))
            fail_msg("%s: servers with at least %u jobs: %g and %g differ by %.1f standard errors", what,
                     i + 1, mean_x, mean_y, fabs(mean_x - mean_y) / error);
        compared++;
    }
    return compared;
}

static struct tails here, there;

static void lemma_1_total_queues_are_those_of_pod(void **state) {
    (void)state;
    measure_tails("pod-ssp:d1=2,d2=2", 0.9, 0.4, false, 1, &here);
    measure_tails("pod:d=2", 0.9, 0.4, false, 2, &there);
    assert_true(assert_same_law(&here, &there, "all jobs") >= 5);
    /* and so they are under pod-sep, whose servers prefer a class as well */
    measure_tails("pod-sep:d=2", 0.9, 0.4, false, 3, &here);
    assert_true(assert_same_law(&here, &there, "all jobs, pod-sep") >= 5);
}

static void lemma_2_high_jobs_see_pod_of_their_own(void **state) {
    (void)state;
    measure_tails("pod-ssp:d1=2,d2=2", 0.95, 0.9, true, 4, &here);
    measure_tails("pod:d=2", 0.95 * 0.9, 0.9, false, 5, &there);
    assert_true(assert_same_law(&here, &there, "high jobs") >= 4);
    /* d1 does not matter to them */
    measure_tails("pod-ssp:d1=1,d2=2", 0.95, 0.9, true, 6, &here);
    assert_true(assert_same_law(&here, &there, "high jobs, d1 = 1") >= 4);
}

static void lemma_4_total_queues_are_those_of_scp(void **state) {
    (void)state;
    measure_tails("pod-ssp:d1=1,d2=3", 0.85, 0.5, false, 7, &here);
    measure_tails("pod-scp:d1=1,d2=3", 0.85, 0.5, false, 8, &there);
    assert_true(assert_same_law(&here, &there, "all jobs") >= 5);
}

/* ---- what is shown beside a simulation ---- */

static struct bli_prediction known_of(const char *policy, enum bli_discipline discipline) {
    struct bli_model model = model_of("1000x2", 0.9, 0.4);
    model.discipline = discipline;
    const struct bal_policy_spec spec = policy_of(policy);
    return bli_theory_predict(&model, &spec);
}

/* A bound from below that is less than the service alone, or even negative, is none; elsewhere it lies below
 * the truth, and what it leaves belongs to the bound of low jobs. */
static void bounds_of_high_jobs_say_something(void **state) {
    (void)state;
    const struct bal_policy_spec sep = policy_of("pod-sep:d=2");
    int known_bounds = 0;
    for (double load = 0.1; load < 0.99; load += 0.1)
        for (double p = 0.05; p < 1; p += 0.1) {
            const struct bli_model model = model_of("1000x2", load, p);
            const struct bli_prediction known = bli_theory_predict(&model, &sep);
            const double bound = known.high.response_bound;
            if (isnan(bound))
                continue;
            assert_true(bound >= 0.5 && bound <= known.high.response_mean);
            assert_close(p * bound + (1 - p) * known.low.response_bound, known.response_mean, 1e-12);
            known_bounds++;
        }
    assert_in_range(known_bounds, 40, 80); /* of 90 */
}

static void theory_beside_a_simulation(void **state) {
    (void)state;
    const struct bli_priority ssp = {BLI_PRIORITY_SSP, 0.9, 0.4, 2, 4},
                              scp = {BLI_PRIORITY_SCP, 0.9, 0.4, 2, 4},
                              sep = {BLI_PRIORITY_SEP, 0.9, 0.4, 2, 2};
    struct bli_prediction known = known_of("pod-ssp:d1=2,d2=4", BLI_DISCIPLINE_AUTO);
    struct bli_priority_result result = bli_priority_solve(&ssp);
    assert_close(known.response_mean, result.all / 2, 1e-12); /* servers of speed 2 */
    assert_close(known.high.response_mean, result.high / 2, 1e-12);
    assert_close(known.low.response_mean, result.low / 2, 1e-12);
    assert_close(known.high.waiting_probability, pow(0.36, 4), 1e-12);
    assert_close(known.low.waiting_probability, 0.81, 1e-12);
    assert_nan(known.low.waiting_mean);
    assert_int_equal(known_of("pod-ssp:d1=2,d2=4", BLI_DISCIPLINE_NONPREEMPTIVE).kind, BLI_THEORY_UNKNOWN);

    known = known_of("pod-scp:d1=2,d2=4", BLI_DISCIPLINE_AUTO);
    result = bli_priority_solve(&scp);
    assert_close(known.high.response_mean, result.high / 2, 1e-12);
    assert_close(known.low.waiting_mean, (result.low - 1) / 2, 1e-12);
    known = known_of("pod-scp:d1=2,d2=4", BLI_DISCIPLINE_PREEMPTIVE);
    assert_close(known.response_mean, result.all / 2, 1e-12);
    assert_nan(known.high.response_mean);

    result = bli_priority_solve(&sep);
    static const char *const routed_alike[] = {"pod:d=2", "pod-sep:d=2"};
    for (int i = 0; i < 2; i++) {
        known = known_of(routed_alike[i], BLI_DISCIPLINE_PREEMPTIVE);
        assert_close(known.response_mean, result.all / 2, 1e-12);
        assert_close(known.high.response_mean, result.high / 2, 1e-12);
        assert_close(known.low.response_mean, result.low / 2, 1e-12);
        assert_close(known.low.response_bound, bli_sep_low_bound(0.9, 0.4, 2) / 2, 1e-12);
        assert_nan(known.high.response_bound); /* less than a service: it says nothing */
        assert_nan(known.waiting_mean);
        assert_nan(known.response_quantile[2]);
        known = known_of(routed_alike[i], BLI_DISCIPLINE_FIFO);
        assert_close(known.high.response_mean, result.pod / 2, 1e-12);
        assert_close(known.low.response_mean, result.pod / 2, 1e-12);
        assert_true(known.response_quantile[2] > known.response_quantile[1]);
    }
    known = known_of("jiq", BLI_DISCIPLINE_NONPREEMPTIVE); /* where none waits, classes make no difference
                                                            */
    assert_close(known.high.response_mean, 0.5, 1e-12);
    assert_int_equal(known_of("least-work", BLI_DISCIPLINE_PREEMPTIVE).kind, BLI_THEORY_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scp),
        cmocka_unit_test(ssp),
        cmocka_unit_test(sep),
        cmocka_unit_test(check_values),
        cmocka_unit_test(lemma_1_total_queues_are_those_of_pod),
        cmocka_unit_test(lemma_2_high_jobs_see_pod_of_their_own),
        cmocka_unit_test(lemma_4_total_queues_are_those_of_scp),
        cmocka_unit_test(bounds_of_high_jobs_say_something),
        cmocka_unit_test(theory_beside_a_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
