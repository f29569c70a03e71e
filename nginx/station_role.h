/* SPDX-License-Identifier: BSD-2-Clause */
/* The station role: `ballast_station slots=K ...;` in the upstream block of the local app.
 *
 * station_role.c reads the directive and keeps the block of the station in shared memory; station_request.c
 * handles a request there. The station wraps the balancer of the upstream (usually one server): it passes a
 * request on to it when a slot is free. */
#ifndef NGINX_STATION_ROLE_H
#define NGINX_STATION_ROLE_H

#include "ballast/live/station.h"
#include "class.h"
#include "class_limit_option.h"
#include "history.h"
#include "lookup.h"
#include "placeholder.h"
#include "zone.h"

enum { DISPATCHERS_MAX = 128, STATIONS_MAX = 192 };

/* In shared memory, in front of the records and the core's block. */
struct bli_ngx_station_shared {
    uint64_t silence_logged_at; /* when it was last logged that the keeper does not answer; 0: it does */
    uint64_t slots_logged;      /* the slots that were found when they were last logged; 0: never */
};

/* What is to be logged of the keeper after the lock is released. */
struct bli_ngx_keeper_silence {
    enum { BLI_NGX_KEEPER_AS_BEFORE, BLI_NGX_KEEPER_SILENT, BLI_NGX_KEEPER_ANSWERS } change;
    uint64_t silent_ns;
    uint32_t waiting; /* requests */
};

/* The directive. Zeroed: there is none in this upstream. */
struct bli_ngx_station {
    ngx_http_upstream_srv_conf_t *us;
    ngx_str_t file; /* where the directive stands */
    ngx_uint_t line;
    ngx_uint_t slots, queue, classes;
    ngx_uint_t min_slots; /* not 0: they are found, from so many on */
    bool queue_given;
    ngx_msec_t queue_time; /* 0: a request may wait for any time */
    struct bal_class_limit class_limit[BAL_CLASSES_MAX];
    ngx_http_complex_value_t *class;
    struct bli_ngx_urgency urgency;
    struct bli_ngx_address listen;     /* without an address: it exchanges no messages */
    struct bli_ngx_address own;        /* by which the others know it */
    ngx_array_t dispatchers, stations; /* of struct bli_ngx_address */
    ngx_array_t unresolved;      /* of struct bli_ngx_lookup: dispatchers whose names are not resolved yet */
    struct bal_join_config join; /* dispatchers that are not listed */
    struct bal_steal steal;
    struct bli_ngx_address keeper; /* id 0: there is none */
    ngx_msec_t standby;
    ngx_msec_t heartbeat; /* between messages to each dispatcher */
    ngx_uint_t record;    /* requests that are recorded */
    ngx_msec_t report;    /* mean time between reports while a slot is free; 0: when it becomes free */
    ngx_http_upstream_init_pt init_upstream; /* of the balancer inside */
    ngx_http_upstream_init_peer_pt init_peer;
    struct bal_station_config config;
    struct bli_ngx_zone zone;
    struct bli_ngx_transport transport;
    bool abort_frees; /* the app notices that a connection is closed: the slot is free at once */
    bool ready;       /* the upstream has been set up, and no other balancer has replaced ours */
    /* Of this process: */
    struct bal_station *s;
    struct bli_ngx_station_shared *shared;
    struct bli_ngx_records *records;
    struct bli_ngx_history *history;
    struct bli_ngx_keeper_silence silence;
    struct bal_concurrency_view found; /* when last looked at; limit 0: slots are given */
    bool unapplied;                    /* dispatchers have been resolved that are not in the block yet */
    ngx_rbtree_t waiting;              /* struct bli_ngx_station_request by ticket */
    ngx_rbtree_node_t sentinel;
};

/* The station of an upstream; NULL: it has none. */
struct bli_ngx_station *bli_ngx_station_of(const ngx_http_upstream_srv_conf_t *us);

/* ---- station_request.c ---- */

enum bli_ngx_station_request_state {
    BLI_REQUEST_NEW,     /* nothing is to be released */
    BLI_REQUEST_WAITING, /* its ticket waits */
    BLI_REQUEST_GRANTED, /* it has a slot, and has not gone on yet */
    BLI_REQUEST_RUNNING, /* it has a slot */
    BLI_REQUEST_FAILED, /* nginx has released its server, and may try another one at once, in the same slot */
    BLI_REQUEST_REFUSED,        /* it may not wait, or not any longer */
    BLI_REQUEST_FORWARDING,     /* it goes to another station, and has not been sent yet */
    BLI_REQUEST_FORWARDED,      /* it has been sent there */
    BLI_REQUEST_FORWARD_FAILED, /* it has failed there, and nginx may call peer.get again at once */
};

/* A request at a station. */
struct bli_ngx_station_request {
    struct bli_ngx_station *station;
    struct bli_ngx_placeholder placeholder;
    enum bli_ngx_station_request_state state;
    uint64_t ticket;
    uint64_t arrived_ns, granted_ns; /* when it came; when it was sent to the app or to another station */
    uint32_t rank;
    const struct bli_ngx_address *target; /* of FORWARDING and FORWARDED, else NULL */
    bool moved_header_sent;               /* the request has the header Ballast-Moved */
    bool refused;                         /* its 503 is ours */
    uint64_t retry_ns;                    /* of one that is refused; 0: it is not known */
    ngx_event_t deferred_event;           /* work that must not be done inside nginx's calls */
    ngx_rbtree_node_t node;
    /* The balancer inside: */
    bool inner_selected; /* it has chosen a server */
    void *data;
    ngx_event_get_peer_pt get;
    ngx_event_free_peer_pt free;
    ngx_event_notify_peer_pt notify;
#if (NGX_HTTP_SSL)
    ngx_event_set_peer_session_pt set_session;
    ngx_event_save_peer_session_pt save_session;
#endif
};

ngx_int_t bli_ngx_station_request_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us);
/* Processes new decisions of a station. No lock may be held. */
void bli_ngx_station_request_process_decisions(struct bli_ngx_station *station);
/* The last state of this request at a station; NULL: it has not been at a station. */
struct bli_ngx_station_request *bli_ngx_station_request_of(const ngx_http_request_t *r);

extern ngx_module_t ngx_http_ballast_station_module;

#endif
