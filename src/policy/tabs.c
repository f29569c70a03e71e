/* tabs: token-based auto balance scaling. Servers switch themselves off after standing by idle, and the
 * dispatcher starts one when a job finds no idle server: balancing and autoscaling together.
 *
 * A server is busy (yellow), idle and on (green), off (red) or in set-up. A job goes to a uniform green
 * server; without one it goes to a uniform busy server, and a uniform red one, if there is any, is started.
 * With nobody on at all the job is refused.
 *
 * Cost: reports on becoming idle, on switching off and on being set up: at most two a job, one more for each
 * server that was on at the start and two for each that was in set-up.
 * Memory: the colour of every server, 2 N bits.
 * Proved: as N grows both the waiting time and the energy spent above the optimum vanish, whatever the rates
 * of standby and set-up (Mukherjee, Dhara, Borst and van Leeuwaarden 2017). Without switching off (mu = 0) it
 * is jiq. */
#include "policy/parts.h"
#include "policy/table.h"

enum { MU, NU };

static const struct bal_param params[] = {
    [MU] = {"mu", 0, 1e9, 0.1, false, true, "rate at which an idle server switches off; 0: never"},
    [NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
};

/* Where a server is. One set after the other in one block. */
static struct bal_set *green(void *state) {
    return state;
}

static struct bal_set *after(struct bal_set *set) {
    return (struct bal_set *)((char *)set + bal_set_size(set->capacity));
}

static struct bal_set *red(void *state) {
    return after(green(state));
}

static struct bal_set *yellow(void *state) {
    return after(red(state));
}

static size_t size(const double *value, const struct bal_setting *setting) {
    (void)value;
    return 3 * bal_set_size(setting->servers);
}

/* A server that has reported nothing is busy. */
static void init(void *state, const double *value, const struct bal_setting *setting) {
    (void)value;
    bal_set_init(green(state), setting->servers);
    bal_set_init(red(state), setting->servers);
    bal_set_init(yellow(state), setting->servers);
    for (uint32_t server = 0; server < setting->servers; server++)
        bal_set_insert(yellow(state), server);
}

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)fleet, (void)job;
    if (green(state)->count > 0) {
        const uint32_t server = bal_set_uniform(green(state), rng);
        bal_set_remove(green(state), server);
        bal_set_insert(yellow(state), server);
        return bal_to(server);
    }
    struct bal_decision decision = bal_to(BAL_NONE);
    if (yellow(state)->count > 0)
        decision.server = bal_set_uniform(yellow(state), rng);
    if (red(state)->count > 0) {
        decision.wake = bal_set_uniform(red(state), rng);
        bal_set_remove(red(state), decision.wake);
    }
    return decision;
}

static void report(void *state, enum bal_report what, uint32_t server) {
    bal_set_remove(green(state), server);
    bal_set_remove(yellow(state), server);
    if (what == BAL_REPORT_OFF)
        bal_set_insert(red(state), server);
    else if (what != BAL_REPORT_SETUP)
        bal_set_insert(green(state), server);
}

static double memory_bits(const double *value, const struct bal_setting *setting) {
    (void)value;
    return 2.0 * setting->servers;
}

static struct bal_power power(const double *value) {
    return (struct bal_power){.standby_rate = value[MU], .setup_rate = value[NU]};
}

const struct bal_policy bal_policy_tabs = {
    .name = "tabs",
    .summary = "an idle server that is on, else a busy one, and an idle one that is off is started",
    .paper = "Mukherjee et al. 2017",
    .cost = "at most 2 reports",
    .flags = BAL_SYMMETRIC | BAL_MAY_REFUSE,
    .wants = BAL_WANTS_IDLE | BAL_WANTS_POWER,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .size = size,
    .init = init,
    .report = report,
    .memory_bits = memory_bits,
    .power = power,
};
