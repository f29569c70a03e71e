/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses of names in shared memory, and the lookups by which they change. */
#include "names.h"

#include "journal.h"
#include "process.h"
#include "upstream.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEASE_MS = 1000,       /* another process looks up when the one that does has not been seen for so long */
    SHORTEST_MS = 1000,    /* between two lookups, whatever the TTL is ... */
    LONGEST_S = 24 * 3600, /* ... and the longest time */
    JITTER_MS = 5000,      /* at most, and at most a tenth of the TTL: names are not all looked up at once */
    RETRY_MS = 1000,       /* after a lookup that failed; then twice as long, up to ... */
    RETRY_MOST_MS = 32000,
    RELOAD_MS = 1000, /* after a reload names are looked up again within this time */
};

/* A process may be killed while it stores addresses: those that count are in `side[generation % 2]`, and new
 * ones are written to the other side first. */
struct bli_ngx_name_table {
    bli_ngx_lock lock;
    uint64_t due;  /* when the next lookup may begin, or the lease of the present one ends */
    uint64_t turn; /* one more for each lookup that begins */
    uint64_t generation;
    uint64_t answered_at, lookups, failures;
    int64_t code;      /* of the last lookup; 0: it succeeded */
    uint32_t in_a_row; /* that failed */
    uint32_t found;
    uint32_t count[2];
    struct bli_ngx_name_address address[]; /* two sides of `room` */
};

static const uint64_t ms = 1000000;

/* ---- shared memory ---- */

static size_t table_size(const struct bli_ngx_name *name) {
    return sizeof(struct bli_ngx_name_table) + 2 * name->room * sizeof(struct bli_ngx_name_address);
}

static size_t zone_size(const struct bli_ngx_name *name) {
    const size_t pages = table_size(name) / ngx_pagesize + 1;
    return (pages + 8) * ngx_pagesize + pages * 2 * sizeof(ngx_slab_page_t);
}

/* The resolver may be another one after a reload: then its answer is wanted soon. */
static ngx_int_t init_zone(ngx_shm_zone_t *shm, void *old) {
    struct bli_ngx_name *name = shm->data;
    ngx_slab_pool_t *pool = (ngx_slab_pool_t *)(void *)shm->shm.addr;
    if (!old && !shm->shm.exists) {
        pool->log_ctx = (u_char *)" in a zone of ballast_server";
        pool->data = ngx_slab_calloc(pool, table_size(name));
        if (!pool->data)
            return NGX_ERROR;
    }
    name->table = pool->data;
    if (old)
        __atomic_store_n(&name->table->due, bli_ngx_now() + (uint64_t)ngx_random() % (RELOAD_MS * ms),
                         __ATOMIC_RELAXED);
    return NGX_OK;
}

ngx_int_t bli_ngx_name_add_zone(ngx_conf_t *cf, struct bli_ngx_name *name) {
    const size_t most = name->upstream->us->host.len + name->name.len + name->service.len + 100;
    ngx_str_t text = {0, ngx_pnalloc(cf->pool, most)};
    if (!text.data)
        return NGX_ERROR;
    text.len = (size_t)(ngx_snprintf(text.data, most, "ballast:name:%V:%V:%uD:%V:%ui:%ud",
                                     &name->upstream->us->host, &name->name, (uint32_t)name->port,
                                     &name->service, name->room, (unsigned)name->backup) -
                        text.data);
    name->shm = ngx_shared_memory_add(cf, &text, zone_size(name), &ngx_http_ballast_module);
    if (!name->shm)
        return NGX_ERROR;
    name->shm->init = init_zone;
    name->shm->data = name;
    return NGX_OK;
}

/* ---- addresses ---- */

/* Under the lock. */
static struct bli_ngx_name_address *side_of(const struct bli_ngx_name *name, uint64_t generation) {
    return name->table->address + generation % 2 * name->room;
}

/* nginx's resolver gives addresses from a random one on: sorted, the same ones are the same list, and the
 * same ones are used where there is no room for all. */
static int compare_addresses(const void *a, const void *b) {
    const struct bli_ngx_name_address *x = a, *y = b;
    return memcmp(&x->address, &y->address, sizeof x->address);
}

/* No server has such an address, whatever a name server says. */
static bool is_usable(const struct sockaddr *address) {
    if (ngx_inet_get_port((struct sockaddr *)address) == 0)
        return false;
    if (address->sa_family == AF_INET) {
        const uint32_t ip = ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
        return ip >> 24 != 0 && ip >> 28 < 14; /* this network; multicast, reserved, broadcast */
    }
    if (address->sa_family != AF_INET6)
        return false;
    const struct in6_addr *ip = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    return !IN6_IS_ADDR_UNSPECIFIED(ip) && !IN6_IS_ADDR_MULTICAST(ip);
}

static bool set_address(const struct bli_ngx_name *name, const ngx_resolver_addr_t *from,
                        u_short lowest_priority, struct bli_ngx_name_address *to) {
    memset(to, 0, sizeof *to);
    if (from->socklen > sizeof to->address)
        return false;
    memcpy(&to->address, from->sockaddr, from->socklen);
    if (!name->service.len)
        ngx_inet_set_port(&to->address.any, name->port);
    to->weight = name->service.len ? ngx_max(from->weight, 1) : (uint32_t)name->weight;
    to->backup = name->backup || (name->service.len && from->priority != lowest_priority);
    return is_usable(&to->address.any);
}

/* Several records of a service may have one address: their weights are added, as those of servers are. */
static uint32_t merge_same(struct bli_ngx_name_address *list, uint32_t count, bool service) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept && compare_addresses(&list[kept - 1], &list[i]) == 0) {
            list[kept - 1].weight += service ? list[i].weight : 0;
            list[kept - 1].backup &= list[i].backup;
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* The addresses of an answer, sorted, in memory of the caller; there is room for ctx->naddrs and those that
 * we have. */
static uint32_t collect_addresses(const struct bli_ngx_name *name, const ngx_resolver_ctx_t *ctx,
                                  struct bli_ngx_name_address *list) {
    uint32_t count = 0;
    u_short lowest = UINT16_MAX;
    for (ngx_uint_t i = 0; i < ctx->naddrs; i++)
        lowest = ngx_min(lowest, ctx->addrs[i].priority);
    for (ngx_uint_t i = 0; i < ctx->naddrs; i++)
        count += set_address(name, &ctx->addrs[i], lowest, &list[count]);
    qsort(list, count, sizeof *list, compare_addresses);
    return merge_same(list, count, name->service.len > 0);
}

/* Of some targets of a service nothing was heard, though they may be up: then nothing is taken away. */
static bool is_partial(const ngx_resolver_ctx_t *ctx) {
    for (ngx_uint_t i = 0; i < ctx->nsrvs; i++)
        if (ctx->srvs[i].state && ctx->srvs[i].state != NGX_RESOLVE_NXDOMAIN)
            return true;
    return false;
}

static uint32_t add_present(struct bli_ngx_name *name, struct bli_ngx_name_address *list, uint32_t count) {
    const uint32_t answered = count;
    for (uint32_t i = 0; i < name->addresses; i++)
        if (!bsearch(&name->address[i], list, answered, sizeof *list, compare_addresses))
            list[count++] = name->address[i];
    qsort(list, count, sizeof *list, compare_addresses);
    return count;
}

static bool is_same_list(const struct bli_ngx_name *name, const struct bli_ngx_name_address *list,
                         uint32_t count) {
    if (count != name->addresses)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (compare_addresses(&list[i], &name->address[i]) != 0 ||
            list[i].weight != name->address[i].weight || list[i].backup != name->address[i].backup)
            return false;
    return true;
}

/* ---- reading ---- */

struct bli_ngx_name *bli_ngx_name_at(const struct bli_ngx_upstream *upstream, ngx_uint_t i) {
    return upstream->names && i < upstream->names->nelts ? ((struct bli_ngx_name **)upstream->names->elts)[i]
                                                         : NULL;
}

uint64_t bli_ngx_names_generation(const struct bli_ngx_upstream *upstream) {
    uint64_t sum = 0;
    const struct bli_ngx_name *name;
    for (ngx_uint_t i = 0; (name = bli_ngx_name_at(upstream, i)); i++)
        sum += __atomic_load_n(&name->table->generation, __ATOMIC_ACQUIRE);
    return sum;
}

bool bli_ngx_name_copy(struct bli_ngx_name *name) {
    struct bli_ngx_name_table *table = name->table;
    if (!name->address)
        name->address = ngx_pcalloc(ngx_cycle->pool, name->room * sizeof *name->address);
    if (!name->address || !bli_ngx_lock_acquire(&table->lock, &name->stalled))
        return false;
    name->addresses = table->count[table->generation % 2];
    memcpy(name->address, side_of(name, table->generation), name->addresses * sizeof *name->address);
    bli_ngx_lock_release(&table->lock);
    bli_ngx_journal_write();
    return true;
}

/* Each number is right, though they may be of two moments. */
struct bli_ngx_name_view bli_ngx_name_view(const struct bli_ngx_name *name) {
    const struct bli_ngx_name_table *table = name->table;
    const uint64_t generation = __atomic_load_n(&table->generation, __ATOMIC_ACQUIRE);
    const int64_t code = __atomic_load_n(&table->code, __ATOMIC_RELAXED);
    return (struct bli_ngx_name_view){
        .lookups = __atomic_load_n(&table->lookups, __ATOMIC_RELAXED),
        .failures = __atomic_load_n(&table->failures, __ATOMIC_RELAXED),
        .answered_at = __atomic_load_n(&table->answered_at, __ATOMIC_RELAXED),
        .addresses = __atomic_load_n(&table->count[generation % 2], __ATOMIC_RELAXED),
        .found = __atomic_load_n(&table->found, __ATOMIC_RELAXED),
        .failing = code != 0,
        .code = (ngx_int_t)code,
    };
}

/* ---- after a lookup ---- */

static uint64_t random_below(uint64_t limit) {
    return limit ? ((uint64_t)ngx_random() << 31 | (uint64_t)ngx_random()) % limit : 0;
}

/* When the next one is due: when this answer is no longer valid, and not all names at once. */
static void set_due(const struct bli_ngx_name *name, uint64_t delay) {
    const uint64_t jitter = random_below(ngx_min(delay / 10, JITTER_MS * ms));
    __atomic_store_n(&name->table->due, bli_ngx_now() + delay + jitter, __ATOMIC_RELEASE);
}

static uint64_t ttl_of(const ngx_resolver_ctx_t *ctx) {
    const time_t seconds = ngx_min(ctx->valid - ngx_time(), LONGEST_S);
    return seconds < 1 ? SHORTEST_MS * ms : (uint64_t)seconds * 1000 * ms;
}

/* Under the lock. False: another process looks up by now, and this answer comes late. */
static bool has_turn(const struct bli_ngx_name *name) {
    return __atomic_load_n(&name->table->turn, __ATOMIC_RELAXED) == name->turn;
}

/* Under the lock. */
static void store_addresses(struct bli_ngx_name *name, const struct bli_ngx_name_address *list,
                            uint32_t count) {
    struct bli_ngx_name_table *table = name->table;
    const uint64_t next = table->generation + 1;
    table->count[next % 2] = count;
    memcpy(side_of(name, next), list, count * sizeof *list);
    __atomic_store_n(&table->generation, next, __ATOMIC_RELEASE);
}

static uint32_t count_missing(const struct bli_ngx_name_address *list, uint32_t count,
                              const struct bli_ngx_name_address *in, uint32_t in_count) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < count; i++)
        missing += !bsearch(&list[i], in, in_count, sizeof *in, compare_addresses);
    return missing;
}

static void log_addresses(const struct bli_ngx_name *name, const struct bli_ngx_name_address *list,
                          uint32_t count, uint32_t found) {
    const uint32_t added = count_missing(list, count, name->address, name->addresses),
                   gone = count_missing(name->address, name->addresses, list, count);
    bli_ngx_journal_log(NGX_LOG_NOTICE, ngx_cycle->log,
                        "ballast: upstream \"%V\": name %V has %uD addresses, %uD of them new; %uD are gone",
                        &name->upstream->us->host, &name->name, count, added, gone);
    if (found > count)
        bli_ngx_journal_log(
            NGX_LOG_ERR, ngx_cycle->log,
            "ballast: upstream \"%V\": name %V has %uD addresses, of which %uD are used; addresses=%uD would "
            "use all of them in %V:%ui",
            &name->upstream->us->host, &name->name, found, count, found, &name->file, name->line);
}

/* These are the addresses now, of as many in the answer. */
static void take_over(struct bli_ngx_name *name, struct bli_ngx_name_address *list, uint32_t found,
                      uint64_t delay) {
    struct bli_ngx_name_table *table = name->table;
    const uint32_t count = (uint32_t)ngx_min(found, name->room);
    const bool same = is_same_list(name, list, count);
    if (!bli_ngx_lock_acquire(&table->lock, &name->stalled)) {
        set_due(name, RETRY_MS * ms);
        return;
    }
    const bool late = !has_turn(name), recovered = table->in_a_row > 0;
    if (!late) {
        table->answered_at = bli_ngx_now();
        table->found = found;
        table->code = 0;
        table->in_a_row = 0;
        if (!same)
            store_addresses(name, list, count);
        set_due(name, delay);
    }
    bli_ngx_lock_release(&table->lock);
    bli_ngx_journal_write();
    if (late)
        return;
    if (recovered && found)
        bli_ngx_journal_log(NGX_LOG_NOTICE, ngx_cycle->log,
                            "ballast: upstream \"%V\": name %V is found again", &name->upstream->us->host,
                            &name->name);
    if (!same)
        log_addresses(name, list, count, found);
}

static void log_failure(const struct bli_ngx_name *name, ngx_int_t code, uint32_t count) {
    bli_ngx_journal_log(
        NGX_LOG_WARN, ngx_cycle->log,
        count ? "ballast: upstream \"%V\": name %V cannot be looked up (%s); its %uD addresses "
                "stay in use"
              : "ballast: upstream \"%V\": name %V cannot be looked up (%s), and has no address",
        &name->upstream->us->host, &name->name, ngx_resolver_strerror(code), count);
}

/* What is known stays, and the next lookup comes later each time. */
static void count_failure(struct bli_ngx_name *name, ngx_int_t code, uint64_t least) {
    struct bli_ngx_name_table *table = name->table;
    if (!bli_ngx_lock_acquire(&table->lock, &name->stalled)) {
        set_due(name, RETRY_MS * ms);
        return;
    }
    const bool late = !has_turn(name), first = table->in_a_row == 0;
    if (!late) {
        const uint64_t delay = RETRY_MS * ms << ngx_min(table->in_a_row, 10);
        table->failures++;
        table->in_a_row++;
        table->code = code;
        set_due(name, ngx_max(least, ngx_min(delay, RETRY_MOST_MS * ms)));
    }
    const uint32_t count = table->count[table->generation % 2];
    bli_ngx_lock_release(&table->lock);
    bli_ngx_journal_write();
    if (first && !late)
        log_failure(name, code, count);
}

/* An answer without an address that can be used is none: it counts as a name that does not exist. */
static void finish_answer(struct bli_ngx_name *name, const ngx_resolver_ctx_t *ctx) {
    struct bli_ngx_name_address *list =
        bli_ngx_name_copy(name) ? ngx_alloc((ctx->naddrs + name->room) * sizeof *list, ngx_cycle->log) : NULL;
    if (!list) {
        set_due(name, RETRY_MS * ms);
        return;
    }
    uint32_t count = collect_addresses(name, ctx, list);
    if (count && is_partial(ctx))
        count = add_present(name, list, count);
    if (count)
        take_over(name, list, count, ttl_of(ctx));
    else
        count_failure(name, NGX_RESOLVE_NXDOMAIN, 0);
    ngx_free(list);
}

static void on_answer(ngx_resolver_ctx_t *ctx) {
    struct bli_ngx_name *name = ctx->data;
    name->lookup = NULL;
    ngx_log_debug3(NGX_LOG_DEBUG_HTTP, ngx_cycle->log, 0, "ballast: name \"%V\": code %i, %ui addresses",
                   &name->name, ctx->state, ctx->naddrs);
    if (!ctx->state)
        finish_answer(name, ctx);
    else if (ctx->state == NGX_RESOLVE_NXDOMAIN && name->drains && bli_ngx_name_copy(name))
        take_over(name, name->address, 0, ngx_max(ttl_of(ctx), RETRY_MS * ms));
    else
        count_failure(name, ctx->state, ctx->state == NGX_RESOLVE_NXDOMAIN ? ttl_of(ctx) : 0);
    ngx_resolve_name_done(ctx);
}

/* ---- lookups ---- */

static void begin_lookup(struct bli_ngx_name *name) {
    ngx_resolver_ctx_t *ctx = ngx_resolve_start(name->resolver, NULL);
    if (!ctx || ctx == NGX_NO_RESOLVER) {
        count_failure(name, NGX_RESOLVE_SERVFAIL, 0);
        return;
    }
    ctx->name = name->name;
    ctx->service = name->service;
    ctx->handler = on_answer;
    ctx->data = name;
    ctx->timeout = name->timeout;
    ctx->cancelable = 1;
    name->lookup = ctx;
    if (ngx_resolve_name(ctx) != NGX_OK) { /* which has freed it */
        name->lookup = NULL;
        count_failure(name, NGX_RESOLVE_SERVFAIL, 0);
    }
}

/* Whoever moves the time on looks up. */
static void try_lookup(struct bli_ngx_name *name, uint64_t now) {
    struct bli_ngx_name_table *table = name->table;
    uint64_t due = __atomic_load_n(&table->due, __ATOMIC_ACQUIRE);
    if (now < due || !__atomic_compare_exchange_n(&table->due, &due, now + LEASE_MS * ms, 0, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_RELAXED))
        return;
    name->turn = __atomic_add_fetch(&table->turn, 1, __ATOMIC_ACQ_REL);
    __atomic_add_fetch(&table->lookups, 1, __ATOMIC_RELAXED);
    begin_lookup(name);
}

/* Another process may begin at once. */
static void abandon_lookup(struct bli_ngx_name *name, uint64_t now) {
    ngx_resolve_name_done(name->lookup);
    name->lookup = NULL;
    if (has_turn(name))
        __atomic_store_n(&name->table->due, now, __ATOMIC_RELEASE);
}

void bli_ngx_names_run(const struct bli_ngx_upstream *upstream, uint64_t now, bool newest) {
    struct bli_ngx_name *name;
    const bool may = newest && !ngx_exiting && !ngx_terminate && !ngx_quit;
    for (ngx_uint_t i = 0; (name = bli_ngx_name_at(upstream, i)); i++) {
        if (name->lookup && !(may && has_turn(name)))
            abandon_lookup(name, now);
        else if (name->lookup)
            __atomic_store_n(&name->table->due, now + LEASE_MS * ms, __ATOMIC_RELEASE);
        else if (may)
            try_lookup(name, now);
    }
}
