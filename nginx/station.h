/* The station role: `ballast_station slots=K ...;` in the upstream block of the local app.
 *
 * station.c reads the directive and keeps the block of the station in shared memory; visit.c is what a
 * request does there. The station stands around whatever balances the upstream (one server, usually): it lets
 * a request through to it when a slot is free. */
#ifndef NGINX_STATION_H
#define NGINX_STATION_H

#include "ballast/live/station.h"
#include "placeholder.h"
#include "record.h"
#include "zone.h"

enum { DISPATCHERS_MOST = 64, STATIONS_MOST = 192 };

/* The directive. Zeroed: there is none in this upstream. */
struct bal_ngx_station {
    ngx_http_upstream_srv_conf_t *us;
    ngx_str_t file; /* where the directive stands */
    ngx_uint_t line;
    ngx_uint_t slots, queue, classes;
    ngx_http_complex_value_t *class;
    struct bal_ngx_address listen;     /* without an address: it speaks to nobody */
    ngx_array_t dispatchers, stations; /* of struct bal_ngx_address */
    struct bal_steal steal;
    struct bal_ngx_address keeper; /* id 0: there is none */
    ngx_msec_t standby;
    ngx_uint_t record; /* requests that are recorded */
    ngx_msec_t report; /* mean time between reports while a slot is free; 0: when it becomes free */
    ngx_http_upstream_init_pt init_upstream; /* of the balancer inside */
    ngx_http_upstream_init_peer_pt init_peer;
    struct bal_station_config config;
    struct bal_ngx_zone zone;
    struct bal_ngx_mail mail;
    bool ready; /* the upstream has been set up, and nobody has taken our place */
    /* Of this process: */
    struct bal_station *s;
    struct bal_ngx_records *records;
    ngx_rbtree_t waiting; /* struct bal_ngx_visit by ticket */
    ngx_rbtree_node_t sentinel;
};

/* The station of an upstream; NULL: it has none. */
struct bal_ngx_station *bal_ngx_station_of(const ngx_http_upstream_srv_conf_t *us);

/* ---- visit.c ---- */

enum bal_ngx_visit_state {
    BAL_VISIT_NEW,     /* nothing is to be given back */
    BAL_VISIT_WAITING, /* its ticket waits */
    BAL_VISIT_CALLED,  /* it has a slot, and has not gone on yet */
    BAL_VISIT_RUNNING, /* it has a slot */
    BAL_VISIT_FAILED, /* nginx has given its server back, and may try another one at once, in the same slot */
    BAL_VISIT_REFUSED, /* there was no room */
    BAL_VISIT_GIVEN,   /* another station may have it, and it has not set out yet */
    BAL_VISIT_AWAY,    /* it is there */
    BAL_VISIT_SPURNED, /* it has failed there, and nginx may ask again at once */
};

/* A request at a station. */
struct bal_ngx_visit {
    struct bal_ngx_station *station;
    struct bal_ngx_placeholder place;
    enum bal_ngx_visit_state state;
    uint64_t ticket;
    uint64_t came_ns, called_ns; /* and when it was sent to the app, or away */
    uint32_t rank;
    const struct bal_ngx_address *target; /* of GIVEN and AWAY, else NULL */
    bool told;                            /* that it is moved stands in the request */
    ngx_event_t later;                    /* what must not be done inside of nginx's calls */
    ngx_rbtree_node_t node;
    /* The balancer inside: */
    bool inside; /* it has chosen a server */
    void *data;
    ngx_event_get_peer_pt get;
    ngx_event_free_peer_pt free;
#if (NGX_HTTP_SSL)
    ngx_event_set_peer_session_pt set_session;
    ngx_event_save_peer_session_pt save_session;
#endif
};

ngx_int_t bal_ngx_visit_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us);
/* Looks for news of a station; no lock is held. */
void bal_ngx_visit_news(struct bal_ngx_station *station);
/* The last visit of this request; NULL: it has been to no station. */
struct bal_ngx_visit *bal_ngx_visit_of(const ngx_http_request_t *r);

extern ngx_module_t ngx_http_ballast_station_module;

#endif
