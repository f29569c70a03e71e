/* SPDX-License-Identifier: BSD-2-Clause */
/* What is shown of a fluid path: which levels, and the values there. */
#ifndef REPORT_FLUID_VIEW_H
#define REPORT_FLUID_VIEW_H

#include "report/fluid_report.h"

/* A fraction of servers that is shown next to the levels, at all times. */
struct fluid_extra {
    const char *name; /* "off": in tables */
    const double *fluid, *simulated;
};

struct fluid_view {
    const struct bli_fluid_report *report;
    const struct bli_fluid_path_solution *followed;
    bool simulated;                /* is there a simulated path? */
    size_t levels;                 /* how many are shown, >= 1 ... */
    size_t level[BLI_TAIL_LEVELS]; /* ... and which: from 1, rising */
    size_t extras;
    struct fluid_extra extra[BLI_FLUID_PATH_POWERS];
};

/* The levels that the report asks for; or those that ever hold one server in a hundred, of which at most so
 * many. */
struct fluid_view bli_fluid_view(const struct bli_fluid_report *report, size_t most);

/* s_level at time number k. */
double bli_fluid_view_at(const struct fluid_view *view, size_t k, size_t level);
double bli_fluid_view_simulated_at(const struct fluid_view *view, size_t k, size_t level);

/* Mean jobs at a server then. */
double bli_fluid_view_jobs(const struct fluid_view *view, size_t k);
double bli_fluid_view_simulated_jobs(const struct fluid_view *view, size_t k);

#endif
