/* SPDX-License-Identifier: BSD-2-Clause */
/* A live fleet in simulated time. */
#include "live_fleet.h"

#include "engine/core_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What dispatcher 0 takes of a processor. */
struct work {
    double began, sum, clock_ns; /* clock_ns: what reading the clock takes */
};

static double thread_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Between two readings. */
static double clock_cost(void) {
    enum { READINGS = 10000 };
    const double from = thread_ns();
    for (int i = 0; i < READINGS; i++)
        thread_ns();
    return (thread_ns() - from) / READINGS;
}

static void measure_work(void *context, bool begins) {
    struct work *work = context;
    if (begins)
        work->began = thread_ns();
    else
        work->sum += thread_ns() - work->began - work->clock_ns;
}

static void exit_on_error(enum bal_code code, const struct bal_error *err) {
    if (code) {
        fprintf(stderr, "a live fleet in simulated time: %s\n", err->text);
        exit(1);
    }
}

/* In mean service times. */
static struct bli_model model_of(const struct live_fleet_setting *setting) {
    const double unit = setting->service_ns;
    struct bli_model model = {.load = setting->load, .slots = setting->slots};
    struct bal_error err;
    model.servers = (struct bli_servers){.groups = 1, .group = {{.count = setting->servers, .speed = 1}}};
    exit_on_error(bli_dist_parse("exp", &model.size, &err), &err);
    exit_on_error(bli_dist_parse(setting->delays_vary ? "exp" : "det", &model.network.delay, &err), &err);
    bli_dist_scale(&model.network.delay, setting->delay_ns / unit);
    model.network.dispatchers.count = setting->dispatchers;
    model.network.loss = setting->loss;
    model.network.heartbeat = 100e6 / unit;
    model.network.timeout = 10e6 / unit;
    return model;
}

struct live_fleet_measured live_fleet_measure(const struct live_fleet_setting *setting) {
    const struct bli_model model = model_of(setting);
    const double unit = setting->service_ns;
    struct bal_policy_spec policy;
    struct bal_error err;
    struct bli_core_counts counts;
    struct bli_trial trial = {0};
    struct work work = {.clock_ns = clock_cost()};
    exit_on_error(bal_policy_parse(setting->policy, &policy, &err), &err);
    const struct bli_run run = {.seed = setting->seed,
                                .time = 1.1 * (double)setting->requests / bli_model_arrival_rate(&model),
                                .warmup = 1 / 11.0};
    const struct bli_core_options options = {.gap = (double)setting->gap_ns / unit,
                                             .counts = &counts,
                                             .works = setting->timed ? measure_work : NULL,
                                             .context = &work};
    exit_on_error(bli_core_check(&model, &policy, &err), &err);
    exit_on_error(bli_core_measure(&model, &policy, &run, &options, &trial, &err), &err);
    const double ns = (run.time - counts.since) * unit, requests = (double)counts.arrived;
    return (struct live_fleet_measured){.datagrams = (double)counts.datagrams / requests,
                                        .piggybacked = (double)counts.rides / requests,
                                        .mean_ns = trial.metric[BLI_RESPONSE_MEAN] * unit,
                                        .held = (double)counts.held / requests,
                                        .p99_ns = trial.metric[BLI_RESPONSE_P99] * unit,
                                        .received = 1e9 * (double)counts.received / ns / setting->dispatchers,
                                        .sent = 1e9 * (double)(counts.datagrams - counts.received) / ns /
                                                setting->dispatchers,
                                        .processor = work.sum / ns,
                                        .block = (double)counts.block};
}
