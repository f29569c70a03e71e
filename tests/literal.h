/* SPDX-License-Identifier: BSD-2-Clause */
/* A literal simulation of servers with slots, stealing and recorded or drawn jobs: every server a list of
 * jobs, the next event found by looking at all of them. It is given the same jobs and the same random numbers
 * as the event engine, and must find the same times to the last bit. Slow, and shares nothing with the engine
 * but the policies and the generator. Include after <cmocka.h>. */
#ifndef BALLAST_TESTS_LITERAL_H
#define BALLAST_TESTS_LITERAL_H

#include "ballast/simulate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LITERAL_SERVERS = 64, LITERAL_QUEUE = 4000 };

struct literal_job {
    double arrival, size;
    unsigned rank;
    bool begun;
    double end; /* when begun */
};

struct literal {
    const struct bli_model *model;
    const struct bal_policy_spec *spec;
    /* the input: jobs in order of arrival, the first of them those that servers begin with, in their order */
    const struct literal_job *input;
    size_t inputs;
    const uint32_t *initial; /* how many these are; NULL: none */
    double until;            /* events before this time happen; INFINITY: until all jobs have left */
    uint64_t seed, replication;

    unsigned servers, slots;
    double speed[LITERAL_SERVERS];
    struct literal_job (*queue)[LITERAL_QUEUE]; /* in order of arrival, those in service among them */
    uint32_t length[LITERAL_SERVERS], urgent[LITERAL_SERVERS];
    struct bal_fleet fleet;
    struct bal_rng policy_rng, steal_rng;
    void *state;
    double now;

    /* the output */
    double *response; /* in the order of completions */
    size_t completed, begun, waited;
    double waiting, queue_area;
    uint64_t reports, requests, steals, stolen, moves;
    double last; /* time of the last event */
};

/* Time until a job that came now would begin: fill the slots in order with what is there. */
static inline double literal_work(struct bal_fleet *fleet, uint32_t server) {
    const struct literal *w = fleet->host;
    double free_at[64];
    unsigned busy = 0;
    for (unsigned s = 0; s < w->slots; s++)
        free_at[s] = w->now;
    for (uint32_t j = 0; j < w->length[server]; j++)
        if (w->queue[server][j].begun)
            free_at[busy++] = w->queue[server][j].end;
    for (uint32_t j = 0; j < w->length[server]; j++) {
        if (w->queue[server][j].begun)
            continue;
        unsigned first = 0;
        for (unsigned s = 1; s < w->slots; s++)
            first = free_at[s] < free_at[first] ? s : first;
        free_at[first] += w->queue[server][j].size / w->speed[server];
    }
    double least = INFINITY;
    for (unsigned s = 0; s < w->slots; s++)
        least = free_at[s] < least ? free_at[s] : least;
    return least - w->now;
}

static inline void literal_begin(struct literal *w, unsigned server) {
    unsigned busy = 0;
    for (uint32_t j = 0; j < w->length[server]; j++)
        busy += w->queue[server][j].begun;
    /* Which of those that wait is next? The first; with servers that prefer a class the first of that. */
    while (busy < w->slots) {
        struct literal_job *next = NULL;
        for (uint32_t j = 0; j < w->length[server]; j++) {
            struct literal_job *job = &w->queue[server][j];
            const bool prefers = w->model->discipline == BLI_DISCIPLINE_NONPREEMPTIVE;
            if (!job->begun && (!next || (prefers && job->rank < next->rank)))
                next = job;
        }
        if (!next)
            return;
        next->begun = true;
        next->end = w->now + next->size * (1 / w->speed[server]);
        w->begun++;
        w->waited += w->now > next->arrival;
        w->waiting += w->now - next->arrival;
        busy++;
    }
}

static inline void literal_append(struct literal *w, unsigned server, struct literal_job job) {
    assert_true(w->length[server] < LITERAL_QUEUE);
    w->queue[server][w->length[server]++] = job;
    w->urgent[server] += job.rank == 0;
}

static inline struct literal_job literal_take(struct literal *w, unsigned server, uint32_t place) {
    const struct literal_job job = w->queue[server][place];
    w->length[server]--;
    w->urgent[server] -= job.rank == 0;
    for (uint32_t j = place; j < w->length[server]; j++)
        w->queue[server][j] = w->queue[server][j + 1];
    return job;
}

/* A server without jobs asks. */
static inline void literal_steal(struct literal *w, unsigned server) {
    unsigned victim = bal_rng_below(&w->steal_rng, w->servers - (w->model->others ? 1 : 0));
    if (w->model->others && victim >= server)
        victim++;
    w->fleet.probes++;
    w->requests++;
    if (victim == server)
        return;
    const uint32_t length = w->length[victim];
    uint32_t wanted = bal_steal_amount(&w->model->steal, length), waiting = 0;
    for (uint32_t j = 0; j < length; j++)
        waiting += !w->queue[victim][j].begun;
    wanted = wanted < waiting ? wanted : waiting;
    for (uint32_t i = 0; i < wanted; i++)
        literal_append(w, server, literal_take(w, victim, length - wanted));
    w->steals += wanted > 0;
    w->stolen += wanted;
}

static inline void literal_complete(struct literal *w, unsigned server, uint32_t place) {
    const struct literal_job job = literal_take(w, server, place);
    w->response[w->completed++] = w->now - job.arrival;
    if (w->length[server] == 0 && w->model->steal.kind != BAL_STEAL_NONE)
        literal_steal(w, server);
    literal_begin(w, server);
    if (w->length[server] < w->slots && w->spec->policy->wants & BAL_WANTS_IDLE) {
        /* Servers that steal come to rest only when they get nothing. */
        w->reports++;
        bal_policy_report(w->spec, w->state, &w->fleet, BAL_REPORT_IDLE, server, NULL);
    }
}

/* The last low job that waits at a server goes to another, where it may begin at once. */
static inline void literal_move(struct literal *w, unsigned from, unsigned to) {
    uint32_t place = w->length[from];
    while (place > 0 && (w->queue[from][place - 1].begun || w->queue[from][place - 1].rank == 0))
        place--;
    if (place == 0)
        return;
    literal_append(w, to, literal_take(w, from, place - 1));
    literal_begin(w, to);
    w->moves++;
}

static inline void literal_arrive(struct literal *w, const struct literal_job *job) {
    const struct bal_job arriving = {.count = 1, .rank = job->rank};
    const struct bal_decision decision =
        bal_policy_route(w->spec, w->state, &w->fleet, &arriving, &w->policy_rng);
    assert_true(decision.server < w->servers);
    literal_append(w, decision.server, *job);
    literal_begin(w, decision.server);
    if (decision.move_to != BAL_NONE)
        literal_move(w, decision.server, decision.move_to);
}

static inline void literal_prepare(struct literal *w) {
    w->servers = 0;
    for (unsigned g = 0; g < w->model->servers.groups; g++)
        for (uint32_t i = 0; i < w->model->servers.group[g].count; i++) {
            assert_true(w->servers < LITERAL_SERVERS);
            w->speed[w->servers++] = w->model->servers.group[g].speed;
        }
    w->slots = w->model->slots > 1 ? w->model->slots : 1;
    w->queue = calloc(w->servers, sizeof *w->queue);
    w->response = malloc((w->inputs + 1) * sizeof *w->response);
    const struct bal_policy_context setting = {w->servers, w->model->load};
    w->state = malloc(bal_policy_size(w->spec, &setting) + 1);
    assert_true(w->queue && w->response && w->state);
    w->fleet = (struct bal_fleet){.servers = w->servers,
                                  .length = w->length,
                                  .urgent = w->model->classes ? w->urgent : NULL,
                                  .work = literal_work,
                                  .own = w->length,
                                  .host = w};
    bal_policy_init(w->spec, &setting, w->state);
    for (uint32_t server = 0; server < w->servers; server++)
        if (!w->initial || w->initial[server] < w->slots)
            bal_policy_report(w->spec, w->state, &w->fleet, BAL_REPORT_IDLE, server, NULL);
    bal_rng_init(&w->policy_rng, w->seed, w->replication, BAL_STREAM_POLICY);
    bal_rng_init(&w->steal_rng, w->seed, w->replication, BAL_STREAM_STEALING);
}

static inline void literal_advance(struct literal *w, double now) {
    uint64_t total = 0;
    for (unsigned s = 0; s < w->servers; s++)
        total += w->length[s];
    w->queue_area += (double)total * (fmin(now, w->until) - w->now);
    w->now = now;
}

/* Returns how many jobs servers begin with. */
static inline size_t literal_start(struct literal *w) {
    size_t next = 0;
    for (unsigned server = 0; w->initial && server < w->servers; server++)
        for (uint32_t i = 0; i < w->initial[server]; i++) {
            literal_append(w, server, w->input[next++]);
            literal_begin(w, server);
        }
    return next;
}

/* Fill in the first members and call; literal_free afterwards. */
static inline void literal_run(struct literal *w) {
    literal_prepare(w);
    for (size_t next = literal_start(w);;) {
        double first = INFINITY;
        unsigned server = 0;
        uint32_t place = 0;
        for (unsigned s = 0; s < w->servers; s++)
            for (uint32_t j = 0; j < w->length[s]; j++)
                if (w->queue[s][j].begun && w->queue[s][j].end < first) {
                    first = w->queue[s][j].end;
                    server = s;
                    place = j;
                }
        const double arrives = next < w->inputs ? w->input[next].arrival : INFINITY;
        const double now = arrives < first ? arrives : first;
        if (now == INFINITY && w->until == INFINITY)
            return;
        literal_advance(w, now);
        if (now >= w->until)
            return;
        w->last = now;
        if (arrives < first)
            literal_arrive(w, &w->input[next++]);
        else
            literal_complete(w, server, place);
    }
}

static inline void literal_free(struct literal *w) {
    free(w->queue);
    free(w->response);
    free(w->state);
}

/* The jobs that the event engine would draw for this model: so many that are there at time 0, then those that
 * arrive up to a time. */
static inline struct literal_job *literal_draw(const struct bli_model *model, uint64_t seed,
                                               uint64_t replication, size_t there, double until,
                                               size_t *count) {
    struct bal_rng arrivals, sizes, classes;
    bal_rng_init(&arrivals, seed, replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&sizes, seed, replication, BAL_STREAM_SIZES);
    bal_rng_init(&classes, seed, replication, BAL_STREAM_CLASSES);
    const double gap = 1 / bli_model_arrival_rate(model);
    size_t room = 0;
    struct literal_job *job = NULL;
    *count = 0;
    for (double now = 0;;) {
        if (*count >= there)
            now = now + bal_rng_exp(&arrivals) * gap;
        if (now >= until)
            return job;
        if (*count == room) {
            room = 2 * room + 1000;
            job = realloc(job, room * sizeof *job);
            assert_non_null(job);
        }
        const unsigned rank = model->classes ? bal_rng_uniform(&classes) >= model->high : 0;
        job[(*count)++] =
            (struct literal_job){.arrival = now, .size = bli_dist_sample(&model->size, &sizes), .rank = rank};
    }
}

static inline void literal_expect(const struct literal *w, const struct bli_trial *trial, const char *what) {
    const double *metric = trial->metric;
    double sum = 0;
    struct bli_histogram *histogram = calloc(1, sizeof *histogram);
    assert_non_null(histogram);
    for (size_t i = 0; i < w->completed; i++) {
        sum += w->response[i];
        bli_histogram_add(histogram, w->response[i] * (1 / w->model->size.mean));
    }
    if (trial->jobs != w->completed || metric[BLI_RESPONSE_MEAN] != sum / (double)w->completed)
        fail_msg("%s: %llu jobs with mean response time %.17g, literally %zu with %.17g", what,
                 (unsigned long long)trial->jobs, metric[BLI_RESPONSE_MEAN], w->completed,
                 sum / (double)w->completed);
    assert_memory_equal(trial->histogram[BLI_OF_RESPONSE], histogram, sizeof *histogram);
    free(histogram);
    const double time = w->until < INFINITY ? w->until : w->last;
    const double expected[][2] = {
        {metric[BLI_WAITING_MEAN], w->waiting / (double)w->begun},
        {metric[BLI_WAITING_PROBABILITY], (double)w->waited / (double)w->begun},
        {metric[BLI_QUEUE_TOTAL], w->queue_area / time},
        {metric[BLI_MESSAGES_PER_TIME], (double)(w->fleet.probes + w->reports) / time},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!(fabs(expected[i][0] - expected[i][1]) <= 1e-9 * fabs(expected[i][1]) + 1e-12))
            fail_msg("%s: quantity %zu is %.17g, literally %.17g", what, i, expected[i][0], expected[i][1]);
    if (w->model->steal.kind == BAL_STEAL_NONE)
        return;
    uint64_t jobs = w->completed;
    for (unsigned s = 0; s < w->servers; s++)
        jobs += w->length[s];
    const double per_server = time * w->servers;
    if (fabs(metric[BLI_STEALING_REQUESTS] * per_server - (double)w->requests) > 1e-6 ||
        fabs(metric[BLI_STEALING_STEALS] * per_server - (double)w->steals) > 1e-6 ||
        fabs(metric[BLI_STEALING_MOVED] * (double)jobs - (double)w->stolen) > 1e-6)
        fail_msg("%s: %g requests and %g steals, literally %llu and %llu", what,
                 metric[BLI_STEALING_REQUESTS] * per_server, metric[BLI_STEALING_STEALS] * per_server,
                 (unsigned long long)w->requests, (unsigned long long)w->steals);
}

#endif
