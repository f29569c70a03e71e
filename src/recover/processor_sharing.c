/* SPDX-License-Identifier: BSD-2-Clause */
/* For each server and number of cores k, V(t) = integral of min(1, k / n(t)) dt is what a job that had been
 * there all the time would have got; one that comes at A and leaves at D got V(D) - V(A). */
#include "recover/processor_sharing.h"

#include <stdlib.h>

/* A job that is there. */
struct ps_job {
    struct bli_trace_job job;
    int64_t leaves;
    uint32_t found;
    double before[BLI_SHARING_MAX]; /* V when it came */
};

struct ps_server {
    struct ps_job *ps_job; /* a heap, the first to leave on top */
    size_t count, room;
    int64_t now;
    double got[BLI_SHARING_MAX]; /* V, in nanoseconds */
};

struct bli_sharing {
    uint32_t cores[BLI_SHARING_MAX];
    unsigned count;
    enum bal_code (*take)(void *context, const struct bli_trace_job *job, uint32_t found, const double *work,
                          struct bal_error *err);
    void *context;
    uint32_t servers;
    struct ps_server *ps_server;
};

enum bal_code bli_sharing_new(const uint32_t *cores, unsigned count, uint32_t servers,
                              enum bal_code (*take)(void *context, const struct bli_trace_job *job,
                                                    uint32_t found, const double *work,
                                                    struct bal_error *err),
                              void *context, struct bli_sharing **sharing, struct bal_error *err) {
    struct bli_sharing *s = *sharing = calloc(1, sizeof *s);
    if (s)
        s->ps_server = calloc((size_t)servers + 1, sizeof *s->ps_server);
    if (!s || !s->ps_server) {
        bli_sharing_free(s);
        *sharing = NULL;
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for %u servers", servers);
    }
    for (unsigned c = 0; c < count; c++)
        s->cores[c] = cores[c];
    s->count = count;
    s->servers = servers;
    s->take = take;
    s->context = context;
    return BAL_OK;
}

void bli_sharing_free(struct bli_sharing *sharing) {
    if (!sharing)
        return;
    for (uint32_t server = 0; sharing->ps_server && server <= sharing->servers; server++)
        free(sharing->ps_server[server].ps_job);
    free(sharing->ps_server);
    free(sharing);
}

static void serve_until(const struct bli_sharing *sharing, struct ps_server *ps_server, int64_t until) {
    const double length = (double)(until - ps_server->now), guests = (double)ps_server->count;
    for (unsigned c = 0; c < sharing->count && ps_server->count > 0; c++)
        ps_server->got[c] += guests > sharing->cores[c] ? length * sharing->cores[c] / guests : length;
    ps_server->now = until;
}

static struct ps_job heap_pop(struct ps_server *ps_server) {
    const struct ps_job first = ps_server->ps_job[0], moved = ps_server->ps_job[--ps_server->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < ps_server->count; at = child) {
        if (child + 1 < ps_server->count &&
            ps_server->ps_job[child + 1].leaves < ps_server->ps_job[child].leaves)
            child++;
        if (moved.leaves <= ps_server->ps_job[child].leaves)
            break;
        ps_server->ps_job[at] = ps_server->ps_job[child];
    }
    ps_server->ps_job[at] = moved;
    return first;
}

static void heap_push(struct ps_server *ps_server, const struct ps_job *ps_job) {
    size_t at = ps_server->count++;
    for (; at > 0 && ps_server->ps_job[(at - 1) / 2].leaves > ps_job->leaves; at = (at - 1) / 2)
        ps_server->ps_job[at] = ps_server->ps_job[(at - 1) / 2];
    ps_server->ps_job[at] = *ps_job;
}

static enum bal_code remove_first_departure(struct bli_sharing *sharing, struct ps_server *ps_server,
                                            struct bal_error *err) {
    serve_until(sharing, ps_server, ps_server->ps_job[0].leaves);
    const struct ps_job ps_job = heap_pop(ps_server);
    double work[BLI_SHARING_MAX];
    for (unsigned c = 0; c < sharing->count; c++)
        work[c] = ps_server->got[c] - ps_job.before[c];
    return sharing->take(sharing->context, &ps_job.job, ps_job.found, work, err);
}

static enum bal_code make_room(struct ps_server *ps_server, struct bal_error *err) {
    const size_t room = ps_server->room ? 2 * ps_server->room : 8;
    struct ps_job *ps_job = realloc(ps_server->ps_job, room * sizeof *ps_job);
    if (!ps_job)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for %zu jobs at a server", room);
    ps_server->ps_job = ps_job;
    ps_server->room = room;
    return BAL_OK;
}

enum bal_code bli_sharing_add(struct bli_sharing *sharing, const struct bli_trace_job *job,
                              struct bal_error *err) {
    struct ps_server *ps_server = &sharing->ps_server[job->server];
    enum bal_code code = BAL_OK;
    while (!code && ps_server->count > 0 && ps_server->ps_job[0].leaves <= job->time)
        code = remove_first_departure(sharing, ps_server, err);
    if (!code && ps_server->count == ps_server->room)
        code = make_room(ps_server, err);
    if (code)
        return code;
    serve_until(sharing, ps_server, job->time);
    struct ps_job ps_job = {
        .job = *job, .leaves = job->time + job->size, .found = (uint32_t)ps_server->count};
    for (unsigned c = 0; c < sharing->count; c++)
        ps_job.before[c] = ps_server->got[c];
    heap_push(ps_server, &ps_job);
    return BAL_OK;
}

enum bal_code bli_sharing_end(struct bli_sharing *sharing, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (uint32_t server = 0; server <= sharing->servers; server++)
        while (!code && sharing->ps_server[server].count > 0)
            code = remove_first_departure(sharing, &sharing->ps_server[server], err);
    return code;
}
