/* SPDX-License-Identifier: BSD-2-Clause */
/* board: queues that are looked at now and then. In each period of length t the first job has the dispatcher
 * probe all servers; their replies are a bulletin board that all jobs of the period go by, and on it nothing
 * changes, whatever is sent there:
 *
 *   pick=choices     the shortest on the board of d uniform servers (drawn with replacement), ties uniform
 *   pick=shortest    the shortest on the board of all, ties uniform
 *   pick=interpret   a server drawn so that all are expected to be equally long when the period ends: with
 *                    queues q and k jobs in a period, server s with chance max(0, level - q_s) / k, the level
 *                    such that they add up to 1
 *
 * This is the model of periodic updates of Mitzenmacher (2000, How useful is old information), and
 * `interpret` the basic load interpretation of Dahlin (2000, Interpreting stale load information), which
 * counts what arrives and leaves out what departs. Ours: the look waits for the first job of a period; k is
 * the number of jobs in a period since the look before, and for the first period what the load says.
 *
 * Cost: N probes in a period with jobs. Where probes take time its first job waits for the replies, and
 * others go by the board as it is. Memory: the board, and with `interpret` the chances.
 * Proved: with t -> 0 `choices` is pod, and `shortest` jsq. In the limit of many servers a period is a set of
 * M/M/1 queues, each with the rate that its number on the board stands for (Mitzenmacher 2000);
 * src/theory/theory_board.c. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

#include <string.h>

enum { PERIOD, D, PICK };
enum pick { CHOICES, SHORTEST, INTERPRET };
static const char *const pick_words[] = {"choices", "shortest", "interpret"};

static const struct bal_param params[] = {
    [PERIOD] = {"t", 1e-9, 1e9, 1, false, true, "time from one look at all queues to the next"},
    [D] = {"d", 1, 1000, NAN, true, false,
           "servers compared for a job, with pick=choices; 2 where it is left out"},
    [PICK] = {"pick", 0, INTERPRET, CHOICES, true, false,
              "who gets a job: the shortest of d on the board, or of all; or one drawn so that all are "
              "equally long in the end",
              pick_words},
};

static enum bal_code check(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err) {
    (void)context;
    if (!isnan(value[D]) && value[PICK] != CHOICES)
        return bal_fail(err, BAL_E_RANGE, "policy 'board': d goes with pick=choices; leave d or pick out");
    return BAL_OK;
}

static uint32_t d_of(const double *value) {
    return isnan(value[D]) ? 2 : (uint32_t)value[D];
}

struct state {
    double period;
    double look;     /* the period of the last look, counted from the origin of the time; -1: none yet */
    double expected; /* jobs in a period */
    double jobs;     /* since the last look */
    uint32_t servers, d;
    enum pick pick;
    bool waits;                     /* probes take time here: route does not send them */
    _Alignas(double) double upto[]; /* the chances of all up to this one, times their sum; then the board */
};

static uint32_t *board_of(const struct state *state) {
    return (uint32_t *)(uintptr_t)&state->upto[state->servers];
}

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return sizeof(struct state) + context->servers * (sizeof(double) + sizeof(uint32_t));
}

/* The sum of max(0, level - q) is `sum`: Newton's method from above, as in scd.c. */
static double find_level(const uint32_t *board, uint32_t servers, double sum) {
    for (double level = INFINITY;;) {
        double lengths = sum, below = 0;
        for (uint32_t server = 0; server < servers; server++)
            if (board[server] < level) {
                lengths += board[server];
                below++;
            }
        if (!(lengths / below < level))
            return level;
        level = lengths / below;
    }
}

static void set_chances(struct state *state) {
    const uint32_t *board = board_of(state);
    const double level = find_level(board, state->servers, state->expected);
    double upto = 0;
    for (uint32_t server = 0; server < state->servers; server++) {
        upto += fmax(0, level - board[server]);
        state->upto[server] = upto;
    }
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    const double expected = context->load * context->servers * value[PERIOD];
    *state = (struct state){.period = value[PERIOD],
                            .look = -1,
                            .expected = expected > 1 ? expected : 1, /* not where the load is NaN */
                            .servers = context->servers,
                            .d = d_of(value),
                            .pick = (enum pick)value[PICK]};
    memset(board_of(state), 0, context->servers * sizeof(uint32_t));
    set_chances(state);
}

/* Is the board one of an earlier period? Then a look is due, and taken as made. */
static bool begins_period(struct state *state, const struct bal_fleet *fleet) {
    const double now = floor(fleet->now / state->period);
    if (!(now > state->look))
        return false;
    if (state->look >= 0)
        state->expected = fmax(1, state->jobs / (now - state->look));
    state->jobs = 0;
    state->look = now;
    return true;
}

static void look_at_queues(struct state *state, struct bal_fleet *fleet) {
    uint32_t *board = board_of(state);
    const uint32_t count = fleet->sample ? fleet->samples : bal_eligible_count(fleet);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t server = fleet->sample ? fleet->sample[i] : bal_eligible_at(fleet, i);
        if (bal_is_eligible(fleet, server))
            board[server] = bal_probe(fleet, server);
    }
    if (state->pick == INTERPRET)
        set_chances(state);
}

static uint32_t shortest_of_d(const struct state *state, const struct bal_fleet *fleet, struct bal_rng *rng) {
    const uint32_t *board = board_of(state);
    uint32_t best = bal_draw(fleet, rng);
    for (uint32_t i = 1; i < state->d && best != BAL_NONE; i++) {
        const uint32_t server = bal_draw(fleet, rng);
        if (board[server] < board[best])
            best = server;
    }
    return best;
}

static uint32_t shortest_of_all(const struct state *state, const struct bal_fleet *fleet,
                                struct bal_rng *rng) {
    const uint32_t *board = board_of(state);
    uint32_t best = BAL_NONE, ties = 0;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        if (ties && board[server] > board[best])
            continue;
        ties = !ties || board[server] < board[best] ? 1 : ties + 1;
        if (ties == 1 || bal_rng_below(rng, ties) == 0)
            best = server;
    }
    return best;
}

/* One that may not be chosen now is replaced by any. */
static uint32_t draw_by_chance(const struct state *state, const struct bal_fleet *fleet,
                               struct bal_rng *rng) {
    const double u = bal_rng_uniform(rng) * state->upto[state->servers - 1];
    uint32_t low = 0, high = state->servers - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (u < state->upto[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return bal_is_eligible(fleet, low) ? low : bal_draw(fleet, rng);
}

/* Chances are for each job; what is compared is filled up. */
static struct bal_decision route_split(const struct state *state, struct bal_fleet *fleet, uint32_t count,
                                       struct bal_rng *rng) {
    const uint32_t *board = board_of(state);
    uint32_t candidates = 0;
    if (bal_eligible_count(fleet) == 0)
        return bal_to(BAL_NONE);
    if (state->pick == INTERPRET) {
        bli_shares_begin(fleet);
        for (uint32_t i = 0; i < count; i++)
            fleet->shares[draw_by_chance(state, fleet, rng)].count++;
        return bli_shares_end(fleet);
    }
    const uint32_t compared = state->pick == CHOICES ? state->d : bal_eligible_count(fleet);
    for (uint32_t i = 0; i < compared; i++) {
        const uint32_t server = state->pick == CHOICES ? bal_draw(fleet, rng) : bal_eligible_at(fleet, i);
        if (state->pick == SHORTEST || !bli_shares_contain(fleet->shares, candidates, server))
            fleet->shares[candidates++] = (struct bal_share){server, board[server]};
    }
    return bli_water_fill(fleet, candidates, count, rng);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    if (fleet->sample || begins_period(state, fleet))
        look_at_queues(state, fleet);
    state->jobs += job->count;
    if (job->split && job->count > 1)
        return route_split(state, fleet, job->count, rng);
    return bal_to(state->pick == CHOICES    ? shortest_of_d(state, fleet, rng)
                  : state->pick == SHORTEST ? shortest_of_all(state, fleet, rng)
                                            : draw_by_chance(state, fleet, rng));
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)job, (void)rng;
    if (begins_period(block, fleet))
        bli_ask_all(fleet);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->period != value[PERIOD] || state->d != d_of(value) || state->pick != (enum pick)value[PICK] ||
        state->servers != context->servers ||
        !(state->look >= -1 && state->expected >= 1 && state->jobs >= 0))
        return false;
    double upto = 0;
    for (uint32_t server = 0; server < context->servers; upto = state->upto[server++])
        if (!(state->upto[server] >= upto))
            return false;
    return upto > 0 && upto < INFINITY;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    return context->servers * (bits_of_count(context->servers) + (value[PICK] == INTERPRET ? 64 : 0));
}

const struct bal_policy bli_policy_board = {
    .name = "board",
    .summary = "pod or jsq by queue lengths that are looked at once in a period",
    .paper = "Mitzenmacher 2000",
    .cost = "N probes a period",
    .flags = BAL_SYMMETRIC | BAL_ON_REQUEST | BAL_NEEDS_TIME | BAL_ASKS_ALL,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .check = check,
    .memory_bits = memory_bits,
};
