/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints and draws what tuning of slots found. */
#include "report/slots_report.h"

#include "ballast/figure.h"
#include "ballast/number.h"
#include "ballast/percentile.h"
#include "report/comparison.h"
#include "report/doubt_notes.h"
#include "report/metric.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>

static void name_slots(uint32_t slots, char text[BLI_NUMBER_TEXT]) {
    if (slots == BLI_SLOTS_ALL)
        snprintf(text, BLI_NUMBER_TEXT, "all");
    else
        snprintf(text, BLI_NUMBER_TEXT, "%u", slots);
}

static const char *name_value(const struct bli_slots_question *question, char text[BLI_PERCENTILE_TEXT]) {
    return question->quantile > 0 ? bli_percentile_print(question->quantile, text) : "mean";
}

static bool has_means(const struct bli_slots_point *point) {
    return point->possible && bli_comparison_has_means(&point->result);
}

static struct bli_estimate value_of(const struct bli_slots_question *question,
                                    const struct bli_slots_point *point) {
    return has_means(point) ? bli_slots_value(question, point) : (struct bli_estimate){NAN, NAN};
}

static struct bli_estimate metric_of(const struct bli_slots_point *point, enum bli_metric metric) {
    return has_means(point) ? point->result.metric[metric] : (struct bli_estimate){NAN, NAN};
}

/* ---- for people ---- */

static void print_head(const struct bli_slots_question *question, const struct bli_draft *draft, FILE *out) {
    static const char *const told[] = {"servers", "load", "service", "speeds", "slots", "replications", NULL};
    const struct bli_model *model = &question->base.model;
    char servers[300], service[200], speeds[400];
    bli_servers_print(&model->servers, servers, sizeof servers);
    bli_dist_print(&model->size, service, sizeof service);
    bli_speeds_print(&model->speeds, speeds, sizeof speeds);
    struct bli_head head = {.used = 0};
    bli_head_add(&head, "%s on %s server%s with speeds %s at load %g of the best, service %s",
                 bli_policy_name(&question->base.policy).text, servers,
                 bli_servers_count(&model->servers) == 1 ? "" : "s", speeds, model->load, service);
    bli_head_add_settings(&head, draft, true, told);
    bli_head_add(&head, "; %s%u replications", question->base.precision > 0 ? "at least " : "",
                 question->base.replications);
    bli_head_add_settings(&head, draft, false, told);
    bli_head_add(&head, ", seed" BLI_TABLE_JOIN "%llu", (unsigned long long)question->base.run.seed);
    bli_head_print(&head, out);
    fputc('\n', out);
}

static void add_estimate(struct table *table, struct bli_estimate estimate, const char *mark) {
    char text[BLI_METRIC_TEXT] = "";
    bli_percentile_cell(estimate, text);
    bli_table_add(table, "%s%s", text, mark);
}

static void add_point(struct table *table, const struct bli_slots_question *question,
                      const struct bli_slots_answer *answer, const struct bli_slots_point *point,
                      struct doubt_notes *notes) {
    char slots[BLI_NUMBER_TEXT], label[60];
    name_slots(point->slots, slots);
    snprintf(label, sizeof label, "%s slot%s", slots, point->slots == 1 ? "" : "s");
    bli_table_add(table, "%s", slots);
    bli_table_add(table, "%.0f%%", 100 * point->speed);
    bli_table_add(table, "%.3f", point->c.model.load);
    if (!has_means(point)) {
        bli_table_add(table, "%s", point->possible ? bli_comparison_no_means(&point->result) : "overloaded");
        for (int i = question->quantile > 0 ? 0 : 1; i < 5; i++)
            bli_table_add(table, "%s", "");
        return;
    }
    const struct bli_estimate value = value_of(question, point);
    add_estimate(table, value, bli_doubt_add(notes, label, &point->c, &point->result));
    if (question->quantile > 0)
        add_estimate(table, point->result.metric[BLI_RESPONSE_MEAN], "");
    const bool known = answer->least < answer->points;
    const double least = known ? bli_slots_value(question, &answer->point[answer->least]).mean : NAN;
    bli_table_add_number(table, "%+.0f%%", bli_shown(100 * (value.mean / least - 1), 0));
    bli_table_add(table, "%.1f%%", 100 * metric_of(point, BLI_WAITING_PROBABILITY).mean);
    if (isfinite(point->alone.response_mean))
        bli_table_add(table, "= %.4g", point->alone.response_mean);
    else
        bli_table_add(table, "%s", isnan(point->alone.response_mean) ? "" : "unstable");
    bli_table_add(table, "%s", point->best ? "\u25c0 best" : point->meets ? "meets the target" : "");
}

/* The numbers of slots with a property, as "4 to 8, 16": neighbours among those that were tried make a range.
 */
static void list_points(const struct bli_slots_answer *answer, bool targets, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < answer->points; i++) {
        const unsigned first = i;
        while (i < answer->points && (targets ? answer->point[i].meets : answer->point[i].best))
            i++;
        if (i == first)
            continue;
        char low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT];
        name_slots(answer->point[first].slots, low);
        name_slots(answer->point[i - 1].slots, high);
        const size_t left = used < size ? size - used : 0;
        used += (size_t)snprintf(left ? text + used : NULL, left, "%s%s%s%s", used ? ", " : "", low,
                                 i - first > 1 ? " to " : "", i - first > 1 ? high : "");
    }
}

static void print_advice(const struct bli_slots_question *question, const struct bli_slots_answer *answer,
                         FILE *out) {
    char value[BLI_PERCENTILE_TEXT], list[300];
    const char *name = name_value(question, value);
    fputc('\n', out);
    if (answer->least < answer->points) {
        char slots[BLI_NUMBER_TEXT];
        unsigned first = 0;
        while (!answer->point[first].best)
            first++;
        name_slots(answer->point[first].slots, slots);
        list_points(answer, false, list, sizeof list);
        fprintf(out,
                "Best %s: %s slots (of those tried; within %g %% of the least, or not to be told from it).\n",
                name, list, 100 * BLI_TUNE_SLOTS_NEAR);
        fprintf(out, "Take %s: with fewer requests at a server, fewer are lost with it.\n", slots);
    } else {
        fputs("No number of slots is sure to be the best: all are overloaded, open or doubted.\n", out);
    }
    if (!isnan(question->target)) {
        list_points(answer, true, list, sizeof list);
        fprintf(out, "%s at most %g: %s%s.\n", name, question->target,
                *list ? list : "no number of slots tried", *list ? " slots" : "");
    }
    fputs(
        "speed: that a server can have with so many slots, of the best. load: of that speed. over: above the "
        "least.\n"
        "random: mean response if each request went to a uniform server, by theory (birth-death).\n"
        "Times are in mean service times of a request alone at speed 1. \u00b1: 95 % confidence.\n",
        out);
}

static void print_text(const struct bli_slots_question *question, const struct bli_slots_answer *answer,
                       const struct bli_draft *draft, enum bli_table_style style, FILE *out) {
    char value[BLI_PERCENTILE_TEXT];
    const char *const head[] = {
        "slots", "speed",  "load", name_value(question, value), "mean response", "over",
        "waits", "random", ""};
    const bool both = question->quantile > 0; /* the mean is not the value itself */
    struct table table;
    struct doubt_notes notes = {0};
    bli_table_init(&table, both ? 9 : 8);
    for (int i = 0; i < 9; i++)
        if (both || i != 3)
            bli_table_add(&table, "%s", head[i]);
    for (unsigned i = 0; i < answer->points; i++)
        add_point(&table, question, answer, &answer->point[i], &notes);
    print_head(question, draft, out);
    bli_table_print(&table, both ? "rrrrrrrrl" : "rrrrrrrl", style, out);
    bli_table_fini(&table);
    print_advice(question, answer, out);
    bli_doubt_print(&notes, BLI_REMEDY_OPTION, out);
}

/* ---- for programs ---- */

static const char *state_of(const struct bli_slots_point *point) {
    return point->possible ? bli_verdict_text(point->result.verdict) : "overloaded";
}

static void put_point(struct bli_rows *rows, const struct bli_slots_question *question,
                      const struct bli_slots_point *point, const struct bli_draft *draft) {
    char slots[BLI_NUMBER_TEXT], value[BLI_PERCENTILE_TEXT], name[60];
    name_slots(point->slots, slots);
    snprintf(name, sizeof name, "response.%s", bli_percentile_name(question->quantile, value));
    do {
        bli_row_begin(rows);
        bli_row_count_or_text(rows, "slots", "requests that a server works on at once, or `all`",
                              point->slots, point->slots == BLI_SLOTS_ALL ? slots : NULL);
        bli_row_number(rows, "speed", "speed of a server with so many|of the best", point->speed);
        bli_row_number(rows, "load", "arriving work|of that speed", point->c.model.load);
        bli_row_text(rows, "verdict", "`stable`, `unstable`, `undecided` or `overloaded`", state_of(point));
        bli_row_doubts(rows, point->possible ? point->result.doubts : 0);
        bli_row_metric(rows, BLI_RESPONSE_MEAN, metric_of(point, BLI_RESPONSE_MEAN));
        if (bli_row_if(rows, question->quantile > 0))
            bli_row_varying(rows, name, "the percentile that was asked for|time|`--target`",
                            value_of(question, point));
        bli_row_number(rows, "waiting.probability", "jobs that wait at all|share",
                       metric_of(point, BLI_WAITING_PROBABILITY).mean);
        bli_row_number(rows, "random.response.mean", "mean if each went to a uniform server, by theory|time",
                       point->possible ? point->alone.response_mean : NAN);
        bli_row_bool(rows, "best", "is it one of the best?", point->best, bli_zero_one);
        bli_row_bool(rows, "meets", "does it meet the target?", point->meets, bli_zero_one);
    } while (bli_row_end(rows, draft));
}

static void put_points(struct bli_rows *rows, const struct bli_slots_question *question,
                       const struct bli_slots_answer *answer, const struct bli_draft *draft) {
    for (unsigned i = 0; i < answer->points; i++)
        put_point(rows, question, &answer->point[i], draft);
}

static void print_json(const struct bli_slots_question *question, const struct bli_slots_answer *answer,
                       const struct bli_draft *draft, struct bli_rows *rows) {
    struct json *json = rows->json;
    rows->lines = true;
    bli_rows_open(rows);
    bli_json_text(json, "policy", bli_policy_name(&question->base.policy).text);
    bli_head_json(json, draft, NULL);
    bli_json_number(json, "target", question->target);
    bli_json_open(json, "points", '[');
    put_points(rows, question, answer, NULL);
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

void bli_slots_print(const struct bli_slots_question *question, const struct bli_slots_answer *answer,
                     const struct bli_draft *draft, struct bli_rows *rows) {
    if (rows->text)
        print_text(question, answer, draft, rows->style, rows->text);
    else if (rows->json)
        print_json(question, answer, draft, rows);
    else
        put_points(rows, question, answer, draft);
}

void bli_slots_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_slots_question question = {.base = draft.c, .quantile = 0.99};
    const struct bli_slots_answer answer = {.points = 1, .point = {{.c = draft.c, .slots = 1}}};
    bli_slots_print(&question, &answer, &draft, rows);
}

/* ---- figure ---- */

enum bal_code bli_slots_figure(const struct bli_slots_question *question,
                               const struct bli_slots_answer *answer, const char *path,
                               struct bal_error *err) {
    double x[BLI_TUNE_SLOTS_MAX], y[2][BLI_TUNE_SLOTS_MAX], half[2][BLI_TUNE_SLOTS_MAX];
    size_t n = 0;
    for (unsigned i = 0; i < answer->points; i++) {
        const struct bli_slots_point *point = &answer->point[i];
        if (!has_means(point) || point->slots == BLI_SLOTS_ALL)
            continue;
        const struct bli_estimate of[2] = {value_of(question, point),
                                           point->result.metric[BLI_RESPONSE_MEAN]};
        x[n] = point->slots;
        for (int k = 0; k < 2; k++) {
            y[k][n] = of[k].mean;
            half[k][n] = of[k].half_width;
        }
        n++;
    }
    if (n == 0)
        return bal_fail(err, BAL_E_RANGE, "no number of slots has a mean that could be drawn");
    char value[BLI_PERCENTILE_TEXT], speeds[200], title[600];
    const unsigned curves = question->quantile > 0 ? 2 : 1;
    const char *const names[2] = {name_value(question, value), "mean"};
    struct bli_series series[4];
    for (unsigned k = 0; k < curves; k++) {
        series[2 * k] = (struct bli_series){
            .name = names[k], .group = k, .style = BLI_STYLE_LINE, .count = n, .x = x, .y = y[k]};
        series[2 * k + 1] = series[2 * k];
        series[2 * k + 1].style = BLI_STYLE_POINTS;
        series[2 * k + 1].half_width = half[k];
    }
    bli_speeds_print(&question->base.model.speeds, speeds, sizeof speeds);
    snprintf(title, sizeof title, "speeds %.200s, load %g", speeds, question->base.model.load);
    const struct bli_panel panel = {
        .x = {.label = "slots of a server", .log = true},
        .y = {.label = "response time", .unit = "mean service times", .log = true},
        .series = series,
        .count = 2 * curves};
    const struct bli_figure figure = {.title = title, .panel = &panel, .panels = 1};
    return bli_figure_write(&figure, path, err);
}
