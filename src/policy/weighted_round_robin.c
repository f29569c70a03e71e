/* weighted-round-robin: the servers in turn, each as often as its weight says and as evenly as can be
 * (nginx's smooth order).
 *
 * Each server has a credit. With each job every open server earns its weight; the richest gets the job, the
 * first of them in order if there are several, and pays what all have earned together. So credits add up to
 * 0, and with whole weights a server of weight w gets w of any sum-of-weights consecutive jobs, spread out.
 *
 * Cost: nothing is asked, nothing is reported. O(N) a job. Memory: the credit of each server, counted as the
 * bits of a number up to N.
 * Proved: each server gets its share exactly, so if the weights are the speeds all have the same load: stable
 * whenever any policy is. Not symmetric: it depends on the order of the names. Where all weights are the same
 * it is round-robin. */
#include "policy/parts.h"
#include "policy/table.h"

struct state {
    uint32_t servers;
    double credit[]; /* of each server, in weights */
};

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)value;
    return sizeof(struct state) + setting->servers * sizeof(double);
}

static void init(void *block, const double *value, const struct bal_setting *setting) {
    (void)value;
    struct state *state = block;
    state->servers = setting->servers;
    for (uint32_t server = 0; server < setting->servers; server++)
        state->credit[server] = 0;
}

/* While weights and servers stay, no debt is above the weight of all and no credit above twice that. What is
 * left of other times is cut to this, so that a few rounds make up for it. */
static uint32_t take(struct state *state, const struct bal_fleet *fleet) {
    double all = 0;
    for (uint32_t i = 0; i < bal_open_count(fleet); i++)
        all += bal_weight(fleet, bal_open_at(fleet, i));
    uint32_t best = BAL_NONE;
    for (uint32_t server = 0; server < fleet->servers && server < state->servers; server++) {
        if (!bal_is_open(fleet, server))
            continue;
        double *credit = &state->credit[server];
        *credit = fmin(fmax(*credit, -all) + bal_weight(fleet, server), 2 * all);
        if (best == BAL_NONE || *credit > state->credit[best])
            best = server;
    }
    if (best != BAL_NONE)
        state->credit[best] -= all;
    return best;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)rng;
    struct state *state = block;
    if (bal_open_count(fleet) == 0)
        return bal_to(BAL_NONE);
    if (!job->split || job->count == 1)
        return bal_to(take(state, fleet));
    bal_shares_begin(fleet);
    for (uint32_t i = 0; i < job->count; i++)
        fleet->shares[take(state, fleet)].count++;
    return bal_shares_end(fleet);
}

static bool sound(const void *block, const double *value, const struct bal_setting *setting) {
    (void)value;
    const struct state *state = block;
    if (state->servers != setting->servers)
        return false;
    for (uint32_t server = 0; server < state->servers; server++)
        if (!isfinite(state->credit[server]))
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    (void)value;
    return setting->servers * bits_of_count(setting->servers);
}

const struct bal_policy bal_policy_weighted_round_robin = {
    .name = "weighted-round-robin",
    .summary = "the servers in turn, each as often as its weight (speed) says",
    .paper = "classic; nginx",
    .cost = "nothing",
    .flags = BAL_TAKES_WEIGHTS,
    .route = route,
    .size = size,
    .init = init,
    .sound = sound,
    .memory_bits = memory_bits,
};
