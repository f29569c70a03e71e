/* SPDX-License-Identifier: BSD-2-Clause */
/* A literal twin of the system with more than two classes: pod-scp, pod-sep and pod-ssp as their definitions
 * read, jobs one by one in plain arrays, every server looked at in every event. It shares only the random
 * generator with the engines, and both engines must agree with it. Several classes that are told apart must
 * together fare as one: the mean over the classes up to each is that of the high one of two.
 *
 * Replications are independent, and so are the two sides of a comparison. Each compares two means of
 * REPLICATIONS values with Student's t of 2 REPLICATIONS - 2 degrees of freedom at a false-alarm probability
 * of 1e-6; there are fewer than 300 of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/simulate.h"
#include "ballast/theory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { REPLICATIONS = 30, SERVERS_MAX = 8, JOBS_MAX = 2000, VALUES = BLI_JOB_CLASSES_MAX + 3 };
static const double warmup = 0.2;

/* Mean response times: of all, and of each class; then the part of the most urgent jobs that wait, and moves
 * for each of them. */
enum { ALL, CLASSES, WAITS = CLASSES + BLI_JOB_CLASSES_MAX, MOVES };
struct outcome {
    double value[VALUES][REPLICATIONS];
};

/* ---- the twin ---- */

struct job {
    uint32_t class;
    double arrival, left;
    bool started;
};

struct server {
    double speed;
    int jobs, serving; /* serving: the job in service, where it may not be interrupted */
    struct job job[JOBS_MAX];
};

struct twin {
    const struct bli_model *model;
    int servers;
    struct server server[SERVERS_MAX];
    struct bal_rng rng;
    bool prefers, holds, moves_jobs; /* servers prefer urgent jobs; never interrupt; pod-ssp */
    unsigned d1, d2;
    bool counting;
    double response[BLI_JOB_CLASSES_MAX], completed[BLI_JOB_CLASSES_MAX];
    double begun, waited, routed, moves;
};

/* The first job of the most urgent class that is there; or the first job of all. */
static int choose_job(const struct twin *twin, const struct server *server) {
    int best = 0;
    for (int i = 1; twin->prefers && i < server->jobs; i++)
        if (server->job[i].class < server->job[best].class)
            best = i;
    return best;
}

static int in_service(const struct twin *twin, const struct server *server) {
    return twin->holds ? server->serving : choose_job(twin, server);
}

static int count_up_to(const struct server *server, uint32_t class) {
    int count = 0;
    for (int i = 0; i < server->jobs; i++)
        count += server->job[i].class <= class;
    return count;
}

static void look_at_starts(struct twin *twin, double now) {
    for (int k = 0; k < twin->servers; k++) {
        struct server *server = &twin->server[k];
        struct job *job = server->jobs > 0 ? &server->job[in_service(twin, server)] : NULL;
        if (!job || job->started)
            continue;
        job->started = true;
        twin->begun += twin->counting && job->class == 0;
        twin->waited += twin->counting && job->class == 0 && now > job->arrival;
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

/* A uniform one of the sampled servers with the fewest jobs of classes up to this one. */
static int fewest(struct twin *twin, const bool *sampled, const int count[SERVERS_MAX]) {
    int best[SERVERS_MAX], ties = 0;
    for (int k = 0; k < twin->servers; k++) {
        if (!sampled[k])
            continue;
        if (ties > 0 && count[k] < count[best[0]])
            ties = 0;
        if (ties == 0 || count[k] == count[best[0]])
            best[ties++] = k;
    }
    return best[bal_rng_below(&twin->rng, (uint32_t)ties)];
}

/* False: the job is in service and stays. */
static bool move_last(struct twin *twin, uint32_t class, struct server *from, struct server *to) {
    int last = from->jobs - 1;
    while (last >= 0 && from->job[last].class != class)
        last--;
    assert_true(last >= 0);
    if (twin->holds && last == from->serving)
        return false;
    if (last < from->serving)
        from->serving--;
    join(to, take(from, last));
    twin->moves += twin->counting;
    return true;
}

static uint32_t draw_class(struct twin *twin) {
    double left = bal_rng_uniform(&twin->rng);
    uint32_t class = 0;
    while (class + 1 < twin->model->class_count && left >= twin->model->share[class])
        left -= twin->model->share[class ++];
    return class;
}

static void arrive(struct twin *twin, double now) {
    const uint32_t class = draw_class(twin), classes = twin->model->class_count;
    const struct job job = {class, now, bli_dist_sample(&twin->model->size, &twin->rng), false};
    bool sampled[SERVERS_MAX] = {false};
    for (unsigned i = 0; i < (class == 0 ? twin->d2 : twin->d1); i++)
        sampled[bal_rng_below(&twin->rng, (uint32_t)twin->servers)] = true;
    int count[BLI_JOB_CLASSES_MAX][SERVERS_MAX];
    for (uint32_t r = 0; r < classes; r++)
        for (int k = 0; k < twin->servers; k++)
            count[r][k] = count_up_to(&twin->server[k], r);
    twin->routed += twin->counting && class == 0;
    int at = fewest(twin, sampled, count[twin->moves_jobs ? class : classes - 1]);
    join(&twin->server[at], job);
    for (uint32_t r = class + 1; twin->moves_jobs && r < classes; r++) {
        const int to = fewest(twin, sampled, count[r]);
        if (count[r][at] == count[r][to])
            continue;
        if (!move_last(twin, r, &twin->server[at], &twin->server[to]))
            return;
        at = to;
    }
}

static void complete(struct twin *twin, struct server *server, double now) {
    const struct job job = take(server, in_service(twin, server));
    if (server->jobs > 0)
        server->serving = choose_job(twin, server);
    twin->completed[job.class] += twin->counting;
    twin->response[job.class] += twin->counting ? now - job.arrival : 0;
}

static struct server *next_completion(struct twin *twin, double *in) {
    struct server *next = NULL;
    *in = INFINITY;
    for (int k = 0; k < twin->servers; k++) {
        struct server *server = &twin->server[k];
        const double left =
            server->jobs > 0 ? server->job[in_service(twin, server)].left / server->speed : INFINITY;
        if (left < *in) {
            *in = left;
            next = server;
        }
    }
    return next;
}

static void run_twin(struct twin *twin, double time) {
    const double rate = bli_model_arrival_rate(twin->model);
    double now = 0, next_arrival = bal_rng_exp(&twin->rng) / rate;
    while (now < time) {
        double in;
        struct server *server = next_completion(twin, &in);
        const bool arrival = next_arrival < now + in;
        const double then = arrival ? next_arrival : now + in;
        for (int k = 0; k < twin->servers; k++)
            if (twin->server[k].jobs > 0)
                twin->server[k].job[in_service(twin, &twin->server[k])].left -=
                    (then - now) * twin->server[k].speed;
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

static void set_up_twin(struct twin *twin, const struct bli_model *model, const char *policy) {
    memset(twin, 0, sizeof *twin);
    twin->model = model;
    if (sscanf(policy + 7, ":d1=%u,d2=%u", &twin->d1, &twin->d2) != 2) {
        assert_int_equal(sscanf(policy + 7, ":d=%u", &twin->d1), 1);
        twin->d2 = twin->d1;
    }
    twin->moves_jobs = strncmp(policy, "pod-ssp", 7) == 0;
    twin->prefers = model->discipline != BLI_DISCIPLINE_AUTO ? model->discipline != BLI_DISCIPLINE_FIFO
                                                             : strncmp(policy, "pod-scp", 7) != 0;
    twin->holds = model->discipline == BLI_DISCIPLINE_NONPREEMPTIVE;
    for (unsigned g = 0; g < model->servers.groups; g++)
        for (uint32_t i = 0; i < model->servers.group[g].count; i++)
            twin->server[twin->servers++].speed = model->servers.group[g].speed;
    assert_true(twin->servers <= SERVERS_MAX);
}

static void simulate_twin(const struct bli_model *model, const char *policy, double time,
                          struct outcome *outcome) {
    static struct twin twin;
    for (int r = 0; r < REPLICATIONS; r++) {
        set_up_twin(&twin, model, policy);
        bal_rng_init(&twin.rng, 20223, (uint64_t)r, 0);
        run_twin(&twin, time);
        double response = 0, completed = 0;
        for (uint32_t i = 0; i < model->class_count; i++) {
            outcome->value[CLASSES + i][r] = twin.response[i] / twin.completed[i];
            response += twin.response[i];
            completed += twin.completed[i];
        }
        outcome->value[ALL][r] = response / completed;
        outcome->value[WAITS][r] = twin.waited / twin.begun;
        outcome->value[MOVES][r] = twin.moves / twin.routed;
    }
}

/* ---- the engines ---- */

static void simulate_engine(const struct bli_model *model, const char *text, double time,
                            enum bli_engine engine, struct outcome *outcome) {
    struct bal_policy_spec policy;
    struct bal_error err;
    assert_int_equal(bal_policy_parse(text, &policy, &err), BAL_OK);
    for (int r = 0; r < REPLICATIONS; r++) {
        const struct bli_run run = {.seed = 100 + engine + model->class_count,
                                    .replication = (uint64_t)r,
                                    .time = time,
                                    .warmup = warmup,
                                    .engine = engine};
        struct bli_trial trial = {.jobs = 0};
        if (bli_simulate(model, &policy, &run, &trial, &err))
            fail_msg("%s: %s", text, err.text);
        outcome->value[ALL][r] = trial.metric[BLI_RESPONSE_MEAN];
        for (uint32_t i = 0; i < model->class_count; i++)
            outcome->value[CLASSES + i][r] = trial.metric[BLI_CLASS_1_RESPONSE_MEAN + 2 * i];
        if (model->class_count == 0) {
            outcome->value[CLASSES][r] = trial.metric[BLI_HIGH_RESPONSE_MEAN];
            continue;
        }
        assert_true(trial.metric[BLI_HIGH_RESPONSE_MEAN] == trial.metric[BLI_CLASS_1_RESPONSE_MEAN]);
        assert_true(trial.metric[BLI_LOW_RESPONSE_MEAN] == outcome->value[model->class_count][r]);
        outcome->value[WAITS][r] = trial.metric[BLI_HIGH_WAITING_PROBABILITY];
        outcome->value[MOVES][r] = trial.metric[BLI_MOVES_PER_HIGH_JOB];
    }
}

static void moments(const double *value, double *mean, double *square) {
    *mean = *square = 0;
    for (int r = 0; r < REPLICATIONS; r++)
        *mean += value[r] / REPLICATIONS;
    for (int r = 0; r < REPLICATIONS; r++)
        *square += (value[r] - *mean) * (value[r] - *mean) / (REPLICATIONS - 1.0);
}

static void assert_same(const double *x, const double *y, const char *what, int which) {
    double mean_x, mean_y, square_x, square_y;
    moments(x, &mean_x, &square_x);
    moments(y, &mean_y, &square_y);
    const double limit = -bli_student_quantile(0.5e-6, 2 * REPLICATIONS - 2);
    const double error = sqrt((square_x + square_y) / REPLICATIONS);
    if (!(fabs(mean_x - mean_y) <= limit * error + 1e-12))
        fail_msg("%s: value %d: %g and %g differ by %.1f standard errors", what, which, mean_x, mean_y,
                 fabs(mean_x - mean_y) / error);
}

static void assert_agree(const struct outcome *x, const struct outcome *y, uint32_t classes,
                         const char *what) {
    for (int i = 0; i < VALUES; i++)
        if (i < (int)(CLASSES + classes) || i >= WAITS)
            assert_same(x->value[i], y->value[i], what, i);
}

/* ---- tests ---- */

static struct bli_model model_of(const char *servers, const char *dist, double load, const char *classes,
                                 enum bli_discipline discipline) {
    struct bli_model model = {.load = load, .discipline = discipline};
    struct bal_error err;
    assert_int_equal(bli_servers_parse(servers, &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(dist, &model.size, NULL), BAL_OK);
    if (bli_model_parse_classes(classes, &model, &err))
        fail_msg("%s", err.text);
    return model;
}

static void engines_follow_the_definition(void **state) {
    (void)state;
    static const struct {
        const char *policy;
        enum bli_discipline discipline;
        const char *servers, *dist;
        double load;
        const char *classes;
    } cases[] = {
        {"pod-ssp:d1=2,d2=2", BLI_DISCIPLINE_AUTO, "6", "exp", 0.85, "0.2,0.3,0.5"},
        {"pod-ssp:d1=2,d2=4", BLI_DISCIPLINE_AUTO, "7", "exp", 0.8, "0.1,0.2,0.3,0.4"},
        {"pod-ssp:d1=3,d2=3", BLI_DISCIPLINE_NONPREEMPTIVE, "6", "exp", 0.8, "0.3,0.3,0.4"},
        {"pod-sep:d=2", BLI_DISCIPLINE_AUTO, "5", "exp", 0.85, "0.2,0.3,0.5"},
        {"pod-sep:d=2", BLI_DISCIPLINE_NONPREEMPTIVE, "6", "hyper(4)", 0.7, "0.2,0.3,0.5"},
        {"pod-scp:d1=1,d2=3", BLI_DISCIPLINE_AUTO, "6", "exp", 0.7, "0.2,0.3,0.5"},
        {"pod-ssp:d1=2,d2=2", BLI_DISCIPLINE_AUTO, "6", "det", 0.8, "0.2,0.2,0.2,0.2,0.2"},
        {"pod-ssp:d1=2,d2=2", BLI_DISCIPLINE_AUTO, "3x1,3x2.5", "hyper(4)", 0.7, "0.3,0.4,0.3"},
        {"pod-sep:d=2", BLI_DISCIPLINE_AUTO, "3x1,3x2.5", "erlang(3)", 0.7,
         "0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125"},
    };
    static struct outcome twin, engine;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct bli_model model =
            model_of(cases[i].servers, cases[i].dist, cases[i].load, cases[i].classes, cases[i].discipline);
        /* longer where sizes do not vary: it shows there whether a job that moves interrupts another as it
         * should */
        const double jobs = strcmp(cases[i].dist, "det") == 0 ? 150000 : 20000;
        const double time = jobs / bli_model_arrival_rate(&model);
        simulate_twin(&model, cases[i].policy, time, &twin);
        simulate_engine(&model, cases[i].policy, time, BLI_ENGINE_EVENT, &engine);
        assert_agree(&twin, &engine, model.class_count, cases[i].policy);
        if (strncmp(cases[i].policy, "pod-ssp", strlen("pod-ssp")) != 0) {
            simulate_engine(&model, cases[i].policy, time, BLI_ENGINE_NETWORK, &engine);
            assert_agree(&twin, &engine, model.class_count, cases[i].policy);
        }
        if (!bli_dist_is_exponential(&model.size))
            continue;
        simulate_engine(&model, cases[i].policy, time, BLI_ENGINE_MARKOV, &engine);
        assert_agree(&twin, &engine, model.class_count, cases[i].policy);
    }
}

/* With exponential sizes the classes up to each fare together as the high one of two does. */
static void classes_add_up(void **state) {
    (void)state;
    static const char *const policies[] = {"pod-sep:d=2", "pod-ssp:d1=2,d2=2"};
    static struct outcome many, two;
    for (size_t i = 0; i < LENGTH(policies); i++) {
        const struct bli_model model = model_of("6", "exp", 0.85, "0.2,0.3,0.5", BLI_DISCIPLINE_AUTO);
        const struct bli_model merged = model_of("6", "exp", 0.85, "0.5,0.5", BLI_DISCIPLINE_AUTO);
        const double time = 40000 / bli_model_arrival_rate(&model);
        simulate_engine(&model, policies[i], time, BLI_ENGINE_MARKOV, &many);
        simulate_engine(&merged, policies[i], time, BLI_ENGINE_MARKOV, &two);
        double together[REPLICATIONS];
        for (int r = 0; r < REPLICATIONS; r++)
            together[r] = 0.4 * many.value[CLASSES][r] + 0.6 * many.value[CLASSES + 1][r];
        assert_same(together, two.value[CLASSES], policies[i], 0);
        assert_same(many.value[ALL], two.value[ALL], policies[i], 1);
    }
}

/* So they do where dispatchers hold jobs, where messages take time, on servers of several slots, and where
 * servers come and go, as long as no server interrupts a job. */
static void classes_add_up_on_a_network(void **state) {
    (void)state;
    static const struct {
        const char *policy, *delay, *size, *churn;
        uint32_t dispatchers, slots;
        bool fifo;
    } cases[] = {
        {"jiq:else=hold", NULL, "exp", NULL, 3, 1, false},
        {"jiq:else=hold", "det(0.05)", "lognormal(2)", NULL, 2, 2, true},
        {"least-conn", "exp", "det", NULL, 3, 1, false},
        {"pod:d=2", NULL, "exp", "40,4", 2, 3, false},
    };
    static const char *const merged[] = {"0.2,0.8", "0.5,0.5"};
    static struct outcome many, two;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const enum bli_discipline discipline =
            cases[i].fifo ? BLI_DISCIPLINE_FIFO : BLI_DISCIPLINE_NONPREEMPTIVE;
        struct bli_model model = model_of("6", cases[i].size, 0.8, "0.2,0.3,0.5", discipline);
        model.slots = cases[i].slots;
        model.network.dispatchers.count = cases[i].dispatchers;
        if ((cases[i].delay && bli_dist_parse(cases[i].delay, &model.network.delay, NULL)) ||
            (cases[i].churn && bli_churn_parse(cases[i].churn, &model.network.churn, NULL)))
            fail_msg("%s: the case is wrong", cases[i].policy);
        if (cases[i].delay)
            bli_dist_scale(&model.network.delay, 0.05 / model.network.delay.mean);
        const double time = 20000 / bli_model_arrival_rate(&model);
        simulate_engine(&model, cases[i].policy, time, BLI_ENGINE_AUTO, &many);
        for (size_t upto = 1; upto <= LENGTH(merged); upto++) {
            struct bli_model pair = model;
            assert_int_equal(bli_model_parse_classes(merged[upto - 1], &pair, NULL), BAL_OK);
            simulate_engine(&pair, cases[i].policy, time, BLI_ENGINE_AUTO, &two);
            double together[REPLICATIONS];
            for (int r = 0; r < REPLICATIONS; r++)
                together[r] = upto == 1 ? many.value[CLASSES][r]
                                        : 0.4 * many.value[CLASSES][r] + 0.6 * many.value[CLASSES + 1][r];
            assert_same(together, two.value[CLASSES], cases[i].policy, (int)upto);
            assert_same(many.value[ALL], two.value[ALL], cases[i].policy, 0);
        }
        /* And each waits less than the next, where nothing is first come, first served. */
        double mean[3], square;
        for (int k = 0; k < 3; k++)
            moments(many.value[CLASSES + k], &mean[k], &square);
        assert_true(mean[0] < mean[1] && mean[1] < mean[2]);
    }
}

static struct bli_prediction prediction_of(const struct bli_model *model, const char *text) {
    struct bal_policy_spec policy;
    assert_int_equal(bal_policy_parse(text, &policy, NULL), BAL_OK);
    return bli_theory_predict(model, &policy);
}

/* The sum over i >= 1 of load^((2^i - 2)/(2 - 1)): pod of two choices. */
static double two_choices(double load) {
    double sum = 0;
    for (int i = 1; i < 60; i++)
        sum += pow(load, exp2(i) - 2);
    return sum;
}

/* Under pod-ssp with two probes classes 1 to r are pod at their own load; under pod-sep they are the high one
 * of two; under random every server is M/M/1, where classes 1 to r take 1/(1 - their load) on average. */
static void theory_adds_up(void **state) {
    (void)state;
    const double load = 0.9, share[] = {0.1, 0.2, 0.3, 0.4};
    const struct bli_model model =
        model_of("1000", "exp", load, "0.1,0.2,0.3,0.4", BLI_DISCIPLINE_PREEMPTIVE);
    const struct bli_prediction ssp = prediction_of(&model, "pod-ssp:d1=2,d2=2");
    const struct bli_prediction sep = prediction_of(&model, "pod-sep:d=2");
    const struct bli_prediction random = prediction_of(&model, "random");
    double upto = 0, of_ssp = 0, of_sep = 0, of_random = 0;
    for (int r = 0; r < 4; r++) {
        upto += share[r];
        of_ssp += share[r] * ssp.class_response[r];
        of_sep += share[r] * sep.class_response[r];
        of_random += share[r] * random.class_response[r];
        const struct bli_priority two = {BLI_PRIORITY_SEP, load, upto, 2, 2};
        const double high = r == 3 ? two_choices(load) : bli_priority_solve(&two).high;
        assert_true(fabs(of_ssp / upto - two_choices(upto * load)) < 1e-9);
        assert_true(fabs(of_sep / upto - high) < 1e-9);
        assert_true(fabs(of_random / upto - 1 / (1 - upto * load)) < 1e-9);
    }
    /* The first class probes four servers, the others two: the recursion of Lemma 5, at the load of classes
     * 1, 2. */
    const struct bli_prediction four = prediction_of(&model, "pod-ssp:d1=2,d2=4");
    double v = 1, sum = 0;
    for (int i = 0; i < 60; i++) {
        const double joins = (0.1 * pow(v, 4) + 0.2 * v * v) / 0.3;
        sum += joins;
        v = 0.3 * load * joins;
    }
    assert_true(fabs((0.1 * four.class_response[0] + 0.2 * four.class_response[1]) / 0.3 - sum) < 1e-9);
    assert_true(fabs(four.high_tail[2] - pow(0.1 * load, 5)) < 1e-12);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "1",
                                        "0.5",
                                        "0.2,0.3",
                                        "0.5,0.6",
                                        "0,1",
                                        "0.5,0.5,",
                                        "a,b,c",
                                        "0.5,-0.5,1.0",
                                        "nan,0.5,0.5",
                                        "0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.2"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        struct bli_model model = {.load = 0.5};
        struct bal_error err;
        assert_int_equal(bli_model_parse_classes(wrong[i], &model, &err), BAL_E_RANGE);
        assert_non_null(strstr(err.text, "such as 0.2,0.3,0.5"));
        assert_false(model.classes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused),           cmocka_unit_test(theory_adds_up),
        cmocka_unit_test(engines_follow_the_definition), cmocka_unit_test(classes_add_up),
        cmocka_unit_test(classes_add_up_on_a_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
