/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues that are looked at now and then (policy board), with many servers: against the equations followed in
 * time, what is known of short and of long periods, and simulation.
 *
 * Seeds are fixed. A simulated value may be 4.5 standard errors off, which Student's t with 11 degrees of
 * freedom is with probability 9e-4: in six comparisons 5.4e-3 in all, if none were off by less than its
 * slack. */
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
#include "theory/board_period.h"

static struct board_answer answer;

static double response(double lambda, double period, enum board_pick pick, unsigned d) {
    const struct board_period board = {lambda, period, pick, d};
    if (!bli_board_period_solve(&board, &answer))
        fail_msg("no fixed point at load %g, period %g, pick %d", lambda, period, pick);
    return answer.jobs / lambda;
}

/* ---- a second time, literally ---- */

enum { LEVELS = 60 };

/* p[i][j]: servers with i on the board and j jobs. */
struct followed {
    double p[LEVELS][LEVELS], rate[LEVELS];
};

/* Who gets the jobs, of so many at each level. */
static void share_jobs(const double *b, double lambda, double period, enum board_pick pick, unsigned d,
                       double *rate) {
    memset(rate, 0, LEVELS * sizeof *rate);
    if (pick == BOARD_SHORTEST)
        rate[0] = lambda / b[0];
    double least = 1; /* as many have at least so many: which is the shortest of d? */
    for (int i = 0; i < LEVELS && pick == BOARD_CHOICES; i++) {
        const double others = least - b[i];
        rate[i] = b[i] > 1e-13 ? lambda * (pow(least, d) - pow(fmax(others, 0), d)) / b[i] : 0;
        least = others;
    }
    double low = 0, high = LEVELS + lambda * period;
    for (int step = 0; step < 100 && pick == BOARD_INTERPRET; step++) {
        const double level = (low + high) / 2;
        double jobs = 0;
        for (int i = 0; i < LEVELS; i++) {
            jobs += b[i] * fmax(0, level - i);
            rate[i] = fmax(0, level - i) / period;
        }
        *(jobs < lambda * period ? &low : &high) = level;
    }
}

static void drift(const struct followed *f, struct followed *change) {
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < LEVELS; j++) {
            const double out = (j + 1 < LEVELS ? f->rate[i] : 0) + (j > 0);
            change->p[i][j] = (j > 0 ? f->rate[i] * f->p[i][j - 1] : 0) - out * f->p[i][j] +
                              (j + 1 < LEVELS ? f->p[i][j + 1] : 0);
        }
}

static void add(struct followed *to, const struct followed *from, double part, const struct followed *more) {
    memcpy(to->rate, from->rate, sizeof to->rate);
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < LEVELS; j++)
            to->p[i][j] = from->p[i][j] + part * more->p[i][j];
}

static double jobs_of(const struct followed *f) {
    double jobs = 0;
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < LEVELS; j++)
            jobs += j * f->p[i][j];
    return jobs;
}

/* From empty servers through so many periods, in steps of Runge and Kutta; the mean of the last one by
 * Simpson's rule. */
static double follow_periods(double lambda, double period, enum board_pick pick, unsigned d, int periods) {
    enum { STEPS = 60 };
    static struct followed f, k1, k2, k3, k4, at;
    double b[LEVELS] = {1}, sum = 0;
    for (int n = 0; n < periods; n++) {
        memset(&f, 0, sizeof f);
        share_jobs(b, lambda, period, pick, d, f.rate);
        for (int i = 0; i < LEVELS; i++)
            f.p[i][i] = b[i];
        sum = 0;
        for (int step = 0; step < STEPS; step++) {
            const double h = period / STEPS;
            const double before = jobs_of(&f);
            drift(&f, &k1);
            add(&at, &f, h / 2, &k1);
            drift(&at, &k2);
            add(&at, &f, h / 2, &k2);
            const double middle = jobs_of(&at);
            drift(&at, &k3);
            add(&at, &f, h, &k3);
            drift(&at, &k4);
            add(&f, &f, h / 6, &k1);
            add(&f, &f, h / 3, &k2);
            add(&f, &f, h / 3, &k3);
            add(&f, &f, h / 6, &k4);
            sum += (before + 4 * middle + jobs_of(&f)) / 6 / STEPS;
        }
        memset(b, 0, sizeof b);
        for (int i = 0; i < LEVELS; i++)
            for (int j = 0; j < LEVELS; j++)
                b[j] += f.p[i][j];
    }
    return sum / lambda;
}

static void the_fixed_point_is_where_periods_lead(void **state) {
    (void)state;
    assert_close(response(0.7, 1, BOARD_CHOICES, 2), follow_periods(0.7, 1, BOARD_CHOICES, 2, 120), 1e-6);
    assert_close(response(0.8, 2, BOARD_CHOICES, 5), follow_periods(0.8, 2, BOARD_CHOICES, 5, 60), 1e-6);
    assert_close(response(0.6, 2, BOARD_SHORTEST, 0), follow_periods(0.6, 2, BOARD_SHORTEST, 0, 60), 1e-6);
    assert_close(response(0.7, 3, BOARD_INTERPRET, 0), follow_periods(0.7, 3, BOARD_INTERPRET, 0, 40), 1e-6);
}

/* As many jobs come to servers with i jobs as end at servers with i + 1, over a period. */
static void what_jobs_find_is_what_leaves(void **state) {
    (void)state;
    for (int pick = 0; pick < 3; pick++) {
        response(0.85, 1.5, (enum board_pick)pick, 3);
        assert_close(answer.tail[0], 1, 1e-12);
        assert_close(answer.tail[1], 0.85, 1e-9);
        for (size_t i = 0; i + 1 < answer.levels && answer.tail[i + 1] > 1e-6; i++)
            assert_close(answer.found[i], answer.tail[i + 1] / 0.85, 1e-6);
    }
}

/* ---- what is known ---- */

/* Their first term in the period is taken off. */
static void short_periods_are_fresh_information(void **state) {
    (void)state;
    for (unsigned d = 1; d <= 3; d++) {
        const struct bli_pod pod = bli_pod_plain(0.9, d);
        const double at[] = {response(0.9, 0.002, BOARD_CHOICES, d), response(0.9, 0.004, BOARD_CHOICES, d)};
        assert_close(2 * at[0] - at[1], bli_pod_response(&pod, d), 1e-5);
    }
    assert_close(2 * response(0.7, 0.001, BOARD_SHORTEST, 0) - response(0.7, 0.002, BOARD_SHORTEST, 0), 1,
                 1e-5);
}

static void one_choice_needs_no_board(void **state) {
    (void)state;
    assert_close(response(0.8, 7, BOARD_CHOICES, 1), 1 / (1 - 0.8), 1e-8);
}

/* Within a long period servers forget where they began, and where the rates of all are below 1 each is M/M/1
 * in equilibrium. The next board is what they have come to. */
static void long_periods_are_many_queues(void **state) {
    (void)state;
    const double lambda = 0.3;
    double b[LEVELS] = {1}, rate[LEVELS], jobs = 0;
    for (int round = 0; round < 200; round++) {
        double next[LEVELS] = {0};
        share_jobs(b, lambda, 1, BOARD_CHOICES, 2, rate);
        jobs = 0;
        for (int i = 0; i < LEVELS; i++) {
            jobs += b[i] * rate[i] / (1 - rate[i]);
            for (int j = 0; j < LEVELS; j++)
                next[j] += b[i] * (1 - rate[i]) * pow(rate[i], j);
        }
        memcpy(b, next, sizeof b);
    }
    const double at[] = {response(lambda, 50, BOARD_CHOICES, 2), response(lambda, 100, BOARD_CHOICES, 2)};
    assert_close(2 * at[1] - at[0], jobs / lambda, 1e-5);
    assert_close(response(0.5, 100, BOARD_INTERPRET, 0), 1 / (1 - 0.5), 1e-3); /* in the end: random */
}

/* Mitzenmacher (2000): two choices do well for a long time, the shortest of all attracts a herd. */
static void a_herd_is_worse_than_chance(void **state) {
    (void)state;
    const double random = 1 / (1 - 0.9);
    assert_true(response(0.9, 1, BOARD_SHORTEST, 0) > response(0.9, 1, BOARD_CHOICES, 2));
    assert_true(response(0.9, 10, BOARD_SHORTEST, 0) > random);
    assert_true(response(0.9, 10, BOARD_CHOICES, 2) < random);
    assert_true(response(0.9, 10, BOARD_INTERPRET, 0) < response(0.9, 10, BOARD_CHOICES, 2));
    assert_true(response(0.9, 100, BOARD_CHOICES, 2) > random); /* these get 1.8 jobs in a service at most */
}

static void what_is_out_of_reach_is_unknown(void **state) {
    (void)state;
    static const struct board_period none[] = {
        {0.9, 0.0009, BOARD_CHOICES, 2}, {0.9, 101, BOARD_CHOICES, 2}, {0.99, 100, BOARD_SHORTEST, 0}};
    for (int i = 0; i < 3; i++)
        assert_false(bli_board_period_solve(&none[i], &answer));
    static const char *const others[] = {"det", "exp"};
    for (int i = 0; i < 2; i++) {
        const struct bal_policy_spec spec = policy_of("board");
        const struct bli_model model = model_of(i ? "5x1,5x2" : "10", others[i], 0.5);
        assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_UNKNOWN);
    }
}

/* ---- simulated ---- */

/* With 500 servers the limit is 1 % off at most. */
static void simulation_agrees(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        double load;
    } cases[] = {{"board:t=1", 0.8},
                 {"board:t=5,d=3", 0.8},
                 {"board:t=2,pick=shortest", 0.7},
                 {"board:t=10,pick=interpret", 0.8}};
    enum { REPLICATIONS = 12 };
    for (int i = 0; i < 4; i++) {
        const struct bal_policy_spec spec = policy_of(cases[i].policy);
        const struct bli_model model = model_of("500", "exp", cases[i].load);
        const struct bli_prediction known = bli_theory_predict(&model, &spec);
        assert_int_equal(known.kind, BLI_THEORY_LIMIT);
        const struct bli_run run = {.seed = 41, .time = 400, .warmup = 0.2};
        struct replications r = replicate(&model, &spec, &run, REPLICATIONS);
        assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0.01, cases[i].policy);
        assert_mean(&r, BLI_RESPONSE_P90, known.response_quantile[1], 0.02, cases[i].policy);
        assert_mean(&r, BLI_WAITING_PROBABILITY, known.waiting_probability, 0.01, cases[i].policy);
        replications_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixed_point_is_where_periods_lead),
        cmocka_unit_test(what_jobs_find_is_what_leaves),
        cmocka_unit_test(short_periods_are_fresh_information),
        cmocka_unit_test(one_choice_needs_no_board),
        cmocka_unit_test(long_periods_are_many_queues),
        cmocka_unit_test(a_herd_is_worse_than_chance),
        cmocka_unit_test(what_is_out_of_reach_is_unknown),
        cmocka_unit_test(simulation_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
