/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of papers, and the verdicts on one paper, as text, csv, JSON and Markdown. */
#ifndef REPORT_PAPER_REPORT_H
#define REPORT_PAPER_REPORT_H

#include "report/judgements.h"
#include "report/paper_work.h"

void bli_papers_text(const struct bli_papers *papers, FILE *out);
void bli_papers_json(const struct bli_papers *papers, FILE *out);

/* drawn: there are figures. */
void bli_paper_print(const struct bli_paper_work *work, bool drawn, enum bli_form form, FILE *out);

struct bli_tally bli_paper_tally(const struct bli_paper_work *work);

#endif
