#include "lab/draws.h"

#include <stdlib.h>
#include <string.h>

static void add(double *sum, const double *values, size_t count, double part) {
    for (size_t i = 0; i < count; i++)
        sum[i] += part * values[i];
}

static void add_trial(struct bal_trial *into, const struct bal_trial *one, double part) {
    add(into->metric, one->metric, BAL_METRIC_COUNT, part);
    add(into->tail, one->tail, BAL_TAIL_LEVELS, part);
    add(into->quarter, one->quarter, 4, part);
    add(&into->percentile[0][0], &one->percentile[0][0], sizeof one->percentile / sizeof(double), part);
    if (into->high_tail)
        add(into->high_tail, one->high_tail, BAL_TAIL_LEVELS, part);
    for (unsigned d = 0; d < BAL_DISTRIBUTIONS; d++)
        if (into->histogram[d])
            bal_histogram_merge(into->histogram[d], one->histogram[d]);
    into->warmup += part * one->warmup;
    into->seconds += one->seconds;
    into->jobs += one->jobs;
    into->events += one->events;
    into->engine = one->engine;
}

struct room {
    struct bal_trial trial;
    double high_tail[BAL_TAIL_LEVELS];
    struct bal_histogram histogram[BAL_DISTRIBUTIONS];
};

static void clear(struct bal_trial *trial) {
    const struct bal_trial kept = *trial;
    memset(trial, 0, sizeof *trial);
    memcpy(trial->histogram, kept.histogram, sizeof kept.histogram);
    trial->high_tail = kept.high_tail;
    for (unsigned d = 0; d < BAL_DISTRIBUTIONS; d++)
        if (trial->histogram[d])
            memset(trial->histogram[d], 0, sizeof *trial->histogram[d]);
    if (trial->high_tail)
        memset(trial->high_tail, 0, BAL_TAIL_LEVELS * sizeof *trial->high_tail);
}

enum bal_code bal_case_drawn_trial(const struct bal_case *c, const struct bal_run *run,
                                   struct bal_trial *trial, struct bal_error *err) {
    struct room *room = calloc(1, sizeof *room);
    if (!room)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trial");
    for (unsigned d = 0; d < BAL_DISTRIBUTIONS; d++)
        room->trial.histogram[d] = trial->histogram[d] ? &room->histogram[d] : NULL;
    room->trial.high_tail = trial->high_tail ? room->high_tail : NULL;
    clear(trial);
    enum bal_code code = BAL_OK;
    struct bal_run one = *run;
    for (one.draw = 0; !code && one.draw < c->draws; one.draw++) {
        clear(&room->trial);
        code = bal_simulate(&c->model, &c->policy, &one, &room->trial, err);
        if (!code)
            add_trial(trial, &room->trial, 1.0 / c->draws);
    }
    trial->jobs /= c->draws; /* of one */
    free(room);
    return code;
}
