/* What is seen as JSON: schema/status.schema.json. */
#include "status.h"

#include "ballast/version.h"

#include <string.h>

/* ---- parts ---- */

static void say_times(struct bal_ngx_text *text, const struct bal_ngx_times *times, uint32_t classes) {
    bal_ngx_say(text, ",\"response\":[");
    for (uint32_t rank = 0; rank < classes; rank++) {
        const char *comma = "";
        bal_ngx_say(text, "%s{\"count\":%uL,\"seconds\":", rank ? "," : "", times[rank].count);
        bal_ngx_say_seconds(text, times[rank].sum_ns);
        bal_ngx_say(text, ",\"buckets\":[");
        for (uint32_t i = 0; i < BAL_NGX_TIMES; i++) {
            if (!times[rank].bucket[i])
                continue;
            bal_ngx_say(text, "%s[%uD,%uL]", comma, i, times[rank].bucket[i]);
            comma = ",";
        }
        bal_ngx_say(text, "]}");
    }
    bal_ngx_say(text, "]");
}

static void say_meter(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                      const struct bal_ngx_meter *meter) {
    bal_ngx_say(text, ",\"seconds\":{");
    for (int i = 0; i < BAL_NGX_DOINGS; i++) {
        bal_ngx_say(text, "%s\"%s\":", i ? "," : "", bal_ngx_doing_name((enum bal_ngx_doing)i));
        bal_ngx_say_seconds(text, meter->ns[i]);
    }
    bal_ngx_say(text, "}");
    if (status->metered) {
        const uint64_t energy = bal_ngx_status_energy(status, meter);
        bal_ngx_say(text, ",\"joules\":%uL.%03uL", energy / 1000, energy % 1000);
    }
}

static void say_kinds(struct bal_ngx_text *text, const char *name, const uint64_t counts[BAL_MSG_TYPES]) {
    bal_ngx_say(text, "\"%s\":{", name);
    for (int type = 1; type < BAL_MSG_TYPES; type++) {
        u_char word[16];
        const char *known = bal_message_name((enum bal_message_type)type);
        ngx_strlow(word, (u_char *)known, strlen(known) + 1);
        bal_ngx_say(text, "%s\"%s\":%uL", type > 1 ? "," : "", word, counts[type]);
    }
    bal_ngx_say(text, "}");
}

static void say_messages(struct bal_ngx_text *text, const uint64_t said[BAL_MSG_TYPES],
                         const uint64_t heard[BAL_MSG_TYPES], const uint64_t receipts[BAL_RECEIPTS],
                         uint64_t unsent) {
    bal_ngx_say(text, ",\"messages\":{");
    say_kinds(text, "said", said);
    bal_ngx_say(text, ",");
    say_kinds(text, "heard", heard);
    bal_ngx_say(text, "},\"datagrams\":{");
    for (int i = 0; i < BAL_RECEIPTS; i++)
        bal_ngx_say(text, "\"%s\":%uL,", bal_receipt_name((enum bal_receipt)i), receipts[i]);
    bal_ngx_say(text, "\"unsent\":%uL}", unsent);
}

static void say_list(struct bal_ngx_text *text, const char *name, const uint32_t *numbers, uint32_t count) {
    bal_ngx_say(text, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        bal_ngx_say(text, "%s%uD", i ? "," : "", numbers[i]);
    bal_ngx_say(text, "]");
}

static void say_ring(struct bal_ngx_text *text, ngx_uint_t room, uint64_t next) {
    if (room)
        bal_ngx_say(text, ",\"ring\":{\"room\":%uD,\"next\":%uL}", bal_ngx_records_room((uint32_t)room),
                    next);
}

/* ---- dispatchers ---- */

static void say_server(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                       const struct bal_ngx_seen_tier *seen, const struct bal_ngx_seen_server *s) {
    const struct bal_server_view *view = &s->view;
    const uint32_t in_service = ngx_min(view->jobs, view->slots);
    bal_ngx_say(text, "{\"number\":%uD,\"name\":", s->number);
    bal_ngx_quote(text, s->name, strlen(s->name));
    bal_ngx_say(text,
                ",\"state\":\"%s\",\"open\":%s,\"power\":\"%s\",\"in_flight\":%uD,\"in_service\":%uD,"
                "\"queue\":%uD,\"slots\":%uD,\"tokens\":%uD,\"answered\":%uL,\"failed\":%uL",
                bal_ngx_seen_state(s), view->open ? "true" : "false", bal_ngx_seen_power(s), view->in_flight,
                in_service, view->jobs - in_service, view->slots, view->tokens, view->answered, view->failed);
    bal_ngx_say(text, ",\"response_seconds\":");
    bal_ngx_say_seconds(text, view->took_ns);
    say_meter(text, status, &s->meter);
    if (view->tokens) {
        bal_ngx_say(text, ",\"token_age\":");
        bal_ngx_say_seconds(text, seen->now - ngx_min(view->token_since, seen->now));
    }
    if (view->full)
        bal_ngx_say(text, ",\"full\":true");
    if (view->on_trial)
        bal_ngx_say(text, ",\"on_trial\":true");
    if (view->until > seen->now)
        bal_ngx_say(text, ",\"tried_in_ms\":%uL", (view->until - seen->now) / 1000000);
    bal_ngx_say(text, "}");
}

static void say_counts(struct bal_ngx_text *text, const struct bal_ngx_seen_tier *seen) {
    const struct bal_dispatcher_counts *c = &seen->counts;
    bal_ngx_say(text,
                ",\"counts\":{\"arrived\":%uL,\"sent\":%uL,\"answered\":%uL,\"failed\":%uL,\"retried\":%uL,"
                "\"cancelled\":%uL,\"held\":%uL,\"overdue\":%uL,\"overflow\":%uL,\"refused\":%uL,",
                c->arrived, c->sent, c->answered, c->failed, c->retried, c->cancelled, c->held, c->overdue,
                c->overflow, c->refused);
    bal_ngx_say(text,
                "\"no_room\":%uL,\"plain\":%uL,\"tokens\":%uL,\"used\":%uL,\"expired\":%uL,\"probes\":%uL,"
                "\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":%uL},\"reasons\":{",
                c->no_room, seen->plain, c->tokens, c->used, c->expired, c->probes, c->reaped, c->rebuilds,
                c->void_tickets);
    for (int i = 0; i < BAL_REASONS; i++)
        bal_ngx_say(text, "%s\"%s\":%uL", i ? "," : "", bal_ngx_reason_name((enum bal_reason)i),
                    c->reasons[i]);
    bal_ngx_say(text, "}");
}

static void say_decisions(struct bal_ngx_text *text, const struct bal_ngx_decisions *decisions) {
    const char *comma = "";
    bal_ngx_say(text, ",\"decision_ns\":{");
    for (uint32_t i = 0; i < DECISION_BUCKETS; i++) {
        if (!decisions->bucket[i])
            continue;
        bal_ngx_say(text, "%s\"%uL\":%uL", comma, UINT64_C(1) << i, decisions->bucket[i]);
        comma = ",";
    }
    bal_ngx_say(text, "},\"decision_seconds\":");
    bal_ngx_say_seconds(text, decisions->sum_ns);
}

static void say_tier(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                     const struct bal_ngx_seen_tier *seen) {
    const struct bal_ngx_tier *tier = seen->tier;
    const struct bal_ngx_upstream *upstream = tier->upstream;
    struct bal_ngx_meter sum = {{0}};
    bal_ngx_say(text, "{\"upstream\":");
    bal_ngx_quote(text, (const char *)upstream->us->host.data, upstream->us->host.len);
    bal_ngx_say(text, ",\"backup\":%s,\"policy\":", tier == upstream->tier ? "false" : "true");
    bal_ngx_quote(text, upstream->text, strlen(upstream->text));
    bal_ngx_say(text,
                ",\"stations\":%s,\"slots\":%uD,\"classes\":%uD,\"processes\":%uD,"
                "\"room\":{\"requests\":%uD,\"servers\":%uD}",
                upstream->stations ? "true" : "false", tier->config.slots, tier->config.classes,
                seen->processes, tier->config.requests, tier->config.servers);
    if (upstream->class) {
        bal_ngx_say(text, ",\"class\":");
        bal_ngx_quote(text, (const char *)upstream->class->value.data, upstream->class->value.len);
    }
    say_counts(text, seen);
    say_list(text, "held", seen->held, tier->config.classes);
    say_decisions(text, &seen->decisions);
    say_times(text, seen->times, tier->config.classes);
    for (uint32_t i = 0; i < seen->servers; i++)
        for (int k = 0; k < BAL_NGX_DOINGS; k++)
            sum.ns[k] += seen->server[i].meter.ns[k];
    say_meter(text, status, &sum);
    say_ring(text, upstream->record, seen->recorded);
    if (tier->zone.mail)
        say_messages(text, seen->counts.said, seen->counts.heard, seen->receipts, seen->counts.unsent);
    bal_ngx_say(text, ",\"servers\":[");
    for (uint32_t i = 0; i < seen->servers; i++) {
        bal_ngx_say(text, i ? ",\n" : "\n");
        say_server(text, status, seen, &seen->server[i]);
    }
    bal_ngx_say(text, "]}");
}

/* ---- stations ---- */

static void say_station(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                        const struct bal_ngx_seen_station *seen) {
    const struct bal_ngx_station *station = seen->station;
    const struct bal_station_counts *c = &seen->counts;
    static const char *const powers[] = {"off", "set-up", "on", "draining"};
    bal_ngx_say(text, "{\"upstream\":");
    bal_ngx_quote(text, (const char *)station->us->host.data, station->us->host.len);
    bal_ngx_say(text,
                ",\"state\":\"%s\",\"power\":\"%s\",\"slots\":%uD,\"classes\":%uD,\"queue\":%uD,"
                "\"processes\":%uD,\"running\":%uD,\"waiting\":%uD,\"away\":%uD",
                bal_ngx_seen_station_state(seen), powers[seen->view.power], station->config.slots,
                station->config.classes, station->config.queue, seen->processes, seen->view.running,
                seen->view.waiting, seen->view.away);
    say_list(text, "jobs", seen->view.jobs, station->config.classes);
    bal_ngx_say(text,
                ",\"counts\":{\"arrived\":%uL,\"ran\":%uL,\"answered\":%uL,\"failed\":%uL,\"full\":%uL,"
                "\"cancelled\":%uL,\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":%uL}",
                c->arrived, c->ran, c->answered, c->failed, c->full, c->cancelled, c->reaped, c->rebuilds,
                c->void_tickets);
    say_times(text, seen->times, station->config.classes);
    say_meter(text, status, &seen->meter);
    say_ring(text, station->record, seen->recorded);
    if (station->zone.mail) {
        bal_ngx_say(
            text,
            ",\"id\":\"%uL\",\"offered\":%uD,\"offers\":%uL,\"rode\":%uL,\"probed\":%uL,\"given\":%uL,"
            "\"returned\":%uL",
            station->config.id, seen->view.offered, c->offers, c->rode, c->probed, c->given, c->returned);
        say_messages(text, c->said, c->heard, seen->receipts, c->unsent);
    }
    bal_ngx_say(text, "}");
}

/* ---- all ---- */

void bal_ngx_status_json(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                         const struct bal_ngx_seen *seen) {
    bal_ngx_say(text, "{\"schema\":%d,\"ballast\":\"%s\",\"nginx\":\"%s\",\"time\":", BAL_NGX_SCHEMA,
                BALLAST_VERSION, NGINX_VERSION);
    bal_ngx_say_seconds(text, seen->time_ns);
    bal_ngx_say(text, ",\"bounds\":[");
    for (uint32_t i = 0; i < BAL_NGX_TIMES - 1; i++) {
        bal_ngx_say(text, i ? "," : "");
        bal_ngx_say_seconds(text, bal_ngx_times_bound(i));
    }
    bal_ngx_say(text, "]");
    if (status->twin.len) {
        bal_ngx_say(text, ",\"twin\":");
        bal_ngx_quote(text, (const char *)status->twin.data, status->twin.len);
    }
    bal_ngx_say(text, ",\"dispatchers\":[");
    for (uint32_t i = 0; i < seen->tiers; i++) {
        bal_ngx_say(text, i ? ",\n" : "\n");
        say_tier(text, status, &seen->tier[i]);
    }
    bal_ngx_say(text, "],\"stations\":[");
    for (uint32_t i = 0; i < seen->stations; i++) {
        bal_ngx_say(text, i ? ",\n" : "\n");
        say_station(text, status, &seen->station[i]);
    }
    bal_ngx_say(text, "]}\n");
}
