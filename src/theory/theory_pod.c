/* SPDX-License-Identifier: BSD-2-Clause */
/* pod and its sisters with classes, in the limit of many servers: the supermarket model, and Niu, Wang,
 * Feng and Xu (2022). p is the share of the high class. Sampling with or without replacement is the same in
 * the limit. */
#include "base/memory.h"
#include "theory/pod_groups.h"
#include "theory/pod_phase.h"
#include "theory/policy_theory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static unsigned d_of(const struct bal_policy_spec *policy) {
    return (unsigned)bal_policy_value(policy, "d");
}

static struct bli_pod pod_of_classes(const struct bal_policy_spec *policy, double lambda, double p) {
    return (struct bli_pod){lambda, p, (unsigned)bal_policy_value(policy, "d1"),
                            (unsigned)bal_policy_value(policy, "d2")};
}

static unsigned levels_of(const struct bli_pod *pod, double tail[BLI_THEORY_LEVELS]) {
    const size_t levels = bli_pod_tail(pod, tail, BLI_THEORY_LEVELS);
    return (unsigned)(levels < BLI_THEORY_LEVELS ? levels : BLI_THEORY_LEVELS);
}

/* ---- pod and pod-sep: routed alike ---- */

static struct bli_prediction known_of_phases(const struct pod_phase *answer, double d,
                                             const struct bli_uniform *u) {
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_LIMIT;
    known.source = "mean field, sizes in phases";
    known.response_mean = answer->jobs / u->lambda * u->unit;
    known.waiting_mean = known.response_mean - u->unit;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = pow(u->lambda, d);
    for (int i = 0; i < 4; i++)
        known.response_quantile[i] = answer->response_quantile[i] * u->unit;
    known.levels = (unsigned)fmin((double)answer->levels, BLI_THEORY_LEVELS);
    memcpy(known.tail, answer->tail, known.levels * sizeof *known.tail);
    return known;
}

/* What a fit costs: where it changes the variance, about as much as that changes the wait, and the rest as a
 * coarser one differs from it. Twice the first, and two thousandths of the wait
 * for sizes so small that they are taken for larger ones, were enough for all laws that were tried. */
static double error_of_fit(const struct bli_dist *size, const struct phases *phases, double fine,
                           double coarse, double unit) {
    const double wanted = bli_dist_moment(size, 2) / (size->mean * size->mean);
    const double off = fabs(bli_phases_moment(phases, 2) / wanted - 1);
    return (2 * off + 0.002) * (fine - unit) + fabs(fine - coarse);
}

/* Equal sizes are the limit of Erlang laws, to which they tend like one over the number of phases. */
static void extrapolate(struct bli_prediction *known, const struct bli_prediction *coarse) {
    known->fit_error = fabs(known->response_mean - coarse->response_mean) / 4;
    known->response_mean += known->response_mean - coarse->response_mean;
    known->waiting_mean += known->waiting_mean - coarse->waiting_mean;
    known->waiting_limit = known->waiting_mean;
    for (int i = 0; i < 4; i++)
        known->response_quantile[i] += known->response_quantile[i] - coarse->response_quantile[i];
    for (unsigned i = 0; i < known->levels; i++)
        known->tail[i] = fmax(2 * known->tail[i] - coarse->tail[i], 0);
}

static const double worst_fit = 0.02; /* of the mean: beyond that nothing is said */

static struct bli_prediction fitted(const struct bli_model *model, double d, const struct bli_uniform *u,
                                    struct phases *phases, struct pod_phase *answer) {
    if (!bli_phases_fit(&model->size, false, phases) ||
        !bli_pod_phase_solve(phases, u->lambda, (unsigned)d, answer))
        return bli_theory_unknown;
    const struct bli_prediction coarse = known_of_phases(answer, d, u);
    if (!bli_phases_fit(&model->size, true, phases) ||
        !bli_pod_phase_solve(phases, u->lambda, (unsigned)d, answer))
        return bli_theory_unknown;
    struct bli_prediction known = known_of_phases(answer, d, u);
    known.kind = BLI_THEORY_APPROXIMATE;
    known.source = "mean field, sizes fitted by phases";
    if (model->size.kind == BLI_DIST_DET)
        extrapolate(&known, &coarse);
    else
        known.fit_error =
            error_of_fit(&model->size, phases, known.response_mean, coarse.response_mean, u->unit);
    return known.fit_error > worst_fit * known.response_mean ? bli_theory_unknown : known;
}

/* Sizes that are not exponential. */
static struct bli_prediction of_sizes(const struct bli_model *model, unsigned d,
                                      const struct bli_uniform *u) {
    struct phases *phases = malloc(sizeof *phases);
    struct pod_phase *answer = malloc(sizeof *answer);
    struct bli_prediction known = bli_theory_unknown;
    if (!phases || !answer)
        bli_memory_lose();
    else if (u->lambda > 0 && u->lambda < 1) {
        if (!bli_phases_of(&model->size, phases))
            known = fitted(model, d, u, phases, answer);
        else if (bli_pod_phase_solve(phases, u->lambda, d, answer))
            known = known_of_phases(answer, d, u);
    }
    free(phases);
    free(answer);
    return known;
}

static struct bli_prediction fifo(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  const struct bli_uniform *u) {
    if (!u->exponential)
        return of_sizes(model, d_of(policy), u);
    const struct bli_pod pod = bli_pod_plain(u->lambda, d_of(policy));
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_LIMIT;
    known.source = "mean field";
    known.response_mean = bli_pod_response(&pod, pod.d1) * u->unit;
    known.waiting_mean = bli_pod_waiting(&pod, pod.d1) * u->unit;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = pow(fmin(u->lambda, 1), pod.d1);
    if (u->lambda < 1)
        for (int i = 0; i < 4; i++)
            known.response_quantile[i] =
                bli_pod_response_quantile(&pod, pod.d1, bli_theory_quantiles[i]) * u->unit;
    known.levels = levels_of(&pod, known.tail);
    return known;
}

/* Does a job see different servers? Policies other than pod have it their own way. */
bool bli_choices_are_distinct(const struct bal_policy_spec *policy) {
    const double replace = bal_policy_value(policy, "replace");
    return isnan(replace) ? strcmp(policy->policy->name, "least-conn") == 0 : replace == 0;
}

/* How many jobs there are does not depend on the order in which they are served. */
static bool expand(const struct bli_model *model, const struct bal_policy_spec *policy,
                   const struct bli_uniform *u, struct bli_expansion *expansion) {
    (void)model;
    const struct bli_pod pod = bli_pod_plain(u->lambda, d_of(policy));
    return bli_expand_pod(&pod, bli_choices_are_distinct(policy), u, expansion);
}

/* Of servers of different speeds; false where there is no answer, or no steady state. */
static bool solve_groups(const struct bli_model *model, const struct bal_policy_spec *policy,
                         struct pod_groups *answer, double *arrivals) {
    const struct bli_servers *servers = &model->servers;
    const double n = bli_servers_count(servers);
    const double critical = bli_critical_of_d(servers, d_of(policy), !bli_choices_are_distinct(policy));
    struct expansion_pod pod = {.d = {d_of(policy), d_of(policy)},
                                .distinct = bli_choices_are_distinct(policy)};
    if (servers->groups > EXPANSION_GROUPS || d_of(policy) < 2 || d_of(policy) > 64 ||
        !(model->load > 0 && model->load < fmin(critical, 1)))
        return false;
    pod.groups = servers->groups;
    pod.lambda = *arrivals = model->load * bli_servers_capacity(servers) / n;
    for (unsigned g = 0; g < pod.groups; g++) {
        pod.share[g] = servers->group[g].count / n;
        pod.speed[g] = servers->group[g].speed;
    }
    return bli_pod_groups_solve(&pod, answer);
}

static struct bli_prediction unequal(const struct bli_model *model, const struct bal_policy_spec *policy) {
    struct bli_prediction known = bli_theory_unknown;
    struct bli_uniform u;
    struct pod_groups answer;
    double arrivals;
    if (bli_uniform_of(model, &u))
        return u.exponential ? fifo(model, policy, &u) : known;
    if (!bli_dist_is_exponential(&model->size) || !solve_groups(model, policy, &answer, &arrivals))
        return known;
    known.kind = BLI_THEORY_LIMIT;
    known.source = "mean field, groups of servers";
    known.response_mean = answer.jobs / arrivals * model->size.mean;
    known.waiting_mean = (answer.jobs - answer.busy) / arrivals * model->size.mean;
    known.waiting_limit = known.waiting_mean;
    known.waiting_probability = pow(answer.busy, d_of(policy));
    known.levels = (unsigned)fmin((double)answer.levels, BLI_THEORY_LEVELS);
    memcpy(known.tail, answer.tail, known.levels * sizeof *known.tail);
    return known;
}

static bool expand_unequal(const struct bli_model *model, const struct bal_policy_spec *policy,
                           struct bli_expansion *expansion) {
    struct pod_groups answer;
    double arrivals;
    if (!solve_groups(model, policy, &answer, &arrivals) || isnan(answer.second))
        return false;
    const double unit = model->size.mean / arrivals, n = bli_servers_count(&model->servers);
    *expansion = (struct bli_expansion){
        .limit = answer.jobs * unit, .first = answer.first * unit, .second = answer.second * unit};
    const double first = expansion->first / n, second = expansion->second / n / n;
    expansion->response_mean = expansion->limit + first + second;
    expansion->error = bli_expansion_error((answer.jobs - answer.busy) * unit, first, second, d_of(policy));
    for (int i = 0; i < 4; i++)
        expansion->response_quantile[i] = expansion->quantile_error[i] = NAN;
    return true;
}

static bool chain(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules) {
    rules->rule = bli_chain_pod;
    rules->level_rule = bli_chain_pod_levels;
    rules->distinct = bli_choices_are_distinct(policy);
    rules->d = rules->distinct && d_of(policy) > u->servers ? u->servers : d_of(policy);
    return true;
}

/* Routing is blind to classes; servers prefer the high ones. */
static bool chain_of_sep(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                         enum bli_discipline discipline, struct chain_rules *rules) {
    if (discipline != BLI_DISCIPLINE_PREEMPTIVE || !chain(policy, u, rules))
        return false;
    rules->rule = bli_chain_sep;
    rules->level_rule = NULL;
    rules->preempts = true;
    rules->first = CHAIN_TAGGED;
    return true;
}

/* On servers that let high jobs interrupt low ones: exactly, and as Theorem 8 bounds it. */
static void add_sep(struct bli_prediction *known, unsigned d, double p, const struct bli_uniform *u) {
    const struct bli_priority priority = {BLI_PRIORITY_SEP, u->lambda, p, d, d};
    const struct bli_priority_result result = bli_priority_solve(&priority);
    const double bound = bli_sep_low_bound(u->lambda, p, d);
    known->high.response_mean = result.high * u->unit;
    known->low.response_mean = result.low * u->unit;
    known->low.waiting_probability = pow(fmin(u->lambda, 1), d);
    known->low.response_bound = bound * u->unit;
    const double high = (result.all - (1 - p) * bound) / p;
    if (p > 0 && high >= 1) /* a smaller bound is useless: no job takes less than its service */
        known->high.response_bound = high * u->unit;
    known->low.response_cut = bli_sep_low_cut(u->lambda, p, d, BLI_SEP_FIGURE_LEVELS) * u->unit;
    known->high.response_cut = (result.all * u->unit - (1 - p) * known->low.response_cut) / p;
}

static struct bli_prediction classes(const struct bli_model *model, const struct bal_policy_spec *policy,
                                     const struct bli_uniform *u, enum bli_discipline discipline) {
    if (!u->exponential && discipline != BLI_DISCIPLINE_FIFO)
        return bli_theory_unknown;
    struct bli_prediction known = bli_theory_classes_of_fifo(model, policy, u, discipline);
    if (known.kind != BLI_THEORY_UNKNOWN && known.waiting_mean != 0 &&
        discipline == BLI_DISCIPLINE_PREEMPTIVE)
        add_sep(&known, d_of(policy), model->high, u);
    return known;
}

static double longer(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                     enum bli_theory_time what, double t) {
    const struct bli_pod pod = bli_pod_plain(u->lambda, d_of(policy));
    return what == BLI_THEORY_RESPONSE ? bli_pod_response_tail(&pod, pod.d1, t)
                                       : bli_pod_waiting_tail(&pod, pod.d1, t);
}

static double critical_load(const struct bli_model *model, const struct bal_policy_spec *policy) {
    if (bal_policy_value(policy, "pertask") == 1)
        return NAN;
    return bli_critical_of_d(&model->servers, d_of(policy), bal_policy_value(policy, "replace") != 0);
}

/* As in the limit of many servers; and a finite fleet also fills up as a whole. */
static double relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    struct bli_uniform u;
    if (d_of(policy) == 1)
        return bli_relaxation_apart(model, 1);
    if (model->classes || !bli_uniform_of(model, &u) || !u.exponential)
        return NAN;
    const struct bli_pod pod = bli_pod_plain(u.lambda, d_of(policy));
    return bli_pod_relaxation(&pod) * u.unit + bli_relaxation_together(model);
}

static enum bal_code fluid(struct bli_theory_fluid *f, const struct bli_model *model,
                           const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                           struct bal_error *err) {
    (void)variant, (void)err;
    return bli_fluid_use_pod(f, model->load, 0, d_of(policy), d_of(policy));
}

/* ---- pod-scp and pod-ssp ---- */

static double mean_of_classes(double p, double high, double low) {
    return p == 0 ? low : p == 1 ? high : p * high + (1 - p) * low;
}

/* A job that probes d servers among the jobs of *pod, first come, first served. */
static struct bli_prediction_class class_of(const struct bli_pod *pod, unsigned d, double unit) {
    struct bli_prediction_class class = BLI_THEORY_NO_CLASS;
    class.response_mean = bli_pod_response(pod, d) * unit;
    class.waiting_mean = bli_pod_waiting(pod, d) * unit;
    class.waiting_probability = pow(fmin(pod->lambda, 1), d);
    if (pod->lambda < 1)
        for (int i = 0; i < 4; i++)
            class.response_quantile[i] = bli_pod_response_quantile(pod, d, bli_theory_quantiles[i]) * unit;
    return class;
}

static bool expand_both(const struct bli_model *model, const struct bal_policy_spec *policy,
                        const struct bli_uniform *u, struct bli_expansion *expansion) {
    const struct bli_pod pod = pod_of_classes(policy, u->lambda, model->high);
    return bli_expand_pod(&pod, false, u, expansion);
}

static bool expand_ssp(const struct bli_model *model, const struct bal_policy_spec *policy,
                       const struct bli_uniform *u, struct bli_expansion *expansion) {
    return bli_model_discipline(model, true) == BLI_DISCIPLINE_PREEMPTIVE &&
           expand_both(model, policy, u, expansion);
}

static bool chain_of_scp(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                         enum bli_discipline discipline, struct chain_rules *rules) {
    (void)u;
    rules->rule = bli_chain_scp;
    rules->level_rule = bli_chain_scp_levels;
    rules->d = (unsigned)bal_policy_value(policy, "d1");
    rules->d_high = (unsigned)bal_policy_value(policy, "d2");
    return discipline == BLI_DISCIPLINE_FIFO;
}

static bool chain_of_ssp(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                         enum bli_discipline discipline, struct chain_rules *rules) {
    rules->high_apart = true;
    chain_of_scp(policy, u, discipline, rules);
    return discipline == BLI_DISCIPLINE_PREEMPTIVE;
}

/* The total queues of pod-scp and pod-ssp (Theorem 4), and the mean of all their jobs. */
static struct bli_prediction known_of_both(const struct bli_pod *pod, double unit) {
    struct bli_prediction known = bli_theory_unknown;
    known.kind = BLI_THEORY_LIMIT;
    known.source = "mean field";
    known.response_mean =
        unit * mean_of_classes(pod->p, bli_pod_response(pod, pod->d2), bli_pod_response(pod, pod->d1));
    known.levels = levels_of(pod, known.tail);
    return known;
}

static void set_waiting_probability(struct bli_prediction *known, double p) {
    known->waiting_probability =
        mean_of_classes(p, known->high.waiting_probability, known->low.waiting_probability);
}

/* Theorem 6, for servers that are blind to class; where they are not, only both classes together are known.
 */
static struct bli_prediction scp(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_uniform *u, enum bli_discipline discipline) {
    if (!u->exponential)
        return bli_theory_unknown;
    const struct bli_pod pod = pod_of_classes(policy, u->lambda, model->high);
    struct bli_prediction known = known_of_both(&pod, u->unit);
    if (discipline != BLI_DISCIPLINE_FIFO)
        return known;
    known.high = class_of(&pod, pod.d2, u->unit);
    known.low = class_of(&pod, pod.d1, u->unit);
    known.waiting_mean = mean_of_classes(pod.p, known.high.waiting_mean, known.low.waiting_mean);
    known.waiting_limit = known.waiting_mean;
    set_waiting_probability(&known, pod.p);
    return known;
}

/* Theorems 3 and 4: high jobs interrupt low ones and see only their like, as pod of d2 at load p lambda. A
 * low job waits unless it finds an empty server. */
static struct bli_prediction ssp(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_uniform *u, enum bli_discipline discipline) {
    if (!u->exponential || discipline != BLI_DISCIPLINE_PREEMPTIVE)
        return bli_theory_unknown;
    const struct bli_pod pod = pod_of_classes(policy, u->lambda, model->high);
    const struct bli_priority priority = {BLI_PRIORITY_SSP, pod.lambda, pod.p, pod.d1, pod.d2};
    const struct bli_pod high = bli_pod_plain(pod.p * pod.lambda, pod.d2);
    struct bli_prediction known = known_of_both(&pod, u->unit);
    known.high = class_of(&high, high.d1, u->unit);
    double tail[BLI_THEORY_LEVELS];
    const unsigned levels = levels_of(&high, tail); /* Lemma 3 */
    for (unsigned i = 0; i < sizeof known.high_tail / sizeof *known.high_tail; i++)
        known.high_tail[i] = levels == 0 ? NAN : i < levels ? tail[i] : 0;
    known.low.response_mean = bli_priority_solve(&priority).low * u->unit;
    known.low.waiting_probability = pow(fmin(pod.lambda, 1), pod.d1);
    set_waiting_probability(&known, pod.p);
    return known;
}

/* The classes up to one are those of pod-scp without the others; the most urgent one probes d2 servers. */
static double ssp_up_to(const struct bli_model *model, const struct bal_policy_spec *policy,
                        const struct bli_uniform *u, double share) {
    const struct bli_pod pod = pod_of_classes(policy, share * u->lambda, fmin(model->high / share, 1));
    return u->unit * mean_of_classes(pod.p, bli_pod_response(&pod, pod.d2), bli_pod_response(&pod, pod.d1));
}

/* Moving a low job away from the server that a high one joins leaves the totals of pod-ssp as those of
 * pod-scp. */
static enum bal_code fluid_of_both(struct bli_theory_fluid *f, const struct bli_model *model,
                                   const struct bal_policy_spec *policy, enum bli_rcpb_variant variant,
                                   struct bal_error *err) {
    (void)variant, (void)err;
    const struct bli_pod pod = pod_of_classes(policy, model->load, model->high);
    return bli_fluid_use_pod(f, pod.lambda, pod.p, pod.d1, pod.d2);
}

const struct bli_policy_theory bli_theory_pod[] = {{.policy = "pod",
                                                    .any_dispatchers = true,
                                                    .any_sizes = true,
                                                    .fifo = fifo,
                                                    .unequal = unequal,
                                                    .expand = expand,
                                                    .expand_unequal = expand_unequal,
                                                    .classes = classes,
                                                    .chain = chain,
                                                    .chain_classes = chain_of_sep,
                                                    .longer = longer,
                                                    .choices = d_of,
                                                    .critical_load = critical_load,
                                                    .relaxation = relaxation,
                                                    .fluid = fluid},
                                                   {.policy = "pod-scp",
                                                    .any_dispatchers = true,
                                                    .expand = expand_both,
                                                    .classes = scp,
                                                    .chain_classes = chain_of_scp,
                                                    .fluid = fluid_of_both},
                                                   {.policy = "pod-sep",
                                                    .chain_classes = chain_of_sep,
                                                    .any_dispatchers = true,
                                                    .any_sizes = true,
                                                    .fifo = fifo,
                                                    .expand = expand,
                                                    .classes = classes,
                                                    .fluid = fluid},
                                                   {.policy = "pod-ssp",
                                                    .any_dispatchers = true,
                                                    .expand = expand_ssp,
                                                    .classes = ssp,
                                                    .chain_classes = chain_of_ssp,
                                                    .up_to = ssp_up_to,
                                                    .fluid = fluid_of_both},
                                                   {0}};
