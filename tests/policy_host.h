/* SPDX-License-Identifier: BSD-2-Clause */
/* A dispatcher for tests: a fleet in plain arrays and one policy on it, without any engine. Include after
 * <cmocka.h>. */
#ifndef BALLAST_TESTS_HOST_H
#define BALLAST_TESTS_HOST_H

#include "ballast/policy.h"

#include <stdlib.h>
#include <string.h>

struct host {
    struct bal_policy_spec spec;
    struct bal_policy_context setting;
    struct bal_fleet fleet;
    struct bal_rng rng;
    uint32_t *length;
    uint32_t *urgent;
    double *work; /* remaining, in time */
    uint32_t ask[64];
    uint32_t rank; /* of the jobs to come */
    void *state;
};

static inline double host_work(struct bal_fleet *fleet, uint32_t server) {
    return ((const struct host *)fleet->host)->work[server];
}

static inline void *host_block(size_t size) {
    void *block = malloc(size ? size : 1); /* exactly so much: the sanitizer sees a step beyond */
    assert_non_null(block);
    return block;
}

static inline void host_parse(const char *text, struct bal_policy_spec *spec) {
    struct bal_error err;
    if (bal_policy_parse(text, spec, &err))
        fail_msg("%s", err.text);
}

/* All servers empty; nobody has reported anything yet. The state is made in a block of awkward bytes. */
static inline void host_init(struct host *host, const struct bal_policy_spec *spec, uint32_t servers,
                             uint64_t seed) {
    *host = (struct host){.spec = *spec, .setting = {.servers = servers, .load = 0.9}};
    host->length = calloc(servers, sizeof *host->length);
    host->urgent = calloc(servers, sizeof *host->urgent);
    host->work = calloc(servers, sizeof *host->work);
    assert_true(host->length && host->urgent && host->work);
    host->fleet = (struct bal_fleet){.servers = servers,
                                     .length = host->length,
                                     .urgent = host->urgent,
                                     .shares = host_block(servers * sizeof(struct bal_share)),
                                     .work = host_work,
                                     .own = host->length, /* the only dispatcher */
                                     .ask = host->ask,
                                     .ask_room = sizeof host->ask / sizeof *host->ask,
                                     .host = host};
    bal_rng_init(&host->rng, seed, servers, BAL_STREAM_TEST);
    const size_t size = bal_policy_size(spec, &host->setting);
    host->state = host_block(size);
    memset(host->state, 0xa5, size);
    bal_policy_init(spec, &host->setting, host->state);
}

static inline void host_fini(struct host *host) {
    free(host->length);
    free(host->urgent);
    free(host->work);
    free(host->fleet.shares);
    free(host->state);
}

static inline void host_report(struct host *host, enum bal_report what, uint32_t server) {
    bal_policy_report(&host->spec, host->state, &host->fleet, what, server, NULL);
}

/* Everybody says that it is on and idle, in random order: a bounded memory keeps the first ones. */
static inline void host_report_all(struct host *host) {
    const uint32_t servers = host->setting.servers;
    uint32_t *order = host_block(servers * sizeof *order);
    for (uint32_t i = 0; i < servers; i++) {
        const uint32_t j = bal_rng_below(&host->rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < servers; i++) {
        host_report(host, BAL_REPORT_ON, order[i]);
        host_report(host, BAL_REPORT_IDLE, order[i]);
        host_report(host, BAL_REPORT_STILL_IDLE, order[i]);
    }
    free(order);
}

/* What a server says of itself. */
static inline void host_report_load(struct host *host, uint32_t server) {
    const struct bal_reply load = {host->length[server], host->urgent[server], host->work[server] + 1};
    bal_policy_report(&host->spec, host->state, &host->fleet, BAL_REPORT_LOAD, server, &load);
}

/* A little time passes, and those that the policy wants asked reply at once. */
static inline struct bal_decision host_route(struct host *host, uint32_t count, bool split) {
    const struct bal_job job = {.count = count, .rank = host->rank, .split = split};
    host->fleet.now += 0.1;
    const struct bal_decision decision =
        bal_policy_route(&host->spec, host->state, &host->fleet, &job, &host->rng);
    for (uint32_t i = 0; i < host->fleet.asks; i++)
        host_report_load(host, host->ask[i]);
    host->fleet.asks = 0;
    return decision;
}

/* Does the decision keep the contract? */
static inline void assert_decision(const struct host *host, struct bal_decision decision) {
    const struct bal_policy *policy = host->spec.policy;
    const uint32_t servers = host->setting.servers;
    const bool refused = decision.server == BAL_NONE && policy->flags & BAL_MAY_REFUSE;
    const bool wakes_well = decision.wake == BAL_NONE || decision.wake < servers;
    const bool moves_well = decision.move_to == BAL_NONE || decision.move_to < servers;
    if (decision.move_to != BAL_NONE) /* then there is a job of lower rank to move, and whoever moves jobs
                                         says so */
        assert_true(policy->flags & BAL_MOVES_JOBS &&
                    host->urgent[decision.server] < host->length[decision.server]);
    if ((decision.server >= servers && !refused) || !wakes_well || !moves_well)
        fail_msg("policy %s: decision %u wake %u move %u of %u servers", policy->name, decision.server,
                 decision.wake, decision.move_to, servers);
}

/* A job joins as was decided, with an exponential amount of work. */
static inline void host_join(struct host *host, struct bal_decision decision, struct bal_rng *rng) {
    if (decision.server == BAL_NONE)
        return;
    if (decision.move_to != BAL_NONE) {
        host->length[decision.server]--;
        host->length[decision.move_to]++;
    }
    host->length[decision.server]++;
    host->urgent[decision.server] += host->rank == 0;
    host->work[decision.server] += bal_rng_exp(rng);
}

/* One job leaves a server, an urgent one if there is any; the server reports, and the response is there. */
static inline void host_leave(struct host *host, uint32_t server) {
    if (host->length[server] == 0)
        return;
    host->work[server] *= (host->length[server] - 1.0) / host->length[server];
    host->urgent[server] -= host->urgent[server] > 0;
    --host->length[server];
    bal_policy_response(&host->spec, host->state, &host->fleet, server, 1 + 0.1 * server, false);
    host_report_load(host, server);
    if (host->length[server] == 0)
        host_report(host, BAL_REPORT_IDLE, server);
}

/* Divided among servers: nothing is lost or invented, no server is named twice, and shares are not empty. */
static inline void assert_split(const struct host *host, struct bal_decision decision, uint32_t count) {
    assert_decision(host, decision);
    if (decision.parts == 0)
        return;
    assert_true(decision.parts <= host->setting.servers);
    bool seen[64] = {false};
    uint64_t sum = 0;
    for (uint32_t part = 0; part < decision.parts; part++) {
        const struct bal_share share = host->fleet.shares[part];
        if (share.server >= host->setting.servers || share.count == 0 || seen[share.server])
            fail_msg("policy %s: share %u of %u is %u jobs to server %u", host->spec.policy->name, part,
                     decision.parts, share.count, share.server);
        seen[share.server] = true;
        sum += share.count;
    }
    if (sum != count)
        fail_msg("policy %s: %u jobs were split into %llu", host->spec.policy->name, count,
                 (unsigned long long)sum);
}

#endif
