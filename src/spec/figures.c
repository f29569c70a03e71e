/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures that an experiment asks for. */
#include "spec/reader.h"

#include <math.h>
#include <string.h>

static bool is_distribution(enum bli_plot_kind kind) {
    return kind == BLI_PLOT_CDF || kind == BLI_PLOT_CCDF;
}

/* `policy`, `metric` or an axis. */
static enum bal_code read_role(struct bli_reader *reader, int map, const char *field, int *role) {
    const int node = bli_node_get(reader->document, map, field);
    if (!node)
        return BAL_OK;
    const char *text = bli_node_text(reader->document, node);
    if (strcmp(text, "policy") == 0)
        *role = BLI_BY_POLICY;
    else if (strcmp(text, "metric") == 0)
        *role = BLI_BY_METRIC;
    else
        return bli_reader_axis(reader, node, field, role);
    return BAL_OK;
}

/* A map has numbers on both of its axes. */
static enum bal_code check_map(struct bli_reader *reader, int map, const struct bli_plot *plot) {
    const int axes[] = {plot->x, plot->series};
    for (int i = 0; i < 2; i++)
        if (axes[i] < 0 || !reader->e->axis[axes[i]].numeric)
            return bli_reader_fail(reader, map, i ? "series" : "x", BAL_E_MODEL,
                                   "a map needs axes of the sweep as x and as series, both with ascending "
                                   "numbers as values or labels");
    return BAL_OK;
}

static enum bal_code read_roles(struct bli_reader *reader, int map, struct bli_plot *plot) {
    const bool by_map = plot->kind == BLI_PLOT_MAP, by_bars = plot->kind == BLI_PLOT_BARS;
    const bool by_axis = plot->kind == BLI_PLOT_AXIS || by_map;
    const int x = bli_node_get(reader->document, map, "x");
    plot->x = by_bars ? BLI_BY_POLICY : by_axis ? 0 : BLI_BY_NOTHING;
    plot->series = BLI_BY_POLICY;
    plot->panels = plot->rows = BLI_BY_NOTHING;
    if (x && !by_axis && !by_bars)
        return bli_reader_fail(reader, x, "x", BAL_E_MODEL,
                               "a figure of this kind has an x of its own; leave it out");
    if (by_axis && reader->e->axes == 0)
        return bli_reader_fail(reader, map, "figures", BAL_E_MODEL,
                               "a figure of kind '%s' needs a sweep; use kind bars, cdf, ccdf or tail",
                               bli_plot_kinds[plot->kind]);
    enum bal_code code = read_role(reader, map, "x", &plot->x);
    if (code)
        return code;
    if (plot->x == BLI_BY_METRIC || (by_axis && plot->x == BLI_BY_POLICY))
        return bli_reader_fail(reader, x, "x", BAL_E_MODEL,
                               by_axis ? "x must be an axis of the sweep"
                                       : "x must be `policy` or an axis of the sweep");
    if (plot->x == BLI_BY_POLICY)
        plot->series = BLI_BY_METRIC;
    code = read_role(reader, map, "series", &plot->series);
    if (!code && by_map)
        code = check_map(reader, map, plot);
    if (!code)
        code = read_role(reader, map, "panels", &plot->panels);
    if (!code)
        code = read_role(reader, map, "rows", &plot->rows);
    return code;
}

/* For distributions `response` and `waiting` are enough. */
static enum bal_code read_metrics(struct bli_reader *reader, int map, struct bli_plot *plot) {
    const int y = bli_node_get(reader->document, map, "y");
    plot->metrics = 1;
    plot->metric[0] =
        (struct bli_quantity){.metric = plot->kind == BLI_PLOT_TAIL ? BLI_METRIC_COUNT : BLI_RESPONSE_MEAN};
    if (!y)
        return BAL_OK;
    if (plot->kind == BLI_PLOT_TAIL || plot->kind == BLI_PLOT_MAP)
        return bli_reader_fail(reader, y, "y", BAL_E_MODEL,
                               "a figure of kind '%s' has a y of its own; leave it out",
                               bli_plot_kinds[plot->kind]);
    const size_t count = bli_reader_count(reader, y);
    if (count > BLI_PLOT_METRICS_MAX)
        return bli_reader_fail(reader, y, "y", BAL_E_RANGE, "there are %zu metrics; at most %d are possible",
                               count, BLI_PLOT_METRICS_MAX);
    plot->metrics = (unsigned)count;
    for (unsigned i = 0; i < count; i++) {
        const int node = bli_reader_item(reader, y, i);
        const char *text = bli_node_text(reader->document, node);
        if (!is_distribution(plot->kind)) {
            const enum bal_code code = bli_reader_quantity(reader, node, "y", &plot->metric[i]);
            if (code)
                return code;
        } else if (strcmp(text, "response") == 0 || strcmp(text, "waiting") == 0) {
            plot->metric[i].metric = *text == 'r' ? BLI_RESPONSE_MEAN : BLI_WAITING_MEAN;
        } else {
            return bli_reader_fail(reader, node, "y", BAL_E_UNKNOWN,
                                   "'%.60s' is neither response nor waiting", text);
        }
    }
    return BAL_OK;
}

static enum bal_code read_range(struct bli_reader *reader, int map, const char *field, double range[2]) {
    const int node = bli_node_get(reader->document, map, field);
    range[0] = range[1] = NAN;
    if (!node)
        return BAL_OK;
    if (bli_node_count(reader->document, node) != 2)
        return bli_reader_fail(reader, node, field, BAL_E_SYNTAX, "this should be two numbers, [low, high]");
    for (size_t i = 0; i < 2; i++)
        bli_field_number(bli_node_text(reader->document, bli_node_item(reader->document, node, i)),
                         &range[i]);
    if (!(range[0] < range[1]))
        return bli_reader_fail(reader, node, field, BAL_E_RANGE, "it ends at %g, before it begins at %g",
                               range[1], range[0]);
    return BAL_OK;
}

static enum bal_code read_over(struct bli_reader *reader, int map, struct bli_plot *plot) {
    const int over = bli_node_get(reader->document, map, "over");
    const int metric = bli_node_get(reader->document, map, "over-metric");
    plot->over = -1;
    plot->over_metric.metric = -1;
    if (!over)
        return metric || plot->inverse ? bli_reader_fail(reader, map, "over", BAL_E_SYNTAX,
                                                         "a ratio needs `over`: the policy to divide by")
                                       : BAL_OK;
    if (plot->kind != BLI_PLOT_AXIS && plot->kind != BLI_PLOT_BARS)
        return bli_reader_fail(reader, over, "over", BAL_E_MODEL,
                               "only figures of kind axis or bars can show ratios");
    const enum bal_code code = bli_reader_policy(reader, over, "over", &plot->over);
    return code || !metric ? code : bli_reader_quantity(reader, metric, "over-metric", &plot->over_metric);
}

static size_t count_flags(const bool *flag, size_t count) {
    size_t set = 0;
    for (size_t i = 0; i < count; i++)
        set += flag[i];
    return set;
}

static bool has_role(const struct bli_plot *plot, int what) {
    return plot->x == what || plot->series == what || plot->panels == what || plot->rows == what;
}

static const char *role_text(const struct bli_experiment *e, int role) {
    return role == BLI_BY_POLICY ? "policy" : role == BLI_BY_METRIC ? "metric" : e->axis[role].name;
}

/* Two roles are the same; one of them may be so by default, which the file does not show. */
static enum bal_code fail_same_roles(struct bli_reader *reader, int map, const char *one, const char *other,
                                     int role) {
    const bool by_default[] = {!bli_node_get(reader->document, map, one),
                               !bli_node_get(reader->document, map, other)};
    return bli_reader_fail(reader, map, "figures", BAL_E_MODEL,
                           "%s%s and %s%s are both `%s`; x, series, panels and rows must differ", one,
                           by_default[0] ? " (by default)" : "", other, by_default[1] ? " (by default)" : "",
                           role_text(reader->e, role));
}

/* Whatever has several values must be seen somewhere, and only once. */
static enum bal_code check_roles(struct bli_reader *reader, int map, const struct bli_plot *plot) {
    static const char *const fields[] = {"x", "series", "panels", "rows"};
    const struct bli_experiment *e = reader->e;
    const int roles[] = {plot->x, plot->series, plot->panels, plot->rows};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            if (roles[i] == roles[j] && roles[i] != BLI_BY_NOTHING)
                return fail_same_roles(reader, map, fields[j], fields[i], roles[i]);
    for (size_t a = 0; a < e->axes; a++)
        if (!has_role(plot, (int)a) && count_flags(plot->where.value[a], e->axis[a].count) > 1)
            return bli_reader_fail(reader, map, "figures", BAL_E_MODEL,
                                   "axis '%s' has several values here: choose one with `where`, or use it as "
                                   "x, series or panels",
                                   e->axis[a].name);
    if (!has_role(plot, BLI_BY_POLICY) && count_flags(plot->where.policy, e->policies) > 1)
        return bli_reader_fail(reader, map, "figures", BAL_E_MODEL,
                               "there are several policies here: choose one with `policies`, or use `policy` "
                               "as series or panels");
    if (!has_role(plot, BLI_BY_METRIC) && plot->metrics > 1)
        return bli_reader_fail(reader, map, "figures", BAL_E_MODEL,
                               "there are several metrics: give one, or use `metric` as series or panels");
    return BAL_OK;
}

static enum bal_code read_figure(struct bli_reader *reader, int map, struct bli_plot *plot) {
    *plot = (struct bli_plot){
        .id = bli_reader_line(reader, map, "id"),
        .title = bli_reader_line(reader, map, "title"),
        .caption = bli_reader_text(reader, map, "caption"),
        .section = bli_reader_line(reader, map, "section"),
        .kind = (enum bli_plot_kind)bli_reader_choice(reader, map, "kind", bli_plot_kinds, BLI_PLOT_AXIS),
        .inverse = bli_reader_flag(reader, map, "inverse", false),
        .theory = bli_reader_flag(reader, map, "theory", true),
        .bound = bli_reader_flag(reader, map, "bound", false),
        .log_y = bli_reader_flag(reader, map, "log-y", false),
        .x_label = bli_reader_line(reader, map, "x-label"),
        .y_label = bli_reader_line(reader, map, "y-label"),
        .columns = (unsigned)bli_reader_number(reader, map, "columns", 0),
    };
    enum bal_code code = read_roles(reader, map, plot);
    if (!code)
        code = read_metrics(reader, map, plot);
    if (!code)
        code = read_over(reader, map, plot);
    if (!code)
        code = read_range(reader, map, "x-range", plot->x_range);
    if (!code)
        code = read_range(reader, map, "y-range", plot->y_range);
    if (!code)
        code =
            bli_reader_selection(reader, bli_node_get(reader->document, map, "where"),
                                 bli_node_get(reader->document, map, "policies"), "policies", &plot->where);
    if (code)
        return code;
    plot->log_x = bli_reader_flag(reader, map, "log-x", plot->x >= 0 && reader->e->axis[plot->x].log);
    return check_roles(reader, map, plot);
}

enum bal_code bli_read_figures(struct bli_reader *reader) {
    struct bli_experiment *e = reader->e;
    const int list = bli_node_get(reader->document, reader->root, "figures");
    const size_t count = bli_reader_count(reader, list);
    struct bli_plot *plots = bli_reader_take(reader, count, sizeof *plots);
    if (!plots)
        return BAL_E_MEMORY;
    e->plot = plots;
    for (size_t i = 0; i < count; i++) {
        const int map = bli_reader_item(reader, list, i);
        if (bli_reader_is_elsewhere(reader, map))
            continue;
        const enum bal_code code = read_figure(reader, map, &plots[e->plots]);
        if (code)
            return code;
        for (size_t j = 0; j < e->plots; j++)
            if (strcmp(plots[j].id, plots[e->plots].id) == 0)
                return bli_reader_fail(reader, map, "id", BAL_E_RANGE,
                                       "'%s' is there twice; give each figure its own", plots[j].id);
        e->plots++;
    }
    return BAL_OK;
}
