/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start: which servers warm up. */
#include "policy/slow_start.h"

static size_t set_at(uint32_t servers) {
    return sizeof(struct bal_slow_start) + servers * sizeof(struct bal_slow_start_server);
}

size_t bal_slow_start_size(uint32_t servers) {
    return set_at(servers) + bal_set_size(servers);
}

struct bal_set *bal_slow_start_warming(const struct bal_slow_start *slow) {
    return (void *)((char *)slow + set_at(slow->servers));
}

void bal_slow_start_init(struct bal_slow_start *slow, uint32_t servers, double time) {
    *slow = (struct bal_slow_start){.time = time, .servers = servers};
    for (uint32_t server = 0; server < servers; server++)
        slow->server[server] = (struct bal_slow_start_server){0};
    bal_set_init(bal_slow_start_warming(slow), servers);
}

void bal_slow_start_rebuild(struct bal_slow_start *slow) {
    struct bal_set *warming = bal_slow_start_warming(slow);
    bal_set_init(warming, slow->servers);
    for (uint32_t server = 0; server < slow->servers; server++)
        if (slow->server[server].warming)
            bal_set_insert(warming, server);
}

void bal_slow_start_begin(struct bal_slow_start *slow, uint32_t server, double now) {
    if (!(slow->time > 0))
        return;
    slow->server[server] = (struct bal_slow_start_server){.since = now, .warming = 1};
    bal_set_insert(bal_slow_start_warming(slow), server);
}

void bal_slow_start_end(struct bal_slow_start *slow, uint32_t server) {
    slow->server[server] = (struct bal_slow_start_server){0};
    bal_set_remove(bal_slow_start_warming(slow), server);
}
