/* SPDX-License-Identifier: BSD-2-Clause */
/* What was measured on real processes, compared with the lab's prediction. */
#ifndef REPORT_LIVE_REPORT_H
#define REPORT_LIVE_REPORT_H

#include "report/rows.h"
#include "rig/live_verdict.h"

/* As text or JSON. */
enum bal_code bli_live_report_print(struct bli_store *store, const struct bli_experiment *e,
                                    struct bli_rows *rows, struct bal_error *err);

#endif
