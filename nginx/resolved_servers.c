/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers that nginx looks up while it runs (`server NAME resolve;`).
 *
 * nginx keeps the peers of such an upstream in shared memory (`zone NAME SIZE;`), changes them when names
 * have other addresses, and counts the changes. Each worker compares that count at its ticks, copies the
 * peers, and applies them to the block, which identifies servers by address and notices when another worker
 * has applied them already. Workers read the addresses from the block, like those of a newer
 * configuration. */
#include "upstream.h"

#include <string.h>

#if BAL_NGX_RESOLVES

struct name {
    struct bal_dispatcher_server server;
    struct bal_ngx_server own;
    ngx_sockaddr_t address;
    char text[BAL_SERVER_NAME];
};

struct bal_ngx_resolved {
    ngx_uint_t config;    /* nginx's count of changes when they were copied */
    bool copied;          /* once */
    bool overflow_logged; /* that there are too many has been logged */
    uint32_t count, room;
    struct name name[];
};

bool bal_ngx_resolved_is_used(const ngx_http_upstream_srv_conf_t *us) {
    const ngx_http_upstream_server_t *server = us->servers->elts;
    for (ngx_uint_t i = 0; i < us->servers->nelts; i++)
        if (server[i].host.len)
            return true;
    return false;
}

struct bal_ngx_resolved *bal_ngx_resolved_new(ngx_pool_t *pool, uint32_t room) {
    struct bal_ngx_resolved *names = ngx_pcalloc(pool, sizeof *names + room * sizeof names->name[0]);
    if (names)
        names->room = room;
    return names;
}

static ngx_http_upstream_rr_peers_t *rr_peers_of(const struct bal_ngx_peers *peers) {
    ngx_http_upstream_rr_peers_t *rr_peers = peers->upstream->us->peer.data;
    return peers == peers->upstream->peers ? rr_peers : rr_peers->next;
}

static struct name *find_name(struct bal_ngx_resolved *names, const ngx_str_t *name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (strlen(names->name[i].text) == name->len &&
            memcmp(names->name[i].text, name->data, name->len) == 0)
            return &names->name[i];
    return NULL;
}

/* What a request needs that is sent without the block. */
static void copy_address(struct name *n, const ngx_http_upstream_rr_peer_t *peer) {
#if (NGX_HTTP_SSL)
    if (n->own.session)
        ngx_ssl_free_session(n->own.session);
#endif
    ngx_memcpy(&n->address, peer->sockaddr, ngx_min(peer->socklen, sizeof n->address));
    n->own = (struct bal_ngx_server){.name = {strlen(n->text), (u_char *)n->text},
                                     .sockaddr = &n->address.sockaddr,
                                     .socklen = peer->socklen,
                                     .weight = (ngx_uint_t)peer->weight,
                                     .down = peer->down && !bal_ngx_is_draining(peer->down),
                                     .drain = bal_ngx_is_draining(peer->down),
                                     .closed = peer->down};
}

static void set_name(struct name *n, const ngx_http_upstream_rr_peer_t *peer) {
    *ngx_cpymem(n->text, peer->name.data, peer->name.len) = '\0';
    n->server = (struct bal_dispatcher_server){
        .name = n->text,
        .weight = (double)peer->weight,
        .max_conns = (uint32_t)peer->max_conns,
        .down = peer->down && !bal_ngx_is_draining(peer->down),
        .drain = bal_ngx_is_draining(peer->down),
        .max_fails = (uint32_t)peer->max_fails,
        .fail_ns = (uint64_t)peer->fail_timeout * 1000000000,
    };
    copy_address(n, peer);
}

/* As the same address twice in the configuration (peers.c). */
static void merge_peer(struct name *n, const ngx_http_upstream_rr_peer_t *peer, bool weighted) {
    struct bal_dispatcher_server *s = &n->server;
    if (peer->down)
        return;
    if (s->down || s->drain) {
        set_name(n, peer);
        return;
    }
    if (weighted) {
        s->weight += (double)peer->weight;
        n->own.weight += (ngx_uint_t)peer->weight;
    }
    s->max_conns = s->max_conns && peer->max_conns ? s->max_conns + (uint32_t)peer->max_conns : 0;
    s->max_fails = s->max_fails && peer->max_fails ? ngx_max(s->max_fails, (uint32_t)peer->max_fails) : 0;
    s->fail_ns = ngx_max(s->fail_ns, (uint64_t)peer->fail_timeout * 1000000000);
}

/* Two names may have one address, which is one server. */
static void copy_peer(struct bal_ngx_resolved *names, const ngx_http_upstream_rr_peer_t *peer,
                      bool weighted) {
    struct name *known = find_name(names, &peer->name);
    if (known)
        merge_peer(known, peer, weighted);
    else if (peer->name.len < BAL_SERVER_NAME)
        set_name(&names->name[names->count++], peer);
}

static void log_too_many(struct bal_ngx_resolved *names, const struct bal_ngx_peers *peers,
                         ngx_uint_t number) {
    if (number > names->room && !names->overflow_logged)
        bal_ngx_journal_log(NGX_LOG_ERR, ngx_cycle->log,
                            "ballast: upstream \"%V\": its names have %ui addresses, of which %uD are used",
                            &peers->upstream->us->host, number, names->room);
    names->overflow_logged = number > names->room;
}

bool bal_ngx_resolved_update(struct bal_ngx_resolved *names, const struct bal_ngx_peers *peers) {
    ngx_http_upstream_rr_peers_t *rr_peers = rr_peers_of(peers);
    if (!rr_peers || !rr_peers->config || (names->copied && names->config == *rr_peers->config))
        return false;
    names->count = 0;
    ngx_http_upstream_rr_peers_rlock(rr_peers);
    names->config = *rr_peers->config;
    const ngx_uint_t number = rr_peers->number;
    for (const ngx_http_upstream_rr_peer_t *p = rr_peers->peer; p && names->count < names->room; p = p->next)
        copy_peer(names, p, bal_ngx_uses_weights(peers->upstream));
    ngx_http_upstream_rr_peers_unlock(rr_peers);
    names->copied = true;
    log_too_many(names, peers, number);
    return true;
}

struct bal_ngx_server *bal_ngx_resolved_server(struct bal_ngx_resolved *names, ngx_uint_t i) {
    return i < names->count ? &names->name[i].own : NULL;
}

uint32_t bal_ngx_resolved_list(const struct bal_ngx_resolved *names, struct bal_dispatcher_server *servers) {
    for (uint32_t i = 0; i < names->count; i++)
        servers[i] = names->name[i].server;
    return names->count;
}

ngx_uint_t bal_ngx_resolved_tries(const struct bal_ngx_upstream *upstream) {
    ngx_uint_t tries = 0;
    for (const ngx_http_upstream_rr_peers_t *rr_peers = upstream->us->peer.data; rr_peers;
         rr_peers = rr_peers->next)
        tries += rr_peers->tries;
    return tries;
}

#else

/* The name of a server is looked up when the configuration is read, and never again. */

bool bal_ngx_resolved_is_used(const ngx_http_upstream_srv_conf_t *us) {
    (void)us;
    return false;
}

struct bal_ngx_resolved *bal_ngx_resolved_new(ngx_pool_t *pool, uint32_t room) {
    (void)pool, (void)room;
    return NULL;
}

bool bal_ngx_resolved_update(struct bal_ngx_resolved *names, const struct bal_ngx_peers *peers) {
    (void)names, (void)peers;
    return false;
}

struct bal_ngx_server *bal_ngx_resolved_server(struct bal_ngx_resolved *names, ngx_uint_t i) {
    (void)names, (void)i;
    return NULL;
}

uint32_t bal_ngx_resolved_list(const struct bal_ngx_resolved *names, struct bal_dispatcher_server *servers) {
    (void)names, (void)servers;
    return 0;
}

ngx_uint_t bal_ngx_resolved_tries(const struct bal_ngx_upstream *upstream) {
    return upstream->tries;
}

#endif
