/* SPDX-License-Identifier: BSD-2-Clause */
/* Slow start at the dispatcher: servers that have come back are closed while they have no credit, as long as
 * another server is open. */
#include "live/dispatcher_private.h"

#include "ballast/live/slow_start.h"

static void mark(void *host, uint32_t server, bool closed) {
    bli_dispatcher_server_mark(host, server, WARMING, closed);
}

static struct bli_warming warming_of(struct bal_dispatcher *d, const struct bli_closing *closing) {
    const struct block *block = d->block;
    return (struct bli_warming){.slow = d->slow,
                                .closing = closing,
                                .now = (double)block->now,
                                .per_weight = block->weights > 0 ? block->present / block->weights : 1,
                                .mark = mark,
                                .host = d};
}

bool bli_dispatcher_lift_slow_start(struct bal_dispatcher *d) {
    const struct bli_closing closing = closing_of(d);
    const struct bli_warming warming = warming_of(d, &closing);
    return bli_slow_start_lift(&warming);
}

void bli_dispatcher_warm_up(struct bal_dispatcher *d, bool arrival) {
    const struct bli_closing closing = closing_of(d);
    const struct bli_warming warming = warming_of(d, &closing);
    bli_slow_start_update(&warming, arrival);
}

void bli_dispatcher_warming_chosen(struct bal_dispatcher *d, uint32_t server) {
    const struct bli_closing closing = closing_of(d);
    const struct bli_warming warming = warming_of(d, &closing);
    bli_slow_start_chosen(&warming, server);
}

/* It begins closed: the next request that comes decides. A fleet that begins as a whole has nobody who could
 * do the work meanwhile. */
void bli_dispatcher_begin_slow_start(struct bal_dispatcher *d, uint32_t server) {
    if (!(d->slow->time > 0) || d->server[server].presence == LEAVING || d->block->present == 0)
        return;
    bli_slow_start_begin(d->slow, server, (double)d->block->now);
    bli_dispatcher_warm_up(d, false);
}

void bal_dispatcher_configure_slow_start(struct bal_dispatcher *d, uint64_t now, uint64_t time_ns) {
    dispatcher_begin(d, now);
    d->slow->time = (double)time_ns;
    bli_dispatcher_warm_up(d, false);
    bli_dispatcher_dispatch_held(d);
    dispatcher_end(d);
}

double bal_dispatcher_slow_start_share(const struct bal_dispatcher *d, uint64_t now, uint32_t number) {
    return bli_slow_start_share(d->slow, number, (double)now);
}
