/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the results of an experiment as text, csv and JSON. */
#include "report/outcome.h"

#include "report/comparison.h"
#include "report/doubt_notes.h"
#include "report/head.h"
#include "report/json_parts.h"
#include "report/judgements.h"
#include "report/metric.h"
#include "report/report_columns.h"
#include "report/sizes.h"
#include "spec/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls row() for each cell in order. */
struct walk {
    struct bli_store *store;
    const struct bli_experiment *e;
    struct bal_error *err;
    void *into;
    bool seconds;
    bool outlasted; /* a run went on after its curve */
    bool sizes;     /* a policy must know those of jobs */
    struct doubt_notes notes;
};

struct outcome_row {
    size_t point, policy;
    const struct bli_cell *cell, *baseline; /* at the same point */
};

typedef enum bal_code tell_row(struct walk *w, const struct outcome_row *row);

/* A sample has no store. */
static enum bal_code load_cell(struct walk *w, size_t point, size_t policy, struct bli_cell *cell) {
    if (w->store)
        return bli_cell_load(cell, w->store, w->e, point, policy, w->err);
    *cell = (struct bli_cell){.count = 0};
    bli_experiment_case(w->e, point, policy, &cell->c);
    return BAL_OK;
}

/* The baseline is read once for the rows of its point, its own among them. */
static enum bal_code tell_point(struct walk *w, size_t point, tell_row *tell) {
    struct bli_cell baseline;
    enum bal_code code = load_cell(w, point, w->e->baseline, &baseline);
    for (size_t policy = 0; !code && policy < w->e->policies; policy++) {
        struct bli_cell other = {.count = 0};
        const bool own = policy == w->e->baseline;
        const struct outcome_row row = {point, policy, own ? &baseline : &other, &baseline};
        if (!own)
            code = load_cell(w, point, policy, &other);
        if (!code)
            code = tell(w, &row);
        bli_cell_fini(&other);
    }
    bli_cell_fini(&baseline);
    return code;
}

static enum bal_code for_each_row(struct walk *w, tell_row *tell) {
    enum bal_code code = BAL_OK;
    for (size_t point = 0; !code && point < w->e->points; point++)
        code = tell_point(w, point, tell);
    return code;
}

/* The quantity over that of the baseline; unknown where one of them grows without bound. *doubted: one of
 * them is; may be NULL. */
static enum bal_code ratio_of(struct walk *w, const struct outcome_row *row, struct bli_quantity quantity,
                              struct bli_estimate *ratio, bool *doubted) {
    const struct bli_result *result = &row->cell->result, *other = &row->baseline->result;
    *ratio = (struct bli_estimate){NAN, NAN};
    if (result->replications == 0)
        return BAL_OK;
    if (doubted)
        *doubted = (result->doubts | other->doubts) & BLI_DOUBTS_OF_VALUE;
    const bool unstable = result->verdict == BLI_UNSTABLE || other->verdict == BLI_UNSTABLE;
    if (other->replications == 0 || (unstable && bli_quantity_diverges(quantity)))
        return BAL_OK;
    return bli_cell_ratio(row->cell, w->store, quantity, row->baseline, quantity, ratio, w->err);
}

/* Is it shown, but none of the metrics that every trial has? */
static bool is_extra(struct bli_quantity quantity) {
    return quantity.quantile > 0 || quantity.metric == BLI_METRIC_COUNT;
}

/* The quantity itself; unknown where it grows without bound. */
static enum bal_code value_of(struct walk *w, const struct outcome_row *row, struct bli_quantity quantity,
                              struct bli_estimate *value) {
    *value = (struct bli_estimate){NAN, NAN};
    const struct bli_result *result = &row->cell->result;
    if (result->replications == 0 || (result->verdict == BLI_UNSTABLE && bli_quantity_diverges(quantity)))
        return BAL_OK;
    return bli_cell_quantity(row->cell, w->store, quantity, value, w->err);
}

/* The names of the settings that are swept, ended by NULL. */
struct swept {
    const char *name[BLI_AXES_MAX * BLI_AXIS_FIELDS_MAX + 1];
};

static struct swept swept_of(const struct bli_experiment *e) {
    struct swept swept = {.name = {NULL}};
    size_t count = 0;
    for (size_t a = 0; a < e->axes; a++)
        for (unsigned f = 0; f < e->axis[a].fields; f++) {
            const struct bli_field *setting = bli_setting_find(e->axis[a].field[f]);
            if (setting)
                swept.name[count++] = setting->name;
        }
    return swept;
}

/* ---- csv ---- */

/* The quantities of a row that are none of the metrics that every trial has, and the ratios. */
static enum bal_code put_quantities(struct walk *w, const struct outcome_row *row, bool ratios) {
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < w->e->metrics; i++) {
        const struct bli_quantity quantity = w->e->metric[i];
        char text[BLI_QUANTITY_TEXT], name[BLI_QUANTITY_TEXT + 8];
        struct bli_estimate value;
        if (!ratios && !is_extra(quantity))
            continue;
        code = ratios ? ratio_of(w, row, quantity, &value, NULL) : value_of(w, row, quantity, &value);
        snprintf(name, sizeof name, "%s%s", ratios ? "ratio." : "", bli_quantity_text(quantity, text));
        if (!code)
            bli_row_estimate(w->into, name, "", value);
    }
    return code;
}

static enum bal_code csv_row(struct walk *w, const struct outcome_row *row) {
    const struct bli_experiment *e = w->e;
    struct bli_rows *rows = w->into;
    const struct bli_theory_row theory_row = bli_theory_row_of(&row->cell->c);
    size_t index[BLI_AXES_MAX];
    struct bli_draft draft;
    enum bal_code code = BAL_OK;
    bli_experiment_coordinates(e, row->point, index);
    bli_plan_point(e, row->point, &draft);
    do {
        bli_row_begin(rows);
        for (size_t a = 0; a < e->axes && !bli_row_several(rows, "AXIS", bli_row_axis_about); a++)
            bli_row_text(rows, e->axis[a].name, "", e->axis[a].value[index[a]].text[0]);
        bli_row_label(rows, e, row->policy, row->cell->c.run.seed);
        if (!bli_row_several(rows, "...", "the columns of `ballast compare`, in its order"))
            bli_comparison_put(rows, &row->cell->c, &row->cell->result, &theory_row);
        if (!bli_row_several(rows, "QUANTITY", "what the experiment shows and is no metric: `response.p95`"))
            code = put_quantities(w, row, false);
        if (!code && !bli_row_several(rows, "ratio.METRIC", "what it shows, over that of the baseline|ratio"))
            code = put_quantities(w, row, true);
        if (!code && bli_row_if(rows, w->seconds))
            bli_row_number(rows, "seconds", "of processor time; csv only|s|`--seconds`",
                           row->cell->result.seconds);
    } while (!code && bli_row_end(rows, &draft));
    return code;
}

/* ---- JSON ---- */

static void json_experiment(struct json *json, const struct bli_experiment *e) {
    bli_json_open(json, "experiment", '{');
    bli_json_text(json, "name", e->name);
    bli_json_text(json, "title", e->title);
    if (bli_json_if(json, e->paper))
        bli_json_text(json, "paper", e->paper);
    bli_json_text(json, "mode", bli_mode_text(e->mode));
    bli_json_count(json, "seed", e->seed);
    bli_json_text(json, "baseline", e->policy[e->baseline].label);
    bli_json_open_line(json, "axes", '[');
    for (size_t a = 0; a < e->axes; a++)
        bli_json_text(json, NULL, e->axis[a].name);
    bli_json_close(json, ']');
    const struct swept swept = swept_of(e);
    bli_head_json(json, &e->own->base, swept.name);
    bli_json_close(json, '}');
}

/* Also the quantities of the experiment that are none of the metrics that every trial has. */
static enum bal_code json_metrics(struct walk *w, const struct outcome_row *row) {
    struct json *json = w->into;
    bli_json_open(json, "metrics", '{');
    bli_comparison_json_metrics(json, &row->cell->result);
    for (size_t i = 0; i < w->e->metrics; i++) {
        struct bli_estimate value;
        char text[BLI_QUANTITY_TEXT];
        if (!is_extra(w->e->metric[i]))
            continue;
        const enum bal_code code = value_of(w, row, w->e->metric[i], &value);
        if (code)
            return code;
        bli_json_interval(json, bli_quantity_text(w->e->metric[i], text), value);
    }
    bli_json_close(json, '}');
    return BAL_OK;
}

static enum bal_code json_ratio(struct walk *w, const struct outcome_row *row) {
    struct json *json = w->into;
    bli_json_open_map(json, "ratio", true);
    for (size_t i = 0; i < w->e->metrics; i++) {
        struct bli_estimate ratio;
        char text[BLI_QUANTITY_TEXT];
        const enum bal_code code = ratio_of(w, row, w->e->metric[i], &ratio, NULL);
        if (code)
            return code;
        bli_json_interval(json, bli_quantity_text(w->e->metric[i], text), ratio);
    }
    bli_json_close(json, '}');
    return BAL_OK;
}

static enum bal_code json_row(struct walk *w, const struct outcome_row *row) {
    const struct bli_experiment *e = w->e;
    struct json *json = w->into;
    const struct bli_theory_row theory_row = bli_theory_row_of(&row->cell->c);
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, row->point, index);
    bli_json_open(json, NULL, '{');
    bli_json_open_map(json, "point", true);
    for (size_t a = 0; a < e->axes; a++) {
        const struct bli_sweep_value *value = &e->axis[a].value[index[a]];
        bli_json_number_or_text(json, e->axis[a].name, value->number,
                                isnan(value->number) ? value->text[0] : NULL);
    }
    bli_json_close(json, '}');
    bli_json_text(json, "label", e->policy[row->policy].label);
    bli_json_count(json, "seed", row->cell->c.run.seed);
    bli_comparison_json_fields(json, &row->cell->c, &row->cell->result, &theory_row);
    enum bal_code code = json_metrics(w, row);
    if (!code)
        code = json_ratio(w, row);
    bli_json_close(json, '}');
    return code;
}

static void json_claims(struct walk *w, const struct bli_judged *judged) {
    for (int group = 0; group < BLI_GROUPS; group++) {
        bli_json_open(w->into, bli_claim_group_names[group], '[');
        bli_judgements_json(w->into, w->e, judged, (enum bli_claim_group)group);
        bli_json_close(w->into, ']');
    }
}

static enum bal_code print_json(struct walk *w, const struct bli_judged *judged, struct bli_rows *rows) {
    struct json *json = rows->json;
    w->into = json;
    bli_rows_open(rows);
    json_experiment(json, w->e);
    bli_json_open(json, "results", '[');
    const enum bal_code code = for_each_row(w, json_row);
    bli_json_close(json, ']');
    if (!code)
        json_claims(w, judged);
    bli_json_close(json, '}');
    return code;
}

/* ---- text ---- */

/* As many decimals as the half-width can bear: its first two digits. */
static int decimals_of(double half, double value) {
    const double scale = half > 0 && isfinite(half) ? half : fabs(value) * 1e-3;
    if (!(scale > 0))
        return 3;
    const int decimals = 1 - (int)floor(log10(scale));
    return decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
}

static void add_estimate(struct table *table, struct bli_estimate estimate) {
    const int decimals = decimals_of(estimate.half_width, estimate.mean);
    if (isnan(estimate.mean))
        bli_table_add(table, "%s", "");
    else if (isnan(estimate.half_width) || estimate.half_width == 0)
        bli_table_add(table, "%.4g", estimate.mean);
    else
        bli_table_add(table, "%.*f \u00b1 %.*f", decimals, estimate.mean, decimals, estimate.half_width);
}

/* "-12.0 ± 1.1 %", "-12.0 ± 1.1 % !" */
static void add_difference(struct table *table, struct bli_estimate ratio, bool baseline, bool doubted) {
    if (baseline) {
        bli_table_add(table, "%s", "");
        return;
    }
    const double half = 100 * ratio.half_width, exact = 100 * (ratio.mean - 1);
    const int decimals = decimals_of(half, exact);
    const double percent = bli_shown(exact, isnan(half) ? 9 : decimals);
    if (isnan(percent))
        bli_table_add(table, "%s", "");
    else if (isnan(half))
        bli_table_add(table, "%+.3g %%%s", percent, doubted ? " !" : "");
    else
        bli_table_add(table, "%+.*f \u00b1 %.*f %%%s", decimals, percent, decimals, half,
                      doubted ? " !" : "");
}

static enum bal_code add_metric(struct walk *w, const struct outcome_row *row, struct bli_quantity quantity) {
    struct table *table = w->into;
    const struct bli_result *result = &row->cell->result;
    struct bli_estimate estimate = {NAN, NAN};
    if (result->replications == 0) {
        bli_table_add(table, "-");
        return BAL_OK;
    }
    if (result->verdict == BLI_UNSTABLE && bli_quantity_diverges(quantity)) {
        bli_table_add(table, "unstable");
        return BAL_OK;
    }
    const enum bal_code code = value_of(w, row, quantity, &estimate);
    if (!code)
        add_estimate(table, estimate);
    return code;
}

/* A coordinate is written where it changes. */
static void add_coordinates(struct walk *w, const struct outcome_row *row) {
    const struct bli_experiment *e = w->e;
    size_t index[BLI_AXES_MAX], before[BLI_AXES_MAX];
    bli_experiment_coordinates(e, row->point, index);
    bool changed = row->point == 0;
    if (!changed)
        bli_experiment_coordinates(e, row->point - 1, before);
    for (size_t a = 0; a < e->axes; a++) {
        changed = changed || index[a] != before[a];
        bli_table_add(w->into, "%s", changed && row->policy == 0 ? e->axis[a].value[index[a]].label : "");
    }
}

/* "random at load=0.9" */
static void cell_text(const struct bli_experiment *e, const struct outcome_row *row, char text[100]) {
    char point[80];
    bli_experiment_point_text(e, row->point, point, sizeof point);
    snprintf(text, 100, "%s%s%s", e->policy[row->policy].label, *point ? " at " : "", point);
}

static enum bal_code text_row(struct walk *w, const struct outcome_row *row) {
    const struct bli_experiment *e = w->e;
    struct table *table = w->into;
    add_coordinates(w, row);
    w->outlasted = w->outlasted || row->cell->result.outlasted;
    char where[100];
    cell_text(e, row, where);
    const char *sizes = bli_sizes_mark(row->cell->c.policy.policy);
    w->sizes = w->sizes || *sizes;
    bli_table_add(table, "%s%s%s", e->policy[row->policy].label, sizes,
                  bli_doubt_add(&w->notes, where, &row->cell->c, &row->cell->result));
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < e->metrics; i++)
        code = add_metric(w, row, e->metric[i]);
    struct bli_estimate ratio = {NAN, NAN};
    if (!code && e->policies > 1) {
        bool doubted = false;
        code = ratio_of(w, row, e->metric[0], &ratio, &doubted);
        add_difference(table, ratio, row->policy == e->baseline, doubted);
    }
    return code;
}

/* A label of a policy in a head; an axis or metric by its name. */
static void text_head(const struct bli_experiment *e, struct table *table) {
    for (size_t a = 0; a < e->axes; a++)
        bli_table_add(table, "%s", e->axis[a].label);
    bli_table_add(table, "policy");
    for (size_t i = 0; i < e->metrics; i++) {
        char text[BLI_QUANTITY_TEXT];
        bli_table_add(table, "%s", bli_quantity_text(e->metric[i], text));
    }
    if (e->policies > 1)
        bli_table_add(table, "vs %s", e->policy[e->baseline].label);
}

static enum bal_code text_results(struct bli_store *store, const struct bli_experiment *e,
                                  enum bli_table_style style, FILE *out, struct bal_error *err) {
    const size_t columns = e->axes + 1 + e->metrics + (e->policies > 1);
    char *align = malloc(columns + 1);
    if (!align)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the table");
    memset(align, 'r', columns);
    memset(align + e->axes, 'l', 1);
    align[columns] = 0;
    struct table table;
    bli_table_init(&table, (unsigned)columns);
    text_head(e, &table);
    struct walk w = {.store = store, .e = e, .err = err, .into = &table};
    const enum bal_code code = for_each_row(&w, text_row);
    if (!code)
        bli_table_print(&table, align, style, out);
    if (!code && e->policies > 1) {
        char text[BLI_QUANTITY_TEXT];
        const char *label = e->policy[e->baseline].label;
        fprintf(out, "\nvs %s: %s compared with that of %s on the same arrivals\n", label,
                bli_quantity_text(e->metric[0], text), label);
    }
    if (!code && w.sizes)
        fputs("\n" BLI_SIZES_NOTE "\n", out);
    if (!code && bli_doubt_any(&w.notes)) {
        fputc('\n', out);
        bli_doubt_print(&w.notes, BLI_REMEDY_FILE, out);
    }
    if (!code && w.outlasted)
        fprintf(out, "\n%s\n", bli_outlasted_text);
    bli_table_fini(&table);
    free(align);
    return code;
}

static void text_claims(const struct bli_experiment *e, const struct bli_judged *judged, FILE *out) {
    if (e->claims == 0)
        return;
    struct bli_tally tally = {0};
    bli_tally_add(&tally, e, judged);
    for (int group = 0; group < BLI_GROUPS; group++)
        bli_judgements_text(e, judged, (enum bli_claim_group)group, out);
    fputc('\n', out);
    bli_tally_print(&tally, out);
}

/* The title, and what is the same at every point. */
static void print_head(const struct bli_experiment *e, FILE *out) {
    const struct swept swept = swept_of(e);
    struct bli_head head = {.used = 0};
    bli_head_add_settings(&head, &e->own->base, true, swept.name);
    bli_head_add_settings(&head, &e->own->base, false, swept.name);
    bli_head_add(&head, "%sseed" BLI_TABLE_JOIN "%" PRIu64, head.used ? ", " : "", e->seed);
    fprintf(out, "%s\n", e->title);
    bli_head_print(&head, out);
    fputc('\n', out);
}

static enum bal_code print_text(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_judged *judged, enum bli_table_style style, FILE *out,
                                struct bal_error *err) {
    print_head(experiment, out);
    const enum bal_code code = text_results(store, experiment, style, out, err);
    if (!code)
        text_claims(experiment, judged, out);
    return code;
}

enum bal_code bli_outcome_print(struct bli_store *store, const struct bli_experiment *experiment,
                                const struct bli_judged *judged, bool seconds, struct bli_rows *rows,
                                struct bal_error *err) {
    struct walk w = {.store = store, .e = experiment, .err = err, .into = rows, .seconds = seconds};
    return rows->text   ? print_text(store, experiment, judged, rows->style, rows->text, err)
           : rows->json ? print_json(&w, judged, rows)
                        : for_each_row(&w, csv_row);
}

void bli_outcome_describe(struct bli_rows *rows) {
    struct bli_experiment *e = bli_columns_experiment();
    struct bli_judged *judged = bli_judgements_sample(e);
    if (judged)
        bli_outcome_print(NULL, e, judged, false, rows, NULL);
    free(judged);
    bli_experiment_free(e);
}
