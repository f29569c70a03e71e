/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of a figure: positions of panels, axes, texts and legend. Lengths are in points (1/72 inch), y
 * counts downwards from the upper edge. */
#ifndef FIGURE_LAYOUT_H
#define FIGURE_LAYOUT_H

#include "ballast/figure.h"
#include "figure/axis_scale.h"

struct box {
    double left, top, width, height;
};

enum { LABEL_LINES = 3 };

struct panel_layout {
    struct box frame;                                  /* the axes */
    struct scale x, y;                                 /* y with the strip for unstable points on top */
    char *title;                                       /* clean text; NULL: not shown; so with the next */
    char *x_label[LABEL_LINES], *y_label[LABEL_LINES]; /* in as many lines as they need, at most these */
    double title_at, x_label_at[LABEL_LINES];          /* their middles, in y */
    double y_label_at[LABEL_LINES];                    /* their middles, in x */
    size_t names;                                      /* on the x axis */
    char **name;                                       /* clean text, cut where it does not fit */
    double turn;                                       /* degrees by which they are turned, 0 or more */
    double strip_row;                                  /* height of a row of the strip */
    double strip;  /* where on the y axis, as a share, the strip begins; 1: there is none */
    unsigned bars; /* groups whose bars stand next to each other, at least 1 */
};

enum entry_kind {
    ENTRY_GROUP,
    ENTRY_MEASURED,
    ENTRY_THEORY,
    ENTRY_BOUND,
    ENTRY_UNSTABLE,
    ENTRY_UNDECIDED,
    ENTRY_DOUBTED,
    ENTRY_NOTE, /* text alone */
};

struct entry {
    enum entry_kind kind;
    unsigned group; /* of an ENTRY_GROUP */
    char *text;     /* clean text, cut where it does not fit */
    double left, middle;
    double sample; /* width of the sample, which the text follows after SAMPLE_GAP; 0: none */
};

/* What is drawn for a group anywhere in the figure. */
struct group_use {
    bool used;
    bool points, line, bars; /* measured values */
    bool theory;
    const char *name;
};

enum { TITLE_LINES_MAX = 4, ENTRIES_MAX = BLI_FIGURE_GROUPS_MAX + 9 };

/* Everything is placed as if letters had their usual size; the picture is `scale` times as large. */
struct layout {
    double width, height, scale;
    double least_height; /* in points on the paper, that all of it needs where a height was asked for */
    double frame_height; /* of each panel */
    size_t rows;         /* of panels */
    size_t title_lines;
    char *title_line[TITLE_LINES_MAX];
    double title_at[TITLE_LINES_MAX];
    struct panel_layout panel[BLI_PANELS_MAX];
    size_t entries;
    struct entry entry[ENTRIES_MAX];
    struct group_use use[BLI_FIGURE_GROUPS_MAX + 1]; /* the last one is that of the ink */
    bool any_theory, any_bound;
};

enum { SAMPLE_GAP = 4 };

/* May the point be drawn at all on these axes (it may still lie outside)? */
bool bli_layout_drawable(const struct bli_panel *panel, const struct bli_series *series, size_t i);
/* Is it left out only because its axis is logarithmic? */
bool bli_layout_lost_to_log(const struct bli_panel *panel, const struct bli_series *series, size_t i);
/* Where its interval begins; not below 0 where no value can be. */
double bli_layout_interval_low(const struct bli_panel *panel, const struct bli_series *series, size_t i);
/* Has the point a ring around it? */
bool bli_layout_doubted(const struct bli_panel *panel, const struct bli_series *series, size_t i);
/* Is it to be marked in the strip? */
bool bli_layout_unstable(const struct bli_series *series, size_t i);

/* The middle of a bar of this group (the k-th of those in the panel) at the place x. */
double bli_layout_bar(const struct panel_layout *panel, unsigned k, double x);
double bli_layout_bar_width(const struct panel_layout *panel);
/* The index of this group's bar among the bars of the panel, from 0. */
unsigned bli_layout_bar_rank(const struct bli_panel *panel, unsigned group);
/* The row of the strip, from 0, that this group's marks stand in, and how many rows there are. */
unsigned bli_layout_strip_rank(const struct bli_panel *panel, unsigned group);
unsigned bli_layout_strip_rows(const struct bli_panel *panel);

/* The figure must have passed bli_figure_check. NULL without memory. */
struct layout *bli_layout_new(const struct bli_figure *figure);
void bli_layout_free(struct layout *layout);

#endif
