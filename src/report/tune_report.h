/* SPDX-License-Identifier: BSD-2-Clause */
/* What tuning found, as tables and a figure. */
#ifndef REPORT_TUNE_REPORT_H
#define REPORT_TUNE_REPORT_H

#include "ballast/tune.h"
#include "format/table.h"
#include "report/head.h"

/* draft: the settings that were given. */
void bal_tune_text(const struct bal_tuning *tuning, const struct bal_tuned *tuned,
                   const struct bal_draft *draft, enum bal_table_style style, FILE *out);
void bal_tune_csv(const struct bal_tuning *tuning, const struct bal_tuned *tuned,
                  const struct bal_draft *draft, FILE *out);
void bal_tune_json(const struct bal_tuning *tuning, const struct bal_tuned *tuned,
                   const struct bal_draft *draft, FILE *out);
/* Delay against power: the frontier of tabs with its knee, delayed-off, always on. */
enum bal_code bal_tune_figure(const struct bal_tuning *tuning, const struct bal_tuned *tuned,
                              const char *path, struct bal_error *err);

#endif
