/* SPDX-License-Identifier: BSD-2-Clause */
/* Results for kinds of jobs, which are selected by patterns of their paths, under each policy. */
#include "report/replay_cells.h"

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
        if (i == 0) {
            bal_table_add(table, "%s", name_of(report, kind));
            bal_table_add(table, "%.3g%%", 100 * jobs_of(report, kind) / jobs);
        } else {
            bal_table_add(table, "%s", "");
            bal_table_add(table, "%s", "");
        }
        bal_table_add(table, "%s", label);
        bal_cell_add_estimate(table, bal_in_unit(outcome->time[BAL_TIME_MEAN], unit), 2, "");
        enum bal_response_time shown[BAL_REPLAY_TIMES];
        const unsigned times = bal_shown_quantiles(report, shown);
        for (unsigned t = 0; t < times; t++)
            bal_cell_add_time(table, outcome->time[shown[t]], unit);
        bal_cell_add_mark(table, report);
    }
}

void bal_kinds_table(const struct bal_replay_report *report, const size_t *order, struct table *table,
                     char align[BAL_REPLAY_COLUMNS]) {
    enum bal_response_time shown[BAL_REPLAY_TIMES];
    const unsigned times = bal_shown_quantiles(report, shown);
    bal_table_init(table, 4u + times + bal_is_marked(report));
    *align = 0;
    bal_column_add(table, align, 'l', "class", "");
    bal_column_add(table, align, 'r', "jobs", "");
    bal_column_add(table, align, 'l', "policy", "");
    bal_column_add(table, align, 'r', "mean", bal_replay_unit(report).name);
    for (unsigned t = 0; t < times; t++) {
        char name[BAL_PERCENTILE_TEXT];
        bal_column_add(table, align, 'r', bal_quantile_name(report, shown[t], name), "");
    }
    if (bal_is_marked(report))
        bal_column_add(table, align, 'l', "service times", "");
    for (size_t kind = 1; kind <= report->kinds; kind++)
        add_kind(table, report, order, kind);
    add_kind(table, report, order, 0);
}

void bal_kinds_text(const struct bal_replay_report *report, const size_t *order, enum bal_table_style style,
                    FILE *out) {
    struct table table;
    char align[BAL_REPLAY_COLUMNS];
    fputs("Response times by class\n\n", out);
    bal_kinds_table(report, order, &table, align);
    bal_table_print(&table, align, style, out);
    bal_table_fini(&table);
}
