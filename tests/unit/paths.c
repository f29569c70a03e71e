/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths and starting states of the continuous engines. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/fluid_distance.h"
#include "ballast/lab.h"
#include "ballast/predict.h"
#include "texts.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { SERVERS = 60, LEVELS = 40, TIMES = 301 };

static struct bli_model model_of(double load, const char *service) {
    struct bli_model model = {.load = load};
    assert_int_equal(bli_servers_parse("60", &model.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(service, &model.size, NULL), BAL_OK);
    return model;
}

static struct bli_trial trial_of(const struct bli_model *model, const char *policy,
                                 const struct bli_run *run) {
    const struct bal_policy_spec spec = policy_of(policy);
    struct bli_trial trial = {0};
    struct bal_error err;
    if (bli_simulate(model, &spec, run, &trial, &err))
        fail_msg("%s: %s", policy, err.text);
    return trial;
}

struct sampled {
    double time[TIMES];
    double fraction[TIMES * LEVELS];
    double standby[TIMES], setup[TIMES];
    struct bli_path path;
};

static void sampled_init(struct sampled *sampled, double until) {
    for (size_t k = 0; k < TIMES; k++)
        sampled->time[k] = until * (double)k / (TIMES - 1);
    for (size_t i = 0; i < TIMES * LEVELS; i++)
        sampled->fraction[i] = NAN;
    sampled->path = (struct bli_path){.times = TIMES,
                                      .time = sampled->time,
                                      .levels = LEVELS,
                                      .fraction = sampled->fraction,
                                      .standby = sampled->standby,
                                      .setup = sampled->setup};
}

/* Every row is a state of 60 servers. */
static void assert_states(const struct sampled *sampled) {
    for (size_t k = 0; k < TIMES; k++) {
        double before = 1;
        for (size_t i = 0; i < LEVELS; i++) {
            const double s = sampled->fraction[k * LEVELS + i];
            assert_true(s >= 0 && s <= before);
            assert_true(fabs(s * SERVERS - round(s * SERVERS)) < 1e-9);
            before = s;
        }
    }
}

static const enum bli_engine engines[] = {BLI_ENGINE_MARKOV, BLI_ENGINE_EVENT};

static void starts_where_it_should(void **state) {
    (void)state;
    static struct sampled sampled;
    uint32_t initial[SERVERS];
    for (uint32_t i = 0; i < SERVERS; i++)
        initial[i] = i % 7;
    static const char *const policies[] = {"random", "jsq", "jiq", "pi", "rcpb:c=2", "pod-memory", "pod:d=2"};
    for (size_t e = 0; e < LENGTH(engines); e++)
        for (size_t p = 0; p < LENGTH(policies); p++) {
            const struct bli_model model = model_of(0.7, "exp");
            sampled_init(&sampled, 30);
            const struct bli_run run = {
                .seed = 3, .time = 30, .engine = engines[e], .initial = initial, .path = &sampled.path};
            trial_of(&model, policies[p], &run);
            assert_states(&sampled);
            for (size_t i = 0; i < LEVELS; i++) {
                size_t servers = 0;
                for (uint32_t server = 0; server < SERVERS; server++)
                    servers += initial[server] > i;
                assert_true(sampled.fraction[i] == (double)servers / SERVERS);
            }
            for (size_t k = 0; k < TIMES; k++) {
                assert_true(fabs(sampled.standby[k] - (1 - sampled.fraction[k * LEVELS])) < 1e-12);
                assert_true(sampled.setup[k] == 0);
            }
        }
}

/* Looking does not change what is seen. */
static void a_path_changes_nothing(void **state) {
    (void)state;
    static struct sampled sampled;
    const struct bli_model model = model_of(0.9, "exp");
    for (size_t e = 0; e < LENGTH(engines); e++) {
        sampled_init(&sampled, 200);
        struct bli_run run = {.seed = 5, .time = 200, .engine = engines[e], .path = &sampled.path};
        const struct bli_trial with = trial_of(&model, "rcpb:c=2", &run);
        run.path = NULL;
        const struct bli_trial without = trial_of(&model, "rcpb:c=2", &run);
        assert_memory_equal(with.metric, without.metric, sizeof with.metric);
        assert_memory_equal(with.tail, without.tail, sizeof with.tail);
        assert_int_equal(with.events, without.events);
        /* and it is the path of this very run: its mean is the mean of the run, up to what happens between
         * two looks */
        double mean = 0;
        for (size_t k = 1; k < TIMES; k++)
            mean += sampled.fraction[k * LEVELS] / (TIMES - 1);
        run.warmup = 0;
        assert_true(fabs(mean - trial_of(&model, "rcpb:c=2", &run).tail[1]) < 0.01);
    }
}

/* A start that is empty is no start; the plain twin goes the same way. */
static void twins_agree(void **state) {
    (void)state;
    static struct sampled one, two;
    const uint32_t empty[SERVERS] = {0};
    uint32_t initial[SERVERS];
    for (uint32_t i = 0; i < SERVERS; i++)
        initial[i] = i % 3;
    const struct bli_model model = model_of(0.8, "exp");
    for (size_t e = 0; e < LENGTH(engines); e++) {
        sampled_init(&one, 50);
        sampled_init(&two, 50);
        struct bli_run run = {.seed = 7, .time = 50, .engine = engines[e], .path = &one.path};
        trial_of(&model, "jiq", &run);
        run.path = &two.path;
        run.initial = empty;
        trial_of(&model, "jiq", &run);
        assert_memory_equal(one.fraction, two.fraction, sizeof one.fraction);
        run.initial = initial;
        trial_of(&model, "jiq", &run);
        run.path = &one.path;
        run.reference = true;
        trial_of(&model, "jiq", &run);
        assert_memory_equal(one.fraction, two.fraction, sizeof one.fraction);
    }
}

/* Jobs of size exactly 1 that are there at the start leave one by one: nobody else comes in time. */
static void starting_jobs_are_served(void **state) {
    (void)state;
    static struct sampled sampled;
    const struct bli_model model = model_of(1e-6, "det");
    uint32_t initial[SERVERS];
    for (uint32_t i = 0; i < SERVERS; i++)
        initial[i] = i < 15 ? 3 : 1;
    sampled_init(&sampled, 10);
    const struct bli_run run = {
        .seed = 1, .time = 10, .warmup = 0, .initial = initial, .path = &sampled.path};
    const struct bli_trial trial = trial_of(&model, "random", &run);
    assert_int_equal(trial.jobs, 15 * 3 + 45);
    for (size_t k = 0; k < TIMES; k++) {
        const double t = sampled.time[k];
        if (fabs(t - round(t)) < 1e-9)
            continue; /* at the very moment of a departure */
        assert_true(sampled.fraction[k * LEVELS] == (t < 1 ? 1 : t < 3 ? 0.25 : 0));
        assert_true(sampled.fraction[k * LEVELS + 1] == (t < 2 ? 0.25 : 0));
        assert_true(sampled.fraction[k * LEVELS + 2] == (t < 1 ? 0.25 : 0));
    }
}

static void bad_input(void **state) {
    (void)state;
    const struct bal_policy_spec policy = policy_of("random");
    struct bli_model model = model_of(0.5, "exp");
    double fraction[4];
    const double good[] = {0, 1}, falling[] = {1, 0.5}, late[] = {0, 11}, negative[] = {-1, 0};
    const struct {
        const double *time;
        size_t levels;
    } cases[] = {{falling, 2}, {late, 2}, {negative, 2}, {good, 0}, {good, BLI_TAIL_LEVELS}};
    struct bli_trial trial = {0};
    struct bal_error err;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct bli_path path = {
            .times = 2, .time = cases[i].time, .levels = cases[i].levels, .fraction = fraction};
        const struct bli_run run = {.seed = 1, .time = 10, .path = &path};
        assert_int_equal(bli_simulate(&model, &policy, &run, &trial, &err), BAL_E_RANGE);
    }
    struct bli_path path = {.times = 2, .time = good, .levels = 2, .fraction = fraction};
    const struct bli_run run = {.seed = 1, .time = 10, .path = &path};
    model.clock = BLI_CLOCK_SLOTTED;
    assert_int_equal(bli_batch_parse("poisson", &model.batch, NULL), BAL_OK);
    assert_int_equal(bli_simulate(&model, &policy, &run, &trial, &err), BAL_E_MODEL);
}

static void lengths_of_states(void **state) {
    (void)state;
    const double s[] = {1, 0.75, 0.75, 0.26, 0.1};
    uint32_t length[4];
    bli_lengths_of(s, LENGTH(s), 4, length);
    assert_int_equal(length[0], 4);
    assert_int_equal(length[1], 3);
    assert_int_equal(length[2], 3);
    assert_int_equal(length[3], 1);
    bli_lengths_of(NULL, 0, 4, length);
    for (int i = 0; i < 4; i++)
        assert_int_equal(length[i], 0);
    /* to within half a server, for any state */
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (int round = 0; round < 1000; round++) {
        double state_of[20], top = 1;
        for (size_t i = 0; i < LENGTH(state_of); i++)
            state_of[i] = top *= bal_rng_uniform(&rng) < 0.3 ? 1 : bal_rng_uniform(&rng);
        uint32_t many[97];
        bli_lengths_of(state_of, LENGTH(state_of), LENGTH(many), many);
        for (size_t i = 0; i < LENGTH(state_of); i++) {
            size_t count = 0;
            for (size_t server = 0; server < LENGTH(many); server++)
                count += many[server] > i;
            assert_true(fabs((double)count - state_of[i] * LENGTH(many)) <= 0.5 + 1e-9);
        }
    }
}

static void distances(void **state) {
    (void)state;
    const double time[] = {0, 1, 2};
    double fraction[] = {0.5, 0.25, 0.5, 0.25, 0.5, 0.25};
    double fluid_state[] = {0.5, 0.25, 0.1, 0.6, 0.25, 0.3, 0.5, 0.65, 0};
    const struct bli_path path = {.times = 3, .time = time, .levels = 2, .fraction = fraction};
    const struct bli_fluid_path fluid = {.times = 3, .columns = 3, .state = fluid_state};
    const struct bli_distance apart = bli_path_distance(&path, &fluid);
    assert_true(fabs(apart.difference - 0.4) < 1e-15);
    assert_true(apart.time == 2);
    assert_int_equal(apart.level, 2);
    assert_true(fabs(apart.norm - sqrt(0.16 / 4)) < 1e-15);
}

/* A case that asks for it measures the distance from the fluid path, in whatever unit of time and at whatever
 * speed. */
static void distance_as_a_metric(void **state) {
    (void)state;
    struct bli_case c = {
        .model = model_of(0.7, "exp"), .policy = policy_of("rcpb:c=2"), .run = {.seed = 3, .time = 10}};
    struct bli_trial trial = {0};
    struct bal_error err;
    assert_int_equal(bli_case_trial(&c, &c.run, &trial, &err), BAL_OK);
    assert_true(isnan(trial.metric[BLI_FLUID_DISTANCE]));
    assert_true(trial.metric[BLI_MEMORY_BITS] == 12);
    const double waiting = trial.metric[BLI_WAITING_MEAN];
    c.fluid = true;
    assert_int_equal(bli_case_trial(&c, &c.run, &trial, &err), BAL_OK);
    assert_true(trial.metric[BLI_WAITING_MEAN] == waiting);
    const double distance = trial.metric[BLI_FLUID_DISTANCE];
    assert_true(distance > 0.01 && distance < 0.3); /* 60 servers */

    /* The same in another unit of time: sizes of mean 3 on servers of speed 2. */
    assert_int_equal(bli_dist_parse("exp(3)", &c.model.size, NULL), BAL_OK);
    assert_int_equal(bli_servers_parse("60x2", &c.model.servers, NULL), BAL_OK);
    c.run.time = 15;
    assert_int_equal(bli_case_trial(&c, &c.run, &trial, &err), BAL_OK);
    assert_true(fabs(trial.metric[BLI_FLUID_DISTANCE] - distance) < 1e-9);

    c.policy = policy_of("jsq");
    assert_int_equal(bli_case_fluid_check(&c, &err), BAL_E_MODEL);
    assert_int_equal(bli_case_trial(&c, &c.run, &trial, &err), BAL_E_MODEL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_where_it_should),
        cmocka_unit_test(a_path_changes_nothing),
        cmocka_unit_test(twins_agree),
        cmocka_unit_test(starting_jobs_are_served),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(lengths_of_states),
        cmocka_unit_test(distances),
        cmocka_unit_test(distance_as_a_metric),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
