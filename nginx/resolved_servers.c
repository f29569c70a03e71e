/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers by names that are looked up while nginx runs: by us (`ballast_server NAME;`, names.c), or by nginx
 * (`server NAME resolve;`, since 1.27.3).
 *
 * Both keep addresses in shared memory and count their changes; nginx keeps those of the configuration there,
 * too. Each worker compares the counts at its ticks, copies all servers of a set, and applies them to the
 * block, which identifies servers by address and notices when another worker has applied them already.
 * Workers read the addresses from the block, like those of a newer configuration. */
#include "names.h"
#include "upstream.h"

#include <string.h>

struct name {
    struct bal_dispatcher_server server;
    struct bli_ngx_server own;
    ngx_sockaddr_t address;
    char text[BAL_SERVER_NAME];
};

struct bli_ngx_resolved {
    uint64_t generation;  /* the counts of changes when they were copied */
    bool copied;          /* once */
    bool overflow_logged; /* that there are too many has been logged */
    uint32_t count, room;
    uint32_t left_out; /* for which there was no room */
    struct name name[];
};

bool bli_ngx_resolved_is_used(const ngx_http_upstream_srv_conf_t *us) {
#if BLI_NGX_RESOLVES
    const ngx_http_upstream_server_t *server = us->servers->elts;
    for (ngx_uint_t i = 0; i < us->servers->nelts; i++)
        if (server[i].host.len)
            return true;
#endif
    (void)us;
    return false;
}

struct bli_ngx_resolved *bli_ngx_resolved_new(ngx_pool_t *pool, uint32_t room) {
    struct bli_ngx_resolved *names = ngx_pcalloc(pool, sizeof *names + room * sizeof names->name[0]);
    if (names)
        names->room = room;
    return names;
}

static ngx_http_upstream_rr_peers_t *rr_peers_of(const struct bli_ngx_peers *peers) {
    ngx_http_upstream_rr_peers_t *rr_peers = peers->upstream->us->peer.data;
    return peers == peers->upstream->peers ? rr_peers : rr_peers->next;
}

static struct name *find_name(struct bli_ngx_resolved *names, const ngx_str_t *name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (strlen(names->name[i].text) == name->len &&
            memcmp(names->name[i].text, name->data, name->len) == 0)
            return &names->name[i];
    return NULL;
}

/* What a request needs that is sent without the block. */
static void copy_address(struct name *n, const struct sockaddr *address, socklen_t length) {
    const struct bal_dispatcher_server *s = &n->server;
#if (NGX_HTTP_SSL)
    if (n->own.session)
        ngx_ssl_free_session(n->own.session);
#endif
    ngx_memcpy(&n->address, address, ngx_min(length, sizeof n->address));
    n->own = (struct bli_ngx_server){.name = {strlen(n->text), (u_char *)n->text},
                                     .sockaddr = &n->address.sockaddr,
                                     .socklen = length,
                                     .weight = (ngx_uint_t)s->weight,
                                     .down = s->down,
                                     .drain = s->drain,
                                     .closed = s->down || s->drain};
}

/* As the same address twice in the configuration (peers.c). False: it is to replace the one that is there. */
static bool merge_server(struct name *n, const struct bal_dispatcher_server *again, bool weighted) {
    struct bal_dispatcher_server *s = &n->server;
    if (again->down || again->drain)
        return true;
    if (s->down || s->drain)
        return false;
    if (weighted) {
        s->weight += again->weight;
        n->own.weight += (ngx_uint_t)again->weight;
    }
    s->max_conns = s->max_conns && again->max_conns ? s->max_conns + again->max_conns : 0;
    s->max_fails = s->max_fails && again->max_fails ? ngx_max(s->max_fails, again->max_fails) : 0;
    s->fail_ns = ngx_max(s->fail_ns, again->fail_ns);
    return true;
}

/* Two names may have one address, which is one server. */
static void copy_server(struct bli_ngx_resolved *names, const ngx_str_t *name,
                        const struct bal_dispatcher_server *server, const struct sockaddr *address,
                        socklen_t length, bool weighted) {
    struct name *n = find_name(names, name);
    if (n && merge_server(n, server, weighted))
        return;
    if (!n && (names->count == names->room || name->len >= BAL_SERVER_NAME)) {
        names->left_out++;
        return;
    }
    n = n ? n : &names->name[names->count++];
    *ngx_cpymem(n->text, name->data, name->len) = '\0';
    n->server = *server;
    n->server.name = n->text;
    copy_address(n, address, length);
}

/* ---- of nginx ---- */

static void copy_peer(struct bli_ngx_resolved *names, const ngx_http_upstream_rr_peer_t *peer,
                      bool weighted) {
    const bool drain = bli_ngx_is_draining(peer->down);
    const struct bal_dispatcher_server server = {.weight = (double)peer->weight,
                                                 .max_conns = (uint32_t)peer->max_conns,
                                                 .down = peer->down && !drain,
                                                 .drain = drain,
                                                 .max_fails = (uint32_t)peer->max_fails,
                                                 .fail_ns = (uint64_t)peer->fail_timeout * 1000000000};
    if (!bli_ngx_name_is_placeholder(&peer->server))
        copy_server(names, &peer->name, &server, peer->sockaddr, peer->socklen, weighted);
}

#if BLI_NGX_RESOLVES
static uint64_t nginx_generation(const ngx_http_upstream_rr_peers_t *rr_peers) {
    return rr_peers && rr_peers->config ? *rr_peers->config : 0;
}
#else
static uint64_t nginx_generation(const ngx_http_upstream_rr_peers_t *rr_peers) {
    (void)rr_peers;
    return 0;
}
#endif

/* ---- of ours ---- */

static void copy_looked_up(struct bli_ngx_resolved *names, const struct bli_ngx_name *name,
                           const struct bli_ngx_name_address *from, bool weighted) {
    u_char text[NGX_SOCKADDR_STRLEN];
    struct sockaddr *address = (struct sockaddr *)(void *)(uintptr_t)&from->address;
    const socklen_t length =
        address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    const ngx_str_t written = {ngx_sock_ntop(address, length, text, sizeof text, 1), text};
    const struct bal_dispatcher_server server = {.weight = weighted ? from->weight : 1,
                                                 .max_conns = (uint32_t)name->max_conns,
                                                 .down = name->down,
                                                 .max_fails = (uint32_t)name->max_fails,
                                                 .fail_ns = (uint64_t)name->fail_timeout * 1000000000};
    copy_server(names, &written, &server, address, length, weighted);
}

/* False: it cannot be copied now, and nothing may be applied without it. */
static bool copy_name(struct bli_ngx_resolved *names, struct bli_ngx_name *name, bool backup, bool weighted) {
    if (!bli_ngx_name_copy(name))
        return false;
    for (uint32_t i = 0; i < name->addresses; i++)
        if (name->address[i].backup == backup)
            copy_looked_up(names, name, &name->address[i], weighted);
    return true;
}

/* ---- all ---- */

static void log_too_many(struct bli_ngx_resolved *names, const struct bli_ngx_peers *peers) {
    if (names->left_out && !names->overflow_logged)
        bli_ngx_journal_log(NGX_LOG_ERR, ngx_cycle->log,
                            "ballast: upstream \"%V\": its names have %uD addresses, of which %uD are used",
                            &peers->upstream->us->host, names->count + names->left_out, names->count);
    names->overflow_logged = names->left_out > 0;
}

static uint64_t generation_of(const struct bli_ngx_peers *peers) {
    return nginx_generation(rr_peers_of(peers)) + bli_ngx_names_generation(peers->upstream);
}

static void copy_peers(struct bli_ngx_resolved *names, ngx_http_upstream_rr_peers_t *rr_peers,
                       bool weighted) {
    if (!rr_peers)
        return;
    ngx_http_upstream_rr_peers_rlock(rr_peers);
    for (const ngx_http_upstream_rr_peer_t *p = rr_peers->peer; p; p = p->next)
        copy_peer(names, p, weighted);
    ngx_http_upstream_rr_peers_unlock(rr_peers);
}

bool bli_ngx_resolved_update(struct bli_ngx_resolved *names, const struct bli_ngx_peers *peers) {
    const struct bli_ngx_upstream *upstream = peers->upstream;
    const bool weighted = bli_ngx_uses_weights(upstream);
    const uint64_t generation = generation_of(peers); /* first: what changes meanwhile is copied again */
    struct bli_ngx_name *name;
    if (names->copied && names->generation == generation)
        return false;
    names->count = names->left_out = 0;
    copy_peers(names, rr_peers_of(peers), weighted);
    for (ngx_uint_t i = 0; (name = bli_ngx_name_at(upstream, i)); i++)
        if (!copy_name(names, name, peers != upstream->peers, weighted)) {
            names->copied = false; /* again at the next tick */
            return true;
        }
    names->generation = generation;
    names->copied = true;
    log_too_many(names, peers);
    return true;
}

bool bli_ngx_resolved_is_complete(const struct bli_ngx_resolved *names) {
    return names->copied;
}

bool bli_ngx_resolved_is_old(const struct bli_ngx_resolved *names, const struct bli_ngx_peers *peers) {
    return !names->copied || names->generation != generation_of(peers);
}

struct bli_ngx_server *bli_ngx_resolved_server(struct bli_ngx_resolved *names, ngx_uint_t i) {
    return i < names->count ? &names->name[i].own : NULL;
}

uint32_t bli_ngx_resolved_list(const struct bli_ngx_resolved *names, struct bal_dispatcher_server *servers) {
    for (uint32_t i = 0; i < names->count; i++)
        servers[i] = names->name[i].server;
    return names->count;
}
