/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials and histograms as csv and JSON. */
#include "report/raw_results.h"

#include "report/metric.h"
#include "report/report_columns.h"
#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct raw {
    struct bli_rows *to;
    struct bli_store *store;
    const struct bli_experiment *e;
    enum bli_raw_kind kind;
    struct bal_error *err;
    struct bli_cell cell; /* the cell that is printed */
    size_t point, policy;
    size_t trial; /* its index */
    struct bli_histogram *histogram;
};

/* Up to the last that is not 0. */
static size_t count_until_zeros(const double *value, size_t count) {
    while (count > 0 && value[count - 1] == 0)
        count--;
    return count;
}

/* ---- rows ---- */

static void print_coordinates(struct raw *raw) {
    const struct bli_experiment *e = raw->e;
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, raw->point, index);
    if (raw->to->json)
        bli_json_varies(raw->to->json, true);
    for (size_t a = 0; a < e->axes && !bli_row_several(raw->to, "AXIS", bli_row_axis_about); a++) {
        const struct bli_sweep_value *value = &e->axis[a].value[index[a]];
        if (isnan(value->number))
            bli_row_text(raw->to, e->axis[a].name, "", value->text[0]);
        else
            bli_row_number(raw->to, e->axis[a].name, "", value->number);
    }
    if (raw->to->json)
        bli_json_varies(raw->to->json, false);
}

/* What says whom a row is about. Of the names alone there is no cell. */
static void print_subject(struct raw *raw) {
    char policy[200] = "";
    print_coordinates(raw);
    if (raw->cell.trial)
        bal_policy_print(&raw->cell.c.policy, policy, sizeof policy);
    bli_row_label(raw->to, raw->e, raw->policy, raw->cell.c.run.seed);
    bli_row_text(raw->to, "policy", "the policy with its parameters", policy);
    bli_row_count(raw->to, "replication", "its number, from 0",
                  raw->cell.trial ? raw->cell.which[raw->trial] : 0);
}

static void print_trial(struct raw *raw) {
    static const struct bli_trial none = {.jobs = 0};
    const struct bli_trial *trial = raw->cell.trial ? &raw->cell.trial[raw->trial] : &none;
    bli_row_begin(raw->to);
    print_subject(raw);
    for (int m = 0; m < BLI_METRIC_COUNT && !bli_row_several(raw->to, "METRIC", "each metric by its name");
         m++) {
        char about[BLI_ABOUT_TEXT];
        bli_row_number(raw->to, bli_metric_table[m].name, bli_metric_about((enum bli_metric)m, about),
                       trial->metric[m]);
    }
    bli_row_list(raw->to, "queue.tail", bli_row_tail_about, trial->tail,
                 count_until_zeros(trial->tail, BLI_TAIL_LEVELS));
    bli_row_engine(raw->to, trial->engine);
    bli_row_work(raw->to, trial->jobs, trial->events);
    bli_row_number(raw->to, "warmup", "time in front of what is measured|time", trial->warmup);
    bli_row_list(raw->to, "quarters", "mean queues in the quarters of the measured time|jobs", trial->quarter,
                 count_until_zeros(trial->quarter, 4));
    bli_row_end(raw->to, NULL);
}

/* "response", "high.waiting": the name of the median without its end. */
static void print_bin(struct raw *raw, enum bli_distribution d, unsigned bin, double unit) {
    char name[BLI_QUANTITY_TEXT];
    const char *median = bli_metric_table[bli_distribution_median(d)].name;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(median) - strlen(".p50")), median);
    bli_row_begin(raw->to);
    print_subject(raw);
    bli_row_text(raw->to, "distribution", "`response`, `waiting`, `high.response`, ... or `load`", name);
    bli_row_number(raw->to, "low", "where the bin begins|time, or jobs of `load`",
                   unit * bli_histogram_edge(bin));
    bli_row_number(raw->to, "high", "where it ends, exclusive|the same",
                   bin + 1 < BLI_HISTOGRAM_BINS ? unit * bli_histogram_edge(bin + 1) : INFINITY);
    bli_row_count(raw->to, "count", "values in it", raw->histogram ? raw->histogram[d].count[bin] : 0);
    bli_row_end(raw->to, NULL);
}

static void print_histograms(void *context, unsigned replication) {
    struct raw *raw = context;
    while (raw->trial < raw->cell.count && raw->cell.which[raw->trial] < replication)
        raw->trial++;
    const bool counts = raw->trial < raw->cell.count && raw->cell.which[raw->trial] == replication;
    for (int d = 0; d < BLI_DISTRIBUTIONS; d++) {
        const double unit = d == BLI_OF_LOAD ? 1 : bli_cell_unit(&raw->cell);
        for (unsigned bin = 0; counts && bin < BLI_HISTOGRAM_BINS; bin++)
            if (raw->histogram[d].count[bin] > 0)
                print_bin(raw, (enum bli_distribution)d, bin, unit);
    }
    memset(raw->histogram, 0, BLI_DISTRIBUTIONS * sizeof *raw->histogram);
}

static enum bal_code print_cell(struct raw *raw) {
    enum bal_code code = bli_cell_load(&raw->cell, raw->store, raw->e, raw->point, raw->policy, raw->err);
    if (!code && raw->kind == BLI_RAW_TRIALS)
        for (raw->trial = 0; raw->trial < raw->cell.count; raw->trial++)
            print_trial(raw);
    struct bli_trial into = {.jobs = 0};
    raw->trial = 0;
    if (!code && raw->kind == BLI_RAW_HISTOGRAMS && raw->cell.count > 0) {
        bli_trial_keep(&into, raw->histogram);
        code = bli_store_each_histogram(raw->store, raw->cell.id, (unsigned)bli_cell_extent(&raw->cell),
                                        &into, print_histograms, raw, raw->err);
    }
    bli_cell_fini(&raw->cell);
    return code;
}

static enum bal_code print_cells(struct raw *raw) {
    raw->histogram = calloc(BLI_DISTRIBUTIONS, sizeof *raw->histogram);
    if (!raw->histogram)
        return bal_fail(raw->err, BAL_E_MEMORY, "not enough memory for the histograms of a trial");
    enum bal_code code = BAL_OK;
    for (raw->point = 0; !code && raw->point < raw->e->points; raw->point++)
        for (raw->policy = 0; !code && raw->policy < raw->e->policies; raw->policy++)
            code = print_cell(raw);
    free(raw->histogram);
    return code;
}

/* The names of csv; or one row that stands for all. */
static void print_none(struct raw *raw) {
    if (raw->kind == BLI_RAW_TRIALS)
        print_trial(raw);
    else
        print_bin(raw, BLI_OF_RESPONSE, 0, 1);
}

enum bal_code bli_raw_print(struct bli_store *store, const struct bli_experiment *experiment,
                            enum bli_raw_kind kind, struct bli_rows *rows, struct bal_error *err) {
    struct raw raw = {.to = rows, .store = store, .e = experiment, .kind = kind, .err = err};
    struct json *json = rows->json;
    if (!json) {
        print_none(&raw);
        return store ? print_cells(&raw) : BAL_OK;
    }
    bli_rows_open(rows);
    bli_json_text(json, "experiment", experiment->name);
    bli_json_text(json, "mode", bli_mode_text(experiment->mode));
    bli_json_open_line(json, "axes", '[');
    for (size_t a = 0; a < experiment->axes; a++)
        bli_json_text(json, NULL, experiment->axis[a].name);
    bli_json_close(json, ']');
    bli_json_open(json, kind == BLI_RAW_TRIALS ? "trials" : "histograms", '[');
    if (!store)
        print_none(&raw);
    const enum bal_code code = store ? print_cells(&raw) : BAL_OK;
    bli_json_close(json, ']');
    bli_json_close(json, '}');
    return code;
}

static void describe(enum bli_raw_kind kind, struct bli_rows *rows) {
    struct bli_experiment *e = bli_columns_experiment();
    if (e)
        bli_raw_print(NULL, e, kind, rows, NULL);
    bli_experiment_free(e);
}

void bli_trials_describe(struct bli_rows *rows) {
    describe(BLI_RAW_TRIALS, rows);
}

void bli_histograms_describe(struct bli_rows *rows) {
    describe(BLI_RAW_HISTOGRAMS, rows);
}
