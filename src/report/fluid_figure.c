/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws a fluid path, and a simulated one to compare with. */
#include "ballast/figure.h"
#include "report/fluid_view.h"

#include <stdlib.h>

enum { CURVES = 7 }; /* at most */

/* Lines for the fluid path at all times and points for the simulated one at those that are printed. */
struct fluid_drawing {
    double *values;
    char (*names)[24];
    struct bli_series *series;
    size_t count;
};

static bool drawing_init(struct fluid_drawing *drawing, const struct fluid_view *view) {
    const size_t points = view->followed->times / view->followed->every + 1;
    const size_t curves = view->levels + view->extras;
    const size_t values = curves * (view->followed->times + points) + points;
    *drawing = (struct fluid_drawing){.values = malloc(values * sizeof *drawing->values),
                                      .names = malloc(curves * sizeof *drawing->names),
                                      .series = calloc(2 * curves, sizeof *drawing->series)};
    return drawing->values && drawing->names && drawing->series;
}

static void drawing_fini(struct fluid_drawing *drawing) {
    free(drawing->values);
    free(drawing->names);
    free(drawing->series);
}

static void draw_levels(struct fluid_drawing *drawing, const struct fluid_view *view) {
    double *next = drawing->values;
    double *point_time = next;
    size_t points = 0;
    for (size_t k = 0; k < view->followed->times; k += view->followed->every)
        point_time[points++] = view->followed->time[k];
    next += points;
    for (size_t i = 0; i < view->levels + view->extras; i++) {
        const struct fluid_extra *extra = i < view->levels ? NULL : &view->extra[i - view->levels];
        const size_t level = extra ? 0 : view->level[i];
        char *name = drawing->names[i];
        if (extra)
            snprintf(name, sizeof drawing->names[0], "%s", extra->name);
        else
            snprintf(name, sizeof drawing->names[0], "s_%zu", level);
        double *y = next;
        for (size_t k = 0; k < view->followed->times; k++)
            *next++ = extra ? extra->fluid[k] : bli_fluid_view_at(view, k, level);
        drawing->series[drawing->count++] = (struct bli_series){.name = name,
                                                                .group = (unsigned)i,
                                                                .style = BLI_STYLE_LINE,
                                                                .theory = true,
                                                                .count = view->followed->times,
                                                                .x = view->followed->time,
                                                                .y = y};
        if (!view->simulated)
            continue;
        y = next;
        for (size_t k = 0; k < view->followed->times; k += view->followed->every)
            *next++ = extra ? extra->simulated[k] : bli_fluid_view_simulated_at(view, k, level);
        drawing->series[drawing->count++] = (struct bli_series){.name = name,
                                                                .group = (unsigned)i,
                                                                .style = BLI_STYLE_POINTS,
                                                                .count = points,
                                                                .x = point_time,
                                                                .y = y};
    }
}

enum bal_code bli_fluid_figure(const struct bli_fluid_report *report, const char *path,
                               struct bal_error *err) {
    const size_t most = report->followed->power[0] ? CURVES - BLI_FLUID_PATH_POWERS : CURVES;
    const struct fluid_view whole = bli_fluid_view(report, most), *view = &whole;
    struct fluid_drawing drawing;
    enum bal_code code = BAL_OK;
    if (!drawing_init(&drawing, view)) {
        code = bal_fail(err, BAL_E_MEMORY, "not enough memory for the figure");
        goto out;
    }
    draw_levels(&drawing, view);
    char title[520], measured[60];
    snprintf(title, sizeof title, "%s, load %g, from %s", bli_policy_name(view->report->policy).text,
             view->report->load, view->report->from);
    snprintf(measured, sizeof measured, "%u servers simulated", view->report->servers);
    const struct bli_panel panel = {
        .x = {.label = "time", .unit = "mean service times"},
        .y = {.label = view->extras ? "fraction of servers" : "servers with at least i jobs, s_i",
              .low = 0,
              .high = 1},
        .series = drawing.series,
        .count = drawing.count,
    };
    const struct bli_figure figure = {
        .title = title, .panel = &panel, .panels = 1, .measured = measured, .theory = "fluid model"};
    code = bli_figure_write(&figure, path, err);
out:
    drawing_fini(&drawing);
    return code;
}
