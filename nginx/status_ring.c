/* Recorded requests, a line of JSON each, behind a line that says what they are. */
#include "status.h"

#include "process.h"

enum { ONCE = 256, MOST = 16384 }; /* under one lock, and in one answer */

/* Whose ring. */
struct recorder {
    struct bal_ngx_zone *zone;
    struct bal_ngx_records *records;
    const ngx_str_t *name;
    const struct bal_ngx_seen_tier *tier; /* NULL: it is a station */
    uint32_t classes;
};

static bool is_named(const ngx_str_t *wanted, const ngx_str_t *name) {
    return wanted->len == 0 ||
           (wanted->len == name->len && ngx_strncmp(wanted->data, name->data, name->len) == 0);
}

static bool find(const struct bal_ngx_seen *seen, const ngx_str_t *upstream, bool station,
                 struct recorder *who) {
    for (uint32_t i = 0; !station && i < seen->tiers; i++) {
        struct bal_ngx_tier *tier = (struct bal_ngx_tier *)seen->tier[i].tier;
        if (tier != tier->upstream->tier || !tier->upstream->record ||
            !is_named(upstream, &tier->upstream->us->host))
            continue;
        *who = (struct recorder){&tier->zone, tier->records, &tier->upstream->us->host, &seen->tier[i],
                                 tier->config.classes};
        return true;
    }
    for (uint32_t i = 0; station && i < seen->stations; i++) {
        struct bal_ngx_station *s = (struct bal_ngx_station *)seen->station[i].station;
        if (!s->record || !is_named(upstream, &s->us->host))
            continue;
        *who = (struct recorder){&s->zone, s->records, &s->us->host, NULL, s->config.classes};
        return true;
    }
    return false;
}

static void say_record(struct bal_ngx_text *text, const struct bal_ngx_record *record, uint64_t number,
                       uint64_t to_wall) {
    const uint64_t at = record->arrived_ns + to_wall;
    bal_ngx_say(text, "[%uL,%uL.%06uL,%uD,%uD,%uD,%uD,%uD,\"%s\"]\n", number, at / 1000000000,
                at / 1000 % 1000000, record->wait_us, record->took_us, record->server, (uint32_t)record->rank,
                (uint32_t)record->status, bal_ngx_reason_name((enum bal_reason)record->reason));
}

static void say_head(struct bal_ngx_text *text, const struct recorder *who, uint64_t first, uint64_t next,
                     uint64_t since) {
    bal_ngx_say(text, "{\"schema\":%d,\"upstream\":", BAL_NGX_SCHEMA);
    bal_ngx_quote(text, (const char *)who->name->data, who->name->len);
    bal_ngx_say(
        text,
        ",\"station\":%s,\"classes\":%uD,\"first\":%uL,\"next\":%uL,\"lost\":%uL,\"fields\":[\"number\","
        "\"arrived_seconds\",\"wait_us\",\"service_us\",\"server\",\"class\",\"status\",\"reason\"]}\n",
        who->tier ? "false" : "true", who->classes, first, next, since < first ? first - since : 0);
}

bool bal_ngx_status_ring(struct bal_ngx_text *text, ngx_http_request_t *r, const struct bal_ngx_seen *seen,
                         const ngx_str_t *upstream, bool station, uint64_t since) {
    struct bal_ngx_record *record = ngx_palloc(r->pool, MOST * sizeof *record);
    struct recorder who;
    uint32_t count = 0, more;
    uint64_t first = since;
    if (!find(seen, upstream, station, &who))
        return false;
    text->failed |= !record;
    do {
        more = 0;
        if (text->failed)
            break;
        bal_ngx_zone_lock(who.zone);
        const uint64_t from = bal_ngx_records_copy(who.records, first + count, ONCE, &record[count], &more);
        bal_ngx_zone_unlock(who.zone);
        if (count == 0)
            first = from;
        else if (from != first + count) /* it has been overtaken by the writers; the rest is for the next */
            break;
        count += more;
    } while (more == ONCE && count < MOST);
    const uint64_t to_wall = bal_ngx_boot() - bal_ngx_now();
    say_head(text, &who, first, first + count, since);
    for (uint32_t i = 0; i < count; i++)
        say_record(text, &record[i], first + i, to_wall);
    return true;
}
