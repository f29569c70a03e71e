/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds a figure from its description in an experiment file and the results in the store.
 *
 * Panels, curves and places on the x axis each stand for a dimension of the experiment: one of its axes, its
 * policies or the metrics of the figure. A value to draw is found by fixing one member in each dimension. */
#include "report/chart_build.h"
#include "report/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bli_chart {
    struct bli_figure figure;
    struct bli_arena arena; /* holds all that the figure points to */
};

/* ---- curves over an axis ---- */

/* Between the points of an axis of loads or of shares alone, theory can be asked at any other one too. */
static bool is_swept(const struct chart_builder *b, const char *field) {
    const struct bli_sweep_axis *axis = b->x.what >= 0 ? &b->experiment->axis[b->x.what] : NULL;
    return axis && axis->numeric && axis->fields == 1 && strcmp(axis->name, field) == 0 && b->x.count > 1 &&
           b->plot->kind == BLI_PLOT_AXIS;
}

static enum bal_code fill_theory(struct chart_builder *b, struct chart_place place, bool bound,
                                 struct chart_column *column) {
    enum { FINE = 120 };
    const struct bli_quantity quantity = b->plot->metric[place.metric];
    const bool load = is_swept(b, "load"), high = is_swept(b, "high"), fine = load || high;
    if (!bli_chart_add_value(b, column, fine ? FINE : b->x.count))
        return bli_chart_no_memory(b);
    const double from = bli_chart_x(b, 0), to = bli_chart_x(b, b->x.count - 1);
    for (size_t i = 0; i < column->count; i++) {
        const struct chart_place there = bli_chart_moved(place, &b->x, fine ? 0 : i);
        struct bli_case c = bli_chart_case(b, &there);
        const double x = fine ? from + (to - from) * (double)i / (FINE - 1) : bli_chart_x(b, i);
        if (load)
            c.model.load = x;
        if (high)
            c.model.high = x;
        bli_chart_put_exact(column, i, x, bli_chart_computed(b, &there, &c, quantity, bound));
    }
    return BAL_OK;
}

static enum bal_code fill_axis(struct chart_builder *b, struct chart_place place,
                               struct chart_column *column) {
    const struct bli_quantity quantity = b->plot->metric[place.metric];
    if (!bli_chart_add_value(b, column, b->x.count))
        return bli_chart_no_memory(b);
    for (size_t i = 0; i < b->x.count; i++) {
        const struct chart_place there = bli_chart_moved(place, &b->x, i);
        struct value value;
        const enum bal_code code = bli_chart_measure(b, &there, quantity, &value);
        if (code)
            return code;
        bli_chart_put(column, i, bli_chart_x(b, i), &value);
    }
    return BAL_OK;
}

/* ---- a panel ---- */

static enum bli_style style_of(const struct chart_builder *b) {
    if (b->plot->kind == BLI_PLOT_BARS)
        return BLI_STYLE_BARS;
    return bli_chart_is_distribution(b) ? BLI_STYLE_LINE : BLI_STYLE_POINTS;
}

static enum bal_code fill_measured(struct chart_builder *b, struct chart_place place,
                                   struct chart_column *column) {
    switch (b->plot->kind) {
    case BLI_PLOT_CDF:
    case BLI_PLOT_CCDF:
        return bli_chart_fill_distribution(b, place, column);
    case BLI_PLOT_TAIL:
        return bli_chart_fill_tail(b, place, column);
    case BLI_PLOT_AXIS:
    case BLI_PLOT_BARS:
    case BLI_PLOT_MAP:
        break;
    }
    return fill_axis(b, place, column);
}

static bool same_curve(const struct bli_series *a, const struct bli_series *b) {
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->x[i] != b->x[i] || !(a->y[i] == b->y[i] || (isnan(a->y[i]) && isnan(b->y[i]))))
            return false;
    return true;
}

/* Appends the prediction of theory for each of the curves, which come first. If it is the same for all, like
 * a limit for all numbers of servers, it is one line that belongs to none of them. */
static enum bal_code add_theory(struct chart_builder *b, struct chart_place place, struct bli_series *series,
                                size_t *count) {
    const size_t first = *count;
    bool same = true;
    for (size_t s = 0; s < b->series.count; s++) {
        struct bli_series *line = &series[*count];
        struct chart_column column;
        const struct chart_place there = bli_chart_moved(place, &b->series, s);
        const enum bal_code code =
            bli_chart_is_distribution(b)     ? bli_chart_fill_law(b, there, &series[s], &column)
            : b->plot->kind == BLI_PLOT_TAIL ? bli_chart_fill_tail_theory(b, there, &column)
                                             : fill_theory(b, there, false, &column);
        if (code)
            return code;
        bli_chart_attach(line, &column);
        line->theory = true;
        line->group = (unsigned)s;
        line->style = b->plot->kind == BLI_PLOT_BARS ? BLI_STYLE_BARS : BLI_STYLE_LINE;
        if (!bli_chart_any_known(line))
            continue;
        same = same && same_curve(&series[first], line);
        ++*count;
    }
    if (same && *count - first > 1 && b->plot->kind != BLI_PLOT_BARS) {
        series[first].group = BLI_GROUP_INK;
        *count = first + 1;
    }
    return BAL_OK;
}

/* Appends what is proved to bound the curves. */
static enum bal_code add_bounds(struct chart_builder *b, struct chart_place place, struct bli_series *series,
                                size_t *count) {
    for (size_t s = 0; s < b->series.count; s++) {
        struct bli_series *line = &series[*count];
        struct chart_column column;
        const enum bal_code code = fill_theory(b, bli_chart_moved(place, &b->series, s), true, &column);
        if (code)
            return code;
        bli_chart_attach(line, &column);
        line->theory = line->bound = true;
        line->group = (unsigned)s;
        line->style = BLI_STYLE_LINE;
        *count += bli_chart_any_known(line);
    }
    return BAL_OK;
}

/* The experiment may define the unit of time. */
static const char *unit_of(const struct chart_builder *b, struct bli_quantity quantity,
                           const struct bli_model *model) {
    const bool time =
        quantity.metric < BLI_METRIC_COUNT && strcmp(bli_metric_table[quantity.metric].unit, "time") == 0;
    return time && b->experiment->unit ? b->experiment->unit : bli_metric_unit(quantity, model);
}

/* Do the curves of one panel have different units? */
static bool mixes_units(const struct chart_builder *b, const struct bli_model *model) {
    if (b->series.what != BLI_BY_METRIC || bli_chart_is_distribution(b) || b->plot->over >= 0)
        return false;
    const char *first = NULL;
    for (size_t i = 0; i < b->series.count; i++) {
        const struct bli_quantity quantity = b->plot->metric[b->series.member[i]];
        const char *unit = unit_of(b, quantity, model);
        if (!*unit && quantity.metric < BLI_METRIC_COUNT)
            unit = bli_metric_table[quantity.metric].unit;
        if (first && strcmp(first, unit) != 0)
            return true;
        first = unit;
    }
    return false;
}

/* The name of a curve; with its unit where the curves of the panel have different ones. */
static const char *series_name(struct chart_builder *b, struct chart_place place, size_t s) {
    const char *name = bli_chart_name(b, &b->series, s);
    const struct bli_case c = bli_chart_case(b, &place);
    if (!name || !mixes_units(b, &c.model))
        return name;
    const char *unit = unit_of(b, b->plot->metric[b->series.member[s]], &c.model);
    if (!*unit)
        return name;
    const char *open = bli_chart_text(b, name, " (", unit);
    return open ? bli_chart_text(b, open, ")", "") : NULL;
}

/* A curve has no points to mark, so its name says what is wrong with it. */
static const char *curve_name(struct chart_builder *b, const char *name, const struct chart_column *column) {
    const char *remark = column->unstable ? " (unstable: no curve)" : column->suspect ? " (doubted)" : "";
    return *remark ? bli_chart_text(b, name, remark, "") : name;
}

static enum bal_code fill_series(struct chart_builder *b, struct chart_place place, struct bli_panel *panel) {
    struct bli_series *series = bli_arena_take(b->arena, 3 * b->series.count, sizeof *series);
    if (!series)
        return bli_chart_no_memory(b);
    size_t count = 0;
    for (size_t s = 0; s < b->series.count; s++, count++) {
        struct chart_column column;
        const enum bal_code code = fill_measured(b, bli_chart_moved(place, &b->series, s), &column);
        if (code)
            return code;
        bli_chart_attach(&series[count], &column);
        series[count].group = (unsigned)s;
        series[count].style = style_of(b);
        series[count].name = series_name(b, place, s);
        if (series[count].name && bli_chart_is_distribution(b))
            series[count].name = curve_name(b, series[count].name, &column);
        if (!series[count].name)
            return bli_chart_no_memory(b);
    }
    if (b->plot->theory) {
        const enum bal_code code = add_theory(b, place, series, &count);
        if (code)
            return code;
    }
    if (b->plot->bound && b->plot->kind == BLI_PLOT_AXIS) {
        const enum bal_code code = add_bounds(b, place, series, &count);
        if (code)
            return code;
    }
    panel->series = series;
    panel->count = count;
    return BAL_OK;
}

static bool label_x(struct chart_builder *b, struct chart_place place, struct bli_axis *axis) {
    axis->log = b->plot->log_x;
    axis->low = b->plot->x_range[0];
    axis->high = b->plot->x_range[1];
    axis->label = b->plot->x_label;
    if (bli_chart_is_distribution(b)) {
        const struct bli_case c = bli_chart_case(b, &place);
        if (!axis->label) {
            axis->label = bli_chart_mixes_times(b)          ? "time t"
                          : bli_chart_is_waiting(b, &place) ? "waiting time t"
                                                            : "response time t";
            axis->unit = unit_of(b, (struct bli_quantity){.metric = BLI_RESPONSE_MEAN}, &c.model);
        }
        return true;
    }
    if (b->plot->kind == BLI_PLOT_TAIL) {
        axis->label = axis->label ? axis->label : "jobs at a server, i";
        return true;
    }
    if (!axis->label && b->x.what >= 0)
        axis->label = bli_chart_axis_text(b, &b->experiment->axis[b->x.what]);
    if (bli_chart_has_numbers(b))
        return true;
    const char **names = bli_arena_take(b->arena, b->x.count, sizeof *names);
    for (size_t i = 0; names && i < b->x.count; i++)
        names[i] = b->x.what >= 0 ? b->experiment->axis[b->x.what].value[b->x.member[i]].label
                                  : bli_chart_name(b, &b->x, i);
    axis->names = names;
    axis->name_count = b->x.count;
    return names;
}

static bool label_y(struct chart_builder *b, struct chart_place place, struct bli_axis *axis) {
    axis->log = b->plot->log_y;
    axis->low = b->plot->y_range[0];
    axis->high = b->plot->y_range[1];
    axis->nonnegative = b->plot->kind != BLI_PLOT_MAP; /* times, counts, fractions and their ratios */
    axis->label = b->plot->y_label;
    if (axis->label)
        return true;
    if (bli_chart_is_distribution(b)) {
        static const char *const texts[3][2] = {{"P(response time ≤ t)", "P(response time > t)"},
                                                {"P(waiting time ≤ t)", "P(waiting time > t)"},
                                                {"P(time ≤ t)", "P(time > t)"}};
        axis->label = texts[bli_chart_mixes_times(b) ? 2 : bli_chart_is_waiting(b, &place)]
                           [b->plot->kind == BLI_PLOT_CCDF];
        return true;
    }
    if (b->plot->kind == BLI_PLOT_TAIL) {
        axis->label = "fraction of servers with at least i jobs";
        return true;
    }
    if (b->plot->kind == BLI_PLOT_MAP) {
        axis->label = bli_chart_axis_text(b, &b->experiment->axis[b->series.what]);
        return true;
    }
    const struct bli_case c = bli_chart_case(b, &place);
    const struct bli_quantity quantity = b->plot->metric[place.metric];
    if (mixes_units(b, &c.model)) {
        axis->label = "value, in the unit of the legend";
        return true;
    }
    if (b->series.what == BLI_BY_METRIC && b->plot->metrics > 1) { /* the legend names them; their unit is
                                                                      left */
        axis->label = unit_of(b, quantity, &c.model);
        if (!*axis->label && quantity.metric < BLI_METRIC_COUNT)
            axis->label = bli_metric_table[quantity.metric].unit;
        return true;
    }
    axis->label = bli_chart_metric_text(b, quantity);
    if (b->plot->over >= 0 && axis->label)
        axis->label = bli_chart_text(b, axis->label, b->plot->inverse ? " under that of " : " over that of ",
                                     b->experiment->policy[b->plot->over].label);
    else
        axis->unit = unit_of(b, quantity, &c.model);
    return axis->label;
}

/* The y axis names the metric, so a title need not. */
static bool title_panel(struct chart_builder *b, size_t row, size_t column, struct bli_panel *panel) {
    const bool by_row = b->rows.what != BLI_BY_NOTHING && b->rows.what != BLI_BY_METRIC;
    const bool by_column = b->columns.what != BLI_BY_NOTHING && b->columns.what != BLI_BY_METRIC;
    const char *r = by_row ? bli_chart_name(b, &b->rows, row) : "",
               *c = by_column ? bli_chart_name(b, &b->columns, column) : "";
    if (!r || !c)
        return false;
    if (by_row || (by_column && (row == 0 || b->rows.what == BLI_BY_NOTHING)))
        panel->title = bli_chart_text(b, c, by_row && by_column ? ", " : "", r);
    else
        return true;
    return panel->title;
}

static enum bal_code fill_panel(struct chart_builder *b, size_t row, size_t column, struct bli_panel *panel) {
    struct chart_place place =
        bli_chart_moved(bli_chart_moved(bli_chart_start(b), &b->rows, row), &b->columns, column);
    if (!title_panel(b, row, column, panel) || !label_x(b, place, &panel->x) || !label_y(b, place, &panel->y))
        return bli_chart_no_memory(b);
    return b->plot->kind == BLI_PLOT_MAP ? bli_chart_fill_map(b, place, panel) : fill_series(b, place, panel);
}

/* ---- the figure ---- */

static enum bal_code choose_dimensions(struct chart_builder *b) {
    const struct bli_plot *plot = b->plot;
    const bool one_place = bli_chart_is_distribution(b) || plot->kind == BLI_PLOT_TAIL;
    if (!bli_chart_dimension(b, &b->rows, plot->rows) || !bli_chart_dimension(b, &b->columns, plot->panels) ||
        !bli_chart_dimension(b, &b->series, plot->series) ||
        !bli_chart_dimension(b, &b->x, one_place ? BLI_BY_NOTHING : plot->x))
        return bli_chart_no_memory(b);
    if (b->rows.count == 0 || b->columns.count == 0 || b->series.count == 0 || b->x.count == 0)
        return bal_fail(b->err, BAL_E_MODEL,
                        "figure '%s': nothing is left to draw; choose more values or policies", plot->id);
    if (b->rows.count > BLI_PANELS_MAX || b->columns.count > BLI_PANELS_MAX ||
        b->rows.count * b->columns.count > BLI_PANELS_MAX)
        return bal_fail(b->err, BAL_E_RANGE, "figure '%s': %zu panels; at most %d fit into one figure",
                        plot->id, b->rows.count * b->columns.count, BLI_PANELS_MAX);
    if (b->series.count > BLI_FIGURE_GROUPS_MAX && plot->kind != BLI_PLOT_MAP)
        return bal_fail(b->err, BAL_E_RANGE, "figure '%s': %zu curves; at most %d can be told apart",
                        plot->id, b->series.count, BLI_FIGURE_GROUPS_MAX);
    return BAL_OK;
}

static enum bal_code fill_figure(struct chart_builder *b, struct bli_figure *figure) {
    const enum bal_code code = choose_dimensions(b);
    if (code)
        return code;
    const size_t rows = b->rows.count, columns = b->columns.count;
    struct bli_panel *panel = bli_arena_take(b->arena, rows * columns, sizeof *panel);
    if (!panel)
        return bli_chart_no_memory(b);
    for (size_t i = 0; i < rows * columns; i++) {
        const enum bal_code filled = fill_panel(b, i / columns, i % columns, &panel[i]);
        if (filled)
            return filled;
    }
    *figure = (struct bli_figure){
        .title = b->plot->title,
        .panel = panel,
        .panels = rows * columns,
        .columns = rows > 1 ? (unsigned)columns : b->plot->columns,
        .measured = bli_chart_is_distribution(b) ? "simulation" : NULL,
        .theory = b->mixed ? NULL : b->source,
    };
    struct bal_error err;
    if (bli_figure_check(figure, &err))
        return bal_fail(b->err, err.code, "figure '%s': %s", b->plot->id, err.text);
    return BAL_OK;
}

enum bal_code bli_chart_new(struct bli_store *store, const struct bli_experiment *experiment, size_t plot,
                            struct bli_chart **chart, struct bal_error *err) {
    struct bli_chart *made = calloc(1, sizeof *made);
    if (!made)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
    struct chart_builder b = {
        .store = store,
        .experiment = experiment,
        .plot = &experiment->plot[plot],
        .arena = &made->arena,
        .err = err,
    };
    enum bal_code code = fill_figure(&b, &made->figure);
    if (made->arena.lost)
        code = bli_chart_no_memory(&b);
    if (code)
        bli_chart_free(made);
    else
        *chart = made;
    return code;
}

const struct bli_figure *bli_chart_figure(const struct bli_chart *chart) {
    return &chart->figure;
}

void bli_chart_free(struct bli_chart *chart) {
    if (!chart)
        return;
    bli_arena_fini(&chart->arena);
    free(chart);
}

/* ---- files ---- */

static enum bal_code write_chart(const struct bli_chart *chart, const char *name, const char *id,
                                 const struct bli_chart_files *files, struct bal_error *err) {
    for (int format = 0; format < BLI_FIGURE_FORMATS; format++) {
        if (!(files->formats & 1u << format))
            continue;
        char *path;
        if (asprintf(&path, "%s/%s-%s.%s", files->directory, name, id,
                     bli_figure_format_text((enum bli_figure_format)format)) < 0)
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
        struct bli_figure figure = chart->figure;
        figure.size = files->size;
        const enum bal_code code = bli_figure_write(&figure, path, err);
        if (!code && files->written)
            files->written(files->context, path);
        free(path);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bli_chart_write(struct bli_store *store, const struct bli_experiment *experiment,
                              const struct bli_chart_files *files, struct bal_error *err) {
    bool found = false;
    for (size_t i = 0; i < experiment->plots; i++) {
        const char *id = experiment->plot[i].id;
        if (files->only && strcmp(files->only, id) != 0)
            continue;
        found = true;
        struct bli_chart *chart;
        enum bal_code code = bli_chart_new(store, experiment, i, &chart, err);
        if (code)
            return code;
        code = write_chart(chart, experiment->name, id, files, err);
        bli_chart_free(chart);
        if (code)
            return code;
    }
    if (files->only && !found)
        return bal_fail(err, BAL_E_UNKNOWN, "experiment '%s' has no figure '%s'", experiment->name,
                        files->only);
    return BAL_OK;
}
