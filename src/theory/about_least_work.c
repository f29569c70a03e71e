/* least-work: joining the server at which a job begins first is one common queue for all slots. */
#include "theory/about.h"

#include <math.h>

static struct bal_wait wait(const struct bal_policy_spec *policy, const struct bal_uniform *u) {
    (void)policy;
    return bal_wait_mmn(u->lambda, u->servers);
}

static struct bal_known common_queue(uint64_t slots, const struct bal_uniform *u, const char *source) {
    struct bal_known known =
        bal_known_from_wait(bal_wait_mmn(u->lambda, slots), u->unit, BAL_KNOWN_EXACT, source);
    known.waiting_limit = u->lambda < 1 ? 0 : INFINITY;
    return known;
}

static struct bal_known fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                             const struct bal_uniform *u) {
    (void)model, (void)policy;
    return common_queue(u->servers, u, "M/M/N");
}

static struct bal_known slots(const struct bal_model *model, const struct bal_policy_spec *policy,
                              const struct bal_uniform *u) {
    (void)policy;
    return common_queue((uint64_t)u->servers * model->slots, u, "M/M/(N k)");
}

/* A queue that nobody waits in forgets within a service. */
static double relaxation(const struct bal_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return model->size.mean / model->servers.group[0].speed + bal_relaxation_together(model);
}

static struct bal_known patience(const struct bal_model *model, const struct bal_uniform *u) {
    return bal_known_impatient(model, u, (double)u->servers * fmax(model->slots, 1));
}

const struct bal_about bal_about_least_work[] = {
    {.policy = "least-work",
     .fifo = fifo,
     .slots = slots,
     .wait = wait,
     .critical_load = bal_critical_always,
     .relaxation = relaxation},
    {.policy = "central", .fifo = fifo, .slots = slots, .patience = patience, .relaxation = relaxation},
    {0}};
