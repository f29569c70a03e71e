/* SPDX-License-Identifier: BSD-2-Clause */
/* Results for kinds of jobs, which are selected by patterns of their paths, under each policy. */
#include "report/replay_cells.h"

#include <math.h>

/* Kind 0 is the rest. */
static const char *name_of(const struct bli_replay_report *report, size_t kind) {
    return kind == 0 ? "(others)" : report->kind[kind - 1];
}

static double jobs_of(const struct bli_replay_report *report, size_t kind) {
    return (double)bli_trace_info(report->replay->trace)->kind[kind];
}

/* Named ones first, as they were given; the rest, if there is any, last. */
static void add_kind(struct table *table, const struct bli_replay_report *report, const size_t *order,
                     size_t kind) {
    const struct bli_replay_unit unit = bli_replay_unit(report);
    const double jobs = (double)bli_trace_info(report->replay->trace)->jobs;
    for (size_t i = 0; i < report->count && jobs_of(report, kind) > 0; i++) {
        const struct bli_kind_outcome *outcome = &report->outcomes[order[i]].kind[kind];
        do {
            if (bli_table_column(table, 'l', "class"))
                bli_table_add(table, "%s", i == 0 ? name_of(report, kind) : "");
            if (bli_table_column(table, 'r', "jobs"))
                bli_table_add_number(table, "%.3g%%", i == 0 ? 100 * jobs_of(report, kind) / jobs : NAN);
            if (bli_table_column(table, 'l', "policy"))
                bli_table_add(table, "%s", bli_replay_name(&report->cases[order[i]].policy).text);
            if (bli_table_column(table, 'r', "mean, %s", unit.name))
                bli_cell_add_estimate(table, bli_in_unit(outcome->time[BLI_TIME_MEAN], unit), 2, "");
            bli_put_quantiles(table, report, outcome->time, unit);
            bli_put_mark(table, report);
        } while (bli_table_end_row(table));
    }
}

void bli_kinds_table(const struct bli_replay_report *report, const size_t *order, struct table *table) {
    bli_table_init(table, 0);
    for (size_t kind = 1; kind <= report->kinds; kind++)
        add_kind(table, report, order, kind);
    add_kind(table, report, order, 0);
}

void bli_kinds_text(const struct bli_replay_report *report, const size_t *order, enum bli_table_style style,
                    FILE *out) {
    struct table table;
    fputs("Response times by class\n\n", out);
    bli_kinds_table(report, order, &table);
    bli_table_print(&table, table.align, style, out);
    bli_table_fini(&table);
}
