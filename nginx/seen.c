#include "seen.h"

#include "process.h"

#include <string.h>

/* ---- dispatchers ---- */

static void look_at_servers(struct bal_ngx_seen_tier *seen, struct bal_ngx_tier *tier) {
    for (uint32_t number = 0; number < tier->config.servers; number++) {
        struct bal_ngx_seen_server *s = &seen->server[seen->servers];
        s->view = bal_dispatcher_server(tier->d, number);
        if (!s->view.name)
            continue;
        const struct bal_ngx_server *known = bal_ngx_tier_server(tier, number);
        s->down = known && known->down;
        s->number = number;
        s->meter = tier->records->meter[number];
        strcpy(s->name, s->view.name);
        s->view.name = s->name;
        seen->servers++;
    }
}

static void look_at_tier(struct bal_ngx_seen_tier *seen, struct bal_ngx_tier *tier) {
    uint64_t pid, start;
    bal_ngx_zone_lock(&tier->zone);
    seen->now = bal_ngx_now();
    seen->counts = bal_dispatcher_counts(tier->d);
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        seen->held[rank] = bal_dispatcher_held(tier->d, rank);
    look_at_servers(seen, tier);
    for (uint32_t i = 0; i < BAL_OWNERS_MAX; i++)
        seen->processes += bal_dispatcher_owner(tier->d, i, &pid, &start);
    memcpy(seen->times, tier->records->times, sizeof seen->times);
    seen->recorded = tier->records->next;
    bal_ngx_zone_unlock(&tier->zone);
}

static bool see_tier(struct bal_ngx_seen_tier *seen, struct bal_ngx_tier *tier, ngx_pool_t *pool) {
    seen->tier = tier;
    seen->server = ngx_palloc(pool, tier->config.servers * sizeof *seen->server);
    if (!seen->server)
        return false;
    look_at_tier(seen, tier);
    seen->plain = tier->shared->plain;
    for (uint32_t i = 0; i < BAL_OWNERS_MAX; i++) {
        const struct bal_ngx_decisions *row = &tier->shared->decisions[i];
        seen->decisions.sum_ns += row->sum_ns;
        for (uint32_t bucket = 0; bucket < DECISION_BUCKETS; bucket++)
            seen->decisions.bucket[bucket] += row->bucket[bucket];
    }
    for (int i = 0; i < BAL_RECEIPTS; i++)
        seen->receipts[i] =
            seen->counts.receipts[i] + bal_ngx_zone_receipts(&tier->zone, (enum bal_receipt)i);
    return true;
}

const char *bal_ngx_seen_power(const struct bal_ngx_seen_server *server) {
    switch (server->view.standing) {
    case BAL_STANDING_OFF:
        return "off";
    case BAL_STANDING_SETUP:
        return "set-up";
    case BAL_STANDING_ON:
        return "on";
    default:
        return "draining";
    }
}

static const char *at_work(uint32_t jobs, uint32_t slots) {
    return jobs == 0 ? "idle" : jobs < slots ? "on" : "busy";
}

const char *bal_ngx_seen_state(const struct bal_ngx_seen_server *server) {
    const struct bal_server_view *view = &server->view;
    if (view->leaving)
        return "draining";
    if (server->down || view->down)
        return "down";
    if (view->quarantined)
        return "quarantined";
    if (view->shut)
        return "closed";
    if (view->silent)
        return "silent";
    if (view->standing != BAL_STANDING_ON)
        return bal_ngx_seen_power(server);
    return at_work(view->jobs, view->slots);
}

/* ---- stations ---- */

static void see_station(struct bal_ngx_seen_station *seen, struct bal_ngx_station *station) {
    uint64_t pid, start;
    seen->station = station;
    bal_ngx_zone_lock(&station->zone);
    seen->view = bal_station_view(station->s);
    seen->counts = bal_station_counts(station->s);
    for (uint32_t i = 0; i < BAL_NGX_OWNERS; i++)
        seen->processes += bal_station_owner(station->s, i, &pid, &start);
    memcpy(seen->times, station->records->times, sizeof seen->times);
    seen->meter = station->records->meter[0];
    seen->recorded = station->records->next;
    bal_ngx_zone_unlock(&station->zone);
    for (int i = 0; i < BAL_RECEIPTS; i++)
        seen->receipts[i] =
            seen->counts.receipts[i] + bal_ngx_zone_receipts(&station->zone, (enum bal_receipt)i);
}

const char *bal_ngx_seen_station_state(const struct bal_ngx_seen_station *station) {
    static const char *const powers[] = {[BAL_POWER_OFF] = "off",
                                         [BAL_POWER_SETUP] = "set-up",
                                         [BAL_POWER_ON] = NULL,
                                         [BAL_POWER_DRAINING] = "draining"};
    const char *power = powers[station->view.power];
    return power ? power : at_work(station->view.running, station->station->config.slots);
}

/* ---- all ---- */

struct bal_ngx_seen *bal_ngx_look(ngx_http_request_t *r) {
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    const ngx_uint_t count = conf->upstreams.nelts;
    struct bal_ngx_seen *seen = ngx_pcalloc(r->pool, sizeof *seen);
    if (!seen)
        return NULL;
    seen->time_ns = bal_ngx_boot();
    seen->tier = ngx_pcalloc(r->pool, TIERS * count * sizeof *seen->tier);
    seen->station = ngx_pcalloc(r->pool, count * sizeof *seen->station);
    if (!seen->tier || !seen->station)
        return NULL;
    for (ngx_uint_t i = 0; i < count; i++) {
        struct bal_ngx_upstream *b =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        for (ngx_uint_t k = 0; b && k < b->tiers; k++)
            if (b->tier[k].zone.inside && !see_tier(&seen->tier[seen->tiers++], &b->tier[k], r->pool))
                return NULL;
        struct bal_ngx_station *station = bal_ngx_station_of(us[i]);
        if (station && station->zone.inside)
            see_station(&seen->station[seen->stations++], station);
    }
    return seen;
}
