/* SPDX-License-Identifier: BSD-2-Clause */
/* What the status page shows: dispatchers and stations at one moment, copied under their locks and printed
 * without them. */
#ifndef NGINX_SNAPSHOT_H
#define NGINX_SNAPSHOT_H

#include "ballast/live/check.h"
#include "changes_zone.h"
#include "station_role.h"
#include "upstream.h"

struct bli_ngx_snapshot_server {
    struct bal_server_view view; /* its name is below */
    struct bal_check_view check;
    double share; /* of its usual requests, while it starts slowly; otherwise 1 */
    char name[BAL_SERVER_NAME];
    uint32_t number;
    bool added;                    /* at run time */
    char changed[BLI_CHANGE_TEXT]; /* what was changed then, as members of an object; empty: nothing */
    struct bli_ngx_meter meter;
};

struct bli_ngx_snapshot_peers {
    const struct bli_ngx_peers *peers;
    struct bal_dispatcher_counts counts;
    uint64_t receipts[BAL_RECEIPTS];
    uint32_t held[BAL_CLASSES_MAX], processes, servers;
    uint32_t silent; /* servers that are silent */
    uint64_t now, untracked, recorded;
    uint64_t unsent, dropped; /* datagrams: by us; by the kernel, because our socket buffer was full */
    struct bli_ngx_decisions decisions;
    struct bli_ngx_times times[BAL_CLASSES_MAX];
    struct bli_ngx_snapshot_server *server;
};

/* A dispatcher as a station knows it. */
struct bli_ngx_snapshot_dispatcher {
    char name[BAL_SERVER_NAME]; /* its address */
    bool joined;                /* no list names it */
    uint64_t silent_ns;         /* since its last message; UINT64_MAX: none has come */
    uint64_t offers;            /* slots that were offered to it */
    uint32_t offered;           /* and may still be used */
};

struct bli_ngx_snapshot_station {
    const struct bli_ngx_station *station;
    struct bal_station_view view;
    struct bal_station_counts counts;
    uint64_t receipts[BAL_RECEIPTS];
    uint32_t processes, dispatchers;
    struct bli_ngx_snapshot_dispatcher *dispatcher;
    struct bal_member *member; /* room to copy them under the lock */
    uint64_t recorded, unsent, dropped;
    struct bli_ngx_times times[BAL_CLASSES_MAX];
    struct bli_ngx_meter meter;
};

/* The lock of a zone: for all zones, also those whose lock could not be acquired. */
struct bli_ngx_snapshot_lock {
    const struct bli_ngx_zone *zone;
    bool backup;
    uint64_t holder, for_ns; /* of a zone that is stalled: the pid, and for how long; otherwise 0 */
    uint64_t stalls, requests, datagrams;
};

struct bli_ngx_snapshot {
    uint64_t time_ns; /* of the wall clock */
    uint32_t peer_sets, stations, locks;
    struct bli_ngx_snapshot_peers *peers;
    struct bli_ngx_snapshot_station *station;
    struct bli_ngx_snapshot_lock *lock;
};

/* All zones of the running configuration, in memory of the pool. Zones that this process has not joined, and
 * those whose lock cannot be acquired, are left out (their locks are not). NULL: out of memory. */
struct bli_ngx_snapshot *bli_ngx_snapshot_take(ngx_http_request_t *r);

/* "idle", "on", "busy", "off", "set-up", "failing", "unchecked", "ejected", "closed", "silent", "draining" or
 * "down". */
const char *bli_ngx_snapshot_state(const struct bli_ngx_snapshot_server *server);
const char *bli_ngx_snapshot_station_state(const struct bli_ngx_snapshot_station *station);
/* "on", "off", "set-up" or "draining". */
const char *bli_ngx_snapshot_power(const struct bli_ngx_snapshot_server *server);

#endif
