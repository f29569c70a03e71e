/* SPDX-License-Identifier: BSD-2-Clause */
/* A replay for programs: csv and JSON. Times are in seconds, energy is in kWh. */
#include "report/replay_report.h"

#include "ballast/version.h"
#include "base/strbuf.h"
#include "format/json.h"
#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/log_report.h"
#include "report/replay_cells.h"
#include "report/rows.h"

#include <math.h>
#include <stdlib.h>

static double kilowatt_hours(const struct bal_result *result) {
    return bal_replay_energy(result) / 3.6e6;
}

/* The times as columns and members call them. */
static const char *const time_names[] = {"mean", "p50", "p90", "p99", "p999"};

static const char *outcome_text(enum bal_sizing_outcome outcome) {
    return outcome == BAL_SIZED ? "found" : outcome == BAL_SIZE_BEYOND ? "beyond" : "hopeless";
}

struct bal_draft bal_replay_settings(const struct bal_replay_report *report) {
    struct bal_draft draft;
    bal_draft_init(&draft);
    draft.c.model = report->replay->model;
    draft.c.replications = report->replay->replications;
    draft.c.model.load = NAN; /* arrivals, service times and classes are those of the log */
    draft.c.model.classes = false;
    return draft;
}

/* An end of a range of servers; 0 is not known. */
static double known_servers(uint32_t servers) {
    return servers > 0 ? (double)servers : (double)NAN;
}

/* What every number depends on. */
static const char *times_text(const struct bal_replay_report *report) {
    return bal_times_text(report->times->recovery->times);
}

/* ---- csv ---- */

static void put_range(struct bal_rows *rows, const char *name, struct bal_confidence_range range) {
    char end[BAL_PERCENTILE_TEXT + 40];
    snprintf(end, sizeof end, "%s.log_low", name);
    bal_row_number(rows, end, range.low);
    snprintf(end, sizeof end, "%s.log_high", name);
    bal_row_number(rows, end, range.high);
}

static void put_times(struct bal_rows *rows, const struct bal_replay_report *report,
                      const struct bal_replay_outcome *outcome) {
    for (int t = BAL_TIME_MEAN; t < BAL_REPLAY_TIMES; t++) {
        const enum bal_response_time which = (enum bal_response_time)t;
        char text[BAL_PERCENTILE_TEXT], name[BAL_PERCENTILE_TEXT + 20];
        if (t == BAL_TIME_WANTED || !bal_time_is_told(report, which))
            continue;
        snprintf(name, sizeof name, "response.%s", bal_time_name(report, which, text));
        if (t >= BAL_TIME_ASKED) /* others are metrics */
            bal_row_estimate(rows, name, outcome->time[t]);
        put_range(rows, name, outcome->log[t]);
    }
    rows->quote_names = true;
    for (size_t k = 1; k <= report->kinds; k++)
        for (int t = BAL_TIME_MEAN; t <= BAL_TIME_P999; t++) {
            char *name;
            if (asprintf(&name, "class.%s.response.%s", report->kind[k - 1], time_names[t]) < 0) {
                bal_stream_mark_incomplete(rows->csv);
                return;
            }
            bal_row_estimate(rows, name, outcome->kind[k].time[t]);
            free(name);
        }
    rows->quote_names = false;
}

/* What the target needs; unknown where no number of servers has been found. */
static void put_target(struct bal_rows *rows, const struct bal_replay_report *report,
                       const struct bal_replay_outcome *outcome, const struct bal_sizing *sizing) {
    static const struct bal_estimate unknown = {NAN, NAN};
    const bool sized = sizing->outcome == BAL_SIZED;
    char doubts[BAL_DOUBT_WORDS];
    bal_doubt_words(sized ? sizing->at.result.doubts : 0, doubts);
    bal_row_text(rows, "target.outcome", outcome_text(sizing->outcome));
    bal_row_estimate(rows, "target.here", outcome->time[BAL_TIME_WANTED]);
    put_range(rows, "target.here", outcome->log[BAL_TIME_WANTED]);
    bal_row_number(rows, "target.servers", sized ? (double)sizing->servers : NAN);
    bal_row_number(rows, "target.servers_low", sized ? known_servers(sizing->low) : NAN);
    bal_row_number(rows, "target.servers_high", sized ? known_servers(sizing->high) : NAN);
    bal_row_number(rows, "target.load", sized ? sizing->c.model.load : NAN);
    bal_row_estimate(rows, "target.value", sized ? sizing->at.time[BAL_TIME_WANTED] : unknown);
    bal_row_number(rows, "target.one_fewer", sized ? sizing->one_fewer : NAN);
    bal_row_number(rows, "target.kwh", sized ? kilowatt_hours(&sizing->at.result) : NAN);
    if (bal_is_priced(report))
        bal_row_number(rows, "target.cost",
                       sized ? bal_replay_cost(report, &sizing->c, &sizing->at.result) : NAN);
    bal_row_text(rows, "target.doubts", doubts);
}

static void put_row(struct bal_rows *rows, const struct bal_replay_report *report, size_t i,
                    const struct bal_draft *draft) {
    const struct bal_replay_outcome *outcome = &report->outcomes[i];
    const struct bal_result *result = &outcome->result;
    char label[BAL_REPLAY_LABEL], doubts[BAL_DOUBT_WORDS];
    bal_replay_label(&report->cases[i].policy, label);
    bal_doubt_words(result->doubts, doubts);
    do {
        bal_row_begin(rows);
        bal_row_quoted(rows, "policy", label);
        bal_row_number(rows, "load", report->cases[i].model.load);
        for (int m = 0; m < BAL_METRIC_COUNT; m++)
            bal_row_estimate(rows, bal_metric_table[m].name, result->metric[m]);
        bal_row_number(rows, "energy.kwh", kilowatt_hours(result));
        bal_row_count(rows, "replications", result->replications);
        bal_row_count(rows, "jobs", result->jobs);
        bal_row_text(rows, "service_times", times_text(report));
        bal_row_text(rows, "doubts", doubts);
        put_times(rows, report, outcome);
        if (bal_is_priced(report))
            bal_row_number(rows, "cost", bal_replay_cost(report, &report->cases[i], result));
        if (report->keeper)
            bal_row_number(rows, "server_hours", bal_replay_server_time(&report->cases[i], result) / 3600);
        if (report->target)
            put_target(rows, report, outcome, &report->sizing[i]);
    } while (bal_row_end(rows, draft));
}

void bal_replay_csv(const struct bal_replay_report *report, FILE *out) {
    size_t *order = bal_replay_order(report);
    if (!order) {
        bal_stream_mark_incomplete(out);
        return;
    }
    struct bal_rows rows = {.csv = out};
    const struct bal_draft draft = bal_replay_settings(report);
    for (size_t i = 0; i < report->count; i++)
        put_row(&rows, report, order[i], &draft);
    free(order);
}

/* ---- JSON ---- */

static void json_demand(struct json *json, const struct bal_demand *demand) {
    bal_json_open(json, "demand", '{');
    bal_json_number(json, "rate", demand->rate);
    bal_json_number(json, "work", demand->work);
    bal_json_number(json, "scv", demand->scv);
    bal_json_open_line(json, "sizes", '{');
    bal_json_number(json, "p50", demand->size_p50);
    bal_json_number(json, "p90", demand->size_p90);
    bal_json_number(json, "p99", demand->size_p99);
    bal_json_number(json, "p999", demand->size_p999);
    bal_json_close(json, '}');
    bal_json_open_line(json, "busiest", '{');
    bal_json_number(json, "window", demand->window);
    bal_json_number(json, "rate", demand->peak_rate);
    bal_json_number(json, "work", demand->peak_work);
    bal_json_number(json, "at", demand->peak_at);
    bal_json_close(json, '}');
    bal_json_close(json, '}');
}

static void json_spec(struct json *json, const struct bal_replay_report *report) {
    const struct bal_replay *replay = report->replay;
    bal_json_open(json, "spec", '{');
    bal_json_model(json, &replay->model, "servers");
    bal_json_bool(json, "servers_given", !(report->sized_for > 0 || report->recorded));
    if (replay->model.slots == BAL_SLOTS_ALL)
        bal_json_text(json, "slots", "all");
    else
        bal_json_count(json, "slots", replay->model.slots > 0 ? replay->model.slots : 1);
    bal_json_bool(json, "slots_guessed", bal_recovery_slots_are_guessed(report->times));
    bal_json_model(json, &replay->model, "steal?");
    bal_json_number(json, "speedup", replay->speedup);
    bal_json_number(json, "load", bal_replay_load(replay, report->demand->work));
    bal_json_number(json, "busiest_load", bal_replay_load(replay, report->demand->peak_work));
    bal_json_model(json, &replay->model,
                   replay->model.classes ? "standby? setup? watts discipline" : "standby? setup? watts");
    if (replay->failing > 0) {
        bal_json_count(json, "failing", replay->failing);
        bal_json_number(json, "fail_at", replay->fail_at);
    }
    if (bal_is_priced(report))
        bal_json_number(json, "price", report->price);
    bal_json_count(json, "replications", replay->replications);
    bal_json_count(json, "seed", replay->seed);
    bal_json_close(json, '}');
    const struct bal_draft draft = bal_replay_settings(report);
    bal_head_json(json, &draft, NULL);
}

static void json_range(struct json *json, const char *key, struct bal_confidence_range range) {
    bal_json_open_line(json, key, '[');
    bal_json_number(json, NULL, range.low);
    bal_json_number(json, NULL, range.high);
    bal_json_close(json, ']');
}

/* Response times as estimates; with where other logs would have them, if that is known. */
static void json_estimates(struct json *json, const char *key, const struct bal_estimate *time,
                           const struct bal_replay_report *report) {
    bal_json_open_line(json, key, '{');
    for (int t = BAL_TIME_MEAN; t < BAL_REPLAY_TIMES; t++) {
        char text[BAL_PERCENTILE_TEXT];
        if (bal_time_is_told(report, (enum bal_response_time)t))
            bal_json_estimate(json, bal_time_name(report, (enum bal_response_time)t, text), "_ci", time[t]);
    }
    bal_json_close(json, '}');
}

static void json_other_logs(struct json *json, const struct bal_replay_outcome *outcome,
                            const struct bal_replay_report *report) {
    bal_json_open(json, "other_logs", '{');
    for (int t = BAL_TIME_MEAN; t < BAL_REPLAY_TIMES; t++) {
        char text[BAL_PERCENTILE_TEXT];
        if (bal_time_is_told(report, (enum bal_response_time)t))
            json_range(json, bal_time_name(report, (enum bal_response_time)t, text), outcome->log[t]);
    }
    bal_json_close(json, '}');
}

static void json_kinds(struct json *json, const struct bal_replay_report *report,
                       const struct bal_replay_outcome *outcome) {
    bal_json_open(json, "by_class", '[');
    for (size_t k = 0; k <= report->kinds; k++) {
        const size_t kind = k == report->kinds ? 0 : k + 1; /* the rest last */
        if (outcome->kind[kind].jobs == 0)
            continue;
        bal_json_open(json, NULL, '{');
        if (kind == 0)
            bal_json_null(json, "class");
        else
            bal_json_text(json, "class", report->kind[kind - 1]);
        bal_json_count(json, "jobs", outcome->kind[kind].jobs);
        json_estimates(json, "response", outcome->kind[kind].time, report);
        bal_json_close(json, '}');
    }
    bal_json_close(json, ']');
}

/* first is the metric of the mean; what follows it is in the order of BAL_TIME_METRICS. */
static void json_times(struct json *json, const char *key, const struct bal_result *result, int first) {
    bal_json_open_line(json, key, '{');
    for (int i = 0; i < 5; i++)
        bal_json_estimate(json, time_names[i], "_ci", result->metric[first + i]);
    bal_json_close(json, '}');
}

static void json_classes(struct json *json, const struct bal_result *result) {
    bal_json_open(json, "classes", '{');
    bal_json_open(json, "high", '{');
    json_times(json, "response", result, BAL_HIGH_RESPONSE_MEAN);
    json_times(json, "waiting", result, BAL_HIGH_WAITING_MEAN);
    bal_json_close(json, '}');
    bal_json_open(json, "low", '{');
    json_times(json, "response", result, BAL_LOW_RESPONSE_MEAN);
    json_times(json, "waiting", result, BAL_LOW_WAITING_MEAN);
    bal_json_close(json, '}');
    bal_json_close(json, '}');
}

static void json_power(struct json *json, const struct bal_result *result) {
    bal_json_open_line(json, "power", '{');
    bal_json_number(json, "watts", result->metric[BAL_POWER_MEAN].mean);
    bal_json_number(json, "kwh", kilowatt_hours(result));
    bal_json_number(json, "joules_per_job", result->metric[BAL_ENERGY_PER_JOB].mean);
    bal_json_number(json, "busy", result->metric[BAL_SERVERS_BUSY].mean);
    bal_json_number(json, "standby", result->metric[BAL_SERVERS_STANDBY].mean);
    bal_json_number(json, "setup", result->metric[BAL_SERVERS_SETUP].mean);
    bal_json_number(json, "off", result->metric[BAL_SERVERS_OFF].mean);
    bal_json_close(json, '}');
}

static void json_result(struct json *json, const struct bal_replay_report *report, size_t i) {
    const struct bal_result *result = &report->outcomes[i].result;
    char label[BAL_REPLAY_LABEL];
    bal_replay_label(&report->cases[i].policy, label);
    bal_json_open(json, NULL, '{');
    bal_json_text(json, "policy", label);
    bal_json_text(json, "service_times", times_text(report));
    json_estimates(json, "response", report->outcomes[i].time, report);
    json_other_logs(json, &report->outcomes[i], report);
    json_times(json, "waiting", result, BAL_WAITING_MEAN);
    bal_json_number(json, "waiting_probability", result->metric[BAL_WAITING_PROBABILITY].mean);
    if (report->replay->model.classes)
        json_classes(json, result);
    if (report->kinds > 0)
        json_kinds(json, report, &report->outcomes[i]);
    bal_json_number(json, "messages_per_job", result->metric[BAL_MESSAGES_PER_JOB].mean);
    bal_json_number(json, "probes_per_job", result->metric[BAL_PROBES_PER_JOB].mean);
    bal_json_number(json, "reports_per_job", result->metric[BAL_REPORTS_PER_JOB].mean);
    bal_json_number(json, "memory_bits", result->memory_bits);
    json_power(json, result);
    if (bal_is_priced(report))
        bal_json_number(json, "cost", bal_replay_cost(report, &report->cases[i], result));
    if (report->keeper)
        bal_json_number(json, "server_hours", bal_replay_server_time(&report->cases[i], result) / 3600);
    bal_json_number(json, "refused", result->metric[BAL_REFUSED].mean);
    if (bal_network_fails(&report->cases[i].model.network))
        bal_json_number(json, "failed", result->metric[BAL_FAILED].mean);
    bal_json_count(json, "replications", result->replications);
    bal_json_count(json, "jobs", result->jobs);
    bal_doubt_json(json, result->doubts);
    bal_json_number(json, "seconds", result->seconds);
    bal_json_close(json, '}');
}

static void json_target(struct json *json, const struct bal_replay_report *report, const size_t *order) {
    if (!report->target) {
        bal_json_null(json, "target");
        return;
    }
    bal_json_open(json, "target", '{');
    bal_json_text(json, "metric", report->target->name);
    bal_json_number(json, "seconds", report->target->seconds);
    bal_json_number(json, "without_waiting", report->sizing[0].best); /* the same for all policies */
    bal_json_open(json, "policies", '[');
    for (size_t k = 0; k < report->count; k++) {
        const struct bal_sizing *sizing = &report->sizing[order[k]];
        const bool sized = sizing->outcome == BAL_SIZED;
        char label[BAL_REPLAY_LABEL];
        bal_replay_label(&report->cases[order[k]].policy, label);
        bal_json_open_line(json, NULL, '{');
        bal_json_text(json, "policy", label);
        bal_json_text(json, "service_times", times_text(report));
        bal_json_text(json, "outcome", outcome_text(sizing->outcome));
        bal_json_number(json, "servers", sized ? (double)sizing->servers : NAN);
        bal_json_number(json, "servers_low", sized ? known_servers(sizing->low) : NAN);
        bal_json_number(json, "servers_high", sized ? known_servers(sizing->high) : NAN);
        bal_json_number(json, "load", sized ? sizing->c.model.load : NAN);
        bal_json_number(json, "value", sized ? sizing->at.time[BAL_TIME_WANTED].mean : NAN);
        bal_json_number(json, "value_ci", sized ? sizing->at.time[BAL_TIME_WANTED].half_width : NAN);
        bal_json_number(json, "one_fewer", sized ? sizing->one_fewer : NAN);
        if (bal_network_fails(&report->cases[order[k]].model.network))
            bal_json_number(json, "failed", sizing->at.result.metric[BAL_FAILED].mean);
        bal_json_number(json, "kwh", sized ? kilowatt_hours(&sizing->at.result) : NAN);
        bal_json_number(json, "watts", sized ? sizing->at.result.metric[BAL_POWER_MEAN].mean : NAN);
        if (bal_is_priced(report))
            bal_json_number(json, "cost",
                            sized ? bal_replay_cost(report, &sizing->c, &sizing->at.result) : NAN);
        bal_doubt_json(json, sized ? sizing->at.result.doubts : 0);
        bal_json_count(json, "fleets_tried", sizing->fleets_tried);
        bal_json_close(json, '}');
    }
    bal_json_close(json, ']');
    bal_json_close(json, '}');
}

static void json_list(struct json *json, const char *key, const double *value, double factor) {
    bal_json_open_line(json, key, '[');
    for (size_t i = 0; i < BAL_REPLAY_SPANS; i++)
        bal_json_number(json, NULL, value[i] * factor);
    bal_json_close(json, ']');
}

/* Over the time of the log, in equal parts of it. */
static void json_history(struct json *json, const struct bal_replay_report *report, const size_t *order) {
    const struct bal_trace_info *info = bal_trace_info(report->replay->trace);
    bal_json_open(json, "history", '{');
    bal_json_number(json, "first", (double)info->first * 1e-9);
    bal_json_number(json, "span", info->span / BAL_REPLAY_SPANS);
    json_list(json, "rate", report->demand->span_rate, report->replay->speedup);
    bal_json_open(json, "policies", '[');
    for (size_t i = 0; i < report->count; i++) {
        const struct bal_history *history = &report->history[order[i]];
        char label[BAL_REPLAY_LABEL];
        bal_replay_label(&report->cases[order[i]].policy, label);
        bal_json_open(json, NULL, '{');
        bal_json_text(json, "policy", label);
        json_list(json, "mean", history->response, 1);
        json_list(json, "p99", history->p99, 1);
        json_list(json, "watts", history->watts, 1);
        bal_json_close(json, '}');
    }
    bal_json_close(json, ']');
    bal_json_close(json, '}');
}

void bal_replay_json(const struct bal_replay_report *report, FILE *out) {
    size_t *order = bal_replay_order(report);
    if (!order) {
        bal_stream_mark_incomplete(out);
        return;
    }
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "version", BALLAST_VERSION);
    bal_log_summary_json(&json, "log", report->summary, bal_trace_info(report->replay->trace));
    bal_recovery_json(&json, "times", report->times);
    json_demand(&json, report->demand);
    json_spec(&json, report);
    bal_json_open(&json, "results", '[');
    for (size_t i = 0; i < report->count; i++)
        json_result(&json, report, order[i]);
    bal_json_close(&json, ']');
    json_target(&json, report, order);
    json_history(&json, report, order);
    bal_json_close(&json, '}');
    free(order);
}
