/* SPDX-License-Identifier: BSD-2-Clause */
/* What the search for a frontier found, as tables and a figure. */
#ifndef REPORT_FRONTIER_REPORT_H
#define REPORT_FRONTIER_REPORT_H

#include "ballast/frontier.h"
#include "format/table.h"
#include "report/head.h"

void bli_frontier_text(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                       enum bli_table_style style, FILE *out);
void bli_frontier_csv(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                      FILE *out);
void bli_frontier_json(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                       FILE *out);

/* The critical constant at several loads. */
struct bli_frontier_chart {
    const struct bli_frontier_question *question;
    const double *load;
    const struct bli_frontier *frontier;
    unsigned count;
};
void bli_frontier_map_text(const struct bli_frontier_chart *chart, enum bli_table_style style, FILE *out);
void bli_frontier_map_csv(const struct bli_frontier_chart *chart, FILE *out);
void bli_frontier_map_json(const struct bli_frontier_chart *chart, FILE *out);
/* The constant over the load: what was measured, Theorem 9's line, and the sharper one. */
enum bal_code bli_frontier_map_figure(const struct bli_frontier_chart *chart, const char *path,
                                      struct bal_error *err);

#endif
