/* SPDX-License-Identifier: BSD-2-Clause */
/* What a fault has cost: requests that failed or ran twice, slots that were exceeded, and how long it took
 * until requests were answered as before. */
#include "rig/block.h"

#include <math.h>
#include <stdlib.h>

struct recovery_step {
    unsigned server;
    double time;
    int by;
};

/* At equal times, departures come before arrivals. */
static int by_server_and_time(const void *a, const void *b) {
    const struct recovery_step *x = a, *y = b;
    if (x->server != y->server)
        return x->server < y->server ? -1 : 1;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->by - y->by;
}

unsigned bli_max_concurrent(const struct rig_block *block, double from, double to) {
    struct recovery_step *step = malloc((2 * block->visits + 1) * sizeof *step);
    size_t steps = 0;
    for (size_t i = 0; step && i < block->visits; i++) {
        const struct rig_visit *visit = &block->visit[i];
        if (visit->to <= from || visit->from >= to)
            continue;
        step[steps++] = (struct recovery_step){visit->server, visit->from, 1};
        step[steps++] = (struct recovery_step){visit->server, visit->to, -1};
    }
    if (!step)
        return 0;
    qsort(step, steps, sizeof *step, by_server_and_time);
    int present = 0, most = 0;
    for (size_t i = 0; i < steps; i++) {
        present = (i > 0 && step[i].server != step[i - 1].server ? 0 : present) + step[i].by;
        most = present > most ? present : most;
    }
    free(step);
    return (unsigned)most;
}

/* Twice the longest response time before the fault. */
static double recovered_limit(const struct rig_block *block) {
    const double first = block->rig->live->fault[0].at;
    double most = 10 * block->rig->c.model.size.mean;
    for (size_t i = 0; i < block->outcomes; i++)
        if (block->outcome[i].good && block->outcome[i].ended < first)
            most = fmax(most, block->outcome[i].ended - block->outcome[i].time);
    return 2 * most;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The response time that 99 % of the good answers between two times did not exceed; NaN: there were none. */
static double p99_between(const struct rig_block *block, double from, double to) {
    double *times = malloc((block->outcomes + 1) * sizeof *times);
    size_t count = 0;
    for (size_t i = 0; times && i < block->outcomes; i++) {
        const struct rig_request_outcome *outcome = &block->outcome[i];
        if (outcome->good && outcome->ended >= from && outcome->ended < to)
            times[count++] = outcome->ended - outcome->time;
    }
    if (count > 0)
        qsort(times, count, sizeof *times, by_value);
    const double p99 = count > 0 ? times[(size_t)(0.99 * (double)(count - 1) + 0.5)] : NAN;
    free(times);
    return p99;
}

void bli_recovery_record(struct rig_block *block) {
    const struct bli_live *live = block->rig->live;
    const unsigned slots = block->rig->c.model.slots ? block->rig->c.model.slots : 1;
    const double limit = live->faults > 0 ? recovered_limit(block) : 0;
    for (size_t f = 0; f < live->faults; f++) {
        const double from = live->fault[f].at, to = f + 1 < live->faults ? live->fault[f + 1].at : INFINITY;
        double lost = 0, doubled = 0, resent = 0, last = 0;
        for (size_t i = 0; i < block->outcomes; i++) {
            const struct rig_request_outcome *outcome = &block->outcome[i];
            if (outcome->ended < from || outcome->ended >= to)
                continue;
            lost += !outcome->good;
            doubled += outcome->served > 1;
            resent += outcome->resent;
            if (!outcome->good || outcome->ended - outcome->time > limit)
                last = fmax(last, outcome->time - from);
        }
        const unsigned most = bli_max_concurrent(block, from, to);
        bli_block_record(block, lost, "fault%zu.lost", f);
        bli_block_record(block, doubled, "fault%zu.doubled", f);
        bli_block_record(block, resent, "fault%zu.resent", f);
        bli_block_record(block, last, "fault%zu.recovery", f);
        bli_block_record(block, p99_between(block, from, to), "fault%zu.p99", f);
        if (block->rig->stations)
            bli_block_record(block, most > slots ? most - slots : 0, "fault%zu.exceeded", f);
    }
}
