/* SPDX-License-Identifier: BSD-2-Clause */
/* The event engine against a literal simulation that gets the same jobs and the same random numbers: servers
 * that steal, servers of several slots, and both. Not a statistical test: every time must be the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../literal.h"
#include "texts.h"

static struct bli_model model_of(const char *servers, const char *size, double load, uint32_t slots,
                                 const char *steal) {
    struct bli_model model = {.load = load, .slots = slots};
    struct bal_error err;
    if (bli_servers_parse(servers, &model.servers, &err) || bli_dist_parse(size, &model.size, &err) ||
        bal_steal_parse(steal, &model.steal, &err))
        fail_msg("%s", err.text);
    return model;
}

/* Returns the literal world, its arrays freed. The literal world has no index and draws ties by a scan, so
 * policies that use one must not either. initial: NULL, or jobs at each server at the start. */
static struct literal expect_same_from(const struct bli_model *model, const char *policy, uint64_t seed,
                                       const uint32_t *initial) {
    const struct bal_policy_spec spec = policy_of(policy);
    const bool indexed = bal_policy_flags(&spec) & (BAL_NEEDS_INDEX | BAL_NEEDS_WORK);
    const struct bli_run run = {.seed = seed,
                                .time = 4000 / bli_model_arrival_rate(model),
                                .warmup = 0,
                                .engine = BLI_ENGINE_EVENT,
                                .reference = indexed,
                                .initial = initial};
    struct bli_trial trial = {.histogram = {calloc(1, sizeof *trial.histogram[BLI_OF_RESPONSE])}};
    assert_non_null(trial.histogram[BLI_OF_RESPONSE]);
    struct bal_error err;
    if (bli_simulate(model, &spec, &run, &trial, &err))
        fail_msg("%s: %s", policy, err.text);
    struct literal world = {
        .model = model, .spec = &spec, .initial = initial, .until = run.time, .seed = seed};
    size_t there = 0;
    for (uint32_t server = 0; initial && server < bli_servers_count(&model->servers); server++)
        there += initial[server];
    struct literal_job *jobs = literal_draw(model, seed, 0, there, run.time, &world.inputs);
    world.input = jobs;
    literal_run(&world);
    char what[200];
    snprintf(what, sizeof what, "%s, %u slots, steal %d, seed %d", policy, model->slots, model->steal.kind,
             (int)seed);
    literal_expect(&world, &trial, what);
    literal_free(&world);
    free(jobs);
    free(trial.histogram[BLI_OF_RESPONSE]);
    return world;
}

/* Returns how many steals there were. */
static uint64_t expect_same(const struct bli_model *model, const char *policy, uint64_t seed) {
    return expect_same_from(model, policy, seed, NULL).steals;
}

static const char *const policies[] = {"random", "round-robin", "pod:d=2", "pod-memory:d=1,b=1",
                                       "jsq",    "jiq",         "pi",      "least-work"};
enum { POLICIES = sizeof policies / sizeof *policies };

static void servers_that_steal(void **state) {
    (void)state;
    static const char *const steal[] = {"half", "one",           "constant(3)",     "log2",
                                        "sqrt", "fraction(0.3)", "table(0 0 1 1 2)"};
    for (unsigned f = 0; f < sizeof steal / sizeof *steal; f++)
        for (int others = 0; others < 2; others++) {
            struct bli_model model = model_of("8", "exp", 0.9, 1, steal[f]);
            model.others = others;
            assert_true(expect_same(&model, "random", 11 + f) > 50);
        }
    for (unsigned p = 0; p < POLICIES; p++) {
        const struct bli_model equal = model_of("6", "lognormal(4)", 0.9, 0, "half");
        expect_same(&equal, policies[p], 21);
    }
}

static void unequal_servers_that_steal(void **state) {
    (void)state;
    for (unsigned p = 0; p < POLICIES; p++) {
        struct bli_model model = model_of("5x1,3x2,2x0.5", "erlang(2)", 0.8, 1, "half");
        model.others = true;
        expect_same(&model, policies[p], 31);
    }
}

static void a_single_server_has_nobody_to_ask(void **state) {
    (void)state;
    const struct bli_model model = model_of("1", "exp", 0.7, 1, "half");
    assert_true(expect_same(&model, "random", 41) == 0); /* it asks itself, in vain */
}

static void servers_of_several_slots(void **state) {
    (void)state;
    for (unsigned p = 0; p < POLICIES; p++)
        for (uint32_t slots = 2; slots <= 8; slots += 3) {
            const struct bli_model equal = model_of("5", "exp", 0.85, slots, "none");
            expect_same(&equal, policies[p], 50 + slots);
            const struct bli_model unequal = model_of("2x1,2x3,1x0.5", "hyper(4)", 0.7, slots, "none");
            expect_same(&unequal, policies[p], 60 + slots);
        }
}

static void slots_and_classes(void **state) {
    (void)state;
    static const char *const with_classes[] = {"random", "pod:d=2", "jiq", "pod-scp:d1=1,d2=2"};
    static const enum bli_discipline disciplines[] = {BLI_DISCIPLINE_FIFO, BLI_DISCIPLINE_NONPREEMPTIVE};
    for (unsigned p = 0; p < 4; p++)
        for (unsigned d = 0; d < 2; d++) {
            struct bli_model model = model_of("5", "exp", 0.9, 3, "none");
            model.classes = true;
            model.high = 0.3;
            model.discipline = disciplines[d];
            expect_same(&model, with_classes[p], 70);
        }
    /* pod-ssp moves low jobs out of the way of high ones: the last that waits. */
    struct bli_model model = model_of("5", "exp", 0.95, 3, "none");
    model.classes = true;
    model.high = 0.5;
    model.discipline = BLI_DISCIPLINE_NONPREEMPTIVE;
    assert_true(expect_same_from(&model, "pod-ssp", 71, NULL).moves > 100);
}

/* Long queues at the start, which even under least-work there is something to steal of; and servers that have
 * jobs and a slot that is free, of which dispatchers know. */
static void beginnings(void **state) {
    (void)state;
    static const uint32_t initial[8] = {40, 1, 0, 2, 0, 17, 3, 1};
    for (uint32_t slots = 1; slots <= 3; slots++)
        for (unsigned p = 0; p < POLICIES; p++) {
            const struct bli_model alone = model_of("8", "exp", 0.8, slots, "none");
            expect_same_from(&alone, policies[p], 90 + slots, initial);
            const struct bli_model equal = model_of("8", "exp", 0.8, slots, "half");
            assert_true(expect_same_from(&equal, policies[p], 90 + slots, initial).steals > 0);
            const struct bli_model unequal = model_of("3x1,4x2,1x0.5", "hyper(4)", 0.5, slots, "one");
            assert_true(expect_same_from(&unequal, policies[p], 95 + slots, initial).steals > 0);
        }
}

static void slots_and_stealing(void **state) {
    (void)state;
    uint64_t steals = 0;
    for (unsigned p = 0; p < POLICIES; p++) {
        const struct bli_model model = model_of("12", "hyper(4)", 0.95, 2, "half");
        steals += expect_same(&model, policies[p], 81);
    }
    assert_true(steals > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_that_steal),
        cmocka_unit_test(unequal_servers_that_steal),
        cmocka_unit_test(a_single_server_has_nobody_to_ask),
        cmocka_unit_test(servers_of_several_slots),
        cmocka_unit_test(slots_and_classes),
        cmocka_unit_test(slots_and_stealing),
        cmocka_unit_test(beginnings),
    };
    return cmocka_run_group_tests_name("event engine against a literal twin", tests, NULL, NULL);
}
