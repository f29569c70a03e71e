/* SPDX-License-Identifier: BSD-2-Clause */
/* The times at which requests are to be sent. */
#ifndef LOAD_SCHEDULE_H
#define LOAD_SCHEDULE_H

#include "ballast/load.h"

struct load_request {
    double time; /* seconds from the start */
    uint64_t number;
    unsigned target, class_;
    double service;    /* microseconds; NaN: not given */
    uint32_t recorded; /* 1 + its place among the recorded requests; 0: it is none of them */
    bool resent;       /* its connection was closed, and it was sent once more */
};

struct schedule {
    const struct bli_load *load;
    struct bli_arrival_source source;
    struct bal_rng thinning, classes, sizes, targets;
    double weights; /* of all URLs; 0: they are alike */
    double per_max; /* 1 / the largest value of the curve */
    double now;     /* the last possible arrival */
    uint64_t number;
    struct bli_trace_cursor *cursor;
    double expected;    /* how long it will last, about */
    enum bal_code code; /* set where the trace could not be read to its end */
    struct bal_error *err;
};

enum bal_code bli_load_schedule_init(struct schedule *schedule, const struct bli_load *load,
                                     struct bal_error *err);
void bli_load_schedule_fini(struct schedule *schedule);

/* The next request; false after the last. */
bool bli_load_schedule_next(struct schedule *schedule, struct load_request *request);

#endif
