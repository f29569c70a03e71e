/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a trial, and measures how far its path is from that of the fluid model. */
#include "lab/fluid_trial.h"

#include "ballast/fluid_distance.h"
#include "ballast/predict.h"

#include <math.h>
#include <stdlib.h>

void bli_lengths_of(const double *s, size_t n, uint32_t servers, uint32_t *length) {
    size_t level = n;
    for (uint32_t server = 0; server < servers; server++) {
        /* server i has at least so many jobs as have more than i servers */
        while (level > 0 && floor(s[level - 1] * servers + 0.5) <= server)
            level--;
        length[server] = (uint32_t)level;
    }
}

struct bli_distance bli_path_distance(const struct bli_path *path, const struct bli_fluid_path *fluid) {
    struct bli_distance apart = {.level = 1};
    for (size_t k = 0; k < path->times; k++) {
        double sum = 0;
        for (size_t i = 0; i < path->levels; i++) {
            const double difference =
                fabs(path->fraction[k * path->levels + i] - bli_fluid_path_at(fluid, k, i));
            sum += ldexp(difference * difference, -(int)(i + 1));
            if (difference <= apart.difference)
                continue;
            apart.difference = difference;
            apart.time = path->time[k];
            apart.level = i + 1;
        }
        apart.norm = fmax(apart.norm, sqrt(sum));
    }
    return apart;
}

/* ---- the distance as a metric ---- */

enum { TIMES = 401, LEVELS = 60 }; /* where it is looked for; what is beyond weighs less than 2^-60 */

static enum bal_code fluid_of(const struct bli_case *c, struct bli_theory_fluid *known,
                              struct bal_error *err) {
    const enum bal_code code = bli_theory_fluid_init(known, &c->model, &c->policy, BLI_RCPB_CONSTRAINED, err);
    if (!code && known->model.head > 0)
        return bal_fail(err, BAL_E_MODEL, "policy '%s': the distance from its fluid model is not measured",
                        c->policy.policy->name);
    return code;
}

enum bal_code bli_case_fluid_check(const struct bli_case *c, struct bal_error *err) {
    struct bli_theory_fluid known;
    return fluid_of(c, &known, err);
}

enum bal_code bli_case_fluid_trial(const struct bli_case *c, const struct bli_run *run,
                                   struct bli_trial *trial, struct bal_error *err) {
    struct bli_theory_fluid known;
    struct bli_fluid_path fluid = {0};
    double *numbers = malloc(TIMES * (2 + LEVELS) * sizeof *numbers);
    enum bal_code code =
        numbers ? fluid_of(c, &known, err) : bal_fail(err, BAL_E_MEMORY, "not enough memory for a path");
    if (code)
        goto out;
    /* The fluid model counts in mean service times. */
    const double unit = c->model.size.mean / c->model.servers.group[0].speed;
    double *time = numbers, *fluid_time = numbers + TIMES;
    for (size_t k = 0; k < TIMES; k++) {
        time[k] = run->time * (double)k / (TIMES - 1);
        fluid_time[k] = time[k] / unit;
    }
    code = bli_fluid_path_init(&fluid, &known.model, NULL, 0, fluid_time, TIMES, err);
    if (code)
        goto out;
    struct bli_path path = {.times = TIMES, .time = time, .levels = LEVELS, .fraction = numbers + 2 * TIMES};
    struct bli_run watched = *run;
    watched.path = &path;
    code = bli_simulate(&c->model, &c->policy, &watched, trial, err);
    if (!code)
        trial->metric[BLI_FLUID_DISTANCE] = bli_path_distance(&path, &fluid).norm;
    bli_fluid_path_fini(&fluid);
out:
    free(numbers);
    return code;
}
