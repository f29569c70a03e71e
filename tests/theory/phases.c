/* SPDX-License-Identifier: BSD-2-Clause */
/* Power of d choices with sizes that are not exponential: against the exponential case, M/G/1, the equations
 * followed in time, and simulation; and the fits of laws by phases against laws that are known.
 *
 * Seeds are fixed. A simulated value may be 4.5 standard errors off, which Student's t with 11 degrees of
 * freedom is with probability 9e-4: in twelve comparisons 1.1e-2 in all, if none were off by less than its
 * slack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/theory.h"
#include "close.h"
#include "exact.h"
#include "theory/pod_phase.h"

#include <string.h>

static struct phases phases_of(const char *size) {
    struct bli_dist dist;
    struct bal_error err;
    struct phases phases;
    if (bli_dist_parse(size, &dist, &err))
        fail_msg("%s", err.text);
    assert_true(bli_phases_of(&dist, &phases));
    return phases;
}

static struct pod_phase solve(const char *size, double lambda, unsigned d) {
    const struct phases phases = phases_of(size);
    struct pod_phase answer;
    assert_true(bli_pod_phase_solve(&phases, lambda, d, &answer));
    return answer;
}

static struct bli_prediction predict(const char *policy, const char *size, double load) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_model model = model_of("1000", size, load);
    return bli_theory_predict(&model, &spec);
}

/* ---- what is known ---- */

static void one_phase_is_the_exponential_law(void **state) {
    (void)state;
    static const char *const forms[] = {"exp", "erlang(1)", "phase(0.3 0.7;1 1;0 0/0 0)", "exp(7)"};
    for (int i = 0; i < 4; i++)
        for (unsigned d = 2; d <= 5; d++) {
            const struct bli_pod pod = bli_pod_plain(0.95, d);
            const struct pod_phase answer = solve(forms[i], 0.95, d);
            double tail[POD_PHASE_LEVELS];
            const size_t levels = bli_pod_tail(&pod, tail, POD_PHASE_LEVELS);
            assert_close(answer.jobs / 0.95, bli_pod_response(&pod, d), 1e-11);
            for (size_t k = 0; k < levels && tail[k] > 1e-12; k++)
                assert_close(answer.tail[k], tail[k], 1e-9);
            assert_close(answer.response_quantile[0], bli_pod_response_quantile(&pod, d, 0.5), 1e-6);
            assert_close(answer.response_quantile[3], bli_pod_response_quantile(&pod, d, 0.999), 1e-4);
        }
}

/* One law in two forms, and moments. */
static void forms_do_not_matter(void **state) {
    (void)state;
    const struct pod_phase a = solve("erlang(3)", 0.9, 2),
                           b = solve("phase(1 0 0;3 3 3;0 1 0/0 0 1/0 0 0)", 0.9, 2),
                           c = solve("phase(0 0 1;3 3 3;0 0 0/1 0 0/0 1 0)", 0.9, 2); /* backwards */
    assert_close(a.jobs, b.jobs, 1e-12);
    assert_close(a.jobs, c.jobs, 1e-12);
    assert_close(a.response_quantile[2], c.response_quantile[2], 1e-9);
    const struct phases hyper = phases_of("hyper(4,3)");
    assert_close(bli_phases_moment(&hyper, 1), 1, 1e-12);
    assert_close(bli_phases_moment(&hyper, 2), 5, 1e-12);
}

/* One choice: M/G/1, by levels here and in phases there. */
static void one_choice_is_the_single_queue(void **state) {
    (void)state;
    static const char *const sizes[] = {"erlang(4)", "hyper(3)", "phase(0.5 0.5;1 2;0 0.5/0.3 0)"};
    for (int i = 0; i < 3; i++) {
        const struct pod_phase answer = solve(sizes[i], 0.6, 1);
        const struct bli_prediction known = predict("random", sizes[i], 0.6);
        const struct phases phases = phases_of(sizes[i]);
        const double unit = known.response_mean / (answer.jobs / 0.6);
        assert_close(answer.jobs / 0.6, 1 + bli_mg1_waiting(0.6, 1, bli_phases_moment(&phases, 2)), 1e-9);
        for (int q = 0; q < 4; q++)
            assert_close(known.response_quantile[q], unit * answer.response_quantile[q], q < 3 ? 1e-5 : 1e-3);
    }
}

static void exponential_queues_keep_their_percentiles(void **state) {
    (void)state;
    const struct bli_prediction known = predict("random", "hyper(0.5,1,0.5,1.0000000001)", 0.8);
    for (int q = 0; q < 3; q++)
        assert_close(known.response_quantile[q], -log(1 - (double[]){0.5, 0.9, 0.99}[q]) / 0.2, 1e-4);
}

/* ---- the equations in time ---- */

enum { LEVELS = 40 };

/* p[i][j]: servers with i jobs and phase j; level 0 has one entry. */
static void flow(const struct phases *f, double lambda, unsigned d, double p[LEVELS][2],
                 double dp[LEVELS][2]) {
    double tail[LEVELS + 1] = {0};
    for (int i = LEVELS - 1; i >= 0; i--)
        tail[i] = tail[i + 1] + p[i][0] + p[i][1];
    memset(dp, 0, LEVELS * sizeof *dp);
    for (int i = 0; i < LEVELS; i++) {
        const double mass = tail[i] - tail[i + 1];
        const double joins = lambda * (pow(tail[i], d) - pow(tail[i + 1], d));
        for (unsigned j = 0; j < 2; j++) {
            const double share = mass > 1e-300 ? joins * p[i][j] / mass : 0;
            if (i + 1 < LEVELS && i > 0)
                dp[i + 1][j] += share;
            if (i + 1 < LEVELS)
                dp[i][j] -= share;
            if (i == 0)
                for (unsigned k = 0; k < 2; k++)
                    dp[1][k] += share * f->start[k];
            if (i == 0)
                continue;
            dp[i][j] -= f->rate[j] * p[i][j];
            for (unsigned k = 0; k < 2; k++) {
                dp[i][k] += f->rate[j] * p[i][j] * f->jump[j][k];
                if (i > 1)
                    dp[i - 1][k] += f->rate[j] * p[i][j] * f->leave[j] * f->start[k];
            }
            if (i == 1)
                dp[0][0] += f->rate[j] * p[i][j] * f->leave[j];
        }
    }
}

static void paths_lead_there(void **state) {
    (void)state;
    static const char *const sizes[] = {"hyper(4)", "erlang(2)", "phase(0.5 0.5;1 2;0 0.5/0.3 0)"};
    for (int s = 0; s < 3; s++) {
        const struct phases f = phases_of(sizes[s]);
        static double p[LEVELS][2], dp[LEVELS][2];
        memset(p, 0, sizeof p);
        p[0][0] = 1;
        for (int i = 0; i < 60000; i++) {
            flow(&f, 0.8, 3, p, dp);
            for (int k = 0; k < LEVELS; k++)
                for (int j = 0; j < 2; j++)
                    p[k][j] += 0.02 * dp[k][j];
        }
        double jobs = 0;
        for (int k = 1; k < LEVELS; k++)
            jobs += k * (p[k][0] + p[k][1]);
        assert_close(solve(sizes[s], 0.8, 3).jobs, jobs, 1e-9);
    }
}

/* ---- fits ---- */

/* A fit of a law whose answer is known is as good as it says. */
static void fits_are_as_good_as_they_say(void **state) {
    (void)state;
    static const char *const sizes[] = {"hyper(4)",   "erlang(3)", "hyper(10)",
                                        "erlang(40)", "exp",       "phase(0.5 0.5;1 2;0 0.5/0.3 0)"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bli_dist dist;
        struct bal_error err;
        struct phases phases;
        struct pod_phase coarse, fine;
        assert_int_equal(bli_dist_parse(sizes[i], &dist, &err), BAL_OK);
        assert_true(bli_phases_fit(&dist, false, &phases) && bli_pod_phase_solve(&phases, 0.9, 2, &coarse));
        assert_true(bli_phases_fit(&dist, true, &phases) && bli_pod_phase_solve(&phases, 0.9, 2, &fine));
        assert_close(bli_phases_moment(&phases, 1), 1, 1e-9);
        const double exact = solve(sizes[i], 0.9, 2).jobs;
        const double m2 = bli_dist_moment(&dist, 2) / (dist.mean * dist.mean);
        const double said =
            (2 * fabs(bli_phases_moment(&phases, 2) / m2 - 1) + 0.002) * (fine.jobs / 0.9 - 1) +
            fabs(fine.jobs - coarse.jobs) / 0.9;
        if (!(fabs(fine.jobs - exact) / 0.9 <= said))
            fail_msg("%s: off by %g, said %g", sizes[i], fabs(fine.jobs - exact) / 0.9, said);
        assert_close(fine.jobs, exact, 0.02);
    }
}

static void fits_are_labelled(void **state) {
    (void)state;
    const struct bli_prediction fitted = predict("pod:d=2", "lognormal(4)", 0.9);
    assert_int_equal(fitted.kind, BLI_THEORY_APPROXIMATE);
    assert_true(fitted.fit_error > 0 && fitted.fit_error < 0.01 * fitted.response_mean);
    const struct bli_prediction phases = predict("pod:d=2", "erlang(4)", 0.9);
    assert_int_equal(phases.kind, BLI_THEORY_LIMIT);
    assert_true(phases.fit_error == 0);
    assert_int_equal(predict("pod:d=2", "pareto(1.5)", 0.9).kind, BLI_THEORY_UNKNOWN);
    assert_int_equal(predict("pod:d=2", "lognormal(4)", 1).kind, BLI_THEORY_UNKNOWN);
}

/* Servers that prefer a class change the numbers of jobs unless sizes are exponential. */
static void classes_need_exponential_sizes(void **state) {
    (void)state;
    const struct bal_policy_spec spec = policy_of("pod-sep:d=2");
    struct bli_model model = model_of("1000", "erlang(4)", 0.9);
    model.classes = true;
    model.high = 0.3;
    assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_UNKNOWN);
    model.discipline = BLI_DISCIPLINE_FIFO;
    assert_close(bli_theory_predict(&model, &spec).high.response_mean,
                 predict("pod:d=2", "erlang(4)", 0.9).response_mean, 1e-12);
}

/* ---- simulation ---- */

static void as_simulated(void **state) {
    (void)state;
    enum { RUNS = 12 };
    static const struct {
        const char *policy, *size;
        double load;
    } cases[] = {{"pod:d=2", "lognormal(4)", 0.8},     {"pod:d=2", "det(2)", 0.8},
                 {"pod:d=3", "uniform(0.5,1.5)", 0.7}, {"pod:d=2", "hyper(4)", 0.8},
                 {"pod:d=2", "erlang(4)", 0.8},        {"random", "hyper(4)", 0.6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of("400", cases[i].size, cases[i].load);
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        const struct bli_prediction known = bli_theory_predict(&model, &spec);
        const struct bli_run run = {
            .seed = 3811, .time = 600000 / bli_model_arrival_rate(&model), .warmup = 0.2};
        struct replications r = replicate(&model, &spec, &run, RUNS);
        const double slack = known.fit_error / known.response_mean + 0.004; /* 400 servers */
        assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, slack, cases[i].size);
        assert_mean(&r, BLI_RESPONSE_P99, known.response_quantile[2], slack + 0.01, cases[i].size);
        replications_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_phase_is_the_exponential_law),
        cmocka_unit_test(forms_do_not_matter),
        cmocka_unit_test(one_choice_is_the_single_queue),
        cmocka_unit_test(exponential_queues_keep_their_percentiles),
        cmocka_unit_test(paths_lead_there),
        cmocka_unit_test(fits_are_as_good_as_they_say),
        cmocka_unit_test(fits_are_labelled),
        cmocka_unit_test(classes_need_exponential_sizes),
        cmocka_unit_test(as_simulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
