/* SPDX-License-Identifier: BSD-2-Clause */
/* Recorded jobs on a chosen fleet: the cases, and what is wanted of them. */
#include "ballast/replay.h"

#include "ballast/number.h"

#include "study/replay_try.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one replay ---- */

double bli_replay_time(const struct bli_replay *replay) {
    return bli_trace_info(replay->trace)->span / replay->speedup;
}

double bli_replay_server_rate(const struct bli_model *model) {
    return bli_speeds_given(&model->speeds) ? bli_model_server_rate(model)
           : model->slots > 0               ? model->slots
                                            : 1;
}

double bli_replay_load(const struct bli_replay *replay, double work) {
    return work * replay->speedup /
           (bli_servers_capacity(&replay->model.servers) * bli_replay_server_rate(&replay->model));
}

/* The same check as the engine's, but before it is run. */
static enum bal_code check_failure(const struct bli_case *c, struct bal_error *err) {
    if (c->run.failing == 0)
        return BAL_OK;
    if (c->run.engine == BLI_ENGINE_POOLED)
        return bal_fail(err, BAL_E_MODEL, "policy '%s' is one common queue and knows no servers that fail",
                        c->policy.policy->name);
    if (c->run.engine == BLI_ENGINE_NETWORK && bli_network_is_plain(&c->model.network))
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' lets jobs wait in front of the servers, and knows none that fail at a "
                        "time; use one that does not (of tabs: tabs:none=refuse)",
                        c->policy.policy->name);
    if (c->run.engine == BLI_ENGINE_NETWORK)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' and these settings of the network know no servers that fail at a time; "
                        "servers come and go with a churn",
                        c->policy.policy->name);
    if (c->run.failing >= bli_servers_count(&c->model.servers))
        return bal_fail(err, BAL_E_MODEL, "%u of %u servers fail; some must be left", c->run.failing,
                        bli_servers_count(&c->model.servers));
    if (bli_model_discipline(&c->model, bal_policy_flags(&c->policy) & BAL_SERVES_RANKS) ==
        BLI_DISCIPLINE_PREEMPTIVE)
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' with discipline preemptive knows no servers that fail; use discipline "
                        "nonpreemptive",
                        c->policy.policy->name);
    return BAL_OK;
}

/* The event engine, unless there is a network in between or jobs wait at the dispatcher, or there is none. */
static enum bli_engine engine_of(const struct bli_replay *replay, const struct bal_policy_spec *policy) {
    if (bli_scheme_of(policy->policy) == BLI_SCHEME_POOLED)
        return BLI_ENGINE_POOLED;
    const bool direct =
        bli_network_is_plain(&replay->model.network) && !(bal_policy_flags(policy) & BAL_MAY_HOLD);
    return direct ? BLI_ENGINE_EVENT : BLI_ENGINE_NETWORK;
}

enum bal_code bli_replay_case(const struct bli_replay *replay, const struct bal_policy_spec *policy,
                              struct bli_case *c, struct bal_error *err) {
    const struct bli_trace_info *info = bli_trace_info(replay->trace);
    *c = (struct bli_case){
        .model = replay->model,
        .policy = *policy,
        .run = {.seed = replay->seed,
                .time = bli_replay_time(replay),
                .warmup = 0,
                .engine = engine_of(replay, policy),
                .trace = replay->trace,
                .speedup = replay->speedup,
                .failing = replay->failing,
                .fail_at = replay->fail_at / replay->speedup},
        .replications = replay->replications,
    };
    struct bli_model *model = &c->model;
    model->clock = BLI_CLOCK_CONTINUOUS;
    model->load = bli_replay_load(replay, info->work / info->span);
    model->high = model->classes ? (double)info->high / (double)info->jobs : 0;
    model->size = bli_dist_exponential(info->size_mean); /* none is drawn: what counts is the mean */
    enum bli_engine engine;
    const enum bal_code code = bli_simulate_check(model, policy, c->run.engine, &engine, err);
    return code ? code : check_failure(c, err);
}

double bli_replay_energy(const struct bli_result *result) {
    return result->metric[BLI_ENERGY_PER_JOB].mean * (double)result->jobs / result->replications;
}

/* Servers on together, in seconds: energy over power is how long it took. */
double bli_replay_server_time(const struct bli_case *c, const struct bli_result *result) {
    const double servers = bli_servers_count(&c->model.servers);
    const double watts = result->metric[BLI_POWER_MEAN].mean * servers;
    const double off = result->metric[BLI_SERVERS_OFF].mean;
    return servers * (1 - off) * bli_replay_energy(result) / watts;
}

/* ---- targets ---- */

enum bal_code bli_duration_parse(const char *text, double *seconds, struct bal_error *err) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}};
    double number;
    const char *unit = bli_number_read(text, &number);
    if (!unit || !(number >= 0) || !isfinite(number))
        return bal_fail(err, BAL_E_SYNTAX, "'%.60s' is not a length of time, such as 200ms or 30s", text);
    unit += strspn(unit, " ");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            *seconds = number * units[i].seconds;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_SYNTAX, "'%.60s' needs a unit: ns, us, ms, s, min or h, as in 200ms", text);
}

enum bal_code bli_target_parse(const char *text, struct bli_target *target, struct bal_error *err) {
    const size_t length = strcspn(text, "=");
    struct bli_target wanted = {.name = "mean"};
    const bool mean = length == 4 && strncmp(text, "mean", 4) == 0;
    if (text[length] != '=' || !(mean || bli_percentile_looks(text)))
        return bal_fail(
            err, BAL_E_SYNTAX,
            "not a target; write mean, or a percentile such as p95 or p99.9, and a time: p99=200ms");
    enum bal_code code = mean ? BAL_OK : bli_percentile_parse(text, length, &wanted.quantile, err);
    if (!code && !mean)
        bli_percentile_print(wanted.quantile, wanted.name);
    if (!code)
        code = bli_duration_parse(text + length + 1, &wanted.seconds, err);
    if (code)
        return code;
    if (wanted.seconds == 0)
        return bal_fail(err, BAL_E_RANGE, "no job takes no time; give one above 0, such as p99=200ms");
    *target = wanted;
    return BAL_OK;
}
