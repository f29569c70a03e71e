/* SPDX-License-Identifier: BSD-2-Clause */
/* A literal twin of dispatchers to which idle servers report again and again: at the times of a renewal
 * process that begins when a server becomes idle, for rcpb; and of one that holds a bounded number of jobs,
 * for rcpb and jiq with else=hold. Jobs one by one in plain arrays, every server looked at in every event. It
 * shares only the random generator and the laws with the event engine, which must agree with it.
 *
 * Replications are independent, and so are the two sides. Each comparison is of two means of REPLICATIONS
 * values, with Student's t of 2 REPLICATIONS - 2 degrees of freedom at a false-alarm probability of 1e-6;
 * there are 40. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/simulate.h"
#include "ballast/stats.h"

#include <math.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { REPLICATIONS = 30, SERVERS_MAX = 8, JOBS_MAX = 4000 };
enum { RESPONSE, WAITING, WAITS, REPORTS, VALUES };
static const double warmup = 0.2;

struct outcome {
    double value[VALUES][REPLICATIONS];
};

/* ---- the twin ---- */

struct setting {
    const char *policy, *service, *law;
    uint32_t servers;
    double load, mu;    /* mu 0: jiq, where servers report when they become idle */
    int names, backlog; /* backlog 0: nothing is held */
};

struct job {
    double arrival, left;
};

struct server {
    int jobs;
    struct job job[JOBS_MAX]; /* the first is in service */
    double reports_at;        /* while it is idle */
};

struct twin {
    const struct setting *setting;
    struct bli_dist size, gap;
    struct bal_rng rng;
    struct server server[SERVERS_MAX];
    int name[SERVERS_MAX], names; /* that the dispatcher has stored */
    struct job held[JOBS_MAX];
    int holds;
    bool counting;
    double response, waiting, waited, begun, completed, reports, arrived;
};

static void start_service(struct twin *twin, double now, const struct job *job) {
    twin->begun += twin->counting;
    twin->waited += twin->counting && now > job->arrival;
    twin->waiting += twin->counting ? now - job->arrival : 0;
}

static void join(struct twin *twin, double now, int at, struct job job) {
    struct server *server = &twin->server[at];
    assert_true(server->jobs < JOBS_MAX);
    server->job[server->jobs++] = job;
    if (server->jobs == 1)
        start_service(twin, now, &job);
}

static int take_name(struct twin *twin) {
    const uint32_t i = bal_rng_below(&twin->rng, (uint32_t)twin->names);
    const int name = twin->name[i];
    twin->name[i] = twin->name[--twin->names];
    return name;
}

static void arrive(struct twin *twin, double now) {
    const struct job job = {now, bli_dist_sample(&twin->size, &twin->rng)};
    twin->arrived += twin->counting;
    if (twin->names > 0)
        join(twin, now, take_name(twin), job);
    else if (twin->holds < twin->setting->backlog)
        twin->held[twin->holds++] = job;
    else
        join(twin, now, (int)bal_rng_below(&twin->rng, twin->setting->servers), job);
}

static void store_name(struct twin *twin, double now, int server) {
    twin->reports += twin->counting;
    for (int i = 0; i < twin->names; i++)
        if (twin->name[i] == server)
            return;
    if (twin->names < twin->setting->names)
        twin->name[twin->names++] = server;
    if (twin->holds == 0 || twin->names == 0)
        return;
    const struct job first = twin->held[0];
    memmove(twin->held, twin->held + 1, (size_t)--twin->holds * sizeof first);
    join(twin, now, take_name(twin), first);
}

static void complete(struct twin *twin, double now, int at) {
    struct server *server = &twin->server[at];
    twin->completed += twin->counting;
    twin->response += twin->counting ? now - server->job[0].arrival : 0;
    memmove(server->job, server->job + 1, (size_t)--server->jobs * sizeof server->job[0]);
    if (server->jobs > 0)
        start_service(twin, now, &server->job[0]);
    else if (twin->setting->mu > 0)
        server->reports_at = now + bli_dist_sample(&twin->gap, &twin->rng);
    else
        store_name(twin, now, at);
}

static void report(struct twin *twin, double now, int at) {
    twin->server[at].reports_at = now + bli_dist_sample(&twin->gap, &twin->rng);
    store_name(twin, now, at);
}

/* When a server does something next, and what. */
static double next_of(const struct twin *twin, const struct server *server, double now) {
    return server->jobs > 0        ? now + server->job[0].left
           : twin->setting->mu > 0 ? server->reports_at
                                   : INFINITY;
}

static void run_twin(struct twin *twin, double time) {
    const double rate = twin->setting->load * twin->setting->servers;
    double now = 0, arrives = bal_rng_exp(&twin->rng) / rate;
    while (now < time) {
        double next = arrives;
        int who = -1;
        for (int k = 0; k < (int)twin->setting->servers; k++)
            if (next_of(twin, &twin->server[k], now) < next) {
                next = next_of(twin, &twin->server[k], now);
                who = k;
            }
        for (int k = 0; k < (int)twin->setting->servers; k++)
            if (twin->server[k].jobs > 0)
                twin->server[k].job[0].left -= next - now;
        now = next;
        twin->counting = now >= warmup * time;
        if (who < 0) {
            arrive(twin, now);
            arrives = now + bal_rng_exp(&twin->rng) / rate;
        } else if (twin->server[who].jobs > 0) {
            complete(twin, now, who);
        } else {
            report(twin, now, who);
        }
    }
}

/* All idle at the start; under jiq the dispatcher knows it. */
static void set_up_twin(struct twin *twin, const struct setting *setting) {
    memset(twin, 0, sizeof *twin);
    twin->setting = setting;
    assert_int_equal(bli_dist_parse(setting->service, &twin->size, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(setting->law, &twin->gap, NULL), BAL_OK);
    if (setting->mu > 0)
        bli_dist_scale(&twin->gap, 1 / setting->mu);
}

static void begin_idle(struct twin *twin) {
    for (int k = 0; k < (int)twin->setting->servers; k++)
        if (twin->setting->mu > 0)
            twin->server[k].reports_at =
                bal_rng_uniform(&twin->rng) * bli_dist_sample(&twin->gap, &twin->rng);
        else
            twin->name[twin->names++] = k;
}

static void simulate_twin(const struct setting *setting, double time, struct outcome *outcome) {
    static struct twin twin;
    for (int r = 0; r < REPLICATIONS; r++) {
        set_up_twin(&twin, setting);
        bal_rng_init(&twin.rng, 40113, (uint64_t)r, 0);
        begin_idle(&twin);
        run_twin(&twin, time);
        outcome->value[RESPONSE][r] = twin.response / twin.completed;
        outcome->value[WAITING][r] = twin.waiting / twin.begun;
        outcome->value[WAITS][r] = twin.waited / twin.begun;
        outcome->value[REPORTS][r] = twin.reports / twin.arrived;
    }
}

/* ---- the engine ---- */

static void simulate_engine(const struct setting *setting, double time, struct outcome *outcome) {
    struct bal_policy_spec policy;
    struct bal_error err;
    struct bli_model model = {.load = setting->load, .backlog = (uint32_t)setting->backlog};
    model.servers = (struct bli_servers){.groups = 1, .group = {{.count = setting->servers, .speed = 1}}};
    assert_int_equal(bli_dist_parse(setting->service, &model.size, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(setting->law, &model.reports, NULL), BAL_OK);
    if (bal_policy_parse(setting->policy, &policy, &err))
        fail_msg("%s", err.text);
    for (int r = 0; r < REPLICATIONS; r++) {
        const struct bli_run run = {.seed = 401, .replication = (uint64_t)r, .time = time, .warmup = warmup};
        struct bli_trial trial = {.jobs = 0};
        if (bli_simulate(&model, &policy, &run, &trial, &err))
            fail_msg("%s: %s", setting->policy, err.text);
        assert_int_equal(trial.engine, BLI_ENGINE_EVENT);
        outcome->value[RESPONSE][r] = trial.metric[BLI_RESPONSE_MEAN];
        outcome->value[WAITING][r] = trial.metric[BLI_WAITING_MEAN];
        outcome->value[WAITS][r] = trial.metric[BLI_WAITING_PROBABILITY];
        outcome->value[REPORTS][r] = trial.metric[BLI_REPORTS_PER_JOB];
    }
}

static void moments(const double *value, double *mean, double *square) {
    *mean = *square = 0;
    for (int r = 0; r < REPLICATIONS; r++)
        *mean += value[r] / REPLICATIONS;
    for (int r = 0; r < REPLICATIONS; r++)
        *square += (value[r] - *mean) * (value[r] - *mean) / (REPLICATIONS - 1.0);
}

/* A difference of a fifth must be seen. */
static void assert_same(const double *x, const double *y, const char *what, int which) {
    double mean_x, mean_y, square_x, square_y;
    moments(x, &mean_x, &square_x);
    moments(y, &mean_y, &square_y);
    const double limit = -bli_student_quantile(0.5e-6, 2 * REPLICATIONS - 2);
    const double error = sqrt((square_x + square_y) / REPLICATIONS);
    if (limit * error > 0.2 * mean_x)
        fail_msg("%s: value %d: the error %g of %g is too large to tell", what, which, error, mean_x);
    if (!(fabs(mean_x - mean_y) <= limit * error + 1e-12))
        fail_msg("%s: value %d: %g and %g differ by %.1f standard errors", what, which, mean_x, mean_y,
                 fabs(mean_x - mean_y) / error);
}

static void the_engine_follows_the_definition(void **state) {
    (void)state;
    static const struct setting settings[] = {
        {"rcpb:c=2,mu=1.5", "exp", "det", 6, 0.7, 1.5, 2, 0},
        {"rcpb:c=1,mu=4", "det", "erlang(4)", 5, 0.7, 4, 1, 0},
        {"rcpb:c=3,mu=1", "hyper(4)", "hyper(4)", 7, 0.6, 1, 3, 0},
        {"rcpb:c=2,mu=2", "exp", "uniform(0.5,1.5)", 8, 0.7, 2, 2, 0},
        {"rcpb:c=2,mu=3,else=hold", "exp", "exp", 6, 0.7, 3, 2, 3},
        {"rcpb:c=1,mu=8,else=hold", "erlang(4)", "det", 5, 0.7, 8, 1, 40},
        {"rcpb:c=3,mu=2,else=hold", "hyper(4)", "hyper(4)", 6, 0.6, 2, 3, 1},
        {"jiq:else=hold", "exp", "exp", 5, 0.8, 0, 5, 2},
        {"jiq:else=hold", "hyper(4)", "exp", 6, 0.7, 0, 6, 10},
        {"jiq:else=hold", "det", "exp", 4, 0.8, 0, 4, 1},
    };
    static struct outcome twin, engine;
    for (size_t i = 0; i < LENGTH(settings); i++) {
        const double time = 40000 / (settings[i].load * settings[i].servers);
        simulate_twin(&settings[i], time, &twin);
        simulate_engine(&settings[i], time, &engine);
        for (int value = 0; value < VALUES; value++)
            assert_same(twin.value[value], engine.value[value], settings[i].policy, value);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_engine_follows_the_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
