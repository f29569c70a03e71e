/* SPDX-License-Identifier: BSD-2-Clause */
/* An embedder: a dispatcher with a loop of its own that asks a Ballast policy where each request goes. No
 * engine of Ballast runs here; the policies and what they stand on are all that is linked.
 *
 *     cc embed.c -o embed $(pkg-config --cflags --libs ballast-policy)
 *     ./embed random pod:d=2 jiq
 *
 * Eight workers serve requests of ten ticks each on average. At most one request comes in per tick, as many
 * as keep the workers busy 90 % of the time. */
#include <ballast/policy.h>
#include <ballast/random.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 8, TICKS = 200000, BACKLOG = 4096 };
static const double mean_ticks = 10, load = 0.9;

struct request {
    uint32_t came_in;
    uint32_t ticks_left;
};

/* The requests of a worker, oldest first, in a ring. It works on the first. */
struct worker {
    struct request requests[BACKLOG];
    uint32_t first;
};

struct dispatcher {
    struct bal_policy_spec policy;
    void *state; /* the memory of the policy, ours to keep */
    struct bal_rng choices, traffic;
    struct bal_fleet fleet;
    uint32_t length[WORKERS]; /* what a worker answers when it is asked */
    struct worker workers[WORKERS];
    uint64_t requests, reports, ticks_in_system;
};

/* A worker that has run out of work says so, if the policy wants to hear it. */
static void report_idle(struct dispatcher *d, uint32_t worker) {
    if (!(d->policy.policy->wants & BAL_WANTS_IDLE))
        return;
    d->reports++;
    bal_policy_report(&d->policy, d->state, &d->fleet, BAL_REPORT_IDLE, worker, NULL);
}

/* Reads a policy and makes room for its memory. All workers are idle. */
static enum bal_code dispatcher_init(struct dispatcher *d, const char *text, struct bal_error *err) {
    *d = (struct dispatcher){.fleet = {.servers = WORKERS}};
    d->fleet.length = d->fleet.own = d->length; /* all requests are this dispatcher's own */
    bal_rng_init(&d->choices, 1, 0, BAL_STREAM_POLICY);
    bal_rng_init(&d->traffic, 1, 0, BAL_STREAM_ARRIVALS);

    enum bal_code code = bal_policy_parse(text, &d->policy, err);
    if (code)
        return code;
    const struct bal_policy_context context = {.servers = WORKERS, .load = load};
    const struct bal_host host = {"this dispatcher", BAL_CAN_PROBE | BAL_CAN_IDLE | BAL_CAN_OWN};
    code = bal_policy_check(&d->policy, &context, &host, err);
    if (code)
        return code;
    const size_t size = bal_policy_size(&d->policy, &context);
    d->state = malloc(size ? size : 1);
    if (!d->state)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for policy '%s'", text);
    bal_policy_init(&d->policy, &context, d->state);
    for (uint32_t i = 0; i < WORKERS; i++)
        report_idle(d, i);
    return BAL_OK;
}

static enum bal_code accept_request(struct dispatcher *d, uint32_t now, struct bal_error *err) {
    const struct bal_job job = {.count = 1};
    const uint32_t to = bal_policy_route(&d->policy, d->state, &d->fleet, &job, &d->choices).server;
    if (d->length[to] == BACKLOG)
        return bal_fail(err, BAL_E_RANGE, "worker %u is overrun: %d requests wait there", to, BACKLOG);
    const uint32_t ticks = 1 + (uint32_t)bal_rng_geometric(&d->traffic, 1 / mean_ticks);
    struct worker *worker = &d->workers[to];
    worker->requests[(worker->first + d->length[to]) % BACKLOG] = (struct request){now, ticks};
    d->length[to]++;
    d->requests++;
    return BAL_OK;
}

static void work_one_tick(struct dispatcher *d, uint32_t i, uint32_t now) {
    struct worker *worker = &d->workers[i];
    struct request *request = &worker->requests[worker->first];
    if (d->length[i] == 0 || --request->ticks_left > 0)
        return;
    d->ticks_in_system += now + 1 - request->came_in;
    worker->first = (worker->first + 1) % BACKLOG;
    if (--d->length[i] == 0)
        report_idle(d, i);
}

static enum bal_code dispatcher_run(struct dispatcher *d, struct bal_error *err) {
    for (uint32_t now = 0; now < TICKS; now++) {
        if (bal_rng_uniform(&d->traffic) < load * WORKERS / mean_ticks) {
            const enum bal_code code = accept_request(d, now, err);
            if (code)
                return code;
        }
        for (uint32_t i = 0; i < WORKERS; i++)
            work_one_tick(d, i, now);
    }
    return BAL_OK;
}

int main(int argc, char **argv) {
    static const char *const defaults[] = {"random", "pod:d=2", "jiq", "jsq"};
    static struct dispatcher d;
    printf("%-20s %10s %12s %8s %8s\n", "policy", "requests", "mean ticks", "probes", "reports");
    for (int i = 0; i < (argc > 1 ? argc - 1 : 4); i++) {
        const char *text = argc > 1 ? argv[i + 1] : defaults[i];
        struct bal_error err;
        enum bal_code code = dispatcher_init(&d, text, &err);
        if (!code)
            code = dispatcher_run(&d, &err);
        free(d.state);
        if (code) {
            fprintf(stderr, "embed: %s\n", err.text);
            return 2;
        }
        const double requests = (double)d.requests;
        printf("%-20s %10.0f %12.2f %8.2f %8.2f\n", text, requests, (double)d.ticks_in_system / requests,
               (double)d.fleet.probes / requests, (double)d.reports / requests);
    }
    return 0;
}
