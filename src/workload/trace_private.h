/* SPDX-License-Identifier: BSD-2-Clause */
/* What trace.c and trace_cursor.c share; and, for tests, a trace that holds few jobs in memory, so that a
 * short one is sorted like a long one. */
#ifndef WORKLOAD_TRACE_PRIVATE_H
#define WORKLOAD_TRACE_PRIVATE_H

#include "ballast/trace.h"
#include "workload/trace_sort.h"

struct bli_trace {
    struct bli_spool spool;
    struct bli_trace_info info;
    bool finished;

    size_t window, held; /* jobs in memory: at most, and now */
    struct bli_trace_record *record, *scratch;
    bool ordered; /* those in memory are */

    struct bli_trace_run *run; /* what is in the file; one in the end */
    size_t runs, runs_room;
    int64_t written_last; /* the time of the last record of the last run */
};

/* window: jobs held in memory, at least 2. */
enum bal_code bli_trace_new_small(const char *directory, size_t window, struct bli_trace **trace,
                                  struct bal_error *err);

#endif
