/* The rule of windowed concurrency: known answers of the decision alone; and the pooled engine on recorded
 * jobs against a literal simulation, which keeps the whole past and averages it anew at every tick. Not a
 * statistical test: every time must be the same. Besides, common queues on recorded jobs against what must be
 * equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/set.h"
#include "ballast/simulate.h"
#include "ballast/trace.h"
#include "engine/windowed.h"
#include "texts.h"

#include <math.h>

/* ---- the decision alone ---- */

static const struct bal_window_rule documented = {
    .target = 0.7, .window = 60, .panic = 0.1, .threshold = 2, .tick = 2};

static struct windowed begin(const struct bal_window_rule *rule, uint32_t servers) {
    struct windowed w;
    assert_int_equal(bal_windowed_init(&w, rule, servers), BAL_OK);
    return w;
}

/* So many ticks pass with so many jobs there and so many servers ready; returns what is wanted then. */
static uint32_t after(struct windowed *w, unsigned ticks, uint64_t jobs, uint32_t ready) {
    windowed_count(w, w->since, (int)((int64_t)jobs - (int64_t)w->jobs));
    for (unsigned i = 0; i < ticks; i++)
        bal_windowed_decide(w, ready);
    return w->wanted;
}

/* 100 requests, containers that take 10, of which 70 % are the target: 15 (the example of the documentation).
 */
static void the_documented_example(void **state) {
    (void)state;
    struct bal_window_rule rule = documented;
    rule.target = 10 * 0.7;
    struct windowed w = begin(&rule, 1000);
    assert_int_equal(after(&w, 30, 100, 15), 15);
    bal_windowed_fini(&w);
}

/* Halved at each step, and gone after a window without traffic, not before. */
static void goes_down_slowly(void **state) {
    (void)state;
    struct windowed w = begin(&documented, 1000);
    assert_int_equal(after(&w, 1, 0, 100), 50);
    assert_int_equal(after(&w, 1, 0, 50), 25);
    bal_windowed_fini(&w);
    w = begin(&documented, 1000);
    after(&w, 60, 1, 2);
    assert_int_equal(w.wanted, 2);
    assert_int_equal(after(&w, 29, 0, 1), 1);
    assert_int_equal(after(&w, 1, 0, 1), 0);
    bal_windowed_fini(&w);
}

/* Twice as many wanted by 6 s as are ready: at once, and not fewer until a window has passed without reason.
 */
static void panics(void **state) {
    (void)state;
    struct windowed w = begin(&documented, 1000);
    assert_int_equal(after(&w, 100, 7, 10), 10);
    assert_int_equal(after(&w, 1, 14, 10), 11); /* (29 * 7 + 14) / 30 / 0.7 = 10.3 */
    assert_int_equal(after(&w, 2, 21, 10), 27); /* (14 + 21 + 21) / 3 / 0.7 = 26.7, above 2 * 10 */
    assert_int_equal(after(&w, 30, 1, 27), 27);
    assert_int_equal(after(&w, 1, 1, 27), 13);
    bal_windowed_fini(&w);
}

/* ---- a literal simulation ---- */

enum { SERVERS = 12, JOBS = 4000, TICKS_MAX = 100000 };

struct job {
    double arrival, size;
};

enum mode { OFF, SETUP, STANDBY, BUSY };

struct twin {
    const struct job *job;
    double setup; /* time */
    enum mode mode[SERVERS];
    double until[SERVERS]; /* end of set-up or of service */
    size_t serving[SERVERS], next_arrival, head, tail;
    size_t queue[JOBS];
    uint32_t wanted;
    double last_panic;
    struct {
        double time;
        int jobs;
    } past[2 * JOBS + 2]; /* jobs that are there from this time on */
    size_t changes;
    struct bal_rng choices;
    struct bal_set *sets[BUSY]; /* the same draws need the same order */
    double response, spent[BUSY + 1], now;
    size_t completed;
};

static uint32_t count(const struct twin *t, enum mode mode) {
    uint32_t sum = 0;
    for (int s = 0; s < SERVERS; s++)
        sum += t->mode[s] == mode;
    return sum;
}

static uint32_t on(const struct twin *t) {
    return SERVERS - count(t, OFF);
}

static void change(struct twin *t, uint32_t server, enum mode mode) {
    if (t->mode[server] < BUSY)
        bal_set_remove(t->sets[t->mode[server]], server);
    if (mode < BUSY)
        bal_set_insert(t->sets[mode], server);
    t->mode[server] = mode;
}

static void note(struct twin *t, int more) {
    t->past[t->changes].time = t->now;
    t->past[t->changes].jobs = (t->changes ? t->past[t->changes - 1].jobs : 0) + more;
    t->changes++;
}

/* The mean of the step function over the last part of the past. */
static double average(const struct twin *t, double window) {
    const double from = fmax(t->now - window, 0);
    double area = 0;
    for (size_t i = 0; i < t->changes; i++) {
        const double end = i + 1 < t->changes ? t->past[i + 1].time : t->now;
        area += t->past[i].jobs * fmax(fmin(end, t->now) - fmax(t->past[i].time, from), 0);
    }
    return area / (t->now - from);
}

static void follow(struct twin *t) {
    const enum mode first[] = {SETUP, STANDBY};
    for (int i = 0; i < 2; i++)
        while (on(t) > t->wanted && count(t, first[i]) > 0)
            change(t, bal_set_uniform(t->sets[first[i]], &t->choices), OFF);
    while (on(t) < t->wanted) {
        const uint32_t server = bal_set_uniform(t->sets[OFF], &t->choices);
        change(t, server, SETUP);
        t->until[server] = t->now + t->setup;
    }
}

static void decide(struct twin *t) {
    const double ready = fmax(count(t, STANDBY) + count(t, BUSY), 1);
    /* A hair less, lest rounding lift a whole number to the next: the engine sums in another order. */
    const double stable = ceil(average(t, 60) / 0.7 - 1e-9), panic = ceil(average(t, 6) / 0.7 - 1e-9);
    if (panic >= 2 * ready)
        t->last_panic = t->now;
    double wanted = fmin(fmax(stable, floor(ready / 2)), SERVERS);
    if (t->now - t->last_panic <= 60)
        wanted = fmax(fmax(wanted, fmin(panic, SERVERS)), t->wanted);
    t->wanted = (uint32_t)wanted;
    follow(t);
}

static void serve(struct twin *t, uint32_t server, size_t job) {
    change(t, server, BUSY);
    t->serving[server] = job;
    t->until[server] = t->now + t->job[job].size;
}

static void take_next(struct twin *t, uint32_t server) {
    if (on(t) > t->wanted)
        change(t, server, OFF);
    else if (t->head < t->tail)
        serve(t, server, t->queue[t->head++]);
    else
        change(t, server, STANDBY);
}

static void arrive(struct twin *t) {
    const size_t job = t->next_arrival++;
    note(t, 1);
    if (count(t, STANDBY) > 0) {
        serve(t, bal_set_uniform(t->sets[STANDBY], &t->choices), job);
        return;
    }
    t->queue[t->tail++] = job;
    if (t->wanted == 0) {
        t->wanted = 1;
        follow(t);
    }
}

static void end_of(struct twin *t, uint32_t server) {
    if (t->mode[server] == BUSY) {
        t->response += t->now - t->job[t->serving[server]].arrival;
        t->completed++;
        note(t, -1);
    }
    take_next(t, server);
}

static void pass(struct twin *t, double now) {
    for (int mode = OFF; mode <= BUSY; mode++)
        t->spent[mode] += count(t, (enum mode)mode) * (now - t->now);
    t->now = now;
}

/* First of all that happens next: completions before ends of set-ups before ticks, arrivals before all. */
static uint32_t first_to_end(const struct twin *t, enum mode mode) {
    uint32_t first = SERVERS;
    for (uint32_t s = 0; s < SERVERS; s++)
        if (t->mode[s] == mode && (first == SERVERS || t->until[s] < t->until[first]))
            first = s;
    return first;
}

static void run(struct twin *t, double time) {
    for (int tick = 1; t->completed < JOBS || t->now < time;) {
        const uint32_t busy = first_to_end(t, BUSY), setup = first_to_end(t, SETUP);
        const double arrives = t->next_arrival < JOBS ? t->job[t->next_arrival].arrival : INFINITY;
        const double completes = busy < SERVERS ? t->until[busy] : INFINITY;
        const double ready = setup < SERVERS ? t->until[setup] : INFINITY;
        const double next = fmin(fmin(arrives, completes), fmin(ready, 2.0 * tick));
        if (t->completed == JOBS && next >= time) {
            pass(t, fmax(t->now, time));
            return;
        }
        pass(t, next);
        if (next == arrives)
            arrive(t);
        else if (next == completes)
            end_of(t, busy);
        else if (next == ready)
            end_of(t, setup);
        else
            tick++, decide(t);
    }
}

/* Bursts with pauses longer than the window, so that all servers go; sizes of two kinds. */
static struct bal_trace *record(struct job *job, uint64_t seed, double busy) {
    struct bal_trace *trace;
    struct bal_error err;
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    if (bal_trace_new(NULL, &trace, &err))
        fail_msg("%s", err.text);
    int64_t time = 1000;
    for (int i = 0; i < JOBS; i++) {
        const struct bal_trace_job recorded = {
            .time = time, .size = 1 + (int64_t)(bal_rng_exp(&rng) * (i % 10 ? 0.4e9 : 3e9))};
        if (bal_trace_add(trace, &recorded, &err))
            fail_msg("%s", err.text);
        job[i] = (struct job){(double)(time - 1000) * 1e-9, (double)recorded.size * 1e-9};
        time += (int64_t)(bal_rng_exp(&rng) * 0.66e9 / SERVERS / (i / 500 % 2 ? busy : 4 * busy));
        time += i % 1000 == 999 ? (int64_t)(100e9) : 0;
    }
    if (bal_trace_finish(trace, NULL, &err))
        fail_msg("%s", err.text);
    return trace;
}

static struct bal_model model_of(const struct bal_trace *trace, double setup) {
    const struct bal_trace_info *info = bal_trace_info(trace);
    struct bal_model model = {0};
    struct bal_error err;
    char text[20];
    snprintf(text, sizeof text, "%d", SERVERS);
    if (bal_servers_parse(text, &model.servers, &err) || bal_law_parse("exp", &model.size, &err) ||
        bal_law_parse("det", &model.setup, &err))
        fail_msg("%s", err.text);
    bal_law_scale(&model.size, info->size_mean);
    bal_law_scale(&model.setup, setup);
    model.load = info->work / info->span / SERVERS;
    return model;
}

static struct bal_trial simulate(const struct bal_model *model, const char *policy,
                                 const struct bal_trace *trace, uint64_t seed) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bal_run how = {.seed = seed, .time = bal_trace_info(trace)->span, .trace = trace};
    struct bal_trial trial = {0};
    struct bal_error err;
    if (bal_simulate(model, &spec, &how, &trial, &err))
        fail_msg("%s: %s", policy, err.text);
    return trial;
}

static void expect_near(double a, double b, const char *what, uint64_t seed) {
    if (fabs(a - b) > 1e-9 * fmax(fabs(a), 1))
        fail_msg("%s, seed %d: %.15g where the literal twin has %.15g", what, (int)seed, a, b);
}

static void compare(uint64_t seed, double busy, double setup) {
    struct twin *t = calloc(1, sizeof *t);
    struct job *job = calloc(JOBS, sizeof *job);
    assert_true(t && job);
    struct bal_trace *trace = record(job, seed, busy);
    const struct bal_model model = model_of(trace, setup);
    const struct bal_trial trial = simulate(&model, "windowed", trace, seed);
    *t = (struct twin){.job = job, .setup = setup, .wanted = SERVERS, .last_panic = -INFINITY};
    bal_rng_init(&t->choices, seed, 0, BAL_STREAM_POLICY);
    for (int mode = OFF; mode < BUSY; mode++) {
        t->sets[mode] = malloc(bal_set_size(SERVERS));
        bal_set_init(t->sets[mode], SERVERS);
    }
    for (uint32_t s = 0; s < SERVERS; s++) {
        t->mode[s] = STANDBY;
        bal_set_insert(t->sets[STANDBY], s);
    }
    note(t, 0);
    run(t, bal_trace_info(trace)->span);
    assert_int_equal(trial.jobs, JOBS);
    const double all = SERVERS * t->now;
    expect_near(trial.metric[BAL_RESPONSE_MEAN], t->response / JOBS, "mean response", seed);
    expect_near(trial.metric[BAL_SERVERS_OFF], t->spent[OFF] / all, "servers off", seed);
    expect_near(trial.metric[BAL_SERVERS_SETUP], t->spent[SETUP] / all, "servers in set-up", seed);
    expect_near(trial.metric[BAL_SERVERS_STANDBY], t->spent[STANDBY] / all, "servers that stand by", seed);
    assert_true(t->spent[OFF] > 0.05 * all && t->spent[SETUP] > 0); /* it is a test of something */
    for (int mode = OFF; mode < BUSY; mode++)
        free(t->sets[mode]);
    bal_trace_free(trace);
    free(job);
    free(t);
}

static void as_the_literal_twin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        compare(seed, 0.1, 1);   /* set-ups end between two ticks */
        compare(seed, 0.15, 13); /* and are cancelled under way */
    }
}

/* ---- other common queues on recorded jobs ---- */

/* Who always goes to the least work serves equal servers in the order of one queue. */
static void central_is_least_work(void **state) {
    (void)state;
    struct job *job = calloc(JOBS, sizeof *job);
    struct bal_trace *trace = record(job, 3, 0.15);
    const struct bal_model model = model_of(trace, 1);
    const struct bal_trial a = simulate(&model, "central", trace, 3),
                           b = simulate(&model, "least-work", trace, 3);
    expect_near(a.metric[BAL_RESPONSE_MEAN], b.metric[BAL_RESPONSE_MEAN], "mean response", 3);
    expect_near(a.metric[BAL_RESPONSE_P99], b.metric[BAL_RESPONSE_P99], "p99", 3);
    expect_near(a.metric[BAL_WAITING_MEAN], b.metric[BAL_WAITING_MEAN], "mean waiting", 3);
    assert_int_equal(a.jobs, b.jobs);
    bal_trace_free(trace);
    free(job);
}

/* Servers that never stand by long enough to go are always on; servers that go at once save, and are waited
 * for.
 */
static void delayed_off_between_its_ends(void **state) {
    (void)state;
    struct job *job = calloc(JOBS, sizeof *job);
    struct bal_trace *trace = record(job, 4, 0.15);
    struct bal_model model = model_of(trace, 1);
    const struct bal_trial always = simulate(&model, "central", trace, 4);
    bal_law_parse("det", &model.standby, NULL);
    bal_law_scale(&model.standby, 1e7);
    const struct bal_trial never = simulate(&model, "delayed-off", trace, 4);
    expect_near(never.metric[BAL_RESPONSE_MEAN], always.metric[BAL_RESPONSE_MEAN], "mean response", 4);
    assert_true(never.metric[BAL_SERVERS_OFF] == 0);
    bal_law_scale(&model.standby, 1e-9);
    const struct bal_trial at_once = simulate(&model, "delayed-off", trace, 4);
    assert_true(at_once.metric[BAL_SERVERS_OFF] > 0.5);
    assert_true(at_once.metric[BAL_RESPONSE_MEAN] > always.metric[BAL_RESPONSE_MEAN]);
    assert_int_equal(at_once.jobs, JOBS);
    bal_trace_free(trace);
    free(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_example),
        cmocka_unit_test(goes_down_slowly),
        cmocka_unit_test(panics),
        cmocka_unit_test(as_the_literal_twin),
        cmocka_unit_test(central_is_least_work),
        cmocka_unit_test(delayed_off_between_its_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
