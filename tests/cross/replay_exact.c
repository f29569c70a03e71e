/* SPDX-License-Identifier: BSD-2-Clause */
/* Recorded jobs through the event engine: every one of them, at its time and of its size, under every policy;
 * the same times as a literal simulation finds; and the history of a run against one counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../literal.h"
#include "ballast/lab.h"
#include "texts.h"

enum { JOBS = 3000, KINDS = 3 };
#define FIRST INT64_C(1760000000000000000)

/* A day of traffic in small: arrivals in a quiet and a busy half, sizes of two kinds, a fifth of them high.
 */
static struct bli_trace *trace_new(struct literal_job *job, double speedup) {
    struct bli_trace *trace;
    struct bal_error err;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    if (bli_trace_new(NULL, &trace, &err))
        fail_msg("%s", err.text);
    int64_t time = FIRST;
    for (int i = 0; i < JOBS; i++) {
        const double mean = i < JOBS / 2 ? 60e6 : 25e6;
        const struct bli_trace_job recorded = {
            .time = time,
            .size = 1 + (int64_t)(bal_rng_exp(&rng) * (i % 10 ? 80e6 : 500e6)),
            .high = bal_rng_below(&rng, 5) == 0,
            .kind = (uint8_t)(i % KINDS),
        };
        if (bli_trace_add(trace, &recorded, &err))
            fail_msg("%s", err.text);
        job[i] = (struct literal_job){.arrival = (double)(time - FIRST) * (1e-9 / speedup),
                                      .size = (double)recorded.size * 1e-9,
                                      .rank = !recorded.high};
        time += (int64_t)(bal_rng_exp(&rng) * mean);
    }
    if (bli_trace_finish(trace, NULL, &err))
        fail_msg("%s", err.text);
    return trace;
}

static struct bli_model model_of(const struct bli_trace *trace, double speedup, const char *servers) {
    const struct bli_trace_info *info = bli_trace_info(trace);
    struct bli_model model = {0};
    struct bal_error err;
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse("exp", &model.size, &err))
        fail_msg("%s", err.text);
    bli_dist_scale(&model.size, info->size_mean);
    model.load = info->work / info->span * speedup / bli_model_capacity(&model);
    return model;
}

static struct bli_run run_of(const struct bli_trace *trace, double speedup) {
    return (struct bli_run){.seed = 5,
                            .time = bli_trace_info(trace)->span / speedup,
                            .warmup = NAN,
                            .trace = trace,
                            .speedup = speedup};
}

static void simulate(const struct bli_model *model, const struct bal_policy_spec *spec,
                     const struct bli_run *run, struct bli_trial *trial) {
    struct bal_error err;
    if (bli_simulate(model, spec, run, trial, &err))
        fail_msg("%s: %s", spec->policy->name, err.text);
}

static void expect_same(const struct bli_trace *trace, const struct literal_job *jobs, double speedup,
                        const struct bli_model *model, const char *policy) {
    const struct bal_policy_spec spec = policy_of(policy);
    struct bli_run run = run_of(trace, speedup);
    run.reference = bal_policy_flags(&spec) & (BAL_NEEDS_INDEX | BAL_NEEDS_WORK);
    struct bli_trial trial = {.histogram = {calloc(1, sizeof *trial.histogram[BLI_OF_RESPONSE])}};
    assert_non_null(trial.histogram[BLI_OF_RESPONSE]);
    simulate(model, &spec, &run, &trial);
    assert_int_equal(trial.jobs, JOBS);
    assert_int_equal(trial.events, 2 * JOBS);
    assert_true(trial.warmup == 0);
    assert_true(trial.engine == BLI_ENGINE_EVENT);
    struct literal world = {
        .model = model, .spec = &spec, .input = jobs, .inputs = JOBS, .until = INFINITY, .seed = 5};
    literal_run(&world);
    literal_expect(&world, &trial, policy);
    literal_free(&world);
    free(trial.histogram[BLI_OF_RESPONSE]);
}

static const char *const policies[] = {"random", "round-robin", "pod:d=2", "pod-memory:d=1,b=1",
                                       "jsq",    "jiq",         "pi",      "least-work"};
enum { POLICIES = sizeof policies / sizeof *policies };

static void every_job_under_every_policy(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    for (int s = 0; s < 3; s++) {
        const double speedup = s == 0 ? 1 : s == 1 ? 1.7 : 0.3;
        struct bli_trace *trace = trace_new(jobs, speedup);
        for (unsigned p = 0; p < POLICIES; p++) {
            struct bli_model model = model_of(trace, speedup, "4x1,1x2");
            expect_same(trace, jobs, speedup, &model, policies[p]);
            model.slots = 3;
            expect_same(trace, jobs, speedup, &model, policies[p]);
            bal_steal_parse("half", &model.steal, NULL);
            expect_same(trace, jobs, speedup, &model, policies[p]);
        }
        bli_trace_free(trace);
    }
}

static void classes_are_those_recorded(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    struct bli_model model = model_of(trace, 1, "5");
    model.classes = true;
    model.high = 0.2;
    expect_same(trace, jobs, 1, &model, "pod-scp:d1=1,d2=2");
    model.slots = 2;
    model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    expect_same(trace, jobs, 1, &model, "pod:d=2");
    bli_trace_free(trace);
}

/* The engine draws nothing: neither seed nor replication matter where the policy draws nothing either, and
 * the speedup alone changes the gaps between jobs. */
static void nothing_is_drawn(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "5");
    const struct bal_policy_spec spec = policy_of("round-robin");
    struct bli_run run = run_of(trace, 1);
    struct bli_trial a = {0}, b = {0};
    simulate(&model, &spec, &run, &a);
    run.seed = 77;
    run.replication = 3;
    run.speedup = 0; /* means 1 */
    simulate(&model, &spec, &run, &b);
    assert_memory_equal(a.metric, b.metric, sizeof a.metric);
    assert_memory_equal(a.quarter, b.quarter, sizeof a.quarter);
    bli_trace_free(trace);
}

/* The loop that is made for recorded jobs and the one that decides everything as it goes. */
static void fast_and_plain_loops_agree(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "4x1,1x2");
    unsigned compared = 0;
    for (size_t i = 0; i < bal_policy_count; i++) {
        const struct bal_policy_spec spec = policy_of(bal_policy_table[i]->name);
        if (bal_policy_flags(&spec) & (BAL_NEEDS_INDEX | BAL_NEEDS_WORK | BAL_TAKES_RANKS))
            continue; /* an index draws ties in another way */
        struct bli_run run = run_of(trace, 1);
        struct bli_trial fast = {0}, plain = {0};
        simulate(&model, &spec, &run, &fast);
        run.reference = true;
        simulate(&model, &spec, &run, &plain);
        assert_memory_equal(fast.metric, plain.metric, sizeof fast.metric);
        assert_memory_equal(fast.tail, plain.tail, sizeof fast.tail);
        compared++;
    }
    assert_true(compared >= 7);
    bli_trace_free(trace);
}

/* A trace whose file has been cut off: the trial ends with the error of reading it. */
static void a_trace_that_cannot_be_read(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    const int file = dup(0); /* the trace will get this number */
    assert_true(file >= 0 && close(file) == 0);
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "5");
    assert_int_equal(ftruncate(file, 16 * 100), 0);
    const struct bal_policy_spec spec = policy_of("random");
    const struct bli_run run = run_of(trace, 1);
    struct bli_trial trial = {0};
    struct bal_error err = {0};
    assert_int_equal(bli_simulate(&model, &spec, &run, &trial, &err), BAL_E_IO);
    assert_true(err.code == BAL_E_IO && err.text[0] != 0 && !strstr(err.text, "stopped"));
    bli_trace_free(trace);
}

/* Servers that switch off and servers that report at a rate do so until the last job has left, no longer. */
static void power_and_reports_end_with_the_run(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "40");
    const struct bli_run run = run_of(trace, 1);
    struct bli_trial trial = {0};
    const struct bal_policy_spec hasty = policy_of("tabs:mu=1,nu=1"), tabs = policy_of("tabs:mu=0.02,nu=10"),
                                 rcpb = policy_of("rcpb:c=4,mu=2");
    const double *m = trial.metric;
    simulate(&model, &hasty, &run, &trial); /* with all servers off a job is refused */
    assert_true(trial.jobs < JOBS && lrint(m[BLI_REFUSED] * JOBS) == JOBS - (long)trial.jobs);
    simulate(&model, &tabs, &run, &trial);
    assert_int_equal(trial.jobs, JOBS);
    assert_true(m[BLI_SERVERS_OFF] > 0.1);
    assert_true(fabs(m[BLI_SERVERS_BUSY] + m[BLI_SERVERS_STANDBY] + m[BLI_SERVERS_SETUP] +
                     m[BLI_SERVERS_OFF] - 1) < 1e-9);
    /* All work is done, so busy time is the sum of the sizes. */
    const double end = bli_trace_info(trace)->work / (m[BLI_SERVERS_BUSY] * 40);
    assert_true(end >= run.time && end < run.time + 10);
    simulate(&model, &rcpb, &run, &trial);
    assert_int_equal(trial.jobs, JOBS);
    assert_true(trial.metric[BLI_REPORTS_PER_JOB] > 0.5 && trial.metric[BLI_REPORTS_PER_JOB] < 100);
    bli_trace_free(trace);
}

/* Twice what the servers can do: the drain lasts about as long as the trace, and all of it is measured. */
static void an_overload_is_drained(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_trace_info *info = bli_trace_info(trace);
    struct bli_model model = model_of(trace, 1, "1");
    const struct bal_policy_spec spec = policy_of("random");
    const struct bli_run run = run_of(trace, 1);
    struct bli_trial trial = {0};
    simulate(&model, &spec, &run, &trial);
    assert_int_equal(trial.jobs, JOBS);
    assert_true(info->work > 1.5 * info->span);
    /* Busy from the first job to the last, but for moments at the start. */
    assert_true(trial.metric[BLI_SERVERS_BUSY] > 0.99);
    /* Queues grow to the end of the trace: the drain does not count there. */
    assert_true(trial.quarter[3] > trial.quarter[2] && trial.quarter[2] > trial.quarter[1]);
    bli_trace_free(trace);
}

/* The first and the last moment that a trace can tell are 585 years apart, more than a signed number of
 * nanoseconds holds. */
static void a_trace_may_last_for_centuries(void **state) {
    (void)state;
    struct bli_trace *trace;
    struct bal_error err;
    if (bli_trace_new(NULL, &trace, &err))
        fail_msg("%s", err.text);
    const struct bli_trace_job first = {.time = INT64_MIN, .size = INT64_MAX},
                               last = {.time = INT64_MAX, .size = 1000000000};
    if (bli_trace_add(trace, &first, &err) || bli_trace_add(trace, &last, &err) ||
        bli_trace_finish(trace, NULL, &err))
        fail_msg("%s", err.text);
    const struct bli_model model = model_of(trace, 1, "1");
    const struct bal_policy_spec spec = policy_of("random");
    const struct bli_run run = run_of(trace, 1);
    struct bli_trial trial = {0};
    simulate(&model, &spec, &run, &trial);
    assert_int_equal(trial.events, 4);
    /* The first job takes half of that time, and the last does not wait for it. */
    assert_true(fabs(trial.metric[BLI_RESPONSE_MEAN] - (0x1p63 * 1e-9 + 1) / 2) < 1e-4);
    assert_true(trial.metric[BLI_WAITING_PROBABILITY] == 0);
    bli_trace_free(trace);
}

/* A run may be longer than its trace, by any amount: it then ends at its time. */
static void a_run_may_outlast_its_jobs(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "20");
    const struct bal_policy_spec spec = policy_of("tabs:mu=0.02,nu=10");
    struct bli_run run = run_of(trace, 1);
    for (int i = 0; i < 200; i++) {
        run.time = bli_trace_info(trace)->span + 20 + 0.137 * i;
        struct bli_trial trial = {0};
        simulate(&model, &spec, &run, &trial);
        assert_int_equal(trial.jobs, JOBS);
        const double time = bli_trace_info(trace)->work / (trial.metric[BLI_SERVERS_BUSY] * 20);
        assert_true(fabs(time / run.time - 1) < 1e-9);
    }
    /* Servers go on meanwhile: they report at their rate and switch off. */
    struct bli_trial trial = {0};
    const struct bal_policy_spec rcpb = policy_of("rcpb:c=4,mu=2");
    run.time = 100 * bli_trace_info(trace)->span;
    simulate(&model, &spec, &run, &trial);
    assert_true(trial.metric[BLI_SERVERS_OFF] > 0.9);
    simulate(&model, &rcpb, &run, &trial);
    const double reports = 20 * 2 / bli_trace_info(trace)->size_mean; /* in a second, of 20 idle servers */
    assert_true(fabs(trial.metric[BLI_MESSAGES_PER_TIME] / reports - 1) < 0.02);
    bli_trace_free(trace);
}

/* ---- history ---- */

enum { SPANS = 7 };

struct spans {
    double jobs[SPANS], response[SPANS], p99[SPANS], watts[SPANS];
};

static struct bli_history history_of(struct spans *spans) {
    return (struct bli_history){.spans = SPANS,
                                .jobs = spans->jobs,
                                .response = spans->response,
                                .p99 = spans->p99,
                                .watts = spans->watts};
}

/* Kinds of jobs, and the histograms of all spans, add up to all jobs, whatever servers do with them. */
static void a_history_tells_kinds(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    static const struct {
        const char *policy, *steal, *servers;
        uint32_t slots;
        enum bli_discipline discipline;
        bool classes;
    } cases[] = {{"jiq", "none", "4x1,1x2", 1, BLI_DISCIPLINE_AUTO, false},
                 {"random", "half", "4x1,1x2", 1, BLI_DISCIPLINE_AUTO, false},
                 {"random", "half", "4x1,1x2", 3, BLI_DISCIPLINE_AUTO, false},
                 {"jsq", "none", "4x1,1x2", 1, BLI_DISCIPLINE_PREEMPTIVE, true},
                 {"jsq", "none", "4x1,1x2", 3, BLI_DISCIPLINE_NONPREEMPTIVE, true},
                 {"pod-ssp", "none", "4x1,1x2", 1, BLI_DISCIPLINE_AUTO, true},
                 {"jiq:else=hold", "none", "4x1,1x2", 1, BLI_DISCIPLINE_AUTO, false},
                 {"jiq:else=hold", "none", "4x1,1x2", 3, BLI_DISCIPLINE_NONPREEMPTIVE, true},
                 {"central", "none", "5", 1, BLI_DISCIPLINE_AUTO, false},
                 {"delayed-off:mu=0.1,nu=0.1", "none", "5", 3, BLI_DISCIPLINE_AUTO, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bli_model model = model_of(trace, 1, cases[c].servers);
        model.slots = cases[c].slots;
        model.classes = cases[c].classes;
        model.high = 0.2;
        model.discipline = cases[c].discipline;
        if (strcmp(cases[c].steal, "none") != 0)
            assert_int_equal(bal_steal_parse(cases[c].steal, &model.steal, NULL), BAL_OK);
        const struct bal_policy_spec spec = policy_of(cases[c].policy);
        struct bli_run run = run_of(trace, 1);
        run.replication = 3; /* any */
        struct spans spans;
        struct bli_history history = history_of(&spans);
        history.kinds = KINDS;
        history.kind = calloc(KINDS, sizeof *history.kind);
        history.responses = calloc(SPANS, sizeof *history.responses);
        struct bli_trial trial = {.histogram = {calloc(1, sizeof *trial.histogram[BLI_OF_RESPONSE])}};
        assert_true(history.kind && history.responses && trial.histogram[BLI_OF_RESPONSE]);
        run.history = &history;
        simulate(&model, &spec, &run, &trial);
        double sum = 0;
        for (int k = 0; k < KINDS; k++) {
            assert_int_equal(history.kind[k].jobs, JOBS / KINDS);
            sum += history.kind[k].response;
            bli_histogram_subtract(trial.histogram[BLI_OF_RESPONSE], &history.kind[k].responses);
        }
        assert_true(fabs(sum / JOBS / trial.metric[BLI_RESPONSE_MEAN] - 1) < 1e-9);
        assert_int_equal(bli_histogram_total(trial.histogram[BLI_OF_RESPONSE]), 0);
        uint64_t jobs_of_spans = 0;
        for (int s = 0; s < SPANS; s++)
            jobs_of_spans += bli_histogram_total(&history.responses[s]);
        assert_int_equal(jobs_of_spans, JOBS);
        free(history.kind);
        free(history.responses);
        free(trial.histogram[BLI_OF_RESPONSE]);
    }
    bli_trace_free(trace);
}

/* round-robin on equal servers of one slot: a job's times follow from those of the job N places before. */
static void a_history_counted_by_hand(void **state) {
    (void)state;
    enum { SERVERS = 4 };
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    struct bli_model model = model_of(trace, 1, "4");
    model.watts = (struct bli_watts){100, 10, 0, 0};
    const struct bal_policy_spec spec = policy_of("round-robin");
    struct bli_run run = run_of(trace, 1);
    struct spans got, expected = {0};
    struct bli_history history = history_of(&got);
    run.history = &history;
    struct bli_trial trial = {0};
    simulate(&model, &spec, &run, &trial);
    double free_at[SERVERS] = {0}, response[JOBS], busy[SPANS] = {0};
    const double width = run.time / SPANS;
    unsigned span_of[JOBS];
    for (int i = 0; i < JOBS; i++) {
        const double start = fmax(free_at[i % SERVERS], jobs[i].arrival);
        free_at[i % SERVERS] = start + jobs[i].size;
        response[i] = free_at[i % SERVERS] - jobs[i].arrival;
        span_of[i] = (unsigned)fmin(jobs[i].arrival / width, SPANS - 1);
        expected.jobs[span_of[i]]++;
        expected.response[span_of[i]] += response[i];
        for (int s = 0; s < SPANS; s++)
            busy[s] += fmax(fmin(free_at[i % SERVERS], (s + 1) * width) - fmax(start, s * width), 0);
    }
    double total = 0;
    for (int s = 0; s < SPANS; s++) {
        assert_true(got.jobs[s] == expected.jobs[s]);
        assert_true(fabs(got.response[s] - expected.response[s] / expected.jobs[s]) < 1e-9);
        const double watts = (busy[s] * 100 + (SERVERS * width - busy[s]) * 10) / width;
        assert_true(fabs(got.watts[s] - watts) < 1e-6 * watts);
        double above = 0; /* jobs slower than the 99th percentile, give or take a bin */
        for (int i = 0; i < JOBS; i++)
            above += span_of[i] == (unsigned)s && response[i] > got.p99[s] * 1.01;
        assert_true(above <= 0.01 * got.jobs[s]);
        above = 0;
        for (int i = 0; i < JOBS; i++)
            above += span_of[i] == (unsigned)s && response[i] >= got.p99[s] / 1.01;
        assert_true(above >= 0.01 * got.jobs[s]);
        total += got.jobs[s];
    }
    assert_true(total == JOBS);
    bli_trace_free(trace);
}

/* A server that works for a second, stands by for 20, is off, and nothing else happens for 77 seconds: what
 * its timers do belongs to the spans in which they do it. */
static void a_history_of_power(void **state) {
    (void)state;
    struct bli_trace *trace;
    struct bal_error err;
    if (bli_trace_new(NULL, &trace, &err))
        fail_msg("%s", err.text);
    for (int i = 0; i < 2; i++) {
        const struct bli_trace_job job = {.time = FIRST + i * INT64_C(98000000000), .size = 1000000000};
        if (bli_trace_add(trace, &job, &err))
            fail_msg("%s", err.text);
    }
    if (bli_trace_finish(trace, NULL, &err))
        fail_msg("%s", err.text);
    struct bli_model model = model_of(trace, 1, "1");
    model.watts = (struct bli_watts){200, 140, 50, 3};
    if (bli_dist_parse("det(20)", &model.standby, &err) || bli_dist_parse("det(2)", &model.setup, &err))
        fail_msg("%s", err.text);
    const struct bal_policy_spec spec = policy_of("tabs");
    struct bli_run run = run_of(trace, 1);
    struct spans got;
    struct bli_history history = history_of(&got);
    run.history = &history;
    struct bli_trial trial = {0};
    simulate(&model, &spec, &run, &trial);
    const double joules[SPANS] = {1 * 200 + 13 * 140, 7 * 140 + 7 * 3, 42, 42, 42, 42, 42}; /* in 14 s each */
    for (int s = 0; s < SPANS; s++)
        assert_true(fabs(got.watts[s] - joules[s] / 14) < 1e-9);
    assert_true(trial.jobs == 1 && trial.metric[BLI_REFUSED] == 0.5); /* the last one finds none on */
    bli_trace_free(trace);
}

/* Without a trace: drawn jobs, two kinds of servers, servers that switch off. Jobs of all spans are those
 * completed, and the watts of all spans are those of the whole run. */
static void a_history_of_drawn_jobs(void **state) {
    (void)state;
    static const char *const which[] = {"pod:d=2", "tabs:mu=0.5,nu=0.5", "jsq"};
    for (int p = 0; p < 3; p++) {
        struct bli_model model = {.load = 0.7};
        struct bal_error err;
        if (bli_servers_parse("10x1,5x2", &model.servers, &err) || bli_dist_parse("exp", &model.size, &err))
            fail_msg("%s", err.text);
        const struct bal_policy_spec spec = policy_of(which[p]);
        struct spans got;
        struct bli_history history = history_of(&got);
        struct bli_run run = {.seed = 3, .time = 1234.5, .warmup = 0, .history = &history};
        struct bli_trial trial = {0}, plain = {0};
        simulate(&model, &spec, &run, &trial);
        assert_true(trial.engine == BLI_ENGINE_EVENT);
        double jobs = 0, response = 0, watts = 0;
        for (int s = 0; s < SPANS; s++) {
            jobs += got.jobs[s];
            response += got.jobs[s] * got.response[s];
            watts += got.watts[s] / SPANS;
            assert_true(got.p99[s] > got.response[s]);
        }
        assert_true(jobs == (double)trial.jobs);
        assert_true(fabs(response / jobs - trial.metric[BLI_RESPONSE_MEAN]) < 1e-9);
        assert_true(fabs(watts / 15 - trial.metric[BLI_POWER_MEAN]) < 1e-6);
        /* Looking changes nothing, and of several replications the lab looks at the first. */
        run.history = NULL;
        run.engine = BLI_ENGINE_EVENT;
        simulate(&model, &spec, &run, &plain);
        assert_memory_equal(trial.tail, plain.tail, sizeof trial.tail);
        assert_true(trial.metric[BLI_RESPONSE_MEAN] == plain.metric[BLI_RESPONSE_MEAN]);
        const struct spans first = got;
        memset(&got, 0, sizeof got);
        run.history = &history;
        const struct bli_case c = {.model = model, .policy = spec, .run = run, .replications = 3};
        const struct bli_lab_options options = {.threads = 3};
        struct bli_result result;
        assert_int_equal(bli_lab_run(&c, 1, &options, &result, &err), BAL_OK);
        assert_memory_equal(&got, &first, sizeof got);
    }
}

/* ---- servers that fail ---- */

static void simulate_failure(const struct bli_trace *trace, const struct bli_model *model, const char *policy,
                             uint32_t failing, double at, struct bli_trial *trial) {
    struct bli_run run = run_of(trace, 1);
    run.reference = true; /* as servers that fail ask for */
    run.failing = failing;
    run.fail_at = at;
    const struct bal_policy_spec spec = policy_of(policy);
    simulate(model, &spec, &run, trial);
}

/* Two servers take jobs in turn; the second fails. What it had then begins anew at the first, behind what
 * that has, in the order in which it stood; so does what comes later. */
static void a_failure_counted_by_hand(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "2x4");
    const double at = jobs[2001].arrival + 1e-6; /* which is with the second server */
    double free_at[2] = {0, 0}, response = 0;
    int lost[JOBS], count = 0;
    for (int i = 0; i < JOBS && jobs[i].arrival < at; i++) {
        const int server = i % 2;
        const double start = fmax(free_at[server], jobs[i].arrival);
        free_at[server] = start + jobs[i].size / 4;
        if (server == 1 && free_at[1] > at)
            lost[count++] = i;
        else
            response += free_at[server] - jobs[i].arrival;
    }
    assert_true(count > 0);
    for (int k = 0; k < count; k++) {
        free_at[0] = fmax(free_at[0], at) + jobs[lost[k]].size / 4;
        response += free_at[0] - jobs[lost[k]].arrival;
    }
    for (int i = 0; i < JOBS; i++)
        if (jobs[i].arrival >= at) {
            free_at[0] = fmax(free_at[0], jobs[i].arrival) + jobs[i].size / 4;
            response += free_at[0] - jobs[i].arrival;
        }
    struct bli_trial trial = {0};
    simulate_failure(trace, &model, "round-robin", 1, at, &trial);
    assert_int_equal(trial.jobs, JOBS);
    assert_true(fabs(trial.metric[BLI_RESPONSE_MEAN] / (response / JOBS) - 1) < 1e-9);
    assert_true(fabs(trial.metric[BLI_SERVERS_OFF] - (1 - at / free_at[0]) / 2) < 1e-9);
    bli_trace_free(trace);
}

/* Nothing is lost when servers fail, whatever the policy and the servers; what they do not do afterwards
 * shows in the power; a failure that comes too late changes nothing. */
static void no_job_is_lost_by_a_failure(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const double span = bli_trace_info(trace)->span;
    static const struct {
        const char *steal;
        uint32_t slots;
        enum bli_discipline discipline;
        bool classes;
    } fleets[] = {
        {NULL, 1, BLI_DISCIPLINE_AUTO, false},         {NULL, 3, BLI_DISCIPLINE_AUTO, false},
        {"half", 1, BLI_DISCIPLINE_AUTO, false},       {"half", 3, BLI_DISCIPLINE_AUTO, false},
        {NULL, 1, BLI_DISCIPLINE_NONPREEMPTIVE, true}, {NULL, 3, BLI_DISCIPLINE_NONPREEMPTIVE, true}};
    static const char *const all[] = {"random", "round-robin", "pod:d=2",   "pod-memory:d=1,b=1",
                                      "jsq",    "jiq",         "pi",        "rcpb:c=1",
                                      "tabs",   "least-work",  "least-conn"};
    for (size_t f = 0; f < sizeof fleets / sizeof *fleets; f++)
        for (size_t p = 0; p < sizeof all / sizeof *all; p++) {
            struct bli_model model = model_of(trace, 1, "6x1,2x2");
            model.slots = fleets[f].slots;
            model.classes = fleets[f].classes;
            model.high = 0.2;
            model.discipline = fleets[f].discipline;
            if (fleets[f].steal)
                assert_int_equal(bal_steal_parse(fleets[f].steal, &model.steal, NULL), BAL_OK);
            enum bli_engine engine;
            const struct bal_policy_spec spec = policy_of(all[p]);
            if (bli_simulate_check(&model, &spec, BLI_ENGINE_EVENT, &engine, NULL))
                continue;
            struct bli_trial with = {0}, late = {0}, without = {0};
            simulate_failure(trace, &model, all[p], 3, 0.5 * span, &with);
            simulate_failure(trace, &model, all[p], 3, 10 * span, &late);
            simulate_failure(trace, &model, all[p], 0, 0, &without);
            assert_true(late.metric[BLI_RESPONSE_MEAN] == without.metric[BLI_RESPONSE_MEAN]);
            const double refused = with.metric[BLI_REFUSED];
            assert_true(with.jobs == (uint64_t)lrint(JOBS * (1 - refused)) && (refused == 0 || p == 8));
            assert_true(with.metric[BLI_RESPONSE_MEAN] > without.metric[BLI_RESPONSE_MEAN]);
            assert_true(p == 8 || with.metric[BLI_SERVERS_OFF] > 0.4 * 3 / 8);
        }
    bli_trace_free(trace);
}

/* ---- what cannot be ---- */

static void expect_refused(const struct bli_model *model, const char *policy, const struct bli_run *run,
                           const char *text) {
    const struct bal_policy_spec spec = policy_of(policy);
    struct bli_trial trial = {0};
    struct bal_error err = {0};
    assert_true(bli_simulate(model, &spec, run, &trial, &err) == BAL_E_MODEL);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not say '%s'", err.text, text);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model good = model_of(trace, 1, "5");
    const struct bli_run replay = run_of(trace, 1);
    struct bli_model model = good;
    struct bli_run failing = replay;
    failing.failing = 1;
    failing.engine = BLI_ENGINE_AUTO;
    expect_refused(&good, "central", &failing,
                   "one common queue cannot be had with a run in which servers fail");
    model.tasks = 2;
    expect_refused(&model, "random", &replay, "several tasks");
    model = good;
    assert_int_equal(bli_curve_parse("sine(0.5,10)", &model.curve, NULL), BAL_OK);
    expect_refused(&model, "random", &replay, "a load curve");
    model = good;
    model.start.busy = 0.5;
    expect_refused(&model, "random", &replay, "begin with jobs");
    struct bli_run run = replay;
    run.engine = BLI_ENGINE_MARKOV;
    expect_refused(&good, "random", &run, "cannot simulate a replay of recorded jobs; use event or auto");
    run = replay;
    run.speedup = -1;
    expect_refused(&good, "random", &run, "speedup");
    struct spans spans;
    struct bli_history history = history_of(&spans);
    run = (struct bli_run){.time = 1, .warmup = 0, .engine = BLI_ENGINE_MARKOV, .history = &history};
    expect_refused(&good, "random", &run, "cannot simulate a history; use event or auto");
    bli_trace_free(trace);
}

/* A run that is told to stop does, also in the drain. */
static void a_replay_can_be_stopped(void **state) {
    (void)state;
    static struct literal_job jobs[JOBS];
    struct bli_trace *trace = trace_new(jobs, 1);
    const struct bli_model model = model_of(trace, 1, "5");
    const struct bal_policy_spec spec = policy_of("random");
    struct bli_run run = run_of(trace, 1);
    const volatile int stop = 1;
    run.stop = &stop;
    struct bli_trial trial = {0};
    struct bal_error err;
    assert_int_equal(bli_simulate(&model, &spec, &run, &trial, &err), BAL_E_STOPPED);
    bli_trace_free(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_under_every_policy),
        cmocka_unit_test(classes_are_those_recorded),
        cmocka_unit_test(nothing_is_drawn),
        cmocka_unit_test(fast_and_plain_loops_agree),
        cmocka_unit_test(a_trace_that_cannot_be_read),
        cmocka_unit_test(power_and_reports_end_with_the_run),
        cmocka_unit_test(an_overload_is_drained),
        cmocka_unit_test(a_trace_may_last_for_centuries),
        cmocka_unit_test(a_run_may_outlast_its_jobs),
        cmocka_unit_test(a_history_tells_kinds),
        cmocka_unit_test(a_history_counted_by_hand),
        cmocka_unit_test(a_history_of_power),
        cmocka_unit_test(a_history_of_drawn_jobs),
        cmocka_unit_test(a_failure_counted_by_hand),
        cmocka_unit_test(no_job_is_lost_by_a_failure),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_replay_can_be_stopped),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
