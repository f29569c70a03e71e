#include "ballast/live/keeper.h"

#include <stddef.h>

#define NEVER UINT64_MAX

static const uint64_t millisecond = 1000000;

/* ---- numbers ---- */

static uint64_t after(uint64_t now, uint64_t time) {
    return time < NEVER - now ? now + time : NEVER;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Rounded up, so that nobody comes too early. */
static uint32_t milliseconds(uint64_t time) {
    const uint64_t ms = time / millisecond + (time % millisecond > 0);
    return ms < BAL_VALID_MAX ? (uint32_t)ms : BAL_VALID_MAX;
}

static uint64_t back_off(const struct bal_keeper_config *config, uint32_t failures) {
    uint64_t time = config->back_off_ns;
    for (uint32_t i = 1; i < failures && time < config->back_off_most_ns; i++)
        time = time > NEVER / 2 ? NEVER : 2 * time;
    return earlier(time, config->back_off_most_ns);
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

static void command(struct bal_keeper *k, enum bal_order_kind kind) {
    k->order = (struct bal_order){kind, k->order.number + 1};
    k->awaited = k->order.number;
    k->ordered = true;
    k->starts += kind == BAL_ORDER_START;
    k->kills += kind == BAL_ORDER_KILL;
}

static void enter(struct bal_keeper *k, enum bal_keeper_state state, uint64_t time) {
    k->state = state;
    k->until = after(k->now, time);
}

static void look(struct bal_keeper *k) {
    enter(k, BAL_KEEPER_LOOKING, k->config.answer_ns);
    command(k, BAL_ORDER_LOOK);
}

static void start(struct bal_keeper *k) {
    enter(k, BAL_KEEPER_STARTING, k->config.start_ns);
    command(k, BAL_ORDER_START);
    k->instance = k->order.number;
}

static void check(struct bal_keeper *k) {
    command(k, BAL_ORDER_READY);
    k->next_check = after(k->now, k->config.answer_ns);
}

static void set_up(struct bal_keeper *k) {
    enter(k, BAL_KEEPER_SETUP, k->config.ready_ns);
    check(k);
}

static void end_by_force(struct bal_keeper *k) {
    enter(k, BAL_KEEPER_KILLING, k->config.kill_ns);
    command(k, BAL_ORDER_KILL);
}

/* A start has come to nothing, and what is left of it must go. */
static void fail(struct bal_keeper *k) {
    k->failures += k->failures < UINT32_MAX;
    k->retry_at = after(k->now, back_off(&k->config, k->failures));
    end_by_force(k);
}

/* Nothing is there. */
static void off(struct bal_keeper *k) {
    k->instance = 0;
    if (k->wanted && k->retry_at <= k->now) {
        start(k);
        return;
    }
    k->state = BAL_KEEPER_OFF;
    k->until = k->wanted ? k->retry_at : NEVER;
}

/* It is on; whether it stays so is a matter of what the station has said. */
static void on_or_standby(struct bal_keeper *k) {
    k->state = k->wanted || k->rest_at == NEVER ? BAL_KEEPER_ON : BAL_KEEPER_STANDBY;
    k->until = k->state == BAL_KEEPER_ON ? NEVER : k->rest_at;
}

static bool is_on(const struct bal_keeper *k) {
    return k->state == BAL_KEEPER_ON || k->state == BAL_KEEPER_STANDBY || k->state == BAL_KEEPER_DRAINING;
}

static void turn_on(struct bal_keeper *k) {
    k->steady_at = after(k->now, k->config.steady_ns);
    on_or_standby(k);
}

/* An app that had started well may begin again at once; one that had not is one more failed start. */
static void crash(struct bal_keeper *k) {
    k->crashes++;
    if (k->steady_at <= k->now)
        end_by_force(k);
    else
        fail(k);
}

/* ---- what the station says ---- */

static void set_time(struct bal_keeper *k, uint64_t now) {
    if (now > k->now)
        k->now = now;
}

void bal_keeper_init(struct bal_keeper *k, const struct bal_keeper_config *config, uint64_t now) {
    *k = (struct bal_keeper){.config = *config, .now = now, .rest_at = NEVER};
    look(k);
}

void bal_keeper_wake(struct bal_keeper *k, uint64_t now) {
    bal_keeper_pass(k, now);
    k->wanted = true;
    k->rest_at = NEVER;
    if (is_on(k))
        on_or_standby(k);
    else if (k->state == BAL_KEEPER_OFF)
        off(k);
}

void bal_keeper_rest(struct bal_keeper *k, uint64_t now, uint64_t after_ns) {
    bal_keeper_pass(k, now);
    k->wanted = false;
    k->rest_at = earlier(k->rest_at, after(k->now, after_ns));
    if (k->state == BAL_KEEPER_ON || k->state == BAL_KEEPER_STANDBY)
        on_or_standby(k);
    else if (k->state == BAL_KEEPER_OFF)
        off(k);
}

void bal_keeper_hear(struct bal_keeper *k, uint64_t now, const struct bal_message *message) {
    if (message->type == BAL_MSG_WAKE)
        bal_keeper_wake(k, now);
    else if (message->type == BAL_MSG_REST)
        bal_keeper_rest(k, now, message->rest.after_ms * millisecond);
}

/* ---- what becomes of orders ---- */

static void looked(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_GONE) {
        off(k);
    } else if (event == BAL_APP_RUNNING) {
        k->instance = k->order.number;
        k->wanted = k->wanted || k->rest_at == NEVER; /* it was on for a reason; the station may know better
                                                       */
        set_up(k);
    }
    /* else it is asked again when its time is over */
}

static void started(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_RUNNING)
        set_up(k);
    else if (event == BAL_APP_FAILED || event == BAL_APP_GONE)
        fail(k);
}

static void checked(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_READY)
        turn_on(k);
    else
        k->next_check = after(k->now, k->config.check_ns);
}

static void ended(struct bal_keeper *k, enum bal_app_event event) {
    if (event == BAL_APP_GONE)
        off(k);
    else if (event == BAL_APP_FAILED && k->state == BAL_KEEPER_STOPPING)
        end_by_force(k);
    /* a KILL that failed is ordered again when its time is over */
}

/* While orders to stop or kill are under way, GONE is what counts. */
static void exited(struct bal_keeper *k) {
    if (k->state == BAL_KEEPER_STARTING || k->state == BAL_KEEPER_SETUP)
        fail(k);
    else if (is_on(k))
        crash(k);
}

static void answer(struct bal_keeper *k, enum bal_app_event event) {
    k->awaited = 0;
    switch (k->order.kind) {
    case BAL_ORDER_LOOK:
        looked(k, event);
        break;
    case BAL_ORDER_START:
        started(k, event);
        break;
    case BAL_ORDER_READY:
        checked(k, event);
        break;
    case BAL_ORDER_STOP:
    case BAL_ORDER_KILL:
        ended(k, event);
        break;
    }
}

void bal_keeper_event(struct bal_keeper *k, uint64_t now, enum bal_app_event event, uint64_t number) {
    bal_keeper_pass(k, now);
    if (event == BAL_APP_EXITED && number == k->instance && k->instance)
        exited(k);
    else if (event != BAL_APP_EXITED && number && number == k->awaited && !k->ordered)
        answer(k, event);
    else
        k->lost++;
}

/* ---- time ---- */

/* The time of the present state is over. */
static void expire(struct bal_keeper *k) {
    switch (k->state) {
    case BAL_KEEPER_LOOKING:
        look(k);
        break;
    case BAL_KEEPER_OFF:
        off(k);
        break;
    case BAL_KEEPER_STARTING:
    case BAL_KEEPER_SETUP:
        fail(k);
        break;
    case BAL_KEEPER_STANDBY:
        enter(k, BAL_KEEPER_DRAINING, k->config.drain_ns);
        break;
    case BAL_KEEPER_DRAINING:
        enter(k, BAL_KEEPER_STOPPING, k->config.stop_ns);
        command(k, BAL_ORDER_STOP);
        break;
    case BAL_KEEPER_STOPPING:
    case BAL_KEEPER_KILLING:
        end_by_force(k);
        break;
    case BAL_KEEPER_ON:
        break;
    }
}

uint64_t bal_keeper_pass(struct bal_keeper *k, uint64_t now) {
    set_time(k, now);
    if (is_on(k) && k->steady_at <= k->now)
        k->failures = 0;
    if (k->until <= k->now)
        expire(k);
    if (k->state == BAL_KEEPER_SETUP && k->next_check <= k->now)
        check(k);
    if (k->state == BAL_KEEPER_LOOKING)
        return k->until;
    const uint64_t next = earlier(k->until, k->say_at);
    return k->state == BAL_KEEPER_SETUP ? earlier(next, k->next_check) : next;
}

bool bal_keeper_order(struct bal_keeper *k, struct bal_order *order) {
    if (!k->ordered)
        return false;
    k->ordered = false;
    *order = k->order;
    return true;
}

/* ---- what is told ---- */

/* An app that is being stopped and is wanted again will be started as soon as it is gone. */
static enum bal_power_state power_of(const struct bal_keeper *k) {
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

/* It holds until two more have been lost. */
static struct bal_message_power report(const struct bal_keeper *k) {
    const uint32_t valid = milliseconds(k->config.beat_ns < NEVER / 3 ? 3 * k->config.beat_ns : NEVER);
    return (struct bal_message_power){
        .power = power_of(k),
        .failures = k->failures,
        .retry_ms = k->retry_at > k->now ? milliseconds(k->retry_at - k->now) : 0,
        .valid_ms = valid,
    };
}

bool bal_keeper_says(struct bal_keeper *k, uint64_t now, struct bal_message *message) {
    bal_keeper_pass(k, now);
    if (k->state == BAL_KEEPER_LOOKING)
        return false;
    const struct bal_message_power report_now = report(k);
    const bool changed =
        report_now.power != k->said.power || report_now.failures != k->said.failures || !k->said.valid_ms;
    if (!changed && k->say_at > k->now)
        return false;
    k->said = report_now;
    k->say_at = after(k->now, k->config.beat_ns);
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
