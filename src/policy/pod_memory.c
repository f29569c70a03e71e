/* SPDX-License-Identifier: BSD-2-Clause */
/* pod-memory: the power of memory. As pod, but the b best servers known after the last dispatch compete too;
 * afterwards the b least loaded of all candidates are remembered. The papers' JSQ(d,b).
 *
 * Cost: d + b probes a job (a remembered server is asked again), or d with ask=new, where the dispatcher
 * believes the length that it remembers, together with what it has sent since.
 * Memory: b names, b ceil(log2 N) bits, and with ask=new 32 bits for each length.
 * Proved: as N grows the queues of d = b = 1 fall off faster than those of pod:d=2 (Mitzenmacher, Prabhakar
 * and Shah 2002), though a job finds an idle server less often, so that the mean need not be smaller; and
 * unlike pod it keeps unequal servers stable (Shah and Prabhakar 2002). */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { D, B, ASK };
enum ask { ASK_ALL, ASK_NEW };
static const char *const ask_words[] = {"all", "new"};

static const struct bal_param params[] = {
    [D] = {"d", 1, 1e6, 1, true, true, "servers probed for a job"},
    [B] = {"b", 1, 1024, 1, true, true, "servers remembered from the last dispatch"},
    [ASK] = {"ask", 0, ASK_NEW, ASK_ALL, true, false,
             "who is asked for a job: the remembered servers too, or the new ones alone", ask_words},
};

struct state {
    uint32_t d;
    uint32_t b;
    enum ask ask;
    uint32_t known;               /* how many of the candidates are remembered */
    struct bal_share candidate[]; /* d + b of them, with their lengths; the remembered ones first */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)context;
    return sizeof(struct state) + (size_t)(value[D] + value[B]) * sizeof(struct bal_share);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    struct state *state = block;
    state->d = (uint32_t)value[D];
    state->b = (uint32_t)value[B];
    state->ask = (enum ask)value[ASK];
    state->known = 0;
}

/* Moves candidate[i] to the left until those before it are not longer. */
static void insert_sorted(struct bal_share *candidate, uint32_t i) {
    const struct bal_share moved = candidate[i];
    for (; i > 0 && candidate[i - 1].count > moved.count; i--)
        candidate[i] = candidate[i - 1];
    candidate[i] = moved;
}

/* Sorts by length, ties in random order: shuffle, then a stable sort. */
static void sort_by_length(struct bal_share *candidate, uint32_t count, struct bal_rng *rng) {
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t j = bal_rng_below(rng, i + 1);
        const struct bal_share other = candidate[j];
        candidate[j] = candidate[i];
        candidate[i] = other;
    }
    for (uint32_t i = 1; i < count; i++)
        insert_sorted(candidate, i);
}

/* The first has become longer: moves it to its place, a uniform one among its equals, whose order is random
 * already. */
static void reinsert_first(struct bal_share *candidate, uint32_t count, struct bal_rng *rng) {
    const struct bal_share moved = candidate[0];
    uint32_t shorter = 0, equal = 0;
    for (uint32_t i = 1; i < count; i++) {
        shorter += candidate[i].count < moved.count;
        equal += candidate[i].count == moved.count;
    }
    const uint32_t place = shorter + (equal ? bal_rng_below(rng, equal + 1) : 0);
    for (uint32_t i = 0; i < place; i++)
        candidate[i] = candidate[i + 1];
    candidate[place] = moved;
}

/* Probes the remembered servers that are eligible, or uses their remembered lengths; returns how many. */
static uint32_t recall(struct state *state, struct bal_fleet *fleet) {
    struct bal_share *candidate = state->candidate;
    uint32_t count = 0;
    for (uint32_t i = 0; i < state->known; i++)
        if (bal_is_eligible(fleet, candidate[i].server)) {
            const uint32_t server = candidate[i].server;
            const uint32_t length = state->ask == ASK_NEW ? candidate[i].count : bal_probe(fleet, server);
            candidate[count++] = (struct bal_share){server, length};
        }
    return count;
}

/* New replies replace what is remembered. */
static void add_candidate(struct bal_share *candidate, uint32_t *count, uint32_t server, uint32_t length) {
    for (uint32_t i = 0; i < *count; i++)
        if (candidate[i].server == server) {
            candidate[i].count = length;
            return;
        }
    candidate[(*count)++] = (struct bal_share){server, length};
}

/* Probes the remembered servers and d new ones, unless that was done earlier; returns how many different ones
 * there are. */
static uint32_t probe_candidates(struct state *state, struct bal_fleet *fleet, struct bal_rng *rng) {
    struct bal_share *candidate = state->candidate;
    const uint32_t room = state->d + state->b;
    uint32_t count = fleet->sample && state->ask == ASK_ALL ? 0 : recall(state, fleet);
    for (uint32_t i = 0; i < bli_candidates(fleet, state->d) && count < room; i++) {
        const uint32_t server = bli_candidate(fleet, i, rng);
        if (server == BAL_NONE)
            continue;
        add_candidate(candidate, &count, server, bal_probe(fleet, server));
    }
    return count;
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)job;
    const struct state *state = block;
    for (uint32_t i = 0; i < state->known && state->ask == ASK_ALL; i++)
        if (bal_is_eligible(fleet, state->candidate[i].server))
            bal_ask(fleet, state->candidate[i].server);
    bli_ask_some(fleet, state->d, rng);
}

static struct bal_decision route_split(struct state *state, struct bal_fleet *fleet, uint32_t candidates,
                                       uint32_t count, struct bal_rng *rng) {
    for (uint32_t i = 0; i < candidates; i++)
        fleet->shares[i] = state->candidate[i];
    const struct bal_decision decision = bli_water_fill(fleet, candidates, count, rng);
    for (uint32_t part = 0; part < decision.parts; part++)
        for (uint32_t i = 0; i < candidates; i++)
            if (state->candidate[i].server == fleet->shares[part].server)
                state->candidate[i].count += fleet->shares[part].count;
    return decision;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    struct bal_share *candidate = state->candidate;
    const uint32_t candidates = probe_candidates(state, fleet, rng);
    if (candidates == 0)
        return bli_route_without_token(BLI_ELSE_UNIFORM, fleet, job, rng);
    state->known = candidates < state->b ? candidates : state->b;
    if (job->split && job->count > 1) {
        const struct bal_decision decision = route_split(state, fleet, candidates, job->count, rng);
        sort_by_length(candidate, candidates, rng);
        return decision;
    }
    sort_by_length(candidate, candidates, rng);
    const uint32_t best = candidate[0].server;
    candidate[0].count += job->count;
    reinsert_first(candidate, candidates, rng);
    return bal_to(best);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->d != (uint32_t)value[D] || state->b != (uint32_t)value[B] ||
        state->ask != (enum ask)value[ASK] || state->known > state->b)
        return false;
    for (uint32_t i = 0; i < state->known; i++)
        if (state->candidate[i].server >= context->servers ||
            bli_shares_contain(state->candidate, i, state->candidate[i].server))
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    return value[B] * (bits_of_index(context->servers) + (value[ASK] == ASK_NEW ? 32 : 0));
}

const struct bal_policy bli_policy_pod_memory = {
    .name = "pod-memory",
    .summary = "as pod, the b best servers of the last dispatch compete too",
    .paper = "Mitzenmacher et al. 2002",
    .cost = "d + b or d probes",
    .flags = BAL_SYMMETRIC,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .memory_bits = memory_bits,
};
