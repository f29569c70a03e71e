/* SPDX-License-Identifier: BSD-2-Clause */
/* A replay for programs: csv and JSON. Times are in seconds, energy is in kWh. */
#include "report/replay_report.h"

#include "base/strbuf.h"
#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/log_report.h"
#include "report/replay_cells.h"
#include "report/report_columns.h"

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

/* A sample has no trace. */
static const struct bli_trace_info *info_of(const struct bli_replay_report *report) {
    static const struct bli_trace_info none = {.jobs = 0};
    return report->replay->trace ? bli_trace_info(report->replay->trace) : &none;
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
    if (rows->names)
        return;
    char end[BLI_PERCENTILE_TEXT + 40];
    snprintf(end, sizeof end, "%s.log_low", name);
    bli_row_number(rows, end, "where it would be in 95 % of other logs like this one|s", range.low);
    snprintf(end, sizeof end, "%s.log_high", name);
    bli_row_number(rows, end, "the other end of that|s", range.high);
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
            bli_row_varying(rows, name, "a percentile that was asked for|s|`--percentiles`",
                            outcome->time[t]);
        put_range(rows, name, outcome->log[t]);
    }
    rows->quote_names = true;
    bli_row_several(rows, "class.NAME.response.mean",
                    "of the jobs of a group; `p50`, `p90`, `p99`, `p999` alike|s|`--group`");
    for (size_t k = 1; k <= report->kinds; k++)
        for (int t = BLI_TIME_MEAN; t <= BLI_TIME_P999; t++) {
            char *name;
            if (asprintf(&name, "class.%s.response.%s", report->kind[k - 1], time_names[t]) < 0) {
                bli_stream_mark_incomplete(rows->csv);
                return;
            }
            bli_row_estimate(rows, name, "", outcome->kind[k].time[t]);
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
    bli_row_text(rows, "target.outcome", "`found`, `beyond` or `hopeless`||`--target`",
                 outcome_text(sizing->outcome));
    bli_row_estimate(rows, "target.here", "of the target, on this fleet|s|`--target`",
                     outcome->time[BLI_TIME_WANTED]);
    put_range(rows, "target.here", outcome->log[BLI_TIME_WANTED]);
    bli_row_number(rows, "target.servers", "that meet it||`--target`", sized ? (double)sizing->servers : NAN);
    bli_row_number(rows, "target.servers_low", "in 95 % of other logs, from||`--target`",
                   sized ? known_servers(sizing->low) : NAN);
    bli_row_number(rows, "target.servers_high", "to||`--target`", sized ? known_servers(sizing->high) : NAN);
    bli_row_number(rows, "target.load", "arriving work, on these servers|of the capacity|`--target`",
                   sized ? sizing->c.model.load : NAN);
    bli_row_estimate(rows, "target.value", "of the target, on these servers|s|`--target`",
                     sized ? sizing->at.time[BLI_TIME_WANTED] : unknown);
    bli_row_number(rows, "target.one_fewer", "the same on one fewer|s|`--target`",
                   sized ? sizing->one_fewer : NAN);
    bli_row_number(rows, "target.kwh", "energy of these servers|kWh|`--target`",
                   sized ? kilowatt_hours(&sizing->at.result) : NAN);
    if (bli_row_if(rows, bli_is_priced(report)))
        bli_row_number(rows, "target.cost", "of these servers||`--target`, `--cost-per-hour`",
                       sized ? bli_replay_cost(report, &sizing->c, &sizing->at.result) : NAN);
    bli_row_text(rows, "target.doubts", "why its numbers are doubted||`--target`", doubts);
}

static void put_row(struct bli_rows *rows, const struct bli_replay_report *report, size_t i,
                    const struct bli_draft *draft) {
    const struct bli_replay_outcome *outcome = &report->outcomes[i];
    const struct bli_result *result = &outcome->result;
    char doubts[BLI_DOUBT_WORDS];
    bli_doubt_words(result->doubts, doubts);
    do {
        bli_row_begin(rows);
        bli_row_quoted(rows, "policy", "the policy; parameters at their defaults are left out",
                       bli_replay_name(&report->cases[i].policy).text);
        bli_row_number(rows, "load", "arriving work|of the capacity", report->cases[i].model.load);
        if (!bli_row_several(rows, "METRIC", bli_row_metrics_about))
            for (int m = 0; m < BLI_METRIC_COUNT; m++)
                bli_row_metric(rows, (enum bli_metric)m, result->metric[m]);
        bli_row_number(rows, "energy.kwh", "of the fleet until the last job has left|kWh",
                       kilowatt_hours(result));
        bli_row_count(rows, "replications", "replays of the same jobs", result->replications);
        bli_row_count(rows, "jobs", "jobs that were measured", result->jobs);
        bli_row_text(rows, "service_times", "what they are, on which all depends", times_text(report));
        bli_row_text(rows, "doubts", bli_row_doubts_about, doubts);
        put_times(rows, report, outcome);
        if (bli_row_if(rows, bli_is_priced(report)))
            bli_row_number(rows, "cost", "of servers that are on||`--cost-per-hour`",
                           bli_replay_cost(report, &report->cases[i], result));
        if (bli_row_if(rows, report->keeper))
            bli_row_number(rows, "server_hours", "servers on or in set-up, together|h|`--autoscale`",
                           bli_replay_server_time(&report->cases[i], result) / 3600);
        if (bli_row_if(rows, report->target))
            put_target(rows, report, outcome, &report->sizing[i]);
    } while (bli_row_end(rows, draft));
}

static void print_csv(const struct bli_replay_report *report, const size_t *order, struct bli_rows *rows) {
    const struct bli_draft draft = bli_replay_settings(report);
    for (size_t i = 0; i < report->count; i++)
        put_row(rows, report, order[i], &draft);
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
    bli_json_model(json, &replay->model, "standby? setup? watts");
    bli_json_model_if(json, &replay->model, replay->model.classes, "discipline");
    if (bli_json_if(json, replay->failing > 0)) {
        bli_json_count(json, "failing", replay->failing);
        bli_json_number(json, "fail_at", replay->fail_at);
    }
    if (bli_json_if(json, bli_is_priced(report)))
        bli_json_number(json, "price", report->price);
    bli_json_count(json, "replications", replay->replications);
    bli_json_count(json, "seed", replay->seed);
    bli_json_close(json, '}');
    const struct bli_draft draft = bli_replay_settings(report);
    bli_head_json(json, &draft, NULL);
}

static void json_range(struct json *json, const char *key, struct bli_confidence_range range) {
    bli_json_numbers(json, key, (const double[]){range.low, range.high}, 2);
}

/* Response times as estimates; with where other logs would have them, if that is known. */
static void json_estimates(struct json *json, const char *key, const struct bli_estimate *time,
                           const struct bli_replay_report *report) {
    bli_json_open_line(json, key, '{');
    for (int t = BLI_TIME_MEAN; t < BLI_REPLAY_TIMES; t++) {
        char text[BLI_PERCENTILE_TEXT];
        bli_json_varies(json, t >= BLI_TIME_WANTED);
        if (bli_time_is_told(report, (enum bli_response_time)t))
            bli_json_estimate(json, bli_time_name(report, (enum bli_response_time)t, text), "_ci", time[t]);
    }
    bli_json_varies(json, false);
    bli_json_close(json, '}');
}

static void json_other_logs(struct json *json, const struct bli_replay_outcome *outcome,
                            const struct bli_replay_report *report) {
    bli_json_open_map(json, "other_logs", false);
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
        bli_json_text(json, "class", kind == 0 ? NULL : report->kind[kind - 1]);
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
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "policy", bli_replay_name(&report->cases[i].policy).text);
    bli_json_text(json, "service_times", times_text(report));
    json_estimates(json, "response", report->outcomes[i].time, report);
    json_other_logs(json, &report->outcomes[i], report);
    json_times(json, "waiting", result, BLI_WAITING_MEAN);
    bli_json_number(json, "waiting_probability", result->metric[BLI_WAITING_PROBABILITY].mean);
    if (bli_json_if(json, report->replay->model.classes))
        json_classes(json, result);
    if (bli_json_if(json, report->kinds > 0))
        json_kinds(json, report, &report->outcomes[i]);
    bli_json_number(json, "messages_per_job", result->metric[BLI_MESSAGES_PER_JOB].mean);
    bli_json_number(json, "probes_per_job", result->metric[BLI_PROBES_PER_JOB].mean);
    bli_json_number(json, "reports_per_job", result->metric[BLI_REPORTS_PER_JOB].mean);
    bli_json_number(json, "memory_bits", result->memory_bits);
    json_power(json, result);
    if (bli_json_if(json, bli_is_priced(report)))
        bli_json_number(json, "cost", bli_replay_cost(report, &report->cases[i], result));
    if (bli_json_if(json, report->keeper))
        bli_json_number(json, "server_hours", bli_replay_server_time(&report->cases[i], result) / 3600);
    bli_json_number(json, "refused", result->metric[BLI_REFUSED].mean);
    if (bli_json_if(json, bli_network_fails(&report->cases[i].model.network)))
        bli_json_number(json, "failed", result->metric[BLI_FAILED].mean);
    bli_json_count(json, "replications", result->replications);
    bli_json_count(json, "jobs", result->jobs);
    bli_doubt_json(json, result->doubts);
    bli_json_number(json, "seconds", result->seconds);
    bli_json_close(json, '}');
}

static void json_target(struct json *json, const struct bli_replay_report *report, const size_t *order) {
    if (!bli_json_if(json, report->target)) {
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
        bli_json_open_line(json, NULL, '{');
        bli_json_text(json, "policy", bli_replay_name(&report->cases[order[k]].policy).text);
        bli_json_text(json, "service_times", times_text(report));
        bli_json_text(json, "outcome", outcome_text(sizing->outcome));
        bli_json_number(json, "servers", sized ? (double)sizing->servers : NAN);
        bli_json_number(json, "servers_low", sized ? known_servers(sizing->low) : NAN);
        bli_json_number(json, "servers_high", sized ? known_servers(sizing->high) : NAN);
        bli_json_number(json, "load", sized ? sizing->c.model.load : NAN);
        bli_json_number(json, "value", sized ? sizing->at.time[BLI_TIME_WANTED].mean : NAN);
        bli_json_number(json, "value_ci", sized ? sizing->at.time[BLI_TIME_WANTED].half_width : NAN);
        bli_json_number(json, "one_fewer", sized ? sizing->one_fewer : NAN);
        if (bli_json_if(json, bli_network_fails(&report->cases[order[k]].model.network)))
            bli_json_number(json, "failed", sizing->at.result.metric[BLI_FAILED].mean);
        bli_json_number(json, "kwh", sized ? kilowatt_hours(&sizing->at.result) : NAN);
        bli_json_number(json, "watts", sized ? sizing->at.result.metric[BLI_POWER_MEAN].mean : NAN);
        if (bli_json_if(json, bli_is_priced(report)))
            bli_json_number(json, "cost",
                            sized ? bli_replay_cost(report, &sizing->c, &sizing->at.result) : NAN);
        bli_doubt_json(json, sized ? sizing->at.result.doubts : 0);
        bli_json_count(json, "fleets_tried", sizing->fleets_tried);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

/* Over the time of the log, in equal parts of it. */
static void json_history(struct json *json, const struct bli_replay_report *report, const size_t *order) {
    const struct bli_trace_info *info = info_of(report);
    bli_json_open(json, "history", '{');
    bli_json_number(json, "first", (double)info->first * 1e-9);
    bli_json_number(json, "span", info->span / BLI_REPLAY_SPANS);
    double rate[BLI_REPLAY_SPANS];
    for (size_t i = 0; i < BLI_REPLAY_SPANS; i++)
        rate[i] = report->demand->span_rate[i] * report->replay->speedup;
    bli_json_numbers(json, "rate", rate, BLI_REPLAY_SPANS);
    bli_json_open(json, "policies", '[');
    for (size_t i = 0; i < report->count; i++) {
        const struct bli_history *history = &report->history[order[i]];
        bli_json_open(json, NULL, '{');
        bli_json_text(json, "policy", bli_replay_name(&report->cases[order[i]].policy).text);
        bli_json_numbers(json, "mean", history->response, BLI_REPLAY_SPANS);
        bli_json_numbers(json, "p99", history->p99, BLI_REPLAY_SPANS);
        bli_json_numbers(json, "watts", history->watts, BLI_REPLAY_SPANS);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

static void print_json(const struct bli_replay_report *report, const size_t *order, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    bli_log_summary_json(json, "log", report->summary, info_of(report));
    bli_recovery_json(json, "times", report->times);
    json_demand(json, report->demand);
    json_spec(json, report);
    bli_json_open(json, "results", '[');
    for (size_t i = 0; i < report->count; i++)
        json_result(json, report, order[i]);
    bli_json_close(json, ']');
    json_target(json, report, order);
    json_history(json, report, order);
    bli_json_close(json, '}');
}

void bli_replay_print(const struct bli_replay_report *report, struct bli_rows *rows) {
    size_t *order = bli_replay_order(report);
    if (!order)
        bli_stream_mark_incomplete(rows->own.out);
    else if (rows->text)
        bli_replay_text(report, order, rows->style, rows->text);
    else if (rows->json)
        print_json(report, order, rows);
    else
        print_csv(report, order, rows);
    free(order);
}

/* A percentile of which it has been asked is one that is no metric. */
void bli_replay_describe(struct bli_rows *rows) {
    static const struct bli_log_summary summary = {.files = 0};
    static const struct bli_recovery recovery = {.servers = 0};
    static const struct bli_recovery_report times = {.recovery = &recovery, .field = "", .perhaps = ""};
    static const struct bli_target target = {.name = "p99", .quantile = 0.99};
    static double spans[BLI_REPLAY_SPANS];
    static const struct bli_history history = {.response = spans, .p99 = spans, .watts = spans};
    const struct bli_draft draft = bli_rows_sample();
    struct bli_demand *demand = calloc(1, sizeof *demand);
    struct bli_replay_outcome *outcome = calloc(1, sizeof *outcome);
    struct bli_sizing *sizing = calloc(1, sizeof *sizing);
    const struct bli_replay replay = {.model = draft.c.model, .speedup = 1, .percentiles = {1, {0.95}}};
    const struct bli_replay_report report = {.summary = &summary,
                                             .times = &times,
                                             .demand = demand,
                                             .replay = &replay,
                                             .count = 1,
                                             .cases = &draft.c,
                                             .outcomes = outcome,
                                             .history = &history,
                                             .target = &target,
                                             .sizing = sizing};
    if (demand && outcome && sizing)
        bli_replay_print(&report, rows);
    free(sizing);
    free(outcome);
    free(demand);
}
