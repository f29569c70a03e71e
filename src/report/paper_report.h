/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of papers, and the verdicts on one paper, as text, csv, JSON and Markdown. */
#ifndef REPORT_PAPER_REPORT_H
#define REPORT_PAPER_REPORT_H

#include "report/judgements.h"
#include "report/paper_work.h"

void bli_papers_text(const struct bli_papers *papers, FILE *out);
void bli_papers_json(const struct bli_papers *papers, FILE *out);

/* drawn: there are figures. */
void bli_paper_text(const struct bli_paper_work *work, bool drawn, FILE *out);
void bli_paper_json(const struct bli_paper_work *work, FILE *out);
void bli_paper_csv(const struct bli_paper_work *work, FILE *out);
void bli_paper_markdown(const struct bli_paper_work *work, FILE *out);

struct bli_tally bli_paper_tally(const struct bli_paper_work *work);

#endif
