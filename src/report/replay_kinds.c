/* SPDX-License-Identifier: BSD-2-Clause */
/* Results for kinds of jobs, which are selected by patterns of their paths, under each policy. */
#include "report/replay_cells.h"

#include <math.h>

/* Kind 0 is the rest. */
static const char *name_of(const struct bal_replay_report *report, size_t kind) {
    return kind == 0 ? "(others)" : report->kind[kind - 1];
}

static double jobs_of(const struct bal_replay_report *report, size_t kind) {
    return (double)bal_trace_info(report->replay->trace)->kind[kind];
}

/* Named ones first, as they were given; the rest, if there is any, last. */
static void add_kind(struct table *table, const struct bal_replay_report *report, const size_t *order,
                     size_t kind) {
    const struct bal_replay_unit unit = bal_replay_unit(report);
    const double jobs = (double)bal_trace_info(report->replay->trace)->jobs;
    for (size_t i = 0; i < report->count && jobs_of(report, kind) > 0; i++) {
        const struct bal_kind_outcome *outcome = &report->outcomes[order[i]].kind[kind];
        char label[BAL_REPLAY_LABEL];
        bal_replay_label(&report->cases[order[i]].policy, label);
        do {
            if (bal_table_column(table, 'l', "class"))
                bal_table_add(table, "%s", i == 0 ? name_of(report, kind) : "");
            if (bal_table_column(table, 'r', "jobs"))
                bal_table_add_number(table, "%.3g%%", i == 0 ? 100 * jobs_of(report, kind) / jobs : NAN);
            if (bal_table_column(table, 'l', "policy"))
                bal_table_add(table, "%s", label);
            if (bal_table_column(table, 'r', "mean, %s", unit.name))
                bal_cell_add_estimate(table, bal_in_unit(outcome->time[BAL_TIME_MEAN], unit), 2, "");
            bal_put_quantiles(table, report, outcome->time, unit);
            bal_put_mark(table, report);
        } while (bal_table_end_row(table));
    }
}

void bal_kinds_table(const struct bal_replay_report *report, const size_t *order, struct table *table) {
    bal_table_init(table, 0);
    for (size_t kind = 1; kind <= report->kinds; kind++)
        add_kind(table, report, order, kind);
    add_kind(table, report, order, 0);
}

void bal_kinds_text(const struct bal_replay_report *report, const size_t *order, enum bal_table_style style,
                    FILE *out) {
    struct table table;
    fputs("Response times by class\n\n", out);
    bal_kinds_table(report, order, &table);
    bal_table_print(&table, table.align, style, out);
    bal_table_fini(&table);
}
