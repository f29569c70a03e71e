/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies that know the speeds of unequal servers, against what is known exactly: queues of their own for
 * weighted-random, and small chains for those that look at what they have sent.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 20 comparisons 5e-3 in all; and each comparison must be able to see 5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "close.h"
#include "exact.h"

enum { RUNS = 20 };

static struct replications run(const struct bli_model *model, const struct bal_policy_spec *spec,
                               enum bli_engine engine, bool plain, double jobs) {
    const struct bli_run how = {.seed = 2301,
                                .time = jobs / bli_model_arrival_rate(model),
                                .warmup = 0.1,
                                .engine = engine,
                                .reference = plain};
    return replicate(model, spec, &how, RUNS);
}

/* ---- queues of their own ---- */

/* By hand, for two speeds: a server of speed s gets its share of the work, so that its load is that of all.
 */
static double weighted_random_by_hand(double slow, double fast, double speed, double load, double m2) {
    const double capacity = slow + fast * speed, share = slow / capacity;
    const double waits = load * m2 / 2 / (1 - load); /* Pollaczek and Khinchine, mean size 1, at speed 1 */
    return (share + (1 - share) / speed) * (1 + waits);
}

static void weighted_random_is_a_queue_for_each(void **state) {
    (void)state;
    static const struct {
        const char *servers, *size;
        double slow, fast, speed, load, m2;
        enum bli_engine engine;
    } cases[] = {
        {"20x1,5x4", "exp", 20, 5, 4, 0.7, 2, BLI_ENGINE_MARKOV},
        {"20x1,5x4", "exp", 20, 5, 4, 0.7, 2, BLI_ENGINE_EVENT},
        {"6x1,2x3", "erlang(4)", 6, 2, 3, 0.7, 1.25, BLI_ENGINE_EVENT},
        {"6x1,2x3", "lognormal(1)", 6, 2, 3, 0.6, 2, BLI_ENGINE_EVENT},
    };
    const struct bal_policy_spec spec = policy_of("weighted-random");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_of(cases[i].servers, cases[i].size, cases[i].load);
        const struct bli_prediction known = bli_theory_predict(&model, &spec);
        assert_int_equal(known.kind, BLI_THEORY_EXACT);
        assert_close(
            known.response_mean,
            weighted_random_by_hand(cases[i].slow, cases[i].fast, cases[i].speed, cases[i].load, cases[i].m2),
            1e-12);
        assert_close(known.waiting_probability, cases[i].load, 1e-12);
        struct replications r = run(&model, &spec, cases[i].engine, false, 200000);
        assert_mean(&r, BLI_RESPONSE_MEAN, known.response_mean, 0, cases[i].size);
        assert_mean(&r, BLI_WAITING_PROBABILITY, known.waiting_probability, 0, cases[i].size);
        if (!isnan(known.response_quantile[2]))
            assert_mean(&r, BLI_RESPONSE_P99, known.response_quantile[2], 0, cases[i].size);
        replications_free(&r);
    }
}

/* random on unequal servers is as exact, as long as the slow ones can bear it. */
static void random_is_a_queue_for_each(void **state) {
    (void)state;
    const struct bal_policy_spec spec = policy_of("random");
    struct bli_model model = model_of("2x1,2x3", "exp", 0.4);
    const double rate = 0.4 * 8 / 4, mean = 0.5 / (1 - rate) + 0.5 / (3 - rate);
    assert_close(bli_theory_predict(&model, &spec).response_mean, mean, 1e-12);
    struct replications r = run(&model, &spec, BLI_ENGINE_MARKOV, false, 200000);
    assert_mean(&r, BLI_RESPONSE_MEAN, mean, 0, "random");
    replications_free(&r);
    model.load = 0.6;
    assert_int_equal(bli_theory_predict(&model, &spec).kind, BLI_THEORY_UNKNOWN);
}

/* ---- two servers as a chain ---- */

/* A server of speed 1 and one of speed `fast`, exponential sizes of mean 1. slow(n, m) is the probability
 * that a job goes to the slow one when there are n jobs and m at the fast one. */
enum { SLOW = 40, FAST = 80 };

struct chain {
    double fast, load;
    double (*slow)(int n, int m, double fast);
};

static double by_contest(double a, double b) {
    return a < b ? 1 : a > b ? 0 : 0.5;
}

static double slow_under_sed(int n, int m, double fast) {
    return by_contest(n + 1, (m + 1) / fast);
}

static double slow_under_own(int n, int m, double fast) {
    return by_contest(n, m / fast);
}

static double slow_under_fastest_idle(int n, int m, double fast) {
    return m == 0 ? 0 : n == 0 ? 1 : slow_under_sed(n, m, fast);
}

/* The mean response time, by Gauss and Seidel's sweeps over the equations of balance, and Little's law. */
static double response_of(const struct chain *c) {
    static double p[SLOW + 1][FAST + 1];
    const double rate = c->load * (1 + c->fast);
    for (int n = 0; n <= SLOW; n++)
        for (int m = 0; m <= FAST; m++)
            p[n][m] = pow(0.7, n + m);
    double before = 0;
    for (int sweep = 0; sweep < 20000; sweep++) {
        double total = 0, jobs = 0;
        for (int n = 0; n <= SLOW; n++)
            for (int m = 0; m <= FAST; m++) {
                const double here = c->slow(n, m, c->fast);
                const double out = (n < SLOW ? rate * here : 0) + (m < FAST ? rate * (1 - here) : 0) +
                                   (n > 0 ? 1 : 0) + (m > 0 ? c->fast : 0);
                double in = 0;
                if (n > 0)
                    in += p[n - 1][m] * rate * c->slow(n - 1, m, c->fast);
                if (m > 0)
                    in += p[n][m - 1] * rate * (1 - c->slow(n, m - 1, c->fast));
                if (n < SLOW)
                    in += p[n + 1][m];
                if (m < FAST)
                    in += p[n][m + 1] * c->fast;
                p[n][m] = in / out;
                total += p[n][m];
                jobs += p[n][m] * (n + m);
            }
        if (fabs(jobs / total - before) < 1e-10 * before)
            return before / rate;
        before = jobs / total;
        for (int n = 0; n <= SLOW; n++)
            for (int m = 0; m <= FAST; m++)
                p[n][m] /= total;
    }
    fail_msg("the chain did not settle");
    return NAN;
}

/* Is the chain right? Jobs that go to the slow server with probability 1/(1 + fast) make two queues M/M/1. */
static double slow_at_random(int n, int m, double fast) {
    (void)n, (void)m;
    return 1 / (1 + fast);
}

static void the_chain_itself(void **state) {
    (void)state;
    const struct chain c = {3, 0.5, slow_at_random};
    assert_close(response_of(&c), 2 / ((1 + 3) * 0.5), 1e-6);
}

static void two_servers_are_their_chains(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        double (*slow)(int n, int m, double fast);
    } policies[] = {
        {"sed", slow_under_sed}, {"least-conn", slow_under_own}, {"fastest-idle", slow_under_fastest_idle}};
    const struct bli_model model = model_of("1x1,1x2", "exp", 0.5);
    double mean[3];
    for (int i = 0; i < 3; i++) {
        const struct chain c = {2, 0.5, policies[i].slow};
        const struct bal_policy_spec spec = policy_of(policies[i].policy);
        mean[i] = response_of(&c);
        for (int way = 0; way < 3; way++) { /* with and without the index, and by events */
            struct replications r =
                run(&model, &spec, way == 2 ? BLI_ENGINE_EVENT : BLI_ENGINE_MARKOV, way == 1, 100000);
            assert_mean(&r, BLI_RESPONSE_MEAN, mean[i], 0, policies[i].policy);
            replications_free(&r);
        }
    }
    for (int i = 0; i < 3; i++) /* they can be told apart */
        assert_true(fabs(mean[i] - mean[(i + 1) % 3]) > 0.02 * mean[i]);
}

/* ---- what is known of stability ---- */

static void stable_wherever_any_policy_is(void **state) {
    (void)state;
    static const char *const policies[] = {"weighted-random", "weighted-round-robin", "sed", "fastest-idle",
                                           "least-conn"};
    struct bli_model model = model_of("20x1,5x4", "lognormal(4)", 0.8);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct bal_policy_spec spec = policy_of(policies[i]);
        assert_close(bli_theory_critical_load(&model, &spec), 1, 0);
    }
    model.weights = BLI_WEIGHTS_NONE; /* then it is random, which is not */
    const struct bal_policy_spec spec = policy_of("weighted-random");
    assert_close(bli_theory_critical_load(&model, &spec), 0.625, 1e-12);
    const struct bli_run how = {.seed = 2302, .time = 2000, .warmup = 0.1};
    struct bli_trial blind = {0}, uniform = {0};
    const struct bal_policy_spec random = policy_of("random");
    model.load = 0.5;
    assert_int_equal(bli_simulate(&model, &spec, &how, &blind, NULL), BAL_OK);
    assert_int_equal(bli_simulate(&model, &random, &how, &uniform, NULL), BAL_OK);
    assert_true(blind.metric[BLI_RESPONSE_MEAN] == uniform.metric[BLI_RESPONSE_MEAN]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weighted_random_is_a_queue_for_each),
        cmocka_unit_test(random_is_a_queue_for_each),
        cmocka_unit_test(the_chain_itself),
        cmocka_unit_test(two_servers_are_their_chains),
        cmocka_unit_test(stable_wherever_any_policy_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
