/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be done with any policy: find, check, set up, pass reports; and the probes of all servers. */
#include "ballast/policy.h"

#include <math.h>
#include <string.h>

const struct bal_policy *bal_policy_at(size_t i) {
    return i < bal_policy_count ? bal_policy_table[i] : NULL;
}

const struct bal_policy *bal_policy_find(const char *name) {
    const struct bal_policy *policy;
    for (size_t i = 0; (policy = bal_policy_at(i)); i++)
        if (strcmp(policy->name, name) == 0)
            return policy;
    return NULL;
}

/* ---- does it fit? ---- */

/* What a host must be able to do for a policy with one of these flags, or that wants one of these reports. */
static const struct {
    unsigned can, flags, wants;
    const char *what;
} abilities[] = {
    {BAL_CAN_WORK, BAL_NEEDS_WORK, 0, "the work that is left at each server"},
    {BAL_CAN_IDLE, 0, BAL_WANTS_IDLE, "reports of servers that become idle"},
    {BAL_CAN_STILL_IDLE, 0, BAL_WANTS_STILL_IDLE, "reports of idle servers at a rate"},
    {BAL_CAN_POWER, 0, BAL_WANTS_POWER, "servers that switch off and are woken"},
    {BAL_CAN_LOAD, 0, BAL_WANTS_LOAD, "reports of the load of servers"},
    {BAL_CAN_RANKS, BAL_TAKES_RANKS, 0, "classes of jobs"},
    {BAL_CAN_MOVE, BAL_MOVES_JOBS, 0, "jobs that can be moved"},
    {BAL_CAN_REFUSE, BAL_MAY_REFUSE, 0, "leave to refuse jobs"},
    {BAL_CAN_HOLD, BAL_MAY_HOLD, 0, "a dispatcher that can hold jobs"},
    {BAL_CAN_OWN, BAL_NEEDS_OWN, 0, "counts of the dispatcher's own requests"},
    {BAL_CAN_TIME, BAL_NEEDS_TIME, 0, "the present time"},
    {BAL_CAN_RESPONSES, BAL_NEEDS_RESPONSES, 0, "the times that responses take"},
    {BAL_CAN_ASK, BAL_ASKS, 0, "probes that nobody waits for"},
    {BAL_CAN_ABORT, BAL_ABORTS, 0, "set-ups that can be aborted"},
    {BAL_CAN_DISCARD, BAL_DISCARDS, 0, "servers that discard jobs while they are off"},
    {BAL_CAN_ASK_IN_TURN, BAL_ASKS_IN_TURN, 0, "replies that take no time"},
    {BAL_CAN_PROBE, 0, 0, "the queue lengths of servers"},
};
enum { ABILITIES = sizeof abilities / sizeof *abilities };

unsigned bal_policy_flags(const struct bal_policy_spec *spec) {
    const struct bal_policy *policy = spec->policy;
    return policy->flags | (policy->more_flags ? policy->more_flags(spec->value) : 0);
}

unsigned bal_policy_needs(const struct bal_policy_spec *spec) {
    const unsigned flags = bal_policy_flags(spec);
    unsigned needs = spec->policy->sample ? BAL_CAN_PROBE : 0;
    for (size_t i = 0; i < ABILITIES; i++)
        if (flags & abilities[i].flags || spec->policy->wants & abilities[i].wants)
            needs |= abilities[i].can;
    return needs;
}

static enum bal_code check_host(const struct bal_policy_spec *spec, const struct bal_host *host,
                                struct bal_error *err) {
    const unsigned lacks = bal_policy_needs(spec) & ~host->can;
    if (!lacks)
        return BAL_OK;
    size_t i = 0;
    while (!(lacks & abilities[i].can))
        i++;
    char text[200];
    bal_policy_print(spec, text, sizeof text);
    return bal_fail(err, BAL_E_MODEL, "policy '%s' needs %s, which %s does not have", text, abilities[i].what,
                    host->name);
}

enum bal_code bal_policy_check(const struct bal_policy_spec *spec, const struct bal_policy_context *context,
                               const struct bal_host *host, struct bal_error *err) {
    const struct bal_policy *policy = spec->policy;
    if (!policy->route)
        return bal_fail(err, BAL_E_MODEL,
                        "in '%s' nothing is routed: it can be simulated, but a dispatcher cannot host it",
                        policy->name);
    const enum bal_code code = host ? check_host(spec, host, err) : BAL_OK;
    return !code && policy->check ? policy->check(spec->value, context, err) : code;
}

enum bal_code bal_policy_check_fleet(const struct bal_policy_spec *spec, const struct bal_fleet *fleet,
                                     struct bal_error *err) {
    const unsigned flags = bal_policy_flags(spec);
    const char *lacks =
        fleet->servers == 0                                    ? "servers"
        : flags & BAL_NEEDS_WORK && !fleet->work               ? "work"
        : flags & BAL_NEEDS_OWN && !fleet->own                 ? "own"
        : flags & BAL_ASKS && !(fleet->ask && fleet->ask_room) ? "ask and ask_room"
        : bal_policy_needs(spec) & BAL_CAN_PROBE && !fleet->length && !(flags & BAL_NEEDS_WORK) ? "length"
                                                                                                : NULL;
    if (!lacks)
        return BAL_OK;
    char text[200];
    bal_policy_print(spec, text, sizeof text);
    return bal_fail(err, BAL_E_MODEL, "policy '%s' looks at fleet.%s, which is not filled in", text, lacks);
}

/* ---- setting up ---- */

size_t bal_policy_size(const struct bal_policy_spec *spec, const struct bal_policy_context *context) {
    const struct bal_policy *policy = spec->policy;
    return policy->size ? policy->size(spec->value, context) : 0;
}

void bal_policy_init(const struct bal_policy_spec *spec, const struct bal_policy_context *context,
                     void *state) {
    const struct bal_policy *policy = spec->policy;
    if (policy->init)
        policy->init(state, spec->value, context);
}

double bal_policy_memory_bits(const struct bal_policy_spec *spec, const struct bal_policy_context *context) {
    const struct bal_policy *policy = spec->policy;
    return policy->memory_bits ? policy->memory_bits(spec->value, context) : 0;
}

double bal_policy_report_rate(const struct bal_policy_spec *spec, const struct bal_policy_context *context) {
    const struct bal_policy *policy = spec->policy;
    return policy->report_rate ? policy->report_rate(spec->value, context) : 0;
}

double bal_policy_load_share(const struct bal_policy_spec *spec) {
    const struct bal_policy *policy = spec->policy;
    return policy->load_share ? policy->load_share(spec->value) : 0;
}

uint32_t bal_policy_report_choices(const struct bal_policy_spec *spec) {
    const struct bal_policy *policy = spec->policy;
    return policy->report_choices ? policy->report_choices(spec->value) : 1;
}

uint32_t bal_policy_tokens(const struct bal_policy_spec *spec, const void *state) {
    return spec->policy->tokens ? spec->policy->tokens(state) : 0;
}

bool bal_policy_is_consistent(const struct bal_policy_spec *spec, const struct bal_policy_context *context,
                              const void *state) {
    return !spec->policy->is_consistent || spec->policy->is_consistent(state, spec->value, context);
}

/* ---- passing reports ---- */

void bal_policy_sync_server(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                            uint32_t server, const struct bal_server_state *server_state) {
    const uint32_t slots = server_state->slots ? server_state->slots : 1;
    const bool knows_power = spec->policy->wants & BAL_WANTS_POWER;
    enum bal_report what = BAL_REPORT_GONE;
    if (server_state->status == BAL_SERVER_ON)
        what = server_state->load.length < slots && !server_state->offered_elsewhere ? BAL_REPORT_IDLE
                                                                                     : BAL_REPORT_BUSY;
    else if (knows_power && server_state->status == BAL_SERVER_OFF)
        what = BAL_REPORT_OFF;
    else if (knows_power && server_state->status == BAL_SERVER_SETUP)
        what = BAL_REPORT_SETUP;
    bal_policy_report(spec, state, fleet, what, server, NULL);
    if (server_state->status == BAL_SERVER_ON)
        bal_policy_report(spec, state, fleet, BAL_REPORT_LOAD, server, &server_state->load);
}

/* ---- probes ---- */

uint32_t bal_policy_sample(const struct bal_policy_spec *spec, void *state, struct bal_fleet *fleet,
                           const struct bal_job *job, struct bal_rng *rng) {
    fleet->asks = 0;
    if (spec->policy->sample)
        spec->policy->sample(state, fleet, job, rng);
    return fleet->asks;
}

/* One pass over several servers that keeps a uniform one of the best seen so far (reservoir sampling). */
struct contest {
    double least;
    uint32_t best, ties;
};
static const struct contest nobody = {INFINITY, BAL_NONE, 0};

static void update_best(struct contest *contest, uint32_t server, double value, struct bal_rng *rng) {
    if (value > contest->least)
        return;
    contest->ties = value < contest->least ? 1 : contest->ties + 1;
    contest->least = value;
    if (contest->ties == 1 || bal_rng_below(rng, contest->ties) == 0)
        contest->best = server;
}

static double length_of(struct bal_fleet *fleet, uint32_t server) {
    return fleet->length[server];
}

/* The best of those that were asked earlier for this job and are still open, or any, if none of them is. */
static uint32_t best_of_sample(struct bal_fleet *fleet, double (*value)(struct bal_fleet *, uint32_t),
                               struct bal_rng *rng) {
    struct contest contest = nobody;
    for (uint32_t i = 0; i < fleet->samples; i++)
        if (bal_is_eligible(fleet, fleet->sample[i]))
            update_best(&contest, fleet->sample[i], value(fleet, fleet->sample[i]), rng);
    return contest.ties ? contest.best : bal_draw(fleet, rng);
}

static uint32_t best_of_eligible(struct bal_fleet *fleet, double (*value)(struct bal_fleet *, uint32_t),
                                 struct bal_rng *rng) {
    struct contest contest = nobody;
    for (uint32_t i = 0; i < bal_eligible_count(fleet); i++) {
        const uint32_t server = bal_eligible_at(fleet, i);
        update_best(&contest, server, value(fleet, server), rng);
    }
    return contest.best;
}

uint32_t bal_probe_shortest(struct bal_fleet *fleet, struct bal_rng *rng) {
    if (fleet->sample)
        return best_of_sample(fleet, length_of, rng);
    fleet->probes += bal_eligible_count(fleet);
    return fleet->shortest ? fleet->shortest(fleet, rng) : best_of_eligible(fleet, length_of, rng);
}

uint32_t bal_probe_least_work(struct bal_fleet *fleet, struct bal_rng *rng) {
    if (fleet->sample && fleet->work)
        return best_of_sample(fleet, fleet->work, rng);
    fleet->probes += bal_eligible_count(fleet);
    if (!fleet->least_work && !fleet->work) /* the host has not asked bal_policy_check_fleet() */
        return BAL_NONE;
    return fleet->least_work ? fleet->least_work(fleet, rng) : best_of_eligible(fleet, fleet->work, rng);
}

/* ---- own counts ---- */

static double fewest_of(struct bal_fleet *fleet, uint32_t server) {
    return bal_own_key(fleet, server, BAL_OWN_FEWEST, 0);
}

static double soonest_of(struct bal_fleet *fleet, uint32_t server) {
    return bal_own_key(fleet, server, BAL_OWN_SOONEST, 0);
}

static double idle_first_of(struct bal_fleet *fleet, uint32_t server) {
    return bal_own_key(fleet, server, BAL_OWN_IDLE_FIRST, 0);
}

uint32_t bal_own_fewest(struct bal_fleet *fleet, struct bal_rng *rng) {
    return fleet->fewest_own ? fleet->fewest_own(fleet, rng) : best_of_eligible(fleet, fewest_of, rng);
}

/* Where all weights are the same, so are all rules. */
uint32_t bal_own_best(struct bal_fleet *fleet, enum bal_own_rule rule, struct bal_rng *rng) {
    static double (*const key[])(struct bal_fleet *, uint32_t) = {fewest_of, soonest_of, idle_first_of};
    if (rule == BAL_OWN_FEWEST || !fleet->weight)
        return bal_own_fewest(fleet, rng);
    return fleet->best_own ? fleet->best_own(fleet, rule, rng) : best_of_eligible(fleet, key[rule], rng);
}

/* ---- weights ---- */

uint32_t bal_draw_by_weight(struct bal_fleet *fleet, struct bal_rng *rng) {
    if (!fleet->weight)
        return bal_draw(fleet, rng);
    if (fleet->draw_by_weight)
        return fleet->draw_by_weight(fleet, rng);
    const uint32_t count = bal_eligible_count(fleet);
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += fleet->weight[bal_eligible_at(fleet, i)];
    double left = bal_rng_uniform(rng) * total;
    uint32_t server = BAL_NONE;
    for (uint32_t i = 0; i < count && left >= 0; i++) { /* the last, if rounding leaves something */
        server = bal_eligible_at(fleet, i);
        left -= fleet->weight[server];
    }
    return server;
}
