/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever a server answers where records and the status of the module are asked for: what is taken is a
 * request that could be, there are as many as the head says, and the same bytes give the same. What is shown
 * of a status is text without control characters. */
#include "base/strbuf.h"
#include "report/watch.h"
#include "twin/parse_requests.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct taken {
    uint64_t count;
    int64_t sum;
};

static void take(void *context, const struct bli_trace_job *job) {
    struct taken *taken = context;
    assert(job->size > 0 && job->ahead >= 0 && job->time >= job->ahead);
    assert(job->server >= 1 && job->server <= BLI_RING_SERVERS);
    taken->count++;
    taken->sum += job->time / 1000 + job->size;
}

static void try_fleet(const char *text, size_t size) {
    struct bli_log_servers *names;
    struct bli_ring_fleet fleet;
    struct bal_error err = {0};
    assert(bli_log_servers_new(&names, NULL) == BAL_OK);
    if (bli_ring_fleet(text, size, "app", &fleet, names, &err) == BAL_OK)
        assert(fleet.servers > 0 && fleet.slots > 0 && bli_log_servers_count(names) <= fleet.servers);
    else
        assert(*err.text);
    bli_log_servers_free(names);
}

static void try_watch(const char *text, size_t size) {
    const struct watch_view view = {.columns = 80};
    struct watch watch;
    struct watch_history history;
    struct bal_error err = {0};
    struct bli_strbuf shown;
    const enum bal_code code = bli_watch_read(&watch, text, size, "the status", &err);
    assert(code ? *err.text : !*err.text);
    const enum bal_code past = bli_watch_read_history(&history, text, size, "the history", &err);
    assert(past ? *err.text : true);
    if (!code && !past && bli_strbuf_open(&shown)) {
        bli_watch_print(NULL, &watch, &history, &view, shown.stream);
        assert(bli_strbuf_close(&shown));
        for (const char *at = shown.text; *at; at++)
            assert((unsigned char)*at >= ' ' || *at == '\n');
        bli_strbuf_discard(&shown);
    }
    bli_watch_free_history(&history);
    bli_watch_free(&watch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = 0;
    struct taken one = {0}, again = {0};
    struct bli_ring_head head, other;
    struct bal_error err = {0};
    const enum bal_code code = bli_ring_read(text, size, &head, take, &one, &err);
    assert(code == bli_ring_read(text, size, &other, take, &again, NULL));
    assert(one.count == again.count && one.sum == again.sum);
    assert(code ? *err.text : one.count <= head.next - head.first);
    try_fleet(text, size);
    try_watch(text, size);
    free(text);
    return 0;
}
