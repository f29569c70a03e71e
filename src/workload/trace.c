/* SPDX-License-Identifier: BSD-2-Clause */
/* Jobs go through a window in memory. When it is full it is sorted and its earlier half is written, so a job
 * that comes up to half a window late, which is all that ever happens in a log of requests written as they
 * end, still finds its place, and the file comes out in order. Where that fails a new run is begun, and
 * finishing merges the runs. */
#include "ballast/trace.h"

#include "workload/trace_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 20 }; /* jobs: 32 MB, and 16 MB to sort them */

#define NANOSECONDS 1e9

enum bal_code bli_trace_new_small(const char *directory, size_t window, struct bli_trace **trace,
                                  struct bal_error *err) {
    assert(window >= 2);
    struct bli_trace *t = *trace = calloc(1, sizeof *t);
    if (!t)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a trace");
    enum bal_code code = bli_spool_open(&t->spool, directory, err);
    t->window = window;
    t->ordered = true;
    t->record = malloc(window * sizeof *t->record);
    t->scratch = malloc((window + 1) / 2 * sizeof *t->scratch);
    if (!code && (!t->record || !t->scratch))
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for a trace");
    if (code) {
        bli_trace_free(t);
        *trace = NULL;
    }
    return code;
}

enum bal_code bli_trace_new(const char *directory, struct bli_trace **trace, struct bal_error *err) {
    return bli_trace_new_small(directory, WINDOW, trace, err);
}

/* Memory that is needed only while jobs are added. */
static void free_window(struct bli_trace *trace) {
    free(trace->record);
    free(trace->scratch);
    trace->record = trace->scratch = NULL;
}

void bli_trace_free(struct bli_trace *trace) {
    if (!trace)
        return;
    free_window(trace);
    free(trace->run);
    bli_spool_close(&trace->spool);
    free(trace);
}

static enum bal_code add_run(struct bli_trace *trace, struct bal_error *err) {
    if (trace->runs == trace->runs_room) {
        const size_t room = trace->runs_room ? 2 * trace->runs_room : 16;
        struct bli_trace_run *run = realloc(trace->run, room * sizeof *run);
        if (!run)
            return bal_fail(err, BAL_E_MEMORY, "not enough memory to sort a trace");
        trace->run = run;
        trace->runs_room = room;
    }
    const uint64_t start = trace->spool.length;
    trace->run[trace->runs++] = (struct bli_trace_run){.start = start, .end = start};
    return BAL_OK;
}

/* Writes the first jobs of the window, which is in order, and closes up. */
static enum bal_code write_first(struct bli_trace *trace, size_t count, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    if (trace->runs == 0 || trace->record[0].time < trace->written_last)
        code = add_run(trace, err);
    if (!code)
        code = bli_trace_run_append(&trace->run[trace->runs - 1], &trace->spool, trace->record, count, err);
    if (code)
        return code;
    trace->written_last = trace->record[count - 1].time;
    trace->held -= count;
    memmove(trace->record, trace->record + count, trace->held * sizeof *trace->record);
    return BAL_OK;
}

static void sort_window(struct bli_trace *trace) {
    if (!trace->ordered)
        bli_trace_sort(trace->record, trace->held, trace->scratch);
    trace->ordered = true;
}

static void update_info(struct bli_trace_info *info, const struct bli_trace_job *job) {
    const double size = (double)job->size / NANOSECONDS;
    const int64_t first = job->time - job->drawn;
    const int64_t last = job->spread ? first + (BLI_TRACE_STEP - 1) : first;
    if (info->jobs++ == 0) {
        info->first = first;
        info->last = last;
    }
    info->high += job->high;
    info->kind[job->kind]++;
    info->spread += job->spread;
    info->unserved += job->server == 0;
    info->moved += job->ahead != 0 || job->left_out;
    info->servers = job->server > info->servers ? job->server : info->servers;
    info->unordered += last < info->last;
    info->first = first < info->first ? first : info->first;
    info->last = last > info->last ? last : info->last;
    info->work += size;
    info->size_square += size * size; /* the sum, until the end */
    info->max_size = size > info->max_size ? size : info->max_size;
}

enum bal_code bli_trace_add(struct bli_trace *trace, const struct bli_trace_job *job, struct bal_error *err) {
    assert(!trace->finished);
    if (job->size <= 0)
        return bal_fail(err, BAL_E_RANGE, "a job of size %lld; sizes are above 0", (long long)job->size);
    assert(job->kind < BLI_TRACE_KINDS && job->server <= BLI_TRACE_SERVERS &&
           job->drawn < (job->spread ? BLI_TRACE_STEP : 1));
    if (trace->held == trace->window) {
        sort_window(trace);
        const enum bal_code code = write_first(trace, trace->window / 2, err);
        if (code)
            return code;
    }
    if (trace->held > 0 && job->time < trace->record[trace->held - 1].time)
        trace->ordered = false;
    trace->record[trace->held++] = bli_trace_record_of(job);
    update_info(&trace->info, job);
    return BAL_OK;
}

/* Replaces the file by one with fewer runs. */
static enum bal_code merge_once(struct bli_trace *trace, const volatile int *stop, struct bal_error *err) {
    struct bli_spool merged;
    enum bal_code code = bli_spool_open(&merged, trace->spool.directory, err);
    if (code)
        return code;
    size_t made = 0;
    for (size_t i = 0; i < trace->runs; i += BLI_TRACE_FAN) {
        const size_t count = trace->runs - i < BLI_TRACE_FAN ? trace->runs - i : BLI_TRACE_FAN;
        struct bli_trace_run run;
        if ((code = bli_trace_merge(&trace->spool, trace->run + i, count, &merged, &run, stop, err)))
            goto out;
        trace->run[made++] = run;
    }
    trace->runs = made;
    const struct bli_spool before = trace->spool;
    trace->spool = merged;
    merged = before;
out:
    bli_spool_close(&merged);
    return code;
}

enum bal_code bli_trace_finish(struct bli_trace *trace, const volatile int *stop, struct bal_error *err) {
    assert(!trace->finished);
    struct bli_trace_info *info = &trace->info;
    if (info->jobs == 0)
        return bal_fail(err, BAL_E_MODEL, "the trace has no jobs");
    sort_window(trace);
    enum bal_code code = write_first(trace, trace->held, err);
    while (!code && trace->runs > 1)
        code = merge_once(trace, stop, err);
    if (code)
        return code;
    free_window(trace);
    const double jobs = (double)info->jobs;
    info->span = (double)((uint64_t)info->last - (uint64_t)info->first) / NANOSECONDS;
    info->size_mean = info->work / jobs;
    info->size_square /= jobs;
    trace->finished = true;
    return BAL_OK;
}

const struct bli_trace_info *bli_trace_info(const struct bli_trace *trace) {
    assert(trace->finished);
    return &trace->info;
}
