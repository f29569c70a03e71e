/* From what an experiment file asks to be drawn, and the results in the store, to a figure.
 *
 * Panels, curves and places on the x axis each stand for a dimension of the experiment: one of its axes, its
 * policies or the metrics of the figure. A value to draw is found by fixing one member in each dimension. */
#include "ballast/report.h"

#include "base/arena.h"
#include "report/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bal_chart {
    struct bal_figure figure;
    struct bal_arena arena; /* holds all that the figure points to */
};

/* One member of each dimension. */
struct place {
    size_t policy, metric;
    size_t index[BAL_AXES_MAX];
};

/* The chosen members of one dimension. */
struct dimension {
    int what; /* an axis, or BAL_BY_... */
    size_t count;
    size_t *member;
};

struct builder {
    struct bal_store *store;
    const struct bal_experiment *experiment;
    const struct bal_plot *plot;
    struct bal_arena *arena;
    struct dimension rows, columns, series, x;
    const char *source; /* what theory it is, as long as all curves have the same */
    bool mixed;
    struct bal_error *err;
};

static enum bal_code no_memory(struct builder *b) {
    return bal_fail(b->err, BAL_E_MEMORY, "not enough memory for figure '%s'", b->plot->id);
}

static double *take_numbers(struct builder *b, size_t count) {
    return bal_arena_take(b->arena, count, sizeof(double));
}

/* ---- dimensions ---- */

static bool is_chosen(const struct builder *b, int what, size_t member) {
    const struct bal_selection *where = &b->plot->where;
    if (what == BAL_BY_POLICY)
        return !where->policy || where->policy[member];
    return what < 0 || !where->value[what] || where->value[what][member];
}

static size_t size_of(const struct builder *b, int what) {
    switch (what) {
    case BAL_BY_NOTHING:
        return 1;
    case BAL_BY_POLICY:
        return b->experiment->policies;
    case BAL_BY_METRIC:
        return b->plot->metrics;
    default:
        return b->experiment->axis[what].count;
    }
}

static bool dimension_init(struct builder *b, struct dimension *dimension, int what) {
    const size_t size = size_of(b, what);
    *dimension = (struct dimension){.what = what, .member = bal_arena_take(b->arena, size, sizeof(size_t))};
    if (!dimension->member)
        return false;
    for (size_t i = 0; i < size; i++)
        if (is_chosen(b, what, i))
            dimension->member[dimension->count++] = i;
    return true;
}

static size_t first_chosen(const struct builder *b, int what) {
    size_t i = 0;
    while (i + 1 < size_of(b, what) && !is_chosen(b, what, i))
        i++;
    return i;
}

static struct place start_place(const struct builder *b) {
    struct place place = {.policy = first_chosen(b, BAL_BY_POLICY)};
    for (size_t a = 0; a < b->experiment->axes; a++)
        place.index[a] = first_chosen(b, (int)a);
    return place;
}

/* The place, moved to the i-th chosen member of the dimension. */
static struct place moved(struct place place, const struct dimension *dimension, size_t i) {
    const size_t member = dimension->member[i];
    if (dimension->what == BAL_BY_POLICY)
        place.policy = member;
    else if (dimension->what == BAL_BY_METRIC)
        place.metric = member;
    else if (dimension->what >= 0)
        place.index[dimension->what] = member;
    return place;
}

static struct bal_case case_at(const struct builder *b, const struct place *place) {
    struct bal_case c;
    bal_experiment_case(b->experiment, bal_experiment_point(b->experiment, place->index), place->policy, &c);
    return c;
}

static char *print_text(struct builder *b, const char *first, const char *middle, const char *second) {
    const size_t size = strlen(first) + strlen(middle) + strlen(second) + 1;
    char *text = bal_arena_take(b->arena, size, 1);
    if (text)
        snprintf(text, size, "%s%s%s", first, middle, second);
    return text;
}

static const char *metric_text(struct builder *b, struct bal_quantity quantity) {
    char text[BAL_METRIC_TEXT];
    const struct place place = start_place(b);
    const struct bal_case c = case_at(b, &place);
    bal_metric_label(quantity, &c.model, text);
    return bal_arena_text(b->arena, text, strlen(text));
}

/* What a member is called; "" for BAL_BY_NOTHING, NULL without memory. */
static const char *name_of(struct builder *b, const struct dimension *dimension, size_t i) {
    const size_t member = dimension->member[i];
    if (dimension->what == BAL_BY_NOTHING)
        return "";
    if (dimension->what == BAL_BY_POLICY)
        return b->experiment->policy[member].label;
    if (dimension->what == BAL_BY_METRIC)
        return metric_text(b, b->plot->metric[member]);
    const struct bal_sweep_axis *axis = &b->experiment->axis[dimension->what];
    return print_text(b, axis->label, axis->numeric ? " = " : " ", axis->value[member].label);
}

/* ---- values ---- */

/* What was measured of a quantity there. */
struct value {
    struct bal_estimate estimate; /* NaN: nothing */
    enum bal_verdict verdict;
};

static struct bal_quantity over_of(const struct builder *b, struct bal_quantity quantity) {
    return b->plot->over_metric.metric < 0 ? quantity : b->plot->over_metric;
}

/* The quantity over that of the policy that the figure divides by; unstable where one of them is. */
static enum bal_code measure_ratio(struct builder *b, const struct place *place, struct bal_quantity quantity,
                                   struct value *value) {
    const size_t point = bal_experiment_point(b->experiment, place->index);
    const size_t policy[2] = {place->policy, (size_t)b->plot->over};
    const struct bal_quantity of[2] = {quantity, over_of(b, quantity)};
    const int top = b->plot->inverse, bottom = !top;
    *value = (struct value){{NAN, NAN}, BAL_STABLE};
    for (int i = 0; i < 2; i++) {
        struct bal_result result;
        const enum bal_code code =
            bal_store_result(b->store, b->experiment, point, policy[i], &result, b->err);
        if (code || result.replications == 0)
            return code;
        if (bal_quantity_diverges(of[i]) && value->verdict != BAL_UNSTABLE && result.verdict != BAL_STABLE)
            value->verdict = result.verdict;
    }
    return bal_store_ratio(b->store, b->experiment, point, policy[top], of[top], policy[bottom], of[bottom],
                           &value->estimate, b->err);
}

static enum bal_code measure(struct builder *b, const struct place *place, struct bal_quantity quantity,
                             struct value *value) {
    if (b->plot->over >= 0)
        return measure_ratio(b, place, quantity, value);
    const size_t point = bal_experiment_point(b->experiment, place->index);
    struct bal_result result;
    enum bal_code code = bal_store_result(b->store, b->experiment, point, place->policy, &result, b->err);
    if (code)
        return code;
    /* Fractions and messages settle down even where queues do not. */
    value->verdict = bal_quantity_diverges(quantity) ? result.verdict : BAL_STABLE;
    value->estimate = (struct bal_estimate){NAN, NAN};
    if (result.replications == 0)
        value->verdict = BAL_STABLE;
    else if (quantity.metric < BAL_METRIC_COUNT)
        value->estimate = result.metric[quantity.metric];
    else
        code = bal_store_quantity(b->store, b->experiment, point, place->policy, quantity, &value->estimate,
                                  b->err);
    return code;
}

static void note_source(struct builder *b, const char *source) {
    b->mixed |= b->source && strcmp(b->source, source) != 0;
    b->source = source;
}

static double known_at(struct builder *b, const struct bal_case *c, struct bal_quantity quantity) {
    const char *source = NULL;
    const double value = bal_quantity_of_case(quantity, c, &source);
    if (!isnan(value))
        note_source(b, source);
    return value;
}

static double bound_at(const struct bal_case *c, struct bal_quantity quantity) {
    const struct bal_known known = bal_known_of(&c->model, &c->policy);
    return bal_quantity_bound(quantity, &known);
}

/* What is computed there, or the bound that is proved, divided as what is measured is. */
static double computed_at(struct builder *b, const struct place *place, const struct bal_case *c,
                          struct bal_quantity quantity, bool bound) {
    const double value = bound ? bound_at(c, quantity) : known_at(b, c, quantity);
    if (b->plot->over < 0)
        return value;
    struct place other = *place;
    other.policy = (size_t)b->plot->over;
    struct bal_case below = case_at(b, &other);
    below.model = c->model;
    const double ratio = value / known_at(b, &below, over_of(b, quantity));
    return b->plot->inverse ? 1 / ratio : ratio;
}

/* ---- series ---- */

/* The numbers of a series while they are being gathered. */
struct column {
    size_t count;
    double *x, *y, *half;
    enum bal_verdict *verdict;
    bool unstable; /* a whole curve that cannot be drawn for that reason */
};

static bool take_column(struct builder *b, struct column *column, size_t count) {
    *column = (struct column){
        .count = count,
        .x = take_numbers(b, count),
        .y = take_numbers(b, count),
        .half = take_numbers(b, count),
        .verdict = bal_arena_take(b->arena, count, sizeof *column->verdict),
    };
    return column->x && column->y && column->half && column->verdict;
}

static void put_value(struct column *column, size_t i, double x, const struct value *value) {
    column->x[i] = x;
    column->y[i] = value->estimate.mean;
    column->half[i] = value->estimate.half;
    column->verdict[i] = value->verdict;
}

/* Something that has no interval. */
static void put_exact(struct column *column, size_t i, double x, double y) {
    const struct value value = {{y, NAN}, BAL_STABLE};
    put_value(column, i, x, &value);
}

static void attach(struct bal_series *series, const struct column *column) {
    series->count = column->count;
    series->x = column->x;
    series->y = column->y;
    series->half = column->half;
    series->verdict = column->verdict;
}

static bool has_numbers(const struct builder *b) {
    return b->x.what >= 0 && b->experiment->axis[b->x.what].numeric &&
           (b->plot->kind == BAL_PLOT_AXIS || b->plot->kind == BAL_PLOT_MAP);
}

static double x_of(const struct builder *b, size_t i) {
    return has_numbers(b) ? b->experiment->axis[b->x.what].value[b->x.member[i]].number : (double)i;
}

/* Between the points of an axis of loads or of shares alone, theory can be asked at any other one too. */
static bool is_swept(const struct builder *b, const char *field) {
    const struct bal_sweep_axis *axis = b->x.what >= 0 ? &b->experiment->axis[b->x.what] : NULL;
    return axis && axis->numeric && axis->fields == 1 && strcmp(axis->name, field) == 0 && b->x.count > 1 &&
           b->plot->kind == BAL_PLOT_AXIS;
}

static bool is_load(const struct builder *b) {
    return strcmp(b->experiment->axis[b->x.what].name, "load") == 0;
}

static enum bal_code fill_theory(struct builder *b, struct place place, bool bound, struct column *column) {
    enum { FINE = 120 };
    const struct bal_quantity quantity = b->plot->metric[place.metric];
    const bool load = is_swept(b, "load"), high = is_swept(b, "high"), fine = load || high;
    if (!take_column(b, column, fine ? FINE : b->x.count))
        return no_memory(b);
    const double from = x_of(b, 0), to = x_of(b, b->x.count - 1);
    for (size_t i = 0; i < column->count; i++) {
        const struct place there = moved(place, &b->x, fine ? 0 : i);
        struct bal_case c = case_at(b, &there);
        const double x = fine ? from + (to - from) * (double)i / (FINE - 1) : x_of(b, i);
        if (load)
            c.model.load = x;
        if (high)
            c.model.high = x;
        put_exact(column, i, x, computed_at(b, &there, &c, quantity, bound));
    }
    return BAL_OK;
}

static enum bal_code fill_axis(struct builder *b, struct place place, struct column *column) {
    const struct bal_quantity quantity = b->plot->metric[place.metric];
    if (!take_column(b, column, b->x.count))
        return no_memory(b);
    for (size_t i = 0; i < b->x.count; i++) {
        const struct place there = moved(place, &b->x, i);
        struct value value;
        const enum bal_code code = measure(b, &there, quantity, &value);
        if (code)
            return code;
        put_value(column, i, x_of(b, i), &value);
    }
    return BAL_OK;
}

/* ---- fraction of servers with at least i jobs ---- */

enum { TAIL_SHOWN = 40 }; /* levels, at most */
static const double tail_least = 1e-6;

static enum bal_code fill_tail(struct builder *b, struct place place, struct column *column) {
    if (!take_column(b, column, TAIL_SHOWN))
        return no_memory(b);
    for (int i = 0; i < TAIL_SHOWN; i++) {
        struct value value;
        const enum bal_code code = measure(b, &place, (struct bal_quantity){BAL_METRIC_COUNT, i}, &value);
        if (code)
            return code;
        if (!(value.estimate.mean >= tail_least)) {
            column->count = (size_t)i;
            return BAL_OK;
        }
        put_value(column, (size_t)i, i, &value);
    }
    return BAL_OK;
}

static enum bal_code fill_tail_theory(struct builder *b, struct place place, struct column *column) {
    if (!take_column(b, column, TAIL_SHOWN))
        return no_memory(b);
    const struct bal_case c = case_at(b, &place);
    for (int i = 0; i < TAIL_SHOWN; i++) {
        const double y = known_at(b, &c, (struct bal_quantity){BAL_METRIC_COUNT, i});
        if (!(y >= tail_least)) {
            column->count = (size_t)i;
            break;
        }
        put_exact(column, (size_t)i, i, y);
    }
    return BAL_OK;
}

/* ---- distributions of times ---- */

static bool is_distribution(const struct builder *b) {
    return b->plot->kind == BAL_PLOT_CDF || b->plot->kind == BAL_PLOT_CCDF;
}

static bool is_waiting(const struct builder *b, const struct place *place) {
    return b->plot->metric[place->metric].metric == BAL_WAITING_MEAN;
}

/* Are there response and waiting times in one panel? */
static bool mixes_times(const struct builder *b) {
    return b->series.what == BAL_BY_METRIC && b->plot->metrics > 1;
}

/* Does the curve need a point at y, after one at last? A few hundred make it look smooth on either scale. */
static bool is_step(const struct builder *b, double last, double y) {
    return b->plot->log_y ? y < 0.96 * last || y > 1.04 * last : fabs(y - last) >= 0.004;
}

static enum bal_code fill_distribution(struct builder *b, struct place place, struct column *column) {
    const size_t point = bal_experiment_point(b->experiment, place.index);
    struct bal_histogram *histogram = calloc(1, sizeof *histogram);
    struct value value = {{NAN, NAN}, BAL_STABLE};
    double unit = 1;
    enum bal_code code = histogram ? BAL_OK : no_memory(b);
    if (!code)
        code = measure(b, &place, (struct bal_quantity){BAL_RESPONSE_MEAN, 0}, &value);
    if (!code)
        code = bal_store_histograms(b->store, b->experiment, point, place.policy,
                                    is_waiting(b, &place) ? NULL : histogram,
                                    is_waiting(b, &place) ? histogram : NULL, &unit, b->err);
    if (!code && !take_column(b, column, 2 * BAL_HISTOGRAM_BINS))
        code = no_memory(b);
    if (code)
        goto out;
    /* Times in slots are whole numbers: steps, as long as they can be seen. They are drawn as a line, which
     * unlike gnuplot's own steps can be dashed. */
    const double steps_end = case_at(b, &place).model.clock == BAL_CLOCK_SLOTTED ? 25 : 0;
    column->count = 0;
    const uint64_t total = bal_histogram_total(histogram);
    column->unstable = value.verdict == BAL_UNSTABLE;
    if (total == 0 || column->unstable)
        goto out;
    uint64_t below = 0;
    double last = NAN;
    for (unsigned bin = 0; bin + 1 < BAL_HISTOGRAM_BINS && below < total; bin++) {
        below += histogram->count[bin];
        const double part = (double)(b->plot->kind == BAL_PLOT_CDF ? below : total - below) / (double)total;
        if (histogram->count[bin] == 0 || !(isnan(last) || below == total || is_step(b, last, part)))
            continue;
        const double t = bal_histogram_edge(bin + 1) * unit;
        if (t < steps_end && !isnan(last))
            put_exact(column, column->count++, t, last);
        put_exact(column, column->count++, t, part);
        last = part;
    }
out:
    free(histogram);
    return code;
}

/* The law that theory gives, at the times where the measured curve has points. */
static enum bal_code fill_law(struct builder *b, struct place place, const struct bal_series *measured,
                              struct column *column) {
    const struct bal_case c = case_at(b, &place);
    const struct bal_known known = bal_known_of(&c.model, &c.policy);
    const enum bal_known_time what = is_waiting(b, &place) ? BAL_KNOWN_WAITING : BAL_KNOWN_RESPONSE;
    /* Some of its hundreds of points are enough for a smooth curve. */
    const size_t stride = 1 + measured->count / 100;
    if (!take_column(b, column, measured->count / stride))
        return no_memory(b);
    for (size_t i = 0; i < column->count; i++) {
        const double t = measured->x[i * stride];
        const double longer = bal_known_longer(&c.model, &c.policy, what, t);
        put_exact(column, i, t, b->plot->kind == BAL_PLOT_CDF ? 1 - longer : longer);
        if (!isnan(longer))
            note_source(b, known.source);
    }
    return BAL_OK;
}

/* ---- a panel ---- */

static enum bal_style style_of(const struct builder *b) {
    if (b->plot->kind == BAL_PLOT_BARS)
        return BAL_STYLE_BARS;
    return is_distribution(b) ? BAL_STYLE_LINE : BAL_STYLE_POINTS;
}

static enum bal_code fill_measured(struct builder *b, struct place place, struct column *column) {
    switch (b->plot->kind) {
    case BAL_PLOT_CDF:
    case BAL_PLOT_CCDF:
        return fill_distribution(b, place, column);
    case BAL_PLOT_TAIL:
        return fill_tail(b, place, column);
    case BAL_PLOT_AXIS:
    case BAL_PLOT_BARS:
    case BAL_PLOT_MAP:
        break;
    }
    return fill_axis(b, place, column);
}

static bool any_known(const struct bal_series *series) {
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->y[i]))
            return true;
    return false;
}

static bool same_curve(const struct bal_series *a, const struct bal_series *b) {
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->x[i] != b->x[i] || !(a->y[i] == b->y[i] || (isnan(a->y[i]) && isnan(b->y[i]))))
            return false;
    return true;
}

/* Appends what theory says of each of the curves, which stand at the front. Where it says the same of all, as
 * it does of a limit for all numbers of servers, that is one line which belongs to none of them. */
static enum bal_code add_theory(struct builder *b, struct place place, struct bal_series *series,
                                size_t *count) {
    const size_t first = *count;
    bool same = true;
    for (size_t s = 0; s < b->series.count; s++) {
        struct bal_series *line = &series[*count];
        struct column column;
        const struct place there = moved(place, &b->series, s);
        const enum bal_code code = is_distribution(b)               ? fill_law(b, there, &series[s], &column)
                                   : b->plot->kind == BAL_PLOT_TAIL ? fill_tail_theory(b, there, &column)
                                                                    : fill_theory(b, there, false, &column);
        if (code)
            return code;
        attach(line, &column);
        line->theory = true;
        line->group = (unsigned)s;
        line->style = b->plot->kind == BAL_PLOT_BARS ? BAL_STYLE_BARS : BAL_STYLE_LINE;
        if (!any_known(line))
            continue;
        same = same && same_curve(&series[first], line);
        ++*count;
    }
    if (same && *count - first > 1 && b->plot->kind != BAL_PLOT_BARS) {
        series[first].group = BAL_GROUP_INK;
        *count = first + 1;
    }
    return BAL_OK;
}

/* Appends what is proved to bound the curves. */
static enum bal_code add_bounds(struct builder *b, struct place place, struct bal_series *series,
                                size_t *count) {
    for (size_t s = 0; s < b->series.count; s++) {
        struct bal_series *line = &series[*count];
        struct column column;
        const enum bal_code code = fill_theory(b, moved(place, &b->series, s), true, &column);
        if (code)
            return code;
        attach(line, &column);
        line->theory = line->bound = true;
        line->group = (unsigned)s;
        line->style = BAL_STYLE_LINE;
        *count += any_known(line);
    }
    return BAL_OK;
}

static enum bal_code fill_series(struct builder *b, struct place place, struct bal_panel *panel) {
    struct bal_series *series = bal_arena_take(b->arena, 3 * b->series.count, sizeof *series);
    if (!series)
        return no_memory(b);
    size_t count = 0;
    for (size_t s = 0; s < b->series.count; s++, count++) {
        struct column column;
        const enum bal_code code = fill_measured(b, moved(place, &b->series, s), &column);
        if (code)
            return code;
        attach(&series[count], &column);
        series[count].group = (unsigned)s;
        series[count].style = style_of(b);
        series[count].name = name_of(b, &b->series, s);
        if (series[count].name && is_distribution(b) && column.unstable)
            series[count].name = print_text(b, series[count].name, " (unstable)", "");
        if (!series[count].name)
            return no_memory(b);
    }
    if (b->plot->theory) {
        const enum bal_code code = add_theory(b, place, series, &count);
        if (code)
            return code;
    }
    if (b->plot->bound && b->plot->kind == BAL_PLOT_AXIS) {
        const enum bal_code code = add_bounds(b, place, series, &count);
        if (code)
            return code;
    }
    panel->series = series;
    panel->count = count;
    return BAL_OK;
}

/* ---- maps ---- */

static double y_of(const struct builder *b, size_t i) {
    return b->experiment->axis[b->series.what].value[b->series.member[i]].number;
}

/* The points of one verdict. */
static enum bal_code fill_verdicts(struct builder *b, struct place place, enum bal_verdict verdict,
                                   struct column *column) {
    if (!take_column(b, column, 2 * b->x.count * b->series.count))
        return no_memory(b);
    column->count = 0;
    for (size_t s = 0; s < b->series.count; s++)
        for (size_t i = 0; i < b->x.count; i++) {
            const struct place there = moved(moved(place, &b->series, s), &b->x, i);
            const size_t point = bal_experiment_point(b->experiment, there.index);
            struct bal_result result;
            const enum bal_code code =
                bal_store_result(b->store, b->experiment, point, there.policy, &result, b->err);
            if (code)
                return code;
            if (result.replications == 0 || result.verdict != verdict)
                continue;
            put_exact(column, column->count++, x_of(b, i), y_of(b, s));
            put_exact(column, column->count++, x_of(b, i), NAN); /* no line to the next */
        }
    return BAL_OK;
}

/* Where x is a load: that beyond which it is known to be unstable, for each y. */
static enum bal_code fill_frontier(struct builder *b, struct place place, struct column *column) {
    if (!take_column(b, column, b->series.count))
        return no_memory(b);
    for (size_t s = 0; s < b->series.count; s++) {
        const struct place there = moved(place, &b->series, s);
        const struct bal_case c = case_at(b, &there);
        const double load = is_load(b) ? bal_known_unstable_load(&c.model, &c.policy) : NAN;
        const double most = x_of(b, b->x.count - 1);
        put_exact(column, s, load, load <= most ? y_of(b, s) : NAN);
    }
    return BAL_OK;
}

static enum bal_code fill_map(struct builder *b, struct place place, struct bal_panel *panel) {
    static const struct {
        enum bal_verdict verdict;
        const char *name;
    } kinds[] = {{BAL_STABLE, "stable"}, {BAL_UNSTABLE, "unstable"}, {BAL_UNDECIDED, "undecided"}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct bal_series *series = bal_arena_take(b->arena, KINDS + 1, sizeof *series);
    if (!series)
        return no_memory(b);
    for (unsigned k = 0; k < KINDS + 1; k++) {
        struct column column;
        const enum bal_code code =
            k < KINDS ? fill_verdicts(b, place, kinds[k].verdict, &column) : fill_frontier(b, place, &column);
        if (code)
            return code;
        struct bal_series *s = &series[panel->count];
        attach(s, &column);
        s->verdict = NULL;
        s->group = k;
        s->style = k < KINDS ? BAL_STYLE_POINTS : BAL_STYLE_LINE;
        s->name = k < KINDS ? kinds[k].name : "proved unstable to the right";
        panel->count += any_known(s);
    }
    panel->series = series;
    return BAL_OK;
}

static bool label_x(struct builder *b, struct place place, struct bal_axis *axis) {
    axis->log = b->plot->log_x;
    axis->low = b->plot->x_range[0];
    axis->high = b->plot->x_range[1];
    axis->label = b->plot->x_label;
    if (is_distribution(b)) {
        const struct bal_case c = case_at(b, &place);
        if (!axis->label) {
            axis->label = mixes_times(b)          ? "time t"
                          : is_waiting(b, &place) ? "waiting time t"
                                                  : "response time t";
            axis->unit = bal_metric_unit((struct bal_quantity){BAL_RESPONSE_MEAN, 0}, &c.model);
        }
        return true;
    }
    if (b->plot->kind == BAL_PLOT_TAIL) {
        axis->label = axis->label ? axis->label : "jobs at a server, i";
        return true;
    }
    if (!axis->label && b->x.what >= 0)
        axis->label = b->experiment->axis[b->x.what].label;
    if (has_numbers(b))
        return true;
    const char **names = bal_arena_take(b->arena, b->x.count, sizeof *names);
    for (size_t i = 0; names && i < b->x.count; i++)
        names[i] = b->x.what >= 0 ? b->experiment->axis[b->x.what].value[b->x.member[i]].label
                                  : name_of(b, &b->x, i);
    axis->names = names;
    axis->name_count = b->x.count;
    return names;
}

static bool label_y(struct builder *b, struct place place, struct bal_axis *axis) {
    axis->log = b->plot->log_y;
    axis->low = b->plot->y_range[0];
    axis->high = b->plot->y_range[1];
    axis->label = b->plot->y_label;
    if (axis->label)
        return true;
    if (is_distribution(b)) {
        static const char *const texts[3][2] = {{"P(response time ≤ t)", "P(response time > t)"},
                                                {"P(waiting time ≤ t)", "P(waiting time > t)"},
                                                {"P(time ≤ t)", "P(time > t)"}};
        axis->label = texts[mixes_times(b) ? 2 : is_waiting(b, &place)][b->plot->kind == BAL_PLOT_CCDF];
        return true;
    }
    if (b->plot->kind == BAL_PLOT_TAIL) {
        axis->label = "fraction of servers with at least i jobs";
        return true;
    }
    if (b->plot->kind == BAL_PLOT_MAP) {
        axis->label = b->experiment->axis[b->series.what].label;
        return true;
    }
    const struct bal_case c = case_at(b, &place);
    const struct bal_quantity quantity = b->plot->metric[place.metric];
    if (b->series.what == BAL_BY_METRIC && b->plot->metrics > 1) { /* the legend names them; their unit is
                                                                      left */
        axis->label = bal_metric_unit(quantity, &c.model);
        if (!*axis->label && quantity.metric < BAL_METRIC_COUNT)
            axis->label = bal_metric_table[quantity.metric].unit;
        return true;
    }
    axis->label = metric_text(b, quantity);
    if (b->plot->over >= 0 && axis->label)
        axis->label = print_text(b, axis->label, b->plot->inverse ? " under that of " : " over that of ",
                                 b->experiment->policy[b->plot->over].label);
    else
        axis->unit = bal_metric_unit(quantity, &c.model);
    return axis->label;
}

/* The y axis names the metric, so a title need not. */
static bool title_panel(struct builder *b, size_t row, size_t column, struct bal_panel *panel) {
    const bool by_row = b->rows.what != BAL_BY_NOTHING && b->rows.what != BAL_BY_METRIC;
    const bool by_column = b->columns.what != BAL_BY_NOTHING && b->columns.what != BAL_BY_METRIC;
    const char *r = by_row ? name_of(b, &b->rows, row) : "",
               *c = by_column ? name_of(b, &b->columns, column) : "";
    if (!r || !c)
        return false;
    if (by_row || (by_column && (row == 0 || b->rows.what == BAL_BY_NOTHING)))
        panel->title = print_text(b, c, by_row && by_column ? ", " : "", r);
    else
        return true;
    return panel->title;
}

static enum bal_code fill_panel(struct builder *b, size_t row, size_t column, struct bal_panel *panel) {
    struct place place = moved(moved(start_place(b), &b->rows, row), &b->columns, column);
    if (!title_panel(b, row, column, panel) || !label_x(b, place, &panel->x) || !label_y(b, place, &panel->y))
        return no_memory(b);
    return b->plot->kind == BAL_PLOT_MAP ? fill_map(b, place, panel) : fill_series(b, place, panel);
}

/* ---- the figure ---- */

static enum bal_code choose_dimensions(struct builder *b) {
    const struct bal_plot *plot = b->plot;
    const bool one_place = is_distribution(b) || plot->kind == BAL_PLOT_TAIL;
    if (!dimension_init(b, &b->rows, plot->rows) || !dimension_init(b, &b->columns, plot->panels) ||
        !dimension_init(b, &b->series, plot->series) ||
        !dimension_init(b, &b->x, one_place ? BAL_BY_NOTHING : plot->x))
        return no_memory(b);
    if (b->rows.count == 0 || b->columns.count == 0 || b->series.count == 0 || b->x.count == 0)
        return bal_fail(b->err, BAL_E_MODEL,
                        "figure '%s': nothing is left to draw; choose more values or policies", plot->id);
    if (b->rows.count > BAL_PANELS_MAX || b->columns.count > BAL_PANELS_MAX ||
        b->rows.count * b->columns.count > BAL_PANELS_MAX)
        return bal_fail(b->err, BAL_E_RANGE, "figure '%s': %zu panels; at most %d fit into one figure",
                        plot->id, b->rows.count * b->columns.count, BAL_PANELS_MAX);
    if (b->series.count > BAL_FIGURE_GROUPS_MAX && plot->kind != BAL_PLOT_MAP)
        return bal_fail(b->err, BAL_E_RANGE, "figure '%s': %zu curves; at most %d can be told apart",
                        plot->id, b->series.count, BAL_FIGURE_GROUPS_MAX);
    return BAL_OK;
}

static enum bal_code fill_figure(struct builder *b, struct bal_figure *figure) {
    const enum bal_code code = choose_dimensions(b);
    if (code)
        return code;
    const size_t rows = b->rows.count, columns = b->columns.count;
    struct bal_panel *panel = bal_arena_take(b->arena, rows * columns, sizeof *panel);
    if (!panel)
        return no_memory(b);
    for (size_t i = 0; i < rows * columns; i++) {
        const enum bal_code filled = fill_panel(b, i / columns, i % columns, &panel[i]);
        if (filled)
            return filled;
    }
    *figure = (struct bal_figure){
        .title = b->plot->title,
        .panel = panel,
        .panels = rows * columns,
        .columns = rows > 1 ? (unsigned)columns : b->plot->columns,
        .theory = b->mixed ? NULL : b->source,
    };
    struct bal_error err;
    if (bal_figure_check(figure, &err))
        return bal_fail(b->err, err.code, "figure '%s': %s", b->plot->id, err.text);
    return BAL_OK;
}

enum bal_code bal_chart_new(struct bal_store *store, const struct bal_experiment *experiment, size_t plot,
                            struct bal_chart **chart, struct bal_error *err) {
    struct bal_chart *made = calloc(1, sizeof *made);
    if (!made)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
    struct builder b = {
        .store = store,
        .experiment = experiment,
        .plot = &experiment->plot[plot],
        .arena = &made->arena,
        .err = err,
    };
    enum bal_code code = fill_figure(&b, &made->figure);
    if (made->arena.lost)
        code = no_memory(&b);
    if (code)
        bal_chart_free(made);
    else
        *chart = made;
    return code;
}

const struct bal_figure *bal_chart_figure(const struct bal_chart *chart) {
    return &chart->figure;
}

void bal_chart_free(struct bal_chart *chart) {
    if (!chart)
        return;
    bal_arena_fini(&chart->arena);
    free(chart);
}

/* ---- files ---- */

static enum bal_code write_chart(const struct bal_chart *chart, const char *name, const char *id,
                                 const struct bal_chart_files *files, struct bal_error *err) {
    for (int format = 0; format < BAL_FIGURE_FORMATS; format++) {
        if (!(files->formats & 1u << format))
            continue;
        char *path;
        if (asprintf(&path, "%s/%s-%s.%s", files->directory, name, id,
                     bal_figure_format_text((enum bal_figure_format)format)) < 0)
            return bal_fail(err, BAL_E_MEMORY, "not enough memory for a figure");
        const enum bal_code code = bal_figure_write(&chart->figure, path, err);
        if (!code && files->written)
            files->written(files->context, path);
        free(path);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bal_chart_write(struct bal_store *store, const struct bal_experiment *experiment,
                              const struct bal_chart_files *files, struct bal_error *err) {
    bool found = false;
    for (size_t i = 0; i < experiment->plots; i++) {
        const char *id = experiment->plot[i].id;
        if (files->only && strcmp(files->only, id) != 0)
            continue;
        found = true;
        struct bal_chart *chart;
        enum bal_code code = bal_chart_new(store, experiment, i, &chart, err);
        if (code)
            return code;
        code = write_chart(chart, experiment->name, id, files, err);
        bal_chart_free(chart);
        if (code)
            return code;
    }
    if (files->only && !found)
        return bal_fail(err, BAL_E_UNKNOWN, "experiment '%s' has no figure '%s'", experiment->name,
                        files->only);
    return BAL_OK;
}
