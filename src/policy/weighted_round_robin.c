/* SPDX-License-Identifier: BSD-2-Clause */
/* weighted-round-robin: the servers in turn, each in proportion to its weight and as evenly as possible
 * (nginx's smooth order).
 *
 * Each server has a credit. With each job every eligible server earns its weight; the richest gets the job,
 * the first of them in order if there are several, and pays what all have earned together. So credits add up
 * to 0, and with whole weights a server of weight w gets w of any sum-of-weights consecutive jobs, spread
 * out.
 *
 * Neighbours of the same weight have the same credit but for who of them has had its turn in this round, in
 * order. So while all servers are eligible and weights stay, one credit for each run of such neighbours is
 * enough, and the order is the same (exactly, where weights are sums of few powers of two).
 *
 * Cost: no probes and no reports. O(runs) a job for up to 32 of them, else O(N). Memory: the credit of each
 * server, counted as the bits of a number up to N.
 * Proved: each server gets its share exactly, so if the weights are the speeds all have the same load: stable
 * whenever any policy is. Not symmetric: it depends on the order of the names. Where all weights are the same
 * it is round-robin. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { RUNS_MAX = 32 };

/* Servers from `first` on, before `end`. */
struct turn_run {
    uint32_t first, end;
    uint32_t next;         /* whose turn it is; those before have had theirs and owe the weight of all more */
    double weight, credit; /* of each; of those whose turn is to come */
};

struct state {
    uint32_t servers;
    uint32_t runs; /* 0: each server has a credit of its own */
    bool begun;
    double all; /* weight of all of them */
    struct turn_run run[RUNS_MAX];
    double credit[]; /* of each server, in weights */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return sizeof(struct state) + context->servers * sizeof(double);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)value;
    struct state *state = block;
    *state = (struct state){.servers = context->servers};
    for (uint32_t server = 0; server < context->servers; server++)
        state->credit[server] = 0;
}

/* ---- runs of neighbours ---- */

static bool is_whole(const struct state *state, const struct bal_fleet *fleet) {
    return !fleet->eligible && fleet->servers == state->servers;
}

/* At the beginning, when no server has any credit. */
static void build_runs(struct state *state, const struct bal_fleet *fleet) {
    struct turn_run *run = NULL;
    for (uint32_t server = 0; is_whole(state, fleet) && server < state->servers; server++) {
        const double weight = bal_weight(fleet, server);
        if (!run || run->weight != weight) {
            if (state->runs == RUNS_MAX) {
                state->runs = 0;
                return;
            }
            run = &state->run[state->runs++];
            *run = (struct turn_run){.first = server, .next = server, .weight = weight};
        }
        run->end = server + 1;
        state->all += weight;
    }
}

static void expand_runs(struct state *state) {
    for (const struct turn_run *run = state->run; run < state->run + state->runs; run++)
        for (uint32_t server = run->first; server < run->end; server++)
            state->credit[server] = run->credit - (server < run->next ? state->all : 0);
    state->runs = 0;
}

/* BAL_NONE: servers are not as they were. Another weight is noticed when its server's turn comes. */
static uint32_t take_from_runs(struct state *state, const struct bal_fleet *fleet) {
    struct turn_run *best = NULL;
    bool same = is_whole(state, fleet);
    for (uint32_t i = 0; i < state->runs && same; i++)
        same = bal_weight(fleet, state->run[i].next) == state->run[i].weight;
    if (!same)
        return BAL_NONE;
    for (struct turn_run *run = state->run; run < state->run + state->runs; run++) {
        run->credit += run->weight;
        if (!best || run->credit > best->credit)
            best = run;
    }
    const uint32_t server = best->next++;
    if (best->next == best->end) {
        best->next = best->first;
        best->credit -= state->all;
    }
    return server;
}

/* ---- each for itself ---- */

/* While weights and servers stay, no debt is above the weight of all and no credit above twice that. What is
 * left of other times is cut to this, so that a few rounds make up for it. */
static uint32_t take_from_all(struct state *state, const struct bal_fleet *fleet) {
    double all = 0;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++)
        all += bal_weight(fleet, bal_eligible_at(fleet, i));
    uint32_t best = BAL_NONE;
    for (uint32_t server = 0; server < fleet->servers && server < state->servers; server++) {
        if (!bal_is_eligible(fleet, server))
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

static uint32_t next_server(struct state *state, const struct bal_fleet *fleet) {
    if (!state->begun)
        build_runs(state, fleet);
    state->begun = true;
    if (state->runs > 0) {
        const uint32_t server = take_from_runs(state, fleet);
        if (server != BAL_NONE)
            return server;
        expand_runs(state);
    }
    return take_from_all(state, fleet);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)rng;
    struct state *state = block;
    if (bal_eligible_count(fleet) == 0)
        return bal_to(BAL_NONE);
    if (!job->split || job->count == 1)
        return bal_to(next_server(state, fleet));
    bli_shares_begin(fleet);
    for (uint32_t i = 0; i < job->count; i++)
        fleet->shares[next_server(state, fleet)].count++;
    return bli_shares_end(fleet);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)value;
    const struct state *state = block;
    if (state->servers != context->servers || state->runs > RUNS_MAX)
        return false;
    for (const struct turn_run *run = state->run; run < state->run + state->runs; run++)
        if (!(run->first <= run->next && run->next < run->end && run->end <= state->servers) ||
            !isfinite(run->credit))
            return false;
    for (uint32_t server = 0; server < state->servers; server++)
        if (!isfinite(state->credit[server]))
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return context->servers * bits_of_count(context->servers);
}

const struct bal_policy bli_policy_weighted_round_robin = {
    .name = "weighted-round-robin",
    .summary = "the servers in turn, each as often as its weight (speed) says",
    .paper = "classic; nginx",
    .cost = "nothing",
    .flags = BAL_TAKES_WEIGHTS,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .memory_bits = memory_bits,
};
