/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gnuplot script is written with: numbers, places, texts, colours, shapes, dashes and fills. Text
 * stands in single quotes, in which gnuplot knows no escapes and no commands. */
#ifndef FIGURE_PEN_H
#define FIGURE_PEN_H

#include "figure/layout.h"
#include "figure/plot.h"

#define BLI_PEN_GREY "#808080"
#define BLI_PEN_BOUND " dt (6,4)" /* the dashes of bounds */
/* There is no safe way to write a straight quote into a gnuplot string: doubled, as the manual says, it fails
 * at the beginning of a string. So it becomes the typographic quote, which looks better anyway. */
#define BLI_PEN_APOSTROPHE "’"
/* As wide as Helvetica and Arial, which a reader of SVG may have in its place. */
#define BLI_PEN_FONT "Liberation Sans"
#define BLI_PEN_SHAPE_SIZE 4.2 /* points */
enum {
    BLI_PEN_CROSS = 2, /* over the shape of what is unstable */
    BLI_PEN_RING = 6,  /* around what is doubted */
};
#define BLI_PEN_RING_SIZE 8.0 /* points */

/* How a format measures: gnuplot's sizes are relative to defaults that differ from terminal to terminal. */
struct device {
    const char *name;
    const char *options;
    bool inches;      /* the unit of size is the inch */
    double unit;      /* of size, per point */
    double letters;   /* of the font size, per point */
    double line;      /* of the line width, per point */
    double shape;     /* of the point size, per point of diameter */
    const char *lift; /* of the texts of x ticks, in lines */
};

extern const struct device bli_pen_devices[BLI_FIGURE_FORMATS];

struct pen {
    FILE *out;
    const struct layout *layout;
    const struct device *device;
};

void bli_pen_number(const struct pen *pen, double value);
void bli_pen_length(const struct pen *pen, double value);      /* with few digits: on the paper */
void bli_pen_place(const struct pen *pen, double x, double y); /* points from the upper left corner */
void bli_pen_quoted(const struct pen *pen, const char *text);  /* clean text */
void bli_pen_font(const struct pen *pen, double points, bool bold);
void bli_pen_line_width(const struct pen *pen, double points);
void bli_pen_colour(const struct pen *pen, const char *colour);
void bli_pen_label(const struct pen *pen, const char *text, double x, double y, const char *how, bool bold);

/* Of groups: each differs from the others by its colour and by something else, its shape, dashes or fill. */
const char *bli_pen_colour_of(unsigned group);
int bli_pen_shape_of(unsigned group); /* filled; the hollow twin is one less */
/* A mark inside the shapes of a group, where shapes repeat: an upright cross the first time, a diagonal one
 * the second time; 0: none. So that 18 groups can be distinguished without colour. */
int bli_pen_mark_of(unsigned group, double *points);
void bli_pen_shape(const struct pen *pen, int shape, double points);
void bli_pen_line(const struct pen *pen, const char *colour);
void bli_pen_wash(const struct pen *pen, const char *colour);
bool bli_pen_is_washed(const struct layout *layout, const struct group_use *use);
const char *bli_pen_dashes_of(const struct group_use *use, unsigned group);
void bli_pen_fill(const struct pen *pen, unsigned group);

#endif
