/* SPDX-License-Identifier: BSD-2-Clause */
/* What tuning of slots found, as tables and a figure. */
#ifndef REPORT_SLOTS_REPORT_H
#define REPORT_SLOTS_REPORT_H

#include "ballast/tune_slots.h"
#include "report/head.h"
#include "report/rows.h"

/* draft: the settings that were given. */
void bli_slots_print(const struct bli_slots_question *question, const struct bli_slots_answer *answer,
                     const struct bli_draft *draft, struct bli_rows *rows);
/* The quantile and the mean over the number of slots. */
enum bal_code bli_slots_figure(const struct bli_slots_question *question,
                               const struct bli_slots_answer *answer, const char *path,
                               struct bal_error *err);

#endif
