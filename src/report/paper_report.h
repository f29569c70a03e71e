/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of papers, and the verdicts on one paper, as text, csv, JSON and Markdown. */
#ifndef REPORT_PAPER_REPORT_H
#define REPORT_PAPER_REPORT_H

#include "report/judgements.h"
#include "report/paper_work.h"

void bal_papers_text(const struct bal_papers *papers, FILE *out);
void bal_papers_json(const struct bal_papers *papers, FILE *out);

/* drawn: there are figures. */
void bal_paper_text(const struct bal_paper_work *work, bool drawn, FILE *out);
void bal_paper_json(const struct bal_paper_work *work, FILE *out);
void bal_paper_csv(const struct bal_paper_work *work, FILE *out);
void bal_paper_markdown(const struct bal_paper_work *work, FILE *out);

struct bal_tally bal_paper_tally(const struct bal_paper_work *work);

#endif
