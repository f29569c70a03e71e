/* SPDX-License-Identifier: BSD-2-Clause */
/* The largest load that a policy keeps stable. */
#include "theory/policy_theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int slower_first(const void *a, const void *b) {
    const struct bli_group *x = a, *y = b;
    return (x->speed > y->speed) - (x->speed < y->speed);
}

/* Probability that d samples out of n servers all lie among k of them. */
static double all_among(double k, double n, double d, bool replace) {
    if (replace)
        return pow(k / n, d);
    double p = 1;
    for (double i = 0; i < d; i++)
        p *= fmax(k - i, 0) / (n - i);
    return p;
}

/* Jobs whose samples all lie among the k slowest servers must be served by these: lambda P(all among k) <
 * their capacity, for every k. That is necessary in every model, and sufficient (Foss and Chernova 1998;
 * Bramson 2011). Within a group of equal servers capacity over probability first rises and then falls, so
 * that the ends of the groups decide. */
double bli_critical_of_d(const struct bli_servers *servers, double d, bool replace) {
    struct bli_servers sorted = *servers;
    qsort(sorted.group, sorted.groups, sizeof *sorted.group, slower_first);
    const double n = bli_servers_count(servers), total = bli_servers_capacity(servers);
    double k = 0, capacity = 0, critical = 1;
    for (unsigned g = 0; g < sorted.groups; g++) {
        k += sorted.group[g].count;
        capacity += sorted.group[g].count * sorted.group[g].speed;
        critical = fmin(critical, capacity / total / all_among(k, n, d, replace));
    }
    return critical;
}

double bli_critical_always(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)model, (void)policy;
    return 1;
}

/* A busy server gets no more than an equal share of the jobs. */
double bli_critical_if_equal(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_servers_are_equal(&model->servers) ? 1 : NAN;
}

/* The theorems are about dispatchers next to their servers, mostly about one. Policies that look at no server
 * are not affected. */
static bool knows_network(const struct bli_model *model, const struct bli_policy_theory *about,
                          const struct bal_policy_spec *policy) {
    const struct bli_network *network = &model->network;
    if (bli_network_is_plain(network))
        return true;
    if (strcmp(policy->policy->name, "random") == 0)
        return !bli_network_fails(network) && !network->ejection;
    return bli_network_is_near(network) && model->clock == BLI_CLOCK_CONTINUOUS && about->any_dispatchers;
}

double bli_theory_critical_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    /* What does not fit into a buffer, or among those that are held, is lost: always stable. Systems with
     * stealing may be stable beyond what is known, and so may systems with arrivals that the theorems do not
     * cover. */
    const bool refuses = model->hold_limit.given && bal_policy_flags(policy) & BAL_MAY_HOLD;
    if (refuses || model->buffer > 0 || model->patience.mean > 0 || model->steal.kind != BAL_STEAL_NONE ||
        !bli_arrivals_are_poisson(&model->arrivals) || bli_speeds_given(&model->speeds))
        return NAN;
    const double critical = about->critical_load && knows_network(model, about, policy)
                                ? about->critical_load(model, policy)
                                : NAN;
    /* Work that goes on where it was needs servers that are up for so much of their time. Work that begins
     * again is more, and jobs that are lost bring less. */
    if (!bli_failures_happen(&model->failures))
        return critical;
    return model->failures.jobs == BLI_JOBS_RESUME ? critical * bli_failures_availability(&model->failures)
                                                   : NAN;
}

double bli_theory_unstable_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    return (about->unstable_load && bli_model_is_steady(model) ? about->unstable_load
                                                               : bli_theory_critical_load)(model, policy);
}
