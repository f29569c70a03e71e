/* SPDX-License-Identifier: BSD-2-Clause */
/* least-work: joining the server at which a job begins first is one common queue for all slots. */
#include "theory/policy_theory.h"

#include <math.h>

static struct bal_wait wait(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    (void)policy;
    return bal_wait_mmn(u->lambda, u->servers);
}

static struct bal_prediction common_queue(uint64_t slots, const struct bal_uniform *u, const char *source) {
    struct bal_prediction known =
        bal_theory_from_wait(bal_wait_mmn(u->lambda, slots), u->unit, BAL_THEORY_EXACT, source);
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

static struct bal_prediction fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_uniform *u) {
    (void)model, (void)policy;
    return common_queue(u->servers, u, "M/M/N");
}

static struct bal_prediction slots(const struct bal_model *model, const struct bal_policy_spec *policy,
                                   const struct bal_uniform *u) {
    (void)policy;
    return common_queue((uint64_t)u->servers * model->slots, u, "M/M/(N k)");
}

/* A queue in which no job waits forgets its state within a service time. */
static double relaxation(const struct bal_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return model->size.mean / model->servers.group[0].speed + bal_relaxation_together(model);
}

static struct bal_prediction patience(const struct bal_model *model, const struct bal_uniform *u) {
    return bal_theory_impatient(model, u, (double)u->servers * fmax(model->slots, 1));
}

const struct bal_policy_theory bal_theory_least_work[] = {
    {.policy = "least-work",
     .fifo = fifo,
     .slots = slots,
     .wait = wait,
     .critical_load = bal_critical_always,
     .relaxation = relaxation},
    {.policy = "central", .fifo = fifo, .slots = slots, .patience = patience, .relaxation = relaxation},
    {0}};
