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
    {.policy = "pod-memory", .chain = chain_of_memory, .critical_load = critical_of_memory},
    {0}};
