/* SPDX-License-Identifier: BSD-2-Clause */
/* Trials and histograms as csv and JSON. */
#include "report/raw_results.h"

#include "ballast/version.h"
#include "report/rows.h"
#include "store/store_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct raw {
    struct bal_rows to;
    struct bal_store *store;
    const struct bal_experiment *e;
    enum bal_raw_kind kind;
    struct bal_error *err;
    struct bal_cell cell; /* the cell that is printed */
    size_t point, policy;
    size_t trial; /* its index */
    struct bal_histogram *histogram;
};

/* Up to the last that is not 0. */
static size_t count_until_zeros(const double *value, size_t count) {
    while (count > 0 && value[count - 1] == 0)
        count--;
    return count;
}

/* ---- rows ---- */

static void print_coordinates(struct raw *raw) {
    const struct bal_experiment *e = raw->e;
    size_t index[BAL_AXES_MAX];
    bal_experiment_coordinates(e, raw->point, index);
    for (size_t a = 0; a < e->axes; a++) {
        const struct bal_sweep_value *value = &e->axis[a].value[index[a]];
        if (isnan(value->number))
            bal_row_text(&raw->to, e->axis[a].name, value->text[0]);
        else
            bal_row_number(&raw->to, e->axis[a].name, value->number);
    }
}

/* What says whom a row is about. Of the names alone there is no cell. */
static void print_subject(struct raw *raw) {
    char policy[200] = "";
    print_coordinates(raw);
    if (raw->cell.trial)
        bal_policy_print(&raw->cell.c.policy, policy, sizeof policy);
    bal_row_text(&raw->to, "label", raw->e->policy[raw->policy].label);
    bal_row_count(&raw->to, "seed", raw->cell.c.run.seed);
    bal_row_text(&raw->to, "policy", policy);
    bal_row_count(&raw->to, "replication", raw->cell.trial ? raw->cell.which[raw->trial] : 0);
}

static void print_trial(struct raw *raw) {
    static const struct bal_trial none = {.jobs = 0};
    const struct bal_trial *trial = raw->cell.trial ? &raw->cell.trial[raw->trial] : &none;
    bal_row_begin(&raw->to);
    print_subject(raw);
    for (int m = 0; m < BAL_METRIC_COUNT; m++)
        bal_row_number(&raw->to, bal_metric_table[m].name, trial->metric[m]);
    bal_row_list(&raw->to, "queue.tail", trial->tail, count_until_zeros(trial->tail, BAL_TAIL_LEVELS));
    bal_row_text(&raw->to, "engine", bal_engine_text(trial->engine));
    bal_row_count(&raw->to, "jobs", trial->jobs);
    bal_row_count(&raw->to, "events", trial->events);
    bal_row_number(&raw->to, "warmup", trial->warmup);
    bal_row_list(&raw->to, "quarters", trial->quarter, count_until_zeros(trial->quarter, 4));
    bal_row_end(&raw->to, NULL);
}

/* "response", "high.waiting": the name of the median without its end. */
static void print_bin(struct raw *raw, enum bal_distribution d, unsigned bin, double unit) {
    char name[BAL_QUANTITY_TEXT];
    const char *median = bal_metric_table[bal_distribution_median(d)].name;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(median) - strlen(".p50")), median);
    bal_row_begin(&raw->to);
    print_subject(raw);
    bal_row_text(&raw->to, "distribution", name);
    bal_row_number(&raw->to, "low", unit * bal_histogram_edge(bin));
    bal_row_number(&raw->to, "high",
                   bin + 1 < BAL_HISTOGRAM_BINS ? unit * bal_histogram_edge(bin + 1) : INFINITY);
    bal_row_count(&raw->to, "count", raw->histogram ? raw->histogram[d].count[bin] : 0);
    bal_row_end(&raw->to, NULL);
}

static void print_histograms(void *context, unsigned replication) {
    struct raw *raw = context;
    while (raw->trial < raw->cell.count && raw->cell.which[raw->trial] < replication)
        raw->trial++;
    const bool counts = raw->trial < raw->cell.count && raw->cell.which[raw->trial] == replication;
    for (int d = 0; d < BAL_DISTRIBUTIONS; d++) {
        const double unit = d == BAL_OF_LOAD ? 1 : bal_cell_unit(&raw->cell);
        for (unsigned bin = 0; counts && bin < BAL_HISTOGRAM_BINS; bin++)
            if (raw->histogram[d].count[bin] > 0)
                print_bin(raw, (enum bal_distribution)d, bin, unit);
    }
    memset(raw->histogram, 0, BAL_DISTRIBUTIONS * sizeof *raw->histogram);
}

static enum bal_code print_cell(struct raw *raw) {
    enum bal_code code = bal_cell_load(&raw->cell, raw->store, raw->e, raw->point, raw->policy, raw->err);
    if (!code && raw->kind == BAL_RAW_TRIALS)
        for (raw->trial = 0; raw->trial < raw->cell.count; raw->trial++)
            print_trial(raw);
    struct bal_trial into = {.jobs = 0};
    raw->trial = 0;
    if (!code && raw->kind == BAL_RAW_HISTOGRAMS && raw->cell.count > 0) {
        bal_trial_keep(&into, raw->histogram);
        code = bal_store_each_histogram(raw->store, raw->cell.id, (unsigned)bal_cell_extent(&raw->cell),
                                        &into, print_histograms, raw, raw->err);
    }
    bal_cell_fini(&raw->cell);
    return code;
}

static enum bal_code print_cells(struct raw *raw) {
    raw->histogram = calloc(BAL_DISTRIBUTIONS, sizeof *raw->histogram);
    if (!raw->histogram)
        return bal_fail(raw->err, BAL_E_MEMORY, "not enough memory for the histograms of a trial");
    enum bal_code code = BAL_OK;
    for (raw->point = 0; !code && raw->point < raw->e->points; raw->point++)
        for (raw->policy = 0; !code && raw->policy < raw->e->policies; raw->policy++)
            code = print_cell(raw);
    free(raw->histogram);
    return code;
}

enum bal_code bal_raw_csv(struct bal_store *store, const struct bal_experiment *experiment,
                          enum bal_raw_kind kind, FILE *out, struct bal_error *err) {
    struct raw raw = {.to = {.csv = out}, .store = store, .e = experiment, .kind = kind, .err = err};
    if (kind == BAL_RAW_TRIALS)
        print_trial(&raw);
    else
        print_bin(&raw, BAL_OF_RESPONSE, 0, 1);
    return print_cells(&raw);
}

enum bal_code bal_raw_json(struct bal_store *store, const struct bal_experiment *experiment,
                           enum bal_raw_kind kind, FILE *out, struct bal_error *err) {
    struct json json;
    struct raw raw = {.to = {.json = &json}, .store = store, .e = experiment, .kind = kind, .err = err};
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "version", BALLAST_VERSION);
    bal_json_text(&json, "experiment", experiment->name);
    bal_json_text(&json, "mode", bal_mode_text(experiment->mode));
    bal_json_open_line(&json, "axes", '[');
    for (size_t a = 0; a < experiment->axes; a++)
        bal_json_text(&json, NULL, experiment->axis[a].name);
    bal_json_close(&json, ']');
    bal_json_open(&json, kind == BAL_RAW_TRIALS ? "trials" : "histograms", '[');
    const enum bal_code code = print_cells(&raw);
    bal_json_close(&json, ']');
    bal_json_close(&json, '}');
    return code;
}
