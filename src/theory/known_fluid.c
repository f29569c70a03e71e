/* Which fluid model a policy has: the glue between policies and the equations of fluid.h. */
#include "ballast/known.h"

#include <math.h>
#include <string.h>

static const char with_fluid[] = "random, pod, pod-scp, pod-sep, pod-ssp, rcpb and jiq";

/* The equations assume Poisson arrivals, exponential sizes and servers of one speed. */
static enum bal_code check_model(const struct bal_model *model, struct bal_error *err) {
    if (model->clock != BAL_CLOCK_CONTINUOUS)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about continuous time");
    for (unsigned g = 1; g < model->servers.groups; g++)
        if (model->servers.group[g].speed != model->servers.group[0].speed)
            return bal_fail(err, BAL_E_MODEL, "fluid models are about servers of equal speed");
    if (!bal_law_is_exponential(&model->size))
        return bal_fail(err, BAL_E_MODEL, "fluid models are about exponential sizes; use service exp");
    if (model->buffer > 0 || model->curve.kind != BAL_CURVE_CONSTANT)
        return bal_fail(err, BAL_E_MODEL,
                        "fluid models are about a constant load and no limit to the queues");
    if (model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "fluid models are about jobs that are not divided; use tasks 1");
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

enum bal_code bal_known_fluid_init(struct bal_known_fluid *fluid, const struct bal_model *model,
                                   const struct bal_policy_spec *policy, enum bal_rcpb_variant variant,
                                   struct bal_error *err) {
    const char *name = policy->policy->name;
    const double *value = policy->value;
    const double lambda = model->load;
    memset(fluid, 0, sizeof *fluid);
    const enum bal_code code = check_model(model, err);
    if (code)
        return code;
    if (variant != BAL_RCPB_CONSTRAINED && strcmp(name, "rcpb") != 0)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' has one fluid model only; variants are those of rcpb",
                        name);
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
    const double lambda = fluid->kind == BAL_FLUID_POD ? fluid->param.pod.lambda : fluid->param.rcpb.lambda;
    if (!(lambda < 1))
        return false;
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
