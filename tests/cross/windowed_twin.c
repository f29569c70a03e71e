/* SPDX-License-Identifier: BSD-2-Clause */
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
#include "engine/window_autoscaler.h"
#include "texts.h"

#include <math.h>

/* ---- the decision alone ---- */

static const struct bli_window_rule documented = {
    .target = 0.7, .window = 60, .panic = 0.1, .threshold = 2, .tick = 2};

static struct window_autoscaler begin(const struct bli_window_rule *rule, uint32_t servers) {
    struct window_autoscaler w;
    assert_int_equal(bli_window_autoscaler_init(&w, rule, servers), BAL_OK);
    return w;
}

/* So many ticks pass with so many jobs there and so many servers ready; returns what is wanted then. */
static uint32_t after(struct window_autoscaler *w, unsigned ticks, uint64_t jobs, uint32_t ready) {
    window_autoscaler_count(w, w->since, (int)((int64_t)jobs - (int64_t)w->jobs));
    for (unsigned i = 0; i < ticks; i++)
        bli_window_autoscaler_decide(w, ready);
    return w->wanted;
}

/* 100 requests, containers that take 10, of which 70 % are the target: 15 (the example of the documentation).
 */
static void the_documented_example(void **state) {
    (void)state;
    struct bli_window_rule rule = documented;
    rule.target = 10 * 0.7;
    struct window_autoscaler w = begin(&rule, 1000);
    assert_int_equal(after(&w, 30, 100, 15), 15);
    bli_window_autoscaler_fini(&w);
}

/* Halved at each step, and gone after a window without traffic, not before. */
static void goes_down_slowly(void **state) {
    (void)state;
    struct window_autoscaler w = begin(&documented, 1000);
    assert_int_equal(after(&w, 1, 0, 100), 50);
    assert_int_equal(after(&w, 1, 0, 50), 25);
    bli_window_autoscaler_fini(&w);
    w = begin(&documented, 1000);
    after(&w, 60, 1, 2);
    assert_int_equal(w.wanted, 2);
    assert_int_equal(after(&w, 29, 0, 1), 1);
    assert_int_equal(after(&w, 1, 0, 1), 0);
    bli_window_autoscaler_fini(&w);
}

/* Twice as many wanted by 6 s as are ready: at once, and not fewer until a window has passed without reason.
 */
static void panics(void **state) {
    (void)state;
    struct window_autoscaler w = begin(&documented, 1000);
    assert_int_equal(after(&w, 100, 7, 10), 10);
    assert_int_equal(after(&w, 1, 14, 10), 11); /* (29 * 7 + 14) / 30 / 0.7 = 10.3 */
    assert_int_equal(after(&w, 2, 21, 10), 27); /* (14 + 21 + 21) / 3 / 0.7 = 26.7, above 2 * 10 */
    assert_int_equal(after(&w, 30, 1, 27), 27);
    assert_int_equal(after(&w, 1, 1, 27), 13);
    bli_window_autoscaler_fini(&w);
}

/* ---- a literal simulation ---- */

enum { SERVERS = 12, JOBS = 4000, SLOTS_MAX = 5 };

struct job {
    double arrival, size;
};

/* OPEN, FULL and LEAVING have jobs; LEAVING gets no more. */
enum mode { OFF, SETUP, STANDBY, OPEN, LEAVING, FULL, MODES };

struct twin {
    const struct job *job;
    uint32_t slots;
    double setup; /* time */
    enum mode mode[SERVERS];
    double ready[SERVERS]; /* end of set-up */
    struct {
        double until;
        size_t job;
    } serving[SERVERS][SLOTS_MAX]; /* the first jobs[s] */
    uint32_t jobs[SERVERS];
    size_t next_arrival, head, tail;
    size_t queue[JOBS];
    uint32_t wanted;
    double last_panic;
    struct {
        double time;
        int jobs;
    } past[2 * JOBS + 2]; /* jobs that are there from this time on */
    size_t changes;
    struct bal_rng choices;
    struct bal_set *sets[FULL]; /* the same draws need the same order */
    double response, spent[MODES], now;
    size_t completed;
};

static uint32_t count(const struct twin *t, enum mode mode) {
    uint32_t sum = 0;
    for (int s = 0; s < SERVERS; s++)
        sum += t->mode[s] == mode;
    return sum;
}

static uint32_t on(const struct twin *t) {
    return SERVERS - count(t, OFF) - count(t, LEAVING);
}

static void change(struct twin *t, uint32_t server, enum mode mode) {
    if (t->mode[server] < FULL && t->mode[server] != mode)
        bal_set_remove(t->sets[t->mode[server]], server);
    if (mode < FULL && t->mode[server] != mode)
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

static void serve(struct twin *t, uint32_t server, size_t job) {
    const uint32_t i = t->jobs[server]++;
    t->serving[server][i].job = job;
    t->serving[server][i].until = t->now + t->job[job].size;
    change(t, server, t->jobs[server] < t->slots ? OPEN : FULL);
}

static void serve_waiting(struct twin *t, uint32_t server) {
    while (t->head < t->tail && t->jobs[server] < t->slots)
        serve(t, server, t->queue[t->head++]);
}

static void follow(struct twin *t) {
    const enum mode first[] = {SETUP, STANDBY};
    for (int i = 0; i < 2; i++)
        while (on(t) > t->wanted && count(t, first[i]) > 0)
            change(t, bal_set_uniform(t->sets[first[i]], &t->choices), OFF);
    while (on(t) < t->wanted && count(t, LEAVING) > 0) {
        const uint32_t server = bal_set_uniform(t->sets[LEAVING], &t->choices);
        change(t, server, OPEN);
        serve_waiting(t, server);
    }
    while (on(t) < t->wanted) {
        const uint32_t server = bal_set_uniform(t->sets[OFF], &t->choices);
        change(t, server, SETUP);
        t->ready[server] = t->now + t->setup;
    }
}

static void decide(struct twin *t) {
    const double ready = fmax(count(t, STANDBY) + count(t, OPEN) + count(t, FULL), 1);
    const double target = 0.7 * t->slots;
    /* A hair less, lest rounding lift a whole number to the next: the engine sums in another order. */
    const double stable = ceil(average(t, 60) / target - 1e-9), panic = ceil(average(t, 6) / target - 1e-9);
    if (panic >= 2 * ready)
        t->last_panic = t->now;
    double wanted = fmin(fmax(stable, floor(ready / 2)), SERVERS);
    if (t->now - t->last_panic <= 60)
        wanted = fmax(fmax(wanted, fmin(panic, SERVERS)), t->wanted);
    t->wanted = (uint32_t)wanted;
    follow(t);
}

static void take_next(struct twin *t, uint32_t server) {
    const bool leaves = t->mode[server] == LEAVING || on(t) > t->wanted;
    change(t, server, MODES); /* in no set: so that what is inserted is the last */
    if (leaves)
        change(t, server, t->jobs[server] ? LEAVING : OFF);
    else if (t->head < t->tail)
        serve_waiting(t, server);
    else
        change(t, server, t->jobs[server] ? OPEN : STANDBY);
}

static void arrive(struct twin *t) {
    const size_t job = t->next_arrival++;
    note(t, 1);
    const uint32_t idle = count(t, STANDBY), free = idle + count(t, OPEN);
    if (free > 0) {
        const uint32_t i = (uint32_t)bal_rng_below(&t->choices, free);
        serve(t, i < idle ? t->sets[STANDBY]->slot[i] : t->sets[OPEN]->slot[i - idle], job);
        return;
    }
    t->queue[t->tail++] = job;
    if (t->wanted == 0) {
        t->wanted = 1;
        follow(t);
    }
}

static void complete(struct twin *t, uint32_t server, uint32_t i) {
    t->response += t->now - t->job[t->serving[server][i].job].arrival;
    t->completed++;
    note(t, -1);
    t->serving[server][i] = t->serving[server][--t->jobs[server]];
    take_next(t, server);
}

static void pass(struct twin *t, double now) {
    for (int mode = OFF; mode < MODES; mode++)
        t->spent[mode] += count(t, (enum mode)mode) * (now - t->now);
    t->now = now;
}

static uint32_t first_ready(const struct twin *t, double *time) {
    uint32_t first = SERVERS;
    *time = INFINITY;
    for (uint32_t s = 0; s < SERVERS; s++)
        if (t->mode[s] == SETUP && t->ready[s] < *time) {
            first = s;
            *time = t->ready[s];
        }
    return first;
}

static uint32_t first_complete(const struct twin *t, uint32_t *place, double *time) {
    uint32_t first = SERVERS;
    *time = INFINITY;
    for (uint32_t s = 0; s < SERVERS; s++)
        for (uint32_t i = 0; i < t->jobs[s]; i++)
            if (t->serving[s][i].until < *time) {
                first = s;
                *place = i;
                *time = t->serving[s][i].until;
            }
    return first;
}

/* First of all that happens next: completions before ends of set-ups before ticks, arrivals before all. */
static void run(struct twin *t, double time) {
    for (int tick = 1; t->completed < JOBS || t->now < time;) {
        uint32_t place = 0;
        double ready, completes;
        const uint32_t busy = first_complete(t, &place, &completes), setup = first_ready(t, &ready);
        const double arrives = t->next_arrival < JOBS ? t->job[t->next_arrival].arrival : INFINITY;
        const double next = fmin(fmin(arrives, completes), fmin(ready, 2.0 * tick));
        if (t->completed == JOBS && next >= time) {
            pass(t, fmax(t->now, time));
            return;
        }
        pass(t, next);
        if (next == arrives)
            arrive(t);
        else if (next == completes)
            complete(t, busy, place);
        else if (next == ready)
            take_next(t, setup);
        else
            tick++, decide(t);
    }
}

/* Bursts with pauses longer than the window, so that all servers go; sizes of two kinds. */
static struct bli_trace *record(struct job *job, uint64_t seed, double busy) {
    struct bli_trace *trace;
    struct bal_error err;
    struct bal_rng rng;
    bal_rng_init(&rng, seed, 0, BAL_STREAM_TEST);
    if (bli_trace_new(NULL, &trace, &err))
        fail_msg("%s", err.text);
    int64_t time = 1000;
    for (int i = 0; i < JOBS; i++) {
        const struct bli_trace_job recorded = {
            .time = time, .size = 1 + (int64_t)(bal_rng_exp(&rng) * (i % 10 ? 0.4e9 : 3e9))};
        if (bli_trace_add(trace, &recorded, &err))
            fail_msg("%s", err.text);
        job[i] = (struct job){(double)(time - 1000) * 1e-9, (double)recorded.size * 1e-9};
        time += (int64_t)(bal_rng_exp(&rng) * 0.66e9 / SERVERS / (i / 500 % 2 ? busy : 4 * busy));
        time += i % 1000 == 999 ? (int64_t)(100e9) : 0;
    }
    if (bli_trace_finish(trace, NULL, &err))
        fail_msg("%s", err.text);
    return trace;
}

static struct bli_model model_of(const struct bli_trace *trace, double setup) {
    const struct bli_trace_info *info = bli_trace_info(trace);
    struct bli_model model = {0};
    struct bal_error err;
    char text[20];
    snprintf(text, sizeof text, "%d", SERVERS);
    if (bli_servers_parse(text, &model.servers, &err) || bli_dist_parse("exp", &model.size, &err) ||
        bli_dist_parse("det", &model.setup, &err))
        fail_msg("%s", err.text);
    bli_dist_scale(&model.size, info->size_mean);
    bli_dist_scale(&model.setup, setup);
    model.load = info->work / info->span / SERVERS;
    return model;
}

static struct bli_trial simulate(const struct bli_model *model, const char *policy,
                                 const struct bli_trace *trace, uint64_t seed) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run how = {.seed = seed, .time = bli_trace_info(trace)->span, .trace = trace};
    struct bli_trial trial = {0};
    struct bal_error err;
    if (bli_simulate(model, &spec, &how, &trial, &err))
        fail_msg("%s: %s", policy, err.text);
    return trial;
}

static void expect_near(double a, double b, const char *what, uint64_t seed) {
    if (fabs(a - b) > 1e-9 * fmax(fabs(a), 1))
        fail_msg("%s, seed %d: %.15g where the literal twin has %.15g", what, (int)seed, a, b);
}

static void compare(uint64_t seed, uint32_t slots, double busy, double setup) {
    struct twin *t = calloc(1, sizeof *t);
    struct job *job = calloc(JOBS, sizeof *job);
    assert_true(t && job);
    struct bli_trace *trace = record(job, seed, busy * slots);
    struct bli_model model = model_of(trace, setup);
    model.slots = slots;
    const struct bli_trial trial = simulate(&model, "windowed", trace, seed);
    *t =
        (struct twin){.job = job, .slots = slots, .setup = setup, .wanted = SERVERS, .last_panic = -INFINITY};
    bal_rng_init(&t->choices, seed, 0, BAL_STREAM_POLICY);
    for (int mode = OFF; mode < FULL; mode++) {
        t->sets[mode] = malloc(bal_set_size(SERVERS));
        bal_set_init(t->sets[mode], SERVERS);
    }
    for (uint32_t s = 0; s < SERVERS; s++) {
        t->mode[s] = STANDBY;
        bal_set_insert(t->sets[STANDBY], s);
    }
    note(t, 0);
    run(t, bli_trace_info(trace)->span);
    assert_int_equal(trial.jobs, JOBS);
    const double all = SERVERS * t->now;
    expect_near(trial.metric[BLI_RESPONSE_MEAN], t->response / JOBS, "mean response", seed);
    expect_near(trial.metric[BLI_SERVERS_OFF], t->spent[OFF] / all, "servers off", seed);
    expect_near(trial.metric[BLI_SERVERS_SETUP], t->spent[SETUP] / all, "servers in set-up", seed);
    expect_near(trial.metric[BLI_SERVERS_STANDBY], t->spent[STANDBY] / all, "servers that stand by", seed);
    /* It is a test of something. */
    assert_true(t->spent[OFF] > 0.05 * all && t->spent[SETUP] > 0);
    assert_true(slots < SLOTS_MAX || t->spent[LEAVING] > 0);
    for (int mode = OFF; mode < FULL; mode++)
        free(t->sets[mode]);
    bli_trace_free(trace);
    free(job);
    free(t);
}

static void as_the_literal_twin(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        compare(seed, 1, 0.1, 1);   /* set-ups end between two ticks */
        compare(seed, 1, 0.15, 13); /* and are cancelled under way */
    }
}

static void as_the_literal_twin_with_slots(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        compare(seed, 2, 0.1, 1);
        compare(seed, SLOTS_MAX, 0.15, 13);
    }
}

/* ---- other common queues on recorded jobs ---- */

/* Who always goes to the least work serves equal servers in the order of one queue. */
static void central_is_least_work(void **state) {
    (void)state;
    struct job *job = calloc(JOBS, sizeof *job);
    struct bli_trace *trace = record(job, 3, 0.15);
    const struct bli_model model = model_of(trace, 1);
    const struct bli_trial a = simulate(&model, "central", trace, 3),
                           b = simulate(&model, "least-work", trace, 3);
    expect_near(a.metric[BLI_RESPONSE_MEAN], b.metric[BLI_RESPONSE_MEAN], "mean response", 3);
    expect_near(a.metric[BLI_RESPONSE_P99], b.metric[BLI_RESPONSE_P99], "p99", 3);
    expect_near(a.metric[BLI_WAITING_MEAN], b.metric[BLI_WAITING_MEAN], "mean waiting", 3);
    assert_int_equal(a.jobs, b.jobs);
    bli_trace_free(trace);
    free(job);
}

/* A common queue does not ask which server a slot is of; and where jobs are held, and each slot asks for one,
 * the dispatcher is the queue. */
static void slots_are_servers_to_a_common_queue(void **state) {
    (void)state;
    struct job *job = calloc(JOBS, sizeof *job);
    struct bli_trace *trace = record(job, 5, 0.15);
    struct bli_model apart = model_of(trace, 1), together = apart;
    assert_int_equal(bli_servers_parse("4", &together.servers, NULL), BAL_OK);
    together.slots = SERVERS / 4;
    const struct bli_trial one = simulate(&apart, "central", trace, 5);
    const char *const same[] = {"central", "jiq:else=hold"};
    for (int i = 0; i < 2; i++) {
        const struct bli_trial slots = simulate(&together, same[i], trace, 5);
        expect_near(slots.metric[BLI_RESPONSE_MEAN], one.metric[BLI_RESPONSE_MEAN], same[i], 5);
        expect_near(slots.metric[BLI_RESPONSE_P99], one.metric[BLI_RESPONSE_P99], same[i], 5);
        assert_int_equal(slots.jobs, one.jobs);
    }
    bli_trace_free(trace);
    free(job);
}

/* Two servers of two slots that begin off, a set-up of 1 and a standby of a half, both fixed. Jobs of length
 * 1:
 *   0, 0.1    the first starts a server, which both of them can fill; they begin at 1.
 *   0.2       is one too many, and starts the other, which is ready at 1.2.
 *   1.3       finds a free slot there, and nobody is started.
 * The servers have their last jobs until 2 and 2.3, and are off at 2.5 and 2.8.
 *   10        begins at 11; its server is busy until 12 and then stands by, until the end. */
static void delayed_off_with_slots_by_hand(void **state) {
    (void)state;
    static const double arrival[] = {0, 0.1, 0.2, 1.3, 10}, response[] = {2, 1.9, 2, 1, 2};
    struct bli_trace *trace;
    struct bal_error err;
    assert_int_equal(bli_trace_new(NULL, &trace, &err), BAL_OK);
    for (int i = 0; i < 5; i++) {
        const struct bli_trace_job one = {.time = 1000 + llrint(1e9 * arrival[i]), .size = 1000000000};
        assert_int_equal(bli_trace_add(trace, &one, &err), BAL_OK);
    }
    assert_int_equal(bli_trace_finish(trace, NULL, &err), BAL_OK);
    struct bli_model model = model_of(trace, 1);
    assert_int_equal(bli_servers_parse("2", &model.servers, &err), BAL_OK);
    assert_int_equal(bli_dist_parse("det", &model.standby, &err), BAL_OK);
    bli_dist_scale(&model.standby, 0.5);
    model.slots = 2;
    model.start.off = 1;
    const struct bli_trial trial = simulate(&model, "delayed-off", trace, 1);
    double sum = 0;
    for (int i = 0; i < 5; i++)
        sum += response[i];
    const double all = 2 * 12.0;
    expect_near(trial.metric[BLI_RESPONSE_MEAN], sum / 5, "mean response", 1);
    expect_near(trial.metric[BLI_SERVERS_SETUP], (1 + 1 + 1) / all, "servers in set-up", 1);
    expect_near(trial.metric[BLI_SERVERS_STANDBY], (0.5 + 0.5) / all, "servers that stand by", 1);
    expect_near(trial.metric[BLI_SERVERS_BUSY], (1 + 1.1 + 1) / all, "busy servers", 1);
    bli_trace_free(trace);
}

/* Servers that never stand by long enough to go are always on; servers that go at once save, and are waited
 * for.
 */
static void delayed_off_between_its_ends(void **state) {
    (void)state;
    struct job *job = calloc(JOBS, sizeof *job);
    struct bli_trace *trace = record(job, 4, 0.15);
    struct bli_model model = model_of(trace, 1);
    const struct bli_trial always = simulate(&model, "central", trace, 4);
    bli_dist_parse("det", &model.standby, NULL);
    bli_dist_scale(&model.standby, 1e7);
    const struct bli_trial never = simulate(&model, "delayed-off", trace, 4);
    expect_near(never.metric[BLI_RESPONSE_MEAN], always.metric[BLI_RESPONSE_MEAN], "mean response", 4);
    assert_true(never.metric[BLI_SERVERS_OFF] == 0);
    bli_dist_scale(&model.standby, 1e-9);
    const struct bli_trial at_once = simulate(&model, "delayed-off", trace, 4);
    assert_true(at_once.metric[BLI_SERVERS_OFF] > 0.5);
    assert_true(at_once.metric[BLI_RESPONSE_MEAN] > always.metric[BLI_RESPONSE_MEAN]);
    assert_int_equal(at_once.jobs, JOBS);
    bli_trace_free(trace);
    free(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_example),
        cmocka_unit_test(goes_down_slowly),
        cmocka_unit_test(panics),
        cmocka_unit_test(as_the_literal_twin),
        cmocka_unit_test(as_the_literal_twin_with_slots),
        cmocka_unit_test(central_is_least_work),
        cmocka_unit_test(slots_are_servers_to_a_common_queue),
        cmocka_unit_test(delayed_off_with_slots_by_hand),
        cmocka_unit_test(delayed_off_between_its_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
