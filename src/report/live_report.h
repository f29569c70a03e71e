/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured on real processes, compared with the lab's prediction. */
#ifndef REPORT_LIVE_REPORT_H
#define REPORT_LIVE_REPORT_H

#include "format/table.h"
#include "rig/live_verdict.h"

#include <stdio.h>

enum bal_code bli_live_report_text(struct bli_store *store, const struct bli_experiment *e,
                                   enum bli_table_style style, FILE *out, struct bal_error *err);
enum bal_code bli_live_report_json(struct bli_store *store, const struct bli_experiment *e, FILE *out,
                                   struct bal_error *err);

#endif
