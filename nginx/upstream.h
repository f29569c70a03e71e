/* The dispatcher role: `ballast POLICY ...;` in an upstream block.
 *
 * upstream.c reads the directive, tier.c keeps the servers of an upstream in shared memory, peer.c chooses
 * one for a request and tells what became of it, hold.c lets requests wait, class.c tells how urgent they
 * are; variables.c and status.c show all this. */
#ifndef NGINX_UPSTREAM_H
#define NGINX_UPSTREAM_H

#include "ballast/live/dispatcher.h"
#include "placeholder.h"
#include "record.h"
#include "zone.h"

enum { TIERS = 2, POLICY_TEXT = 256, DECISION_BUCKETS = 31, DECISION_SHARE = 64 };

/* ---- servers ---- */

/* As this process knows it. */
struct bal_ngx_server {
    ngx_str_t name; /* of its address, terminated; by which the block knows it */
    struct sockaddr *sockaddr;
    socklen_t socklen;
    ngx_uint_t weight, max_conns, max_fails;
    time_t fail_timeout;
    bool down;
    bool foreign; /* not in our configuration: another process has a newer one */
#if (NGX_HTTP_SSL)
    ngx_ssl_session_t *session;
#endif
};

/* Decisions that took 2^i to 2^(i+1) ns, and how long all of them took. */
struct bal_ngx_decisions {
    uint64_t bucket[DECISION_BUCKETS], sum_ns;
};

/* In shared memory, before the block of the core. */
struct bal_ngx_shared {
    uint64_t version; /* one more whenever a number may mean another server */
    uint64_t servers; /* a hash of the configuration that was applied */
    uint64_t plain;   /* requests that were sent without being counted */
    /* Each process in a row of its own; of one decision in DECISION_SHARE, for looking at the clock takes a
     * good part of the time of a decision. */
    struct bal_ngx_decisions decisions[BAL_OWNERS_MAX];
    uint8_t told[]; /* by number: what the log says of quarantine and max_fails */
};

/* Servers of an upstream among which a policy chooses: those that are no backup, or those that are. */
struct bal_ngx_tier {
    struct bal_ngx_zone zone;
    struct bal_ngx_upstream *upstream;
    struct bal_dispatcher_config config;
    ngx_array_t servers; /* of struct bal_ngx_server *, by name */
    struct bal_ngx_mail mail;
    /* Of this process: */
    struct bal_dispatcher *d;
    struct bal_ngx_shared *shared;
    struct bal_ngx_records *records;
    struct bal_ngx_server **by_number;
    uint64_t version;     /* of by_number */
    ngx_rbtree_t waiting; /* struct bal_ngx_peer by ticket */
    ngx_rbtree_node_t sentinel;
    ngx_uint_t next;    /* for choosing without counting */
    uint32_t decisions; /* so far */
    time_t told_plain;  /* when the log was last told of that */
};

/* The directive. Zeroed: there is none in this upstream. */
struct bal_ngx_upstream {
    ngx_http_upstream_srv_conf_t *us;
    ngx_str_t file; /* where the directive stands */
    ngx_uint_t line;
    struct bal_policy_spec policy;
    char text[POLICY_TEXT]; /* of the policy, canonical */
    ngx_uint_t slots;
    ngx_uint_t held;
    ngx_msec_t hold;
    ngx_uint_t failures;
    ngx_msec_t back_off;
    ngx_http_complex_value_t *class;
    ngx_uint_t classes;
    ngx_uint_t record;             /* requests that are recorded */
    size_t zone;                   /* bytes; 0: as many as connections may need */
    bool stations;                 /* servers have stations, which are spoken to from ... */
    struct bal_ngx_address listen; /* ... here */
    ngx_uint_t tiers;
    struct bal_ngx_tier tier[TIERS];
    ngx_uint_t tries; /* servers that are not down */
};

/* ---- tier.c ---- */

/* In the configuration: from nginx's own list. */
ngx_int_t bal_ngx_tier_init(ngx_conf_t *cf, struct bal_ngx_tier *tier, struct bal_ngx_upstream *upstream,
                            const ngx_http_upstream_rr_peers_t *peers, bool backup);
/* Numbers may mean other servers than before; under the lock. */
void bal_ngx_tier_learn(struct bal_ngx_tier *tier);
/* The server of a number; under the lock. NULL: its name cannot be read. */
static inline struct bal_ngx_server *bal_ngx_tier_server(struct bal_ngx_tier *tier, uint32_t number) {
    if (tier->version != tier->shared->version)
        bal_ngx_tier_learn(tier);
    return tier->by_number[number];
}
/* One of our configuration that is not down, in turn: for when nothing can be counted. */
struct bal_ngx_server *bal_ngx_tier_plain(struct bal_ngx_tier *tier);
/* A decision has taken so long. */
void bal_ngx_tier_took(struct bal_ngx_tier *tier, uint64_t ns);

/* ---- a request ---- */

enum bal_ngx_peer_state {
    BAL_PEER_NEW,     /* at no server, nothing to be given back */
    BAL_PEER_SENT,    /* its ticket is under way */
    BAL_PEER_PLAIN,   /* at a server, not counted */
    BAL_PEER_WAITING, /* its ticket waits */
    BAL_PEER_DECIDED, /* it has waited and may go to its server */
    BAL_PEER_REFUSED, /* it may not wait, or not any longer */
    BAL_PEER_FAILED,  /* nginx has given its server back, and may ask for another one at once */
};

/* What most requests never need. */
struct bal_ngx_wait {
    struct bal_ngx_peer *peer;
    struct bal_ngx_placeholder place;
    ngx_event_t later;      /* what must not be done inside of nginx's calls */
    ngx_rbtree_node_t node; /* of those that wait, by ticket */
};

/* Every request has one, in its pool, so that it is small. */
struct bal_ngx_peer {
    ngx_http_request_t *request;
    ngx_http_upstream_t *u;
    struct bal_ngx_upstream *upstream;
    struct bal_ngx_tier *tier;
    struct bal_ngx_server *server; /* the last one */
    struct bal_ngx_wait *wait;     /* NULL: not needed yet */
    uint64_t ticket;
    uint64_t began_ns;  /* when it came */
    uint64_t waited_ns; /* of all tries */
    uint64_t sent_ns;   /* when the last try began, and how long it took; 0: it did not end by itself */
    uint64_t took_ns;
    uint32_t number; /* of the server ... */
    uint32_t length; /* ... and how many were there when it was chosen */
    uint8_t rank;
    uint8_t state;   /* enum bal_ngx_peer_state */
    uint8_t reason;  /* enum bal_reason of the last verdict */
    uint8_t outcome; /* enum bal_outcome, of FAILED */
    bool plain;      /* the last choice was not counted */
    bool blameless;  /* the server has had no part in what went wrong */
};

/* ---- peer.c ---- */

ngx_int_t bal_ngx_peer_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us);
/* The last choice that was made for this request, NULL: none was. */
const struct bal_ngx_peer *bal_ngx_peer_of(const ngx_http_request_t *r);
/* What it needs to wait, or for something to be done later; NULL: there is no memory. */
struct bal_ngx_wait *bal_ngx_peer_wait(struct bal_ngx_peer *peer);
/* The ticket, if there is one, is given back: the client has gone, or nobody was asked. */
void bal_ngx_peer_cancel(struct bal_ngx_peer *peer);

/* ---- hold.c ---- */

/* From inside of nginx's peer.get: the request waits for news, or is refused. What peer.get shall return. */
ngx_int_t bal_ngx_hold(struct bal_ngx_peer *peer, ngx_peer_connection_t *pc);
/* Looks for news of a tier; no lock is held. */
void bal_ngx_hold_news(struct bal_ngx_tier *tier);
/* It does not wait any longer, whatever comes. */
void bal_ngx_hold_end(struct bal_ngx_peer *peer);
/* What was put off until nginx's own calls are over: of WAITING and REFUSED. */
void bal_ngx_hold_later(struct bal_ngx_peer *peer);

/* ---- the others ---- */

/* The key of `ballast_key`, or the one that everybody knows. */
const struct bal_key *bal_ngx_key(ngx_conf_t *cf);

char *bal_ngx_upstream_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);
ngx_int_t bal_ngx_variables_add(ngx_conf_t *cf);
/* One word each, for logs whose fields are words. */
const char *bal_ngx_reason_name(enum bal_reason reason);

extern ngx_module_t ngx_http_ballast_module;

#endif
