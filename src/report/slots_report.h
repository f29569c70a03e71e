/* SPDX-License-Identifier: BSD-2-Clause */
/* What tuning of slots found, as tables and a figure. */
#ifndef REPORT_SLOTS_REPORT_H
#define REPORT_SLOTS_REPORT_H

#include "ballast/tune_slots.h"
#include "format/table.h"
#include "report/head.h"

/* draft: the settings that were given. */
void bal_slots_text(const struct bal_slots_question *question, const struct bal_slots_answer *answer,
                    const struct bal_draft *draft, enum bal_table_style style, FILE *out);
void bal_slots_csv(const struct bal_slots_question *question, const struct bal_slots_answer *answer,
                   const struct bal_draft *draft, FILE *out);
void bal_slots_json(const struct bal_slots_question *question, const struct bal_slots_answer *answer,
                    const struct bal_draft *draft, FILE *out);
/* The quantile and the mean over the number of slots. */
enum bal_code bal_slots_figure(const struct bal_slots_question *question,
                               const struct bal_slots_answer *answer, const char *path,
                               struct bal_error *err);

#endif
