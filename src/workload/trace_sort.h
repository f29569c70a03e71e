/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorting jobs by time, those of equal time in the order in which they came: in memory, and runs that lie in
 * a file. */
#ifndef WORKLOAD_TRACE_SORT_H
#define WORKLOAD_TRACE_SORT_H

#include "workload/trace_block.h"

/* Stable. scratch is an array of (count + 1) / 2. O(n log n), and nearly O(n) where records are almost in
 * order. */
void bli_trace_sort(struct bli_trace_record *records, size_t count, struct bli_trace_record *scratch);

/* Sorts records whose times are spread about evenly, as drawn ones are, into *to, which must hold all of
 * them; stable, too. Nearly O(n), and O(n log n) at worst. The records are lost. */
void bli_trace_sort_even(struct bli_trace_record *records, size_t count, struct bli_trace_record *to);

/* How many of the ordered records are of that time or an earlier one. */
size_t bli_trace_count_until(const struct bli_trace_record *records, size_t count, int64_t time);

/* How many runs are merged at once; what that takes is 10 MB of buffers, however long they are. */
enum { BLI_TRACE_FAN = 64 };

/* Merges up to BLI_TRACE_FAN runs of *from into one, *merged, which is appended to *to. Of equal times those
 * of an earlier run come first. */
enum bal_code bli_trace_merge(const struct bli_spool *from, const struct bli_trace_run *runs, size_t count,
                              struct bli_spool *to, struct bli_trace_run *merged, const volatile int *stop,
                              struct bal_error *err);

#endif
