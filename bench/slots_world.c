/* SPDX-License-Identifier: BSD-2-Clause */
/* An app whose requests in service share what it can do, behind a real station or a rival limiter; those that
 * may not begin wait in the order in which they came. All limiters get the same arrivals and sizes.
 *
 * The rivals follow the documentation of Netflix's concurrency-limits (README and Javadoc):
 * - gradient2: each second the mean time in service, of 10 requests or more, is compared with its long-term
 *   average (600 samples): gradient = max(0.5, min(1, 1.5 long / now)); limit = 0.8 limit +
 *   0.2 (limit gradient + 4); where long > 2 now, long is taken down by 5 %; unchanged where fewer than half
 *   of the limit were in service.
 * - AIMD: a request that takes longer than a time-out, here ten mean times alone, takes the limit down by a
 *   tenth; any other one puts 1 on top where half of the limit or more is in service.
 * Both begin at 20, stay within 1 and 200, and see the time in service alone, without the wait. */
#include "slots_world.h"

#include "ballast/live/dispatcher.h"
#include "ballast/live/station.h"
#include "ballast/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    double arrived, begun, size;
    double mark; /* in service: it is done when each has got so much */
    uint64_t ticket;
};

struct rival {
    double limit, timeout;
    double average, sum, until; /* of times in service */
    uint32_t samples, most;
};

struct world {
    const struct trial *trial;
    enum limiter limiter;
    struct bal_rng arrivals, sizes;
    double now, next, speed, attained; /* attained: what each in service has got since the app was idle */
    uint64_t arrived, done;
    struct job *running; /* a heap by mark */
    uint32_t in_service, room;
    struct job *waiting; /* a ring */
    uint64_t first, last, ring;
    double from, until; /* when the app is slow */
    struct bal_station *station;
    struct bal_dispatcher *dispatcher;
    void *block; /* of either */
    struct rival rival;
    /* what is measured */
    double *responses, sum;
    uint64_t measured;
    struct outcome *outcome;
};

static void *need(void *memory) {
    if (!memory)
        abort();
    return memory;
}

/* ---- the app ---- */

static void swap(struct job *a, struct job *b) {
    const struct job other = *a;
    *a = *b;
    *b = other;
}

static void begin_service(struct world *w, struct job job) {
    if (w->in_service == w->room) {
        w->room = w->room ? 2 * w->room : 1024;
        w->running = need(realloc(w->running, w->room * sizeof *w->running));
    }
    if (w->in_service == 0)
        w->attained = 0;
    job.begun = w->now;
    job.mark = w->attained + job.size;
    uint32_t i = w->in_service++;
    for (w->running[i] = job; i > 0 && w->running[(i - 1) / 2].mark > w->running[i].mark; i = (i - 1) / 2)
        swap(&w->running[i], &w->running[(i - 1) / 2]);
}

static struct job end_service(struct world *w) {
    const struct job done = w->running[0];
    w->running[0] = w->running[--w->in_service];
    for (uint32_t i = 0, child; (child = 2 * i + 1) < w->in_service; i = child) {
        child += child + 1 < w->in_service && w->running[child + 1].mark < w->running[child].mark;
        if (w->running[i].mark <= w->running[child].mark)
            break;
        swap(&w->running[i], &w->running[child]);
    }
    return done;
}

/* Work per second that each in service gets. */
static double rate_each(const struct world *w) {
    return w->in_service ? w->speed * bli_speeds_rate(&w->trial->speeds, w->in_service) / w->in_service : 0;
}

/* ---- those that wait ---- */

static void enqueue(struct world *w, const struct job *job) {
    if (w->last - w->first == w->ring) {
        const uint64_t larger = w->ring ? 2 * w->ring : 1024;
        struct job *ring = need(malloc(larger * sizeof *ring));
        for (uint64_t i = w->first; i < w->last; i++)
            ring[i % larger] = w->waiting[i % w->ring];
        free(w->waiting);
        w->waiting = ring;
        w->ring = larger;
    }
    w->waiting[w->last++ % w->ring] = *job;
}

static struct job dequeue(struct world *w) {
    return w->waiting[w->first++ % w->ring];
}

/* ---- limits ---- */

static uint64_t nanoseconds(const struct world *w) {
    return 1 + (uint64_t)(w->now * 1e9);
}

static void update_aimd(struct rival *r, double took, uint32_t in_service) {
    if (took > r->timeout)
        r->limit *= 0.9;
    else if (2 * in_service >= r->limit)
        r->limit++;
}

static void update_gradient2(struct rival *r, double now, double took, uint32_t in_service) {
    r->sum += took;
    r->samples++;
    r->most = in_service > r->most ? in_service : r->most;
    if (now < r->until || r->samples < 10)
        return;
    const double mean = r->sum / r->samples;
    const bool used = 2 * r->most >= r->limit;
    r->sum = r->samples = r->most = 0;
    r->until = now + 1;
    r->average = r->average > 0 ? r->average + (mean - r->average) * 2 / 601 : mean;
    if (r->average > 2 * mean)
        r->average *= 0.95;
    if (used)
        r->limit = 0.8 * r->limit + 0.2 * (r->limit * fmax(0.5, fmin(1, 1.5 * r->average / mean)) + 4);
}

static void begin_next(struct world *w, uint64_t ticket) {
    const struct job job = dequeue(w);
    if (ticket != job.ticket)
        abort();
    begin_service(w, job);
}

static void start_waiting(struct world *w) {
    struct bal_station_task task;
    struct bal_dispatch to;
    while (w->station && bal_station_next_decision(w->station, nanoseconds(w), &task))
        begin_next(w, task.verdict == BAL_RUN ? task.ticket : 0);
    while (w->dispatcher && bal_dispatcher_next_decision(w->dispatcher, nanoseconds(w), &to))
        begin_next(w, to.verdict == BAL_SEND ? to.ticket : 0);
    while (!w->station && !w->dispatcher && w->first < w->last && w->in_service < (uint32_t)w->rival.limit)
        begin_service(w, dequeue(w));
}

/* Does it start at once? */
static bool ask(struct world *w, struct job *job) {
    struct bal_station_task task;
    struct bal_dispatch to;
    if (w->station) {
        bal_station_arrive(w->station, nanoseconds(w), 0, 0, false, &task);
        job->ticket = task.ticket;
        if (task.verdict != BAL_RUN && task.verdict != BAL_QUEUE)
            abort();
        return task.verdict == BAL_RUN;
    }
    if (w->dispatcher) {
        bal_dispatcher_arrive(w->dispatcher, nanoseconds(w), 0, &to);
        job->ticket = to.ticket;
        if (to.verdict == BAL_REFUSE)
            abort();
        return to.verdict == BAL_SEND;
    }
    return w->first == w->last && w->in_service < (uint32_t)w->rival.limit;
}

static void arrive(struct world *w) {
    struct job job = {.arrived = w->now,
                      .size = bli_dist_sample(&w->trial->sizes, &w->sizes) * w->trial->mean};
    w->arrived++;
    const bool starts = ask(w, &job);
    if (!starts)
        enqueue(w, &job);
    start_waiting(w);
    if (starts)
        begin_service(w, job);
}

static bool is_measured(const struct world *w) {
    const uint64_t requests = w->trial->requests;
    if (w->trial->disturbance == NEIGHBOUR)
        return w->from < INFINITY && w->now < w->from + 120;
    return w->done > (w->trial->disturbance == DEPLOY ? requests - requests / 4 : requests / 2);
}

static uint32_t limit_now(const struct world *w) {
    return w->station      ? bal_station_view(w->station).slots
           : w->dispatcher ? bal_dispatcher_server(w->dispatcher, 0).slots
                           : (uint32_t)w->rival.limit;
}

static void note_limit(struct world *w) {
    struct outcome *o = w->outcome;
    const uint32_t limit = limit_now(w);
    if (o->steps < STEPS_MAX && (o->steps == 0 || o->step[o->steps - 1].limit != limit)) {
        o->step[o->steps].request = w->done;
        o->step[o->steps++].limit = limit;
    }
    if (is_measured(w))
        w->sum += limit;
}

static void complete(struct world *w) {
    const uint32_t in_service = w->in_service;
    const struct job job = end_service(w);
    w->done++;
    if (w->station)
        bal_station_done(w->station, nanoseconds(w), job.ticket, false);
    else if (w->dispatcher)
        bal_dispatcher_respond(w->dispatcher, nanoseconds(w), job.ticket, BAL_OUTCOME_GOOD);
    else if (w->limiter == LIMIT_AIMD)
        update_aimd(&w->rival, w->now - job.begun, in_service);
    else
        update_gradient2(&w->rival, w->now, w->now - job.begun, in_service);
    w->rival.limit = fmax(1, fmin(200, w->rival.limit));
    if (is_measured(w))
        w->responses[w->measured++] = w->now - job.arrived;
    if (w->done <= FIRST_REQUESTS)
        w->outcome->first += (w->now - job.arrived) / FIRST_REQUESTS;
    note_limit(w);
    start_waiting(w);
}

/* ---- what happens ---- */

static double arrival_rate(const struct trial *trial) {
    const double most = bli_speeds_top(&trial->speeds, 0) / trial->mean;
    return trial->load * most * (trial->disturbance == DEPLOY ? 0.5 : 1);
}

static void disturb(struct world *w) {
    if (w->trial->disturbance == CALM)
        return;
    if (w->from == INFINITY && w->arrived >= w->trial->requests / 2) {
        w->from = w->now;
        w->until = w->trial->disturbance == NEIGHBOUR ? w->now + 60 : INFINITY;
        w->outcome->began = w->done;
    }
    w->speed = w->now >= w->from && w->now < w->until ? 0.5 : 1;
}

static void step(struct world *w) {
    const double each = rate_each(w);
    const double ends = w->in_service ? w->now + (w->running[0].mark - w->attained) / each : INFINITY;
    const double changes = w->until > w->now ? w->until : INFINITY;
    const double next = fmin(fmin(ends, w->next), changes);
    w->attained += each * (next - w->now);
    w->now = next;
    if (next == w->next) {
        w->next += bal_rng_exp(&w->arrivals) / arrival_rate(w->trial);
        arrive(w);
    } else if (next == ends) {
        complete(w);
    }
    disturb(w);
}

static struct bal_station *open_station(enum limiter limiter, uint32_t slots, void **block) {
    const struct bal_station_config config = {.workers = 1,
                                              .slots =
                                                  limiter == LIMIT_AUTO ? BAL_CONCURRENCY_DEFAULT : slots,
                                              .min_slots = limiter == LIMIT_AUTO,
                                              .queue = 1 << 18,
                                              .peers = 1,
                                              .beat_ns = UINT64_C(1000000000),
                                              .id = 1,
                                              .boot = 1};
    *block = need(calloc(1, bal_station_size(&config)));
    struct bal_station *s = need(malloc(bal_station_view_size(&config)));
    bal_station_create(*block, &config, 0);
    if (bal_station_open(s, *block, 1, NULL) || bal_station_join(s, 0, 1, 1, NULL))
        abort();
    return s;
}

static struct bal_dispatcher *open_dispatcher(void **block) {
    const struct bal_dispatcher_config config = {.servers = 1,
                                                 .workers = 1,
                                                 .requests = 1 << 16,
                                                 .slots = BAL_CONCURRENCY_DEFAULT,
                                                 .min_slots = 1,
                                                 .held = 1 << 16,
                                                 .hold_ns = UINT64_C(3600000000000),
                                                 .refuse_beyond = true,
                                                 .beat_ns = UINT64_C(1000000000)};
    const struct bal_dispatcher_server server = {.name = "app"};
    struct bal_policy_spec policy;
    if (bal_policy_parse("jiq:else=hold", &policy, NULL))
        abort();
    *block = need(calloc(1, bal_dispatcher_size(&policy, &config)));
    struct bal_dispatcher *d = need(malloc(bal_dispatcher_view_size(&policy, &config)));
    bal_dispatcher_create(*block, &policy, &config, 0);
    if (bal_dispatcher_open(d, *block, 1, NULL) || bal_dispatcher_join(d, 0, 1, 1, NULL) ||
        bal_dispatcher_configure(d, 0, &server, 1, NULL))
        abort();
    return d;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct outcome slots_world_run(const struct trial *trial, enum limiter limiter, uint32_t slots) {
    struct outcome outcome = {0};
    struct world w = {.trial = trial,
                      .limiter = limiter,
                      .speed = 1,
                      .from = INFINITY,
                      .rival = {.limit = 20, .timeout = 10 * trial->mean},
                      .responses = need(malloc(trial->requests * sizeof(double))),
                      .outcome = &outcome};
    if (limiter == LIMIT_FIXED || limiter == LIMIT_AUTO)
        w.station = open_station(limiter, slots, &w.block);
    if (limiter == LIMIT_HOLD)
        w.dispatcher = open_dispatcher(&w.block);
    bal_rng_init(&w.arrivals, trial->seed, 0, BAL_STREAM_ARRIVALS);
    bal_rng_init(&w.sizes, trial->seed, 0, BAL_STREAM_SIZES);
    w.next = bal_rng_exp(&w.arrivals) / arrival_rate(trial);
    while (w.done < trial->requests)
        step(&w);
    qsort(w.responses, w.measured, sizeof *w.responses, compare_numbers);
    outcome.p99 = w.measured ? w.responses[w.measured * 99 / 100] : NAN;
    outcome.limit = w.measured ? w.sum / (double)w.measured : NAN;
    outcome.last = limit_now(&w);
    free(w.responses);
    free(w.running);
    free(w.waiting);
    free(w.station);
    free(w.dispatcher);
    free(w.block);
    return outcome;
}
