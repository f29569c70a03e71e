/* SPDX-License-Identifier: BSD-2-Clause */
/* least-work: the server that will be free first, ties uniform.
 *
 * Cost: N probes a job, and every server must know how long its jobs will take. Memory: none.
 * Proved: with equal speeds it is one central FIFO queue before N servers (M/G/N), job by job. With different
 * speeds the work left is divided by the speed: it is the time that the job would wait. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

static struct bal_decision route(void *state, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    (void)state, (void)job;
    return bal_to(bal_probe_least_work(fleet, rng));
}

static void sample(void *state, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    (void)state, (void)job, (void)rng;
    bli_ask_all(fleet);
}

const struct bal_policy bli_policy_least_work = {
    .name = "least-work",
    .summary = "the server with the least remaining work (in time), ties uniform",
    .paper = "classic",
    .cost = "N probes",
    .flags = BAL_SYMMETRIC | BAL_NEEDS_WORK | BAL_READS_ONLY | BAL_ASKS_ALL,
    .route = route,
    .sample = sample,
};
