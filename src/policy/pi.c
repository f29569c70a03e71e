/* SPDX-License-Identifier: BSD-2-Clause */
/* pi: Persistent-Idle. An idle server if there is one, else the server that was last idle, until another
 * server reports.
 *
 * Cost: a server reports when it becomes idle, so at most one report a batch (a sub-batch when batches are
 * split).
 * Memory: which servers are idle, and the last one: N + ceil(log2 N) bits.
 * Proved: stable whenever any policy is, for batches and random capacities, also when split (Atar, Keslassy,
 * Mendelson, Orda and Vargaftik 2020, Theorems 3.2 and 3.4), in whatever way they are split among idle
 * servers (their equations (6) and (7)).
 *
 * While no server has been idle yet: the paper leaves LI(0) open. A dispatcher that starts on a busy fleet,
 * or whose last-idle server is gone, sends each job to a uniform server until a server reports.
 *
 * The paper draws the last-idle server LI(t) again in every slot that begins with an idle server. It is
 * enough to draw it when a batch is routed: a slot without arrivals leaves the idle servers idle, so the next
 * slot draws again and forgets that draw. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { IDLE, SPLIT };

static const struct bal_param params[] = {
    [IDLE] = BLI_IDLE_PARAM,
    [SPLIT] =
        {"split", 0, BLI_DIVIDE_HALVES, BLI_DIVIDE_EVENLY, true, false,
         "how a batch that may be split is divided among idle servers: as evenly as possible, each job to a "
         "uniform one, or half of what is left to each in turn",
         bli_divide_words},
};

struct state {
    uint32_t last_idle; /* BAL_NONE: not known */
    enum bli_idle which;
    enum bli_divide how;
    struct bal_set idle; /* last: it has a flexible tail */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return offsetof(struct state, idle) + bal_set_size(context->servers);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    state->last_idle = BAL_NONE;
    state->which = (enum bli_idle)value[IDLE];
    state->how = (enum bli_divide)value[SPLIT];
    bal_set_init(&state->idle, context->servers);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const uint32_t idle = bli_draw_idle(state->which, &state->idle, fleet, rng);
    if (idle == BAL_NONE)
        return bal_to(bal_is_eligible(fleet, state->last_idle) ? state->last_idle : bal_draw(fleet, rng));
    state->last_idle = idle;
    if (job->split && job->count > 1)
        return bli_divide_by(state->how, state->which, &state->idle, fleet, job->count, rng);
    bal_set_remove(&state->idle, idle);
    return bal_to(idle);
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet, (void)load;
    struct state *state = block;
    if (what == BAL_REPORT_IDLE)
        bal_set_insert(&state->idle, server);
    else
        bal_set_remove(&state->idle, server);
    if (what == BAL_REPORT_GONE && state->last_idle == server)
        state->last_idle = BAL_NONE;
}

static const struct bal_set *pool(const void *block) {
    const struct state *state = block;
    return state->which == BLI_IDLE_ANY ? &state->idle : NULL;
}

static uint32_t tokens(const void *block) {
    const struct state *state = block;
    return state->idle.count;
}

static unsigned more_flags(const double *value) {
    return bli_idle_flags(value[IDLE]);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    return state->which == (enum bli_idle)value[IDLE] && state->how == (enum bli_divide)value[SPLIT] &&
           (state->last_idle == BAL_NONE || state->last_idle < context->servers) &&
           bal_set_sound(&state->idle, context->servers);
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return context->servers + bits_of_index(context->servers);
}

const struct bal_policy bli_policy_pi = {
    .name = "pi",
    .summary = "an idle server that has reported, else the one that was last idle",
    .paper = "Atar et al. 2020",
    .cost = "at most 1 report",
    .wants = BAL_WANTS_IDLE,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .pool = pool,
    .tokens = tokens,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
};
