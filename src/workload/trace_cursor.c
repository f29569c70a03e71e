/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading a trace. Its records are in order as their times were drawn at first. Where these are drawn again,
 * by less than a step from the same beginning, those at hand are sorted again, and a job is handed out when
 * none that comes later can be before it. */
#include "workload/trace_private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct bli_trace_cursor {
    const struct bli_trace *trace;
    struct bli_trace_reader reader;
    bool ended; /* nothing is left in the file */
    /* The jobs at hand: those before `ready`, from `at` on, may be handed out. */
    struct bli_trace_record *record, *scratch;
    size_t at, ready, held, room;
    /* where times are drawn again */
    bool redraw;
    struct bal_rng rng;
};

/* Allocates for so many records, and to sort them. */
static enum bal_code make_room(struct bli_trace_cursor *cursor, size_t room, struct bal_error *err) {
    if (room <= cursor->room)
        return BAL_OK;
    struct bli_trace_record *record = realloc(cursor->record, room * sizeof *record);
    if (record)
        cursor->record = record;
    struct bli_trace_record *scratch = realloc(cursor->scratch, room * sizeof *scratch);
    if (scratch)
        cursor->scratch = scratch;
    if (!record || !scratch)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to read a trace");
    cursor->room = room;
    return BAL_OK;
}

enum bal_code bli_trace_cursor_new(const struct bli_trace *trace, struct bli_trace_cursor **cursor,
                                   struct bal_error *err) {
    assert(trace->finished);
    struct bli_trace_cursor *c = *cursor = malloc(sizeof *c);
    if (!c)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to read a trace");
    c->trace = trace;
    bli_trace_reader_init(&c->reader, &trace->spool, &trace->run[0]);
    c->ended = c->redraw = false;
    c->record = c->scratch = NULL;
    c->at = c->ready = c->held = c->room = 0;
    const enum bal_code code = make_room(c, BLI_TRACE_BLOCK, err);
    if (code) {
        bli_trace_cursor_free(c);
        *cursor = NULL;
    }
    return code;
}

void bli_trace_cursor_free(struct bli_trace_cursor *cursor) {
    if (!cursor)
        return;
    free(cursor->record);
    free(cursor->scratch);
    free(cursor);
}

void bli_trace_cursor_redraw(struct bli_trace_cursor *cursor, const struct bal_rng *rng) {
    assert(cursor->held == 0);
    cursor->redraw = cursor->trace->info.spread > 0;
    cursor->rng = *rng;
}

static void draw_arrival_time(struct bli_trace_cursor *cursor, struct bli_trace_record *record) {
    if (!bli_trace_record_is_spread(record))
        return;
    const uint32_t drawn = bal_rng_below(&cursor->rng, BLI_TRACE_STEP);
    record->time += (int64_t)drawn - (int64_t)record->drawn;
    record->drawn = drawn;
}

/* Reads as many records as wait, or a block: so each is moved a few times, however many there are to a step.
 * *latest is the time of the last one as it was drawn at first. */
static enum bal_code read_more(struct bli_trace_cursor *cursor, int64_t *latest, struct bal_error *err) {
    const size_t waiting = cursor->held - cursor->at;
    memmove(cursor->record, cursor->record + cursor->at, waiting * sizeof *cursor->record);
    cursor->at = 0;
    cursor->held = waiting;
    do {
        enum bal_code code = make_room(cursor, cursor->held + BLI_TRACE_BLOCK, err);
        size_t count = 0;
        if (!code)
            code = bli_trace_reader_next(&cursor->reader, cursor->record + cursor->held, &count, err);
        if (code)
            return code;
        cursor->held += count;
        cursor->ended = count == 0;
    } while (cursor->held < 2 * waiting && !cursor->ended);
    *latest = cursor->held > waiting ? cursor->record[cursor->held - 1].time : INT64_MAX;
    for (size_t i = waiting; i < cursor->held && cursor->redraw; i++)
        draw_arrival_time(cursor, &cursor->record[i]);
    return BAL_OK;
}

/* Those that wait come before the new ones, so that of equal times the one that was added first stays first.
 */
static enum bal_code hold_in_order(struct bli_trace_cursor *cursor, struct bal_error *err) {
    int64_t latest;
    const enum bal_code code = read_more(cursor, &latest, err);
    cursor->ready = cursor->held;
    if (code || !cursor->redraw)
        return code;
    bli_trace_sort_even(cursor->record, cursor->held, cursor->scratch);
    struct bli_trace_record *sorted = cursor->scratch;
    cursor->scratch = cursor->record;
    cursor->record = sorted;
    if (!cursor->ended)
        cursor->ready = bli_trace_count_until(cursor->record, cursor->held, latest - BLI_TRACE_STEP);
    return BAL_OK;
}

/* Seldom called, and not to be in the way of the jobs in between. */
static __attribute__((noinline)) enum bal_code refill(struct bli_trace_cursor *cursor,
                                                      struct bal_error *err) {
    enum bal_code code = BAL_OK;
    while (cursor->at == cursor->ready && !cursor->ended && !code)
        code = hold_in_order(cursor, err);
    return code;
}

enum bal_code bli_trace_next(struct bli_trace_cursor *cursor, struct bli_trace_job *job,
                             struct bal_error *err) {
    if (cursor->at == cursor->ready) {
        const enum bal_code code = refill(cursor, err);
        if (code)
            return code;
        if (cursor->at == cursor->ready) {
            *job = (struct bli_trace_job){.time = cursor->trace->info.last};
            return BAL_OK;
        }
    }
    *job = bli_trace_job_of(&cursor->record[cursor->at++]);
    return BAL_OK;
}
