/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the critical constants that a search for the frontier found, and draws them. */
#include "report/frontier_report.h"

#include "ballast/figure.h"
#include "ballast/predict.h"
#include "ballast/theory.h"
#include "report/doubt_notes.h"
#include "report/json_parts.h"
#include "report/report_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *axis_name(const struct bli_frontier_question *q) {
    return q->axis == BLI_FRONTIER_LOAD ? "load" : "constant";
}

static bool is_chain(const struct bli_frontier_question *q) {
    return bli_scheme_of(q->policy.policy) == BLI_SCHEME_GENERATED;
}

/* ---- for people ---- */

/* The settings of the question, but for what is sought. */
static struct bli_draft settings_of(const struct bli_frontier_question *q, bool load) {
    struct bli_draft draft;
    bli_draft_init(&draft);
    draft.c.model = q->model;
    draft.c.run.engine = q->engine;
    if (q->longest > 0)
        draft.time = q->longest;
    if (!load)
        draft.c.model.load = NAN;
    return draft;
}

static void print_head(const struct bli_frontier_question *q, const char *what, FILE *out) {
    static const char *const told[] = {"servers", "slots",     "clock",   "batch", "split", "service", "high",
                                       "buffer",  "placement", "victims", "steal", "load",  NULL};
    const struct bli_model *model = &q->model;
    const struct bli_draft draft = settings_of(q, true);
    struct bli_head head = {.used = 0};
    char servers[1000], slots[40], text[BAL_PLACEMENT_TEXT];
    bli_servers_print(&model->servers, servers, sizeof servers);
    bli_head_add(&head, "%s on %s servers", bli_policy_name(&q->policy).text, servers);
    bli_head_slots(model, slots, sizeof slots);
    bli_head_add(&head, "%s", slots);
    if (model->clock == BLI_CLOCK_SLOTTED && !is_chain(q)) {
        bli_batch_print(&model->batch, text, sizeof text);
        bli_head_add(&head, ", slotted, batches %s, %s", text, model->split ? "split" : "whole");
    } else if (!is_chain(q)) {
        bli_dist_print(&model->size, text, sizeof text);
        bli_head_add(&head, ", service %s", text);
    }
    if (model->classes)
        bli_head_add(&head, ", %g %% high", 100 * model->high);
    if (model->buffer > 0)
        bli_head_add(&head, ", buffers of %u", model->buffer);
    if (is_chain(q)) {
        bal_placement_print(&model->placement, text, sizeof text);
        bli_head_add(&head, ", generators %s, victims %s", text, model->others ? "others" : "all");
    }
    if (q->axis == BLI_FRONTIER_LOAD && model->steal.kind != BAL_STEAL_NONE) {
        bal_steal_print(&model->steal, text, sizeof text);
        bli_head_add(&head, ", steal %s", text);
    }
    bli_head_add(&head, "%s", what);
    bli_head_add_settings(&head, &draft, true, told);
    bli_head_add(&head, "; seed" BLI_TABLE_JOIN "%llu", (unsigned long long)q->seed);
    bli_head_add_settings(&head, &draft, false, told);
    bli_head_print(&head, out);
    fputc('\n', out);
}

/* Two digits of the half-width. */
static void add_seen(struct table *table, struct bli_estimate seen, const char *sign) {
    const int digits = seen.half_width > 0 ? (int)fmin(fmax(1 - floor(log10(seen.half_width)), 0), 6) : 2;
    if (isnan(seen.mean))
        bli_table_add(table, "%s", "");
    else
        bli_table_add(table, "%s%.*f \u00b1 %.*f", seen.mean < 0 ? "" : sign, digits, seen.mean, digits,
                      seen.half_width);
}

static void print_points(const struct bli_frontier_question *q, const struct bli_frontier *f,
                         enum bli_table_style style, FILE *out) {
    const bool both = f->test == BLI_FRONTIER_STARTS;
    const char *const head[] = {axis_name(q), "verdict", "drift", "looks", "run", "growth"};
    struct table table;
    bli_table_init(&table, both ? 6 : 5);
    for (int i = 0; i < 5 + both; i++)
        bli_table_add(&table, "%s", head[i]);
    for (unsigned i = 0; i < f->points; i++) {
        const struct bli_frontier_point *point = &f->point[i];
        bli_table_add(&table, "%.6g", point->at);
        bli_table_add(&table, "%s", bli_verdict_text(point->verdict));
        add_seen(&table, point->drift, "+");
        bli_table_add(&table, "%u", point->looks);
        bli_table_add(&table, "%.6g", point->time);
        if (both)
            add_seen(&table, point->growth, "");
    }
    bli_table_print(&table, "rlrrrr", style, out);
    bli_table_fini(&table);
}

/* What is known of the border, in one sentence. */
static void print_answer(const struct bli_frontier_question *q, const struct bli_frontier *f, FILE *out) {
    const char *name = axis_name(q);
    const bool load = q->axis == BLI_FRONTIER_LOAD;
    if (f->points == 0)
        fprintf(out, "Nothing is known yet.\n");
    else if (isnan(f->stable) && isnan(f->unstable))
        fprintf(out, "Undecided at every %s tried.\n", name);
    else if (isnan(f->unstable))
        fprintf(out, "Stable at every %s tried%s, %s %.6g.\n", name, f->undecided ? " but the undecided" : "",
                load ? "up to" : "down to", f->stable);
    else if (isnan(f->stable))
        fprintf(out, "Unstable at every %s tried%s, %s %.6g.\n", name,
                f->undecided ? " but the undecided" : "", load ? "down to" : "up to", f->unstable);
    else
        fprintf(out, "critical %s: between %.6g (%s) and %.6g (%s)", name, load ? f->stable : f->unstable,
                load ? "stable" : "unstable", load ? f->unstable : f->stable, load ? "unstable" : "stable");
    if (isnan(f->stable) || isnan(f->unstable))
        return;
    if (!isnan(f->estimate))
        fprintf(out, "; the drift is 0 at about %.*f", load ? 4 : 1, f->estimate);
    if (f->undecided)
        fprintf(out, "; %u point%s between them undecided", f->undecided, f->undecided > 1 ? "s" : "");
    fputs(".\n", out);
}

static void print_proved_unstable(const struct bli_frontier_proof *proof, FILE *out) {
    if (proof->line[0] > 0)
        fprintf(out,
                "Proved unstable: constants below %.2f (Theorem 9), below %.2f (who is asked counted).\n",
                proof->line[0], proof->line[1]);
    else
        fputs("Proved unstable: none.\n", out);
}

static void print_proved_stable(const struct bli_frontier_proof *proof, bool others, FILE *out) {
    if (proof->all_stable)
        fprintf(out, "Proved stable: all constants (%s).\n", proof->all_stable);
    else if (others)
        fputs("Proved stable: none, Theorem 1 draws victims from all.\n", out);
    else if (!isnan(proof->stable_from_log10))
        fprintf(out, "Proved stable: constants from 10^%.0f on (Theorem 1).\n", proof->stable_from_log10);
    else if (proof->servers_from > 0)
        fprintf(out, "Proved stable: none, Theorem 1 begins at n = %llu for this load.\n",
                (unsigned long long)proof->servers_from);
    else
        fputs("Proved stable: none, Theorem 1 begins beyond n = 10^15 for this load.\n", out);
}

static void print_doubts(const struct bli_frontier *f, FILE *out) {
    if (f->doubts & BLI_DOUBT_TAIL)
        fputs(
            "!: job sizes have no second moment, so that drifts have no finite variance: claims may be wrong "
            "more often.\n",
            out);
    if (f->doubts & BLI_DOUBT_THEORY)
        fprintf(out, "!: exact theory contradicts it: the critical load is %.6g.\n", f->critical_load);
}

static void print_text(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                       enum bli_table_style style, FILE *out) {
    char what[60] = "";
    if (question->axis == BLI_FRONTIER_CONSTANT)
        snprintf(what, sizeof what, ", load %g", question->model.load);
    print_head(question, what, out);
    if (frontier->points > 0)
        print_points(question, frontier, style, out);
    fputc('\n', out);
    print_answer(question, frontier, out);
    fprintf(out, "The probability that chance makes any of these claims wrong is at most %g.\n",
            question->error);
    print_doubts(frontier, out);
    if (frontier->proof.hosts) {
        print_proved_unstable(&frontier->proof, out);
        print_proved_stable(&frontier->proof, question->model.others, out);
    }
    if (frontier->test == BLI_FRONTIER_SATURATED)
        fputs("drift: of all tasks together, in a step, while the hosts have more than they can lose.\n",
              out);
    else
        fputs(
            "drift: of the total queue, per unit of time, from long queues on. growth: from 0, the total "
            "queue "
            "in the second\n"
            "half of a run over that in the first; 1 settled, 1.83 on the border, 3 in proportion to time.\n",
            out);
    fprintf(out, "\u00b1: as wide as a claim needs. run: length of the %d runs of the last look.\n",
            BLI_FRONTIER_REPLICATIONS);
}

static void print_map_text(const struct bli_frontier_chart *chart, enum bli_table_style style, FILE *out) {
    struct table table;
    bli_table_begin(&table, "load|unstable|stable|drift 0 at|Theorem 9|asked");
    for (unsigned i = 0; i < chart->count; i++) {
        const struct bli_frontier *f = &chart->frontier[i];
        const double *line = f->proof.line;
        bli_table_add(&table, "%g", chart->load[i]);
        bli_table_add_number(&table, "%.6g", f->unstable);
        bli_table_add_number(&table, "%.6g", f->stable);
        bli_table_add_number(&table, "%.1f", f->estimate);
        bli_table_add_number(&table, "%.1f", fmax(line[0], 0));
        bli_table_add_number(&table, "%.1f", fmax(line[1], 0));
    }
    print_head(chart->question, "", out);
    bli_table_print(&table, "rrrrrr", style, out);
    bli_table_fini(&table);
    fprintf(out,
            "\nunstable, stable: the nearest constants that are so, all claims together wrong with "
            "probability %g at most.\n"
            "Proved unstable: constants below Theorem 9; below `asked`, which counts who is asked.\n",
            chart->question->error);
}

/* ---- for programs ---- */

static void put_point(struct bli_rows *rows, const struct bli_frontier_point *point, unsigned doubts,
                      const struct bli_draft *draft) {
    do {
        bli_row_begin(rows);
        bli_row_number(rows, "at", "the load or constant that was tried", point->at);
        bli_row_verdict(rows, point->verdict);
        bli_row_estimate(rows, "drift", "change of the total queue, from long queues on|jobs per time",
                         point->drift);
        bli_row_estimate(rows, "growth", "the total queue, in the second half of a run over the first",
                         point->growth);
        bli_row_count(rows, "looks", "how often it was looked whether a claim can be made", point->looks);
        bli_row_number(rows, "time", "length of the runs of the last look|time", point->time);
        if (!rows->json)
            bli_row_doubts(rows, doubts);
    } while (bli_row_end(rows, draft));
}

static void put_points(struct bli_rows *rows, const struct bli_frontier *frontier,
                       const struct bli_draft *draft) {
    rows->half = ".half";
    rows->names_only = frontier->points == 0;
    for (unsigned i = 0; i < frontier->points + (rows->csv && rows->names_only); i++)
        put_point(rows, &frontier->point[i], frontier->doubts, draft);
}

static void put_loads(const struct bli_frontier_chart *chart, struct bli_rows *rows) {
    const struct bli_draft draft = settings_of(chart->question, false);
    for (unsigned i = 0; i < chart->count; i++) {
        const struct bli_frontier *f = &chart->frontier[i];
        do {
            bli_row_begin(rows);
            bli_row_number(rows, "load", "arriving work|of the capacity", chart->load[i]);
            bli_row_number(rows, "unstable", "the largest constant that is unstable", f->unstable);
            bli_row_number(rows, "stable", "the smallest constant that is stable", f->stable);
            bli_row_number(rows, "estimate", "the constant where the drift is 0", f->estimate);
            bli_row_count(rows, "undecided", "constants between them that are undecided", f->undecided);
            bli_row_number(rows, "theorem_9", "constants below are proved unstable", f->proof.line[0]);
            bli_row_number(rows, "asked", "the same, if who is asked is counted", f->proof.line[1]);
        } while (bli_row_end(rows, &draft));
    }
}

static void json_spec(struct json *json, const struct bli_frontier_question *q, bool load) {
    const struct bli_model *model = &q->model;
    const bool slotted = model->clock == BLI_CLOCK_SLOTTED;
    bli_json_open(json, "spec", '{');
    bli_json_text(json, "policy", bli_policy_name(&q->policy).text);
    bli_json_model(json, model, "servers");
    bli_json_text(json, "time", bli_clock_text(model->clock));
    bli_json_model_if(json, model, load, "load#");
    bli_json_model_if(json, model, !is_chain(q) && slotted, "batch split!");
    bli_json_model_if(json, model, !is_chain(q) && !slotted, "service");
    bli_json_model(json, model, "slots#?");
    if (bli_json_if(json, model->classes))
        bli_json_number(json, "high", model->high);
    bli_json_model(json, model, "buffer#?");
    bli_json_model_if(json, model, is_chain(q), "placement victims");
    bli_json_model_if(json, model, q->axis == BLI_FRONTIER_LOAD, "steal");
    bli_json_text(json, "axis", axis_name(q));
    bli_json_number(json, "error", q->error);
    bli_json_count(json, "seed", q->seed);
    bli_json_close(json, '}');
    const struct bli_draft draft = settings_of(q, load);
    bli_head_json(json, &draft, NULL);
}

static void json_found(struct bli_rows *rows, const struct bli_frontier *f) {
    struct json *json = rows->json;
    bli_json_text(json, "test", f->test == BLI_FRONTIER_SATURATED ? "saturated" : "starts");
    bli_json_number(json, "stable", f->stable);
    bli_json_number(json, "unstable", f->unstable);
    bli_json_number(json, "estimate", f->estimate);
    bli_json_count(json, "undecided", f->undecided);
    bli_doubt_json(json, f->doubts);
    bli_json_bool(json, "cut_short", f->cut_short);
    bli_json_open(json, "points", '[');
    put_points(rows, f, NULL);
    bli_json_close(json, ']');
}

static void json_lines(struct json *json, const struct bli_frontier_proof *proof) {
    if (!bli_json_if(json, proof->hosts))
        return;
    bli_json_number(json, "theorem_9", proof->line[0]);
    bli_json_number(json, "asked", proof->line[1]);
}

static void print_json(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                       struct bli_rows *rows) {
    bli_rows_open(rows);
    json_spec(rows->json, question, question->axis == BLI_FRONTIER_CONSTANT);
    json_found(rows, frontier);
    json_lines(rows->json, &frontier->proof);
    bli_json_close(rows->json, '}');
}

static void print_map_json(const struct bli_frontier_chart *chart, struct bli_rows *rows) {
    struct json *json = rows->json;
    bli_rows_open(rows);
    json_spec(json, chart->question, false);
    bli_json_open(json, "map", '[');
    for (unsigned i = 0; i < chart->count; i++) {
        bli_json_open(json, NULL, '{');
        bli_json_number(json, "load", chart->load[i]);
        json_found(rows, &chart->frontier[i]);
        json_lines(json, &chart->frontier[i].proof);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

void bli_frontier_print(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                        struct bli_rows *rows) {
    const struct bli_draft draft = settings_of(question, question->axis == BLI_FRONTIER_CONSTANT);
    if (rows->text)
        print_text(question, frontier, rows->style, rows->text);
    else if (rows->json)
        print_json(question, frontier, rows);
    else
        put_points(rows, frontier, &draft);
}

void bli_frontier_map_print(const struct bli_frontier_chart *chart, struct bli_rows *rows) {
    if (rows->text)
        print_map_text(chart, rows->style, rows->text);
    else if (rows->json)
        print_map_json(chart, rows);
    else
        put_loads(chart, rows);
}

void bli_frontier_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_frontier_question question = {.model = draft.c.model, .policy = draft.c.policy};
    const struct bli_frontier frontier = {.points = 1};
    bli_frontier_print(&question, &frontier, rows);
}

void bli_frontier_map_describe(struct bli_rows *rows) {
    const struct bli_draft draft = bli_rows_sample();
    const struct bli_frontier_question question = {.model = draft.c.model, .policy = draft.c.policy};
    const struct bli_frontier frontier = {.points = 1};
    const struct bli_frontier_chart chart = {&question, &(double){0.5}, &frontier, 1};
    bli_frontier_map_print(&chart, rows);
}

/* ---- figure ---- */

enum { CURVE = 200 }; /* points of a line */

/* A line where it is at least 1: there are no constants below. */
static void draw_lines(const struct bli_frontier_chart *chart, double *x, double *y[2]) {
    const double from = chart->load[0], to = chart->load[chart->count - 1];
    for (int i = 0; i < CURVE; i++) {
        double line[2];
        x[i] = from + (to - from) * i / (CURVE - 1);
        bli_frontier_lines(chart->question, x[i], line);
        for (int k = 0; k < 2; k++)
            y[k][i] = line[k] >= 1 ? line[k] : NAN;
    }
}

enum bal_code bli_frontier_map_figure(const struct bli_frontier_chart *chart, const char *path,
                                      struct bal_error *err) {
    const struct bli_frontier_question *q = chart->question;
    double *values = malloc((3 * CURVE + 2 * (size_t)chart->count) * sizeof *values);
    if (!values)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the figure");
    double *x = values, *y[2] = {values + CURVE, values + 2 * CURVE};
    double *measured = values + 3 * CURVE, *half = measured + chart->count;
    draw_lines(chart, x, y);
    for (unsigned i = 0; i < chart->count; i++) {
        const struct bli_frontier *f = &chart->frontier[i];
        const double middle = (f->stable + f->unstable) / 2; /* NaN where one is not known */
        measured[i] = isnan(f->estimate) ? middle : f->estimate;
        half[i] = fmax(fabs(f->stable - measured[i]), fabs(f->unstable - measured[i]));
    }
    const struct bli_series series[] = {
        {.name = "measured: unstable below, stable above",
         .group = 0,
         .style = BLI_STYLE_POINTS,
         .count = chart->count,
         .x = chart->load,
         .y = measured,
         .half_width = half},
        {.name = "proved unstable below (Theorem 9)",
         .group = 1,
         .style = BLI_STYLE_LINE,
         .count = CURVE,
         .x = x,
         .y = y[0]},
        {.name = "proved unstable below (who is asked counted)",
         .group = 2,
         .style = BLI_STYLE_LINE,
         .count = CURVE,
         .x = x,
         .y = y[1]},
    };
    char title[200];
    snprintf(title, sizeof title, "%u processors, generators on %u of them",
             bli_servers_count(&q->model.servers), chart->frontier[0].proof.hosts);
    const struct bli_panel panel = {.x = {.label = "load"},
                                    .y = {.label = "tasks stolen at a time", .log = true},
                                    .series = series,
                                    .count = sizeof series / sizeof *series};
    const struct bli_figure figure = {.title = title, .panel = &panel, .panels = 1};
    const enum bal_code code = bli_figure_write(&figure, path, err);
    free(values);
    return code;
}
