/* The last requests of a fleet, as many as there is room for, in the order in which they ended. */
#ifndef TWIN_WINDOW_H
#define TWIN_WINDOW_H

#include "ballast/trace.h"

struct bal_window {
    struct bal_trace_job *job; /* a ring of `room`, the first one at `first`; sizes are times at servers, as
                                * in bal_recover_take() */
    size_t room, first, count;
    int64_t latest;   /* when the last of them ended, in nanoseconds as job times */
    int64_t begins;   /* all that ended later are here; INT64_MIN: nothing is known to be missing */
    uint64_t taken;   /* in all */
    uint64_t stepped; /* how often the clock of the log was set back */
    unsigned behind;  /* jobs in a row that ended long before the latest */
};

enum bal_code bal_window_init(struct bal_window *window, size_t room, struct bal_error *err);
void bal_window_fini(struct bal_window *window); /* all zero bytes are allowed */

/* The clock of the log may be set: when many jobs in a row end long before the latest one, those that end
 * later are forgotten, as they lie in what is now the future. */
void bal_window_add(struct bal_window *window, const struct bal_trace_job *job);

/* Some that ended before all of these are not here. */
void bal_window_miss(struct bal_window *window);

/* What was here does not count any longer. */
void bal_window_forget(struct bal_window *window);

/* When a job arrived, and how long it was there, in nanoseconds. */
static inline int64_t bal_window_arrival(const struct bal_trace_job *job) {
    return job->time - job->ahead;
}
static inline int64_t bal_window_response(const struct bal_trace_job *job) {
    return job->ahead + job->size;
}

/* The part of the time that is looked at. */
struct bal_view {
    int64_t from, to;   /* arrivals, `to` not included */
    int64_t unfinished; /* so long before the end some requests have not ended, and none is looked at */
    bool shortened;     /* there is no room for all of it */
    uint64_t jobs;      /* that arrived in it and are looked at */
};

/* The last `length` nanoseconds before `now`, but for those in which many requests have not ended yet. */
struct bal_view bal_window_view(const struct bal_window *window, int64_t now, int64_t length);

/* Adds to the trace what arrived then, and, left out, what was at servers shortly before. */
enum bal_code bal_window_copy(const struct bal_window *window, const struct bal_view *view,
                              struct bal_trace *trace, struct bal_error *err);

#endif
