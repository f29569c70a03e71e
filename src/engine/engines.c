/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines as rows: what each can simulate, and which takes a model. What a model, its policy and its run
 * ask for are features, a bit each; a row has the bits of what its engine has. */
#include "engine/engines.h"

#include "ballast/scheme.h"
#include "engine/engine.h"

#include <stdint.h>
#include <stdio.h>

/* Enumerator, what it is called where it cannot be had. */
#define FEATURES(X)                                                                                          \
    X(CONTINUOUS, "continuous time")                                                                         \
    X(SLOTTED, "slotted time")                                                                               \
    X(ROUTED, "a policy that chooses servers")                                                               \
    X(POOLED, "one common queue")                                                                            \
    X(GENERATED, "jobs that are made at the servers")                                                        \
    X(LAWS, "sizes, standby or set-up times that are not exponential")                                       \
    X(ARRIVALS, "arrivals that are not poisson")                                                             \
    X(WORK, "a policy that knows the work at the servers")                                                   \
    X(UNORDERED, "a policy that knows the work, under another discipline than fifo")                         \
    X(WEIGHTS, "a policy that chooses by speeds")                                                            \
    X(SHARING, "discipline ps")                                                                              \
    X(LIFO, "discipline lifo")                                                                               \
    X(PREEMPTIVE, "discipline preemptive")                                                                   \
    X(SLOTS, "servers of several slots")                                                                     \
    X(SPEEDS, "servers whose speed depends on the jobs in service (speeds)")                                 \
    X(ALL_SLOTS, "servers that work on all jobs that are there (slots all)")                                 \
    X(UNEQUAL, "servers of different speeds")                                                                \
    X(STEALING, "servers that steal")                                                                        \
    X(PLACED, "generators at some of the servers (placement)")                                               \
    X(PATIENCE, "jobs that give up (patience)")                                                              \
    X(FAILURES, "servers that fail (failures)")                                                              \
    X(TASKS, "jobs of several tasks")                                                                        \
    X(RANKS, "a policy that tells classes of jobs apart")                                                    \
    X(CLASSES, "classes of jobs")                                                                            \
    X(MANY, "more than two classes of jobs")                                                                 \
    X(MANY_SLOTS, "more than two classes of jobs at servers of several slots")                               \
    X(MANY_MOVED, "jobs of more than two classes that move")                                                 \
    X(BUFFER, "buffers at the servers")                                                                      \
    X(MOVES, "a policy that moves jobs")                                                                     \
    X(POWER, "policies that switch servers off")                                                             \
    X(HOLDS, "jobs that wait at the dispatcher")                                                             \
    X(UNBOUNDED, "any number of jobs that wait at the dispatcher")                                           \
    X(BACKLOG, "a bounded backlog")                                                                          \
    X(BOUNDED, "a bounded backlog")                                                                          \
    X(HOLD_LIMIT, "a hold-limit")                                                                            \
    X(RENEWS, "reports by a law")                                                                            \
    X(RENEWALS, "reports by a law")                                                                          \
    X(NETWORK, "settings of the network")                                                                    \
    X(TRACE, "a replay of recorded jobs")                                                                    \
    X(HISTORY, "a history")                                                                                  \
    X(FAILING, "a run in which servers fail")                                                                \
    X(STARTED, "servers that begin with jobs")                                                               \
    X(STILL_IDLE, "servers that report at a rate while they are idle")                                       \
    X(BLIND, "a policy that tells classes apart at servers that do not")                                     \
    X(ANY_VICTIM, "thieves that may ask themselves (victims: all)")                                          \
    X(SLOW_START, "a slow start")

enum {
#define X(name, text) AT_##name,
    FEATURES(X)
#undef X
        FEATURE_COUNT
};
static const char *const texts[] = {
#define X(name, text) text,
    FEATURES(X)
#undef X
};

#define BIT(name) (UINT64_C(1) << AT_##name)
/* Most engines have most of them, so that rows say what is missing. */
#define ALL ((UINT64_C(1) << FEATURE_COUNT) - 1)
#define DISPATCHER (BIT(SLOTTED) | BIT(POOLED) | BIT(GENERATED) | BIT(PLACED))

static const struct engine {
    const char *name;
    uint64_t can;
    uint64_t only_for; /* it is chosen for models with one of these; 0: for all */
    enum bal_code (*run)(const struct bli_model *model, const struct bal_policy_spec *policy,
                         const struct bli_run *run, struct bli_trial *trial, struct bal_error *err);
    /* what only numbers tell; NULL: there is nothing of the kind */
    enum bal_code (*check)(const struct bli_model *model, const struct bal_policy_spec *policy,
                           struct bal_error *err);
} engines[] = {
    [BLI_ENGINE_AUTO] = {"auto"},
    [BLI_ENGINE_MARKOV] = {"markov",
                           ALL & ~(DISPATCHER | BIT(LAWS) | BIT(ARRIVALS) | BIT(WORK) | BIT(SHARING) |
                                   BIT(LIFO) | BIT(SLOTS) | BIT(SPEEDS) | BIT(STEALING) | BIT(PATIENCE) |
                                   BIT(FAILURES) | BIT(HOLDS) | BIT(UNBOUNDED) | BIT(RENEWALS) |
                                   BIT(NETWORK) | BIT(TRACE) | BIT(HISTORY) | BIT(FAILING)),
                           0, bli_engine_markov},
    [BLI_ENGINE_EVENT] = {"event", ALL & ~(DISPATCHER | BIT(UNBOUNDED) | BIT(NETWORK) | BIT(MANY_SLOTS)), 0,
                          bli_engine_event},
    [BLI_ENGINE_SLOTTED] = {"slotted",
                            ALL & ~(BIT(CONTINUOUS) | BIT(POOLED) | BIT(GENERATED) | BIT(PLACED) |
                                    BIT(WEIGHTS) | BIT(STEALING) | BIT(TRACE) | BIT(HISTORY) | BIT(FAILING)),
                            0, bli_engine_slotted},
    [BLI_ENGINE_POOLED] = {"pooled",
                           ALL &
                               ~(BIT(ROUTED) | BIT(SLOTTED) | BIT(GENERATED) | BIT(SPEEDS) | BIT(CLASSES) |
                                 BIT(TASKS) | BIT(BUFFER) | BIT(HOLD_LIMIT) | BIT(SHARING) | BIT(LIFO) |
                                 BIT(STEALING) | BIT(FAILURES) | BIT(NETWORK) | BIT(UNEQUAL) | BIT(FAILING)),
                           0, bli_engine_pooled},
    [BLI_ENGINE_STEALING] = {"stealing",
                             ALL & ~(BIT(ROUTED) | BIT(CONTINUOUS) | BIT(POOLED) | BIT(NETWORK) | BIT(TRACE) |
                                     BIT(HISTORY) | BIT(FAILING)),
                             0, bli_engine_stealing},
    [BLI_ENGINE_NETWORK] = {"network",
                            ALL & ~(DISPATCHER | BIT(SHARING) | BIT(LIFO) | BIT(BACKLOG) | BIT(RENEWS) |
                                    BIT(TASKS) | BIT(MANY_MOVED) | BIT(FAILING)),
                            BIT(NETWORK) | BIT(UNBOUNDED) | BIT(MANY_SLOTS), bli_engine_network},
    [BLI_ENGINE_LIVE] = {"live"},
#ifdef __wasm__ /* the page has no live core */
    [BLI_ENGINE_CORE] = {"live-core"},
#else
    [BLI_ENGINE_CORE] = {"live-core",
                         ALL & ~(DISPATCHER | BIT(SPEEDS) | BIT(SHARING) | BIT(LIFO) | BIT(BACKLOG) |
                                 BIT(BOUNDED) | BIT(RENEWS) | BIT(RENEWALS) | BIT(TASKS) | BIT(MANY_MOVED) |
                                 BIT(FAILING) | BIT(WORK) | BIT(UNORDERED) | BIT(PREEMPTIVE) | BIT(PATIENCE) |
                                 BIT(FAILURES) | BIT(BUFFER) | BIT(POWER) | BIT(STARTED) | BIT(STILL_IDLE) |
                                 BIT(BLIND) | BIT(ANY_VICTIM) | BIT(SLOW_START) | BIT(TRACE) | BIT(HISTORY)),
                         0, bli_engine_core, bli_core_check},
#endif
};
enum { ENGINES = sizeof engines / sizeof *engines };

/* What no engine has together; all but the first for models of continuous time with a queue at each server,
 * the others having less to begin with. */
static const struct {
    uint64_t one, others;
} apart[] = {
    {BIT(PATIENCE) | BIT(FAILURES), BIT(SLOTTED) | BIT(SPEEDS) | BIT(SHARING) | BIT(LIFO) | BIT(PREEMPTIVE) |
                                        BIT(STEALING) | BIT(TASKS) | BIT(NETWORK) | BIT(WORK) | BIT(MOVES) |
                                        BIT(HOLDS) | BIT(MANY)},
    {BIT(FAILURES), BIT(POWER) | BIT(RENEWALS)},
    {BIT(SHARING) | BIT(LIFO), BIT(SLOTS) | BIT(STEALING)},
    {BIT(SPEEDS), BIT(WORK)},
    {BIT(ALL_SLOTS), BIT(STEALING) | BIT(HOLDS)}, /* no job would ever wait */
    {BIT(STEALING), BIT(CLASSES)},
    {BIT(SLOTS), BIT(PREEMPTIVE) | BIT(UNORDERED)},
    {BIT(MOVES), BIT(BUFFER)},
    {BIT(RANKS), BIT(TASKS)},
    {BIT(FAILING), BIT(PREEMPTIVE) | BIT(MANY) | BIT(SPEEDS) | BIT(SHARING) | BIT(LIFO) | BIT(PATIENCE) |
                       BIT(FAILURES) | BIT(TASKS) | BIT(BACKLOG) | BIT(RENEWS)},
    {BIT(BOUNDED),
     BIT(SLOTS) | BIT(CLASSES) | BIT(TASKS) | BIT(BUFFER) | BIT(SHARING) | BIT(STEALING) | BIT(POWER)},
};
enum { APART = sizeof apart / sizeof *apart };

/* ---- what is asked for ---- */

static uint64_t when(bool asked, uint64_t feature) {
    return asked ? feature : 0;
}

static bool has_laws(const struct bli_model *model, const struct bal_policy *policy) {
    const bool powered = policy->wants & BAL_WANTS_POWER;
    return !bli_dist_is_exponential(&model->size) ||
           (powered && model->standby.mean > 0 && !bli_dist_is_exponential(&model->standby)) ||
           (powered && model->setup.mean > 0 && !bli_dist_is_exponential(&model->setup));
}

static bool has_unequal_servers(const struct bli_servers *servers) {
    for (unsigned g = 1; g < servers->groups; g++)
        if (servers->group[g].speed != servers->group[0].speed)
            return true;
    return false;
}

static uint64_t of_policy(const struct bli_model *model, const struct bal_policy_spec *spec) {
    const struct bal_policy *policy = spec->policy;
    const unsigned flags = bal_policy_flags(spec);
    const enum bli_scheme scheme = bli_scheme_of(policy);
    const bool holds = flags & BAL_MAY_HOLD, moves = flags & BAL_MOVES_JOBS;
    const bool renews = bli_model_reports_renew(model);
    const enum bli_discipline discipline = bli_model_discipline(model, policy->flags & BAL_SERVES_RANKS);
    return (scheme == BLI_SCHEME_POOLED      ? BIT(POOLED)
            : scheme == BLI_SCHEME_GENERATED ? BIT(GENERATED)
                                             : BIT(ROUTED)) |
           when(has_laws(model, policy), BIT(LAWS)) | when(policy->flags & BAL_NEEDS_WORK, BIT(WORK)) |
           when(flags & BAL_TAKES_WEIGHTS, BIT(WEIGHTS)) | when(policy->flags & BAL_TAKES_RANKS, BIT(RANKS)) |
           when(moves, BIT(MOVES)) | when(moves && model->class_count > 2, BIT(MANY_MOVED)) |
           when(policy->power, BIT(POWER)) | when(holds, BIT(HOLDS)) |
           when(holds && model->backlog > 0, BIT(BOUNDED)) |
           when(holds && model->backlog == 0 && model->clock == BLI_CLOCK_CONTINUOUS, BIT(UNBOUNDED)) |
           when(renews && policy->wants & BAL_WANTS_STILL_IDLE, BIT(RENEWALS)) |
           when(discipline == BLI_DISCIPLINE_PREEMPTIVE, BIT(PREEMPTIVE)) |
           when(policy->wants & BAL_WANTS_STILL_IDLE, BIT(STILL_IDLE)) |
           when(discipline == BLI_DISCIPLINE_FIFO && model->classes && policy->flags & BAL_TAKES_RANKS,
                BIT(BLIND)) |
           when(discipline != BLI_DISCIPLINE_FIFO && policy->flags & BAL_NEEDS_WORK, BIT(UNORDERED));
}

static uint64_t of_model(const struct bli_model *model) {
    return (model->clock == BLI_CLOCK_SLOTTED ? BIT(SLOTTED) : BIT(CONTINUOUS)) |
           when(!bli_arrivals_are_poisson(&model->arrivals), BIT(ARRIVALS)) |
           when(model->discipline == BLI_DISCIPLINE_SHARING, BIT(SHARING)) |
           when(model->discipline == BLI_DISCIPLINE_LIFO, BIT(LIFO)) | when(model->slots > 1, BIT(SLOTS)) |
           when(bli_speeds_given(&model->speeds), BIT(SPEEDS)) |
           when(model->slots == BLI_SLOTS_ALL, BIT(ALL_SLOTS)) |
           when(has_unequal_servers(&model->servers), BIT(UNEQUAL)) |
           when(model->steal.kind != BAL_STEAL_NONE, BIT(STEALING)) |
           when(model->placement.kind != BAL_PLACEMENT_EVEN, BIT(PLACED)) |
           when(model->patience.mean > 0, BIT(PATIENCE)) |
           when(bli_failures_happen(&model->failures), BIT(FAILURES)) | when(model->tasks > 1, BIT(TASKS)) |
           when(model->classes, BIT(CLASSES)) | when(model->class_count > 2, BIT(MANY)) |
           when(model->class_count > 2 && model->slots > 1, BIT(MANY_SLOTS)) |
           when(model->buffer > 0, BIT(BUFFER)) | when(model->backlog > 0, BIT(BACKLOG)) |
           when(model->hold_limit.given, BIT(HOLD_LIMIT)) |
           when(bli_model_reports_renew(model), BIT(RENEWS)) |
           when(model->start.busy > 0 || model->start.setup > 0 || model->start.off > 0, BIT(STARTED)) |
           when(model->steal.kind != BAL_STEAL_NONE && !model->others, BIT(ANY_VICTIM)) |
           when(model->network.slow_start > 0, BIT(SLOW_START)) |
           when(!bli_network_is_plain(&model->network), BIT(NETWORK));
}

static uint64_t of_run(const struct bli_run *run) {
    return when(run && run->trace, BIT(TRACE)) | when(run && run->history, BIT(HISTORY)) |
           when(run && run->failing > 0, BIT(FAILING)) | when(run && run->initial, BIT(STARTED));
}

/* ---- which engine has it ---- */

enum { LIST_TEXT = 300 };

/* "a, b and c". */
static const char *list(uint64_t features, char text[LIST_TEXT]) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (!(features >> i & 1))
            continue;
        features &= ~(UINT64_C(1) << i);
        used += (size_t)snprintf(text + used, LIST_TEXT - used, "%s%s", texts[i],
                                 !features                     ? ""
                                 : (features & (features - 1)) ? ", "
                                                               : " and ");
        if (used >= LIST_TEXT)
            break;
    }
    return text;
}

static enum bal_code fail_together(uint64_t one, uint64_t other, struct bal_error *err) {
    char first[LIST_TEXT], second[LIST_TEXT];
    return bal_fail(err, BAL_E_MODEL, "%.200s cannot be had with %.200s; leave out one of them",
                    list(one, first), list(other, second));
}

/* The lowest of them, which is said to be the one. */
static uint64_t lowest(uint64_t features) {
    return features & (~features + 1);
}

static enum bal_code check_apart(uint64_t features, struct bal_error *err) {
    const bool routed = features & BIT(ROUTED) && features & BIT(CONTINUOUS);
    for (size_t i = 0; i < (routed ? APART : 1); i++)
        if (features & apart[i].one && features & apart[i].others)
            return fail_together(lowest(features & apart[i].one), lowest(features & apart[i].others), err);
    return BAL_OK;
}

/* What is hard to leave out counts more: time, and what the policy is. */
static int weigh(uint64_t features) {
    const uint64_t kinds = BIT(CONTINUOUS) | BIT(SLOTTED) | BIT(ROUTED) | BIT(POOLED) | BIT(GENERATED);
    int weight = 0;
    for (; features; features &= features - 1)
        weight += lowest(features) & kinds ? 10 : 1;
    return weight;
}

/* No engine has all: names the two that lack least, each of which has what the other lacks. */
static enum bal_code fail_without_engine(uint64_t features, struct bal_error *err) {
    uint64_t first = 0, second = 0;
    for (size_t i = 0; i < ENGINES; i++)
        for (size_t k = i + 1; k < ENGINES; k++) {
            const uint64_t one = features & ~engines[i].can, other = features & ~engines[k].can;
            const bool runs = engines[i].run && engines[k].run;
            if (runs && !(one & other) && (!first || weigh(one | other) < weigh(first | second))) {
                first = one;
                second = other;
            }
        }
    return first ? fail_together(first, second, err)
                 : bal_fail(err, BAL_E_MODEL, "no engine can simulate this model");
}

enum bal_code bli_engines_choose(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 const struct bli_run *run, enum bli_engine wanted, bool mostly_idle,
                                 enum bli_engine *chosen, struct bal_error *err) {
    const uint64_t features = of_policy(model, policy) | of_model(model) | of_run(run);
    enum bli_engine found = BLI_ENGINE_AUTO;
    const enum bal_code code = check_apart(features, err);
    if (code)
        return code;
    for (size_t i = 0; i < ENGINES && found == BLI_ENGINE_AUTO; i++)
        if (engines[i].run && !(features & ~engines[i].can) && !(i == BLI_ENGINE_MARKOV && mostly_idle) &&
            (!engines[i].only_for || features & engines[i].only_for))
            found = (enum bli_engine)i;
    if (wanted != BLI_ENGINE_AUTO && !(features & ~engines[wanted].can))
        found = wanted;
    if (found == BLI_ENGINE_AUTO)
        return fail_without_engine(features, err);
    if (wanted != BLI_ENGINE_AUTO && found != wanted) {
        char lacks[LIST_TEXT];
        return bal_fail(err, BAL_E_MODEL, "engine '%s' cannot simulate %s; use %s or auto",
                        engines[wanted].name, list(features & ~engines[wanted].can, lacks),
                        engines[found].name);
    }
    *chosen = found;
    return engines[found].check ? engines[found].check(model, policy, err) : BAL_OK;
}

enum bal_code bli_engine_run(enum bli_engine engine, const struct bli_model *model,
                             const struct bal_policy_spec *policy, const struct bli_run *run,
                             struct bli_trial *trial, struct bal_error *err) {
    return engines[engine].run(model, policy, run, trial, err);
}

const char *bli_engine_text(enum bli_engine engine) {
    return engines[engine].name;
}
