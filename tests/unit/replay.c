/* SPDX-License-Identifier: BSD-2-Clause */
/* What a trace asks of a fleet, the search for the least one, and a replay that can be done by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/random.h"
#include "ballast/replay.h"
#include "texts.h"

#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static void assert_near(double value, double wanted, double error) {
    if (!(fabs(value - wanted) <= error))
        fail_msg("%.17g is not %.17g within %g", value, wanted, error);
}

/* ---- the search alone ---- */

enum { MOST = 70 };

/* How far off a number is: not known, the truth, always the same, or anything. */
enum telling { NOTHING, TRUTH, SAME, NONSENSE, TELLINGS };

static double off_of(enum telling telling, uint32_t number, uint32_t truth, struct bal_rng *rng) {
    const double off = 5 * log(truth / (double)number) - 0.01;
    return telling == NOTHING ? NAN
           : telling == TRUTH ? off
           : telling == SAME  ? 1
                              : 4 * bal_rng_uniform(rng) - 2;
}

static void assert_found(struct bli_min_fleet_search least, uint32_t truth, enum telling telling,
                         unsigned most_tries) {
    unsigned tried = 0;
    bool asked[MOST + 1] = {false};
    const uint32_t first = least.next;
    struct bal_rng rng;
    bal_rng_init(&rng, truth, first, BAL_STREAM_TEST);
    for (; least.next > 0; tried++) {
        const uint32_t number = least.next;
        assert_in_range(number, 1, MOST);
        assert_false(asked[number]); /* nothing is tried twice */
        asked[number] = true;
        bli_min_fleet_search_report(&least, number >= truth, off_of(telling, number, truth, &rng));
    }
    if (least.met != (truth <= MOST ? truth : 0) || least.failed != truth - 1 || tried > most_tries)
        fail_msg("from %u, telling %d: met %u, failed %u after %u, but the least is %u", first, telling,
                 least.met, least.failed, tried, truth);
}

/* From anywhere, whatever it is told of how far off it is; where that is true in a few tries. */
static void search_finds_every_least(void **unused) {
    (void)unused;
    for (uint32_t truth = 1; truth <= MOST + 1; truth++)
        for (uint32_t first = 1; first <= MOST; first++)
            for (enum telling telling = NOTHING; telling < TELLINGS; telling++) {
                struct bli_min_fleet_search least, near;
                bli_min_fleet_search_init(&least, first, MOST);
                bli_min_fleet_search_init_near(&near, first, MOST, telling == TRUTH ? -5 : 0);
                assert_found(least, truth, telling, telling == TRUTH ? 12 : 20);
                assert_found(near, truth, telling, telling == TRUTH ? 12 : 20);
                near.unlikely = truth / 2;
                assert_found(near, truth, telling, telling == TRUTH ? 12 : 20);
            }
}

/* ---- texts ---- */

static void durations_have_units(void **unused) {
    (void)unused;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"200ms", 0.2}, {"1.5 s", 1.5}, {"2min", 120}, {"1h", 3600}, {"250us", 250e-6}, {"0s", 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double seconds = NAN;
        assert_int_equal(bli_duration_parse(good[i].text, &seconds, NULL), BAL_OK);
        assert_near(seconds, good[i].seconds, 1e-15 * good[i].seconds);
    }
    static const char *const bad[] = {"", "s", "200", "-1s", "1e999s", "1 parsec", "1s ", "nan s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double seconds = 7;
        struct bal_error err = {0};
        if (bli_duration_parse(bad[i], &seconds, &err) != BAL_E_SYNTAX || seconds != 7 || !*err.text)
            fail_msg("'%s' is taken for %g s", bad[i], seconds);
    }
}

static void targets_name_a_metric(void **unused) {
    (void)unused;
    struct bli_target target;
    static const struct {
        const char *text, *name;
        double quantile;
    } good[] = {{"p999=1.5s", "p99.9", 0.999},     {"p99.9=1.5s", "p99.9", 0.999},
                {"p95=1500ms", "p95", 0.95},       {"p50=1.5s", "p50", 0.5},
                {"p9999=1.5s", "p99.99", 0.9999},  {"p5=1.5s", "p5", 0.05},
                {"p97.25=1.5s", "p97.25", 0.9725}, {"mean=1.5s", "mean", 0}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(bli_target_parse(good[i].text, &target, NULL), BAL_OK);
        assert_string_equal(target.name, good[i].name);
        assert_near(target.quantile, good[i].quantile, 1e-12);
        assert_near(target.seconds, 1.5, 1e-12);
    }
    static const char *const bad[] = {
        "",       "p99",    "p99=",    "=1s",      "p=1s",
        "p99=0s", "p99=1",  "p100=1s", "p0=1s",    "p-5=1s",
        "pp9=1s", "p9x=1s", "q99=1s",  "means=1s", "p99.99999999999999999999=1s"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (bli_target_parse(bad[i], &target, NULL) == BAL_OK)
            fail_msg("'%s' is taken for a target", bad[i]);
    assert_string_equal(target.name, "mean"); /* untouched */
}

/* ---- traces by hand ---- */

static struct bli_trace *finished(const struct bli_trace_job *job, size_t count) {
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(bli_trace_add(trace, &job[i], NULL), BAL_OK);
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

/* Each second for so many of them, three jobs of 0.9 s at once. */
static struct bli_trace *threes(int seconds) {
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int t = 0; t < seconds; t++)
        for (int k = 0; k < 3; k++) {
            const struct bli_trace_job job = {.time = t * SECOND, .size = 9 * SECOND / 10, .high = k == 0};
            assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
        }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static struct bli_replay replay_on(const struct bli_trace *trace, const char *servers) {
    struct bli_replay replay = {.trace = trace, .speedup = 1, .seed = 1, .replications = 1};
    assert_int_equal(bli_servers_parse(servers, &replay.model.servers, NULL), BAL_OK);
    return replay;
}

static void demand_is_counted(void **unused) {
    (void)unused;
    /* 100 s: a job each second, before 1970 and after; sizes 1 s and 3 s in turn; five more at once. */
    struct bli_trace_job job[106];
    for (int i = 0; i <= 100; i++)
        job[i] = (struct bli_trace_job){.time = (i - 50) * SECOND, .size = (i % 2 ? 3 : 1) * SECOND};
    for (int i = 101; i < 106; i++)
        job[i] = (struct bli_trace_job){.time = 30 * SECOND + 5, .size = 2 * SECOND};
    struct bli_trace *trace = finished(job, 106);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    assert_near(demand.rate, 1.06, 1e-12);
    assert_near(demand.work, (51 * 1 + 50 * 3 + 10) / 100.0, 1e-12);
    assert_near(demand.window, 1, 0);
    assert_near(demand.peak_rate, 6, 1e-12);
    assert_near(demand.peak_work, 11, 1e-9); /* 80 is even, so the job of that second is of 1 s */
    assert_near(demand.peak_at, 30, 0);
    const double mean = 211.0 / 106, square = (51 + 50 * 9 + 5 * 4) / 106.0;
    assert_near(demand.scv, square / (mean * mean) - 1, 1e-9);
    assert_near(demand.size_p50, 2, 2.0 / 128);
    assert_near(demand.size_p99, 3, 3.0 / 128);
    double jobs = 0;
    for (int i = 0; i < BLI_REPLAY_SPANS; i++)
        jobs += demand.span_rate[i] * 100 / BLI_REPLAY_SPANS;
    assert_near(jobs, 106, 1e-9);
    bli_trace_free(trace);
}

static void one_moment_is_refused(void **unused) {
    (void)unused;
    const struct bli_trace_job job[] = {{.time = 5, .size = 1}, {.time = 5, .size = 2}};
    struct bli_trace *trace = finished(job, 2);
    struct bli_demand demand;
    struct bal_error err = {0};
    assert_int_equal(bli_demand_of(trace, NULL, &demand, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "(2)"));
    bli_trace_free(trace);
}

static void stop_is_heeded(void **unused) {
    (void)unused;
    struct bli_trace *trace = threes(20);
    struct bli_demand demand;
    const volatile int stop = 1;
    assert_int_equal(bli_demand_of(trace, &stop, &demand, NULL), BAL_E_STOPPED);
    bli_trace_free(trace);
}

static struct bli_result run_case(const struct bli_case *c) {
    const struct bli_lab_options options = {.threads = 1};
    struct bli_result result;
    struct bal_error err = {0};
    if (bli_lab_run(c, 1, &options, &result, &err))
        fail_msg("%s", err.text);
    return result;
}

/* Three servers have one job each at any time; twice as fast on speed 2 is the same but for the unit. */
static void replay_by_hand(void **unused) {
    (void)unused;
    struct bli_trace *trace = threes(100);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    const struct bal_policy_spec jsq = policy_of("jsq");
    for (int speed = 1; speed <= 2; speed++) {
        struct bli_replay replay = replay_on(trace, speed == 1 ? "3" : "3x2");
        replay.speedup = speed;
        replay.model.classes = true;
        struct bli_case c;
        assert_int_equal(bli_replay_case(&replay, &jsq, &c, NULL), BAL_OK);
        assert_near(c.model.load, 270 / 99.0 / 3, 1e-12);
        assert_near(c.model.high, 1 / 3.0, 1e-12);
        assert_near(c.run.time, 99.0 / speed, 1e-12);
        const struct bli_result result = run_case(&c);
        assert_int_equal(result.jobs, 300);
        assert_near(result.metric[BLI_RESPONSE_MEAN].mean, 0.9 / speed, 1e-12);
        assert_near(result.metric[BLI_WAITING_MEAN].mean, 0, 1e-12);
        assert_near(result.metric[BLI_RESPONSE_P999].mean, 0.9 / speed, 0.9 / speed / 128);
        /* 270 busy seconds at 200 W and the rest of 3 x 99.9 s, to the end of the last job, at 140 W. */
        assert_near(bli_replay_energy(&result) * speed, 270 * 200 + (3 * 99.9 - 270) * 140, 1e-6);
    }
    bli_trace_free(trace);
}

/* What depends on where in their second jobs are put differs from replication to replication, also under a
 * policy that draws nothing; and so the half-width says it. */
static void spread_is_drawn_anew_in_every_replication(void **unused) {
    (void)unused;
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int i = 0; i < 300; i++) {
        const struct bli_trace_job job = {.time = i / 3 * SECOND, .size = SECOND / 4, .spread = true};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    struct bli_replay replay = replay_on(trace, "1");
    replay.replications = 5;
    const struct bal_policy_spec policy = policy_of("round-robin");
    struct bli_case c;
    assert_int_equal(bli_replay_case(&replay, &policy, &c, NULL), BAL_OK);
    const struct bli_result result = run_case(&c), again = run_case(&c);
    assert_true(result.metric[BLI_RESPONSE_P99].half_width > 0.01);
    assert_true(result.metric[BLI_RESPONSE_P99].half_width == again.metric[BLI_RESPONSE_P99].half_width);
    assert_int_equal(result.jobs, 5 * 300);
    bli_trace_free(trace);
}

/* ---- the least fleet ---- */

static enum bal_code size_for(const struct bli_replay *replay, const struct bli_demand *demand,
                              const struct bal_policy_spec *policy, size_t count,
                              const struct bli_target *target, const struct bli_lab_options *options,
                              struct bli_sizing *sizing, struct bal_error *err) {
    struct bli_replay wanted = *replay;
    wanted.target = target;
    return bli_replay_size(&wanted, demand, policy, count, options, sizing, err);
}

static void least_fleet_by_hand(void **unused) {
    (void)unused;
    struct bli_trace *trace = threes(100);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    const struct bli_replay replay = replay_on(trace, "1");
    const struct bal_policy_spec policies[] = {policy_of("jsq"), policy_of("round-robin")};
    const struct bli_lab_options options = {.threads = 2};
    const struct bli_target target = {0.99, 1, "p99"};
    struct bli_sizing sizing[2];
    assert_int_equal(size_for(&replay, &demand, policies, 2, &target, &options, sizing, NULL), BAL_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sizing[i].outcome, BLI_SIZED);
        assert_int_equal(sizing[i].servers, 3);
        assert_int_equal(bli_servers_count(&sizing[i].c.model.servers), 3);
        assert_near(sizing[i].at.result.metric[BLI_RESPONSE_MEAN].mean, 0.9, 1e-12);
        assert_true(sizing[i].one_fewer > 30); /* 0.7 s of work too much each second */
    }
    /* Three slots do the same in one server, and there is none fewer. */
    struct bli_replay slots = replay;
    slots.model.slots = 3;
    assert_int_equal(size_for(&slots, &demand, policies, 1, &target, &options, sizing, NULL), BAL_OK);
    assert_int_equal(sizing[0].servers, 1);
    assert_true(isnan(sizing[0].one_fewer));
    bli_trace_free(trace);
}

static void some_targets_cannot_be_met(void **unused) {
    (void)unused;
    struct bli_trace *trace = threes(100);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    struct bli_replay replay = replay_on(trace, "1");
    const struct bal_policy_spec jsq = policy_of("jsq");
    const struct bli_lab_options options = {.threads = 1};
    struct bli_sizing sizing;
    /* No job takes less than 0.9 s. */
    const struct bli_target short_target = {0.5, 0.8, "p50"};
    assert_int_equal(size_for(&replay, &demand, &jsq, 1, &short_target, &options, &sizing, NULL), BAL_OK);
    assert_int_equal(sizing.outcome, BLI_SIZE_HOPELESS);
    assert_near(sizing.best, 0.9, 0.9 / 128);
    assert_int_equal(sizing.fleets_tried, 0);
    /* Servers must be equal. */
    replay = replay_on(trace, "2x1,2x3");
    struct bal_error err = {0};
    assert_int_equal(size_for(&replay, &demand, &jsq, 1, &short_target, &options, &sizing, &err),
                     BAL_E_MODEL);
    assert_non_null(strstr(err.text, "speeds 1 and 3"));
    bli_trace_free(trace);
}

/* 1100 jobs at once and one later: some must wait, as no more than 1024 servers are tried. */
static void search_ends(void **unused) {
    (void)unused;
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int i = 0; i <= 1100; i++) {
        const struct bli_trace_job job = {.time = i < 1100 ? 0 : 1000 * SECOND, .size = SECOND / 1000};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    const struct bli_replay replay = replay_on(trace, "5");
    const struct bal_policy_spec jsq = policy_of("jsq");
    const struct bli_lab_options options = {.threads = 1};
    const struct bli_target target = {0.999, 0.0015, "p99.9"};
    struct bli_sizing sizing;
    assert_int_equal(size_for(&replay, &demand, &jsq, 1, &target, &options, &sizing, NULL), BAL_OK);
    assert_int_equal(sizing.outcome, BLI_SIZE_BEYOND);
    assert_int_equal(sizing.servers, 1024);
    assert_in_range(sizing.fleets_tried, 2, 11); /* at most 1, 2, 4, ..., 1024 */
    assert_near(sizing.at.result.metric[BLI_RESPONSE_P999].mean, 0.002, 0.002 / 128);
    assert_true(isnan(sizing.one_fewer));
    bli_trace_free(trace);
}

/* A fleet that has refused a job does not do. All servers are off when the second job comes after an hour,
 * however many there are. */
static void refusals_do_not_meet_a_target(void **unused) {
    (void)unused;
    const struct bli_trace_job job[] = {{.time = 0, .size = SECOND}, {.time = 3600 * SECOND, .size = SECOND}};
    struct bli_trace *trace = finished(job, 2);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    struct bli_replay replay = replay_on(trace, "1");
    assert_int_equal(bli_dist_parse("det(60)", &replay.model.standby, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("det(30)", &replay.model.setup, NULL), BAL_OK);
    const struct bal_policy_spec policies[] = {policy_of("tabs"), policy_of("jiq")};
    const struct bli_lab_options options = {.threads = 1};
    const struct bli_target target = {0.99, 2, "p99"};
    struct bli_sizing sizing[2];
    assert_int_equal(size_for(&replay, &demand, policies, 2, &target, &options, sizing, NULL), BAL_OK);
    assert_int_equal(sizing[0].outcome, BLI_SIZE_BEYOND);
    assert_near(sizing[0].at.result.metric[BLI_REFUSED].mean, 0.5, 0);
    assert_int_equal(sizing[1].outcome, BLI_SIZED);
    assert_int_equal(sizing[1].servers, 1);
    bli_trace_free(trace);
}

/* Random jobs: what the search says holds when it is tried again, and one server fewer fails. */
static void least_fleet_is_confirmed(void **unused) {
    (void)unused;
    struct bal_rng rng;
    bal_rng_init(&rng, 7, 0, BAL_STREAM_TEST);
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    double now = 0;
    for (int i = 0; i < 5000; i++) {
        now += bal_rng_exp(&rng) / 100;
        const struct bli_trace_job job = {.time = (int64_t)(now * 1e9),
                                          .size = 1 + (int64_t)(bal_rng_exp(&rng) * 1e8)};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    struct bli_replay replay = replay_on(trace, "1");
    replay.replications = 3;
    const struct bal_policy_spec policies[] = {policy_of("jsq"), policy_of("pod:d=2"), policy_of("random")};
    const struct bli_lab_options options = {.threads = 2};
    const struct bli_target target = {0.99, 0.6, "p99"};
    struct bli_sizing sizing[3];
    assert_int_equal(size_for(&replay, &demand, policies, 3, &target, &options, sizing, NULL), BAL_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sizing[i].outcome, BLI_SIZED);
        for (uint32_t fewer = 0; fewer <= 1; fewer++) {
            struct bli_replay again = replay;
            again.model.servers.group[0].count = sizing[i].servers - fewer;
            struct bli_case c;
            assert_int_equal(bli_replay_case(&again, &policies[i], &c, NULL), BAL_OK);
            const double p99 = run_case(&c).metric[BLI_RESPONSE_P99].mean;
            assert_true(fewer ? p99 > target.seconds : p99 <= target.seconds);
            assert_true(p99 ==
                        (fewer ? sizing[i].one_fewer : sizing[i].at.result.metric[BLI_RESPONSE_P99].mean));
        }
    }
    assert_true(sizing[0].servers <= sizing[1].servers && sizing[1].servers < sizing[2].servers);
    bli_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_finds_every_least),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(targets_name_a_metric),
        cmocka_unit_test(demand_is_counted),
        cmocka_unit_test(one_moment_is_refused),
        cmocka_unit_test(stop_is_heeded),
        cmocka_unit_test(replay_by_hand),
        cmocka_unit_test(spread_is_drawn_anew_in_every_replication),
        cmocka_unit_test(least_fleet_by_hand),
        cmocka_unit_test(some_targets_cannot_be_met),
        cmocka_unit_test(search_ends),
        cmocka_unit_test(refusals_do_not_meet_a_target),
        cmocka_unit_test(least_fleet_is_confirmed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
