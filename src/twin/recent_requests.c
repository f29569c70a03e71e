/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the last requests of a fleet in the order in which they ended. */
#include "twin/recent_requests.h"

#include <stdlib.h>

enum {
    BEHIND_MANY = 20, /* so many jobs in a row behind the latest: the clock was set back */
    LEAD_MIN = 10,    /* seconds before the view, at least: jobs from then on may still be at servers */
};
static const int64_t second = 1000000000;
static const int64_t slack = 10 * second; /* lines are written in the order of their ends, more or less */

enum bal_code bli_recent_init(struct bli_recent_requests *window, size_t room, struct bal_error *err) {
    *window = (struct bli_recent_requests){.room = room, .latest = INT64_MIN, .begins = INT64_MIN};
    window->job = malloc(room * sizeof *window->job);
    return window->job ? BAL_OK : bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu requests", room);
}

void bli_recent_fini(struct bli_recent_requests *window) {
    free(window->job);
    *window = (struct bli_recent_requests){0};
}

static struct bli_trace_job *job_at(const struct bli_recent_requests *window, size_t i) {
    const size_t at = window->first + i;
    return &window->job[at < window->room ? at : at - window->room];
}

static int64_t end_of(const struct bli_trace_job *job) {
    return job->time + job->size;
}

/* Forgets what ended after that, the limit of what lines may be late by. */
static void drop_after(struct bli_recent_requests *window, int64_t limit) {
    size_t kept = 0;
    window->latest = INT64_MIN;
    for (size_t i = 0; i < window->count; i++) {
        const struct bli_trace_job job = *job_at(window, i);
        if (end_of(&job) > limit)
            continue;
        *job_at(window, kept++) = job;
        window->latest = end_of(&job) > window->latest ? end_of(&job) : window->latest;
    }
    window->count = kept;
    window->begins = window->begins > limit ? INT64_MIN : window->begins;
    window->stepped++;
}

void bli_recent_add(struct bli_recent_requests *window, const struct bli_trace_job *job) {
    const int64_t end = end_of(job);
    window->taken++;
    window->behind = window->count > 0 && end < window->latest - slack ? window->behind + 1 : 0;
    if (window->behind == BEHIND_MANY) {
        drop_after(window, end + slack);
        window->behind = 0;
    }
    if (window->count == window->room) {
        const int64_t gone = end_of(job_at(window, 0));
        window->begins = gone > window->begins ? gone : window->begins;
        window->first = window->first + 1 < window->room ? window->first + 1 : 0;
        window->count--;
    }
    *job_at(window, window->count++) = *job;
    window->latest = end > window->latest ? end : window->latest;
}

void bli_recent_miss(struct bli_recent_requests *window) {
    if (window->count > 0)
        window->begins = end_of(job_at(window, 0));
}

void bli_recent_forget(struct bli_recent_requests *window) {
    window->count = window->first = 0;
    window->begins = window->latest;
}

/* ---- views ---- */

static int64_t longest_from(const struct bli_recent_requests *window, int64_t from, int64_t to) {
    int64_t longest = 0;
    for (size_t i = 0; i < window->count; i++) {
        const struct bli_trace_job *job = job_at(window, i);
        const int64_t arrival = bli_recent_arrival(job), took = bli_recent_response(job);
        if (!job->left_out && arrival >= from && arrival < to && took > longest)
            longest = took;
    }
    return longest;
}

struct bli_view bli_recent_view(const struct bli_recent_requests *window, int64_t now, int64_t length) {
    struct bli_view view = {.from = now - length, .to = now};
    const int64_t longest = longest_from(window, view.from, view.to);
    view.unfinished = longest < length / 10 ? longest : length / 10;
    view.to = now - view.unfinished;
    view.from = view.to - length;
    if (view.from < window->begins) {
        view.from = window->begins < view.to ? window->begins : view.to;
        view.shortened = true;
    }
    for (size_t i = 0; i < window->count; i++) {
        const struct bli_trace_job *job = job_at(window, i);
        const int64_t arrival = bli_recent_arrival(job);
        view.jobs += !job->left_out && arrival >= view.from && arrival < view.to;
    }
    return view;
}

enum bal_code bli_recent_copy(const struct bli_recent_requests *window, const struct bli_view *view,
                              struct bli_trace *trace, struct bal_error *err) {
    const int64_t longest = longest_from(window, INT64_MIN, view->from);
    const int64_t lead = longest > LEAD_MIN * second ? longest : LEAD_MIN * second;
    enum bal_code code = BAL_OK;
    for (size_t i = 0; i < window->count && !code; i++) {
        struct bli_trace_job job = *job_at(window, i);
        const int64_t arrival = bli_recent_arrival(&job);
        if (arrival < view->from - lead)
            continue;
        job.left_out = job.left_out || arrival < view->from || arrival >= view->to;
        code = bli_trace_add(trace, &job, err);
    }
    return code;
}
