/* tabs: token-based auto balance scaling. Servers switch themselves off after standing by idle, and the
 * dispatcher starts one when a job finds no idle server: balancing and autoscaling together.
 *
 * A server is busy (yellow), idle and on (green), off (red) or in set-up (blue). A job goes to a uniform
 * green server; without one it goes to a uniform busy server, or as `else` says, and a uniform red one, if
 * there is any, is started: once for each job, also where it is held and asked for again. With nobody on at
 * all the job is refused; then one of those in set-up is told once more to start, in turn, lest a fleet whose
 * wakes were lost sleep for ever.
 *
 * Cost: reports on becoming idle, on switching off and on being set up: at most two a job, one more for each
 * server that was on at the start and two for each that was in set-up.
 * Memory: the colour of every server, 2 N bits.
 * Proved: as N grows both the waiting time and the energy spent above the optimum vanish, whatever the rates
 * of standby and set-up (Mukherjee, Dhara, Borst and van Leeuwaarden 2017). Without switching off (mu = 0) it
 * is jiq. */
#include "policy/parts.h"
#include "policy/table.h"

enum { MU, NU, ELSE };

static const struct bal_param params[] = {
    [MU] = {"mu", 0, 1e9, 0.1, false, true, "rate at which an idle server switches off; 0: never"},
    [NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
    [ELSE] = BAL_ELSE_PARAM,
};

enum colour { GREEN, RED, YELLOW, BLUE, COLOURS };

/* Behind it lie a set for each colour and, where busy servers are compared by own counts, an index of those:
 * the key of a yellow server is its own count as of the last response or job. */
struct state {
    _Alignas(double) enum bal_else otherwise;
    uint32_t servers;
    uint32_t turn; /* who of the blue ones is told next */
};

static struct bal_set *set_of(const struct state *state, enum colour colour) {
    return (struct bal_set *)((char *)(state + 1) + colour * bal_set_size(state->servers));
}

static struct bal_tournament *busy_by_own(const struct state *state) {
    return (struct bal_tournament *)set_of(state, COLOURS);
}

static size_t size(const double *value, const struct bal_setting *setting) {
    return sizeof(struct state) + COLOURS * bal_set_size(setting->servers) +
           (value[ELSE] == BAL_ELSE_OWN ? bal_tournament_size(setting->servers) : 0);
}

/* A server that has reported nothing is busy. */
static void init(void *block, const double *value, const struct bal_setting *setting) {
    struct state *state = block;
    *state = (struct state){.otherwise = (enum bal_else)value[ELSE], .servers = setting->servers};
    for (enum colour colour = GREEN; colour < COLOURS; colour++)
        bal_set_init(set_of(state, colour), setting->servers);
    for (uint32_t server = 0; server < setting->servers; server++)
        bal_set_insert(set_of(state, YELLOW), server);
    if (state->otherwise == BAL_ELSE_OWN)
        bal_tournament_init(busy_by_own(state), setting->servers, 0);
}

/* Brings the key of a server up to date, which has `more` jobs than it has been sent so far. */
static void count_own(struct state *state, const struct bal_fleet *fleet, uint32_t server, uint32_t more) {
    if (state->otherwise != BAL_ELSE_OWN)
        return;
    const double weight = fleet->weight ? fleet->weight[server] : 1;
    const bool busy = bal_set_contains(set_of(state, YELLOW), server);
    bal_tournament_set(busy_by_own(state), server,
                       busy ? ((double)bal_own(fleet, server) + more) / weight : INFINITY);
}

/* A server has one colour; COLOURS: none, because nothing is known of it. */
static void paint(struct state *state, const struct bal_fleet *fleet, uint32_t server, enum colour to,
                  uint32_t more) {
    for (enum colour colour = GREEN; colour < COLOURS; colour++)
        bal_set_remove(set_of(state, colour), server);
    if (to < COLOURS)
        bal_set_insert(set_of(state, to), server);
    count_own(state, fleet, server, more);
}

/* The one with fewer own requests of two different busy servers that are open. */
static uint32_t fewer_of_two(struct bal_set *busy, const struct bal_fleet *fleet, struct bal_rng *rng) {
    const uint32_t a = bal_draw_among(busy, fleet, rng);
    if (a == BAL_NONE)
        return a;
    bal_set_remove(busy, a);
    const uint32_t b = bal_draw_among(busy, fleet, rng);
    bal_set_insert(busy, a);
    return b != BAL_NONE && bal_own_over_weight(fleet, b) < bal_own_over_weight(fleet, a) ? b : a;
}

/* No green one is open. */
static uint32_t route_to_busy(struct state *state, struct bal_fleet *fleet, const struct bal_job *job,
                              struct bal_rng *rng) {
    struct bal_set *busy = set_of(state, YELLOW);
    if (state->otherwise == BAL_ELSE_HOLD && !job->at_once)
        return BAL_HOLD;
    if (state->otherwise == BAL_ELSE_OWN2)
        return fewer_of_two(busy, fleet, rng);
    if (state->otherwise != BAL_ELSE_OWN)
        return bal_draw_among(busy, fleet, rng);
    const uint32_t server = bal_draw_least(busy_by_own(state), fleet, rng);
    if (server != BAL_NONE)
        count_own(state, fleet, server, job->count);
    return server;
}

/* Somebody to start, when no green one is open: one for each job that comes. Of those that are held, who may
 * be asked for again at every report, only as many as nobody is in set-up for: a start may have failed. */
static uint32_t wake(struct state *state, struct bal_fleet *fleet, const struct bal_job *job, bool nobody_on,
                     struct bal_rng *rng) {
    const struct bal_set *blue = set_of(state, BLUE);
    const bool one_more = job->held == 0 || blue->count < job->held;
    const uint32_t off = one_more ? bal_draw_among(set_of(state, RED), fleet, rng) : BAL_NONE;
    if (off != BAL_NONE) {
        paint(state, fleet, off, BLUE, 0);
        return off;
    }
    if (!nobody_on || blue->count == 0)
        return BAL_NONE;
    const uint32_t again = blue->slot[state->turn++ % blue->count];
    return bal_is_open(fleet, again) ? again : BAL_NONE;
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    struct state *state = block;
    const uint32_t idle = bal_draw_among(set_of(state, GREEN), fleet, rng);
    if (idle != BAL_NONE) {
        paint(state, fleet, idle, YELLOW, job->count);
        return bal_to(idle);
    }
    struct bal_decision decision = bal_to(route_to_busy(state, fleet, job, rng));
    decision.wake = wake(state, fleet, job, set_of(state, YELLOW)->count == 0, rng);
    return decision;
}

static void report(void *block, struct bal_fleet *fleet, enum bal_report what, uint32_t server,
                   const struct bal_reply *load) {
    (void)load;
    paint(block, fleet, server,
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
    return set_of(block, GREEN);
}

static uint32_t tokens(const void *block) {
    return set_of(block, GREEN)->count;
}

static unsigned more_flags(const double *value) {
    const bool own = value[ELSE] == BAL_ELSE_OWN;
    return (bal_else_flags(value[ELSE]) & ~(unsigned)BAL_NEEDS_INDEX) | (own ? BAL_NEEDS_RESPONSES : 0);
}

static bool sound(const void *block, const double *value, const struct bal_setting *setting) {
    const struct state *state = block;
    if (state->servers != setting->servers || state->otherwise != (enum bal_else)value[ELSE])
        return false;
    const bool own = state->otherwise == BAL_ELSE_OWN;
    for (enum colour colour = GREEN; colour < COLOURS; colour++)
        if (!bal_set_sound(set_of(state, colour), setting->servers))
            return false;
    if (own && !bal_tournament_sound(busy_by_own(state), setting->servers))
        return false;
    for (uint32_t server = 0; server < setting->servers; server++) {
        unsigned colours = 0;
        for (enum colour colour = GREEN; colour < COLOURS; colour++)
            colours += bal_set_contains(set_of(state, colour), server);
        const bool busy = bal_set_contains(set_of(state, YELLOW), server);
        if (colours > 1 || (own && busy != (bal_tournament_key(busy_by_own(state), server) < INFINITY)))
            return false;
    }
    return true;
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
    .sound = sound,
    .report = report,
    .response = response,
    .pool = pool,
    .tokens = tokens,
    .more_flags = more_flags,
    .memory_bits = memory_bits,
    .power = power,
};
