/* SPDX-License-Identifier: BSD-2-Clause */
/* Sorts jobs by time: a merge sort, a distribution sort, and a merge of runs that are in a file. */
#include "workload/trace_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 12,    /* records that are sorted by insertion */
    PLACES = 2048, /* among which records are dealt out by their time */
    CROWD = 32,    /* so many in one place are too many to be sorted by insertion */
    BLOCK = 8192,  /* records that are written at once */
    STRIDE = 65536 /* records between two looks at stop */
};

static void sort_short(struct bli_trace_record *records, size_t count) {
    for (size_t i = 1; i < count; i++) {
        const struct bli_trace_record record = records[i];
        size_t j = i;
        for (; j > 0 && records[j - 1].time > record.time; j--)
            records[j] = records[j - 1];
        records[j] = record;
    }
}

/* How many of the ordered records come before any other of that time (or_equal: or have it). */
static size_t count_below(const struct bli_trace_record *records, size_t count, int64_t time, bool or_equal) {
    size_t low = 0;
    while (count > 0) {
        const size_t half = count / 2;
        const int64_t middle = records[low + half].time;
        if (middle < time || (or_equal && middle == time)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

size_t bli_trace_count_until(const struct bli_trace_record *records, size_t count, int64_t time) {
    return count_below(records, count, time, true);
}

/* Two ordered halves become one. Only where they overlap is anything moved: in a log that is a sliver. */
static void merge_halves(struct bli_trace_record *records, size_t middle, size_t count,
                         struct bli_trace_record *scratch) {
    size_t out = count_below(records, middle, records[middle].time, true);
    if (out == middle)
        return;
    const size_t end =
        middle + count_below(records + middle, count - middle, records[middle - 1].time, false);
    const size_t left = middle - out;
    memcpy(scratch, records + out, left * sizeof *scratch);
    size_t i = 0, j = middle;
    while (i < left && j < end)
        records[out++] = records[j].time < scratch[i].time ? records[j++] : scratch[i++];
    memcpy(records + out, scratch + i, (left - i) * sizeof *scratch);
}

void bli_trace_sort(struct bli_trace_record *records, size_t count, struct bli_trace_record *scratch) {
    if (count <= SHORT) {
        sort_short(records, count);
        return;
    }
    const size_t middle = (count + 1) / 2;
    bli_trace_sort(records, middle, scratch);
    bli_trace_sort(records + middle, count - middle, scratch);
    merge_halves(records, middle, count, scratch);
}

static unsigned place_of(const struct bli_trace_record *record, int64_t first, double scale) {
    const unsigned place = (unsigned)((double)((uint64_t)record->time - (uint64_t)first) * scale);
    return place < PLACES ? place : PLACES - 1;
}

/* Deals them out to places in order of time, about one to each, so that none is far from where it belongs:
 * sorting by comparison spends most of its time on branches that the processor cannot predict. */
void bli_trace_sort_even(struct bli_trace_record *records, size_t count, struct bli_trace_record *to) {
    uint32_t until[PLACES] = {0}, most = 0;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        first = records[i].time < first ? records[i].time : first;
        last = records[i].time > last ? records[i].time : last;
    }
    const double scale = PLACES / ((double)((uint64_t)last - (uint64_t)first) + 1);
    for (size_t i = 0; i < count; i++)
        until[place_of(&records[i], first, scale)]++;
    for (uint32_t p = 0, before = 0; p < PLACES; p++) {
        const uint32_t here = until[p];
        most = here > most ? here : most;
        until[p] = before;
        before += here;
    }
    for (size_t i = 0; i < count; i++)
        to[until[place_of(&records[i], first, scale)]++] = records[i];
    if (most < CROWD)
        sort_short(to, count);
    else
        bli_trace_sort(to, count, records);
}

/* The part of a run that has been read and not yet merged. */
struct sorted_source {
    struct bli_trace_reader reader;
    struct bli_trace_record record[BLI_TRACE_BLOCK];
    size_t at, filled;
};

static enum bal_code refill_source(struct sorted_source *source, struct bal_error *err) {
    source->at = 0;
    return bli_trace_reader_next(&source->reader, source->record, &source->filled, err);
}

/* A heap of the sources by the time of their first record; of equal times the earlier run first. */
struct trace_merger {
    struct sorted_source *source;
    unsigned heap[BLI_TRACE_FAN];
    unsigned count;
};

static bool comes_before(const struct trace_merger *merger, unsigned a, unsigned b) {
    const struct sorted_source *x = &merger->source[a], *y = &merger->source[b];
    const int64_t s = x->record[x->at].time, t = y->record[y->at].time;
    return s != t ? s < t : a < b;
}

static void sift_down(struct trace_merger *merger, unsigned place) {
    const unsigned moved = merger->heap[place];
    for (;;) {
        unsigned child = 2 * place + 1;
        if (child >= merger->count)
            break;
        if (child + 1 < merger->count && comes_before(merger, merger->heap[child + 1], merger->heap[child]))
            child++;
        if (comes_before(merger, moved, merger->heap[child]))
            break;
        merger->heap[place] = merger->heap[child];
        place = child;
    }
    merger->heap[place] = moved;
}

static enum bal_code start_merge(struct trace_merger *merger, const struct bli_spool *from,
                                 const struct bli_trace_run *runs, size_t count, struct bal_error *err) {
    merger->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct sorted_source *source = &merger->source[i];
        bli_trace_reader_init(&source->reader, from, &runs[i]);
        const enum bal_code code = refill_source(source, err);
        if (code)
            return code;
        if (source->filled > 0)
            merger->heap[merger->count++] = (unsigned)i;
    }
    for (unsigned place = merger->count / 2; place-- > 0;)
        sift_down(merger, place);
    return BAL_OK;
}

/* Takes the earliest record off. */
static enum bal_code pop_earliest(struct trace_merger *merger, struct bli_trace_record *record,
                                  struct bal_error *err) {
    struct sorted_source *source = &merger->source[merger->heap[0]];
    *record = source->record[source->at++];
    if (source->at == source->filled) {
        const enum bal_code code = refill_source(source, err);
        if (code)
            return code;
        if (source->filled == 0)
            merger->heap[0] = merger->heap[--merger->count];
    }
    if (merger->count > 0)
        sift_down(merger, 0);
    return BAL_OK;
}

static enum bal_code merge_all(struct trace_merger *merger, struct bli_trace_record *out,
                               struct bli_spool *to, struct bli_trace_run *merged, const volatile int *stop,
                               struct bal_error *err) {
    enum bal_code code = BAL_OK;
    size_t filled = 0;
    for (uint64_t done = 0; merger->count > 0; done++) {
        if (done % STRIDE == 0 && stop && *stop)
            return bal_fail(err, BAL_E_STOPPED, "stopped before the end");
        if ((code = pop_earliest(merger, &out[filled++], err)))
            return code;
        if (filled == BLOCK) {
            if ((code = bli_trace_run_append(merged, to, out, filled, err)))
                return code;
            filled = 0;
        }
    }
    return bli_trace_run_append(merged, to, out, filled, err);
}

enum bal_code bli_trace_merge(const struct bli_spool *from, const struct bli_trace_run *runs, size_t count,
                              struct bli_spool *to, struct bli_trace_run *merged, const volatile int *stop,
                              struct bal_error *err) {
    struct trace_merger merger = {.source = malloc(count * sizeof *merger.source)};
    struct bli_trace_record *out = malloc(BLOCK * sizeof *out);
    *merged = (struct bli_trace_run){.start = to->length, .end = to->length};
    enum bal_code code = BAL_OK;
    if (!merger.source || !out)
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory to sort a trace");
    if (!code)
        code = start_merge(&merger, from, runs, count, err);
    if (!code)
        code = merge_all(&merger, out, to, merged, stop, err);
    free(merger.source);
    free(out);
    return code;
}
