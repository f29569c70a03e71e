/* SPDX-License-Identifier: BSD-2-Clause */
/* Recorded requests, a line of JSON each, after a header line. */
#include "status.h"

#include "process.h"

enum { ONCE = 256, MAX = 16384 }; /* under one lock, and in one answer */

/* Whose ring. */
struct recorder {
    struct bli_ngx_zone *zone;
    struct bli_ngx_records *records;
    const ngx_str_t *name;
    const struct bli_ngx_snapshot_peers *peers; /* NULL: it is a station */
    uint32_t classes;
};

static bool is_named(const ngx_str_t *wanted, const ngx_str_t *name) {
    return wanted->len == 0 ||
           (wanted->len == name->len && ngx_strncmp(wanted->data, name->data, name->len) == 0);
}

static bool find_ring(const struct bli_ngx_snapshot *snapshot, const ngx_str_t *upstream, bool station,
                      struct recorder *who) {
    for (uint32_t i = 0; !station && i < snapshot->peer_sets; i++) {
        struct bli_ngx_peers *peers = (struct bli_ngx_peers *)snapshot->peers[i].peers;
        if (peers != peers->upstream->peers || !peers->upstream->record ||
            !is_named(upstream, &peers->upstream->us->host))
            continue;
        *who = (struct recorder){&peers->zone, peers->records, &peers->upstream->us->host,
                                 &snapshot->peers[i], peers->config.classes};
        return true;
    }
    for (uint32_t i = 0; station && i < snapshot->stations; i++) {
        struct bli_ngx_station *s = (struct bli_ngx_station *)snapshot->station[i].station;
        if (!s->record || !is_named(upstream, &s->us->host))
            continue;
        *who = (struct recorder){&s->zone, s->records, &s->us->host, NULL, s->config.classes};
        return true;
    }
    return false;
}

static void print_record(struct bli_ngx_text *text, const struct bli_ngx_record *record, uint64_t number,
                         uint64_t to_wall) {
    const uint64_t at = record->arrived_ns + to_wall;
    bli_ngx_text_printf(text, "[%uL,%uL.%06uL,%uD,%uD,%uD,%uD,%uD,\"%s\"]\n", number, at / 1000000000,
                        at / 1000 % 1000000, record->wait_us, record->took_us, record->server,
                        (uint32_t)record->rank, (uint32_t)record->status,
                        bli_ngx_reason_name((enum bal_reason)record->reason));
}

static void print_head(struct bli_ngx_text *text, const struct recorder *who, uint64_t first, uint64_t next,
                       uint64_t since) {
    bli_ngx_text_printf(text, "{\"schema\":%d,\"upstream\":", BLI_NGX_SCHEMA);
    bli_ngx_text_json_string(text, (const char *)who->name->data, who->name->len);
    bli_ngx_text_printf(
        text,
        ",\"station\":%s,\"classes\":%uD,\"first\":%uL,\"next\":%uL,\"lost\":%uL,\"fields\":[\"number\","
        "\"arrived_seconds\",\"wait_us\",\"service_us\",\"server\",\"class\",\"status\",\"reason\"]}\n",
        who->peers ? "false" : "true", who->classes, first, next, since < first ? first - since : 0);
}

bool bli_ngx_status_ring(struct bli_ngx_text *text, ngx_http_request_t *r,
                         const struct bli_ngx_snapshot *snapshot, const ngx_str_t *upstream, bool station,
                         uint64_t since) {
    struct bli_ngx_record *record = ngx_palloc(r->pool, MAX * sizeof *record);
    struct recorder who;
    uint32_t count = 0, more;
    uint64_t first = since;
    if (!find_ring(snapshot, upstream, station, &who))
        return false;
    text->failed |= !record;
    do {
        more = 0;
        if (text->failed || !bli_ngx_zone_lock(who.zone)) /* then the next request gets the rest */
            break;
        const uint64_t from = bli_ngx_records_copy(who.records, first + count, ONCE, &record[count], &more);
        bli_ngx_zone_unlock(who.zone);
        if (count == 0)
            first = from;
        else if (from != first + count) /* the writers have overtaken us; the next request gets the rest */
            break;
        count += more;
    } while (more == ONCE && count < MAX);
    const uint64_t to_wall = bli_ngx_wall() - bli_ngx_now();
    print_head(text, &who, first, first + count, since);
    for (uint32_t i = 0; i < count; i++)
        print_record(text, &record[i], first + i, to_wall);
    return true;
}
