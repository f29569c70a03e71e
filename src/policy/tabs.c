/* SPDX-License-Identifier: BSD-2-Clause */
/* tabs: token-based auto balance scaling. Servers switch themselves off after standing by idle, and the
 * dispatcher starts one when a job finds no idle server: balancing and autoscaling together.
 *
 * A server is busy (yellow), idle and on (green), off (red) or in set-up (blue). A job goes to a uniform
 * green server; without one it goes to a uniform busy server, or as the parameter `else` selects, and a
 * uniform red one, if there is any, is started: once for each job, also where it is held and routed again.
 * With no server on at all the job is refused, as in the paper, or waits for one (none=hold), as it does live
 * and in replays of logs; then the wake message is sent again to one of those in set-up, in turn: otherwise a
 * fleet whose wake messages were lost would stay off for ever. With abort=yes a job that finds a green server
 * aborts a set-up, of a uniform blue server, as a job that finds none starts one; the server is off and
 * reports it.
 *
 * With idle=lowest the job goes to the green server with the lowest number, and the red one with the lowest
 * number is started: servers with high numbers are used only as long as the others do not suffice. Where
 * servers switch off after a fixed time, they then do; chosen uniformly, all that are on get a job now and
 * then, and several stay on where one suffices. (A standby time that is exponential has no memory, and it
 * does not matter which of the idle servers is used.) idle=fastest takes the fastest green server. With
 * after=K a server is started when K jobs in a row have found none idle, and only the first of all at once:
 * two jobs that come together by chance start none.
 *
 * Cost: reports on becoming idle, on switching off and on being set up: at most two a job, three where jobs
 * are held, one more for each server that was on at the start and two for each that was in set-up.
 * Memory: the colour of every server, 2 N bits.
 * Proved: as N grows both the waiting time and the energy spent above the optimum vanish, whatever the rates
 * of standby and set-up (Mukherjee, Dhara, Borst and van Leeuwaarden 2017). Without switching off (mu = 0) it
 * is jiq. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { MU, NU, ELSE, NONE, ABORT, OFF, IDLE, AFTER };

enum none { NONE_REFUSE, NONE_HOLD, NONE_OPEN };
static const char *const none_words[] = {"refuse", "hold"};
static const char *const abort_words[] = {"no", "yes"};
static const char *const off_words[] = {"wake", "discard"};

static const struct bal_param params[] = {
    [MU] = {"mu", 0, 1e9, 0.1, false, true, "rate at which an idle server switches off; 0: never"},
    [NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
    [ELSE] = BLI_ELSE_PARAM,
    [NONE] =
        {"none", 0, NONE_HOLD, NAN, true, false,
         "what becomes of a job when no server is on: refused, or it waits; without it refused in the lab "
         "(unless else=hold), and it waits live and in replays",
         none_words},
    [ABORT] = {"abort", 0, 1, 0, true, false,
               "does a job that finds an idle server abort the set-up of one that is started?", abort_words},
    [OFF] = {"off", 0, 1, 0, true, false,
             "what a server that is off does with a job that reaches it, where messages take time: it is "
             "woken by it, or "
             "discards it",
             off_words},
    [IDLE] = BLI_IDLE_PARAM,
    [AFTER] = {"after", 1, 1000, 1, true, false,
               "jobs in a row that find no idle server, after which one is started; at once if none is on"},
};

enum colour { GREEN, RED, YELLOW, BLUE, COLOURS };

/* Behind it lie a set for each colour and, where busy servers are compared by own counts, an index of those:
 * the key of a yellow server is its own count as of the last response or job. */
struct state {
    _Alignas(double) enum bli_else otherwise;
    enum none none;
    enum bli_idle which;
    bool aborts;
    uint32_t servers;
    uint32_t after;
    uint32_t misses; /* jobs in a row that have found no green server, since one was last started */
    uint32_t turn;   /* which of the blue ones gets the next wake message */
};

static struct bal_set *colour_set(const struct state *state, enum colour colour) {
    return (struct bal_set *)((char *)(state + 1) + colour * bal_set_size(state->servers));
}

static struct bli_tournament *busy_by_own(const struct state *state) {
    return (struct bli_tournament *)colour_set(state, COLOURS);
}

static enum none none_of(const double *value) {
    return isnan(value[NONE]) ? NONE_OPEN : (enum none)value[NONE];
}

static size_t size(const double *value, const struct bal_policy_context *context) {
    return sizeof(struct state) + COLOURS * bal_set_size(context->servers) +
           (value[ELSE] == BLI_ELSE_OWN ? bli_tournament_size(context->servers) : 0);
}

/* A server that has reported nothing is busy. */
static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){.otherwise = (enum bli_else)value[ELSE],
                            .none = none_of(value),
                            .which = (enum bli_idle)value[IDLE],
                            .aborts = value[ABORT] > 0,
                            .after = (uint32_t)value[AFTER],
                            .servers = context->servers};
    for (enum colour colour = GREEN; colour < COLOURS; colour++)
        bal_set_init(colour_set(state, colour), context->servers);
    for (uint32_t server = 0; server < context->servers; server++)
        bal_set_insert(colour_set(state, YELLOW), server);
    if (state->otherwise == BLI_ELSE_OWN)
        bli_tournament_init(busy_by_own(state), context->servers, 0);
}

/* Brings the key of a server up to date, which has `more` jobs than it has been sent so far. */
static void count_own(struct state *state, const struct bal_fleet *fleet, uint32_t server, uint32_t more) {
    if (state->otherwise != BLI_ELSE_OWN)
        return;
    const double weight = fleet->weight ? fleet->weight[server] : 1;
    const bool busy = bal_set_contains(colour_set(state, YELLOW), server);
    bli_tournament_set(busy_by_own(state), server,
                       busy ? ((double)bal_own(fleet, server) + more) / weight : INFINITY);
}

/* A server has one colour; COLOURS: none, because nothing is known of it. */
static void set_colour(struct state *state, const struct bal_fleet *fleet, uint32_t server, enum colour to,
                       uint32_t more) {
    for (enum colour colour = GREEN; colour < COLOURS; colour++)
        bal_set_remove(colour_set(state, colour), server);
    if (to < COLOURS)
        bal_set_insert(colour_set(state, to), server);
    count_own(state, fleet, server, more);
}

/* Is one of the busy servers open? Those that are not there yet, or not any longer, count as busy too. */
static bool is_any_on(const struct state *state, const struct bal_fleet *fleet) {
    const struct bal_set *busy = colour_set(state, YELLOW);
    for (uint32_t i = 0; i < busy->count; i++)
        if (bal_is_eligible(fleet, busy->slot[i]))
            return true;
    return false;
}

/* The one with fewer own requests of two different busy servers that are eligible. */
static uint32_t fewer_of_two(struct bal_set *busy, const struct bal_fleet *fleet, struct bal_rng *rng) {
    const uint32_t a = bli_draw_among(busy, fleet, rng);
    if (a == BAL_NONE)
        return a;
    bal_set_remove(busy, a);
    const uint32_t b = bli_draw_among(busy, fleet, rng);
    bal_set_insert(busy, a);
    return b != BAL_NONE && bal_own_over_weight(fleet, b) < bal_own_over_weight(fleet, a) ? b : a;
}

/* No green one is eligible. */
static uint32_t route_to_busy(struct state *state, struct bal_fleet *fleet, const struct bal_job *job,
                              bool any_on, struct bal_rng *rng) {
    struct bal_set *busy = colour_set(state, YELLOW);
    if (!any_on && state->none == NONE_REFUSE)
        return BAL_NONE;
    /* Those that are held wait for an idle server, else all of them would meet at the first that is on. */
    const bool held = state->none == NONE_HOLD && (!any_on || job->held > 0);
    if ((held || state->otherwise == BLI_ELSE_HOLD) && !job->at_once)
        return BAL_HOLD;
    if (state->otherwise == BLI_ELSE_OWN2)
        return fewer_of_two(busy, fleet, rng);
    if (state->otherwise != BLI_ELSE_OWN)
        return bli_draw_among(busy, fleet, rng);
    const uint32_t server = bli_draw_least(busy_by_own(state), fleet, rng);
    if (server != BAL_NONE)
        count_own(state, fleet, server, job->count);
    return server;
}

/* One for each job, or each `after` jobs, that arrives and finds no green server. Held jobs are routed again
 * at every report; for them servers are started only while fewer are in set-up, since a start may have
 * failed. */
static bool is_one_more_wanted(struct state *state, const struct bal_job *job, bool any_on) {
    const uint32_t blue = colour_set(state, BLUE)->count;
    if (!any_on && blue == 0)
        return true;
    if (job->held > 0)
        return job->held / state->after > blue;
    return ++state->misses >= state->after;
}

/* A server to start when no green one is eligible. */
static uint32_t choose_to_wake(struct state *state, struct bal_fleet *fleet, const struct bal_job *job,
                               bool any_on, struct bal_rng *rng) {
    const struct bal_set *blue = colour_set(state, BLUE);
    const bool one_more = is_one_more_wanted(state, job, any_on);
    struct bal_set *red = colour_set(state, RED);
    const uint32_t off = !one_more                         ? BAL_NONE
                         : state->which == BLI_IDLE_LOWEST ? bli_draw_lowest(red, fleet)
                                                           : bli_draw_among(red, fleet, rng);
    if (off != BAL_NONE) {
        set_colour(state, fleet, off, BLUE, 0);
        state->misses = 0;
        return off;
    }
    if (any_on || blue->count == 0)
        return BAL_NONE;
    const uint32_t again = blue->slot[state->turn++ % blue->count];
    return bal_is_eligible(fleet, again) ? again : BAL_NONE;
}

/* A job has found an idle server: one server less is wanted. */
static void abort_setup(struct state *state, struct bal_fleet *fleet, struct bal_rng *rng) {
    const uint32_t server = bli_draw_among(colour_set(state, BLUE), fleet, rng);
    if (server == BAL_NONE)
        return;
    set_colour(state, fleet, server, RED, 0);
    fleet->aborts = true;
    fleet->abort = server;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const uint32_t idle = bli_draw_idle(state->which, colour_set(state, GREEN), fleet, rng);
    if (idle != BAL_NONE) {
        set_colour(state, fleet, idle, YELLOW, job->count);
        state->misses = 0;
        if (state->aborts)
            abort_setup(state, fleet, rng);
        return bal_to(idle);
    }
    const bool any_on = is_any_on(state, fleet);
    struct bal_decision decision = bal_to(route_to_busy(state, fleet, job, any_on, rng));
    decision.wake = choose_to_wake(state, fleet, job, any_on, rng);
    return decision;
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)load;
    set_colour(block, fleet, server,
               what == BAL_REPORT_OFF     ? RED
               : what == BAL_REPORT_SETUP ? BLUE
               : what == BAL_REPORT_BUSY  ? YELLOW
               : what == BAL_REPORT_GONE  ? COLOURS
                                          : GREEN,
               0);
}

static void response(void *block, struct bal_fleet *fleet, uint32_t server, double time, bool failed) {
    (void)time, (void)failed;
    count_own(block, fleet, server, 0);
}

static const struct bal_set *pool(const void *block) {
    const struct state *state = block;
    return state->which == BLI_IDLE_ANY ? colour_set(state, GREEN) : NULL;
}

static uint32_t tokens(const void *block) {
    return colour_set(block, GREEN)->count;
}

static unsigned more_flags(const double *value) {
    const bool own = value[ELSE] == BLI_ELSE_OWN;
    return (bli_else_flags(value[ELSE]) & ~(unsigned)BAL_NEEDS_INDEX) | (own ? BAL_NEEDS_RESPONSES : 0) |
           (none_of(value) == NONE_HOLD ? BAL_MAY_HOLD : 0) | (value[ABORT] > 0 ? BAL_ABORTS : 0) |
           (value[OFF] > 0 ? BAL_DISCARDS : 0) | bli_idle_flags(value[IDLE]);
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->servers != context->servers || state->otherwise != (enum bli_else)value[ELSE] ||
        state->none != none_of(value) || state->which != (enum bli_idle)value[IDLE] ||
        state->after != (uint32_t)value[AFTER] || state->aborts != (value[ABORT] > 0))
        return false;
    const bool own = state->otherwise == BLI_ELSE_OWN;
    for (enum colour colour = GREEN; colour < COLOURS; colour++)
        if (!bal_set_sound(colour_set(state, colour), context->servers))
            return false;
    if (own && !bli_tournament_sound(busy_by_own(state), context->servers))
        return false;
    for (uint32_t server = 0; server < context->servers; server++) {
        unsigned colours = 0;
        for (enum colour colour = GREEN; colour < COLOURS; colour++)
            colours += bal_set_contains(colour_set(state, colour), server);
        const bool busy = bal_set_contains(colour_set(state, YELLOW), server);
        if (colours > 1 || (own && busy != (bli_tournament_key(busy_by_own(state), server) < INFINITY)))
            return false;
    }
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return 2.0 * context->servers;
}

static struct bal_power power(const double *value) {
    return (struct bal_power){.standby_rate = value[MU], .setup_rate = value[NU], .discards = value[OFF] > 0};
}

const struct bal_policy bli_policy_tabs = {
    .name = "tabs",
    .summary = "an idle server that is on, else a busy one, and an idle one that is off is started",
    .paper = "Mukherjee et al. 2017",
    .cost = "at most 2 reports",
    .flags = BAL_MAY_REFUSE,
    .wants = BAL_WANTS_IDLE | BAL_WANTS_POWER,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .response = response,
    .pool = pool,
    .tokens = tokens,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
    .power = power,
};
