/* SPDX-License-Identifier: BSD-2-Clause */
/* The slotted engine on its own: the arithmetic of slots, what it measures, what it refuses, and what
 * Persistent-Idle promises in every slot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/simulate.h"

#include "../theory/close.h"
#include "texts.h"

#include <string.h>

static struct bli_model model_of(const char *servers, const char *batch, double load, bool split) {
    struct bli_model model = {.load = load, .clock = BLI_CLOCK_SLOTTED, .split = split};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &model.servers, &err) || bli_batch_parse(batch, &model.batch, &err))
        fail_msg("%s", err.text);
    bli_model_set_load(&model);
    return model;
}

static struct bli_trial simulate(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run) {
    struct bli_trial trial = {.jobs = 0};
    struct bal_error err = {0};
    if (bli_simulate(model, policy, run, &trial, &err))
        fail_msg("%s", err.text);
    assert_int_equal(trial.engine, BLI_ENGINE_SLOTTED);
    return trial;
}

/* Six jobs arrive in every slot and go to two servers in turn, each of which finishes three in a slot: half
 * of the jobs leave in the slot in which they come, half in the next, and three are left at the end of every
 * slot. */
static void clockwork(void **state) {
    (void)state;
    const struct bli_model model = model_of("2x3", "6", NAN, false);
    const struct bal_policy_spec policy = policy_of("round-robin");
    struct bli_histogram response, waiting;
    const struct bli_run run = {.seed = 1, .time = 1000};
    struct bli_trial trial = {.histogram = {&response, &waiting}};
    assert_int_equal(bli_simulate(&model, &policy, &run, &trial, NULL), BAL_OK);
    const double *metric = trial.metric;
    assert_true(trial.jobs == 6000 - 3 && trial.events == 6000 + 6000 - 3);
    assert_true(metric[BLI_QUEUE_TOTAL] == 3 && metric[BLI_QUEUE_MEAN] == 1.5);
    assert_true(response.count[bli_histogram_bin(1)] == 3000 && response.count[bli_histogram_bin(2)] == 2997);
    assert_true(waiting.count[bli_histogram_bin(0)] == 3000 && waiting.count[bli_histogram_bin(1)] == 2997);
    assert_close(metric[BLI_RESPONSE_MEAN], (3000 + 2 * 2997) / 5997.0, 1e-15);
    assert_close(metric[BLI_WAITING_MEAN], 2997 / 5997.0, 1e-15);
    assert_close(metric[BLI_WAITING_PROBABILITY], 2997 / 5997.0, 1e-12);
    assert_true(metric[BLI_RESPONSE_P50] == 1 && metric[BLI_RESPONSE_P90] == 2 &&
                metric[BLI_RESPONSE_P999] == 2);
    assert_true(metric[BLI_WAITING_P50] == 0 && metric[BLI_WAITING_P90] == 1);
    assert_true(metric[BLI_PROBES_PER_JOB] == 0 && metric[BLI_MESSAGES_PER_TIME] == 0);
    for (int i = 0; i < 6; i++)
        assert_true(trial.tail[i] == (i == 0 ? 1 : i <= 3 ? 0.5 : 0));
    for (int q = 0; q < 4; q++)
        assert_true(trial.quarter[q] == 3);
}

/* Everything is done in its own slot: one report a slot, as the paper counts it, although nobody is ever left
 * busy. */
static void tokens(void **state) {
    (void)state;
    const struct bli_model model = model_of("4x9", "5", NAN, false);
    const struct bal_policy_spec policy = policy_of("pi");
    const struct bli_run run = {.seed = 1, .time = 500};
    const struct bli_trial whole = simulate(&model, &policy, &run);
    assert_true(whole.metric[BLI_MESSAGES_PER_TIME] == 1 && whole.metric[BLI_REPORTS_PER_JOB] == 0.2);
    assert_true(whole.metric[BLI_QUEUE_TOTAL] == 0 && whole.metric[BLI_RESPONSE_P999] == 1);
    const struct bli_model split = model_of("4x9", "5", NAN, true);
    const struct bli_trial parts = simulate(&split, &policy, &run);
    assert_true(parts.metric[BLI_MESSAGES_PER_TIME] == 4);
    assert_true(whole.metric[BLI_MESSAGES_PER_BATCH] == 1 && whole.metric[BLI_MESSAGES_PER_PART] == 1);
    assert_true(parts.metric[BLI_MESSAGES_PER_BATCH] == 4 && parts.metric[BLI_MESSAGES_PER_PART] == 1);
}

/* A run may have any number of slots: fewer than there are slices, or none that divides well. With three jobs
 * a slot and one of them finished, Q(t) = 2 t, whose mean over t = 1 .. n is n + 1. */
static void any_length(void **state) {
    (void)state;
    const struct bli_model model = model_of("1x1", "3", NAN, false);
    const struct bal_policy_spec policy = policy_of("random");
    static const double times[] = {1,  2,  3,   4,    5,    39,   40,   41,   79,
                                   80, 81, 999, 1000, 1001, 1234, 1999, 2000, 4321};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const double n = times[i];
        struct bli_run run = {.seed = 1, .time = n};
        struct bli_trial trial = simulate(&model, &policy, &run);
        assert_close(trial.metric[BLI_QUEUE_TOTAL], n + 1, 1e-13);
        assert_true(trial.events == (uint64_t)(4 * n) && trial.warmup == 0);
        assert_true(trial.tail[2] == 1);
        if (n >= 4)
            assert_true(trial.quarter[0] < trial.quarter[1] && trial.quarter[2] < trial.quarter[3]);
        /* a slot that has begun is simulated to its end */
        run.time = n - 0.5;
        trial = simulate(&model, &policy, &run);
        assert_close(trial.metric[BLI_QUEUE_TOTAL], n + 1, 1e-13);
        /* half of it cut: the mean over the rest, at slots w + 1 .. n */
        run.time = n;
        run.warmup = 0.5;
        trial = simulate(&model, &policy, &run);
        assert_true(trial.warmup == floor(trial.warmup) && fabs(trial.warmup - n / 2) <= 1);
        assert_close(trial.metric[BLI_QUEUE_TOTAL], n + trial.warmup + 1, 1e-13);
        assert_true(trial.jobs == (uint64_t)(n - trial.warmup));
        /* found by MSER-5: never more than half */
        run.warmup = NAN;
        trial = simulate(&model, &policy, &run);
        assert_true(trial.warmup <= n / 2);
        assert_close(trial.metric[BLI_QUEUE_TOTAL], n + trial.warmup + 1, 1e-13);
    }
}

/* The n-th of the jobs that find one server too slow, three a slot, waits 2 n / 3 slots: times far beyond
 * those counted one by one, and quantiles of the uniform law. */
static void long_waits(void **state) {
    (void)state;
    const struct bli_model model = model_of("1x1", "3", NAN, false);
    const struct bal_policy_spec policy = policy_of("random");
    const struct bli_run run = {.seed = 1, .time = 30000};
    const struct bli_trial trial = simulate(&model, &policy, &run);
    /* job n = 0, 1, ... arrives in slot n/3 + 1 and leaves in slot n + 1 */
    int sum = 0;
    for (int n = 0; n < 30000; n++)
        sum += n - n / 3 + 1;
    const double mean = sum / 30000.0;
    assert_close(trial.metric[BLI_RESPONSE_MEAN], mean, 1e-14);
    assert_close(trial.metric[BLI_RESPONSE_P50], 10000, 1.0 / 128);
    assert_close(trial.metric[BLI_RESPONSE_P99], 19800, 1.0 / 128);
    assert_close(trial.metric[BLI_WAITING_MEAN], mean - 1, 1e-14);
}

/* Quantiles of whole numbers are whole numbers, and exact up to 255. */
static void whole_quantiles(void **state) {
    (void)state;
    const struct bli_model model = model_of("1x1", "2", NAN, false);
    const struct bal_policy_spec policy = policy_of("random");
    for (int slots = 10; slots <= 500; slots += 10) {
        const struct bli_run run = {.seed = 1, .time = slots};
        const struct bli_trial trial = simulate(&model, &policy, &run);
        /* job n = 0, 1, ... takes n - n/2 + 1 slots: the one of rank ceil(0.5 slots) is number slots/2 - 1 */
        const int n = slots / 2 - 1;
        const int completion = n - n / 2 + 1;
        assert_true(trial.metric[BLI_RESPONSE_P50] == completion);
    }
}

/* Every job that is there at the end of a slot waits for it: the sum of Q(t) over a run is the waiting of all
 * jobs. */
static void little(void **state) {
    (void)state;
    const struct bli_model model = model_of("3x1,2xuniform(1,3)", "poisson", 0.8, true);
    static const char *const policies[] = {"pi", "jsq", "jiq", "least-work", "pod-memory"};
    for (size_t i = 0; i < 5; i++) {
        const struct bal_policy_spec policy = policy_of(policies[i]);
        const struct bli_run run = {.seed = i, .time = 20000};
        const struct bli_trial trial = simulate(&model, &policy, &run);
        const double slots_waited = trial.metric[BLI_WAITING_MEAN] * (double)trial.jobs;
        const double left = (double)(trial.events - 2 * trial.jobs); /* jobs still there: each has waited a
                                                                        little */
        const double area = trial.metric[BLI_QUEUE_TOTAL] * run.time;
        assert_true(left < 100 && area >= slots_waited && area - slots_waited < 0.01 * area);
        double tail = 0;
        for (int level = 1; level < BLI_TAIL_LEVELS; level++) {
            assert_true(trial.tail[level] <= trial.tail[level - 1]);
            tail += trial.tail[level];
        }
        assert_close(tail, trial.metric[BLI_QUEUE_MEAN], 1e-9);
    }
}

/* A policy that looks over the shoulder of another. The engine sees the spy, which asks the other one. */
static const struct bal_policy *watched;
static void (*look)(const struct bal_fleet *fleet, const struct bal_job *job,
                    const struct bal_decision *decision);

static struct bal_decision spy_route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                     struct bal_rng *rng) {
    const struct bal_decision decision = watched->route(state, fleet, job, rng);
    look(fleet, job, &decision);
    return decision;
}

static void simulate_watched(const struct bli_model *model, const char *policy, const struct bli_run *run,
                             void (*onlooker)(const struct bal_fleet *, const struct bal_job *,
                                              const struct bal_decision *)) {
    struct bal_policy_spec spec = policy_of(policy);
    watched = spec.policy;
    look = onlooker;
    struct bal_policy spy = *spec.policy;
    spy.route = spy_route;
    spec.policy = &spy;
    simulate(model, &spec, run);
}

/* Persistent-Idle: with an idle server the batch goes to idle ones alone; with none it goes, whole, to the
 * server that got the last batch or is one of those that did. */
static struct {
    uint64_t slots, persistent, parts;
    bool got_last[100];
} pi;

static void watch_pi(const struct bal_fleet *fleet, const struct bal_job *job,
                     const struct bal_decision *decision) {
    bool idle = false;
    for (uint32_t server = 0; server < fleet->servers; server++)
        idle = idle || fleet->length[server] == 0;
    pi.slots++;
    if (!idle) {
        assert_true(decision->parts == 0 && pi.got_last[decision->server]);
        memset(pi.got_last, 0, sizeof pi.got_last);
        pi.got_last[decision->server] = true;
        pi.persistent++;
        return;
    }
    memset(pi.got_last, 0, sizeof pi.got_last);
    if (decision->parts == 0) {
        assert_true(fleet->length[decision->server] == 0);
        pi.got_last[decision->server] = true;
        return;
    }
    assert_true(job->split);
    pi.parts += decision->parts;
    for (uint32_t i = 0; i < decision->parts; i++) {
        assert_true(fleet->length[fleet->shares[i].server] == 0);
        pi.got_last[fleet->shares[i].server] = true;
    }
}

static void persistent_idle(void **state) {
    (void)state;
    static const struct {
        bool split;
        double load;
    } cases[] = {{false, 0.6}, {false, 0.99}, {true, 0.6}, {true, 0.99}};
    for (size_t i = 0; i < 4; i++) {
        const struct bli_model model =
            model_of("10x1,90xuniform(1,19)", "poisson", cases[i].load, cases[i].split);
        const struct bli_run run = {.seed = i, .time = 30000};
        memset(&pi, 0, sizeof pi);
        simulate_watched(&model, "pi", &run, watch_pi);
        assert_true(pi.slots == 30000); /* with a mean of hundreds there is no slot without jobs */
        assert_true(cases[i].load < 0.9 ? pi.persistent == 0 : pi.persistent > 1000);
        assert_true(cases[i].split == (pi.parts > 0));
    }
}

/* Every policy sees the same batches; and, all servers being empty or not, the same capacities. */
static uint64_t batches_seen, job_sum;

static void watch_batches(const struct bal_fleet *fleet, const struct bal_job *job,
                          const struct bal_decision *decision) {
    (void)fleet, (void)decision;
    job_sum = job_sum * 31 + job->count;
    batches_seen++;
}

static void same_input(void **state) {
    (void)state;
    const struct bli_model model = model_of("3x1,2xuniform(1,3)", "geometric", 0.5, false);
    const struct bli_run run = {.seed = 5, .replication = 3, .time = 5000};
    uint64_t first = 0, batches = 0;
    for (size_t i = 0; i < bal_policy_count; i++) {
        struct bal_policy_spec spec;
        enum bli_engine engine;
        if (bal_policy_parse(bal_policy_table[i]->name, &spec, NULL) ||
            bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
            continue;
        batches_seen = job_sum = 0;
        simulate_watched(&model, bal_policy_table[i]->name, &run, watch_batches);
        if (batches == 0) {
            first = job_sum;
            batches = batches_seen;
        }
        assert_true(job_sum == first && batches_seen == batches);
    }
    assert_true(batches > 2000 && batches < 5000);
}

/* With one server there is nothing to choose: all policies have the same trajectory, and so have the plain
 * and the fast path and two runs of the same trial. */
static void one_server(void **state) {
    (void)state;
    const struct bli_model model = model_of("1xtable(1:0.5 2:0.25 7:0.25)", "poisson", 0.9, true);
    struct bli_trial first = {.jobs = 0};
    for (size_t i = 0; i < 2 * bal_policy_count; i++) {
        struct bal_policy_spec spec;
        enum bli_engine engine;
        if (bal_policy_parse(bal_policy_table[i / 2]->name, &spec, NULL) ||
            bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
            continue;
        const struct bli_run run = {.seed = 9, .time = 7777, .reference = i % 2};
        const struct bli_trial trial = simulate(&model, &spec, &run);
        if (first.jobs == 0)
            first = trial;
        for (int m = BLI_RESPONSE_MEAN; m <= BLI_QUEUE_TOTAL; m++)
            assert_true(trial.metric[m] == first.metric[m]);
        assert_memory_equal(trial.tail, first.tail, sizeof trial.tail);
    }
    assert_true(first.jobs > 10000);
}

static void refusals(void **state) {
    (void)state;
    const struct bli_model model = model_of("5x1", "poisson", 0.5, false);
    struct bli_model continuous = model;
    continuous.clock = BLI_CLOCK_CONTINUOUS;
    assert_int_equal(bli_dist_parse("exp", &continuous.size, NULL), BAL_OK);
    const struct bal_policy_spec policy = policy_of("pi");
    struct bal_error err = {0};
    enum bli_engine engine;
    assert_int_equal(bli_simulate_check(&model, &policy, BLI_ENGINE_MARKOV, &engine, &err), BAL_E_MODEL);
    assert_string_equal(err.text, "engine 'markov' cannot simulate slotted time; use slotted or auto");
    assert_int_equal(bli_simulate_check(&continuous, &policy, BLI_ENGINE_SLOTTED, &engine, &err),
                     BAL_E_MODEL);
    assert_string_equal(err.text, "engine 'slotted' cannot simulate continuous time; use markov or auto");
    struct bal_policy power = *policy.policy;
    power.wants |= BAL_WANTS_POWER;
    const struct bal_policy_spec wants_power = {.policy = &power};
    assert_int_equal(bli_simulate_check(&model, &wants_power, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
    assert_string_equal(
        err.text,
        "policy 'pi' needs servers that switch off and are woken, which slotted time does not have");
    struct bli_trial trial = {0};
    const struct bli_run endless = {.time = 1e13};
    assert_int_equal(bli_simulate(&model, &policy, &endless, &trial, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "1e+13 slots are too many; at most 1e+12");
    const int stop = 1;
    const struct bli_run stopped = {.time = 1e6, .stop = &stop};
    assert_int_equal(bli_simulate(&model, &policy, &stopped, &trial, &err), BAL_E_STOPPED);
}

/* A queue that no number of jobs can describe any more ends the run with an error, not with a wrong result.
 */
static void overflow(void **state) {
    (void)state;
    const struct bli_model model = model_of("1x1", "10000000", NAN, false);
    const struct bal_policy_spec policy = policy_of("random");
    const struct bli_run run = {.time = 1000};
    struct bli_trial trial = {0};
    struct bal_error err = {0};
    assert_int_equal(bli_simulate(&model, &policy, &run, &trial, &err), BAL_E_MEMORY);
    assert_string_equal(err.text,
                        "no room for more: in slot 430 the queues of 1 servers hold 4289999571 jobs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clockwork),       cmocka_unit_test(tokens),          cmocka_unit_test(any_length),
        cmocka_unit_test(long_waits),      cmocka_unit_test(whole_quantiles), cmocka_unit_test(little),
        cmocka_unit_test(persistent_idle), cmocka_unit_test(same_input),      cmocka_unit_test(one_server),
        cmocka_unit_test(refusals),        cmocka_unit_test(overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
