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

static double kilowatt_hours(const struct bli_result *result) {
    return bli_replay_energy(result) / 3.6e6;
}

/* The times as columns and members call them. */
static const char *const time_names[] = {"mean", "p50", "p90", "p99", "p999"};

static const char *outcome_text(enum bli_sizing_outcome outcome) {
    return outcome == BLI_SIZED ? "found" : outcome == BLI_SIZE_BEYOND ? "beyond" : "hopeless";
}

struct bli_draft bli_replay_settings(const struct bli_replay_report *report) {
    struct bli_draft draft;
    bli_draft_init(&draft);
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
static const char *times_text(const struct bli_replay_report *report) {
    return bli_times_text(report->times->recovery->times);
}

/* ---- csv ---- */

static void put_range(struct bli_rows *rows, const char *name, struct bli_confidence_range range) {
    char end[BLI_PERCENTILE_TEXT + 40];
    snprintf(end, sizeof end, "%s.log_low", name);
    bli_row_number(rows, end, range.low);
    snprintf(end, sizeof end, "%s.log_high", name);
    bli_row_number(rows, end, range.high);
}

static void put_times(struct bli_rows *rows, const struct bli_replay_report *report,
                      const struct bli_replay_outcome *outcome) {
    for (int t = BLI_TIME_MEAN; t < BLI_REPLAY_TIMES; t++) {
        const enum bli_response_time which = (enum bli_response_time)t;
        char text[BLI_PERCENTILE_TEXT], name[BLI_PERCENTILE_TEXT + 20];
        if (t == BLI_TIME_WANTED || !bli_time_is_told(report, which))
            continue;
        snprintf(name, sizeof name, "response.%s", bli_time_name(report, which, text));
        if (t >= BLI_TIME_ASKED) /* others are metrics */
            bli_row_estimate(rows, name, outcome->time[t]);
        put_range(rows, name, outcome->log[t]);
    }
    rows->quote_names = true;
    for (size_t k = 1; k <= report->kinds; k++)
        for (int t = BLI_TIME_MEAN; t <= BLI_TIME_P999; t++) {
            char *name;
            if (asprintf(&name, "class.%s.response.%s", report->kind[k - 1], time_names[t]) < 0) {
                bli_stream_mark_incomplete(rows->csv);
                return;
            }
            bli_row_estimate(rows, name, outcome->kind[k].time[t]);
            free(name);
        }
    rows->quote_names = false;
}

/* What the target needs; unknown where no number of servers has been found. */
static void put_target(struct bli_rows *rows, const struct bli_replay_report *report,
                       const struct bli_replay_outcome *outcome, const struct bli_sizing *sizing) {
    static const struct bli_estimate unknown = {NAN, NAN};
    const bool sized = sizing->outcome == BLI_SIZED;
    char doubts[BLI_DOUBT_WORDS];
    bli_doubt_words(sized ? sizing->at.result.doubts : 0, doubts);
    bli_row_text(rows, "target.outcome", outcome_text(sizing->outcome));
    bli_row_estimate(rows, "target.here", outcome->time[BLI_TIME_WANTED]);
    put_range(rows, "target.here", outcome->log[BLI_TIME_WANTED]);
    bli_row_number(rows, "target.servers", sized ? (double)sizing->servers : NAN);
    bli_row_number(rows, "target.servers_low", sized ? known_servers(sizing->low) : NAN);
    bli_row_number(rows, "target.servers_high", sized ? known_servers(sizing->high) : NAN);
    bli_row_number(rows, "target.load", sized ? sizing->c.model.load : NAN);
    bli_row_estimate(rows, "target.value", sized ? sizing->at.time[BLI_TIME_WANTED] : unknown);
    bli_row_number(rows, "target.one_fewer", sized ? sizing->one_fewer : NAN);
    bli_row_number(rows, "target.kwh", sized ? kilowatt_hours(&sizing->at.result) : NAN);
    if (bli_is_priced(report))
        bli_row_number(rows, "target.cost",
                       sized ? bli_replay_cost(report, &sizing->c, &sizing->at.result) : NAN);
    bli_row_text(rows, "target.doubts", doubts);
}

static void put_row(struct bli_rows *rows, const struct bli_replay_report *report, size_t i,
                    const struct bli_draft *draft) {
    const struct bli_replay_outcome *outcome = &report->outcomes[i];
    const struct bli_result *result = &outcome->result;
    char label[BLI_REPLAY_LABEL], doubts[BLI_DOUBT_WORDS];
    bli_replay_label(&report->cases[i].policy, label);
    bli_doubt_words(result->doubts, doubts);
    do {
        bli_row_begin(rows);
        bli_row_quoted(rows, "policy", label);
        bli_row_number(rows, "load", report->cases[i].model.load);
        for (int m = 0; m < BLI_METRIC_COUNT; m++)
            bli_row_estimate(rows, bli_metric_table[m].name, result->metric[m]);
        bli_row_number(rows, "energy.kwh", kilowatt_hours(result));
        bli_row_count(rows, "replications", result->replications);
        bli_row_count(rows, "jobs", result->jobs);
        bli_row_text(rows, "service_times", times_text(report));
        bli_row_text(rows, "doubts", doubts);
        put_times(rows, report, outcome);
        if (bli_is_priced(report))
            bli_row_number(rows, "cost", bli_replay_cost(report, &report->cases[i], result));
        if (report->keeper)
            bli_row_number(rows, "server_hours", bli_replay_server_time(&report->cases[i], result) / 3600);
        if (report->target)
            put_target(rows, report, outcome, &report->sizing[i]);
    } while (bli_row_end(rows, draft));
}

void bli_replay_csv(const struct bli_replay_report *report, FILE *out) {
    size_t *order = bli_replay_order(report);
    if (!order) {
        bli_stream_mark_incomplete(out);
        return;
    }
    struct bli_rows rows = {.csv = out};
    const struct bli_draft draft = bli_replay_settings(report);
    for (size_t i = 0; i < report->count; i++)
        put_row(&rows, report, order[i], &draft);
    free(order);
}

/* ---- JSON ---- */

static void json_demand(struct json *json, const struct bli_demand *demand) {
    bli_json_open(json, "demand", '{');
    bli_json_number(json, "rate", demand->rate);
    bli_json_number(json, "work", demand->work);
    bli_json_number(json, "scv", demand->scv);
    bli_json_open_line(json, "sizes", '{');
    bli_json_number(json, "p50", demand->size_p50);
    bli_json_number(json, "p90", demand->size_p90);
    bli_json_number(json, "p99", demand->size_p99);
    bli_json_number(json, "p999", demand->size_p999);
    bli_json_close(json, '}');
    bli_json_open_line(json, "busiest", '{');
    bli_json_number(json, "window", demand->window);
    bli_json_number(json, "rate", demand->peak_rate);
    bli_json_number(json, "work", demand->peak_work);
    bli_json_number(json, "at", demand->peak_at);
    bli_json_close(json, '}');
    bli_json_close(json, '}');
}

static void json_spec(struct json *json, const struct bli_replay_report *report) {
    const struct bli_replay *replay = report->replay;
    bli_json_open(json, "spec", '{');
    bli_json_model(json, &replay->model, "servers");
    bli_json_bool(json, "servers_given", !(report->sized_for > 0 || report->recorded));
    bli_json_slots(json, &replay->model);
    bli_json_bool(json, "slots_guessed", bli_recovery_slots_are_guessed(report->times));
    bli_json_model(json, &replay->model, "steal?");
    bli_json_number(json, "speedup", replay->speedup);
    bli_json_number(json, "load", bli_replay_load(replay, report->demand->work));
    bli_json_number(json, "busiest_load", bli_replay_load(replay, report->demand->peak_work));
    bli_json_model(json, &replay->model,
                   replay->model.classes ? "standby? setup? watts discipline" : "standby? setup? watts");
    if (replay->failing > 0) {
        bli_json_count(json, "failing", replay->failing);
        bli_json_number(json, "fail_at", replay->fail_at);
    }
    if (bli_is_priced(report))
        bli_json_number(json, "price", report->price);
    bli_json_count(json, "replications", replay->replications);
    bli_json_count(json, "seed", replay->seed);
    bli_json_close(json, '}');
    const struct bli_draft draft = bli_replay_settings(report);
    bli_head_json(json, &draft, NULL);
}

static void json_range(struct json *json, const char *key, struct bli_confidence_range range) {
    bli_json_open_line(json, key, '[');
    bli_json_number(json, NULL, range.low);
    bli_json_number(json, NULL, range.high);
    bli_json_close(json, ']');
}

/* Response times as estimates; with where other logs would have them, if that is known. */
static void json_estimates(struct json *json, const char *key, const struct bli_estimate *time,
                           const struct bli_replay_report *report) {
    bli_json_open_line(json, key, '{');
    for (int t = BLI_TIME_MEAN; t < BLI_REPLAY_TIMES; t++) {
        char text[BLI_PERCENTILE_TEXT];
        if (bli_time_is_told(report, (enum bli_response_time)t))
            bli_json_estimate(json, bli_time_name(report, (enum bli_response_time)t, text), "_ci", time[t]);
    }
    bli_json_close(json, '}');
}

static void json_other_logs(struct json *json, const struct bli_replay_outcome *outcome,
                            const struct bli_replay_report *report) {
    bli_json_open(json, "other_logs", '{');
    for (int t = BLI_TIME_MEAN; t < BLI_REPLAY_TIMES; t++) {
        char text[BLI_PERCENTILE_TEXT];
        if (bli_time_is_told(report, (enum bli_response_time)t))
            json_range(json, bli_time_name(report, (enum bli_response_time)t, text), outcome->log[t]);
    }
    bli_json_close(json, '}');
}

static void json_kinds(struct json *json, const struct bli_replay_report *report,
                       const struct bli_replay_outcome *outcome) {
    bli_json_open(json, "by_class", '[');
    for (size_t k = 0; k <= report->kinds; k++) {
        const size_t kind = k == report->kinds ? 0 : k + 1; /* the rest last */
        if (outcome->kind[kind].jobs == 0)
            continue;
        bli_json_open(json, NULL, '{');
        if (kind == 0)
            bli_json_null(json, "class");
        else
            bli_json_text(json, "class", report->kind[kind - 1]);
        bli_json_count(json, "jobs", outcome->kind[kind].jobs);
        json_estimates(json, "response", outcome->kind[kind].time, report);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
}

/* first is the metric of the mean; what follows it is in the order of BLI_TIME_METRICS. */
static void json_times(struct json *json, const char *key, const struct bli_result *result, int first) {
    bli_json_open_line(json, key, '{');
    for (int i = 0; i < 5; i++)
        bli_json_estimate(json, time_names[i], "_ci", result->metric[first + i]);
    bli_json_close(json, '}');
}

static void json_classes(struct json *json, const struct bli_result *result) {
    bli_json_open(json, "classes", '{');
    bli_json_open(json, "high", '{');
    json_times(json, "response", result, BLI_HIGH_RESPONSE_MEAN);
    json_times(json, "waiting", result, BLI_HIGH_WAITING_MEAN);
    bli_json_close(json, '}');
    bli_json_open(json, "low", '{');
    json_times(json, "response", result, BLI_LOW_RESPONSE_MEAN);
    json_times(json, "waiting", result, BLI_LOW_WAITING_MEAN);
    bli_json_close(json, '}');
    bli_json_close(json, '}');
}

static void json_power(struct json *json, const struct bli_result *result) {
    bli_json_open_line(json, "power", '{');
    bli_json_number(json, "watts", result->metric[BLI_POWER_MEAN].mean);
    bli_json_number(json, "kwh", kilowatt_hours(result));
    bli_json_number(json, "joules_per_job", result->metric[BLI_ENERGY_PER_JOB].mean);
    bli_json_number(json, "busy", result->metric[BLI_SERVERS_BUSY].mean);
    bli_json_number(json, "standby", result->metric[BLI_SERVERS_STANDBY].mean);
    bli_json_number(json, "setup", result->metric[BLI_SERVERS_SETUP].mean);
    bli_json_number(json, "off", result->metric[BLI_SERVERS_OFF].mean);
    bli_json_close(json, '}');
}

static void json_result(struct json *json, const struct bli_replay_report *report, size_t i) {
    const struct bli_result *result = &report->outcomes[i].result;
    char label[BLI_REPLAY_LABEL];
    bli_replay_label(&report->cases[i].policy, label);
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "policy", label);
    bli_json_text(json, "service_times", times_text(report));
    json_estimates(json, "response", report->outcomes[i].time, report);
    json_other_logs(json, &report->outcomes[i], report);
    json_times(json, "waiting", result, BLI_WAITING_MEAN);
    bli_json_number(json, "waiting_probability", result->metric[BLI_WAITING_PROBABILITY].mean);
    if (report->replay->model.classes)
        json_classes(json, result);
    if (report->kinds > 0)
        json_kinds(json, report, &report->outcomes[i]);
    bli_json_number(json, "messages_per_job", result->metric[BLI_MESSAGES_PER_JOB].mean);
    bli_json_number(json, "probes_per_job", result->metric[BLI_PROBES_PER_JOB].mean);
    bli_json_number(json, "reports_per_job", result->metric[BLI_REPORTS_PER_JOB].mean);
    bli_json_number(json, "memory_bits", result->memory_bits);
    json_power(json, result);
    if (bli_is_priced(report))
        bli_json_number(json, "cost", bli_replay_cost(report, &report->cases[i], result));
    if (report->keeper)
        bli_json_number(json, "server_hours", bli_replay_server_time(&report->cases[i], result) / 3600);
    bli_json_number(json, "refused", result->metric[BLI_REFUSED].mean);
    if (bli_network_fails(&report->cases[i].model.network))
        bli_json_number(json, "failed", result->metric[BLI_FAILED].mean);
    bli_json_count(json, "replications", result->replications);
    bli_json_count(json, "jobs", result->jobs);
    bli_doubt_json(json, result->doubts);
    bli_json_number(json, "seconds", result->seconds);
    bli_json_close(json, '}');
}

static void json_target(struct json *json, const struct bli_replay_report *report, const size_t *order) {
    if (!report->target) {
        bli_json_null(json, "target");
        return;
    }
    bli_json_open(json, "target", '{');
    bli_json_text(json, "metric", report->target->name);
    bli_json_number(json, "seconds", report->target->seconds);
    bli_json_number(json, "without_waiting", report->sizing[0].best); /* the same for all policies */
    bli_json_open(json, "policies", '[');
    for (size_t k = 0; k < report->count; k++) {
        const struct bli_sizing *sizing = &report->sizing[order[k]];
        const bool sized = sizing->outcome == BLI_SIZED;
        char label[BLI_REPLAY_LABEL];
        bli_replay_label(&report->cases[order[k]].policy, label);
        bli_json_open_line(json, NULL, '{');
        bli_json_text(json, "policy", label);
        bli_json_text(json, "service_times", times_text(report));
        bli_json_text(json, "outcome", outcome_text(sizing->outcome));
        bli_json_number(json, "servers", sized ? (double)sizing->servers : NAN);
        bli_json_number(json, "servers_low", sized ? known_servers(sizing->low) : NAN);
        bli_json_number(json, "servers_high", sized ? known_servers(sizing->high) : NAN);
        bli_json_number(json, "load", sized ? sizing->c.model.load : NAN);
        bli_json_number(json, "value", sized ? sizing->at.time[BLI_TIME_WANTED].mean : NAN);
        bli_json_number(json, "value_ci", sized ? sizing->at.time[BLI_TIME_WANTED].half_width : NAN);
        bli_json_number(json, "one_fewer", sized ? sizing->one_fewer : NAN);
        if (bli_network_fails(&report->cases[order[k]].model.network))
            bli_json_number(json, "failed", sizing->at.result.metric[BLI_FAILED].mean);
        bli_json_number(json, "kwh", sized ? kilowatt_hours(&sizing->at.result) : NAN);
        bli_json_number(json, "watts", sized ? sizing->at.result.metric[BLI_POWER_MEAN].mean : NAN);
        if (bli_is_priced(report))
            bli_json_number(json, "cost",
                            sized ? bli_replay_cost(report, &sizing->c, &sizing->at.result) : NAN);
        bli_doubt_json(json, sized ? sizing->at.result.doubts : 0);
        bli_json_count(json, "fleets_tried", sizing->fleets_tried);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

static void json_list(struct json *json, const char *key, const double *value, double factor) {
    bli_json_open_line(json, key, '[');
    for (size_t i = 0; i < BLI_REPLAY_SPANS; i++)
        bli_json_number(json, NULL, value[i] * factor);
    bli_json_close(json, ']');
}

/* Over the time of the log, in equal parts of it. */
static void json_history(struct json *json, const struct bli_replay_report *report, const size_t *order) {
    const struct bli_trace_info *info = bli_trace_info(report->replay->trace);
    bli_json_open(json, "history", '{');
    bli_json_number(json, "first", (double)info->first * 1e-9);
    bli_json_number(json, "span", info->span / BLI_REPLAY_SPANS);
    json_list(json, "rate", report->demand->span_rate, report->replay->speedup);
    bli_json_open(json, "policies", '[');
    for (size_t i = 0; i < report->count; i++) {
        const struct bli_history *history = &report->history[order[i]];
        char label[BLI_REPLAY_LABEL];
        bli_replay_label(&report->cases[order[i]].policy, label);
        bli_json_open(json, NULL, '{');
        bli_json_text(json, "policy", label);
        json_list(json, "mean", history->response, 1);
        json_list(json, "p99", history->p99, 1);
        json_list(json, "watts", history->watts, 1);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

void bli_replay_json(const struct bli_replay_report *report, FILE *out) {
    size_t *order = bli_replay_order(report);
    if (!order) {
        bli_stream_mark_incomplete(out);
        return;
    }
    struct json json;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '{');
    bli_json_text(&json, "version", BALLAST_VERSION);
    bli_log_summary_json(&json, "log", report->summary, bli_trace_info(report->replay->trace));
    bli_recovery_json(&json, "times", report->times);
    json_demand(&json, report->demand);
    json_spec(&json, report);
    bli_json_open(&json, "results", '[');
    for (size_t i = 0; i < report->count; i++)
        json_result(&json, report, order[i]);
    bli_json_close(&json, ']');
    json_target(&json, report, order);
    json_history(&json, report, order);
    bli_json_close(&json, '}');
    free(order);
}
