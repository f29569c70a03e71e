/* SPDX-License-Identifier: BSD-2-Clause */
/* The dispatcher role: `ballast [POLICY] ...;` in an upstream block.
 *
 * upstream.c reads the directive, peers.c keeps the servers of an upstream in shared memory, peer.c chooses
 * one for a request and reports its outcome, hold_queue.c lets requests wait, class.c determines their class;
 * variables.c and status.c show all this. */
#ifndef NGINX_UPSTREAM_H
#define NGINX_UPSTREAM_H

#include "ballast/live/dispatcher.h"
#include "class.h"
#include "class_limit_option.h"
#include "history.h"
#include "placeholder.h"
#include "zone.h"

enum { PEER_SETS = 2, POLICY_TEXT = 256, DECISION_BUCKETS = 31, DECISION_SHARE = 64 };

/* ---- servers ---- */

/* As this process knows it. */
struct bli_ngx_server {
    ngx_str_t name; /* of its address, terminated; by which the block knows it */
    struct sockaddr *sockaddr;
    socklen_t socklen;
    ngx_uint_t weight, max_conns, max_fails;
    time_t fail_timeout;
    bool down;
    bool drain;       /* as down, and it is to become empty */
    bool closed;      /* not to be chosen now: as configured, or by a change at run time */
    bool lasting;     /* of the configuration: it is not overwritten while requests refer to it */
    ngx_int_t credit; /* for choosing without counting */
#if (NGX_HTTP_SSL)
    ngx_ssl_session_t *session;
#endif
};

/* Decisions that took 2^i to 2^(i+1) ns, and how long all of them took. */
struct bli_ngx_decisions {
    uint64_t bucket[DECISION_BUCKETS], sum_ns;
};

/* In shared memory, in front of the core's block. */
struct bli_ngx_shared {
    uint64_t version;           /* one more whenever an index may mean another server */
    uint64_t servers;           /* a hash of the configuration that was applied */
    uint64_t untracked;         /* requests that were sent without being counted */
    uint64_t silence_logged_at; /* when silent stations, or their return, were last logged */
    uint32_t unheard;           /* it has been logged that all stations are silent */
    /* Each process in a row of its own; one decision in DECISION_SHARE is measured, because reading the clock
     * takes a good part of the time of a decision. */
    struct bli_ngx_decisions decisions[BAL_WORKERS_MAX];
    uint8_t logged_state[]; /* by index: the last logged state of ejection, max_fails and silence */
};

/* Changes of stations to be logged after the lock is released. */
struct bli_ngx_silence {
    uint32_t stations, silent;      /* of servers that are not down */
    uint32_t fallen, risen;         /* silent since the last time; no longer silent */
    char names[4][BAL_SERVER_NAME]; /* of the first that have fallen silent */
    enum { BLI_NGX_AS_BEFORE, BLI_NGX_UNHEARD, BLI_NGX_HEARD_AGAIN } change; /* of all together */
};

/* Which server an index means to this process. */
struct bli_ngx_known {
    struct bli_ngx_server *server;
    struct bli_ngx_foreign *foreign; /* memory for one of a newer configuration; NULL: not needed yet */
    uint64_t version;                /* of the list of servers; 0: it has not been looked up */
};

/* Servers of an upstream among which a policy chooses: either the primary or the backup servers. */
struct bli_ngx_peers {
    struct bli_ngx_zone zone;
    struct bli_ngx_upstream *upstream;
    struct bal_dispatcher_config config;
    ngx_array_t servers; /* of struct bli_ngx_server *, by name */
    struct bli_ngx_transport transport;
    /* Of this process: */
    struct bal_dispatcher *d;
    struct bli_ngx_shared *shared;
    struct bli_ngx_records *records;
    struct bli_ngx_history *history;
    struct bli_ngx_known *known;               /* by number */
    struct bal_dispatcher_server *server_list; /* our servers as passed to the block, and their hash */
    uint64_t server_list_hash;
    uint32_t server_list_count;
    bool unlisted, unapplied;       /* the list must be made again; and applied to the block */
    uint64_t changes_listed;        /* the generation of changes at run time that the list has */
    char (*added)[BAL_SERVER_NAME]; /* names of servers that were added; NULL: none can be */
    struct bli_ngx_foreign **extra; /* those that were added or have joined, for choosing without counting ...
                                     */
    uint32_t extras;                /* ... so many; NULL: there can be none */
    struct bal_member *member_list; /* memory for those that have joined */
    uint64_t members_listed;        /* the version of them that `extra` has */
    uint32_t tries;                 /* servers in the list that may be chosen */
    bool backed;                    /* there were backup servers when the list was made */
    ngx_rbtree_t waiting;           /* struct bli_ngx_peer_data by ticket */
    struct bli_ngx_resolved *names; /* of servers that are looked up while nginx runs; NULL: none is */
    ngx_rbtree_node_t sentinel;
    struct bli_ngx_silence silence;
    struct bli_ngx_checker *checker; /* of health checks; NULL: not needed yet */
    ngx_queue_t sent;                /* struct bli_ngx_peer_data, of this process; with stations */
    uint32_t *slots_logged;          /* by number, in shared memory; NULL: slots are given */
    uint32_t decisions;              /* so far */
    time_t untracked_logged_at;      /* when untracked requests were last logged */
};

/* A policy and its canonical text. */
struct bli_ngx_policy {
    struct bal_policy_spec spec;
    char text[POLICY_TEXT];
};

/* The directive. Zeroed: there is none in this upstream. */
struct bli_ngx_upstream {
    ngx_http_upstream_srv_conf_t *us;
    ngx_str_t file; /* where the directive stands */
    ngx_uint_t line;
    struct bal_policy_spec policy;
    char text[POLICY_TEXT];    /* of the policy, canonical */
    bool default_policy;       /* the directive names none */
    ngx_str_t options;         /* all else in it, as it stands there */
    struct bli_ngx_policy now; /* the one that is used: that of the configuration, or of ballast_api */
    char wanted[POLICY_TEXT];  /* of this process: as last read from the changes */
    ngx_uint_t slots;
    ngx_uint_t min_slots;               /* not 0: slots are found, from so many on */
    struct bal_load_fields load_fields; /* of orca= ... */
    ngx_msec_t load_ms;                 /* ... and how long a report counts; 0: none is read */
    ngx_uint_t held;
    bool hold_given;
    ngx_msec_t hold;
    struct bal_class_limit class_limit[BAL_CLASSES_MAX];
    ngx_uint_t failures;
    ngx_msec_t back_off;
    ngx_http_complex_value_t *class;
    ngx_uint_t classes;
    struct bli_ngx_urgency urgency;
    ngx_uint_t record; /* requests that are recorded */
    bool slots_given;  /* slots= is given, and holds also for requests of clients that have gone ... */
    bool abort_frees;  /* ... unless servers notice that */
    size_t zone;       /* bytes; 0: as many as connections may need */
    bool stations;     /* servers have stations; messages to them are sent from ... */
    struct bli_ngx_address listen; /* ... here; the others know it by this address: */
    struct bli_ngx_address own;
    struct bal_join_config join; /* stations that are not listed */
    ngx_uint_t peer_sets;
    struct bli_ngx_peers peers[PEER_SETS];
    ngx_uint_t tries;            /* servers that are not down */
    bool resolves;               /* names of servers are looked up while nginx runs */
    ngx_array_t *names;          /* of ballast_server: struct bli_ngx_name *; NULL: none */
    struct bli_ngx_check *check; /* NULL: no health checks */
    ngx_msec_t slow_start;       /* 0: servers start at once */
};

/* ---- peers.c ---- */

/* In the configuration: from nginx's own list. */
ngx_int_t bli_ngx_peers_init(ngx_conf_t *cf, struct bli_ngx_peers *peers, struct bli_ngx_upstream *upstream,
                             const ngx_http_upstream_rr_peers_t *rr_peers, bool backup);
/* The server with this index. The lock of the zone must be held. NULL: its name cannot be read. */
struct bli_ngx_server *bli_ngx_peers_server(struct bli_ngx_peers *peers, uint32_t number);
/* One that is not down, in turn by weight, of our configuration, added at run time or joined: for when
 * requests cannot be counted. Not `failed` (or NULL), if there is another one. NULL: all are down. */
struct bli_ngx_server *bli_ngx_peers_untracked_server(struct bli_ngx_peers *peers,
                                                      const struct bli_ngx_server *failed);
/* The i-th server of which this process knows without the block; NULL behind the last. Not those that were
 * added at run time. */
struct bli_ngx_server *bli_ngx_peers_own_server(const struct bli_ngx_peers *peers, ngx_uint_t i);
/* Applies what has changed, of names and at run time, to the list and to the block, if that can be done now.
 */
void bli_ngx_peers_update(struct bli_ngx_peers *peers, uint64_t now);
/* Servers that a request of this upstream may try. */
ngx_uint_t bli_ngx_peers_tries(const struct bli_ngx_upstream *upstream);
/* How nginx writes the address "IP:PORT", "IP" or "unix:PATH"; false: it is none. */
bool bli_ngx_peers_name_server(ngx_pool_t *pool, const char *text, char name[BAL_SERVER_NAME]);
/* A decision has taken so long. */
void bli_ngx_peers_add_decision_time(struct bli_ngx_peers *peers, uint64_t ns);

/* ---- resolved_servers.c: servers whose names are looked up while nginx runs ---- */

/* At configuration: does one of nginx's servers use `resolve`? */
bool bli_ngx_resolved_is_used(const ngx_http_upstream_srv_conf_t *us);
/* In this process. NULL: out of memory. */
struct bli_ngx_resolved *bli_ngx_resolved_new(ngx_pool_t *pool, uint32_t room);
/* Copies the present list, if it has changed since the last copy; returns whether it has. The lock must not
 * be held. */
bool bli_ngx_resolved_update(struct bli_ngx_resolved *names, const struct bli_ngx_peers *peers);
/* All of it could be copied; it has changed since, or could not be. */
bool bli_ngx_resolved_is_complete(const struct bli_ngx_resolved *names);
bool bli_ngx_resolved_is_old(const struct bli_ngx_resolved *names, const struct bli_ngx_peers *peers);
/* The i-th of them as this process knows it, for choosing without counting; NULL behind the last. It may
 * become another one when they are copied again. */
struct bli_ngx_server *bli_ngx_resolved_server(struct bli_ngx_resolved *names, ngx_uint_t i);
/* What was copied last: at most `room` servers. */
uint32_t bli_ngx_resolved_list(const struct bli_ngx_resolved *names, struct bal_dispatcher_server *servers);

/* ---- a request ---- */

enum bli_ngx_peer_state {
    BLI_PEER_NEW,       /* at no server, nothing to be released */
    BLI_PEER_SENT,      /* its ticket is under way */
    BLI_PEER_UNTRACKED, /* at a server, not counted */
    BLI_PEER_WAITING,   /* its ticket waits */
    BLI_PEER_DECIDED,   /* it has waited and may go to its server */
    BLI_PEER_REFUSED,   /* it may not wait, or not any longer */
    BLI_PEER_FAILED,    /* nginx has released its server, and may request another one at once */
};

/* What most requests never need. */
struct bli_ngx_wait {
    struct bli_ngx_peer_data *peer;
    struct bli_ngx_placeholder placeholder;
    ngx_event_t deferred_event; /* work that must not be done inside nginx's calls */
    ngx_rbtree_node_t node;     /* of those that wait, by ticket */
    uint64_t retry_ns;          /* of one that is refused; 0: it is not known */
};

/* Every request has one, in its pool, so keep it small. */
struct bli_ngx_peer_data {
    ngx_http_request_t *request;
    ngx_http_upstream_t *u;
    struct bli_ngx_upstream *upstream;
    struct bli_ngx_peers *peers;
    struct bli_ngx_server *server; /* the last one ... */
    ngx_str_t *name;           /* ... and its name, which stays when the server's index gets another one */
    struct bli_ngx_wait *wait; /* NULL: not needed yet */
    ngx_queue_t link;          /* with stations: among those of its tier that are at servers */
    uint64_t ticket;
    uint64_t began_ns;  /* when it came */
    uint64_t waited_ns; /* of all tries */
    uint64_t sent_ns;   /* when the last try began, and how long it took; 0: it did not end by itself */
    uint64_t took_ns;
    uint32_t number; /* of the server ... */
    uint32_t length; /* ... and how many were there when it was chosen */
    uint8_t rank;
    uint8_t state;    /* enum bli_ngx_peer_state */
    uint8_t reason;   /* enum bal_reason of the last decision */
    uint8_t outcome;  /* enum bal_outcome, of BLI_PEER_FAILED */
    bool untracked;   /* the last choice was not counted */
    bool local_error; /* the error was not the server's */
    bool linked;
    bool lost; /* its station has been silent for too long */
};

/* ---- peer.c ---- */

ngx_int_t bli_ngx_peer_init(ngx_http_request_t *r, ngx_http_upstream_srv_conf_t *us);
/* The last choice that was made for this request, NULL: none was. */
const struct bli_ngx_peer_data *bli_ngx_peer_of(const ngx_http_request_t *r);
/* What it needs to wait, or for something to be done later; NULL: there is no memory. */
struct bli_ngx_wait *bli_ngx_peer_get_wait(struct bli_ngx_peer_data *peer);
/* Those that wait for the answer of a station which has been silent for BLI_NGX_LOST_MS go elsewhere, if they
 * may be tried again. */
enum { BLI_NGX_LOST_MS = 2000 };
void bli_ngx_peer_time_out_lost(struct bli_ngx_peers *peers, uint64_t now);
/* Releases the ticket, if there is one: the client has gone, or the request was sent to no server. */
void bli_ngx_peer_cancel(struct bli_ngx_peer_data *peer);

/* ---- hold_queue.c ---- */

/* Called inside nginx's peer.get: the request waits for a decision, or is refused. Returns what peer.get
 * shall return. */
ngx_int_t bli_ngx_hold_request(struct bli_ngx_peer_data *peer, ngx_peer_connection_t *pc);
/* Processes new decisions of a tier. No lock may be held. */
void bli_ngx_hold_process_decisions(struct bli_ngx_peers *peers);
/* It does not wait any longer, whatever comes. */
void bli_ngx_hold_remove(struct bli_ngx_peer_data *peer);
/* Runs what was deferred until nginx's own calls have returned, for WAITING and REFUSED. */
void bli_ngx_hold_run_deferred(struct bli_ngx_peer_data *peer);

/* ---- policy_change.c: the policy at run time ---- */

/* Can the upstream have this policy, without a reload? */
enum bal_code bli_ngx_policy_check(const struct bli_ngx_upstream *upstream, const char *text,
                                   struct bli_ngx_policy *policy, struct bal_error *err);
/* This one is wanted in place of the configured one; NULL: none is. One that cannot be used is logged, once,
 * when the caller writes the journal. */
void bli_ngx_policy_update(struct bli_ngx_upstream *upstream, const char *text);

/* ---- the others ---- */

/* The keys of `ballast_key`, or the public default key. */
const struct bal_keys *bli_ngx_keys(ngx_conf_t *cf);

static inline const char *bli_ngx_upstream_name(const struct bli_ngx_upstream *upstream) {
    return (const char *)upstream->us->host.data; /* a word of the configuration is terminated */
}
/* The policy looks at the weights of servers. */
bool bli_ngx_uses_weights(const struct bli_ngx_upstream *upstream);
char *bli_ngx_upstream_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* Logs which policy was chosen where none is named. */
/* `zone` of nginx is possible with both directives, but for Angie. */
ngx_int_t bli_ngx_check_zone(ngx_conf_t *cf, const ngx_http_upstream_srv_conf_t *us, const char *directive,
                             const ngx_str_t *file, ngx_uint_t line);
void bli_ngx_upstream_log_default(const struct bli_ngx_upstream *upstream, ngx_log_t *log);
ngx_int_t bli_ngx_variables_add(ngx_conf_t *cf);
/* One word each, for logs whose fields are words. */
const char *bli_ngx_reason_name(enum bal_reason reason);

extern ngx_module_t ngx_http_ballast_module;

#endif
