/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers whose speed depends on the jobs in service, against what is known exactly.
 *
 * Seeds are fixed. A mean may be 4.5 standard errors off, which Student's t with 19 degrees of freedom is
 * with probability 2.5e-4, in 60 comparisons 1.5e-2 in all; and each comparison must be able to see 5 %. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/predict.h"
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

static struct replications run(const struct bli_model *model, const char *policy, double jobs) {
    const struct bal_policy_spec spec = policy_of(policy);
    const struct bli_run how = {.seed = 2371, .time = jobs / bli_model_arrival_rate(model), .warmup = 0.1};
    return replicate(model, &spec, &how, RUNS);
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
        if (!isnan(one.metric[metric]))
            assert_close(one.metric[metric], other.metric[metric], 1e-9);
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
    assert_refused(&good, "jiq:else=hold", "cannot be had with servers whose speed");
    assert_refused(&good, "central", "one common queue cannot be had with servers whose speed");
    model = good;
    model.steal.kind = BAL_STEAL_HALF;
    assert_refused(&model, "random", "that steal");
    model = good;
    model.discipline = BLI_DISCIPLINE_SHARING;
    assert_refused(&model, "random", "a discipline but fifo");
    model = good;
    model.classes = true;
    assert_refused(&model, "random", "classes of jobs");
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
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
