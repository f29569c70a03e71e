/* SPDX-License-Identifier: BSD-2-Clause */
/* Policies that look at weights, where these are the speeds of unequal servers. */
#include "theory/policy_theory.h"

#include <math.h>

/* One of the queues into which a fleet falls apart: how many jobs it gets of all, how long it works on one,
 * and its load. */
struct queue {
    double share, service, load;
};

static struct queue queue_of(const struct bli_model *model, unsigned g, bool by_speed) {
    const struct bli_servers *servers = &model->servers;
    const struct bli_group *group = &servers->group[g];
    const double capacity = bli_servers_capacity(servers);
    const double share =
        by_speed ? group->count * group->speed / capacity : (double)group->count / bli_servers_count(servers);
    return (struct queue){.share = share,
                          .service = model->size.mean / group->speed,
                          .load = model->load * capacity * share / (group->count * group->speed)};
}

/* The share of jobs that take longer than t, if sizes are exponential: a response time of M/M/1 is. */
static double longer(const struct bli_model *model, bool by_speed, double t) {
    double sum = 0;
    for (unsigned g = 0; g < model->servers.groups; g++) {
        const struct queue q = queue_of(model, g, by_speed);
        sum += q.share * exp(-t * (1 - q.load) / q.service);
    }
    return sum;
}

static double quantile(const struct bli_model *model, bool by_speed, double p) {
    double below = 0, above = model->size.mean;
    while (longer(model, by_speed, above) > 1 - p)
        above *= 2;
    for (;;) {
        const double t = 0.5 * (below + above);
        if (t <= below || t >= above)
            return t;
        *(longer(model, by_speed, t) > 1 - p ? &below : &above) = t;
    }
}

struct bli_prediction bli_theory_separate_queues(const struct bli_model *model, bool by_speed) {
    const bool exponential = bli_dist_is_exponential(&model->size);
    const bool shared = model->discipline == BLI_DISCIPLINE_SHARING;
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = shared        ? "M/G/1-PS of each speed"
                   : exponential ? "M/M/1 of each speed"
                                 : "M/G/1 of each speed";
    known.waiting_mean = known.waiting_probability = 0;
    double service = 0;
    bool stable = true;
    for (unsigned g = 0; g < model->servers.groups; g++) {
        const struct queue q = queue_of(model, g, by_speed);
        const double per_speed = q.service / model->size.mean;
        known.waiting_mean +=
            q.share * bli_mg1_waiting(q.load / q.service, q.service,
                                      bli_dist_moment(&model->size, 2) * per_speed * per_speed);
        known.waiting_probability += q.share * fmin(q.load, 1);
        service += q.share * q.service / (shared ? 1 - q.load : 1);
        stable &= q.load < 1;
    }
    if (!stable)
        return bli_theory_unknown;
    known.response_mean = shared ? service : known.waiting_mean + service;
    for (int i = 0; i < 4 && exponential; i++)
        known.response_quantile[i] = quantile(model, by_speed, bli_theory_quantiles[i]);
    return known;
}

static struct bli_prediction unequal(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_theory_separate_queues(model, true);
}

static double relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_relaxation_by_speed(model, 1);
}

/* A server of speed w gets w of the jobs of a round. */
static double relaxation_in_turn(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_relaxation_by_speed(model, 1.0 / bli_servers_count(&model->servers));
}

/* The queue lengths squared over the speeds, added up, fall on average wherever they are large: the job goes
 * where they grow least, so no faster than if it went to a server drawn by speed. With d servers to choose
 * from this may be another one. */
static double critical_of_own(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)model;
    return isnan(bal_policy_value(policy, "d")) ? 1 : NAN;
}

const struct bli_policy_theory bli_theory_weighted[] = {
    {.policy = "weighted-random",
     .unequal = unequal,
     .any_dispatchers = true,
     .critical_load = bli_critical_always,
     .relaxation = relaxation},
    {.policy = "weighted-round-robin",
     .critical_load = bli_critical_always,
     .relaxation = relaxation_in_turn},
    {.policy = "sed", .critical_load = bli_critical_always},
    {.policy = "fastest-idle", .critical_load = bli_critical_always},
    {.policy = "least-conn", .critical_load = critical_of_own},
    {0}};
