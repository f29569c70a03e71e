/* SPDX-License-Identifier: BSD-2-Clause */
/* The schedule of health checks: which server is checked when and by which process, and what results mean.
 *
 *     unchecked --passed--> passing --failed `falls` times in a row--> failing --passed `rises` times-+
 *         |                    ^                                           ^                          |
 *         +---------- failed `falls` times in a row -----------------------+                          |
 *                              +----------------------------------------------------------------------+
 *
 * No two servers keep a distance in time: each gap is drawn uniformly from 0.9 to 1.1 intervals, the second
 * one from 0 to 1, so that a thousand servers that were added at once are spread over the interval after
 * their first checks, and stay so. */
#include "live/check_private.h"

#include "live/ledger.h"

#include <math.h>

#define NEVER UINT64_MAX

static const uint64_t ms = UINT64_C(1000000); /* in ns */

enum {
    FIRST_MS = 10,    /* for each server, over which the first checks are spread */
    PAUSE_MS = 500,   /* a process that has not asked for so long has missed checks, which are spread again */
    LATE_MS = 500,    /* a check that fails so long after its time-out was not looked after */
    LOST_MS = 1000,   /* one without a result so long after it is made again */
    SERVER_BITS = 20, /* of a ticket: the server */
};

/* ---- the block ---- */

static size_t tree_at(uint32_t servers) {
    return sizeof(struct bli_checks) + servers * sizeof(struct bli_check_server);
}

static struct bli_tournament *tree_of(const struct bli_checks *checks) {
    return (void *)((char *)checks + tree_at(checks->servers));
}

size_t bli_checks_size(uint32_t servers) {
    return tree_at(servers) + bli_tournament_size(servers);
}

void bli_checks_init(struct bli_checks *checks, uint32_t servers) {
    *checks = (struct bli_checks){.servers = servers, .worker = BLI_NOBODY};
    for (uint32_t server = 0; server < servers; server++)
        checks->server[server] = (struct bli_check_server){0};
    bli_tournament_init(tree_of(checks), servers, INFINITY);
}

/* When something is to be done for the server. */
static double key_of(const struct bli_check_server *s) {
    return s->checked ? (double)s->due : INFINITY;
}

static void schedule(struct bli_checks *checks, uint32_t server) {
    bli_tournament_set(tree_of(checks), server, key_of(&checks->server[server]));
}

/* Nobody will finish it: it is due again. */
static void forget_check(struct bli_check_server *s) {
    if (s->ticket)
        s->due = s->sent_at;
    s->ticket = 0;
}

void bli_checks_rebuild(struct bli_checks *checks) {
    checks->checked = checks->failing = 0;
    bli_tournament_init(tree_of(checks), checks->servers, INFINITY);
    for (uint32_t server = 0; server < checks->servers; server++) {
        struct bli_check_server *s = &checks->server[server];
        if (checks->worker == BLI_NOBODY)
            forget_check(s);
        checks->checked += s->checked;
        checks->failing += s->checked && s->state == BAL_CHECK_FAILING;
        schedule(checks, server);
    }
}

const char *bli_checks_find_inconsistency(const struct bli_checks *checks) {
    uint32_t checked = 0, failing = 0;
    for (uint32_t server = 0; server < checks->servers; server++) {
        const struct bli_check_server *s = &checks->server[server];
        checked += s->checked;
        failing += s->checked && s->state == BAL_CHECK_FAILING;
        if (bli_tournament_key(tree_of(checks), server) != key_of(s))
            return "a check is not scheduled for when it is due";
        if (s->ticket && checks->worker == BLI_NOBODY)
            return "a check is under way that nobody makes";
    }
    return checked != checks->checked || failing != checks->failing ? "checked servers are counted wrongly"
                                                                    : NULL;
}

/* ---- when ---- */

static uint64_t draw_below(uint64_t ns, struct bal_rng *rng) {
    return (uint64_t)(bal_rng_uniform(rng) * (double)ns);
}

/* So many checks are to begin soon, but not at once. */
static uint64_t soon(const struct bli_checks *checks, uint64_t now, struct bal_rng *rng) {
    const uint64_t span = (uint64_t)checks->checked * FIRST_MS * ms, interval = checks->config.interval_ns;
    return now + draw_below(span < interval ? span : interval, rng);
}

static uint64_t after_gap(const struct bli_checks *checks, const struct bli_check_server *s, uint64_t now,
                          struct bal_rng *rng) {
    const uint64_t interval = checks->config.interval_ns;
    if (s->ended <= 1)
        return now + draw_below(interval, rng);
    return now + interval - interval / 10 + draw_below(interval / 5, rng);
}

void bli_checks_reschedule(struct bli_checks *checks, uint64_t now, struct bal_rng *rng) {
    const uint64_t interval = checks->config.interval_ns, latest = now + interval + interval / 10;
    for (uint32_t server = 0; server < checks->servers; server++) {
        struct bli_check_server *s = &checks->server[server];
        if (!s->checked || s->ticket || s->due <= latest)
            continue;
        s->due = now + draw_below(interval, rng);
        schedule(checks, server);
    }
}

void bli_checks_add(struct bli_checks *checks, uint32_t server, uint64_t now, struct bal_rng *rng) {
    struct bli_check_server *s = &checks->server[server];
    bli_checks_remove(checks, server);
    checks->checked++;
    *s = (struct bli_check_server){.checked = 1, .due = soon(checks, now, rng)};
    schedule(checks, server);
}

void bli_checks_remove(struct bli_checks *checks, uint32_t server) {
    struct bli_check_server *s = &checks->server[server];
    if (!s->checked)
        return;
    checks->checked--;
    checks->failing -= s->state == BAL_CHECK_FAILING;
    *s = (struct bli_check_server){0};
    schedule(checks, server);
}

/* ---- who ---- */

void bli_checks_release(struct bli_checks *checks, uint32_t worker) {
    if (checks->worker != worker)
        return;
    for (uint32_t server = 0; server < checks->servers; server++) {
        if (!checks->server[server].ticket)
            continue;
        forget_check(&checks->server[server]);
        schedule(checks, server);
    }
    checks->worker = BLI_NOBODY;
}

/* What should have been checked meanwhile is spread, so that not all of it begins at once. What has waited
 * longest begins now, so that a process which comes too late each time still checks. */
static void spread_missed(struct bli_checks *checks, uint64_t now, struct bal_rng *rng) {
    const uint32_t first = bli_tournament_draw(tree_of(checks), rng);
    for (uint32_t server = 0; server < checks->servers; server++) {
        struct bli_check_server *s = &checks->server[server];
        if (!s->checked || s->due > now || server == first)
            continue;
        s->ticket = 0;
        s->due = soon(checks, now, rng);
        schedule(checks, server);
    }
}

/* Is this the process that checks? It becomes that when there is none, or that one has not asked for long. */
static bool claim(struct bli_checks *checks, uint64_t now, uint32_t worker, struct bal_rng *rng) {
    const uint64_t silent = now - checks->asked_at;
    const bool takes_over = checks->worker != worker;
    if (takes_over && checks->worker != BLI_NOBODY && silent <= BAL_CHECK_LEASE_MS * ms)
        return false;
    if (takes_over)
        bli_checks_release(checks, checks->worker);
    if (checks->asked_at && silent > PAUSE_MS * ms)
        spread_missed(checks, now, rng);
    checks->worker = worker;
    checks->asked_at = now;
    return true;
}

bool bli_checks_next(struct bli_checks *checks, uint64_t now, uint32_t worker, struct bal_rng *rng,
                     struct bal_check_order *order) {
    if (!checks->checked || !claim(checks, now, worker, rng) || bli_checks_due(checks) > now)
        return false;
    order->server = bli_tournament_draw(tree_of(checks), rng);
    order->ticket = ++checks->tickets << SERVER_BITS | order->server;
    struct bli_check_server *s = &checks->server[order->server];
    s->ticket = order->ticket;
    s->sent_at = now;
    s->due = now + checks->config.timeout_ns + LOST_MS * ms;
    schedule(checks, order->server);
    return true;
}

uint64_t bli_checks_due(const struct bli_checks *checks) {
    const double due = bli_tournament_min(tree_of(checks));
    return due < 1.8e19 ? (uint64_t)due : NEVER;
}

/* ---- what ---- */

static uint32_t next_state(const struct bli_checks *checks, const struct bli_check_server *s, bool passed) {
    const struct bal_check_config *c = &checks->config;
    if (s->state == BAL_CHECK_FAILING)
        return passed && s->in_a_row >= c->rises ? BAL_CHECK_PASSING : BAL_CHECK_FAILING;
    if (passed)
        return BAL_CHECK_PASSING;
    return s->in_a_row >= c->falls ? BAL_CHECK_FAILING : s->state;
}

static void add_result(struct bli_checks *checks, struct bli_check_server *s, uint64_t now,
                       enum bal_check_result result) {
    const bool passed = result == BAL_CHECK_PASSED;
    const bool as_before = s->result != BAL_CHECK_NONE && (s->result == BAL_CHECK_PASSED) == passed;
    s->in_a_row = as_before ? s->in_a_row + (s->in_a_row < UINT32_MAX) : 1;
    s->result = result;
    s->result_at = now;
    s->took_ns = now - s->sent_at;
    s->ended++;
    s->passed += passed;
    s->failed += !passed;
    const uint32_t state = next_state(checks, s, passed);
    checks->failing -= s->state == BAL_CHECK_FAILING;
    checks->failing += state == BAL_CHECK_FAILING;
    s->changes += state == BAL_CHECK_FAILING && s->state != state;
    s->state = state;
}

/* A process that was stopped, or that waited for a processor, finds all time-outs over. */
static bool says_nothing(const struct bli_checks *checks, const struct bli_check_server *s, uint64_t now,
                         enum bal_check_result result) {
    return result == BAL_CHECK_LOCAL ||
           (result != BAL_CHECK_PASSED && now > s->sent_at + checks->config.timeout_ns + LATE_MS * ms);
}

uint32_t bli_checks_finish(struct bli_checks *checks, uint64_t now, uint64_t ticket,
                           enum bal_check_result result, struct bal_rng *rng) {
    const uint32_t server = ticket & ((1u << SERVER_BITS) - 1);
    if (!ticket || server >= checks->servers || checks->server[server].ticket != ticket)
        return BAL_NONE;
    struct bli_check_server *s = &checks->server[server];
    if (!says_nothing(checks, s, now, result))
        add_result(checks, s, now, result);
    s->ticket = 0;
    s->due = after_gap(checks, s, now, rng);
    schedule(checks, server);
    return server;
}

/* ---- names ---- */

const char *bal_check_state_name(enum bal_check_state state) {
    static const char *const names[BAL_CHECK_STATES] = {"unchecked", "passing", "failing"};
    return (unsigned)state < BAL_CHECK_STATES ? names[state] : "?";
}

const char *bal_check_result_name(enum bal_check_result result) {
    static const char *const names[BAL_CHECK_RESULTS] = {
        [BAL_CHECK_NONE] = "none",           [BAL_CHECK_PASSED] = "passed", [BAL_CHECK_REFUSED] = "refused",
        [BAL_CHECK_TIMED_OUT] = "timed out", [BAL_CHECK_CLOSED] = "closed", [BAL_CHECK_TLS] = "tls",
        [BAL_CHECK_MALFORMED] = "malformed", [BAL_CHECK_STATUS] = "status", [BAL_CHECK_BODY] = "body",
        [BAL_CHECK_LOCAL] = "local"};
    return (unsigned)result < BAL_CHECK_RESULTS ? names[result] : "?";
}

static enum bal_code check_time(const char *name, uint64_t ns, uint64_t least, struct bal_error *err) {
    const uint64_t most = 3600 * 1000 * ms;
    if (ns >= least && ns <= most)
        return BAL_OK;
    return bal_fail(err, BAL_E_RANGE, "%s of checks is %g s; use %g s to an hour", name, (double)ns * 1e-9,
                    (double)least * 1e-9);
}

enum bal_code bal_check_config_check(const struct bal_check_config *config, struct bal_error *err) {
    enum bal_code code = check_time("interval", config->interval_ns, 10 * ms, err);
    if (!code)
        code = check_time("timeout", config->timeout_ns, ms, err);
    return code;
}
