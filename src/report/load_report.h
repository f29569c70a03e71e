/* SPDX-License-Identifier: BSD-2-Clause */
/* What a load generator measured, as a table, csv and JSON, with warnings about the figures. */
#ifndef REPORT_LOAD_REPORT_H
#define REPORT_LOAD_REPORT_H

#include "ballast/load.h"
#include "format/table.h"

#include <stdio.h>

void bli_load_text(const struct bli_load *load, const struct bli_load_result *result,
                   enum bli_table_style style, FILE *out);
void bli_load_csv(const struct bli_load *load, const struct bli_load_result *result, FILE *out);
void bli_load_json(const struct bli_load *load, const struct bli_load_result *result, FILE *out);

/* Warnings about the figures: number i from 0 on, in one line; false after the last. */
enum { BLI_LOAD_WARNING = 300 };
bool bli_load_warning(const struct bli_load *load, const struct bli_load_result *result, unsigned i,
                      char text[BLI_LOAD_WARNING]);

#endif
