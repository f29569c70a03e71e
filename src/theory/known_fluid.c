/* Which fluid model a policy has: the glue between policies and the equations of fluid.h. */
#include "ballast/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char with_fluid[] = "random, pod, pod-scp, pod-sep, pod-ssp, rcpb, jiq and tabs";

/* The equations assume Poisson arrivals, servers of one speed, and, but for tabs, exponential sizes and a
 * constant load. */
static enum bal_code check_model(const struct bal_model *model, bool tabs, struct bal_error *err) {
    if (model->clock != BAL_CLOCK_CONTINUOUS)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about continuous time");
    for (unsigned g = 1; g < model->servers.groups; g++)
        if (model->servers.group[g].speed != model->servers.group[0].speed)
            return bal_fail(err, BAL_E_MODEL, "fluid models are about servers of equal speed");
    if (!tabs && !bal_law_is_exponential(&model->size))
        return bal_fail(err, BAL_E_MODEL, "fluid models are about exponential sizes; use service exp");
    if (model->buffer > 0 || (!tabs && model->curve.kind != BAL_CURVE_CONSTANT))
        return bal_fail(err, BAL_E_MODEL,
                        "fluid models are about a constant load and no limit to the queues");
    if (model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about jobs that are not divided; use tasks 1");
    if (model->slots > 1)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about servers of one slot; use slots 1");
    return BAL_OK;
}

static enum bal_code use_pod(struct bal_known_fluid *fluid, double lambda, double p, double d1, double d2) {
    fluid->param.pod = (struct bal_pod){lambda, p, (unsigned)d1, (unsigned)d2};
    fluid->kind = BAL_FLUID_POD;
    fluid->model = bal_fluid_pod(&fluid->param.pod);
    return BAL_OK;
}

static enum bal_code use_rcpb(struct bal_known_fluid *fluid, const struct bal_rcpb *rcpb) {
    fluid->param.rcpb = *rcpb;
    fluid->kind = BAL_FLUID_RCPB;
    fluid->model = bal_fluid_rcpb(&fluid->param.rcpb);
    return BAL_OK;
}

/* Servers that steal, under random choice or the shortest of d. Whether they ask all or the others alone is
 * the same in the limit. */
static enum bal_code use_stealing(struct bal_known_fluid *fluid, const struct bal_model *model,
                                  const struct bal_policy_spec *policy, struct bal_error *err) {
    const bool pod = strcmp(policy->policy->name, "pod") == 0;
    if (!pod && strcmp(policy->policy->name, "random") != 0)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' has no fluid model with stealing; use random, pod or steal none",
                        policy->policy->name);
    if (model->classes)
        return bal_fail(err, BAL_E_MODEL, "the fluid model of stealing is about one class of jobs");
    fluid->param.stealing = (struct bal_stealing){
        .lambda = model->load, .d = pod ? (unsigned)policy->value[0] : 1, .steal = model->steal};
    fluid->kind = BAL_FLUID_STEALING;
    fluid->model = bal_fluid_stealing(&fluid->param.stealing);
    return BAL_OK;
}

/* Standby and set-up must be without memory: exponential in whatever form they are given. */
static enum bal_code use_tabs(struct bal_known_fluid *fluid, const struct bal_model *model,
                              const struct bal_policy_spec *policy, struct bal_error *err) {
    const struct bal_law *laws[] = {&model->standby, &model->setup};
    const struct bal_power power = policy->policy->power(policy->value);
    const double unit = model->size.mean / model->servers.group[0].speed;
    double rate[] = {power.standby_rate, power.setup_rate};
    for (int i = 0; i < 2; i++) {
        if (!(laws[i]->mean > 0))
            continue;
        if (!bal_law_is_exponential(laws[i]))
            return bal_fail(err, BAL_E_MODEL,
                            "the fluid model of tabs is about exponential standby and set-up times");
        rate[i] = unit / laws[i]->mean;
    }
    fluid->kind = BAL_FLUID_TABS;
    const enum bal_code code =
        bal_tabs_init(&fluid->param.tabs, model->load, rate[0], rate[1], &model->size, &model->curve, err);
    if (code)
        return code;
    fluid->param.tabs.unit = unit;
    fluid->model = bal_fluid_tabs(&fluid->param.tabs);
    return BAL_OK;
}

enum bal_code bal_known_fluid_init(struct bal_known_fluid *fluid, const struct bal_model *model,
                                   const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                                   struct bal_error *err) {
    const char *name = policy->policy->name;
    const double *value = policy->value;
    const double lambda = model->load;
    memset(fluid, 0, sizeof *fluid);
    const bool tabs = strcmp(name, "tabs") == 0;
    const enum bal_code code = check_model(model, tabs, err);
    if (code)
        return code;
    if (variant != BAL_RCPB_CONSTRAINED && strcmp(name, "rcpb") != 0)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' has one fluid model only; variants are those of rcpb",
                        name);
    if (model->steal.kind != BAL_STEAL_NONE)
        return use_stealing(fluid, model, policy, err);
    if (tabs)
        return use_tabs(fluid, model, policy, err);
    if (strcmp(name, "random") == 0)
        return use_pod(fluid, lambda, 0, 1, 1);
    /* Sampling with or without replacement is the same in the limit. */
    if (strcmp(name, "pod") == 0 || strcmp(name, "pod-sep") == 0)
        return use_pod(fluid, lambda, 0, value[0], value[0]);
    /* Moving a low job away from the server that a high one joins leaves the totals of pod-ssp as those of
     * pod-scp. */
    if (strcmp(name, "pod-scp") == 0 || strcmp(name, "pod-ssp") == 0)
        return use_pod(fluid, lambda, model->high, value[0], value[1]);
    /* The dispatcher knows every idle server at once, as when reports come without end. */
    if (strcmp(name, "jiq") == 0)
        return use_rcpb(fluid, &(struct bal_rcpb){BAL_RCPB_HIGH_MESSAGE, lambda, 0, 1});
    if (strcmp(name, "rcpb") == 0) {
        const struct bal_setting setting = {bal_servers_count(&model->servers), lambda};
        return use_rcpb(fluid, &(struct bal_rcpb){variant, lambda, bal_policy_report_rate(policy, &setting),
                                                  (uint64_t)value[0]});
    }
    return bal_fail(err, BAL_E_MODEL, "policy '%s' has no fluid model here; those that have one are %s", name,
                    with_fluid);
}

bool bal_known_fluid_equilibrium(const struct bal_known_fluid *fluid, double *s, size_t n) {
    double jobs;
    if (fluid->kind == BAL_FLUID_STEALING)
        return bal_stealing_equilibrium(&fluid->param.stealing, s, n, &jobs, NULL) == BAL_OK;
    const double lambda = fluid->kind == BAL_FLUID_POD    ? fluid->param.pod.lambda
                          : fluid->kind == BAL_FLUID_RCPB ? fluid->param.rcpb.lambda
                                                          : fluid->param.tabs.lambda;
    if (!(lambda < 1))
        return false;
    if (fluid->kind == BAL_FLUID_TABS) {
        for (size_t i = 0; i < n; i++)
            s[i] = i == 0 ? lambda : 0;
        return fluid->param.tabs.curve.kind == BAL_CURVE_CONSTANT && fluid->param.tabs.mu > 0;
    }
    if (fluid->kind == BAL_FLUID_RCPB) {
        for (size_t i = 0; i < n; i++)
            s[i] = bal_rcpb_tail(&fluid->param.rcpb, i + 1);
        return true;
    }
    const struct bal_pod *pod = &fluid->param.pod;
    double v = 1;
    for (size_t i = 0; i < n; i++) {
        v = lambda * ((1 - pod->p) * pow(v, pod->d1) + pod->p * pow(v, pod->d2));
        s[i] = v;
    }
    return true;
}

double *bal_known_fluid_start(const struct bal_known_fluid *fluid, const struct bal_start *start, size_t *n) {
    *n = fluid->model.head + fluid->model.width;
    double *y = calloc(*n, sizeof *y);
    if (y)
        bal_tabs_start(&fluid->param.tabs, start, y);
    return y;
}

enum bal_code bal_known_fluid_levels(const struct bal_known_fluid *fluid, const struct bal_fluid_path *path,
                                     struct bal_fluid_path *levels, double *standby, double *setup,
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
                row[i] += bal_fluid_path_at(path, k, head + i * width + j);
        setup[k] = bal_fluid_path_at(path, k, 1);
        standby[k] = fmax(1 - row[0] - bal_fluid_path_at(path, k, 0) - setup[k], 0);
    }
    return BAL_OK;
}
