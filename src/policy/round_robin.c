/* round-robin: the servers in turn.
 *
 * Cost: nothing is asked, nothing is reported. Memory: the name of the next server.
 * Proved: with N servers each one sees every N-th arrival, so its input tends to a clockwork (D/M/1 for
 * exponential sizes) as N grows. Not symmetric: it depends on the order of the names. */
#include "policy/parts.h"
#include "policy/table.h"

struct state {
    uint32_t next;
};

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)value, (void)setting;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_setting *setting) {
    (void)value, (void)setting;
    struct state *state = block;
    state->next = 0;
}

static uint32_t take(struct state *state, uint32_t servers) {
    const uint32_t server = state->next;
    state->next = server + 1 == servers ? 0 : server + 1;
    return server;
}

/* A batch that may be split is dealt out like cards. */
static struct bal_decision deal(struct state *state, struct bal_fleet *fleet, uint32_t count) {
    const uint32_t parts = count < fleet->servers ? count : fleet->servers;
    const uint32_t first = state->next;
    for (uint32_t i = 0; i < parts; i++) {
        const struct bal_share share = {take(state, fleet->servers), count / parts + (i < count % parts)};
        fleet->shares[i] = share;
    }
    state->next = (uint32_t)(((uint64_t)first + count) % fleet->servers);
    return (struct bal_decision){first, parts, BAL_NONE, BAL_NONE};
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)rng;
    struct state *state = block;
    if (job->split && job->count > 1)
        return deal(state, fleet, job->count);
    return bal_to(take(state, fleet->servers));
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    (void)value;
    return bits_of_name(setting->servers);
}

const struct bal_policy bal_policy_round_robin = {
    .name = "round-robin",
    .summary = "the next server in turn",
    .paper = "classic",
    .cost = "nothing",
    .route = route,
    .size = size,
    .init = init,
    .memory_bits = memory_bits,
};
