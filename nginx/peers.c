/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers of an upstream in shared memory: one block of the live core for the primary servers, and one
 * for the backup servers. */
#include "ballast/live/slow_start.h"
#include "changes_zone.h"
#include "found_slots.h"
#include "health_check.h"
#include "names.h"
#include "orca.h"
#include "plugin_directive.h"
#include "process.h"
#include "upstream.h"

#include <stdlib.h>
#include <string.h>

/* With stations: how long a request waits for replies to probes; how long a new server that has not reported
 * yet may be chosen; how often a backlog is announced. */
enum { PROBE_MS = 10, GRACE_MS = 1000, BEAT_MS = 100, GAP_US = 200 };

/* The shortest time between two log lines about silent stations: changes meanwhile are logged together. */
enum { SILENCE_MS = 1000 };

/* Where names are looked up while nginx runs: capacity for at least this many addresses. */
enum { RESOLVED_MIN = 256 };

/* ---- servers by name ---- */

static int compare_names(const void *a, const void *b) {
    const struct bli_ngx_server *const *s = a, *const *t = b;
    return strcmp((const char *)(*s)->name.data, (const char *)(*t)->name.data);
}

static struct bli_ngx_server *find_server(const struct bli_ngx_peers *peers, const char *name) {
    struct bli_ngx_server key = {.name = {strlen(name), (u_char *)name}}, *wanted = &key;
    struct bli_ngx_server **found =
        bsearch(&wanted, peers->servers.elts, peers->servers.nelts, sizeof wanted, compare_names);
    return found ? *found : NULL;
}

static struct bli_ngx_server *push_server(struct bli_ngx_peers *peers, ngx_pool_t *pool,
                                          const ngx_str_t *name) {
    struct bli_ngx_server **place = ngx_array_push(&peers->servers);
    struct bli_ngx_server *server = ngx_pcalloc(pool, sizeof *server);
    if (!place || !server)
        return NULL;
    server->name.len = name->len;
    server->name.data = ngx_pnalloc(pool, name->len + 1);
    if (!server->name.data)
        return NULL;
    *ngx_cpymem(server->name.data, name->data, name->len) = '\0';
    server->lasting = true;
    *place = server;
    return server;
}

static void sort_servers(struct bli_ngx_peers *peers) {
    qsort(peers->servers.elts, peers->servers.nelts, sizeof(struct bli_ngx_server *), compare_names);
}

/* ---- servers of newer configurations ---- */

/* Of a newer configuration: this process gets to know it when a request goes there. */
struct bli_ngx_foreign {
    struct bli_ngx_server server;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un path;
    } address;
    char name[BAL_SERVER_NAME];
};

/* "IP:PORT" or "[IP]:PORT", as nginx writes addresses. */
static bool read_ip(const char *name, struct bli_ngx_foreign *f) {
    const char *colon = strrchr(name, ':');
    const bool v6 = name[0] == '[' && colon && colon[-1] == ']';
    const ngx_int_t port = colon ? ngx_atoi((u_char *)colon + 1, strlen(colon + 1)) : NGX_ERROR;
    if (port < 1 || port > 65535)
        return false;
    if (v6) {
        f->address.v6.sin6_family = AF_INET6;
        f->address.v6.sin6_port = htons((in_port_t)port);
        f->server.socklen = sizeof f->address.v6;
        return ngx_inet6_addr((u_char *)name + 1, (size_t)(colon - name - 2),
                              f->address.v6.sin6_addr.s6_addr) == NGX_OK;
    }
    f->address.v4.sin_family = AF_INET;
    f->address.v4.sin_port = htons((in_port_t)port);
    f->address.v4.sin_addr.s_addr = ngx_inet_addr((u_char *)name, (size_t)(colon - name));
    f->server.socklen = sizeof f->address.v4;
    return f->address.v4.sin_addr.s_addr != INADDR_NONE;
}

static bool read_address(const char *name, struct bli_ngx_foreign *f) {
    static const char unix_prefix[] = "unix:";
    const char *path = name + sizeof unix_prefix - 1;
    memset(&f->address, 0, sizeof f->address);
    f->server.sockaddr = &f->address.any;
    if (strncmp(name, unix_prefix, sizeof unix_prefix - 1) != 0)
        return read_ip(name, f);
    if (strlen(path) >= sizeof f->address.path.sun_path)
        return false;
    f->address.path.sun_family = AF_UNIX;
    strcpy(f->address.path.sun_path, path);
    f->server.socklen = sizeof f->address.path;
    return true;
}

bool bli_ngx_peers_name_server(ngx_pool_t *pool, const char *text, char name[BAL_SERVER_NAME]) {
    struct bli_ngx_foreign f;
    ngx_addr_t address;
    if (strncmp(text, "unix:", 5) == 0) {
        ngx_cpystrn((u_char *)name, (u_char *)text, BAL_SERVER_NAME);
        return text[5] && strlen(text) < BAL_SERVER_NAME && read_address(text, &f);
    }
    if (ngx_parse_addr_port(pool, &address, (u_char *)text, strlen(text)) != NGX_OK)
        return false;
    if (ngx_inet_get_port(address.sockaddr) == 0)
        ngx_inet_set_port(address.sockaddr, 80); /* as in `server IP;` */
    name[ngx_sock_ntop(address.sockaddr, address.socklen, (u_char *)name, BAL_SERVER_NAME - 1, 1)] = '\0';
    return read_address(name, &f);
}

static void forget_session(struct bli_ngx_server *server) {
#if (NGX_HTTP_SSL)
    if (server->session)
        ngx_ssl_free_session(server->session);
    server->session = NULL;
#else
    (void)server;
#endif
}

/* A process with a newer configuration has added a server to the block that ours does not name. An index gets
 * another name only when the earlier server has no requests. NULL: no memory, or no address. */
static struct bli_ngx_server *add_foreign_server(struct bli_ngx_foreign **place, const char *name) {
    struct bli_ngx_foreign *f = *place ? *place : ngx_pcalloc(ngx_cycle->pool, sizeof *f);
    *place = f;
    if (!f || strcmp(f->name, name) == 0)
        return f ? &f->server : NULL;
    forget_session(&f->server);
    strcpy(f->name, name);
    f->server.name = (ngx_str_t){strlen(f->name), (u_char *)f->name};
    if (read_address(name, f))
        return &f->server;
    bli_ngx_journal_add(NGX_LOG_ERR, "ballast: server \"%s\" has no address", name);
    f->name[0] = '\0';
    return NULL;
}

/* After a change of the servers each index is looked up at its first use: all at once, in each process and
 * under the lock, would keep the requests of a large fleet waiting. */
struct bli_ngx_server *bli_ngx_peers_server(struct bli_ngx_peers *peers, uint32_t number) {
    struct bli_ngx_known *known = &peers->known[number];
    const uint64_t version = peers->shared->version + bal_dispatcher_members_version(peers->d);
    if (known->version == version)
        return known->server;
    const char *name = bal_dispatcher_server(peers->d, number).name;
    known->server = name ? find_server(peers, name) : NULL;
    if (name && !known->server)
        known->server = add_foreign_server(&known->foreign, name);
    known->version = version;
    return known->server;
}

struct bli_ngx_server *bli_ngx_peers_own_server(const struct bli_ngx_peers *peers, ngx_uint_t i) {
    if (peers->names)
        return bli_ngx_resolved_server(peers->names, i);
    return i < peers->servers.nelts ? ((struct bli_ngx_server **)peers->servers.elts)[i] : NULL;
}

static bool is_same(const struct bli_ngx_server *a, const struct bli_ngx_server *b) {
    return b && a->name.len == b->name.len && memcmp(a->name.data, b->name.data, a->name.len) == 0;
}

/* ---- choosing without counting ---- */

static void add_extra(struct bli_ngx_peers *peers, const char *name, ngx_uint_t weight, bool closed) {
    struct bli_ngx_server *server = add_foreign_server(&peers->extra[peers->extras], name);
    if (!server)
        return;
    server->weight = weight;
    server->closed = closed;
    peers->extras++;
}

/* Of our own list; where servers have stations none can be added. */
static void list_added(struct bli_ngx_peers *peers) {
    if (!peers->added || peers->upstream->stations)
        return;
    peers->extras = 0;
    for (uint32_t i = 0; i < peers->server_list_count; i++) {
        const struct bal_dispatcher_server *s = &peers->server_list[i];
        if (s->name >= peers->added[0] && s->name < peers->added[peers->config.servers])
            add_extra(peers, s->name, (ngx_uint_t)s->weight, s->down || s->drain);
    }
}

/* Without the block, whose lock may not be free when they are needed. */
static void list_members(struct bli_ngx_peers *peers) {
    char name[BAL_ADDRESS_TEXT];
    if (!peers->member_list || bal_dispatcher_members_version(peers->d) == peers->members_listed ||
        !bli_ngx_zone_lock(&peers->zone))
        return;
    const uint32_t count = bal_dispatcher_members(peers->d, peers->member_list, peers->config.join.most);
    peers->members_listed = bal_dispatcher_members_version(peers->d);
    bli_ngx_zone_unlock(&peers->zone);
    peers->extras = 0;
    for (uint32_t i = 0; i < ngx_min(count, peers->config.join.most); i++) {
        bal_address_print(&peers->member_list[i].address, name);
        add_extra(peers, name, 1, false);
    }
}

static bool init_extra(struct bli_ngx_peers *peers, ngx_pool_t *pool) {
    const uint32_t joined = peers->config.join.most;
    if (!peers->added && !joined)
        return true;
    peers->extra = ngx_pcalloc(pool, peers->config.servers * sizeof *peers->extra);
    peers->member_list = joined ? ngx_pcalloc(pool, joined * sizeof *peers->member_list) : NULL;
    return peers->extra && (peers->member_list || !joined);
}

/* Smooth weighted round robin, as nginx's own: each time all gain their weight, and the one chosen gives up
 * what all have gained. */
struct turn {
    const struct bli_ngx_server *failed;
    struct bli_ngx_server *best;
    bool best_failed;
    ngx_int_t all;
};

static void compare_turn(struct turn *turn, struct bli_ngx_server *s) {
    if (s->closed)
        return;
    turn->all += (ngx_int_t)s->weight;
    s->credit += (ngx_int_t)s->weight;
    const bool has_failed = is_same(s, turn->failed);
    if (!turn->best || (turn->best_failed && !has_failed) ||
        (turn->best_failed == has_failed && s->credit > turn->best->credit)) {
        turn->best = s;
        turn->best_failed = has_failed;
    }
}

struct bli_ngx_server *bli_ngx_peers_untracked_server(struct bli_ngx_peers *peers,
                                                      const struct bli_ngx_server *failed) {
    struct bli_ngx_server *s;
    struct turn turn = {.failed = failed};
    for (ngx_uint_t i = 0; (s = bli_ngx_peers_own_server(peers, i)); i++)
        compare_turn(&turn, s);
    for (uint32_t i = 0; i < peers->extras; i++)
        compare_turn(&turn, &peers->extra[i]->server);
    if (turn.best)
        turn.best->credit -= turn.all;
    return turn.best;
}

void bli_ngx_peers_add_decision_time(struct bli_ngx_peers *peers, uint64_t ns) {
    const uint32_t bucket = ns < 2 ? 0 : 63 - (uint32_t)__builtin_clzll(ns);
    struct bli_ngx_decisions *decisions = &peers->shared->decisions[bal_dispatcher_worker_number(peers->d)];
    decisions->bucket[ngx_min(bucket, DECISION_BUCKETS - 1)]++;
    decisions->sum_ns += ns;
}

/* ---- the list for the block ---- */

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    for (const u_char *at = bytes; count--; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_servers(const struct bal_dispatcher_server *server, uint32_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < count; i++) {
        const struct bal_dispatcher_server *s = &server[i];
        const uint64_t numbers[] = {
            (uint64_t)s->weight, s->max_conns, s->slots, s->down | (uint64_t)s->drain << 1,
            s->max_fails,        s->fail_ns};
        hash = hash_bytes(hash, s->name, strlen(s->name) + 1);
        hash = hash_bytes(hash, numbers, sizeof numbers);
    }
    return hash | 1; /* 0: none has been applied */
}

static uint32_t list_configured_servers(struct bli_ngx_peers *peers) {
    struct bli_ngx_server *const *server = peers->servers.elts;
    for (ngx_uint_t i = 0; i < peers->servers.nelts; i++) {
        const struct bli_ngx_server *s = server[i];
        peers->server_list[i] = (struct bal_dispatcher_server){
            .name = (const char *)s->name.data,
            .station = bli_ngx_address_id(&s->name),
            .weight = (double)s->weight,
            .max_conns = (uint32_t)s->max_conns,
            .down = s->down,
            .drain = s->drain,
            .max_fails = (uint32_t)s->max_fails,
            .fail_ns = (uint64_t)s->fail_timeout * 1000000000,
        };
    }
    return (uint32_t)peers->servers.nelts;
}

static void count_tries(struct bli_ngx_peers *peers) {
    peers->tries = 0;
    for (uint32_t i = 0; i < peers->server_list_count; i++)
        peers->tries += !peers->server_list[i].down && !peers->server_list[i].drain;
}

/* Where names are looked up there may be backup servers at some times only: until they are listed, there are
 * as many as the configuration has room for. */
static bool has_backup(const struct bli_ngx_peers *peers) {
    const struct bli_ngx_peers *backup = &peers->upstream->peers[1];
    if (!peers->config.backed || !backup->server_list_hash)
        return peers->config.backed;
    return backup->unlisted || backup->server_list_count > 0;
}

/* The list of our servers, ready before the lock is taken. Nothing is applied while it cannot be made. */
static void list_servers(struct bli_ngx_peers *peers) {
    peers->backed = has_backup(peers);
    uint32_t count = peers->names ? bli_ngx_resolved_list(peers->names, peers->server_list)
                                  : list_configured_servers(peers);
    peers->unlisted = !bli_ngx_overlay_apply(peers, &count) ||
                      (peers->names && !bli_ngx_resolved_is_complete(peers->names));
    peers->server_list_count = count;
    count_tries(peers);
    list_added(peers);
    peers->server_list_hash = hash_servers(peers->server_list, peers->server_list_count) ^
                              bli_ngx_check_hash(peers->upstream) ^ peers->upstream->slow_start << 32 ^
                              (uint64_t)peers->backed << 63 ^
                              hash_bytes(1, peers->upstream->now.text, strlen(peers->upstream->now.text));
}

/* ---- the role ---- */

static size_t slots_logged_at(const struct bli_ngx_peers *peers) {
    return bli_ngx_aligned(sizeof(struct bli_ngx_shared) + peers->config.servers);
}

static size_t slots_logged_size(const struct bli_ngx_peers *peers) {
    return peers->config.min_slots ? peers->config.servers * sizeof *peers->slots_logged : 0;
}

static size_t records_at(const struct bli_ngx_peers *peers) {
    return slots_logged_at(peers) + bli_ngx_aligned(slots_logged_size(peers));
}

static uint32_t records_capacity(const struct bli_ngx_peers *peers) {
    return bli_ngx_records_capacity((uint32_t)peers->upstream->record);
}

static size_t history_at(const struct bli_ngx_peers *peers) {
    return records_at(peers) +
           bli_ngx_aligned(bli_ngx_records_size(peers->config.servers, records_capacity(peers)));
}

static size_t shared_size(const struct bli_ngx_peers *peers) {
    return history_at(peers) + bli_ngx_aligned(sizeof(struct bli_ngx_history));
}

static size_t block_size(const struct bli_ngx_peers *peers) {
    return shared_size(peers) + bal_dispatcher_size(&peers->upstream->policy, &peers->config);
}

/* So many requests that they fit into what the directive gives. */
static bool fit_requests(struct bli_ngx_peers *peers) {
    uint32_t fits = 0, least = 1, most = 1 << 24;
    while (least <= most) {
        peers->config.requests = least + (most - least) / 2;
        if (block_size(peers) <= peers->upstream->zone) {
            fits = peers->config.requests;
            least = fits + 1;
        } else {
            most = peers->config.requests - 1;
        }
    }
    peers->config.requests = fits;
    return fits > 0;
}

static size_t size(void *user, uint32_t requests) {
    struct bli_ngx_peers *peers = user;
    const struct bli_ngx_upstream *upstream = peers->upstream;
    if (requests == 0)
        return block_size(peers);
    peers->config.requests = requests;
    if (upstream->zone && !fit_requests(peers)) {
        peers->config.requests = 1;
        ngx_log_error(NGX_LOG_EMERG, ngx_cycle->log, 0,
                      "ballast: zone=%uz has no room for a single request; use at least %uz in %V:%ui",
                      upstream->zone, block_size(peers), &upstream->file, upstream->line);
        return 0;
    }
    return block_size(peers);
}

static void create(void *user, void *block, uint64_t now) {
    struct bli_ngx_peers *peers = user;
    peers->config.boot = bli_ngx_boot();
    bli_ngx_records_init((void *)((char *)block + records_at(peers)), peers->config.servers,
                         records_capacity(peers));
    memset((char *)block + slots_logged_at(peers), 0, slots_logged_size(peers));
    memset((char *)block + history_at(peers), 0, sizeof(struct bli_ngx_history));
    bal_dispatcher_create((char *)block + shared_size(peers), &peers->upstream->policy, &peers->config, now);
}

static enum bal_code open_block(void *user, void *block, uint64_t seed, struct bli_ngx_core *core,
                                struct bal_error *err) {
    struct bli_ngx_peers *peers = user;
    ngx_pool_t *pool = ngx_cycle->pool;
    peers->shared = block;
    peers->slots_logged = peers->config.min_slots ? (void *)((char *)block + slots_logged_at(peers)) : NULL;
    peers->records = (void *)((char *)block + records_at(peers));
    peers->history = (void *)((char *)block + history_at(peers));
    peers->d = ngx_pcalloc(pool, bal_dispatcher_view_size(&peers->upstream->policy, &peers->config));
    peers->known = ngx_pcalloc(pool, peers->config.servers * sizeof *peers->known);
    peers->server_list =
        ngx_pcalloc(pool, ngx_max(peers->servers.nelts, peers->config.servers) * sizeof *peers->server_list);
    peers->names = peers->upstream->resolves ? bli_ngx_resolved_new(pool, peers->config.servers) : NULL;
    if (!peers->d || !peers->known || !peers->server_list || (peers->upstream->resolves && !peers->names) ||
        !bli_ngx_overlay_init(peers, pool) || !init_extra(peers, pool))
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    if (peers->names) /* a reload goes on with what was known */
        bli_ngx_resolved_update(peers->names, peers);
    list_servers(peers);
    ngx_rbtree_init(&peers->waiting, &peers->sentinel, ngx_rbtree_insert_value);
    ngx_queue_init(&peers->sent);
    core->d = peers->d;
    return bal_dispatcher_open_with(peers->d, (char *)block + shared_size(peers), &peers->upstream->policy,
                                    seed, err);
}

static void decisions_ready(void *user) {
    bli_ngx_hold_process_decisions(user);
}

static uint32_t read_members(void *user, void *block, struct bal_member *list, uint32_t room) {
    const struct bli_ngx_peers *peers = user;
    const struct bal_policy_spec *policy = &peers->upstream->policy;
    struct bal_dispatcher *d = ngx_alloc(bal_dispatcher_view_size(policy, &peers->config), ngx_cycle->log);
    uint32_t count = 0;
    if (d && bal_dispatcher_open_with(d, (char *)block + shared_size(peers), policy, 1, NULL) == BAL_OK)
        count = ngx_min(room, bal_dispatcher_heard_members(d, list, room));
    ngx_free(d);
    return count;
}

/* Under the lock. How long the answer took is no longer known: a good outcome is treated as a cancelled
 * request. */
static void finish_deferred(void *user, uint64_t now, uint64_t ticket, enum bli_ngx_deferral what) {
    const struct bli_ngx_peers *peers = user;
    if (what == BLI_NGX_DEFER_BAD || what == BLI_NGX_DEFER_FAILED)
        bal_dispatcher_respond(peers->d, now, ticket,
                               what == BLI_NGX_DEFER_BAD ? BAL_OUTCOME_BAD : BAL_OUTCOME_FAILED);
    else
        bal_dispatcher_cancel(peers->d, now, ticket);
}

/* Under the lock. */
static void detach_stations(void *user, uint64_t now) {
    const struct bli_ngx_peers *peers = user;
    bal_dispatcher_detach_stations(peers->d, now);
}

/* Under the lock. Where the servers have not changed, it only compares two numbers. */
static enum bal_code apply(void *user, uint64_t now, struct bal_error *err) {
    struct bli_ngx_peers *peers = user;
    if (peers->unlisted || peers->shared->servers == peers->server_list_hash)
        return BAL_OK; /* or it is applied as soon as it can be listed */
    if (peers->shared->servers &&
        (bli_ngx_overlay_is_old(peers) || (peers->names && bli_ngx_resolved_is_old(peers->names, peers))))
        return BAL_OK;        /* a process with a newer list may have applied it already */
    peers->shared->version++; /* first: a process that dies in the middle of this leaves numbers that mean
                                others */
    enum bal_code code = peers->config.policy_room
                             ? bal_dispatcher_set_policy(peers->d, now, &peers->upstream->now.spec, err)
                             : BAL_OK;
    if (!code)
        code = bal_dispatcher_configure(peers->d, now, peers->server_list, peers->server_list_count, err);
    if (!code) {
        bal_dispatcher_set_backed(peers->d, now, peers->backed);
        bal_dispatcher_configure_slow_start(peers->d, now, (uint64_t)peers->upstream->slow_start * 1000000);
        bli_ngx_check_apply(peers, now);
    }
    peers->shared->servers = code ? 0 : peers->server_list_hash;
    return code;
}

/* What happened to servers since the last time goes to the log. Under the lock. */
static void log_change(const struct bli_ngx_peers *peers, const char *name, bool before, bool now,
                       const char *what) {
    if (before != now)
        bli_ngx_journal_add(NGX_LOG_NOTICE, "ballast: upstream \"%V\": server %s %s %s",
                            &peers->upstream->us->host, name, now ? "is" : "is no longer", what);
}

static enum bli_ngx_server_activity activity_of(const struct bal_server_view *view) {
    if (!view->name)
        return BLI_NGX_ACTIVITIES;
    if (view->down)
        return BLI_NGX_OFF;
    if (view->status == BAL_SERVER_OFF || view->status == BAL_SERVER_SETUP)
        return view->status == BAL_SERVER_OFF ? BLI_NGX_OFF : BLI_NGX_SETUP;
    return view->jobs ? BLI_NGX_BUSY : BLI_NGX_IDLE;
}

enum { EJECTED = 1, SHUT = 2, SILENT = 4, FAILING = 8, DRAINED = 16 };

/* Under the lock. */
static struct bli_ngx_refused refused(void *user) {
    const struct bli_ngx_peers *peers = user;
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(peers->d);
    return (struct bli_ngx_refused){counts.reasons[BAL_REASON_NO_ROOM] - counts.crowded, counts.replaced,
                                    counts.reasons[BAL_REASON_TOO_LONG], counts.crowded};
}

/* Under the lock: of one server. due: it is time to log. */
static uint8_t collect_silence(struct bli_ngx_silence *silence, const struct bal_server_view *view,
                               uint8_t before, bool due) {
    const bool counts = view->name && !view->leaving && !view->down;
    const bool silent = counts && view->silent;
    silence->stations += counts;
    silence->silent += silent;
    if (!due)
        return before & SILENT;
    if (silent && !(before & SILENT)) {
        if (silence->fallen < sizeof silence->names / sizeof *silence->names)
            strcpy(silence->names[silence->fallen], view->name);
        silence->fallen++;
    }
    silence->risen += counts && !silent && before & SILENT;
    return silent ? SILENT : 0;
}

/* Under the lock: of all of them. */
static void update_silence(struct bli_ngx_peers *peers, uint64_t now) {
    struct bli_ngx_silence *silence = &peers->silence;
    const bool unheard = silence->stations && silence->silent == silence->stations;
    if (silence->fallen || silence->risen)
        peers->shared->silence_logged_at = now;
    if (unheard != (bool)peers->shared->unheard)
        silence->change = unheard ? BLI_NGX_UNHEARD : BLI_NGX_HEARD_AGAIN;
    peers->shared->unheard = unheard;
}

/* Under the lock. It can be chosen, or could be if it had fewer requests. */
static bool is_on(const struct bli_ngx_peers *peers, uint32_t number, const struct bal_server_view *view) {
    return view->name && view->status == BAL_SERVER_ON && !view->leaving && !view->drain && !view->down &&
           !view->ejected && !view->shut && !view->silent &&
           !bal_dispatcher_check_view(peers->d, number).closed;
}

static uint64_t sum_of(const uint64_t counts[BAL_MSG_TYPES]) {
    uint64_t sum = 0;
    for (int type = 1; type < BAL_MSG_TYPES; type++)
        sum += counts[type];
    return sum;
}

/* Under the lock. Once a second: a point of the last hour. */
static void add_to_history(struct bli_ngx_peers *peers, uint64_t now) {
    const struct bal_dispatcher_counts counts = bal_dispatcher_counts(peers->d);
    struct bli_ngx_moment moment = {.now = now,
                                    .arrived = counts.arrived,
                                    .failed = counts.failed,
                                    .refused = counts.refused + counts.no_room,
                                    .messages =
                                        sum_of(counts.messages_sent) + sum_of(counts.messages_received)};
    for (uint32_t number = 0; number < peers->config.servers; number++) {
        const struct bal_server_view view = bal_dispatcher_server(peers->d, number);
        moment.on += is_on(peers, number, &view);
        for (int i = 0; i < BLI_NGX_ACTIVITIES; i++)
            moment.activity_ns[i] += peers->records->meter[number].ns[i];
    }
    bli_ngx_history_add(peers->history, &moment, peers->records->times, peers->config.classes);
}

/* Under the lock: what slots=auto has found of a server. Where too many have changed to be kept at once, the
 * others are logged the next time; half of the lines are for what cannot wait. */
static void log_slots(const struct bli_ngx_peers *peers, uint32_t number,
                      const struct bal_server_view *view) {
    u_char text[BLI_NGX_FOUND_TEXT];
    if (!peers->slots_logged || !view->name || view->concurrency.limit == peers->slots_logged[number] ||
        bli_ngx_journal_lines >= BLI_NGX_LINES / 2)
        return;
    if (view->concurrency.limit) {
        bli_ngx_found_print(text, &view->concurrency, peers->slots_logged[number]);
        bli_ngx_journal_add(NGX_LOG_NOTICE, "ballast: upstream \"%V\", server %s: %s",
                            &peers->upstream->us->host, view->name, text);
    }
    peers->slots_logged[number] = view->concurrency.limit;
}

/* Under the lock. */
static void tick(void *user, uint64_t now) {
    struct bli_ngx_peers *peers = user;
    const bool due =
        peers->upstream->stations && now >= peers->shared->silence_logged_at + (uint64_t)SILENCE_MS * 1000000;
    peers->silence = (struct bli_ngx_silence){.change = BLI_NGX_AS_BEFORE};
    const uint64_t passed = bli_ngx_records_elapsed(peers->records, now);
    for (uint32_t number = 0; number < peers->config.servers; number++) {
        const struct bal_server_view view = bal_dispatcher_server(peers->d, number);
        const uint8_t before = view.name ? peers->shared->logged_state[number] : 0;
        const bool ejected = view.name && view.ejected, shut = view.name && view.shut;
        const bool drained = view.name && view.drain && view.in_flight == 0;
        peers->shared->logged_state[number] =
            (uint8_t)((ejected ? EJECTED : 0) | (shut ? SHUT : 0) | (drained ? DRAINED : 0) |
                      collect_silence(&peers->silence, &view, before, due));
        if (view.name && bli_ngx_check_log_change(peers, number, view.name, before & FAILING))
            peers->shared->logged_state[number] |= FAILING;
        bli_ngx_records_add_activity(peers->records, number, activity_of(&view), passed);
        log_slots(peers, number, &view);
        log_change(peers, view.name, before & EJECTED, ejected, "ejected");
        log_change(peers, view.name, before & SHUT, shut, "closed by max_fails");
        log_change(peers, view.name, before & DRAINED, drained, "drained: it has no request left");
    }
    if (peers->upstream->stations)
        update_silence(peers, now);
    if (bli_ngx_history_tick(peers->history, now, bal_dispatcher_held(peers->d, BAL_CLASSES_MAX)))
        add_to_history(peers, now);
}

static void log_silence(const struct bli_ngx_silence *silence, const ngx_str_t *host) {
    u_char names[sizeof silence->names + 32], *end = names;
    const uint32_t shown = sizeof silence->names / sizeof *silence->names;
    for (uint32_t i = 0; i < ngx_min(silence->fallen, shown); i++)
        end = ngx_slprintf(end, names + sizeof names, "%s%s", i ? ", " : "", silence->names[i]);
    const ngx_str_t text = {(size_t)(end - names), names};
    if (silence->fallen) {
        bli_ngx_journal_log(
            NGX_LOG_WARN, ngx_cycle->log,
            "ballast: upstream \"%V\": nothing is heard any longer of the stations of %uD servers, "
            "%V%s; %uD of %uD are silent",
            host, silence->fallen, &text, silence->fallen > shown ? ", ..." : "", silence->silent,
            silence->stations);
    }
    if (silence->risen) {
        bli_ngx_journal_log(
            NGX_LOG_NOTICE, ngx_cycle->log,
            "ballast: upstream \"%V\": the stations of %uD servers are heard again; %uD of %uD are "
            "silent",
            host, silence->risen, silence->silent, silence->stations);
    }
}

/* Not under the lock. */
static void log_changes(void *user) {
    const struct bli_ngx_peers *peers = user;
    const ngx_str_t *host = &peers->upstream->us->host;
    log_silence(&peers->silence, host);
    if (peers->silence.change == BLI_NGX_UNHEARD) {
        bli_ngx_journal_log(
            NGX_LOG_ERR, ngx_cycle->log,
            "ballast: upstream \"%V\": no station is heard, so requests go by those that this "
            "dispatcher has in flight; do datagrams pass, and are keys and dispatchers= right?",
            host);
    } else if (peers->silence.change == BLI_NGX_HEARD_AGAIN) {
        bli_ngx_journal_log(NGX_LOG_NOTICE, ngx_cycle->log,
                            "ballast: upstream \"%V\": stations are heard again, and decide", host);
    }
}

/* Names have other addresses, or servers were changed at run time. */
void bli_ngx_peers_update(struct bli_ngx_peers *peers, uint64_t now) {
    struct bal_error err;
    const bool renamed = peers->names && bli_ngx_resolved_update(peers->names, peers);
    if (renamed || peers->unlisted || bli_ngx_overlay_is_old(peers) || peers->backed != has_backup(peers)) {
        list_servers(peers);
        peers->unapplied = true;
    }
    if (peers->unlisted || !peers->unapplied || !bli_ngx_zone_is_newest(&peers->zone) ||
        !bli_ngx_zone_lock(&peers->zone))
        return;
    peers->unapplied = apply(peers, now, &err) != BAL_OK; /* on failure again at the next tick */
    bal_dispatcher_run_timers(peers->d, now);             /* requests that wait may have a server now */
    bli_ngx_zone_unlock(&peers->zone);
}

ngx_uint_t bli_ngx_peers_tries(const struct bli_ngx_upstream *upstream) {
    ngx_uint_t tries = 0;
    if (upstream->join.most) /* of members as many as this process knew when it last sent something */
        return ngx_max(1, upstream->tries + upstream->peers[0].transport.contacts.count);
    if (!bli_ngx_changes_running()->used && !upstream->resolves)
        return upstream->tries;
    for (ngx_uint_t k = 0; k < upstream->peer_sets; k++)
        tries += upstream->peers[k].tries;
    return tries ? tries : upstream->tries; /* nothing is listed yet, or all are closed */
}

static void check(void *user, uint64_t now) {
    struct bli_ngx_peers *peers = user;
    if (peers == peers->upstream->peers)
        bli_ngx_names_run(peers->upstream, now, bli_ngx_zone_is_newest(&peers->zone));
    bli_ngx_peers_update(peers, now);
    list_members(peers);
    if (peers->upstream->stations)
        bli_ngx_peer_time_out_lost(peers, now);
    bli_ngx_check_run(peers, now);
}

static void limit(void *user, ngx_cycle_t *cycle, uint64_t connections) {
    const struct bli_ngx_peers *peers = user;
    const struct bli_ngx_upstream *upstream = peers->upstream;
    if (upstream->hold_given && peers == upstream->peers)
        bli_ngx_placeholder_warn_capacity(cycle, "hold=", upstream->held, connections, &upstream->file,
                                          upstream->line);
}

static const struct bli_ngx_role role = {
    .size = size,
    .limit = limit,
    .create = create,
    .open = open_block,
    .apply = apply,
    .tick = tick,
    .refused = refused,
    .log = log_changes,
    .check = check,
    .decisions_ready = decisions_ready,
    .read_members = read_members,
    .detach_stations = detach_stations,
    .finish_deferred = finish_deferred,
};

/* ---- from the configuration ---- */

/* Capacity for twice as many, so that servers can be added by a reload that keeps the zone; and for the
 * addresses that names may have, with those that drain. */
static uint32_t capacity(ngx_uint_t servers, const struct bli_ngx_upstream *upstream) {
    uint32_t room = upstream->resolves ? RESOLVED_MIN : 8;
    while (room < 2 * servers + bli_ngx_names_room(upstream))
        room *= 2;
    return room;
}

static ngx_int_t add_server(ngx_conf_t *cf, struct bli_ngx_peers *peers,
                            const ngx_http_upstream_rr_peer_t *peer) {
    const struct bli_ngx_upstream *upstream = peers->upstream;
    if (peer->name.len >= BAL_SERVER_NAME) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "ballast: the address of server \"%V\" is longer than %d bytes in upstream \"%V\"",
                      &peer->name, BAL_SERVER_NAME - 1, &upstream->us->host);
        return NGX_ERROR;
    }
    struct bli_ngx_server *server = push_server(peers, cf->pool, &peer->name);
    if (!server)
        return NGX_ERROR;
    server->sockaddr = peer->sockaddr;
    server->socklen = peer->socklen;
    server->weight = (ngx_uint_t)peer->weight;
    server->max_conns = peer->max_conns;
    server->max_fails = peer->max_fails;
    server->fail_timeout = peer->fail_timeout;
    server->down = peer->down && !bli_ngx_is_draining(peer->down);
    server->drain = bli_ngx_is_draining(peer->down);
    server->closed = peer->down;
    return NGX_OK;
}

/* All that the block depends on, its size apart. */
static ngx_str_t zone_name(ngx_conf_t *cf, const struct bli_ngx_peers *peers, bool backup) {
    const struct bal_dispatcher_config *c = &peers->config;
    const size_t room =
        peers->upstream->us->host.len + POLICY_TEXT + 400 + BLI_NGX_JOIN_TEXT + BLI_NGX_ORCA_TEXT;
    ngx_str_t name = {0, ngx_pnalloc(cf->pool, room + BLI_NGX_CLASS_LIMITS_TEXT)};
    if (!name.data)
        return name;
    u_char *end =
        ngx_snprintf(name.data, room,
                     "ballast:%V%s:%s slots=%uD,%uD classes=%uD hold=%uD,%uL ejection=%uD,%uL servers=%uD%s "
                     "listen=%V record=%uD plugin=%s room=%uz",
                     &peers->upstream->us->host, backup ? ":backup" : "", peers->upstream->text, c->min_slots,
                     c->slots, c->classes, c->held, c->hold_ns, c->failures, c->back_off_ns, c->servers,
                     c->backed ? " backed" : "", &peers->upstream->own.name, records_capacity(peers),
                     bli_ngx_plugin_hash(peers->upstream->policy.policy), c->policy_room);
    end = bli_ngx_orca_print(end, peers->upstream);
    end = bli_ngx_join_print(end, &c->join);
    end = bli_ngx_class_limits_print(end, c->class_limit);
    name.len = (size_t)(end - name.data);
    return name;
}

/* The station of a server has its address, in UDP. */
static ngx_int_t add_stations(ngx_conf_t *cf, struct bli_ngx_peers *peers, bool backup) {
    const struct bli_ngx_upstream *upstream = peers->upstream;
    struct bli_ngx_server *const *server = peers->servers.elts;
    struct bli_ngx_transport *first = &peers->upstream->peers[0].transport;
    if ((backup ? bli_ngx_transport_share(cf, &peers->transport, first, &peers->zone)
                : bli_ngx_transport_init(cf, first, &upstream->listen, &upstream->own, bli_ngx_keys(cf),
                                         &peers->zone)) != NGX_OK)
        return NGX_ERROR;
    peers->transport.max_members = peers->config.join.most;
    for (ngx_uint_t i = 0; i < peers->servers.nelts; i++) {
        struct bli_ngx_address address;
        const char *fault = bli_ngx_address_set(cf->pool, &server[i]->name, server[i]->sockaddr,
                                                server[i]->socklen, &address);
        if (!fault && backup && bli_ngx_transport_find(first, address.id))
            fault = "it stands twice in this upstream";
        if (fault) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "ballast: server \"%V\" cannot have a station: %s; use the address that is its "
                          "listen=, or leave out listen= in %V:%ui",
                          &server[i]->name, fault, &upstream->file, upstream->line);
            return NGX_ERROR;
        }
        if (bli_ngx_transport_add_peer(&peers->transport, &address) != NGX_OK)
            return NGX_ERROR;
    }
    return NGX_OK;
}

/* With stations: a server whose name has addresses of IPv4 and of IPv6 has one station, at one of them. It is
 * the one of the family of listen=; any other would be silent for ever. */
static bool is_other_family(const struct bli_ngx_upstream *upstream,
                            const ngx_http_upstream_rr_peers_t *rr_peers,
                            const ngx_http_upstream_rr_peer_t *peer) {
    const sa_family_t family = upstream->stations ? upstream->own.sockaddr->sa_family : AF_UNSPEC;
    bool other = false;
    if (!upstream->stations || peer->sockaddr->sa_family == family || peer->server.data == NULL)
        return false;
    for (const ngx_http_upstream_rr_peer_t *p = rr_peers->peer; p && !other; p = p->next)
        other = p->server.data == peer->server.data && p->sockaddr->sa_family == family;
    return other;
}

/* The same address once more. What nginx would treat as two servers is one here, whose requests are counted
 * together: they meet in the same queue. It gets the weights of both, where the policy uses weights, and the
 * connections of both. */
static void merge_server(struct bli_ngx_server *into, const struct bli_ngx_server *again, bool weighted) {
    if (again->closed)
        return;
    if (into->closed) {
        *into = *again;
        return;
    }
    if (weighted)
        into->weight += again->weight;
    into->max_conns = into->max_conns && again->max_conns ? into->max_conns + again->max_conns : 0;
    into->max_fails = into->max_fails && again->max_fails ? ngx_max(into->max_fails, again->max_fails) : 0;
    into->fail_timeout = ngx_max(into->fail_timeout, again->fail_timeout);
}

/* They are sorted by name. */
static void merge_servers(struct bli_ngx_peers *peers) {
    struct bli_ngx_server **server = peers->servers.elts;
    const bool weighted = bli_ngx_uses_weights(peers->upstream);
    ngx_uint_t count = 0;
    for (ngx_uint_t i = 0; i < peers->servers.nelts; i++)
        if (count && compare_names(&server[count - 1], &server[i]) == 0)
            merge_server(server[count - 1], server[i], weighted);
        else
            server[count++] = server[i];
    peers->servers.nelts = count;
}

ngx_int_t bli_ngx_peers_init(ngx_conf_t *cf, struct bli_ngx_peers *peers, struct bli_ngx_upstream *upstream,
                             const ngx_http_upstream_rr_peers_t *rr_peers, bool backup) {
    struct bal_error err;
    peers->upstream = upstream;
    if (ngx_array_init(&peers->servers, cf->pool, rr_peers->number, sizeof(struct bli_ngx_server *)) !=
        NGX_OK)
        return NGX_ERROR;
    for (const ngx_http_upstream_rr_peer_t *peer = rr_peers->peer; peer; peer = peer->next)
        if (!bli_ngx_name_is_placeholder(&peer->server) && !is_other_family(upstream, rr_peers, peer) &&
            add_server(cf, peers, peer) != NGX_OK)
            return NGX_ERROR;
    sort_servers(peers);
    merge_servers(peers);
    peers->config = (struct bal_dispatcher_config){
        .servers = capacity(rr_peers->number, upstream) + (backup ? 0 : upstream->join.most),
        .workers = BLI_NGX_WORKERS_MAX,
        .requests = 1,
        .classes = (uint32_t)upstream->classes,
        .slots = (uint32_t)upstream->slots,
        .min_slots = (uint32_t)upstream->min_slots,
        .load_ns = (uint64_t)upstream->load_ms * 1000000,
        .held = (uint32_t)upstream->held,
        .hold_ns = (uint64_t)upstream->hold * 1000000,
        .refuse_beyond = true,
        .backed = !backup && rr_peers->next,
        .failures = (uint32_t)upstream->failures,
        .back_off_ns = (uint64_t)upstream->back_off * 1000000,
        .stations = upstream->stations,
        .probe_ns = (uint64_t)PROBE_MS * 1000000,
        .grace_ns = (uint64_t)GRACE_MS * 1000000,
        .beat_ns = (uint64_t)BEAT_MS * 1000000,
        .gap_ns = (uint64_t)GAP_US * 1000,
        .id = upstream->stations ? upstream->own.id : 1,
        .boot = 1,
        .join = upstream->join,
    };
    if (backup)
        peers->config.join.most = 0;
    memcpy(peers->config.class_limit, upstream->class_limit, sizeof upstream->class_limit);
    if (bli_ngx_changes_conf(cf)->used)
        peers->config.policy_room = bal_dispatcher_policy_room(&peers->config);
    if (bal_dispatcher_check(&upstream->policy, &peers->config, &err)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "ballast: upstream \"%V\": %s in %V:%ui",
                      &upstream->us->host, err.text, &upstream->file, upstream->line);
        return NGX_ERROR;
    }
    peers->zone.kind = "upstream";
    peers->zone.host = &upstream->us->host;
    const ngx_str_t name = zone_name(cf, peers, backup);
    if (!name.data || bli_ngx_zone_add(cf, &peers->zone, &name, &role, peers) != NGX_OK)
        return NGX_ERROR;
    return upstream->stations ? add_stations(cf, peers, backup) : NGX_OK;
}
