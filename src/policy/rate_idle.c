/* SPDX-License-Identifier: BSD-2-Clause */
/* rate-idle: servers are started when fewer become idle than jobs come, whether or not the job that comes
 * finds one idle. Servers switch themselves off after standing by idle for an exponential time; a set-up
 * takes an exponential time. A job goes to a uniform server that is idle and on, else to a uniform busy one,
 * as under tabs.
 *
 * Let x be the servers with one job and y those in set-up: x + nu y of them become idle in a mean service
 * time, and lambda N jobs come. With chance gain max(0, 1 - (x + nu y)/(lambda N)) an arrival is an epoch at
 * which a uniform server that is off is started: a Poisson process of the rate gain (lambda N - x - nu y)+.
 *
 * This is the condition of Anselmi (2024, asynchronous load balancing and auto-scaling): scale up if and only
 * if the mean demand exceeds the rate at which servers become idle and active; the name is his, too. Ours, as
 * the text was not at hand: the rate is proportional to what is missing, epochs are arrivals that are thinned
 * (in the limit of many servers it does not matter where they lie), and jobs know the idle servers (his paper
 * has power of d choices as well). The number of servers with one job is known from the requests in flight:
 * one dispatcher. The demand is the load that the policy is told of.
 *
 * With no server on at all the job is refused, and one is started, unless one is in set-up.
 * Cost: reports as those of tabs: on becoming idle, on switching off and on being set up. Memory: the colour
 * of every server and its requests, 2 N bits and N numbers. O(N) for an arrival that may be such an epoch. In
 * the limit of many servers, where no server is idle this is tabs with gain=1; fluid paths tend to the same
 * point, no wait and nobody on without a job (src/theory/fluid_tabs.c; not proved here). */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

enum { MU, NU, GAIN };

static const struct bal_param params[] = {
    [MU] = {"mu", 0, 1e9, 0.1, false, true, "rate at which an idle server switches off; 0: never"},
    [NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
    [GAIN] = {"gain", 1e-3, 1, 1, false, false,
              "servers started for each job that comes beyond those that become idle"},
};

enum token_colour { GREEN, RED, YELLOW, BLUE, COLOURS };

struct state {
    double nu, gain;
    double demand; /* jobs in a mean service time */
    uint32_t servers;
};

static struct bal_set *colour_set(const struct state *state, enum token_colour colour) {
    return (struct bal_set *)((char *)(state + 1) + colour * bal_set_size(state->servers));
}

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return sizeof(struct state) + COLOURS * bal_set_size(context->servers);
}

/* A server that has reported nothing is busy. */
static void init(void *block, const double *value, const struct bal_policy_context *context) {
    struct state *state = block;
    *state = (struct state){value[NU], value[GAIN], context->load * context->servers, context->servers};
    for (enum token_colour colour = GREEN; colour < COLOURS; colour++)
        bal_set_init(colour_set(state, colour), context->servers);
    for (uint32_t server = 0; server < context->servers; server++)
        bal_set_insert(colour_set(state, YELLOW), server);
}

/* COLOURS: none, because nothing is known of it. */
static void set_colour(struct state *state, uint32_t server, enum token_colour to) {
    for (enum token_colour colour = GREEN; colour < COLOURS; colour++)
        bal_set_remove(colour_set(state, colour), server);
    if (to < COLOURS)
        bal_set_insert(colour_set(state, to), server);
}

/* The rate at which servers become idle and are set up. */
static double idle_rate(const struct state *state, const struct bal_fleet *fleet) {
    const struct bal_set *busy = colour_set(state, YELLOW);
    double rate = state->nu * colour_set(state, BLUE)->count;
    for (uint32_t i = 0; i < busy->count; i++)
        rate += bal_own(fleet, busy->slot[i]) == 1;
    return rate;
}

static bool is_start_due(const struct state *state, const struct bal_fleet *fleet, struct bal_rng *rng) {
    const double u = bal_rng_uniform(rng);
    return u < state->gain && u < state->gain * (1 - idle_rate(state, fleet) / state->demand);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)job;
    struct state *state = block;
    const bool due = is_start_due(state, fleet, rng);
    const uint32_t idle = bli_draw_among(colour_set(state, GREEN), fleet, rng);
    struct bal_decision decision =
        bal_to(idle != BAL_NONE ? idle : bli_draw_among(colour_set(state, YELLOW), fleet, rng));
    if (due || (decision.server == BAL_NONE && colour_set(state, BLUE)->count == 0))
        decision.wake = bli_draw_among(colour_set(state, RED), fleet, rng);
    if (idle != BAL_NONE)
        set_colour(state, idle, YELLOW);
    if (decision.wake != BAL_NONE)
        set_colour(state, decision.wake, BLUE);
    return decision;
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)fleet, (void)load;
    set_colour(block, server,
               what == BAL_REPORT_OFF     ? RED
               : what == BAL_REPORT_SETUP ? BLUE
               : what == BAL_REPORT_BUSY  ? YELLOW
               : what == BAL_REPORT_GONE  ? COLOURS
                                          : GREEN);
}

static uint32_t tokens(const void *block) {
    return colour_set(block, GREEN)->count;
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    const struct state *state = block;
    if (state->servers != context->servers || state->nu != value[NU] || state->gain != value[GAIN])
        return false;
    for (enum token_colour colour = GREEN; colour < COLOURS; colour++)
        if (!bal_set_sound(colour_set(state, colour), context->servers))
            return false;
    for (uint32_t server = 0; server < context->servers; server++) {
        unsigned colours = 0;
        for (enum token_colour colour = GREEN; colour < COLOURS; colour++)
            colours += bal_set_contains(colour_set(state, colour), server);
        if (colours > 1)
            return false;
    }
    return true;
}

static double memory_bits(const double *value, const struct bal_policy_context *context) {
    (void)value;
    return (2.0 + bits_of_count(context->servers)) * context->servers;
}

static struct bal_power power(const double *value) {
    return (struct bal_power){.standby_rate = value[MU], .setup_rate = value[NU]};
}

static enum bal_code check(const double *value, const struct bal_policy_context *context,
                           struct bal_error *err) {
    (void)value;
    if (!(context->load > 0))
        return bal_fail(
            err, BAL_E_MODEL,
            "policy 'rate-idle' compares the load with the rate at which servers become idle, and "
            "the load is not known here; use tabs");
    return BAL_OK;
}

const struct bal_policy bli_policy_rate_idle = {
    .name = "rate-idle",
    .summary = "as tabs, but servers are started when fewer become idle than jobs come, ahead of need",
    .paper = "Anselmi 2024",
    .cost = "at most 2 reports",
    .flags = BAL_SYMMETRIC | BAL_MAY_REFUSE | BAL_NEEDS_OWN | BAL_ON_REQUEST,
    .wants = BAL_WANTS_IDLE | BAL_WANTS_POWER,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
    .report = report,
    .tokens = tokens,
    .memory_bits = memory_bits,
    .power = power,
    .check = check,
};
