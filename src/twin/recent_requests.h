/* SPDX-License-Identifier: BSD-2-Clause */
/* The last requests of a fleet, up to a fixed capacity, in the order in which they ended. */
#ifndef TWIN_RECENT_REQUESTS_H
#define TWIN_RECENT_REQUESTS_H

#include "ballast/trace.h"

struct bli_recent_requests {
    struct bli_trace_job *job; /* a ring of `room`, the first one at `first`; sizes are times at servers, as
                                * in bli_recover_take() */
    size_t room, first, count;
    int64_t latest;   /* when the last of them ended, in nanoseconds as job times */
    int64_t begins;   /* all that ended after this are here; INT64_MIN: nothing is known to be missing */
    uint64_t taken;   /* in all */
    uint64_t stepped; /* how often the clock of the log was set back */
    unsigned behind;  /* jobs in a row that ended long before the latest */
};

enum bal_code bli_recent_init(struct bli_recent_requests *window, size_t room, struct bal_error *err);
void bli_recent_fini(struct bli_recent_requests *window); /* all zero bytes are allowed */

/* The clock of the log may be set: when many jobs in a row end long before the latest one, jobs that end
 * later are removed, because they now lie in the future. */
void bli_recent_add(struct bli_recent_requests *window, const struct bli_trace_job *job);

/* Records that some requests that ended before all of these are missing. */
void bli_recent_miss(struct bli_recent_requests *window);

/* Removes all requests. */
void bli_recent_forget(struct bli_recent_requests *window);

/* When a job arrived, and how long it was there, in nanoseconds. */
static inline int64_t bli_recent_arrival(const struct bli_trace_job *job) {
    return job->time - job->ahead;
}
static inline int64_t bli_recent_response(const struct bli_trace_job *job) {
    return job->ahead + job->size;
}

/* The part of the time that is looked at. */
struct bli_view {
    int64_t from, to;   /* arrivals, `to` not included */
    int64_t unfinished; /* so long before the end some requests have not ended; that time is not used */
    bool shortened;     /* the capacity is too small for all of it */
    uint64_t jobs;      /* that arrived in it and are looked at */
};

/* The last `length` nanoseconds before `now`, but for those in which many requests have not ended yet. */
struct bli_view bli_recent_view(const struct bli_recent_requests *window, int64_t now, int64_t length);

/* Adds to the trace what arrived then, and, left out, what was at servers shortly before. */
enum bal_code bli_recent_copy(const struct bli_recent_requests *window, const struct bli_view *view,
                              struct bli_trace *trace, struct bal_error *err);

#endif
