/* Sorting jobs by time, those of equal time in the order in which they came: in memory, and runs that lie in
 * a file. */
#ifndef WORKLOAD_TRACE_SORT_H
#define WORKLOAD_TRACE_SORT_H

#include "workload/spool.h"

#include <stddef.h>
#include <stdint.h>

/* A job as it lies in the file, in the byte order of the machine. */
struct bal_trace_record {
    int64_t time;
    int64_t size, ahead;
    uint32_t drawn;
    uint32_t server : 23, kind : 5, high : 1, aborted : 1, left_out : 1, spread : 1;
};

/* Ordered records in a file, from one place on. */
struct bal_trace_run {
    uint64_t start, count; /* in records */
};

/* Stable. scratch has room for (count + 1) / 2. O(n log n), and nearly O(n) where records are almost in
 * order. */
void bal_trace_sort(struct bal_trace_record *records, size_t count, struct bal_trace_record *scratch);

/* How many runs are merged at once; what that takes is 16 MB of buffers, however long they are. */
enum { BAL_TRACE_FAN = 64 };

/* Merges up to BAL_TRACE_FAN runs of *from into one, which is appended to *to. Of equal times those of an
 * earlier run come first. */
enum bal_code bal_trace_merge(const struct bal_spool *from, const struct bal_trace_run *runs, size_t count,
                              struct bal_spool *to, const volatile int *stop, struct bal_error *err);

#endif
