/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start at the dispatcher: servers that have come back are closed while they have no credit, as long as
 * another server is open. */
#include "live/dispatcher_private.h"

#include "ballast/live/slow_start.h"

#include <math.h>

bool bal_dispatcher_lift_slow_start(struct bal_dispatcher *d) {
    const struct bal_set *warming = bal_slow_start_warming(d->slow);
    for (uint32_t i = 0; i < warming->count; i++)
        bal_dispatcher_server_mark(d, warming->slot[i], WARMING, false);
    return warming->count > 0;
}

static void end_slow_start(struct bal_dispatcher *d, uint32_t server) {
    bal_slow_start_end(d->slow, server);
    bal_dispatcher_server_mark(d, server, WARMING, false);
}

static bool is_closed_otherwise(const struct bal_dispatcher *d, uint32_t server) {
    return d->server[server].closed & ~(uint32_t)WARMING;
}

/* Servers that are open, whether or not they have credit: all, and those that do not warm up. */
static uint32_t count_open(const struct bal_dispatcher *d, uint32_t *warm) {
    const struct bal_set *warming = bal_slow_start_warming(d->slow);
    uint32_t count = d->open->count;
    *warm = d->open->count;
    for (uint32_t i = 0; i < warming->count; i++) {
        const uint32_t closed = d->server[warming->slot[i]].closed;
        count += closed == WARMING;
        *warm -= closed == 0;
    }
    return count;
}

/* Weights are relative to their mean over all servers. */
static double part_of(const struct bal_dispatcher *d, uint32_t server, uint32_t open) {
    const struct block *block = d->block;
    const double weight = block->weighted ? d->weight[server] * block->present / block->weights : 1;
    return open ? fmin(weight / open, 1) : 1;
}

void bal_dispatcher_warm_up(struct bal_dispatcher *d, bool arrival) {
    const struct bal_set *warming = bal_slow_start_warming(d->slow);
    const double now = (double)d->block->now;
    uint32_t warm;
    const uint32_t open = count_open(d, &warm);
    for (uint32_t i = warming->count; i-- > 0;) {
        const uint32_t server = warming->slot[i];
        if (bal_slow_start_share(d->slow, server, now) >= 1) {
            end_slow_start(d, server);
            continue;
        }
        if (arrival && !is_closed_otherwise(d, server))
            bal_slow_start_earn(d->slow, server, now, part_of(d, server, open));
        bal_dispatcher_server_mark(d, server, WARMING, warm > 0 && !bal_slow_start_allows(d->slow, server));
    }
}

void bal_dispatcher_warming_chosen(struct bal_dispatcher *d, uint32_t server) {
    uint32_t warm;
    bal_slow_start_pay(d->slow, server);
    (void)count_open(d, &warm);
    bal_dispatcher_server_mark(d, server, WARMING, warm > 0 && !bal_slow_start_allows(d->slow, server));
}

/* It begins closed: the next request that comes decides. A fleet that begins as a whole has nobody who could
 * do the work meanwhile. */
void bal_dispatcher_begin_slow_start(struct bal_dispatcher *d, uint32_t server) {
    if (!(d->slow->time > 0) || d->server[server].presence == LEAVING || d->block->present == 0)
        return;
    bal_slow_start_begin(d->slow, server, (double)d->block->now);
    bal_dispatcher_warm_up(d, false);
}

void bal_dispatcher_configure_slow_start(struct bal_dispatcher *d, uint64_t now, uint64_t time_ns) {
    dispatcher_begin(d, now);
    d->slow->time = (double)time_ns;
    bal_dispatcher_warm_up(d, false);
    bal_dispatcher_dispatch_held(d);
    dispatcher_end(d);
}

double bal_dispatcher_slow_start_share(const struct bal_dispatcher *d, uint64_t now, uint32_t number) {
    return bal_slow_start_share(d->slow, number, (double)now);
}
