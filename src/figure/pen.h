/* SPDX-License-Identifier: BSD-2-Clause */
/* What a gnuplot script is written with: numbers, places, texts, colours, shapes, dashes and fills. Text
 * stands in single quotes, in which gnuplot knows no escapes and no commands. */
#ifndef FIGURE_PEN_H
#define FIGURE_PEN_H

#include "figure/layout.h"
#include "figure/plot.h"

#define BAL_PEN_GREY "#808080"
#define BAL_PEN_BOUND " dt (6,4)" /* the dashes of bounds */
/* There is no safe way to write a straight quote into a gnuplot string: doubled, as the manual says, it fails
 * at the beginning of a string. So it becomes the typographic quote, which looks better anyway. */
#define BAL_PEN_APOSTROPHE "’"
/* As wide as Helvetica and Arial, which a reader of SVG may have in its place. */
#define BAL_PEN_FONT "Liberation Sans"
#define BAL_PEN_SHAPE_SIZE 4.2 /* points */
enum {
    BAL_PEN_CROSS = 2, /* over the shape of what is unstable */
    BAL_PEN_RING = 6,  /* around what is doubted */
};
#define BAL_PEN_RING_SIZE 8.0 /* points */

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

extern const struct device bal_pen_devices[BAL_FIGURE_FORMATS];

struct pen {
    FILE *out;
    const struct layout *layout;
    const struct device *device;
};

void bal_pen_number(const struct pen *pen, double value);
void bal_pen_length(const struct pen *pen, double value);      /* with few digits: on the paper */
void bal_pen_place(const struct pen *pen, double x, double y); /* points from the upper left corner */
void bal_pen_quoted(const struct pen *pen, const char *text);  /* clean text */
void bal_pen_font(const struct pen *pen, double points, bool bold);
void bal_pen_line_width(const struct pen *pen, double points);
void bal_pen_colour(const struct pen *pen, const char *colour);
void bal_pen_label(const struct pen *pen, const char *text, double x, double y, const char *how, bool bold);

/* Of groups: each differs from the others by its colour and by something else, its shape, dashes or fill. */
const char *bal_pen_colour_of(unsigned group);
int bal_pen_shape_of(unsigned group); /* filled; the hollow twin is one less */
/* A mark inside the shapes of a group, where shapes repeat: an upright cross the first time, a diagonal one
 * the second time; 0: none. So that 18 groups can be distinguished without colour. */
int bal_pen_mark_of(unsigned group, double *points);
void bal_pen_shape(const struct pen *pen, int shape, double points);
void bal_pen_line(const struct pen *pen, const char *colour);
void bal_pen_wash(const struct pen *pen, const char *colour);
bool bal_pen_is_washed(const struct layout *layout, const struct group_use *use);
const char *bal_pen_dashes_of(const struct group_use *use, unsigned group);
void bal_pen_fill(const struct pen *pen, unsigned group);

#endif
