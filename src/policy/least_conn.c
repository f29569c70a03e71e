/* SPDX-License-Identifier: BSD-2-Clause */
/* least-conn: the server with the fewest of this dispatcher's own requests in flight: least connections, as
 * proxies do it. With d it is the best of d uniform servers: d=2 is nginx's random two, HAProxy's random(2)
 * (with replace=1) and Envoy's least request.
 *
 * Equals are chosen among uniformly, or as proxies do: in turn (nginx: each of the equals earns its weight,
 * the richest gets the job and pays what all have earned, as in weighted-round-robin) or as in a queue
 * (HAProxy: the one that has had its count for the longest). Both begin with the first server, so that
 * dispatchers that begin together choose the same servers for a while, and have longer response times than
 * with uniform choices until they have drifted apart; in the long run there is no difference to be seen.
 *
 * Cost: nothing. A dispatcher knows what it has sent and sees what comes back. Memory: a count for each
 * server, which the host keeps; it is counted here as bits of the policy, ceil(log2(1 + N)) for each server,
 * enough for a queue of N requests; for turns as much again, for a queue the names of all in order.
 * Proved: with one dispatcher own counts are the queue lengths, so that it is jsq, and with d it is pod:d
 * with replace=0, with all that is known of them. With M dispatchers each sees only its share of the
 * requests, which is less informative the more dispatchers there are. Symmetric unless equals go by turns or
 * queue, which depend on the order of the names. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { D, REPLACE, TIES };
enum ties { UNIFORM, TURN, QUEUE };

static const char *const ties_words[] = {"uniform", "turn", "queue"};

static const struct bal_param params[] = {
    [D] = {"d", 1, BLI_LEAST_CONN_MAX, NAN, true, false, "servers compared for a job; without it all"},
    [REPLACE] = {"replace", 0, 1, 0, true, false, "with d: 0: different servers; 1: drawn with replacement"},
    [TIES] = {"ties", 0, QUEUE, UNIFORM, true, false,
              "which of the equals, without d: any, in turn as nginx, or the longest so as HAProxy",
              ties_words},
};

/* What is kept of a server, where it is by turns or queue. */
union place {
    double credit;  /* in weights */
    uint64_t since; /* a number that grows: when its count was last changed */
};

struct state {
    uint32_t d; /* 0: all */
    bool replace;
    uint8_t ties;
    uint32_t servers;
    uint64_t changes;
    union place place[]; /* of each server */
};

static enum bal_code check(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err) {
    (void)context;
    if (isnan(value[D]) && value[REPLACE] != 0)
        return bal_fail(err, BAL_E_RANGE,
                        "policy 'least-conn': replace says how d servers are drawn; give d too");
    if (!isnan(value[D]) && value[TIES] != UNIFORM)
        return bal_fail(err, BAL_E_RANGE,
                        "policy 'least-conn': with d equals are uniform; leave ties or d out");
    return BAL_OK;
}

static size_t size(const double *value, const struct bal_policy_context *context) {
    return sizeof(struct state) + (value[TIES] == UNIFORM ? 0 : context->servers * sizeof(union place));
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){.d = isnan(value[D]) ? 0 : (uint32_t)value[D],
                            .replace = value[REPLACE] == 1,
                            .ties = (uint8_t)value[TIES],
                            .servers = context->servers,
                            .changes = context->servers};
    for (uint32_t server = 0; state->ties != UNIFORM && server < context->servers; server++)
        state->place[server] =
            state->ties == TURN ? (union place){.credit = 0} : (union place){.since = server};
}

/* ---- equals by turns or queue ---- */

/* Requests of a server over its weight, with those of a batch that have been sent there just now. */
static double key_of(const struct bal_fleet *fleet, uint32_t server, bool batch) {
    return bal_own_key(fleet, server, BAL_OWN_FEWEST, batch ? fleet->shares[server].count : 0);
}

/* The richest of those with the least key when each has earned its weight, the first of several. One that has
 * no equals earns and pays nothing. While weights and servers stay no credit or debt is above the weight of
 * all; what is left of other times is cut to this. */
static uint32_t choose_by_credit(struct state *state, const struct bal_fleet *fleet, double least,
                                 bool batch) {
    uint32_t best = BAL_NONE;
    double earned = 0, all = 0;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++)
        all += bal_weight(fleet, bal_eligible_at(fleet, i));
    for (uint32_t server = 0; server < fleet->servers; server++) {
        if (!bal_is_eligible(fleet, server) || key_of(fleet, server, batch) != least)
            continue;
        double *credit = &state->place[server].credit;
        *credit = fmin(fmax(*credit, -all), all) + bal_weight(fleet, server);
        earned += bal_weight(fleet, server);
        if (best == BAL_NONE || *credit > state->place[best].credit)
            best = server;
    }
    if (best != BAL_NONE)
        state->place[best].credit -= earned;
    return best;
}

/* The one with the least key that has had it for the longest. */
static uint32_t choose_least_recent(struct state *state, const struct bal_fleet *fleet, double least,
                                    bool batch) {
    uint32_t best = BAL_NONE;
    for (uint32_t server = 0; server < fleet->servers; server++)
        if (bal_is_eligible(fleet, server) && key_of(fleet, server, batch) == least &&
            (best == BAL_NONE || state->place[server].since < state->place[best].since))
            best = server;
    if (best != BAL_NONE)
        state->place[best].since = state->changes++;
    return best;
}

static uint32_t choose_server(struct state *state, const struct bal_fleet *fleet, bool batch) {
    double least = INFINITY;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++)
        least = fmin(least, key_of(fleet, bal_eligible_at(fleet, i), batch));
    return state->ties == TURN ? choose_by_credit(state, fleet, least, batch)
                               : choose_least_recent(state, fleet, least, batch);
}

static struct bal_decision divide_batch(struct state *state, struct bal_fleet *fleet, uint32_t count) {
    if (bal_eligible_count(fleet) == 0)
        return bal_to(BAL_NONE);
    bli_shares_begin(fleet);
    for (uint32_t i = 0; i < count; i++)
        fleet->shares[choose_server(state, fleet, true)].count++;
    return bli_shares_end(fleet);
}

/* ---- the contract ---- */

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const bool split = job->split && job->count > 1;
    if (state->ties != UNIFORM)
        return split ? divide_batch(state, fleet, job->count) : bal_to(choose_server(state, fleet, false));
    if (!state->d)
        return split ? bli_fill_own(fleet, NULL, 0, job->count, rng) : bal_to(bal_own_fewest(fleet, rng));
    uint32_t drawn[BLI_LEAST_CONN_MAX];
    const uint32_t count = state->replace ? bli_draw_again(fleet, state->d, drawn, rng)
                                          : bli_draw_distinct(fleet, state->d, drawn, rng);
    return split ? bli_fill_own(fleet, drawn, count, job->count, rng)
                 : bal_to(bli_own_of(fleet, drawn, count));
}

/* In a queue a server whose count has changed goes to the end. */
static void response(void *block, struct bal_fleet *fleet, uint32_t server, double time, bool failed) {
    (void)fleet, (void)time, (void)failed;
    struct state *state = block;
    if (state->ties == QUEUE && server < state->servers)
        state->place[server].since = state->changes++;
}

static unsigned more_flags(const double *value) {
    const unsigned all = isnan(value[D]) ? BAL_NEEDS_INDEX : 0;
    return value[TIES] == UNIFORM ? all | BAL_SYMMETRIC | BAL_READS_ONLY
           : value[TIES] == QUEUE ? BAL_NEEDS_RESPONSES
                                  : 0;
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->d != (isnan(value[D]) ? 0 : (uint32_t)value[D]) || state->replace != (value[REPLACE] == 1) ||
        state->ties != value[TIES] || state->servers != context->servers)
        return false;
    for (uint32_t server = 0; state->ties != UNIFORM && server < state->servers; server++)
        if (state->ties == TURN ? !isfinite(state->place[server].credit)
                                : state->place[server].since >= state->changes)
            return false;
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    const double count = bits_of_count(context->servers);
    const double place = value[TIES] == TURN    ? count
                         : value[TIES] == QUEUE ? bits_of_index(context->servers)
                                                : 0;
    return context->servers * (count + place);
}

const struct bal_policy bli_policy_least_conn = {
    .name = "least-conn",
    .summary = "the fewest requests in flight of this dispatcher (least connections), of all or of d",
    .paper = "classic; nginx, HAProxy, Envoy",
    .cost = "nothing",
    .flags = BAL_NEEDS_OWN,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .response = response,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
    .check = check,
};
