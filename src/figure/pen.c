/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes numbers, positions, texts, colours and shapes of a gnuplot script. */
#include "figure/pen.h"

#include "ballast/number.h"

#include <math.h>

/* The palette of Okabe and Ito (2008), without the yellow, which is hard to see on white paper; ink replaces
 * its black. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK};
/* gnuplot's numbers of filled shapes; the hollow twin is one less. Their number and that of the colours have
 * no common divisor, so 42 groups can be distinguished. */
static const int shapes[] = {7, 5, 9, 13, 11, 15};
enum { COLOURS = sizeof colours / sizeof *colours, SHAPES = sizeof shapes / sizeof *shapes };

const struct device bli_pen_devices[BLI_FIGURE_FORMATS] = {
    [BLI_FIGURE_SVG] = {"svg", "background 'white'", false, 5. / 3, 5. / 3, 5. / 3, 0.16, "0.5"},
    [BLI_FIGURE_PNG] = {"pngcairo", "background 'white'", false, 4, 3, 4, 0.5, "0"},
    [BLI_FIGURE_PDF] = {"pdfcairo", "", true, 1. / 72, 1.5, 2, 0.125, "0"},
    [BLI_FIGURE_EPS] = {"epscairo", "", true, 1. / 72, 1.5, 2, 0.125, "0"},
};

void bli_pen_number(const struct pen *pen, double value) {
    char text[BLI_NUMBER_TEXT];
    bli_number_print(value, text);
    fputs(text, pen->out);
}

void bli_pen_length(const struct pen *pen, double value) {
    bli_pen_number(pen, round(value * 1e5) / 1e5);
}

static void put_pair(const struct pen *pen, const char *system, double x, double y) {
    fprintf(pen->out, "%s ", system);
    bli_pen_length(pen, x);
    fprintf(pen->out, ", %s ", system);
    bli_pen_length(pen, y);
}

void bli_pen_place(const struct pen *pen, double x, double y) {
    put_pair(pen, "screen", x / pen->layout->width, 1 - y / pen->layout->height);
}

void bli_pen_quoted(const struct pen *pen, const char *text) {
    putc('\'', pen->out);
    for (; *text; text++)
        if (*text == '\'')
            fputs(BLI_PEN_APOSTROPHE, pen->out);
        else
            putc(*text, pen->out);
    putc('\'', pen->out);
}

void bli_pen_font(const struct pen *pen, double points, bool bold) {
    fprintf(pen->out, " font '%s,", bold ? BLI_PEN_FONT ":Bold" : BLI_PEN_FONT);
    bli_pen_length(pen, points * pen->device->letters);
    putc('\'', pen->out);
}

void bli_pen_line_width(const struct pen *pen, double points) {
    fputs(" lw ", pen->out);
    bli_pen_length(pen, points * pen->device->line);
}

void bli_pen_shape(const struct pen *pen, int shape, double points) {
    fprintf(pen->out, " pt %d ps ", shape);
    bli_pen_length(pen, points * pen->device->shape);
}

const char *bli_pen_colour_of(unsigned group) {
    return group == BLI_GROUP_INK ? INK : colours[group % COLOURS];
}

int bli_pen_shape_of(unsigned group) {
    return shapes[group % SHAPES];
}

int bli_pen_mark_of(unsigned group, double *points) {
    static const int marks[] = {0, 1, 2};
    const unsigned round = group == BLI_GROUP_INK ? 0 : group / SHAPES % 3;
    *points = 0.75 * BLI_PEN_SHAPE_SIZE;
    return marks[round];
}

void bli_pen_colour(const struct pen *pen, const char *colour) {
    fprintf(pen->out, " lc rgb '%s'", colour);
}

void bli_pen_label(const struct pen *pen, const char *text, double x, double y, const char *how, bool bold) {
    fputs("set label ", pen->out);
    bli_pen_quoted(pen, text);
    fputs(" at ", pen->out);
    bli_pen_place(pen, x, y);
    fprintf(pen->out, " %s noenhanced tc rgb '" INK "'", how);
    bli_pen_font(pen, LETTERS, bold);
    putc('\n', pen->out);
}

/* A measured curve in a figure that has computed ones is a broad, pale line, and the computed one a thin line
 * on top: both can be seen where they agree, and none is taken for the other where it is alone. */
void bli_pen_wash(const struct pen *pen, const char *colour) {
    fprintf(pen->out, " lc rgb '#98%s'", colour + 1);
    bli_pen_line_width(pen, 2.4);
}

void bli_pen_line(const struct pen *pen, const char *colour) {
    bli_pen_colour(pen, colour);
    bli_pen_line_width(pen, 1);
}

bool bli_pen_is_washed(const struct layout *layout, const struct group_use *use) {
    return use->line && layout->any_theory;
}

/* Groups without points are distinguished by their dashes. The first one is solid and is drawn below the
 * others; between the dashes of one line the lines below it can be seen. */
const char *bli_pen_dashes_of(const struct group_use *use, unsigned group) {
    static const char *const dashes[] = {"",          " dt (12,8)", " dt (4,6)", " dt (12,4,3,4)",
                                         " dt (6,4)", " dt (2,2)"};
    const bool lines_alone = group != BLI_GROUP_INK && !use->points && !use->bars;
    return lines_alone ? dashes[group % (sizeof dashes / sizeof *dashes)] : "";
}

/* Bars are distinguished by colour and fill: the first is solid, the others are hatched. */
void bli_pen_fill(const struct pen *pen, unsigned group) {
    static const int patterns[] = {3, 4, 1, 5, 2, 6, 7}; /* gnuplot's numbers; 3 is solid */
    const char *colour = bli_pen_colour_of(group);
    const int pattern = group == BLI_GROUP_INK ? 3 : patterns[group % (sizeof patterns / sizeof *patterns)];
    fprintf(pen->out, " fc rgb '%s' fs pattern %d border lc rgb '%s'", colour, pattern, colour);
}
