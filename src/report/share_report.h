/* SPDX-License-Identifier: BSD-2-Clause */
/* How large the share of high-priority jobs may be, as text and JSON. */
#ifndef REPORT_SHARE_REPORT_H
#define REPORT_SHARE_REPORT_H

#include "format/table.h"
#include "report/head.h"
#include "study/priority_share.h"

struct bal_share_report {
    const struct bal_priority_share_wish *wish;
    const struct bal_priority_share_answer *answer;
    const struct bal_draft *draft; /* the settings that were given */
    uint64_t seed;
};

void bal_share_text(const struct bal_share_report *report, enum bal_table_style style, FILE *out);
void bal_share_json(const struct bal_share_report *report, FILE *out);

#endif
