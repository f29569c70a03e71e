/* SPDX-License-Identifier: BSD-2-Clause */
/* A fluid path, and a simulated one to compare with, as tables and figures. */
#ifndef REPORT_FLUID_REPORT_H
#define REPORT_FLUID_REPORT_H

#include "format/table.h"
#include "report/head.h"
#include "study/fluid_path.h"

struct bal_fluid_report {
    const struct bal_policy_spec *policy;
    const char *from; /* the starting state, as the user named it */
    double load;
    const struct bal_draft *draft; /* the settings that were given */
    const struct bal_fluid_path_solution *followed;
    size_t levels;    /* s_1 to s_levels are shown; 0: those that matter, as many as fit */
    uint32_t servers; /* of the simulated system */
    uint64_t seed;
};

void bal_fluid_text(const struct bal_fluid_report *report, enum bal_table_style style, FILE *out);
void bal_fluid_csv(const struct bal_fluid_report *report, FILE *out);
void bal_fluid_json(const struct bal_fluid_report *report, FILE *out);
enum bal_code bal_fluid_figure(const struct bal_fluid_report *report, const char *path,
                               struct bal_error *err);

#endif
