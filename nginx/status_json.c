/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the snapshot as JSON: schema/status.schema.json. */
#include "found_slots.h"
#include "names.h"
#include "status.h"

#include "ballast/version.h"

#include <string.h>

/* ---- parts ---- */

static void print_times(struct bli_ngx_text *text, const struct bli_ngx_times *times, uint32_t classes) {
    bli_ngx_text_printf(text, ",\"response\":[");
    for (uint32_t rank = 0; rank < classes; rank++) {
        const char *comma = "";
        bli_ngx_text_printf(text, "%s{\"count\":%uL,\"seconds\":", rank ? "," : "", times[rank].count);
        bli_ngx_text_seconds(text, times[rank].sum_ns);
        bli_ngx_text_printf(text, ",\"buckets\":[");
        for (uint32_t i = 0; i < BLI_NGX_TIMES; i++) {
            if (!times[rank].bucket[i])
                continue;
            bli_ngx_text_printf(text, "%s[%uD,%uL]", comma, i, times[rank].bucket[i]);
            comma = ",";
        }
        bli_ngx_text_printf(text, "]}");
    }
    bli_ngx_text_printf(text, "]");
}

static void print_meter(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                        const struct bli_ngx_meter *meter) {
    bli_ngx_text_printf(text, ",\"seconds\":{");
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++) {
        bli_ngx_text_printf(text, "%s\"%s\":", i ? "," : "",
                            bli_ngx_activity_name((enum bli_ngx_server_activity)i));
        bli_ngx_text_seconds(text, meter->ns[i]);
    }
    bli_ngx_text_printf(text, "}");
    if (status->metered) {
        const uint64_t energy = bli_ngx_status_energy(status, meter);
        bli_ngx_text_printf(text, ",\"joules\":%uL.%03uL", energy / 1000, energy % 1000);
    }
}

static void print_kinds(struct bli_ngx_text *text, const char *name, const uint64_t counts[BAL_MSG_TYPES]) {
    bli_ngx_text_printf(text, "\"%s\":{", name);
    for (int type = 1; type < BAL_MSG_TYPES; type++) {
        u_char word[16];
        const char *known = bal_message_name((enum bal_message_type)type);
        ngx_strlow(word, (u_char *)known, strlen(known) + 1);
        bli_ngx_text_printf(text, "%s\"%s\":%uL", type > 1 ? "," : "", word, counts[type]);
    }
    bli_ngx_text_printf(text, "}");
}

static void print_messages(struct bli_ngx_text *text, const uint64_t messages_sent[BAL_MSG_TYPES],
                           const uint64_t messages_received[BAL_MSG_TYPES],
                           const uint64_t receipts[BAL_RECEIPTS], uint64_t unsent, uint64_t dropped) {
    bli_ngx_text_printf(text, ",\"messages\":{");
    print_kinds(text, "said", messages_sent);
    bli_ngx_text_printf(text, ",");
    print_kinds(text, "heard", messages_received);
    bli_ngx_text_printf(text, "},\"datagrams\":{");
    for (int i = 0; i < BAL_RECEIPTS; i++)
        bli_ngx_text_printf(text, "\"%s\":%uL,", bal_receipt_name((enum bal_receipt)i), receipts[i]);
    bli_ngx_text_printf(text, "\"unsent\":%uL,\"dropped\":%uL}", unsent, dropped);
}

static void print_list(struct bli_ngx_text *text, const char *name, const uint32_t *numbers, uint32_t count) {
    bli_ngx_text_printf(text, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        bli_ngx_text_printf(text, "%s%uD", i ? "," : "", numbers[i]);
    bli_ngx_text_printf(text, "]");
}

static void print_ring(struct bli_ngx_text *text, ngx_uint_t room, uint64_t next) {
    if (room)
        bli_ngx_text_printf(text, ",\"ring\":{\"room\":%uD,\"next\":%uL}",
                            bli_ngx_records_capacity((uint32_t)room), next);
}

/* A stalled zone is in no other list, so this one contains all zones. */
static void print_lock(struct bli_ngx_text *text, const struct bli_ngx_snapshot_lock *lock) {
    bli_ngx_text_printf(text, "{\"%s\":", lock->zone->kind);
    bli_ngx_text_json_string(text, (const char *)lock->zone->host->data, lock->zone->host->len);
    bli_ngx_text_printf(text, ",\"backup\":%s,\"holder\":%uL,\"seconds\":", lock->backup ? "true" : "false",
                        lock->holder);
    bli_ngx_text_seconds(text, lock->for_ns);
    bli_ngx_text_printf(text, ",\"stalls\":%uL,\"requests\":%uL,\"datagrams\":%uL}", lock->stalls,
                        lock->requests, lock->datagrams);
}

/* ---- dispatchers ---- */

/* Of ballast_server. code: what a resolver of nginx calls it. */
static void print_name(struct bli_ngx_text *text, const struct bli_ngx_name *name, uint64_t now) {
    const struct bli_ngx_name_view view = bli_ngx_name_view(name);
    bli_ngx_text_printf(text, "{\"name\":");
    bli_ngx_text_json_string(text, (const char *)name->name.data, name->name.len);
    if (name->service.len) {
        bli_ngx_text_printf(text, ",\"service\":");
        bli_ngx_text_json_string(text, (const char *)name->service.data, name->service.len);
    }
    bli_ngx_text_printf(
        text, ",\"addresses\":%uD,\"found\":%uD,\"lookups\":%uL,\"failures\":%uL,\"failing\":%s",
        view.addresses, view.found, view.lookups, view.failures, view.failing ? "true" : "false");
    if (view.failing) {
        const char *reason = ngx_resolver_strerror(view.code);
        bli_ngx_text_printf(text, ",\"reason\":");
        bli_ngx_text_json_string(text, reason, strlen(reason));
    }
    if (view.answered_at) {
        bli_ngx_text_printf(text, ",\"age\":");
        bli_ngx_text_seconds(text, now - ngx_min(view.answered_at, now));
    }
    bli_ngx_text_printf(text, "}");
}

static void print_names(struct bli_ngx_text *text, const struct bli_ngx_snapshot_peers *snapshot) {
    const struct bli_ngx_name *name;
    bli_ngx_text_printf(text, ",\"names\":[");
    for (ngx_uint_t i = 0; (name = bli_ngx_name_at(snapshot->peers->upstream, i)); i++) {
        bli_ngx_text_printf(text, i ? "," : "");
        print_name(text, name, snapshot->now);
    }
    bli_ngx_text_printf(text, "]");
}

/* The last check, and what all of them have led to. */
static void print_check(struct bli_ngx_text *text, const struct bli_ngx_snapshot_peers *snapshot,
                        const struct bal_check_view *check) {
    bli_ngx_text_printf(text,
                        ",\"check\":{\"state\":\"%s\",\"result\":\"%s\",\"in_a_row\":%uD,\"passed\":%uL,"
                        "\"failed\":%uL,\"falls\":%uL,\"seconds\":",
                        bal_check_state_name(check->state), bal_check_result_name(check->result),
                        check->in_a_row, check->passed, check->failed, check->changes);
    bli_ngx_text_seconds(text, check->took_ns);
    if (check->result != BAL_CHECK_NONE) {
        bli_ngx_text_printf(text, ",\"age\":");
        bli_ngx_text_seconds(text, snapshot->now - ngx_min(check->result_at, snapshot->now));
    }
    bli_ngx_text_printf(text, "}");
}

static void print_server(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                         const struct bli_ngx_snapshot_peers *snapshot,
                         const struct bli_ngx_snapshot_server *s) {
    const struct bal_server_view *view = &s->view;
    const uint32_t in_service = ngx_min(view->jobs, view->slots);
    bli_ngx_text_printf(text, "{\"number\":%uD,\"name\":", s->number);
    bli_ngx_text_json_string(text, s->name, strlen(s->name));
    bli_ngx_text_printf(text,
                        ",\"state\":\"%s\",\"open\":%s,\"power\":\"%s\",\"in_flight\":%uD,\"in_service\":%uD,"
                        "\"queue\":%uD,\"slots\":%uD,\"tokens\":%uD,\"answered\":%uL,\"failed\":%uL",
                        bli_ngx_snapshot_state(s), view->open ? "true" : "false", bli_ngx_snapshot_power(s),
                        view->in_flight, in_service, view->jobs - in_service, view->slots, view->tokens,
                        view->answered, view->failed);
    bli_ngx_found_json(text, &view->concurrency);
    bli_ngx_text_printf(text, ",\"response_seconds\":");
    bli_ngx_text_seconds(text, view->took_ns);
    print_meter(text, status, &s->meter);
    if (view->tokens) {
        bli_ngx_text_printf(text, ",\"token_age\":");
        bli_ngx_text_seconds(text, snapshot->now - ngx_min(view->token_since, snapshot->now));
    }
    if (view->heard_at) {
        bli_ngx_text_printf(text, ",\"heard_age\":");
        bli_ngx_text_seconds(text, snapshot->now - ngx_min(view->heard_at, snapshot->now));
    }
    if (view->others)
        bli_ngx_text_printf(text, ",\"others\":%uD", view->others);
    if (view->joined)
        bli_ngx_text_printf(text, ",\"joined\":true");
    if (view->full)
        bli_ngx_text_printf(text, ",\"full\":true");
    if (s->added)
        bli_ngx_text_printf(text, ",\"added\":true");
    if (s->changed[0])
        bli_ngx_text_printf(text, ",\"changed\":{%s}", s->changed);
    if (view->on_trial)
        bli_ngx_text_printf(text, ",\"on_trial\":true");
    if (view->until > snapshot->now)
        bli_ngx_text_printf(text, ",\"tried_in_ms\":%uL", (view->until - snapshot->now) / 1000000);
    if (s->share < 1)
        bli_ngx_text_printf(text, ",\"share\":0.%03uD", (uint32_t)(s->share * 1000));
    if (s->check.checked)
        print_check(text, snapshot, &s->check);
    bli_ngx_text_printf(text, "}");
}

static void print_counts(struct bli_ngx_text *text, const struct bli_ngx_snapshot_peers *snapshot) {
    const struct bal_dispatcher_counts *c = &snapshot->counts;
    bli_ngx_text_printf(
        text,
        ",\"counts\":{\"arrived\":%uL,\"sent\":%uL,\"answered\":%uL,\"failed\":%uL,\"retried\":%uL,"
        "\"cancelled\":%uL,\"held\":%uL,\"overdue\":%uL,\"overflow\":%uL,\"replaced\":%uL,\"refused\":%uL,",
        c->arrived, c->sent, c->answered, c->failed, c->retried, c->cancelled, c->held, c->overdue,
        c->overflow, c->replaced, c->refused);
    bli_ngx_text_printf(
        text,
        "\"no_room\":%uL,\"plain\":%uL,\"tokens\":%uL,\"used\":%uL,\"expired\":%uL,\"probes\":%uL,"
        "\"unheard\":%uL,\"reaped\":%uL,\"rebuilds\":%uL,\"void_tickets\":%uL},\"reasons\":{",
        c->no_room, snapshot->untracked, c->tokens, c->used, c->expired, c->probes, c->unheard, c->reaped,
        c->rebuilds, c->void_tickets);
    for (int i = 0; i < BAL_REASONS; i++)
        bli_ngx_text_printf(text, "%s\"%s\":%uL", i ? "," : "", bli_ngx_reason_name((enum bal_reason)i),
                            c->reasons[i]);
    bli_ngx_text_printf(text, "}");
}

static void print_decisions(struct bli_ngx_text *text, const struct bli_ngx_decisions *decisions) {
    const char *comma = "";
    bli_ngx_text_printf(text, ",\"decision_ns\":{");
    for (uint32_t i = 0; i < DECISION_BUCKETS; i++) {
        if (!decisions->bucket[i])
            continue;
        bli_ngx_text_printf(text, "%s\"%uL\":%uL", comma, UINT64_C(1) << i, decisions->bucket[i]);
        comma = ",";
    }
    bli_ngx_text_printf(text, "},\"decision_seconds\":");
    bli_ngx_text_seconds(text, decisions->sum_ns);
}

static void print_peers(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                        const struct bli_ngx_snapshot_peers *snapshot) {
    const struct bli_ngx_peers *peers = snapshot->peers;
    const struct bli_ngx_upstream *upstream = peers->upstream;
    struct bli_ngx_meter sum = {{0}};
    bli_ngx_text_printf(text, "{\"upstream\":");
    bli_ngx_text_json_string(text, (const char *)upstream->us->host.data, upstream->us->host.len);
    bli_ngx_text_printf(text, ",\"backup\":%s,\"policy\":", peers == upstream->peers ? "false" : "true");
    bli_ngx_text_json_string(text, upstream->now.text, strlen(upstream->now.text));
    if (strcmp(upstream->now.text, upstream->text) != 0) {
        bli_ngx_text_printf(text, ",\"configured\":");
        bli_ngx_text_json_string(text, upstream->text, strlen(upstream->text));
    }
    bli_ngx_text_printf(text,
                        ",\"default\":%s,\"stations\":%s,\"slots\":%uD,\"classes\":%uD,\"processes\":%uD,"
                        "\"room\":{\"requests\":%uD,\"servers\":%uD}",
                        upstream->default_policy ? "true" : "false", upstream->stations ? "true" : "false",
                        peers->config.slots, peers->config.classes, snapshot->processes,
                        peers->config.requests, peers->config.servers);
    bli_ngx_text_printf(text, ",\"options\":");
    bli_ngx_text_json_string(text, (const char *)upstream->options.data, upstream->options.len);
    if (upstream->class) {
        bli_ngx_text_printf(text, ",\"class\":");
        bli_ngx_text_json_string(text, (const char *)upstream->class->value.data, upstream->class->value.len);
    }
    if (upstream->stations) {
        bli_ngx_text_printf(text, ",\"address\":");
        bli_ngx_text_json_string(text, (const char *)upstream->own.name.data, upstream->own.name.len);
        bli_ngx_text_printf(text, ",\"silent\":%uD", snapshot->silent);
    }
    print_counts(text, snapshot);
    if (upstream->load_ms)
        bli_ngx_text_printf(text, ",\"load_reports\":{\"read\":%uL,\"malformed\":%uL}",
                            snapshot->counts.load_reports, snapshot->counts.load_malformed);
    print_list(text, "held", snapshot->held, peers->config.classes);
    print_decisions(text, &snapshot->decisions);
    print_times(text, snapshot->times, peers->config.classes);
    for (uint32_t i = 0; i < snapshot->servers; i++)
        for (int k = 0; k < BLI_NGX_ACTIVITIES; k++)
            sum.ns[k] += snapshot->server[i].meter.ns[k];
    print_meter(text, status, &sum);
    print_ring(text, upstream->record, snapshot->recorded);
    if (upstream->names && peers == upstream->peers)
        print_names(text, snapshot);
    if (peers->zone.transport)
        print_messages(text, snapshot->counts.messages_sent, snapshot->counts.messages_received,
                       snapshot->receipts, snapshot->unsent, snapshot->dropped);
    bli_ngx_text_printf(text, ",\"servers\":[");
    for (uint32_t i = 0; i < snapshot->servers; i++) {
        bli_ngx_text_printf(text, i ? ",\n" : "\n");
        print_server(text, status, snapshot, &snapshot->server[i]);
    }
    bli_ngx_text_printf(text, "]}");
}

/* ---- stations ---- */

static void print_dispatchers(struct bli_ngx_text *text, const struct bli_ngx_snapshot_station *snapshot) {
    bli_ngx_text_printf(text, ",\"dispatchers\":[");
    for (uint32_t i = 0; i < snapshot->dispatchers; i++) {
        const struct bli_ngx_snapshot_dispatcher *d = &snapshot->dispatcher[i];
        bli_ngx_text_printf(text, "%s{\"name\":", i ? "," : "");
        bli_ngx_text_json_string(text, d->name, strlen(d->name));
        bli_ngx_text_printf(text, ",\"offers\":%uL,\"offered\":%uD", d->offers, d->offered);
        if (d->silent_ns != UINT64_MAX) {
            bli_ngx_text_printf(text, ",\"heard_age\":");
            bli_ngx_text_seconds(text, d->silent_ns);
        }
        bli_ngx_text_printf(text, d->joined ? ",\"joined\":true}" : "}");
    }
    bli_ngx_text_printf(text, "]");
}

static void print_station(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                          const struct bli_ngx_snapshot_station *snapshot) {
    const struct bli_ngx_station *station = snapshot->station;
    const struct bal_station_counts *c = &snapshot->counts;
    static const char *const powers[] = {"off", "set-up", "on", "draining"};
    bli_ngx_text_printf(text, "{\"upstream\":");
    bli_ngx_text_json_string(text, (const char *)station->us->host.data, station->us->host.len);
    bli_ngx_text_printf(text,
                        ",\"state\":\"%s\",\"power\":\"%s\",\"slots\":%uD,\"classes\":%uD,\"queue\":%uD,"
                        "\"processes\":%uD,\"running\":%uD,\"waiting\":%uD,\"away\":%uD",
                        bli_ngx_snapshot_station_state(snapshot), powers[snapshot->view.power],
                        snapshot->view.slots, station->config.classes, station->config.queue,
                        snapshot->processes, snapshot->view.running, snapshot->view.waiting,
                        snapshot->view.away);
    bli_ngx_found_json(text, &snapshot->view.concurrency);
    print_list(text, "jobs", snapshot->view.jobs, station->config.classes);
    bli_ngx_text_printf(
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
        bli_ngx_text_printf(text, ",\"keeper\":{\"answers\":%s,\"unanswered_seconds\":",
                            snapshot->view.start_unanswered_ns ? "false" : "true");
        bli_ngx_text_seconds(text, snapshot->view.start_unanswered_ns);
        bli_ngx_text_printf(text, "}");
    }
    if (station->zone.transport) {
        bli_ngx_text_printf(text,
                            ",\"address\":\"%V\",\"id\":\"%uL\",\"offered\":%uD,\"offers\":%uL,\"rode\":%uL,"
                            "\"probed\":%uL,\"given\":%uL,"
                            "\"returned\":%uL",
                            &station->own.name, station->config.id, snapshot->view.offered, c->offers,
                            c->piggybacked, c->probed, c->given, c->returned);
        print_dispatchers(text, snapshot);
        print_messages(text, c->messages_sent, c->messages_received, snapshot->receipts, snapshot->unsent,
                       snapshot->dropped);
    }
    bli_ngx_text_printf(text, "}");
}

/* ---- all ---- */

void bli_ngx_status_json(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                         const struct bli_ngx_snapshot *snapshot) {
    bli_ngx_text_printf(text, "{\"schema\":%d,\"ballast\":\"%s\",\"nginx\":\"%s\",\"time\":", BLI_NGX_SCHEMA,
                        BALLAST_VERSION, NGINX_VERSION);
    bli_ngx_text_seconds(text, snapshot->time_ns);
    bli_ngx_text_printf(text, ",\"bounds\":[");
    for (uint32_t i = 0; i < BLI_NGX_TIMES - 1; i++) {
        bli_ngx_text_printf(text, i ? "," : "");
        bli_ngx_text_seconds(text, bli_ngx_times_bound(i));
    }
    bli_ngx_text_printf(text, "]");
    if (status->twin.len) {
        bli_ngx_text_printf(text, ",\"twin\":");
        bli_ngx_text_json_string(text, (const char *)status->twin.data, status->twin.len);
    }
    const ngx_str_t *uri = status->fleet.elts;
    for (ngx_uint_t i = 0; i < status->fleet.nelts; i++) {
        bli_ngx_text_printf(text, i ? "," : ",\"fleet\":[");
        bli_ngx_text_json_string(text, (const char *)uri[i].data, uri[i].len);
    }
    bli_ngx_text_printf(text, status->fleet.nelts ? "],\"dispatchers\":[" : ",\"dispatchers\":[");
    for (uint32_t i = 0; i < snapshot->peer_sets; i++) {
        bli_ngx_text_printf(text, i ? ",\n" : "\n");
        print_peers(text, status, &snapshot->peers[i]);
    }
    bli_ngx_text_printf(text, "],\"stations\":[");
    for (uint32_t i = 0; i < snapshot->stations; i++) {
        bli_ngx_text_printf(text, i ? ",\n" : "\n");
        print_station(text, status, &snapshot->station[i]);
    }
    bli_ngx_text_printf(text, "],\"locks\":[");
    for (uint32_t i = 0; i < snapshot->locks; i++) {
        bli_ngx_text_printf(text, i ? ",\n" : "\n");
        print_lock(text, &snapshot->lock[i]);
    }
    bli_ngx_text_printf(text, "]}\n");
}
