/* SPDX-License-Identifier: BSD-2-Clause */
/* Doubts in results, how long runs are made so that there is none, and what makes means precise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/lab.h"
#include "ballast/predict.h"
#include "lab/run_length.h"
#include "texts.h"

static struct bli_case case_of(const char *policy, const char *servers, double load, const char *size) {
    struct bli_case c = {.model = {.load = load}, .policy = policy_of(policy), .replications = 10};
    assert_int_equal(bli_servers_parse(servers, &c.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(size, &c.model.size, NULL), BAL_OK);
    c.run = (struct bli_run){.seed = 1, .time = bli_default_run_length(&c.model), .warmup = NAN};
    return c;
}

enum { TRIALS = 10 };

/* Settled replications of a mean response time, which scatter by one percent of it. */
static void make_trials(const struct bli_case *c, double mean, struct bli_trial trial[TRIALS]) {
    for (int r = 0; r < TRIALS; r++) {
        trial[r] = (struct bli_trial){.warmup = 0.2 * c->run.time, .jobs = 1000};
        for (int m = 0; m < BLI_METRIC_COUNT; m++)
            trial[r].metric[m] = NAN;
        const double noise = (r % 2 ? 0.01 : -0.01) * (1 + r / 20.0);
        trial[r].metric[BLI_RESPONSE_MEAN] = mean * (1 + noise);
        trial[r].metric[BLI_DRIFT] = noise;
        trial[r].metric[BLI_TRANSIENT] = 0.1 + noise;
        for (int q = 0; q < 4; q++)
            trial[r].quarter[q] = 100 * (1 + noise);
    }
}

static struct bli_result result_of(const struct bli_case *c, const struct bli_trial trial[TRIALS]) {
    struct bli_result result;
    bli_result_of(c, trial, TRIALS, &result);
    return result;
}

static void a_settled_result_is_sure(void **state) {
    (void)state;
    const struct bli_case c = case_of("random", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    make_trials(&c, 10, trial);
    const struct bli_result result = result_of(&c, trial);
    assert_int_equal(result.doubts, 0);
    assert_true(bli_result_is_sure(&result) && result.precise);
    assert_true(result.time == c.run.time);
}

/* Each sign alone is enough, in either direction of the drift. */
static void what_still_moves_is_settling(void **state) {
    (void)state;
    const struct bli_case c = case_of("jiq", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    for (int sign = -1; sign <= 1; sign += 2) {
        make_trials(&c, 1.1, trial);
        for (int r = 0; r < TRIALS; r++)
            trial[r].metric[BLI_DRIFT] += sign * 0.05;
        assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_SETTLING);
    }
    make_trials(&c, 1.1, trial);
    for (int r = 0; r < TRIALS; r++)
        trial[r].metric[BLI_TRANSIENT] += 0.3;
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_SETTLING);
    for (int r = 0; r < TRIALS; r++)
        trial[r].warmup = 0.5 * c.run.time; /* so much was cut */
    assert_int_equal(result_of(&c, trial).doubts, 0);
}

/* Runs that are measured from their very start on are not doubted for what MSER-5 takes of any run. */
static void no_warmup_is_no_doubt_by_itself(void **state) {
    (void)state;
    struct bli_case c = case_of("jiq", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    c.run.warmup = 0;
    make_trials(&c, 1.1, trial);
    for (int r = 0; r < TRIALS; r++)
        trial[r].warmup = 0;
    assert_int_equal(result_of(&c, trial).doubts, 0);
}

/* A load that varies has nothing to settle to. */
static void a_curve_may_drift(void **state) {
    (void)state;
    struct bli_case c = case_of("jiq", "100", 0.9, "exp");
    assert_int_equal(bli_curve_parse("sine(0.5,60)", &c.model.curve, NULL), BAL_OK);
    struct bli_trial trial[TRIALS];
    make_trials(&c, 1.1, trial);
    for (int r = 0; r < TRIALS; r++)
        trial[r].metric[BLI_DRIFT] += 0.05;
    assert_int_equal(result_of(&c, trial).doubts, 0);
}

/* A span of a path is what it is, however it moves; the same runs as a steady state are doubted. Nor does
 * what is known of the steady state say anything of it. */
static void a_path_need_not_settle(void **state) {
    (void)state;
    struct bli_case c = case_of("tabs:mu=0.1,nu=0.1", "100", 0.3, "exp");
    struct bli_trial trial[TRIALS];
    c.run.time = 20;
    make_trials(&c, 1.1, trial);
    for (int r = 0; r < TRIALS; r++) {
        trial[r].metric[BLI_DRIFT] += 0.5;
        trial[r].metric[BLI_WAITING_MEAN] = 0.1 + 0.001 * r;
    }
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_SETTLING);
    c.path = true;
    assert_int_equal(result_of(&c, trial).doubts, 0);
    c = case_of("random", "100", 0.9, "exp");
    make_trials(&c, 0.5, trial);
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_THEORY | BLI_DOUBT_BOUND);
    c.path = true;
    assert_int_equal(result_of(&c, trial).doubts, 0);
}

/* The trials say nothing, but theory knows that 2000 jobs on 100 servers are still filling up. */
static void a_short_run_is_doubted_by_theory(void **state) {
    (void)state;
    struct bli_case c = case_of("random", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    c.run.time = 2000 / 90.0;
    make_trials(&c, 10, trial);
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_SETTLING);
    c.policy = policy_of("pi"); /* nothing is known of it: it may be as slow as its queues are long */
    for (int r = 0; r < TRIALS; r++)
        trial[r].metric[BLI_QUEUE_MEAN] = 9;
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_SETTLING);
    c.run.time = 40000;
    make_trials(&c, 10, trial);
    for (int r = 0; r < TRIALS; r++)
        trial[r].metric[BLI_QUEUE_MEAN] = 9;
    assert_int_equal(result_of(&c, trial).doubts, 0);
    c = case_of("random", "10000", 0.9, "exp"); /* many servers for less than one time constant */
    make_trials(&c, 10, trial);
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_SETTLING);
}

/* 7.4 for an M/M/1 queue at load 0.9, whose mean is 10; and the means of classes. */
static void exact_theory_is_never_contradicted_silently(void **state) {
    (void)state;
    struct bli_case c = case_of("random", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    make_trials(&c, 7.4, trial);
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_THEORY);
    make_trials(&c, 9.95, trial);
    assert_int_equal(result_of(&c, trial).doubts, 0);
    make_trials(&c, 9.7, trial); /* 3.4 half-widths; the 99.9 % interval has 2.1 */
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_THEORY);
    c.policy = policy_of("pod:d=2"); /* a limit: its fleet is finite */
    make_trials(&c, 2.7, trial);
    assert_int_equal(result_of(&c, trial).doubts, 0);
    c.policy = policy_of("random");
    c.model.classes = true;
    c.model.high = 0.3;
    make_trials(&c, 10, trial);
    for (int r = 0; r < TRIALS; r++)
        trial[r].metric[BLI_LOW_RESPONSE_MEAN] = 0.8 * trial[r].metric[BLI_RESPONSE_MEAN];
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_THEORY);
}

/* The third moment of pareto(A) is finite from A = 3 on. */
static void sizes_without_a_third_moment_are_doubted(void **state) {
    (void)state;
    static const struct {
        const char *size;
        bool heavy;
    } dists[] = {{"pareto(2.2)", true},     {"pareto(3)", true}, {"pareto(3.1)", false},
                 {"lognormal(100)", false}, {"exp", false},      {"bounded-pareto(1.1,1,1e9)", false}};
    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        const struct bli_case c = case_of("jsq", "100", 0.9, dists[i].size);
        struct bli_trial trial[TRIALS];
        make_trials(&c, 2, trial);
        assert_int_equal(result_of(&c, trial).doubts & BLI_DOUBT_TAIL, dists[i].heavy ? BLI_DOUBT_TAIL : 0);
    }
}

static void few_jobs_are_doubted(void **state) {
    (void)state;
    const struct bli_case c = case_of("jiq", "10", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    make_trials(&c, 2, trial);
    for (int r = 0; r < TRIALS; r++)
        trial[r].jobs = 99;
    assert_int_equal(result_of(&c, trial).doubts, BLI_DOUBT_FEW);
}

/* A narrow interval is not enough, and more replications are not asked for what they cannot cure. */
static void a_run_without_jobs_has_no_verdict(void **state) {
    (void)state;
    const struct bli_case c = case_of("random", "3", 0.001, "exp");
    struct bli_trial trial[TRIALS];
    make_trials(&c, NAN, trial);
    for (int r = 0; r < TRIALS; r++) {
        trial[r].jobs = 0;
        memset(trial[r].quarter, 0, sizeof trial[r].quarter);
    }
    assert_int_equal(result_of(&c, trial).verdict, BLI_UNDECIDED);
    trial[0].jobs = 1000;
    assert_int_equal(result_of(&c, trial).verdict, BLI_STABLE);
}

static void precision_is_not_reached_while_there_is_a_doubt(void **state) {
    (void)state;
    struct bli_case c = case_of("jiq", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    c.precision = 0.02;
    make_trials(&c, 1.1, trial);
    struct bli_result result = result_of(&c, trial);
    assert_true(result.precise && result.doubts == 0);
    for (int r = 0; r < TRIALS; r++)
        trial[r].metric[BLI_DRIFT] += 0.05;
    result = result_of(&c, trial);
    assert_false(result.precise);
    assert_int_equal(result.doubts, BLI_DOUBT_SETTLING | BLI_DOUBT_PRECISION);
    assert_false(bli_result_is_sure(&result));
    assert_int_equal(bli_replications_needed(&c, &result, 1000), TRIALS);
    c.precision = 0.001; /* not narrow enough: more would help, and what there is decides as far as it goes */
    make_trials(&c, 1.1, trial);
    result = result_of(&c, trial);
    assert_int_equal(result.doubts, BLI_DOUBT_PRECISION);
    assert_true(bli_result_is_sure(&result));
    assert_true(bli_replications_needed(&c, &result, 1000) > TRIALS);
}

/* ---- control variates ---- */

/* Most of what scatters goes with how many jobs came and how busy servers were, both a little above their
 * means. */
static void make_controlled_trials(const struct bli_case *c, double mean, struct bli_trial trial[TRIALS]) {
    static const double wave[TRIALS] = {0, 1, -1, 2, -2, 1, 0, -1, 2, -1};
    make_trials(c, mean, trial);
    for (int r = 0; r < TRIALS; r++) {
        const double came = 1e-3 * (wave[r] + 0.5), busy = 1e-3 * (wave[(r + 3) % TRIALS] + 0.5);
        trial[r].metric[BLI_LOAD_ACHIEVED] = c->model.load + came;
        trial[r].metric[BLI_SERVERS_BUSY] = c->model.load + busy;
        trial[r].metric[BLI_RESPONSE_MEAN] = mean * (1 + 10 * came + 20 * busy + 1e-4 * (r % 3));
    }
}

static void what_is_known_of_runs_makes_the_mean_precise(void **state) {
    (void)state;
    struct bli_case c = case_of("jiq", "100", 0.9, "exp");
    struct bli_trial trial[TRIALS];
    make_controlled_trials(&c, 1.1, trial);
    const struct bli_result plain = result_of(&c, trial);
    c.precision = 0.01;
    const struct bli_result result = result_of(&c, trial);
    const struct bli_estimate before = plain.metric[BLI_RESPONSE_MEAN], e = result.metric[BLI_RESPONSE_MEAN];
    assert_int_equal(plain.controls, 0);
    assert_int_equal(result.controls, 2);
    assert_true(before.mean > 1.115 && fabs(e.mean - 1.1) < 2e-4 && e.half_width < before.half_width / 50);
    assert_true(result.precise && !(before.half_width <= 0.01 * before.mean));
    for (int m = 0; m < BLI_METRIC_COUNT; m++) /* all else is as it was */
        if (m != BLI_RESPONSE_MEAN)
            assert_memory_equal(&plain.metric[m], &result.metric[m], sizeof result.metric[m]);
}

/* Where their means are not known, or cannot be relied upon, replications alone count. */
static void what_is_not_known_is_not_used(void **state) {
    (void)state;
    static const struct {
        const char *why, *servers, *size, *curve;
        double warmup, patience, drift, busy, refused;
        unsigned trials;
    } rows[] = {
        {"none", "100", "exp", "none", NAN, 0, 0, 0, 0, TRIALS},
        {"speeds", "50x1,50x2", "exp", "none", NAN, 0, 0, 0, 0, TRIALS},
        {"sizes that are far from equal", "100", "lognormal(4)", "none", NAN, 0, 0, 0, 0, TRIALS},
        {"a curve", "100", "exp", "sine(0.5,60)", NAN, 0, 0, 0, 0, TRIALS},
        {"a warm-up that looks at the run", "100", "exp", "none", BLI_WARMUP_MSER, 0, 0, 0, 0, TRIALS},
        {"jobs that give up", "100", "exp", "none", NAN, 1, 0, 0, 0, TRIALS},
        {"runs that are settling", "100", "exp", "none", NAN, 0, 0.1, 0, 0, TRIALS},
        {"servers that are not as busy as they will be", "100", "exp", "none", NAN, 0, 0, -0.01, 0, TRIALS},
        {"refused jobs", "100", "exp", "none", NAN, 0, 0, 0, 1e-6, TRIALS},
        {"too few trials", "100", "exp", "none", NAN, 0, 0, 0, 0, TRIALS - 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bli_case c = case_of("jiq", rows[i].servers, 0.9, rows[i].size);
        struct bli_trial trial[TRIALS];
        if (strcmp(rows[i].curve, "none") != 0)
            assert_int_equal(bli_curve_parse(rows[i].curve, &c.model.curve, NULL), BAL_OK);
        if (rows[i].patience > 0)
            assert_int_equal(bli_dist_parse("exp(5)", &c.model.patience, NULL), BAL_OK);
        c.precision = 0.01;
        c.run.warmup = rows[i].warmup;
        make_controlled_trials(&c, 1.1, trial);
        for (int r = 0; r < TRIALS; r++) {
            trial[r].metric[BLI_DRIFT] += rows[i].drift;
            trial[r].metric[BLI_SERVERS_BUSY] += rows[i].busy;
            trial[r].metric[BLI_REFUSED] = rows[i].refused;
        }
        struct bli_result result;
        bli_result_of(&c, trial, rows[i].trials, &result);
        if (result.controls != (i == 0 ? 2 : 0))
            fail_msg("%s: %u controls", rows[i].why, result.controls);
    }
}

/* ---- lengths ---- */

static double jobs_of(const struct bli_case *c) {
    return c->run.time * bli_model_arrival_rate(&c->model);
}

static void choose(struct bli_case *cases, size_t count) {
    bli_choose_length(cases, count, bli_default_run_length(&cases[0].model), 0);
}

/* A hundred servers at load 0.9 settle within what is cut of 2M jobs. */
static void the_usual_length_is_kept_where_it_suffices(void **state) {
    (void)state;
    for (int n = 1; n <= 100; n *= 10) {
        char servers[20];
        snprintf(servers, sizeof servers, "%d", n);
        struct bli_case c = case_of("random", servers, 0.9, "exp");
        choose(&c, 1);
        assert_true(isnan(c.run.warmup));
        assert_true(fabs(jobs_of(&c) - 2e6) < 1e-3);
        assert_true(c.max_run_length > 2 * c.run.time);
    }
}

static void every_server_has_a_hundred_jobs(void **state) {
    (void)state;
    const struct bli_case c = case_of("jiq", "100000", 0.9, "exp");
    assert_true(fabs(jobs_of(&c) - 1e7) < 1e-3);
}

/* What is measured begins when 7.5 time constants are over, and is as much as usual. */
static void large_fleets_get_time_to_fill_up(void **state) {
    (void)state;
    static const char *const fleets[] = {"1000", "10000", "5kx1,5kx3"};
    for (int i = 0; i < 3; i++) {
        struct bli_case c[3] = {case_of("jiq", fleets[i], i < 2 ? 0.9 : 0.4, "exp"),
                                case_of("random", fleets[i], i < 2 ? 0.9 : 0.4, "exp"),
                                case_of("pod:d=2", fleets[i], i < 2 ? 0.9 : 0.4, "exp")};
        const double r = bli_theory_relaxation(&c[1].model, &c[1].policy);
        choose(c, 3);
        for (int k = 0; k < 3; k++) { /* the same for all: they are to see the same arrivals */
            assert_true(c[k].run.time == c[0].run.time && c[k].run.warmup == c[0].run.warmup);
            assert_true(c[k].run.warmup * c[k].run.time >= 7.5 * r * (1 - 1e-9));
            assert_true((1 - c[k].run.warmup) * jobs_of(&c[k]) >= 0.04 * jobs_of(&c[k]));
            assert_true(jobs_of(&c[k]) < 4e7);
        }
    }
}

/* random would need some 200M jobs: it does without, and does not make the others wait for it. */
static void what_is_out_of_reach_is_not_tried(void **state) {
    (void)state;
    struct bli_case c[2] = {case_of("random", "100000", 0.9, "exp"),
                            case_of("pod:d=2", "100000", 0.9, "exp")};
    choose(c, 2);
    assert_true(c[0].run.time == c[1].run.time && jobs_of(&c[0]) < 4e7);
    assert_true(c[1].run.warmup * c[1].run.time >= 7.5 * bli_theory_relaxation(&c[1].model, &c[1].policy));
    assert_true(c[0].max_run_length == c[0].run.time && c[1].max_run_length > c[1].run.time);
    const struct bli_result result = {
        .time = c[0].run.time, .warmup = c[0].run.warmup, .settling = bli_time_constant_of(&c[0], NULL)};
    const struct bli_advice advice = bli_advise_length(&c[0], &result);
    assert_true(advice.known && advice.time * bli_model_arrival_rate(&c[0].model) > 1.5e8);
    assert_true(advice.time * advice.warmup >= 7.5 * bli_theory_relaxation(&c[0].model, &c[0].policy));
}

/* A warm-up or a window that is given is kept, and the run made longer instead. */
static void a_given_warmup_or_window_is_kept(void **state) {
    (void)state;
    struct bli_case c = case_of("random", "1000", 0.9, "exp");
    const double before = 7.5 * bli_theory_relaxation(&c.model, &c.policy);
    c.run.warmup = 0.3;
    choose(&c, 1);
    assert_true(c.run.warmup == 0.3 && 0.3 * c.run.time >= before);
    c = case_of("random", "1000", 0.9, "exp");
    bli_choose_length(&c, 1, bli_default_run_length(&c.model), 10);
    assert_true(fabs((1 - c.run.warmup) * c.run.time - 10) < 1e-6 && c.run.time - 10 >= before);
}

static double first_jobs(struct bli_case c) {
    return bli_initial_run_length(&c, 1) * bli_model_arrival_rate(&c.model);
}

/* Without a wanted precision runs are as long as ever; with one they are long enough to settle, by what is
 * known of the policy or of `random`, and to have percentiles. */
static void a_precision_begins_with_short_runs(void **state) {
    (void)state;
    struct bli_case c = case_of("random", "10", 0.5, "exp");
    assert_true(bli_initial_run_length(&c, 1) == bli_default_run_length(&c.model));
    c.precision = 0.01;
    assert_true(fabs(first_jobs(c) - 50e3) < 1);
    for (int n = 1; n <= 100; n *= 10)
        for (int k = 0; k < 3; k++) {
            static const char *const policies[] = {"random", "jiq", "pi"};
            char servers[20];
            snprintf(servers, sizeof servers, "%d", n);
            c = case_of(policies[k], servers, 0.9, "exp");
            c.precision = 0.05;
            const double time = bli_initial_run_length(&c, 1), r = 271.2;
            assert_true(time >= 20 * r && n * time >= 400 * r && time < bli_default_run_length(&c.model) / 2);
        }
    struct bli_case two[2] = {case_of("pod:d=2", "100", 0.9, "exp"), case_of("random", "100", 0.9, "exp")};
    two[0].precision = two[1].precision = 0.01;
    assert_true(first_jobs(two[0]) < 0.2 * first_jobs(two[1])); /* the slowest of a comparison counts */
    assert_true(bli_initial_run_length(two, 2) == bli_initial_run_length(&two[1], 1));
    struct bli_case large = case_of("random", "10000", 0.9, "exp");
    large.precision = 0.01;
    assert_true(bli_initial_run_length(&large, 1) == bli_default_run_length(&large.model));
}

/* Servers that are slow to switch make runs long, and of what nothing is known they are as long as ever. */
static void slow_and_unknown_fleets_begin_with_long_runs(void **state) {
    (void)state;
    struct bli_case c = case_of("tabs:mu=0.1,nu=0.1", "100", 0.5, "exp");
    c.precision = 0.01;
    assert_true(first_jobs(c) < 100e3);
    c.policy = policy_of("tabs:mu=0.1,nu=0.001");
    assert_true(first_jobs(c) > 900e3);
    c.policy = policy_of("delayed-off");
    assert_true(bli_initial_run_length(&c, 1) == bli_default_run_length(&c.model));
    c = case_of("jiq", "100", 0.5, "exp");
    c.precision = 0.01;
    assert_true(first_jobs(c) < 100e3);
    assert_int_equal(bli_curve_parse("sine(0.5,60)", &c.model.curve, NULL), BAL_OK);
    assert_true(bli_initial_run_length(&c, 1) == bli_default_run_length(&c.model));
}

/* Runs that had to grow are doubled once more when there is no doubt left but some drift, and never beyond
 * their limit. */
static void growth_has_a_reserve_and_an_end(void **state) {
    (void)state;
    struct bli_case c = case_of("pi", "1000", 0.9, "exp");
    c.max_run_length = 100 * c.run.time;
    struct bli_result settled = {.replications = 10, .verdict = BLI_STABLE};
    struct bli_result nearly = settled;
    settled.metric[BLI_DRIFT] = (struct bli_estimate){0.01, 0.03};
    nearly.metric[BLI_DRIFT] = (struct bli_estimate){0.02, 0.03};
    struct bli_result settling = {.replications = 10, .verdict = BLI_STABLE, .doubts = BLI_DOUBT_SETTLING};
    struct bli_result unstable = {.replications = 10, .verdict = BLI_UNSTABLE};
    struct run_length_state growth = {false, false, false};
    assert_false(bli_run_length_should_double(&growth, &c, &settled));
    assert_false(bli_run_length_should_double(&growth, &c, &nearly));
    assert_true(bli_run_length_should_double(&growth, &c, &settling));
    assert_false(bli_run_length_should_double(&growth, &c, &settled));
    assert_true(bli_run_length_should_double(&growth, &c, &nearly));
    assert_false(bli_run_length_should_double(&growth, &c, &nearly));
    assert_false(bli_run_length_should_double(&growth, &c, &unstable));
    c.max_run_length = 1.9 * c.run.time;
    assert_false(bli_run_length_should_double(&growth, &c, &settling));
    c.max_run_length = 0;
    assert_false(bli_run_length_should_double(&growth, &c, &settling));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_settled_result_is_sure),
        cmocka_unit_test(what_still_moves_is_settling),
        cmocka_unit_test(no_warmup_is_no_doubt_by_itself),
        cmocka_unit_test(a_curve_may_drift),
        cmocka_unit_test(a_path_need_not_settle),
        cmocka_unit_test(a_short_run_is_doubted_by_theory),
        cmocka_unit_test(exact_theory_is_never_contradicted_silently),
        cmocka_unit_test(sizes_without_a_third_moment_are_doubted),
        cmocka_unit_test(few_jobs_are_doubted),
        cmocka_unit_test(a_run_without_jobs_has_no_verdict),
        cmocka_unit_test(precision_is_not_reached_while_there_is_a_doubt),
        cmocka_unit_test(what_is_known_of_runs_makes_the_mean_precise),
        cmocka_unit_test(what_is_not_known_is_not_used),
        cmocka_unit_test(the_usual_length_is_kept_where_it_suffices),
        cmocka_unit_test(every_server_has_a_hundred_jobs),
        cmocka_unit_test(large_fleets_get_time_to_fill_up),
        cmocka_unit_test(what_is_out_of_reach_is_not_tried),
        cmocka_unit_test(a_given_warmup_or_window_is_kept),
        cmocka_unit_test(a_precision_begins_with_short_runs),
        cmocka_unit_test(slow_and_unknown_fleets_begin_with_long_runs),
        cmocka_unit_test(growth_has_a_reserve_and_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
