/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fluid model of a policy that switches servers off predicts for a span of time. */
#include "ballast/predict.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 400 }; /* the path is averaged by the trapezoidal rule over so many gaps */

static void add_state(const struct bli_fluid_path *levels, size_t k, double standby, double setup,
                      double weight, struct bli_theory_averages *span) {
    const double busy = bli_fluid_path_at(levels, k, 0);
    span->busy += weight * busy;
    span->standby += weight * standby;
    span->setup += weight * setup;
    span->off += weight * (1 - busy - standby - setup);
    for (size_t i = 0; i < levels->columns; i++) {
        const double s = fmax(bli_fluid_path_at(levels, k, i), 0);
        span->jobs += weight * s;
        if (i + 1 < BLI_THEORY_LEVELS)
            span->tail[i + 1] += weight * s;
    }
}

/* Little's theorem: the jobs that wait over those that arrive. With buffers some of these are lost, and not
 * counted. */
static void add_waiting(const struct bli_tabs *tabs, const double *time, struct bli_theory_averages *span) {
    double arrivals = 0;
    for (size_t k = 0; k <= POINTS; k++)
        arrivals +=
            tabs->lambda * bli_curve_at(&tabs->curve, time[k] * tabs->unit) * (k % POINTS ? 1 : 0.5) / POINTS;
    span->waiting_mean = tabs->buffer > 0 ? NAN : (span->jobs - span->busy) / arrivals * tabs->unit;
}

bool bli_theory_average(const struct bli_model *model, const struct bal_policy_spec *policy, double from,
                        double until, struct bli_theory_averages *span) {
    struct bli_theory_fluid fluid;
    struct bli_fluid_path path = {0}, levels = {0};
    if (bli_theory_fluid_init(&fluid, model, policy, BLI_RCPB_CONSTRAINED, NULL) ||
        fluid.kind != BLI_FLUID_TABS)
        return false;
    *span = (struct bli_theory_averages){.tail = {1}};
    size_t n;
    double time[POINTS + 1], standby[POINTS + 1], setup[POINTS + 1];
    double *start = bli_theory_fluid_start(&fluid, &model->start, &n);
    for (size_t k = 0; k <= POINTS; k++)
        time[k] = (from + (until - from) * (double)k / POINTS) / fluid.param.tabs.unit;
    bool known =
        start && bli_fluid_path_init(&path, &fluid.model, start, n, time, POINTS + 1, NULL) == BAL_OK;
    if (known) {
        known = bli_theory_fluid_levels(&fluid, &path, &levels, standby, setup, NULL) == BAL_OK;
        bli_fluid_path_fini(&path);
    }
    if (known) {
        for (size_t k = 0; k <= POINTS; k++)
            add_state(&levels, k, standby[k], setup[k], (k % POINTS ? 1 : 0.5) / POINTS, span);
        add_waiting(&fluid.param.tabs, time, span);
        bli_fluid_path_fini(&levels);
    }
    free(start);
    return known;
}
