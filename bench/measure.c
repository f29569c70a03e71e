/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs an engine several times in turn with the bare loop, and keeps the ratios. */
#include "measure.h"

#include "bare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void die(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* A trace of such jobs as the model draws, the unit of time being a second. */
static struct bli_trace *record_trace(const struct bli_model *model, uint64_t jobs) {
    struct bli_trace *trace;
    struct bal_error err;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    if (bli_trace_new(NULL, &trace, &err))
        die(err.text);
    const double gap = 1e9 / bli_model_arrival_rate(model);
    double now = 0;
    for (uint64_t i = 0; i < jobs; i++) {
        now += bal_rng_exp(&rng) * gap;
        const struct bli_trace_job job = {.time = (int64_t)now,
                                          .size = 1 + (int64_t)(bli_dist_sample(&model->size, &rng) * 1e9)};
        if (bli_trace_add(trace, &job, &err))
            die(err.text);
    }
    if (bli_trace_finish(trace, NULL, &err))
        die(err.text);
    return trace;
}

double speed_of(const struct row *row, unsigned trials) {
    struct bli_model model = {.load = row->load,
                              .classes = row->high > 0,
                              .high = row->high,
                              .slots = row->slots,
                              .tasks = row->tasks};
    struct bal_policy_spec policy;
    struct bal_error err;
    if (bli_servers_parse(row->servers, &model.servers, &err) ||
        bli_dist_parse(row->service, &model.size, &err) || bli_scheme_parse(row->policy, &policy, &err) ||
        bli_batch_parse("poisson", &model.batch, &err))
        die(err.text);
    if ((row->steal && bal_steal_parse(row->steal, &model.steal, &err)) ||
        (row->placement && bal_placement_parse(row->placement, &model.placement, &err)))
        die(err.text);
    model.network.dispatchers.count = row->dispatchers;
    if (row->dispatchers && bli_dist_parse("exp(0.1)", &model.network.delay, &err))
        die(err.text);
    model.clock = row->slotted ? BLI_CLOCK_SLOTTED : BLI_CLOCK_CONTINUOUS;
    struct bli_trace *trace = row->recorded ? record_trace(&model, (uint64_t)row->jobs) : NULL;
    struct bli_run run = {.seed = 1,
                          .time = trace          ? bli_trace_info(trace)->span
                                  : row->slotted ? row->jobs
                                                 : row->jobs / bli_model_arrival_rate(&model),
                          .warmup = NAN,
                          .engine = row->engine,
                          .trace = trace};
    struct bli_trial *trial = calloc(1, sizeof *trial);
    if (!trial)
        die("no memory");
    double units = 0;
    const double start = processor_time();
    for (unsigned i = 0; i < trials; i++) {
        run.replication = i;
        if (bli_simulate(&model, &policy, &run, trial, &err))
            die(err.text);
        units += row->slotted ? row->jobs * bli_servers_count(&model.servers) : (double)trial->events;
    }
    const double seconds = processor_time() - start;
    free(trial);
    bli_trace_free(trace);
    return units / seconds;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

double ratio_of(const struct row *row, double *fastest) {
    double ratio[ROUNDS];
    *fastest = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const double bare = bare_speed(4000000);
        const double ours = speed_of(row, 1);
        ratio[i] = ours / bare;
        *fastest = ours > *fastest ? ours : *fastest;
    }
    return median_of(ratio, ROUNDS);
}
