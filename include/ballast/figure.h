/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures: described as data, drawn by gnuplot as SVG, PNG or PDF.
 *
 *     const double load[] = {0.5, 0.9}, mean[] = {1.33, 2.66}, half[] = {0.01, 0.03};
 *     const struct bli_series series[] = {
 *         {.name = "pod:d=2", .style = BLI_STYLE_POINTS, .count = 2, .x = load, .y = mean,
 *          .half_width = half}};
 *     const struct bli_panel panel = {.x = {.label = "load"},
 *                                     .y = {.label = "mean response time", .unit = "service times"},
 *                                     .series = series, .count = 1};
 *     const struct bli_figure figure = {.title = "two choices", .panel = &panel, .panels = 1};
 *     if (bli_figure_write(&figure, "two.pdf", &err))      ... err.text says why
 *
 * Unless it is said otherwise, a figure is as wide as one column of a paper (3.5 inches), or as two when it
 * has several panels side by side, with letters of 8 points. Colours can be distinguished by colour-blind
 * readers, shapes without colours. The legend stands below the panels, never on the data. All text may be any
 * UTF-8: nothing in it is a command. Between dollar signs are formulas: $\lambda_1$, $N^{2}$ (see
 * bli_text_formula). */
#ifndef BALLAST_FIGURE_H
#define BALLAST_FIGURE_H

#include "ballast/error.h"
#include "ballast/stats.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum bli_style {
    BLI_STYLE_POINTS, /* measured values, each with its error bar */
    BLI_STYLE_LINE,   /* a curve or a path */
    BLI_STYLE_STEPS,  /* constant from each x to the next: distributions of whole numbers */
    BLI_STYLE_BARS,   /* bars over named places, those of several groups side by side */
};

enum {
    BLI_PANELS_MAX = 36,
    BLI_FIGURE_GROUPS_MAX = 64,
    BLI_GROUP_INK = BLI_FIGURE_GROUPS_MAX, /* drawn like the frame, for what belongs to all groups; without a
                                              legend entry */
};

/* Values that belong together. The series of one group have one colour, one shape (that of its points or,
 * where it has lines alone, of its dashes) and one entry in the legend, under the first name found; that of a
 * simulation and that of its theory are two series of one group. */
struct bli_series {
    const char *name; /* may be NULL */
    unsigned group;   /* 0, 1, ...: also the order in the legend; or BLI_GROUP_INK */
    enum bli_style style;
    bool theory; /* always drawn as a line, with any style */
    bool bound;  /* of a theory: it bounds the value, and its line is dashed */
    size_t count;
    const double *x, *y;             /* a pair with a NaN or an infinity is left out and interrupts a line */
    const double *half_width;        /* half-widths of the 95 % intervals of y; NULL or NaN: none */
    const enum bli_verdict *verdict; /* NULL: nothing is known about stability. An unstable point is not
                                      * plotted but marked above the axes by its shape and a cross; an
                                      * undecided one is drawn hollow. */
    const bool *doubted; /* a point whose interval may miss the true value has a ring around it; NULL: none */
};

struct bli_axis {
    const char *label;
    const char *unit; /* in brackets behind the label; NULL or "": none */
    bool log;
    bool hours;       /* of a day, where they have no decimals: ticks at multiples of 1, 2, 3, 6, 12, 24 */
    double low, high; /* where the axis ends; both 0: as the data demand; NaN: that end as the data demand */
    const char *const *names; /* named places x = 0, 1, ..., as bars need them; NULL: numbers */
    size_t name_count;
    bool nonnegative; /* no value can be below 0: intervals end there */
};

struct bli_panel {
    const char *title; /* may be NULL */
    struct bli_axis x, y;
    const struct bli_series *series;
    size_t count;
};

/* In points, 72 to an inch; 0: as usual. Lines and shapes grow with the letters. */
struct bli_figure_size {
    double width, height, letters;
};

struct bli_figure {
    const char *title; /* may be NULL */
    const struct bli_panel *panel;
    size_t panels;        /* 1 to BLI_PANELS_MAX, row by row */
    unsigned columns;     /* 0: as many as look good */
    const char *measured; /* what the legend calls measured and ... */
    const char *theory;   /* ... computed values where there are both; NULL: "simulation" and "theory" */
    struct bli_figure_size size;
};

enum bli_figure_format {
    BLI_FIGURE_SVG,
    BLI_FIGURE_PNG,
    BLI_FIGURE_PDF,
    BLI_FIGURE_EPS,
    BLI_FIGURE_CSV, /* its data; there is no script for it, and gnuplot is not needed */
    BLI_FIGURE_FORMATS
};

/* "svg", "png", "pdf", "eps", "csv": the suffix of a file. */
const char *bli_figure_format_text(enum bli_figure_format format);
/* The format that the suffix of a path names; BLI_FIGURE_FORMATS when there is none such. */
enum bli_figure_format bli_figure_format_of(const char *path);

/* Can it be drawn? Checks what can be wrong with the data: too many panels or groups, a log axis that ends at
 * 0 or below, an axis that ends before it begins, a size that is none. */
enum bal_code bli_figure_check(const struct bli_figure *figure, struct bal_error *err);

/* The gnuplot script that draws the figure on its standard output, data included: one to keep or to change by
 * hand. The caller frees *script, which is terminated. */
enum bal_code bli_figure_script(const struct bli_figure *figure, enum bli_figure_format format, char **script,
                                struct bal_error *err);

/* Draws the figure into memory: runs gnuplot, which must be installed, and leaves no file behind. The caller
 * frees *data. The SVG stands alone, and its ink is `currentColor`, so that a page it is put into decides on
 * light or dark. */
enum bal_code bli_figure_render(const struct bli_figure *figure, enum bli_figure_format format, char **data,
                                size_t *size, struct bal_error *err);

/* Draws the figure into a file whose suffix names the format. The file appears, or replaces an older one,
 * only when it is complete. */
enum bal_code bli_figure_write(const struct bli_figure *figure, const char *path, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
