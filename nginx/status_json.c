/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the snapshot as JSON: schema/status.schema.json. */
#include "found_slots.h"
#include "names.h"
#include "status.h"

#include "ballast/version.h"

#include <string.h>

/* ---- parts ---- */

static void print_times(struct bal_ngx_text *text, const struct bal_ngx_times *times, uint32_t classes) {
    bal_ngx_text_printf(text, ",\"response\":[");
    for (uint32_t rank = 0; rank < classes; rank++) {
        const char *comma = "";
        bal_ngx_text_printf(text, "%s{\"count\":%uL,\"seconds\":", rank ? "," : "", times[rank].count);
        bal_ngx_text_seconds(text, times[rank].sum_ns);
        bal_ngx_text_printf(text, ",\"buckets\":[");
        for (uint32_t i = 0; i < BAL_NGX_TIMES; i++) {
            if (!times[rank].bucket[i])
                continue;
            bal_ngx_text_printf(text, "%s[%uD,%uL]", comma, i, times[rank].bucket[i]);
            comma = ",";
        }
        bal_ngx_text_printf(text, "]}");
    }
    bal_ngx_text_printf(text, "]");
}

static void print_meter(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                        const struct bal_ngx_meter *meter) {
    bal_ngx_text_printf(text, ",\"seconds\":{");
    for (int i = 0; i < BAL_NGX_ACTIVITIES; i++) {
        bal_ngx_text_printf(text, "%s\"%s\":", i ? "," : "",
                            bal_ngx_activity_name((enum bal_ngx_server_activity)i));
        bal_ngx_text_seconds(text, meter->ns[i]);
    }
    bal_ngx_text_printf(text, "}");
    if (status->metered) {
        const uint64_t energy = bal_ngx_status_energy(status, meter);
        bal_ngx_text_printf(text, ",\"joules\":%uL.%03uL", energy / 1000, energy % 1000);
    }
}

static void print_kinds(struct bal_ngx_text *text, const char *name, const uint64_t counts[BAL_MSG_TYPES]) {
    bal_ngx_text_printf(text, "\"%s\":{", name);
    for (int type = 1; type < BAL_MSG_TYPES; type++) {
        u_char word[16];
        const char *known = bal_message_name((enum bal_message_type)type);
        ngx_strlow(word, (u_char *)known, strlen(known) + 1);
        bal_ngx_text_printf(text, "%s\"%s\":%uL", type > 1 ? "," : "", word, counts[type]);
    }
    bal_ngx_text_printf(text, "}");
}

static void print_messages(struct bal_ngx_text *text, const uint64_t messages_sent[BAL_MSG_TYPES],
                           const uint64_t messages_received[BAL_MSG_TYPES],
                           const uint64_t receipts[BAL_RECEIPTS], uint64_t unsent, uint64_t dropped) {
    bal_ngx_text_printf(text, ",\"messages\":{");
    print_kinds(text, "said", messages_sent);
    bal_ngx_text_printf(text, ",");
    print_kinds(text, "heard", messages_received);
    bal_ngx_text_printf(text, "},\"datagrams\":{");
    for (int i = 0; i < BAL_RECEIPTS; i++)
        bal_ngx_text_printf(text, "\"%s\":%uL,", bal_receipt_name((enum bal_receipt)i), receipts[i]);
    bal_ngx_text_printf(text, "\"unsent\":%uL,\"dropped\":%uL}", unsent, dropped);
}

static void print_list(struct bal_ngx_text *text, const char *name, const uint32_t *numbers, uint32_t count) {
    bal_ngx_text_printf(text, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        bal_ngx_text_printf(text, "%s%uD", i ? "," : "", numbers[i]);
    bal_ngx_text_printf(text, "]");
}

static void print_ring(struct bal_ngx_text *text, ngx_uint_t room, uint64_t next) {
    if (room)
        bal_ngx_text_printf(text, ",\"ring\":{\"room\":%uD,\"next\":%uL}",
                            bal_ngx_records_capacity((uint32_t)room), next);
}

/* A stalled zone is in no other list, so this one contains all zones. */
static void print_lock(struct bal_ngx_text *text, const struct bal_ngx_snapshot_lock *lock) {
    bal_ngx_text_printf(text, "{\"%s\":", lock->zone->kind);
    bal_ngx_text_json_string(text, (const char *)lock->zone->host->data, lock->zone->host->len);
    bal_ngx_text_printf(text, ",\"backup\":%s,\"holder\":%uL,\"seconds\":", lock->backup ? "true" : "false",
                        lock->holder);
    bal_ngx_text_seconds(text, lock->for_ns);
    bal_ngx_text_printf(text, ",\"stalls\":%uL,\"requests\":%uL,\"datagrams\":%uL}", lock->stalls,
                        lock->requests, lock->datagrams);
}

/* ---- dispatchers ---- */

/* Of ballast_server. code: what a resolver of nginx calls it. */
static void print_name(struct bal_ngx_text *text, const struct bal_ngx_name *name, uint64_t now) {
    const struct bal_ngx_name_view view = bal_ngx_name_view(name);
    bal_ngx_text_printf(text, "{\"name\":");
    bal_ngx_text_json_string(text, (const char *)name->name.data, name->name.len);
    if (name->service.len) {
        bal_ngx_text_printf(text, ",\"service\":");
        bal_ngx_text_json_string(text, (const char *)name->service.data, name->service.len);
    }
    bal_ngx_text_printf(
        text, ",\"addresses\":%uD,\"found\":%uD,\"lookups\":%uL,\"failures\":%uL,\"failing\":%s",
        view.addresses, view.found, view.lookups, view.failures, view.failing ? "true" : "false");
    if (view.failing) {
        const char *reason = ngx_resolver_strerror(view.code);
        bal_ngx_text_printf(text, ",\"reason\":");
        bal_ngx_text_json_string(text, reason, strlen(reason));
    }
    if (view.answered_at) {
        bal_ngx_text_printf(text, ",\"age\":");
        bal_ngx_text_seconds(text, now - ngx_min(view.answered_at, now));
    }
    bal_ngx_text_printf(text, "}");
}

static void print_names(struct bal_ngx_text *text, const struct bal_ngx_snapshot_peers *snapshot) {
    const struct bal_ngx_name *name;
    bal_ngx_text_printf(text, ",\"names\":[");
    for (ngx_uint_t i = 0; (name = bal_ngx_name_at(snapshot->peers->upstream, i)); i++) {
        bal_ngx_text_printf(text, i ? "," : "");
        print_name(text, name, snapshot->now);
    }
    bal_ngx_text_printf(text, "]");
}

/* The last check, and what all of them have led to. */
static void print_check(struct bal_ngx_text *text, const struct bal_ngx_snapshot_peers *snapshot,
                        const struct bal_check_view *check) {
    bal_ngx_text_printf(text,
                        ",\"check\":{\"state\":\"%s\",\"result\":\"%s\",\"in_a_row\":%uD,\"passed\":%uL,"
                        "\"failed\":%uL,\"falls\":%uL,\"seconds\":",
                        bal_check_state_name(check->state), bal_check_result_name(check->result),
                        check->in_a_row, check->passed, check->failed, check->changes);
    bal_ngx_text_seconds(text, check->took_ns);
    if (check->result != BAL_CHECK_NONE) {
        bal_ngx_text_printf(text, ",\"age\":");
        bal_ngx_text_seconds(text, snapshot->now - ngx_min(check->result_at, snapshot->now));
    }
    bal_ngx_text_printf(text, "}");
}

static void print_server(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                         const struct bal_ngx_snapshot_peers *snapshot,
                         const struct bal_ngx_snapshot_server *s) {
    const struct bal_server_view *view = &s->view;
    const uint32_t in_service = ngx_min(view->jobs, view->slots);
    bal_ngx_text_printf(text, "{\"number\":%uD,\"name\":", s->number);
    bal_ngx_text_json_string(text, s->name, strlen(s->name));
    bal_ngx_text_printf(text,
                        ",\"state\":\"%s\",\"open\":%s,\"power\":\"%s\",\"in_flight\":%uD,\"in_service\":%uD,"
                        "\"queue\":%uD,\"slots\":%uD,\"tokens\":%uD,\"answered\":%uL,\"failed\":%uL",
                        bal_ngx_snapshot_state(s), view->open ? "true" : "false", bal_ngx_snapshot_power(s),
                        view->in_flight, in_service, view->jobs - in_service, view->slots, view->tokens,
                        view->answered, view->failed);
    bal_ngx_found_json(text, &view->concurrency);
    bal_ngx_text_printf(text, ",\"response_seconds\":");
    bal_ngx_text_seconds(text, view->took_ns);
    print_meter(text, status, &s->meter);
    if (view->tokens) {
        bal_ngx_text_printf(text, ",\"token_age\":");
        bal_ngx_text_seconds(text, snapshot->now - ngx_min(view->token_since, snapshot->now));
    }
    if (view->heard_at) {
        bal_ngx_text_printf(text, ",\"heard_age\":");
        bal_ngx_text_seconds(text, snapshot->now - ngx_min(view->heard_at, snapshot->now));
    }
    if (view->others)
        bal_ngx_text_printf(text, ",\"others\":%uD", view->others);
    if (view->joined)
        bal_ngx_text_printf(text, ",\"joined\":true");
    if (view->full)
        bal_ngx_text_printf(text, ",\"full\":true");
    if (s->added)
        bal_ngx_text_printf(text, ",\"added\":true");
    if (s->changed[0])
        bal_ngx_text_printf(text, ",\"changed\":{%s}", s->changed);
    if (view->on_trial)
        bal_ngx_text_printf(text, ",\"on_trial\":true");
    if (view->until > snapshot->now)
        bal_ngx_text_printf(text, ",\"tried_in_ms\":%uL", (view->until - snapshot->now) / 1000000);
    if (s->share < 1)
        bal_ngx_text_printf(text, ",\"share\":0.%03uD", (uint32_t)(s->share * 1000));
    if (s->check.checked)
        print_check(text, snapshot, &s->check);
    bal_ngx_text_printf(text, "}");
}

static void print_counts(struct bal_ngx_text *text, const struct bal_ngx_snapshot_peers *snapshot) {
    const struct bal_dispatcher_counts *c = &snapshot->counts;
    bal_ngx_text_printf(
        text,
        ",\"counts\":{\"arrived\":%uL,\"sent\":%uL,\"answered\":%uL,\"failed\":%uL,\"retried\":%uL,"
        "\"cancelled\":%uL,\"held\":%uL,\"overdue\":%uL,\"overflow\":%uL,\"replaced\":%uL,\"refused\":%uL,",
        c->arrived, c->sent, c->answered, c->failed, c->retried, c->cancelled, c->held, c->overdue,
        c->overflow, c->replaced, c->refused);
    bal_ngx_text_printf(
        text,
        "\"no_room\":%uL,\"plain\":%uL,\"tokens\":%uL,\"used\":%uL,\"expired\":%uL,\"probes\":%uL,"
        "\"unheard\":%uL,\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":%uL},\"reasons\":{",
        c->no_room, snapshot->untracked, c->tokens, c->used, c->expired, c->probes, c->unheard, c->reaped,
        c->rebuilds, c->void_tickets);
    for (int i = 0; i < BAL_REASONS; i++)
        bal_ngx_text_printf(text, "%s\"%s\":%uL", i ? "," : "", bal_ngx_reason_name((enum bal_reason)i),
                            c->reasons[i]);
    bal_ngx_text_printf(text, "}");
}

static void print_decisions(struct bal_ngx_text *text, const struct bal_ngx_decisions *decisions) {
    const char *comma = "";
    bal_ngx_text_printf(text, ",\"decision_ns\":{");
    for (uint32_t i = 0; i < DECISION_BUCKETS; i++) {
        if (!decisions->bucket[i])
            continue;
        bal_ngx_text_printf(text, "%s\"%uL\":%uL", comma, UINT64_C(1) << i, decisions->bucket[i]);
        comma = ",";
    }
    bal_ngx_text_printf(text, "},\"decision_seconds\":");
    bal_ngx_text_seconds(text, decisions->sum_ns);
}

static void print_peers(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                        const struct bal_ngx_snapshot_peers *snapshot) {
    const struct bal_ngx_peers *peers = snapshot->peers;
    const struct bal_ngx_upstream *upstream = peers->upstream;
    struct bal_ngx_meter sum = {{0}};
    bal_ngx_text_printf(text, "{\"upstream\":");
    bal_ngx_text_json_string(text, (const char *)upstream->us->host.data, upstream->us->host.len);
    bal_ngx_text_printf(text, ",\"backup\":%s,\"policy\":", peers == upstream->peers ? "false" : "true");
    bal_ngx_text_json_string(text, upstream->now.text, strlen(upstream->now.text));
    if (strcmp(upstream->now.text, upstream->text) != 0) {
        bal_ngx_text_printf(text, ",\"configured\":");
        bal_ngx_text_json_string(text, upstream->text, strlen(upstream->text));
    }
    bal_ngx_text_printf(text,
                        ",\"default\":%s,\"stations\":%s,\"slots\":%uD,\"classes\":%uD,\"processes\":%uD,"
                        "\"room\":{\"requests\":%uD,\"servers\":%uD}",
                        upstream->default_policy ? "true" : "false", upstream->stations ? "true" : "false",
                        peers->config.slots, peers->config.classes, snapshot->processes,
                        peers->config.requests, peers->config.servers);
    bal_ngx_text_printf(text, ",\"options\":");
    bal_ngx_text_json_string(text, (const char *)upstream->options.data, upstream->options.len);
    if (upstream->class) {
        bal_ngx_text_printf(text, ",\"class\":");
        bal_ngx_text_json_string(text, (const char *)upstream->class->value.data, upstream->class->value.len);
    }
    if (upstream->stations) {
        bal_ngx_text_printf(text, ",\"address\":");
        bal_ngx_text_json_string(text, (const char *)upstream->own.name.data, upstream->own.name.len);
        bal_ngx_text_printf(text, ",\"silent\":%uD", snapshot->silent);
    }
    print_counts(text, snapshot);
    if (upstream->load_ms)
        bal_ngx_text_printf(text, ",\"load_reports\":{\"read\":%uL,\"malformed\":%uL}",
                            snapshot->counts.load_reports, snapshot->counts.load_malformed);
    print_list(text, "held", snapshot->held, peers->config.classes);
    print_decisions(text, &snapshot->decisions);
    print_times(text, snapshot->times, peers->config.classes);
    for (uint32_t i = 0; i < snapshot->servers; i++)
        for (int k = 0; k < BAL_NGX_ACTIVITIES; k++)
            sum.ns[k] += snapshot->server[i].meter.ns[k];
    print_meter(text, status, &sum);
    print_ring(text, upstream->record, snapshot->recorded);
    if (upstream->names && peers == upstream->peers)
        print_names(text, snapshot);
    if (peers->zone.transport)
        print_messages(text, snapshot->counts.messages_sent, snapshot->counts.messages_received,
                       snapshot->receipts, snapshot->unsent, snapshot->dropped);
    bal_ngx_text_printf(text, ",\"servers\":[");
    for (uint32_t i = 0; i < snapshot->servers; i++) {
        bal_ngx_text_printf(text, i ? ",\n" : "\n");
        print_server(text, status, snapshot, &snapshot->server[i]);
    }
    bal_ngx_text_printf(text, "]}");
}

/* ---- stations ---- */

static void print_dispatchers(struct bal_ngx_text *text, const struct bal_ngx_snapshot_station *snapshot) {
    bal_ngx_text_printf(text, ",\"dispatchers\":[");
    for (uint32_t i = 0; i < snapshot->dispatchers; i++) {
        const struct bal_ngx_snapshot_dispatcher *d = &snapshot->dispatcher[i];
        bal_ngx_text_printf(text, "%s{\"name\":", i ? "," : "");
        bal_ngx_text_json_string(text, d->name, strlen(d->name));
        bal_ngx_text_printf(text, ",\"offers\":%uL,\"offered\":%uD", d->offers, d->offered);
        if (d->silent_ns != UINT64_MAX) {
            bal_ngx_text_printf(text, ",\"heard_age\":");
            bal_ngx_text_seconds(text, d->silent_ns);
        }
        bal_ngx_text_printf(text, d->joined ? ",\"joined\":true}" : "}");
    }
    bal_ngx_text_printf(text, "]");
}

static void print_station(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                          const struct bal_ngx_snapshot_station *snapshot) {
    const struct bal_ngx_station *station = snapshot->station;
    const struct bal_station_counts *c = &snapshot->counts;
    static const char *const powers[] = {"off", "set-up", "on", "draining"};
    bal_ngx_text_printf(text, "{\"upstream\":");
    bal_ngx_text_json_string(text, (const char *)station->us->host.data, station->us->host.len);
    bal_ngx_text_printf(text,
                        ",\"state\":\"%s\",\"power\":\"%s\",\"slots\":%uD,\"classes\":%uD,\"queue\":%uD,"
                        "\"processes\":%uD,\"running\":%uD,\"waiting\":%uD,\"away\":%uD",
                        bal_ngx_snapshot_station_state(snapshot), powers[snapshot->view.power],
                        snapshot->view.slots, station->config.classes, station->config.queue,
                        snapshot->processes, snapshot->view.running, snapshot->view.waiting,
                        snapshot->view.away);
    bal_ngx_found_json(text, &snapshot->view.concurrency);
    print_list(text, "jobs", snapshot->view.jobs, station->config.classes);
    bal_ngx_text_printf(
        text,
        ",\"counts\":{\"arrived\":%uL,\"ran\":%uL,\"answered\":%uL,\"failed\":%uL,\"full\":%uL,"
        "\"replaced\":%uL,\"overdue\":%uL,\"cancelled\":%uL,\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":"
        "%uL}",
        c->arrived, c->ran, c->answered, c->failed, c->full, c->replaced, c->overdue, c->cancelled, c->reaped,
        c->rebuilds, c->void_tickets);
    print_times(text, snapshot->times, station->config.classes);
    print_meter(text, status, &snapshot->meter);
    print_ring(text, station->record, snapshot->recorded);
    if (station->keeper.id) {
        bal_ngx_text_printf(text, ",\"keeper\":{\"answers\":%s,\"unanswered_seconds\":",
                            snapshot->view.start_unanswered_ns ? "false" : "true");
        bal_ngx_text_seconds(text, snapshot->view.start_unanswered_ns);
        bal_ngx_text_printf(text, "}");
    }
    if (station->zone.transport) {
        bal_ngx_text_printf(text,
                            ",\"address\":\"%V\",\"id\":\"%uL\",\"offered\":%uD,\"offers\":%uL,\"rode\":%uL,"
                            "\"probed\":%uL,\"given\":%uL,"
                            "\"returned\":%uL",
                            &station->own.name, station->config.id, snapshot->view.offered, c->offers,
                            c->piggybacked, c->probed, c->given, c->returned);
        print_dispatchers(text, snapshot);
        print_messages(text, c->messages_sent, c->messages_received, snapshot->receipts, snapshot->unsent,
                       snapshot->dropped);
    }
    bal_ngx_text_printf(text, "}");
}

/* ---- all ---- */

void bal_ngx_status_json(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                         const struct bal_ngx_snapshot *snapshot) {
    bal_ngx_text_printf(text, "{\"schema\":%d,\"ballast\":\"%s\",\"nginx\":\"%s\",\"time\":", BAL_NGX_SCHEMA,
                        BALLAST_VERSION, NGINX_VERSION);
    bal_ngx_text_seconds(text, snapshot->time_ns);
    bal_ngx_text_printf(text, ",\"bounds\":[");
    for (uint32_t i = 0; i < BAL_NGX_TIMES - 1; i++) {
        bal_ngx_text_printf(text, i ? "," : "");
        bal_ngx_text_seconds(text, bal_ngx_times_bound(i));
    }
    bal_ngx_text_printf(text, "]");
    if (status->twin.len) {
        bal_ngx_text_printf(text, ",\"twin\":");
        bal_ngx_text_json_string(text, (const char *)status->twin.data, status->twin.len);
    }
    const ngx_str_t *uri = status->fleet.elts;
    for (ngx_uint_t i = 0; i < status->fleet.nelts; i++) {
        bal_ngx_text_printf(text, i ? "," : ",\"fleet\":[");
        bal_ngx_text_json_string(text, (const char *)uri[i].data, uri[i].len);
    }
    bal_ngx_text_printf(text, status->fleet.nelts ? "],\"dispatchers\":[" : ",\"dispatchers\":[");
    for (uint32_t i = 0; i < snapshot->peer_sets; i++) {
        bal_ngx_text_printf(text, i ? ",\n" : "\n");
        print_peers(text, status, &snapshot->peers[i]);
    }
    bal_ngx_text_printf(text, "],\"stations\":[");
    for (uint32_t i = 0; i < snapshot->stations; i++) {
        bal_ngx_text_printf(text, i ? ",\n" : "\n");
        print_station(text, status, &snapshot->station[i]);
    }
    bal_ngx_text_printf(text, "],\"locks\":[");
    for (uint32_t i = 0; i < snapshot->locks; i++) {
        bal_ngx_text_printf(text, i ? ",\n" : "\n");
        print_lock(text, &snapshot->lock[i]);
    }
    bal_ngx_text_printf(text, "]}\n");
}
