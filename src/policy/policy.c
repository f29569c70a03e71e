/* What can be done with any policy: find, check, set up; and the probes that ask all servers. */
#include "ballast/policy.h"

#include <math.h>
#include <string.h>

const struct bal_policy *bal_policy_at(size_t i) {
    if (i < bal_policy_count)
        return bal_policy_table[i];
    i -= bal_policy_count;
    if (i < bal_pooled_count)
        return bal_pooled_table[i];
    i -= bal_pooled_count;
    return i < bal_generated_count ? bal_generated_table[i] : NULL;
}

const struct bal_policy *bal_policy_find(const char *name) {
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bal_policy_at(i)); i++)
        if (strcmp(policy->name, name) == 0)
            return policy;
    return NULL;
}

enum bal_code bal_policy_check(const struct bal_policy_spec *spec, const struct bal_setting *setting,
                               struct bal_error *err) {
    const struct bal_policy *policy = spec->policy;
    if (policy->flags & BAL_POOLED)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy '%s' is one common queue, which can be simulated; a dispatcher cannot host it",
            policy->name);
    if (policy->flags & BAL_GENERATED)
        return bal_fail(
            err, BAL_E_MODEL,
            "in '%s' jobs are made at the servers, which can be simulated; a dispatcher cannot host it",
            policy->name);
    return policy->check ? policy->check(spec->value, setting, err) : BAL_OK;
}

size_t bal_policy_size(const struct bal_policy_spec *spec, const struct bal_setting *setting) {
    const struct bal_policy *policy = spec->policy;
    return policy->size ? policy->size(spec->value, setting) : 0;
}

void bal_policy_init(const struct bal_policy_spec *spec, const struct bal_setting *setting, void *state) {
    const struct bal_policy *policy = spec->policy;
    if (policy->init)
        policy->init(state, spec->value, setting);
}

double bal_policy_memory_bits(const struct bal_policy_spec *spec, const struct bal_setting *setting) {
    const struct bal_policy *policy = spec->policy;
    return policy->memory_bits ? policy->memory_bits(spec->value, setting) : 0;
}

double bal_policy_report_rate(const struct bal_policy_spec *spec, const struct bal_setting *setting) {
    const struct bal_policy *policy = spec->policy;
    return policy->report_rate ? policy->report_rate(spec->value, setting) : 0;
}

/* The plain way: one pass that keeps a uniform one of the best seen so far (reservoir sampling). */
uint32_t bal_probe_shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    if (fleet->shortest) {
        fleet->probes += fleet->servers;
        return fleet->shortest(fleet, rng);
    }
    uint32_t best = 0, ties = 0, shortest = UINT32_MAX;
    for (uint32_t server = 0; server < fleet->servers; server++) {
        const uint32_t length = bal_probe(fleet, server);
        if (length > shortest)
            continue;
        ties = length < shortest ? 1 : ties + 1;
        shortest = length;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    return best;
}

uint32_t bal_probe_least_work(struct bal_fleet *fleet, struct bal_rng *rng) {
    fleet->probes += fleet->servers;
    if (fleet->least_work)
        return fleet->least_work(fleet, rng);
    uint32_t best = 0, ties = 0;
    double least = INFINITY;
    for (uint32_t server = 0; server < fleet->servers; server++) {
        const double work = fleet->work(fleet, server);
        if (work > least)
            continue;
        ties = work < least ? 1 : ties + 1;
        least = work;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    return best;
}
