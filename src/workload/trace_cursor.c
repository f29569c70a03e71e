/* Reading a trace. Its records are in order as their times were drawn at first. Where these are drawn anew,
 * by less than a step from the same beginning, jobs wait in a heap until none that comes later can be before
 * them. */
#include "workload/trace_private.h"

#include <assert.h>
#include <stdlib.h>

enum { CURSOR = 4096 }; /* jobs read at once */

/* A job whose time is drawn; of equal times the one that was added first comes first. */
struct waiting {
    struct bal_trace_record record;
    uint64_t number;
};

struct bal_trace_cursor {
    const struct bal_trace *trace;
    uint64_t read; /* jobs taken from the file */
    size_t at, filled;
    /* where times are drawn anew */
    bool redraw;
    struct bal_rng rng;
    struct waiting *heap; /* NULL until the first one */
    size_t waiting, room;
    uint64_t number;
    struct bal_trace_record record[CURSOR];
};

enum bal_code bal_trace_cursor_new(const struct bal_trace *trace, struct bal_trace_cursor **cursor,
                                   struct bal_error *err) {
    assert(trace->finished);
    struct bal_trace_cursor *c = malloc(sizeof *c);
    *cursor = c;
    if (!c)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to read a trace");
    c->trace = trace;
    c->read = c->number = 0;
    c->at = c->filled = 0;
    c->redraw = false;
    c->heap = NULL;
    c->waiting = c->room = 0;
    return BAL_OK;
}

void bal_trace_cursor_free(struct bal_trace_cursor *cursor) {
    if (!cursor)
        return;
    free(cursor->heap);
    free(cursor);
}

void bal_trace_cursor_redraw(struct bal_trace_cursor *cursor, const struct bal_rng *rng) {
    assert(cursor->read == 0);
    cursor->redraw = cursor->trace->info.spread > 0;
    cursor->rng = *rng;
}

static enum bal_code refill(struct bal_trace_cursor *cursor, struct bal_error *err) {
    const uint64_t left = cursor->trace->info.jobs - cursor->read;
    const size_t count = left < CURSOR ? (size_t)left : CURSOR;
    const enum bal_code code = bal_spool_read(&cursor->trace->spool, cursor->read * sizeof *cursor->record,
                                              cursor->record, count * sizeof *cursor->record, err);
    if (code)
        return code;
    cursor->read += count;
    cursor->at = 0;
    cursor->filled = count;
    return BAL_OK;
}

static struct bal_trace_job job_of(const struct bal_trace_record *record) {
    return (struct bal_trace_job){.time = record->time,
                                  .size = record->size,
                                  .high = record->high,
                                  .aborted = record->aborted,
                                  .left_out = record->left_out,
                                  .spread = record->spread,
                                  .kind = record->kind,
                                  .server = record->server,
                                  .drawn = record->drawn,
                                  .ahead = record->ahead};
}

/* ---- jobs whose time is drawn anew ---- */

static bool comes_before(const struct waiting *a, const struct waiting *b) {
    return a->record.time != b->record.time ? a->record.time < b->record.time : a->number < b->number;
}

static enum bal_code push(struct bal_trace_cursor *cursor, const struct bal_trace_record *record,
                          struct bal_error *err) {
    if (cursor->waiting == cursor->room) {
        const size_t room = cursor->room ? 2 * cursor->room : 256;
        struct waiting *heap = realloc(cursor->heap, room * sizeof *heap);
        if (!heap)
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for the jobs of a second");
        cursor->heap = heap;
        cursor->room = room;
    }
    const struct waiting added = {*record, cursor->number++};
    size_t at = cursor->waiting++;
    for (; at > 0 && comes_before(&added, &cursor->heap[(at - 1) / 2]); at = (at - 1) / 2)
        cursor->heap[at] = cursor->heap[(at - 1) / 2];
    cursor->heap[at] = added;
    return BAL_OK;
}

static struct bal_trace_job pop(struct bal_trace_cursor *cursor) {
    const struct bal_trace_job first = job_of(&cursor->heap[0].record);
    const struct waiting moved = cursor->heap[--cursor->waiting];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < cursor->waiting; at = child) {
        if (child + 1 < cursor->waiting && comes_before(&cursor->heap[child + 1], &cursor->heap[child]))
            child++;
        if (comes_before(&moved, &cursor->heap[child]))
            break;
        cursor->heap[at] = cursor->heap[child];
    }
    if (cursor->waiting > 0)
        cursor->heap[at] = moved;
    return first;
}

static struct bal_trace_record draw(struct bal_trace_cursor *cursor, const struct bal_trace_record *record) {
    struct bal_trace_record drawn = *record;
    if (!record->spread)
        return drawn;
    drawn.drawn = bal_rng_below(&cursor->rng, BAL_TRACE_STEP);
    drawn.time += (int64_t)drawn.drawn - (int64_t)record->drawn;
    return drawn;
}

/* Takes records until none that is left can come before the first that waits. */
static enum bal_code next_drawn(struct bal_trace_cursor *cursor, struct bal_trace_job *job,
                                struct bal_error *err) {
    for (;;) {
        if (cursor->at == cursor->filled) {
            const enum bal_code code = refill(cursor, err);
            if (code)
                return code;
        }
        const bool end = cursor->filled == 0;
        const struct bal_trace_record *record = &cursor->record[cursor->at];
        if (cursor->waiting > 0 && (end || cursor->heap[0].record.time <= record->time - BAL_TRACE_STEP)) {
            *job = pop(cursor);
            return BAL_OK;
        }
        if (end) {
            *job = (struct bal_trace_job){.time = cursor->trace->info.last};
            return BAL_OK;
        }
        const struct bal_trace_record drawn = draw(cursor, record);
        const enum bal_code code = push(cursor, &drawn, err);
        if (code)
            return code;
        cursor->at++;
    }
}

enum bal_code bal_trace_next(struct bal_trace_cursor *cursor, struct bal_trace_job *job,
                             struct bal_error *err) {
    if (cursor->redraw)
        return next_drawn(cursor, job, err);
    if (cursor->at == cursor->filled) {
        const enum bal_code code = refill(cursor, err);
        if (code)
            return code;
        if (cursor->filled == 0) {
            *job = (struct bal_trace_job){.time = cursor->trace->info.last};
            return BAL_OK;
        }
    }
    *job = job_of(&cursor->record[cursor->at++]);
    return BAL_OK;
}
