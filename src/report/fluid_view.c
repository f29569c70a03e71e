/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the levels of a fluid path that are shown, and gives their values. */
#include "report/fluid_view.h"

#include <math.h>

double bli_fluid_view_at(const struct fluid_view *view, size_t k, size_t level) {
    /* Not below 0, where the integrator may end up by a rounding error. */
    return fmax(bli_fluid_path_at(&view->followed->fluid, k, level - 1), 0);
}

double bli_fluid_view_simulated_at(const struct fluid_view *view, size_t k, size_t level) {
    const struct bli_path *path = &view->followed->simulated;
    return level <= path->levels ? path->fraction[k * path->levels + level - 1] : 0;
}

double bli_fluid_view_jobs(const struct fluid_view *view, size_t k) {
    double jobs = 0;
    for (size_t i = 1; i <= view->followed->fluid.columns; i++)
        jobs += bli_fluid_view_at(view, k, i);
    return jobs;
}

double bli_fluid_view_simulated_jobs(const struct fluid_view *view, size_t k) {
    double jobs = 0;
    for (size_t i = 1; i <= view->followed->simulated.levels; i++)
        jobs += bli_fluid_view_simulated_at(view, k, i);
    return jobs;
}

/* The levels are spread evenly where not all fit; where servers switch off they are the first ones. */
static void choose_levels(struct fluid_view *view, size_t most) {
    const struct bli_fluid_path_solution *followed = view->followed;
    const size_t asked = view->report->levels;
    size_t last = asked ? asked : 1;
    for (size_t k = 0; k < followed->times && !asked; k++)
        while (last < BLI_TAIL_LEVELS - 1 && bli_fluid_path_at(&followed->fluid, k, last) >= 1e-2)
            last++;
    view->levels = asked || last < most ? last : most;
    const bool first = view->levels == last || view->extras > 0;
    for (size_t i = 0; i < view->levels; i++)
        view->level[i] = first ? i + 1 : 1 + i * (last - 1) / (view->levels - 1);
}

struct fluid_view bli_fluid_view(const struct bli_fluid_report *report, size_t most) {
    static const char *const states[BLI_FLUID_PATH_POWERS] = {"idle", "setup", "off"};
    const struct bli_fluid_path_solution *followed = report->followed;
    struct fluid_view view = {
        .report = report, .followed = followed, .simulated = followed->simulated.fraction != NULL};
    for (size_t i = 0; followed->power[0] && i < BLI_FLUID_PATH_POWERS; i++)
        view.extra[view.extras++] =
            (struct fluid_extra){states[i], followed->power[i], followed->simulated_power[i]};
    choose_levels(&view, most);
    return view;
}
