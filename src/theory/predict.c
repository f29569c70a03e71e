/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known about a policy on a model: which row of the table of theory answers, and to what. */
#include "ballast/predict.h"

#include "theory/policy_theory.h"

#include <math.h>
#include <string.h>

const double bli_theory_quantiles[4] = {0.5, 0.9, 0.99, 0.999};

const struct bli_prediction bli_theory_unknown = {
    .kind = BLI_THEORY_UNKNOWN,
    .response_mean = NAN,
    .waiting_mean = NAN,
    .waiting_limit = NAN,
    .waiting_bound = NAN,
    .waiting_probability = NAN,
    .gave_up = NAN,
    .response_quantile = {NAN, NAN, NAN, NAN},
    .high = BLI_THEORY_NO_CLASS,
    .low = BLI_THEORY_NO_CLASS,
    .high_tail = {NAN, NAN, NAN, NAN},
    .class_response = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},
};

const char *bli_theory_sign(enum bli_theory_kind kind) {
    static const char *const signs[] = {"", "=", "\u2192", "\u2248"};
    return signs[kind];
}

const char *bli_theory_kind_name(enum bli_theory_kind kind) {
    static const char *const words[] = {"nothing", "exact", "limit", "approximation"};
    return words[kind];
}

bool bli_servers_are_equal(const struct bli_servers *servers) {
    for (unsigned g = 1; g < servers->groups; g++)
        if (servers->group[g].speed != servers->group[0].speed)
            return false;
    return true;
}

/* Equal servers, whatever they do with their jobs and however these arrive. */
static bool any_arrivals_of(const struct bli_model *model, struct bli_uniform *uniform) {
    const struct bli_network *network = &model->network;
    if (!bli_network_is_near(network) || network->dispatchers.unequal ||
        model->clock != BLI_CLOCK_CONTINUOUS || model->tasks > 1 || model->buffer > 0 ||
        model->curve.kind != BLI_CURVE_CONSTANT || !bli_servers_are_equal(&model->servers))
        return false;
    *uniform = (struct bli_uniform){
        .lambda = model->load,
        .servers = bli_servers_count(&model->servers),
        .dispatchers = network->dispatchers.count > 1 ? network->dispatchers.count : 1,
        .unit = model->size.mean / model->servers.group[0].speed,
        .exponential = bli_dist_is_exponential(&model->size),
        .reports = bli_model_reports_renew(model) ? &model->reports : NULL,
    };
    return true;
}

/* Equal servers and a Poisson process. */
static bool equal_servers_of(const struct bli_model *model, struct bli_uniform *uniform) {
    return bli_arrivals_are_poisson(&model->arrivals) && any_arrivals_of(model, uniform);
}

bool bli_uniform_of(const struct bli_model *model, struct bli_uniform *uniform) {
    return model->slots <= 1 && model->steal.kind == BAL_STEAL_NONE && equal_servers_of(model, uniform);
}

/* What is known of one dispatcher holds for several only where they share nothing that matters. */
static bool knows_dispatchers(const struct bli_model *model, const struct bal_policy_spec *policy,
                              const struct bli_uniform *u) {
    return u->dispatchers == 1 || bli_policy_theory(model, policy)->any_dispatchers;
}

struct bli_prediction bli_theory_from_wait(struct bli_wait wait, double unit, enum bli_theory_kind kind,
                                           const char *source) {
    struct bli_prediction known = bli_theory_unknown;
    known.kind = kind;
    known.source = source;
    known.waiting_probability = wait.probability;
    known.waiting_mean = bli_wait_mean(&wait) * unit;
    known.waiting_limit = known.waiting_mean;
    known.response_mean = bli_wait_response_mean(&wait) * unit;
    for (int i = 0; i < 4; i++)
        known.response_quantile[i] = bli_wait_response_quantile(&wait, bli_theory_quantiles[i]) * unit;
    return known;
}

struct bli_prediction bli_theory_impatient(const struct bli_model *model, const struct bli_uniform *u,
                                           double n) {
    const struct bli_erlang_a a = bli_erlang_a(u->lambda * n, n, u->unit / model->patience.mean);
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_EXACT;
    known.source = "Erlang-A (M/M/n+M)";
    known.gave_up = a.gave_up;
    known.waiting_probability = a.probability;
    known.waiting_mean = a.waiting * u->unit;
    known.response_mean = known.waiting_mean + u->unit;
    return known;
}

struct bli_prediction bli_theory_no_wait(const struct bli_model *model, const struct bal_policy_spec *policy,
                                         const struct bli_uniform *u) {
    (void)model, (void)policy;
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_LIMIT;
    known.source = "N to infinity";
    known.waiting_mean = u->lambda < 1 ? 0 : INFINITY;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = u->lambda < 1 ? 0 : 1;
    known.response_mean = known.waiting_mean + u->unit;
    /* Of exponential sizes, as constants: C libraries differ in the last digit of a logarithm, and the page
     * of the playground prints the digits of the program. */
    static const double quantile[4] = {M_LN2, M_LN10, 2 * M_LN10, 3 * M_LN10};
    for (int i = 0; i < 4 && u->exponential && u->lambda < 1; i++)
        known.response_quantile[i] = quantile[i] * u->unit;
    return known;
}

static struct bli_prediction predict_fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                          const struct bli_uniform *u) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    return about->fifo && (u->exponential || about->any_sizes) ? about->fifo(model, policy, u)
                                                               : bli_theory_unknown;
}

/* Jobs of different classes fare alike. */
static void copy_to_classes(struct bli_prediction *known) {
    struct bli_prediction_class class = BLI_THEORY_NO_CLASS;
    class.response_mean = known->response_mean;
    class.waiting_mean = known->waiting_mean;
    class.waiting_probability = known->waiting_probability;
    memcpy(class.response_quantile, known->response_quantile, sizeof class.response_quantile);
    known->high = known->low = class;
}

/* Servers that prefer a class. With exponential sizes, and routing that is blind to classes and sizes, the
 * numbers of jobs at the servers are those of first come, first served, and so (Little) is the mean response
 * time of all jobs; nothing else is. */
static void forget_order(struct bli_prediction *known) {
    known->waiting_mean = known->waiting_limit = known->waiting_probability = NAN;
    for (int i = 0; i < 4; i++)
        known->response_quantile[i] = NAN;
}

struct bli_prediction bli_theory_classes_of_fifo(const struct bli_model *model,
                                                 const struct bal_policy_spec *policy,
                                                 const struct bli_uniform *u,
                                                 enum bli_discipline discipline) {
    struct bli_prediction known = predict_fifo(model, policy, u);
    /* Where no job waits, preferring a class changes nothing. */
    if (discipline == BLI_DISCIPLINE_FIFO || known.waiting_mean == 0) {
        copy_to_classes(&known);
        return known;
    }
    if (policy->policy->flags & BAL_NEEDS_WORK)
        return bli_theory_unknown;
    forget_order(&known);
    return known;
}

static struct bli_prediction predict_classes(const struct bli_model *model,
                                             const struct bal_policy_spec *policy,
                                             const struct bli_uniform *u) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    const enum bli_discipline discipline =
        bli_model_discipline(model, policy->policy->flags & BAL_SERVES_RANKS);
    return (about->classes ? about->classes : bli_theory_classes_of_fifo)(model, policy, u, discipline);
}

/* The prediction for the most urgent class and the others: it is the same for all, because servers ignore
 * classes. */
static void copy_to_many(const struct bli_model *model, struct bli_prediction *known) {
    for (uint32_t i = 0; i < model->class_count; i++)
        known->class_response[i] = i == 0 ? known->high.response_mean : known->low.response_mean;
}

/* The mean over a class and all that are more urgent. To the others they are one class, and with exponential
 * sizes the order among them does not change how many of them there are; so this is what is known of the high
 * one of two. */
static double response_up_to(const struct bli_model *model, const struct bal_policy_spec *policy,
                             const struct bli_uniform *u, double share) {
    struct bli_model two = *model;
    two.class_count = 0;
    two.high = share;
    return predict_classes(&two, policy, u).high.response_mean;
}

/* More than two classes. Means over the classes up to each give those of each. */
static struct bli_prediction known_many_classes(const struct bli_model *model,
                                                const struct bal_policy_spec *policy,
                                                const struct bli_uniform *u) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    const enum bli_discipline discipline =
        bli_model_discipline(model, policy->policy->flags & BAL_SERVES_RANKS);
    struct bli_model two = *model;
    two.class_count = 0;
    struct bli_prediction known = predict_classes(&two, policy, u);
    if (known.kind == BLI_THEORY_UNKNOWN)
        return known;
    if (discipline == BLI_DISCIPLINE_FIFO || known.waiting_mean == 0) {
        copy_to_many(model, &known);
        return known;
    }
    double share = 0, before = 0;
    for (uint32_t i = 0; i < model->class_count; i++) {
        share += model->share[i];
        const double mean = i + 1 == model->class_count ? known.response_mean
                            : about->up_to              ? about->up_to(model, policy, u, share)
                            : u->exponential            ? response_up_to(model, policy, u, share)
                                                        : NAN;
        known.class_response[i] = (share * mean - before) / model->share[i];
        before = share * mean;
    }
    const struct bli_prediction_class nothing = BLI_THEORY_NO_CLASS;
    known.low = nothing;
    known.low.response_mean = known.class_response[model->class_count - 1];
    forget_order(&known);
    return known;
}

/* Servers of k slots, first come, first served. */
static struct bli_prediction predict_slots(const struct bli_model *model,
                                           const struct bal_policy_spec *policy,
                                           const struct bli_uniform *u) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    return about->slots && !model->classes && u->exponential ? about->slots(model, policy, u)
                                                             : bli_theory_unknown;
}

/* By Little's theorem: jobs that are stolen stay in the system. */
static struct bli_prediction predict_stealing(const struct bli_model *model,
                                              const struct bal_policy_spec *policy,
                                              const struct bli_uniform *u) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    if (model->classes || model->slots > 1 || !u->exponential || !(u->lambda > 0) || !about->choices)
        return bli_theory_unknown;
    const struct bli_stealing stealing = {
        .lambda = u->lambda, .d = about->choices(policy), .steal = model->steal};
    struct bli_prediction known = bli_theory_unknown;
    double jobs = INFINITY;
    known.tail[0] = 1;
    if (u->lambda < 1) {
        if (bli_stealing_equilibrium(&stealing, known.tail + 1, BLI_THEORY_LEVELS - 1, &jobs, NULL))
            return bli_theory_unknown;
        known.levels = BLI_THEORY_LEVELS;
    }
    known.kind = BLI_THEORY_LIMIT;
    known.source = "mean field with stealing";
    known.response_mean = jobs / u->lambda * u->unit;
    known.waiting_mean = known.response_mean - u->unit;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = pow(fmin(u->lambda, 1), stealing.d);
    return known;
}

static struct bli_prediction predict_arrivals(const struct bli_model *model,
                                              const struct bal_policy_spec *policy,
                                              const struct bli_uniform *u) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    const bool plain = model->steal.kind == BAL_STEAL_NONE && model->slots <= 1 && !model->classes;
    return plain && about->arrivals ? about->arrivals(model, policy, u) : bli_theory_unknown;
}

bool bli_is_plain_unequal(const struct bli_model *model) {
    return model->clock == BLI_CLOCK_CONTINUOUS && bli_arrivals_are_poisson(&model->arrivals) &&
           bli_network_is_near(&model->network) && model->tasks <= 1 && model->buffer == 0 &&
           model->curve.kind == BLI_CURVE_CONSTANT && model->slots <= 1 && !model->classes &&
           model->steal.kind == BAL_STEAL_NONE;
}

/* Servers of different speeds and one slot, a Poisson process, one class, first come, first served. */
static struct bli_prediction predict_unequal(const struct bli_model *model,
                                             const struct bal_policy_spec *policy) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    const bool plain = bli_is_plain_unequal(model);
    const bool alone = model->network.dispatchers.count <= 1;
    return plain && about->unequal && (alone || about->any_dispatchers) ? about->unequal(model, policy)
                                                                        : bli_theory_unknown;
}

/* Servers that share themselves. What is a queue of its own is insensitive to the distribution of sizes; and
 * with exponential sizes the numbers of jobs are those of first come, first served, and so are means, by
 * Little's law, as long as no decision depends on sizes. */
static struct bli_prediction predict_sharing(const struct bli_model *model,
                                             const struct bal_policy_spec *policy) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    struct bli_uniform u;
    struct bli_prediction known = bli_theory_unknown;
    if (about->unequal)
        known = predict_unequal(model, policy);
    else if (bli_uniform_of(model, &u) && knows_dispatchers(model, policy, &u) && u.exponential &&
             !model->classes && !(policy->policy->flags & BAL_NEEDS_WORK))
        known = predict_fifo(model, policy, &u);
    forget_order(&known);
    return known;
}

/* Servers whose speed depends on the jobs in service. */
static struct bli_prediction predict_speeds(const struct bli_model *model,
                                            const struct bal_policy_spec *policy) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    struct bli_uniform u;
    return about->speeds && equal_servers_of(model, &u) && knows_dispatchers(model, policy, &u) &&
                   model->steal.kind == BAL_STEAL_NONE
               ? about->speeds(model, &u)
               : bli_theory_unknown;
}

/* Last come, first served, without interruption. Which of the jobs that wait is next does not depend on
 * sizes, so that the numbers of jobs at the servers are those of first come, first served, and so are the
 * probability of waiting and, by Little's law, means; for any distribution of sizes, as long as no decision
 * depends on them. */
static struct bli_prediction predict_lifo(const struct bli_model *model,
                                          const struct bal_policy_spec *policy) {
    if (policy->policy->flags & BAL_NEEDS_WORK)
        return bli_theory_unknown;
    struct bli_model fifo = *model;
    fifo.discipline = BLI_DISCIPLINE_FIFO;
    struct bli_prediction known = bli_theory_predict(&fifo, policy);
    for (int i = 0; i < 4; i++)
        known.response_quantile[i] = NAN;
    return known;
}

/* Jobs that give up or are refused, or servers that fail: one class of exponential sizes at equal servers. */
static struct bli_prediction predict_unsteady(const struct bli_model *model,
                                              const struct bal_policy_spec *policy) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    struct bli_uniform u;
    const bool plain = model->discipline != BLI_DISCIPLINE_SHARING &&
                       model->discipline != BLI_DISCIPLINE_LIFO && equal_servers_of(model, &u) &&
                       u.dispatchers == 1 && u.exponential && !model->classes &&
                       model->steal.kind == BAL_STEAL_NONE;
    const bool leaves = model->patience.mean > 0, fails = bli_failures_happen(&model->failures);
    const bool limited = model->hold_limit.given;
    if (!plain || leaves + fails + limited > 1)
        return bli_theory_unknown;
    if (limited)
        return about->hold_limit && model->slots <= 1 ? about->hold_limit(model, policy, &u)
                                                      : bli_theory_unknown;
    if (leaves)
        return about->patience && bli_dist_is_exponential(&model->patience) ? about->patience(model, &u)
                                                                            : bli_theory_unknown;
    const struct bli_failures *how = &model->failures;
    const bool simple = bli_dist_is_exponential(&how->up) && bli_dist_is_exponential(&how->down) &&
                        how->jobs == BLI_JOBS_RESUME && how->unseen && model->slots <= 1;
    return simple && about->failures ? about->failures(model, &u) : bli_theory_unknown;
}

struct bli_prediction bli_theory_predict(const struct bli_model *model,
                                         const struct bal_policy_spec *policy) {
    struct bli_uniform u;
    struct bal_policy_spec any;
    policy = bli_theory_equivalent_policy(model, policy, &any);
    if (model->hold_limit.given && !(bal_policy_flags(policy) & BAL_MAY_HOLD)) { /* nothing waits there */
        struct bli_model unlimited = *model;
        unlimited.hold_limit = (struct bli_hold_limit){0};
        return bli_theory_predict(&unlimited, policy);
    }
    if (!bli_model_is_steady(model))
        return predict_unsteady(model, policy);
    if (bli_speeds_given(&model->speeds))
        return predict_speeds(model, policy);
    if (model->discipline == BLI_DISCIPLINE_SHARING)
        return predict_sharing(model, policy);
    if (model->discipline == BLI_DISCIPLINE_LIFO)
        return predict_lifo(model, policy);
    if (!bli_servers_are_equal(&model->servers))
        return predict_unequal(model, policy);
    if (!any_arrivals_of(model, &u) || !knows_dispatchers(model, policy, &u))
        return bli_theory_unknown;
    if (!bli_arrivals_are_poisson(&model->arrivals))
        return predict_arrivals(model, policy, &u);
    if (model->steal.kind != BAL_STEAL_NONE)
        return predict_stealing(model, policy, &u);
    if (model->slots > 1)
        return predict_slots(model, policy, &u);
    return model->class_count > 2 ? known_many_classes(model, policy, &u)
           : model->classes       ? predict_classes(model, policy, &u)
                                  : predict_fifo(model, policy, &u);
}

double bli_theory_tail(const struct bli_model *model, const struct bal_policy_spec *policy,
                       enum bli_theory_time what, double t) {
    struct bal_policy_spec any;
    const struct bli_policy_theory *about =
        bli_policy_theory(model, bli_theory_equivalent_policy(model, policy, &any));
    struct bli_uniform u;
    if (!bli_model_is_steady(model) || !bli_uniform_of(model, &u) || !knows_dispatchers(model, policy, &u) ||
        !u.exponential || model->classes || !(u.lambda < 1) || model->discipline == BLI_DISCIPLINE_SHARING ||
        model->discipline == BLI_DISCIPLINE_LIFO)
        return NAN;
    t /= u.unit;
    if (!about->wait)
        return about->longer ? about->longer(policy, &u, what, t) : NAN;
    const struct bli_wait wait = about->wait(policy, &u);
    return what == BLI_THEORY_RESPONSE ? bli_wait_response_tail(&wait, t) : bli_wait_tail(&wait, t);
}

double bli_theory_quantile(const struct bli_model *model, const struct bal_policy_spec *policy,
                           enum bli_theory_time what, double quantile) {
    double below = 0, above = model->size.mean;
    if (isnan(bli_theory_tail(model, policy, what, 0)))
        return NAN;
    if (!(bli_theory_tail(model, policy, what, 0) > 1 - quantile))
        return 0;
    while (bli_theory_tail(model, policy, what, above) > 1 - quantile)
        above *= 2;
    while (above - below > 1e-9 * above) {
        const double t = 0.5 * (below + above);
        *(bli_theory_tail(model, policy, what, t) > 1 - quantile ? &below : &above) = t;
    }
    return 0.5 * (below + above);
}

double bli_theory_lower_bound(const struct bli_model *model) {
    struct bli_model near = *model;
    struct bli_uniform u;
    if (bli_network_fails(&model->network) || !bli_model_is_steady(model))
        return NAN;
    near.network = (struct bli_network){0}; /* messages that take time make nothing faster */
    if (!equal_servers_of(&near, &u) || !u.exponential || bli_speeds_given(&model->speeds))
        return NAN;
    const uint64_t slots = (uint64_t)u.servers * (model->slots > 1 ? model->slots : 1);
    const struct bli_wait wait = bli_wait_mmn(u.lambda, slots);
    return bli_wait_response_mean(&wait) * u.unit;
}
