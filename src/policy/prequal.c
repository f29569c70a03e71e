/* SPDX-License-Identifier: BSD-2-Clause */
/* prequal: probing to reduce queueing and latency. For each job r random servers are probed, without waiting
 * for them: the replies go to a pool, from which later jobs choose.
 *
 * A reply has the number of requests in flight at the server, and how long one takes there. Of the replies in
 * the pool those are hot that have more requests in flight than a share q of recent replies had. If all are
 * hot, the one with the fewest requests is chosen, else the cold one with the least latency. With fewer than
 * two replies the job goes to a uniform server.
 *
 * A reply is used up to b times and then removed, its requests in flight counted up each time; it is removed,
 * too, when it is older than `age`, when a newer one of the same server comes, and when the pool is full (the
 * oldest). For each job `remove` replies are taken out besides, in turn the worst (of the hot ones that with
 * the most requests, else that with the largest latency) and the oldest, so that bad ones, which are never
 * used, do not fill the pool. b follows from how many are probed: (1 + 1) / ((1 - m/N) r - remove), at least
 * 1, for a pool of m; what is not whole is drawn.
 *
 * Cost: r probes a job. Memory: m replies and the last 64 numbers of requests in flight.
 * Proved: nothing. Measured at Google (Wydrowski, Kleinberg, Rumble and Archer 2024), whose values are the
 * defaults here, but that the pool is smaller in a small fleet: else b grows, and job after job follows a
 * reply that is old. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { R, POOL, REMOVE, Q, AGE };

static const struct bal_param params[] = {
    [R] = {"r", 0, 16, 3, false, true, "servers asked for a job"},
    [POOL] = {"pool", 2, 64, NAN, true, false,
              "replies kept at most; default 16, or a third of a fleet of fewer than 48"},
    [REMOVE] = {"remove", 0, 16, 1, false, false, "replies taken out for a job"},
    [Q] = {"q", 0, 1, 0.84, false, false,
           "share of replies with so few requests in flight that they are cold"},
    [AGE] = {"age", 1e-9, 1e9, 10, false, false, "time after which a reply is too old"},
};

enum { RECENT = 64, POOL_MAX = 64, USES_MAX = 1000 };

struct reply {
    uint32_t server;
    uint32_t in_flight;
    double latency;
    double time;
    uint32_t uses; /* that are left */
};

struct state {
    double r, remove, q, age;
    double asks_due, removals_due; /* what is not whole yet */
    uint32_t most;                 /* replies in the pool */
    uint32_t servers;
    uint32_t replies;
    uint32_t worst_next;                /* the next removal is of the worst */
    uint32_t recent_count, recent_next; /* how many there are, where the next one goes */
    uint32_t recent[RECENT];            /* requests in flight of the last replies */
    uint32_t sorted[RECENT];            /* the same, the fewest first */
    struct reply pool[POOL_MAX];        /* the oldest first */
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static uint32_t pool_of(const double *value, uint32_t servers) {
    if (!isnan(value[POOL]))
        return (uint32_t)value[POOL];
    const uint32_t third = servers / 3 + (servers % 3 > 0);
    return third < 2 ? 2 : third < 16 ? third : 16;
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){.r = value[R],
                            .remove = value[REMOVE],
                            .q = value[Q],
                            .age = value[AGE],
                            .most = pool_of(value, context->servers),
                            .servers = context->servers,
                            .worst_next = 1};
}

/* ---- which are hot? ---- */

/* Puts a number in its place among the sorted ones, or takes it out. */
static void sorted_insert(struct state *state, uint32_t number) {
    uint32_t i = state->recent_count++;
    for (; i > 0 && state->sorted[i - 1] > number; i--)
        state->sorted[i] = state->sorted[i - 1];
    state->sorted[i] = number;
}

static void sorted_remove(struct state *state, uint32_t number) {
    uint32_t i = 0;
    while (state->sorted[i] != number)
        i++;
    state->recent_count--;
    for (; i < state->recent_count; i++)
        state->sorted[i] = state->sorted[i + 1];
}

static void record_in_flight(struct state *state, uint32_t number) {
    if (state->recent_count == RECENT)
        sorted_remove(state, state->recent[state->recent_next]);
    sorted_insert(state, number);
    state->recent[state->recent_next] = number;
    state->recent_next = (state->recent_next + 1) % RECENT;
}

/* Replies with more requests than this are hot. */
static uint32_t hot_threshold(const struct state *state) {
    if (state->recent_count == 0)
        return UINT32_MAX;
    const uint32_t place = (uint32_t)(state->q * state->recent_count);
    return place < state->recent_count ? state->sorted[place] : UINT32_MAX;
}

/* ---- the pool ---- */

static void remove_reply(struct state *state, uint32_t i) {
    state->replies--;
    for (; i < state->replies; i++)
        state->pool[i] = state->pool[i + 1];
}

static void remove_old_replies(struct state *state, double now) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < state->replies; i++)
        if (!(now - state->pool[i].time > state->age))
            state->pool[kept++] = state->pool[i];
    state->replies = kept;
}

/* Is reply a better than b? Cold before hot; hot ones by requests, cold ones by latency and, where it is
 * equal or unknown, by requests. */
static bool is_better_reply(const struct reply *a, const struct reply *b, uint32_t hot_above) {
    const bool hot_a = a->in_flight > hot_above, hot_b = b->in_flight > hot_above;
    if (hot_a != hot_b)
        return hot_b;
    if (!hot_a && a->latency != b->latency)
        return a->latency < b->latency;
    return a->in_flight < b->in_flight;
}

static void remove_worst_reply(struct state *state) {
    const uint32_t hot_above = hot_threshold(state);
    uint32_t worst = 0;
    for (uint32_t i = 1; i < state->replies; i++)
        if (is_better_reply(&state->pool[worst], &state->pool[i], hot_above))
            worst = i;
    remove_reply(state, worst);
}

static void remove_due_replies(struct state *state) {
    for (state->removals_due += state->remove; state->removals_due >= 1; state->removals_due--) {
        if (state->replies == 0)
            continue;
        if (state->worst_next)
            remove_worst_reply(state);
        else
            remove_reply(state, 0);
        state->worst_next = !state->worst_next;
    }
}

/* How often a reply may be used: b, at random rounded up or down. */
static uint32_t draw_uses(const struct state *state, struct bal_rng *rng) {
    const double gain = (1 - (double)state->most / state->servers) * state->r - state->remove;
    double b = gain > 0 ? 2 / gain : USES_MAX;
    b = b < 1 ? 1 : b > USES_MAX ? USES_MAX : b;
    return (uint32_t)b + (bal_rng_uniform(rng) < b - floor(b));
}

/* The best reply of an eligible server, or `replies`; *open: how many there are. */
static uint32_t choose_reply(const struct state *state, const struct bal_fleet *fleet, uint32_t *open) {
    const uint32_t hot_above = hot_threshold(state);
    uint32_t best = state->replies;
    *open = 0;
    for (uint32_t i = 0; i < state->replies; i++) {
        if (!bal_is_eligible(fleet, state->pool[i].server))
            continue;
        ++*open;
        if (best == state->replies || is_better_reply(&state->pool[i], &state->pool[best], hot_above))
            best = i;
    }
    return best;
}

/* ---- what the dispatcher calls ---- */

static void send_probes(struct state *state, struct bal_fleet *fleet, struct bal_rng *rng) {
    uint32_t drawn[BLI_LEAST_CONN_MAX];
    state->asks_due += state->r;
    const uint32_t wanted = (uint32_t)state->asks_due;
    state->asks_due -= wanted;
    const uint32_t count = bli_draw_distinct(fleet, wanted, drawn, rng);
    for (uint32_t i = 0; i < count; i++)
        bal_ask(fleet, drawn[i]);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    send_probes(state, fleet, rng);
    remove_old_replies(state, fleet->now);
    uint32_t open;
    const uint32_t best = choose_reply(state, fleet, &open);
    if (open < 2) {
        remove_due_replies(state);
        return bal_to(bal_draw(fleet, rng));
    }
    struct reply *reply = &state->pool[best];
    const uint32_t server = reply->server;
    if (reply->uses == 0) /* it has not been used yet */
        reply->uses = draw_uses(state, rng);
    reply->in_flight += job->count;
    if (--reply->uses == 0)
        remove_reply(state, best);
    remove_due_replies(state);
    return bal_to(server);
}

static void remove_replies_of(struct state *state, uint32_t server) {
    for (uint32_t i = 0; i < state->replies; i++)
        if (state->pool[i].server == server) {
            remove_reply(state, i);
            return;
        }
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    struct state *state = block;
    if (what == BAL_REPORT_BUSY)
        return;
    remove_replies_of(state, server);
    if (what == BAL_REPORT_GONE)
        return;
    if (state->replies == state->most)
        remove_reply(state, 0);
    record_in_flight(state, load->length);
    state->pool[state->replies++] = (struct reply){.server = server,
                                                   .in_flight = load->length,
                                                   .latency = isnan(load->latency) ? 0 : load->latency,
                                                   .time = fleet->now};
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->most != pool_of(value, context->servers) || state->servers != context->servers ||
        state->replies > state->most || state->recent_count > RECENT || state->recent_next >= RECENT)
        return false;
    for (uint32_t i = 0; i < state->replies; i++) {
        if (state->pool[i].server >= context->servers || isnan(state->pool[i].latency))
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (state->pool[k].server == state->pool[i].server)
                return false;
    }
    for (uint32_t i = 0; i < state->recent_count; i++) {
        int more = 0; /* of this number among the sorted ones than among the recent ones */
        for (uint32_t k = 0; k < state->recent_count; k++)
            more += (state->sorted[k] == state->sorted[i]) - (state->recent[k] == state->sorted[i]);
        if (more != 0 || (i > 0 && state->sorted[i - 1] > state->sorted[i]))
            return false;
    }
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    const double name = bits_of_index(context->servers), count = bits_of_count(context->servers);
    return pool_of(value, context->servers) * (name + count + 2 * 64) + RECENT * count;
}

/* A server has one reply in the pool. */
static enum bal_code check(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err) {
    if (value[POOL] > context->servers)
        return bal_fail(err, BAL_E_MODEL,
                        "policy 'prequal': pool=%.0f replies cannot be had of %u servers; use up to %u",
                        value[POOL], context->servers, context->servers);
    return BAL_OK;
}

const struct bal_policy bli_policy_prequal = {
    .name = "prequal",
    .summary = "from a pool of replies the least latency, unless many requests are in flight there",
    .paper = "Wydrowski et al. 2024",
    .cost = "r probes",
    .flags = BAL_SYMMETRIC | BAL_ASKS | BAL_NEEDS_TIME,
    .wants = BAL_WANTS_LOAD,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .memory_bits = memory_bits,
    .check = check,
};
