/* SPDX-License-Identifier: BSD-2-Clause */
/* What is drawn into a panel: the numbers, in blocks of the script, and how they are plotted. */
#include "figure/plot_private.h"

#include <math.h>

/* The kinds of marks, in the order in which they are laid over each other. */
enum layer {
    LAYER_CURVES,
    LAYER_THEORY,
    LAYER_MEASURED,
    LAYER_HOLLOW,
    LAYER_STROKES,
    LAYER_UNSTABLE,
    LAYER_RINGS, /* around points of the layers below */
    LAYERS
};

static bool is_curve(const struct bli_series *series) {
    return series->style == BLI_STYLE_LINE || series->style == BLI_STYLE_STEPS;
}

/* Between named places there is nothing that a line could show. */
static enum layer layer_of(const struct bli_panel *panel, const struct bli_series *series, size_t i) {
    if (bli_layout_unstable(series, i))
        return LAYER_UNSTABLE;
    if (series->theory)
        return series->style == BLI_STYLE_BARS || panel->x.names ? LAYER_STROKES : LAYER_THEORY;
    if (is_curve(series))
        return LAYER_CURVES;
    const bool undecided =
        series->style == BLI_STYLE_POINTS && series->verdict && series->verdict[i] == BLI_UNDECIDED;
    return undecided ? LAYER_HOLLOW : LAYER_MEASURED;
}

static bool in_layer(const struct bli_panel *panel, const struct bli_series *series, size_t i,
                     enum layer layer) {
    if (layer == LAYER_RINGS)
        return bli_layout_doubted(panel, series, i);
    if (layer_of(panel, series, i) != layer)
        return false;
    if (layer == LAYER_UNSTABLE)
        return fabs(series->x[i]) <= BLI_SCALE_LARGEST;
    return bli_layout_drawable(panel, series, i);
}

static bool has_layer(const struct bli_panel *panel, const struct bli_series *series, enum layer layer) {
    for (size_t i = 0; i < series->count; i++)
        if (in_layer(panel, series, i, layer))
            return true;
    return false;
}

/* A row: x, y and the ends of the error bar. */
static void write_row(const struct pen *pen, const struct bli_panel *panel, const struct panel_layout *place,
                      const struct bli_series *series, size_t i, enum layer layer) {
    double x = series->x[i], y = series->y[i];
    if (series->style == BLI_STYLE_BARS)
        x = bli_layout_bar(place, bli_layout_bar_rank(panel, series->group), x);
    double half = series->half_width && isfinite(series->half_width[i]) ? series->half_width[i] : 0;
    if (layer == LAYER_UNSTABLE) {
        const double row = bli_layout_strip_rank(panel, series->group) + 0.5;
        y = bli_scale_at(&place->y, 1 - (1 - place->strip) * row / bli_layout_strip_rows(panel));
        half = 0;
    }
    const double least = half > 0 ? bli_layout_interval_low(panel, series, i) : y;
    const double low = panel->y.log ? fmax(least, fmin(y, place->y.low)) : least;
    const double number[] = {x, y, low, y + half};
    for (int k = 0; k < 4; k++) {
        bli_pen_number(pen, number[k]);
        putc(k < 3 ? ' ' : '\n', pen->out);
    }
}

/* A computed line ends where the strip begins. */
static bool is_in_strip(const struct panel_layout *place, double y, enum layer layer) {
    return layer == LAYER_THEORY && place->strip < 1 && y > bli_scale_at(&place->y, place->strip);
}

static void write_block(const struct pen *pen, const struct bli_panel *panel,
                        const struct panel_layout *place, const struct bli_series *series, enum layer layer,
                        const char *block) {
    fprintf(pen->out, "%s << END\n", block);
    for (size_t i = 0; i < series->count; i++)
        if (in_layer(panel, series, i, layer) && !is_in_strip(place, series->y[i], layer))
            write_row(pen, panel, place, series, i, layer);
        else
            putc('\n', pen->out); /* an empty line interrupts a curve */
    fputs("END\n", pen->out);
}

/* ---- plotting ---- */

static const char *next_separator(bool *first) {
    const char *text = *first ? "plot " : ", \\\n     ";
    *first = false;
    return text;
}

static void plot_curve(const struct pen *pen, const struct bli_series *series, const char *block,
                       bool *first) {
    fprintf(pen->out, "%s%s using 1:2 with %s", next_separator(first), block,
            series->style == BLI_STYLE_STEPS ? "steps" : "lines");
    const struct group_use *use = &pen->layout->use[series->group];
    const bool wash = !series->theory && bli_pen_is_washed(pen->layout, use);
    if (wash)
        bli_pen_wash(pen, bli_pen_colour_of(series->group));
    else
        bli_pen_line(pen, bli_pen_colour_of(series->group));
    /* The thin line on top has the dashes; a pale one that is alone has them itself. */
    const bool below = wash && use->theory;
    fputs(series->bound ? BLI_PEN_BOUND : below ? "" : bli_pen_dashes_of(use, series->group), pen->out);
    fputs(" notitle", pen->out);
}

/* The prediction of theory for a bar or a named place: a short stroke across it. */
static void plot_strokes(const struct pen *pen, const struct panel_layout *place,
                         const struct bli_series *series, const char *block, bool *first) {
    const bool bars = series->style == BLI_STYLE_BARS;
    const double width = bars ? bli_layout_bar_width(place) : 0.3;
    fprintf(pen->out, "%s%s using ($1-", next_separator(first), block);
    bli_pen_length(pen, width / 2);
    fputs("):2:(", pen->out);
    bli_pen_length(pen, width);
    fputs("):(0) with vectors nohead", pen->out);
    bli_pen_colour(pen, bars ? INK : bli_pen_colour_of(series->group));
    bli_pen_line_width(pen, 1.2);
    fputs(series->bound ? BLI_PEN_BOUND : "", pen->out);
    fputs(" notitle", pen->out);
}

/* As arrows with flat heads: gnuplot's own error bars leave a hole for the point. */
static void plot_error_bars(const struct pen *pen, const struct bli_series *series, const char *block,
                            bool *first) {
    if (!series->half_width)
        return;
    fprintf(pen->out, "%s%s using 1:3:(0):($4>$3?$4-$3:NaN) with vectors heads size screen ",
            next_separator(first), block);
    bli_pen_length(pen, 1.3 / pen->layout->width);
    fputs(",90", pen->out);
    bli_pen_colour(pen, series->style == BLI_STYLE_BARS ? INK : bli_pen_colour_of(series->group));
    bli_pen_line_width(pen, 0.5);
    fputs(" notitle", pen->out);
}

static void plot_points(const struct pen *pen, const struct bli_series *series, const char *block, int shape,
                        double size, bool *first) {
    fprintf(pen->out, "%s%s using 1:2 with points", next_separator(first), block);
    bli_pen_shape(pen, shape, size);
    bli_pen_colour(pen, bli_pen_colour_of(series->group));
    bli_pen_line_width(pen, 0.8);
    fputs(" notitle", pen->out);
}

/* The mark in a filled shape is white, in a hollow one as the shape. */
static void plot_marks(const struct pen *pen, const struct bli_series *series, const char *block, bool filled,
                       bool *first) {
    double size;
    const int mark = bli_pen_mark_of(series->group, &size);
    if (mark == 0)
        return;
    fprintf(pen->out, "%s%s using 1:2 with points", next_separator(first), block);
    bli_pen_shape(pen, mark, size);
    bli_pen_colour(pen, filled ? "#ffffff" : bli_pen_colour_of(series->group));
    bli_pen_line_width(pen, 0.8);
    fputs(" notitle", pen->out);
}

static void plot_rings(const struct pen *pen, const char *block, bool *first) {
    fprintf(pen->out, "%s%s using 1:2 with points", next_separator(first), block);
    bli_pen_shape(pen, BLI_PEN_RING, BLI_PEN_RING_SIZE);
    bli_pen_colour(pen, INK);
    bli_pen_line_width(pen, 0.6);
    fputs(" notitle", pen->out);
}

/* Where nothing is computed, a pale line guides the eye from point to point. */
static void plot_guide(const struct pen *pen, const struct panel_layout *place,
                       const struct bli_series *series, const char *block, bool *first) {
    if (pen->layout->any_theory || series->style != BLI_STYLE_POINTS || place->names > 0)
        return;
    fprintf(pen->out, "%s%s using 1:2 with lines lc rgb '#a0%s'", next_separator(first), block,
            bli_pen_colour_of(series->group) + 1);
    bli_pen_line_width(pen, 0.7);
    fputs(" notitle", pen->out);
}

static void plot_bars(const struct pen *pen, const struct panel_layout *place,
                      const struct bli_series *series, const char *block, bool *first) {
    fprintf(pen->out, "%s%s using 1:2:(", next_separator(first), block);
    bli_pen_length(pen, bli_layout_bar_width(place) * 0.94);
    fputs(") with boxes", pen->out);
    bli_pen_fill(pen, series->group);
    fputs(" notitle", pen->out);
    plot_error_bars(pen, series, block, first);
}

/* Marks of unstable points do not overlap those of the next row. */
static void plot_unstable(const struct pen *pen, const struct panel_layout *place,
                          const struct bli_series *series, const char *block, bool *first) {
    const double size = fmin(BLI_PEN_SHAPE_SIZE, 0.85 * place->strip_row);
    plot_points(pen, series, block, bli_pen_shape_of(series->group) - 1, size, first);
    plot_points(pen, series, block, BLI_PEN_CROSS, size, first);
}

static void plot_layer(const struct pen *pen, const struct panel_layout *place,
                       const struct bli_series *series, enum layer layer, const char *block, bool *first) {
    const bool bars = series->style == BLI_STYLE_BARS;
    const int shape = bli_pen_shape_of(series->group);
    switch (layer) {
    case LAYER_CURVES:
        plot_curve(pen, series, block, first);
        plot_error_bars(pen, series, block, first);
        return;
    case LAYER_THEORY:
        plot_curve(pen, series, block, first);
        return;
    case LAYER_STROKES:
        plot_strokes(pen, place, series, block, first);
        return;
    case LAYER_MEASURED:
        if (bars) {
            plot_bars(pen, place, series, block, first);
            return;
        }
        plot_guide(pen, place, series, block, first);
        plot_error_bars(pen, series, block, first);
        plot_points(pen, series, block, shape, BLI_PEN_SHAPE_SIZE, first);
        plot_marks(pen, series, block, true, first);
        return;
    case LAYER_HOLLOW:
        plot_error_bars(pen, series, block, first);
        plot_points(pen, series, block, shape - 1, BLI_PEN_SHAPE_SIZE, first);
        plot_marks(pen, series, block, false, first);
        return;
    case LAYER_UNSTABLE:
        plot_unstable(pen, place, series, block, first);
        return;
    case LAYER_RINGS:
        plot_rings(pen, block, first);
        return;
    case LAYERS:
        return;
    }
}

static const char *block_name(char name[64], size_t panel, size_t series, int layer) {
    snprintf(name, 64, "$data_%zu_%zu_%d", panel, series, layer);
    return name;
}

void bli_plot_data(const struct pen *pen, const struct bli_panel *panel, const struct panel_layout *place,
                   size_t p) {
    char block[64];
    for (int layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < panel->count; i++)
            if (has_layer(panel, &panel->series[i], (enum layer)layer))
                write_block(pen, panel, place, &panel->series[i], (enum layer)layer,
                            block_name(block, p, i, layer));
    bool first = true;
    for (int layer = 0; layer < LAYERS; layer++)
        for (size_t i = 0; i < panel->count; i++)
            if (has_layer(panel, &panel->series[i], (enum layer)layer))
                plot_layer(pen, place, &panel->series[i], (enum layer)layer, block_name(block, p, i, layer),
                           &first);
    fputs(first ? "plot NaN notitle" : "", pen->out);
}
