/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs of a trace as they lie in its file: in order, in blocks of some hundreds, of which each has its values
 * column by column in as few bytes as its largest needs. A job takes about half of what it takes in memory.
 */
#ifndef WORKLOAD_TRACE_BLOCK_H
#define WORKLOAD_TRACE_BLOCK_H

#include "ballast/trace.h"
#include "workload/spool.h"

struct bli_trace_record {
    int64_t time, size, ahead;
    uint32_t drawn;
    uint32_t marks; /* the rest: high, aborted, left_out, spread, kind, server, from the lowest bit on */
    uint32_t request;
};

static inline struct bli_trace_record bli_trace_record_of(const struct bli_trace_job *job) {
    return (struct bli_trace_record){.time = job->time,
                                     .size = job->size,
                                     .ahead = job->ahead,
                                     .drawn = job->drawn,
                                     .request = job->request,
                                     .marks = (uint32_t)job->high | (uint32_t)job->aborted << 1 |
                                              (uint32_t)job->left_out << 2 | (uint32_t)job->spread << 3 |
                                              (uint32_t)job->kind << 4 | job->server << 9};
}

static inline bool bli_trace_record_is_spread(const struct bli_trace_record *record) {
    return record->marks >> 3 & 1;
}

static inline struct bli_trace_job bli_trace_job_of(const struct bli_trace_record *record) {
    return (struct bli_trace_job){.time = record->time,
                                  .size = record->size,
                                  .high = record->marks & 1,
                                  .aborted = record->marks >> 1 & 1,
                                  .left_out = record->marks >> 2 & 1,
                                  .spread = bli_trace_record_is_spread(record),
                                  .kind = record->marks >> 4 & (BLI_TRACE_KINDS - 1),
                                  .server = record->marks >> 9,
                                  .drawn = record->drawn,
                                  .ahead = record->ahead,
                                  .request = record->request};
}

/* Ordered records in a file. */
struct bli_trace_run {
    uint64_t start, end; /* bytes */
    uint64_t count;
};

/* Appends records, which come behind those of the run, to the file and to the run, which ends there. */
enum bal_code bli_trace_run_append(struct bli_trace_run *run, struct bli_spool *to,
                                   const struct bli_trace_record *records, size_t count,
                                   struct bal_error *err);

enum { BLI_TRACE_BLOCK = 1024 }; /* records of a block, at most */

/* Reads a run from its beginning to its end. */
struct bli_trace_reader {
    const struct bli_spool *from;
    uint64_t next, end; /* bytes that are still in the file */
    size_t at, filled;
    unsigned char bytes[1 << 17];
};

void bli_trace_reader_init(struct bli_trace_reader *reader, const struct bli_spool *from,
                           const struct bli_trace_run *run);
/* The next block; the array must hold a whole one. At the end *count is 0. */
enum bal_code bli_trace_reader_next(struct bli_trace_reader *reader, struct bli_trace_record *records,
                                    size_t *count, struct bal_error *err);

#endif
