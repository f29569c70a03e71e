/* pod-memory: the power of memory. As pod, but the b best servers known after the last dispatch compete too;
 * afterwards the b least loaded of all candidates are remembered. The papers' JSQ(d,b).
 *
 * Cost: d + b probes a job (a remembered server is asked again). Memory: b names, b ceil(log2 N) bits.
 * Proved: as N grows the queues of d = b = 1 fall off faster than those of pod:d=2 (Mitzenmacher, Prabhakar
 * and Shah 2002), though a job finds an idle server less often, so that the mean need not be smaller; and
 * unlike pod it keeps unequal servers stable (Shah and Prabhakar 2002). */
#include "policy/parts.h"
#include "policy/table.h"

enum { D, B };

static const struct bal_param params[] = {
    [D] = {"d", 1, 1e6, 1, true, true, "servers probed for a job"},
    [B] = {"b", 1, 1024, 1, true, true, "servers remembered from the last dispatch"},
};

struct state {
    uint32_t d;
    uint32_t b;
    uint32_t known;               /* how many of the candidates are remembered */
    struct bal_share candidate[]; /* d + b of them, with their lengths; the remembered ones first */
};

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)setting;
    return sizeof(struct state) + (size_t)(value[D] + value[B]) * sizeof(struct bal_share);
}

static void init(void *block, const double *value, const struct bal_setting *setting) {
    (void)setting;
    struct state *state = block;
    state->d = (uint32_t)value[D];
    state->b = (uint32_t)value[B];
    state->known = 0;
}

/* Moves candidate[i] to the left until those before it are not longer. */
static void settle(struct bal_share *candidate, uint32_t i) {
    const struct bal_share moved = candidate[i];
    for (; i > 0 && candidate[i - 1].count > moved.count; i--)
        candidate[i] = candidate[i - 1];
    candidate[i] = moved;
}

/* Sorts by length, ties in random order: shuffle, then a stable sort. */
static void rank(struct bal_share *candidate, uint32_t count, struct bal_rng *rng) {
    for (uint32_t i = 1; i < count; i++) {
        const uint32_t j = bal_rng_below(rng, i + 1);
        const struct bal_share other = candidate[j];
        candidate[j] = candidate[i];
        candidate[i] = other;
    }
    for (uint32_t i = 1; i < count; i++)
        settle(candidate, i);
}

/* The first has become longer: moves it to its place, a uniform one among its equals, whose order is random
 * already. */
static void reseat_first(struct bal_share *candidate, uint32_t count, struct bal_rng *rng) {
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

/* Asks the remembered servers that are open; returns how many. */
static uint32_t ask_again(struct state *state, struct bal_fleet *fleet) {
    struct bal_share *candidate = state->candidate;
    uint32_t count = 0;
    for (uint32_t i = 0; i < state->known; i++)
        if (bal_is_open(fleet, candidate[i].server)) {
            const uint32_t server = candidate[i].server;
            candidate[count++] = (struct bal_share){server, bal_probe(fleet, server)};
        }
    return count;
}

/* Asks the remembered servers and d new ones, unless that was done earlier; returns how many different ones
 * there are. */
static uint32_t gather(struct state *state, struct bal_fleet *fleet, struct bal_rng *rng) {
    struct bal_share *candidate = state->candidate;
    const uint32_t room = state->d + state->b;
    uint32_t count = fleet->sample ? 0 : ask_again(state, fleet);
    for (uint32_t i = 0; i < bal_candidates(fleet, state->d) && count < room; i++) {
        const uint32_t server = bal_candidate(fleet, i, rng);
        if (server == BAL_NONE)
            continue;
        const uint32_t length = bal_probe(fleet, server);
        if (!bal_among(candidate, count, server))
            candidate[count++] = (struct bal_share){server, length};
    }
    return count;
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)job;
    const struct state *state = block;
    for (uint32_t i = 0; i < state->known; i++)
        if (bal_is_open(fleet, state->candidate[i].server))
            bal_ask(fleet, state->candidate[i].server);
    bal_ask_some(fleet, state->d, rng);
}

static struct bal_decision route_split(struct state *state, struct bal_fleet *fleet, uint32_t candidates,
                                       uint32_t count, struct bal_rng *rng) {
    for (uint32_t i = 0; i < candidates; i++)
        fleet->shares[i] = state->candidate[i];
    const struct bal_decision decision = bal_water_fill(fleet, candidates, count, rng);
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
    const uint32_t candidates = gather(state, fleet, rng);
    if (candidates == 0)
        return bal_otherwise(BAL_ELSE_UNIFORM, fleet, job, rng);
    state->known = candidates < state->b ? candidates : state->b;
    if (job->split && job->count > 1) {
        const struct bal_decision decision = route_split(state, fleet, candidates, job->count, rng);
        rank(candidate, candidates, rng);
        return decision;
    }
    rank(candidate, candidates, rng);
    const uint32_t best = candidate[0].server;
    candidate[0].count += job->count;
    reseat_first(candidate, candidates, rng);
    return bal_to(best);
}

static bool sound(const void *block, const double *value, const struct bal_setting *setting) {
    const struct state *state = block;
    if (state->d != (uint32_t)value[D] || state->b != (uint32_t)value[B] || state->known > state->b)
        return false;
    for (uint32_t i = 0; i < state->known; i++)
        if (state->candidate[i].server >= setting->servers ||
            bal_among(state->candidate, i, state->candidate[i].server))
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    return value[B] * bits_of_name(setting->servers);
}

const struct bal_policy bal_policy_pod_memory = {
    .name = "pod-memory",
    .summary = "as pod, the b best servers of the last dispatch compete too",
    .paper = "Mitzenmacher et al. 2002",
    .cost = "d + b probes",
    .flags = BAL_SYMMETRIC,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .sound = sound,
    .memory_bits = memory_bits,
};
