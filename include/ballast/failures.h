/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that fail and are repaired, each by itself: it is up for a time, then down for a time, and so on,
 * whether it has jobs or not. While it is down it does no work; jobs that wait there go on waiting. */
#ifndef BALLAST_FAILURES_H
#define BALLAST_FAILURES_H

#include "ballast/dist.h"
#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of the jobs that a server works on when it fails. */
enum bli_failed_jobs {
    BLI_JOBS_RESUME,  /* they go on where they were when the server is back */
    BLI_JOBS_RESTART, /* they begin again when the server is back */
    BLI_JOBS_LOST,    /* they are lost, and count as failed */
};

struct bli_failures {
    struct bli_dist up, down; /* up.mean 0: servers never fail */
    enum bli_failed_jobs jobs;
    bool unseen; /* the dispatcher does not learn of failures; otherwise it knows at once which servers may
                    not be chosen */
};

/* Reads "none" or "mtbf=1000,mttr=10", each a mean of exponential times or a distribution, and perhaps
 * jobs=resume (the default), restart or lost, and seen=yes (the default) or no. On failure *failures is
 * untouched. */
enum bal_code bli_failures_parse(const char *text, struct bli_failures *failures, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bli_failures_print(const struct bli_failures *failures, char *text, size_t size);

static inline bool bli_failures_happen(const struct bli_failures *failures) {
    return failures->up.mean > 0;
}

/* The part of its time that a server is up; 1 if it never fails. */
static inline double bli_failures_availability(const struct bli_failures *failures) {
    return bli_failures_happen(failures) ? failures->up.mean / (failures->up.mean + failures->down.mean) : 1;
}

#ifdef __cplusplus
}
#endif
#endif
