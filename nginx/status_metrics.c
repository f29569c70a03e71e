/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the snapshot as metrics, in the text format of Prometheus: all samples of a metric stand
 * together. */
#include "found_slots.h"
#include "names.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* ---- labels ---- */

/* The value of a label; bytes that are no UTF-8 become U+FFFD. */
static void print_value(struct bli_ngx_text *text, const u_char *value, size_t length) {
    u_char *at = (u_char *)value, *end = at + length;
    while (at < end) {
        const u_char *from = at;
        const u_char c = *at;
        if (c >= 0x80 && ngx_utf8_decode(&at, (size_t)(end - at)) > 0x10ffff) {
            bli_ngx_text_printf(text, "\xef\xbf\xbd");
            at = (u_char *)from + 1;
            continue;
        }
        at = c < 0x80 ? at + 1 : at;
        if (c == '\n')
            bli_ngx_text_printf(text, "\\n");
        else
            bli_ngx_text_printf(text, "%s%*s", c == '"' || c == '\\' ? "\\" : "", (size_t)(at - from), from);
    }
}

static void print_label(struct bli_ngx_text *text, const char *name, const char *value) {
    bli_ngx_text_printf(text, ",%s=\"", name);
    print_value(text, (const u_char *)value, strlen(value));
    bli_ngx_text_printf(text, "\"");
}

/* A sample up to its labels, of which more may follow. */
static void begin_peers(struct bli_ngx_text *text, const char *name,
                        const struct bli_ngx_snapshot_peers *snapshot) {
    const struct bli_ngx_upstream *upstream = snapshot->peers->upstream;
    bli_ngx_text_printf(text, "%s{upstream=\"", name);
    print_value(text, upstream->us->host.data, upstream->us->host.len);
    bli_ngx_text_printf(text, "\",tier=\"%s\"", snapshot->peers == upstream->peers ? "main" : "backup");
}

static void begin_server(struct bli_ngx_text *text, const char *name,
                         const struct bli_ngx_snapshot_peers *snapshot,
                         const struct bli_ngx_snapshot_server *server) {
    begin_peers(text, name, snapshot);
    print_label(text, "server", server->name);
}

static void begin_station(struct bli_ngx_text *text, const char *name,
                          const struct bli_ngx_snapshot_station *snapshot) {
    bli_ngx_text_printf(text, "%s{station=\"", name);
    print_value(text, snapshot->station->us->host.data, snapshot->station->us->host.len);
    bli_ngx_text_printf(text, "\"");
}

static void end_count(struct bli_ngx_text *text, uint64_t value) {
    bli_ngx_text_printf(text, "} %uL\n", value);
}

static void end_seconds(struct bli_ngx_text *text, uint64_t ns) {
    bli_ngx_text_printf(text, "} ");
    bli_ngx_text_seconds(text, ns);
    bli_ngx_text_printf(text, "\n");
}

static void print_head(struct bli_ngx_text *text, const char *name, const char *type, const char *help) {
    bli_ngx_text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- tables of plain numbers ---- */

/* A number of 64 or 32 bits inside of a struct, and the label that distinguishes it from its neighbours. */
struct number {
    const char *name, *type, *help; /* help NULL: one more of the metric before it */
    const char *label, *value;      /* NULL: it needs none */
    size_t offset;
    bool small; /* 32 bits */
};

static uint64_t number_of(const struct number *number, const void *from) {
    const char *at = (const char *)from + number->offset;
    uint64_t large;
    uint32_t small;
    if (number->small)
        memcpy(&small, at, sizeof small);
    else
        memcpy(&large, at, sizeof large);
    return number->small ? small : large;
}

#define COUNT(member) offsetof(struct bli_ngx_snapshot_peers, counts.member), false
#define TOTAL "counter"

static const struct number of_tiers[] = {
    {"ballast_requests_total", TOTAL, "Requests that came.", NULL, NULL, COUNT(arrived)},
    {"ballast_tries_total", TOTAL, "Requests that were sent to a server, each try counted.", NULL, NULL,
     COUNT(sent)},
    {"ballast_responses_total", TOTAL, "Tries that were answered, those that failed included.", NULL, NULL,
     COUNT(answered)},
    {"ballast_failures_total", TOTAL, "Tries that failed: no answer, or status 500 and above.", NULL, NULL,
     COUNT(failed)},
    {"ballast_retries_total", TOTAL, "Requests that were tried again at another server.", NULL, NULL,
     COUNT(retried)},
    {"ballast_cancelled_total", TOTAL, "Requests of which the client went away.", NULL, NULL,
     COUNT(cancelled)},
    {"ballast_plain_total", TOTAL,
     "Requests that were sent without being counted: the zone was full or stalled.", NULL, NULL,
     offsetof(struct bli_ngx_snapshot_peers, untracked), false},
    {"ballast_held_total", TOTAL, "Requests that had to wait here.", NULL, NULL, COUNT(held)},
    {"ballast_replaced_total", TOTAL, "Held requests that were refused to make room for more urgent ones.",
     NULL, NULL, COUNT(replaced)},
    {"ballast_tokens_total", TOTAL, "Tokens of stations by what became of them.", "fate", "offered",
     COUNT(tokens)},
    {"ballast_tokens_total", NULL, NULL, "fate", "used", COUNT(used)},
    {"ballast_tokens_total", NULL, NULL, "fate", "expired", COUNT(expired)},
    {"ballast_load_reports_total", TOTAL,
     "Reports of load that servers have sent, with orca=, by what they were.", "result", "read",
     COUNT(load_reports)},
    {"ballast_load_reports_total", NULL, NULL, "result", "malformed", COUNT(load_malformed)},
    {"ballast_datagrams_unsent_total", TOTAL, "Datagrams that could not be sent.", NULL, NULL,
     offsetof(struct bli_ngx_snapshot_peers, unsent), false},
    {"ballast_datagrams_dropped_total", TOTAL,
     "Datagrams that the kernel dropped because the receive buffer was full.", NULL, NULL,
     offsetof(struct bli_ngx_snapshot_peers, dropped), false},
    {"ballast_unheard_total", TOTAL,
     "Tries at servers whose station was silent, by requests in flight: no station was heard.", NULL, NULL,
     COUNT(unheard)},
    {"ballast_silent_servers", "gauge", "Servers of whose station nothing is heard.", NULL, NULL,
     offsetof(struct bli_ngx_snapshot_peers, silent), true},
    {"ballast_reaped_total", TOTAL, "Requests that a dead process has left behind.", NULL, NULL,
     COUNT(reaped)},
    {"ballast_rebuilds_total", TOTAL, "Times that counts were rebuilt after a process had died.", NULL, NULL,
     COUNT(rebuilds)},
    {"ballast_processes", "gauge", "Worker processes that take part.", NULL, NULL,
     offsetof(struct bli_ngx_snapshot_peers, processes), true},
};

#define VIEW(member) offsetof(struct bli_ngx_snapshot_server, view.member)

static const struct number of_servers[] = {
    {"ballast_server_in_flight", "gauge", "Requests of this dispatcher at the server.", NULL, NULL,
     VIEW(in_flight), true},
    {"ballast_server_jobs", "gauge", "Requests there that wait or are worked on, of all dispatchers.", NULL,
     NULL, VIEW(jobs), true},
    {"ballast_server_slots", "gauge", "Requests that it works on at once.", NULL, NULL, VIEW(slots), true},
    {"ballast_server_tokens", "gauge", "Tokens of it at hand.", NULL, NULL, VIEW(tokens), true},
    {"ballast_server_responses_total", TOTAL, "Tries that it answered, those that failed included.", NULL,
     NULL, VIEW(answered), false},
    {"ballast_server_failures_total", TOTAL, "Tries that failed there.", NULL, NULL, VIEW(failed), false},
};

#define STATION(member) offsetof(struct bli_ngx_snapshot_station, member)

static const struct number of_stations[] = {
    {"ballast_station_requests_total", TOTAL, "Requests that came.", NULL, NULL, STATION(counts.arrived),
     false},
    {"ballast_station_runs_total", TOTAL, "Requests that were passed to the app.", NULL, NULL,
     STATION(counts.ran), false},
    {"ballast_station_responses_total", TOTAL, "Requests that the app answered.", NULL, NULL,
     STATION(counts.answered), false},
    {"ballast_station_failures_total", TOTAL, "Answers that no client can use.", NULL, NULL,
     STATION(counts.failed), false},
    {"ballast_station_refused_total", TOTAL, "Requests that were refused: the queue was full.", NULL, NULL,
     STATION(counts.full), false},
    {"ballast_station_replaced_total", TOTAL,
     "Of them, those that waited and made room for more urgent ones.", NULL, NULL, STATION(counts.replaced),
     false},
    {"ballast_station_overdue_total", TOTAL, "Requests that were refused: they had waited for too long.",
     NULL, NULL, STATION(counts.overdue), false},
    {"ballast_station_cancelled_total", TOTAL, "Requests of which the client went away.", NULL, NULL,
     STATION(counts.cancelled), false},
    {"ballast_station_given_total", TOTAL, "Requests that other stations took over.", NULL, NULL,
     STATION(counts.given), false},
    {"ballast_station_offers_total", TOTAL, "Free slots that were offered to dispatchers.", NULL, NULL,
     STATION(counts.offers), false},
    {"ballast_station_offers_riding_total", TOTAL, "Of them, those that rode on responses.", NULL, NULL,
     STATION(counts.piggybacked), false},
    {"ballast_station_datagrams_unsent_total", TOTAL, "Datagrams that could not be sent.", NULL, NULL,
     STATION(unsent), false},
    {"ballast_station_datagrams_dropped_total", TOTAL,
     "Datagrams that the kernel dropped because the receive buffer was full.", NULL, NULL, STATION(dropped),
     false},
    {"ballast_station_running", "gauge", "Requests that the app works on.", NULL, NULL, STATION(view.running),
     true},
    {"ballast_station_waiting", "gauge", "Requests that wait for a slot.", NULL, NULL, STATION(view.waiting),
     true},
    {"ballast_station_away", "gauge", "Requests that are at other stations.", NULL, NULL, STATION(view.away),
     true},
    {"ballast_station_offered", "gauge", "Free slots that dispatchers may use.", NULL, NULL,
     STATION(view.offered), true},
};

static void print_number(struct bli_ngx_text *text, const struct number *number, const void *from) {
    if (number->label)
        print_label(text, number->label, number->value);
    end_count(text, number_of(number, from));
}

/* ---- histograms ---- */

/* Every second bound: octaves and their middles. */
static void print_times(struct bli_ngx_text *text, const char *name, const u_char *labels, size_t length,
                        const struct bli_ngx_times *times) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BLI_NGX_TIMES - 1; i++) {
        sum += times->bucket[i];
        if (i % 2)
            continue;
        bli_ngx_text_printf(text, "%s_bucket{%*s,le=\"", name, length, labels);
        bli_ngx_text_seconds(text, bli_ngx_times_bound(i));
        bli_ngx_text_printf(text, "\"} %uL\n", sum);
    }
    bli_ngx_text_printf(text, "%s_bucket{%*s,le=\"+Inf\"} %uL\n%s_sum{%*s} ", name, length, labels,
                        times->count, name, length, labels);
    bli_ngx_text_seconds(text, times->sum_ns);
    bli_ngx_text_printf(text, "\n%s_count{%*s} %uL\n", name, length, labels, times->count);
}

/* The same for each class; `begin` prints the labels of the upstream. */
static void print_classes(struct bli_ngx_text *text, const char *name, const struct bli_ngx_text *who,
                          const struct bli_ngx_times *times, uint32_t classes) {
    for (uint32_t rank = 0; rank < classes; rank++) {
        struct bli_ngx_text labels = {0};
        bli_ngx_text_printf(&labels, "%*s,class=\"%uD\"", who->length, who->data, rank);
        text->failed |= labels.failed;
        if (!labels.failed)
            print_times(text, name, labels.data, labels.length, &times[rank]);
        ngx_free(labels.data);
    }
}

static void print_decisions(struct bli_ngx_text *text, const struct bli_ngx_snapshot_peers *snapshot) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DECISION_BUCKETS; i++) {
        sum += snapshot->decisions.bucket[i];
        begin_peers(text, "ballast_decision_seconds_bucket", snapshot);
        if (i == DECISION_BUCKETS - 1) {
            bli_ngx_text_printf(text, ",le=\"+Inf\"} %uL\n", sum);
            break;
        }
        bli_ngx_text_printf(text, ",le=\"");
        bli_ngx_text_seconds(text, UINT64_C(2) << i);
        bli_ngx_text_printf(text, "\"} %uL\n", sum);
    }
    begin_peers(text, "ballast_decision_seconds_sum", snapshot);
    end_seconds(text, snapshot->decisions.sum_ns);
    begin_peers(text, "ballast_decision_seconds_count", snapshot);
    end_count(text, sum);
}

/* ---- what both roles have ---- */

typedef void begin_fn(struct bli_ngx_text *text, const char *name, const void *who);

static void begin_of_peers(struct bli_ngx_text *text, const char *name, const void *who) {
    begin_peers(text, name, who);
}

static void begin_of_station(struct bli_ngx_text *text, const char *name, const void *who) {
    begin_station(text, name, who);
}

static void print_response(struct bli_ngx_text *text, const char *name, begin_fn *begin, const void *who,
                           const struct bli_ngx_times *times, uint32_t classes) {
    struct bli_ngx_text labels = {0};
    begin(&labels, "", who);
    text->failed |= labels.failed;
    if (!labels.failed) { /* without the bracket */
        const struct bli_ngx_text inside = {.data = labels.data + 1, .length = labels.length - 1};
        print_classes(text, name, &inside, times, classes);
    }
    ngx_free(labels.data);
}

static void print_messages(struct bli_ngx_text *text, const char *name, begin_fn *begin, const void *who,
                           const char *direction, const uint64_t counts[BAL_MSG_TYPES]) {
    for (int type = 1; type < BAL_MSG_TYPES; type++) {
        const char *known = bal_message_name((enum bal_message_type)type);
        u_char word[16];
        ngx_strlow(word, (u_char *)known, strlen(known) + 1);
        begin(text, name, who);
        bli_ngx_text_printf(text, ",direction=\"%s\",type=\"%s\"", direction, word);
        end_count(text, counts[type]);
    }
}

static void print_receipts(struct bli_ngx_text *text, const char *name, begin_fn *begin, const void *who,
                           const uint64_t receipts[BAL_RECEIPTS]) {
    for (int i = 0; i < BAL_RECEIPTS; i++) {
        begin(text, name, who);
        print_label(text, "receipt", bal_receipt_name((enum bal_receipt)i));
        end_count(text, receipts[i]);
    }
}

static void print_ns(struct bli_ngx_text *text, const struct bli_ngx_meter *meter, int doing) {
    print_label(text, "state", bli_ngx_activity_name((enum bli_ngx_server_activity)doing));
    end_seconds(text, meter->ns[doing]);
}

static void end_energy(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                       const struct bli_ngx_meter *meter) {
    const uint64_t energy = bli_ngx_status_energy(status, meter);
    bli_ngx_text_printf(text, "} %uL.%03uL\n", energy / 1000, energy % 1000);
}

/* ---- dispatchers ---- */

/* Each dispatcher t of what is seen, each server s of it, each station s. */
#define EACH_TIER                                                                                            \
    for (const struct bli_ngx_snapshot_peers *t = snapshot->peers;                                           \
         t < snapshot->peers + snapshot->peer_sets; t++)
#define EACH_SERVER for (const struct bli_ngx_snapshot_server *s = t->server; s < t->server + t->servers; s++)
#define EACH_STATION                                                                                         \
    for (const struct bli_ngx_snapshot_station *s = snapshot->station;                                       \
         s < snapshot->station + snapshot->stations; s++)

static void print_reasons(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    print_head(text, "ballast_decisions_total", TOTAL, "Decisions by reason, as $ballast_reason tells it.");
    EACH_TIER
    for (int i = 0; i < BAL_REASONS; i++) {
        begin_peers(text, "ballast_decisions_total", t);
        print_label(text, "reason", bli_ngx_reason_name((enum bal_reason)i));
        end_count(text, t->counts.reasons[i]);
    }
}

static void print_held(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    print_head(text, "ballast_held", "gauge", "Requests that wait here, by class.");
    EACH_TIER
    for (uint32_t rank = 0; rank < t->peers->config.classes; rank++) {
        begin_peers(text, "ballast_held", t);
        bli_ngx_text_printf(text, ",class=\"%uD\"", rank);
        end_count(text, t->held[rank]);
    }
}

static void print_dispatchers(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    print_head(text, "ballast_policy_info", "gauge", "The policy of an upstream.");
    EACH_TIER {
        begin_peers(text, "ballast_policy_info", t);
        print_label(text, "policy", t->peers->upstream->now.text);
        end_count(text, 1);
    }
    for (size_t i = 0; i < sizeof of_tiers / sizeof *of_tiers; i++) {
        if (of_tiers[i].help)
            print_head(text, of_tiers[i].name, of_tiers[i].type, of_tiers[i].help);
        EACH_TIER {
            begin_peers(text, of_tiers[i].name, t);
            print_number(text, &of_tiers[i], t);
        }
    }
    print_reasons(text, snapshot);
    print_held(text, snapshot);
    print_head(text, "ballast_messages_total", TOTAL, "Messages to and from stations, by type.");
    EACH_TIER {
        print_messages(text, "ballast_messages_total", begin_of_peers, t, "said", t->counts.messages_sent);
        print_messages(text, "ballast_messages_total", begin_of_peers, t, "heard",
                       t->counts.messages_received);
    }
    print_head(text, "ballast_datagrams_total", TOTAL,
               "Datagrams that came, by what became of them: all but fresh and late ones were dropped.");
    EACH_TIER
    print_receipts(text, "ballast_datagrams_total", begin_of_peers, t, t->receipts);
    print_head(text, "ballast_decision_seconds", "histogram",
               "How long decisions took, the lock included; of one in 64.");
    EACH_TIER
    print_decisions(text, t);
    print_head(text, "ballast_response_seconds", "histogram",
               "From the arrival of a request to the end of its answer, by class.");
    EACH_TIER
    print_response(text, "ballast_response_seconds", begin_of_peers, t, t->times, t->peers->config.classes);
}

/* Of all servers where one starts slowly at all. */
static void print_shares(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    const char *name = "ballast_server_share";
    bool begun = false;
    EACH_TIER
    EACH_SERVER {
        if (!t->peers->upstream->slow_start)
            continue;
        if (!begun)
            print_head(text, name, "gauge",
                       "What a server gets of its usual requests: 1 but for slow start.");
        begun = true;
        begin_server(text, name, t, s);
        bli_ngx_text_printf(text, "} %uD.%03uD\n", (uint32_t)s->share, (uint32_t)(s->share * 1000) % 1000);
    }
}

static bool has_checks(const struct bli_ngx_snapshot *snapshot) {
    EACH_TIER
    EACH_SERVER
    if (s->check.checked)
        return true;
    return false;
}

static void print_checks(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    if (!has_checks(snapshot))
        return;
    print_head(text, "ballast_server_check_state", "gauge", "1 for what health checks say of a server.");
    EACH_TIER
    EACH_SERVER
    if (s->check.checked) {
        begin_server(text, "ballast_server_check_state", t, s);
        print_label(text, "state", bal_check_state_name(s->check.state));
        end_count(text, 1);
    }
    print_head(text, "ballast_server_checks_total", TOTAL, "Health checks of a server by result.");
    EACH_TIER
    EACH_SERVER
    for (int passed = 1; s->check.checked && passed >= 0; passed--) {
        begin_server(text, "ballast_server_checks_total", t, s);
        print_label(text, "result", passed ? "passed" : "failed");
        end_count(text, passed ? s->check.passed : s->check.failed);
    }
    print_head(text, "ballast_server_check_falls_total", TOTAL, "Times that health checks closed a server.");
    EACH_TIER
    EACH_SERVER
    if (s->check.checked) {
        begin_server(text, "ballast_server_check_falls_total", t, s);
        end_count(text, s->check.changes);
    }
    print_head(text, "ballast_server_check_seconds", "gauge", "How long the last health check took.");
    EACH_TIER
    EACH_SERVER
    if (s->check.checked) {
        begin_server(text, "ballast_server_check_seconds", t, s);
        end_seconds(text, s->check.took_ns);
    }
}

static void print_servers(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                          const struct bli_ngx_snapshot *snapshot) {
    print_head(text, "ballast_server_state", "gauge", "1 for the state in which a server is.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_state", t, s);
        print_label(text, "state", bli_ngx_snapshot_state(s));
        end_count(text, 1);
    }
    print_head(text, "ballast_server_open", "gauge", "Whether a server may be chosen now.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_open", t, s);
        end_count(text, s->view.open);
    }
    for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers; i++) {
        print_head(text, of_servers[i].name, of_servers[i].type, of_servers[i].help);
        EACH_TIER
        EACH_SERVER {
            begin_server(text, of_servers[i].name, t, s);
            print_number(text, &of_servers[i], s);
        }
    }
    print_head(text, "ballast_server_token_age_seconds", "gauge",
               "Since the last token came, where one is at hand.");
    EACH_TIER
    EACH_SERVER
    if (s->view.tokens) {
        begin_server(text, "ballast_server_token_age_seconds", t, s);
        end_seconds(text, t->now - ngx_min(s->view.token_since, t->now));
    }
    print_head(text, "ballast_server_response_seconds_total", TOTAL,
               "How long all its answers took together.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_response_seconds_total", t, s);
        end_seconds(text, s->view.took_ns);
    }
    print_head(text, "ballast_server_state_seconds_total", TOTAL, "Time off, in set-up, idle and busy.");
    EACH_TIER
    EACH_SERVER
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++) {
        begin_server(text, "ballast_server_state_seconds_total", t, s);
        print_ns(text, &s->meter, i);
    }
    if (!status->metered)
        return;
    print_head(text, "ballast_server_energy_joules_total", TOTAL, "Energy, by the watts of ballast_status.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_energy_joules_total", t, s);
        end_energy(text, status, &s->meter);
    }
}

/* ---- who hears whom ---- */

static void print_hearing(struct bli_ngx_text *text, const ngx_str_t *at, const char *of, uint64_t ns) {
    bli_ngx_text_printf(text, "ballast_heard_age_seconds{at=\"%V\"", at);
    print_label(text, "of", of);
    end_seconds(text, ns);
}

/* By addresses, which are the same on all hosts. */
static void print_heard(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    print_head(text, "ballast_heard_age_seconds", "gauge",
               "Since the last message of a station to a dispatcher, and of a dispatcher to a station.");
    EACH_TIER
    EACH_SERVER
    if (s->view.heard_at)
        print_hearing(text, &t->peers->upstream->own.name, s->name,
                      t->now - ngx_min(s->view.heard_at, t->now));
    EACH_STATION
    for (uint32_t i = 0; i < s->dispatchers; i++)
        if (s->dispatcher[i].silent_ns != UINT64_MAX)
            print_hearing(text, &s->station->own.name, s->dispatcher[i].name, s->dispatcher[i].silent_ns);
}

static bool has_heard(const struct bli_ngx_snapshot *snapshot) {
    bool any = false;
    EACH_TIER
    any |= t->peers->upstream->stations;
    EACH_STATION
    any |= s->dispatchers > 0;
    return any;
}

/* ---- names of ballast_server ---- */

static void begin_name(struct bli_ngx_text *text, const char *metric,
                       const struct bli_ngx_snapshot_peers *snapshot, const struct bli_ngx_name *name) {
    const ngx_str_t *host = &snapshot->peers->upstream->us->host;
    bli_ngx_text_printf(text, "%s{upstream=\"", metric);
    print_value(text, host->data, host->len);
    bli_ngx_text_printf(text, "\",name=\"%V\"", &name->name);
    if (name->service.len) {
        bli_ngx_text_printf(text, ",service=\"");
        print_value(text, name->service.data, name->service.len);
        bli_ngx_text_printf(text, "\"");
    }
}

/* Each name of the upstream of t, whose backup servers are another tier. */
#define EACH_NAME                                                                                            \
    for (ngx_uint_t i = 0;                                                                                   \
         t->peers == t->peers->upstream->peers && (name = bli_ngx_name_at(t->peers->upstream, i)); i++)

static void print_names(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    const struct bli_ngx_name *name;
    print_head(text, "ballast_name_addresses", "gauge", "Addresses of a name that are used.");
    EACH_TIER
    EACH_NAME {
        begin_name(text, "ballast_name_addresses", t, name);
        end_count(text, bli_ngx_name_view(name).addresses);
    }
    print_head(text, "ballast_name_lookups_total", TOTAL, "Lookups of a name.");
    EACH_TIER
    EACH_NAME {
        begin_name(text, "ballast_name_lookups_total", t, name);
        end_count(text, bli_ngx_name_view(name).lookups);
    }
    print_head(text, "ballast_name_failures_total", TOTAL, "Of them, those that brought no address.");
    EACH_TIER
    EACH_NAME {
        begin_name(text, "ballast_name_failures_total", t, name);
        end_count(text, bli_ngx_name_view(name).failures);
    }
    print_head(text, "ballast_name_failing", "gauge",
               "Whether the last lookup of a name brought no address.");
    EACH_TIER
    EACH_NAME {
        begin_name(text, "ballast_name_failing", t, name);
        end_count(text, bli_ngx_name_view(name).failing);
    }
}

static bool has_names(const struct bli_ngx_snapshot *snapshot) {
    bool any = false;
    EACH_TIER
    any |= t->peers->upstream->names != NULL;
    return any;
}

/* ---- stations ---- */

/* Where slots= is auto. */
static void print_found(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot, int number) {
    const struct bli_ngx_found_number *f = &bli_ngx_found_number[number];
    char name[64];
    bool begun = false;
    snprintf(name, sizeof name, "ballast_server_slots_%s", f->name);
    EACH_TIER
    EACH_SERVER
    if (s->view.concurrency.limit) {
        if (!begun)
            print_head(text, name, "gauge", f->help);
        begun = true;
        begin_server(text, name, t, s);
        bli_ngx_text_printf(text, "} %.4f\n", bli_ngx_found_value(&s->view.concurrency, number));
    }
    snprintf(name, sizeof name, "ballast_station_slots_%s", f->name);
    begun = false;
    EACH_STATION
    if (s->view.concurrency.limit) {
        if (!begun)
            print_head(text, name, "gauge", f->help);
        begun = true;
        begin_station(text, name, s);
        bli_ngx_text_printf(text, "} %.4f\n", bli_ngx_found_value(&s->view.concurrency, number));
    }
}

static void print_stations(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                           const struct bli_ngx_snapshot *snapshot) {
    for (size_t i = 0; i < sizeof of_stations / sizeof *of_stations; i++) {
        print_head(text, of_stations[i].name, of_stations[i].type, of_stations[i].help);
        EACH_STATION {
            begin_station(text, of_stations[i].name, s);
            print_number(text, &of_stations[i], s);
        }
    }
    print_head(text, "ballast_station_slots", "gauge", "Requests that the app works on at once, at most.");
    EACH_STATION {
        begin_station(text, "ballast_station_slots", s);
        end_count(text, s->view.slots);
    }
    print_head(text, "ballast_station_state", "gauge", "1 for the state in which the app is.");
    EACH_STATION {
        begin_station(text, "ballast_station_state", s);
        print_label(text, "state", bli_ngx_snapshot_station_state(s));
        end_count(text, 1);
    }
    print_head(text, "ballast_station_keeper_unanswered_seconds", "gauge",
               "Since the keeper was first sent START without an answer; 0: it has answered.");
    EACH_STATION
    if (s->station->keeper.id) {
        begin_station(text, "ballast_station_keeper_unanswered_seconds", s);
        end_seconds(text, s->view.start_unanswered_ns);
    }
    print_head(text, "ballast_station_jobs", "gauge", "Requests that wait or are worked on, by class.");
    EACH_STATION
    for (uint32_t rank = 0; rank < s->station->config.classes; rank++) {
        begin_station(text, "ballast_station_jobs", s);
        bli_ngx_text_printf(text, ",class=\"%uD\"", rank);
        end_count(text, s->view.jobs[rank]);
    }
    print_head(text, "ballast_station_messages_total", TOTAL, "Messages of and to the station, by type.");
    EACH_STATION {
        print_messages(text, "ballast_station_messages_total", begin_of_station, s, "said",
                       s->counts.messages_sent);
        print_messages(text, "ballast_station_messages_total", begin_of_station, s, "heard",
                       s->counts.messages_received);
    }
    print_head(text, "ballast_station_datagrams_total", TOTAL,
               "Datagrams that came, by what became of them: all but fresh and late ones were dropped.");
    EACH_STATION
    print_receipts(text, "ballast_station_datagrams_total", begin_of_station, s, s->receipts);
    print_head(text, "ballast_station_response_seconds", "histogram",
               "From the arrival of a request to the end of its answer, by class.");
    EACH_STATION
    print_response(text, "ballast_station_response_seconds", begin_of_station, s, s->times,
                   s->station->config.classes);
    print_head(text, "ballast_station_state_seconds_total", TOTAL, "Time off, in set-up, idle and busy.");
    EACH_STATION
    for (int i = 0; i < BLI_NGX_ACTIVITIES; i++) {
        begin_station(text, "ballast_station_state_seconds_total", s);
        print_ns(text, &s->meter, i);
    }
    if (!status->metered)
        return;
    print_head(text, "ballast_station_energy_joules_total", TOTAL, "Energy, by the watts of ballast_status.");
    EACH_STATION {
        begin_station(text, "ballast_station_energy_joules_total", s);
        end_energy(text, status, &s->meter);
    }
}

/* ---- locks ---- */

#define LOCK(member) offsetof(struct bli_ngx_snapshot_lock, member), false

static const struct number of_locks[] = {
    {"ballast_lock_stalled_by", "gauge",
     "The process that holds the lock of a zone and does not go on; until it does, other metrics of the zone "
     "are missing. 0: none.",
     NULL, NULL, LOCK(holder)},
    {"ballast_lock_stalls_total", TOTAL, "Times that a process held the lock and did not go on.", NULL, NULL,
     LOCK(stalls)},
    {"ballast_lock_stalled_requests_total", TOTAL, "Requests that were sent in turn, uncounted, meanwhile.",
     NULL, NULL, LOCK(requests)},
    {"ballast_lock_stalled_datagrams_total", TOTAL, "Datagrams that were dropped meanwhile.", NULL, NULL,
     LOCK(datagrams)},
};

static void print_locks(struct bli_ngx_text *text, const struct bli_ngx_snapshot *snapshot) {
    for (size_t i = 0; i < sizeof of_locks / sizeof *of_locks; i++) {
        print_head(text, of_locks[i].name, of_locks[i].type, of_locks[i].help);
        for (uint32_t k = 0; k < snapshot->locks; k++) {
            const struct bli_ngx_snapshot_lock *lock = &snapshot->lock[k];
            bli_ngx_text_printf(text, "%s{zone=\"", of_locks[i].name);
            print_value(text, lock->zone->host->data, lock->zone->host->len);
            bli_ngx_text_printf(text, "\",kind=\"%s\",tier=\"%s\"", lock->zone->kind,
                                lock->backup ? "backup" : "main");
            print_number(text, &of_locks[i], lock);
        }
    }
}

void bli_ngx_status_metrics(struct bli_ngx_text *text, const struct bli_ngx_status *status,
                            const struct bli_ngx_snapshot *snapshot) {
    if (snapshot->peer_sets) {
        print_dispatchers(text, snapshot);
        print_servers(text, status, snapshot);
        print_checks(text, snapshot);
        print_shares(text, snapshot);
    }
    if (has_heard(snapshot))
        print_heard(text, snapshot);
    if (has_names(snapshot))
        print_names(text, snapshot);
    if (snapshot->stations)
        print_stations(text, status, snapshot);
    for (int i = 0; i < BLI_NGX_FOUND_NUMBERS; i++)
        print_found(text, snapshot, i);
    if (snapshot->locks)
        print_locks(text, snapshot);
}
