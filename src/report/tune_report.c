/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints and draws what tuning found. */
#include "report/tune_report.h"

#include "ballast/figure.h"
#include "ballast/scheme.h"
#include "report/comparison.h"
#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/metric.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>

static struct bli_estimate estimate_of(const struct bli_result *result, enum bli_metric metric) {
    return bli_comparison_has_means(result) ? result->metric[metric] : (struct bli_estimate){NAN, NAN};
}

static double metric_of(const struct bli_result *result, enum bli_metric metric) {
    return estimate_of(result, metric).mean;
}

/* The least power that the work needs: servers that are busy and nothing else. */
static double minimum_power(const struct bli_tuning *tuning, const struct bli_tuned *tuned) {
    const struct bli_model *model = &tuning->model;
    const struct bli_watts watts = bli_watts_of(&model->watts);
    const bool varies = model->curve.kind != BLI_CURVE_CONSTANT;
    const double load = varies ? tuned->always_on.metric[BLI_LOAD_ACHIEVED].mean : model->load;
    const double busy = load > 1 ? 1 : load; /* NaN stays */
    return busy * watts.busy + (1 - busy) * watts.off;
}

/* ---- for people ---- */

static void add_waiting(struct table *table, const struct bli_result *result, const char *mark) {
    const struct bli_estimate waiting = result->metric[BLI_WAITING_MEAN];
    if (!bli_comparison_has_means(result))
        bli_table_add(table, "%s", bli_comparison_no_means(result));
    else if (isnan(waiting.half_width))
        bli_table_add(table, "%.4f%s", waiting.mean, mark);
    else
        bli_table_add(table, "%.4f \u00b1 %.4f%s", waiting.mean, waiting.half_width, mark);
}

static void add_result(struct table *table, const struct bli_result *result, bool quantile,
                       const char *mark) {
    add_waiting(table, result, mark);
    if (quantile) {
        char text[BLI_METRIC_TEXT] = "";
        if (bli_comparison_has_means(result))
            bli_percentile_cell(result->metric[BLI_RESPONSE_P99], text);
        bli_table_add(table, "%s", text);
    }
    bli_table_add_number(table, "%.1f", metric_of(result, BLI_POWER_MEAN));
}

/* Notes what is doubted; returns its mark. */
static const char *add_doubt(struct doubt_notes *notes, const struct bli_tuning *tuning, const char *policy,
                             double standby, const struct bli_result *result) {
    char label[60];
    struct bli_case c = {.model = tuning->model, .run = tuning->run};
    bli_scheme_parse(policy, &c.policy, NULL);
    double *standby_rate = bal_policy_param(&c.policy, "mu");
    if (standby_rate && standby > 0) /* per mean service time, as the case had it (study/tune.c) */
        *standby_rate = tuning->model.size.mean * bli_servers_count(&tuning->model.servers) /
                        bli_servers_capacity(&tuning->model.servers) / standby;
    snprintf(label, sizeof label, "%s at standby %.4g", policy, standby);
    return bli_doubt_add(notes, isnan(standby) ? policy : label, &c, result);
}

static void add_point(struct table *table, const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                      unsigned i, struct doubt_notes *notes) {
    const struct bli_tune_point *point = &tuned->point[i];
    bli_table_add(table, "%.4g", point->standby);
    add_result(table, &point->tabs, true, add_doubt(notes, tuning, "tabs", point->standby, &point->tabs));
    bli_table_add_number(table, "%+.0f%%", bli_shown(100 * metric_of(&point->tabs, BLI_POWER_WASTE), 0));
    bli_table_add(table, "%s", i == tuned->knee ? "\u25c0 knee" : point->frontier ? "\u2022" : "");
    add_result(table, &point->pooled, false,
               add_doubt(notes, tuning, "delayed-off", point->standby, &point->pooled));
}

static void print_head(const struct bli_tuning *tuning, const struct bli_draft *draft, FILE *out) {
    static const char *const told[] = {"servers", "load", "service", "setup", "watts", "replications", NULL};
    const struct bli_model *model = &tuning->model;
    char servers[300], service[200], setup[200], watts[80];
    bli_servers_print(&model->servers, servers, sizeof servers);
    bli_dist_print(&model->size, service, sizeof service);
    bli_dist_print(&model->setup, setup, sizeof setup);
    bli_watts_print(&model->watts, watts, sizeof watts);
    struct bli_head head = {.used = 0};
    bli_head_add(&head,
                 "tabs on %s servers at load %g, service %s, set-up %s, %s W busy, idle, in set-up, off",
                 servers, model->load, service, setup, watts);
    bli_head_add_settings(&head, draft, true, told);
    bli_head_add(&head, "; %s%u replications", tuning->precision > 0 ? "at least " : "",
                 tuning->replications);
    bli_head_add_settings(&head, draft, false, told);
    bli_head_add(&head, ", seed" BLI_TABLE_JOIN "%llu", (unsigned long long)tuning->run.seed);
    bli_head_print(&head, out);
    fputc('\n', out);
}

static void print_proposal(const struct bli_tuning *tuning, const struct bli_tuned *tuned, FILE *out) {
    const struct bli_tune_proposal p = bli_tune_propose(tuning, tuned);
    if (isnan(p.standby))
        return;
    fprintf(out,
            "For keepers: standby {mean: %.3g, law: exponential}, on %.3g, least %u, most %u. on: an idle "
            "server\n"
            "  draws as much as a set-up; least, most: beyond them are 1 %% and 0.1 %% of the time, if none "
            "waits.\n",
            p.standby, p.on, p.least, p.most);
}

static void print_advice(const struct bli_tuning *tuning, const struct bli_tuned *tuned, FILE *out) {
    const double on = metric_of(&tuned->always_on, BLI_POWER_MEAN), least = minimum_power(tuning, tuned);
    fputc('\n', out);
    if (tuned->knee < tuned->points) {
        const struct bli_tune_point *knee = &tuned->point[tuned->knee];
        const double power = metric_of(&knee->tabs, BLI_POWER_MEAN);
        char saving[60] = "";
        if (isfinite(on))
            snprintf(saving, sizeof saving, ", %.0f %% less than always on", 100 * (1 - power / on));
        fprintf(out, "knee: a standby of %.3g draws %.1f W a server%s, and jobs wait %.4f on average.\n",
                knee->standby, power, saving, metric_of(&knee->tabs, BLI_WAITING_MEAN));
    } else if (tuned->doubted) {
        fputs("The knee is undecided: a standby time of tabs is doubted, and could be it.\n", out);
    } else {
        fputs("There is no knee: fewer than three standby times are worth considering; widen --from and "
              "--to.\n",
              out);
    }
    print_proposal(tuning, tuned, out);
    if (isfinite(least))
        fprintf(out, "The work alone needs %.1f W a server. ", least);
    fputs("\u2022: no other standby of tabs has less waiting and less power.\n"
          "\u00b1: 95 % confidence over replications. standby: mean time that an idle server stays on.\n",
          out);
    if (tuned->always_on.outlasted || tuned->point[tuned->points - 1].tabs.outlasted) /* the longest runs */
        fprintf(out, "%s\n", bli_outlasted_text);
}

static void print_text(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                       const struct bli_draft *draft, enum bli_table_style style, FILE *out) {
    struct table table;
    struct doubt_notes notes = {0};
    bli_table_begin(&table, "standby|tabs waits|p99|watts|waste||delayed-off waits|watts");
    for (unsigned i = 0; i < tuned->points; i++)
        add_point(&table, tuning, tuned, i, &notes);
    bli_table_add(&table, "always on");
    add_result(&table, &tuned->always_on, true, add_doubt(&notes, tuning, "jiq", NAN, &tuned->always_on));
    bli_table_add_number(&table, "%+.0f%%",
                         bli_shown(100 * metric_of(&tuned->always_on, BLI_POWER_WASTE), 0));
    for (int i = 0; i < 3; i++)
        bli_table_add(&table, "%s", i == 0 ? "(jiq)" : "");
    print_head(tuning, draft, out);
    bli_table_print(&table, "rrrrrlrr", style, out);
    bli_table_fini(&table);
    print_advice(tuning, tuned, out);
    bli_doubt_print(&notes, BLI_REMEDY_OPTION, out);
}

/* ---- for programs ---- */

static const enum bli_metric shown[] = {BLI_WAITING_MEAN,  BLI_RESPONSE_MEAN, BLI_RESPONSE_P99,
                                        BLI_POWER_MEAN,    BLI_POWER_WASTE,   BLI_SERVERS_STANDBY,
                                        BLI_SERVERS_SETUP, BLI_ENERGY_PER_JOB};
enum { SHOWN = sizeof shown / sizeof *shown };

static void put_result(struct bli_rows *rows, const struct bli_result *result) {
    bli_row_verdict(rows, result->verdict);
    bli_row_doubts(rows, result->doubts);
    for (int i = 0; i < SHOWN; i++)
        bli_row_metric(rows, shown[i], estimate_of(result, shown[i]));
}

static void put_row(struct bli_rows *rows, const char *policy, double standby,
                    const struct bli_result *result, bool frontier, bool knee,
                    const struct bli_draft *draft) {
    do {
        bli_row_begin(rows);
        bli_row_text(rows, "policy", "`tabs`, `delayed-off` with one common queue, or `jiq`, always on",
                     policy);
        bli_row_number(rows, "standby", "mean time that an idle server stays on|time", standby);
        put_result(rows, result);
        bli_row_bool(rows, "frontier", "has no other standby less waiting and less power?", frontier,
                     bli_zero_one);
        bli_row_bool(rows, "knee", "is it the knee of the frontier?", knee, bli_zero_one);
    } while (bli_row_end(rows, draft));
}

static void put_rows(struct bli_rows *rows, const struct bli_tuned *tuned, const struct bli_draft *draft) {
    for (unsigned i = 0; i < tuned->points; i++) {
        const struct bli_tune_point *point = &tuned->point[i];
        put_row(rows, "tabs", point->standby, &point->tabs, point->frontier, i == tuned->knee, draft);
        put_row(rows, "delayed-off", point->standby, &point->pooled, false, false, draft);
    }
    put_row(rows, "jiq", NAN, &tuned->always_on, false, false, draft);
}

static void json_result(struct bli_rows *rows, const char *key, const struct bli_result *result) {
    bli_json_open_line(rows->json, key, '{');
    put_result(rows, result);
    bli_json_close(rows->json, '}');
}

static void json_spec(struct json *json, const struct bli_tuning *tuning) {
    bli_json_open(json, "spec", '{');
    bli_json_model(json, &tuning->model, "servers load# service setup watts");
    bli_json_number(json, "time", tuning->run.time);
    bli_json_count(json, "replications", tuning->replications);
    bli_json_count(json, "seed", tuning->run.seed);
    bli_json_close(json, '}');
}

static void print_json(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                       const struct bli_draft *draft, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    json_spec(json, tuning);
    bli_head_json(json, draft, NULL);
    bli_json_number(json, "least_power", minimum_power(tuning, tuned));
    json_result(rows, "always_on", &tuned->always_on);
    bli_json_number(json, "knee", tuned->knee < tuned->points ? tuned->point[tuned->knee].standby : NAN);
    bli_json_bool(json, "doubted", tuned->doubted);
    const struct bli_tune_proposal proposal = bli_tune_propose(tuning, tuned);
    bli_json_open(json, "keeper", '{');
    bli_json_number(json, "standby", proposal.standby);
    bli_json_number(json, "on", proposal.on);
    bli_json_count(json, "least", proposal.least);
    bli_json_count(json, "most", proposal.most);
    bli_json_close(json, '}');
    bli_json_open(json, "points", '[');
    for (unsigned i = 0; i < tuned->points; i++) {
        bli_json_open(json, NULL, '{');
        bli_json_number(json, "standby", tuned->point[i].standby);
        bli_json_bool(json, "frontier", tuned->point[i].frontier);
        bli_json_bool(json, "knee", i == tuned->knee);
        json_result(rows, "tabs", &tuned->point[i].tabs);
        json_result(rows, "delayed_off", &tuned->point[i].pooled);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

void bli_tune_print(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                    const struct bli_draft *draft, struct bli_rows *rows) {
    if (rows->text)
        print_text(tuning, tuned, draft, rows->style, rows->text);
    else if (rows->json)
        print_json(tuning, tuned, draft, rows);
    else
        put_rows(rows, tuned, draft);
}

void bli_tune_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_tuning tuning = {.model = draft.c.model, .run = draft.c.run};
    struct bli_tune_point point = {.standby = 1};
    const struct bli_tuned tuned = {.points = 1, .point = &point, .knee = 1};
    bli_tune_print(&tuning, &tuned, &draft, rows);
}

/* ---- figure ---- */

/* A curve of one policy and points on it. */
static void put_curve(struct bli_series *line, struct bli_series *points, const char *name, unsigned group,
                      size_t count, const double *x, const double *y, const double *half) {
    *line = (struct bli_series){
        .name = name, .group = group, .style = BLI_STYLE_LINE, .count = count, .x = x, .y = y};
    *points = (struct bli_series){.name = name,
                                  .group = group,
                                  .style = BLI_STYLE_POINTS,
                                  .count = count,
                                  .x = x,
                                  .y = y,
                                  .half_width = half};
}

enum bal_code bli_tune_figure(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                              const char *path, struct bal_error *err) {
    const size_t n = tuned->points;
    double *values = malloc(6 * n * sizeof *values);
    if (!values)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the figure");
    double *x[2] = {values, values + n}, *y[2] = {values + 2 * n, values + 3 * n};
    double *half[2] = {values + 4 * n, values + 5 * n};
    for (size_t i = 0; i < n; i++)
        for (int p = 0; p < 2; p++) {
            const struct bli_result *result = p ? &tuned->point[i].pooled : &tuned->point[i].tabs;
            x[p][i] = metric_of(result, BLI_POWER_MEAN);
            y[p][i] = metric_of(result, BLI_WAITING_MEAN);
            half[p][i] = estimate_of(result, BLI_WAITING_MEAN).half_width;
        }
    struct bli_series series[6];
    put_curve(&series[0], &series[1], "tabs", 0, n, x[0], y[0], half[0]);
    put_curve(&series[2], &series[3], "delayed-off", 1, n, x[1], y[1], half[1]);
    /* Always on hardly waits, which a logarithmic scale cannot show: a line at its power. */
    const double on = metric_of(&tuned->always_on, BLI_POWER_MEAN), on_x[] = {on, on};
    double on_y[] = {INFINITY, 0};
    for (size_t i = 0; i < 2 * n; i++) {
        const double waiting = y[0][i]; /* both rows, one after the other */
        on_y[0] = waiting > 0 ? fmin(on_y[0], waiting) : on_y[0];
        on_y[1] = waiting > 0 ? fmax(on_y[1], waiting) : on_y[1];
    }
    series[4] = (struct bli_series){
        .name = "always on (jiq)", .group = 2, .style = BLI_STYLE_LINE, .count = 2, .x = on_x, .y = on_y};
    const size_t knee = tuned->knee;
    char name[80] = "";
    if (knee < n) {
        snprintf(name, sizeof name, "knee: standby %.3g", tuned->point[knee].standby);
        series[5] = (struct bli_series){.name = name,
                                        .group = 3,
                                        .style = BLI_STYLE_POINTS,
                                        .count = 1,
                                        .x = &x[0][knee],
                                        .y = &y[0][knee]};
    }
    char servers[300], setup[200], title[600];
    bli_servers_print(&tuning->model.servers, servers, sizeof servers);
    bli_dist_print(&tuning->model.setup, setup, sizeof setup);
    snprintf(title, sizeof title, "%s servers, load %g, set-up %s", servers, tuning->model.load, setup);
    const struct bli_panel panel = {.x = {.label = "power of a server", .unit = "W"},
                                    .y = {.label = "mean waiting time", .log = true},
                                    .series = series,
                                    .count = knee < n ? 6 : 5};
    const struct bli_figure figure = {.title = title, .panel = &panel, .panels = 1};
    const enum bal_code code = bli_figure_write(&figure, path, err);
    free(values);
    return code;
}
