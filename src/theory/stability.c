/* The largest load that a policy keeps stable. */
#include "ballast/known.h"
#include "ballast/theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int slower_first(const void *a, const void *b) {
    const struct bal_group *x = a, *y = b;
    return (x->speed > y->speed) - (x->speed < y->speed);
}

static double value_of(const struct bal_policy_spec *policy, const char *name) {
    for (unsigned i = 0; i < policy->policy->param_count; i++)
        if (strcmp(policy->policy->params[i].name, name) == 0)
            return policy->value[i];
    return NAN;
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
static double critical_pod(const struct bal_servers *servers, double d, bool replace) {
    struct bal_servers sorted = *servers;
    qsort(sorted.group, sorted.groups, sizeof *sorted.group, slower_first);
    const double n = bal_servers_count(servers), total = bal_servers_capacity(servers);
    double k = 0, capacity = 0, critical = 1;
    for (unsigned g = 0; g < sorted.groups; g++) {
        k += sorted.group[g].count;
        capacity += sorted.group[g].count * sorted.group[g].speed;
        critical = fmin(critical, capacity / total / all_among(k, n, d, replace));
    }
    return critical;
}

static bool are_equal(const struct bal_servers *servers) {
    for (unsigned g = 1; g < servers->groups; g++)
        if (servers->group[g].speed != servers->group[0].speed)
            return false;
    return true;
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

double bal_known_critical_load(const struct bal_model *model, const struct bal_policy_spec *policy) {
    static const char *const always[] = {"jsq", "least-work", "pod-memory", NULL};
    static const char *const blind[] = {"random", "round-robin", NULL}; /* every server gets the same rate */
    const char *name = policy->policy->name;
    const struct bal_servers *servers = &model->servers;
    /* What does not fit into a buffer is lost: always stable. Who steals may be stable beyond what follows.
     */
    if (model->buffer > 0 || model->steal.kind != BAL_STEAL_NONE)
        return NAN;
    if (is_one_of(name, always))
        return 1;
    if (is_one_of(name, blind))
        return critical_pod(servers, 1, true);
    if (strcmp(name, "pod") == 0)
        return value_of(policy, "pertask") == 1
                   ? NAN
                   : critical_pod(servers, value_of(policy, "d"), value_of(policy, "replace") == 1);
    /* Theorems 3.2 and 3.4 of Atar et al. 2020 are about slotted time. */
    if (strcmp(name, "pi") == 0 && model->clock == BAL_CLOCK_SLOTTED)
        return 1;
    /* A busy server gets no more than an equal share of the jobs. */
    return (strcmp(name, "jiq") == 0 || strcmp(name, "rcpb") == 0) && are_equal(servers) ? 1 : NAN;
}

/* How many servers have generators, as far as that stays so; 0: it does not. */
static uint32_t hosts_of(const struct bal_model *model) {
    const uint32_t servers = bal_servers_count(&model->servers);
    switch (model->placement.kind) {
    case BAL_PLACEMENT_EVEN:
        return servers;
    case BAL_PLACEMENT_HOSTS:
        return model->placement.hosts;
    case BAL_PLACEMENT_MAP:
        return model->placement.entries;
    case BAL_PLACEMENT_MOVING:
    case BAL_PLACEMENT_WALK:
        break;
    }
    return 0;
}

double bal_known_unstable_load(const struct bal_model *model, const struct bal_policy_spec *policy) {
    if (strcmp(policy->policy->name, "stealing") != 0)
        return bal_known_critical_load(model, policy);
    /* Theorem 9 of Berenbrink et al. 2001: hosts (most + 1) < lambda n. */
    const uint32_t hosts = hosts_of(model);
    const double most = bal_steal_most(&model->steal);
    return hosts && isfinite(most) ? hosts * (most + 1) / bal_servers_count(&model->servers) : NAN;
}
