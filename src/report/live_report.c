/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints what was measured on real processes, compared with what the lab predicts. */
#include "report/live_report.h"

#include "ballast/version.h"
#include "report/head.h"
#include "report/json_parts.h"
#include "report/report_columns.h"
#include "spec/fields.h"
#include "spec/plan.h"

#include <math.h>
#include <string.h>

enum { NAME = 32 };

/* ---- rows ---- */

/* Calls for each row of the table, in order. */
static enum bal_code each_row(struct bli_store *store, const struct bli_experiment *e, size_t point,
                              void (*add)(void *context, const struct rig_row *row), void *context,
                              struct bal_error *err) {
    struct bli_case c;
    for (size_t p = 0; p < e->policies; p++) {
        if (!e->policy[p].real)
            continue;
        bli_experiment_case(e, point, p, &c);
        const int last = c.model.classes ? (int)bli_model_classes(&c.model) : 0;
        for (int class_ = c.model.classes ? 1 : 0; class_ <= last; class_++) {
            struct rig_row row;
            const enum bal_code code = bli_live_verdict(store, e, point, p, class_, &row, err);
            if (code)
                return code;
            add(context, &row);
        }
    }
    return BAL_OK;
}

/* ---- for people ---- */

/* Milliseconds with three digits. */
static void format_ms(double seconds, char text[NAME]) {
    const double ms = 1000 * seconds;
    const int decimals = ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : 2;
    text[0] = 0;
    if (isfinite(ms))
        snprintf(text, NAME, "%.*f", decimals, ms);
}

static void add_time(struct table *table, const struct bli_estimate *estimate, bool interval) {
    char mean[NAME], half[NAME];
    format_ms(estimate->mean, mean);
    format_ms(estimate->half_width, half);
    if (interval && isfinite(estimate->half_width))
        bli_table_add(table, "%s ± %s", mean, half);
    else
        bli_table_add(table, "%s", mean);
}

static void add_ratio(struct table *table, const struct bli_estimate *ratio) {
    if (isfinite(ratio->half_width))
        bli_table_add(table, "%.2f ± %.2f", ratio->mean, ratio->half_width);
    else
        bli_table_add_number(table, "%.2f", ratio->mean);
}

struct table_rows {
    struct table table;
    char undecided[2000], memory[1000], tokens[1000], delays[1000];
    double requests, late, overslept, again;
    unsigned count;
};

static void add_row(void *context, const struct rig_row *row) {
    struct table_rows *rows = context;
    struct table *table = &rows->table;
    bli_table_add(table, "%s%s%s", row->label, *row->class_ ? " " : "", row->class_);
    add_time(table, &row->mean, true);
    add_time(table, &row->lab_mean, false);
    add_ratio(table, &row->mean_ratio);
    add_time(table, &row->p99, false);
    add_time(table, &row->lab_p99, false);
    add_ratio(table, &row->p99_ratio);
    bli_table_add_number(table, "%.0f", row->lost);
    bli_table_add_number(table, "%.0f", row->doubled);
    bli_table_add_number(table, "%.0f", row->exceeded);
    bli_table_add(table, "%s", bli_rig_verdict_text[row->verdict]);
    rows->requests = row->requests;
    rows->late += row->late;
    rows->overslept += row->overslept;
    rows->again += row->again > 0 && row->first ? row->again : 0;
    rows->count++;
    const size_t told = strlen(rows->memory);
    if (!isnan(row->growth) && row->first)
        snprintf(rows->memory + told, sizeof rows->memory - told,
                 "%s%s: the processes of the fleet held %.2f MB of their own at a tenth of the time and %.2f "
                 "MB at "
                 "its end; the one that grew most by %.0f kB.",
                 told ? " " : "", row->label, row->memory_first / 1e6, row->memory_last / 1e6,
                 row->growth / 1e3);
    const size_t known = strlen(rows->tokens);
    if (row->offers > 0 && row->first)
        snprintf(rows->tokens + known, sizeof rows->tokens - known, "%s%s %.2f, %.2f as datagrams",
                 known ? "; " : "", row->label, row->offers / row->requests,
                 (row->offers - row->rode) / row->requests);
    const size_t named = strlen(rows->delays);
    if (row->delay > 0 && row->first)
        snprintf(rows->delays + named, sizeof rows->delays - named, "%s%s %.2g", named ? ", " : "",
                 row->label, 1e3 * row->delay);
    const size_t used = strlen(rows->undecided);
    if (*row->reason)
        snprintf(rows->undecided + used, sizeof rows->undecided - used, "%s%s%s%s: %s", used ? "\n" : "",
                 row->label, *row->class_ ? " " : "", row->class_, row->reason);
}

static void print_head(const struct bli_experiment *e, size_t point, double requests, FILE *out) {
    static const char *const told[] = {"servers", "load", "service", "dispatchers", NULL};
    struct bli_draft draft;
    struct bli_head head = {.used = 0};
    char fleet[500], dist[200], where[300];
    bli_plan_point(e, point, &draft);
    const struct bli_model *model = &draft.c.model;
    bli_servers_print(&model->servers, fleet, sizeof fleet);
    bli_dist_print(&model->size, dist, sizeof dist);
    bli_experiment_point_text(e, point, where, sizeof where);
    if (*where)
        bli_head_add(&head, "%s: ", where);
    bli_head_add(&head, "%s servers, %u dispatcher%s, load %g, service %s s", fleet,
                 model->network.dispatchers.count ? model->network.dispatchers.count : 1,
                 model->network.dispatchers.count > 1 ? "s" : "", model->load, dist);
    bli_head_add_settings(&head, &draft, true, told);
    if (draft.delay_measured)
        bli_head_add(&head, ", delay" BLI_TABLE_JOIN "measured");
    bli_head_add(&head, "; %u blocks of %g s each, %.0f requests to each system.", draft.c.replications,
                 e->live->seconds, requests);
    bli_head_print(&head, out);
    fputc('\n', out);
}

static void print_notes(const struct bli_experiment *e, const struct table_rows *rows, FILE *out) {
    fputc('\n', out);
    for (const char *line = rows->undecided; *line;) {
        char text[300];
        const size_t length = strcspn(line, "\n");
        snprintf(text, sizeof text, "undecided, %.*s", (int)length, line);
        bli_table_wrap("", text, 0, out);
        line += length + (line[length] == '\n');
    }
    if (*rows->undecided)
        fputc('\n', out);
    char text[900];
    snprintf(
        text, sizeof text,
        "Times in ms, from the intended time of sending to the last byte of the answer; ±: 95 %% confidence, "
        "over blocks. lab: the same requests, fleet and dispatchers, simulated. Agrees: the interval of the "
        "ratio lies within %.0f %% for the mean and %.0f %% for the p99%s. Lost: not answered, or with an "
        "error; doubled: answered by two servers, as when an answer was lost and the request tried again; "
        "over: most requests at a server beyond its slots, where "
        "there are stations. The generator was late by %.2g ms on average, servers by %.2g ms; what that may "
        "have added is taken for doubt.",
        100 * RIG_MEAN_WITHIN, 100 * RIG_P99_WITHIN,
        e->live->faults ? " (the lab knows of no faults, so nothing is said here)" : "",
        1e3 * rows->late / rows->count, 1e3 * rows->overslept / rows->count);
    bli_table_wrap("", text, 0, out);
    if (*rows->delays) {
        snprintf(
            text, sizeof text,
            "Messages took so many ms each way, measured on the idle fleet, and take as long in the lab: "
            "%.700s.",
            rows->delays);
        bli_table_wrap("", text, 0, out);
    }
    if (rows->again > 0)
        fprintf(out, "Blocks measured again, because the machine had stood still: %.0f.\n", rows->again);
    if (*rows->tokens) {
        snprintf(text, sizeof text, "Slots that stations offered to dispatchers, for each request: %.700s.",
                 rows->tokens);
        bli_table_wrap("", text, 0, out);
    }
    if (*rows->memory)
        bli_table_wrap("", rows->memory, 0, out);
}

static enum bal_code print_faults(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                  enum bli_table_style style, FILE *out, struct bal_error *err) {
    struct table table;
    bli_table_begin(&table, "fault|at, s|system|lost|doubled|again|over|p99|recovered, s");
    enum bal_code code = BAL_OK;
    for (size_t f = 0; !code && f < e->live->faults; f++)
        for (size_t p = 0; !code && p < e->policies; p++) {
            struct rig_fault_row row;
            const struct bli_fault *fault = &e->live->fault[f];
            const bool ours = e->policy[p].proxy == BLI_PROXY_BALLAST;
            const bool ours_alone = bli_fault_traits[fault->kind].needs_stations;
            if (!e->policy[p].real || (ours_alone && !ours))
                continue;
            code = bli_live_fault_summary(store, e, point, p, f, &row, err);
            bli_table_add(&table, "%s", bli_fault_kinds[fault->kind]);
            bli_table_add(&table, "%g", fault->at);
            bli_table_add(&table, "%s", e->policy[p].label);
            bli_table_add_number(&table, "%.0f", row.lost);
            bli_table_add_number(&table, "%.0f", row.doubled);
            bli_table_add_number(&table, "%.0f", row.resent);
            bli_table_add_number(&table, "%.0f", row.exceeded);
            bli_table_add_number(&table, "%.0f", 1e3 * row.p99);
            bli_table_add(&table, "%.2f", row.recovery);
        }
    fputc('\n', out);
    bli_table_print(&table, "lrlrrrrrr", style, out);
    bli_table_fini(&table);
    bli_table_wrap(
        "",
        "Again: the connection was closed before any of the answer had come, and the client sent the "
        "request once more, as browsers do. p99: of answers from the fault to the next one. Recovered: from "
        "the fault to the time of the last request that "
        "failed, or took more than twice "
        "as long as any before the first fault; the longest of all blocks.",
        0, out);
    return code;
}

static enum bal_code print_text(struct bli_store *store, const struct bli_experiment *e,
                                enum bli_table_style style, FILE *out, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t point = 0; !code && point < e->points; point++) {
        struct table_rows rows = {.count = 0};
        bli_table_begin(&rows.table, "system|mean|lab|live/lab|p99|lab|live/lab|lost|doubled|over|verdict");
        code = each_row(store, e, point, add_row, &rows, err);
        if (!code) {
            if (point > 0)
                fputc('\n', out);
            print_head(e, point, rows.requests, out);
            bli_table_print(&rows.table, "lrrrrrrrrrl", style, out);
            print_notes(e, &rows, out);
        }
        bli_table_fini(&rows.table);
        if (!code && e->live->faults > 0)
            code = print_faults(store, e, point, style, out, err);
    }
    return code;
}

/* ---- for programs ---- */

static void put_row(void *context, const struct rig_row *row) {
    struct bli_rows *rows = context;
    rows->half = "_ci";
    bli_row_begin(rows);
    bli_row_text(rows, "system", "what the experiment calls it", row->label);
    if (bli_row_if(rows, *row->class_))
        bli_row_text(rows, "class", "of requests||two classes or more", row->class_);
    bli_row_estimate(rows, "mean", "from the intended time of sending to the last byte|s", row->mean);
    bli_row_estimate(rows, "p99", "its 99th percentile|s", row->p99);
    bli_row_estimate(rows, "lab_mean", "the mean of the same requests, simulated|s", row->lab_mean);
    bli_row_estimate(rows, "lab_p99", "their 99th percentile|s", row->lab_p99);
    bli_row_estimate(rows, "mean_ratio", "live over lab, block by block|ratio", row->mean_ratio);
    bli_row_estimate(rows, "p99_ratio", "live over lab, block by block|ratio", row->p99_ratio);
    bli_row_number(rows, "requests", "requests in all blocks", row->requests);
    bli_row_number(rows, "lost", "not answered, or with an error", row->lost);
    bli_row_number(rows, "doubled", "answered by two servers", row->doubled);
    bli_row_number(rows, "resent", "sent again, as their connection was closed", row->resent);
    bli_row_number(rows, "strange", "answers with the id of another request", row->strange);
    bli_row_number(rows, "exceeded", "most requests at a server beyond its slots", row->exceeded);
    if (bli_row_if(rows, !isnan(row->delay)))
        bli_row_number(rows, "delay", "of messages, each way|s|`delay: measured`", row->delay);
    if (bli_row_if(rows, !isnan(row->offers))) {
        bli_row_number(rows, "offers", "slots that stations offered||stations", row->offers);
        bli_row_number(rows, "rode", "of them, sent with responses||stations", row->rode);
    }
    if (bli_row_if(rows, !isnan(row->growth))) {
        bli_row_number(rows, "memory_first", "of the fleet, at a tenth of a block|bytes|measured",
                       row->memory_first);
        bli_row_number(rows, "memory_last", "at its end|bytes|measured", row->memory_last);
        bli_row_number(rows, "memory_growth", "of the process that grew most|bytes|measured", row->growth);
    }
    bli_row_number(rows, "again", "blocks that were measured again", row->again);
    bli_row_number(rows, "late", "what the generator added|s", row->late);
    bli_row_number(rows, "overslept", "what servers added|s", row->overslept);
    bli_row_text(rows, "verdict", "`agrees`, `differs`, `undecided` or nothing",
                 bli_rig_verdict_text[row->verdict]);
    if (bli_row_if(rows, *row->reason))
        bli_row_text(rows, "reason", "why it is undecided||undecided", row->reason);
    bli_row_end(rows, NULL);
}

static void json_fault(struct json *json, const struct bli_fault *fault, const char *system,
                       const struct rig_fault_row *row) {
    bli_json_open_line(json, NULL, '{');
    bli_json_text(json, "fault", bli_fault_kinds[fault->kind]);
    bli_json_number(json, "at", fault->at);
    bli_json_text(json, "system", system);
    bli_json_number(json, "lost", row->lost);
    bli_json_number(json, "doubled", row->doubled);
    bli_json_number(json, "resent", row->resent);
    bli_json_number(json, "exceeded", row->exceeded);
    bli_json_number(json, "p99", row->p99);
    bli_json_number(json, "recovery", row->recovery);
    bli_json_close(json, '}');
}

static enum bal_code json_faults(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                 struct json *json, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t f = 0; !code && f < e->live->faults; f++)
        for (size_t p = 0; !code && p < e->policies; p++) {
            struct rig_fault_row row;
            if (!e->policy[p].real)
                continue;
            code = bli_live_fault_summary(store, e, point, p, f, &row, err);
            json_fault(json, &e->live->fault[f], e->policy[p].label, &row);
        }
    return code;
}

static const struct rig_row no_row = {.label = "", .class_ = ""};

/* Without a store: one row of each kind. */
static enum bal_code json_point(struct bli_store *store, const struct bli_experiment *e, size_t point,
                                struct bli_rows *rows, struct bal_error *err) {
    static const struct bli_fault fault;
    static const struct rig_fault_row fault_row;
    struct json *json = rows->json;
    enum bal_code code = BAL_OK;
    char where[300];
    bli_experiment_point_text(e, point, where, sizeof where);
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "point", where);
    bli_json_open(json, "systems", '[');
    if (store)
        code = each_row(store, e, point, put_row, rows, err);
    else
        put_row(rows, &no_row);
    bli_json_close(json, ']');
    bli_json_open(json, "faults", '[');
    if (!store)
        json_fault(json, &fault, "", &fault_row);
    else if (!code)
        code = json_faults(store, e, point, json, err);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    return code;
}

static enum bal_code print_json(struct bli_store *store, const struct bli_experiment *e,
                                struct bli_rows *rows, struct bal_error *err) {
    struct json *json = rows->json;
    enum bal_code code = BAL_OK;
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "ballast", BALLAST_VERSION);
    bli_json_text(json, "title", e->title);
    bli_json_open(json, "points", '[');
    for (size_t point = 0; !code && point < e->points; point++)
        code = json_point(store, e, point, rows, err);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    return code;
}

enum bal_code bli_live_report_print(struct bli_store *store, const struct bli_experiment *e,
                                    struct bli_rows *rows, struct bal_error *err) {
    return rows->text ? print_text(store, e, rows->style, rows->text, err) : print_json(store, e, rows, err);
}

void bli_live_describe(struct bli_rows *rows) {
    struct bli_experiment *e = bli_columns_experiment();
    if (rows->names)
        put_row(rows, &no_row);
    else if (e)
        print_json(NULL, e, rows, NULL);
    bli_experiment_free(e);
}
