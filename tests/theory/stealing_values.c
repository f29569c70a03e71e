/* SPDX-License-Identifier: BSD-2-Clause */
/* The work-stealing chain against what is known: the stationary law of three servers, worked out from the
 * definition; mean loads of 64 servers; where it is proved to be stable or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/lab.h"

#include "close.h"

#include <stdio.h>
#include <string.h>

enum { REPLICATIONS = 8 };

static struct bli_case case_of(const char *servers, double load, const char *steal, const char *placement,
                               bool others, double slots) {
    struct bli_case c = {.model = {.load = load, .clock = BLI_CLOCK_SLOTTED, .others = others},
                         .run = {.seed = 20, .time = slots, .warmup = NAN},
                         .replications = REPLICATIONS};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &c.model.servers, &err) || bal_steal_parse(steal, &c.model.steal, &err) ||
        bal_placement_parse(placement, &c.model.placement, &err) ||
        bli_scheme_parse("stealing", &c.policy, &err))
        fail_msg("%s", err.text);
    return c;
}

static void run(const struct bli_case *cases, size_t count, struct bli_result *results) {
    const struct bli_lab_options options = {.threads = 0};
    struct bal_error err = {0};
    if (bli_lab_run(cases, count, &options, results, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(results[i].engine, BLI_ENGINE_STEALING);
}

/* How far an estimate may lie from the true value, with false alarm probability p. */
static double margin(struct bli_estimate estimate, double p) {
    const double dof = REPLICATIONS - 1;
    return estimate.half_width / bli_student_quantile(0.975, dof) * bli_student_quantile(1 - p / 2, dof);
}

static void assert_estimate(const char *what, struct bli_estimate estimate, double wanted, double p) {
    if (!within(estimate.mean, wanted, margin(estimate, p)))
        fail_msg("%s = %.6g +- %.2g, wanted %.6g", what, estimate.mean, estimate.half_width, wanted);
}

/* ---- three servers, exactly ---- */

enum { SIDE = 26, STATES = SIDE * SIDE * SIDE }; /* queues of 0 to SIDE - 1 jobs each */

static struct {
    double load;
    bool others;
    struct bal_steal steal;
    double now[STATES], next[STATES];
    double requests, steals, stolen; /* expected, in a slot of the current law */
} dist;

/* Step 4, and there: queues that do not fit are cut, which must never matter. */
static void arrive_at(const int x[3], double p) {
    int y[3];
    for (int i = 0; i < 3; i++) {
        y[i] = x[i] > 0 ? x[i] - 1 : 0;
        y[i] = y[i] < SIDE ? y[i] : SIDE - 1;
    }
    dist.next[(y[0] * SIDE + y[1]) * SIDE + y[2]] += p;
}

/* Step 3: thief[v] is who robs v, or -1. */
static void rob(const int x[3], const int thief[3], double p) {
    int y[3] = {x[0], x[1], x[2]};
    for (int v = 0; v < 3; v++) {
        const int jobs = thief[v] < 0 ? 0 : (int)bal_steal_amount(&dist.steal, (uint32_t)x[v]);
        if (jobs == 0)
            continue;
        y[v] -= jobs;
        y[thief[v]] += jobs;
        dist.steals += p;
        dist.stolen += p * jobs;
    }
    arrive_at(y, p);
}

/* Step 2: server i and those behind it name their victims; asked[v] are those who have named v, as bits. */
static void ask(const int x[3], int i, int asked[3], double p) {
    if (i == 3) {
        int thief[3];
        double ways = 1;
        for (int v = 0; v < 3; v++)
            ways *= asked[v] ? __builtin_popcount((unsigned)asked[v]) : 1;
        for (int code = 0; code < 64; code++) { /* all that could be: a thief or none for each victim */
            bool fits = true;
            for (int v = 0; v < 3; v++) {
                thief[v] = (code >> 2 * v & 3) - 1;
                fits = fits && (asked[v] ? thief[v] >= 0 && asked[v] >> thief[v] & 1 : thief[v] < 0);
            }
            if (fits)
                rob(x, thief, p / ways);
        }
        return;
    }
    if (x[i] > 0) {
        ask(x, i + 1, asked, p);
        return;
    }
    dist.requests += p;
    for (int v = 0; v < 3; v++) {
        if (dist.others && v == i)
            continue;
        asked[v] |= 1 << i;
        ask(x, i + 1, asked, p / (dist.others ? 2 : 3));
        asked[v] &= ~(1 << i);
    }
}

/* Step 1, all generators at the first server. */
static void step(void) {
    static const double ways[4] = {1, 3, 3, 1};
    memset(dist.next, 0, sizeof dist.next);
    dist.requests = dist.steals = dist.stolen = 0;
    for (int state = 0; state < STATES; state++) {
        if (dist.now[state] < 1e-14)
            continue;
        for (int jobs = 0; jobs <= 3; jobs++) {
            const int x[3] = {state / SIDE / SIDE + jobs, state / SIDE % SIDE, state % SIDE};
            int asked[3] = {0};
            ask(x, 0, asked,
                dist.now[state] * ways[jobs] * pow(dist.load, jobs) * pow(1 - dist.load, 3 - jobs));
        }
    }
    memcpy(dist.now, dist.next, sizeof dist.now);
}

static double mean_load(void) {
    double mean = 0;
    for (int state = 0; state < STATES; state++)
        mean += dist.now[state] * (state / SIDE / SIDE + state / SIDE % SIDE + state % SIDE);
    return mean;
}

static void settle(const struct bli_case *c) {
    dist.load = c->model.load;
    dist.others = c->model.others;
    dist.steal = c->model.steal;
    memset(dist.now, 0, sizeof dist.now);
    dist.now[0] = 1;
    double before = -1, mean = 0;
    for (int steps = 0; fabs(mean - before) > 1e-7; steps++) {
        assert_true(steps < 3000);
        before = mean;
        step();
        mean = mean_load();
    }
    double edge = 0;
    for (int state = 0; state < STATES; state++)
        if (state / SIDE / SIDE == SIDE - 1 || state / SIDE % SIDE == SIDE - 1 || state % SIDE == SIDE - 1)
            edge += dist.now[state];
    assert_true(edge < 1e-6);
}

/* False alarm 1e-6 for each of 20 values. */
static void three_servers(void **state) {
    (void)state;
    const struct bli_case cases[] = {
        case_of("3", 0.42, "half", "hosts(1)", false, 300000),
        case_of("3", 0.55, "half", "hosts(1)", true, 300000),
        case_of("3", 0.48, "one", "hosts(1)", true, 300000),
        case_of("3", 0.45, "sqrt", "hosts(1)", true, 300000),
    };
    enum { CASES = sizeof cases / sizeof *cases };
    struct bli_result results[CASES];
    run(cases, CASES, results);
    for (int i = 0; i < CASES; i++) {
        settle(&cases[i]);
        const double load = cases[i].model.load;
        const struct bli_estimate *metric = results[i].metric;
        print_message("# %g: load %.5g +- %.2g, wanted %.5g\n", load, metric[BLI_QUEUE_TOTAL].mean,
                      metric[BLI_QUEUE_TOTAL].half_width, mean_load());
        assert_estimate("load", metric[BLI_QUEUE_TOTAL], mean_load(), 1e-6);
        assert_estimate("response", metric[BLI_RESPONSE_MEAN], 1 + mean_load() / (3 * load), 1e-6);
        assert_estimate("requests", metric[BLI_STEALING_REQUESTS], dist.requests / 3, 1e-6);
        assert_estimate("steals", metric[BLI_STEALING_STEALS], dist.steals / 3, 1e-6);
        assert_estimate("moved", metric[BLI_STEALING_MOVED], dist.stolen / (3 * load), 1e-6);
        assert_int_equal(results[i].verdict, BLI_STABLE);
    }
}

/* ---- 64 servers ---- */

/* Known to about 1 %; our own estimates are known to better than half of that, so that 2 % are not exceeded
 * by chance. With generators placed evenly a job is served where and when it is made, and the others ask in
 * vain.
 */
static void known_loads(void **state) {
    (void)state;
    static const struct {
        const char *placement;
        double load, requests;
    } known[] = {{"hosts(1)", 1785, 0.2205}, {"hosts(4)", 1117, NAN}, {"moving", 684, NAN}, {"even", 0, 0.1}};
    enum { CASES = sizeof known / sizeof *known };
    struct bli_case cases[CASES];
    struct bli_result results[CASES];
    for (int i = 0; i < CASES; i++)
        cases[i] = case_of("64", 0.9, "half", known[i].placement, false, 60000);
    run(cases, CASES, results);
    for (int i = 0; i < CASES; i++) {
        const struct bli_estimate *metric = results[i].metric;
        print_message("# %s: load %.5g +- %.2g, requests %.4g +- %.1g\n", known[i].placement,
                      metric[BLI_QUEUE_TOTAL].mean, metric[BLI_QUEUE_TOTAL].half_width,
                      metric[BLI_STEALING_REQUESTS].mean, metric[BLI_STEALING_REQUESTS].half_width);
        assert_true(metric[BLI_QUEUE_TOTAL].half_width <= 0.01 * known[i].load);
        assert_close(metric[BLI_QUEUE_TOTAL].mean, known[i].load, 0.02);
        if (!isnan(known[i].requests))
            assert_close(metric[BLI_STEALING_REQUESTS].mean, known[i].requests, 0.005);
        assert_int_equal(results[i].verdict, BLI_STABLE);
    }
    assert_true(results[3].metric[BLI_RESPONSE_MEAN].mean == 1);
    assert_true(results[3].metric[BLI_STEALING_STEALS].mean == 0);
}

/* Theorem 9: transient if f <= j and k hosts have all generators, k (j + 1) < lambda n. Theorem 1: stable
 * otherwise, if f is large enough. Between the two lies what is measured: 40 at a time is not enough for one
 * host of 64 generators at load 0.5, although the theorem speaks of less than 31 alone. */
static void verdicts(void **state) {
    (void)state;
    static const struct {
        const char *servers;
        double load;
        const char *steal, *placement;
        bool others, transient; /* by Theorem 9 */
        double k, j;
        enum bli_verdict verdict;
    } known[] = {
        {"64", 0.5, "30", "hosts(1)", false, true, 1, 30, BLI_UNSTABLE},
        {"64", 0.5, "30", "hosts(1)", true, true, 1, 30, BLI_UNSTABLE},
        {"100", 0.9, "constant(21)", "hosts(4)", false, true, 4, 21, BLI_UNSTABLE},
        {"10", 0.5, "one", "hosts(2)", true, true, 2, 1, BLI_UNSTABLE},
        {"7", 0.95, "constant(0)", "hosts(6)", false, true, 6, 0, BLI_UNSTABLE},
        {"1000", 0.99, "table(0 0 1 1 2 2 97)", "hosts(10)", true, true, 10, 97, BLI_UNSTABLE},
        {"64", 0.5, "40", "hosts(1)", false, false, 1, 40, BLI_UNSTABLE},
        {"64", 0.99, "half", "hosts(1)", false, false, 1, INFINITY, BLI_STABLE},
        {"64", 0.95, "fraction(0.25)", "moving", true, false, 1, INFINITY, BLI_STABLE},
        {"64", 0.99, "one", "even", false, false, 64, 1, BLI_STABLE},
    };
    enum { CASES = sizeof known / sizeof *known };
    struct bli_case cases[CASES];
    struct bli_result results[CASES];
    for (int i = 0; i < CASES; i++) {
        const double slots = known[i].verdict == BLI_UNSTABLE ? 5000 : 120000;
        cases[i] = case_of(known[i].servers, known[i].load, known[i].steal, known[i].placement,
                           known[i].others, slots);
        const double n = bli_servers_count(&cases[i].model.servers);
        assert_true((known[i].k * (known[i].j + 1) < known[i].load * n) == known[i].transient);
    }
    run(cases, CASES, results);
    for (int i = 0; i < CASES; i++)
        if (results[i].verdict != known[i].verdict)
            fail_msg("%s servers at %g, %s, %s: %s, not %s", known[i].servers, known[i].load, known[i].steal,
                     known[i].placement, bli_verdict_text(results[i].verdict),
                     bli_verdict_text(known[i].verdict));
}

/* As many as in a large data centre: a step costs O(n). */
static void many_servers(void **state) {
    (void)state;
    const struct bli_case c = case_of("100000", 0.9, "half", "hosts(100)", false, 50);
    struct bli_result result;
    run(&c, 1, &result);
    const struct bli_estimate *metric = result.metric;
    const double made = metric[BLI_MESSAGES_PER_TIME].mean / metric[BLI_PROBES_PER_JOB].mean;
    assert_close(made, 0.9 * 100000, 1e-3); /* 20 standard deviations */
    assert_true(result.jobs > 1000000 && metric[BLI_STEALING_STEALS].mean > 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_servers),
        cmocka_unit_test(known_loads),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(many_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
