/* SPDX-License-Identifier: BSD-2-Clause */
/* What the search for a frontier found, as tables and a figure. */
#ifndef REPORT_FRONTIER_REPORT_H
#define REPORT_FRONTIER_REPORT_H

#include "ballast/frontier.h"
#include "format/table.h"
#include "report/head.h"

void bal_frontier_text(const struct bal_frontier_question *question, const struct bal_frontier *frontier,
                       enum bal_table_style style, FILE *out);
void bal_frontier_csv(const struct bal_frontier_question *question, const struct bal_frontier *frontier,
                      FILE *out);
void bal_frontier_json(const struct bal_frontier_question *question, const struct bal_frontier *frontier,
                       FILE *out);

/* The critical constant at several loads. */
struct bal_frontier_chart {
    const struct bal_frontier_question *question;
    const double *load;
    const struct bal_frontier *frontier;
    unsigned count;
};
void bal_frontier_map_text(const struct bal_frontier_chart *chart, enum bal_table_style style, FILE *out);
void bal_frontier_map_csv(const struct bal_frontier_chart *chart, FILE *out);
void bal_frontier_map_json(const struct bal_frontier_chart *chart, FILE *out);
/* The constant over the load: what was measured, Theorem 9's line, and the sharper one. */
enum bal_code bal_frontier_map_figure(const struct bal_frontier_chart *chart, const char *path,
                                      struct bal_error *err);

#endif
