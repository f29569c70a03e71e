/* The servers of an upstream in shared memory: one block of the live core for those that are no backup, and
 * one for those that are. */
#include "process.h"
#include "upstream.h"

#include <stdlib.h>
#include <string.h>

/* With stations: how long replies to probes are waited for; how long one that has not been heard of may be
 * chosen when it is new; how often hunger is told. */
enum { PROBE_MS = 10, GRACE_MS = 1000, BEAT_MS = 100 };

/* ---- servers by name ---- */

static int by_name(const void *a, const void *b) {
    const struct bal_ngx_server *const *s = a, *const *t = b;
    return strcmp((const char *)(*s)->name.data, (const char *)(*t)->name.data);
}

static struct bal_ngx_server *find(const struct bal_ngx_tier *tier, const char *name) {
    struct bal_ngx_server key = {.name = {strlen(name), (u_char *)name}}, *wanted = &key;
    struct bal_ngx_server **found =
        bsearch(&wanted, tier->servers.elts, tier->servers.nelts, sizeof wanted, by_name);
    return found ? *found : NULL;
}

static struct bal_ngx_server *push(struct bal_ngx_tier *tier, ngx_pool_t *pool, const ngx_str_t *name) {
    struct bal_ngx_server **place = ngx_array_push(&tier->servers);
    struct bal_ngx_server *server = ngx_pcalloc(pool, sizeof *server);
    if (!place || !server)
        return NULL;
    server->name.len = name->len;
    server->name.data = ngx_pnalloc(pool, name->len + 1);
    if (!server->name.data)
        return NULL;
    *ngx_cpymem(server->name.data, name->data, name->len) = '\0';
    *place = server;
    return server;
}

static void sort(struct bal_ngx_tier *tier) {
    qsort(tier->servers.elts, tier->servers.nelts, sizeof(struct bal_ngx_server *), by_name);
}

/* ---- servers of others ---- */

static bool read_address(ngx_pool_t *pool, const char *name, struct bal_ngx_server *server) {
    static const char unix_prefix[] = "unix:";
    const size_t prefix = sizeof unix_prefix - 1;
    ngx_addr_t address = {0};
    if (strncmp(name, unix_prefix, prefix) == 0) {
        struct sockaddr_un *at = ngx_pcalloc(pool, sizeof *at);
        if (!at || strlen(name + prefix) >= sizeof at->sun_path)
            return false;
        at->sun_family = AF_UNIX;
        memcpy(at->sun_path, name + prefix, strlen(name + prefix));
        server->sockaddr = (struct sockaddr *)at;
        server->socklen = sizeof *at;
        return true;
    }
    if (ngx_parse_addr_port(pool, &address, (u_char *)name, strlen(name)) != NGX_OK)
        return false;
    server->sockaddr = address.sockaddr;
    server->socklen = address.socklen;
    return true;
}

/* A process with a newer configuration has told the block of a server that ours does not name. */
static struct bal_ngx_server *meet(struct bal_ngx_tier *tier, const char *name) {
    ngx_pool_t *pool = ngx_cycle->pool;
    const ngx_str_t text = {strlen(name), (u_char *)name};
    struct bal_ngx_server read = {0};
    if (!read_address(pool, name, &read)) {
        ngx_log_error(NGX_LOG_ERR, ngx_cycle->log, 0, "ballast: server \"%s\" has no address", name);
        return NULL;
    }
    struct bal_ngx_server *server = push(tier, pool, &text);
    if (!server)
        return NULL;
    server->sockaddr = read.sockaddr;
    server->socklen = read.socklen;
    server->foreign = true;
    sort(tier);
    return server;
}

void bal_ngx_tier_learn(struct bal_ngx_tier *tier) {
    for (uint32_t number = 0; number < tier->config.servers; number++) {
        const char *name = bal_dispatcher_server(tier->d, number).name;
        struct bal_ngx_server *server = name ? find(tier, name) : NULL;
        tier->by_number[number] = server || !name ? server : meet(tier, name);
    }
    tier->version = tier->shared->version;
}

struct bal_ngx_server *bal_ngx_tier_plain(struct bal_ngx_tier *tier) {
    struct bal_ngx_server **server = tier->servers.elts;
    for (ngx_uint_t i = 0; i < tier->servers.nelts; i++) {
        struct bal_ngx_server *s = server[tier->next++ % tier->servers.nelts];
        if (!s->down && !s->foreign)
            return s;
    }
    return NULL;
}

void bal_ngx_tier_took(struct bal_ngx_tier *tier, uint64_t ns) {
    const uint32_t bucket = ns < 2 ? 0 : 63 - (uint32_t)__builtin_clzll(ns);
    struct bal_ngx_decisions *decisions = &tier->shared->decisions[bal_dispatcher_self(tier->d)];
    decisions->bucket[ngx_min(bucket, DECISION_BUCKETS - 1)]++;
    decisions->sum_ns += ns;
}

/* ---- the role ---- */

static size_t records_at(const struct bal_ngx_tier *tier) {
    return bal_ngx_aligned(sizeof(struct bal_ngx_shared) + tier->config.servers);
}

static uint32_t records_room(const struct bal_ngx_tier *tier) {
    return bal_ngx_records_room((uint32_t)tier->upstream->record);
}

static size_t shared_size(const struct bal_ngx_tier *tier) {
    return records_at(tier) + bal_ngx_aligned(bal_ngx_records_size(tier->config.servers, records_room(tier)));
}

static size_t block_size(const struct bal_ngx_tier *tier) {
    return shared_size(tier) + bal_dispatcher_size(&tier->upstream->policy, &tier->config);
}

/* So many requests that they fit into what the directive gives. */
static bool fit(struct bal_ngx_tier *tier) {
    uint32_t fits = 0, least = 1, most = 1 << 24;
    while (least <= most) {
        tier->config.requests = least + (most - least) / 2;
        if (block_size(tier) <= tier->upstream->zone) {
            fits = tier->config.requests;
            least = fits + 1;
        } else {
            most = tier->config.requests - 1;
        }
    }
    tier->config.requests = fits;
    return fits > 0;
}

static size_t size(void *user, uint32_t requests) {
    struct bal_ngx_tier *tier = user;
    const struct bal_ngx_upstream *upstream = tier->upstream;
    if (requests == 0)
        return block_size(tier);
    tier->config.requests = requests;
    if (upstream->zone && !fit(tier)) {
        tier->config.requests = 1;
        ngx_log_error(NGX_LOG_EMERG, ngx_cycle->log, 0,
                      "ballast: zone=%uz has no room for a single request; use at least %uz in %V:%ui",
                      upstream->zone, block_size(tier), &upstream->file, upstream->line);
        return 0;
    }
    return block_size(tier);
}

static void create(void *user, void *block, uint64_t now) {
    struct bal_ngx_tier *tier = user;
    tier->config.boot = bal_ngx_boot();
    bal_ngx_records_init((void *)((char *)block + records_at(tier)), tier->config.servers,
                         records_room(tier));
    bal_dispatcher_create((char *)block + shared_size(tier), &tier->upstream->policy, &tier->config, now);
}

static enum bal_code open_block(void *user, void *block, uint64_t seed, struct bal_error *err) {
    struct bal_ngx_tier *tier = user;
    ngx_pool_t *pool = ngx_cycle->pool;
    tier->shared = block;
    tier->records = (void *)((char *)block + records_at(tier));
    tier->d = ngx_pcalloc(pool, bal_dispatcher_view_size(&tier->upstream->policy, &tier->config));
    tier->by_number = ngx_pcalloc(pool, tier->config.servers * sizeof(struct bal_ngx_server *));
    if (!tier->d || !tier->by_number)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    tier->version = UINT64_MAX;
    ngx_rbtree_init(&tier->waiting, &tier->sentinel, ngx_rbtree_insert_value);
    return bal_dispatcher_open(tier->d, (char *)block + shared_size(tier), seed, err);
}

static enum bal_code join(void *user, uint64_t now, uint64_t pid, uint64_t start, struct bal_error *err) {
    struct bal_ngx_tier *tier = user;
    return bal_dispatcher_join(tier->d, now, pid, start, err);
}

static uint32_t self(void *user) {
    const struct bal_ngx_tier *tier = user;
    return bal_dispatcher_self(tier->d);
}

static bool owner(void *user, uint32_t i, uint64_t *pid, uint64_t *start) {
    const struct bal_ngx_tier *tier = user;
    return bal_dispatcher_owner(tier->d, i, pid, start);
}

static void reap(void *user, uint64_t now, uint32_t i) {
    const struct bal_ngx_tier *tier = user;
    bal_dispatcher_reap(tier->d, now, i);
}

static void leave(void *user, uint64_t now) {
    const struct bal_ngx_tier *tier = user;
    bal_dispatcher_leave(tier->d, now);
}

static uint64_t pass(void *user, uint64_t now) {
    const struct bal_ngx_tier *tier = user;
    return bal_dispatcher_pass(tier->d, now);
}

static uint32_t woken(void *user) {
    const struct bal_ngx_tier *tier = user;
    return bal_dispatcher_woken(tier->d);
}

static const bool *wakes(void *user) {
    const struct bal_ngx_tier *tier = user;
    return bal_dispatcher_wakes(tier->d);
}

static void news(void *user) {
    bal_ngx_hold_news(user);
}

static const struct bal_message *out(void *user, uint32_t *count) {
    const struct bal_ngx_tier *tier = user;
    return bal_dispatcher_out(tier->d, count);
}

static void deafen(void *user, uint64_t now) {
    const struct bal_ngx_tier *tier = user;
    bal_dispatcher_deafen(tier->d, now);
}

static void hear(void *user, uint64_t now, const struct bal_message *message) {
    const struct bal_ngx_tier *tier = user;
    bal_dispatcher_hear(tier->d, now, message);
}

/* ---- the configuration ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t count) {
    for (const u_char *at = bytes; count--; at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of(const struct bal_dispatcher_server *server, uint32_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < count; i++) {
        const struct bal_dispatcher_server *s = &server[i];
        const uint64_t numbers[] = {(uint64_t)s->weight, s->most, s->down, s->max_fails, s->fail_ns};
        hash = mix(hash, s->name, strlen(s->name) + 1);
        hash = mix(hash, numbers, sizeof numbers);
    }
    return hash | 1; /* 0: none has been applied */
}

static enum bal_code apply(void *user, uint64_t now, struct bal_error *err) {
    struct bal_ngx_tier *tier = user;
    struct bal_ngx_server *const *server = tier->servers.elts;
    struct bal_dispatcher_server *given = ngx_alloc(tier->servers.nelts * sizeof *given, ngx_cycle->log);
    uint32_t count = 0;
    if (!given)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    for (ngx_uint_t i = 0; i < tier->servers.nelts; i++) {
        const struct bal_ngx_server *s = server[i];
        if (s->foreign)
            continue;
        given[count++] = (struct bal_dispatcher_server){
            .name = (const char *)s->name.data,
            .station = bal_ngx_mail_id(&s->name),
            .weight = (double)s->weight,
            .most = (uint32_t)s->max_conns,
            .down = s->down,
            .max_fails = (uint32_t)s->max_fails,
            .fail_ns = (uint64_t)s->fail_timeout * 1000000000,
        };
    }
    enum bal_code code = BAL_OK;
    const uint64_t hash = hash_of(given, count);
    if (tier->shared->servers != hash) { /* else it would take O(servers^2) to find that nothing has changed
                                          */
        code = bal_dispatcher_configure(tier->d, now, given, count, err);
        tier->shared->version++;
        tier->shared->servers = code ? 0 : hash;
    }
    ngx_free(given);
    return code;
}

/* What happened to servers since the last time goes to the log. */
static void tell(const struct bal_ngx_tier *tier, const char *name, bool before, bool now, const char *what) {
    if (before != now)
        ngx_log_error(NGX_LOG_NOTICE, ngx_cycle->log, 0, "ballast: upstream \"%V\": server %s %s %s",
                      &tier->upstream->us->host, name, now ? "is" : "is no longer", what);
}

static enum bal_ngx_doing doing(const struct bal_server_view *view) {
    if (!view->name)
        return BAL_NGX_DOINGS;
    if (view->down)
        return BAL_NGX_OFF;
    if (view->standing == BAL_STANDING_OFF || view->standing == BAL_STANDING_SETUP)
        return view->standing == BAL_STANDING_OFF ? BAL_NGX_OFF : BAL_NGX_SETUP;
    return view->jobs ? BAL_NGX_BUSY : BAL_NGX_IDLE;
}

static void tick(void *user, uint64_t now) {
    enum { QUARANTINED = 1, SHUT = 2 };
    struct bal_ngx_tier *tier = user;
    const uint64_t passed = bal_ngx_records_pass(tier->records, now);
    for (uint32_t number = 0; number < tier->config.servers; number++) {
        const struct bal_server_view view = bal_dispatcher_server(tier->d, number);
        const uint8_t before = view.name ? tier->shared->told[number] : 0;
        const bool quarantined = view.name && view.quarantined, shut = view.name && view.shut;
        tier->shared->told[number] = (uint8_t)((quarantined ? QUARANTINED : 0) | (shut ? SHUT : 0));
        bal_ngx_records_meter(tier->records, number, doing(&view), passed);
        tell(tier, view.name, before & QUARANTINED, quarantined, "in quarantine");
        tell(tier, view.name, before & SHUT, shut, "closed by max_fails");
    }
}

static const struct bal_ngx_role role = {
    .size = size,
    .create = create,
    .open = open_block,
    .join = join,
    .self = self,
    .owner = owner,
    .reap = reap,
    .leave = leave,
    .pass = pass,
    .woken = woken,
    .wakes = wakes,
    .apply = apply,
    .tick = tick,
    .news = news,
    .out = out,
    .hear = hear,
    .deafen = deafen,
};

/* ---- from the configuration ---- */

/* Room for twice as many, so that servers can be added by a reload that keeps the zone. */
static uint32_t capacity(ngx_uint_t servers) {
    uint32_t room = 8;
    while (room < 2 * servers)
        room *= 2;
    return room;
}

static ngx_int_t take(ngx_conf_t *cf, struct bal_ngx_tier *tier, const ngx_http_upstream_rr_peer_t *peer) {
    const struct bal_ngx_upstream *upstream = tier->upstream;
    if (peer->name.len >= BAL_SERVER_NAME) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "ballast: the address of server \"%V\" is longer than %d bytes in upstream \"%V\"",
                      &peer->name, BAL_SERVER_NAME - 1, &upstream->us->host);
        return NGX_ERROR;
    }
    struct bal_ngx_server *server = push(tier, cf->pool, &peer->name);
    if (!server)
        return NGX_ERROR;
    server->sockaddr = peer->sockaddr;
    server->socklen = peer->socklen;
    server->weight = (ngx_uint_t)peer->weight;
    server->max_conns = peer->max_conns;
    server->max_fails = peer->max_fails;
    server->fail_timeout = peer->fail_timeout;
    server->down = peer->down;
    return NGX_OK;
}

/* All that the block depends on, its size apart. */
static ngx_str_t zone_name(ngx_conf_t *cf, const struct bal_ngx_tier *tier, bool backup) {
    const struct bal_dispatcher_config *c = &tier->config;
    const size_t room = tier->upstream->us->host.len + POLICY_TEXT + 200;
    ngx_str_t name = {0, ngx_pnalloc(cf->pool, room)};
    if (!name.data)
        return name;
    const u_char *end =
        ngx_snprintf(name.data, room,
                     "ballast:%V%s:%s slots=%uD classes=%uD hold=%uD,%uL quarantine=%uD,%uL servers=%uD%s "
                     "listen=%V record=%uD",
                     &tier->upstream->us->host, backup ? ":backup" : "", tier->upstream->text, c->slots,
                     c->classes, c->held, c->hold_ns, c->failures, c->back_off_ns, c->servers,
                     c->backed ? " backed" : "", &tier->upstream->listen.name, records_room(tier));
    name.len = (size_t)(end - name.data);
    return name;
}

/* The station of a server has its address, in UDP. */
static ngx_int_t know_stations(ngx_conf_t *cf, struct bal_ngx_tier *tier, bool backup) {
    const struct bal_ngx_upstream *upstream = tier->upstream;
    struct bal_ngx_server *const *server = tier->servers.elts;
    struct bal_ngx_mail *first = &tier->upstream->tier[0].mail;
    if ((backup ? bal_ngx_mail_share(cf, &tier->mail, first, &tier->zone)
                : bal_ngx_mail_init(cf, first, &upstream->listen, bal_ngx_key(cf), &tier->zone)) != NGX_OK)
        return NGX_ERROR;
    for (ngx_uint_t i = 0; i < tier->servers.nelts; i++) {
        struct bal_ngx_address address;
        const char *fault = bal_ngx_mail_address(cf->pool, &server[i]->name, server[i]->sockaddr,
                                                 server[i]->socklen, &address);
        if (!fault && backup && bal_ngx_mail_find(first, address.id))
            fault = "it stands twice in this upstream";
        if (fault) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "ballast: server \"%V\" cannot have a station: %s; use the address that is its "
                          "listen=, or leave out listen= in %V:%ui",
                          &server[i]->name, fault, &upstream->file, upstream->line);
            return NGX_ERROR;
        }
        if (bal_ngx_mail_know(&tier->mail, &address) != NGX_OK)
            return NGX_ERROR;
    }
    return NGX_OK;
}

ngx_int_t bal_ngx_tier_init(ngx_conf_t *cf, struct bal_ngx_tier *tier, struct bal_ngx_upstream *upstream,
                            const ngx_http_upstream_rr_peers_t *peers, bool backup) {
    struct bal_error err;
    tier->upstream = upstream;
    if (ngx_array_init(&tier->servers, cf->pool, peers->number, sizeof(struct bal_ngx_server *)) != NGX_OK)
        return NGX_ERROR;
    for (const ngx_http_upstream_rr_peer_t *peer = peers->peer; peer; peer = peer->next)
        if (take(cf, tier, peer) != NGX_OK)
            return NGX_ERROR;
    sort(tier);
    struct bal_ngx_server *const *server = tier->servers.elts;
    for (ngx_uint_t i = 1; i < tier->servers.nelts; i++)
        if (by_name(&server[i - 1], &server[i]) == 0) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "ballast: server %V is named twice in upstream \"%V\"; name it once in %V:%ui",
                          &server[i]->name, &upstream->us->host, &upstream->file, upstream->line);
            return NGX_ERROR;
        }
    tier->config = (struct bal_dispatcher_config){
        .servers = capacity(peers->number),
        .owners = BAL_NGX_OWNERS,
        .requests = 1,
        .classes = (uint32_t)upstream->classes,
        .slots = (uint32_t)upstream->slots,
        .held = (uint32_t)upstream->held,
        .hold_ns = (uint64_t)upstream->hold * 1000000,
        .refuse_beyond = true,
        .backed = !backup && peers->next,
        .failures = (uint32_t)upstream->failures,
        .back_off_ns = (uint64_t)upstream->back_off * 1000000,
        .stations = upstream->stations,
        .probe_ns = (uint64_t)PROBE_MS * 1000000,
        .grace_ns = (uint64_t)GRACE_MS * 1000000,
        .beat_ns = (uint64_t)BEAT_MS * 1000000,
        .id = upstream->stations ? upstream->listen.id : 1,
        .boot = 1,
    };
    if (bal_dispatcher_check(&upstream->policy, &tier->config, &err)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "ballast: upstream \"%V\": %s in %V:%ui",
                      &upstream->us->host, err.text, &upstream->file, upstream->line);
        return NGX_ERROR;
    }
    const ngx_str_t name = zone_name(cf, tier, backup);
    if (!name.data || bal_ngx_zone_add(cf, &tier->zone, &name, &role, tier) != NGX_OK)
        return NGX_ERROR;
    return upstream->stations ? know_stations(cf, tier, backup) : NGX_OK;
}
