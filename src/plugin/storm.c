/* SPDX-License-Identifier: BSD-2-Clause */
/* The storm, a stress test of a policy: marks, reports and responses that are true, false, late, repeated and
 * out of range, jobs of every kind, clocks that step back. After each step the policy must have kept the
 * contract. */
#include "plugin/examine.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100000, N = EXAMINE_SERVERS };

static uint32_t any_server(struct bal_rng *rng) {
    static const uint32_t wrong[] = {N, N + 1, 1000000, BAL_HOLD, BAL_NONE, 1u << 31};
    return bal_rng_below(rng, 10) ? bal_rng_below(rng, N)
                                  : wrong[bal_rng_below(rng, sizeof wrong / sizeof *wrong)];
}

static double any_time(struct bal_rng *rng) {
    static const double wrong[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300};
    return bal_rng_below(rng, 8) ? bal_rng_exp(rng) : wrong[bal_rng_below(rng, sizeof wrong / sizeof *wrong)];
}

static struct bal_reply any_load(struct bal_rng *rng) {
    const uint32_t length = bal_rng_below(rng, 20) ? bal_rng_below(rng, 6) : UINT32_MAX;
    return (struct bal_reply){length, bal_rng_below(rng, 4), any_time(rng)};
}

static void toggle_server(struct examined *x) {
    const uint32_t server = any_server(&x->rng);
    if (bal_rng_below(&x->rng, 5) < 3)
        bal_set_insert(x->eligible, server);
    else
        bal_set_remove(x->eligible, server);
    if (bal_rng_below(&x->rng, 300) == 0)
        bal_set_init(x->eligible, N); /* no server */
}

static void send_report(struct examined *x) {
    const struct bal_reply load = any_load(&x->rng);
    bal_policy_report(x->spec, x->state, &x->fleet,
                      (enum bal_report)bal_rng_below(&x->rng, BAL_REPORT_LOAD + 2), any_server(&x->rng),
                      bal_rng_below(&x->rng, 10) ? &load : NULL);
}

static void send_state(struct examined *x) {
    const struct bal_server_state present = {(enum bal_server_status)bal_rng_below(&x->rng, 4),
                                             bal_rng_below(&x->rng, 3), any_load(&x->rng),
                                             bal_rng_below(&x->rng, 4) == 0};
    bal_policy_sync_server(x->spec, x->state, &x->fleet, any_server(&x->rng), &present);
}

/* What servers have, and the time. */
static void change_fleet(struct examined *x) {
    const uint32_t server = bal_rng_below(&x->rng, N);
    x->length[server] = bal_rng_below(&x->rng, 10) ? bal_rng_below(&x->rng, 5) : UINT32_MAX;
    x->urgent[server] = bal_rng_below(&x->rng, 4);
    x->own[server] = bal_rng_below(&x->rng, 10) ? bal_rng_below(&x->rng, 5) : UINT32_MAX;
    x->weight[server] = 0.5 + bal_rng_below(&x->rng, 3);
    x->fleet.now += bal_rng_below(&x->rng, 20) ? bal_rng_exp(&x->rng) : -100;
}

/* ---- is the decision one that may be? NULL: yes ---- */

static const char *wrong_parts(struct examined *x, const struct bal_decision *to, const struct bal_job *job) {
    bool seen[N] = {false};
    uint64_t sum = 0;
    if (!job->split)
        return "it divides a job that may not be divided";
    for (uint32_t i = 0; i < to->parts; i++) {
        const struct bal_share share = x->shares[i];
        if (i >= N || !bal_is_eligible(&x->fleet, share.server) || seen[share.server])
            return "a part of a job goes to a server that is closed, or named twice";
        seen[share.server] = true;
        sum += share.count;
    }
    return sum != job->count ? "the parts of a job do not add up to it" : NULL;
}

static const char *wrong_decision(struct examined *x, const struct bal_decision *to,
                                  const struct bal_job *job) {
    const unsigned flags = bal_policy_flags(x->spec);
    if (to->wake != BAL_NONE &&
        !(x->spec->policy->wants & BAL_WANTS_POWER && bal_is_eligible(&x->fleet, to->wake)))
        return "it wakes a server that is closed, or knows nothing of power";
    if (to->move_to != BAL_NONE && !(flags & BAL_MOVES_JOBS && bal_is_eligible(&x->fleet, to->move_to)))
        return "it moves a job to a server that is closed, or says nowhere that it moves jobs";
    if (to->server == BAL_HOLD)
        return !(flags & BAL_MAY_HOLD) ? "it holds a job and does not say that it may (BAL_MAY_HOLD)"
               : job->at_once          ? "it holds a job that must go at once"
                                       : NULL;
    if (to->server == BAL_NONE)
        return bal_eligible_count(&x->fleet) == 0 || flags & BAL_MAY_REFUSE
                   ? NULL
                   : "it places a job nowhere though servers are open (BAL_MAY_REFUSE)";
    if (to->parts)
        return wrong_parts(x, to, job);
    return bal_is_eligible(&x->fleet, to->server) ? NULL
                                                  : "it chooses a server that is closed or does not exist";
}

static const char *wrong_asks(const struct examined *x) {
    if (x->fleet.asks > EXAMINE_ROOM)
        return "it asks more servers than there is room for";
    for (uint32_t i = 0; i < x->fleet.asks; i++)
        if (x->ask[i] >= N)
            return "it asks a server that does not exist";
    return NULL;
}

static const char *wrong_state(struct examined *x) {
    if (!bli_examined_is_guarded(x))
        return "it writes outside its state";
    if (!bal_policy_is_consistent(x->spec, &x->setting, x->state))
        return "its state is not sound, by its own function";
    if (bal_policy_tokens(x->spec, x->state) > N)
        return "it has more tokens than there are servers";
    return NULL;
}

/* ---- steps ---- */

static struct bal_job any_job(struct bal_rng *rng) {
    return (struct bal_job){.count = 1 + (bal_rng_below(rng, 3) ? 0 : bal_rng_below(rng, 30)),
                            .rank = bal_rng_below(rng, 2),
                            .split = bal_rng_below(rng, 4) == 0,
                            .at_once = bal_rng_below(rng, 2)};
}

/* A copy of the state elsewhere must decide alike: it holds no pointers to itself. */
static const char *route_twice(struct examined *x, const struct bal_job *job) {
    unsigned char copy[4096];
    const bool copied = x->size <= sizeof copy;
    struct bal_rng rng = x->rng;
    struct bal_fleet fleet = x->fleet;
    struct bal_share shares[N];
    uint32_t ask[EXAMINE_ROOM];
    memcpy(ask, x->ask, sizeof ask);
    fleet.shares = shares;
    fleet.ask = ask;
    if (copied)
        memcpy(copy, x->state, x->size);
    const struct bal_decision to = bal_policy_route(x->spec, x->state, &x->fleet, job, &x->rng);
    const char *wrong = wrong_decision(x, &to, job);
    if (wrong || !copied)
        return wrong;
    const struct bal_decision again = bal_policy_route(x->spec, copy, &fleet, job, &rng);
    return to.server != again.server || to.parts != again.parts || to.wake != again.wake ||
                   to.move_to != again.move_to
               ? "a copy of its state decides otherwise: is there a pointer in it, or a static variable?"
               : NULL;
}

static const char *check_route(struct examined *x) {
    const struct bal_job job = any_job(&x->rng);
    const char *wrong = route_twice(x, &job);
    if (!wrong)
        wrong = wrong_asks(x);
    if (bal_rng_below(&x->rng, 3) == 0)
        x->fleet.asks = 0;
    return wrong;
}

/* Probes that take time: other events happen meanwhile, and not all servers reply. */
static const char *route_sampled(struct examined *x) {
    const struct bal_job job = any_job(&x->rng);
    uint32_t sample[EXAMINE_ROOM], samples = 0;
    bal_policy_sample(x->spec, x->state, &x->fleet, &job, &x->rng);
    const char *wrong = wrong_asks(x);
    if (wrong)
        return wrong;
    for (uint32_t i = 0; i < x->fleet.asks; i++)
        if (bal_rng_below(&x->rng, 4))
            sample[samples++] = x->ask[i];
    x->fleet.asks = 0;
    toggle_server(x);
    send_report(x);
    change_fleet(x);
    x->fleet.sample = sample;
    x->fleet.samples = samples;
    const struct bal_decision to = bal_policy_route(x->spec, x->state, &x->fleet, &job, &x->rng);
    x->fleet.sample = NULL;
    x->fleet.asks = 0;
    return wrong_decision(x, &to, &job);
}

static const char *random_step(struct examined *x) {
    switch (bal_rng_below(&x->rng, 8)) {
    case 0:
        toggle_server(x);
        return NULL;
    case 1:
    case 2:
        send_report(x);
        return NULL;
    case 3:
        send_state(x);
        return NULL;
    case 4:
        bal_policy_response(x->spec, x->state, &x->fleet, any_server(&x->rng), any_time(&x->rng),
                            bal_rng_below(&x->rng, 2));
        return NULL;
    case 5:
        change_fleet(x);
        return NULL;
    case 6:
        return route_sampled(x);
    default:
        return check_route(x);
    }
}

enum bal_code bli_examine_storm(const struct bal_policy_spec *spec, struct bal_error *err) {
    struct examined x;
    enum bal_code code = bli_examined_init(&x, spec, 23, err);
    if (code)
        return code;
    const char *wrong = wrong_state(&x);
    int i = 0;
    for (; i < STEPS && !wrong; i++) {
        wrong = random_step(&x);
        if (!wrong && i % 32 == 0)
            wrong = wrong_state(&x);
    }
    if (wrong)
        code = bal_fail(err, BAL_E_MODEL, "in a storm, step %d: %s", i, wrong);
    bli_examined_fini(&x);
    return code;
}
