/* pi: Persistent-Idle. An idle server if there is one, else the server that was last idle, for as long as
 * nobody else reports.
 *
 * Cost: a server reports when it becomes idle, so at most one report a batch (a sub-batch when batches are
 * split).
 * Memory: which servers are idle, and the last one: N + ceil(log2 N) bits.
 * Proved: stable whenever any policy is, for batches and random capacities, also when split (Atar, Keslassy,
 * Mendelson, Orda and Vargaftik 2020, Theorems 3.2 and 3.4).
 *
 * The paper draws the last-idle server LI(t) anew in every slot that begins with an idle server. It is enough
 * to draw it when a batch is routed: a slot without arrivals leaves the idle servers idle, so the next slot
 * draws again and forgets that draw. */
#include "policy/parts.h"
#include "policy/table.h"

struct state {
    uint32_t last_idle;
    struct bal_set idle; /* last: it has a flexible tail */
};

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)value;
    return offsetof(struct state, idle) + bal_set_size(setting->servers);
}

/* Before anybody has been idle the paper leaves LI(0) open; it is server 0 only on a fleet that starts with
 * all servers busy. */
static void init(void *block, const double *value, const struct bal_setting *setting) {
    (void)value;
    struct state *state = block;
    state->last_idle = 0;
    bal_set_init(&state->idle, setting->servers);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    if (state->idle.count == 0)
        return bal_to(state->last_idle);
    state->last_idle = bal_set_uniform(&state->idle, rng);
    if (job->split && job->count > 1)
        return bal_divide_among(&state->idle, fleet, job->count, rng);
    bal_set_remove(&state->idle, state->last_idle);
    return bal_to(state->last_idle);
}

static void report(void *block, enum bal_report what, uint32_t server) {
    (void)what;
    struct state *state = block;
    bal_set_insert(&state->idle, server);
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    (void)value;
    return setting->servers + bits_of_name(setting->servers);
}

const struct bal_policy bal_policy_pi = {
    .name = "pi",
    .summary = "an idle server that has reported, else the one that was last idle",
    .paper = "Atar et al. 2020",
    .cost = "at most 1 report",
    .flags = BAL_SYMMETRIC,
    .wants = BAL_WANTS_IDLE,
    .route = route,
    .size = size,
    .init = init,
    .report = report,
    .memory_bits = memory_bits,
};
