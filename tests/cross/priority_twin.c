/* SPDX-License-Identifier: BSD-2-Clause */
/* A literal twin of the system with two classes: pod-scp, pod-sep and pod-ssp as their definitions read, jobs
 * one by one in plain arrays, every server looked at in every event. It shares only the random generator with
 * the engines, and both engines must agree with it; and with each other for every policy and discipline.
 *
 * Replications are independent, and so are the two sides of a comparison. Each compares two means of
 * REPLICATIONS values with Student's t of 2 REPLICATIONS - 2 degrees of freedom at a false-alarm probability
 * of 1e-6; there are fewer than 600 of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { REPLICATIONS = 30 };
static const double warmup = 0.2;

/* What is compared. */
static const enum bli_metric metrics[] = {
    BLI_RESPONSE_MEAN,           BLI_HIGH_RESPONSE_MEAN,  BLI_LOW_RESPONSE_MEAN,
    BLI_HIGH_WAITING_MEAN,       BLI_LOW_WAITING_MEAN,    BLI_HIGH_WAITING_PROBABILITY,
    BLI_LOW_WAITING_PROBABILITY, BLI_HIGH_PROBES_PER_JOB, BLI_LOW_PROBES_PER_JOB,
    BLI_MOVES_PER_HIGH_JOB,
};
enum { METRICS = LENGTH(metrics) };

struct outcome {
    double value[METRICS][REPLICATIONS];
};

/* ---- the twin ---- */

enum { HIGH, LOW };
enum { SERVERS_MAX = 8, JOBS_MAX = 2000 };

struct job {
    int class;
    double arrival;
    double left; /* of its work */
    bool started;
};

struct server {
    double speed;
    int jobs;
    struct job job[JOBS_MAX]; /* in the order in which they joined */
    int serving;              /* index of the job in service, where it may not be interrupted */
};

struct twin {
    const struct bli_model *model;
    int servers;
    struct server server[SERVERS_MAX];
    struct bal_rng rng;
    enum bli_discipline discipline;
    char kind[8]; /* scp, sep or ssp */
    unsigned d1, d2;
    bool counting; /* the warm-up is over */
    double response[2], waiting[2];
    double completed[2], begun[2], waited[2], routed[2], probes[2], moves;
};

static int count_class(const struct server *server, int class) {
    int count = 0;
    for (int i = 0; i < server->jobs; i++)
        count += server->job[i].class == class;
    return count;
}

static int first_of_class(const struct server *server, int class) {
    for (int i = 0; i < server->jobs; i++)
        if (server->job[i].class == class)
            return i;
    return -1;
}

static int last_of_class(const struct server *server, int class) {
    for (int i = server->jobs - 1; i >= 0; i--)
        if (server->job[i].class == class)
            return i;
    return -1;
}

/* Whom a server that is free to choose serves: the first job, of the high class if there is one and it
 * prefers that. */
static int choose_job(const struct twin *twin, const struct server *server) {
    const int high = first_of_class(server, HIGH);
    return twin->discipline == BLI_DISCIPLINE_FIFO || high < 0 ? 0 : high;
}

static int in_service(const struct twin *twin, const struct server *server) {
    return twin->discipline == BLI_DISCIPLINE_NONPREEMPTIVE ? server->serving : choose_job(twin, server);
}

/* Notes the jobs whose service has just begun. */
static void look_at_starts(struct twin *twin, double now) {
    for (int k = 0; k < twin->servers; k++) {
        struct server *server = &twin->server[k];
        if (server->jobs == 0)
            continue;
        struct job *job = &server->job[in_service(twin, server)];
        if (job->started)
            continue;
        job->started = true;
        if (!twin->counting)
            continue;
        twin->begun[job->class]++;
        twin->waiting[job->class] += now - job->arrival;
        twin->waited[job->class] += now > job->arrival;
    }
}

static struct job take(struct server *server, int index) {
    const struct job job = server->job[index];
    server->jobs--;
    memmove(&server->job[index], &server->job[index + 1], (size_t)(server->jobs - index) * sizeof job);
    return job;
}

static void join(struct server *server, struct job job) {
    assert_true(server->jobs < JOBS_MAX);
    if (server->jobs == 0)
        server->serving = 0;
    server->job[server->jobs++] = job;
}

/* A uniform one of the sampled servers at which `value` is least. */
static int least_of(struct twin *twin, const bool *sampled, const int *value) {
    int best[SERVERS_MAX], count = 0;
    for (int k = 0; k < twin->servers; k++) {
        if (!sampled[k])
            continue;
        if (count > 0 && value[k] < value[best[0]])
            count = 0;
        if (count == 0 || value[k] == value[best[0]])
            best[count++] = k;
    }
    return best[bal_rng_below(&twin->rng, (uint32_t)count)];
}

static void move_last_low(struct twin *twin, struct server *from, struct server *to) {
    const int last = last_of_class(from, LOW);
    assert_true(last >= 0); /* the model says that there always is one */
    if (twin->discipline == BLI_DISCIPLINE_NONPREEMPTIVE && last == from->serving)
        return; /* it cannot be interrupted, so it stays */
    if (last < from->serving)
        from->serving--;
    join(to, take(from, last));
    twin->moves += twin->counting;
}

static void arrive(struct twin *twin, double now) {
    const int class = bal_rng_uniform(&twin->rng) < twin->model->high ? HIGH : LOW;
    const struct job job = {class, now, bli_dist_sample(&twin->model->size, &twin->rng), false};
    const unsigned probes = class == HIGH ? twin->d2 : twin->d1;
    bool sampled[SERVERS_MAX] = {false};
    for (unsigned i = 0; i < probes; i++)
        sampled[bal_rng_below(&twin->rng, (uint32_t)twin->servers)] = true;
    int total[SERVERS_MAX], high[SERVERS_MAX];
    for (int k = 0; k < twin->servers; k++) {
        total[k] = twin->server[k].jobs;
        high[k] = count_class(&twin->server[k], HIGH);
    }
    if (twin->counting) {
        twin->routed[class]++;
        twin->probes[class] += probes;
    }
    if (strcmp(twin->kind, "ssp") != 0 || class == LOW) {
        join(&twin->server[least_of(twin, sampled, total)], job);
        return;
    }
    const int a = least_of(twin, sampled, high);
    const int shortest = least_of(twin, sampled, total);
    join(&twin->server[a], job);
    if (total[a] > total[shortest])
        move_last_low(twin, &twin->server[a], &twin->server[shortest]);
}

static void complete(struct twin *twin, struct server *server, double now) {
    const struct job job = take(server, in_service(twin, server));
    if (server->jobs > 0)
        server->serving = choose_job(twin, server);
    if (!twin->counting)
        return;
    twin->completed[job.class]++;
    twin->response[job.class] += now - job.arrival;
}

/* Which server completes a job first if nobody comes, and when. */
static struct server *next_completion(struct twin *twin, double *in) {
    struct server *next = NULL;
    *in = INFINITY;
    for (int k = 0; k < twin->servers; k++) {
        struct server *server = &twin->server[k];
        if (server->jobs == 0)
            continue;
        const double left = server->job[in_service(twin, server)].left / server->speed;
        if (left < *in) {
            *in = left;
            next = server;
        }
    }
    return next;
}

static void work(struct twin *twin, double time) {
    for (int k = 0; k < twin->servers; k++) {
        struct server *server = &twin->server[k];
        if (server->jobs > 0)
            server->job[in_service(twin, server)].left -= time * server->speed;
    }
}

static void run_twin(struct twin *twin, double time) {
    const double rate = bli_model_arrival_rate(twin->model);
    double now = 0, next_arrival = bal_rng_exp(&twin->rng) / rate;
    while (now < time) {
        double in;
        struct server *server = next_completion(twin, &in);
        const bool arrival = next_arrival < now + in;
        const double then = arrival ? next_arrival : now + in;
        work(twin, then - now);
        now = then;
        twin->counting = now >= warmup * time;
        if (arrival) {
            arrive(twin, now);
            next_arrival = now + bal_rng_exp(&twin->rng) / rate;
        } else {
            complete(twin, server, now);
        }
        look_at_starts(twin, now);
    }
}

static double twin_metric(const struct twin *twin, enum bli_metric metric) {
    switch (metric) {
    case BLI_RESPONSE_MEAN:
        return (twin->response[HIGH] + twin->response[LOW]) / (twin->completed[HIGH] + twin->completed[LOW]);
    case BLI_HIGH_RESPONSE_MEAN:
        return twin->response[HIGH] / twin->completed[HIGH];
    case BLI_LOW_RESPONSE_MEAN:
        return twin->response[LOW] / twin->completed[LOW];
    case BLI_HIGH_WAITING_MEAN:
        return twin->waiting[HIGH] / twin->begun[HIGH];
    case BLI_LOW_WAITING_MEAN:
        return twin->waiting[LOW] / twin->begun[LOW];
    case BLI_HIGH_WAITING_PROBABILITY:
        return twin->waited[HIGH] / twin->begun[HIGH];
    case BLI_LOW_WAITING_PROBABILITY:
        return twin->waited[LOW] / twin->begun[LOW];
    case BLI_HIGH_PROBES_PER_JOB:
        return twin->probes[HIGH] / twin->routed[HIGH];
    case BLI_LOW_PROBES_PER_JOB:
        return twin->probes[LOW] / twin->routed[LOW];
    default:
        return twin->moves / twin->routed[HIGH];
    }
}

/* pod-xxx:d1=..,d2=.. or pod-sep:d=..; what its servers do is said here anew, not taken from the table of
 * policies. */
static void set_up_twin(struct twin *twin, const struct bli_model *model, const char *policy) {
    memset(twin, 0, sizeof *twin);
    twin->model = model;
    memcpy(twin->kind, policy + 4, 3);
    if (sscanf(policy + 7, ":d1=%u,d2=%u", &twin->d1, &twin->d2) != 2) {
        assert_int_equal(sscanf(policy + 7, ":d=%u", &twin->d1), 1);
        twin->d2 = twin->d1;
    }
    const bool prefers = strcmp(twin->kind, "scp") != 0;
    twin->discipline = model->discipline != BLI_DISCIPLINE_AUTO ? model->discipline
                       : prefers                                ? BLI_DISCIPLINE_PREEMPTIVE
                                                                : BLI_DISCIPLINE_FIFO;
    for (unsigned g = 0; g < model->servers.groups; g++)
        for (uint32_t i = 0; i < model->servers.group[g].count; i++) {
            assert_true(twin->servers < SERVERS_MAX);
            twin->server[twin->servers++].speed = model->servers.group[g].speed;
        }
}

static void simulate_twin(const struct bli_model *model, const char *policy, double time,
                          struct outcome *outcome) {
    static struct twin twin;
    for (int r = 0; r < REPLICATIONS; r++) {
        set_up_twin(&twin, model, policy);
        bal_rng_init(&twin.rng, 20221, (uint64_t)r, 0);
        run_twin(&twin, time);
        for (size_t m = 0; m < METRICS; m++)
            outcome->value[m][r] = twin_metric(&twin, metrics[m]);
    }
}

/* ---- the engines ---- */

static void simulate_engine(const struct bli_model *model, const char *text, double time,
                            enum bli_engine engine, struct outcome *outcome) {
    struct bal_policy_spec policy;
    struct bal_error err;
    assert_int_equal(bal_policy_parse(text, &policy, &err), BAL_OK);
    for (int r = 0; r < REPLICATIONS; r++) {
        /* another seed for each engine: they must not share anything */
        const struct bli_run run = {.seed = 100 + engine,
                                    .replication = (uint64_t)r,
                                    .time = time,
                                    .warmup = warmup,
                                    .engine = engine};
        struct bli_trial trial = {.jobs = 0};
        if (bli_simulate(model, &policy, &run, &trial, &err))
            fail_msg("%s: %s", text, err.text);
        assert_int_equal(trial.engine, engine);
        for (size_t m = 0; m < METRICS; m++)
            outcome->value[m][r] = trial.metric[metrics[m]];
    }
}

static void moments(const double *value, double *mean, double *square) {
    *mean = *square = 0;
    for (int r = 0; r < REPLICATIONS; r++)
        *mean += value[r] / REPLICATIONS;
    for (int r = 0; r < REPLICATIONS; r++)
        *square += (value[r] - *mean) * (value[r] - *mean) / (REPLICATIONS - 1.0);
}

static void assert_agree(const struct outcome *x, const struct outcome *y, const char *what) {
    const double limit = -bli_student_quantile(0.5e-6, 2 * REPLICATIONS - 2);
    for (size_t m = 0; m < METRICS; m++) {
        double mean_x, mean_y, square_x, square_y;
        moments(x->value[m], &mean_x, &square_x);
        moments(y->value[m], &mean_y, &square_y);
        const double error = sqrt((square_x + square_y) / REPLICATIONS);
        if (!(fabs(mean_x - mean_y) <= limit * error + 1e-12))
            fail_msg("%s: %s: %g and %g differ by %.1f standard errors", what,
                     bli_metric_table[metrics[m]].name, mean_x, mean_y, fabs(mean_x - mean_y) / error);
    }
}

/* ---- tests ---- */

static struct bli_model model_of(const char *servers, const char *dist, double load, double high,
                                 enum bli_discipline discipline) {
    struct bli_model model = {.load = load, .classes = true, .high = high, .discipline = discipline};
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(dist, &model.size, NULL), BAL_OK);
    return model;
}

static void engines_follow_the_definition(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        enum bli_discipline discipline;
        const char *servers, *dist;
        double load, high;
    } cases[] = {
        {"pod-ssp:d1=2,d2=2", BLI_DISCIPLINE_AUTO, "6", "exp", 0.85, 0.4},
        {"pod-ssp:d1=1,d2=3", BLI_DISCIPLINE_AUTO, "7", "exp", 0.7, 0.3},
        {"pod-ssp:d1=2,d2=4", BLI_DISCIPLINE_NONPREEMPTIVE, "6", "exp", 0.8, 0.6},
        {"pod-sep:d=2", BLI_DISCIPLINE_AUTO, "5", "exp", 0.85, 0.3},
        {"pod-sep:d=3", BLI_DISCIPLINE_NONPREEMPTIVE, "6", "exp", 0.8, 0.5},
        {"pod-scp:d1=1,d2=3", BLI_DISCIPLINE_AUTO, "6", "exp", 0.7, 0.3},
        {"pod-scp:d1=1,d2=2", BLI_DISCIPLINE_PREEMPTIVE, "6", "exp", 0.7, 0.5},
        {"pod-ssp:d1=1,d2=2", BLI_DISCIPLINE_AUTO, "6", "det", 0.8, 0.4},
        {"pod-ssp:d1=2,d2=2", BLI_DISCIPLINE_AUTO, "6", "hyper(4)", 0.7, 0.4},
        {"pod-sep:d=2", BLI_DISCIPLINE_NONPREEMPTIVE, "6", "hyper(4)", 0.7, 0.4},
        {"pod-ssp:d1=2,d2=2", BLI_DISCIPLINE_AUTO, "3x1,3x2.5", "exp", 0.8, 0.4},
        {"pod-sep:d=2", BLI_DISCIPLINE_AUTO, "3x1,3x2.5", "erlang(3)", 0.7, 0.4},
        {"pod-ssp:d1=1,d2=3", BLI_DISCIPLINE_AUTO, "3x1,3x2.5", "hyper(4)", 0.6, 0.6},
    };
    static struct outcome twin, engine;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct bli_model model =
            model_of(cases[i].servers, cases[i].dist, cases[i].load, cases[i].high, cases[i].discipline);
        const double time = 20000 / bli_model_arrival_rate(&model);
        simulate_twin(&model, cases[i].policy, time, &twin);
        simulate_engine(&model, cases[i].policy, time, BLI_ENGINE_EVENT, &engine);
        assert_agree(&twin, &engine, cases[i].policy);
        if (!bli_dist_is_exponential(&model.size))
            continue;
        simulate_engine(&model, cases[i].policy, time, BLI_ENGINE_MARKOV, &engine);
        assert_agree(&twin, &engine, cases[i].policy);
    }
}

/* Every policy, whether it looks at classes or not. */
static void engines_agree(void **state) {
    (void)state;
    static const enum bli_discipline disciplines[] = {BLI_DISCIPLINE_FIFO, BLI_DISCIPLINE_PREEMPTIVE,
                                                      BLI_DISCIPLINE_NONPREEMPTIVE};
    static struct outcome markov, event;
    unsigned compared = 0;
    for (size_t i = 0; i < bal_policy_count; i++)
        for (size_t k = 0; k < LENGTH(disciplines); k++) {
            const char *name = bal_policy_table[i]->name;
            const struct bli_model model = model_of("9", "exp", 0.75, 0.35, disciplines[k]);
            struct bal_policy_spec policy;
            enum bli_engine engine;
            assert_int_equal(bal_policy_parse(name, &policy, NULL), BAL_OK);
            if (bli_simulate_check(&model, &policy, BLI_ENGINE_MARKOV, &engine, NULL))
                continue;
            const double time = 8000 / bli_model_arrival_rate(&model);
            simulate_engine(&model, name, time, BLI_ENGINE_MARKOV, &markov);
            simulate_engine(&model, name, time, BLI_ENGINE_EVENT, &event);
            assert_agree(&markov, &event, name);
            compared++;
        }
    assert_true(compared >= 25); /* least-work needs to know the work, pod-ssp servers that tell classes apart
                                  */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engines_follow_the_definition),
        cmocka_unit_test(engines_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
