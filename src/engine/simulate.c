/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the engine from the model and runs one trial. */
#include "ballast/simulate.h"

#include "engine/engine.h"

#include <math.h>
#include <string.h>
#include <time.h>

const struct bal_metric_info bal_metric_table[BAL_METRIC_COUNT] = {
#define X(name, text, unit, meaning) {text, unit, meaning},
    BAL_METRICS(X)
#undef X
};

enum bal_metric bal_metric_find(const char *name) {
    int metric = 0;
    while (metric < BAL_METRIC_COUNT && strcmp(bal_metric_table[metric].name, name) != 0)
        metric++;
    return (enum bal_metric)metric;
}

const char *bal_engine_text(enum bal_engine engine) {
    static const char *const names[] = {"auto",   "markov",   "event",   "slotted",
                                        "pooled", "stealing", "network", "live"};
    return names[engine];
}

/* What the engines can do for a policy. */
static struct bal_host host_of(const struct bal_model *model, bool network) {
    if (model->clock == BAL_CLOCK_SLOTTED)
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

bool bal_simulate_is_distinct(const struct bal_model *model, const struct bal_policy *policy) {
    return !(policy->flags & BAL_TAKES_WEIGHTS) || bal_model_is_weighted(model);
}

/* Who steals in slotted time has a policy of its own. */
static enum bal_code check_slotted(const struct bal_model *model, const struct bal_policy_spec *spec,
                                   enum bal_engine engine, struct bal_error *err) {
    const struct bal_policy *policy = spec->policy;
    if (bal_policy_flags(spec) & BAL_TAKES_WEIGHTS) {
        char text[200];
        bal_policy_print(spec, text, sizeof text);
        return bal_fail(
            err, BAL_E_MODEL,
            "policy '%s' chooses by speeds, which servers in slotted time do not have: what one can "
            "do is drawn again in each slot; use continuous time",
            text);
    }
    if (engine == BAL_ENGINE_STEALING || model->steal.kind != BAL_STEAL_NONE ||
        model->placement.kind != BAL_PLACEMENT_EVEN)
        return bal_fail(
            err, BAL_E_MODEL,
            "in slotted time servers steal under policy 'stealing' alone, not under '%s'; use that "
            "or continuous time",
            policy->name);
    if (engine != BAL_ENGINE_AUTO && engine != BAL_ENGINE_SLOTTED)
        return bal_fail(err, BAL_E_MODEL, "engine '%s' needs continuous time; use slotted or auto",
                        bal_engine_text(engine));
    return BAL_OK;
}

/* What servers of several slots and servers that steal cannot do. */
static enum bal_code check_servers(const struct bal_model *model, const struct bal_policy *policy,
                                   struct bal_error *err) {
    const enum bal_discipline discipline = bal_model_discipline(model, policy->flags & BAL_SERVES_RANKS);
    const bool shares = model->discipline == BAL_DISCIPLINE_SHARING;
    const bool lifo = model->discipline == BAL_DISCIPLINE_LIFO;
    if (bal_speeds_given(&model->speeds) &&
        (policy->flags & BAL_NEEDS_WORK || model->steal.kind != BAL_STEAL_NONE))
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' cannot be had with servers whose speed depends on the jobs in service "
                        "(speeds)%s; leave them out",
                        policy->name, policy->flags & BAL_NEEDS_WORK ? "" : " that steal");
    if ((shares || lifo) && (model->slots > 1 || model->steal.kind != BAL_STEAL_NONE))
        return bal_fail(err, BAL_E_MODEL,
                        "servers that %s and do not steal; leave out the %s or the discipline",
                        lifo ? "serve the last job first (discipline lifo) have one slot"
                             : "share themselves (discipline ps) have no slots",
                        model->slots > 1 ? "slots" : "stealing");
    if (model->steal.kind != BAL_STEAL_NONE && model->classes)
        return bal_fail(err, BAL_E_MODEL,
                        "servers that steal know one class of jobs; leave out the classes or the stealing");
    if (model->slots > 1 && discipline == BAL_DISCIPLINE_PREEMPTIVE)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' with discipline preemptive needs servers of one slot, not %u; use "
                        "discipline nonpreemptive",
                        policy->name, model->slots);
    if (model->slots > 1 && policy->flags & BAL_NEEDS_WORK && discipline != BAL_DISCIPLINE_FIFO)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' with %u slots a server needs discipline fifo, where jobs begin in the "
                        "order in which they come",
                        policy->name, model->slots);
    return BAL_OK;
}

/* Jobs that give up and servers that are repaired: the event engine knows both, a common queue the first. */
static enum bal_code check_unsteady(const struct bal_model *model, const struct bal_policy_spec *spec,
                                    struct bal_error *err) {
    const struct bal_policy *policy = spec->policy;
    const bool leaves = model->patience.mean > 0, fails = bal_failures_happen(&model->failures);
    if (!leaves && !fails)
        return BAL_OK;
    const enum bal_discipline discipline = bal_model_discipline(model, policy->flags & BAL_SERVES_RANKS);
    const char *what = model->clock == BAL_CLOCK_SLOTTED             ? "slotted time"
                       : bal_speeds_given(&model->speeds)            ? "speeds that depend on the jobs"
                       : model->discipline == BAL_DISCIPLINE_SHARING ? "discipline ps"
                       : model->discipline == BAL_DISCIPLINE_LIFO    ? "discipline lifo"
                       : discipline == BAL_DISCIPLINE_PREEMPTIVE     ? "discipline preemptive"
                       : model->steal.kind != BAL_STEAL_NONE         ? "servers that steal"
                       : model->tasks > 1                            ? "jobs of several tasks"
                       : !bal_network_is_plain(&model->network)      ? "settings of the network"
                                                                     : NULL;
    if (what)
        return bal_fail(err, BAL_E_MODEL, "%s cannot be had with %s; leave out one of them",
                        leaves ? "jobs that give up (patience)" : "servers that are repaired (failures)",
                        what);
    if (policy->flags & BAL_NEEDS_WORK)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' cannot tell when a job would begin where %s",
                        policy->name, leaves ? "others give up (patience)" : "servers fail (failures)");
    if (bal_policy_flags(spec) & (BAL_MOVES_JOBS | BAL_MAY_HOLD))
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' moves jobs, or holds them, and knows none that give up "
                        "(patience) and no servers that fail (failures)",
                        policy->name);
    if (fails && policy->power)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' switches servers off and knows none that fail; leave "
                        "failures out",
                        policy->name);
    return BAL_OK;
}

/* Only so many jobs wait at a dispatcher; one more is refused. */
static enum bal_code check_hold_limit(const struct bal_model *model, const struct bal_policy_spec *spec,
                                      struct bal_error *err) {
    const struct bal_hold_limit *limit = &model->hold_limit;
    if (!limit->given)
        return BAL_OK;
    if (limit->classes && limit->classes != bal_model_classes(model))
        return bal_fail(err, BAL_E_MODEL,
                        "a hold-limit for %u classes of jobs, where there %s %u; write the most of all "
                        "classes, or that and the most of each",
                        limit->classes, bal_model_classes(model) == 1 ? "is" : "are",
                        bal_model_classes(model));
    if (model->backlog > 0 && bal_policy_flags(spec) & BAL_MAY_HOLD)
        return bal_fail(err, BAL_E_MODEL,
                        "jobs beyond a backlog go to a server, those beyond a hold-limit are refused; leave "
                        "out one of them");
    return BAL_OK;
}

/* Jobs wait at the dispatcher, at most so many of them: of one task, for servers that take them one by one.
 */
static enum bal_code check_backlog(const struct bal_model *model, const struct bal_policy_spec *spec,
                                   struct bal_error *err) {
    if (model->backlog == 0 || !(bal_policy_flags(spec) & BAL_MAY_HOLD))
        return BAL_OK;
    const char *what = model->slots > 1                              ? "servers of several slots"
                       : model->classes                              ? "classes of jobs"
                       : model->tasks > 1                            ? "jobs of several tasks"
                       : model->buffer > 0                           ? "buffers at the servers"
                       : model->discipline == BAL_DISCIPLINE_SHARING ? "discipline ps"
                       : model->steal.kind != BAL_STEAL_NONE         ? "servers that steal"
                       : spec->policy->power                         ? "policies that switch servers off"
                                                                     : NULL;
    return what ? bal_fail(err, BAL_E_MODEL, "a bounded backlog cannot be had with %s; leave out one of them",
                           what)
                : BAL_OK;
}

/* Reports at the times of a renewal process. */
static enum bal_code check_reports(const struct bal_model *model, const struct bal_policy *policy,
                                   struct bal_error *err) {
    if (bal_model_reports_renew(model) && policy->wants & BAL_WANTS_STILL_IDLE &&
        bal_failures_happen(&model->failures))
        return bal_fail(err, BAL_E_MODEL,
                        "reports by a law cannot be had with servers that fail (failures); use reports exp");
    return BAL_OK;
}

/* What more than two classes cannot be had with. */
static enum bal_code check_many_classes(const struct bal_model *model, const struct bal_policy *policy,
                                        bool network, struct bal_error *err) {
    const char *what = model->class_count <= 2                 ? NULL
                       : model->patience.mean > 0              ? "jobs that give up (patience)"
                       : bal_failures_happen(&model->failures) ? "servers that fail (failures)"
                       : model->slots > 1 && !network          ? "servers of several slots"
                                                               : NULL;
    if (what)
        return bal_fail(err, BAL_E_MODEL, "%u classes of jobs cannot be had with %s; use two (high)",
                        model->class_count, what);
    if (model->class_count > 2 && network && policy->flags & BAL_MOVES_JOBS)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy '%s' moves jobs of %u classes on one dispatcher without delays alone; use two "
            "classes (high), or leave the network out",
            policy->name, model->class_count);
    return BAL_OK;
}

static enum bal_code check_classes(const struct bal_model *model, const struct bal_policy *policy,
                                   struct bal_error *err) {
    if (policy->flags & BAL_TAKES_RANKS && !model->classes)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' needs two classes of jobs; say which share of them is high",
                        policy->name);
    if (policy->flags & BAL_MOVES_JOBS && model->discipline == BAL_DISCIPLINE_FIFO)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' needs servers that tell classes apart; use discipline auto, preemptive "
                        "or nonpreemptive",
                        policy->name);
    if (policy->flags & BAL_MOVES_JOBS && model->buffer > 0)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' moves jobs and needs unlimited buffers; leave the buffer out",
                        policy->name);
    if (policy->flags & BAL_TAKES_RANKS && model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' cannot divide jobs of %u tasks; use tasks 1",
                        policy->name, model->tasks);
    return BAL_OK;
}

/* A common queue has one class of jobs, all of one task, and equal servers. */
static enum bal_code check_pooled(const struct bal_model *model, const struct bal_policy_spec *spec,
                                  enum bal_engine engine, struct bal_error *err) {
    const struct bal_policy *policy = spec->policy;
    const struct bal_policy_context setting = {bal_servers_count(&model->servers), model->load};
    const enum bal_code code = policy->check ? policy->check(spec->value, &setting, err) : BAL_OK;
    if (code)
        return code;
    if (engine != BAL_ENGINE_AUTO && engine != BAL_ENGINE_POOLED)
        return bal_fail(err, BAL_E_MODEL, "engine '%s' cannot run policy '%s'; use pooled or auto",
                        bal_engine_text(engine), policy->name);
    const char *what = model->clock == BAL_CLOCK_SLOTTED  ? "continuous time"
                       : bal_speeds_given(&model->speeds) ? "servers without speeds of their own"
                       : model->classes                   ? "a single class of jobs"
                       : model->tasks > 1                 ? "jobs of one task"
                       : model->buffer > 0                ? "an unlimited buffer"
                       : model->hold_limit.given          ? "room for all jobs; leave out the hold-limit"
                       : model->discipline == BAL_DISCIPLINE_SHARING ? "servers that take jobs one by one"
                       : model->discipline == BAL_DISCIPLINE_LIFO ? "jobs that begin in the order they come"
                       : model->steal.kind                        ? "servers that do not steal"
                       : bal_failures_happen(&model->failures)    ? "servers that do not fail"
                       : !bal_network_is_plain(&model->network)
                           ? "no dispatchers; leave the settings of the network out"
                           : NULL;
    for (unsigned g = 1; g < model->servers.groups; g++)
        if (model->servers.group[g].speed != model->servers.group[0].speed)
            what = "servers of equal speed";
    return what ? bal_fail(err, BAL_E_MODEL, "policy '%s' is one common queue and needs %s", policy->name,
                           what)
                : BAL_OK;
}

static bool serves_one(const struct bal_servers *servers) {
    for (unsigned g = 0; g < servers->groups; g++)
        if (servers->group[g].speed != 1 || servers->group[g].capacity.kind != BAL_BATCH_NONE)
            return false;
    return true;
}

/* The work-stealing chain: as many generators as servers, each of which serves one job in a slot. A batch
 * distribution may be given if it changes nothing. */
static enum bal_code check_generated(const struct bal_model *model, const struct bal_policy *policy,
                                     enum bal_engine engine, struct bal_error *err) {
    if (engine != BAL_ENGINE_AUTO && engine != BAL_ENGINE_STEALING)
        return bal_fail(err, BAL_E_MODEL, "engine '%s' cannot run policy '%s'; use stealing or auto",
                        bal_engine_text(engine), policy->name);
    const struct bal_batch *batch = &model->batch;
    const bool batches =
        model->split || !(batch->kind == BAL_BATCH_NONE || (batch->kind == BAL_BATCH_POISSON && batch->open));
    const char *what =
        model->clock != BAL_CLOCK_SLOTTED ? "slotted time"
        : !serves_one(&model->servers)    ? "servers that serve one job in each slot, such as 100"
        : batches                         ? "generators of jobs; leave out what is said of batches"
        : model->load > 1 ? "a load of at most 1: it is the probability that a generator makes a job"
        : model->steal.kind == BAL_STEAL_NONE
            ? "to know how much is stolen, such as half; constant(0) steals nothing"
        : !bal_network_is_plain(&model->network) ? "no dispatchers; leave the settings of the network out"
                                                 : NULL;
    return what ? bal_fail(err, BAL_E_MODEL, "policy '%s' needs %s", policy->name, what) : BAL_OK;
}

/* Jobs that wait at the dispatcher need the network engine, also where nothing else does, unless their number
 * is bounded: that the event engine does. */
static bool needs_network(const struct bal_model *model, const struct bal_policy_spec *policy) {
    return !bal_network_is_plain(&model->network) ||
           (model->clock == BAL_CLOCK_CONTINUOUS && model->backlog == 0 &&
            bal_policy_flags(policy) & BAL_MAY_HOLD);
}

#define NEWS_MAX 1e5 /* heartbeats, failures and returns for each job: simulating them takes time */

static enum bal_code check_news(const struct bal_model *model, struct bal_error *err) {
    const struct bal_network *network = &model->network;
    const double servers = bal_servers_count(&model->servers);
    const double beats =
        network->heartbeat > 0 ? fmax(network->dispatchers.count, 1) / network->heartbeat : 0;
    const struct bal_failures *repairs = &model->failures;
    const double failures = (network->churn.up > 0 ? 2 / (network->churn.up + network->churn.down) : 0) +
                            (bal_failures_happen(repairs) ? 2 / (repairs->up.mean + repairs->down.mean) : 0);
    const double news = servers * (beats + failures) / bal_model_arrival_rate(model);
    return news > NEWS_MAX
               ? bal_fail(
                     err, BAL_E_MODEL,
                     "there would be %.3g heartbeats, failures and returns for each job, and there may be "
                     "%g: give longer times",
                     news, NEWS_MAX)
               : BAL_OK;
}

/* One that concerns no server, or no dispatcher, is a mistake. */
static enum bal_code check_events(const struct bal_model *model, struct bal_error *err) {
    const struct bal_network *network = &model->network;
    const uint32_t servers = bal_servers_count(&model->servers);
    const uint32_t dispatchers = network->dispatchers.count ? network->dispatchers.count : 1;
    if (network->churn.up > 0 && bal_network_events_include(&network->events, BAL_EVENT_RESTART_SERVERS))
        return bal_fail(err, BAL_E_MODEL,
                        "servers that come and go with a churn are not restarted by events; leave out one of "
                        "the two");
    for (unsigned i = 0; i < network->events.count; i++) {
        const struct bal_network_event *event = &network->events.event[i];
        const bool of_servers = event->kind == BAL_EVENT_RESTART_SERVERS || event->kind == BAL_EVENT_CUT;
        const bool of_dispatchers = event->kind == BAL_EVENT_RESTART_DISPATCHERS;
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

static enum bal_code check_network(const struct bal_model *model, enum bal_engine engine,
                                   struct bal_error *err) {
    if (engine != BAL_ENGINE_AUTO && engine != BAL_ENGINE_NETWORK)
        return bal_fail(
            err, BAL_E_MODEL,
            "engine '%s' knows one dispatcher next to its servers, which holds no jobs; use network or "
            "auto",
            bal_engine_text(engine));
    if (bal_speeds_given(&model->speeds))
        return bal_fail(
            err, BAL_E_MODEL,
            "servers behind a network, or of a policy that holds jobs without a bound (backlog), "
            "work on each job at full speed; leave out the speeds or the settings of the network");
    if (model->discipline == BAL_DISCIPLINE_SHARING)
        return bal_fail(
            err, BAL_E_MODEL,
            "servers behind a network take jobs one by one; leave out the settings of the network or "
            "discipline ps");
    if (model->discipline == BAL_DISCIPLINE_LIFO)
        return bal_fail(err, BAL_E_MODEL,
                        "servers behind a network, or of a policy that holds jobs, take jobs in the order in "
                        "which they come, not discipline lifo; leave out one of the two");
    if (model->backlog > 0 || bal_model_reports_renew(model))
        return bal_fail(err, BAL_E_MODEL,
                        "%s one dispatcher next to its servers; leave it out, or what needs the network",
                        model->backlog > 0 ? "a bounded backlog needs" : "reports by a law need");
    if (model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "dispatchers on a network route jobs of one task, not of %u",
                        model->tasks);
    return check_events(model, err);
}

/* Servers that come back cold, and dispatchers that spare them. */
static enum bal_code check_cold(const struct bal_model *model, const struct bal_policy *policy,
                                struct bal_error *err) {
    const struct bal_network *network = &model->network;
    const bool cold = network->cold.factor > 0, slow = network->slow_start > 0;
    if ((cold || slow) && !(network->churn.up > 0) &&
        !bal_network_events_include(&network->events, BAL_EVENT_RESTART_SERVERS))
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
        bal_model_discipline(model, policy->flags & BAL_SERVES_RANKS) == BAL_DISCIPLINE_PREEMPTIVE;
    return cold && interrupts
               ? bal_fail(err, BAL_E_MODEL,
                          "servers that come back cold do not interrupt jobs; use discipline nonpreemptive")
               : BAL_OK;
}

/* The markov engine passes 1 + 1/load possible events for each arrival, the event engine two; one of those
 * costs about a third to a tenth as much. Down to this load the first costs a few times as much at most, and
 * all policies see the same possible completions; below it is slower by 1/load (docs/decisions/0002). */
static bool is_mostly_idle(const struct bal_model *model) {
    return model->load * bal_curve_most(&model->curve) < 0.05;
}

/* Of the two engines that take a model in continuous time with a queue at each server: as asked, or the one
 * that is faster. */
static enum bal_code choose_continuous(const struct bal_model *model, const struct bal_policy_spec *policy,
                                       enum bal_engine engine, enum bal_engine *chosen,
                                       struct bal_error *err) {
    const bool power_laws = policy->policy->wants & BAL_WANTS_POWER &&
                            ((model->standby.mean > 0 && !bal_dist_is_exponential(&model->standby)) ||
                             (model->setup.mean > 0 && !bal_dist_is_exponential(&model->setup)));
    const bool exponential = bal_dist_is_exponential(&model->size) && !power_laws;
    const bool needs_work = policy->policy->flags & BAL_NEEDS_WORK;
    const bool poisson = bal_arrivals_are_poisson(&model->arrivals);
    const bool plain_servers =
        model->slots <= 1 && !bal_speeds_given(&model->speeds) && model->steal.kind == BAL_STEAL_NONE &&
        model->discipline != BAL_DISCIPLINE_SHARING && model->discipline != BAL_DISCIPLINE_LIFO &&
        !(model->patience.mean > 0) && !bal_failures_happen(&model->failures);
    if (engine == BAL_ENGINE_MARKOV && !exponential)
        return bal_fail(
            err, BAL_E_MODEL,
            "engine 'markov' needs exponential sizes, standby and set-up times; use event or auto");
    if (engine == BAL_ENGINE_MARKOV && needs_work)
        return bal_fail(err, BAL_E_MODEL,
                        "engine 'markov' does not know the work that policy '%s' asks for; use event or auto",
                        policy->policy->name);
    if (engine == BAL_ENGINE_MARKOV &&
        (model->discipline == BAL_DISCIPLINE_SHARING || model->discipline == BAL_DISCIPLINE_LIFO))
        return bal_fail(
            err, BAL_E_MODEL,
            "engine 'markov' knows servers that take jobs in turn, not discipline %s; use event or auto",
            bal_discipline_text(model->discipline));
    if (engine == BAL_ENGINE_MARKOV && !plain_servers)
        return bal_fail(
            err, BAL_E_MODEL,
            "engine 'markov' knows servers of one slot that neither steal nor fail, and jobs that do not "
            "give up; use event or auto");
    if (engine == BAL_ENGINE_MARKOV && !poisson)
        return bal_fail(err, BAL_E_MODEL, "engine 'markov' needs arrivals poisson; use event or auto");
    const bool holds = bal_policy_flags(policy) & BAL_MAY_HOLD;
    const bool renews = policy->policy->wants & BAL_WANTS_STILL_IDLE && bal_model_reports_renew(model);
    if (engine == BAL_ENGINE_MARKOV && (holds || renews))
        return bal_fail(err, BAL_E_MODEL, "engine 'markov' knows no %s; use event or auto",
                        holds ? "jobs that wait at the dispatcher"
                              : "reports but those of a Poisson process");
    const bool either = exponential && !needs_work && plain_servers && poisson && !holds && !renews;
    *chosen = engine != BAL_ENGINE_AUTO          ? engine
              : either && !is_mostly_idle(model) ? BAL_ENGINE_MARKOV
                                                 : BAL_ENGINE_EVENT;
    return BAL_OK;
}

enum bal_code bal_simulate_check(const struct bal_model *model, const struct bal_policy_spec *policy,
                                 enum bal_engine engine, enum bal_engine *chosen, struct bal_error *err) {
    if (engine == BAL_ENGINE_LIVE) { /* what the network engine cannot simulate has no prediction */
        const enum bal_code code = bal_simulate_check(model, policy, BAL_ENGINE_NETWORK, chosen, err);
        *chosen = BAL_ENGINE_LIVE;
        return code;
    }
    enum bal_code code = bal_model_check(model, err);
    if (!code)
        code = check_unsteady(model, policy, err);
    if (code)
        return code;
    if (bal_scheme_of(policy->policy) == BAL_SCHEME_POOLED) {
        *chosen = BAL_ENGINE_POOLED;
        return check_pooled(model, policy, engine, err);
    }
    if (bal_scheme_of(policy->policy) == BAL_SCHEME_GENERATED) {
        *chosen = BAL_ENGINE_STEALING;
        return check_generated(model, policy->policy, engine, err);
    }
    const struct bal_policy_context setting = {bal_servers_count(&model->servers), model->load};
    const bool network = engine == BAL_ENGINE_NETWORK || needs_network(model, policy);
    const struct bal_host host = host_of(model, network);
    code = bal_policy_check(policy, &setting, &host, err);
    if (code)
        return code;
    if (engine == BAL_ENGINE_POOLED)
        return bal_fail(err, BAL_E_MODEL,
                        "engine 'pooled' is for one common queue, not for policy '%s'; use auto",
                        policy->policy->name);
    if (model->clock == BAL_CLOCK_SLOTTED) {
        *chosen = BAL_ENGINE_SLOTTED;
        return check_slotted(model, policy, engine, err);
    }
    if (engine == BAL_ENGINE_SLOTTED || engine == BAL_ENGINE_STEALING)
        return bal_fail(err, BAL_E_MODEL, "engine '%s' needs slotted time; use another or auto",
                        bal_engine_text(engine));
    code = check_classes(model, policy->policy, err);
    if (!code)
        code = check_many_classes(model, policy->policy, network, err);
    if (!code)
        code = check_servers(model, policy->policy, err);
    if (!code)
        code = check_hold_limit(model, policy, err);
    if (!code)
        code = check_backlog(model, policy, err);
    if (!code)
        code = check_reports(model, policy->policy, err);
    if (!code)
        code = check_news(model, err);
    if (!code && network)
        code = check_network(model, engine, err);
    if (!code && network)
        code = check_cold(model, policy->policy, err);
    if (code)
        return code;
    if (network) {
        *chosen = BAL_ENGINE_NETWORK;
        return BAL_OK;
    }
    return choose_continuous(model, policy, engine, chosen, err);
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

static enum bal_code check_path(const struct bal_model *model, const struct bal_run *run,
                                enum bal_engine engine, struct bal_error *err) {
    const struct bal_path *path = run->path;
    if (path && (engine == BAL_ENGINE_STEALING || engine == BAL_ENGINE_SLOTTED))
        return bal_fail(err, BAL_E_MODEL, "paths need continuous time");
    if ((path || run->initial || model->start.jobs > 1) && engine == BAL_ENGINE_POOLED)
        return bal_fail(err, BAL_E_MODEL, "paths and queues at the start need a queue at each server");
    if (!path)
        return BAL_OK;
    if (path->levels < 1 || path->levels >= BAL_TAIL_LEVELS)
        return bal_fail(err, BAL_E_RANGE, "a path of %zu levels; it can have 1 to %d", path->levels,
                        BAL_TAIL_LEVELS - 1);
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
static enum bal_code check_trace(const struct bal_model *model, const struct bal_run *run,
                                 struct bal_error *err) {
    if (!run->trace)
        return BAL_OK;
    const char *what = model->clock == BAL_CLOCK_SLOTTED              ? "slotted time"
                       : model->tasks > 1                             ? "jobs of several tasks"
                       : model->curve.kind != BAL_CURVE_CONSTANT      ? "a load curve"
                       : model->arrivals.kind != BAL_ARRIVALS_POISSON ? "arrivals of their own"
                       : run->initial || model->start.busy > 0        ? "servers that begin with jobs"
                       : model->class_count > 2                       ? "more than two classes"
                       : model->backlog > 0                           ? "a bounded backlog"
                       : run->speedup < 0 || !isfinite(run->speedup)  ? "a speedup that is not above 0"
                                                                      : NULL;
    return what ? bal_fail(err, BAL_E_MODEL, "recorded jobs cannot be replayed with %s", what) : BAL_OK;
}

enum { SPANS_MAX = 10000 };

/* Servers that fail at a time are known to the event engine alone, kinds of jobs to those that replay. */
static enum bal_code check_extras(const struct bal_model *model, const struct bal_policy_spec *policy,
                                  const struct bal_run *run, enum bal_engine engine, struct bal_error *err) {
    const bool kinds = run->history && run->history->kind;
    if (run->failing > 0 && engine != BAL_ENGINE_EVENT)
        return bal_fail(
            err, BAL_E_MODEL,
            "a run in which servers fail needs engine 'event', not '%s', in which policy '%s' runs",
            bal_engine_text(engine), policy->policy->name);
    for (size_t kind = kinds ? run->history->kinds : BAL_TRACE_KINDS; kind < BAL_TRACE_KINDS; kind++)
        if (!run->trace || bal_trace_info(run->trace)->kind[kind] > 0)
            return bal_fail(err, BAL_E_RANGE, "a history of %zu kinds of jobs, where there are more",
                            run->history->kinds);
    if (run->failing == 0)
        return BAL_OK;
    const uint32_t servers = bal_servers_count(&model->servers);
    if (run->failing >= servers)
        return bal_fail(err, BAL_E_RANGE, "%u of %u servers fail; some must be left", run->failing, servers);
    if (!(run->fail_at >= 0))
        return bal_fail(err, BAL_E_RANGE, "servers fail at time %g, which is not from 0 on", run->fail_at);
    if (bal_model_discipline(model, bal_policy_flags(policy) & BAL_SERVES_RANKS) == BAL_DISCIPLINE_PREEMPTIVE)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' with discipline preemptive knows no servers that fail; use discipline "
                        "nonpreemptive",
                        policy->policy->name);
    if (model->class_count > 2)
        return bal_fail(err, BAL_E_MODEL, "%u classes of jobs know no servers that fail; use two (high)",
                        model->class_count);
    if (bal_speeds_given(&model->speeds))
        return bal_fail(err, BAL_E_MODEL,
                        "servers whose speed depends on the jobs in service (speeds) do not "
                        "fail; leave the speeds out");
    if (model->discipline == BAL_DISCIPLINE_SHARING || model->discipline == BAL_DISCIPLINE_LIFO)
        return bal_fail(err, BAL_E_MODEL, "discipline %s knows no servers that fail; use another or auto",
                        bal_discipline_text(model->discipline));
    if (model->patience.mean > 0 || bal_failures_happen(&model->failures))
        return bal_fail(err, BAL_E_MODEL, "servers that fail for good go with neither patience nor failures");
    if (model->tasks > 1)
        return bal_fail(err, BAL_E_MODEL, "jobs of %u tasks know no servers that fail; use tasks 1",
                        model->tasks);
    if (model->backlog > 0 || bal_model_reports_renew(model))
        return bal_fail(err, BAL_E_MODEL, "servers that fail for good go with neither backlog nor reports");
    return BAL_OK;
}

/* A trace, a history and servers that fail ask for the event engine. */
static enum bal_code choose_engine(const struct bal_model *model, const struct bal_policy_spec *policy,
                                   const struct bal_run *run, enum bal_engine *engine,
                                   struct bal_error *err) {
    enum bal_code code = check_trace(model, run, err);
    if (!code)
        code = bal_simulate_check(model, policy, run->engine, engine, err);
    if (code || !(run->trace || run->history || run->failing > 0))
        return code;
    if (run->engine == BAL_ENGINE_AUTO && *engine == BAL_ENGINE_MARKOV)
        *engine = BAL_ENGINE_EVENT;
    if (*engine != BAL_ENGINE_EVENT && *engine != BAL_ENGINE_NETWORK && *engine != BAL_ENGINE_POOLED)
        return bal_fail(err, BAL_E_MODEL, "%s needs engine 'event', not '%s'; use event or auto",
                        run->trace     ? "a replay of recorded jobs"
                        : run->history ? "a history"
                                       : "a run in which servers fail",
                        bal_engine_text(*engine));
    if (run->history && (run->history->spans < 1 || run->history->spans > SPANS_MAX))
        return bal_fail(err, BAL_E_RANGE, "a history of %zu spans; it can have 1 to %d", run->history->spans,
                        SPANS_MAX);
    return check_extras(model, policy, run, *engine, err);
}

enum bal_code bal_simulate(const struct bal_model *model, const struct bal_policy_spec *policy,
                           const struct bal_run *run, struct bal_trial *trial, struct bal_error *err) {
    enum bal_engine engine = run->engine;
    enum bal_code code = choose_engine(model, policy, run, &engine, err);
    if (!code && engine == BAL_ENGINE_LIVE)
        code = bal_fail(err, BAL_E_MODEL, "real processes are measured by `ballast live`, not simulated");
    if (code)
        return code;
    if (!(run->time > 0) || !isfinite(run->time))
        return bal_fail(err, BAL_E_RANGE, "time %g is not a number above 0", run->time);
    if (model->clock == BAL_CLOCK_SLOTTED && run->time > SLOTS_MAX)
        return bal_fail(err, BAL_E_RANGE, "%g slots are too many; at most %g", run->time, SLOTS_MAX);
    if (!isnan(run->warmup) && run->warmup != BAL_WARMUP_MSER && !(run->warmup >= 0 && run->warmup <= 0.999))
        return bal_fail(err, BAL_E_RANGE, "warm-up %g is not a fraction from 0 to 0.999", run->warmup);
    code = check_path(model, run, engine, err);
    if (code)
        return code;
    const double start = processor_time();
    code = (engine == BAL_ENGINE_SLOTTED    ? bal_engine_slotted
            : engine == BAL_ENGINE_STEALING ? bal_engine_stealing
            : engine == BAL_ENGINE_POOLED   ? bal_engine_pooled
            : engine == BAL_ENGINE_MARKOV   ? bal_engine_markov
            : engine == BAL_ENGINE_NETWORK  ? bal_engine_network
                                            : bal_engine_event)(model, policy, run, trial, err);
    const struct bal_policy_context setting = {bal_servers_count(&model->servers), model->load};
    trial->metric[BAL_LOAD_ACHIEVED] *= model->load / bal_model_arrival_rate(model);
    trial->metric[BAL_MEMORY_BITS] = bal_policy_memory_bits(policy, &setting);
    trial->engine = engine;
    trial->seconds = processor_time() - start;
    return code;
}
