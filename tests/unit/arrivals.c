/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrivals: texts, what is refused, and draws whose mean and index of dispersion are those of the process.
 *
 * The counts N of the windows of a run are independent enough, if windows are long against all times of the
 * process, that their mean and variance have the errors of those of normal variables. Assertions raise a
 * false alarm with probability 1e-6 each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/arrivals.h"
#include "ballast/model.h"

#include "../goodness.h"

#include <string.h>

static struct bli_arrivals arrivals_of(const char *text) {
    struct bli_arrivals arrivals;
    struct bal_error err = {0};
    if (bli_arrivals_parse(text, &arrivals, &err))
        fail_msg("%s", err.text);
    return arrivals;
}

static void canonical_text(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
        bool poisson;
    } known[] = {
        {"poisson", "poisson", true},
        {" poisson ", "poisson", true},
        {" mmpp ( 5 , 10 ; 0.2,40.0 ) ", "mmpp(5,10;0.2,40)", false},
        {"mmpp(0,1;1,2;3,0.5)", "mmpp(0,1;1,2;3,0.5)", false},
        {"mmpp(2,1;2,7)", "mmpp(2,1;2,7)", true},
        {"renewal( erlang( 4 ) )", "renewal(erlang(4))", false},
        {"renewal(exp(3))", "renewal(exp(3))", true},
        {"renewal(phase(1 0;2 2;0 1/0 0))", "renewal(phase(1 0;2 2;0 1/0 0))", false},
        {"batch(5)", "batch(constant(5))", false},
        {"batch(1)", "batch(constant(1))", true},
        {"batch(bernoulli(0.5))", "batch(bernoulli(0.5))", true},
        {"batch(table(8:0.5 0:0.5))", "batch(table(0:0.5 8:0.5))", false},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct bli_arrivals arrivals = arrivals_of(known[i].text);
        char text[BLI_ARRIVALS_TEXT], short_text[5];
        assert_int_equal(bli_arrivals_print(&arrivals, text, sizeof text), strlen(known[i].canonical));
        assert_string_equal(text, known[i].canonical);
        assert_int_equal(bli_arrivals_print(&arrivals, short_text, sizeof short_text),
                         strlen(known[i].canonical));
        assert_memory_equal(short_text, known[i].canonical, 4);
        assert_int_equal(bli_arrivals_are_poisson(&arrivals), known[i].poisson);
    }
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "no such arrivals"},
        {"poison", "no such arrivals"},
        {"poisson(3)", "nothing may stand behind poisson"},
        {"mmpp", "'(' is expected"},
        {"mmpp()", "a rate from 0 to 1e9"},
        {"mmpp(1,2)", "one state is poisson"},
        {"mmpp(1,2;3)", "a rate from 0 to 1e9"},
        {"mmpp(1,2;3,0)", "the mean time in its state"},
        {"mmpp(1,2;-3,1)", "a rate from 0 to 1e9"},
        {"mmpp(1,2;3,1", "the mean time in its state"},
        {"mmpp(1,2;3,1) x", "something behind it"},
        {"mmpp(0,2;0,1)", "no job comes"},
        {"mmpp(1,1;2,1;3,1;4,1;5,1;6,1;7,1;8,1;9,1)", "more than 8 states"},
        {"renewal(erlang(4)", "expected at the end"},
        {"renewal(gamma(4))", "no such law"},
        {"renewal(pareto(0.9,1))", "infinite"},
        {"batch(poisson)", "the mean of the batches is open"},
        {"batch(0)", "are empty"},
        {"batch(table(0:0.9999 9:0.0001))", "are empty"},
        {"batch(exp)", "no such law of whole numbers"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bli_arrivals arrivals = arrivals_of("batch(3)");
        struct bal_error err = {0};
        assert_int_not_equal(bli_arrivals_parse(bad[i].text, &arrivals, &err), BAL_OK);
        if (!strstr(err.text, bad[i].why))
            fail_msg("'%s': %s", bad[i].text, err.text);
        assert_int_equal(arrivals.kind, BLI_ARRIVALS_BATCH);
    }
}

/* Where a model refuses them. */
static void refusing_models(void **state) {
    (void)state;
    struct bal_error err;
    struct bli_model model = {.load = 0.8, .arrivals = arrivals_of("renewal(det)")};
    bli_servers_parse("3", &model.servers, NULL);
    bli_dist_parse("exp", &model.size, NULL);
    assert_int_equal(bli_model_check(&model, &err), BAL_OK);
    bli_curve_parse("sine(0.5,10)", &model.curve, NULL);
    assert_int_equal(bli_model_check(&model, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "load curve"));
    model.arrivals = arrivals_of("batch(3)");
    assert_int_equal(bli_model_check(&model, &err), BAL_OK);
    model.arrivals = arrivals_of("mmpp(1,0.0003;2,0.0003)");
    assert_int_equal(bli_model_check(&model, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "changes its state"));
    model.curve = (struct bli_curve){0};
    model.clock = BLI_CLOCK_SLOTTED;
    bli_batch_parse("poisson", &model.batch, NULL);
    assert_int_equal(bli_model_check(&model, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "continuous time"));
}

/* Mean and dispersion of the counts of windows, the rate being 2.385. wide: by how much the variance of the
 * squares is above that of independent normal variables, because windows are short and depend on each other;
 * in_all: dispersion of the count of all windows together. */
static void assert_counts(const char *text, double window, double dispersion, double in_all, double wide) {
    enum { WINDOWS = 20000 };
    const double rate = 2.385, mean = rate * window;
    const struct bli_arrivals arrivals = arrivals_of(text);
    struct bal_rng rng;
    struct bli_arrival_source source;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    bli_arrival_source_init(&source, &arrivals, 1 / rate, &rng);
    double sum = 0, squares = 0, count = 0, now = bli_arrival_source_next(&source, 0);
    for (unsigned i = 1; i <= WINDOWS; i++, count = 0) {
        for (; now < i * window; now = bli_arrival_source_next(&source, now))
            count++;
        sum += count;
        squares += (count - mean) * (count - mean);
    }
    const double found = squares / WINDOWS / mean;
    if (!(fabs(sum / WINDOWS - mean) <= NORMAL_LIMIT * sqrt(in_all * mean / WINDOWS)))
        fail_msg("%s: %g jobs in a window instead of %g", text, sum / WINDOWS, mean);
    if (!(fabs(found / dispersion - 1) <= NORMAL_LIMIT * sqrt(wide * 2 / WINDOWS)))
        fail_msg("%s: dispersion %g instead of %g", text, found, dispersion);
}

/* Var N(w) / E N(w) of an mmpp of two states: sigma2 the variance of its rate over the square of the mean,
 * r the sum of the rates of change (Heffes and Lucantoni 1986). */
static double mmpp_dispersion(double r1, double t1, double r2, double t2, double window) {
    const double p = t1 / (t1 + t2), mean = p * r1 + (1 - p) * r2;
    const double sigma2 = p * (1 - p) * (r1 - r2) * (r1 - r2) / (mean * mean), r = 1 / t1 + 1 / t2;
    return 1 + 2 * 2.385 * sigma2 / r * (1 + expm1(-r * window) / (r * window));
}

static void counts(void **state) {
    (void)state;
    assert_counts("poisson", 40, 1, 1, 1.1);
    /* of batches X: E[X^2] / E[X] */
    assert_counts("batch(5)", 100, 5, 5, 1.1);
    assert_counts("batch(geometric(4))", 200, 9, 9, 1.1);
    assert_counts("batch(table(1:0.9 20:0.1))", 400, (0.9 + 40) / 2.9, (0.9 + 40) / 2.9, 1.1);
    assert_counts("mmpp(3,1;1,2)", 60, mmpp_dispersion(3, 1, 1, 2, 60), mmpp_dispersion(3, 1, 1, 2, 1e6),
                  1.1);
    assert_counts("mmpp(0,3;1,1)", 200, mmpp_dispersion(0, 3, 1, 1, 200), mmpp_dispersion(0, 3, 1, 1, 1e6),
                  1.1);
    assert_counts("mmpp(3,1;1,2)", 1, mmpp_dispersion(3, 1, 1, 2, 1), mmpp_dispersion(3, 1, 1, 2, 1e6), 3);
    /* of gaps: their squared coefficient of variation, up to 1/200 of it in windows of 477 jobs */
    assert_counts("renewal(erlang(4))", 200, 0.25, 0.25, 1.1);
    assert_counts("renewal(hyper(3))", 200, 3, 3, 1.1);
}

static void clockwork(void **state) {
    (void)state;
    const struct bli_arrivals arrivals = arrivals_of("renewal(det(7))");
    struct bal_rng rng;
    struct bli_arrival_source source;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    bli_arrival_source_init(&source, &arrivals, 0.25, &rng);
    for (unsigned i = 0; i < 10; i++)
        assert_true(bli_arrival_source_next(&source, i * 0.25) == (i + 1) * 0.25);
}

/* Three states in their order: how many jobs come in the time of each, and what follows which. */
static void order_of_states(void **state) {
    (void)state;
    const struct bli_arrivals arrivals = arrivals_of("mmpp(100,5;10,5;1,5)");
    struct bal_rng rng;
    struct bli_arrival_source source;
    bal_rng_init(&rng, 8, 0, BAL_STREAM_TEST);
    bli_arrival_source_init(&source, &arrivals, 0.01, &rng);
    double jobs[3] = {0}, from_to[3][3] = {{0}};
    unsigned last = source.state;
    for (unsigned i = 0; i < 400000; i++) {
        bli_arrival_source_next(&source, 0);
        jobs[source.state]++;
        from_to[last][source.state]++;
        last = source.state;
    }
    /* A cycle has 37 jobs a unit of time on average: 1351, 135 and 13.5 in the states, exponential but for
     * the chance of the jobs themselves; so there are 267 cycles, and a ratio has a relative error of
     * sqrt(2/267), the last one sqrt(2.1/267). */
    assert_true(fabs(jobs[1] / jobs[0] / 0.1 - 1) < NORMAL_LIMIT * sqrt(2 / 267.0));
    assert_true(fabs(jobs[2] / jobs[0] / 0.01 - 1) < NORMAL_LIMIT * sqrt(2.1 / 267.0));
    /* backwards only past a state in which no job came: 1/1350, 1/136 and 1/14.5 of them */
    assert_true(from_to[1][0] > 2 && from_to[1][0] < 0.25 * from_to[1][2]);
    assert_true(from_to[0][2] < 0.1 * from_to[0][1]);
    assert_true(from_to[2][1] < 0.1 * from_to[2][0]);
}

/* What comes with the last job, comes at its time, and is forgotten when asked. */
static void batches(void **state) {
    (void)state;
    const struct bli_arrivals arrivals = arrivals_of("batch(3)");
    struct bal_rng rng;
    struct bli_arrival_source source;
    bal_rng_init(&rng, 9, 0, BAL_STREAM_TEST);
    bli_arrival_source_init(&source, &arrivals, 1, &rng);
    double now = 0;
    for (unsigned i = 0; i < 30; i++) {
        const double next = bli_arrival_source_next(&source, now);
        assert_int_equal(source.first, i % 3 == 0);
        assert_int_equal(next == now, i % 3 != 0);
        now = next;
    }
    now = bli_arrival_source_next(&source, now);
    bli_arrival_source_drop(&source);
    assert_true(bli_arrival_source_next(&source, now) > now);
    assert_true(source.first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_text), cmocka_unit_test(refusals),  cmocka_unit_test(refusing_models),
        cmocka_unit_test(counts),         cmocka_unit_test(clockwork), cmocka_unit_test(order_of_states),
        cmocka_unit_test(batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
