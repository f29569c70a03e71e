/* SPDX-License-Identifier: BSD-2-Clause */
/* How fast a server works, by the number of jobs in service: the total rate of its work, which the jobs share
 * equally, in units of its speed. Processor sharing is cores(1); K slots, each at full speed, are cores(K)
 * with K slots. */
#ifndef BALLAST_SPEEDS_H
#define BALLAST_SPEEDS_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bli_speeds_kind {
    BLI_SPEEDS_SLOTS, /* none are given: each slot of a server works at full speed */
    BLI_SPEEDS_CORES, /* as fast as there are jobs, up to a number of cores */
    BLI_SPEEDS_BATCH, /* jobs are worked on together, up to `most`; each further one slows all of them down */
    BLI_SPEEDS_TABLE, /* points, with straight lines from 0 at no job between them; constant behind the last
                       */
};

enum { BLI_SPEEDS_POINTS = 32, BLI_SPEEDS_JOBS_MAX = 100000 };

struct bli_speeds {
    enum bli_speeds_kind kind;
    double cores;
    uint32_t most;   /* of a batch */
    double slowdown; /* of a batch: k jobs together take 1 + slowdown (k - 1) times as long as one */
    unsigned points;
    uint32_t jobs[BLI_SPEEDS_POINTS]; /* ascending */
    double rate[BLI_SPEEDS_POINTS];   /* above 0 */
};

/* Reads "none", "cores(4)", "batch(8,0.15)" or "table(1:1 2:1.8 8:4.5)". On failure *speeds is untouched. */
enum bal_code bli_speeds_parse(const char *text, struct bli_speeds *speeds, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_speeds_print(const struct bli_speeds *speeds, char *text, size_t size);

static inline bool bli_speeds_given(const struct bli_speeds *speeds) {
    return speeds->kind != BLI_SPEEDS_SLOTS;
}

/* The total rate with k jobs in service, k from 1 on. */
double bli_speeds_rate(const struct bli_speeds *speeds, double k);
/* From so many jobs on it does not change. */
uint32_t bli_speeds_last(const struct bli_speeds *speeds);
/* The largest rate with at most `slots` jobs in service; 0: as many as there are. */
double bli_speeds_top(const struct bli_speeds *speeds, uint32_t slots);

#ifdef __cplusplus
}
#endif
#endif
