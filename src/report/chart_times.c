/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves that are no values over an axis: fractions of servers with so many jobs, distributions of times. */
#include "report/chart_build.h"

#include <math.h>
#include <stdlib.h>

/* ---- fraction of servers with at least i jobs ---- */

enum { TAIL_SHOWN = 40 }; /* levels, at most */
static const double tail_least = 1e-6;

enum bal_code bli_chart_fill_tail(struct chart_builder *b, struct chart_place place,
                                  struct chart_column *column) {
    if (!bli_chart_add_value(b, column, TAIL_SHOWN))
        return bli_chart_no_memory(b);
    for (int i = 0; i < TAIL_SHOWN; i++) {
        struct value value;
        const enum bal_code code = bli_chart_measure(
            b, &place, (struct bli_quantity){.metric = BLI_METRIC_COUNT, .level = i}, &value);
        if (code)
            return code;
        if (!(value.estimate.mean >= tail_least)) {
            column->count = (size_t)i;
            return BAL_OK;
        }
        bli_chart_put(column, (size_t)i, i, &value);
    }
    return BAL_OK;
}

enum bal_code bli_chart_fill_tail_theory(struct chart_builder *b, struct chart_place place,
                                         struct chart_column *column) {
    if (!bli_chart_add_value(b, column, TAIL_SHOWN))
        return bli_chart_no_memory(b);
    const struct bli_case c = bli_chart_case(b, &place);
    for (int i = 0; i < TAIL_SHOWN; i++) {
        const double y =
            bli_chart_known(b, &c, (struct bli_quantity){.metric = BLI_METRIC_COUNT, .level = i});
        if (!(y >= tail_least)) {
            column->count = (size_t)i;
            break;
        }
        bli_chart_put_exact(column, (size_t)i, i, y);
    }
    return BAL_OK;
}

/* ---- distributions of times ---- */

bool bli_chart_is_distribution(const struct chart_builder *b) {
    return b->plot->kind == BLI_PLOT_CDF || b->plot->kind == BLI_PLOT_CCDF;
}

bool bli_chart_is_waiting(const struct chart_builder *b, const struct chart_place *place) {
    return b->plot->metric[place->metric].metric == BLI_WAITING_MEAN;
}

/* Are there response and waiting times in one panel? */
bool bli_chart_mixes_times(const struct chart_builder *b) {
    return b->series.what == BLI_BY_METRIC && b->plot->metrics > 1;
}

/* Does the curve need a point at y, after one at last? A few hundred make it look smooth on either scale. */
static bool is_step(const struct chart_builder *b, double last, double y) {
    return b->plot->log_y ? y < 0.96 * last || y > 1.04 * last : fabs(y - last) >= 0.004;
}

enum bal_code bli_chart_fill_distribution(struct chart_builder *b, struct chart_place place,
                                          struct chart_column *column) {
    const size_t point = bli_experiment_point(b->experiment, place.index);
    struct bli_histogram *histogram = calloc(1, sizeof *histogram);
    struct value value = {{NAN, NAN}, BLI_STABLE, false};
    double unit = 1;
    enum bal_code code = histogram ? BAL_OK : bli_chart_no_memory(b);
    if (!code)
        code = bli_chart_measure(b, &place, (struct bli_quantity){.metric = BLI_RESPONSE_MEAN}, &value);
    if (!code)
        code = bli_store_histograms(b->store, b->experiment, point, place.policy,
                                    bli_chart_is_waiting(b, &place) ? NULL : histogram,
                                    bli_chart_is_waiting(b, &place) ? histogram : NULL, &unit, b->err);
    if (!code && !bli_chart_add_value(b, column, 2 * BLI_HISTOGRAM_BINS))
        code = bli_chart_no_memory(b);
    if (code)
        goto out;
    /* Times in slots are whole numbers: steps, as long as they can be seen. They are drawn as a line, which
     * unlike gnuplot's own steps can be dashed. */
    const double steps_end = bli_chart_case(b, &place).model.clock == BLI_CLOCK_SLOTTED ? 25 : 0;
    column->count = 0;
    const uint64_t total = bli_histogram_total(histogram);
    column->unstable = value.verdict == BLI_UNSTABLE;
    column->suspect = value.doubted;
    if (total == 0 || column->unstable)
        goto out;
    uint64_t below = 0;
    double last = NAN;
    for (unsigned bin = 0; bin + 1 < BLI_HISTOGRAM_BINS && below < total; bin++) {
        below += histogram->count[bin];
        const double part = (double)(b->plot->kind == BLI_PLOT_CDF ? below : total - below) / (double)total;
        if (histogram->count[bin] == 0 || !(isnan(last) || below == total || is_step(b, last, part)))
            continue;
        const double t = bli_histogram_edge(bin + 1) * unit;
        if (t < steps_end && !isnan(last))
            bli_chart_put_exact(column, column->count++, t, last);
        bli_chart_put_exact(column, column->count++, t, part);
        last = part;
    }
out:
    free(histogram);
    return code;
}

/* The law that theory gives, at the times where the measured curve has points. */
enum bal_code bli_chart_fill_law(struct chart_builder *b, struct chart_place place,
                                 const struct bli_series *measured, struct chart_column *column) {
    const struct bli_case c = bli_chart_case(b, &place);
    const struct bli_prediction known = bli_theory_predict(&c.model, &c.policy);
    const enum bli_theory_time what =
        bli_chart_is_waiting(b, &place) ? BLI_THEORY_WAITING : BLI_THEORY_RESPONSE;
    /* Some of its hundreds of points are enough for a smooth curve. */
    const size_t stride = 1 + measured->count / 100;
    if (!bli_chart_add_value(b, column, measured->count / stride))
        return bli_chart_no_memory(b);
    for (size_t i = 0; i < column->count; i++) {
        const double t = measured->x[i * stride];
        const double longer = bli_theory_tail(&c.model, &c.policy, what, t);
        bli_chart_put_exact(column, i, t, b->plot->kind == BLI_PLOT_CDF ? 1 - longer : longer);
        if (!isnan(longer))
            bli_chart_add_source(b, known.source);
    }
    return BAL_OK;
}
