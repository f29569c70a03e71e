/* The script says everything by absolute position (see layout.c) and uses gnuplot for what it does best:
 * clipping, shapes, dashes, error bars and the formats themselves. Text stands in single quotes, in which
 * gnuplot knows no escapes and no commands, and is `noenhanced`, so that braces and underscores are letters.
 */
#include "figure/plot.h"

#include "ballast/number.h"

#include <math.h>
#include <string.h>

/* The palette of Okabe and Ito (2008), without the yellow that white paper swallows; ink takes the place of
 * its black. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK};
/* gnuplot's numbers of filled shapes; the hollow twin is one less. Their number and that of the colours have
 * no common divisor, so 42 groups can be told apart. */
static const int shapes[] = {7, 5, 9, 13, 11, 15};
enum { COLOURS = sizeof colours / sizeof *colours, SHAPES = sizeof shapes / sizeof *shapes };

static const char grey[] = "#808080";
enum { UNSTABLE_SHAPE = 2 }; /* a cross */

/* How a format measures: gnuplot's sizes are relative to defaults that differ from terminal to terminal. */
struct device {
    const char *name;
    const char *options;
    double unit;      /* of size, per point */
    double letters;   /* of the font size, per point */
    double line;      /* of the line width, per point */
    double shape;     /* of the point size, per point of diameter */
    const char *lift; /* of the texts of x ticks, in lines */
};

static const struct device devices[BAL_FIGURE_FORMATS] = {
    [BAL_FIGURE_SVG] = {"svg", "background 'white'", 5. / 3, 5. / 3, 5. / 3, 0.16, "0.5"},
    [BAL_FIGURE_PNG] = {"pngcairo", "background 'white'", 4, 3, 4, 0.5, "0"},
    [BAL_FIGURE_PDF] = {"pdfcairo", "", 1. / 72, 1.5, 2, 0.125, "0"},
};

struct pen {
    FILE *out;
    const struct layout *layout;
    const struct device *device;
};

/* ---- small parts ---- */

static void put_number(const struct pen *pen, double value) {
    char text[BAL_NUMBER_TEXT];
    bal_number_print(value, text);
    fputs(text, pen->out);
}

/* With few digits: positions on the paper. */
static void put_length(const struct pen *pen, double value) {
    put_number(pen, round(value * 1e5) / 1e5);
}

static void put_pair(const struct pen *pen, const char *system, double x, double y) {
    fprintf(pen->out, "%s ", system);
    put_length(pen, x);
    fprintf(pen->out, ", %s ", system);
    put_length(pen, y);
}

/* A position in points from the upper left corner. */
static void put_place(const struct pen *pen, double x, double y) {
    put_pair(pen, "screen", x / pen->layout->width, 1 - y / pen->layout->height);
}

/* Clean text as a string of gnuplot's. There is no safe way to write a straight quote into one (doubled, as
 * its manual says, it fails at the beginning), so it becomes the typographic one, which looks better anyway.
 */
static const char apostrophe[] = "’";

static void put_quoted(const struct pen *pen, const char *text) {
    putc('\'', pen->out);
    for (; *text; text++)
        if (*text == '\'')
            fputs(apostrophe, pen->out);
        else
            putc(*text, pen->out);
    putc('\'', pen->out);
}

static void put_font(const struct pen *pen, double points, bool bold) {
    fprintf(pen->out, " font '%s,", bold ? "Helvetica:Bold" : "Helvetica");
    put_length(pen, points * pen->device->letters);
    putc('\'', pen->out);
}

static void put_line_width(const struct pen *pen, double points) {
    fputs(" lw ", pen->out);
    put_length(pen, points * pen->device->line);
}

static void put_shape(const struct pen *pen, int shape, double points) {
    fprintf(pen->out, " pt %d ps ", shape);
    put_length(pen, points * pen->device->shape);
}

static const char *colour_of(unsigned group) {
    return group == BAL_GROUP_INK ? INK : colours[group % COLOURS];
}

static int shape_of(unsigned group) {
    return shapes[group % SHAPES];
}

static void put_colour(const struct pen *pen, const char *colour) {
    fprintf(pen->out, " lc rgb '%s'", colour);
}

static void put_label(const struct pen *pen, const char *text, double x, double y, const char *how,
                      bool bold) {
    fputs("set label ", pen->out);
    put_quoted(pen, text);
    fputs(" at ", pen->out);
    put_place(pen, x, y);
    fprintf(pen->out, " %s noenhanced tc rgb '" INK "'", how);
    put_font(pen, LETTERS, bold);
    putc('\n', pen->out);
}

/* ---- legend ---- */

static const double line_width = 1.0, wash_width = 2.4, thin = 0.5;
static const double shape_size = 4.2;

/* A measured curve with a computed one beside it is a broad, pale line, and the computed one a thin line on
 * top: both can be seen where they agree. */
static void put_wash(const struct pen *pen, const char *colour) {
    fprintf(pen->out, " lc rgb '#98%s'", colour + 1);
    put_line_width(pen, wash_width);
}

static void put_line(const struct pen *pen, const char *colour) {
    put_colour(pen, colour);
    put_line_width(pen, line_width);
}

static bool is_washed(const struct group_use *use) {
    return use->line && use->theory;
}

static const char bound_dashes[] = " dt (6,4)";

/* Groups that have no points are told by their dashes. The first one is solid and lies below the others; what
 * shows between their dashes is theirs in turn. */
static const char *dashes_of(const struct group_use *use, unsigned group) {
    static const char *const dashes[] = {"",          " dt (12,8)", " dt (4,6)", " dt (12,4,3,4)",
                                         " dt (6,4)", " dt (2,2)"};
    const bool lines_alone = group != BAL_GROUP_INK && !use->points && !use->bars;
    return lines_alone ? dashes[group % (sizeof dashes / sizeof *dashes)] : "";
}

static void sample_line(const struct pen *pen, const struct entry *entry, const char *colour, bool wash) {
    fputs("set arrow from ", pen->out);
    put_place(pen, entry->left, entry->middle);
    fputs(" to ", pen->out);
    put_place(pen, entry->left + entry->sample, entry->middle);
    fputs(" nohead front", pen->out);
    if (wash)
        put_wash(pen, colour);
    else
        put_line(pen, colour);
    fputs(entry->kind == ENTRY_BOUND ? bound_dashes : "", pen->out);
    if (entry->kind == ENTRY_GROUP && !wash)
        fputs(dashes_of(&pen->layout->use[entry->group], entry->group), pen->out);
    putc('\n', pen->out);
}

static void sample_point(const struct pen *pen, const struct entry *entry, const char *colour, int shape) {
    fputs("set label '' at ", pen->out);
    put_place(pen, entry->left + entry->sample / 2, entry->middle);
    fputs(" point", pen->out);
    put_shape(pen, shape, shape_size);
    put_colour(pen, colour);
    put_line_width(pen, 0.8);
    putc('\n', pen->out);
}

static void sample_box(const struct pen *pen, const struct entry *entry, const char *colour) {
    fputs("set object rectangle from ", pen->out);
    put_place(pen, entry->left + entry->sample / 2 - 4, entry->middle + 3.5);
    fputs(" to ", pen->out);
    put_place(pen, entry->left + entry->sample / 2 + 4, entry->middle - 3.5);
    fprintf(pen->out, " front fc rgb '%s' fs solid 1 noborder\n", colour);
}

static void sample_group(const struct pen *pen, const struct entry *entry) {
    const struct group_use *use = &pen->layout->use[entry->group];
    const char *colour = colour_of(entry->group);
    if (use->bars)
        sample_box(pen, entry, colour);
    if (is_washed(use))
        sample_line(pen, entry, colour, true);
    if (!use->bars && (use->line || use->theory))
        sample_line(pen, entry, colour, false);
    if (use->points)
        sample_point(pen, entry, colour, shape_of(entry->group));
}

/* What the words measured and theory stand for is shown as it is in the first group that has them, without
 * its colour. */
static const struct group_use *first_use(const struct layout *layout, bool theory) {
    for (unsigned g = 0; g <= BAL_FIGURE_GROUPS_MAX; g++) {
        const struct group_use *use = &layout->use[g];
        if (theory ? use->theory : use->points || use->line || use->bars)
            return use;
    }
    return &layout->use[BAL_GROUP_INK];
}

static void sample_role(const struct pen *pen, const struct entry *entry) {
    const struct group_use *measured = first_use(pen->layout, false), *theory = first_use(pen->layout, true);
    const bool in_ink = theory->bars || theory == &pen->layout->use[BAL_GROUP_INK];
    switch (entry->kind) {
    case ENTRY_UNSTABLE:
        sample_point(pen, entry, grey, UNSTABLE_SHAPE);
        return;
    case ENTRY_UNDECIDED:
        sample_point(pen, entry, grey, shapes[0] - 1);
        return;
    case ENTRY_THEORY:
        sample_line(pen, entry, in_ink ? INK : grey, false);
        return;
    case ENTRY_BOUND:
        sample_line(pen, entry, grey, false);
        return;
    case ENTRY_MEASURED:
        if (measured->bars)
            sample_box(pen, entry, grey);
        else if (measured->line)
            sample_line(pen, entry, grey, is_washed(measured));
        else
            sample_point(pen, entry, grey, shapes[0]);
        return;
    case ENTRY_GROUP:
    case ENTRY_NOTE:
        return;
    }
}

static void write_legend(const struct pen *pen) {
    for (size_t i = 0; i < pen->layout->entries; i++) {
        const struct entry *entry = &pen->layout->entry[i];
        if (entry->kind == ENTRY_GROUP)
            sample_group(pen, entry);
        else
            sample_role(pen, entry);
        put_label(pen, entry->text, entry->left + entry->sample + SAMPLE_GAP, entry->middle, "left", false);
    }
}

/* ---- data ---- */

/* The kinds of marks, in the order in which they are laid over each other. */
enum layer {
    LAYER_CURVES,
    LAYER_THEORY,
    LAYER_MEASURED,
    LAYER_HOLLOW,
    LAYER_STROKES,
    LAYER_UNSTABLE,
    LAYERS
};

static bool is_curve(const struct bal_series *series) {
    return series->style == BAL_STYLE_LINE || series->style == BAL_STYLE_STEPS;
}

static enum layer layer_of(const struct bal_series *series, size_t i) {
    if (bal_layout_unstable(series, i))
        return LAYER_UNSTABLE;
    if (series->theory)
        return series->style == BAL_STYLE_BARS ? LAYER_STROKES : LAYER_THEORY;
    if (is_curve(series))
        return LAYER_CURVES;
    const bool undecided =
        series->style == BAL_STYLE_POINTS && series->verdict && series->verdict[i] == BAL_UNDECIDED;
    return undecided ? LAYER_HOLLOW : LAYER_MEASURED;
}

static bool in_layer(const struct bal_panel *panel, const struct bal_series *series, size_t i,
                     enum layer layer) {
    if (layer_of(series, i) != layer)
        return false;
    if (layer == LAYER_UNSTABLE)
        return fabs(series->x[i]) <= BAL_SCALE_LARGEST;
    return bal_layout_drawable(panel, series, i);
}

static bool has_layer(const struct bal_panel *panel, const struct bal_series *series, enum layer layer) {
    for (size_t i = 0; i < series->count; i++)
        if (in_layer(panel, series, i, layer))
            return true;
    return false;
}

/* A row: x, y and the ends of the error bar. */
static void write_row(const struct pen *pen, const struct bal_panel *panel, const struct panel_layout *place,
                      const struct bal_series *series, size_t i, enum layer layer) {
    double x = series->x[i], y = series->y[i];
    if (series->style == BAL_STYLE_BARS)
        x = bal_layout_bar(place, bal_layout_bar_rank(panel, series->group), x);
    double half = series->half && isfinite(series->half[i]) ? series->half[i] : 0;
    if (layer == LAYER_UNSTABLE) {
        const double row = bal_layout_strip_rank(panel, series->group) + 0.5;
        y = bal_scale_at(&place->y, 1 - (1 - place->strip) * row / bal_layout_strip_rows(panel));
        half = 0;
    }
    const double low = panel->y.log ? fmax(y - half, fmin(y, place->y.low)) : y - half;
    const double number[] = {x, y, low, y + half};
    for (int k = 0; k < 4; k++) {
        put_number(pen, number[k]);
        putc(k < 3 ? ' ' : '\n', pen->out);
    }
}

static void write_block(const struct pen *pen, const struct bal_panel *panel,
                        const struct panel_layout *place, const struct bal_series *series, enum layer layer,
                        const char *block) {
    fprintf(pen->out, "%s << END\n", block);
    for (size_t i = 0; i < series->count; i++)
        if (in_layer(panel, series, i, layer))
            write_row(pen, panel, place, series, i, layer);
        else
            putc('\n', pen->out); /* an empty line interrupts a curve */
    fputs("END\n", pen->out);
}

/* ---- plotting ---- */

static const char *separator(bool *first) {
    const char *text = *first ? "plot " : ", \\\n     ";
    *first = false;
    return text;
}

static void plot_curve(const struct pen *pen, const struct bal_series *series, const char *block,
                       bool *first) {
    fprintf(pen->out, "%s%s using 1:2 with %s", separator(first), block,
            series->style == BAL_STYLE_STEPS ? "steps" : "lines");
    const struct group_use *use = &pen->layout->use[series->group];
    const bool wash = !series->theory && is_washed(use);
    if (wash)
        put_wash(pen, colour_of(series->group));
    else
        put_line(pen, colour_of(series->group));
    fputs(series->bound ? bound_dashes : wash ? "" : dashes_of(use, series->group), pen->out);
    fputs(" notitle", pen->out);
}

/* What theory says of a bar: a short stroke across it. */
static void plot_strokes(const struct pen *pen, const struct panel_layout *place, const char *block,
                         bool *first) {
    const double width = bal_layout_bar_width(place);
    fprintf(pen->out, "%s%s using ($1-", separator(first), block);
    put_length(pen, width / 2);
    fputs("):2:(", pen->out);
    put_length(pen, width);
    fputs("):(0) with vectors nohead", pen->out);
    put_colour(pen, INK);
    put_line_width(pen, 1.2);
    fputs(" notitle", pen->out);
}

/* As arrows with flat heads: gnuplot's own error bars leave a hole for the point. */
static void plot_error_bars(const struct pen *pen, const struct bal_series *series, const char *block,
                            bool *first) {
    if (!series->half)
        return;
    fprintf(pen->out, "%s%s using 1:3:(0):($4>$3?$4-$3:NaN) with vectors heads size screen ",
            separator(first), block);
    put_length(pen, 1.3 / pen->layout->width);
    fputs(",90", pen->out);
    put_colour(pen, series->style == BAL_STYLE_BARS ? INK : colour_of(series->group));
    put_line_width(pen, thin);
    fputs(" notitle", pen->out);
}

static void plot_points(const struct pen *pen, const struct bal_series *series, const char *block, int shape,
                        bool *first) {
    fprintf(pen->out, "%s%s using 1:2 with points", separator(first), block);
    put_shape(pen, shape, shape_size);
    put_colour(pen, colour_of(series->group));
    put_line_width(pen, 0.8);
    fputs(" notitle", pen->out);
}

/* Where nothing is computed, a pale line guides the eye from point to point. */
static void plot_guide(const struct pen *pen, const struct bal_series *series, const char *block,
                       bool *first) {
    if (pen->layout->any_theory || series->style != BAL_STYLE_POINTS)
        return;
    fprintf(pen->out, "%s%s using 1:2 with lines lc rgb '#a0%s'", separator(first), block,
            colour_of(series->group) + 1);
    put_line_width(pen, 0.7);
    fputs(" notitle", pen->out);
}

static void plot_bars(const struct pen *pen, const struct panel_layout *place,
                      const struct bal_series *series, const char *block, bool *first) {
    fprintf(pen->out, "%s%s using 1:2:(", separator(first), block);
    put_length(pen, bal_layout_bar_width(place) * 0.94);
    fprintf(pen->out, ") with boxes fc rgb '%s' fs solid 1 noborder notitle", colour_of(series->group));
    plot_error_bars(pen, series, block, first);
}

static void plot_layer(const struct pen *pen, const struct panel_layout *place,
                       const struct bal_series *series, enum layer layer, const char *block, bool *first) {
    const bool bars = series->style == BAL_STYLE_BARS;
    const int shape = shape_of(series->group);
    switch (layer) {
    case LAYER_CURVES:
        plot_curve(pen, series, block, first);
        plot_error_bars(pen, series, block, first);
        return;
    case LAYER_THEORY:
        plot_curve(pen, series, block, first);
        return;
    case LAYER_STROKES:
        plot_strokes(pen, place, block, first);
        return;
    case LAYER_MEASURED:
        if (bars) {
            plot_bars(pen, place, series, block, first);
            return;
        }
        plot_guide(pen, series, block, first);
        plot_error_bars(pen, series, block, first);
        plot_points(pen, series, block, shape, first);
        return;
    case LAYER_HOLLOW:
        plot_error_bars(pen, series, block, first);
        plot_points(pen, series, block, shape - 1, first);
        return;
    case LAYER_UNSTABLE:
        plot_points(pen, series, block, UNSTABLE_SHAPE, first);
        return;
    case LAYERS:
        return;
    }
}

/* ---- a panel ---- */

static void write_ticks(const struct pen *pen, char axis, const struct scale *scale) {
    fprintf(pen->out, "set %ctics scale 0.5,0.25 nomirror out enhanced offset 0,%s tc rgb '" INK "'", axis,
            axis == 'x' ? pen->device->lift : "0");
    put_font(pen, SMALL_LETTERS, false);
    fputs(" (", pen->out);
    for (size_t i = 0; i < scale->count; i++) {
        const struct tick *tick = &scale->tick[i];
        if (i > 0)
            fputs(", ", pen->out);
        put_quoted(pen, tick->text);
        putc(' ', pen->out);
        put_number(pen, tick->at);
        fputs(tick->minor ? " 1" : "", pen->out);
    }
    fputs(")\n", pen->out);
}

/* The text of a tick is a format, in which a percent sign must be doubled. */
static void put_tick_name(const struct pen *pen, const char *name) {
    putc('\'', pen->out);
    for (; *name; name++)
        if (*name == '%')
            fputs("%%", pen->out);
        else if (*name == '\'')
            fputs(apostrophe, pen->out);
        else
            putc(*name, pen->out);
    putc('\'', pen->out);
}

static void write_names(const struct pen *pen, const struct panel_layout *place) {
    fprintf(pen->out, "set xtics scale 0 nomirror out noenhanced offset 0,%s tc rgb '" INK "'",
            place->turn > 0 ? "0" : pen->device->lift);
    put_font(pen, SMALL_LETTERS, false);
    if (place->turn > 0)
        fprintf(pen->out, " rotate by %d right", (int)place->turn);
    else
        fputs(" norotate", pen->out);
    fputs(" (", pen->out);
    for (size_t i = 0; i < place->names; i++) {
        fputs(i > 0 ? ", " : "", pen->out);
        put_tick_name(pen, place->name[i]);
        fprintf(pen->out, " %zu", i);
    }
    fputs(")\n", pen->out);
}

static void write_range(const struct pen *pen, char axis, const struct scale *scale) {
    fprintf(pen->out, "%s logscale %c\nset %crange [", scale->log ? "set" : "unset", axis, axis);
    put_number(pen, scale->low);
    putc(':', pen->out);
    put_number(pen, scale->high);
    fputs("]\n", pen->out);
}

static void write_frame(const struct pen *pen, const struct bal_panel *panel,
                        const struct panel_layout *place) {
    static const char *const side[] = {"l", "r", "t", "b"};
    const double width = pen->layout->width, height = pen->layout->height;
    const struct box *frame = &place->frame;
    const double at[] = {frame->left / width, (frame->left + frame->width) / width, 1 - frame->top / height,
                         1 - (frame->top + frame->height) / height};
    for (int i = 0; i < 4; i++) {
        fprintf(pen->out, "set %smargin at screen ", side[i]);
        put_length(pen, at[i]);
        putc('\n', pen->out);
    }
    write_range(pen, 'x', &place->x);
    write_range(pen, 'y', &place->y);
    if (panel->x.names)
        write_names(pen, place);
    else
        write_ticks(pen, 'x', &place->x);
    write_ticks(pen, 'y', &place->y);
    fprintf(pen->out, "set grid %sytics back lt 1", panel->x.names ? "noxtics " : "xtics ");
    put_colour(pen, "#d0808080");
    put_line_width(pen, 0.4);
    putc('\n', pen->out);
}

/* Zero has no place on a logarithmic axis; over a place without a bar it is written out. */
static void write_zeros(const struct pen *pen, const struct bal_panel *panel,
                        const struct panel_layout *place) {
    for (size_t s = 0; s < panel->count && panel->y.log; s++) {
        const struct bal_series *series = &panel->series[s];
        if (series->style != BAL_STYLE_BARS || series->theory)
            continue;
        for (size_t i = 0; i < series->count; i++) {
            if (series->y[i] != 0 || bal_layout_unstable(series, i))
                continue;
            const double x = bal_layout_bar(place, bal_layout_bar_rank(panel, series->group), series->x[i]);
            const double left = place->frame.left + bal_scale_share(&place->x, x) * place->frame.width;
            put_label(pen, "0", left, place->frame.top + place->frame.height - 5, "center", false);
        }
    }
}

static void write_panel_texts(const struct pen *pen, const struct panel_layout *place) {
    const struct box *frame = &place->frame;
    const double middle = frame->left + frame->width / 2;
    if (place->title)
        put_label(pen, place->title, middle, place->title_at, "center", false);
    if (place->x_label)
        put_label(pen, place->x_label, middle, place->x_label_at, "center", false);
    for (int i = 0; i < 2 && place->y_label[i]; i++)
        put_label(pen, place->y_label[i], place->y_label_at[i], frame->top + frame->height / 2,
                  "center rotate by 90", false);
    if (place->strip >= 1)
        return;
    fputs("set object rectangle from ", pen->out);
    put_place(pen, frame->left, frame->top + (1 - place->strip) * frame->height);
    fputs(" to ", pen->out);
    put_place(pen, frame->left + frame->width, frame->top);
    fputs(" behind fc rgb '#d0808080' fs solid 1 noborder\n", pen->out);
}

static const char *block_name(char name[64], size_t panel, size_t series, int layer) {
    snprintf(name, 64, "$data_%zu_%zu_%d", panel, series, layer);
    return name;
}

static void write_panel(const struct pen *pen, const struct bal_figure *figure, size_t p) {
    const struct bal_panel *panel = &figure->panel[p];
    const struct panel_layout *place = &pen->layout->panel[p];
    write_frame(pen, panel, place);
    write_panel_texts(pen, place);
    write_zeros(pen, panel, place);
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
    fputs("\nunset label\nunset arrow\nunset object\n", pen->out);
}

static void write_head(const struct pen *pen) {
    const struct device *device = pen->device;
    fputs("set encoding utf8\n", pen->out);
    fprintf(pen->out, "set terminal %s enhanced size ", device->name);
    put_length(pen, pen->layout->width * device->unit);
    fputs(device->unit < 1 ? "in," : ",", pen->out);
    put_length(pen, pen->layout->height * device->unit);
    fprintf(pen->out, "%s %s", device->unit < 1 ? "in" : "", device->options);
    put_font(pen, LETTERS, false);
    fputs("\nset multiplot\nunset key\nset style fill solid 1 noborder\n", pen->out);
    fputs("set border 3 lt 1", pen->out);
    put_colour(pen, INK);
    put_line_width(pen, 0.6);
    putc('\n', pen->out);
}

void bal_plot_write(const struct bal_figure *figure, const struct layout *layout,
                    enum bal_figure_format format, FILE *out) {
    const struct pen pen = {out, layout, &devices[format]};
    write_head(&pen);
    for (size_t i = 0; i < layout->title_lines; i++)
        put_label(&pen, layout->title_line[i], layout->width / 2, layout->title_at[i], "center", true);
    write_legend(&pen);
    for (size_t p = 0; p < figure->panels; p++)
        write_panel(&pen, figure, p);
    fputs("unset multiplot\n", out);
}
