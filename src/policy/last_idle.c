/* SPDX-License-Identifier: BSD-2-Clause */
/* last-idle: all jobs go to the server that was the last to say that it is idle, until another one does. Idle
 * servers say so as a Poisson process of rate mu each, however small.
 *
 * Cost: reports only, mu for each idle server in a mean service time: for N servers at a load below 1 at most
 * mu (1 - load) N in that time where speeds are equal. Memory: one name, ceil(log2 N) bits.
 * Gamarnik, Tsitsiklis and Zubeldia (2022) have a policy with these resources, any positive rate of messages
 * and log2 N bits, that is stable whatever the speeds of the servers are, known or not, as long as all
 * together are fast enough; and with fewer than log N bits and few messages there is none. How theirs uses
 * the name between two messages is not known to us in detail: that all jobs go there is ours, and is pi (Atar
 * et al. 2020) without a memory of who is idle and with reports that are thinned. Why it is stable: a server
 * with a long queue is not idle and says nothing, so that it gets no jobs once another one has spoken; and
 * one speaks sooner or later, as together they are fast enough. The price is delay: between two messages all
 * jobs come to one server.
 *
 * Until the first report, and when the server is gone, jobs go to uniform servers. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { MU };

static const struct bal_param params[] = {
    [MU] = {"mu", 1e-9, 1e9, 1, false, true, "reports of an idle server in a mean service time"},
};

struct state {
    uint32_t last; /* BAL_NONE: not known */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    ((struct state *)block)->last = BAL_NONE;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)job;
    const struct state *state = block;
    return bal_to(bal_is_eligible(fleet, state->last) ? state->last : bal_draw(fleet, rng));
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet, (void)load;
    struct state *state = block;
    if (what == BAL_REPORT_STILL_IDLE)
        state->last = server;
    else if (what == BAL_REPORT_GONE && state->last == server)
        state->last = BAL_NONE;
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)value;
    const struct state *state = block;
    return state->last == BAL_NONE || state->last < context->servers;
}

static uint32_t tokens(const void *block) {
    const struct state *state = block;
    return state->last != BAL_NONE;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return bits_of_index(context->servers);
}

static double report_rate(const double *value, const struct bal_policy_context *context) {
    (void)context;
    return value[MU];
}

const struct bal_policy bli_policy_last_idle = {
    .name = "last-idle",
    .summary = "the server that was the last to say that it is idle, which idle ones do at a rate",
    .paper = "Gamarnik et al. 2022",
    .cost = "mu reports an idle server",
    .flags = BAL_SYMMETRIC | BAL_ON_REQUEST | BAL_READS_ONLY,
    .wants = BAL_WANTS_STILL_IDLE,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .tokens = tokens,
    .memory_bits = memory_bits,
    .report_rate = report_rate,
};
