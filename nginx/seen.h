/* What status shows: dispatchers and stations as they were at one moment, copied under their locks and told
 * outside of them. */
#ifndef NGINX_SEEN_H
#define NGINX_SEEN_H

#include "station.h"
#include "upstream.h"

struct bal_ngx_seen_server {
    struct bal_server_view view; /* its name is below */
    char name[BAL_SERVER_NAME];
    uint32_t number;
    bool down; /* by the configuration of this process */
    struct bal_ngx_meter meter;
};

struct bal_ngx_seen_tier {
    const struct bal_ngx_tier *tier;
    struct bal_dispatcher_counts counts;
    uint64_t receipts[BAL_RECEIPTS];
    uint32_t held[BAL_CLASSES_MAX], processes, servers;
    uint64_t now, plain, recorded;
    struct bal_ngx_decisions decisions;
    struct bal_ngx_times times[BAL_CLASSES_MAX];
    struct bal_ngx_seen_server *server;
};

struct bal_ngx_seen_station {
    const struct bal_ngx_station *station;
    struct bal_station_view view;
    struct bal_station_counts counts;
    uint64_t receipts[BAL_RECEIPTS];
    uint32_t processes;
    uint64_t recorded;
    struct bal_ngx_times times[BAL_CLASSES_MAX];
    struct bal_ngx_meter meter;
};

struct bal_ngx_seen {
    uint64_t time_ns; /* of the wall clock */
    uint32_t tiers, stations;
    struct bal_ngx_seen_tier *tier;
    struct bal_ngx_seen_station *station;
};

/* All of the running configuration, in memory of the pool; those of which this process is no part are left
 * out. NULL: there is not enough. */
struct bal_ngx_seen *bal_ngx_look(ngx_http_request_t *r);

/* "idle", "on", "busy", "off", "set-up", "quarantined", "closed", "silent", "draining" or "down". */
const char *bal_ngx_seen_state(const struct bal_ngx_seen_server *server);
const char *bal_ngx_seen_station_state(const struct bal_ngx_seen_station *station);
/* "on", "off", "set-up" or "draining". */
const char *bal_ngx_seen_power(const struct bal_ngx_seen_server *server);

#endif
