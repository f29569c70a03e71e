/* SPDX-License-Identifier: BSD-2-Clause */
/* A fluid path, and a simulated one to compare with, as tables and figures. */
#ifndef REPORT_FLUID_REPORT_H
#define REPORT_FLUID_REPORT_H

#include "report/head.h"
#include "report/rows.h"
#include "study/fluid_path.h"

struct bli_fluid_report {
    const struct bal_policy_spec *policy;
    const char *from; /* the starting state, as the user named it */
    double load;
    const struct bli_draft *draft; /* the settings that were given */
    const struct bli_fluid_path_solution *followed;
    size_t levels;    /* s_1 to s_levels are shown; 0: those that matter, as many as fit */
    uint32_t servers; /* of the simulated system */
    uint64_t seed;
};

void bli_fluid_print(const struct bli_fluid_report *report, struct bli_rows *rows);
enum bal_code bli_fluid_figure(const struct bli_fluid_report *report, const char *path,
                               struct bal_error *err);

#endif
