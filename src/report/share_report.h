/* SPDX-License-Identifier: BSD-2-Clause */
/* How large the share of high-priority jobs may be, as text and JSON. */
#ifndef REPORT_SHARE_REPORT_H
#define REPORT_SHARE_REPORT_H

#include "report/head.h"
#include "report/rows.h"
#include "study/priority_share.h"

struct bli_share_report {
    const struct bli_priority_share_wish *wish;
    const struct bli_priority_share_answer *answer;
    const struct bli_draft *draft; /* the settings that were given */
    uint64_t seed;
};

void bli_share_print(const struct bli_share_report *report, struct bli_rows *rows);

#endif
