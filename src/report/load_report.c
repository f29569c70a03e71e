/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints what a load generator measured, with warnings about doubtful figures. */
#include "report/load_report.h"

#include "ballast/number.h"
#include "ballast/version.h"
#include "report/head.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTILES = 4, NAME = 24 };
static const double quantile[QUANTILES] = {0.5, 0.9, 0.99, 0.999};
static const char *const quantile_name[QUANTILES] = {"p50", "p90", "p99", "p99.9"};

/* ---- rows: what all forms show ---- */

enum row_kind { ROW_STATUS, ROW_ERROR, ROW_GOOD, ROW_CLASS, ROW_LATE };
static const char *const row_kind_name[] = {"status", "error", "good", "class", "late"};

struct load_row {
    enum row_kind kind;
    char name[NAME];
    uint64_t count;
    const struct bli_load_times *times; /* NULL: none */
    double half_width;                  /* of the interval of the mean; NaN: not known */
    uint64_t failed;                    /* of a class */
};

static unsigned count_statuses(const struct bli_load_result *result) {
    unsigned count = 0;
    for (unsigned i = 0; i < BLI_LOAD_STATUSES; i++)
        count += result->status[i] != NULL;
    return count;
}

/* Row i, in the order in which they are shown; false after the last. */
static bool row_at(const struct bli_load *load, const struct bli_load_result *result, unsigned i,
                   struct load_row *row) {
    *row = (struct load_row){.half_width = NAN};
    for (unsigned status = 0; status < BLI_LOAD_STATUSES; status++)
        if (result->status[status] && i-- == 0) {
            row->times = result->status[status];
            row->count = row->times->count;
            snprintf(row->name, sizeof row->name, "%u", status);
            return true;
        }
    row->kind = ROW_ERROR;
    for (unsigned error = 0; error < BLI_LOAD_ERRORS; error++)
        if (result->error[error] && i-- == 0) {
            row->count = result->error[error];
            snprintf(row->name, sizeof row->name, "%s", bli_load_error_text[error]);
            return true;
        }
    if (i == 0) {
        *row = (struct load_row){ROW_GOOD, "good", result->good.count, &result->good, result->mean.half_width,
                                 0};
        return true;
    }
    i--;
    if (i < load->classes) {
        *row = (struct load_row){ROW_CLASS,          "",  result->class_[i].count,
                                 &result->class_[i], NAN, result->failed[i]};
        snprintf(row->name, sizeof row->name, "good u=%u", load->class_[i].urgency);
        return true;
    }
    if (i > load->classes)
        return false;
    *row = (struct load_row){ROW_LATE, "late", result->late.count, &result->late, NAN, 0};
    return true;
}

static double mean_of(const struct bli_load_times *times) {
    return times && times->count ? times->sum / (double)times->count : NAN;
}

static double most_of(const struct bli_load_times *times) {
    return times && times->count ? times->most : NAN;
}

/* No quantile is beyond the largest value, whatever the width of its bin. */
static double quantile_of(const struct bli_load_times *times, unsigned i) {
    return times && times->count ? fmin(bli_histogram_quantile(&times->histogram, quantile[i]), times->most)
                                 : NAN;
}

static double share_of(const struct bli_load_result *result, uint64_t count) {
    return result->due ? (double)count / (double)result->due : NAN;
}

/* ---- for people ---- */

/* Milliseconds with three digits. */
static void format_ms(double seconds, char text[NAME]) {
    const double ms = 1000 * seconds;
    const int decimals = ms >= 99.95 ? 0 : ms >= 9.995 ? 1 : ms >= 0.9995 ? 2 : 3;
    text[0] = 0;
    if (isfinite(ms))
        snprintf(text, NAME, "%.*f", decimals, ms);
}

static void add_ms(struct table *table, double seconds) {
    char text[NAME];
    format_ms(seconds, text);
    bli_table_add(table, "%s", text);
}

static void add_mean(struct table *table, const struct load_row *row) {
    char mean[NAME], half[NAME];
    format_ms(mean_of(row->times), mean);
    format_ms(row->half_width, half);
    if (isfinite(row->half_width))
        bli_table_add(table, "%s \u00b1 %s", mean, half);
    else
        bli_table_add(table, "%s", mean);
}

static void print_table(const struct bli_load *load, const struct bli_load_result *result,
                        enum bli_table_style style, FILE *out) {
    struct table table;
    bli_table_begin(&table, "outcome|requests|share|mean|p50|p90|p99|p99.9|most");
    struct load_row row;
    for (unsigned i = 0; row_at(load, result, i, &row); i++) {
        if (row.kind == ROW_GOOD && count_statuses(result) < 2 && load->classes == 0 &&
            result->good.count == 0)
            continue;
        bli_table_add(&table, "%s", row.name);
        bli_table_add(&table, "%llu", (unsigned long long)row.count);
        bli_table_add(&table, "%.2f %%", 100 * share_of(result, row.count));
        add_mean(&table, &row);
        for (unsigned q = 0; q < QUANTILES; q++)
            add_ms(&table, quantile_of(row.times, q));
        add_ms(&table, most_of(row.times));
    }
    bli_table_print(&table, "lrrrrrrrr", style, out);
    bli_table_fini(&table);
}

static void print_head(const struct bli_load *load, const struct bli_load_result *result, FILE *out) {
    const double rate = (double)result->due / result->lasted;
    struct bli_head head = {.used = 0};
    char text[200];
    if (load->trace)
        bli_head_add(&head, "A log at %g times its pace to %s", load->speedup, load->url[0]);
    else
        bli_head_add(&head, "%g requests/s to %s", load->rate, load->url[0]);
    if (load->urls > 1)
        bli_head_add(&head, " and %zu more, drawn at random", load->urls - 1);
    if (!load->trace) {
        bli_arrivals_print(&load->arrivals, text, sizeof text);
        bli_head_add(&head, ", %s", text);
    }
    if (load->curve.kind != BLI_CURVE_CONSTANT) {
        bli_curve_print(&load->curve, text, sizeof text);
        bli_head_add(&head, ", curve %s", text);
    }
    if (load->service) {
        bli_dist_print(load->service, text, sizeof text);
        bli_head_add(&head, ", service %s", text);
    }
    bli_head_add(&head, ", seed" BLI_TABLE_JOIN "%llu: ", (unsigned long long)load->seed);
    bli_head_add(&head, "%llu requests in %.4g s (%.*f/s), at most %u connections at a time.",
                 (unsigned long long)result->due, result->lasted, rate < 100 ? 2 : 0, rate,
                 result->connections);
    bli_head_print(&head, out);
    fputc('\n', out);
}

static void print_notes(const struct bli_load *load, const struct bli_load_result *result, FILE *out) {
    fputs("\nTimes in ms, from the intended time of sending to the last byte of the answer. good: status "
          "below 400;\n"
          "\u00b1: 95 % confidence. late: what the generator itself added by sending late.\n",
          out);
    if (result->resent)
        fprintf(out, "%llu requests were sent again because a kept connection had been closed.\n",
                (unsigned long long)result->resent);
    for (size_t i = 0; i < load->classes; i++)
        if (result->failed[i])
            fprintf(out, "u=%u: %llu requests failed.\n", load->class_[i].urgency,
                    (unsigned long long)result->failed[i]);
    if (result->cut)
        fprintf(out, "Stopped: %llu requests were under way and are not in the table.\n",
                (unsigned long long)result->cut);
}

static void print_text(const struct bli_load *load, const struct bli_load_result *result,
                       enum bli_table_style style, FILE *out) {
    print_head(load, result, out);
    print_table(load, result, style, out);
    print_notes(load, result, out);
}

/* ---- doubts ---- */

/* The generator's own delay matters if it is more than a tenth of what was measured, and not negligible. */
static bool warn_of_lateness(const struct bli_load_result *result, char text[BLI_LOAD_WARNING]) {
    for (unsigned q = 0; q < QUANTILES; q++) {
        const double late = quantile_of(&result->late, q), latency = quantile_of(&result->good, q);
        if (!(late > 1e-4) || !(late > 0.1 * latency))
            continue;
        char own[NAME], all[NAME];
        format_ms(late, own);
        format_ms(latency, all);
        snprintf(text, BLI_LOAD_WARNING,
                 "the generator itself was late, and the figures contain it: %s %s ms late, of %s ms; lower "
                 "--rate, or give it a processor of its own",
                 quantile_name[q], own, *all ? all : "no");
        return true;
    }
    return false;
}

static bool warn_of_unsent(const struct bli_load_result *result, char text[BLI_LOAD_WARNING]) {
    const uint64_t unsent = result->error[BLI_LOAD_UNSENT];
    if (unsent == 0)
        return false;
    snprintf(text, BLI_LOAD_WARNING,
             "the schedule could not be kept: %llu of %llu requests were not sent within --timeout",
             (unsigned long long)unsent, (unsigned long long)result->due);
    return true;
}

static bool warn_of_holding(const struct bli_load_result *result, char text[BLI_LOAD_WARNING]) {
    if (result->held_back == 0)
        return false;
    snprintf(text, BLI_LOAD_WARNING,
             "%llu of %llu requests had to wait for one of %u connections, which counts as latency; raise "
             "--connections to see the servers alone",
             (unsigned long long)result->held_back, (unsigned long long)result->due, result->connections);
    return true;
}

static bool warn_of_unknown_answers(const struct bli_load_result *result, char text[BLI_LOAD_WARNING]) {
    if (result->strange == 0)
        return false;
    snprintf(text, BLI_LOAD_WARNING,
             "%llu answers have the X-Request-Id of another request: a cache, or answers mixed up",
             (unsigned long long)result->strange);
    return true;
}

bool bli_load_warning(const struct bli_load *load, const struct bli_load_result *result, unsigned i,
                      char text[BLI_LOAD_WARNING]) {
    static bool (*const doubts[])(const struct bli_load_result *, char *) = {
        warn_of_unsent, warn_of_lateness, warn_of_holding, warn_of_unknown_answers};
    (void)load;
    for (unsigned k = 0; k < sizeof doubts / sizeof *doubts; k++)
        if (doubts[k](result, text) && i-- == 0)
            return true;
    return false;
}

/* ---- for programs ---- */

static void put_times(struct bli_rows *rows, const struct bli_load_times *times, const double *half_width) {
    bli_row_number(rows, "mean", "from the intended time of sending to the last byte|s", mean_of(times));
    if (half_width)
        bli_row_number(rows, "mean.ci", "half of its 95 % interval|s", *half_width);
    for (unsigned q = 0; q < QUANTILES; q++)
        bli_row_number(rows, quantile_name[q], "the same time|s", quantile_of(times, q));
    bli_row_number(rows, "most", "the longest|s", most_of(times));
}

static void put_rows(const struct bli_load *load, const struct bli_load_result *result,
                     struct bli_rows *rows) {
    struct load_row row;
    for (unsigned i = 0; row_at(load, result, i, &row); i++)
        do {
            bli_row_begin(rows);
            bli_row_text(rows, "kind", "`status`, `error`, `good`, `class` or `late`",
                         row_kind_name[row.kind]);
            bli_row_text(rows, "name", "which status, error or class", row.name);
            bli_row_count(rows, "requests", "how many had that outcome", row.count);
            bli_row_count(rows, "failed", "of a class: errors, and answers from status 400 on", row.failed);
            bli_row_number(rows, "share", "of all requests that were due|share", share_of(result, row.count));
            put_times(rows, row.times, &row.half_width);
        } while (bli_row_end(rows, NULL));
}

static void json_times(struct json *json, const char *key, const struct bli_load_times *times) {
    struct bli_rows rows = {.json = json};
    bli_json_open_line(json, key, '{');
    bli_row_count(&rows, "requests", "how many there were", times->count);
    put_times(&rows, times, NULL);
    bli_json_close(json, '}');
}

static void json_plan(struct json *json, const struct bli_load *load) {
    char text[BLI_ARRIVALS_TEXT];
    bli_json_open(json, "targets", '[');
    for (size_t i = 0; i < load->urls; i++)
        bli_json_text(json, NULL, load->url[i]);
    bli_json_close(json, ']');
    bool weighted = false;
    for (size_t i = 0; i < load->urls; i++)
        weighted = weighted || load->weight[i] > 0;
    if (bli_json_if(json, weighted))
        bli_json_numbers(json, "weights", load->weight, load->urls);
    if (bli_json_if(json, load->trace))
        bli_json_number(json, "speedup", load->speedup);
    if (bli_json_if(json, !load->trace)) {
        bli_json_number(json, "rate", load->rate);
        bli_arrivals_print(&load->arrivals, text, sizeof text);
        bli_json_text(json, "arrivals", text);
    }
    bli_json_count(json, "seed", load->seed);
    bli_json_number(json, "timeout", load->timeout);
}

static void json_outcomes(struct json *json, const struct bli_load_result *result) {
    bli_json_open_map(json, "status", false);
    for (unsigned i = 0; i < BLI_LOAD_STATUSES; i++) {
        char name[NAME];
        snprintf(name, sizeof name, "%u", i);
        if (result->status[i])
            json_times(json, name, result->status[i]);
    }
    bli_json_close(json, '}');
    bli_json_open(json, "errors", '{');
    for (unsigned i = 0; i < BLI_LOAD_ERRORS; i++)
        bli_json_count(json, bli_load_error_text[i], result->error[i]);
    bli_json_close(json, '}');
}

static uint64_t failed_of(const struct bli_load_result *result) {
    uint64_t failed = 0;
    for (unsigned i = 0; i < BLI_LOAD_CLASSES; i++)
        failed += result->failed[i];
    return failed;
}

static void print_json(const struct bli_load *load, const struct bli_load_result *result, struct json *json) {
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "ballast", BALLAST_VERSION);
    json_plan(json, load);
    bli_json_bool(json, "stopped", result->stopped);
    bli_json_number(json, "seconds", result->lasted);
    bli_json_number(json, "drained", result->drained);
    bli_json_count(json, "due", result->due);
    bli_json_count(json, "sent", result->sent);
    bli_json_count(json, "failed", failed_of(result));
    bli_json_count(json, "cut", result->cut);
    json_outcomes(json, result);
    json_times(json, "good", &result->good);
    bli_json_number(json, "good.mean.ci", result->mean.half_width);
    bli_json_open(json, "classes", '[');
    for (size_t i = 0; i < load->classes; i++) {
        bli_json_open(json, NULL, '{');
        bli_json_count(json, "urgency", load->class_[i].urgency);
        bli_json_count(json, "failed", result->failed[i]);
        json_times(json, "good", &result->class_[i]);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    json_times(json, "late", &result->late);
    bli_json_count(json, "held_back", result->held_back);
    bli_json_count(json, "connections", result->connections);
    bli_json_count(json, "opened", result->opened);
    bli_json_count(json, "resent", result->resent);
    bli_json_count(json, "strange", result->strange);
    bli_json_open(json, "warnings", '[');
    char text[BLI_LOAD_WARNING];
    for (unsigned i = 0; bli_load_warning(load, result, i, text); i++)
        bli_json_text(json, NULL, text);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

void bli_load_print(const struct bli_load *load, const struct bli_load_result *result,
                    struct bli_rows *rows) {
    if (rows->text)
        print_text(load, result, rows->style, rows->text);
    else if (rows->json)
        print_json(load, result, rows->json);
    else
        put_rows(load, result, rows);
}

void bli_load_describe(struct bli_rows *rows) {
    struct bli_load *load = calloc(1, sizeof *load);
    struct bli_load_result *result = calloc(1, sizeof *result);
    if (load && result) {
        load->urls = load->classes = 1;
        load->url[0] = "http://localhost/";
        result->status[200] = &result->good;
        bli_load_print(load, result, rows);
    }
    free(load);
    free(result);
}
