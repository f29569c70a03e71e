/* SPDX-License-Identifier: BSD-2-Clause */
/* jsq and scd, and pod-memory and lsq, of which less is known. */
#include "theory/policy_theory.h"

#include <math.h>

/* Vargaftik, Keslassy and Orda (2020): as long as the estimates are put right from time to time. */
static double critical_of_lsq(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)model;
    return bal_policy_value(policy, "p") > 0 || bal_policy_value(policy, "d") > 0 ? 1 : NAN;
}

/* Shah and Prabhakar (2002), whose dispatcher probes the servers that it remembers again. */
static double critical_of_memory(const struct bli_model *model, const struct bal_policy_spec *policy) {
    return bal_policy_value(policy, "ask") == 0 ? bli_critical_always(model, policy) : NAN;
}

/* Equal queues move together (Foschini and Salz 1978): near load 1 as one queue that is N times as fast. */
static double relaxation(const struct bli_model *model, const struct bal_policy_spec *policy) {
    (void)policy;
    return model->size.mean / model->servers.group[0].speed + bli_relaxation_together(model);
}

static bool chain(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                  struct chain_rules *rules) {
    (void)policy, (void)u;
    rules->rule = bli_chain_jsq;
    rules->level_rule = bli_chain_jsq_levels;
    return true;
}

/* With several dispatchers, of which each sees all queues, jobs join idle servers as long as at least m are
 * idle: the limit of many servers is that of jsq. */
static double relaxation_of_scd(const struct bli_model *model, const struct bal_policy_spec *policy) {
    return bal_policy_value(policy, "m") == 1 ? relaxation(model, policy) : NAN;
}

static bool chain_of_scd(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                         struct chain_rules *rules) {
    (void)u;
    rules->rule = bli_chain_scd;
    rules->d = (unsigned)bal_policy_value(policy, "m");
    rules->level_rule = rules->d == 1 ? bli_chain_jsq_levels : NULL;
    return true;
}

/* One server remembered, and asked again. */
static bool chain_of_memory(const struct bal_policy_spec *policy, const struct bli_uniform *u,
                            struct chain_rules *rules) {
    (void)u;
    rules->rule = bli_chain_memory;
    rules->first = CHAIN_NAMED;
    rules->d = (unsigned)bal_policy_value(policy, "d");
    return bal_policy_value(policy, "b") == 1 && bal_policy_value(policy, "ask") == 0;
}

/* A job finds at least k jobs if all servers that it sees have them, and as many jobs make a queue of k + 1
 * as end there: x_{k+1} = lambda P(y >= k) x_k^d, y being what the remembered server has (Mitzenmacher,
 * Prabhakar and Shah 2002). */
static bool approach_fixed_point(struct expansion_memory *memory, double *x) {
    enum { ROUNDS = 100 };
    double y[EXPANSION_LEVELS];
    const struct fast_model model = bli_expansion_memory_model(memory);
    for (size_t k = 0; k < memory->levels; k++)
        x[k] = pow(memory->lambda, pow(memory->d + 1, (double)k));
    for (int i = 0; i < ROUNDS; i++) {
        double above = 1, all = 1, change = 0;
        if (!bli_expansion_fast_average(&model, x, y))
            return false;
        for (size_t k = 0; k < memory->levels; k++) {
            const double next = memory->lambda * above * pow(all, memory->d);
            change = fmax(change, fabs(next - x[k]));
            above = fmax(above - y[k], 0);
            all = x[k] = next;
        }
        if (change < 1e-6)
            return true;
    }
    return false;
}

static bool expand_memory(const struct bli_model *model, const struct bal_policy_spec *policy,
                          const struct bli_uniform *u, struct bli_expansion *expansion) {
    enum { LEVELS = 12, D = 16 };
    (void)model;
    const double d = bal_policy_value(policy, "d");
    struct expansion_memory memory = {.lambda = u->lambda, .d = (unsigned)d, .levels = LEVELS};
    double x[LEVELS];
    if (bal_policy_value(policy, "b") != 1 || bal_policy_value(policy, "ask") != 0 || d > D ||
        !approach_fixed_point(&memory, x) || x[LEVELS - 1] > 1e-10)
        return false;
    const struct fast_model remembers = bli_expansion_memory_model(&memory);
    return bli_expand_first(&remembers, x, u, expansion);
}

static struct bli_prediction fifo_of_memory(const struct bli_model *model,
                                            const struct bal_policy_spec *policy,
                                            const struct bli_uniform *u) {
    struct bli_prediction known = bli_theory_unknown;
    struct bli_expansion expansion;
    if (!(u->lambda < 1) || !expand_memory(model, policy, u, &expansion))
        return known;
    known.kind = BLI_THEORY_LIMIT;
    known.source = "mean field, memory averaged";
    known.response_mean = expansion.limit;
    known.waiting_mean = known.waiting_limit = expansion.limit - u->unit;
    return known;
}

const struct bli_policy_theory bli_theory_jsq[] = {
    {.policy = "jsq",
     .chain = chain,
     .any_dispatchers = true,
     .fifo = bli_theory_no_wait,
     .critical_load = bli_critical_always,
     .relaxation = relaxation},
    {.policy = "scd",
     .chain = chain_of_scd,
     .any_dispatchers = true,
     .fifo = bli_theory_no_wait,
     .critical_load = bli_critical_always,
     .relaxation = relaxation_of_scd},
    {.policy = "lsq", .any_dispatchers = true, .critical_load = critical_of_lsq},
    {.policy = "pod-memory",
     .fifo = fifo_of_memory,

     .expand = expand_memory,
     .chain = chain_of_memory,
     .critical_load = critical_of_memory},
    {0}};
