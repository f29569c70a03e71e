/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of one common queue. They are not dispatch policies: nothing is routed, servers take work when they
 * can. They are baselines for dispatch policies, and have their own engine.
 *
 * central: M/M/N. A job takes an idle server or waits at the back of the one queue. With exponential sizes no
 * dispatch policy waits less.
 *
 * delayed-off: M/M/N/setup/delayedoff (Gandhi, Doroudi, Harchol-Balter and Scheller-Wolf 2013). A job that
 * finds an idle server which is on takes it; otherwise it waits and starts the set-up of a server that is
 * off, if there is one. A server that runs out of work stays on for a while and then switches off. A
 * completed service or set-up takes the job at the head of the queue, and a set-up in excess of the jobs that
 * wait is cancelled.
 *
 * windowed: the number of servers follows the number of jobs that are there, averaged over a window: what
 * autoscalers of containers do. The rule is the one that Knative documents for its Pod Autoscaler
 * (knative.dev/docs/serving/autoscaling/kpa-specific and .../concurrency: a stable window of 60 s; a panic
 * window of 10 % of it; panic at 200 %, which lasts until there has been no reason for it during a stable
 * window, and in which there is no scaling down; 70 % of what a container can take as the target; at most
 * 1000 times as many up and half down in one step; the last one goes after a whole window without traffic),
 * with decisions every 2 s. Every server that is too many goes: those in set-up first, then those that stand
 * by, then busy ones when they have done their job. A job that arrives when no server is wanted starts one at
 * once. Requests wait in one common queue, as they do in front of containers of limited concurrency. */
#include "ballast/scheme.h"

enum { MU, NU };

static const struct bal_param power_params[] = {
    [MU] = {"mu", 0, 1e9, 0.1, false, true, "rate at which an idle server switches off; 0: never"},
    [NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
};

static struct bal_power power_rates(const double *value) {
    return (struct bal_power){.standby_rate = value[MU], .setup_rate = value[NU]};
}

static const struct bal_policy central = {
    .name = "central",
    .summary = "one common queue for all servers: nothing is routed",
    .paper = "M/M/N, Erlang 1917",
    .cost = "none counted",
};

static const struct bal_policy delayed_off = {
    .name = "delayed-off",
    .summary = "one common queue; idle servers switch off, a job that waits starts one",
    .paper = "Gandhi et al. 2013",
    .cost = "none counted",
    .params = power_params,
    .param_count = sizeof power_params / sizeof *power_params,
    .power = power_rates,
};

enum { TARGET, WINDOW, PANIC, THRESHOLD, TICK, WINDOWED_NU };

static const struct bal_param windowed_params[] = {
    [TARGET] = {"target", 1e-6, 1, 0.7, false, false,
                "jobs that each slot of a server should have on average"},
    [WINDOW] = {"window", 1e-6, 1e9, 60, false, false, "over which jobs are averaged, in time"},
    [PANIC] = {"panic", 1e-3, 1, 0.1, false, false, "the short window, as a part of that"},
    [THRESHOLD] = {"threshold", 1, 1000, 2, false, false,
                   "a short average that wants so many times the servers that are ready is a panic"},
    [TICK] = {"tick", 1e-6, 1e9, 2, false, false, "time between two decisions"},
    [WINDOWED_NU] = {"nu", 1e-9, 1e9, 0.1, false, true, "rate at which a set-up completes"},
};

static struct bal_power windowed_power(const double *value) {
    return (struct bal_power){.standby_rate = 0, .setup_rate = value[WINDOWED_NU]};
}

#define TICKS_MAX 100000.0 /* in a window: each is kept */

static enum bal_code check_windowed(const double *value, const struct bal_policy_context *setting,
                                    struct bal_error *err) {
    (void)setting;
    if (value[TICK] <= value[WINDOW] && value[WINDOW] / value[TICK] <= TICKS_MAX)
        return BAL_OK;
    return bal_fail(
        err, BAL_E_RANGE,
        "policy 'windowed': there should be 1 to %g ticks of %g in a window of %g; change tick or "
        "window",
        TICKS_MAX, value[TICK], value[WINDOW]);
}

static const struct bal_policy windowed = {
    .name = "windowed",
    .summary = "one common queue; as many servers on as the average number of jobs over a window asks for",
    .paper = "Knative Pod Autoscaler",
    .cost = "none counted",
    .params = windowed_params,
    .param_count = sizeof windowed_params / sizeof *windowed_params,
    .power = windowed_power,
    .check = check_windowed,
};

bool bli_window_rule_of(const struct bal_policy_spec *spec, struct bli_window_rule *rule) {
    if (spec->policy != &windowed)
        return false;
    *rule = (struct bli_window_rule){spec->value[TARGET], spec->value[WINDOW], spec->value[PANIC],
                                     spec->value[THRESHOLD], spec->value[TICK]};
    return true;
}

const struct bal_policy *const bli_pooled_table[] = {&central, &delayed_off, &windowed};
const size_t bli_pooled_count = sizeof bli_pooled_table / sizeof *bli_pooled_table;
