/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulation against what is known exactly, or from longer simulations elsewhere.
 *
 * Seeds are fixed. The lengths are such that each tolerance is at least 3.5 standard errors (this is checked
 * too): if the code is right, one check fails by chance with probability 5e-4 at most, and most of them with
 * far less. One exception is pareto(3.5), see there. With SHOW_ERRORS in the environment each check tells how
 * far it is from failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../agree.h"
#include "ballast/predict.h"

struct experiment {
    const char *policy, *servers, *size;
    double load;
    enum bli_engine engine;
    double jobs; /* per run */
    unsigned runs;
};

static struct replications run_experiment(const struct experiment *e, uint64_t seed) {
    struct bli_model model = {.load = e->load};
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_policy_parse(e->policy, &spec, &err) || bli_servers_parse(e->servers, &model.servers, &err) ||
        bli_dist_parse(e->size, &model.size, &err))
        fail_msg("%s", err.text);
    const struct bli_run run = {
        .seed = seed, .time = e->jobs / bli_model_arrival_rate(&model), .warmup = 0.1, .engine = e->engine};
    return replicate(&model, &spec, &run, e->runs);
}

/* The mean of a quantity over the runs, corrected by a control variate (Lavenberg and Welch 1981): the
 * fraction of busy servers, whose mean is the load exactly, whatever the policy. Runs in which by chance more
 * work arrived or less was done have both more busy servers and longer times; the regression of the one on
 * the other takes most of that noise away. */
static struct bli_estimate controlled(const struct replications *r, int quantity, double load) {
    const int busy = BLI_METRIC_COUNT; /* the first of the tail */
    double mean, mean_busy, unused;
    describe(r, quantity, &mean, &unused);
    describe(r, busy, &mean_busy, &unused);
    double with_busy = 0, of_busy = 0;
    for (unsigned i = 0; i < r->count; i++) {
        const double x = r->value[i][busy] - mean_busy;
        with_busy += x * (r->value[i][quantity] - mean);
        of_busy += x * x;
    }
    const double slope = with_busy / of_busy;
    double rest = 0;
    for (unsigned i = 0; i < r->count; i++) {
        const double e = r->value[i][quantity] - mean - slope * (r->value[i][busy] - mean_busy);
        rest += e * e;
    }
    const double shift = mean_busy - load;
    return (struct bli_estimate){mean - slope * shift,
                                 sqrt(rest / (r->count - 2) * (1. / r->count + shift * shift / of_busy))};
}

/* half is here the standard error. */
static void assert_known(const struct experiment *e, const struct replications *r, int quantity, double known,
                         double tolerance) {
    const struct bli_estimate estimate = controlled(r, quantity, e->load);
    const char *const what = quantity_name(quantity);
    if (getenv("SHOW_ERRORS"))
        print_message(
            "# %s, %s servers, %s: %s = %.5f, known %.5f, difference %+.2f errors, tolerance %.1f errors\n",
            e->policy, e->servers, e->size, what, estimate.mean, known,
            (estimate.mean - known) / estimate.half_width, tolerance / estimate.half_width);
    if (!(3.5 * estimate.half_width <= tolerance))
        fail_msg("%s on %s, %s: the error of %s is %g, too large to tell", e->policy, e->servers, e->size,
                 what, estimate.half_width);
    if (!(fabs(estimate.mean - known) <= tolerance))
        fail_msg("%s on %s, %s: %s is %g (error %g), should be %g", e->policy, e->servers, e->size, what,
                 estimate.mean, estimate.half_width, known);
}

/* The power of two choices, 100 servers, load 0.9: 2.658 with replacement and 2.645 without, from long
 * simulations; the limit for many servers is 2.6141, of which 1000 servers come within 0.5 %. */
static void pod_of_two(void **state) {
    (void)state;
    const struct experiment with = {"pod:d=2", "100", "exp", 0.9, BLI_ENGINE_MARKOV, 400000, 60};
    struct replications r = run_experiment(&with, 601);
    assert_known(&with, &r, BLI_RESPONSE_MEAN, 2.658, 0.005);
    replications_free(&r);
    const struct experiment without = {"pod:d=2,replace=0", "100",  "exp", 0.9,
                                       BLI_ENGINE_MARKOV,   400000, 140};
    r = run_experiment(&without, 602);
    assert_known(&without, &r, BLI_RESPONSE_MEAN, 2.645, 0.003);
    replications_free(&r);
    const struct experiment many = {"pod:d=2", "1000", "exp", 0.9, BLI_ENGINE_MARKOV, 500000, 30};
    r = run_experiment(&many, 603);
    assert_known(&many, &r, BLI_RESPONSE_MEAN, 2.6141, 0.005 * 2.6141);
    /* lambda^(2^i - 1) of the servers have at least i jobs */
    for (int i = 2; i <= 3; i++) {
        const double limit = pow(0.9, pow(2, i) - 1);
        assert_known(&many, &r, BLI_METRIC_COUNT + i - 1, limit, 0.01 * limit);
    }
    replications_free(&r);
}

/* The same by events. */
static void pod_of_two_by_events(void **state) {
    (void)state;
    const struct experiment e = {"pod:d=2", "100", "exp", 0.9, BLI_ENGINE_EVENT, 400000, 40};
    struct replications r = run_experiment(&e, 604);
    assert_known(&e, &r, BLI_RESPONSE_MEAN, 2.658, 0.005);
    replications_free(&r);
}

/* M/M/1 at load 0.9: 10. */
static void one_server_at_high_load(void **state) {
    (void)state;
    const struct experiment e = {"random", "1", "exp", 0.9, BLI_ENGINE_MARKOV, 1000000, 50};
    struct replications r = run_experiment(&e, 605);
    assert_known(&e, &r, BLI_RESPONSE_MEAN, 10, 0.1);
    assert_known(&e, &r, BLI_QUEUE_TOTAL, 9, 0.09);
    replications_free(&r);
}

/* The response time of M/M/1 is exponential of rate 1 - load, so its q-quantile is log(1/(1-q))/(1 - load); a
 * job waits with probability load, and then so long again; there are i jobs or more with probability load^i.
 * On both engines, and in another unit of time. */
static void laws_of_one_server(void **state) {
    (void)state;
    static const struct experiment experiments[] = {
        {"random", "1", "exp", 0.4, BLI_ENGINE_MARKOV, 1000000, 45},
        {"random", "1x4", "exp(4)", 0.4, BLI_ENGINE_EVENT, 1000000, 15},
    };
    static const double levels[] = {0.5, 0.9, 0.99, 0.999};
    for (int i = 0; i < 2; i++) {
        const struct experiment *e = &experiments[i];
        struct replications r = run_experiment(e, 606);
        for (int q = 0; q < (i == 0 ? 4 : 3); q++) { /* the last one takes more jobs than the second has */
            const double response = -log(1 - levels[q]) / 0.6, waiting = -log((1 - levels[q]) / 0.4) / 0.6;
            assert_known(e, &r, BLI_RESPONSE_P50 + q, response, 0.01 * response);
            if (q > 0)
                assert_known(e, &r, BLI_WAITING_P50 + q, waiting, 0.01 * waiting);
        }
        assert_true(r.value[0][BLI_WAITING_P50] == 0); /* most do not wait */
        assert_known(e, &r, BLI_RESPONSE_MEAN, 1 / 0.6, 0.01 / 0.6);
        assert_known(e, &r, BLI_WAITING_MEAN, 0.4 / 0.6, 0.01 * 0.4 / 0.6);
        assert_known(e, &r, BLI_WAITING_PROBABILITY, 0.4, 0.002);
        for (int level = 2; level <= 4; level++)
            assert_known(e, &r, BLI_METRIC_COUNT + level - 1, pow(0.4, level), 0.01 * pow(0.4, level));
        replications_free(&r);
    }
}

/* Pollaczek and Khinchine: the mean wait of M/G/1 is load (1 + C2) / 2 / (1 - load) mean service times, C2
 * being the squared coefficient of variation.
 *
 * pareto(3.5) has a third moment and no fourth. A job of size x costs those behind it about x^2/2, whose tail
 * of index 1.75 has no variance, so that the standard error means little there; one job too large by itself
 * shifts the mean by 1 % with probability 4e-3. */
static void one_server_any_sizes(void **state) {
    (void)state;
    static const struct {
        const char *size;
        double mean, c2;
        unsigned runs;
    } cases[] = {
        {"det", 1, 0, 16},
        {"erlang(3)", 1, 1. / 3, 16},
        {"hyper(4)", 1, 4, 40},
        {"pareto(3.5)", 1, 1 / (3.5 * 1.5), 30},
        {"lognormal(1)", 1, 1, 30},
        {"uniform(0,2)", 1, 1. / 3, 16},
        {"phase(0.5 0.5;1 2;0 0.5/0.25 0)", 8. / 7, 9. / 8, 20}, /* by hand from its equations */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct experiment e = {"random",        "1",    cases[i].size, 0.6,
                                     BLI_ENGINE_AUTO, 500000, cases[i].runs};
        struct replications r = run_experiment(&e, 607);
        const double waiting = cases[i].mean * 0.6 * (1 + cases[i].c2) / 2 / 0.4;
        assert_known(&e, &r, BLI_WAITING_MEAN, waiting, 0.01 * waiting);
        assert_known(&e, &r, BLI_WAITING_PROBABILITY, 0.6, 0.006);
        replications_free(&r);
    }
}

/* ---- what is called exact ---- */

/* Whatever bli_theory_predict calls exact must be what simulation finds, to within its error; each of the
 * comparisons fails by chance with probability 1e-6. Percentiles of a simulation are within 1/128. */
static bool is_exact(const struct experiment *e, const struct replications *r, int quantity, double exact,
                     double slack) {
    if (!isfinite(exact))
        return true;
    const struct bli_estimate estimate = controlled(r, quantity, e->load);
    const double allowed =
        bli_student_quantile(1 - 5e-7, r->count - 2) * estimate.half_width + slack * exact + 1e-9 * exact;
    if (fabs(estimate.mean - exact) <= allowed)
        return true;
    print_error("%s on %s, %s: %s is %g (error %g), but %g is called exact\n", e->policy, e->servers, e->size,
                quantity_name(quantity), estimate.mean, estimate.half_width, exact);
    return false;
}

static unsigned check_exact(const char *policy, const char *servers, const char *size, double load,
                            bool *good) {
    struct bli_model model = {.load = load};
    struct bal_policy_spec spec;
    struct bal_error err;
    if (bal_policy_parse(policy, &spec, &err) || bli_servers_parse(servers, &model.servers, &err) ||
        bli_dist_parse(size, &model.size, &err))
        fail_msg("%s", err.text);
    const struct bli_prediction known = bli_theory_predict(&model, &spec);
    if (known.kind != BLI_THEORY_EXACT)
        return 0;
    const struct experiment e = {policy, servers, size, load, BLI_ENGINE_AUTO, 50000, 30};
    struct replications r = run_experiment(&e, 608);
    *good &= is_exact(&e, &r, BLI_RESPONSE_MEAN, known.response_mean, 0);
    *good &= is_exact(&e, &r, BLI_WAITING_MEAN, known.waiting_mean, 0);
    *good &= is_exact(&e, &r, BLI_WAITING_PROBABILITY, known.waiting_probability, 0);
    for (int q = 0; q < 3; q++) /* too few jobs for the last one */
        *good &= is_exact(&e, &r, BLI_RESPONSE_P50 + q, known.response_quantile[q], 1. / 128);
    for (unsigned level = 2; level < known.levels && level <= AGREE_TAIL; level++)
        *good &= is_exact(&e, &r, BLI_METRIC_COUNT + (int)level - 1, known.tail[level], 0);
    replications_free(&r);
    return 1;
}

static void exact_means_exact(void **state) {
    (void)state;
    static const struct {
        const char *servers, *size;
        double load;
    } models[] = {
        {"1", "exp", 0.8},
        {"10x4", "exp(2)", 0.7},
        {"5", "erlang(2,3)", 0.6},
        {"2x3,3x3", "exp", 0.75},
    };
    unsigned checked = 0;
    bool good = true;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t i = 0; i < bal_policy_count; i++)
            checked += check_exact(bal_policy_table[i]->name, models[m].servers, models[m].size,
                                   models[m].load, &good);
    assert_true(good);
    assert_true(checked >= 3 + 3 + 1 + 3); /* random, round-robin and least-work; random alone where not
                                              exponential */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pod_of_two),
        cmocka_unit_test(pod_of_two_by_events),
        cmocka_unit_test(one_server_at_high_load),
        cmocka_unit_test(laws_of_one_server),
        cmocka_unit_test(one_server_any_sizes),
        cmocka_unit_test(exact_means_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
