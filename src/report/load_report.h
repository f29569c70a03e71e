/* SPDX-License-Identifier: BSD-2-Clause */
/* What a load generator measured, as a table, csv and JSON, with warnings about the figures. */
#ifndef REPORT_LOAD_REPORT_H
#define REPORT_LOAD_REPORT_H

#include "ballast/load.h"
#include "report/rows.h"

#include <stdio.h>

void bli_load_print(const struct bli_load *load, const struct bli_load_result *result, struct bli_rows *rows);

/* Warnings about the figures: number i from 0 on, in one line; false after the last. */
enum { BLI_LOAD_WARNING = 300 };
bool bli_load_warning(const struct bli_load *load, const struct bli_load_result *result, unsigned i,
                      char text[BLI_LOAD_WARNING]);

#endif
