/* SPDX-License-Identifier: BSD-2-Clause */
/* What tuning found, as tables and a figure. */
#ifndef REPORT_TUNE_REPORT_H
#define REPORT_TUNE_REPORT_H

#include "ballast/tune.h"
#include "format/table.h"
#include "report/head.h"

/* draft: the settings that were given. */
void bli_tune_text(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                   const struct bli_draft *draft, enum bli_table_style style, FILE *out);
void bli_tune_csv(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                  const struct bli_draft *draft, FILE *out);
void bli_tune_json(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                   const struct bli_draft *draft, FILE *out);
/* Delay against power: the frontier of tabs with its knee, delayed-off, always on. */
enum bal_code bli_tune_figure(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                              const char *path, struct bal_error *err);

#endif
