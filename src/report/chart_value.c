/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured and what is computed at a place of a figure, and the columns that hold it. */
#include "report/chart_build.h"

#include <math.h>
#include <string.h>

static struct bal_quantity over_of(const struct chart_builder *b, struct bal_quantity quantity) {
    return b->plot->over_metric.metric < 0 ? quantity : b->plot->over_metric;
}

/* The quantity over that of the policy that the figure divides by; unstable where one of them is. */
static enum bal_code measure_ratio(struct chart_builder *b, const struct chart_place *place,
                                   struct bal_quantity quantity, struct value *value) {
    const size_t point = bal_experiment_point(b->experiment, place->index);
    const size_t policy[2] = {place->policy, (size_t)b->plot->over};
    const struct bal_quantity of[2] = {quantity, over_of(b, quantity)};
    const int top = b->plot->inverse, bottom = !top;
    *value = (struct value){{NAN, NAN}, BAL_STABLE, false};
    for (int i = 0; i < 2; i++) {
        struct bal_result result;
        const enum bal_code code =
            bal_store_result(b->store, b->experiment, point, policy[i], &result, b->err);
        if (code || result.replications == 0)
            return code;
        value->doubted |= result.doubts & BAL_DOUBTS_OF_VALUE;
        if (bal_quantity_diverges(of[i]) && value->verdict != BAL_UNSTABLE && result.verdict != BAL_STABLE)
            value->verdict = result.verdict;
    }
    return bal_store_ratio(b->store, b->experiment, point, policy[top], of[top], policy[bottom], of[bottom],
                           &value->estimate, b->err);
}

enum bal_code bal_chart_measure(struct chart_builder *b, const struct chart_place *place,
                                struct bal_quantity quantity, struct value *value) {
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
    value->doubted = result.replications > 0 && result.doubts & BAL_DOUBTS_OF_VALUE;
    if (result.replications == 0)
        value->verdict = BAL_STABLE;
    else if (quantity.metric < BAL_METRIC_COUNT)
        value->estimate = result.metric[quantity.metric];
    else
        code = bal_store_quantity(b->store, b->experiment, point, place->policy, quantity, &value->estimate,
                                  b->err);
    return code;
}

void bal_chart_add_source(struct chart_builder *b, const char *source) {
    b->mixed |= b->source && strcmp(b->source, source) != 0;
    b->source = source;
}

double bal_chart_known(struct chart_builder *b, const struct bal_case *c, struct bal_quantity quantity) {
    const char *source = NULL;
    const double value = bal_quantity_of_case(quantity, c, &source);
    if (!isnan(value))
        bal_chart_add_source(b, source);
    return value;
}

static double bound_at(const struct bal_case *c, struct bal_quantity quantity) {
    const struct bal_prediction known = bal_theory_predict(&c->model, &c->policy);
    return bal_quantity_bound(quantity, &known);
}

/* What is computed there, or the bound that is proved, divided as what is measured is. */
double bal_chart_computed(struct chart_builder *b, const struct chart_place *place, const struct bal_case *c,
                          struct bal_quantity quantity, bool bound) {
    const double value = bound ? bound_at(c, quantity) : bal_chart_known(b, c, quantity);
    if (b->plot->over < 0)
        return value;
    struct chart_place other = *place;
    other.policy = (size_t)b->plot->over;
    struct bal_case below = bal_chart_case(b, &other);
    below.model = c->model;
    const double ratio = value / bal_chart_known(b, &below, over_of(b, quantity));
    return b->plot->inverse ? 1 / ratio : ratio;
}

/* ---- columns ---- */

static double *take_numbers(struct chart_builder *b, size_t count) {
    return bal_arena_take(b->arena, count, sizeof(double));
}

bool bal_chart_add_value(struct chart_builder *b, struct chart_column *column, size_t count) {
    *column = (struct chart_column){
        .count = count,
        .x = take_numbers(b, count),
        .y = take_numbers(b, count),
        .half_width = take_numbers(b, count),
        .verdict = bal_arena_take(b->arena, count, sizeof *column->verdict),
        .doubted = bal_arena_take(b->arena, count, sizeof *column->doubted),
    };
    return column->x && column->y && column->half_width && column->verdict && column->doubted;
}

void bal_chart_put(struct chart_column *column, size_t i, double x, const struct value *value) {
    column->x[i] = x;
    column->y[i] = value->estimate.mean;
    column->half_width[i] = value->estimate.half_width;
    column->verdict[i] = value->verdict;
    column->doubted[i] = value->doubted;
}

/* Something that has no interval. */
void bal_chart_put_exact(struct chart_column *column, size_t i, double x, double y) {
    const struct value value = {{y, NAN}, BAL_STABLE, false};
    bal_chart_put(column, i, x, &value);
}

void bal_chart_attach(struct bal_series *series, const struct chart_column *column) {
    series->count = column->count;
    series->x = column->x;
    series->y = column->y;
    series->half_width = column->half_width;
    series->verdict = column->verdict;
    series->doubted = column->doubted;
}

bool bal_chart_any_known(const struct bal_series *series) {
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->y[i]))
            return true;
    return false;
}
