/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrivals that are no Poisson process, against what is known of single queues, computed here anew.
 *
 * GI/M/1: from the root of the equation with the Laplace transform of the gaps, by iteration. M^X/M/1: from
 * the generating function. MMPP/M/1: the stationary law of the chain of state and queue, truncated and solved
 * by iteration. Seeds are fixed; a check fails by chance with probability 1e-4 (Student's t with 39 degrees
 * of freedom), and the half-widths are small enough to tell (checked, too). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../agree.h"
#include "ballast/predict.h"
#include "ballast/scheme.h"

enum { RUNS = 40 };

struct setting {
    const char *policy, *servers, *size, *arrivals, *curve;
    double load, jobs;
};

static struct bli_model model_of(const struct setting *s) {
    struct bli_model model = {.load = s->load};
    struct bal_error err;
    if (bli_servers_parse(s->servers, &model.servers, &err) || bli_dist_parse(s->size, &model.size, &err) ||
        bli_arrivals_parse(s->arrivals, &model.arrivals, &err) ||
        (s->curve && bli_curve_parse(s->curve, &model.curve, &err)))
        fail_msg("%s", err.text);
    return model;
}

static struct bal_policy_spec policy_of(const struct setting *s) {
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bli_scheme_parse(s->policy, &spec, &err))
        fail_msg("%s", err.text);
    return spec;
}

static struct replications run_with(const struct setting *s, uint32_t dispatchers) {
    struct bli_model model = model_of(s);
    model.network.dispatchers.count = dispatchers;
    const struct bal_policy_spec policy = policy_of(s);
    const struct bli_run run = {.seed = 5, .time = s->jobs / bli_model_arrival_rate(&model), .warmup = 0.2};
    return replicate(&model, &policy, &run, RUNS);
}

static struct replications run(const struct setting *s) {
    return run_with(s, 1);
}

/* Is the mean of the runs the wanted one? precision: relative, at most the half-width. */
static void assert_metric(const struct setting *s, const struct replications *r, int metric, double wanted,
                          double precision) {
    double mean, error2;
    assert_int_equal(describe(r, metric, &mean, &error2), RUNS);
    const double half = bli_student_quantile(1 - 0.5e-4, RUNS - 1) * sqrt(error2);
    if (!(half <= precision * wanted))
        fail_msg("%s, %s: the half-width of %s is %g, too large to tell", s->policy, s->arrivals,
                 quantity_name(metric), half);
    if (!(fabs(mean - wanted) <= half))
        fail_msg("%s, %s: %s is %g +- %g, should be %g", s->policy, s->arrivals, quantity_name(metric), mean,
                 half, wanted);
}

/* ---- renewal ---- */

/* Laplace transforms of gaps of mean 1. */
static double of_det(double s) {
    return exp(-s);
}
static double of_erlang4(double s) {
    return pow(4 / (4 + s), 4);
}
/* branches of probability p and 1 - p, rates 2p and 2(1 - p), p = (1 + sqrt(3/5)) / 2 for C2 = 4 */
static double of_hyper4(double s) {
    const double p = 0.5 * (1 + sqrt(0.6)), q = 1 - p;
    return p * 2 * p / (2 * p + s) + q * 2 * q / (2 * q + s);
}
static double of_uniform(double s) { /* on [1/2, 3/2] */
    return (exp(-0.5 * s) - exp(-1.5 * s)) / s;
}

/* The root below 1 of sigma = A((1 - sigma) / load), for gaps of mean 1 / load. A server among N that gets
 * jobs at random sees sums of geometrically many gaps, N times as long: pA / (1 - (1 - p) A). */
static double sigma_of(double (*transform)(double), double load, double servers) {
    double sigma = 0.5;
    for (int i = 0; i < 20000; i++) {
        const double a = transform((1 - sigma) / (load * servers)), p = 1 / servers;
        sigma = p * a / (1 - (1 - p) * a);
    }
    return sigma;
}

static const struct {
    const char *arrivals;
    double (*transform)(double);
} renewals[] = {
    {"renewal(det)", of_det},
    {"renewal(erlang(4,3))", of_erlang4},
    {"renewal(hyper(4))", of_hyper4},
    {"renewal(uniform(1,3))", of_uniform},
};
enum { RENEWALS = sizeof renewals / sizeof *renewals };

static void renewal_queues(void **state) {
    (void)state;
    for (size_t i = 0; i < RENEWALS; i++)
        for (unsigned servers = 1; servers <= 3; servers += 2) {
            const struct setting s = {
                "random", servers == 1 ? "1" : "3", "exp", renewals[i].arrivals, NULL, 0.7, 20000};
            const double sigma = sigma_of(renewals[i].transform, 0.7, servers);
            struct replications r = run(&s);
            assert_metric(&s, &r, BLI_WAITING_MEAN, sigma / (1 - sigma), 0.1);
            assert_metric(&s, &r, BLI_WAITING_PROBABILITY, sigma, 0.02);
            replications_free(&r);
        }
}

/* The theory beside the simulation says the same. */
static void known_of_renewals(void **state) {
    (void)state;
    for (size_t i = 0; i < RENEWALS; i++)
        for (unsigned servers = 1; servers <= 3; servers += 2) {
            const struct setting s = {
                "random", servers == 1 ? "1" : "3", "exp(2)", renewals[i].arrivals, NULL, 0.9, 0};
            const struct bli_model model = model_of(&s);
            const struct bal_policy_spec policy = policy_of(&s);
            const struct bli_prediction known = bli_theory_predict(&model, &policy);
            const double sigma = sigma_of(renewals[i].transform, 0.9, servers);
            assert_int_equal(known.kind, BLI_THEORY_EXACT);
            assert_true(fabs(known.waiting_mean / (2 * sigma / (1 - sigma)) - 1) < 1e-6);
            assert_true(fabs(known.waiting_probability - sigma) < 1e-7);
            assert_true(fabs(known.response_quantile[0] / (2 * log(2) / (1 - sigma)) - 1) < 1e-6);
        }
}

/* A phase-type law that is another one has its transform; small s loses no digits. */
static void transforms(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"erlang(2)", "phase(1 0;2 2;0 1/0 0)"},
        {"hyper(0.75,2,0.25,0.4)", "phase(0.75 0.25;2 0.4;0 0/0 0)"},
        {"exp(3)", "erlang(1,3)"},
    };
    for (size_t i = 0; i < 3; i++) {
        struct bli_dist a, b;
        assert_int_equal(bli_dist_parse(pairs[i][0], &a, NULL), BAL_OK);
        assert_int_equal(bli_dist_parse(pairs[i][1], &b, NULL), BAL_OK);
        for (double s = 1e-9; s < 100; s *= 7)
            assert_true(fabs(bli_dist_outlasts(&a, s) / bli_dist_outlasts(&b, s) - 1) < 1e-12);
    }
    static const char *const dists[] = {"det(2)", "uniform(0,3)", "uniform(1,2)", "erlang(5)", "hyper(7)"};
    for (size_t i = 0; i < 5; i++) {
        struct bli_dist dist;
        assert_int_equal(bli_dist_parse(dists[i], &dist, NULL), BAL_OK);
        const double s = 1e-7, m2 = bli_dist_moment(&dist, 2); /* s m1 - s^2 m2 / 2 + ... */
        assert_true(fabs(bli_dist_outlasts(&dist, s) / (s * dist.mean - 0.5 * s * s * m2) - 1) < 1e-11);
        assert_true(fabs(bli_dist_outlasts(&dist, 1e4) - 1) < 2e-2);
    }
}

/* ---- batches ---- */

/* M^X/M/1, X geometric on 1, 2, ... of mean 1 + m: by its generating function, the number of jobs is
 * geometric too but for idleness; mean response (E[X^2] + E[X]) / (2 E[X] (1 - load)) in general. */
static double batch_response(double mean, double square, double load) {
    return (square + mean) / (2 * mean * (1 - load));
}

static void batch_queues(void **state) {
    (void)state;
    const struct setting geometric = {"random", "1", "exp", "batch(geometric(2))", NULL, 0.6, 30000};
    const struct setting constant = {"random", "1", "exp", "batch(4)", NULL, 0.6, 30000};
    const struct setting gaps = {"random", "1", "exp", "batch(table(0:0.5 1:0.25 6:0.25))", NULL, 0.6, 30000};
    struct replications r = run(&geometric);
    assert_metric(&geometric, &r, BLI_RESPONSE_MEAN, batch_response(3, 15, 0.6), 0.1);
    replications_free(&r);
    r = run(&constant);
    assert_metric(&constant, &r, BLI_RESPONSE_MEAN, batch_response(4, 16, 0.6), 0.1);
    replications_free(&r);
    r = run(&gaps);
    assert_metric(&gaps, &r, BLI_RESPONSE_MEAN, batch_response(3.5, 18.5, 0.6), 0.1);
    replications_free(&r);
}

/* Every job of a batch is routed on its own: over 3 servers at random a batch of 4 is thinned, E[Y] = 4/3 and
 * E[Y (Y - 1)] = 12/9 per batch. Sizes that are always 1 have (Pollaczek, Khinchine) half of the first part.
 */
static void batches_are_split(void **state) {
    (void)state;
    const struct setting s = {"random", "3", "exp", "batch(4)", NULL, 0.6, 50000};
    const struct setting d = {"random", "3", "det", "batch(4)", NULL, 0.6, 50000};
    const double waiting = 0.6 / 0.4 + 12.0 / 9 / (2 * 4.0 / 3 * 0.4);
    const double waiting_det = 0.5 * 0.6 / 0.4 + 12.0 / 9 / (2 * 4.0 / 3 * 0.4);
    const struct setting *const both[] = {&s, &d};
    for (int i = 0; i < 2; i++) {
        const double wanted = i ? waiting_det : waiting;
        struct replications r = run(both[i]);
        assert_metric(both[i], &r, BLI_WAITING_MEAN, wanted, 0.1);
        replications_free(&r);
        const struct bli_model model = model_of(both[i]);
        const struct bal_policy_spec policy = policy_of(both[i]);
        assert_true(fabs(bli_theory_predict(&model, &policy).waiting_mean / wanted - 1) < 1e-12);
    }
}

/* ---- a rate that changes ---- */

/* MMPP/M/1, the queue cut off at LEVELS: the stationary law by Gauss and Seidel. Returns the mean number of
 * jobs. */
static double mmpp_queue(const double rate[2], const double stay[2]) {
    enum { LEVELS = 400 };
    static double p[LEVELS][2];
    for (int n = 0; n < LEVELS; n++)
        p[n][0] = p[n][1] = pow(0.9, n);
    for (int round = 0; round < 20000; round++) {
        double change = 0, sum = 0;
        for (int k = 0; k < LEVELS; k++) {
            const int n = round % 2 ? LEVELS - 1 - k : k;
            for (int j = 0; j < 2; j++) {
                const double out = 1 / stay[j] + (n + 1 < LEVELS ? rate[j] : 0) + (n > 0 ? 1 : 0);
                const double in = p[n][1 - j] / stay[1 - j] + (n > 0 ? p[n - 1][j] * rate[j] : 0) +
                                  (n + 1 < LEVELS ? p[n + 1][j] : 0);
                change = fmax(change, fabs(p[n][j] - in / out));
                p[n][j] = in / out;
                sum += p[n][j];
            }
        }
        if (change < 1e-15 * sum)
            break;
    }
    double sum = 0, jobs = 0;
    for (int n = 0; n < LEVELS; n++)
        for (int j = 0; j < 2; j++) {
            sum += p[n][j];
            jobs += n * p[n][j];
        }
    return jobs / sum;
}

static void mmpp_queues(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double rate[2], stay[2]; /* for a load of 0.6 */
    } known[] = {
        {"mmpp(3,5;1,10)", {0.6 * 9 / 5, 0.6 * 3 / 5}, {5, 10}}, /* mean 5/3 */
        {"mmpp(0,4;1,4)", {0, 1.2}, {4, 4}},
        {"mmpp(7,1;2,0.5)", {0.6 * 7 / (16.0 / 3), 0.6 * 2 / (16.0 / 3)}, {1, 0.5}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct setting s = {"random", "1", "exp", known[i].text, NULL, 0.6, 60000};
        struct replications r = run(&s);
        assert_metric(&s, &r, BLI_QUEUE_TOTAL, mmpp_queue(known[i].rate, known[i].stay), 0.12);
        replications_free(&r);
        const struct bli_model model = model_of(&s);
        const struct bal_policy_spec policy = policy_of(&s);
        assert_int_equal(bli_theory_predict(&model, &policy).kind, BLI_THEORY_UNKNOWN);
    }
}

/* ---- together with the rest ---- */

/* The engines of servers with queues, of one common queue and of a network see the same arrivals: with one
 * server they are the same queue, to the last bit but for the order of sums. */
static void engines_agree(void **state) {
    (void)state;
    static const char *const arrivals[] = {"mmpp(3,5;1,10)", "renewal(hyper(4))", "batch(geometric(2))"};
    for (size_t i = 0; i < 3; i++)
        for (int curved = 0; curved < 2; curved++) {
            if (curved && i == 1)
                continue; /* refused */
            struct setting s = {"random", "1", "exp", arrivals[i], curved ? "sine(0.5,50)" : NULL, 0.6, 2000};
            struct replications a = run(&s);
            s.policy = "central";
            struct replications b = run(&s);
            s.policy = "random";
            struct replications c = run_with(&s, 2);
            for (unsigned k = 0; k < RUNS; k++) {
                assert_true(fabs(a.value[k][BLI_RESPONSE_MEAN] / b.value[k][BLI_RESPONSE_MEAN] - 1) < 1e-9);
                assert_true(fabs(a.value[k][BLI_RESPONSE_MEAN] / c.value[k][BLI_RESPONSE_MEAN] - 1) < 1e-9);
            }
            replications_free(&a);
            replications_free(&b);
            replications_free(&c);
        }
}

/* A curve thins whole batches: as many jobs come as it says, of batches as large as before. With room for one
 * job and a load that is small, a batch of 4 brings one job and loses 3. */
static void curves_thin_batches(void **state) {
    (void)state;
    const struct setting s = {"random", "1", "det(0.001)", "batch(4)", "table(0:0.5 1000000:0.5)",
                              0.002,    4000};
    struct bli_model model = model_of(&s);
    model.buffer = 1;
    const struct bal_policy_spec policy = policy_of(&s);
    const struct bli_run run = {.seed = 5, .time = s.jobs / bli_model_arrival_rate(&model), .warmup = 0};
    struct replications r = replicate(&model, &policy, &run, RUNS);
    double mean, error2;
    describe(&r, BLI_LOST, &mean, &error2);
    /* two batches within a job's time, which has probability 1e-3, lose one more */
    assert_true(mean >= 0.75 && mean < 0.7505);
    describe(&r, BLI_LOAD_ACHIEVED, &mean, &error2);
    assert_true(fabs(mean / 0.001 - 1) < 6 * sqrt(4 / (2000.0 * RUNS)));
    replications_free(&r);
}

/* Written otherwise, a Poisson process is the same one, on the same engine. */
static void poisson_in_disguise(void **state) {
    (void)state;
    static const char *const arrivals[] = {"poisson", "renewal(exp(5))", "batch(1)", "mmpp(2,1;2,3)",
                                           "batch(bernoulli(0.3))"};
    double first = 0;
    for (size_t i = 0; i < 5; i++) {
        const struct setting s = {"jsq", "5", "exp", arrivals[i], NULL, 0.9, 2000};
        struct replications r = run(&s);
        if (i == 0)
            first = r.value[0][BLI_RESPONSE_MEAN];
        assert_true(r.value[0][BLI_RESPONSE_MEAN] == first);
        const struct bli_model model = model_of(&s);
        assert_true(bli_theory_lower_bound(&model) > 1);
        enum bli_engine engine;
        const struct bal_policy_spec policy = policy_of(&s);
        assert_int_equal(bli_simulate_check(&model, &policy, BLI_ENGINE_AUTO, &engine, NULL), BAL_OK);
        assert_int_equal(engine, BLI_ENGINE_MARKOV);
        replications_free(&r);
    }
}

/* What is known for a Poisson process is said of nothing else. */
static void nothing_borrowed(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "round-robin", "jsq",  "jiq",  "pod:d=2",
                                           "pi",     "least-work",  "rcpb", "tabs", "central"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        const struct setting s = {policies[i], "10", "exp", "mmpp(0,4;1,4)", NULL, 0.6, 0};
        const struct bli_model model = model_of(&s);
        const struct bal_policy_spec policy = policy_of(&s);
        assert_int_equal(bli_theory_predict(&model, &policy).kind, BLI_THEORY_UNKNOWN);
        assert_true(isnan(bli_theory_critical_load(&model, &policy)));
        assert_true(isnan(bli_theory_lower_bound(&model)));
        assert_true(isnan(bli_theory_tail(&model, &policy, BLI_THEORY_RESPONSE, 1)));
        enum bli_engine engine;
        struct bal_error err;
        assert_int_equal(bli_simulate_check(&model, &policy, BLI_ENGINE_MARKOV, &engine, &err), BAL_E_MODEL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renewal_queues),      cmocka_unit_test(known_of_renewals),
        cmocka_unit_test(transforms),          cmocka_unit_test(batch_queues),
        cmocka_unit_test(batches_are_split),   cmocka_unit_test(mmpp_queues),
        cmocka_unit_test(engines_agree),       cmocka_unit_test(curves_thin_batches),
        cmocka_unit_test(poisson_in_disguise), cmocka_unit_test(nothing_borrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
