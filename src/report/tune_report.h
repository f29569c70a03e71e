/* SPDX-License-Identifier: BSD-2-Clause */
/* What tuning found, as tables and a figure. */
#ifndef REPORT_TUNE_REPORT_H
#define REPORT_TUNE_REPORT_H

#include "ballast/tune.h"
#include "report/head.h"
#include "report/rows.h"

/* draft: the settings that were given. */
void bli_tune_print(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                    const struct bli_draft *draft, struct bli_rows *rows);
/* Delay against power: the frontier of tabs with its knee, delayed-off, always on. */
enum bal_code bli_tune_figure(const struct bli_tuning *tuning, const struct bli_tuned *tuned,
                              const char *path, struct bal_error *err);

#endif
