/* SPDX-License-Identifier: BSD-2-Clause */
/* How charts are built from the results of an experiment: what their parts share.
 *
 * chart.c is the figure and its panels; chart_place.c gives the position of a value, chart_value.c the value
 * itself; chart_times.c and chart_map.c make the curves that are not values over an axis. */
#ifndef REPORT_CHART_BUILD_H
#define REPORT_CHART_BUILD_H

#include "ballast/report.h"
#include "base/arena.h"

/* One member of each dimension. */
struct chart_place {
    size_t policy, metric;
    size_t index[BLI_AXES_MAX];
};

/* The chosen members of one dimension. */
struct dimension {
    int what; /* an axis, or BLI_BY_... */
    size_t count;
    size_t *member;
};

struct chart_builder {
    struct bli_store *store;
    const struct bli_experiment *experiment;
    const struct bli_plot *plot;
    struct bli_arena *arena;
    struct dimension rows, columns, series, x;
    const char *source; /* what theory it is, as long as all curves have the same */
    bool mixed;
    struct bal_error *err;
};

enum bal_code bli_chart_no_memory(struct chart_builder *b);

/* ---- places ---- */

/* The chosen members of an axis, or of BLI_BY_...; false without memory. */
bool bli_chart_dimension(struct chart_builder *b, struct dimension *dimension, int what);

/* The first chosen member of each dimension; and the place, moved to the i-th of one. */
struct chart_place bli_chart_start(const struct chart_builder *b);
struct chart_place bli_chart_moved(struct chart_place place, const struct dimension *dimension, size_t i);
struct bli_case bli_chart_case(const struct chart_builder *b, const struct chart_place *place);

/* Three texts joined; the label of an axis; that of a quantity; the name of a member, "" for BLI_BY_NOTHING.
 * NULL without memory. */
char *bli_chart_text(struct chart_builder *b, const char *first, const char *middle, const char *second);
const char *bli_chart_axis_text(struct chart_builder *b, const struct bli_sweep_axis *axis);
const char *bli_chart_metric_text(struct chart_builder *b, struct bli_quantity quantity);
const char *bli_chart_name(struct chart_builder *b, const struct dimension *dimension, size_t i);

/* Is x an axis of numbers? And the i-th place on it. */
bool bli_chart_has_numbers(const struct chart_builder *b);
double bli_chart_x(const struct chart_builder *b, size_t i);

/* ---- values ---- */

/* The measured value of a quantity at a place. */
struct value {
    struct bli_estimate estimate; /* NaN: nothing */
    enum bli_verdict verdict;
    bool doubted; /* its interval may miss the true value */
};

enum bal_code bli_chart_measure(struct chart_builder *b, const struct chart_place *place,
                                struct bli_quantity quantity, struct value *value);

/* What theory predicts, NaN without a prediction. Which theory it is is noted for the legend. */
double bli_chart_known(struct chart_builder *b, const struct bli_case *c, struct bli_quantity quantity);
void bli_chart_add_source(struct chart_builder *b, const char *source);

/* The same, or the proved bound, divided by the same baseline as the measured value. */
double bli_chart_computed(struct chart_builder *b, const struct chart_place *place, const struct bli_case *c,
                          struct bli_quantity quantity, bool bound);

/* The numbers of a series while they are being gathered. */
struct chart_column {
    size_t count;
    double *x, *y, *half_width;
    enum bli_verdict *verdict;
    bool *doubted;
    bool unstable; /* a whole curve that cannot be drawn for that reason */
    bool suspect;  /* a whole curve that is doubted */
};

bool bli_chart_add_value(struct chart_builder *b, struct chart_column *column, size_t count);
void bli_chart_put(struct chart_column *column, size_t i, double x, const struct value *value);
void bli_chart_put_exact(struct chart_column *column, size_t i, double x, double y);
void bli_chart_attach(struct bli_series *series, const struct chart_column *column);

/* Is there anything to draw? */
bool bli_chart_any_known(const struct bli_series *series);

/* ---- other curves ---- */

bool bli_chart_is_distribution(const struct chart_builder *b);
bool bli_chart_is_waiting(const struct chart_builder *b, const struct chart_place *place);
bool bli_chart_mixes_times(const struct chart_builder *b);
enum bal_code bli_chart_fill_tail(struct chart_builder *b, struct chart_place place,
                                  struct chart_column *column);
enum bal_code bli_chart_fill_tail_theory(struct chart_builder *b, struct chart_place place,
                                         struct chart_column *column);
enum bal_code bli_chart_fill_distribution(struct chart_builder *b, struct chart_place place,
                                          struct chart_column *column);
enum bal_code bli_chart_fill_law(struct chart_builder *b, struct chart_place place,
                                 const struct bli_series *measured, struct chart_column *column);
enum bal_code bli_chart_fill_map(struct chart_builder *b, struct chart_place place, struct bli_panel *panel);

#endif
