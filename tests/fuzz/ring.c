/* Whatever a server answers where records and the status of the module are asked for: what is taken is a
 * request that could be, there are as many as the head says, and the same bytes give the same. */
#include "twin/ring.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct taken {
    uint64_t count;
    int64_t sum;
};

static void take(void *context, const struct bal_trace_job *job) {
    struct taken *taken = context;
    assert(job->size > 0 && job->ahead >= 0 && job->time >= job->ahead);
    assert(job->server >= 1 && job->server <= BAL_RING_SERVERS);
    taken->count++;
    taken->sum += job->time / 1000 + job->size;
}

static void try_fleet(const char *text, size_t size) {
    struct bal_log_servers *names;
    struct bal_ring_fleet fleet;
    struct bal_error err = {0};
    assert(bal_log_servers_new(&names, NULL) == BAL_OK);
    if (bal_ring_fleet(text, size, "app", &fleet, names, &err) == BAL_OK)
        assert(fleet.servers > 0 && fleet.slots > 0 && bal_log_servers_count(names) <= fleet.servers);
    else
        assert(*err.text);
    bal_log_servers_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = 0;
    struct taken one = {0}, again = {0};
    struct bal_ring_head head, other;
    struct bal_error err = {0};
    const enum bal_code code = bal_ring_read(text, size, &head, take, &one, &err);
    assert(code == bal_ring_read(text, size, &other, take, &again, NULL));
    assert(one.count == again.count && one.sum == again.sum);
    assert(code ? *err.text : one.count <= head.next - head.first);
    try_fleet(text, size);
    free(text);
    return 0;
}
