/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints what the twin of a fleet found, as text and JSON. */
#include "report/twin_report.h"

#include "base/strbuf.h"
#include "format/time_text.h"
#include "report/nginx_block.h"
#include "report/recommend.h"
#include "report/replay_report.h"
#include "report/report_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double nanoseconds = 1e9;

/* ---- what is recommended ---- */

struct advice {
    size_t count, taken; /* taken == count: nothing is */
    const struct bli_twin_row *row[BLI_TWIN_ROWS];
    struct bli_candidate candidate[BLI_TWIN_ROWS];
    bool as_good[BLI_TWIN_ROWS];
    bool keep; /* the present policy cannot be distinguished from the best */
};

static bool is_candidate(const struct bli_twin_row *row) {
    return row->answered && !row->grows && (row->what == BLI_TWIN_NOW || row->what == BLI_TWIN_POLICY);
}

/* Each is compared with the best, on the same requests. If the model does not predict the present policy
 * well, no other policy is recommended. */
static void find_advice(const struct bli_twin *twin, struct advice *advice) {
    *advice = (struct advice){.count = 0};
    if (twin->parted)
        return;
    const struct bli_twin_row *best = NULL;
    for (size_t i = 0; i < twin->rows; i++) {
        const struct bli_twin_row *row = &twin->row[i];
        if (is_candidate(row) && bli_nginx_can(&row->policy) &&
            (!best || row->time[BLI_TIME_MEAN] < best->time[BLI_TIME_MEAN]))
            best = row;
    }
    for (size_t i = 0; i < twin->rows && best; i++) {
        const struct bli_twin_row *row = &twin->row[i];
        if (!is_candidate(row))
            continue;
        advice->row[advice->count] = row;
        advice->candidate[advice->count++] = (struct bli_candidate){
            .policy = &row->policy,
            .servers = bli_servers_count(&twin->replay.model.servers),
            .time = {row->time[BLI_TIME_MEAN], row == best ? 0 : bli_twin_above(row, best).half_width},
            .messages = row->messages};
    }
    advice->taken = bli_recommend(advice->candidate, advice->count, advice->as_good);
    if (advice->taken == advice->count || advice->row[0]->what != BLI_TWIN_NOW || !advice->as_good[0])
        return;
    advice->keep = true;
    advice->taken = 0;
}

/* Its servers must outlive the block. */
static struct bli_nginx_block block_of(const struct bli_twin_report *report, const struct advice *advice,
                                       struct bli_servers *servers) {
    const struct bli_twin *twin = report->twin;
    *servers = twin->replay.model.servers;
    servers->group[servers->groups - 1].count += twin->away; /* which come back */
    return (struct bli_nginx_block){.policy = advice->candidate[advice->taken].policy,
                                    .servers = servers,
                                    .names = report->names,
                                    .slots = bli_nginx_slots(&twin->replay.model),
                                    .mean = twin->demand.size_mean,
                                    .longest = advice->row[advice->taken]->time[BLI_TIME_P999],
                                    .rate = twin->demand.peak_rate,
                                    .high = report->high,
                                    .high_by = report->high_by,
                                    .class = report->class,
                                    .options = report->options,
                                    .upstream = report->upstream};
}

/* The line that changes, where the rest of the block can stay as it is; otherwise a whole block. */
static void print_change(const struct bli_nginx_block *block, FILE *out) {
    if (!bli_nginx_changes_one_line(block)) {
        bli_nginx_block(block, out);
        return;
    }
    fputs("# In the upstream block only this line changes:\n    ", out);
    bli_nginx_line(block, out);
    fputc('\n', out);
}

static void print_advice(const struct bli_twin_report *report, const struct advice *advice,
                         void (*print)(const struct bli_nginx_block *block, FILE *out), FILE *out) {
    const struct bli_twin *twin = report->twin;
    char from[BLI_TIME_TEXT], to[BLI_TIME_TEXT];
    bli_time_moment((double)twin->view.from / nanoseconds, "%Y-%m-%d %H:%M:%S", from);
    bli_time_moment((double)twin->view.to / nanoseconds, "%Y-%m-%d %H:%M:%S", to);
    if (report->command)
        fprintf(out, "# From: %s\n", report->command);
    fprintf(out, "# %" PRIu64 " requests, %s to %s UTC.\n", twin->view.jobs, from, to);
    bli_recommend_explain(advice->candidate, advice->count, advice->as_good, advice->taken, advice->keep,
                          out);
    if (bli_times_are_doubtful(twin->recovery.times))
        fprintf(out, "# Service times are doubtful: %s.\n", bli_times_text(twin->recovery.times));
    struct bli_servers servers;
    const struct bli_nginx_block block = block_of(report, advice, &servers);
    print(&block, out);
}

/* ---- the order of answers ---- */

/* Other policies first, the quickest of them first; then other servers and other traffic, as they were asked
 * for. Queues that grow are last. */
static bool comes_first(const struct bli_twin_row *a, const struct bli_twin_row *b) {
    const bool policy = a->what == BLI_TWIN_POLICY, other = b->what == BLI_TWIN_POLICY;
    if (policy != other)
        return policy;
    if (a->grows != b->grows)
        return policy && b->grows;
    return policy && a->time[BLI_TIME_MEAN] < b->time[BLI_TIME_MEAN];
}

/* Those that have been answered, but for that of the present policy; returns how many. Where that is not
 * known, the others are compared with the first, which stays the first. */
static size_t sort_rows(const struct bli_twin *twin, const struct bli_twin_row *row[BLI_TWIN_ROWS]) {
    const bool now = twin->row[0].what == BLI_TWIN_NOW;
    size_t count = 0;
    for (size_t i = now; i < twin->rows; i++) {
        if (!twin->row[i].answered)
            continue;
        size_t at = count++;
        for (; at > !now && comes_first(&twin->row[i], row[at - 1]); at--)
            row[at] = row[at - 1];
        row[at] = &twin->row[i];
    }
    return count;
}

/* ---- text ---- */

static void print_state(const struct bli_twin_report *report, FILE *out) {
    const struct bli_twin *twin = report->twin;
    char length[BLI_TIME_TEXT];
    bli_time_length(twin->options.window, length);
    if (report->trouble)
        fprintf(out, "nothing can be read: %s\n", report->trouble);
    else if (twin->state == BLI_TWIN_WAITING)
        fputs("no request has been seen yet\n", out);
    else if (twin->state == BLI_TWIN_SILENT)
        fprintf(out, "no traffic in the last %s\n", length);
    else if (twin->state == BLI_TWIN_FEW)
        fprintf(out, "%" PRIu64 " requests in the last %s: too few to say anything\n", twin->view.jobs,
                length);
}

static void print_head(const struct bli_twin_report *report, FILE *out) {
    const struct bli_twin *twin = report->twin;
    const struct bli_model *model = &twin->replay.model;
    const struct bli_trace_info *info = bli_trace_info(twin->trace);
    char from[BLI_TIME_TEXT], to[BLI_TIME_TEXT], servers[300], slots[300];
    bli_time_moment((double)twin->view.from / nanoseconds, "%H:%M:%S", from);
    bli_time_moment((double)twin->view.to / nanoseconds, "%H:%M:%S", to);
    bli_servers_print(&model->servers, servers, sizeof servers);
    bli_head_slots_and_speeds(model, slots, sizeof slots);
    fprintf(out,
            "%s, %s to %s UTC: %" PRIu64 " requests, %.4g a second; %s server%s%s, load %.3g; service %s\n",
            report->source, from, to, info->jobs, twin->demand.rate, servers,
            strcmp(servers, "1") == 0 ? "" : "s", slots, bli_replay_load(&twin->replay, twin->demand.work),
            bli_times_text(twin->recovery.times));
}

/* So many behind the point that there are so many digits in all. */
static int decimals_for(double value, int digits) {
    return value > 0 ? (int)fmin(fmax(digits - 1 - floor(log10(value)), 0), 6) : 1;
}

/* Two digits of the error, four of the value; an error that is smaller than that is none. */
static void print_time(double value, struct bli_confidence_range range, double unit,
                       char text[BLI_TIME_TEXT]) {
    const double error = bli_twin_error(value, range) / unit;
    const int most = decimals_for(value / unit, 4), decimals = (int)fmin(decimals_for(error, 2), most);
    if (error >= pow(10, -most) / 2)
        snprintf(text, BLI_TIME_TEXT, "%.*f ± %.*f", decimals, value / unit, decimals, error);
    else
        snprintf(text, BLI_TIME_TEXT, "%.*f", most, value / unit);
}

/* No finer than four digits of what it is a difference of. */
static void print_difference(struct bli_estimate difference, double of, double unit,
                             char text[BLI_TIME_TEXT]) {
    const int decimals = (int)fmin(decimals_for(difference.half_width / unit, 2), decimals_for(of / unit, 4));
    const double step = pow(10, -decimals), value = rint(difference.mean / unit / step) * step;
    snprintf(text, BLI_TIME_TEXT, "%+.*f ± %.*f", decimals, value == 0 ? 0 : value, decimals,
             difference.half_width / unit);
}

/* Those of the high class. */
static void print_urgent(const struct bli_twin *twin, struct bli_replay_unit unit, FILE *out) {
    const struct bli_twin_row *row = &twin->row[0];
    const bool known = row->what == BLI_TWIN_NOW && row->answered;
    fprintf(out, "  urgent: mean %.4g %s measured", twin->high[0] / unit.seconds, unit.name);
    if (known)
        fprintf(out, ", %.4g predicted", row->high[0] / unit.seconds);
    fprintf(out, "; p99 %.4g %s measured", twin->high[1] / unit.seconds, unit.name);
    if (known)
        fprintf(out, ", %.4g predicted", row->high[1] / unit.seconds);
    fputc('\n', out);
}

static void print_now(const struct bli_twin *twin, struct bli_replay_unit unit, FILE *out) {
    static const enum bli_response_time which[] = {BLI_TIME_MEAN, BLI_TIME_P99};
    const struct bli_twin_row *row = &twin->row[0];
    const bool known = row->what == BLI_TWIN_NOW && row->answered;
    fprintf(out, "%s", row->what == BLI_TWIN_NOW ? row->text : "now");
    for (int i = 0; i < 2; i++) {
        char measured[BLI_TIME_TEXT], predicted[BLI_TIME_TEXT];
        print_time(twin->times.time[which[i]], twin->times.log[which[i]], unit.seconds, measured);
        print_time(row->time[which[i]], row->log[which[i]], unit.seconds, predicted);
        fprintf(out, "%s %s %s %s measured", i == 0 ? "," : ";", i == 0 ? "mean" : "p99", measured,
                unit.name);
        if (known)
            fprintf(out, ", %s predicted", predicted);
    }
    fputc('\n', out);
    if (twin->replay.model.classes)
        print_urgent(twin, unit, out);
    char apart[BLI_TIME_TEXT];
    print_difference(twin->apart[BLI_TIME_MEAN], twin->times.time[BLI_TIME_MEAN], unit.seconds, apart);
    if (twin->parted)
        bli_table_wrap("  ! ", twin->why, 4, out);
    else if (twin->compared && !isnan(twin->apart[BLI_TIME_MEAN].mean))
        fprintf(out, "  they agree: the measured mean less the predicted one is %s %s\n", apart, unit.name);
    else if (twin->compared)
        fputs("  there are too few requests to hold them against each other\n", out);
}

static void add_than_first(struct table *table, const struct bli_twin *twin, const struct bli_twin_row *row,
                           struct bli_replay_unit unit) {
    const struct bli_estimate above = bli_twin_above(row, &twin->row[0]);
    char text[BLI_TIME_TEXT] = "";
    if (row != twin->row && twin->row[0].answered && !isnan(above.mean))
        print_difference(above, row->time[BLI_TIME_MEAN], unit.seconds, text);
    bli_table_add(table, "%s", text);
}

static void add_pair(struct table *table, const char *first, const char *second) {
    bli_table_add(table, "%s", first);
    bli_table_add(table, "%s", second);
}

/* An answer of a view without classes has none. */
static void print_plain(double value, char text[BLI_TIME_TEXT]) {
    text[0] = 0;
    if (!isnan(value))
        snprintf(text, BLI_TIME_TEXT, "%.*f", decimals_for(value, 4), value);
}

/* Do some of these policies switch servers off? */
static bool any_powers(const struct bli_twin_row *const *row, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isnan(row[i]->on))
            return true;
    return false;
}

static void print_rows(const struct bli_twin *twin, struct bli_replay_unit unit, FILE *out) {
    const bool now = twin->row[0].what == BLI_TWIN_NOW;
    const bool classes = twin->replay.model.classes;
    const struct bli_twin_row *sorted[BLI_TWIN_ROWS];
    const size_t count = sort_rows(twin, sorted);
    const bool powers = any_powers(sorted, count);
    const unsigned columns = 6u + (classes ? 2u : 0u) + (powers ? 1u : 0u);
    struct table table;
    bli_table_init(&table, columns);
    bli_table_add(&table, "%s", "what if");
    bli_table_add(&table, "mean, %s", unit.name);
    bli_table_add(&table, "p99, %s", unit.name);
    if (classes)
        add_pair(&table, "urgent: mean", "p99");
    bli_table_add(&table, "mean %s", now ? "than now" : "than the first");
    bli_table_add(&table, "%s", "load");
    if (powers)
        bli_table_add(&table, "%s", "servers on");
    bli_table_add(&table, "%s", "asked");
    for (size_t i = 0; i < count; i++) {
        const struct bli_twin_row *row = sorted[i];
        char text[BLI_TIME_TEXT];
        bli_table_add(&table, "%s", row->text);
        print_time(row->time[BLI_TIME_MEAN], row->log[BLI_TIME_MEAN], unit.seconds, text);
        bli_table_add(&table, "%s%s", text, row->grows ? " !" : "");
        print_time(row->time[BLI_TIME_P99], row->log[BLI_TIME_P99], unit.seconds, text);
        bli_table_add(&table, "%s", text);
        if (classes) {
            char mean[BLI_TIME_TEXT], p99[BLI_TIME_TEXT];
            print_plain(row->high[0] / unit.seconds, mean);
            print_plain(row->high[1] / unit.seconds, p99);
            add_pair(&table, mean, p99);
        }
        add_than_first(&table, twin, row, unit);
        bli_table_add(&table, "%.3g", row->load);
        if (powers && !isnan(row->on))
            bli_table_add(&table, "%.2f", row->on);
        else if (powers)
            bli_table_add(&table, "%s", "all");
        if (row->at == twin->view.to)
            bli_table_add(&table, "%s", "now");
        else
            bli_table_add(&table, "%.0f s ago", (double)(twin->view.to - row->at) / nanoseconds);
    }
    bli_table_print(&table, "lrrrrrrrr", true, out); /* one letter for each of the most columns */
    bli_table_fini(&table);
    for (size_t i = 0; i < twin->rows; i++)
        if (twin->row[i].answered && twin->row[i].grows) {
            fputs("!: queues grow until the end: the longer the window, the worse.\n", out);
            break;
        }
}

static void print_notes(const struct bli_twin_report *report, FILE *out) {
    const struct bli_twin *twin = report->twin;
    for (size_t i = 0; i < twin->notes; i++)
        bli_table_wrap("  ? ", twin->note[i], 4, out);
    if (report->skipped > 0)
        fprintf(out, "  ? %" PRIu64 " lines gave no request\n", report->skipped);
    if (report->lost > 0)
        fprintf(out, "  ? %" PRIu64 " requests were gone before they could be read\n", report->lost);
    if (twin->window.stepped > 0)
        fprintf(out, "  ? the clock was set back %" PRIu64 " time%s\n", twin->window.stepped,
                twin->window.stepped == 1 ? "" : "s");
    for (size_t i = 0; i < twin->rows; i++)
        if (twin->row[i].failed[0]) {
            char text[2 * BLI_TWIN_TEXT + 8];
            snprintf(text, sizeof text, "%s: %s", twin->row[i].text, twin->row[i].failed);
            bli_table_wrap("  ? ", text, 4, out);
        }
}

void bli_twin_text(const struct bli_twin_report *report, FILE *out) {
    const struct bli_twin *twin = report->twin;
    if (twin->state != BLI_TWIN_READY) {
        print_state(report, out);
        return;
    }
    const struct bli_replay_unit unit = bli_time_unit(twin->times.time[BLI_TIME_MEAN]);
    print_head(report, out);
    if (report->trouble)
        fprintf(out, "  ! nothing can be read at present: %s\n", report->trouble);
    if (report->silent > 0)
        fprintf(out, "  ! no traffic for %.0f s\n", report->silent);
    print_now(twin, unit, out);
    fputc('\n', out);
    print_rows(twin, unit, out);
    print_notes(report, out);
    struct advice advice;
    find_advice(twin, &advice);
    if (report->nginx && advice.taken < advice.count) {
        fputc('\n', out);
        print_advice(report, &advice, print_change, out);
    } else if (report->nginx && report->twin->parted) {
        fputs(
            "\n# Nothing is recommended: prediction and measurement have parted, and the model of the fleet "
            "is not right.\n",
            out);
    }
}

/* ---- JSON ---- */

static void put_time(struct json *json, const char *prefix, const char *name, double value,
                     struct bli_confidence_range range) {
    char key[60];
    snprintf(key, sizeof key, "%s%s", prefix, name);
    bli_json_number(json, key, value);
    snprintf(key, sizeof key, "%s%s_error", prefix, name);
    bli_json_number(json, key, bli_twin_error(value, range));
}

static void put_times(struct json *json, const char *prefix, const double *time,
                      const struct bli_confidence_range *log) {
    put_time(json, prefix, "mean", time[BLI_TIME_MEAN], log[BLI_TIME_MEAN]);
    put_time(json, prefix, "p50", time[BLI_TIME_P50], log[BLI_TIME_P50]);
    put_time(json, prefix, "p99", time[BLI_TIME_P99], log[BLI_TIME_P99]);
}

static void put_now(struct json *json, const struct bli_twin *twin) {
    const struct bli_twin_row *row = &twin->row[0];
    bli_json_open(json, "now", '{');
    bli_json_text(json, "policy", row->what == BLI_TWIN_NOW ? bli_policy_name(&row->policy).text : NULL);
    put_times(json, "", twin->times.time, twin->times.log);
    bli_json_number(json, "high_mean", twin->high[0]);
    bli_json_number(json, "high_p99", twin->high[1]);
    if (bli_json_if(json, row->what == BLI_TWIN_NOW && row->answered)) {
        bli_json_number(json, "predicted_high_mean", row->high[0]);
        bli_json_number(json, "predicted_high_p99", row->high[1]);
        put_times(json, "predicted_", row->time, row->log);
        bli_json_number(json, "difference_mean", twin->apart[BLI_TIME_MEAN].mean);
        bli_json_number(json, "difference_mean_error", twin->apart[BLI_TIME_MEAN].half_width);
        bli_json_number(json, "difference_p99", twin->apart[BLI_TIME_P99].mean);
        bli_json_number(json, "difference_p99_error", twin->apart[BLI_TIME_P99].half_width);
    }
    bli_json_close(json, '}');
}

static void put_column(struct bli_rows *rows, const char *name, const char *about, double value,
                       struct bli_confidence_range range) {
    bli_row_estimate(rows, name, about, (struct bli_estimate){value, bli_twin_error(value, range)});
}

static void put_row(struct bli_rows *rows, const struct bli_twin *twin, const struct bli_twin_row *row) {
    const struct bli_estimate above = bli_twin_above(row, &twin->row[0]);
    const bool now = twin->row[0].what == BLI_TWIN_NOW && twin->row[0].answered;
    const double of = now ? twin->row[0].time[BLI_TIME_MEAN] : NAN;
    rows->half = "_error";
    bli_row_begin(rows);
    bli_row_text(rows, "what", "what would be otherwise", row->text);
    bli_row_text(rows, "policy", "under which policy", bli_policy_name(&row->policy).text);
    put_column(rows, "mean", "mean response time|s", row->time[BLI_TIME_MEAN], row->log[BLI_TIME_MEAN]);
    put_column(rows, "p50", "its median|s", row->time[BLI_TIME_P50], row->log[BLI_TIME_P50]);
    put_column(rows, "p99", "its 99th percentile|s", row->time[BLI_TIME_P99], row->log[BLI_TIME_P99]);
    bli_row_number(rows, "high_mean", "mean of the high class|s", row->high[0]);
    bli_row_number(rows, "high_p99", "its 99th percentile|s", row->high[1]);
    bli_row_estimate(rows, "than_now", "the mean above that of the present policy|share of it",
                     (struct bli_estimate){above.mean / of, above.half_width / of});
    bli_row_number(rows, "load", "arriving work|of the capacity", row->load);
    bli_row_number(rows, "on", "servers on or in set-up; null: all are on", row->on);
    bli_row_bool(rows, "grows", "do queues grow until the end?", row->grows, bli_no_yes);
    bli_row_number(rows, "age", "how old the answer is|s", (double)(twin->view.to - row->at) / nanoseconds);
    bli_row_end(rows, NULL);
}

static void put_moment(struct json *json, const char *key, int64_t time) {
    char second[BLI_TIME_TEXT], text[2 * BLI_TIME_TEXT];
    const int64_t whole = time / 1000000000;
    bli_time_moment((double)whole, "%Y-%m-%dT%H:%M:%S", second);
    snprintf(text, sizeof text, "%s.%09" PRId64 "Z", second, time - whole * 1000000000);
    bli_json_text(json, key, text);
}

/* The directive that the block gets, where nothing else in it changes. */
static void put_change(struct json *json, const struct bli_twin_report *report, const struct advice *advice) {
    struct bli_servers servers;
    const struct bli_nginx_block block = block_of(report, advice, &servers);
    struct bli_strbuf line;
    if (!bli_nginx_changes_one_line(&block) || !bli_strbuf_open(&line)) {
        bli_json_text(json, "change", NULL);
        return;
    }
    bli_nginx_line(&block, line.stream);
    bli_json_text(json, "change", bli_strbuf_close(&line) ? line.text : NULL);
    bli_strbuf_discard(&line);
}

static void put_block(struct json *json, const struct bli_twin_report *report) {
    struct advice advice;
    find_advice(report->twin, &advice);
    struct bli_strbuf block;
    if (advice.taken == advice.count || !bli_strbuf_open(&block)) {
        bli_json_text(json, "recommended", NULL);
        bli_json_text(json, "upstream_block", NULL);
        bli_json_text(json, "change", NULL);
        return;
    }
    print_advice(report, &advice, bli_nginx_block, block.stream);
    bli_json_text(json, "recommended", bli_policy_name(advice.candidate[advice.taken].policy).text);
    bli_json_text(json, "upstream_block", bli_strbuf_close(&block) ? block.text : NULL);
    bli_strbuf_discard(&block);
    put_change(json, report, &advice);
}

static void put_ready(struct json *json, const struct bli_twin_report *report) {
    const struct bli_twin *twin = report->twin;
    char servers[300], speeds[200];
    bli_servers_print(&twin->replay.model.servers, servers, sizeof servers);
    put_moment(json, "from", twin->view.from);
    put_moment(json, "to", twin->view.to);
    bli_json_number(json, "rate", twin->demand.rate);
    bli_json_number(json, "load", bli_replay_load(&twin->replay, twin->demand.work));
    bli_json_text(json, "servers", servers);
    bli_json_slots(json, &twin->replay.model);
    bli_speeds_print(&twin->replay.model.speeds, speeds, sizeof speeds);
    if (bli_json_if(json, bli_speeds_given(&twin->replay.model.speeds)))
        bli_json_text(json, "speeds", speeds);
    bli_json_text(json, "service_times", bli_times_text(twin->recovery.times));
    bli_json_number(json, "service_mean", twin->demand.size_mean);
    put_now(json, twin);
    bli_json_open(json, "rows", '[');
    const struct bli_twin_row *sorted[BLI_TWIN_ROWS];
    const size_t count = sort_rows(twin, sorted);
    struct bli_rows rows = {.json = json};
    for (size_t i = 0; i < count; i++)
        put_row(&rows, twin, sorted[i]);
    bli_json_close(json, ']');
    bli_json_bool(json, "parted", twin->parted);
    bli_json_text(json, "why", twin->why);
    put_block(json, report);
}

static void print_json(const struct bli_twin_report *report, bool line, struct json *json) {
    static const char *const states[] = {"waiting", "silent", "few", "ready"};
    const struct bli_twin *twin = report->twin;
    (line ? bli_json_open_line : bli_json_open)(json, NULL, '{');
    bli_json_count(json, "schema", 1);
    bli_json_number(json, "time", report->time);
    bli_json_text(json, "source", report->source);
    bli_json_text(json, "state", report->trouble ? "trouble" : states[twin->state]);
    if (bli_json_if(json, report->trouble))
        bli_json_text(json, "trouble", report->trouble);
    bli_json_number(json, "window", twin->options.window);
    bli_json_count(json, "requests", twin->window.count > 0 ? twin->view.jobs : 0);
    bli_json_number(json, "silent", report->silent);
    bli_json_count(json, "skipped", report->skipped);
    bli_json_count(json, "lost", report->lost);
    bli_json_count(json, "renewed", report->renewed);
    bli_json_count(json, "clock_set_back", twin->window.stepped);
    bli_json_number(json, "used", report->used);
    bli_json_open(json, "notes", '[');
    for (size_t i = 0; i < twin->notes; i++)
        bli_json_text(json, NULL, twin->note[i]);
    bli_json_close(json, ']');
    if (bli_json_if(json, twin->state == BLI_TWIN_READY))
        put_ready(json, report);
    bli_json_close(json, '}');
}

void bli_twin_json(const struct bli_twin_report *report, bool line, FILE *out) {
    struct json json;
    bli_json_init(&json, out);
    print_json(report, line, &json);
}

/* The answer is none that could be recommended. */
void bli_twin_describe(struct bli_rows *rows) {
    struct bli_twin *twin = calloc(1, sizeof *twin);
    const struct bli_twin_report report = {.twin = twin, .source = ""};
    if (twin) {
        const struct bli_draft draft = bli_rows_sample();
        twin->replay.model = draft.c.model;
        twin->rows = 1;
        twin->row[0] = (struct bli_twin_row){
            .what = BLI_TWIN_POLICY, .policy = draft.c.policy, .answered = true, .grows = true};
        if (rows->json)
            print_json(&report, false, rows->json);
        else
            put_row(rows, twin, &twin->row[0]);
    }
    free(twin);
}
