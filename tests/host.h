/* A dispatcher for tests: a fleet in plain arrays and one policy on it, without any engine. Include after
 * <cmocka.h>. */
#ifndef BALLAST_TESTS_HOST_H
#define BALLAST_TESTS_HOST_H

#include "ballast/policy.h"

#include <stdlib.h>
#include <string.h>

struct host {
    struct bal_policy_spec spec;
    struct bal_setting setting;
    struct bal_fleet fleet;
    struct bal_rng rng;
    uint32_t *length;
    uint32_t *urgent;
    double *work;  /* remaining, in time */
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
    bal_policy_report(&host->spec, host->state, what, server);
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

static inline struct bal_decision host_route(struct host *host, uint32_t count, bool split) {
    const struct bal_job job = {.count = count, .rank = host->rank, .split = split};
    return bal_policy_route(&host->spec, host->state, &host->fleet, &job, &host->rng);
}

#endif
