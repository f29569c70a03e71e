/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a script: plot.c writes its head and the panels, plot_legend.c the legend, plot_data.c what is
 * drawn into a panel. */
#ifndef FIGURE_PLOT_PRIVATE_H
#define FIGURE_PLOT_PRIVATE_H

#include "figure/pen.h"

void bli_plot_legend(const struct pen *pen);
/* p: the number of the panel. */
void bli_plot_data(const struct pen *pen, const struct bli_panel *panel, const struct panel_layout *place,
                   size_t p);

#endif
