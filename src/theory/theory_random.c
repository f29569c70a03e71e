/* SPDX-License-Identifier: BSD-2-Clause */
/* random: every server is a queue of its own. */
#include "theory/phases.h"
#include "theory/speeds_queue.h"

#include <math.h>

static struct bli_wait wait(const struct bal_policy_spec *policy, const struct bli_uniform *u) {
    (void)policy;
    return bli_wait_mm1(u->lambda);
}

static struct bli_prediction exponential(const struct bli_uniform *u) {
    struct bli_prediction known =
        bli_theory_from_wait(bli_wait_mm1(u->lambda), u->unit, BLI_THEORY_EXACT, "M/M/1");
    if (u->lambda < 1)
        for (known.levels = 0; known.levels < BLI_THEORY_LEVELS; known.levels++)
            known.tail[known.levels] = pow(u->lambda, known.levels);
    return known;
}

/* M/PH/1: the waiting time is in phases, too (Neuts 1981, theorem 3.2.3). It is a geometric number, with
 * ratio lambda, of times that are the rest of a service: phases by lambda alpha (-T)^-1. */
static void set_quantiles(const struct phases *sizes, const struct bli_uniform *u,
                          struct bli_prediction *known) {
    struct phases both = {.count = 2 * sizes->count};
    const unsigned n = sizes->count;
    double rest[PHASES_MAX] = {0}, state[PHASES_MAX] = {0};
    bli_phases_solve(sizes, 0, sizes->start, rest);
    for (unsigned j = 0; j < n; j++) {
        state[j] = u->lambda * rest[j]; /* it waits */
        state[n + j] = (1 - u->lambda) * sizes->start[j];
        both.rate[j] = both.rate[n + j] = sizes->rate[j];
        for (unsigned k = 0; k < n; k++) {
            both.jump[j][k] = sizes->jump[j][k] + sizes->leave[j] * u->lambda * rest[k];
            both.jump[j][n + k] = sizes->leave[j] * (1 - u->lambda) * sizes->start[k];
            both.jump[n + j][n + k] = sizes->jump[j][k];
        }
    }
    bli_phases_complete(&both);
    bli_phases_quantiles(&both, 1, state, known->response_quantile);
    for (int i = 0; i < 4; i++)
        known->response_quantile[i] *= u->unit;
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    (void)policy;
    if (u->exponential)
        return exponential(u);
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = "M/G/1";
    const double speed = model->size.mean / u->unit;
    known.waiting_mean =
        bli_mg1_waiting(u->lambda / u->unit, u->unit, bli_dist_moment(&model->size, 2) / (speed * speed));
    known.waiting_limit = known.waiting_mean;
    known.response_mean = known.waiting_mean + u->unit;
    known.waiting_probability = fmin(u->lambda, 1);
    struct phases sizes;
    if (u->lambda < 1 && bli_phases_of(&model->size, &sizes) && 2 * sizes.count <= PHASES_MAX)
        set_quantiles(&sizes, u, &known);
    return known;
}

/* A server gets every N-th job or so: its gaps are sums of geometrically many. The waiting time is that of
 * M/M/1 with sigma in place of the load, sigma = E[exp(-(1 - sigma) gap)] (Kleinrock 1975, 6.4). With
 * x = 1 - sigma and c = 1 - E[exp(-x gap)] of all jobs, x = c / (c + (1 - c) / N). */
static double sigma_of_renewal(const struct bli_arrivals *arrivals, const struct bli_uniform *u) {
    struct bli_dist gap = arrivals->gap;
    bli_dist_scale(&gap, 1 / (u->lambda * u->servers) / gap.mean);
    double below = 0, above = 1;
    for (;;) {
        const double x = 0.5 * (below + above), c = bli_dist_outlasts(&gap, x);
        if (x <= below || x >= above || isnan(c))
            return isnan(c) ? NAN : 1 - x;
        if (c / (c + (1 - c) / u->servers) > x)
            below = x;
        else
            above = x;
    }
}

static struct bli_prediction renewal(const struct bli_model *model, const struct bli_uniform *u) {
    const double sigma = !u->exponential ? NAN : u->lambda >= 1 ? 1 : sigma_of_renewal(&model->arrivals, u);
    if (isnan(sigma))
        return bli_theory_unknown;
    struct bli_prediction known =
        bli_theory_from_wait(bli_wait_mm1(sigma), u->unit, BLI_THEORY_EXACT, "GI/M/1");
    known.waiting_limit = NAN; /* with more servers it is another queue */
    return known;
}

/* A job waits for those that are there, as in M/G/1, and for those of its batch that come to the same server
 * before it: half of the others, each with probability 1/N. Being in some batch it has E[X (X - 1)] / E[X]
 * others; and all of this is drawn out by 1/(1 - lambda) (Burke 1975). */
static struct bli_prediction batches(const struct bli_model *model, const struct bli_uniform *u) {
    const struct bli_batch *batch = &model->arrivals.batch;
    const double others = bli_batch_variance(batch) / batch->mean + batch->mean - 1;
    const double speed = model->size.mean / u->unit;
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = "M^X/G/1";
    known.waiting_mean =
        bli_mg1_waiting(u->lambda / u->unit, u->unit, bli_dist_moment(&model->size, 2) / (speed * speed)) +
        (u->lambda < 1 ? 0.5 * others / u->servers * u->unit / (1 - u->lambda) : 0);
    known.waiting_limit = NAN;
    known.response_mean = known.waiting_mean + u->unit;
    return known;
}

static struct bli_prediction arrivals(const struct bli_model *model, const struct bal_policy_spec *policy,
                                      const struct bli_uniform *u) {
    (void)policy;
    return model->arrivals.kind == BLI_ARRIVALS_RENEWAL ? renewal(model, u)
           : model->arrivals.kind == BLI_ARRIVALS_BATCH ? batches(model, u)
                                                        : bli_theory_unknown;
}

static double mean_of_classes(double p, double high, double low) {
    return p == 0 ? low : p == 1 ? high : p * high + (1 - p) * low;
}

/* Every server is an M/G/1 queue with two classes. A job waits until its service begins; a low one may be
 * interrupted afterwards, so that its service takes 1/(1 - p lambda) times its size on average. */
static struct bli_prediction classes(const struct bli_model *model, const struct bal_policy_spec *policy,
                                     const struct bli_uniform *u, enum bli_discipline discipline) {
    if (discipline == BLI_DISCIPLINE_FIFO)
        return bli_theory_classes_of_fifo(model, policy, u, discipline);
    const bool interrupts = discipline == BLI_DISCIPLINE_PREEMPTIVE;
    const double p = model->high, rate = u->lambda / u->unit, speed = model->size.mean / u->unit;
    const double m2 = bli_dist_moment(&model->size, 2) / (speed * speed);
    const struct bli_mg1_class class[2] = {{p * rate, u->unit, m2}, {(1 - p) * rate, u->unit, m2}};
    double (*const response)(const struct bli_mg1_class *, size_t, size_t) =
        interrupts ? bli_mg1_preemptive : bli_mg1_nonpreemptive;
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = u->exponential ? "M/M/1 with priorities" : "M/G/1 with priorities";
    struct bli_prediction_class *high = &known.high, *low = &known.low;
    high->response_mean = response(class, 2, 0);
    low->response_mean = response(class, 2, 1);
    high->waiting_mean = high->response_mean - u->unit;
    low->waiting_mean = low->response_mean - (interrupts ? u->unit / (1 - p * u->lambda) : u->unit);
    high->waiting_probability = fmin(interrupts ? p * u->lambda : u->lambda, 1);
    low->waiting_probability = fmin(u->lambda, 1);
    known.response_mean = mean_of_classes(p, high->response_mean, low->response_mean);
    known.waiting_mean = mean_of_classes(p, high->waiting_mean, low->waiting_mean);
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = mean_of_classes(p, high->waiting_probability, low->waiting_probability);
    return known;
}

static struct bli_prediction slots(const struct bli_model *model, const struct bal_policy_spec *policy,
                                   const struct bli_uniform *u) {
    (void)policy;
    return bli_theory_from_wait(bli_wait_mmn(u->lambda, model->slots), u->unit, BLI_THEORY_EXACT, "M/M/k");
}

static struct bli_prediction speeds(const struct bli_model *model, const struct bli_uniform *u) {
    return bli_theory_speeds_queue(&model->speeds, model->slots == BLI_SLOTS_ALL ? 0 : model->slots,
                                   bli_model_arrival_rate(model) / u->servers, u->unit, u->exponential);
}

static struct bli_prediction patience(const struct bli_model *model, const struct bli_uniform *u) {
    return bli_theory_impatient(model, u, model->slots > 1 ? model->slots : 1);
}

static struct bli_prediction failures(const struct bli_model *model, const struct bli_uniform *u) {
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = "M/M/1 with breakdowns";
    known.response_mean = bli_breakdown_queue(u->lambda, u->unit / model->failures.up.mean,
                                              u->unit / model->failures.down.mean) /
                          u->lambda * u->unit;
    return known;
}

static struct bli_prediction unequal(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_theory_separate_queues(model, false);
}

static unsigned choices(const struct bal_policy_spec *policy) {
    (void)policy;
    return 1;
}

static double critical_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_critical_of_d(&model->servers, 1, true);
}

static double relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return bli_relaxation_apart(model, 1);
}

static enum bal_code fluid(struct bli_theory_fluid *f, const struct bli_model *model,
                           const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                           struct bal_error *err) {
    (void)policy, (void)variant, (void)err;
    return bli_fluid_use_pod(f, model->load, 0, 1, 1);
}

const struct bli_policy_theory bli_theory_random[] = {{.policy = "random",
                                                       .fifo = fifo,
                                                       .any_sizes = true,
                                                       .unequal = unequal,
                                                       .arrivals = arrivals,
                                                       .any_dispatchers = true,
                                                       .classes = classes,
                                                       .slots = slots,
                                                       .speeds = speeds,
                                                       .patience = patience,
                                                       .failures = failures,
                                                       .wait = wait,
                                                       .choices = choices,
                                                       .critical_load = critical_load,
                                                       .relaxation = relaxation,
                                                       .fluid = fluid},
                                                      {0}};
