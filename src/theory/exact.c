/* SPDX-License-Identifier: BSD-2-Clause */
/* What the chain of a few servers says of response times. */
#include "theory/chain.h"
#include "theory/jobs_found.h"
#include "theory/policy_theory.h"

#include <math.h>

/* Servers work on one job after the other, so that in the steady state as many jobs a unit of time come to a
 * server with k jobs as end at one with k + 1: a job finds at least k others with probability
 * tail[k + 1] / tail[1]. Where high jobs interrupt others the same holds for them alone. */
static struct found found_of(const double tail[CHAIN_LEVELS], double value[CHAIN_LEVELS]) {
    struct found found = {value, 0};
    while (found.n + 1 < CHAIN_LEVELS && tail[found.n + 1] > 0) {
        value[found.n] = tail[found.n + 1] / tail[1];
        found.n++;
    }
    return found;
}

static void set_times(const struct chain_answer *answer, bool in_order, double unit,
                      struct bli_prediction *known) {
    double value[CHAIN_LEVELS] = {0};
    const struct found found = found_of(answer->tail, value);
    known->response_mean = answer->jobs / answer->accepted * unit;
    known->waiting_mean = known->response_mean - unit;
    known->waiting_probability = value[1];
    for (int i = 0; i < 4 && in_order; i++)
        known->response_quantile[i] = bli_found_quantile(&found, 0, bli_theory_quantiles[i]) * unit;
    for (known->levels = 0; known->levels < BLI_THEORY_LEVELS; known->levels++)
        known->tail[known->levels] = answer->tail[known->levels];
}

/* What a job finds has an exponential time left for each. */
static struct bli_prediction_class class_of(const struct found *found, double unit) {
    struct bli_prediction_class class = BLI_THEORY_NO_CLASS;
    double jobs = 0;
    for (size_t k = 0; k < found->n; k++)
        jobs += found->value[k];
    if (found->n == 0)
        return class;
    class.response_mean = jobs * unit;
    class.waiting_mean = class.response_mean - unit;
    class.waiting_probability = found->n > 1 ? found->value[1] : 0;
    for (int i = 0; i < 4; i++)
        class.response_quantile[i] = bli_found_quantile(found, 0, bli_theory_quantiles[i]) * unit;
    return class;
}

static struct found found_by(double finds[CHAIN_LEVELS]) {
    struct found found = {finds, 0};
    while (found.n < CHAIN_LEVELS && finds[found.n] > 0)
        found.n++;
    return found;
}

/* Servers blind to classes, whose jobs probe numbers of servers of their own. */
static void set_blind_classes(struct chain_answer *answer, const struct chain_rules *rules, double unit,
                              struct bli_prediction *known) {
    const struct found high = found_by(answer->high_finds), low = found_by(answer->low_finds);
    known->high = rules->high > 0 ? class_of(&high, unit) : known->high;
    known->low = rules->high < 1 ? class_of(&low, unit) : known->low;
}

/* High jobs see their like only, and low ones have what is left of the mean (Little). A low job waits unless
 * it finds an empty server. */
static void set_preempting_classes(const double high_tail[CHAIN_LEVELS], double low_waits,
                                   const struct chain_rules *rules, double unit,
                                   struct bli_prediction *known) {
    const double high = rules->high;
    double value[CHAIN_LEVELS] = {0};
    const struct found found = found_of(high_tail, value);
    known->high = class_of(&found, unit);
    known->waiting_mean = known->waiting_probability = NAN;
    for (int i = 0; i < 4; i++) {
        known->response_quantile[i] = NAN;
        known->high_tail[i] = i == 0 ? 1 : high_tail[i];
    }
    if (high < 1) {
        known->low.response_mean =
            (known->response_mean - (high > 0 ? high * known->high.response_mean : 0)) / (1 - high);
        known->low.waiting_probability = low_waits;
    }
}

/* More servers than are told apart are counted level by level. */
static enum bli_chain_outcome solve_rules(struct chain_rules *rules, size_t most,
                                          struct chain_answer *answer) {
    if (rules->servers > (rules->level_rule ? CHAIN_MANY : CHAIN_SERVERS))
        return BLI_CHAIN_LARGE;
    if (rules->servers > CHAIN_SERVERS) {
        rules->by_levels = true;
        rules->rule = rules->level_rule;
    }
    return bli_chain_solve(rules, most, answer) ? BLI_CHAIN_SOLVED : BLI_CHAIN_LARGE;
}

/* pod-ssp has the total queues of pod-scp; its high jobs are a pod of their own, with any number of servers
 * (Niu et al. 2022, Lemmas 1 and 2). */
static enum bli_chain_outcome solve_high_apart(const struct chain_rules *rules, size_t most,
                                               struct chain_answer *answer) {
    struct chain_rules alone = {.servers = rules->servers,
                                .lambda = rules->lambda * rules->high,
                                .rule = bli_chain_pod,
                                .level_rule = bli_chain_pod_levels,
                                .d = rules->d_high};
    *answer = (struct chain_answer){.tail = {1}};
    return rules->high > 0 ? solve_rules(&alone, most, answer) : BLI_CHAIN_SOLVED;
}

static bool has_chain(const struct bli_model *model, const struct bli_uniform *u) {
    return u->dispatchers == 1 && u->exponential && !u->reports && model->class_count <= 2 &&
           model->standby.mean <= 0 && model->setup.mean <= 0 && u->lambda > 0 && u->lambda < 1;
}

/* jiq's queues drift apart while no server is idle, so that states are too many where servers and load are.
 * The longer the queues that are told apart, the nearer the answer, by steps that fall like a geometric
 * series; its rest is added. The ratio of the last two steps is about the part of long queues that are
 * longer. How far off the sum may be was found with chains and simulations (tests/theory/chain.c): all that
 * was added where the ratio is but guessed, a third of it where it is seen. */
static bool solve_cut_short(struct chain_rules *rules, size_t most, double *jobs_each,
                            struct bli_chain *chain) {
    enum { SEEN = 4 }; /* the first step is none of the series */
    struct chain_answer answer;
    double step = 0, before = 0;
    rules->beyond = 0.5 * rules->lambda;
    for (rules->longest = 1; rules->longest < CHAIN_PARTS; rules->longest++) {
        if (!bli_chain_solve(rules, most, &answer))
            break;
        const double each = answer.jobs / answer.accepted, now = each - before;
        const bool seen = rules->longest >= SEEN && now < step;
        const double ratio = fmax(answer.beyond, seen ? now / step : 0);
        step = now;
        before = each;
        rules->beyond = answer.beyond;
        const double rest = fabs(step) * ratio / (1 - ratio);
        *jobs_each = each + rest;
        *chain = (struct bli_chain){answer.states, answer.lost, .error = seen ? rest / 3 : rest};
        if (rules->longest > 2 && chain->error < 1e-5 * each)
            break;
    }
    return rules->longest > 2; /* two at least */
}

static enum bli_chain_outcome approach(struct chain_rules *rules, size_t most, const struct bli_uniform *u,
                                       struct bli_prediction *known, struct bli_chain *chain) {
    double jobs_each;
    struct bli_chain solved;
    rules->by_levels = rules->quick = true;
    rules->rule = rules->level_rule;
    if (rules->servers > CHAIN_MANY || !solve_cut_short(rules, most, &jobs_each, &solved) ||
        solved.error > BLI_CHAIN_CLOSE * jobs_each)
        return BLI_CHAIN_LARGE;
    *chain = (struct bli_chain){solved.states, solved.lost, solved.error * u->unit};
    *known = bli_theory_unknown;
    known->kind = BLI_THEORY_APPROXIMATE;
    known->source = "Markov chain, cut short";
    known->response_mean = jobs_each * u->unit;
    known->waiting_mean = known->response_mean - u->unit;
    return BLI_CHAIN_SOLVED;
}

enum bli_chain_outcome bli_theory_solve_chain(const struct bli_model *model,
                                              const struct bal_policy_spec *policy, size_t most, bool quick,
                                              struct bli_prediction *known, struct bli_chain *chain) {
    const struct bli_policy_theory *about = bli_policy_theory(model, policy);
    struct bli_uniform u;
    if (!bli_model_is_steady(model) || !bli_uniform_of(model, &u) || !has_chain(model, &u))
        return BLI_CHAIN_NONE;
    struct chain_rules rules = {
        .servers = u.servers, .lambda = u.lambda, .quick = quick, .high = model->high};
    const enum bli_discipline discipline =
        bli_model_discipline(model, policy->policy->flags & BAL_SERVES_RANKS);
    if (model->classes ? !about->chain_classes || !about->chain_classes(policy, &u, discipline, &rules)
                       : !about->chain || !about->chain(policy, &u, &rules))
        return BLI_CHAIN_NONE;
    const bool shortens = rules.level_rule == bli_chain_jiq_levels && rules.servers > CHAIN_SERVERS;
    if (quick && rules.level_rule == bli_chain_jsq_levels)
        most = most * 5 / 2; /* few ways lead out of a state */
    if (shortens && quick)
        return approach(&rules, most, &u, known, chain);
    struct chain_answer answer, high;
    enum bli_chain_outcome outcome = solve_rules(&rules, most, &answer);
    if (outcome == BLI_CHAIN_LARGE && shortens)
        return approach(&rules, most, &u, known, chain);
    if (outcome == BLI_CHAIN_SOLVED && rules.high_apart)
        outcome = solve_high_apart(&rules, most, &high);
    if (outcome != BLI_CHAIN_SOLVED)
        return outcome;
    *known = bli_theory_unknown;
    known->kind = quick ? BLI_THEORY_APPROXIMATE : BLI_THEORY_EXACT;
    known->source = "Markov chain";
    set_times(&answer,
              model->discipline != BLI_DISCIPLINE_SHARING && model->discipline != BLI_DISCIPLINE_LIFO, u.unit,
              known);
    *chain = (struct bli_chain){answer.states, answer.lost,
                                .error = quick ? 30 * answer.lost * known->response_mean : 0};
    if (rules.high_apart) {
        set_preempting_classes(high.tail, answer.low_finds[1], &rules, u.unit, known);
        chain->states += high.states;
        chain->lost = fmax(answer.lost, high.lost);
    } else if (rules.preempts)
        set_preempting_classes(answer.high_tail, known->waiting_probability, &rules, u.unit, known);
    else if (rules.d_high > 0)
        set_blind_classes(&answer, &rules, u.unit, known);
    return BLI_CHAIN_SOLVED;
}
