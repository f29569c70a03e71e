/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks what is asked for, lets the table of engines choose, and runs one trial. */
#include "ballast/simulate.h"

#include "engine/engines.h"

#include <math.h>
#include <string.h>
#include <time.h>

const struct bli_metric_info bli_metric_table[BLI_METRIC_COUNT] = {
#define X(name, text, unit, meaning) {text, unit, meaning},
    BLI_METRICS(X)
#undef X
};

enum bli_metric bli_metric_find(const char *name) {
    int metric = 0;
    while (metric < BLI_METRIC_COUNT && strcmp(bli_metric_table[metric].name, name) != 0)
        metric++;
    return (enum bli_metric)metric;
}

/* What the engines can do for a policy. */
static struct bal_host host_of(const struct bli_model *model, bool network) {
    if (model->clock == BLI_CLOCK_SLOTTED)
        return (struct bal_host){"slotted time", BAL_CAN_PROBE | BAL_CAN_WORK | BAL_CAN_IDLE | BAL_CAN_OWN |
                                                     BAL_CAN_ASK_IN_TURN};
    if (network)
        return (struct bal_host){
            "dispatchers on a network",
            BAL_CAN_ALL & ~(BAL_CAN_WORK | BAL_CAN_ASK_IN_TURN | (model->steal.kind ? BAL_CAN_OWN : 0u))};
    if (model->steal.kind != BAL_STEAL_NONE) /* a stolen job is answered by another than it was sent to */
        return (struct bal_host){"a fleet that steals", BAL_CAN_ALL & ~(BAL_CAN_HOLD | BAL_CAN_OWN)};
    return (struct bal_host){"one dispatcher without delays",
                             BAL_CAN_ALL & ~(model->backlog > 0 ? 0u : BAL_CAN_HOLD)};
}

bool bli_simulate_is_distinct(const struct bli_model *model, const struct bal_policy *policy) {
    return !(policy->flags & BAL_ON_REQUEST) &&
           (!(policy->flags & BAL_TAKES_WEIGHTS) || bli_model_is_weighted(model));
}

/* Who steals in slotted time has a policy of its own. */
static enum bal_code check_slotted(const struct bli_model *model, const struct bal_policy *policy,
                                   struct bal_error *err) {
    const bool steals = model->steal.kind != BAL_STEAL_NONE || model->placement.kind != BAL_PLACEMENT_EVEN;
    return model->clock == BLI_CLOCK_SLOTTED && steals
               ? bal_fail(err, BAL_E_MODEL,
                          "in slotted time servers steal under policy 'stealing' alone, not under '%s'; use "
                          "that or continuous time",
                          policy->name)
               : BAL_OK;
}

/* Only so many jobs wait at a dispatcher; one more is refused. */
static enum bal_code check_hold_limit(const struct bli_model *model, const struct bal_policy_spec *spec,
                                      struct bal_error *err) {
    const struct bli_hold_limit *limit = &model->hold_limit;
    if (!limit->given)
        return BAL_OK;
    if (limit->classes && limit->classes != bli_model_classes(model))
        return bal_fail(err, BAL_E_MODEL,
                        "a hold-limit for %u classes of jobs, where there %s %u; write the most of all "
                        "classes, or that and the most of each",
                        limit->classes, bli_model_classes(model) == 1 ? "is" : "are",
                        bli_model_classes(model));
    if (model->backlog > 0 && bal_policy_flags(spec) & BAL_MAY_HOLD)
        return bal_fail(err, BAL_E_MODEL,
                        "jobs beyond a backlog go to a server, those beyond a hold-limit are refused; leave "
                        "out one of them");
    return BAL_OK;
}

static enum bal_code check_classes(const struct bli_model *model, const struct bal_policy *policy,
                                   struct bal_error *err) {
    if (policy->flags & BAL_TAKES_RANKS && !model->classes)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' needs two classes of jobs; say which share of them is high",
                        policy->name);
    if (policy->flags & BAL_MOVES_JOBS && model->discipline == BLI_DISCIPLINE_FIFO)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' needs servers that tell classes apart; use discipline auto, preemptive "
                        "or nonpreemptive",
                        policy->name);
    return BAL_OK;
}

static bool serves_one(const struct bli_servers *servers) {
    for (unsigned g = 0; g < servers->groups; g++)
        if (servers->group[g].speed != 1 || servers->group[g].capacity.kind != BLI_BATCH_NONE)
            return false;
    return true;
}

/* The work-stealing chain: as many generators as servers, each of which serves one job in a slot. A batch
 * distribution may be given if it changes nothing. */
static enum bal_code check_generated(const struct bli_model *model, const struct bal_policy *policy,
                                     struct bal_error *err) {
    const struct bli_batch *batch = &model->batch;
    const bool batches =
        model->split || !(batch->kind == BLI_BATCH_NONE || (batch->kind == BLI_BATCH_POISSON && batch->open));
    const char *what =
        model->clock != BLI_CLOCK_SLOTTED ? "slotted time"
        : !serves_one(&model->servers)    ? "servers that serve one job in each slot, such as 100"
        : batches                         ? "generators of jobs; leave out what is said of batches"
        : model->load > 1 ? "a load of at most 1: it is the probability that a generator makes a job"
        : model->steal.kind == BAL_STEAL_NONE
            ? "to know how much is stolen, such as half; constant(0) steals nothing"
        : !bli_network_is_plain(&model->network) ? "no dispatchers; leave the settings of the network out"
                                                 : NULL;
    return what ? bal_fail(err, BAL_E_MODEL, "policy '%s' needs %s", policy->name, what) : BAL_OK;
}

/* Jobs that wait at the dispatcher need the network engine, also where nothing else does, unless their number
 * is bounded: that the event engine does. */
static bool needs_network(const struct bli_model *model, const struct bal_policy_spec *policy) {
    return !bli_network_is_plain(&model->network) ||
           (model->clock == BLI_CLOCK_CONTINUOUS && model->backlog == 0 &&
            bal_policy_flags(policy) & BAL_MAY_HOLD);
}

#define NEWS_MAX 1e5 /* heartbeats, failures and returns for each job: simulating them takes time */

static enum bal_code check_news(const struct bli_model *model, struct bal_error *err) {
    const struct bli_network *network = &model->network;
    const double servers = bli_servers_count(&model->servers);
    const double beats =
        network->heartbeat > 0 ? fmax(network->dispatchers.count, 1) / network->heartbeat : 0;
    const struct bli_failures *repairs = &model->failures;
    const double failures = (network->churn.up > 0 ? 2 / (network->churn.up + network->churn.down) : 0) +
                            (bli_failures_happen(repairs) ? 2 / (repairs->up.mean + repairs->down.mean) : 0);
    const double news = servers * (beats + failures) / bli_model_arrival_rate(model);
    return news > NEWS_MAX
               ? bal_fail(
                     err, BAL_E_MODEL,
                     "there would be %.3g heartbeats, failures and returns for each job, and there may be "
                     "%g: give longer times",
                     news, NEWS_MAX)
               : BAL_OK;
}

/* One that concerns no server, or no dispatcher, is a mistake. */
static enum bal_code check_events(const struct bli_model *model, struct bal_error *err) {
    const struct bli_network *network = &model->network;
    const uint32_t servers = bli_servers_count(&model->servers);
    const uint32_t dispatchers = network->dispatchers.count ? network->dispatchers.count : 1;
    if (network->churn.up > 0 && bli_network_events_include(&network->events, BLI_EVENT_RESTART_SERVERS))
        return bal_fail(err, BAL_E_MODEL,
                        "servers that come and go with a churn are not restarted by events; leave out one of "
                        "the two");
    for (unsigned i = 0; i < network->events.count; i++) {
        const struct bli_network_event *event = &network->events.event[i];
        const bool of_servers = event->kind == BLI_EVENT_RESTART_SERVERS || event->kind == BLI_EVENT_CUT;
        const bool of_dispatchers = event->kind == BLI_EVENT_RESTART_DISPATCHERS;
        if (of_servers && lrint(event->share * servers) == 0)
            return bal_fail(err, BAL_E_MODEL, "event %u concerns a share of %g of %u servers, which is none",
                            i + 1, event->share, servers);
        const double share = of_dispatchers ? event->share : event->dispatchers;
        if (lrint(share * dispatchers) == 0)
            return bal_fail(err, BAL_E_MODEL,
                            "event %u concerns a share of %g of %u dispatchers, which is none", i + 1, share,
                            dispatchers);
    }
    return BAL_OK;
}

/* The markov engine passes 1 + 1/load possible events for each arrival, the event engine two; one of those
 * costs about a third to a tenth as much. Down to this load the first costs a few times as much at most, and
 * all policies see the same possible completions; below it is slower by 1/load (docs/decisions/0002). */
static bool is_mostly_idle(const struct bli_model *model) {
    return model->load * bli_curve_max(&model->curve) < 0.05;
}

/* Servers that come back cold, and dispatchers that spare them. */
static enum bal_code check_cold(const struct bli_model *model, const struct bal_policy *policy,
                                struct bal_error *err) {
    const struct bli_network *network = &model->network;
    const bool cold = network->cold.factor > 0, slow = network->slow_start > 0;
    if ((cold || slow) && !(network->churn.up > 0) &&
        !bli_network_events_include(&network->events, BLI_EVENT_RESTART_SERVERS))
        return bal_fail(err, BAL_E_MODEL,
                        "%s is for servers that come back; give churn, or events with restart-servers",
                        cold ? "cold" : "slow-start");
    if (slow && !(network->heartbeat > 0) && !network->ejection)
        return bal_fail(err, BAL_E_MODEL,
                        "dispatchers do not know which servers have come back, and slow-start needs that; "
                        "give a heartbeat or ejection");
    if (slow && policy->wants & (BAL_WANTS_IDLE | BAL_WANTS_STILL_IDLE | BAL_WANTS_POWER))
        return bal_fail(
            err, BAL_E_MODEL,
            "under policy '%s' servers offer their free slots, and slow-start cannot be had; leave "
            "it out, or use a policy without idle reports, such as least-conn",
            policy->name);
    const bool interrupts =
        bli_model_discipline(model, policy->flags & BAL_SERVES_RANKS) == BLI_DISCIPLINE_PREEMPTIVE;
    return cold && interrupts
               ? bal_fail(err, BAL_E_MODEL,
                          "servers that come back cold do not interrupt jobs; use discipline nonpreemptive")
               : BAL_OK;
}

/* What a policy with a dispatcher needs of the model, and what there is too much of. */
static enum bal_code check_routed(const struct bli_model *model, const struct bal_policy_spec *policy,
                                  bool network, struct bal_error *err) {
    const struct bal_policy_context setting = {bli_servers_count(&model->servers), model->load};
    const struct bal_host host = host_of(model, network);
    enum bal_code code = bal_policy_check(policy, &setting, &host, err);
    if (code || model->clock == BLI_CLOCK_SLOTTED)
        return code ? code : check_slotted(model, policy->policy, err);
    code = check_classes(model, policy->policy, err);
    if (!code)
        code = check_hold_limit(model, policy, err);
    if (!code)
        code = check_news(model, err);
    if (!code && network)
        code = check_events(model, err);
    return !code && network ? check_cold(model, policy->policy, err) : code;
}

/* What the policy needs, whatever the engine. */
static enum bal_code check_needs(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 enum bli_engine engine, struct bal_error *err) {
    const struct bal_policy_context setting = {bli_servers_count(&model->servers), model->load};
    switch (bli_scheme_of(policy->policy)) {
    case BLI_SCHEME_POOLED:
        return policy->policy->check ? policy->policy->check(policy->value, &setting, err) : BAL_OK;
    case BLI_SCHEME_GENERATED:
        return check_generated(model, policy->policy, err);
    default:
        return check_routed(
            model, policy,
            engine == BLI_ENGINE_NETWORK || engine == BLI_ENGINE_CORE || needs_network(model, policy), err);
    }
}

/* run: NULL: any. */
static enum bal_code choose_engine(const struct bli_model *model, const struct bal_policy_spec *policy,
                                   const struct bli_run *run, enum bli_engine wanted, enum bli_engine *chosen,
                                   struct bal_error *err) {
    enum bal_code code = bli_model_check(model, err);
    if (!code)
        code = check_needs(model, policy, wanted, err);
    return code ? code : bli_engines_choose(model, policy, run, wanted, is_mostly_idle(model), chosen, err);
}

enum bal_code bli_simulate_check(const struct bli_model *model, const struct bal_policy_spec *policy,
                                 enum bli_engine engine, enum bli_engine *chosen, struct bal_error *err) {
    if (engine != BLI_ENGINE_LIVE)
        return choose_engine(model, policy, NULL, engine, chosen, err);
    /* What the network engine cannot simulate has no prediction. */
    const enum bal_code code = choose_engine(model, policy, NULL, BLI_ENGINE_NETWORK, chosen, err);
    *chosen = BLI_ENGINE_LIVE;
    return code;
}

#define SLOTS_MAX 1e12 /* so that slots times slices is exact in a double */

/* A trial has one thread, and its time should not depend on what else the machine does. */
static double processor_time(void) {
#ifdef CLOCK_THREAD_CPUTIME_ID
    const clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
#else /* WebAssembly */
    const clockid_t clock = CLOCK_MONOTONIC;
#endif
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum bal_code check_path(const struct bli_model *model, const struct bli_run *run,
                                enum bli_engine engine, struct bal_error *err) {
    const struct bli_path *path = run->path;
    if (path && (engine == BLI_ENGINE_STEALING || engine == BLI_ENGINE_SLOTTED))
        return bal_fail(err, BAL_E_MODEL, "paths need continuous time");
    if ((path || run->initial || model->start.jobs > 1) && engine == BLI_ENGINE_POOLED)
        return bal_fail(err, BAL_E_MODEL, "paths and queues at the start need a queue at each server");
    if (!path)
        return BAL_OK;
    if (path->levels < 1 || path->levels >= BLI_TAIL_LEVELS)
        return bal_fail(err, BAL_E_RANGE, "a path of %zu levels; it can have 1 to %d", path->levels,
                        BLI_TAIL_LEVELS - 1);
    double before = 0;
    for (size_t k = 0; k < path->times; k++) {
        if (!(path->time[k] >= before && path->time[k] <= run->time))
            return bal_fail(err, BAL_E_RANGE,
                            "time %g of the path follows %g; times must not fall and lie between 0 and %g",
                            path->time[k], before, run->time);
        before = path->time[k];
    }
    return BAL_OK;
}

/* Recorded jobs are served as they came, from the first of them on. */
static enum bal_code check_trace(const struct bli_model *model, const struct bli_run *run,
                                 struct bal_error *err) {
    if (!run->trace)
        return BAL_OK;
    const char *what = model->clock == BLI_CLOCK_SLOTTED              ? "slotted time"
                       : model->tasks > 1                             ? "jobs of several tasks"
                       : model->curve.kind != BLI_CURVE_CONSTANT      ? "a load curve"
                       : model->arrivals.kind != BLI_ARRIVALS_POISSON ? "arrivals of their own"
                       : run->initial || model->start.busy > 0        ? "servers that begin with jobs"
                       : model->class_count > 2                       ? "more than two classes"
                       : model->backlog > 0                           ? "a bounded backlog"
                       : run->speedup < 0 || !isfinite(run->speedup)  ? "a speedup that is not above 0"
                                                                      : NULL;
    return what ? bal_fail(err, BAL_E_MODEL, "recorded jobs cannot be replayed with %s", what) : BAL_OK;
}

enum { SPANS_MAX = 10000 };

/* Histories with their kinds of jobs, and servers that fail at a time. */
static enum bal_code check_extras(const struct bli_model *model, const struct bli_run *run,
                                  struct bal_error *err) {
    if (run->history && (run->history->spans < 1 || run->history->spans > SPANS_MAX))
        return bal_fail(err, BAL_E_RANGE, "a history of %zu spans; it can have 1 to %d", run->history->spans,
                        SPANS_MAX);
    const bool kinds = run->history && run->history->kind;
    for (size_t kind = kinds ? run->history->kinds : BLI_TRACE_KINDS; kind < BLI_TRACE_KINDS; kind++)
        if (!run->trace || bli_trace_info(run->trace)->kind[kind] > 0)
            return bal_fail(err, BAL_E_RANGE, "a history of %zu kinds of jobs, where there are more",
                            run->history->kinds);
    if (run->failing == 0)
        return BAL_OK;
    const uint32_t servers = bli_servers_count(&model->servers);
    if (run->failing >= servers)
        return bal_fail(err, BAL_E_RANGE, "%u of %u servers fail; some must be left", run->failing, servers);
    if (!(run->fail_at >= 0))
        return bal_fail(err, BAL_E_RANGE, "servers fail at time %g, which is not from 0 on", run->fail_at);
    return BAL_OK;
}

enum bal_code bli_simulate(const struct bli_model *model, const struct bal_policy_spec *policy,
                           const struct bli_run *run, struct bli_trial *trial, struct bal_error *err) {
    enum bli_engine engine = run->engine;
    if (engine == BLI_ENGINE_LIVE)
        return bal_fail(err, BAL_E_MODEL, "real processes are measured by `ballast live`, not simulated");
    const bool asks_more = run->trace || run->history || run->failing > 0;
    enum bal_code code = check_trace(model, run, err);
    if (!code && (!run->engine_fits || asks_more))
        code = choose_engine(model, policy, run, engine, &engine, err);
    if (!code && (run->history || run->failing > 0))
        code = check_extras(model, run, err);
    if (code)
        return code;
    if (!(run->time > 0) || !isfinite(run->time))
        return bal_fail(err, BAL_E_RANGE, "time %g is not a number above 0", run->time);
    if (model->clock == BLI_CLOCK_SLOTTED && run->time > SLOTS_MAX)
        return bal_fail(err, BAL_E_RANGE, "%g slots are too many; at most %g", run->time, SLOTS_MAX);
    if (!isnan(run->warmup) && run->warmup != BLI_WARMUP_MSER && !(run->warmup >= 0 && run->warmup <= 0.999))
        return bal_fail(err, BAL_E_RANGE, "warm-up %g is not a fraction from 0 to 0.999", run->warmup);
    code = check_path(model, run, engine, err);
    if (code)
        return code;
    const double start = processor_time();
    code = bli_engine_run(engine, model, policy, run, trial, err);
    const struct bal_policy_context setting = {bli_servers_count(&model->servers), model->load};
    trial->metric[BLI_LOAD_ACHIEVED] *= model->load / bli_model_arrival_rate(model);
    trial->metric[BLI_MEMORY_BITS] = bal_policy_memory_bits(policy, &setting);
    trial->engine = engine;
    trial->seconds = processor_time() - start;
    return code;
}
