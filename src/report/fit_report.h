/* SPDX-License-Identifier: BSD-2-Clause */
/* A fitted workload: as an experiment file that runs at once, and as a table of how well laws fit. */
#ifndef REPORT_FIT_REPORT_H
#define REPORT_FIT_REPORT_H

#include "ballast/fit.h"
#include "ballast/log.h"
#include "ballast/model.h"
#include "report/recovery_report.h"
#include "report/rows.h"

struct bli_fit_report {
    const char *const *logs; /* their names */
    size_t log_count;
    const struct bli_log_summary *summary;
    const struct bli_recovery_report *times;
    const struct bli_trace_info *info;
    const struct bli_fits *fits;
    const struct bli_fit_arrivals *arrivals;
    enum bli_fit_method chosen;
    bool forced;            /* the user chose it; otherwise it is the best */
    double sized_for;       /* the peak load that the fleet was chosen for; 0: it was given, or ... */
    bool recorded;          /* ... it is that of the log */
    struct bli_model model; /* the fleet, and what was fitted: load, size, curve, classes */
};

/* The experiment: the fleet under several policies, at the load of the log and at others. */
void bli_fit_yaml(const struct bli_fit_report *report, FILE *out);

/* As text or JSON. */
void bli_fit_print(const struct bli_fit_report *report, struct bli_rows *rows);

#endif
