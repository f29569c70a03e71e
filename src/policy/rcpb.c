/* SPDX-License-Identifier: BSD-2-Clause */
/* rcpb: the resource-constrained pull-based policy. Idle servers report at a rate; the dispatcher keeps at
 * most c of their names and sends each job to one of them, or to a uniform server, or as the parameter `else`
 * selects, when it has none.
 *
 * Cost: reports only, (1 - lambda) mu N of them in a unit of time; mup is that in reports per job. A report
 * is dropped when its name is stored already or the store is full, but it was sent and counts. Memory: c
 * names, c ceil(log2 N) bits.
 * Proved: with c or mu growing with N the waiting time vanishes; with both fixed it stays above 0 but is
 * bounded as the load tends to 1, by 1 / (mup + ... + mup^c) (Gamarnik, Tsitsiklis and Zubeldia 2016). With
 * else=hold each job needs a report of its own: it is stable only where mup > 1, or mu > load/(1 - load). */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { C, MU, MUP, ELSE };

static const struct bal_param params[] = {
    [C] = {"c", 1, 1e8, 1, true, true, "names of idle servers that the dispatcher keeps"},
    [MU] = {"mu", 1e-9, 1e9, NAN, false, false, "reports of an idle server in a mean service time"},
    [MUP] = {"mup", 1e-9, 1e9, NAN, false, false,
             "or mu in units of load/(1 - load): reports per job; default 1, with else=hold 2"},
    [ELSE] = BLI_ELSE_PARAM,
};

struct state {
    uint32_t most;
    enum bli_else otherwise;
    struct bal_set names; /* last: it has a flexible tail */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return offsetof(struct state, names) + bal_set_size(context->servers);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    state->most = (uint32_t)value[C];
    state->otherwise = (enum bli_else)value[ELSE];
    bal_set_init(&state->names, context->servers);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const struct bal_decision decision = bli_use_tokens(BLI_IDLE_ANY, &state->names, fleet, job, rng);
    return decision.server == BAL_NONE ? bli_route_without_token(state->otherwise, fleet, job, rng)
                                       : decision;
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet, (void)load;
    struct state *state = block;
    if (what != BAL_REPORT_STILL_IDLE)
        bal_set_remove(&state->names, server);
    else if (state->names.count < state->most)
        bal_set_insert(&state->names, server);
}

static uint32_t tokens(const void *block) {
    const struct state *state = block;
    return state->names.count;
}

static unsigned more_flags(const double *value) {
    return bli_else_flags(value[ELSE]);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    return state->most == (uint32_t)value[C] && state->otherwise == (enum bli_else)value[ELSE] &&
           bal_set_sound(&state->names, context->servers) && state->names.count <= state->most;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    return value[C] * bits_of_index(context->servers);
}

static double report_rate(const double *value, const struct bal_policy_context *context) {
    if (!isnan(value[MU]))
        return value[MU];
    const double usual = value[ELSE] == BLI_ELSE_HOLD ? 2 : 1;
    const double mup = isnan(value[MUP]) ? usual : value[MUP];
    return mup * context->load / (1 - context->load);
}

static enum bal_code check(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err) {
    if (value[C] >= context->servers)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy 'rcpb': c=%.0f names cannot be had of %u servers; c must be below their number", value[C],
            context->servers);
    if (!isnan(value[MU]) && !isnan(value[MUP]))
        return bal_fail(err, BAL_E_MODEL,
                        "policy 'rcpb': mu and mup both say how often servers report; give one of them");
    if (isnan(value[MU]) && !(context->load < 1))
        return bal_fail(err, BAL_E_MODEL,
                        "policy 'rcpb': mup is in units of load/(1 - load) and the load is %g; below 1 it "
                        "works, else give mu",
                        context->load);
    if (value[ELSE] == BLI_ELSE_HOLD && value[MUP] <= 1)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy 'rcpb': with else=hold each job waits for a report of its own, and mup=%g reports "
            "per job are too few: what waits would grow for ever; use mup above 1, as in mup=2",
            value[MUP]);
    return BAL_OK;
}

const struct bal_policy bli_policy_rcpb = {
    .name = "rcpb",
    .summary = "one of c stored names of idle servers, which report at a rate; else a uniform server",
    .paper = "Gamarnik et al. 2016",
    .cost = "mup reports",
    .flags = BAL_SYMMETRIC,
    .wants = BAL_WANTS_STILL_IDLE,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .tokens = tokens,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
    .report_rate = report_rate,
    .check = check,
};
