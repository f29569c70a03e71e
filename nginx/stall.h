/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens while a process holds the lock of a zone and does not run: it is stopped (SIGSTOP, a
 * debugger), or waits for a disk.
 *
 *     lock not taken ──begin──> stalled ──every 10 ms: free, or its holder dead?──> all deferred is done
 *
 * No process waits for a stalled zone. New requests, and those that wait in this process, go to servers in
 * turn and are not counted; releases are deferred until the lock is acquired again; datagrams are dropped,
 * and time does not pass in the zone. The process that is stopped keeps its own connections. */
#ifndef NGINX_STALL_H
#define NGINX_STALL_H

#include "compat.h"
#include "lock.h"

#include <stdbool.h>
#include <stdint.h>

struct bli_ngx_zone;

/* In shared memory, for the log and status; atomic, as there is no lock. */
struct bli_ngx_stalls {
    uint64_t holder;          /* the last for which waiting timed out; 0: the lock has been acquired since */
    uint64_t since_ns;        /* since when */
    uint64_t requests_before; /* requests below, at that time */
    uint64_t count;           /* times that it happened */
    uint64_t requests;        /* that were neither counted nor chosen by the policy */
    uint64_t datagrams;       /* that were dropped */
};

/* The outcome of a request that still has a ticket in the zone. */
enum bli_ngx_deferral { BLI_NGX_DEFER_CANCEL, BLI_NGX_DEFER_GOOD, BLI_NGX_DEFER_BAD, BLI_NGX_DEFER_FAILED };

struct bli_ngx_deferred {
    uint64_t ticket;
    enum bli_ngx_deferral what;
};

/* Of this process and one zone. */
struct bli_ngx_stall {
    bli_ngx_lock holder; /* not waited for again; 0: the zone is not stalled */
    ngx_event_t timer;
    struct bli_ngx_deferred *deferred;
    uint32_t count, room;
};

/* The lock of the zone could not be acquired. Returns false. */
bool bli_ngx_stall_begin(struct bli_ngx_zone *z);
/* Defers the end of that ticket until the lock of the stalled zone is acquired. */
void bli_ngx_stall_defer(struct bli_ngx_zone *z, uint64_t ticket, enum bli_ngx_deferral what);
/* A request has gone without the zone; so many datagrams were dropped. */
void bli_ngx_stall_count_request(struct bli_ngx_zone *z);
void bli_ngx_stall_count_datagrams(struct bli_ngx_zone *z, uint32_t count);
/* Called by the timer: tries to acquire the lock; false: it is tried again later. */
bool bli_ngx_stall_try(struct bli_ngx_zone *z);
/* Does what was deferred. The lock must be held. */
void bli_ngx_stall_run_deferred(struct bli_ngx_zone *z, uint64_t now);
/* Logs the end of the stall, after the lock is released. */
void bli_ngx_stall_end(struct bli_ngx_zone *z);

#endif
