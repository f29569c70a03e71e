/* What is seen as metrics, in the text format of Prometheus: all samples of a metric stand together. */
#include "status.h"

#include <string.h>

/* ---- labels ---- */

/* The value of a label; bytes that are no UTF-8 become U+FFFD. */
static void say_value(struct bal_ngx_text *text, const u_char *value, size_t length) {
    u_char *at = (u_char *)value, *end = at + length;
    while (at < end) {
        const u_char *from = at;
        const u_char c = *at;
        if (c >= 0x80 && ngx_utf8_decode(&at, (size_t)(end - at)) > 0x10ffff) {
            bal_ngx_say(text, "\xef\xbf\xbd");
            at = (u_char *)from + 1;
            continue;
        }
        at = c < 0x80 ? at + 1 : at;
        if (c == '\n')
            bal_ngx_say(text, "\\n");
        else
            bal_ngx_say(text, "%s%*s", c == '"' || c == '\\' ? "\\" : "", (size_t)(at - from), from);
    }
}

static void say_label(struct bal_ngx_text *text, const char *name, const char *value) {
    bal_ngx_say(text, ",%s=\"", name);
    say_value(text, (const u_char *)value, strlen(value));
    bal_ngx_say(text, "\"");
}

/* A sample up to its labels, of which more may follow. */
static void begin_tier(struct bal_ngx_text *text, const char *name, const struct bal_ngx_seen_tier *seen) {
    const struct bal_ngx_upstream *upstream = seen->tier->upstream;
    bal_ngx_say(text, "%s{upstream=\"", name);
    say_value(text, upstream->us->host.data, upstream->us->host.len);
    bal_ngx_say(text, "\",tier=\"%s\"", seen->tier == upstream->tier ? "main" : "backup");
}

static void begin_server(struct bal_ngx_text *text, const char *name, const struct bal_ngx_seen_tier *seen,
                         const struct bal_ngx_seen_server *server) {
    begin_tier(text, name, seen);
    say_label(text, "server", server->name);
}

static void begin_station(struct bal_ngx_text *text, const char *name,
                          const struct bal_ngx_seen_station *seen) {
    bal_ngx_say(text, "%s{station=\"", name);
    say_value(text, seen->station->us->host.data, seen->station->us->host.len);
    bal_ngx_say(text, "\"");
}

static void end_count(struct bal_ngx_text *text, uint64_t value) {
    bal_ngx_say(text, "} %uL\n", value);
}

static void end_seconds(struct bal_ngx_text *text, uint64_t ns) {
    bal_ngx_say(text, "} ");
    bal_ngx_say_seconds(text, ns);
    bal_ngx_say(text, "\n");
}

static void head(struct bal_ngx_text *text, const char *name, const char *type, const char *help) {
    bal_ngx_say(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- tables of plain numbers ---- */

/* A number of 64 or 32 bits inside of a struct, and the label that tells it from its neighbours. */
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

#define COUNT(member) offsetof(struct bal_ngx_seen_tier, counts.member), false
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
    {"ballast_plain_total", TOTAL, "Requests that were sent without being counted: the zone was full.", NULL,
     NULL, offsetof(struct bal_ngx_seen_tier, plain), false},
    {"ballast_held_total", TOTAL, "Requests that had to wait here.", NULL, NULL, COUNT(held)},
    {"ballast_tokens_total", TOTAL, "Tokens of stations by what became of them.", "fate", "offered",
     COUNT(tokens)},
    {"ballast_tokens_total", NULL, NULL, "fate", "used", COUNT(used)},
    {"ballast_tokens_total", NULL, NULL, "fate", "expired", COUNT(expired)},
    {"ballast_datagrams_unsent_total", TOTAL, "Messages for which there was no room.", NULL, NULL,
     COUNT(unsent)},
    {"ballast_reaped_total", TOTAL, "Requests that a dead process has left behind.", NULL, NULL,
     COUNT(reaped)},
    {"ballast_rebuilds_total", TOTAL, "Times that all was made anew after a process had died.", NULL, NULL,
     COUNT(rebuilds)},
    {"ballast_processes", "gauge", "Worker processes that take part.", NULL, NULL,
     offsetof(struct bal_ngx_seen_tier, processes), true},
};

#define VIEW(member) offsetof(struct bal_ngx_seen_server, view.member)

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

#define STATION(member) offsetof(struct bal_ngx_seen_station, member)

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
    {"ballast_station_cancelled_total", TOTAL, "Requests of which the client went away.", NULL, NULL,
     STATION(counts.cancelled), false},
    {"ballast_station_given_total", TOTAL, "Requests that other stations took over.", NULL, NULL,
     STATION(counts.given), false},
    {"ballast_station_offers_total", TOTAL, "Free slots that were offered to dispatchers.", NULL, NULL,
     STATION(counts.offers), false},
    {"ballast_station_offers_riding_total", TOTAL, "Of them, those that rode on responses.", NULL, NULL,
     STATION(counts.rode), false},
    {"ballast_station_datagrams_unsent_total", TOTAL, "Messages for which there was no room.", NULL, NULL,
     STATION(counts.unsent), false},
    {"ballast_station_running", "gauge", "Requests that the app works on.", NULL, NULL, STATION(view.running),
     true},
    {"ballast_station_waiting", "gauge", "Requests that wait for a slot.", NULL, NULL, STATION(view.waiting),
     true},
    {"ballast_station_away", "gauge", "Requests that are at other stations.", NULL, NULL, STATION(view.away),
     true},
    {"ballast_station_offered", "gauge", "Free slots that dispatchers may use.", NULL, NULL,
     STATION(view.offered), true},
};

static void say_number(struct bal_ngx_text *text, const struct number *number, const void *from) {
    if (number->label)
        say_label(text, number->label, number->value);
    end_count(text, number_of(number, from));
}

/* ---- histograms ---- */

/* Every second bound: octaves and their middles. */
static void say_times(struct bal_ngx_text *text, const char *name, const u_char *labels, size_t length,
                      const struct bal_ngx_times *times) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < BAL_NGX_TIMES - 1; i++) {
        sum += times->bucket[i];
        if (i % 2)
            continue;
        bal_ngx_say(text, "%s_bucket{%*s,le=\"", name, length, labels);
        bal_ngx_say_seconds(text, bal_ngx_times_bound(i));
        bal_ngx_say(text, "\"} %uL\n", sum);
    }
    bal_ngx_say(text, "%s_bucket{%*s,le=\"+Inf\"} %uL\n%s_sum{%*s} ", name, length, labels, times->count,
                name, length, labels);
    bal_ngx_say_seconds(text, times->sum_ns);
    bal_ngx_say(text, "\n%s_count{%*s} %uL\n", name, length, labels, times->count);
}

/* The same for each class; `begin` says who it is. */
static void say_classes(struct bal_ngx_text *text, const char *name, const struct bal_ngx_text *who,
                        const struct bal_ngx_times *times, uint32_t classes) {
    for (uint32_t rank = 0; rank < classes; rank++) {
        struct bal_ngx_text labels = {0};
        bal_ngx_say(&labels, "%*s,class=\"%uD\"", who->length, who->data, rank);
        text->failed |= labels.failed;
        if (!labels.failed)
            say_times(text, name, labels.data, labels.length, &times[rank]);
        ngx_free(labels.data);
    }
}

static void say_decisions(struct bal_ngx_text *text, const struct bal_ngx_seen_tier *seen) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < DECISION_BUCKETS; i++) {
        sum += seen->decisions.bucket[i];
        begin_tier(text, "ballast_decision_seconds_bucket", seen);
        if (i == DECISION_BUCKETS - 1) {
            bal_ngx_say(text, ",le=\"+Inf\"} %uL\n", sum);
            break;
        }
        bal_ngx_say(text, ",le=\"");
        bal_ngx_say_seconds(text, UINT64_C(2) << i);
        bal_ngx_say(text, "\"} %uL\n", sum);
    }
    begin_tier(text, "ballast_decision_seconds_sum", seen);
    end_seconds(text, seen->decisions.sum_ns);
    begin_tier(text, "ballast_decision_seconds_count", seen);
    end_count(text, sum);
}

/* ---- what both roles have ---- */

typedef void begin_fn(struct bal_ngx_text *text, const char *name, const void *who);

static void begin_of_tier(struct bal_ngx_text *text, const char *name, const void *who) {
    begin_tier(text, name, who);
}

static void begin_of_station(struct bal_ngx_text *text, const char *name, const void *who) {
    begin_station(text, name, who);
}

static void say_response(struct bal_ngx_text *text, const char *name, begin_fn *begin, const void *who,
                         const struct bal_ngx_times *times, uint32_t classes) {
    struct bal_ngx_text labels = {0};
    begin(&labels, "", who);
    text->failed |= labels.failed;
    if (!labels.failed) { /* without the bracket */
        const struct bal_ngx_text inside = {.data = labels.data + 1, .length = labels.length - 1};
        say_classes(text, name, &inside, times, classes);
    }
    ngx_free(labels.data);
}

static void say_messages(struct bal_ngx_text *text, const char *name, begin_fn *begin, const void *who,
                         const char *direction, const uint64_t counts[BAL_MSG_TYPES]) {
    for (int type = 1; type < BAL_MSG_TYPES; type++) {
        const char *known = bal_message_name((enum bal_message_type)type);
        u_char word[16];
        ngx_strlow(word, (u_char *)known, strlen(known) + 1);
        begin(text, name, who);
        bal_ngx_say(text, ",direction=\"%s\",type=\"%s\"", direction, word);
        end_count(text, counts[type]);
    }
}

static void say_receipts(struct bal_ngx_text *text, const char *name, begin_fn *begin, const void *who,
                         const uint64_t receipts[BAL_RECEIPTS]) {
    for (int i = 0; i < BAL_RECEIPTS; i++) {
        begin(text, name, who);
        say_label(text, "receipt", bal_receipt_name((enum bal_receipt)i));
        end_count(text, receipts[i]);
    }
}

static void say_ns(struct bal_ngx_text *text, const struct bal_ngx_meter *meter, int doing) {
    say_label(text, "state", bal_ngx_doing_name((enum bal_ngx_doing)doing));
    end_seconds(text, meter->ns[doing]);
}

static void end_energy(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                       const struct bal_ngx_meter *meter) {
    const uint64_t energy = bal_ngx_status_energy(status, meter);
    bal_ngx_say(text, "} %uL.%03uL\n", energy / 1000, energy % 1000);
}

/* ---- dispatchers ---- */

/* Each dispatcher t of what is seen, each server s of it, each station s. */
#define EACH_TIER for (const struct bal_ngx_seen_tier *t = seen->tier; t < seen->tier + seen->tiers; t++)
#define EACH_SERVER for (const struct bal_ngx_seen_server *s = t->server; s < t->server + t->servers; s++)
#define EACH_STATION                                                                                         \
    for (const struct bal_ngx_seen_station *s = seen->station; s < seen->station + seen->stations; s++)

static void say_reasons(struct bal_ngx_text *text, const struct bal_ngx_seen *seen) {
    head(text, "ballast_decisions_total", TOTAL, "Decisions by reason, as $ballast_reason tells it.");
    EACH_TIER
    for (int i = 0; i < BAL_REASONS; i++) {
        begin_tier(text, "ballast_decisions_total", t);
        say_label(text, "reason", bal_ngx_reason_name((enum bal_reason)i));
        end_count(text, t->counts.reasons[i]);
    }
}

static void say_held(struct bal_ngx_text *text, const struct bal_ngx_seen *seen) {
    head(text, "ballast_held", "gauge", "Requests that wait here, by class.");
    EACH_TIER
    for (uint32_t rank = 0; rank < t->tier->config.classes; rank++) {
        begin_tier(text, "ballast_held", t);
        bal_ngx_say(text, ",class=\"%uD\"", rank);
        end_count(text, t->held[rank]);
    }
}

static void say_dispatchers(struct bal_ngx_text *text, const struct bal_ngx_seen *seen) {
    head(text, "ballast_policy_info", "gauge", "The policy of an upstream.");
    EACH_TIER {
        begin_tier(text, "ballast_policy_info", t);
        say_label(text, "policy", t->tier->upstream->text);
        end_count(text, 1);
    }
    for (size_t i = 0; i < sizeof of_tiers / sizeof *of_tiers; i++) {
        if (of_tiers[i].help)
            head(text, of_tiers[i].name, of_tiers[i].type, of_tiers[i].help);
        EACH_TIER {
            begin_tier(text, of_tiers[i].name, t);
            say_number(text, &of_tiers[i], t);
        }
    }
    say_reasons(text, seen);
    say_held(text, seen);
    head(text, "ballast_messages_total", TOTAL, "Messages to and from stations, by type.");
    EACH_TIER {
        say_messages(text, "ballast_messages_total", begin_of_tier, t, "said", t->counts.said);
        say_messages(text, "ballast_messages_total", begin_of_tier, t, "heard", t->counts.heard);
    }
    head(text, "ballast_datagrams_total", TOTAL,
         "Datagrams that came, by what became of them: all but fresh and late ones were dropped.");
    EACH_TIER
    say_receipts(text, "ballast_datagrams_total", begin_of_tier, t, t->receipts);
    head(text, "ballast_decision_seconds", "histogram",
         "How long decisions took, the lock included; of one in 64.");
    EACH_TIER
    say_decisions(text, t);
    head(text, "ballast_response_seconds", "histogram",
         "From the arrival of a request to the end of its answer, by class.");
    EACH_TIER
    say_response(text, "ballast_response_seconds", begin_of_tier, t, t->times, t->tier->config.classes);
}

static void say_servers(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                        const struct bal_ngx_seen *seen) {
    head(text, "ballast_server_state", "gauge", "1 for the state in which a server is.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_state", t, s);
        say_label(text, "state", bal_ngx_seen_state(s));
        end_count(text, 1);
    }
    head(text, "ballast_server_open", "gauge", "Whether a server may be chosen now.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_open", t, s);
        end_count(text, s->view.open);
    }
    for (size_t i = 0; i < sizeof of_servers / sizeof *of_servers; i++) {
        head(text, of_servers[i].name, of_servers[i].type, of_servers[i].help);
        EACH_TIER
        EACH_SERVER {
            begin_server(text, of_servers[i].name, t, s);
            say_number(text, &of_servers[i], s);
        }
    }
    head(text, "ballast_server_token_age_seconds", "gauge",
         "Since the last token came, where one is at hand.");
    EACH_TIER
    EACH_SERVER
    if (s->view.tokens) {
        begin_server(text, "ballast_server_token_age_seconds", t, s);
        end_seconds(text, t->now - ngx_min(s->view.token_since, t->now));
    }
    head(text, "ballast_server_response_seconds_total", TOTAL, "How long all its answers took together.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_response_seconds_total", t, s);
        end_seconds(text, s->view.took_ns);
    }
    head(text, "ballast_server_state_seconds_total", TOTAL, "Time off, in set-up, idle and busy.");
    EACH_TIER
    EACH_SERVER
    for (int i = 0; i < BAL_NGX_DOINGS; i++) {
        begin_server(text, "ballast_server_state_seconds_total", t, s);
        say_ns(text, &s->meter, i);
    }
    if (!status->metered)
        return;
    head(text, "ballast_server_energy_joules_total", TOTAL, "Energy, by the watts of ballast_status.");
    EACH_TIER
    EACH_SERVER {
        begin_server(text, "ballast_server_energy_joules_total", t, s);
        end_energy(text, status, &s->meter);
    }
}

/* ---- stations ---- */

static void say_stations(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                         const struct bal_ngx_seen *seen) {
    for (size_t i = 0; i < sizeof of_stations / sizeof *of_stations; i++) {
        head(text, of_stations[i].name, of_stations[i].type, of_stations[i].help);
        EACH_STATION {
            begin_station(text, of_stations[i].name, s);
            say_number(text, &of_stations[i], s);
        }
    }
    head(text, "ballast_station_slots", "gauge", "Requests that the app works on at once, at most.");
    EACH_STATION {
        begin_station(text, "ballast_station_slots", s);
        end_count(text, s->station->config.slots);
    }
    head(text, "ballast_station_state", "gauge", "1 for the state in which the app is.");
    EACH_STATION {
        begin_station(text, "ballast_station_state", s);
        say_label(text, "state", bal_ngx_seen_station_state(s));
        end_count(text, 1);
    }
    head(text, "ballast_station_jobs", "gauge", "Requests that wait or are worked on, by class.");
    EACH_STATION
    for (uint32_t rank = 0; rank < s->station->config.classes; rank++) {
        begin_station(text, "ballast_station_jobs", s);
        bal_ngx_say(text, ",class=\"%uD\"", rank);
        end_count(text, s->view.jobs[rank]);
    }
    head(text, "ballast_station_messages_total", TOTAL, "Messages of and to the station, by type.");
    EACH_STATION {
        say_messages(text, "ballast_station_messages_total", begin_of_station, s, "said", s->counts.said);
        say_messages(text, "ballast_station_messages_total", begin_of_station, s, "heard", s->counts.heard);
    }
    head(text, "ballast_station_datagrams_total", TOTAL,
         "Datagrams that came, by what became of them: all but fresh and late ones were dropped.");
    EACH_STATION
    say_receipts(text, "ballast_station_datagrams_total", begin_of_station, s, s->receipts);
    head(text, "ballast_station_response_seconds", "histogram",
         "From the arrival of a request to the end of its answer, by class.");
    EACH_STATION
    say_response(text, "ballast_station_response_seconds", begin_of_station, s, s->times,
                 s->station->config.classes);
    head(text, "ballast_station_state_seconds_total", TOTAL, "Time off, in set-up, idle and busy.");
    EACH_STATION
    for (int i = 0; i < BAL_NGX_DOINGS; i++) {
        begin_station(text, "ballast_station_state_seconds_total", s);
        say_ns(text, &s->meter, i);
    }
    if (!status->metered)
        return;
    head(text, "ballast_station_energy_joules_total", TOTAL, "Energy, by the watts of ballast_status.");
    EACH_STATION {
        begin_station(text, "ballast_station_energy_joules_total", s);
        end_energy(text, status, &s->meter);
    }
}

void bal_ngx_status_metrics(struct bal_ngx_text *text, const struct bal_ngx_status *status,
                            const struct bal_ngx_seen *seen) {
    if (seen->tiers) {
        say_dispatchers(text, seen);
        say_servers(text, status, seen);
    }
    if (seen->stations)
        say_stations(text, status, seen);
}
