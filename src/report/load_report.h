/* SPDX-License-Identifier: BSD-2-Clause */
/* What a load generator measured, as a table, csv and JSON, with warnings about the figures. */
#ifndef REPORT_LOAD_REPORT_H
#define REPORT_LOAD_REPORT_H

#include "ballast/load.h"
#include "format/table.h"

#include <stdio.h>

void bal_load_text(const struct bal_load *load, const struct bal_load_result *result,
                   enum bal_table_style style, FILE *out);
void bal_load_csv(const struct bal_load *load, const struct bal_load_result *result, FILE *out);
void bal_load_json(const struct bal_load *load, const struct bal_load_result *result, FILE *out);

/* Warnings about the figures: number i from 0 on, in one line; false after the last. */
enum { BAL_LOAD_WARNING = 300 };
bool bal_load_warning(const struct bal_load *load, const struct bal_load_result *result, unsigned i,
                      char text[BAL_LOAD_WARNING]);

#endif
