/* SPDX-License-Identifier: BSD-2-Clause */
/* The directive `ballast_station slots=K [queue=N[,T]] [queue.CLASS=N[,T]] [class=$variable] [classes=N]
 * [listen=ADDRESS [heartbeat=T] [advertise=ADDRESS] [record=N] [dispatchers=ADDRESS,...] [join=N[,RANGE...]]
 * [report=T] [stations=ADDRESS,... [steal=F]] [keeper=ADDRESS,ID [standby=T]]];` and its block in shared
 * memory. */
#include "station_role.h"

#include "class.h"
#include "directive_option.h"
#include "found_slots.h"
#include "journal.h"
#include "process.h"
#include "upstream.h"

#include <string.h>

enum {
    QUEUE = 1000, /* unless queue= says otherwise */
    BEAT_MS = 100,
    STEAL_MS = 50, /* how long to wait for granted requests */
    HOUR_MS = 3600000,
    SILENCE_MS = 1000,        /* a keeper that has not answered START for so long is reported ... */
    SILENCE_PAUSE_MS = 60000, /* ... and again after so long */
};

struct bli_ngx_station *bli_ngx_station_of(const ngx_http_upstream_srv_conf_t *us) {
    struct bli_ngx_station *station =
        us->srv_conf ? ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_station_module) : NULL;
    return station && station->us ? station : NULL;
}

/* ---- the role ---- */

static uint32_t records_capacity(const struct bli_ngx_station *station) {
    return bli_ngx_records_capacity((uint32_t)station->record);
}

static size_t records_size(const struct bli_ngx_station *station) {
    return bli_ngx_aligned(bli_ngx_records_size(1, records_capacity(station)));
}

static const size_t records_at = 64;
_Static_assert(sizeof(struct bli_ngx_station_shared) <= 64, "it fits in front of the records");

static size_t history_at(const struct bli_ngx_station *station) {
    return records_at + records_size(station);
}

static size_t core_at(const struct bli_ngx_station *station) {
    return history_at(station) + bli_ngx_aligned(sizeof(struct bli_ngx_history));
}

static size_t size(void *user, uint32_t requests) {
    const struct bli_ngx_station *station = user;
    (void)requests; /* slots and queue determine how many */
    return core_at(station) + bal_station_size(&station->config);
}

static void create(void *user, void *block, uint64_t now) {
    struct bli_ngx_station *station = user;
    station->config.boot = bli_ngx_boot();
    bli_ngx_records_init((void *)((char *)block + records_at), 1, records_capacity(station));
    memset((char *)block + history_at(station), 0, sizeof(struct bli_ngx_history));
    bal_station_create((char *)block + core_at(station), &station->config, now);
}

static enum bal_code open_block(void *user, void *block, uint64_t seed, struct bli_ngx_core *core,
                                struct bal_error *err) {
    struct bli_ngx_station *station = user;
    station->s = ngx_pcalloc(ngx_cycle->pool, bal_station_view_size(&station->config));
    if (!station->s)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    station->shared = block;
    station->records = (void *)((char *)block + records_at);
    station->history = (void *)((char *)block + history_at(station));
    ngx_rbtree_init(&station->waiting, &station->sentinel, ngx_rbtree_insert_value);
    core->s = station->s;
    return bal_station_open(station->s, (char *)block + core_at(station), seed, err);
}

static uint32_t ids_of(const ngx_array_t *addresses, uint64_t *ids) {
    const struct bli_ngx_address *address = addresses->elts;
    for (ngx_uint_t i = 0; i < addresses->nelts; i++)
        ids[i] = address[i].id;
    return (uint32_t)addresses->nelts;
}

/* Under the lock. */
static enum bal_code apply(void *user, uint64_t now, struct bal_error *err) {
    const struct bli_ngx_station *station = user;
    uint64_t dispatchers[DISPATCHERS_MAX], stations[STATIONS_MAX];
    const uint32_t dispatcher_count = ids_of(&station->dispatchers, dispatchers);
    const uint32_t station_count = ids_of(&station->stations, stations);
    return bal_station_configure(station->s, now, dispatchers, dispatcher_count, stations, station_count,
                                 err);
}

static uint32_t read_members(void *user, void *block, struct bal_member *list, uint32_t room) {
    const struct bli_ngx_station *station = user;
    struct bal_station *s = ngx_alloc(bal_station_view_size(&station->config), ngx_cycle->log);
    uint32_t count = 0;
    if (s && bal_station_open(s, (char *)block + core_at(station), 1, NULL) == BAL_OK)
        count = ngx_min(room, bal_station_members(s, list, room));
    ngx_free(s);
    return count;
}

/* Under the lock. */
static void finish_deferred(void *user, uint64_t now, uint64_t ticket, enum bli_ngx_deferral what) {
    const struct bli_ngx_station *station = user;
    if (what == BLI_NGX_DEFER_CANCEL)
        bal_station_cancel(station->s, now, ticket);
    else
        bal_station_done(station->s, now, ticket, what != BLI_NGX_DEFER_GOOD);
}

/* Under the lock. */
static void drain(void *user, uint64_t now) {
    const struct bli_ngx_station *station = user;
    bal_station_drain(station->s, now, true);
}

/* ---- dispatchers whose names were not known ---- */

/* In memory of the cycle; NULL: there is none. */
static bool add_dispatcher(struct bli_ngx_station *station, const struct addrinfo *found, in_port_t port) {
    ngx_pool_t *pool = ngx_cycle->pool;
    struct sockaddr *sockaddr = ngx_pcalloc(pool, sizeof(ngx_sockaddr_t));
    ngx_str_t name = {0, ngx_pnalloc(pool, NGX_SOCKADDR_STRLEN)};
    struct bli_ngx_address address;
    if (!sockaddr || !name.data || found->ai_addrlen > sizeof(ngx_sockaddr_t))
        return false;
    memcpy(sockaddr, found->ai_addr, found->ai_addrlen);
    ngx_inet_set_port(sockaddr, port);
    name.len = ngx_sock_ntop(sockaddr, found->ai_addrlen, name.data, NGX_SOCKADDR_STRLEN, 1);
    if (bli_ngx_address_set(pool, &name, sockaddr, found->ai_addrlen, &address) ||
        address.id == station->transport.own.id || bli_ngx_transport_find(&station->transport, address.id) ||
        station->dispatchers.nelts >= DISPATCHERS_MAX)
        return false;
    struct bli_ngx_address *place = ngx_array_push(&station->dispatchers);
    if (!place || bli_ngx_transport_add_peer(&station->transport, &address) != NGX_OK)
        return false;
    *place = address;
    bli_ngx_journal_log(NGX_LOG_NOTICE, ngx_cycle->log, "ballast: station \"%V\": a dispatcher is at %V",
                        &station->us->host, &name);
    return true;
}

/* As in the configuration: of both families that of listen=. */
static bool add_found(struct bli_ngx_station *station, const struct addrinfo *all, in_port_t port) {
    const int family = station->own.sockaddr->sa_family;
    bool same = false, any = false;
    for (const struct addrinfo *found = all; found; found = found->ai_next)
        same |= found->ai_family == family;
    for (const struct addrinfo *found = all; found; found = found->ai_next)
        if (!same || found->ai_family == family)
            any |= add_dispatcher(station, found, port);
    return any;
}

static void check(void *user, uint64_t now) {
    struct bli_ngx_station *station = user;
    struct bli_ngx_lookup *lookup = station->unresolved.elts;
    struct bal_error err;
    for (ngx_uint_t i = 0; i < station->unresolved.nelts; i++) {
        struct addrinfo *all = bli_ngx_lookup_step(&lookup[i], now);
        if (!all)
            continue;
        station->unapplied |= add_found(station, all, lookup[i].port);
        freeaddrinfo(all);
        lookup[i].next_ns = UINT64_MAX; /* it is known from now on */
    }
    if (!station->unapplied || !bli_ngx_zone_lock(&station->zone))
        return;
    apply(station, now, &err);
    bli_ngx_zone_unlock(&station->zone);
    station->unapplied = false;
}

/* ---- time ---- */

static enum bli_ngx_server_activity activity_of(const struct bal_station_view *view) {
    if (view->power == BAL_POWER_OFF || view->power == BAL_POWER_SETUP)
        return view->power == BAL_POWER_OFF ? BLI_NGX_OFF : BLI_NGX_SETUP;
    return view->running ? BLI_NGX_BUSY : BLI_NGX_IDLE;
}

/* Under the lock: does the keeper answer? */
static void collect_silence(struct bli_ngx_station *station, const struct bal_station_view *view,
                            uint64_t now) {
    struct bli_ngx_station_shared *shared = station->shared;
    const bool silent = view->start_unanswered_ns >= (uint64_t)SILENCE_MS * 1000000;
    const bool due = now >= shared->silence_logged_at + (uint64_t)SILENCE_PAUSE_MS * 1000000;
    station->silence =
        (struct bli_ngx_keeper_silence){.silent_ns = view->start_unanswered_ns, .waiting = view->waiting};
    if (silent && (!shared->silence_logged_at || due)) {
        station->silence.change = BLI_NGX_KEEPER_SILENT;
        shared->silence_logged_at = now;
    } else if (shared->silence_logged_at && !view->start_unanswered_ns) {
        station->silence.change = BLI_NGX_KEEPER_ANSWERS;
        shared->silence_logged_at = 0;
    }
}

/* Not under the lock; by the process that has looked. */
static void log_slots(const struct bli_ngx_station *station) {
    u_char text[BLI_NGX_FOUND_TEXT];
    const uint64_t before =
        __atomic_exchange_n(&station->shared->slots_logged, station->found.limit, __ATOMIC_RELAXED);
    if (before == station->found.limit)
        return;
    bli_ngx_found_print(text, &station->found, (uint32_t)before);
    bli_ngx_journal_log(NGX_LOG_NOTICE, ngx_cycle->log, "ballast: station \"%V\": %s", &station->us->host,
                        text);
}

/* Not under the lock. */
static void log_silence(void *user) {
    struct bli_ngx_station *station = user;
    log_slots(station);
    const struct bli_ngx_keeper_silence *silence = &station->silence;
    if (silence->change == BLI_NGX_KEEPER_SILENT)
        bli_ngx_journal_log(
            NGX_LOG_ERR, ngx_cycle->log,
            "ballast: station \"%V\": the keeper at %V has not answered START for %uL ms, and %uD requests "
            "wait; does "
            "ballastd run there, with this station's id and key, and may nginx write to its socket?",
            &station->us->host, &station->keeper.name, silence->silent_ns / 1000000, silence->waiting);
    else if (silence->change == BLI_NGX_KEEPER_ANSWERS)
        bli_ngx_journal_log(NGX_LOG_NOTICE, ngx_cycle->log,
                            "ballast: station \"%V\": the keeper at %V answers again", &station->us->host,
                            &station->keeper.name);
}

static uint64_t sum_of(const uint64_t counts[BAL_MSG_TYPES]) {
    uint64_t sum = 0;
    for (int type = 1; type < BAL_MSG_TYPES; type++)
        sum += counts[type];
    return sum;
}

/* Under the lock. Once a second: a point of the last hour. */
static void add_to_history(struct bli_ngx_station *station, const struct bal_station_view *view,
                           uint64_t now) {
    const struct bal_station_counts counts = bal_station_counts(station->s);
    struct bli_ngx_moment moment = {.now = now,
                                    .arrived = counts.arrived,
                                    .failed = counts.failed,
                                    .refused = counts.full + counts.overdue,
                                    .messages =
                                        sum_of(counts.messages_sent) + sum_of(counts.messages_received),
                                    .on = view->power == BAL_POWER_ON};
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++)
        moment.activity_ns[i] = station->records->meter[0].ns[i];
    bli_ngx_history_add(station->history, &moment, station->records->times, station->config.classes);
}

/* Under the lock. */
static void tick(void *user, uint64_t now) {
    struct bli_ngx_station *station = user;
    const struct bal_station_view view = bal_station_view(station->s);
    collect_silence(station, &view, now);
    station->found = view.concurrency;
    bli_ngx_records_add_activity(station->records, 0, activity_of(&view),
                                 bli_ngx_records_elapsed(station->records, now));
    if (bli_ngx_history_tick(station->history, now, view.waiting))
        add_to_history(station, &view, now);
}

/* Under the lock. */
static struct bli_ngx_refused refused(void *user) {
    const struct bli_ngx_station *station = user;
    const struct bal_station_counts counts = bal_station_counts(station->s);
    return (struct bli_ngx_refused){counts.full - counts.crowded, counts.replaced, counts.overdue,
                                    counts.crowded};
}

static void decisions_ready(void *user) {
    bli_ngx_station_request_process_decisions(user);
}

static void limit(void *user, ngx_cycle_t *cycle, uint64_t connections) {
    const struct bli_ngx_station *station = user;
    if (station->queue_given)
        bli_ngx_placeholder_warn_capacity(cycle, "queue=", station->queue, connections, &station->file,
                                          station->line);
}

static const struct bli_ngx_role role = {
    .size = size,
    .limit = limit,
    .create = create,
    .open = open_block,
    .apply = apply,
    .tick = tick,
    .refused = refused,
    .log = log_silence,
    .decisions_ready = decisions_ready,
    .read_members = read_members,
    .drain = drain,
    .finish_deferred = finish_deferred,
    .check = check,
};

/* ---- options ---- */

static char *set_number(ngx_conf_t *cf, const char *what, const ngx_str_t *value, ngx_uint_t least,
                        ngx_uint_t most, ngx_uint_t *number, const char *right) {
    if (bli_ngx_option_number(value->data, value->data + value->len, least, most, number))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, what, value, right);
}

static char *set_slots(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_option_slots(cf, value, "the app", 1 << 20, &station->min_slots, &station->slots);
}

static char *set_queue(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    station->queue_given = true;
    if (bli_ngx_limit_parse(value, 0, &station->queue, &station->queue_time))
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"queue=", value,
                                "queue=N or queue=N,T: at most N requests wait, for at most T, as in "
                                "queue=100,10s");
}

static char *set_class_limit(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_class_limit_set(cf, "queue.", value, station->class_limit);
}

static char *set_classes(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return set_number(cf, "\"classes=", value, 1, BAL_CLASSES_MAX, &station->classes, "1 to 8");
}

static char *set_class(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    station->class = bli_ngx_option_class(cf, value);
    return station->class ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *set_listen(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_address_parse_listen(cf, value, &station->listen) == NGX_OK ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *set_advertise(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_address_parse(cf, "advertise=", value, &station->own) == NGX_OK ? NGX_CONF_OK
                                                                                   : NGX_CONF_ERROR;
}

/* It is looked up again when nginx runs. */
static char *add_unresolved(ngx_conf_t *cf, ngx_array_t *unresolved, const ngx_url_t *url) {
    if (!unresolved->elts && ngx_array_init(unresolved, cf->pool, 4, sizeof(struct bli_ngx_lookup)) != NGX_OK)
        return NGX_CONF_ERROR;
    struct bli_ngx_lookup *lookup = ngx_array_push(unresolved);
    char *host = ngx_pnalloc(cf->pool, url->host.len + 1);
    if (!lookup || !host)
        return NGX_CONF_ERROR;
    *ngx_cpymem(host, url->host.data, url->host.len) = '\0';
    *lookup = (struct bli_ngx_lookup){.host = host, .port = url->port};
    ngx_conf_log_error(
        NGX_LOG_WARN, cf, 0,
        "ballast_station: the host of dispatcher \"%V\" is not found; it is looked up every 5 s", &url->url);
    return NGX_CONF_OK;
}

/* unresolved: where names go that are not known now; NULL: that is a mistake. */
static char *set_addresses(ngx_conf_t *cf, const char *option, const ngx_str_t *value, ngx_uint_t most,
                           ngx_array_t *addresses, ngx_array_t *unresolved) {
    const u_char *at = value->data, *end = value->data + value->len;
    ngx_url_t url;
    if (!addresses->elts && ngx_array_init(addresses, cf->pool, 8, sizeof(struct bli_ngx_address)) != NGX_OK)
        return NGX_CONF_ERROR;
    for (const u_char *comma; at <= end; at = comma + 1) {
        comma = memchr(at, ',', (size_t)(end - at));
        comma = comma ? comma : end;
        const ngx_str_t text = {(size_t)(comma - at), (u_char *)at};
        ngx_int_t rc = bli_ngx_address_parse_all(cf, option, &text, addresses, &url);
        if (rc == NGX_DECLINED && unresolved)
            rc = add_unresolved(cf, unresolved, &url) == NGX_CONF_OK ? NGX_OK : NGX_ERROR;
        else if (rc == NGX_DECLINED)
            rc = bli_ngx_address_parse(cf, option, &text, ngx_array_push(addresses));
        if (rc != NGX_OK)
            return NGX_CONF_ERROR;
        if (addresses->nelts > most)
            return (char *)"names too many addresses: 128 dispatchers and 192 stations are possible";
    }
    return NGX_CONF_OK;
}

static char *set_dispatchers(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return set_addresses(cf, "dispatchers=", value, DISPATCHERS_MAX, &station->dispatchers,
                         &station->unresolved);
}

static char *set_stations(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return set_addresses(cf, "stations=", value, STATIONS_MAX, &station->stations, NULL);
}

static char *set_join(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_join_set(cf, value, &station->join);
}

static char *set_steal(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    struct bal_error err;
    if (!bal_steal_parse((const char *)value->data, &station->steal, &err))
        return NGX_CONF_OK;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "ballast_station: steal=: %s", err.text);
    return NGX_CONF_ERROR;
}

/* "ADDRESS,ID" */
static char *set_keeper(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    const u_char *comma = memchr(value->data, ',', value->len), *end = value->data + value->len;
    ngx_uint_t id;
    if (!comma || !bli_ngx_option_number(comma + 1, end, 1, NGX_MAX_INT_T_VALUE, &id))
        return bli_ngx_option_error(cf, "\"keeper=", value,
                                    "the listen and the id of the app in ballastd's configuration, as in "
                                    "keeper=127.0.0.1:7701,101");
    const ngx_str_t address = {(size_t)(comma - value->data), value->data};
    if (bli_ngx_address_parse(cf, "keeper=", &address, &station->keeper) != NGX_OK)
        return NGX_CONF_ERROR;
    station->keeper.id = id;
    station->keeper.dgram_addr = station->keeper.sockaddr; /* it has no HTTP */
    station->keeper.dgram_addrlen = station->keeper.socklen;
    return NGX_CONF_OK;
}

static char *set_standby(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    const ngx_int_t ms = ngx_parse_time(value, 0);
    station->standby = (ngx_msec_t)ms;
    if (ms != NGX_ERROR && ms >= 1 && ms <= 24 * HOUR_MS)
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"standby=", value,
                                "the time after which an idle app may rest, as in standby=10s");
}

static char *set_report(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    const ngx_int_t ms = ngx_parse_time(value, 0);
    station->report = (ngx_msec_t)ms;
    if (ms != NGX_ERROR && ms >= 1 && ms <= HOUR_MS)
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"report=", value,
                                "the mean time between reports of an idle app, as in report=50ms");
}

static char *set_heartbeat(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    const ngx_int_t ms = ngx_parse_time(value, 0);
    station->heartbeat = (ngx_msec_t)ms;
    if (ms != NGX_ERROR && ms >= 10 && ms <= 1000) /* members are forgotten after five seconds */
        return NGX_CONF_OK;
    return bli_ngx_option_error(cf, "\"heartbeat=", value,
                                "the time between heartbeats, from 10ms to 1s, as in heartbeat=500ms");
}

static char *set_record(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return set_number(cf, "\"record=", value, 0, BLI_NGX_RECORDS_MAX, &station->record,
                      "the number of requests that are remembered, up to 16777216; 0: none");
}

static char *set_urgent(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_option_urgent(cf, value, &station->urgency.percent);
}

static char *set_abort(ngx_conf_t *cf, void *conf, ngx_str_t *value) {
    struct bli_ngx_station *station = conf;
    return bli_ngx_option_abort(cf, value, &station->abort_frees);
}

static const struct bli_ngx_option options[] = {
    {"slots=", set_slots, false},         {"queue=", set_queue, false},
    {"queue.", set_class_limit, true},    {"classes=", set_classes, false},
    {"class=", set_class, false},         {"listen=", set_listen, false},
    {"advertise=", set_advertise, false}, {"dispatchers=", set_dispatchers, false},
    {"report=", set_report, false},       {"stations=", set_stations, false},
    {"join=", set_join, false},           {"steal=", set_steal, false},
    {"keeper=", set_keeper, false},       {"standby=", set_standby, false},
    {"record=", set_record, false},       {"abort=", set_abort, false},
    {"heartbeat=", set_heartbeat, false}, {"urgent=", set_urgent, false},
};

/* ---- the configuration ---- */

/* All that the block depends on. */
static ngx_str_t zone_name(ngx_conf_t *cf, const struct bli_ngx_station *station) {
    const size_t room = station->us->host.len + 300 + BAL_STEAL_TEXT + BLI_NGX_JOIN_TEXT;
    char steal[BAL_STEAL_TEXT];
    ngx_str_t name = {0, ngx_pnalloc(cf->pool, room + BLI_NGX_CLASS_LIMITS_TEXT)};
    if (!name.data)
        return name;
    bal_steal_print(&station->steal, steal, sizeof steal);
    u_char *end = ngx_snprintf(
        name.data, room,
        "ballast_station:%V slots=%ui,%ui queue=%ui,%M classes=%ui listen=%V report=%M steal=%s keeper=%uL "
        "standby=%M heartbeat=%M record=%uD",
        &station->us->host, station->min_slots, station->slots, station->queue, station->queue_time,
        station->classes, &station->own.name, station->report, steal, station->keeper.id, station->standby,
        station->heartbeat, records_capacity(station));
    end = bli_ngx_join_print(end, &station->join);
    end = bli_ngx_class_limits_print(end, station->class_limit);
    name.len = (size_t)(end - name.data);
    return name;
}

/* The station's own address may be in its list of stations, so that all may have the same list. */
static ngx_int_t add_peers(ngx_conf_t *cf, struct bli_ngx_station *station, ngx_array_t *addresses,
                           bool no_broadcast) {
    struct bli_ngx_transport *transport = &station->transport;
    struct bli_ngx_address *address = addresses->elts;
    for (ngx_uint_t i = 0; i < addresses->nelts; i++) {
        if (address[i].id == transport->own.id && !no_broadcast) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "ballast_station: %V is its own listen= and cannot be among dispatchers=; use the "
                          "listen= of a dispatcher in %V:%ui",
                          &address[i].name, &station->file, station->line);
            return NGX_ERROR;
        }
        if (address[i].id == transport->own.id) {
            address[i--] = address[--addresses->nelts];
            continue;
        }
        if (bli_ngx_transport_find(transport, address[i].id)) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "ballast_station: %V is named twice in dispatchers= and stations=; name it once in "
                          "%V:%ui",
                          &address[i].name, &station->file, station->line);
            return NGX_ERROR;
        }
        address[i].no_broadcast = no_broadcast;
        if (bli_ngx_transport_add_peer(transport, &address[i]) != NGX_OK)
            return NGX_ERROR;
    }
    return NGX_OK;
}

static ngx_int_t add_all_peers(ngx_conf_t *cf, struct bli_ngx_station *station) {
    if (bli_ngx_transport_init(cf, &station->transport, &station->listen, &station->own, bli_ngx_keys(cf),
                               &station->zone) != NGX_OK)
        return NGX_ERROR;
    station->transport.max_members = station->join.most;
    bli_ngx_address_prefer_family(&station->own, &station->dispatchers);
    bli_ngx_address_prefer_family(&station->own, &station->stations);
    station->transport.has_remote_peer |= station->unresolved.nelts > 0; /* it may be on another machine */
    if (add_peers(cf, station, &station->dispatchers, false) != NGX_OK ||
        add_peers(cf, station, &station->stations, true) != NGX_OK)
        return NGX_ERROR;
    station->keeper.no_broadcast = true;
    return station->keeper.id ? bli_ngx_transport_add_peer(&station->transport, &station->keeper) : NGX_OK;
}

static ngx_int_t init_upstream(ngx_conf_t *cf, ngx_http_upstream_srv_conf_t *us) {
    struct bli_ngx_station *station = bli_ngx_station_of(us);
    const bool speaks = station->listen.sockaddr != NULL;
    struct bal_error err;
    if (station->init_upstream(cf, us) != NGX_OK ||
        bli_ngx_check_zone(cf, us, "ballast_station", &station->file, station->line) != NGX_OK ||
        (speaks && bli_ngx_join_complete(cf, &station->own, bli_ngx_keys(cf), &station->join) != NGX_OK))
        return NGX_ERROR;
    station->config =
        (struct bal_station_config){.workers = BLI_NGX_WORKERS_MAX,
                                    .slots = (uint32_t)station->slots,
                                    .min_slots = (uint32_t)station->min_slots,
                                    .queue = (uint32_t)station->queue,
                                    .classes = (uint32_t)station->classes,
                                    .queue_ns = (uint64_t)station->queue_time * 1000000,
                                    .peers = DISPATCHERS_MAX + STATIONS_MAX + station->join.most,
                                    .beat_ns = (uint64_t)(speaks ? station->heartbeat : HOUR_MS) * 1000000,
                                    .offer_ns = (uint64_t)station->report * 1000000,
                                    .steal = station->steal,
                                    .steal_ns = (uint64_t)STEAL_MS * 1000000,
                                    .keeper = station->keeper.id,
                                    .standby_ns = (uint64_t)station->standby * 1000000,
                                    .id = speaks ? station->own.id : 1,
                                    .boot = 1,
                                    .join = station->join};
    memcpy(station->config.class_limit, station->class_limit, sizeof station->class_limit);
    if (bal_station_check(&station->config, &err)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0, "ballast_station: %s in %V:%ui", err.text, &station->file,
                      station->line);
        return NGX_ERROR;
    }
    station->init_peer = us->peer.init;
    us->peer.init = bli_ngx_station_request_init;
    station->ready = true;
    station->zone.kind = "station";
    station->zone.host = &us->host;
    const ngx_str_t name = zone_name(cf, station);
    if (!name.data || bli_ngx_zone_add(cf, &station->zone, &name, &role, station) != NGX_OK)
        return NGX_ERROR;
    return speaks ? add_all_peers(cf, station) : NGX_OK;
}

static char *check_options(ngx_conf_t *cf, const struct bli_ngx_station *station) {
    const struct bli_ngx_upstream *b = ngx_http_conf_upstream_srv_conf(station->us, ngx_http_ballast_module);
    if (b->us) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "ballast_station: upstream \"%V\" has ballast too; a station stands before one "
                           "app, so leave ballast out",
                           &station->us->host);
        return NGX_CONF_ERROR;
    }
    const bool speaks = station->listen.sockaddr != NULL;
    const ngx_uint_t dispatchers =
        station->dispatchers.nelts + station->unresolved.nelts + station->join.most;
    const char *missing = NULL;
    if (speaks && !dispatchers && !station->stations.nelts && !station->keeper.id)
        missing = "dispatchers=, join=, stations= or keeper= is missing";
    if (!speaks && (dispatchers || station->stations.nelts))
        missing = "listen= is missing";
    if (!speaks && (station->keeper.id || station->heartbeat))
        missing = "listen= is missing";
    if (station->report && !dispatchers)
        missing = "dispatchers= is missing, to whom it may report";
    if (station->standby && !station->keeper.id)
        missing = "keeper= is missing, which wakes an app that rests";
    if (station->steal.kind != BAL_STEAL_NONE && !station->stations.nelts)
        missing = "stations= is missing, from which it may steal";
    if (missing) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "ballast_station: %s; a station that speaks to others needs listen= and their "
                           "addresses",
                           missing);
        return NGX_CONF_ERROR;
    }
    if (station->slots)
        return NGX_CONF_OK;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "ballast_station: slots= is missing; use the number of requests that the app works on "
                       "at once, as in slots=4, or slots=auto, which finds it");
    return NGX_CONF_ERROR;
}

static char *set_station(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    struct bli_ngx_station *station = conf;
    const ngx_str_t *text = cf->args->elts;
    char *result = NGX_CONF_OK;
    (void)command;
    if (station->us)
        return (char *)"is duplicate";
    station->us = ngx_http_conf_get_module_srv_conf(cf, ngx_http_upstream_module);
    station->file = cf->conf_file->file.name;
    station->line = cf->conf_file->line;
    station->queue = QUEUE;
    for (ngx_uint_t i = 1; result == NGX_CONF_OK && i < cf->args->nelts; i++)
        result =
            bli_ngx_option_set(cf, options, sizeof options / sizeof *options, station, &text[i],
                               "slots=, queue=, queue.CLASS=, classes=, class=, listen=, advertise=, "
                               "dispatchers=, join=, stations=, "
                               "steal=, keeper=, standby=, report=, heartbeat=, record=, abort= or urgent=");
    if (result == NGX_CONF_OK && bli_ngx_address_complete(cf, &station->listen, &station->own) != NGX_OK)
        result = NGX_CONF_ERROR;
    if (result == NGX_CONF_OK)
        result = check_options(cf, station);
    if (result == NGX_CONF_OK)
        result = bli_ngx_option_check_urgent(cf, station->urgency.percent, station->class);
    if (!station->heartbeat)
        station->heartbeat = BEAT_MS;
    if (!station->classes)
        station->classes = station->class ? BAL_CLASSES_MAX : 1;
    if (result == NGX_CONF_OK)
        result = bli_ngx_class_limits_check(cf, "queue.", "queue=", station->class_limit, station->classes,
                                            station->queue);
    ngx_http_upstream_init_pt *init = &station->us->peer.init_upstream;
    station->init_upstream = *init ? *init : ngx_http_upstream_init_round_robin;
    *init = init_upstream;
    return result;
}

/* Of several balancers in an upstream the last one counts. */
static ngx_int_t check_all(ngx_conf_t *cf) {
    const ngx_http_upstream_main_conf_t *conf =
        ngx_http_conf_get_module_main_conf(cf, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        const struct bli_ngx_station *station = bli_ngx_station_of(us[i]);
        if (!station || station->ready)
            continue;
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "ballast_station: a balancing method stands behind it in upstream \"%V\"; put "
                      "ballast_station behind that, in %V:%ui",
                      &station->us->host, &station->file, station->line);
        return NGX_ERROR;
    }
    return NGX_OK;
}

static void *create_srv_conf(ngx_conf_t *cf) {
    return ngx_pcalloc(cf->pool, sizeof(struct bli_ngx_station));
}

static ngx_command_t commands[] = {
    {ngx_string("ballast_station"), NGX_HTTP_UPS_CONF | NGX_CONF_1MORE, set_station, NGX_HTTP_SRV_CONF_OFFSET,
     0, NULL},
    ngx_null_command,
};

static ngx_http_module_t context = {
    .postconfiguration = check_all,
    .create_srv_conf = create_srv_conf,
};

ngx_module_t ngx_http_ballast_station_module = {
    NGX_MODULE_V1,
    .ctx = &context,
    .commands = commands,
    .type = NGX_HTTP_MODULE,
};
