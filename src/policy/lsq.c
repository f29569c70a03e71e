/* SPDX-License-Identifier: BSD-2-Clause */
/* lsq: the local shortest queue. The dispatcher keeps an estimate of every queue, joins the shortest by
 * these, ties uniform, and adds what it sends; reports of servers correct the estimates.
 *
 * A completion is followed by a report of the queue with probability p (LSQ-Update), one that leaves the
 * server idle always; and for each job d uniform servers may be probed in addition, without waiting for the
 * replies (LSQ-Sample). With several dispatchers a report goes to one of them, so that each has its own
 * errors, and they do not all rush to the same server.
 *
 * Cost: at most one report a job, and d probes. Memory: an estimate for each server, counted as ceil(log2(1 +
 * N)) bits, enough for a queue of N jobs.
 * Proved: stable whenever any policy is, also with several dispatchers and unequal servers, as long as the
 * expected error of the estimates is bounded, which p > 0 or d > 0 brings about (Vargaftik, Keslassy and Orda
 * 2020). With one dispatcher, p = 1 and messages that take no time the estimates are exact, and it is jsq. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { P, D };

static const struct bal_param params[] = {
    [P] = {"p", 0, 1, 1, false, true, "share of completions after which a server reports its queue"},
    [D] = {"d", 0, 64, 0, true, false, "servers asked for a job, which does not wait for them"},
};

/* The key of a server is the estimate of its queue; INFINITY: it is gone. */
struct state {
    uint32_t d;
    _Alignas(double) struct bli_tournament estimates; /* last: it has a flexible tail */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return offsetof(struct state, estimates) + bli_tournament_size(context->servers);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    state->d = (uint32_t)value[D];
    bli_tournament_init(&state->estimates, context->servers, 0);
}

static void add_to_estimate(struct state *state, uint32_t server, uint32_t count) {
    bli_tournament_set(&state->estimates, server, bli_tournament_key(&state->estimates, server) + count);
}

static struct bal_decision route_split(struct state *state, struct bal_fleet *fleet, uint32_t count,
                                       struct bal_rng *rng) {
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        const double estimate = bli_tournament_key(&state->estimates, server);
        if (estimate < UINT32_MAX - count)
            fleet->shares[candidates++] = (struct bal_share){server, (uint32_t)estimate};
    }
    const struct bal_decision decision = bli_water_fill(fleet, candidates, count, rng);
    for (uint32_t i = 0; i < decision.parts; i++)
        add_to_estimate(state, fleet->shares[i].server, fleet->shares[i].count);
    return decision;
}

/* Servers that are eligible and of which nothing is known, if there are no others, are all alike. */
static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    if (state->d)
        bli_ask_some(fleet, state->d, rng);
    if (job->split && job->count > 1) {
        const struct bal_decision decision = route_split(state, fleet, job->count, rng);
        return decision.parts ? decision : bli_scatter(fleet, job->count, rng);
    }
    const uint32_t server = bli_draw_least(&state->estimates, fleet, rng);
    if (server == BAL_NONE)
        return bal_to(bal_draw(fleet, rng));
    add_to_estimate(state, server, job->count);
    return bal_to(server);
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet;
    struct state *state = block;
    if (what == BAL_REPORT_LOAD)
        bli_tournament_set(&state->estimates, server, load->length);
    else if (what == BAL_REPORT_GONE)
        bli_tournament_set(&state->estimates, server, INFINITY);
}

static double load_share(const double *value) {
    return value[P];
}

static unsigned more_flags(const double *value) {
    return value[D] > 0 ? BAL_ASKS : 0;
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->d != (uint32_t)value[D] || !bli_tournament_sound(&state->estimates, context->servers))
        return false;
    for (uint32_t server = 0; server < context->servers; server++)
        if (!(bli_tournament_key(&state->estimates, server) >= 0))
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return context->servers * bits_of_count(context->servers);
}

const struct bal_policy bli_policy_lsq = {
    .name = "lsq",
    .summary = "the shortest queue by the dispatcher's own estimates, which reports and probes correct",
    .paper = "Vargaftik et al. 2020",
    .cost = "d probes, at most 1 report",
    .flags = BAL_SYMMETRIC,
    .wants = BAL_WANTS_LOAD,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .load_share = load_share,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
};
