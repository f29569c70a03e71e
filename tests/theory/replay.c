/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces drawn from systems whose answer is known replay to that answer.
 *
 * Twenty traces each, drawn independently; the mean over them must lie within the 99.99 % Student interval
 * around the known value. Six such comparisons: a false alarm has probability 6e-4 in all. Every replay
 * begins with an empty fleet, which pulls means down, but by less than a tenth of that interval: about a
 * relaxation time, (1 - sqrt(load))^-2 or 56 service times, of 26000 is affected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/replay.h"
#include "ballast/theory.h"

#include <math.h>

enum { TRACES = 20, SERVERS = 8 };

static const double mean_size = 0.02, load = 0.6; /* seconds */

/* A Poisson stream that keeps `slots` servers of speed 1 busy to that load, with exponential sizes. */
static struct bli_trace *poisson_trace(uint64_t number, double slots, int jobs) {
    struct bal_rng rng;
    bal_rng_init(&rng, 2026, number, BAL_STREAM_TEST);
    struct bli_trace *trace;
    assert_int_equal(bli_trace_new(NULL, &trace, NULL), BAL_OK);
    const double gap = mean_size / (load * slots);
    double now = 1.7e9; /* a log of our days */
    for (int i = 0; i < jobs; i++) {
        now += gap * bal_rng_exp(&rng);
        const struct bli_trace_job job = {.time = (int64_t)(now * 1e9),
                                          .size = 1 + (int64_t)(mean_size * 1e9 * bal_rng_exp(&rng))};
        assert_int_equal(bli_trace_add(trace, &job, NULL), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, NULL), BAL_OK);
    return trace;
}

struct question {
    const char *policy;
    uint32_t servers, slots;
    double speedup;
    enum bli_metric metric;
    double answer; /* in mean sizes */
};

static void ask(const struct question *q, const struct bli_trace *const *trace) {
    double value[TRACES];
    struct bal_policy_spec policy;
    assert_int_equal(bal_policy_parse(q->policy, &policy, NULL), BAL_OK);
    for (int t = 0; t < TRACES; t++) {
        struct bli_replay replay = {.trace = trace[t],
                                    .speedup = q->speedup,
                                    .model = {.slots = q->slots},
                                    .seed = 1 + (uint64_t)t,
                                    .replications = 1};
        assert_int_equal(bli_servers_parse("1", &replay.model.servers, NULL), BAL_OK);
        replay.model.servers.group[0].count = q->servers;
        const struct bli_lab_options options = {.threads = 1};
        struct bli_case c;
        struct bli_result result;
        struct bal_error err = {0};
        if (bli_replay_case(&replay, &policy, &c, &err) || bli_lab_run(&c, 1, &options, &result, &err))
            fail_msg("%s", err.text);
        assert_int_equal(result.jobs, bli_trace_info(trace[t])->jobs);
        value[t] = result.metric[q->metric].mean / mean_size;
    }
    const struct bli_estimate mean = bli_estimate_mean(value, TRACES);
    const double half = mean.half_width * bli_student_quantile(1 - 0.5e-4, TRACES - 1) /
                        bli_student_quantile(0.975, TRACES - 1);
    print_message("# %s on %ux%u, speedup %g: %s %.4f, known %.4f, interval %.4f\n", q->policy, q->servers,
                  q->slots, q->speedup, bli_metric_table[q->metric].name, mean.mean, q->answer, half);
    assert_true(fabs(mean.mean - q->answer) <= half);
    assert_true(half < 0.05 * q->answer); /* it must be able to fail */
}

/* Random routing makes M/M/1 queues, whose response times are exponential; a server of k slots is M/M/k. */
static void known_systems(void **unused) {
    (void)unused;
    const struct bli_trace *trace[TRACES];
    for (unsigned t = 0; t < TRACES; t++)
        trace[t] = poisson_trace(t, SERVERS, 20000 * SERVERS);
    const double fast = 1.25 * load; /* sped up */
    const struct bli_wait pool = bli_wait_mmn(fast, SERVERS), half_pool = bli_wait_mmn(fast, SERVERS / 2);
    const struct question questions[] = {
        {"random", SERVERS, 1, 1, BLI_RESPONSE_MEAN, 1 / (1 - load)},
        {"random", SERVERS, 1, 1, BLI_RESPONSE_P99, log(100) / (1 - load)},
        {"random", SERVERS, 1, 1.25, BLI_RESPONSE_MEAN, 1 / (1 - fast)},
        {"random", 1, SERVERS, 1.25, BLI_RESPONSE_MEAN, bli_wait_response_mean(&pool)},
        {"random", 2, SERVERS / 2, 1.25, BLI_RESPONSE_MEAN, bli_wait_response_mean(&half_pool)},
        {"least-work", SERVERS, 1, 1.25, BLI_RESPONSE_MEAN, bli_wait_response_mean(&pool)},
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        ask(&questions[i], trace);
    for (unsigned t = 0; t < TRACES; t++)
        bli_trace_free((struct bli_trace *)trace[t]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_systems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
