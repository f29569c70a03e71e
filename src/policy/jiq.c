/* SPDX-License-Identifier: BSD-2-Clause */
/* jiq: join an idle server if one has reported, else a uniform server, or as the parameter `else` selects.
 *
 * Cost: a server reports when it becomes idle, so at most one report a job. Where there are several
 * dispatchers it reports to one of them: a uniform one or, with report=d, the one with the fewest tokens of
 * d, which it must probe first. Memory: which servers are idle, N bits.
 * Proved: no waiting as N grows, for every load below 1 and equal servers (Stolyar 2015, where it is called
 * PULL), also with several dispatchers as N over their number grows (Lu et al. 2011, who call report=d
 * JIQ-SQ(d)); with unequal servers it can be unstable below full load (Atar et al. 2020). There
 * else=least-conn compares requests over weights, and idle=fastest takes the fastest of the idle servers.
 *
 * idle=lowest takes the one with the lowest number: the first servers get all they can, and the last ones are
 * idle as long as the load allows. Where it is the slots of a server that are idle, and with else=hold, that
 * is HAProxy's first. Of equal servers it does not matter for the delay which of the idle ones gets a job; it
 * is not symmetric. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { ELSE, REPORT, IDLE };

static const struct bal_param params[] = {
    [ELSE] = BLI_ELSE_PARAM,
    [REPORT] = {"report", 1, 64, 1, true, false,
                "dispatchers that an idle server asks for one with the fewest tokens"},
    [IDLE] = BLI_IDLE_PARAM,
};

struct state {
    enum bli_else otherwise;
    enum bli_idle which;
    struct bal_set idle; /* last: it has a flexible tail */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return offsetof(struct state, idle) + bal_set_size(context->servers);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    state->otherwise = (enum bli_else)value[ELSE];
    state->which = (enum bli_idle)value[IDLE];
    bal_set_init(&state->idle, context->servers);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const struct bal_decision decision = bli_use_tokens(state->which, &state->idle, fleet, job, rng);
    return decision.server == BAL_NONE ? bli_route_without_token(state->otherwise, fleet, job, rng)
                                       : decision;
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet, (void)load;
    struct state *state = block;
    if (what == BAL_REPORT_IDLE)
        bal_set_insert(&state->idle, server);
    else
        bal_set_remove(&state->idle, server);
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
    return bli_else_flags(value[ELSE]) | bli_idle_flags(value[IDLE]);
}

static uint32_t report_choices(const double *value) {
    return (uint32_t)value[REPORT];
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    return state->otherwise == (enum bli_else)value[ELSE] && state->which == (enum bli_idle)value[IDLE] &&
           bal_set_sound(&state->idle, context->servers);
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return context->servers;
}

const struct bal_policy bli_policy_jiq = {
    .name = "jiq",
    .summary = "an idle server that has reported, else a uniform server",
    .paper = "Lu et al. 2011; Stolyar 2015",
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
    .report_choices = report_choices,
    .memory_bits = memory_bits,
};
