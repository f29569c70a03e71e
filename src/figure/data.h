/* SPDX-License-Identifier: BSD-2-Clause */
/* The data of a figure as csv: what its points, bars and lines are made of. */
#ifndef FIGURE_DATA_H
#define FIGURE_DATA_H

#include "ballast/figure.h"

#include <stdio.h>

/* A row for each point of each series that has a place on the x axis, also for one that is not drawn: panel,
 * series, kind (simulation, theory, bound, or what the legend calls them), x.label, x (a number, or the name
 * of its place), y.label, y, y.ci (half-width), verdict, doubted (yes or no). */
void bli_figure_data_write(const struct bli_figure *figure, FILE *out);

#endif
