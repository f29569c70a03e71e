/* SPDX-License-Identifier: BSD-2-Clause */
/* pod: the power of d choices. Probe d uniform servers, join the shortest. The papers' JSQ(d) and Pod.
 *
 * Cost: d probes a job. Memory: none.
 * Proved: for equal servers and exponential sizes the fraction of servers with at least i jobs tends to
 * lambda^((d^i - 1)/(d - 1)) as N grows (Vvedenskaya, Dobrushin and Karpelevich 1996; Mitzenmacher 1996).
 * With unequal servers it can be unstable below full load.
 *
 * The probes are drawn with replacement unless replace=0. With pertask=1 a job of m tasks probes d*m
 * servers for all its tasks together and water-fills them (batch sampling; Ousterhout et al. 2013): different
 * ones unless replace=1. With stop=1 it asks one server after the other, and no more once it has found an
 * idle one (as many as there are tasks): jobs go where they would go without, for 1/(1 - lambda) probes a job
 * at most in the limit, however large d is. Questions one after the other take time on a real network, so
 * only hosts without delays can. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { D, REPLACE, PERTASK, STOP };

static const struct bal_param params[] = {
    [D] = {"d", 1, 1e6, 2, true, true, "servers probed for a job"},
    [REPLACE] = {"replace", 0, 1, NAN, true, false,
                 "1: sample with replacement; 0: different servers; default 1, with pertask 0"},
    [PERTASK] = {"pertask", 0, 1, 0, true, false, "1: a job of m tasks probes d*m servers for all of them"},
    [STOP] = {"stop", 0, 1, 0, true, false,
              "1: ask one after the other, and no more once an idle server is found"},
};

struct state {
    uint32_t d;
    uint32_t servers; /* in the permutation */
    bool distinct;
    bool per_task;
    bool stops;
    uint32_t order[]; /* a permutation of the servers, present when the samples must differ */
};

static bool wants_distinct(const double *value) {
    return isnan(value[REPLACE]) ? value[PERTASK] == 1 : value[REPLACE] == 0;
}

static size_t size(const double *value, const struct bal_policy_context *context) {
    return sizeof(struct state) + (wants_distinct(value) ? context->servers * sizeof(uint32_t) : 0);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    const uint32_t d = (uint32_t)value[D];
    state->distinct = wants_distinct(value);
    state->d = state->distinct && d > context->servers ? context->servers : d; /* no more than there are */
    state->per_task = value[PERTASK] == 1;
    state->stops = value[STOP] == 1;
    state->servers = context->servers;
    if (state->distinct)
        for (uint32_t server = 0; server < context->servers; server++)
            state->order[server] = server;
}

/* The next of several different samples: steps of a Fisher-Yates shuffle, right from whatever order is there,
 * past those that are not open. *drawn: steps so far. BAL_NONE: there are no more. */
static uint32_t draw_distinct(struct state *state, const struct bal_fleet *fleet, uint32_t *drawn,
                              struct bal_rng *rng) {
    uint32_t *order = state->order;
    while (*drawn < state->servers) {
        const uint32_t i = (*drawn)++;
        const uint32_t j = i + bal_rng_below(rng, state->servers - i);
        const uint32_t server = order[j];
        order[j] = order[i];
        order[i] = server;
        if (bal_is_eligible(fleet, server))
            return server;
    }
    return BAL_NONE;
}

/* The i-th server to be compared, or BAL_NONE. */
static uint32_t candidate_at(struct state *state, const struct bal_fleet *fleet, uint32_t i, uint32_t *drawn,
                             struct bal_rng *rng) {
    if (state->distinct && !fleet->sample)
        return draw_distinct(state, fleet, drawn, rng);
    return bli_candidate(fleet, i, rng);
}

/* How many servers are to be probed for so many jobs. */
static uint32_t count_probes(const struct state *state, const struct bal_fleet *fleet,
                             const struct bal_job *job) {
    const bool split = job->split && job->count > 1;
    const uint64_t wanted = split && state->per_task ? (uint64_t)state->d * job->count : state->d;
    return state->distinct && wanted > fleet->servers ? fleet->servers : (uint32_t)wanted;
}

static struct bal_decision route_split(struct state *state, struct bal_fleet *fleet,
                                       const struct bal_job *job, struct bal_rng *rng) {
    const uint32_t most = bli_candidates(fleet, count_probes(state, fleet, job));
    uint32_t candidates = 0, drawn = 0, idle = 0;
    for (uint32_t i = 0; i < most && !(state->stops && idle >= job->count); i++) {
        const uint32_t server = candidate_at(state, fleet, i, &drawn, rng);
        if (server == BAL_NONE)
            continue;
        const uint32_t length = bal_probe(fleet, server);
        if ((state->distinct && !fleet->sample) || !bli_shares_contain(fleet->shares, candidates, server)) {
            fleet->shares[candidates++] = (struct bal_share){server, length};
            idle += length == 0;
        }
    }
    return candidates ? bli_water_fill(fleet, candidates, job->count, rng)
                      : bli_scatter(fleet, job->count, rng);
}

/* One after the other; the first of the shortest, if there are several. */
static uint32_t shortest_in_turn(struct state *state, struct bal_fleet *fleet, struct bal_rng *rng) {
    if (fleet->sample)
        return bli_probe_some(fleet, state->d, rng);
    uint32_t best = BAL_NONE, shortest = UINT32_MAX, drawn = 0;
    for (uint32_t i = 0; i < state->d && !(state->stops && shortest == 0); i++) {
        const uint32_t server = candidate_at(state, fleet, i, &drawn, rng);
        if (server == BAL_NONE)
            break;
        const uint32_t length = bal_probe(fleet, server);
        if (best == BAL_NONE || length < shortest) {
            best = server;
            shortest = length;
        }
    }
    return best;
}

/* Out of line, so that the usual path is short. */
static __attribute__((noinline)) struct bal_decision
route_rare(struct state *state, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    if (job->split && job->count > 1)
        return route_split(state, fleet, job, rng);
    return bal_to(shortest_in_turn(state, fleet, rng));
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const bool in_turn = state->distinct || state->stops;
    if (__builtin_expect(job->split || in_turn, 0) && (job->count > 1 || in_turn))
        return route_rare(state, fleet, job, rng);
    return bal_to(bli_probe_some(fleet, state->d, rng));
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    struct state *state = block;
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < count_probes(state, fleet, job); i++) {
        const uint32_t server =
            state->distinct ? draw_distinct(state, fleet, &drawn, rng) : bal_draw(fleet, rng);
        if (server == BAL_NONE || !bal_ask(fleet, server))
            return;
    }
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->servers != context->servers || state->distinct != wants_distinct(value) ||
        state->stops != (value[STOP] == 1))
        return false;
    for (uint32_t i = 0; state->distinct && i < context->servers; i++) {
        if (state->order[i] >= context->servers)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (state->order[k] == state->order[i])
                return false;
    }
    return true;
}

static unsigned more_flags(const double *value) {
    return (wants_distinct(value) ? 0 : BAL_READS_ONLY) | (value[STOP] == 1 ? BAL_ASKS_IN_TURN : 0);
}

static uint32_t draws(const double *value) {
    return wants_distinct(value) || value[STOP] == 1 ? 0 : (uint32_t)value[D];
}

static enum bal_code check(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err) {
    if (value[REPLACE] == 0 && value[D] > context->servers)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy 'pod': d=%.0f different servers cannot be had from %u; use d up to %u or replace=1",
            value[D], context->servers, context->servers);
    return BAL_OK;
}

const struct bal_policy bli_policy_pod = {
    .name = "pod",
    .summary = "the shortest queue of d uniform servers (power of d choices)",
    .paper = "Mitzenmacher; Vvedenskaya et al. 1996",
    .cost = "d probes",
    .flags = BAL_SYMMETRIC,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .more_flags = more_flags,
    .draws = draws,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .check = check,
};
