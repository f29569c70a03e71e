/* SPDX-License-Identifier: BSD-2-Clause */
/* `ballast_server NAME[:PORT] ...;`: servers by a name that is looked up again while nginx runs, with nginx's
 * `resolver`, on any version of nginx.
 *
 * Each name has a table in shared memory, a zone of its own, which reloads keep: the addresses of the last
 * answer, and when the next lookup is due. One process looks up for all, and renews a short lease meanwhile;
 * when it is killed or stopped, the lease ends and another one begins. What comes late from a process that
 * has lost its lease is dropped. A lookup that fails leaves the addresses as they are.
 *
 * name_directive.c reads the directive, names.c is the table and the lookups, resolved_servers.c makes
 * servers of the addresses. */
#ifndef NGINX_NAMES_H
#define NGINX_NAMES_H

#include "compat.h"
#include "lock.h"

struct bli_ngx_upstream;

/* One address of a name. */
struct bli_ngx_name_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    uint32_t weight;
    bool backup; /* of a service: not of the lowest priority */
};

/* The directive. */
struct bli_ngx_name {
    const struct bli_ngx_upstream *upstream;
    ngx_str_t name, service; /* service: of SRV records; empty: A and AAAA */
    in_port_t port;
    ngx_uint_t weight, max_conns, max_fails, room;
    time_t fail_timeout;
    bool backup, down;
    bool drains; /* nxdomain=drain */
    ngx_str_t file;
    ngx_uint_t line;
    ngx_shm_zone_t *shm;
    ngx_resolver_t *resolver;
    ngx_msec_t timeout;
    struct bli_ngx_name_table *table; /* in shared memory */
    /* Of this process: */
    bli_ngx_lock stalled;
    ngx_resolver_ctx_t *lookup; /* that is under way; NULL: none is */
    uint64_t turn;
    struct bli_ngx_name_address *address; /* copied last */
    uint32_t addresses;
};

/* What the status page shows. */
struct bli_ngx_name_view {
    uint64_t lookups, failures;
    uint64_t answered_at; /* when an answer with addresses last came; 0: none has */
    uint32_t addresses;   /* that are used ... */
    uint32_t found;       /* ... of those in the answer */
    bool failing;         /* the last lookup failed ... */
    ngx_int_t code;       /* ... for this reason */
};

/* ---- name_directive.c ---- */

char *bli_ngx_name_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf);
/* When all servers are known: are the names right for the upstream? */
ngx_int_t bli_ngx_names_check(ngx_conf_t *cf, const struct bli_ngx_upstream *upstream);
/* When the whole configuration is known: resolvers and zones. */
ngx_int_t bli_ngx_names_complete(ngx_conf_t *cf);
/* nginx has a server for each name, which is down and stands for none. */
bool bli_ngx_name_is_placeholder(const ngx_str_t *server);
/* Adds one to what nginx sees, for a name or for servers that join. False: out of memory. */
bool bli_ngx_names_add_placeholder(ngx_conf_t *cf, const ngx_http_upstream_srv_conf_t *us,
                                   const ngx_str_t *name, ngx_uint_t weight, bool backup);
/* Addresses that the names of an upstream can have together. */
ngx_uint_t bli_ngx_names_room(const struct bli_ngx_upstream *upstream);
/* The i-th name; NULL behind the last. */
struct bli_ngx_name *bli_ngx_name_at(const struct bli_ngx_upstream *upstream, ngx_uint_t i);

/* ---- names.c ---- */

/* The zone of its table. */
ngx_int_t bli_ngx_name_add_zone(ngx_conf_t *cf, struct bli_ngx_name *name);
/* In each process about eight times a second, no lock held: begins lookups that are due. newest: this process
 * has the newest configuration. */
void bli_ngx_names_run(const struct bli_ngx_upstream *upstream, uint64_t now, bool newest);
/* One more for each change of the addresses of one of the names. */
uint64_t bli_ngx_names_generation(const struct bli_ngx_upstream *upstream);
/* Copies the addresses into memory of this process. False: the table cannot be locked now; what was copied
 * before is kept. */
bool bli_ngx_name_copy(struct bli_ngx_name *name);
struct bli_ngx_name_view bli_ngx_name_view(const struct bli_ngx_name *name);

#endif
