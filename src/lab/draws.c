/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the draws of a trial, which share arrivals and sizes, and averages what they measure. */
#include "lab/draws.h"

#include <stdlib.h>
#include <string.h>

static void add_weighted(double *sum, const double *values, size_t count, double part) {
    for (size_t i = 0; i < count; i++)
        sum[i] += part * values[i];
}

static void add_trial(struct bli_trial *into, const struct bli_trial *one, double part) {
    add_weighted(into->metric, one->metric, BLI_METRIC_COUNT, part);
    add_weighted(into->tail, one->tail, BLI_TAIL_LEVELS, part);
    add_weighted(into->quarter, one->quarter, 4, part);
    add_weighted(&into->percentile[0][0], &one->percentile[0][0], sizeof one->percentile / sizeof(double),
                 part);
    if (into->high_tail)
        add_weighted(into->high_tail, one->high_tail, BLI_TAIL_LEVELS, part);
    for (unsigned d = 0; d < BLI_DISTRIBUTIONS; d++)
        if (into->histogram[d])
            bli_histogram_merge(into->histogram[d], one->histogram[d]);
    into->warmup += part * one->warmup;
    into->seconds += one->seconds;
    into->jobs += one->jobs;
    into->events += one->events;
    into->engine = one->engine;
}

struct scratch {
    struct bli_trial trial;
    double high_tail[BLI_TAIL_LEVELS];
    struct bli_histogram histogram[BLI_DISTRIBUTIONS];
};

static void reset_trial(struct bli_trial *trial) {
    const struct bli_trial kept = *trial;
    memset(trial, 0, sizeof *trial);
    memcpy(trial->histogram, kept.histogram, sizeof kept.histogram);
    trial->high_tail = kept.high_tail;
    for (unsigned d = 0; d < BLI_DISTRIBUTIONS; d++)
        if (trial->histogram[d])
            memset(trial->histogram[d], 0, sizeof *trial->histogram[d]);
    if (trial->high_tail)
        memset(trial->high_tail, 0, BLI_TAIL_LEVELS * sizeof *trial->high_tail);
}

enum bal_code bli_case_drawn_trial(const struct bli_case *c, const struct bli_run *run,
                                   struct bli_trial *trial, struct bal_error *err) {
    struct scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    for (unsigned d = 0; d < BLI_DISTRIBUTIONS; d++)
        scratch->trial.histogram[d] = trial->histogram[d] ? &scratch->histogram[d] : NULL;
    scratch->trial.high_tail = trial->high_tail ? scratch->high_tail : NULL;
    reset_trial(trial);
    enum bal_code code = BAL_OK;
    struct bli_run one = *run;
    for (one.draw = 0; !code && one.draw < c->draws; one.draw++) {
        reset_trial(&scratch->trial);
        code = bli_simulate(&c->model, &c->policy, &one, &scratch->trial, err);
        if (!code)
            add_trial(trial, &scratch->trial, 1.0 / c->draws);
    }
    trial->jobs /= c->draws; /* of one */
    free(scratch);
    return code;
}
