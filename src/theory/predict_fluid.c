/* SPDX-License-Identifier: BSD-2-Clause */
/* Which fluid model a policy has: the glue between policies and the equations of fluid.h. */
#include "theory/policy_theory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The equations assume Poisson arrivals, servers of one speed, and, unless `any`, exponential sizes, a
 * constant load and queues without a limit. */
static enum bal_code check_model(const struct bli_model *model, bool any, struct bal_error *err) {
    if (model->clock != BLI_CLOCK_CONTINUOUS)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about continuous time");
    if (!bli_servers_are_equal(&model->servers))
        return bal_fail(err, BAL_E_MODEL, "fluid models are about servers of equal speed");
    if (!any && !bli_dist_is_exponential(&model->size))
        return bal_fail(err, BAL_E_MODEL, "fluid models are about exponential sizes; use service exp");
    if (!any && (model->buffer > 0 || model->curve.kind != BLI_CURVE_CONSTANT))
        return bal_fail(err, BAL_E_MODEL,
                        "fluid models are about a constant load and no limit to the queues");
    if (!bli_arrivals_are_poisson(&model->arrivals))
        return bal_fail(err, BAL_E_MODEL, "fluid models are about arrivals poisson");
    if (model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about jobs that are not divided; use tasks 1");
    if (model->slots > 1)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about servers of one slot; use slots 1");
    return BAL_OK;
}

enum bal_code bli_fluid_use_pod(struct bli_theory_fluid *fluid, double lambda, double p, unsigned d1,
                                unsigned d2) {
    fluid->param.pod = (struct bli_pod){lambda, p, d1, d2};
    fluid->kind = BLI_FLUID_POD;
    fluid->model = bli_fluid_pod(&fluid->param.pod);
    return BAL_OK;
}

enum bal_code bli_fluid_use_rcpb(struct bli_theory_fluid *fluid, const struct bli_rcpb *rcpb) {
    fluid->param.rcpb = *rcpb;
    fluid->kind = BLI_FLUID_RCPB;
    fluid->model = bli_fluid_rcpb(&fluid->param.rcpb);
    return BAL_OK;
}

/* Servers that steal. Whether they ask all or the others alone is the same in the limit. */
static enum bal_code use_stealing(struct bli_theory_fluid *fluid, const struct bli_model *model,
                                  const struct bal_policy_spec *policy, struct bal_error *err) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    if (!about->choices)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' has no fluid model with stealing; use random, pod or steal none",
                        policy->policy->name);
    if (model->classes)
        return bal_fail(err, BAL_E_MODEL, "the fluid model of stealing is about one class of jobs");
    fluid->param.stealing =
        (struct bli_stealing){.lambda = model->load, .d = about->choices(policy), .steal = model->steal};
    fluid->kind = BLI_FLUID_STEALING;
    fluid->model = bli_fluid_stealing(&fluid->param.stealing);
    return BAL_OK;
}

static enum bal_code no_fluid(const struct bal_policy_spec *policy, struct bal_error *err) {
    char list[300] = "";
    const struct bli_policy_theory *about, *pending = NULL;
    for (size_t i = 0; (about = bli_policy_theory_at(i)); i++) {
        if (!about->fluid)
            continue;
        if (pending)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "",
                     pending->policy);
        pending = about;
    }
    return bal_fail(err, BAL_E_MODEL,
                    "policy '%s' has no fluid model here; those that have one are %s and %s",
                    policy->policy->name, list, pending->policy);
}

enum bal_code bli_theory_fluid_init(struct bli_theory_fluid *fluid, const struct bli_model *model,
                                    const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                                    struct bal_error *err) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    memset(fluid, 0, sizeof *fluid);
    const enum bal_code code = check_model(model, about->any_fluid, err);
    if (code)
        return code;
    if (!bli_else_is_uniform(policy))
        return bal_fail(err, BAL_E_MODEL, "the fluid model of %s is about else=uniform",
                        policy->policy->name);
    if (variant != BLI_RCPB_CONSTRAINED && strcmp(about->policy ? about->policy : "", "rcpb") != 0)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' has one fluid model only; variants are those of rcpb",
                        policy->policy->name);
    if (model->steal.kind != BAL_STEAL_NONE)
        return use_stealing(fluid, model, policy, err);
    return about->fluid ? about->fluid(fluid, model, policy, variant, err) : no_fluid(policy, err);
}

bool bli_theory_fluid_equilibrium(const struct bli_theory_fluid *fluid, double *s, size_t n) {
    double jobs;
    if (fluid->kind == BLI_FLUID_STEALING)
        return bli_stealing_equilibrium(&fluid->param.stealing, s, n, &jobs, NULL) == BAL_OK;
    const double lambda = fluid->kind == BLI_FLUID_POD    ? fluid->param.pod.lambda
                          : fluid->kind == BLI_FLUID_RCPB ? fluid->param.rcpb.lambda
                                                          : fluid->param.tabs.lambda;
    if (!(lambda < 1))
        return false;
    if (fluid->kind == BLI_FLUID_TABS) {
        for (size_t i = 0; i < n; i++)
            s[i] = i == 0 ? lambda : 0;
        return fluid->param.tabs.curve.kind == BLI_CURVE_CONSTANT && fluid->param.tabs.mu > 0;
    }
    if (fluid->kind == BLI_FLUID_RCPB) {
        for (size_t i = 0; i < n; i++)
            s[i] = bli_rcpb_tail(&fluid->param.rcpb, i + 1);
        return true;
    }
    const struct bli_pod *pod = &fluid->param.pod;
    double v = 1;
    for (size_t i = 0; i < n; i++) {
        v = lambda * ((1 - pod->p) * pow(v, pod->d1) + pod->p * pow(v, pod->d2));
        s[i] = v;
    }
    return true;
}

double *bli_theory_fluid_start(const struct bli_theory_fluid *fluid, const struct bli_start *start,
                               size_t *n) {
    *n = fluid->model.head + fluid->model.width * bli_start_jobs(start);
    double *y = calloc(*n, sizeof *y);
    if (y)
        bli_tabs_start(&fluid->param.tabs, start, y);
    return y;
}

enum bal_code bli_theory_fluid_levels(const struct bli_theory_fluid *fluid, const struct bli_fluid_path *path,
                                      struct bli_fluid_path *levels, double *standby, double *setup,
                                      struct bal_error *err) {
    const size_t head = fluid->model.head, width = fluid->model.width;
    *levels = *path;
    levels->columns = (path->columns - head) / width;
    levels->state = calloc(path->times * levels->columns + 1, sizeof *levels->state);
    if (!levels->state)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for a path of %zu times", path->times);
    for (size_t k = 0; k < path->times; k++) {
        double *row = levels->state + k * levels->columns;
        for (size_t i = 0; i < levels->columns; i++)
            for (size_t j = 0; j < width; j++)
                row[i] += bli_fluid_path_at(path, k, head + i * width + j);
        setup[k] = bli_fluid_path_at(path, k, 1);
        standby[k] = fmax(1 - row[0] - bli_fluid_path_at(path, k, 0) - setup[k], 0);
    }
    return BAL_OK;
}
