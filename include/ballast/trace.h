/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces: jobs as they were recorded, each with its time of arrival and its size, to be replayed.
 *
 * A trace of any length takes a bounded amount of memory: its jobs lie in a temporary file without a name,
 * about 15 bytes each, which is gone when the trace is freed or the program ends. Jobs may be added in any
 * order; bli_trace_finish() sorts them by time (those of equal time stay in the order in which they were
 * added). After that the trace is read only, and any number of threads may read it, each with a cursor of its
 * own.
 *
 * Where a log has whole seconds, the time of a job within its second is drawn. The trace keeps what was
 * drawn, so that a cursor can draw it again: differences between replays then show what depends on the
 * draw. */
#ifndef BALLAST_TRACE_H
#define BALLAST_TRACE_H

#include "ballast/error.h"
#include "ballast/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bli_trace_job {
    int64_t time; /* of arrival, in nanoseconds since 1970-01-01 00:00 UTC or any other moment */
    int64_t size; /* nanoseconds of service at a server of speed 1, > 0 */
    bool high;    /* is it of the high class? */
    /* As the record says; all of it may be left 0. */
    bool aborted;    /* its end was not waited for: the client had left, or the proxy had given up */
    bool left_out;   /* it occupied its server, but is not one of the measured jobs */
    bool spread;     /* the log has only the second, and `drawn` of the time was drawn */
    uint8_t kind;    /* its kind of job, below BLI_TRACE_KINDS */
    uint32_t server; /* who served it, counted from 1, up to BLI_TRACE_SERVERS; 0: not known */
    uint32_t drawn;  /* nanoseconds, below BLI_TRACE_STEP; 0 where nothing is spread */
    int64_t ahead; /* nanoseconds that it had been elsewhere before `time`, waiting at a proxy for example */
    uint32_t request; /* a number of the caller's, which is kept: what was asked for, or 0 */
};

enum { BLI_TRACE_KINDS = 32, BLI_TRACE_SERVERS = (1 << 23) - 1, BLI_TRACE_STEP = 1000000000 };

/* Known when a trace is finished. Means are of seconds. */
struct bli_trace_info {
    uint64_t jobs;
    uint64_t high;      /* of these, of the high class */
    uint64_t unordered; /* jobs that were added after a later one */
    uint64_t spread;    /* jobs whose time within the second was drawn */
    uint64_t unserved;  /* jobs of which it is not known who served them */
    uint64_t moved;     /* jobs that had been elsewhere before, or are left out */
    uint32_t servers;   /* the largest number of a server */
    uint64_t kind[BLI_TRACE_KINDS];
    int64_t first, last; /* times of arrival; the first and last possible ones where they are drawn */
    double span;         /* seconds from the first arrival to the last */
    double work;         /* sum of all sizes, in seconds */
    double size_mean;
    double size_square; /* mean of the squared size */
    double max_size;
};

struct bli_trace;

/* directory: where the temporary file goes; NULL: $TMPDIR, or /tmp. */
enum bal_code bli_trace_new(const char *directory, struct bli_trace **trace, struct bal_error *err);
void bli_trace_free(struct bli_trace *trace); /* NULL is allowed */

enum bal_code bli_trace_add(struct bli_trace *trace, const struct bli_trace_job *job, struct bal_error *err);
/* Sorts. BAL_E_MODEL when there is no job. stop: when set and not 0, ends early with BAL_E_STOPPED; may be
 * NULL. */
enum bal_code bli_trace_finish(struct bli_trace *trace, const volatile int *stop, struct bal_error *err);
const struct bli_trace_info *bli_trace_info(const struct bli_trace *trace);

/* Reads the jobs of a finished trace in order of time. */
struct bli_trace_cursor;
enum bal_code bli_trace_cursor_new(const struct bli_trace *trace, struct bli_trace_cursor **cursor,
                                   struct bal_error *err);
void bli_trace_cursor_free(struct bli_trace_cursor *cursor); /* NULL is allowed */
/* From the first job on, draws again what was drawn, from the given stream. Has no effect where no time was
 * drawn. */
void bli_trace_cursor_redraw(struct bli_trace_cursor *cursor, const struct bal_rng *rng);
/* The next job; at the end BAL_OK and a job of size 0. Costs a few nanoseconds but for one read in thousands;
 * where times are drawn again, about a hundred. */
enum bal_code bli_trace_next(struct bli_trace_cursor *cursor, struct bli_trace_job *job,
                             struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
