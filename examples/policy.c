/* SPDX-License-Identifier: BSD-2-Clause */
/* A policy of one's own: each job compares the server of the last job with one drawn at random, by requests
 * in flight, and goes to the better. One word of memory does nearly what two choices do. docs/plugins.md
 * builds, examines and compares it. */
#include <ballast/plugin.h>

struct state {
    uint32_t last; /* where the last job went */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    struct state *state = block;
    state->last = BAL_NONE;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)job;
    struct state *state = block;
    const uint32_t drawn = bal_draw(fleet, rng); /* BAL_NONE: nobody is open */
    const bool keep = drawn != BAL_NONE && bal_is_eligible(fleet, state->last) &&
                      bal_own(fleet, state->last) < bal_own(fleet, drawn);
    state->last = keep ? state->last : drawn;
    return bal_to(state->last);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)value;
    const struct state *state = block;
    return state->last == BAL_NONE || state->last < context->servers;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return 32;
}

static const struct bal_policy last_or_random = {
    .name = "last-or-random",
    .summary = "the server of the last job or a random one, by requests in flight",
    .paper = "an example",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_OWN,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .memory_bits = memory_bits,
};
BAL_PLUGIN(last_or_random);
