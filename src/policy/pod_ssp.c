/* SPDX-License-Identifier: BSD-2-Clause */
/* pod-ssp: scheduling and service priority. A low job joins the shortest of d1 queues. A high job joins the
 * server with the fewest high jobs of d2 (server A); if A is not one of the sampled servers with the shortest
 * queue, the last low job of A moves to one of these. Servers let high jobs interrupt low ones.
 *
 * Cost: d1 or d2 probes a job, and a move of a low job for some high ones. Memory: none.
 * Proved: high jobs see a pod of their own at load p lambda, as if there were no low ones, and with d1 = d2
 * the total queues are those of pod (the paper's Lemmas 1 and 2).
 *
 * A always has a low job to move: it has more jobs than the shortest queue but no more high ones.
 *
 * With more than two classes the rule is applied to each class and all that are less urgent than it (section
 * VIII leaves it open): a job of class r joins the server with the fewest jobs of classes up to r; where that
 * one is not among those with the fewest of classes up to r + 1 its last job of class r + 1 moves to one of
 * these, which may in turn have to give a job of class r + 2 away, and so on. So the jobs of classes up to r
 * are, for each r, those of pod-scp without the others. The most urgent class probes d2 servers, all others
 * d1. */
#include "policy/policy_common.h"
#include "policy/policy_table.h"

#include <string.h>

enum { D1, D2 };

static const struct bal_param params[] = {
    [D1] = {"d1", 1, 1e6, 2, true, true, "servers probed for a low job"},
    [D2] = {"d2", 1, 1e6, 2, true, true, "servers probed for a high job"},
};

struct state {
    uint32_t d1, d2;
};

static size_t size(const double *value, const struct bal_policy_context *context) {
    (void)value, (void)context;
    return sizeof(struct state);
}

static void init(void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    struct state *state = block;
    *state = (struct state){(uint32_t)value[D1], (uint32_t)value[D2]};
}

/* The samples are exchangeable, so the first with the fewest high jobs is a uniform one of them. The shortest
 * is then drawn on its own, because its place among the samples is no longer independent. */
static __attribute__((noinline)) struct bal_decision route_high(uint32_t d2, struct bal_fleet *fleet,
                                                                struct bal_rng *rng) {
    struct bal_rng local = *rng; /* in registers */
    uint32_t to = BAL_NONE, to_length = 0, fewest = UINT32_MAX;
    uint32_t shortest = 0, shortest_length = UINT32_MAX, ties = 0;
    for (uint32_t i = 0; i < bli_candidates(fleet, d2); i++) {
        const uint32_t server = bli_candidate(fleet, i, &local);
        if (server == BAL_NONE)
            continue;
        const struct bal_reply reply = bal_probe_ranks(fleet, server);
        const bool fewer = reply.urgent < fewest, shorter = reply.length < shortest_length;
        fewest = fewer ? reply.urgent : fewest;
        to = fewer ? server : to;
        to_length = fewer ? reply.length : to_length;
        const bool tie = reply.length == shortest_length;
        shortest_length = shorter ? reply.length : shortest_length;
        shortest = shorter ? server : shortest;
        ties = shorter ? 1 : ties + tie;
        if (tie && bal_rng_below(&local, ties) == 0)
            shortest = server;
    }
    *rng = local;
    if (to == BAL_NONE)
        return bal_to(bal_draw(fleet, rng));
    struct bal_decision decision = bal_to(to);
    if (to_length > shortest_length)
        decision.move_to = shortest;
    return decision;
}

/* More than two classes: the server with the fewest jobs of classes up to a rank, and what it has of all. */
struct fewest {
    uint32_t server, ties;
    uint32_t upto[BAL_RANKS_MAX];
};

static void try_server(struct fewest *fewest, uint32_t rank, uint32_t server, const uint32_t *upto,
                       uint32_t classes, struct bal_rng *rng) {
    const bool tie = fewest->ties > 0 && upto[rank] == fewest->upto[rank];
    if (fewest->ties > 0 && upto[rank] > fewest->upto[rank])
        return;
    fewest->ties = tie ? fewest->ties + 1 : 1;
    if (tie && bal_rng_below(rng, fewest->ties) != 0)
        return;
    fewest->server = server;
    memcpy(fewest->upto, upto, classes * sizeof *upto);
}

static struct bal_decision route_classes(uint32_t d, struct bal_fleet *fleet, uint32_t rank,
                                         struct bal_rng *rng) {
    struct fewest of[BAL_RANKS_MAX] = {0};
    const uint32_t classes = fleet->classes;
    for (uint32_t i = 0; i < bli_candidates(fleet, d); i++) {
        const uint32_t server = bli_candidate(fleet, i, rng);
        if (server == BAL_NONE)
            continue;
        const uint32_t *upto = bal_probe_classes(fleet, server);
        for (uint32_t r = rank; r < classes; r++)
            try_server(&of[r], r, server, upto, classes, rng);
    }
    if (of[rank].ties == 0)
        return bal_to(bal_draw(fleet, rng));
    const struct fewest *at = &of[rank];
    for (uint32_t r = rank + 1; r < classes; r++)
        if (at->upto[r] > of[r].upto[r]) {
            fleet->move[fleet->moves++] = (struct bal_move){r, at->server, of[r].server};
            at = &of[r];
        }
    return bal_to(of[rank].server);
}

static struct bal_decision route(void *block, struct bal_fleet *fleet, const struct bal_job *job,
                                 struct bal_rng *rng) {
    const struct state *state = block;
    if (fleet->classes > 2)
        return route_classes(job->rank == 0 ? state->d2 : state->d1, fleet, job->rank, rng);
    if (job->rank == 0)
        return route_high(state->d2, fleet, rng);
    return bal_to(bli_probe_some(fleet, state->d1, rng));
}

static bool is_consistent(const void *block, const double *value, const struct bal_policy_context *context) {
    (void)context;
    const struct state *state = block;
    return state->d1 == (uint32_t)value[D1] && state->d2 == (uint32_t)value[D2];
}

static void sample(void *block, struct bal_fleet *fleet, const struct bal_job *job, struct bal_rng *rng) {
    const struct state *state = block;
    bli_ask_some(fleet, job->rank == 0 ? state->d2 : state->d1, rng);
}

const struct bal_policy bli_policy_pod_ssp = {
    .name = "pod-ssp",
    .summary = "high jobs to the fewest high of d2, a low job giving way; servers let them interrupt",
    .paper = "Niu et al. 2022",
    .cost = "d1 or d2 probes",
    .flags = BAL_SYMMETRIC | BAL_TAKES_RANKS | BAL_SERVES_RANKS | BAL_MOVES_JOBS | BAL_READS_ONLY,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .route = route,
    .sample = sample,
    .size = size,
    .init = init,
    .is_consistent = is_consistent,
};
