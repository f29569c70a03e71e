/* SPDX-License-Identifier: BSD-2-Clause */
/* care: the shortest queue by estimates of which no message is needed as long as they are good enough. The
 * dispatcher estimates each queue, joins the shortest by these, ties uniform, and each server reports its
 * queue after every x-th job that it has completed, and at no other time.
 *
 * Between two reports the estimate counts what was sent there, and emulates the server: jobs take exactly the
 * mean service time, one after the other, the first from the report on (an idle server begins with the next
 * job). Fewer than x have been completed since the report, or there would be another; so no more than x - 1
 * are taken off. The estimate is then never off by x. With service=0 nothing is emulated, and it is too high
 * by the jobs completed since.
 *
 * This is CARE (Mendelson and Xu 2022: join the shortest approximated queue), with reports triggered by
 * departures and the estimate by emulation at the mean rate, cut at x - 1. Their third pattern, reports
 * triggered by the error itself, needs servers that emulate their dispatcher and a clock there; it is not
 * here, except that without emulation it is the same: the error is the number of jobs completed since the
 * last report. What the emulation does on servers of different speeds (weights), each at its own rate, is our
 * reading.
 *
 * Cost: 1/x reports a job. Memory: the emulated work, its time and the most jobs that can be there, 192 N
 * bits.
 * Proved: with a bounded error the delay near full load is that of jsq as the fleet grows with it (there,
 * diffusion limit). Where messages take time, or with several dispatchers, the error has no bound, and
 * heartbeats correct it. With x = 1, one dispatcher and messages that take no time it is jsq. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { X, SERVICE };

static const struct bal_param params[] = {
    [X] = {"x", 1, 1e6, 5, true, true,
           "jobs that a server completes from one report of its queue to the next"},
    [SERVICE] =
        {"service", 0, 1e9, 1, false, false,
         "time in which an average server is thought to complete a job between reports; 0: no job is"},
};

/* A server as it is thought to be: `work` in jobs at the time `stamp`; `most`: jobs there by the last report,
 * and sent since. */
struct emulated {
    double work, stamp, most;
    bool gone;
};

struct state {
    uint32_t x;
    uint32_t servers;
    double service;
    struct emulated server[];
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return sizeof(struct state) + context->servers * sizeof(struct emulated);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){(uint32_t)value[X], context->servers, value[SERVICE]};
    for (uint32_t server = 0; server < context->servers; server++)
        state->server[server] = (struct emulated){0, 0, 0, false};
}

/* What an average server has for a weight. */
static double mean_weight(const struct bal_fleet *fleet) {
    double sum = 0;
    if (!fleet->weight)
        return 1;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++)
        sum += bal_weight(fleet, bal_eligible_at(fleet, i));
    return sum / bal_eligible_count(fleet);
}

/* The work that is left. rate: jobs in a unit of time. */
static double work_at(const struct emulated *emulated, double now, double rate) {
    const double since = now > emulated->stamp ? now - emulated->stamp : 0;
    return fmax(0, emulated->work - since * rate);
}

static double rate_of(const struct state *state, const struct bal_fleet *fleet, uint32_t server,
                      double mean) {
    return state->service > 0 ? bal_weight(fleet, server) / mean / state->service : 0;
}

/* INFINITY: nothing is known of it. */
static double estimate_of(const struct state *state, const struct bal_fleet *fleet, uint32_t server,
                          double mean) {
    const struct emulated *emulated = &state->server[server];
    if (emulated->gone)
        return INFINITY;
    const double left = ceil(work_at(emulated, fleet->now, rate_of(state, fleet, server, mean)));
    return fmax(left, emulated->most - (state->x - 1.0));
}

static void send_jobs(struct state *state, const struct bal_fleet *fleet, uint32_t server, uint32_t count,
                      double mean) {
    struct emulated *emulated = &state->server[server];
    emulated->work = work_at(emulated, fleet->now, rate_of(state, fleet, server, mean)) + count;
    emulated->stamp = fleet->now;
    emulated->most += count;
}

static struct bal_decision route_split(struct state *state, struct bal_fleet *fleet, uint32_t count,
                                       double mean, struct bal_rng *rng) {
    uint32_t candidates = 0;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        const double estimate = estimate_of(state, fleet, server, mean);
        if (estimate < UINT32_MAX - count)
            fleet->shares[candidates++] = (struct bal_share){server, (uint32_t)estimate};
    }
    if (candidates == 0)
        return bli_scatter(fleet, count, rng);
    const struct bal_decision decision = bli_water_fill(fleet, candidates, count, rng);
    for (uint32_t i = 0; i < decision.parts; i++)
        send_jobs(state, fleet, fleet->shares[i].server, fleet->shares[i].count, mean);
    return decision;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const double mean = mean_weight(fleet);
    if (job->split && job->count > 1)
        return route_split(state, fleet, job->count, mean, rng);
    uint32_t best = BAL_NONE, ties = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        const double estimate = estimate_of(state, fleet, server, mean);
        if (estimate > least)
            continue;
        ties = estimate < least ? 1 : ties + 1;
        least = estimate;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    if (best != BAL_NONE)
        send_jobs(state, fleet, best, job->count, mean);
    return bal_to(best);
}

/* What is sent to one that is gone counts as there when it is back, until it reports. */
static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    struct emulated *emulated = &((struct state *)block)->server[server];
    if (what == BAL_REPORT_LOAD)
        *emulated = (struct emulated){load->length, fleet->now, load->length, false};
    else if (what == BAL_REPORT_GONE)
        emulated->gone = true;
}

static double load_share(const double *value) {
    return value[X];
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->x != (uint32_t)value[X] || state->servers != context->servers ||
        state->service != value[SERVICE])
        return false;
    for (uint32_t server = 0; server < context->servers; server++) {
        const struct emulated *emulated = &state->server[server];
        if (!(emulated->work >= 0 && emulated->work <= emulated->most) || isnan(emulated->stamp))
            return false;
    }
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return 192.0 * context->servers;
}

const struct bal_policy bli_policy_care = {
    .name = "care",
    .summary = "the shortest queue by estimates; a server reports its queue after each x-th job",
    .paper = "Mendelson and Xu 2022",
    .cost = "1/x reports",
    .flags = BAL_SYMMETRIC | BAL_ON_REQUEST | BAL_NEEDS_TIME,
    .wants = BAL_WANTS_LOAD,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .load_share = load_share,
    .memory_bits = memory_bits,
};
