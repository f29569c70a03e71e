/* SPDX-License-Identifier: BSD-2-Clause */
/* The state machine of the keeper: requests, events and timeouts change the state and issue orders. */
#include "ballast/live/keeper.h"

#include <stddef.h>

#define NEVER UINT64_MAX

static const uint64_t millisecond = 1000000;

/* ---- numbers ---- */

static uint64_t add_time(uint64_t now, uint64_t time) {
    return time < NEVER - now ? now + time : NEVER;
}

static uint64_t min_time(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Rounded up, so that no retry comes too early. */
static uint32_t milliseconds(uint64_t time) {
    const uint64_t ms = time / millisecond + (time % millisecond > 0);
    return ms < BAL_VALID_MAX ? (uint32_t)ms : BAL_VALID_MAX;
}

static uint64_t back_off(const struct bal_keeper_config *config, uint32_t failures) {
    uint64_t time = config->back_off_ns;
    for (uint32_t i = 1; i < failures && time < config->back_off_most_ns; i++)
        time = time > NEVER / 2 ? NEVER : 2 * time;
    return min_time(time, config->back_off_most_ns);
}

enum bal_code bal_keeper_check(const struct bal_keeper_config *config, struct bal_error *err) {
    const struct {
        const char *name;
        uint64_t time;
    } times[] = {
        {"start", config->start_ns},       {"ready", config->ready_ns},
        {"check", config->check_ns},       {"answer", config->answer_ns},
        {"drain", config->drain_ns},       {"stop", config->stop_ns},
        {"kill", config->kill_ns},         {"steady", config->steady_ns},
        {"back-off", config->back_off_ns}, {"longest back-off", config->back_off_most_ns},
        {"beat", config->beat_ns},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].time == 0)
            return bal_fail(err, BAL_E_RANGE, "keeper: the time '%s' is 0; it must be more", times[i].name);
    if (config->back_off_most_ns < config->back_off_ns)
        return bal_fail(
            err, BAL_E_RANGE, "keeper: the longest back-off, %llu ns, is shorter than the first, %llu ns",
            (unsigned long long)config->back_off_most_ns, (unsigned long long)config->back_off_ns);
    return BAL_OK;
}

/* ---- from state to state ---- */

static void issue_order(struct bal_keeper *k, enum bal_order_kind kind) {
    k->order = (struct bal_order){kind, k->order.number + 1};
    k->awaited = k->order.number;
    k->ordered = true;
    k->starts += kind == BAL_ORDER_START;
    k->kills += kind == BAL_ORDER_KILL;
}

static void enter_state(struct bal_keeper *k, enum bal_keeper_state state, uint64_t time) {
    k->state = state;
    k->until = add_time(k->now, time);
}

static void begin_detection(struct bal_keeper *k) {
    enter_state(k, BAL_KEEPER_LOOKING, k->config.answer_ns);
    issue_order(k, BAL_ORDER_LOOK);
}

static void begin_start(struct bal_keeper *k) {
    enter_state(k, BAL_KEEPER_STARTING, k->config.start_ns);
    issue_order(k, BAL_ORDER_START);
    k->instance = k->order.number;
}

static void begin_ready_check(struct bal_keeper *k) {
    issue_order(k, BAL_ORDER_READY);
    k->next_check = add_time(k->now, k->config.answer_ns);
}

static void begin_setup(struct bal_keeper *k) {
    enter_state(k, BAL_KEEPER_SETUP, k->config.ready_ns);
    begin_ready_check(k);
}

static void begin_kill(struct bal_keeper *k) {
    enter_state(k, BAL_KEEPER_KILLING, k->config.kill_ns);
    issue_order(k, BAL_ORDER_KILL);
}

/* A start has failed, and what is left of it must be killed. */
static void fail_start(struct bal_keeper *k) {
    k->failures += k->failures < UINT32_MAX;
    k->retry_at = add_time(k->now, back_off(&k->config, k->failures));
    begin_kill(k);
}

/* Nothing of the app is running. */
static void enter_off(struct bal_keeper *k) {
    k->instance = 0;
    if (k->wanted && k->retry_at <= k->now) {
        begin_start(k);
        return;
    }
    k->state = BAL_KEEPER_OFF;
    k->until = k->wanted ? k->retry_at : NEVER;
}

/* It is on; whether it stays on depends on what the station has requested. */
static void enter_on_or_standby(struct bal_keeper *k) {
    k->state = k->wanted || k->stop_at == NEVER ? BAL_KEEPER_ON : BAL_KEEPER_STANDBY;
    k->until = k->state == BAL_KEEPER_ON ? NEVER : k->stop_at;
}

static bool is_on(const struct bal_keeper *k) {
    return k->state == BAL_KEEPER_ON || k->state == BAL_KEEPER_STANDBY || k->state == BAL_KEEPER_DRAINING;
}

static void enter_on(struct bal_keeper *k) {
    k->steady_at = add_time(k->now, k->config.steady_ns);
    enter_on_or_standby(k);
}

/* An app that had started well may begin again at once; one that had not is one more failed start. */
static void handle_crash(struct bal_keeper *k) {
    k->crashes++;
    if (k->steady_at <= k->now)
        begin_kill(k);
    else
        fail_start(k);
}

/* ---- requests of the station ---- */

static void set_time(struct bal_keeper *k, uint64_t now) {
    if (now > k->now)
        k->now = now;
}

void bal_keeper_init(struct bal_keeper *k, const struct bal_keeper_config *config, uint64_t now) {
    *k = (struct bal_keeper){.config = *config, .now = now, .stop_at = NEVER};
    begin_detection(k);
}

void bal_keeper_request_start(struct bal_keeper *k, uint64_t now) {
    bal_keeper_run_timers(k, now);
    k->wanted = true;
    k->stop_at = NEVER;
    if (is_on(k))
        enter_on_or_standby(k);
    else if (k->state == BAL_KEEPER_OFF)
        enter_off(k);
}

void bal_keeper_request_stop(struct bal_keeper *k, uint64_t now, uint64_t after_ns) {
    bal_keeper_run_timers(k, now);
    k->wanted = false;
    k->stop_at = min_time(k->stop_at, add_time(k->now, after_ns));
    if (k->state == BAL_KEEPER_ON || k->state == BAL_KEEPER_STANDBY)
        enter_on_or_standby(k);
    else if (k->state == BAL_KEEPER_OFF)
        enter_off(k);
}

void bal_keeper_receive(struct bal_keeper *k, uint64_t now, const struct bal_message *message) {
    if (message->type == BAL_MSG_START)
        bal_keeper_request_start(k, now);
    else if (message->type == BAL_MSG_STOP)
        bal_keeper_request_stop(k, now, message->stop.after_ms * millisecond);
}

/* ---- results of orders ---- */

static void on_detection_result(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_GONE) {
        enter_off(k);
    } else if (event == BAL_APP_RUNNING) {
        k->instance = k->order.number;
        k->wanted = k->wanted || k->stop_at == NEVER; /* it was on for a reason; the station may know better
                                                       */
        begin_setup(k);
    }
    /* else LOOK is ordered again when its time is over */
}

static void on_start_result(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_RUNNING)
        begin_setup(k);
    else if (event == BAL_APP_FAILED || event == BAL_APP_GONE)
        fail_start(k);
}

static void on_ready_result(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_READY)
        enter_on(k);
    else
        k->next_check = add_time(k->now, k->config.check_ns);
}

static void on_stop_result(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_GONE)
        enter_off(k);
    else if (event == BAL_APP_FAILED && k->state == BAL_KEEPER_STOPPING)
        begin_kill(k);
    /* a KILL that failed is ordered again when its time is over */
}

/* While orders to stop or kill are under way, GONE is what counts. */
static void on_exit_event(struct bal_keeper *k) {
    if (k->state == BAL_KEEPER_STARTING || k->state == BAL_KEEPER_SETUP)
        fail_start(k);
    else if (is_on(k))
        handle_crash(k);
}

static void handle_order_result(struct bal_keeper *k, enum bal_app_event event) {
    k->awaited = 0;
    switch (k->order.kind) {
    case BAL_ORDER_LOOK:
        on_detection_result(k, event);
        break;
    case BAL_ORDER_START:
        on_start_result(k, event);
        break;
    case BAL_ORDER_READY:
        on_ready_result(k, event);
        break;
    case BAL_ORDER_STOP:
    case BAL_ORDER_KILL:
        on_stop_result(k, event);
        break;
    }
}

void bal_keeper_event(struct bal_keeper *k, uint64_t now, enum bal_app_event event, uint64_t number) {
    bal_keeper_run_timers(k, now);
    if (event == BAL_APP_EXITED && number == k->instance && k->instance)
        on_exit_event(k);
    else if (event != BAL_APP_EXITED && number && number == k->awaited && !k->ordered)
        handle_order_result(k, event);
    else
        k->lost++;
}

/* ---- time ---- */

/* The time of the present state is over. */
static void handle_timeout(struct bal_keeper *k) {
    switch (k->state) {
    case BAL_KEEPER_LOOKING:
        begin_detection(k);
        break;
    case BAL_KEEPER_OFF:
        enter_off(k);
        break;
    case BAL_KEEPER_STARTING:
    case BAL_KEEPER_SETUP:
        fail_start(k);
        break;
    case BAL_KEEPER_STANDBY:
        enter_state(k, BAL_KEEPER_DRAINING, k->config.drain_ns);
        break;
    case BAL_KEEPER_DRAINING:
        enter_state(k, BAL_KEEPER_STOPPING, k->config.stop_ns);
        issue_order(k, BAL_ORDER_STOP);
        break;
    case BAL_KEEPER_STOPPING:
    case BAL_KEEPER_KILLING:
        begin_kill(k);
        break;
    case BAL_KEEPER_ON:
        break;
    }
}

uint64_t bal_keeper_run_timers(struct bal_keeper *k, uint64_t now) {
    set_time(k, now);
    if (is_on(k) && k->steady_at <= k->now)
        k->failures = 0;
    if (k->until <= k->now)
        handle_timeout(k);
    if (k->state == BAL_KEEPER_SETUP && k->next_check <= k->now)
        begin_ready_check(k);
    if (k->state == BAL_KEEPER_LOOKING)
        return k->until;
    const uint64_t next = min_time(k->until, k->report_at);
    return k->state == BAL_KEEPER_SETUP ? min_time(next, k->next_check) : next;
}

bool bal_keeper_order(struct bal_keeper *k, struct bal_order *order) {
    if (!k->ordered)
        return false;
    k->ordered = false;
    *order = k->order;
    return true;
}

/* ---- power messages ---- */

/* An app that is being stopped and is wanted again will be started as soon as it is gone. */
static enum bal_power_state power_of_state(const struct bal_keeper *k) {
    const bool begins = k->wanted && k->retry_at <= k->now;
    switch (k->state) {
    case BAL_KEEPER_STARTING:
    case BAL_KEEPER_SETUP:
        return BAL_POWER_SETUP;
    case BAL_KEEPER_ON:
    case BAL_KEEPER_STANDBY:
        return BAL_POWER_ON;
    case BAL_KEEPER_DRAINING:
        return BAL_POWER_DRAINING;
    case BAL_KEEPER_STOPPING:
        return begins ? BAL_POWER_SETUP : BAL_POWER_DRAINING;
    case BAL_KEEPER_KILLING:
        return begins ? BAL_POWER_SETUP : BAL_POWER_OFF;
    case BAL_KEEPER_LOOKING:
    case BAL_KEEPER_OFF:
        break;
    }
    return BAL_POWER_OFF;
}

/* It is valid until two more have been lost. */
static struct bal_message_power make_power_report(const struct bal_keeper *k) {
    const uint32_t valid = milliseconds(k->config.beat_ns < NEVER / 3 ? 3 * k->config.beat_ns : NEVER);
    return (struct bal_message_power){
        .power = power_of_state(k),
        .failures = k->failures,
        .retry_ms = k->retry_at > k->now ? milliseconds(k->retry_at - k->now) : 0,
        .valid_ms = valid,
    };
}

bool bal_keeper_next_message(struct bal_keeper *k, uint64_t now, struct bal_message *message) {
    bal_keeper_run_timers(k, now);
    if (k->state == BAL_KEEPER_LOOKING)
        return false;
    const struct bal_message_power report_now = make_power_report(k);
    const bool changed = report_now.power != k->reported.power ||
                         report_now.failures != k->reported.failures || !k->reported.valid_ms;
    if (!changed && k->report_at > k->now)
        return false;
    k->reported = report_now;
    k->report_at = add_time(k->now, k->config.beat_ns);
    message->type = BAL_MSG_POWER;
    message->power = report_now;
    return true;
}

/* ---- for people ---- */

const char *bal_keeper_state_name(enum bal_keeper_state state) {
    static const char *const names[] = {"looking", "off",      "starting", "set-up", "on",
                                        "standby", "draining", "stopping", "killing"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "?";
}

const char *bal_order_name(enum bal_order_kind kind) {
    static const char *const names[] = {"LOOK", "START", "READY", "STOP", "KILL"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

const char *bal_app_event_name(enum bal_app_event event) {
    static const char *const names[] = {"GONE", "RUNNING", "READY", "FAILED", "EXITED"};
    return (unsigned)event < sizeof names / sizeof *names ? names[event] : "?";
}
