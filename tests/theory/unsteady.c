/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs that give up and servers that fail and are repaired, against what is known exactly.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 40 comparisons 1e-2 in all; and each comparison must be able to see 5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/theory.h"
#include "close.h"
#include "exact.h"

enum { RUNS = 20, STATES = 4000 };

static struct replications run(const struct bli_model *model, const char *policy, double jobs) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run how = {.seed = 2371, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1};
    return replicate(model, &spec, &how, RUNS);
}

/* ---- Erlang-A ---- */

/* The chain itself: jobs leave at rate theta each while they wait; and what becomes of one that finds k
 * others waiting, step by step. */
static struct bli_erlang_a chain_of(double lambda, unsigned n, double theta) {
    static double p[STATES];
    double all = 0, queue = 0, jobs = 0, served = 0, waited = 0, waiting = 0;
    p[0] = 1;
    for (unsigned i = 1; i < STATES; i++)
        p[i] = p[i - 1] * lambda / (i <= n ? i : n + (i - n) * theta);
    for (unsigned i = 0; i < STATES; i++)
        all += p[i];
    double stays = 1, wait = 0; /* of one with k others before it: P(served), E[wait; served] */
    for (unsigned i = 0; i < STATES; i++) {
        p[i] /= all;
        jobs += i * p[i];
        queue += i > n ? (i - n) * p[i] : 0;
        if (i >= n) {
            const double k = i - n, rate = n + k * theta;
            wait = rate / (rate + theta) * (wait + stays / (rate + theta));
            stays *= rate / (rate + theta);
            waited += p[i];
            waiting += p[i] * wait;
        }
        served += p[i] * (i >= n ? stays : 1);
    }
    assert_close(1 - served, theta * queue / lambda, 1e-9);
    return (struct bli_erlang_a){1 - served, waiting / served, waited, jobs};
}

static void erlang_a_is_its_chain(void **state) {
    (void)state;
    static const struct {
        double lambda, theta;
        unsigned n;
    } cases[] = {{0.7, 0.5, 1},   {1.9, 0.31, 1}, {9.3, 2.385, 10},
                 {120, 0.1, 100}, {3, 20, 2},     {40, 0.05, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_erlang_a a = bli_erlang_a(cases[i].lambda, cases[i].n, cases[i].theta),
                                  chain = chain_of(cases[i].lambda, cases[i].n, cases[i].theta);
        assert_close(a.gave_up, chain.gave_up, 1e-9);
        assert_close(a.waiting, chain.waiting, 1e-9);
        assert_close(a.probability, chain.probability, 1e-9);
        assert_close(a.queue, chain.queue, 1e-9);
    }
    /* Patience without end is M/M/n; large fleets do not overflow. */
    const struct bli_wait wait = bli_wait_mmn(0.9, 10);
    const struct bli_erlang_a patient = bli_erlang_a(9, 10, 1e-9);
    assert_close(patient.waiting, bli_wait_mean(&wait), 1e-6);
    assert_true(patient.gave_up < 1e-8);
    const struct bli_erlang_a large = bli_erlang_a(100000, 90000, 1);
    assert_close(large.gave_up, 0.1, 1e-3);
}

static struct bli_model impatient(const char *servers, unsigned slots, double load, const char *patience) {
    struct bli_model model = model_of(servers, "exp", load);
    model.slots = slots;
    struct bal_error err;
    if (bli_dist_parse(patience, &model.patience, &err))
        fail_msg("%s", err.text);
    return model;
}

static void assert_erlang_a(const struct bli_model *model, const char *policy, double n, double jobs) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_prediction known = bli_theory_predict(model, &spec);
    const struct bli_erlang_a a = bli_erlang_a(model->load * n, n, 1 / model->patience.mean);
    assert_int_equal(known.kind, BLI_THEORY_EXACT);
    assert_close(known.gave_up, a.gave_up, 1e-12);
    assert_close(known.response_mean, 1 + a.waiting, 1e-12);
    struct replications r = run(model, policy, jobs);
    assert_mean(&r, BLI_GAVE_UP, a.gave_up, 0, policy);
    assert_mean(&r, BLI_WAITING_MEAN, a.waiting, 0, policy);
    assert_mean(&r, BLI_RESPONSE_MEAN, 1 + a.waiting, 0, policy);
    assert_mean(&r, BLI_WAITING_PROBABILITY, a.probability, 0, policy);
    assert_mean(&r, BLI_QUEUE_TOTAL,
                a.queue * (bli_servers_count(&model->servers) * fmax(model->slots, 1) / n), 0, policy);
    replications_free(&r);
}

static void queues_of_their_own_are_erlang_a(void **state) {
    (void)state;
    const struct bli_model alone = impatient("4", 1, 0.9, "exp(2)"),
                           slots = impatient("2", 5, 0.95, "exp(1.5)"),
                           overloaded = impatient("1", 3, 1.4, "exp(0.5)");
    assert_erlang_a(&alone, "random", 1, 25000);
    assert_erlang_a(&slots, "random", 5, 25000);
    assert_erlang_a(&overloaded, "random", 3, 15000);
}

static void a_common_queue_is_erlang_a(void **state) {
    (void)state;
    const struct bli_model model = impatient("5", 0, 1.1, "exp(2)");
    assert_erlang_a(&model, "central", 5, 25000);
}

/* M/M/1 with patience of a constant time D: an arrival waits V if V < D; the law of V is that of M/M/1 cut
 * off (Barrer 1957): density lambda p0 exp(-(1 - lambda) v) for 0 < v < D, p0 in 0, and the rest gives up. */
static void constant_patience_is_known_too(void **state) {
    (void)state;
    const double lambda = 0.8, d = 1.5, gap = 1 - lambda;
    const double mass = lambda * (1 - exp(-gap * d)) / gap, p0 = 1 / (1 + mass + lambda * exp(-gap * d));
    const double gives_up = p0 * lambda * exp(-gap * d);
    const struct bli_model model = impatient("1", 1, lambda, "det(1.5)");
    struct replications r = run(&model, "random", 25000);
    assert_mean(&r, BLI_GAVE_UP, gives_up, 0, "det");
    replications_free(&r);
    const struct bal_policy_spec random = policy_of("random");
    assert_int_equal(bli_theory_predict(&model, &random).kind, BLI_THEORY_UNKNOWN);
}

/* ---- failures ---- */

static struct bli_model failing(const char *servers, const char *size, double load, const char *failures) {
    struct bli_model model = model_of(servers, size, load);
    struct bal_error err = {0};
    if (bli_failures_parse(failures, &model.failures, &err))
        fail_msg("%s", err.text);
    return model;
}

/* The chain of jobs and whether the server is up, by Gauss-Seidel. */
static double breakdown_chain(double lambda, double alpha, double beta) {
    enum { MOST = 400 };
    static double up[MOST + 1], down[MOST + 1];
    for (int i = 0; i <= MOST; i++)
        up[i] = down[i] = pow(0.9, i);
    for (int sweep = 0; sweep < 4000; sweep++)
        for (int i = 0; i <= MOST; i++) {
            const double come = i < MOST ? lambda : 0;
            up[i] = ((i > 0 ? lambda * up[i - 1] : 0) + (i < MOST ? up[i + 1] : 0) + beta * down[i]) /
                    (come + alpha + (i > 0));
            down[i] = ((i > 0 ? lambda * down[i - 1] : 0) + alpha * up[i]) / (come + beta);
        }
    double all = 0, jobs = 0;
    for (int i = 0; i <= MOST; i++) {
        all += up[i] + down[i];
        jobs += i * (up[i] + down[i]);
    }
    return jobs / all;
}

static void breakdowns_are_their_chain(void **state) {
    (void)state;
    assert_close(bli_breakdown_queue(0.5, 0.1, 0.7), breakdown_chain(0.5, 0.1, 0.7), 1e-6);
    assert_close(bli_breakdown_queue(0.3, 1.3, 2.385), breakdown_chain(0.3, 1.3, 2.385), 1e-6);
    assert_close(bli_breakdown_queue(0.8, 1e-12, 1), 4, 1e-9); /* M/M/1 */
    assert_true(isinf(bli_breakdown_queue(0.9, 0.2, 0.8)));
}

static void servers_that_fail_unseen_are_queues_with_breakdowns(void **state) {
    (void)state;
    const struct bli_model model = failing("3", "exp", 0.5, "mtbf=20,mttr=4,seen=no");
    const struct bal_policy_spec random = policy_of("random");
    const double queue = bli_breakdown_queue(0.5, 1 / 20., 1 / 4.);
    assert_close(bli_theory_predict(&model, &random).response_mean, queue / 0.5, 1e-12);
    assert_close(bli_theory_critical_load(&model, &random), 20 / 24., 1e-12);
    struct replications r = run(&model, "random", 50000);
    assert_mean(&r, BLI_QUEUE_MEAN, queue, 0, "random");
    assert_mean(&r, BLI_RESPONSE_MEAN, queue / 0.5, 0, "random");
    replications_free(&r);
}

/* At hardly any load a job of size 1 waits for a repair if it finds the server down, and then takes its size
 * where failures stop it, again from the start: (exp(alpha) - 1) (1/alpha + 1/beta) on average; or is lost by
 * the first failure. */
static void interrupted_jobs_go_on_begin_anew_or_are_lost(void **state) {
    (void)state;
    const double alpha = 1 / 3., beta = 1 / 2., down = alpha / (alpha + beta), late = down / beta;
    static const char *const what[] = {"resume", "restart", "lost"};
    const double response[] = {late + 1 + alpha / beta, late + (exp(alpha) - 1) * (1 / alpha + 1 / beta),
                               late + 1};
    for (int i = 0; i < 3; i++) {
        char failures[80];
        snprintf(failures, sizeof failures, "mtbf=3,mttr=2,seen=no,jobs=%s", what[i]);
        const struct bli_model model = failing("1", "det", 0.001, failures);
        struct replications r = run(&model, "random", 2500);
        assert_mean(&r, BLI_RESPONSE_MEAN, response[i], 0.005, what[i]);
        if (i == 2)
            assert_mean(&r, BLI_FAILED, 1 - exp(-alpha), 0.005, what[i]);
        replications_free(&r);
    }
}

/* Who sees which servers are down sends nothing there: few jobs wait for a repair, and with all down they are
 * refused. */
static void what_is_seen_is_not_chosen(void **state) {
    (void)state;
    struct bli_model seen = failing("2", "det", 0.001, "mtbf=10,mttr=10,jobs=lost"), unseen = seen;
    unseen.failures.unseen = true;
    struct replications r = run(&seen, "random", 2500);
    assert_mean(&r, BLI_REFUSED, 0.25, 0.005, "seen"); /* both down */
    assert_mean(&r, BLI_RESPONSE_MEAN, 1, 0.005, "seen");
    replications_free(&r);
    r = run(&unseen, "random", 2500);
    assert_mean(&r, BLI_RESPONSE_MEAN, 1 + 0.5 * 10, 0.005, "unseen");
    replications_free(&r);
}

/* ---- every policy ---- */

/* The plain twin, without index and draws ahead, takes the same way; and what comes goes: served, lost,
 * refused, given up or still there. */
static void every_policy_survives(void **state) {
    (void)state;
    static const char *const failures[] = {"none", "mtbf=30,mttr=5", "mtbf=30,mttr=5,jobs=lost,seen=no",
                                           "mtbf=det(30),mttr=erlang(2,5),jobs=restart"};
    unsigned ran = 0;
    for (size_t i = 0; i < bal_policy_count; i++)
        for (unsigned k = 0; k < 16; k++) {
            struct bli_model model = failing("3x1,3x2", "exp", 0.8, failures[k % 4]);
            struct bal_policy_spec spec;
            enum bli_engine engine;
            model.slots = k & 4 ? 3 : 1;
            if (k & 8 || k % 4 == 0)
                bli_dist_parse("exp(1.5)", &model.patience, NULL);
            model.classes = k & 4 && k & 8;
            model.high = 0.3;
            if (model.classes)
                model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
            assert_int_equal(bal_policy_parse(bal_policy_table[i]->name, &spec, NULL), BAL_OK);
            if (bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
                continue;
            struct bli_run how = {.seed = 23, .time = 200, .warmup = 0};
            struct bli_trial fast = {.jobs = 0}, plain = {.jobs = 0};
            assert_int_equal(bli_simulate(&model, &spec, &how, &fast, NULL), BAL_OK);
            how.reference = true;
            assert_int_equal(bli_simulate(&model, &spec, &how, &plain, NULL), BAL_OK);
            const bool closes = k % 4 == 1 || k % 4 == 3; /* an index knows no servers that are closed */
            if (closes || !(bal_policy_flags(&spec) & BAL_NEEDS_INDEX))
                assert_true(fast.jobs == plain.jobs && fast.events == plain.events &&
                            fast.metric[BLI_RESPONSE_MEAN] == plain.metric[BLI_RESPONSE_MEAN]);
            assert_true(fast.jobs > 200 && fast.metric[BLI_RESPONSE_MEAN] > 0.4);
            ran++;
        }
    assert_true(ran > 150);
}

/* A server that is back is told of, and chosen again: whoever forgets one cannot do the work. */
static void nobody_is_forgotten(void **state) {
    (void)state;
    const struct bli_model model = failing("6", "exp", 0.6, "mtbf=30,mttr=5");
    unsigned ran = 0;
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct bal_policy_spec spec;
        enum bli_engine engine;
        assert_int_equal(bal_policy_parse(bal_policy_table[i]->name, &spec, NULL), BAL_OK);
        if (bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
            continue;
        const struct bli_run how = {.seed = 24, .time = 3000, .warmup = 0};
        struct bli_trial trial = {.jobs = 0};
        assert_int_equal(bli_simulate(&model, &spec, &how, &trial, NULL), BAL_OK);
        if (!(trial.quarter[3] < 60)) /* random has 20 */
            fail_msg("%s: %g jobs wait", spec.policy->name, trial.quarter[3]);
        ran++;
    }
    assert_true(ran > 8);
}

/* What cannot be had is refused in a line that says what would be right. */
static void what_cannot_be_had_is_told(void **state) {
    (void)state;
    static const char *const texts[] = {"mtbf=10",
                                        "mtbf=0,mttr=1",
                                        "mtbf=10,mttr=1,jobs=flee",
                                        "10,1",
                                        "mtbf=10,mttr=1,seen=maybe",
                                        "mtbf=10,mttr=pareto(0.5,1)",
                                        ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bli_failures failures = {0};
        struct bal_error err = {0};
        assert_int_equal(bli_failures_parse(texts[i], &failures, &err), BAL_E_SYNTAX);
        assert_non_null(strstr(err.text, "mtbf=1000,mttr=10"));
    }
    struct bli_failures failures;
    char text[200];
    assert_int_equal(bli_failures_parse("mtbf=exp(50),mttr=det(2),seen=no,jobs=lost", &failures, NULL),
                     BAL_OK);
    bli_failures_print(&failures, text, sizeof text);
    assert_string_equal(text, "mtbf=exp(50),mttr=det(2),jobs=lost,seen=no");
    struct bli_model model = failing("2", "exp", 0.5, "mtbf=10,mttr=1");
    struct bal_error err;
    enum bli_engine engine;
    struct bal_policy_spec spec = policy_of("least-work");
    assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
    spec = policy_of("tabs");
    assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
    spec = policy_of("random");
    assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_MARKOV, &engine, &err), BAL_E_MODEL);
    model.steal.kind = BAL_STEAL_HALF;
    assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "servers that steal"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(erlang_a_is_its_chain),
        cmocka_unit_test(queues_of_their_own_are_erlang_a),
        cmocka_unit_test(a_common_queue_is_erlang_a),
        cmocka_unit_test(constant_patience_is_known_too),
        cmocka_unit_test(breakdowns_are_their_chain),
        cmocka_unit_test(servers_that_fail_unseen_are_queues_with_breakdowns),
        cmocka_unit_test(interrupted_jobs_go_on_begin_anew_or_are_lost),
        cmocka_unit_test(what_is_seen_is_not_chosen),
        cmocka_unit_test(every_policy_survives),
        cmocka_unit_test(nobody_is_forgotten),
        cmocka_unit_test(what_cannot_be_had_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
