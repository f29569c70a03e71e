/* Do the ranges of "other logs" hold what they say? Logs are drawn from systems whose truth is known: random
 * routing to servers makes M/M/1 queues, whose response times are exponential. What an endless log would say
 * should lie in the range of a short one in 95 % of them; a bootstrap of dependent times is a little short of
 * that.
 *
 * Of LOGS = 100 independent logs at least 80 must have it. If they do with probability 0.9, as few do with
 * probability 2e-3; four such counts: 8e-3 in all, on fixed seeds. And not all may, with ranges as wide as
 * the truth: their mean width is limited. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/replay.h"
#include "texts.h"

#include <math.h>

enum { LOGS = 100, SERVERS = 6, JOBS = 20000, ENOUGH = 80 };

static const double mean_size = 0.02, load = 0.6;

/* Poisson arrivals and exponential sizes. The rate swings up and down twice, by that part of its mean. */
static struct bal_trace *draw_log(uint64_t number, double swing) {
    struct bal_rng rng;
    bal_rng_init(&rng, 1414, number, BAL_STREAM_TEST);
    struct bal_trace *trace;
    assert_int_equal(bal_trace_new(NULL, &trace, NULL), BAL_OK);
    const double gap = mean_size / (load * SERVERS), span = gap * JOBS, twice = 4 * 3.14159265358979;
    for (double now = 0; (now += gap / (1 + swing) * bal_rng_exp(&rng)) < span;) {
        if (bal_rng_uniform(&rng) * (1 + swing) > 1 - swing * cos(twice * now / span))
            continue;
        const struct bal_trace_job job = {.time = (int64_t)((1.7e9 + now) * 1e9),
                                          .size = 1 + (int64_t)(mean_size * 1e9 * bal_rng_exp(&rng))};
        assert_int_equal(bal_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bal_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

static struct bal_replay replay_of(const struct bal_trace *trace, uint64_t number,
                                   const struct bal_target *target) {
    struct bal_replay replay = {
        .trace = trace, .speedup = 1, .seed = 1 + number, .replications = 1, .target = target};
    assert_int_equal(bal_servers_parse("1", &replay.model.servers, NULL), BAL_OK);
    replay.model.servers.group[0].count = SERVERS;
    return replay;
}

static struct bal_replay_outcome outcome_of(uint64_t number, double swing) {
    struct bal_trace *trace = draw_log(number, swing);
    const struct bal_replay replay = replay_of(trace, number, NULL);
    const struct bal_policy_spec policy = policy_of("random");
    const struct bal_lab_options options = {.threads = 1};
    struct bal_case c;
    struct bal_replay_outcome outcome = {0};
    struct bal_error err = {0};
    if (bal_replay_case(&replay, &policy, &c, &err) ||
        bal_replay_run(&replay, &c, 1, &options, &outcome, &err))
        fail_msg("%s", err.text);
    bal_trace_free(trace);
    return outcome;
}

/* Mean and p99 of a given fleet. */
static void ranges_of_times_hold(void **unused) {
    (void)unused;
    const double mean = mean_size / (1 - load), p99 = mean * log(100);
    int mean_inside = 0, p99_inside = 0;
    double mean_width = 0, p99_width = 0;
    for (uint64_t i = 0; i < LOGS; i++) {
        const struct bal_replay_outcome outcome = outcome_of(i, 0);
        const struct bal_range m = outcome.log[BAL_TIME_MEAN], q = outcome.log[BAL_TIME_P99];
        assert_true(m.low <= outcome.time[BAL_TIME_MEAN].mean && outcome.time[BAL_TIME_MEAN].mean <= m.high);
        mean_inside += m.low <= mean && mean <= m.high;
        p99_inside += q.low <= p99 && p99 <= q.high;
        mean_width += (m.high - m.low) / mean / LOGS;
        p99_width += (q.high - q.low) / p99 / LOGS;
    }
    print_message("# mean in %d of %d ranges, %.1f %% wide; p99 in %d, %.1f %% wide\n", mean_inside, LOGS,
                  100 * mean_width, p99_inside, 100 * p99_width);
    assert_true(mean_inside >= ENOUGH && p99_inside >= ENOUGH);
    assert_true(mean_width < 0.15 && p99_width < 0.3);
}

/* The ups and downs of the day are no chance: they are the same in other logs. The truth is the mean of all
 * logs, and ranges of 95 % are 3.92 standard deviations of it wide. */
static void the_shape_of_the_day_is_no_chance(void **unused) {
    (void)unused;
    const double swing = 0.5;
    static struct bal_range range[LOGS];
    double value[LOGS], mean = 0, square = 0, width = 0;
    int inside = 0;
    for (uint64_t i = 0; i < LOGS; i++) {
        const struct bal_replay_outcome outcome = outcome_of(i, swing);
        range[i] = outcome.log[BAL_TIME_MEAN];
        value[i] = outcome.time[BAL_TIME_MEAN].mean;
        mean += value[i] / LOGS;
    }
    for (int i = 0; i < LOGS; i++) {
        square += (value[i] - mean) * (value[i] - mean) / (LOGS - 1);
        inside += range[i].low <= mean && mean <= range[i].high;
        width += (range[i].high - range[i].low) / LOGS;
    }
    print_message("# swinging: mean in %d of %d ranges, %.2f times as wide as they should be\n", inside, LOGS,
                  width / (3.92 * sqrt(square)));
    assert_true(inside >= ENOUGH);
    assert_true(width < 1.3 * 3.92 * sqrt(square));
}

/* The least number of servers by an endless log. */
static uint32_t true_least(const struct bal_target *target) {
    for (uint32_t n = 1;; n++) {
        const double busy = load * SERVERS / n;
        if (busy < 1 && log(1 / (1 - target->quantile)) * mean_size / (1 - busy) <= target->seconds)
            return n;
    }
}

static void ranges_of_servers_hold(void **unused) {
    (void)unused;
    const struct bal_target target = {0.99, 0.172, "p99"}; /* 7.75 servers would do exactly */
    const uint32_t least = true_least(&target);
    int inside = 0, right = 0;
    double width = 0;
    for (uint64_t i = 0; i < LOGS; i++) {
        struct bal_trace *trace = draw_log(i, 0);
        const struct bal_replay replay = replay_of(trace, i, &target);
        const struct bal_policy_spec policy = policy_of("random");
        const struct bal_lab_options options = {.threads = 1};
        struct bal_demand demand;
        struct bal_sizing sizing;
        struct bal_error err = {0};
        if (bal_demand_of(trace, NULL, &demand, &err) ||
            bal_replay_size(&replay, &demand, &policy, 1, &options, &sizing, &err))
            fail_msg("%s", err.text);
        assert_true(sizing.low <= sizing.servers && sizing.servers <= sizing.high);
        inside += sizing.low <= least && least <= sizing.high;
        right += sizing.servers == least;
        width += (double)(sizing.high - sizing.low) / LOGS;
        bal_trace_free(trace);
    }
    print_message(
        "# %u servers by an endless log: found by %d of %d, in the range of %d, which has %.1f servers "
        "besides the first\n",
        least, right, LOGS, inside, width);
    assert_true(inside >= ENOUGH);
    assert_true(width < 3);
}

/* Jobs of 1 s, two of them at a time, and six for an hour of the day: five servers cannot do that hour, whose
 * jobs are more than a hundredth, and no other log like this one says that they can. */
static void an_hour_of_overload_is_no_chance(void **unused) {
    (void)unused;
    const struct bal_target target = {0.99, 1.5, "p99"};
    struct bal_trace *trace;
    assert_int_equal(bal_trace_new(NULL, &trace, NULL), BAL_OK);
    for (int64_t second = 0; second < 86400; second++)
        for (int k = 0; k < (second / 3600 == 12 ? 6 : 2); k++) {
            const struct bal_trace_job job = {.time = second * 1000000000, .size = 1000000000};
            assert_int_equal(bal_trace_add(trace, &job, NULL), BAL_OK);
        }
    assert_int_equal(bal_trace_finish(trace, NULL, NULL), BAL_OK);
    const struct bal_replay replay = replay_of(trace, 0, &target);
    const struct bal_policy_spec policy = policy_of("jsq");
    const struct bal_lab_options options = {.threads = 1};
    struct bal_demand demand;
    struct bal_sizing sizing;
    assert_int_equal(bal_demand_of(trace, NULL, &demand, NULL), BAL_OK);
    assert_int_equal(bal_replay_size(&replay, &demand, &policy, 1, &options, &sizing, NULL), BAL_OK);
    assert_int_equal(sizing.servers, 6);
    assert_int_equal(sizing.low, 6);
    assert_int_equal(sizing.high, 6);
    bal_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_times_hold),
        cmocka_unit_test(the_shape_of_the_day_is_no_chance),
        cmocka_unit_test(ranges_of_servers_hold),
        cmocka_unit_test(an_hour_of_overload_is_no_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
