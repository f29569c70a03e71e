/* jiq: join an idle server if one has reported, else a uniform server.
 *
 * Cost: a server reports when it becomes idle, so at most one report a job. Memory: which servers are idle, N
 * bits.
 * Proved: no waiting as N grows, for every load below 1 and equal servers (Stolyar 2015, where it is called
 * PULL); with unequal servers it can be unstable below full load (Atar et al. 2020). */
#include "policy/parts.h"
#include "policy/table.h"

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)value;
    return bal_set_size(setting->servers);
}

static void init(void *state, const double *value, const struct bal_setting *setting) {
    (void)value;
    bal_set_init(state, setting->servers);
}

static struct bal_decision route_split(struct bal_set *idle, struct bal_fleet *fleet, uint32_t count,
                                       struct bal_rng *rng) {
    if (idle->count == 0)
        return bal_scatter(fleet, count, rng);
    return bal_divide_among(idle, fleet, count, rng);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct bal_set *idle = state;
    if (job->split && job->count > 1)
        return route_split(idle, fleet, job->count, rng);
    if (idle->count == 0)
        return bal_to(bal_rng_below(rng, fleet->servers));
    const uint32_t server = bal_set_uniform(idle, rng);
    bal_set_remove(idle, server);
    return bal_to(server);
}

static void report(void *state, enum bal_report what, uint32_t server) {
    (void)what;
    bal_set_insert(state, server);
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    (void)value;
    return setting->servers;
}

const struct bal_policy bal_policy_jiq = {
    .name = "jiq",
    .summary = "an idle server that has reported, else a uniform server",
    .paper = "Lu et al. 2011; Stolyar 2015",
    .cost = "at most 1 report",
    .flags = BAL_SYMMETRIC,
    .wants = BAL_WANTS_IDLE,
    .route = route,
    .size = size,
    .init = init,
    .report = report,
    .memory_bits = memory_bits,
};
