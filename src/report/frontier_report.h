/* SPDX-License-Identifier: BSD-2-Clause */
/* What the search for a frontier found, as tables and a figure. */
#ifndef REPORT_FRONTIER_REPORT_H
#define REPORT_FRONTIER_REPORT_H

#include "ballast/frontier.h"
#include "report/head.h"
#include "report/rows.h"

void bli_frontier_print(const struct bli_frontier_question *question, const struct bli_frontier *frontier,
                        struct bli_rows *rows);

/* The critical constant at several loads. */
struct bli_frontier_chart {
    const struct bli_frontier_question *question;
    const double *load;
    const struct bli_frontier *frontier;
    unsigned count;
};
void bli_frontier_map_print(const struct bli_frontier_chart *chart, struct bli_rows *rows);
/* The constant over the load: what was measured, Theorem 9's line, and the sharper one. */
enum bal_code bli_frontier_map_figure(const struct bli_frontier_chart *chart, const char *path,
                                      struct bal_error *err);

#endif
