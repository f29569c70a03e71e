/* SPDX-License-Identifier: BSD-2-Clause */
/* Fetches the latest requests of a live fleet over HTTP. */
#include "twin/fetch_requests.h"

#include "load/fetch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANSWERS = 16,        /* one behind the other, where there is much to read */
    ALMOST_ALL = 1 << 13 /* records: with fewer there are no more for now */
};

enum bal_code bli_remote_open(struct bli_remote *remote, const char *url, struct bal_error *err) {
    *remote = (struct bli_remote){.since = 0};
    const enum bal_code code = bli_load_target_parse(&remote->target, url, err);
    if (code)
        return code;
    if (strlen(remote->target.path) + 100 > sizeof remote->target.path)
        return bal_fail(err, BAL_E_SYNTAX, "'%.100s' is too long for an address of ballast_status", url);
    return bli_load_target_resolve(&remote->target, err);
}

/* Status 200, or why not. The caller frees what was fetched. */
static enum bal_code fetch_status(const struct bli_remote *remote, const char *query, double seconds,
                                  struct bli_fetched *fetched, struct bal_error *err) {
    struct target target = remote->target;
    const size_t used = strlen(target.path);
    snprintf(target.path + used, sizeof target.path - used, "%c%s", strchr(target.path, '?') ? '&' : '?',
             query);
    struct bal_error why = {0};
    const enum bal_code code = bli_load_fetch(&target, "*/*", seconds, fetched, &why);
    if (code)
        return bal_fail(err, code, "http://%.100s%.100s: %.200s", target.host, remote->target.path, why.text);
    if (fetched->status == 200)
        return BAL_OK;
    const char *what = fetched->status / 100 == 3 ? "; redirects are not followed"
                       : fetched->status == 404   ? "; is it ballast_status, and is there record=N?"
                                                  : "";
    return bal_fail(err, BAL_E_IO, "http://%.100s%.100s answers with status %d%s", target.host,
                    remote->target.path, fetched->status, what);
}

struct taking {
    struct bli_recent_requests *window;
    uint64_t taken;
    int64_t first; /* when the first one ended */
};

static void add_job(void *context, const struct bli_trace_job *job) {
    struct taking *taking = context;
    if (taking->taken++ == 0)
        taking->first = job->time + job->size;
    bli_recent_add(taking->window, job);
}

/* Before the first of these some are missing. */
static void record_gap(struct bli_remote *remote, const struct bli_ring_head *head,
                       const struct taking *taking) {
    remote->lost += remote->heard ? head->lost : 0;
    if (head->lost > 0 && taking->taken > 0)
        taking->window->begins = taking->first;
}

enum bal_code bli_remote_poll(struct bli_remote *remote, double seconds, struct bli_recent_requests *window,
                              struct bal_error *err) {
    for (int i = 0; i < ANSWERS; i++) {
        char query[80];
        struct bli_fetched fetched;
        struct bli_ring_head head = {.first = 0};
        struct taking taking = {.window = window};
        snprintf(query, sizeof query, "format=ring&since=%" PRIu64, remote->since);
        enum bal_code code = fetch_status(remote, query, seconds, &fetched, err);
        if (!code)
            code = bli_ring_read(fetched.body, fetched.length, &head, add_job, &taking, err);
        free(fetched.body);
        if (code)
            return code;
        record_gap(remote, &head, &taking);
        remote->heard = true;
        remote->since = head.next;
        snprintf(remote->upstream, sizeof remote->upstream, "%s", head.upstream);
        if (head.next - head.first < ALMOST_ALL)
            break;
    }
    return BAL_OK;
}

enum bal_code bli_remote_fleet(const struct bli_remote *remote, double seconds, struct bli_ring_fleet *fleet,
                               struct bli_log_servers *names, struct bal_error *err) {
    struct bli_fetched fetched;
    enum bal_code code = fetch_status(remote, "format=json", seconds, &fetched, err);
    if (!code)
        code = bli_ring_fleet(fetched.body, fetched.length, remote->heard ? remote->upstream : NULL, fleet,
                              names, err);
    free(fetched.body);
    return code;
}
