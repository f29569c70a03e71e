/* SPDX-License-Identifier: BSD-2-Clause */
/* least-work: joining the server at which a job begins first is one common queue for all slots. */
#include "theory/policy_theory.h"

#include <math.h>

static struct bli_wait wait(const struct bal_policy_spec *policy, const struct bli_uniform *u) {
    (void)policy;
    return bli_wait_mmn(u->lambda, u->servers);
}

static struct bli_prediction common_queue(uint64_t slots, const struct bli_uniform *u, const char *source) {
    struct bli_prediction known =
        bli_theory_from_wait(bli_wait_mmn(u->lambda, slots), u->unit, BLI_THEORY_EXACT, source);
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    (void)model, (void)policy;
    return common_queue(u->servers, u, "M/M/N");
}

static struct bli_prediction slots(const struct bli_model *model, const struct bal_policy_spec *policy,
                                   const struct bli_uniform *u) {
    (void)policy;
    return common_queue((uint64_t)u->servers * model->slots, u, "M/M/(N k)");
}

/* A queue in which no job waits forgets its state within a service time. */
static double relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return model->size.mean / model->servers.group[0].speed + bli_relaxation_together(model);
}

static struct bli_prediction patience(const struct bli_model *model, const struct bli_uniform *u) {
    return bli_theory_impatient(model, u, (double)u->servers * fmax(model->slots, 1));
}

const struct bli_policy_theory bli_theory_least_work[] = {
    {.policy = "least-work",
     .fifo = fifo,
     .slots = slots,
     .wait = wait,
     .critical_load = bli_critical_always,
     .relaxation = relaxation},
    {.policy = "central", .fifo = fifo, .slots = slots, .patience = patience, .relaxation = relaxation},
    {0}};
