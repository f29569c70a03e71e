/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured and what is computed at a place of a figure, and the columns that hold it. */
#include "report/chart_build.h"

#include <math.h>
#include <string.h>

static struct bli_quantity over_of(const struct chart_builder *b, struct bli_quantity quantity) {
    return b->plot->over_metric.metric < 0 ? quantity : b->plot->over_metric;
}

/* The quantity over that of the policy that the figure divides by; unstable where one of them is. */
static enum bal_code measure_ratio(struct chart_builder *b, const struct chart_place *place,
                                   struct bli_quantity quantity, struct value *value) {
    const size_t point = bli_experiment_point(b->experiment, place->index);
    const size_t policy[2] = {place->policy, (size_t)b->plot->over};
    const struct bli_quantity of[2] = {quantity, over_of(b, quantity)};
    const int top = b->plot->inverse, bottom = !top;
    *value = (struct value){{NAN, NAN}, BLI_STABLE, false};
    struct bli_cell cell[2] = {{.count = 0}};
    enum bal_code code = BAL_OK;
    bool there = true;
    for (int i = 0; i < 2 && !code && there; i++) {
        const struct bli_result *result = &cell[i].result;
        code = bli_cell_load(&cell[i], b->store, b->experiment, point, policy[i], b->err);
        there = result->replications > 0;
        if (code || !there)
            break;
        value->doubted |= result->doubts & BLI_DOUBTS_OF_VALUE;
        if (bli_quantity_diverges(of[i]) && value->verdict != BLI_UNSTABLE && result->verdict != BLI_STABLE)
            value->verdict = result->verdict;
    }
    if (!code && there)
        code = bli_cell_ratio(&cell[top], b->store, of[top], &cell[bottom], of[bottom], &value->estimate,
                              b->err);
    bli_cell_fini(&cell[0]);
    bli_cell_fini(&cell[1]);
    return code;
}

enum bal_code bli_chart_measure(struct chart_builder *b, const struct chart_place *place,
                                struct bli_quantity quantity, struct value *value) {
    if (b->plot->over >= 0)
        return measure_ratio(b, place, quantity, value);
    const size_t point = bli_experiment_point(b->experiment, place->index);
    struct bli_cell cell;
    enum bal_code code = bli_cell_load(&cell, b->store, b->experiment, point, place->policy, b->err);
    const struct bli_result *result = &cell.result;
    /* Fractions and messages settle down even where queues do not. */
    *value = (struct value){{NAN, NAN},
                            bli_quantity_diverges(quantity) ? result->verdict : BLI_STABLE,
                            result->replications > 0 && result->doubts & BLI_DOUBTS_OF_VALUE};
    if (result->replications == 0)
        value->verdict = BLI_STABLE;
    else if (quantity.metric < BLI_METRIC_COUNT)
        value->estimate = result->metric[quantity.metric];
    else if (!code)
        code = bli_cell_quantity(&cell, b->store, quantity, &value->estimate, b->err);
    bli_cell_fini(&cell);
    return code;
}

void bli_chart_add_source(struct chart_builder *b, const char *source) {
    b->mixed |= b->source && strcmp(b->source, source) != 0;
    b->source = source;
}

double bli_chart_known(struct chart_builder *b, const struct bli_case *c, struct bli_quantity quantity) {
    const char *source = NULL;
    const double value = bli_quantity_of_case(quantity, c, &source);
    if (!isnan(value))
        bli_chart_add_source(b, source);
    return value;
}

static double bound_at(const struct bli_case *c, struct bli_quantity quantity) {
    const struct bli_prediction known = bli_theory_predict(&c->model, &c->policy);
    return bli_quantity_bound(quantity, &known);
}

/* What is computed there, or the bound that is proved, divided as what is measured is. */
double bli_chart_computed(struct chart_builder *b, const struct chart_place *place, const struct bli_case *c,
                          struct bli_quantity quantity, bool bound) {
    const double value = bound ? bound_at(c, quantity) : bli_chart_known(b, c, quantity);
    if (b->plot->over < 0)
        return value;
    struct chart_place other = *place;
    other.policy = (size_t)b->plot->over;
    struct bli_case below = bli_chart_case(b, &other);
    below.model = c->model;
    const double ratio = value / bli_chart_known(b, &below, over_of(b, quantity));
    return b->plot->inverse ? 1 / ratio : ratio;
}

/* ---- columns ---- */

static double *take_numbers(struct chart_builder *b, size_t count) {
    return bli_arena_take(b->arena, count, sizeof(double));
}

bool bli_chart_add_value(struct chart_builder *b, struct chart_column *column, size_t count) {
    *column = (struct chart_column){
        .count = count,
        .x = take_numbers(b, count),
        .y = take_numbers(b, count),
        .half_width = take_numbers(b, count),
        .verdict = bli_arena_take(b->arena, count, sizeof *column->verdict),
        .doubted = bli_arena_take(b->arena, count, sizeof *column->doubted),
    };
    return column->x && column->y && column->half_width && column->verdict && column->doubted;
}

void bli_chart_put(struct chart_column *column, size_t i, double x, const struct value *value) {
    column->x[i] = x;
    column->y[i] = value->estimate.mean;
    column->half_width[i] = value->estimate.half_width;
    column->verdict[i] = value->verdict;
    column->doubted[i] = value->doubted;
}

/* Something that has no interval. */
void bli_chart_put_exact(struct chart_column *column, size_t i, double x, double y) {
    const struct value value = {{y, NAN}, BLI_STABLE, false};
    bli_chart_put(column, i, x, &value);
}

void bli_chart_attach(struct bli_series *series, const struct chart_column *column) {
    series->count = column->count;
    series->x = column->x;
    series->y = column->y;
    series->half_width = column->half_width;
    series->verdict = column->verdict;
    series->doubted = column->doubted;
}

bool bli_chart_any_known(const struct bli_series *series) {
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->y[i]))
            return true;
    return false;
}
