/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies the state of dispatchers, stations and locks for the status page. */
#include "snapshot.h"

#include "ballast/live/slow_start.h"
#include "process.h"

#include <string.h>

/* ---- dispatchers ---- */

/* Under the lock. */
static void copy_servers(struct bli_ngx_snapshot_peers *snapshot, struct bli_ngx_peers *peers) {
    for (uint32_t number = 0; number < peers->config.servers; number++) {
        struct bli_ngx_snapshot_server *s = &snapshot->server[snapshot->servers];
        s->view = bal_dispatcher_server(peers->d, number);
        if (!s->view.name)
            continue;
        s->check = bal_dispatcher_check_view(peers->d, number);
        s->share = bal_dispatcher_slow_start_share(peers->d, snapshot->now, number);
        s->number = number;
        s->meter = peers->records->meter[number];
        strcpy(s->name, s->view.name);
        s->view.name = s->name;
        snapshot->silent += s->view.silent && !s->view.down && !s->view.leaving;
        snapshot->servers++;
    }
}

static bool copy_peers(struct bli_ngx_snapshot_peers *snapshot, struct bli_ngx_peers *peers) {
    uint64_t pid, start;
    if (!bli_ngx_zone_lock(&peers->zone))
        return false;
    snapshot->now = bli_ngx_now();
    snapshot->counts = bal_dispatcher_counts(peers->d);
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        snapshot->held[rank] = bal_dispatcher_held(peers->d, rank);
    copy_servers(snapshot, peers);
    for (uint32_t i = 0; i < BAL_WORKERS_MAX; i++)
        snapshot->processes += bal_dispatcher_worker(peers->d, i, &pid, &start);
    memcpy(snapshot->times, peers->records->times, sizeof snapshot->times);
    snapshot->recorded = peers->records->next;
    bli_ngx_zone_unlock(&peers->zone);
    return true;
}

static void find_change(struct bli_ngx_snapshot_server *s, const struct bli_changes *table,
                        const char *upstream) {
    const struct bli_change *change = bli_changes_find(table, upstream, s->name);
    if (!change)
        return;
    s->added = change->presence == BLI_SERVER_ADDED || change->presence == BLI_SERVER_ADDED_BACKUP;
    bli_change_print(change, s->changed);
}

/* What was changed at run time; nothing, if its table cannot be locked now. */
static void find_changes(struct bli_ngx_snapshot_peers *snapshot) {
    struct bli_ngx_changes *changes = bli_ngx_changes_running();
    const struct bli_changes *table = changes->used ? bli_ngx_changes_lock(changes) : NULL;
    for (uint32_t i = 0; i < snapshot->servers; i++) {
        snapshot->server[i].added = false;
        snapshot->server[i].changed[0] = '\0';
        if (table)
            find_change(&snapshot->server[i], table, bli_ngx_upstream_name(snapshot->peers->upstream));
    }
    if (table)
        bli_ngx_changes_unlock(changes);
}

/* False: out of memory. Then, or when its lock cannot be acquired, *tiers is not changed. */
static bool snapshot_peers(struct bli_ngx_snapshot *all, struct bli_ngx_peers *peers, ngx_pool_t *pool) {
    struct bli_ngx_snapshot_peers *snapshot = &all->peers[all->peer_sets];
    snapshot->peers = peers;
    snapshot->server = ngx_palloc(pool, peers->config.servers * sizeof *snapshot->server);
    if (!snapshot->server)
        return false;
    if (!copy_peers(snapshot, peers))
        return true;
    all->peer_sets++;
    find_changes(snapshot);
    snapshot->untracked = peers->shared->untracked;
    snapshot->unsent = snapshot->counts.unsent + bli_ngx_zone_unsent(&peers->zone);
    snapshot->dropped = peers->zone.transport ? bli_ngx_transport_dropped(peers->zone.transport) : 0;
    for (uint32_t i = 0; i < BAL_WORKERS_MAX; i++) {
        const struct bli_ngx_decisions *row = &peers->shared->decisions[i];
        snapshot->decisions.sum_ns += row->sum_ns;
        for (uint32_t bucket = 0; bucket < DECISION_BUCKETS; bucket++)
            snapshot->decisions.bucket[bucket] += row->bucket[bucket];
    }
    for (int i = 0; i < BAL_RECEIPTS; i++)
        snapshot->receipts[i] =
            snapshot->counts.receipts[i] + bli_ngx_zone_receipts(&peers->zone, (enum bal_receipt)i);
    return true;
}

const char *bli_ngx_snapshot_power(const struct bli_ngx_snapshot_server *server) {
    switch (server->view.status) {
    case BAL_SERVER_OFF:
        return "off";
    case BAL_SERVER_SETUP:
        return "set-up";
    case BAL_SERVER_ON:
        return "on";
    default:
        return "draining";
    }
}

static const char *work_state(uint32_t jobs, uint32_t slots) {
    return jobs == 0 ? "idle" : jobs < slots ? "on" : "busy";
}

const char *bli_ngx_snapshot_state(const struct bli_ngx_snapshot_server *server) {
    const struct bal_server_view *view = &server->view;
    if (view->leaving || view->drain)
        return "draining";
    if (view->down)
        return "down";
    if (server->check.closed)
        return bal_check_state_name(server->check.state);
    if (view->ejected)
        return "ejected";
    if (view->shut)
        return "closed";
    if (view->silent)
        return "silent";
    if (view->status != BAL_SERVER_ON)
        return bli_ngx_snapshot_power(server);
    return work_state(view->jobs, view->slots);
}

/* ---- stations ---- */

/* Under the lock. */
static struct bli_ngx_snapshot_dispatcher *add_dispatcher(struct bli_ngx_snapshot_station *snapshot,
                                                          uint64_t now, uint64_t id) {
    struct bli_ngx_snapshot_dispatcher *d = &snapshot->dispatcher[snapshot->dispatchers++];
    const struct bli_ngx_station *station = snapshot->station;
    d->offers = bal_station_offered(station->s, id, &d->offered);
    d->silent_ns = bal_station_silent_for(station->s, now, id);
    return d;
}

/* Under the lock. */
static void copy_dispatchers(struct bli_ngx_snapshot_station *snapshot,
                             const struct bli_ngx_station *station) {
    const struct bli_ngx_address *address = station->dispatchers.elts;
    const uint64_t now = bli_ngx_now();
    for (ngx_uint_t i = 0; station->zone.transport && i < station->dispatchers.nelts; i++) {
        struct bli_ngx_snapshot_dispatcher *d = add_dispatcher(snapshot, now, address[i].id);
        ngx_cpystrn((u_char *)d->name, address[i].name.data,
                    ngx_min(address[i].name.len + 1, sizeof d->name));
    }
    const uint32_t members = bal_station_members(station->s, snapshot->member, station->join.most);
    for (uint32_t i = 0; i < members; i++) {
        struct bli_ngx_snapshot_dispatcher *d = add_dispatcher(snapshot, now, snapshot->member[i].id);
        bal_address_print(&snapshot->member[i].address, d->name);
        d->joined = true;
    }
}

/* False: out of memory. */
static bool snapshot_station(struct bli_ngx_snapshot *all, struct bli_ngx_station *station,
                             ngx_pool_t *pool) {
    struct bli_ngx_snapshot_station *snapshot = &all->station[all->stations];
    uint64_t pid, start;
    snapshot->station = station;
    snapshot->member = ngx_palloc(pool, (station->join.most + 1) * sizeof *snapshot->member);
    snapshot->dispatcher =
        ngx_pcalloc(pool, (DISPATCHERS_MAX + station->join.most) * sizeof *snapshot->dispatcher);
    if (!snapshot->member || !snapshot->dispatcher)
        return false;
    if (!bli_ngx_zone_lock(&station->zone))
        return true;
    all->stations++;
    snapshot->view = bal_station_view(station->s);
    snapshot->counts = bal_station_counts(station->s);
    for (uint32_t i = 0; i < BLI_NGX_WORKERS_MAX; i++)
        snapshot->processes += bal_station_worker(station->s, i, &pid, &start);
    memcpy(snapshot->times, station->records->times, sizeof snapshot->times);
    snapshot->meter = station->records->meter[0];
    snapshot->recorded = station->records->next;
    copy_dispatchers(snapshot, station);
    bli_ngx_zone_unlock(&station->zone);
    snapshot->unsent = snapshot->counts.unsent + bli_ngx_zone_unsent(&station->zone);
    snapshot->dropped = station->zone.transport ? bli_ngx_transport_dropped(station->zone.transport) : 0;
    for (int i = 0; i < BAL_RECEIPTS; i++)
        snapshot->receipts[i] =
            snapshot->counts.receipts[i] + bli_ngx_zone_receipts(&station->zone, (enum bal_receipt)i);
    return true;
}

const char *bli_ngx_snapshot_station_state(const struct bli_ngx_snapshot_station *station) {
    static const char *const powers[] = {[BAL_POWER_OFF] = "off",
                                         [BAL_POWER_SETUP] = "set-up",
                                         [BAL_POWER_ON] = NULL,
                                         [BAL_POWER_DRAINING] = "draining"};
    const char *power = powers[station->view.power];
    return power ? power : work_state(station->view.running, station->view.slots);
}

/* ---- locks ---- */

static void snapshot_lock(struct bli_ngx_snapshot *all, const struct bli_ngx_zone *zone, bool backup) {
    const struct bli_ngx_stalls *s = zone->stalls;
    struct bli_ngx_snapshot_lock *snapshot = &all->lock[all->locks++];
    *snapshot = (struct bli_ngx_snapshot_lock){
        .zone = zone,
        .backup = backup,
        .holder = __atomic_load_n(&s->holder, __ATOMIC_RELAXED) >> 32,
        .stalls = __atomic_load_n(&s->count, __ATOMIC_RELAXED),
        .requests = __atomic_load_n(&s->requests, __ATOMIC_RELAXED),
        .datagrams = __atomic_load_n(&s->datagrams, __ATOMIC_RELAXED),
    };
    const uint64_t now = bli_ngx_now(), since = __atomic_load_n(&s->since_ns, __ATOMIC_RELAXED);
    snapshot->for_ns = snapshot->holder && now > since ? now - since : 0;
}

/* ---- all ---- */

static bool snapshot_upstream(struct bli_ngx_snapshot *snapshot, ngx_http_upstream_srv_conf_t *us,
                              ngx_pool_t *pool) {
    struct bli_ngx_upstream *b =
        us->srv_conf ? ngx_http_conf_upstream_srv_conf(us, ngx_http_ballast_module) : NULL;
    for (ngx_uint_t k = 0; b && k < b->peer_sets; k++) {
        if (!b->peers[k].zone.attached)
            continue;
        if (!snapshot_peers(snapshot, &b->peers[k], pool))
            return false;
        snapshot_lock(snapshot, &b->peers[k].zone, k > 0);
    }
    struct bli_ngx_station *station = bli_ngx_station_of(us);
    if (station && station->zone.attached) {
        if (!snapshot_station(snapshot, station, pool))
            return false;
        snapshot_lock(snapshot, &station->zone, false);
    }
    return true;
}

struct bli_ngx_snapshot *bli_ngx_snapshot_take(ngx_http_request_t *r) {
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    const ngx_uint_t count = conf->upstreams.nelts;
    struct bli_ngx_snapshot *snapshot = ngx_pcalloc(r->pool, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    snapshot->time_ns = bli_ngx_wall();
    snapshot->peers = ngx_pcalloc(r->pool, PEER_SETS * count * sizeof *snapshot->peers);
    snapshot->station = ngx_pcalloc(r->pool, count * sizeof *snapshot->station);
    snapshot->lock = ngx_palloc(r->pool, (PEER_SETS + 1) * count * sizeof *snapshot->lock);
    if (!snapshot->peers || !snapshot->station || !snapshot->lock)
        return NULL;
    for (ngx_uint_t i = 0; i < count; i++)
        if (!snapshot_upstream(snapshot, us[i], r->pool))
            return NULL;
    return snapshot;
}
