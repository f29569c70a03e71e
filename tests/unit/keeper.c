/* SPDX-License-Identifier: BSD-2-Clause */
/* The keeper, case by case with a host that does what the test says, and in a random storm with a literal
 * model of an app and its hooks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/keeper.h"
#include "ballast/random.h"

#define MS UINT64_C(1000000)
#define NEVER UINT64_MAX

static const struct bal_keeper_config config = {
    .start_ns = 5000 * MS,
    .ready_ns = 20000 * MS,
    .check_ns = 100 * MS,
    .answer_ns = 1000 * MS,
    .drain_ns = 50 * MS,
    .stop_ns = 4000 * MS,
    .kill_ns = 1000 * MS,
    .steady_ns = 30000 * MS,
    .back_off_ns = 1000 * MS,
    .back_off_most_ns = 16000 * MS,
    .beat_ns = 1000 * MS,
};

/* ---- case by case ---- */

struct scene {
    struct bal_keeper k;
    uint64_t now;
};

/* The next order is of this kind, and is under way from now on. */
static uint64_t expect_order(struct scene *s, enum bal_order_kind kind) {
    struct bal_order order;
    assert_true(bal_keeper_order(&s->k, &order));
    assert_int_equal(order.kind, kind);
    assert_false(bal_keeper_order(&s->k, &order));
    return order.number;
}

static void expect_no_order(struct scene *s) {
    struct bal_order order;
    assert_false(bal_keeper_order(&s->k, &order));
}

static void expect_state(const struct scene *s, enum bal_keeper_state state) {
    assert_string_equal(bal_keeper_state_name(s->k.state), bal_keeper_state_name(state));
}

/* What it would say now, whether or not it has said it. */
static struct bal_message_power power(struct scene *s) {
    struct bal_message m;
    s->k.report_at = 0;
    assert_true(bal_keeper_next_message(&s->k, s->now, &m));
    assert_int_equal(m.type, BAL_MSG_POWER);
    m.sender = m.boot = m.sequence = 1;
    m.fleet = 0;
    m.receiver = BAL_EVERYONE;
    assert_null(bal_message_fault(&m));
    return m.power;
}

static void tell(struct scene *s, enum bal_app_event event, uint64_t number) {
    bal_keeper_event(&s->k, s->now, event, number);
}

static void wait_for(struct scene *s, uint64_t time) {
    s->now += time;
    bal_keeper_run_timers(&s->k, s->now);
}

static struct scene begin(void) {
    struct scene s = {.now = 77 * MS};
    bal_keeper_init(&s.k, &config, s.now);
    return s;
}

static struct scene begin_off(void) {
    struct scene s = begin();
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_LOOK));
    expect_state(&s, BAL_KEEPER_OFF);
    expect_no_order(&s);
    return s;
}

/* Awake and started by the order whose number is returned. */
static uint64_t begin_on(struct scene *s) {
    *s = begin_off();
    bal_keeper_request_start(&s->k, s->now);
    const uint64_t instance = expect_order(s, BAL_ORDER_START);
    tell(s, BAL_APP_RUNNING, instance);
    tell(s, BAL_APP_READY, expect_order(s, BAL_ORDER_READY));
    expect_state(s, BAL_KEEPER_ON);
    return instance;
}

static void goes_round(void **state) {
    (void)state;
    struct scene s = begin();
    struct bal_message m;
    assert_false(bal_keeper_next_message(&s.k, s.now, &m)); /* it does not know yet */
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_LOOK));
    assert_int_equal(power(&s).power, BAL_POWER_OFF);
    wait_for(&s, 3600000 * MS);
    expect_no_order(&s);

    bal_keeper_request_start(&s.k, s.now);
    expect_state(&s, BAL_KEEPER_STARTING);
    assert_int_equal(power(&s).power, BAL_POWER_SETUP);
    const uint64_t start = expect_order(&s, BAL_ORDER_START);
    wait_for(&s, 4999 * MS);
    tell(&s, BAL_APP_RUNNING, start);
    expect_state(&s, BAL_KEEPER_SETUP);
    assert_int_equal(power(&s).power, BAL_POWER_SETUP);
    tell(&s, BAL_APP_FAILED, expect_order(&s, BAL_ORDER_READY)); /* not ready yet: asked again */
    expect_no_order(&s);
    wait_for(&s, 100 * MS);
    tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    expect_state(&s, BAL_KEEPER_ON);
    assert_int_equal(power(&s).power, BAL_POWER_ON);
    wait_for(&s, 3600000 * MS);
    expect_state(&s, BAL_KEEPER_ON);

    bal_keeper_request_stop(&s.k, s.now, 10000 * MS);
    expect_state(&s, BAL_KEEPER_STANDBY);
    assert_int_equal(power(&s).power, BAL_POWER_ON);
    wait_for(&s, 9999 * MS);
    expect_state(&s, BAL_KEEPER_STANDBY);
    wait_for(&s, 1 * MS);
    expect_state(&s, BAL_KEEPER_DRAINING);
    assert_int_equal(power(&s).power, BAL_POWER_DRAINING);
    expect_no_order(&s);
    wait_for(&s, 50 * MS);
    expect_state(&s, BAL_KEEPER_STOPPING);
    assert_int_equal(power(&s).power, BAL_POWER_DRAINING);
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_STOP));
    expect_state(&s, BAL_KEEPER_OFF);
    assert_int_equal(power(&s).power, BAL_POWER_OFF);
    expect_no_order(&s);
    assert_int_equal(s.k.starts, 1);
    assert_int_equal(s.k.kills, 0);
}

/* Nothing is started before the failed start is known to be gone, and not before the back-off is over; the
 * wake is not forgotten. */
static void start_that_fails_backs_off(void **state) {
    (void)state;
    struct scene s = begin_off();
    bal_keeper_request_start(&s.k, s.now);
    uint64_t back_off = 1000 * MS;
    for (uint32_t failures = 1; failures <= 8; failures++) {
        const uint64_t start = expect_order(&s, BAL_ORDER_START);
        assert_int_equal(power(&s).power, BAL_POWER_SETUP);
        tell(&s, BAL_APP_FAILED, start);
        expect_state(&s, BAL_KEEPER_KILLING);
        assert_int_equal(power(&s).power, BAL_POWER_OFF); /* so that another server is woken */
        tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_KILL));
        expect_state(&s, BAL_KEEPER_OFF);
        assert_int_equal(power(&s).power, BAL_POWER_OFF);
        assert_int_equal(power(&s).failures, failures);
        assert_int_equal(power(&s).retry_ms, back_off / MS);
        bal_keeper_request_start(&s.k, s.now); /* asking again does not help */
        expect_no_order(&s);
        wait_for(&s, back_off - 1);
        expect_no_order(&s);
        assert_int_equal(power(&s).retry_ms, 1);
        wait_for(&s, 1);
        back_off = back_off < 16000 * MS ? 2 * back_off : back_off;
    }
    tell(&s, BAL_APP_RUNNING, expect_order(&s, BAL_ORDER_START));
    tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    assert_int_equal(power(&s).failures, 8); /* it has not proved itself yet */
    wait_for(&s, 30000 * MS);
    assert_int_equal(power(&s).failures, 0);
}

static void start_that_hangs_is_killed(void **state) {
    (void)state;
    struct scene s = begin_off();
    bal_keeper_request_start(&s.k, s.now);
    const uint64_t start = expect_order(&s, BAL_ORDER_START);
    wait_for(&s, 5000 * MS - 1);
    expect_no_order(&s);
    wait_for(&s, 1);
    const uint64_t ended = expect_order(&s, BAL_ORDER_KILL);
    tell(&s, BAL_APP_RUNNING, start); /* too late */
    expect_state(&s, BAL_KEEPER_KILLING);
    assert_int_equal(s.k.lost, 1);
    tell(&s, BAL_APP_GONE, ended);
    expect_state(&s, BAL_KEEPER_OFF);
    assert_int_equal(s.k.failures, 1);
}

static void ready_that_never_comes_is_a_failed_start(void **state) {
    (void)state;
    struct scene s = begin_off();
    bal_keeper_request_start(&s.k, s.now);
    tell(&s, BAL_APP_RUNNING, expect_order(&s, BAL_ORDER_START));
    const uint64_t set_up = s.now;
    unsigned checks = 0;
    for (;;) {
        struct bal_message m;
        struct bal_order order;
        bal_keeper_next_message(&s.k, s.now, &m);
        if (s.k.state != BAL_KEEPER_SETUP)
            break;
        if (bal_keeper_order(&s.k, &order)) {
            assert_int_equal(order.kind, BAL_ORDER_READY);
            if (checks++ % 2) /* every second one hangs */
                tell(&s, BAL_APP_FAILED, order.number);
        }
        s.now = bal_keeper_run_timers(&s.k, s.now);
    }
    assert_int_equal(s.now - set_up, 20000 * MS);
    assert_in_range(checks, 2 * 20000 / 1100 - 1, 2 * 20000 / 1100 + 1);
    expect_state(&s, BAL_KEEPER_KILLING);
    assert_int_equal(s.k.failures, 1);
}

static void exit_in_set_up_is_a_failed_start(void **state) {
    (void)state;
    struct scene s = begin_off();
    bal_keeper_request_start(&s.k, s.now);
    const uint64_t instance = expect_order(&s, BAL_ORDER_START);
    tell(&s, BAL_APP_RUNNING, instance);
    const uint64_t check = expect_order(&s, BAL_ORDER_READY);
    tell(&s, BAL_APP_EXITED, instance);
    tell(&s, BAL_APP_READY, check); /* an answer from before it exited */
    expect_state(&s, BAL_KEEPER_KILLING);
    assert_int_equal(s.k.failures, 1);
}

static void wake_in_standby_and_draining_keeps_it_on(void **state) {
    (void)state;
    struct scene s;
    begin_on(&s);
    bal_keeper_request_stop(&s.k, s.now, 1000 * MS);
    wait_for(&s, 500 * MS);
    bal_keeper_request_start(&s.k, s.now);
    wait_for(&s, 3600000 * MS);
    expect_state(&s, BAL_KEEPER_ON);
    bal_keeper_request_stop(&s.k, s.now, 0);
    wait_for(&s, 0);
    expect_state(&s, BAL_KEEPER_DRAINING);
    bal_keeper_request_start(&s.k, s.now);
    expect_state(&s, BAL_KEEPER_ON);
    wait_for(&s, 3600000 * MS);
    expect_state(&s, BAL_KEEPER_ON);
    expect_no_order(&s);
}

/* A rest that is said with every heartbeat must not put off what was said first. */
static void rest_said_again_is_not_longer(void **state) {
    (void)state;
    struct scene s;
    begin_on(&s);
    for (int i = 0; i < 10; i++) {
        expect_state(&s, i == 0 ? BAL_KEEPER_ON : BAL_KEEPER_STANDBY);
        bal_keeper_request_stop(&s.k, s.now, 10000 * MS);
        wait_for(&s, 1000 * MS);
    }
    expect_state(&s, BAL_KEEPER_DRAINING);
}

/* Whether the wake that takes a rest back comes in standby or when the app is off. */
static void rest_that_was_taken_back_shortens_no_later_one(void **state) {
    (void)state;
    for (int off = 0; off < 2; off++) {
        struct scene s;
        begin_on(&s);
        bal_keeper_request_stop(&s.k, s.now, 1000 * MS);
        wait_for(&s, 500 * MS);
        if (off) {
            wait_for(&s, 500 * MS);
            wait_for(&s, 50 * MS);
            tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_STOP));
            expect_state(&s, BAL_KEEPER_OFF);
        }
        bal_keeper_request_start(&s.k, s.now);
        if (off) {
            tell(&s, BAL_APP_RUNNING, expect_order(&s, BAL_ORDER_START));
            tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
        }
        bal_keeper_request_stop(&s.k, s.now, 1000 * MS);
        wait_for(&s, 999 * MS);
        expect_state(&s, BAL_KEEPER_STANDBY);
        wait_for(&s, 1 * MS);
        expect_state(&s, BAL_KEEPER_DRAINING);
    }
}

static void wake_while_stopping_starts_again(void **state) {
    (void)state;
    struct scene s;
    begin_on(&s);
    bal_keeper_request_stop(&s.k, s.now, 0);
    wait_for(&s, 0);
    wait_for(&s, 50 * MS);
    const uint64_t stop = expect_order(&s, BAL_ORDER_STOP);
    bal_keeper_request_start(&s.k, s.now);
    expect_no_order(&s); /* not two at once */
    assert_int_equal(power(&s).power, BAL_POWER_SETUP);
    wait_for(&s, 100 * MS);
    tell(&s, BAL_APP_GONE, stop);
    expect_order(&s, BAL_ORDER_START);
    expect_state(&s, BAL_KEEPER_STARTING);
    assert_int_equal(s.k.failures, 0);
}

static void stop_that_hangs_or_fails_is_killed(void **state) {
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct scene s;
        begin_on(&s);
        bal_keeper_request_stop(&s.k, s.now, 0);
        wait_for(&s, 0);
        wait_for(&s, 50 * MS);
        const uint64_t stop = expect_order(&s, BAL_ORDER_STOP);
        if (fails)
            tell(&s, BAL_APP_FAILED, stop);
        else
            wait_for(&s, 4000 * MS);
        expect_state(&s, BAL_KEEPER_KILLING);
        const uint64_t first = expect_order(&s, BAL_ORDER_KILL);
        tell(&s, BAL_APP_FAILED, first);
        expect_no_order(&s);
        wait_for(&s, 1000 * MS); /* and it is not given up */
        const uint64_t second = expect_order(&s, BAL_ORDER_KILL);
        tell(&s, BAL_APP_GONE, first); /* of the first, which the second has ended */
        expect_state(&s, BAL_KEEPER_KILLING);
        tell(&s, BAL_APP_GONE, second);
        expect_state(&s, BAL_KEEPER_OFF);
        assert_int_equal(s.k.failures, 0); /* no start has failed */
        expect_no_order(&s);
    }
}

static void crash_while_on_starts_again(void **state) {
    (void)state;
    struct scene s;
    const uint64_t instance = begin_on(&s);
    wait_for(&s, 30000 * MS);
    tell(&s, BAL_APP_EXITED, instance + 1); /* of another one */
    expect_state(&s, BAL_KEEPER_ON);
    tell(&s, BAL_APP_EXITED, instance);
    assert_int_equal(power(&s).power, BAL_POWER_SETUP);
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_KILL)); /* what it has left behind */
    tell(&s, BAL_APP_RUNNING, expect_order(&s, BAL_ORDER_START));
    tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    tell(&s, BAL_APP_EXITED, instance); /* of the one before */
    expect_state(&s, BAL_KEEPER_ON);
    assert_int_equal(s.k.crashes, 1);
    assert_int_equal(s.k.failures, 0);
}

/* One that is ready and crashes soon after would else be started for ever without a pause. */
static void crash_soon_after_the_start_backs_off(void **state) {
    (void)state;
    struct scene s;
    uint64_t instance = begin_on(&s);
    for (uint32_t failures = 1; failures <= 3; failures++) {
        wait_for(&s, 1000 * MS);
        tell(&s, BAL_APP_EXITED, instance);
        tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_KILL));
        expect_state(&s, BAL_KEEPER_OFF);
        assert_int_equal(power(&s).failures, failures);
        wait_for(&s, 1000 * MS << (failures - 1));
        instance = expect_order(&s, BAL_ORDER_START);
        tell(&s, BAL_APP_RUNNING, instance);
        tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    }
}

static void crash_in_standby_stays_off(void **state) {
    (void)state;
    struct scene s;
    const uint64_t instance = begin_on(&s);
    bal_keeper_request_stop(&s.k, s.now, 60000 * MS);
    wait_for(&s, 40000 * MS);
    tell(&s, BAL_APP_EXITED, instance);
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_KILL));
    expect_state(&s, BAL_KEEPER_OFF);
    wait_for(&s, 3600000 * MS);
    expect_no_order(&s);
}

static void rest_takes_back_an_owed_wake(void **state) {
    (void)state;
    struct scene s = begin_off();
    bal_keeper_request_start(&s.k, s.now);
    tell(&s, BAL_APP_FAILED, expect_order(&s, BAL_ORDER_START));
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_KILL));
    bal_keeper_request_stop(&s.k, s.now, 0);
    wait_for(&s, 3600000 * MS);
    expect_state(&s, BAL_KEEPER_OFF);
    expect_no_order(&s);
}

static void rest_in_set_up_is_remembered(void **state) {
    (void)state;
    struct scene s = begin_off();
    bal_keeper_request_start(&s.k, s.now);
    tell(&s, BAL_APP_RUNNING, expect_order(&s, BAL_ORDER_START));
    bal_keeper_request_stop(&s.k, s.now, 2000 * MS);
    wait_for(&s, 500 * MS);
    tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    expect_state(&s, BAL_KEEPER_STANDBY);
    wait_for(&s, 1500 * MS);
    expect_state(&s, BAL_KEEPER_DRAINING);
}

static void restart_finds_the_app_again(void **state) {
    (void)state;
    struct scene s = begin();
    bal_keeper_request_start(&s.k, s.now); /* not before it is known what is there */
    const uint64_t look = expect_order(&s, BAL_ORDER_LOOK);
    expect_no_order(&s);
    tell(&s, BAL_APP_RUNNING, look);
    tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    expect_state(&s, BAL_KEEPER_ON);
    assert_int_equal(s.k.starts, 0);
    tell(&s, BAL_APP_EXITED, look); /* that one */
    expect_state(&s, BAL_KEEPER_KILLING);
}

static void restart_finds_an_app_that_nobody_wants(void **state) {
    (void)state;
    struct scene s = begin();
    const uint64_t look = expect_order(&s, BAL_ORDER_LOOK);
    bal_keeper_request_stop(&s.k, s.now, 0);
    tell(&s, BAL_APP_RUNNING, look);
    tell(&s, BAL_APP_READY, expect_order(&s, BAL_ORDER_READY));
    wait_for(&s, 0);
    wait_for(&s, 50 * MS);
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_STOP));
    expect_state(&s, BAL_KEEPER_OFF);
}

static void look_that_hangs_is_asked_again(void **state) {
    (void)state;
    struct scene s = begin();
    bal_keeper_request_start(&s.k, s.now);
    const uint64_t first = expect_order(&s, BAL_ORDER_LOOK);
    wait_for(&s, 1000 * MS);
    const uint64_t second = expect_order(&s, BAL_ORDER_LOOK);
    tell(&s, BAL_APP_GONE, first);
    expect_no_order(&s);
    tell(&s, BAL_APP_FAILED, second);
    expect_no_order(&s);
    wait_for(&s, 1000 * MS);
    tell(&s, BAL_APP_GONE, expect_order(&s, BAL_ORDER_LOOK));
    expect_order(&s, BAL_ORDER_START); /* the wake was not forgotten */
}

/* An answer counts once, and only when the host has taken the order. */
static void answers_count_once(void **state) {
    (void)state;
    struct scene s = begin();
    tell(&s, BAL_APP_GONE, 1);
    expect_state(&s, BAL_KEEPER_LOOKING);
    const uint64_t look = expect_order(&s, BAL_ORDER_LOOK);
    tell(&s, BAL_APP_GONE, look);
    bal_keeper_request_start(&s.k, s.now);
    tell(&s, BAL_APP_RUNNING, expect_order(&s, BAL_ORDER_START));
    const uint64_t check = expect_order(&s, BAL_ORDER_READY);
    tell(&s, BAL_APP_FAILED, check);
    tell(&s, BAL_APP_READY, check);
    expect_state(&s, BAL_KEEPER_SETUP);
    assert_int_equal(s.k.lost, 2);
}

static void power_is_told_when_it_changes_and_with_each_beat(void **state) {
    (void)state;
    struct scene s = begin_off();
    struct bal_message m;
    assert_true(bal_keeper_next_message(&s.k, s.now, &m));
    assert_int_equal(m.power.valid_ms, 3000);
    assert_false(bal_keeper_next_message(&s.k, s.now, &m));
    assert_int_equal(bal_keeper_run_timers(&s.k, s.now), s.now + 1000 * MS);
    s.now += 999 * MS;
    assert_false(bal_keeper_next_message(&s.k, s.now, &m));
    s.now += 1 * MS;
    assert_true(bal_keeper_next_message(&s.k, s.now, &m));
    bal_keeper_request_start(&s.k, s.now);
    assert_true(bal_keeper_next_message(&s.k, s.now, &m));
    assert_int_equal(m.power.power, BAL_POWER_SETUP);
    assert_false(bal_keeper_next_message(&s.k, s.now, &m));
}

static void hears_the_station(void **state) {
    (void)state;
    struct scene s = begin_off();
    struct bal_message m = {.type = BAL_MSG_PROBE};
    bal_keeper_receive(&s.k, s.now, &m);
    expect_state(&s, BAL_KEEPER_OFF);
    m.type = BAL_MSG_START;
    bal_keeper_receive(&s.k, s.now, &m);
    expect_state(&s, BAL_KEEPER_STARTING);
    m.type = BAL_MSG_STOP;
    m.stop.after_ms = 5;
    bal_keeper_receive(&s.k, s.now, &m);
    assert_false(s.k.wanted);
    assert_int_equal(s.k.stop_at, s.now + 5 * MS);
}

static void steps_back_are_no_time(void **state) {
    (void)state;
    struct scene s = begin_off();
    s.now -= 50 * MS;
    bal_keeper_request_start(&s.k, s.now);
    expect_order(&s, BAL_ORDER_START);
    assert_int_equal(s.k.until, (77 + 5000) * MS);
    s.now = 0;
    assert_true(bal_keeper_run_timers(&s.k, s.now) <= (77 + 5000) * MS);
    expect_state(&s, BAL_KEEPER_STARTING);
}

static void times_of_zero_are_refused(void **state) {
    (void)state;
    struct bal_error err;
    assert_int_equal(bal_keeper_check(&config, &err), BAL_OK);
    struct bal_keeper_config bad = config;
    bad.stop_ns = 0;
    assert_int_equal(bal_keeper_check(&bad, &err), BAL_E_RANGE);
    assert_string_equal(err.text, "keeper: the time 'stop' is 0; it must be more");
    bad = config;
    bad.back_off_most_ns = 1;
    assert_int_equal(bal_keeper_check(&bad, &err), BAL_E_RANGE);
    assert_string_equal(err.text,
                        "keeper: the longest back-off, 1 ns, is shorter than the first, 1000000000 ns");
}

/* ---- the storm ---- */

enum { HOOKS = 8 };

/* A hook that runs: what it does when its time has come, if it ever does. */
struct hook {
    enum bal_order_kind kind;
    uint64_t number; /* 0: an orphan, whose keeper has died: nobody hears what becomes of it */
    uint64_t done;   /* NEVER: it hangs */
    bool fails;
    bool leaves; /* START that fails: the app is there all the same */
};

/* One machine: the processes of an app, and hooks; more than one of either only if somebody has made a
 * mistake. It outlives keepers. */
struct machine {
    struct bal_rng rng;
    uint64_t now;
    unsigned instances;
    uint64_t watched; /* as the present keeper knows the app: by the order that started or found it; else 0 */
    uint64_t ready_at, exit_at;
    struct hook hooks[HOOKS];
    unsigned hook_count;
    bool calm; /* everything works */
    unsigned starts, orphans, crashes;
};

static bool happens(struct machine *m, double p) {
    return bal_rng_uniform(&m->rng) < p;
}

static uint64_t some_time(struct machine *m, uint64_t mean) {
    return 1 + (uint64_t)(bal_rng_exp(&m->rng) * (double)mean);
}

static void end_app(struct machine *m) {
    m->instances = 0;
    m->exit_at = NEVER;
}

static void bring_app(struct machine *m) {
    assert_int_equal(m->instances, 0); /* never two */
    m->instances = 1;
    m->starts++;
    m->ready_at = m->calm || happens(m, 0.8) ? m->now + some_time(m, 1000 * MS) : NEVER;
    m->exit_at = !m->calm && happens(m, 0.3) ? m->now + some_time(m, 10000 * MS) : NEVER;
}

/* The order is carried out; the one before is ended first, and what it has done stays. */
static void carry_out(struct machine *m, const struct bal_order *order) {
    for (unsigned i = 0; i < m->hook_count;)
        if (m->hooks[i].number)
            m->hooks[i] = m->hooks[--m->hook_count];
        else
            i++;
    if (order->kind == BAL_ORDER_START) {
        assert_int_equal(m->instances, 0);
        assert_int_equal(m->hook_count, 0); /* of orphans that may bring one */
        m->watched = order->number;
    }
    static const uint64_t means[] = {[BAL_ORDER_LOOK] = 10,
                                     [BAL_ORDER_START] = 500,
                                     [BAL_ORDER_READY] = 10,
                                     [BAL_ORDER_STOP] = 500,
                                     [BAL_ORDER_KILL] = 50};
    struct hook hook = {.kind = order->kind, .number = order->number};
    hook.done = m->now + (m->calm ? means[order->kind] * MS : some_time(m, means[order->kind] * MS));
    if (!m->calm) {
        hook.fails = happens(m, 0.2);
        hook.leaves = happens(m, 0.5);
        if (happens(m, 0.15))
            hook.done = NEVER;
    }
    assert_true(m->hook_count < HOOKS);
    m->hooks[m->hook_count++] = hook;
    /* One that hangs may have brought the app before. */
    if (hook.kind == BAL_ORDER_START && hook.done == NEVER && hook.leaves)
        bring_app(m);
}

/* What the hook has done; the answer for the keeper. */
static enum bal_app_event finish(struct machine *m, const struct hook *hook) {
    switch (hook->kind) {
    case BAL_ORDER_LOOK:
        if (hook->fails)
            return BAL_APP_FAILED;
        return m->instances + m->hook_count > 0 ? BAL_APP_RUNNING : BAL_APP_GONE;
    case BAL_ORDER_START:
        if ((!hook->fails || hook->leaves) && m->instances == 0)
            bring_app(m);
        return hook->fails ? BAL_APP_FAILED : BAL_APP_RUNNING;
    case BAL_ORDER_READY:
        return !hook->fails && m->instances && m->ready_at <= m->now ? BAL_APP_READY : BAL_APP_FAILED;
    case BAL_ORDER_STOP:
        if (hook->fails)
            return BAL_APP_FAILED;
        break;
    case BAL_ORDER_KILL:
        if (hook->fails)
            return BAL_APP_FAILED;
        m->hook_count = 0; /* the orphans too */
        break;
    }
    end_app(m);
    return m->hook_count > 0 ? BAL_APP_FAILED : BAL_APP_GONE;
}

static uint64_t next_event(const struct machine *m) {
    uint64_t next = m->instances ? m->exit_at : NEVER;
    for (unsigned i = 0; i < m->hook_count; i++)
        next = m->hooks[i].done < next ? m->hooks[i].done : next;
    return next;
}

static void tell_exit(const struct machine *m, struct bal_keeper *k) {
    if (m->watched)
        bal_keeper_event(k, m->now, BAL_APP_EXITED, m->watched);
}

/* The i-th hook has come to its end. */
static void end_hook(struct machine *m, struct bal_keeper *k, unsigned i) {
    const struct hook hook = m->hooks[i];
    m->hooks[i] = m->hooks[--m->hook_count];
    const unsigned before = m->instances;
    const enum bal_app_event answer = finish(m, &hook);
    if (hook.kind == BAL_ORDER_LOOK && answer == BAL_APP_RUNNING)
        m->watched = hook.number;
    if (hook.number)
        bal_keeper_event(k, m->now, answer, hook.number);
    else if (before > m->instances)
        tell_exit(m, k); /* an orphan has stopped it */
}

/* What happens on the machine at its present time; the keeper is told. */
static void happen(struct machine *m, struct bal_keeper *k) {
    if (m->instances && m->exit_at <= m->now) {
        end_app(m);
        m->crashes++;
        tell_exit(m, k);
    }
    for (unsigned i = 0; i < m->hook_count; i++)
        if (m->hooks[i].done <= m->now) {
            end_hook(m, k, i);
            return; /* the others are looked at again */
        }
}

static void check_says(const struct bal_keeper *k, const struct bal_message *said) {
    const bool on = k->state == BAL_KEEPER_ON || k->state == BAL_KEEPER_STANDBY;
    assert_int_equal(said->power.power == BAL_POWER_ON, on);
    if (k->state == BAL_KEEPER_OFF && k->wanted)
        assert_true(said->power.retry_ms > 0);
}

/* A wake is never owed for ever: off only while the back-off is not over. */
static void check_owed(const struct bal_keeper *k) {
    if (k->state == BAL_KEEPER_OFF && k->wanted) {
        assert_true(k->retry_at > k->now);
        assert_true(k->retry_at <= k->now + config.back_off_most_ns);
    }
    if (k->state == BAL_KEEPER_OFF)
        assert_false(k->ordered);
}

/* Runs machine and keeper up to the time `end`. */
static void run_until(struct machine *m, struct bal_keeper *k, uint64_t end) {
    for (;;) {
        struct bal_order order;
        while (bal_keeper_order(k, &order))
            carry_out(m, &order);
        struct bal_message said;
        if (bal_keeper_next_message(k, m->now, &said))
            check_says(k, &said);
        check_owed(k);
        const uint64_t timer = bal_keeper_run_timers(k, m->now), event = next_event(m);
        if (k->ordered)
            continue;
        uint64_t next = timer < event ? timer : event;
        if (next > end)
            break;
        m->now = next > m->now ? next : m->now;
        happen(m, k);
        bal_keeper_run_timers(k, m->now);
    }
    m->now = end;
}

/* The keeper is killed: its hooks live on as orphans, and nobody hears of them. */
static void restart(struct machine *m, struct bal_keeper *k) {
    for (unsigned i = 0; i < m->hook_count;) {
        if (m->hooks[i].kind == BAL_ORDER_LOOK || m->hooks[i].kind == BAL_ORDER_READY) {
            m->hooks[i] = m->hooks[--m->hook_count]; /* they do nothing */
            continue;
        }
        m->orphans += m->hooks[i].number > 0;
        m->hooks[i++].number = 0;
    }
    m->watched = 0;
    bal_keeper_init(k, &config, m->now);
}

static void storm(struct machine *m, struct bal_keeper *k) {
    const unsigned steps = 20 + bal_rng_below(&m->rng, 60);
    for (unsigned step = 0; step < steps; step++) {
        switch (bal_rng_below(&m->rng, 8)) {
        case 0:
        case 1:
        case 2:
            bal_keeper_request_start(k, m->now);
            break;
        case 3:
        case 4:
            bal_keeper_request_stop(k, m->now, happens(m, 0.5) ? 0 : some_time(m, 3000 * MS));
            break;
        case 5:
            if (happens(m, 0.3))
                restart(m, k);
            break;
        case 6: /* nonsense */
            bal_keeper_event(k, m->now, (enum bal_app_event)bal_rng_below(&m->rng, 5), 1000000);
            bal_keeper_run_timers(k, m->now / 2);
            break;
        default:
            break;
        }
        run_until(m, k, m->now + some_time(m, happens(m, 0.2) ? 20000 * MS : 700 * MS));
    }
}

/* From whatever the storm has left: what hangs, hangs on, and what is begun from now on works. */
static uint64_t calm_bound(void) {
    return config.answer_ns + config.start_ns + config.ready_ns + config.drain_ns + config.stop_ns +
           2 * config.kill_ns + config.back_off_most_ns + config.start_ns + config.ready_ns;
}

static void storms_end_well(void **state) {
    (void)state;
    unsigned starts = 0, orphans = 0, crashes = 0, kills = 0, lost = 0;
    for (unsigned seed = 0; seed < 3000; seed++) {
        struct machine m = {.now = 1000 * MS, .exit_at = NEVER};
        struct bal_keeper k;
        bal_rng_init(&m.rng, 7, seed, BAL_STREAM_TEST);
        bal_keeper_init(&k, &config, m.now);
        storm(&m, &k);

        m.calm = true;
        m.exit_at = NEVER;
        bal_keeper_request_start(&k, m.now);
        run_until(&m, &k, m.now + calm_bound());
        assert_string_equal(bal_keeper_state_name(k.state), "on");
        assert_int_equal(m.instances, 1);
        assert_int_equal(k.failures, 0);
        const unsigned before = m.starts;
        run_until(&m, &k, m.now + 3600000 * MS);
        assert_int_equal(m.starts, before); /* and on it stays */

        bal_keeper_request_stop(&k, m.now, 0);
        run_until(&m, &k, m.now + config.drain_ns + config.stop_ns + config.kill_ns);
        assert_string_equal(bal_keeper_state_name(k.state), "off");
        assert_int_equal(m.instances + m.hook_count, 0); /* and nothing is orphaned */
        starts += m.starts;
        orphans += m.orphans;
        crashes += m.crashes;
        kills += (unsigned)k.kills;
        lost += (unsigned)k.lost;
    }
    /* The storms were storms. */
    assert_true(starts > 10000 && orphans > 500 && crashes > 1000 && kills > 1000 && lost > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_round),
        cmocka_unit_test(start_that_fails_backs_off),
        cmocka_unit_test(start_that_hangs_is_killed),
        cmocka_unit_test(ready_that_never_comes_is_a_failed_start),
        cmocka_unit_test(exit_in_set_up_is_a_failed_start),
        cmocka_unit_test(wake_in_standby_and_draining_keeps_it_on),
        cmocka_unit_test(rest_said_again_is_not_longer),
        cmocka_unit_test(rest_that_was_taken_back_shortens_no_later_one),
        cmocka_unit_test(wake_while_stopping_starts_again),
        cmocka_unit_test(stop_that_hangs_or_fails_is_killed),
        cmocka_unit_test(crash_while_on_starts_again),
        cmocka_unit_test(crash_soon_after_the_start_backs_off),
        cmocka_unit_test(crash_in_standby_stays_off),
        cmocka_unit_test(rest_takes_back_an_owed_wake),
        cmocka_unit_test(rest_in_set_up_is_remembered),
        cmocka_unit_test(restart_finds_the_app_again),
        cmocka_unit_test(restart_finds_an_app_that_nobody_wants),
        cmocka_unit_test(look_that_hangs_is_asked_again),
        cmocka_unit_test(answers_count_once),
        cmocka_unit_test(power_is_told_when_it_changes_and_with_each_beat),
        cmocka_unit_test(hears_the_station),
        cmocka_unit_test(steps_back_are_no_time),
        cmocka_unit_test(times_of_zero_are_refused),
        cmocka_unit_test(storms_end_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
