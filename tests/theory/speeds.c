/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers whose speed depends on the jobs in service, against what is known exactly.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 80 comparisons 2e-2 in all; and each comparison must be able to see 5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/predict.h"
#include "ballast/stealing.h"
#include "ballast/theory.h"
#include "close.h"
#include "exact.h"

enum { RUNS = 20 };

static struct bli_model model_with(const char *servers, const char *size, double load, uint32_t slots,
                                   const char *speeds) {
    struct bli_model model = model_of(servers, size, load);
    model.slots = slots;
    struct bal_error err;
    if (bli_speeds_parse(speeds, &model.speeds, &err))
        fail_msg("%s", err.text);
    return model;
}

static struct replications run_in(const struct bli_model *model, const char *policy, double jobs,
                                  enum bli_engine engine) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run how = {
        .seed = 2371, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1, .engine = engine};
    return replicate(model, &spec, &how, RUNS);
}

static struct replications run(const struct bli_model *model, const char *policy, double jobs) {
    return run_in(model, policy, jobs, BLI_ENGINE_AUTO);
}

/* The stationary law of a birth-death process by its definition, up to a state that is never reached. */
enum { STATES = 4000 };

static void solve_birth_death(const struct bli_model *model, double *p) {
    const uint32_t slots = model->slots == BLI_SLOTS_ALL ? UINT32_MAX : model->slots;
    const double rate = bli_model_arrival_rate(model), speed = model->servers.group[0].speed;
    double sum = 1;
    p[0] = 1;
    for (uint32_t k = 1; k < STATES; k++)
        sum += p[k] = p[k - 1] * rate * model->size.mean / speed /
                      bli_speeds_rate(&model->speeds, k < slots ? k : slots);
    for (uint32_t k = 0; k < STATES; k++)
        p[k] /= sum;
}

static void compare_with_birth_death(const struct bli_model *model, double jobs, const char *what) {
    static double p[STATES];
    solve_birth_death(model, p);
    double mean = 0, waiting = 0, tail[4] = {0};
    for (uint32_t k = 0; k < STATES; k++) {
        mean += k * p[k];
        waiting += k > model->slots ? (k - model->slots) * p[k] : 0;
        for (uint32_t i = 1; i <= 3; i++)
            tail[i] += k >= i ? p[k] : 0;
    }
    const double rate = bli_model_arrival_rate(model);
    struct replications r = run(model, "random", jobs);
    assert_mean(&r, BLI_RESPONSE_MEAN, mean / rate, 0, what);
    for (int level = 1; level <= 3; level++)
        assert_mean(&r, BLI_METRIC_COUNT + level - 1, tail[level], 0, what);
    if (waiting > 0.25 * mean) /* where few jobs wait, these runs cannot tell */
        assert_mean(&r, BLI_WAITING_MEAN, waiting / rate, 0, what);
    replications_free(&r);
    const struct bal_policy_spec random = policy_of("random");
    const struct bli_prediction known = bli_theory_predict(model, &random);
    assert_int_equal(known.kind, BLI_THEORY_EXACT);
    assert_close(known.response_mean, mean / rate, 1e-9);
    assert_true(fabs(known.waiting_mean - waiting / rate) < 1e-9);
    for (int level = 0; level <= 3; level++)
        assert_close(known.tail[level], level ? tail[level] : 1, 1e-9);
}

/* M/M/1 with rates that depend on the number of jobs, with and without a limit of those in service. */
static void one_server_is_a_birth_death_process(void **state) {
    (void)state;
    static const struct {
        const char *speeds;
        uint32_t slots;
        double load;
    } cases[] = {{"batch(8,0.15)", 8, 0.8},
                 {"batch(8,0.15)", 3, 0.7},
                 {"cores(2)", 8, 0.8},
                 {"cores(2.5)", BLI_SLOTS_ALL, 0.8},
                 {"table(1:1 2:1.8 8:4.5)", 6, 0.8},
                 {"table(2:3 4:2)", BLI_SLOTS_ALL, 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model =
            model_with("1x2", "exp", cases[i].load, cases[i].slots, cases[i].speeds);
        compare_with_birth_death(&model, 150000, cases[i].speeds);
    }
}

/* Where all jobs are in service the queue is symmetric: its means are the same for all laws of sizes. */
static void sharing_by_any_speeds_is_insensitive(void **state) {
    (void)state;
    static const char *const laws[] = {"det", "erlang(4)", "hyper(4)", "lognormal(2)"};
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        const struct bli_model model = model_with("1", laws[i], 0.7, BLI_SLOTS_ALL, "table(1:1 2:1.8 8:4.5)");
        compare_with_birth_death(&model, 150000, laws[i]);
    }
}

/* ... and where only some are, they are not, and theory does not say so. */
static void slots_are_sensitive(void **state) {
    (void)state;
    const struct bal_policy_spec random = policy_of("random");
    const struct bli_model model = model_with("1", "det", 0.7, 4, "cores(2)");
    assert_int_equal(bli_theory_predict(&model, &random).kind, BLI_THEORY_UNKNOWN);
    assert_true(isnan(bli_theory_lower_bound(&model)));
}

static void assert_same(const struct bli_model *a, const struct bli_model *b, const char *policy) {
    const struct bal_policy_spec spec = policy_of(policy);
    struct bli_trial one = {0}, other = {0}; /* no histograms, no tails */
    const struct bli_run how = {.seed = 9, .time = 20000 / bli_model_arrival_rate(a), .warmup = 0.1};
    struct bal_error err;
    if (bli_simulate(a, &spec, &how, &one, &err) || bli_simulate(b, &spec, &how, &other, &err))
        fail_msg("%s", err.text);
    for (int metric = 0; metric < BLI_METRIC_COUNT; metric++)
        if (!isnan(one.metric[metric]) &&
            !(fabs(one.metric[metric] - other.metric[metric]) <= 1e-9 * fabs(one.metric[metric])))
            fail_msg("%s: %s is %.12g and %.12g", policy, quantity_name(metric), one.metric[metric],
                     other.metric[metric]);
}

/* K slots are K cores with as many slots, job by job, and processor sharing is one core without a limit. */
static void slots_and_sharing_are_special_cases(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "jsq", "jiq", "pod:d=2", "least-conn", "round-robin"};
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bli_model slots = model_of("5x1,5x3", "lognormal(2)", 0.8);
        slots.slots = 4;
        const struct bli_model cores = model_with("5x1,5x3", "lognormal(2)", 0.8, 4, "cores(4)");
        assert_same(&slots, &cores, policies[i]);
        struct bli_model shared = model_of("5x1,5x3", "lognormal(2)", 0.8);
        shared.discipline = BLI_DISCIPLINE_SHARING;
        const struct bli_model core = model_with("5x1,5x3", "lognormal(2)", 0.8, BLI_SLOTS_ALL, "cores(1)");
        assert_same(&shared, &core, policies[i]);
    }
}

/* Two servers and the shortest queue: the stationary law of the chain of both queues, by iteration. */
enum { LONGEST = 60 };

static double solve_jsq_of_two(const struct bli_model *model) {
    static double p[LONGEST + 1][LONGEST + 1];
    const double lambda = bli_model_arrival_rate(model);
    double mu[LONGEST + 2];
    for (uint32_t k = 0; k <= LONGEST; k++)
        mu[k] = k ? bli_speeds_rate(&model->speeds, k < model->slots ? k : model->slots) : 0;
    for (int a = 0; a <= LONGEST; a++)
        for (int b = 0; b <= LONGEST; b++)
            p[a][b] = pow(0.5, a + b);
    for (int round = 0; round < 3000; round++) {
        double sum = 0;
        for (int a = 0; a <= LONGEST; a++)
            for (int b = 0; b <= LONGEST; b++) {
                const bool full = a == LONGEST && b == LONGEST;
                double in = 0;
                if (a > 0 && a - 1 <= b) /* a job has joined the first */
                    in += p[a - 1][b] * lambda * (a - 1 == b ? 0.5 : 1);
                if (b > 0 && b - 1 <= a)
                    in += p[a][b - 1] * lambda * (b - 1 == a ? 0.5 : 1);
                if (a < LONGEST)
                    in += p[a + 1][b] * mu[a + 1];
                if (b < LONGEST)
                    in += p[a][b + 1] * mu[b + 1];
                p[a][b] = in / ((full ? 0 : lambda) + mu[a] + mu[b]);
                sum += p[a][b];
            }
        for (int a = 0; a <= LONGEST; a++)
            for (int b = 0; b <= LONGEST; b++)
                p[a][b] /= sum;
    }
    double jobs = 0;
    for (int a = 0; a <= LONGEST; a++)
        for (int b = 0; b <= LONGEST; b++)
            jobs += (a + b) * p[a][b];
    return jobs / lambda;
}

static void the_shorter_of_two_is_its_chain(void **state) {
    (void)state;
    const struct bli_model batch = model_with("2", "exp", 0.8, 8, "batch(8,0.15)");
    const struct bli_model cores = model_with("2", "exp", 0.8, 6, "cores(2)");
    struct replications r = run(&batch, "jsq", 100000);
    assert_mean(&r, BLI_RESPONSE_MEAN, solve_jsq_of_two(&batch), 0, "batch");
    replications_free(&r);
    r = run(&cores, "jsq", 100000);
    assert_mean(&r, BLI_RESPONSE_MEAN, solve_jsq_of_two(&cores), 0, "cores");
    replications_free(&r);
}

/* ---- holding ---- */

/* Jobs without a slot wait at the dispatchers: one server is the birth-death process as before, wherever they
 * wait, as nothing takes time. */
static void holding_at_one_server_is_a_birth_death_process(void **state) {
    (void)state;
    static double p[STATES];
    static const struct {
        const char *speeds, *dispatchers;
        uint32_t slots;
    } cases[] = {{"batch(8,0.15)", "1", 4}, {"cores(2)", "1", 3}, {"table(1:1 2:3 4:2.8)", "0.6,0.4", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_with("1x2", "exp", 0.75, cases[i].slots, cases[i].speeds);
        assert_int_equal(bli_dispatchers_parse(cases[i].dispatchers, &model.network.dispatchers, NULL),
                         BAL_OK);
        const double rate = bli_model_arrival_rate(&model);
        solve_birth_death(&model, p);
        double mean = 0, waiting = 0;
        for (uint32_t k = 0; k < STATES; k++) {
            mean += k * p[k];
            waiting += k > model.slots ? (k - model.slots) * p[k] : 0;
        }
        struct replications r = run(&model, "jiq:else=hold", 150000);
        assert_mean(&r, BLI_RESPONSE_MEAN, mean / rate, 0, cases[i].speeds);
        assert_mean(&r, BLI_WAITING_MEAN, waiting / rate, 0, cases[i].speeds);
        replications_free(&r);
    }
}

/* The chain of two servers of at most K jobs each, and of those that are held while both have K. The job goes
 * to the first server with probability `first` where both have a slot. */
enum { SLOTS_MAX = 8 };

static double solve_holding_of_two(const struct bli_model *model, double first) {
    static double p[SLOTS_MAX + 1][SLOTS_MAX + 1];
    const int slots = (int)model->slots;
    const double lambda = bli_model_arrival_rate(model);
    double mu[SLOTS_MAX + 1] = {0};
    for (int k = 1; k <= slots; k++)
        mu[k] = bli_speeds_rate(&model->speeds, k);
    const double r = lambda / (2 * mu[slots]); /* of the geometric law of those that are held */
    for (int a = 0; a <= slots; a++)
        for (int b = 0; b <= slots; b++)
            p[a][b] = pow(0.5, a + b);
    double jobs = 0;
    for (int round = 0; round < 20000; round++) {
        double sum = 0;
        jobs = 0;
        for (int a = 0; a <= slots; a++)
            for (int b = 0; b <= slots; b++) {
                const bool full = a == slots && b == slots;
                double in = 0;
                if (a > 0)
                    in += p[a - 1][b] * lambda * (b == slots ? 1 : first);
                if (b > 0)
                    in += p[a][b - 1] * lambda * (a == slots ? 1 : 1 - first);
                if (a < slots)
                    in += p[a + 1][b] * mu[a + 1];
                if (b < slots)
                    in += p[a][b + 1] * mu[b + 1];
                /* Full, and none held: what comes and goes by those that are held is in balance. */
                p[a][b] = in / ((full ? 0 : lambda) + mu[a] + mu[b]);
                sum += p[a][b] * (full ? 1 / (1 - r) : 1);
                jobs += p[a][b] * (full ? (a + b) / (1 - r) + r / ((1 - r) * (1 - r)) : a + b);
            }
        for (int a = 0; a <= slots; a++)
            for (int b = 0; b <= slots; b++)
                p[a][b] /= sum;
        jobs /= sum;
    }
    return jobs / lambda;
}

static void holding_at_two_servers_is_their_chain(void **state) {
    (void)state;
    static const struct {
        const char *speeds, *policy;
        uint32_t slots;
        double first;
    } cases[] = {{"batch(8,0.15)", "jiq:else=hold", 4, 0.5},
                 {"batch(8,0.15)", "jiq:else=hold,idle=lowest", 4, 1},
                 {"cores(1.5)", "jiq:else=hold", 3, 0.5},
                 {"table(1:1 2:3 4:2.8)", "jiq:else=hold,idle=lowest", 4, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct bli_model model = model_with("2", "exp", 0.8, cases[i].slots, cases[i].speeds);
        struct replications r = run(&model, cases[i].policy, 100000);
        assert_mean(&r, BLI_RESPONSE_MEAN, solve_holding_of_two(&model, cases[i].first), 0, cases[i].policy);
        replications_free(&r);
    }
    /* The chain itself: K slots of full speed are M/M/2K. */
    const struct bli_model plain = model_with("2", "exp", 0.8, 3, "cores(3)");
    const struct bli_wait wait = bli_wait_mmn(0.8, 6);
    assert_close(solve_holding_of_two(&plain, 0.5), bli_wait_response_mean(&wait), 1e-6);
    assert_close(solve_holding_of_two(&plain, 1), bli_wait_response_mean(&wait), 1e-6);
}

/* ---- networks ---- */

/* Poisson arrivals that are all delayed are Poisson again: each server is what it was, and a job takes its
 * two ways besides. With all jobs in service that is so for all sizes, and with as many slots as cores it is
 * M/M/c for exponential ones. */
static void delays_add_two_ways(void **state) {
    (void)state;
    static double p[STATES];
    static const struct {
        const char *size, *speeds;
        uint32_t slots;
    } cases[] = {{"exp", "batch(8,0.15)", 4},
                 {"exp", "cores(3)", 3},
                 {"det", "table(1:1 2:1.8 8:4.5)", BLI_SLOTS_ALL},
                 {"hyper(4)", "table(1:1 2:1.8 8:4.5)", BLI_SLOTS_ALL},
                 {"lognormal(2)", "cores(2.5)", BLI_SLOTS_ALL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_model model = model_with("4", cases[i].size, 0.7, cases[i].slots, cases[i].speeds);
        if (bli_dispatchers_parse("0.6,0.3,0.1", &model.network.dispatchers, NULL) ||
            bli_dist_parse("uniform(0,0.5)", &model.network.delay, NULL))
            fail();
        struct bli_model one = model_with("1", cases[i].size, 0.7, cases[i].slots, cases[i].speeds);
        solve_birth_death(&one, p);
        double mean = 0;
        for (uint32_t k = 0; k < STATES; k++)
            mean += k * p[k];
        const double response = mean / bli_model_arrival_rate(&one);
        struct replications r = run(&model, "random", 200000);
        assert_mean(&r, BLI_RESPONSE_MEAN, response + 0.5, 0, cases[i].size);
        replications_free(&r);
        const struct bli_wait wait = bli_wait_mmn(0.7, 3);
        if (cases[i].slots == 3)
            assert_close(response, bli_wait_response_mean(&wait), 1e-9);
    }
}

static struct bli_model stormy_of(bool fails, bool steals) {
    struct bli_model model = model_of("5x1,5x3", "lognormal(2)", 0.7);
    struct bli_network *network = &model.network;
    model.slots = 4;
    if (bli_dispatchers_parse("3", &network->dispatchers, NULL) ||
        bli_dist_parse("uniform(0,0.2)", &network->delay, NULL) ||
        bli_fail_fast_parse("0.1,0.1", &network->fail_fast, NULL) ||
        (steals && bal_steal_parse("half", &model.steal, NULL)) ||
        bli_network_events_parse("cut:0.3@150+20", &network->events, NULL) ||
        (fails &&
         (bli_churn_parse("50,5", &network->churn, NULL) || bli_cold_parse("4,10", &network->cold, NULL))))
        fail();
    network->loss = 0.2;
    network->heartbeat = 2;
    return model;
}

/* K cores with K slots are K slots also where messages are late and get lost, links are cut, jobs are held
 * and stolen, and servers answer too fast: job by job. Where servers fail and come back cold, the jobs of one
 * are sent elsewhere in any order, so that only the laws are the same. */
static void slots_are_cores_in_a_storm(void **state) {
    (void)state;
    static const char *const policies[] = {"random", "jiq:else=hold", "pod:d=2", "least-conn", "prequal"};
    struct bli_speeds four;
    assert_int_equal(bli_speeds_parse("cores(4)", &four, NULL), BAL_OK);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        struct bli_model slots = stormy_of(false, i < 3), cores = slots;
        cores.speeds = four;
        assert_same(&slots, &cores, policies[i]);
        slots = cores = stormy_of(true, i < 3);
        cores.speeds = four;
        struct replications a = run(&slots, policies[i], 20000), b = run(&cores, policies[i], 20000);
        static const int compared[] = {BLI_RESPONSE_MEAN, BLI_RESPONSE_P99, BLI_WAITING_MEAN, BLI_FAILED};
        for (size_t k = 0; k < sizeof compared / sizeof *compared; k++)
            assert_true(agrees(&a, &b, compared[k], 2e-5, 0, policies[i]));
        replications_free(&a);
        replications_free(&b);
    }
}

/* ---- classes ---- */

/* The more urgent of those that wait is next, none is interrupted. All slots are in use while jobs wait, so
 * that the server does the work of K jobs meanwhile, and the classes wait as at an M/M/1 queue of that rate
 * (Cobham 1954), which is busy as often as K jobs are there. */
static void classes_wait_as_cobham_says(void **state) {
    (void)state;
    static double p[STATES];
    static const enum bli_engine engines[] = {BLI_ENGINE_EVENT, BLI_ENGINE_NETWORK};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct bli_model model = model_with("1", "exp", 0.8, 3, "batch(8,0.15)");
        model.classes = true;
        model.high = 0.4;
        model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
        solve_birth_death(&model, p);
        double waits = 1;
        for (uint32_t k = 0; k < model.slots; k++)
            waits -= p[k];
        const double busy = waits / bli_speeds_rate(&model.speeds, 3);
        struct replications r = run_in(&model, "random", 200000, engines[i]);
        assert_mean(&r, BLI_HIGH_WAITING_MEAN, busy / (1 - 0.4 * 0.8), 0, "high");
        assert_mean(&r, BLI_LOW_WAITING_MEAN, busy / (1 - 0.4 * 0.8) / (1 - 0.8), 0, "low");
        replications_free(&r);
    }
}

/* Of three classes too, at four slots of full speed (M/M/4): each service takes 1 on average. */
static void three_classes_wait_as_cobham_says(void **state) {
    (void)state;
    struct bli_model model = model_with("1", "exp", 0.8, 4, "cores(4)");
    struct bal_error err;
    if (bli_model_parse_classes("0.3,0.3,0.4", &model, &err))
        fail_msg("%s", err.text);
    model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    const struct bli_wait wait = bli_wait_mmn(0.8, 4);
    struct replications r = run(&model, "random", 200000);
    double before = 0;
    for (int class = 0; class < 3; class ++) {
        const double upto = before + 0.8 * model.share[class];
        assert_mean(&r, BLI_CLASS_1_RESPONSE_MEAN + 2 * class,
                    1 + wait.probability / 4 / (1 - before) / (1 - upto), 0, "one of three classes");
        before = upto;
    }
    replications_free(&r);
}

/* Where all are in service it does not matter of which class a job is. */
static void classes_share_alike(void **state) {
    (void)state;
    struct bli_model model = model_with("1", "hyper(4)", 0.7, BLI_SLOTS_ALL, "batch(8,0.15)");
    static double p[STATES];
    solve_birth_death(&model, p);
    double mean = 0;
    for (uint32_t k = 0; k < STATES; k++)
        mean += k * p[k];
    model.classes = true;
    model.high = 0.4;
    model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    struct replications r = run(&model, "random", 300000);
    assert_mean(&r, BLI_HIGH_RESPONSE_MEAN, mean / bli_model_arrival_rate(&model), 0, "high");
    assert_mean(&r, BLI_LOW_RESPONSE_MEAN, mean / bli_model_arrival_rate(&model), 0, "low");
    replications_free(&r);
}

/* ---- stealing ---- */

/* Two servers that get random jobs; one whose last job is done takes from those that wait at the other. */
static double solve_stealing_of_two(const struct bli_model *model) {
    static double p[LONGEST + 1][LONGEST + 1], next[LONGEST + 1][LONGEST + 1];
    const double lambda = bli_model_arrival_rate(model);
    const int slots = (int)model->slots;
    double mu[LONGEST + 1], jobs = 0, most = lambda;
    for (int k = 0; k <= LONGEST; k++) {
        mu[k] = k ? bli_speeds_rate(&model->speeds, k < slots ? k : slots) : 0;
        most = fmax(most, lambda + 2 * mu[k]);
    }
    for (int a = 0; a <= LONGEST; a++)
        for (int b = 0; b <= LONGEST; b++)
            p[a][b] = pow(0.5, a + b);
    for (int round = 0; round < 20000; round++) { /* of the chain that looks at its state at rate `most` */
        memset(next, 0, sizeof next);
        for (int a = 0; a <= LONGEST; a++)
            for (int b = 0; b <= LONGEST; b++) {
                const int waits_b = b > slots ? b - slots : 0, waits_a = a > slots ? a - slots : 0;
                const int half_b = (int)bal_steal_amount(&model->steal, (uint32_t)b),
                          half_a = (int)bal_steal_amount(&model->steal, (uint32_t)a);
                const int to_a = a == 1 ? half_b < waits_b ? half_b : waits_b : 0;
                const int to_b = b == 1 ? half_a < waits_a ? half_a : waits_a : 0;
                double stays = most;
                if (a < LONGEST) {
                    next[a + 1][b] += p[a][b] * lambda / 2;
                    stays -= lambda / 2;
                }
                if (b < LONGEST) {
                    next[a][b + 1] += p[a][b] * lambda / 2;
                    stays -= lambda / 2;
                }
                if (a > 0)
                    next[a - 1 + to_a][b - to_a] += p[a][b] * mu[a];
                if (b > 0)
                    next[a - to_b][b - 1 + to_b] += p[a][b] * mu[b];
                next[a][b] += p[a][b] * (stays - mu[a] - mu[b]);
            }
        double sum = 0;
        jobs = 0;
        for (int a = 0; a <= LONGEST; a++)
            for (int b = 0; b <= LONGEST; b++) {
                sum += next[a][b];
                jobs += (a + b) * next[a][b];
            }
        for (int a = 0; a <= LONGEST; a++)
            for (int b = 0; b <= LONGEST; b++)
                p[a][b] = next[a][b] / sum;
        jobs /= sum;
    }
    return jobs / lambda;
}

static void stealing_at_two_servers_is_their_chain(void **state) {
    (void)state;
    static const enum bli_engine engines[] = {BLI_ENGINE_EVENT, BLI_ENGINE_NETWORK};
    struct bli_model model = model_with("2", "exp", 0.7, 2, "cores(1.5)");
    model.steal.kind = BAL_STEAL_HALF;
    model.others = true;
    const double known = solve_stealing_of_two(&model);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct replications r = run_in(&model, "random", 200000, engines[i]);
        assert_mean(&r, BLI_RESPONSE_MEAN, known, 0, "stealing");
        replications_free(&r);
    }
}

static void assert_refused(const struct bli_model *model, const char *policy, const char *why) {
    const struct bal_policy_spec spec = policy_of(policy);
    enum bli_engine engine;
    struct bal_error err = {0};
    if (!bli_simulate_check(model, &spec, BLI_ENGINE_AUTO, &engine, &err) || !strstr(err.text, why))
        fail_msg("%s: '%s', which does not say '%s'", policy, err.text, why);
}

/* What cannot be had is refused in one line. */
static void what_cannot_be_is_refused(void **state) {
    (void)state;
    struct bli_model model = model_with("4", "exp", 0.6, 1, "cores(2)");
    assert_refused(&model, "random", "say with slots how many");
    model = model_of("4", "exp", 0.6);
    model.slots = BLI_SLOTS_ALL;
    assert_refused(&model, "random", "needs speeds");
    const struct bli_model good = model_with("4", "exp", 0.6, 8, "cores(2)");
    assert_refused(&good, "least-work", "a policy that knows the work");
    assert_refused(&good, "central", "one common queue cannot be had with servers whose speed");
    model = good;
    model.slots = BLI_SLOTS_ALL;
    model.steal.kind = BAL_STEAL_HALF;
    assert_refused(&model, "random", "slots all) cannot be had with servers that steal");
    model.steal.kind = BAL_STEAL_NONE;
    assert_refused(&model, "jiq:else=hold", "slots all) cannot be had with jobs that wait at the dispatcher");
    model = good;
    model.discipline = BLI_DISCIPLINE_SHARING;
    assert_refused(&model, "random", "only with fifo");
    model = good;
    model.classes = true;
    model.high = 0.5;
    assert_refused(&model, "pod-sep", "discipline preemptive");
    model.discipline = BLI_DISCIPLINE_PREEMPTIVE;
    assert_refused(&model, "random", "only with fifo and nonpreemptive");
    model = good;
    bli_dist_parse("exp", &model.patience, NULL);
    assert_refused(&model, "random", "patience");
    model = good;
    model.clock = BLI_CLOCK_SLOTTED;
    bli_batch_parse("poisson", &model.batch, NULL);
    assert_refused(&model, "random", "need continuous time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_server_is_a_birth_death_process),
        cmocka_unit_test(sharing_by_any_speeds_is_insensitive),
        cmocka_unit_test(slots_are_sensitive),
        cmocka_unit_test(slots_and_sharing_are_special_cases),
        cmocka_unit_test(the_shorter_of_two_is_its_chain),
        cmocka_unit_test(holding_at_one_server_is_a_birth_death_process),
        cmocka_unit_test(holding_at_two_servers_is_their_chain),
        cmocka_unit_test(delays_add_two_ways),
        cmocka_unit_test(slots_are_cores_in_a_storm),
        cmocka_unit_test(classes_wait_as_cobham_says),
        cmocka_unit_test(three_classes_wait_as_cobham_says),
        cmocka_unit_test(classes_share_alike),
        cmocka_unit_test(stealing_at_two_servers_is_their_chain),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
