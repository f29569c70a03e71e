/* SPDX-License-Identifier: BSD-2-Clause */
/* round-robin: the servers in turn.
 *
 * Cost: nothing is asked, nothing is reported. Memory: the name of the next server.
 * Proved: with N servers each one sees every N-th arrival, so its input tends to a clockwork (D/M/1 for
 * exponential sizes) as N grows. Not symmetric: it depends on the order of the names. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

struct state {
    uint32_t next;
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    struct state *state = block;
    state->next = 0;
}

/* The first that is eligible from the next on. At least one is. */
static uint32_t next_server(struct state *state, const struct bal_fleet *fleet) {
    uint32_t server = state->next < fleet->servers ? state->next : 0;
    while (!bal_is_eligible(fleet, server))
        server = server + 1 == fleet->servers ? 0 : server + 1;
    state->next = server + 1 == fleet->servers ? 0 : server + 1;
    return server;
}

/* A batch that may be split is dealt out like cards: round after round, and those that come first get one
 * more. The next batch begins behind the last of these. */
static struct bal_decision deal_batch(struct state *state, struct bal_fleet *fleet, uint32_t count) {
    const uint32_t open = bal_eligible_count(fleet);
    const uint32_t parts = count < open ? count : open, more = count % parts;
    uint32_t next = state->next;
    for (uint32_t i = 0; i < parts; i++) {
        fleet->shares[i] = (struct bal_share){next_server(state, fleet), count / parts + (i < more)};
        if (i + 1 == more)
            next = state->next;
    }
    state->next = more ? next : state->next;
    return (struct bal_decision){fleet->shares[0].server, parts, BAL_NONE, BAL_NONE};
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)rng;
    struct state *state = block;
    if (bal_eligible_count(fleet) == 0)
        return bal_to(BAL_NONE);
    if (job->split && job->count > 1)
        return deal_batch(state, fleet, job->count);
    return bal_to(next_server(state, fleet));
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)value;
    const struct state *state = block;
    return state->next < context->servers;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return bits_of_index(context->servers);
}

const struct bal_policy bli_policy_round_robin = {
    .name = "round-robin",
    .summary = "the next server in turn",
    .paper = "classic",
    .cost = "nothing",
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .memory_bits = memory_bits,
};
