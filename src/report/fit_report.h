/* SPDX-License-Identifier: BSD-2-Clause */
/* A fitted workload: as an experiment file that runs at once, and as a table of how well laws fit. */
#ifndef REPORT_FIT_REPORT_H
#define REPORT_FIT_REPORT_H

#include "ballast/fit.h"
#include "ballast/log.h"
#include "ballast/model.h"
#include "format/table.h"
#include "report/recovery_report.h"

#include <stdio.h>

struct bal_fit_report {
    const char *const *logs; /* their names */
    size_t log_count;
    const struct bal_log_summary *summary;
    const struct bal_recovery_report *times;
    const struct bal_trace_info *info;
    const struct bal_fits *fits;
    const struct bal_fit_arrivals *arrivals;
    enum bal_fit_method chosen;
    bool forced;            /* the user chose it; otherwise it is the best */
    double sized_for;       /* the peak load that the fleet was chosen for; 0: it was given, or ... */
    bool recorded;          /* ... it is that of the log */
    struct bal_model model; /* the fleet, and what was fitted: load, size, curve, classes */
};

/* The experiment: the fleet under several policies, at the load of the log and at others. */
void bal_fit_yaml(const struct bal_fit_report *report, FILE *out);

void bal_fit_text(const struct bal_fit_report *report, enum bal_table_style style, FILE *out);
void bal_fit_json(const struct bal_fit_report *report, FILE *out);

#endif
