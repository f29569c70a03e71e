/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured on real processes, compared with the lab's prediction. */
#ifndef REPORT_LIVE_REPORT_H
#define REPORT_LIVE_REPORT_H

#include "format/table.h"
#include "rig/live_verdict.h"

#include <stdio.h>

enum bal_code bal_live_report_text(struct bal_store *store, const struct bal_experiment *e,
                                   enum bal_table_style style, FILE *out, struct bal_error *err);
enum bal_code bal_live_report_json(struct bal_store *store, const struct bal_experiment *e, FILE *out,
                                   struct bal_error *err);

#endif
