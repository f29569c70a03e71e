/* SPDX-License-Identifier: BSD-2-Clause */
/* The search for the least fleet against its plain twin, which replays the whole log on every fleet: the same
 * answer, times and range, and no replay is given up that would have met the target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/replay.h"
#include "study/replay_try.h"
#include "texts.h"

#include <math.h>

enum { FLEETS = 14, SMALL = 7, JOBS = 1500, STEPS = 20 };

/* ---- logs ---- */

/* A quiet and a busy half; sizes of 50 ms on average, the more uneven the higher the power. */
static struct bli_trace *trace_new(uint64_t seed, int jobs, double power) {
    struct bli_trace *trace;
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    double now = 0;
    for (int i = 0; i < jobs; i++) {
        now += bal_rng_exp(&rng) / (i < jobs / 2 ? 30 : 50);
        const double size = 0.05 * pow(bal_rng_exp(&rng), power) / tgamma(1 + power);
        const struct bli_trace_job job = {.time = (int64_t)(now * 1e9), .size = 1 + (int64_t)(size * 1e9)};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static struct bli_replay replay_of(const struct bli_trace *trace, const struct bli_target *target,
                                   unsigned replications) {
    struct bli_replay replay = {
        .trace = trace, .speedup = 1, .seed = 1, .replications = replications, .target = target};
    assert_int_equal(bli_servers_parse("1", &replay.model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("det(2)", &replay.model.standby, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse("det(0.1)", &replay.model.setup, NULL), BAL_OK);
    return replay;
}

static struct bli_demand demand_of(const struct bli_trace *trace) {
    struct bli_demand demand;
    assert_int_equal(bli_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    return demand;
}

static const struct bli_lab_options two_threads = {.threads = 2};

/* ---- the plain way ---- */

static struct bli_case case_of(const struct bli_replay *replay, const struct bal_policy_spec *policy,
                               uint32_t servers) {
    struct bli_replay wanted = *replay;
    struct bli_case c;
    struct bal_error err;
    wanted.model.servers.group[0].count = servers;
    if (bli_replay_case(&wanted, policy, &c, &err))
        fail_msg("%s", err.text);
    return c;
}

/* What became of all fleets, by the number of their servers. */
struct plain {
    const struct bli_target *target;
    struct bli_replay_outcome at[FLEETS + 1];
};

static void replay_all(const struct bli_replay *replay, const struct bal_policy_spec *policy,
                       struct plain *plain) {
    struct bli_case *cases = calloc(FLEETS, sizeof *cases);
    assert_non_null(cases);
    for (uint32_t n = 1; n <= FLEETS; n++)
        cases[n - 1] = case_of(replay, policy, n);
    plain->target = replay->target;
    assert_int_equal(bli_replay_run(replay, cases, FLEETS, &two_threads, &plain->at[1], NULL), BAL_OK);
    free(cases);
}

static bool serves_all(const struct plain *plain, uint32_t n) {
    return plain->at[n].result.metric[BLI_REFUSED].mean == 0 &&
           plain->at[n].result.metric[BLI_LOST].mean == 0;
}

static double wanted(const struct plain *plain, uint32_t n) {
    return plain->at[n].time[BLI_TIME_WANTED].mean;
}

static bool is_met(const struct plain *plain, uint32_t n) {
    return n > 0 && wanted(plain, n) <= plain->target->seconds && serves_all(plain, n);
}

static bool may_do(const struct plain *plain, uint32_t n) {
    return plain->at[n].log[BLI_TIME_WANTED].low <= plain->target->seconds && serves_all(plain, n);
}

static bool will_do(const struct plain *plain, uint32_t n) {
    return !(plain->at[n].log[BLI_TIME_WANTED].high > plain->target->seconds) && serves_all(plain, n);
}

static uint32_t plain_low(const struct plain *plain, uint32_t n) {
    uint32_t low = n;
    if (n == 1 || !may_do(plain, n - 1))
        return low;
    low = n - 1;
    for (uint32_t step = n / STEPS > 1 ? n / STEPS : 1; low > step && may_do(plain, low - step); step *= 2)
        low -= step;
    return low;
}

/* 0: beyond the fleets that were replayed. */
static uint32_t plain_high(const struct plain *plain, uint32_t n) {
    for (uint32_t step = n / STEPS > 1 ? n / STEPS : 1; n <= FLEETS && !will_do(plain, n); step *= 2)
        n += step;
    return n <= FLEETS ? n : 0;
}

/* Some fleet that does, above one that does not; where more servers are never worse there is one such. */
static void assert_least(const struct plain *plain, const struct bli_sizing *sizing) {
    const uint32_t n = sizing->servers;
    uint32_t edges = 0;
    for (uint32_t i = 1; i <= FLEETS; i++)
        edges += is_met(plain, i) && !is_met(plain, i - 1);
    if (sizing->outcome != BLI_SIZED || n > FLEETS) {
        assert_int_equal(edges, 0);
        return;
    }
    assert_true(edges >= 1);
    assert_true(is_met(plain, n) && !is_met(plain, n - 1));
    assert_memory_equal(sizing->at.time, plain->at[n].time, sizeof sizing->at.time);
    assert_memory_equal(sizing->at.log, plain->at[n].log, sizeof sizing->at.log);
    assert_true(n == 1 ? isnan(sizing->one_fewer) : sizing->one_fewer == wanted(plain, n - 1));
    const bool telling = !isnan(plain->at[n].log[BLI_TIME_WANTED].high);
    assert_int_equal(sizing->low, telling ? plain_low(plain, n) : 0);
    if (!telling || plain_high(plain, n) > 0)
        assert_int_equal(sizing->high, telling ? plain_high(plain, n) : 0);
}

/* ---- hasty replays ---- */

/* Of small fleets; counts those that were given up. */
static unsigned assert_hasty(const struct bli_replay *replay, const struct bal_policy_spec *policy,
                             const struct plain *plain) {
    enum bli_effort effort[SMALL];
    struct bli_case *cases = calloc(SMALL, sizeof *cases);
    struct bli_replay_outcome *hasty = calloc(SMALL, sizeof *hasty);
    unsigned given_up = 0;
    assert_true(cases && hasty);
    for (uint32_t n = 1; n <= SMALL; n++) {
        cases[n - 1] = case_of(replay, policy, n);
        effort[n - 1] = BLI_EFFORT_HASTY;
    }
    assert_int_equal(bli_replay_try(replay, cases, effort, SMALL, &two_threads, hasty, NULL), BAL_OK);
    for (uint32_t n = 1; n <= SMALL; n++) {
        const struct bli_replay_outcome *outcome = &hasty[n - 1];
        given_up += outcome->given_up;
        if (outcome->given_up) {
            assert_false(is_met(plain, n));
            assert_false(plain->target->quantile > 0 && may_do(plain, n));
        } else {
            assert_memory_equal(outcome->time, plain->at[n].time, sizeof outcome->time);
            assert_memory_equal(outcome->log, plain->at[n].log, sizeof outcome->log);
        }
    }
    free(hasty);
    free(cases);
    return given_up;
}

/* ---- the tests ---- */

static const char *const policies[] = {"jsq", "pod:d=2", "round-robin", "random", "tabs", "central"};
enum { POLICIES = sizeof policies / sizeof *policies };

static const struct bli_target targets[] = {
    {0, 0.07, "mean"}, {0.99, 0.5, "p99"}, {0.9, 0.2, "p90"}, {0.5, 0.05, "p50"}, {0.999, 0.8, "p99.9"}};
enum { TARGETS = sizeof targets / sizeof *targets };

/* Of any log and target; the curves of `random` are not always monotone, so that there may be several. */
static void least_fleet_is_that_of_the_plain_search(void **unused) {
    (void)unused;
    struct plain *plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    unsigned found = 0, given_up = 0;
    for (unsigned t = 0; t < TARGETS; t++) {
        const unsigned replications = t == 1 || t == 4 ? 1 : 1 + t % 2;
        struct bli_trace *trace = trace_new(t, JOBS, 1 + t % 3 * 0.5);
        const struct bli_demand demand = demand_of(trace);
        const struct bli_replay replay = replay_of(trace, &targets[t], replications);
        for (unsigned p = t % 3; p < POLICIES; p += 3) {
            const struct bal_policy_spec policy = policy_of(policies[p]);
            struct bli_sizing sizing;
            struct bal_error err = {0};
            if (bli_replay_size(&replay, &demand, &policy, 1, &two_threads, &sizing, &err))
                fail_msg("%s", err.text);
            replay_all(&replay, &policy, plain);
            assert_least(plain, &sizing);
            found += sizing.outcome == BLI_SIZED;
            given_up += assert_hasty(&replay, &policy, plain);
        }
        bli_trace_free(trace);
    }
    assert_in_range(found, 7, TARGETS * POLICIES / 3);
    assert_in_range(given_up, 10, TARGETS * POLICIES / 3 * SMALL);
    free(plain);
}

/* Ten jobs of a second at once decide the mean of 3000 small ones: where other logs have them twice, no fleet
 * will do, and none is named. */
static void a_range_may_have_no_end(void **unused) {
    (void)unused;
    const int64_t ms = 1000000;
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int i = 0; i < 3010; i++) {
        const bool large = i >= 1500 && i < 1510;
        const struct bli_trace_job job = {.time = (i < 1500 ? i
                                                   : large  ? 1500
                                                            : i - 10) *
                                                  100 * ms,
                                          .size = large ? 1000 * ms : 10 * ms};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    const struct bli_target mean = {0, 0.015, "mean"};
    const struct bli_demand demand = demand_of(trace);
    const struct bli_replay replay = replay_of(trace, &mean, 1);
    const struct bal_policy_spec policy = policy_of("jsq");
    struct plain *plain = calloc(1, sizeof *plain);
    struct bli_sizing sizing;
    assert_non_null(plain);
    assert_int_equal(bli_replay_size(&replay, &demand, &policy, 1, &two_threads, &sizing, NULL), BAL_OK);
    replay_all(&replay, &policy, plain);
    assert_true(is_met(plain, sizing.servers) && !is_met(plain, sizing.servers - 1));
    assert_int_equal(sizing.low, plain_low(plain, sizing.servers));
    assert_int_equal(sizing.high, 0);
    assert_true(sizing.fleets_tried < 20);
    free(plain);
    bli_trace_free(trace);
}

/* Three jobs of 1000 s at once, then many small ones for as long, and some more. Where `random` sends two of
 * the three to the same of seven servers, one in seven of the small ones waits behind it, 500 s on average:
 * 49 s for all, more than twice what is wanted. That is so in four replications of ten, and the mean of all
 * is 20 s. */
static void a_bad_replication_dooms_no_mean(void **unused) {
    (void)unused;
    const int64_t second = 1000000000;
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int64_t i = 0; i < 3003; i++) {
        const int64_t small =
            i < 2003 ? 1000 * second + i * second / 2 : (i - 2003) * 2 * second + 2002 * second;
        const struct bli_trace_job job = {.time = i < 3 ? i : small,
                                          .size = i < 3 ? 1000 * second : second / 1000};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    const struct bli_target mean = {0, 22, "mean"};
    const struct bli_replay replay = replay_of(trace, &mean, 10);
    const struct bal_policy_spec policy = policy_of("random");
    struct plain *plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    replay_all(&replay, &policy, plain);
    assert_true(is_met(plain, SMALL));
    assert_in_range(assert_hasty(&replay, &policy, plain), 1, SMALL - 1);
    free(plain);
    bli_trace_free(trace);
}

/* What is tried ahead on processors that have nothing to do changes nothing, nor what other policies need. */
static void search_is_the_same_on_any_number_of_threads(void **unused) {
    (void)unused;
    struct bli_trace *trace = trace_new(9, JOBS, 1.5);
    const struct bli_demand demand = demand_of(trace);
    const struct bli_replay replay = replay_of(trace, &targets[1], 1);
    struct bal_policy_spec all[POLICIES];
    struct bli_sizing together[POLICIES], alone;
    for (unsigned p = 0; p < POLICIES; p++)
        all[p] = policy_of(policies[p]);
    const struct bli_lab_options one = {.threads = 1};
    assert_int_equal(bli_replay_size(&replay, &demand, all, POLICIES, &one, together, NULL), BAL_OK);
    for (unsigned p = 0; p < POLICIES; p += 2)
        for (unsigned threads = 2; threads <= 5; threads += 3) {
            const struct bli_lab_options options = {.threads = threads};
            assert_int_equal(bli_replay_size(&replay, &demand, &all[p], 1, &options, &alone, NULL), BAL_OK);
            assert_int_equal(alone.servers, together[p].servers);
            assert_int_equal(alone.low, together[p].low);
            assert_int_equal(alone.high, together[p].high);
            assert_int_equal(alone.fleets_tried, together[p].fleets_tried);
            assert_memory_equal(&alone.one_fewer, &together[p].one_fewer, sizeof alone.one_fewer);
            assert_memory_equal(alone.at.time, together[p].at.time, sizeof alone.at.time);
        }
    bli_trace_free(trace);
}

/* Stretches of it: about so many of its jobs, in order, as close to each other as they were; what fails fails
 * at the same job. */
static void sample_is_like_its_log(void **unused) {
    (void)unused;
    struct bli_trace *trace = trace_new(3, 40000, 1), *part;
    const struct bli_trace_info *info = bli_trace_info(trace);
    struct bli_replay replay = replay_of(trace, &targets[1], 7), sample;
    replay.fail_at = info->span / 2;
    assert_int_equal(bli_replay_sample(&replay, 0.25, NULL, &sample, &part, NULL), BAL_OK);
    const struct bli_trace_info *few = bli_trace_info(part);
    assert_ptr_equal(sample.trace, part);
    assert_int_equal(sample.replications, 1);
    assert_in_range(few->jobs, 9000, 11000); /* as the stretches share the quiet and the busy half */
    assert_true(fabs(few->span / info->span - 0.25) < 0.01);
    assert_true(fabs(sample.fail_at / few->span - 0.5) < 0.15);
    bli_trace_free(part);
    bli_trace_free(trace);
}

/* 100 s of work in a second, and nothing else for 99. Of the jobs of the last hundredth of a second, which
 * may be late, the first finds 94 s of work that have flown in, a twentieth of a second after they came on
 * average, and 0.99 n less n^2 / 2000 s of it done, since at first there are fewer than n. 0.9 s are left to
 * it. */
static void work_alone_demands_servers(void **unused) {
    (void)unused;
    struct bli_trace *trace;
    struct bli_flow *flow;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int i = 0; i <= 1000; i++) {
        const struct bli_trace_job job = {.time = i < 1000 ? i * INT64_C(1000000) : INT64_C(100000000000),
                                          .size = 100000000};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    const struct bli_target p99 = {0.99, 1, "p99"};
    struct bli_replay replay = replay_of(trace, &p99, 1);
    assert_int_equal(bli_flow_new(&replay, NULL, &flow, NULL), BAL_OK);
    assert_int_equal(bli_flow_min_servers(flow, &replay), 51); /* 50.4 */
    replay.failing = 2;
    assert_int_equal(bli_flow_min_servers(flow, &replay), 53);
    replay.model.slots = 4;
    assert_int_equal(bli_flow_min_servers(flow, &replay), 15); /* 12.6 and 2 */
    free(flow);
    bli_trace_free(trace);
}

/* A log that is long enough for a guess: its answer is one that holds. */
static void guess_is_made_good(void **unused) {
    (void)unused;
    struct bli_trace *trace = trace_new(4, 41000, 1);
    const struct bli_demand demand = demand_of(trace);
    struct bli_replay replay = replay_of(trace, &targets[1], 8);
    const struct bal_policy_spec policy = policy_of("round-robin"); /* of which all replications are alike */
    struct bli_sizing sizing;
    struct plain *plain = calloc(1, sizeof *plain);
    assert_non_null(plain);
    assert_int_equal(bli_replay_size(&replay, &demand, &policy, 1, &two_threads, &sizing, NULL), BAL_OK);
    replay.replications = 1;
    replay_all(&replay, &policy, plain);
    const uint32_t n = sizing.servers;
    assert_true(is_met(plain, n) && !is_met(plain, n - 1));
    assert_true(fabs(sizing.one_fewer - wanted(plain, n - 1)) < 1e-9);
    assert_int_equal(sizing.low, plain_low(plain, n));
    assert_int_equal(sizing.high, plain_high(plain, n));
    assert_in_range(sizing.fleets_tried, 2, 6);
    free(plain);
    bli_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_fleet_is_that_of_the_plain_search),
        cmocka_unit_test(a_range_may_have_no_end),
        cmocka_unit_test(a_bad_replication_dooms_no_mean),
        cmocka_unit_test(search_is_the_same_on_any_number_of_threads),
        cmocka_unit_test(sample_is_like_its_log),
        cmocka_unit_test(work_alone_demands_servers),
        cmocka_unit_test(guess_is_made_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
