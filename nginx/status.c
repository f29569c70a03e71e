/* The page of `ballast_status;`: what the dispatchers and stations of all upstreams know, as JSON. */
#include "process.h"
#include "station.h"
#include "upstream.h"

#include <stdarg.h>
#include <string.h>

/* ---- text of any length, in buffers of the request ---- */

enum { PIECE = 16384, LINE_MOST = 1024 }; /* a buffer, and the longest thing that is said at once */

struct page {
    ngx_pool_t *pool;
    ngx_chain_t *first, *last;
    off_t length;
    bool failed;
};

static ngx_buf_t *room(struct page *page) {
    ngx_buf_t *buf = page->last ? page->last->buf : NULL;
    if (page->failed || (buf && buf->end - buf->last >= LINE_MOST))
        return page->failed ? NULL : buf;
    ngx_chain_t *link = ngx_alloc_chain_link(page->pool);
    buf = link ? ngx_create_temp_buf(page->pool, PIECE) : NULL;
    page->failed = !buf;
    if (!buf)
        return NULL;
    link->buf = buf;
    link->next = NULL;
    *(page->last ? &page->last->next : &page->first) = link;
    page->last = link;
    return buf;
}

static void say(struct page *page, const char *format, ...) {
    ngx_buf_t *buf = room(page);
    va_list args;
    if (!buf)
        return;
    va_start(args, format);
    u_char *end = ngx_vslprintf(buf->last, buf->last + LINE_MOST, format, args);
    va_end(args);
    page->length += end - buf->last;
    buf->last = end;
}

/* A string of JSON; at most a hundred and some characters of it. */
static void quote(struct page *page, const char *text, size_t length) {
    say(page, "\"");
    for (size_t i = 0; i < length; i++) {
        const u_char c = (u_char)text[i];
        if (c == '"' || c == '\\')
            say(page, "\\%c", c);
        else if (c < ' ')
            say(page, "\\u%04xd", c);
        else
            say(page, "%c", c);
    }
    say(page, "\"");
}

/* ---- a tier, as it was at one moment ---- */

struct seen_server {
    struct bal_server_view view;
    char name[BAL_SERVER_NAME];
    bool down; /* by the configuration of this process */
};

struct seen {
    struct bal_dispatcher_counts counts;
    uint32_t held[BAL_CLASSES_MAX], processes, servers;
    uint64_t now, decisions[DECISION_BUCKETS];
    struct seen_server server[];
};

static struct seen *look(ngx_pool_t *pool, struct bal_ngx_tier *tier) {
    uint64_t pid, start;
    struct seen *seen = ngx_pcalloc(pool, sizeof *seen + tier->config.servers * sizeof *seen->server);
    if (!seen || !tier->zone.inside)
        return seen;
    bal_ngx_zone_lock(&tier->zone);
    seen->now = bal_ngx_now();
    seen->counts = bal_dispatcher_counts(tier->d);
    for (uint32_t rank = 0; rank < BAL_CLASSES_MAX; rank++)
        seen->held[rank] = bal_dispatcher_held(tier->d, rank);
    for (uint32_t number = 0; number < tier->config.servers; number++) {
        struct seen_server *s = &seen->server[seen->servers];
        s->view = bal_dispatcher_server(tier->d, number);
        if (!s->view.name)
            continue;
        const struct bal_ngx_server *known = bal_ngx_tier_server(tier, number);
        s->down = known && known->down;
        strcpy(s->name, s->view.name);
        seen->servers++;
    }
    for (uint32_t i = 0; i < BAL_OWNERS_MAX; i++)
        seen->processes += bal_dispatcher_owner(tier->d, i, &pid, &start);
    bal_ngx_zone_unlock(&tier->zone);
    for (uint32_t i = 0; i < BAL_OWNERS_MAX; i++)
        for (uint32_t bucket = 0; bucket < DECISION_BUCKETS; bucket++)
            seen->decisions[bucket] += tier->shared->decisions[i][bucket];
    return seen;
}

/* ---- what is said of it ---- */

/* Datagrams by what became of them; heard: those that the block has been told of. */
static void say_datagrams(struct page *page, const struct bal_ngx_zone *zone, const uint64_t *heard) {
    say(page, ",\"datagrams\":{");
    for (int i = 0; i < BAL_RECEIPTS; i++)
        say(page, "%s\"%s\":%uL", i ? "," : "", bal_receipt_name((enum bal_receipt)i),
            heard[i] + bal_ngx_zone_receipts(zone, (enum bal_receipt)i));
    say(page, "}");
}

static const char *state_of(const struct seen_server *s) {
    const struct bal_server_view *view = &s->view;
    if (view->leaving)
        return "leaving";
    if (s->down)
        return "down";
    if (view->quarantined)
        return "quarantined";
    if (view->shut)
        return "closed";
    return view->open ? "open" : "full";
}

static void say_server(struct page *page, const struct seen *seen, const struct seen_server *s) {
    say(page, "{\"name\":");
    quote(page, s->name, strlen(s->name));
    say(page, ",\"state\":\"%s\",\"in_flight\":%uD,\"tokens\":%uD", state_of(s), s->view.in_flight,
        s->view.tokens);
    if (s->view.on_trial)
        say(page, ",\"on_trial\":true");
    if (s->view.until > seen->now)
        say(page, ",\"tried_in_ms\":%uL", (s->view.until - seen->now) / 1000000);
    say(page, "}");
}

static void say_counts(struct page *page, const struct bal_ngx_tier *tier, const struct seen *seen) {
    const struct bal_dispatcher_counts *c = &seen->counts;
    say(page,
        "\"counts\":{\"arrived\":%uL,\"sent\":%uL,\"answered\":%uL,\"failed\":%uL,\"retried\":%uL,"
        "\"cancelled\":%uL,\"held\":%uL,\"overdue\":%uL,\"overflow\":%uL,\"refused\":%uL,",
        c->arrived, c->sent, c->answered, c->failed, c->retried, c->cancelled, c->held, c->overdue,
        c->overflow, c->refused);
    say(page,
        "\"no_room\":%uL,\"plain\":%uL,\"tokens\":%uL,\"used\":%uL,\"expired\":%uL,\"probes\":%uL,"
        "\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":%uL},",
        c->no_room, tier->shared ? tier->shared->plain : 0, c->tokens, c->used, c->expired, c->probes,
        c->reaped, c->rebuilds, c->void_tickets);
}

static void say_tier(struct page *page, const struct bal_ngx_tier *tier, const struct seen *seen) {
    const struct bal_ngx_upstream *upstream = tier->upstream;
    const char *comma = "";
    say(page, "{\"upstream\":");
    quote(page, (const char *)upstream->us->host.data, upstream->us->host.len);
    say(page, ",\"backup\":%s,\"policy\":", tier == upstream->tier ? "false" : "true");
    quote(page, upstream->text, strlen(upstream->text));
    say(page, ",\"slots\":%uD,\"processes\":%uD,\"room\":{\"requests\":%uD,\"servers\":%uD},",
        tier->config.slots, seen->processes, tier->config.requests, tier->config.servers);
    say_counts(page, tier, seen);
    say(page, "\"held\":[");
    for (uint32_t rank = 0; rank < tier->config.classes; rank++)
        say(page, "%s%uD", rank ? "," : "", seen->held[rank]);
    say(page, "],\"decision_ns\":{");
    for (uint32_t i = 0; i < DECISION_BUCKETS; i++) {
        if (!seen->decisions[i])
            continue;
        say(page, "%s\"%uL\":%uL", comma, UINT64_C(1) << i, seen->decisions[i]);
        comma = ",";
    }
    say(page, "},\"servers\":[");
    for (uint32_t i = 0; i < seen->servers; i++) {
        say(page, i ? ",\n" : "\n");
        say_server(page, seen, &seen->server[i]);
    }
    say(page, "]");
    if (tier->zone.mail)
        say_datagrams(page, &tier->zone, seen->counts.receipts);
    say(page, "}");
}

/* ---- stations ---- */

static void say_station(struct page *page, struct bal_ngx_station *station) {
    uint32_t processes = 0;
    uint64_t pid, start;
    bal_ngx_zone_lock(&station->zone);
    const struct bal_station_view view = bal_station_view(station->s);
    const struct bal_station_counts c = bal_station_counts(station->s);
    for (uint32_t i = 0; i < BAL_NGX_OWNERS; i++)
        processes += bal_station_owner(station->s, i, &pid, &start);
    bal_ngx_zone_unlock(&station->zone);
    say(page, "{\"upstream\":");
    quote(page, (const char *)station->us->host.data, station->us->host.len);
    say(page, ",\"slots\":%uD,\"queue\":%uD,\"processes\":%uD,\"running\":%uD,\"waiting\":%uD,\"jobs\":[",
        station->config.slots, station->config.queue, processes, view.running, view.waiting);
    for (uint32_t rank = 0; rank < station->config.classes; rank++)
        say(page, "%s%uD", rank ? "," : "", view.jobs[rank]);
    say(page,
        "],\"counts\":{\"arrived\":%uL,\"ran\":%uL,\"answered\":%uL,\"failed\":%uL,\"full\":%uL,"
        "\"cancelled\":%uL,\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":%uL}",
        c.arrived, c.ran, c.answered, c.failed, c.full, c.cancelled, c.reaped, c.rebuilds, c.void_tickets);
    if (station->zone.mail) {
        static const char *const powers[] = {"off", "set-up", "on", "draining"};
        say(page, ",\"id\":\"%uL\",\"power\":\"%s\"", station->config.id, powers[view.power]);
        say(page,
            ",\"offered\":%uD,\"offers\":%uL,\"rode\":%uL,\"probed\":%uL,\"away\":%uD,\"given\":%uL,"
            "\"returned\":%uL",
            view.offered, c.offers, c.rode, c.probed, view.away, c.given, c.returned);
        say_datagrams(page, &station->zone, c.receipts);
    }
    say(page, "}");
}

static void say_stations(struct page *page, ngx_http_request_t *r) {
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    const char *comma = "";
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        struct bal_ngx_station *station = bal_ngx_station_of(us[i]);
        if (!station || !station->zone.inside)
            continue;
        say(page, "%s\n", comma);
        say_station(page, station);
        comma = ",";
    }
}

static void say_all(struct page *page, ngx_http_request_t *r) {
    const ngx_http_upstream_main_conf_t *conf = ngx_http_get_module_main_conf(r, ngx_http_upstream_module);
    ngx_http_upstream_srv_conf_t *const *us = conf->upstreams.elts;
    const char *comma = "";
    say(page, "{\"dispatchers\":[");
    for (ngx_uint_t i = 0; i < conf->upstreams.nelts; i++) {
        struct bal_ngx_upstream *b =
            us[i]->srv_conf ? ngx_http_conf_upstream_srv_conf(us[i], ngx_http_ballast_module) : NULL;
        for (ngx_uint_t k = 0; b && k < b->tiers; k++) {
            const struct seen *seen = look(page->pool, &b->tier[k]);
            page->failed |= !seen;
            if (!seen)
                return;
            say(page, "%s\n", comma);
            say_tier(page, &b->tier[k], seen);
            comma = ",";
        }
    }
    say(page, "],\"stations\":[");
    say_stations(page, r);
    say(page, "]}\n");
}

static ngx_int_t handle(ngx_http_request_t *r) {
    struct page page = {.pool = r->pool};
    if (!(r->method & (NGX_HTTP_GET | NGX_HTTP_HEAD)))
        return NGX_HTTP_NOT_ALLOWED;
    ngx_int_t rc = ngx_http_discard_request_body(r);
    if (rc != NGX_OK)
        return rc;
    say_all(&page, r);
    if (page.failed)
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    page.last->buf->last_buf = r == r->main;
    page.last->buf->last_in_chain = 1;
    ngx_str_set(&r->headers_out.content_type, "application/json");
    r->headers_out.content_type_len = r->headers_out.content_type.len;
    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_length_n = page.length;
    rc = ngx_http_send_header(r);
    if (rc == NGX_ERROR || rc > NGX_OK || r->header_only)
        return rc;
    return ngx_http_output_filter(r, page.first);
}

char *bal_ngx_status_directive(ngx_conf_t *cf, ngx_command_t *command, void *conf) {
    ngx_http_core_loc_conf_t *location = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    (void)command;
    (void)conf;
    location->handler = handle;
    return NGX_CONF_OK;
}
