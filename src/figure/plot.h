/* SPDX-License-Identifier: BSD-2-Clause */
/* A figure as a gnuplot script. */
#ifndef FIGURE_PLOT_H
#define FIGURE_PLOT_H

#include "figure/layout.h"

#include <stdio.h>

/* The ink of frames and text: in a script, and as gnuplot writes it into an SVG. */
#define INK "#1f1f1f"
#define INK_IN_SVG "rgb( 31,  31,  31)"
#define INK_IN_SVG_TEXT "rgb(31,31,31)"

void bli_plot_write(const struct bli_figure *figure, const struct layout *layout,
                    enum bli_figure_format format, FILE *out);

#endif
