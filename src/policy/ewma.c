/* SPDX-License-Identifier: BSD-2-Clause */
/* ewma: peak EWMA. Of d different uniform servers the one for which (requests in flight + 1) over its weight,
 * times a moving average of its response times, is least. The average jumps to a response that is slower than
 * it and comes down slowly: the weight of what was before is exp(-t/decay) after a time t.
 *
 * Cost: nothing. A dispatcher sees its own responses. Memory: an average and a time for each server, 128 N
 * bits, in addition to the counts that the host keeps.
 * Proved: nothing. It is what Finagle and Linkerd do, with two choices (Mitzenmacher 2001). As there, reading
 * an average lets it decay towards 0, so that a server that was slow is tried again; and one that has
 * answered nothing yet and has requests is left alone, for it may be anything. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { D, DECAY };

static const struct bal_param params[] = {
    [D] = {"d", 1, BLI_LEAST_CONN_MAX, 2, true, true, "different servers compared for a job"},
    [DECAY] = {"decay", 1e-9, 1e9, 10, false, true, "time in which the memory of a response fades"},
};

#define UNKNOWN 1e15 /* more than any response */

struct average {
    double cost;  /* 0: none yet */
    double stamp; /* when it was so */
};

struct state {
    uint32_t d;
    uint32_t servers;
    double decay;
    struct average average[];
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return sizeof(struct state) + context->servers * sizeof(struct average);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){(uint32_t)value[D], context->servers, value[DECAY]};
    for (uint32_t server = 0; server < context->servers; server++)
        state->average[server] = (struct average){0, 0};
}

static void update_average(const struct state *state, struct average *average, double now, double response) {
    const double since = now > average->stamp ? now - average->stamp : 0;
    const double weight = exp(-since / state->decay);
    average->cost = response > average->cost ? response : average->cost * weight + response * (1 - weight);
    average->stamp = now;
}

static double cost_of(struct state *state, const struct bal_fleet *fleet, uint32_t server) {
    struct average *average = &state->average[server];
    update_average(state, average, fleet->now, 0);
    const double time = average->cost == 0 && bal_own(fleet, server) > 0 ? UNKNOWN : average->cost;
    return time * bal_own_key(fleet, server, BAL_OWN_SOONEST, 0);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)job;
    struct state *state = block;
    uint32_t drawn[BLI_LEAST_CONN_MAX];
    const uint32_t count = bli_draw_distinct(fleet, state->d, drawn, rng);
    uint32_t best = BAL_NONE;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const double cost = cost_of(state, fleet, drawn[i]);
        if (best == BAL_NONE || cost < least) {
            least = cost;
            best = drawn[i];
        }
    }
    return bal_to(best);
}

/* A failure may be quick; its time is not a good sign. */
static void response(void *block, struct bal_fleet *fleet, uint32_t server, double time, bool failed) {
    struct state *state = block;
    struct average *average = &state->average[server];
    if (time >= 0 && isfinite(time) && (!failed || time > average->cost))
        update_average(state, average, fleet->now, time);
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet, (void)load;
    struct state *state = block;
    if (what == BAL_REPORT_GONE)
        state->average[server] = (struct average){0, 0};
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->d != (uint32_t)value[D] || state->servers != context->servers || state->decay != value[DECAY])
        return false;
    for (uint32_t server = 0; server < context->servers; server++)
        if (!(state->average[server].cost >= 0 && state->average[server].cost < INFINITY))
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return 8.0 * sizeof(struct average) * context->servers;
}

const struct bal_policy bli_policy_ewma = {
    .name = "ewma",
    .summary = "of d servers the least (requests in flight + 1) times average response time, peaks at once",
    .paper = "Finagle, Linkerd (peak EWMA)",
    .cost = "nothing",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_OWN | BAL_NEEDS_TIME | BAL_NEEDS_RESPONSES,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .response = response,
    .memory_bits = memory_bits,
};
