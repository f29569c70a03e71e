/* SPDX-License-Identifier: BSD-2-Clause */
/* Several dispatchers in slotted time, literally: jobs one by one in plain arrays, each with the slot in
 * which it came and the dispatcher that sent it; queues and own requests are counted anew whenever somebody
 * looks. It shares with the engine the policies and the random numbers, and must measure the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../texts.h"
#include "ballast/simulate.h"

#include "../theory/close.h"

enum { N_MAX = 6, M_MAX = 5, JOBS_MAX = 20000, SLOTS = 2000 };

struct job {
    uint32_t slot, sender;
};

struct dispatcher {
    void *state;
    struct bal_rng rng;
    struct bal_fleet fleet;
    struct bal_share shares[N_MAX];
    uint32_t own[N_MAX];
    struct bal_decision decision;
    uint32_t count; /* jobs that came to it in this slot */
};

static struct {
    const struct bli_model *model;
    const struct bal_policy_spec *spec;
    uint32_t n, m, slot;
    struct job queue[N_MAX][JOBS_MAX];
    uint32_t length[N_MAX];
    double speed[N_MAX];
    struct dispatcher dispatcher[M_MAX];
    struct bal_rng network;
    uint64_t reports, asked, jobs, responses, queued, batches, parts;
} world;

static double work(struct bal_fleet *fleet, uint32_t server) {
    (void)fleet;
    return world.length[server] / world.speed[server];
}

static uint32_t draw_dispatcher(void) {
    const struct bli_dispatchers *dispatchers = &world.model->network.dispatchers;
    if (world.m == 1)
        return 0;
    if (!dispatchers->unequal)
        return bal_rng_below(&world.network, world.m);
    double u = bal_rng_uniform(&world.network);
    for (uint32_t d = 0; d < world.m - 1; d++) {
        if (u < dispatchers->share[d])
            return d;
        u -= dispatchers->share[d];
    }
    return world.m - 1;
}

static void report_idle(uint32_t server, uint32_t to) {
    struct dispatcher *d = &world.dispatcher[to];
    bal_policy_report(world.spec, d->state, &d->fleet, BAL_REPORT_IDLE, server, NULL);
}

static void begin(const struct bli_model *model, const struct bal_policy_spec *spec,
                  const struct bli_run *run) {
    memset(&world, 0, sizeof world);
    world.model = model;
    world.spec = spec;
    world.n = bli_servers_count(&model->servers);
    world.m = model->network.dispatchers.count;
    bal_rng_init(&world.network, run->seed, run->replication, BAL_STREAM_NETWORK);
    const struct bal_policy_context setting = {.servers = world.n, .load = model->load};
    for (uint32_t i = 0; i < world.m; i++) {
        struct dispatcher *d = &world.dispatcher[i];
        d->state = malloc(bal_policy_size(spec, &setting) + 1);
        assert_non_null(d->state);
        bal_policy_init(spec, &setting, d->state);
        bal_rng_init(&d->rng, run->seed, run->replication, BAL_STREAM_POLICY + ((uint64_t)i << 32));
        d->fleet = (struct bal_fleet){
            .servers = world.n, .length = world.length, .own = d->own, .shares = d->shares, .work = work};
    }
    uint32_t server = 0;
    for (unsigned g = 0; g < model->servers.groups; g++)
        for (uint32_t i = 0; i < model->servers.group[g].count; i++)
            world.speed[server++] = model->servers.group[g].speed;
    for (server = 0; server < world.n; server++)
        report_idle(server, world.m > 1 ? bal_rng_below(&world.network, world.m) : 0);
}

static void send(uint32_t sender, uint32_t server, uint32_t count) {
    world.parts++;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(world.length[server] < JOBS_MAX);
        world.queue[server][world.length[server]++] = (struct job){world.slot, sender};
    }
}

static void route_all(uint32_t batch) {
    for (uint32_t d = 0; d < world.m; d++)
        world.dispatcher[d].count = 0;
    for (uint32_t i = 0; i < batch; i++)
        world.dispatcher[draw_dispatcher()].count++;
    for (uint32_t i = 0; i < world.m; i++) {
        struct dispatcher *d = &world.dispatcher[i];
        memset(d->own, 0, sizeof d->own);
        for (uint32_t server = 0; server < world.n; server++)
            for (uint32_t k = 0; k < world.length[server]; k++)
                d->own[server] += world.queue[server][k].sender == i;
        const struct bal_job job = {.count = d->count, .split = world.model->split};
        if (d->count)
            d->decision = bal_policy_route(world.spec, d->state, &d->fleet, &job, &d->rng);
    }
    for (uint32_t i = 0; i < world.m; i++) {
        const struct dispatcher *d = &world.dispatcher[i];
        world.batches += d->count > 0;
        if (d->count && d->decision.parts == 0)
            send(i, d->decision.server, d->count);
        for (uint32_t part = 0; d->count && part < d->decision.parts; part++)
            send(i, d->shares[part].server, d->shares[part].count);
    }
}

static void say_idle(uint32_t server) {
    if (!(world.spec->policy->wants & BAL_WANTS_IDLE))
        return;
    const uint32_t choices = bal_policy_report_choices(world.spec);
    uint32_t to = 0;
    for (uint32_t i = 0; world.m > 1 && i < choices; i++) {
        const uint32_t other = bal_rng_below(&world.network, world.m);
        if (i == 0 || bal_policy_tokens(world.spec, world.dispatcher[other].state) <
                          bal_policy_tokens(world.spec, world.dispatcher[to].state))
            to = other;
    }
    world.asked += world.m > 1 && choices > 1 ? choices : 0;
    world.reports++;
    report_idle(server, to);
}

static void serve(const uint32_t *capacity) {
    for (uint32_t server = 0; server < world.n; server++) {
        const uint32_t before = world.length[server];
        for (uint32_t i = 0; i < capacity[server] && world.length[server] > 0; i++) {
            world.responses += world.slot - world.queue[server][0].slot + 1;
            world.jobs++;
            world.length[server]--;
            memmove(world.queue[server], world.queue[server] + 1,
                    world.length[server] * sizeof world.queue[server][0]);
        }
        if (before > 0 && world.length[server] == 0)
            say_idle(server);
        world.queued += world.length[server];
    }
}

static void live(const struct bli_run *run) {
    struct bli_batch batch;
    struct bal_rng arrivals, service;
    assert_int_equal(bli_model_batch(world.model, &batch, NULL), BAL_OK);
    bal_rng_init(&arrivals, run->seed, run->replication, BAL_STREAM_ARRIVALS);
    bal_rng_init(&service, run->seed, run->replication, BAL_STREAM_SERVICE);
    for (world.slot = 1; world.slot <= SLOTS; world.slot++) {
        route_all(bli_batch_sample(&batch, &arrivals));
        uint32_t capacity[N_MAX], *next = capacity;
        for (unsigned g = 0; g < world.model->servers.groups; g++) {
            const struct bli_group *group = &world.model->servers.group[g];
            for (uint32_t i = 0; i < group->count; i++)
                next[i] = (uint32_t)group->speed;
            if (group->capacity.kind != BLI_BATCH_NONE)
                bli_batch_sample_many(&group->capacity, &service, next, group->count);
            next += group->count;
        }
        serve(capacity);
    }
}

static void compare(const struct bli_model *model, const struct bal_policy_spec *spec, uint64_t seed) {
    const struct bli_run run = {.seed = seed, .replication = 1, .time = SLOTS, .reference = true};
    struct bli_trial trial = {0};
    struct bal_error err = {0};
    if (bli_simulate(model, spec, &run, &trial, &err))
        fail_msg("%s: %s", spec->policy->name, err.text);
    begin(model, spec, &run);
    live(&run);
    uint64_t probes = world.asked;
    for (uint32_t d = 0; d < world.m; d++) {
        probes += world.dispatcher[d].fleet.probes;
        free(world.dispatcher[d].state);
    }
    const double *metric = trial.metric;
    if (trial.jobs != world.jobs)
        fail_msg("%s, %u dispatchers: %llu jobs and not %llu", spec->policy->name, world.m,
                 (unsigned long long)trial.jobs, (unsigned long long)world.jobs);
    assert_close(metric[BLI_RESPONSE_MEAN], (double)world.responses / (double)world.jobs, 1e-12);
    assert_close(metric[BLI_QUEUE_TOTAL], (double)world.queued / SLOTS, 1e-12);
    const double messages = (double)(world.reports + probes);
    assert_close(metric[BLI_MESSAGES_PER_TIME], messages / SLOTS, 1e-12);
    assert_close(metric[BLI_MESSAGES_PER_BATCH], messages / (double)world.batches, 1e-12);
    assert_close(metric[BLI_MESSAGES_PER_PART], messages / (double)world.parts, 1e-12);
}

static void every_policy(const char *servers, const char *dispatchers, bool split) {
    struct bli_model model = {.load = 0.8, .clock = BLI_CLOCK_SLOTTED, .split = split};
    struct bal_error err = {0};
    if (bli_servers_parse(servers, &model.servers, &err) || bli_batch_parse("poisson", &model.batch, &err) ||
        bli_dispatchers_parse(dispatchers, &model.network.dispatchers, &err))
        fail_msg("%s", err.text);
    static const char *const more[] = {"jiq:else=least-conn", "jiq:else=least-conn2", "jiq:report=2",
                                       "least-conn:d=2", "pod:d=2,replace=0"};
    unsigned compared = 0;
    for (size_t i = 0; i < bal_policy_count + sizeof more / sizeof *more; i++) {
        const struct bal_policy_spec spec =
            policy_of(i < bal_policy_count ? bal_policy_table[i]->name : more[i - bal_policy_count]);
        enum bli_engine engine;
        if (bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, NULL))
            continue;
        assert_int_equal(engine, BLI_ENGINE_SLOTTED);
        compare(&model, &spec, 50 + i);
        compared++;
    }
    assert_true(compared >= 12);
}

static void several_dispatchers_are_what_they_are_defined_to_be(void **state) {
    (void)state;
    for (int split = 0; split < 2; split++) {
        every_policy("5x1", "2", split);
        every_policy("2x1,2xuniform(1,5)", "0.7,0.2,0.1", split);
        every_policy("6xtable(1:0.5 3:0.5)", "5", split);
        every_policy("1x3", "4", split);
    }
}

static void one_dispatcher_is_no_setting(void **state) {
    (void)state;
    every_policy("2x1,2xuniform(1,5)", "1", false);
    every_policy("2x1,2xuniform(1,5)", "1", true);
}

/* Nothing of the rest can be had in slotted time, and nothing is silently ignored. */
static void the_rest_is_refused(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct bli_model model = {.load = 0.8, .clock = BLI_CLOCK_SLOTTED};
        struct bli_network *network = &model.network;
        assert_int_equal(bli_servers_parse("5x1", &model.servers, NULL), BAL_OK);
        assert_int_equal(bli_batch_parse("poisson", &model.batch, NULL), BAL_OK);
        if (i == 0)
            assert_int_equal(bli_dist_parse("exp(0.1)", &network->delay, NULL), BAL_OK);
        network->loss = i == 1 ? 0.1 : 0;
        network->heartbeat = i == 2;
        network->churn = (struct bli_churn){.up = i == 3, .down = i == 3};
        network->fail_fast.share = i == 4 ? 0.2 : 0;
        network->ejection = i == 5;
        const struct bal_policy_spec spec = policy_of("jiq");
        enum bli_engine engine;
        struct bal_error err = {0};
        assert_int_equal(bli_simulate_check(&model, &spec, BLI_ENGINE_AUTO, &engine, &err), BAL_E_MODEL);
        assert_non_null(strstr(err.text, "need continuous time"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_dispatchers_are_what_they_are_defined_to_be),
        cmocka_unit_test(one_dispatcher_is_no_setting),
        cmocka_unit_test(the_rest_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
