/* SPDX-License-Identifier: BSD-2-Clause */
/* Axes: where they end and where their ticks are. */
#ifndef FIGURE_AXIS_SCALE_H
#define FIGURE_AXIS_SCALE_H

/* Letters, in points: of labels, and of the ticks. */
#define LETTERS 8.0
#define SMALL_LETTERS 7.0

#include <stdbool.h>
#include <stddef.h>

enum { TICKS_MAX = 24, TICK_TEXT = 40 };

/* Nothing beyond this is drawn, nor, on a logarithmic axis, anything below its inverse. */
#define BLI_SCALE_LARGEST 1e100

struct tick {
    double at;
    bool minor;           /* no text */
    char text[TICK_TEXT]; /* in gnuplot's enhanced notation: 10^{-3} */
};

struct scale {
    bool log;
    double low, high; /* low < high; both above 0 when log */
    size_t count;
    struct tick tick[10 * TICKS_MAX];
};

/* The range of the values on an axis; start from span_empty. */
struct span {
    double low, high;
    double least; /* the smallest value above 0 */
};
extern const struct span bli_span_empty;
/* Values that cannot be drawn change nothing. */
void bli_span_add(struct span *span, double value);

struct scale_wish {
    bool log;
    double low, high; /* as in struct bli_axis */
    bool from_zero;   /* a linear axis of values >= 0 begins at 0 unless they are all far from it */
    double length;    /* of the axis, in points */
    bool across;      /* horizontal: the texts of its ticks stand next to each other */
    bool hours;       /* as in struct bli_axis */
};

/* Width of the text, in units of the letter size. */
double bli_tick_width(const struct tick *tick);

/* The axis for a range of values (possibly empty). */
void bli_scale_init(struct scale *scale, const struct scale_wish *wish, const struct span *span);

/* Extends the axis beyond its high end by this share of its length; the ticks stay where they are. */
void bli_scale_extend(struct scale *scale, double share);

/* The value at this share of the axis, 0 at low and 1 at high; and the share at a value. */
double bli_scale_at(const struct scale *scale, double share);
double bli_scale_share(const struct scale *scale, double value);

#endif
