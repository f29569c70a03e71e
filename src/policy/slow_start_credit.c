/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start: which servers warm up. */
#include "policy/slow_start_credit.h"

#include <math.h>

static size_t set_at(uint32_t servers) {
    return sizeof(struct bli_slow_start) + servers * sizeof(struct bli_slow_start_server);
}

size_t bli_slow_start_size(uint32_t servers) {
    return set_at(servers) + bal_set_size(servers);
}

struct bal_set *bli_slow_start_warming(const struct bli_slow_start *slow) {
    return (void *)((char *)slow + set_at(slow->servers));
}

void bli_slow_start_init(struct bli_slow_start *slow, uint32_t servers, double time) {
    *slow = (struct bli_slow_start){.time = time, .servers = servers};
    for (uint32_t server = 0; server < servers; server++)
        slow->server[server] = (struct bli_slow_start_server){0};
    bal_set_init(bli_slow_start_warming(slow), servers);
}

void bli_slow_start_rebuild(struct bli_slow_start *slow) {
    struct bal_set *warming = bli_slow_start_warming(slow);
    bal_set_init(warming, slow->servers);
    for (uint32_t server = 0; server < slow->servers; server++)
        if (slow->server[server].warming)
            bal_set_insert(warming, server);
}

void bli_slow_start_begin(struct bli_slow_start *slow, uint32_t server, double now) {
    if (!(slow->time > 0))
        return;
    slow->server[server] = (struct bli_slow_start_server){.since = now, .warming = 1};
    bal_set_insert(bli_slow_start_warming(slow), server);
}

void bli_slow_start_end(struct bli_slow_start *slow, uint32_t server) {
    slow->server[server] = (struct bli_slow_start_server){0};
    bal_set_remove(bli_slow_start_warming(slow), server);
}

/* ---- which are open ---- */

bool bli_slow_start_lift(const struct bli_warming *w) {
    const struct bal_set *warming = bli_slow_start_warming(w->slow);
    for (uint32_t i = 0; i < warming->count; i++)
        w->mark(w->host, warming->slot[i], false);
    return warming->count > 0;
}

static bool is_closed_otherwise(const struct bli_warming *w, uint32_t server) {
    return *closing_reasons(w->closing, server) & ~(uint32_t)BLI_CLOSED_WARMING;
}

/* Servers that are open, whether or not they have credit: all, and those that do not warm up. */
static uint32_t count_open(const struct bli_warming *w, uint32_t *warm) {
    const struct bal_set *warming = bli_slow_start_warming(w->slow);
    uint32_t count = w->closing->open->count;
    *warm = count;
    for (uint32_t i = 0; i < warming->count; i++) {
        const uint32_t closed = *closing_reasons(w->closing, warming->slot[i]);
        count += closed == BLI_CLOSED_WARMING;
        *warm -= closed == 0;
    }
    return count;
}

static double part_of(const struct bli_warming *w, uint32_t server, uint32_t open) {
    const double weight = w->closing->weight ? w->closing->weight[server] * w->per_weight : 1;
    return open ? fmin(weight / open, 1) : 1;
}

void bli_slow_start_update(const struct bli_warming *w, bool arrival) {
    const struct bal_set *warming = bli_slow_start_warming(w->slow);
    uint32_t warm;
    const uint32_t open = count_open(w, &warm);
    for (uint32_t i = warming->count; i-- > 0;) {
        const uint32_t server = warming->slot[i];
        if (bli_slow_start_share(w->slow, server, w->now) >= 1) {
            bli_slow_start_end(w->slow, server);
            w->mark(w->host, server, false);
            continue;
        }
        if (arrival && !is_closed_otherwise(w, server))
            bli_slow_start_earn(w->slow, server, w->now, part_of(w, server, open));
        w->mark(w->host, server, warm > 0 && !bli_slow_start_allows(w->slow, server));
    }
}

void bli_slow_start_chosen(const struct bli_warming *w, uint32_t server) {
    uint32_t warm;
    bli_slow_start_pay(w->slow, server);
    (void)count_open(w, &warm);
    w->mark(w->host, server, warm > 0 && !bli_slow_start_allows(w->slow, server));
}
