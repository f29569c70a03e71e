/* Do the ranges of "other logs" hold what they say? Logs are drawn from systems whose truth is known: random
 * routing to servers makes M/M/1 queues, whose response times are exponential. What an endless log would say
 * should lie in the range of a short one in 95 % of them; a bootstrap of dependent times is a little short of
 * that.
 *
 * Of LOGS = 100 independent logs at least 80 must have it. If they do with probability 0.9, as few do with
 * probability 2e-3; three such counts: 6e-3 in all, on fixed seeds. And not all may, with ranges as wide as
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

/* Poisson arrivals of one rate throughout, exponential sizes. */
static struct bal_trace *draw_log(uint64_t number) {
    struct bal_rng rng;
    bal_rng_init(&rng, 1414, number, BAL_STREAM_TEST);
    struct bal_trace *trace;
    assert_int_equal(bal_trace_new(NULL, &trace, NULL), BAL_OK);
    const double gap = mean_size / (load * SERVERS);
    double now = 1.7e9;
    for (int i = 0; i < JOBS; i++) {
        now += gap * bal_rng_exp(&rng);
        const struct bal_trace_job job = {.time = (int64_t)(now * 1e9),
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

/* Mean and p99 of a given fleet. */
static void ranges_of_times_hold(void **unused) {
    (void)unused;
    const double mean = mean_size / (1 - load), p99 = mean * log(100);
    int mean_inside = 0, p99_inside = 0;
    double mean_width = 0, p99_width = 0;
    for (uint64_t i = 0; i < LOGS; i++) {
        struct bal_trace *trace = draw_log(i);
        const struct bal_replay replay = replay_of(trace, i, NULL);
        const struct bal_policy_spec policy = policy_of("random");
        const struct bal_lab_options options = {.threads = 1};
        struct bal_case c;
        struct bal_replay_outcome outcome;
        struct bal_error err = {0};
        if (bal_replay_case(&replay, &policy, &c, &err) ||
            bal_replay_run(&replay, &c, 1, &options, &outcome, &err))
            fail_msg("%s", err.text);
        const struct bal_range m = outcome.log[BAL_TIME_MEAN], q = outcome.log[BAL_TIME_P99];
        assert_true(m.low <= outcome.time[BAL_TIME_MEAN].mean && outcome.time[BAL_TIME_MEAN].mean <= m.high);
        mean_inside += m.low <= mean && mean <= m.high;
        p99_inside += q.low <= p99 && p99 <= q.high;
        mean_width += (m.high - m.low) / mean / LOGS;
        p99_width += (q.high - q.low) / p99 / LOGS;
        bal_trace_free(trace);
    }
    print_message("# mean in %d of %d ranges, %.1f %% wide; p99 in %d, %.1f %% wide\n", mean_inside, LOGS,
                  100 * mean_width, p99_inside, 100 * p99_width);
    assert_true(mean_inside >= ENOUGH && p99_inside >= ENOUGH);
    assert_true(mean_width < 0.15 && p99_width < 0.3);
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
        struct bal_trace *trace = draw_log(i);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_of_times_hold),
        cmocka_unit_test(ranges_of_servers_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
