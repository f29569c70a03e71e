/* SPDX-License-Identifier: BSD-2-Clause */
/* Running gnuplot. */
#ifndef FIGURE_GNUPLOT_H
#define FIGURE_GNUPLOT_H

#include "ballast/error.h"

#include <stddef.h>

/* Runs a script and gathers what it draws on its standard output. No file is written. The caller frees *data.
 */
enum bal_code bli_gnuplot_run(const char *script, size_t length, char **data, size_t *size,
                              struct bal_error *err);

#endif
