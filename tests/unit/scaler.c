/* SPDX-License-Identifier: BSD-2-Clause */
/* The scaler with the keepers of its places, case by case, and in random storms with a literal model of what
 * it scales: hooks that fail, hang, are killed or succeed without effect, replicas that are slow, die or
 * never come, a keeper that is killed and restarted with its number or without, a disk that is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ballast/live/scaler.h"
#include "ballast/random.h"

#define MS UINT64_C(1000000)
#define NEVER UINT64_MAX
enum { PLACES_MAX = 6 };

static const struct bal_keeper_config keeper_config = {
    .start_ns = 5000 * MS,
    .ready_ns = 8000 * MS,
    .check_ns = 100 * MS,
    .answer_ns = 500 * MS,
    .drain_ns = 50 * MS,
    .stop_ns = 4000 * MS,
    .kill_ns = 1000 * MS,
    .steady_ns = 30000 * MS,
    .back_off_ns = 1000 * MS,
    .back_off_most_ns = 4000 * MS,
    .beat_ns = 1000 * MS,
};

static const struct bal_scaler_config calm = {
    .max = 3,
    .timeout_ns = 2000 * MS,
    .back_off_ns = 500 * MS,
    .back_off_most_ns = 4000 * MS,
    .restate_ns = 60000 * MS,
};

/* ---- a world ---- */

enum outcome { WORKS, FAILS, FAILS_WITH_EFFECT, HANGS, HANGS_WITH_EFFECT, NO_EFFECT, OUTCOMES };

enum desire { NOTHING, ON, OFF };

struct world {
    struct bal_scaler_config config;
    uint32_t places;
    struct bal_scaler s;
    struct bal_scaler_place place[PLACES_MAX];
    struct bal_keeper keeper[PLACES_MAX];
    struct bal_order order[PLACES_MAX]; /* under way; number 0: none */
    uint64_t check_at[PLACES_MAX];      /* when its check ends */
    uint64_t begin_at[PLACES_MAX];      /* when it begins: a check before it may still be ending; 0: it has */
    enum desire desire[PLACES_MAX];
    uint64_t now;
    struct bal_rng rng;

    uint32_t actual;               /* replicas that run */
    uint64_t ready_at[PLACES_MAX]; /* of each */
    uint32_t stored;               /* in the file */
    struct bal_scale_order hook;   /* number 0: none runs */
    uint64_t hook_ends;
    enum outcome outcome, next_outcome;
    bool disk_full;
    uint64_t slowness; /* of hooks, and of replicas until they are ready */
    uint64_t lag;      /* until an order begins */

    bool succeeded; /* the last order, for the check of what is stated twice */
    uint32_t last_replicas;
    uint64_t last_success, failed_at;
    uint32_t failures;
    bool started_since;                                     /* a START since the last order */
    unsigned orders, changes, late, useless, crashes, full; /* counted */
};

static void begin_scaler(struct world *w) {
    bal_scaler_init(&w->s, &w->config, w->place, w->stored, w->now);
    for (uint32_t i = 0; i < w->places; i++) {
        bal_keeper_init(&w->keeper[i], &keeper_config, w->now);
        bal_scaler_add(&w->s, &w->keeper[i]);
        w->order[i].number = 0;
        w->desire[i] = NOTHING;
    }
    w->succeeded = w->started_since = false;
    w->failures = 0;
}

static void init_world(struct world *w, const struct bal_scaler_config *config, uint32_t stored) {
    memset(w, 0, sizeof *w);
    w->config = *config;
    w->places = config->max;
    w->now = 1000000 * MS;
    w->stored = stored;
    w->slowness = 10 * MS;
    bal_rng_init(&w->rng, 7, 1, BAL_STREAM_TEST);
    begin_scaler(w);
}

static bool is_used(const struct bal_keeper *k) {
    return k->state == BAL_KEEPER_SETUP || k->state == BAL_KEEPER_ON || k->state == BAL_KEEPER_STANDBY ||
           k->state == BAL_KEEPER_DRAINING;
}

/* The effect of a hook. What a keeper relies on is never stopped. */
static void scale_to(struct world *w, uint32_t replicas) {
    for (uint32_t i = replicas; i < w->places; i++)
        assert_false(is_used(&w->keeper[i]) && i < w->actual);
    for (uint32_t i = w->actual; i < replicas; i++)
        w->ready_at[i] = w->now + (uint64_t)(bal_rng_exp(&w->rng) * (double)w->slowness);
    w->actual = replicas;
}

static void end_hook(struct world *w, bool killed) {
    const enum outcome outcome = w->outcome;
    const uint64_t number = w->hook.number;
    const bool effect = killed ? outcome == HANGS_WITH_EFFECT || bal_rng_below(&w->rng, 2)
                               : outcome == WORKS || outcome == FAILS_WITH_EFFECT;
    if (effect && outcome != NO_EFFECT)
        scale_to(w, w->hook.replicas);
    w->useless += outcome == NO_EFFECT;
    w->hook.number = 0;
    if (killed)
        return;
    const bool success = outcome == WORKS || outcome == NO_EFFECT;
    bal_scaler_event(&w->s, w->now, number, success);
    w->succeeded = success;
    if (success)
        w->last_success = w->now;
    w->failures = success ? 0 : w->failures + 1;
    w->failed_at = w->now;
}

/* What may be ordered, and when. */
static void check_order(struct world *w, const struct bal_scale_order *order) {
    uint32_t highest = 0;
    for (uint32_t i = 0; i < w->places; i++) {
        assert_int_not_equal(w->keeper[i].state, BAL_KEEPER_LOOKING);
        if (is_used(&w->keeper[i]) || w->keeper[i].wanted || w->keeper[i].state == BAL_KEEPER_STARTING)
            highest = i + 1;
    }
    assert_int_equal(order->replicas, highest > w->config.min ? highest : w->config.min);
    if (w->succeeded && order->replicas == w->last_replicas) /* nothing is stated twice without a reason */
        assert_true(w->started_since || w->now >= w->last_success + w->config.restate_ns);
    if (w->failures) {
        uint64_t pause = w->config.back_off_ns;
        for (uint32_t i = 1; i < w->failures && pause < w->config.back_off_most_ns; i++)
            pause *= 2;
        pause = pause < w->config.back_off_most_ns ? pause : w->config.back_off_most_ns;
        assert_true(w->now >= w->failed_at + pause);
    }
    w->orders++;
    w->changes += w->stored != order->replicas;
}

static bool run_hooks(struct world *w) {
    struct bal_scale_order order;
    const uint64_t late = w->s.under_way ? w->s.until : NEVER;
    bal_scaler_run_timers(&w->s, w->now);
    if (late <= w->now && w->hook.number) {
        w->failures++;
        w->failed_at = w->now;
        w->succeeded = false;
        w->late++;
        end_hook(w, true); /* as the host does with one that takes too long */
    }
    if (w->hook.number && w->hook_ends <= w->now) {
        end_hook(w, false);
        return true;
    }
    if (!bal_scaler_order(&w->s, w->now, &order))
        return false;
    assert_int_equal(w->hook.number, 0);
    check_order(w, &order);
    w->last_replicas = order.replicas;
    w->started_since = w->succeeded = false;
    if (w->disk_full && w->stored != order.replicas) {
        w->full++;
        w->failures++;
        w->failed_at = w->now;
        bal_scaler_event(&w->s, w->now, order.number, false);
        return true;
    }
    w->stored = order.replicas;
    w->hook = order;
    w->outcome = w->next_outcome;
    w->hook_ends = w->outcome == HANGS || w->outcome == HANGS_WITH_EFFECT
                       ? NEVER
                       : w->now + (uint64_t)(bal_rng_exp(&w->rng) * (double)w->slowness);
    return true;
}

static bool runs_at(const struct world *w, uint32_t i) {
    return i < w->actual && w->ready_at[i] <= w->now;
}

static bool run_keeper(struct world *w, uint32_t i) {
    struct bal_keeper *k = &w->keeper[i];
    struct bal_order *order = &w->order[i];
    enum bal_app_event event;
    bal_keeper_run_timers(k, w->now);
    const bool fetched = bal_keeper_order(k, order);
    if (fetched) {
        w->check_at[i] = w->now + 5 * MS;
        w->begin_at[i] = w->now + (bal_rng_below(&w->rng, 3) ? 0 : w->lag);
    }
    if (order->number && w->begin_at[i] && w->begin_at[i] <= w->now) {
        w->begin_at[i] = 0;
        w->started_since = w->started_since || order->kind == BAL_ORDER_START;
        if (order->kind != BAL_ORDER_READY)
            bal_scaler_request(&w->s, w->now, i, order->kind);
    }
    if (order->number == 0 || w->begin_at[i])
        return fetched;
    const uint64_t number = order->number;
    const bool checks = order->kind == BAL_ORDER_READY || bal_scaler_needs_check(&w->s, i);
    if (checks && w->check_at[i] <= w->now) {
        const bool looks = order->kind == BAL_ORDER_LOOK;
        order->number = 0;
        bal_keeper_event(k, w->now,
                         runs_at(w, i) ? looks ? BAL_APP_RUNNING : BAL_APP_READY
                         : looks       ? BAL_APP_GONE
                                       : BAL_APP_FAILED,
                         number);
        return true;
    }
    if (checks || !bal_scaler_next_result(&w->s, i, &event))
        return fetched;
    order->number = 0;
    bal_keeper_event(k, w->now, event, number);
    return true;
}

/* As the keeper passes requests on. */
static void apply_desires(struct world *w) {
    for (uint32_t i = 0; i < w->places; i++)
        if (w->desire[i] == ON && bal_scaler_may_start(&w->s, i)) {
            bal_keeper_request_start(&w->keeper[i], w->now);
            w->desire[i] = NOTHING;
        }
    for (uint32_t i = 0; i < w->places; i++)
        if (w->desire[i] == OFF && bal_scaler_may_stop(&w->s, i)) {
            bal_keeper_request_stop(&w->keeper[i], w->now, 20 * MS);
            w->desire[i] = NOTHING;
        }
    for (uint32_t i = 0; i < w->places; i++)
        if (bal_scaler_must_start(&w->s, i))
            bal_keeper_request_start(&w->keeper[i], w->now);
}

static void settle(struct world *w) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < w->places; i++)
            more = run_keeper(w, i) || more;
        apply_desires(w);
        more = run_hooks(w) || more;
    }
    for (uint32_t i = 1; i < w->places; i++) /* those that are wanted are the first ones */
        if (w->keeper[i].wanted && w->keeper[i - 1].state != BAL_KEEPER_LOOKING)
            assert_true(w->keeper[i - 1].wanted);
}

static void run_for(struct world *w, uint64_t time) {
    const uint64_t end = w->now + time;
    settle(w);
    while (w->now < end) {
        w->now += 5 * MS;
        settle(w);
    }
}

static void expect_steady(struct world *w, uint32_t replicas) {
    assert_int_equal(w->actual, replicas);
    assert_int_equal(w->stored, replicas);
    assert_int_equal(bal_scaler_wanted(&w->s), replicas);
    assert_int_equal(bal_scaler_ready(&w->s), replicas);
    for (uint32_t i = 0; i < w->places; i++)
        assert_string_equal(bal_keeper_state_name(w->keeper[i].state), i < replicas ? "on" : "off");
}

/* ---- case by case ---- */

static void scales_up_and_down(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, BAL_SCALER_UNKNOWN);
    run_for(&w, 1000 * MS);
    expect_steady(&w, 0);
    assert_int_equal(w.orders, 1); /* what it begins with is stated, too */
    w.desire[0] = ON;
    run_for(&w, 1000 * MS);
    expect_steady(&w, 1);
    assert_int_equal(w.orders, 2);
    w.desire[2] = ON; /* and with it the one below */
    run_for(&w, 1000 * MS);
    expect_steady(&w, 3);
    assert_int_equal(w.orders, 3);
    w.desire[0] = OFF; /* waits for those above */
    run_for(&w, 1000 * MS);
    expect_steady(&w, 3);
    w.desire[2] = OFF;
    run_for(&w, 1000 * MS);
    expect_steady(&w, 2);
    w.desire[1] = OFF; /* and the first, which waited */
    run_for(&w, 1000 * MS);
    expect_steady(&w, 0);
    assert_int_equal(w.orders, 6);
    run_for(&w, 600000 * MS);
    assert_int_equal(w.orders, 16); /* once in a minute */
}

static void keeps_to_its_limits(void **state) {
    (void)state;
    struct world w;
    struct bal_scaler_config config = calm;
    config.min = 1;
    config.pause_up_ns = 10000 * MS;
    config.pause_down_ns = 20000 * MS;
    init_world(&w, &config, BAL_SCALER_UNKNOWN);
    run_for(&w, 1000 * MS);
    expect_steady(&w, 1);
    w.desire[0] = OFF;
    run_for(&w, 60000 * MS);
    expect_steady(&w, 1);
    w.desire[1] = ON; /* the number has not changed for long */
    run_for(&w, 1000 * MS);
    expect_steady(&w, 2);
    w.desire[2] = ON;
    run_for(&w, 8500 * MS);
    expect_steady(&w, 2);
    run_for(&w, 2000 * MS);
    expect_steady(&w, 3);
    w.desire[2] = OFF;
    run_for(&w, 18000 * MS);
    expect_steady(&w, 3);
    run_for(&w, 3000 * MS);
    expect_steady(&w, 2);
    config.max = 1; /* what is on stays until it may stop, and does not come again */
    bal_scaler_reconfigure(&w.s, &config, w.now);
    w.config = config;
    run_for(&w, 60000 * MS);
    expect_steady(&w, 2);
    w.desire[1] = OFF;
    run_for(&w, 21000 * MS);
    expect_steady(&w, 1);
    w.desire[1] = ON;
    run_for(&w, 60000 * MS);
    expect_steady(&w, 1);
}

static void hook_that_fails_backs_off(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, 0);
    run_for(&w, 1000 * MS);
    w.next_outcome = FAILS;
    w.desire[1] = ON;
    const unsigned before = w.orders;
    run_for(&w, 4000 * MS); /* at 0, 0.5, 1.5, 3.5 */
    assert_int_equal(w.orders - before, 4);
    assert_int_equal(w.s.failures, 4);
    w.next_outcome = WORKS;
    run_for(&w, 15000 * MS);
    expect_steady(&w, 2);
    assert_int_equal(w.s.failures, 0);
}

static void hook_that_hangs_is_ended(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, 0);
    run_for(&w, 1000 * MS);
    w.next_outcome = HANGS;
    w.desire[0] = ON;
    run_for(&w, 1900 * MS);
    assert_int_equal(w.late, 0);
    run_for(&w, 200 * MS);
    assert_int_equal(w.late, 1);
    assert_int_equal(w.s.failures, 1);
    w.next_outcome = WORKS;
    run_for(&w, 10000 * MS);
    expect_steady(&w, 1);
    bal_scaler_event(&w.s, w.now, 1, false); /* one from long ago */
    assert_int_equal(w.s.lost, 1);
    expect_steady(&w, 1);
}

static void success_without_effect_is_stated_again(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, 0);
    run_for(&w, 1000 * MS);
    w.next_outcome = NO_EFFECT;
    w.desire[0] = ON;
    run_for(&w, 12000 * MS); /* set-up, 8 s in vain, and a second start */
    assert_int_equal(w.actual, 0);
    assert_int_equal(w.useless, 2);
    assert_int_equal(w.keeper[0].failures, 1);
    w.next_outcome = WORKS;
    run_for(&w, 20000 * MS);
    expect_steady(&w, 1);
    w.next_outcome = NO_EFFECT; /* downwards only time helps */
    w.desire[0] = OFF;
    run_for(&w, 1000 * MS);
    assert_int_equal(w.actual, 1);
    w.next_outcome = WORKS;
    run_for(&w, 60000 * MS);
    expect_steady(&w, 0);
}

static void restart_goes_on_with_the_number(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, 0);
    run_for(&w, 1000 * MS);
    w.slowness = 3000 * MS;
    w.desire[2] = ON;
    run_for(&w, 100 * MS); /* under way: nothing is ready */
    w.hook_ends = w.now;
    w.outcome = WORKS;
    run_for(&w, 5 * MS);
    assert_int_equal(w.actual, 3);
    begin_scaler(&w);
    run_for(&w, 30000 * MS);
    expect_steady(&w, 3);
    w.stored = BAL_SCALER_UNKNOWN; /* looked for: nothing that runs is stopped */
    begin_scaler(&w);
    run_for(&w, 10000 * MS);
    expect_steady(&w, 3);
    w.ready_at[0] = w.ready_at[1] = w.now + 3000 * MS;
    w.stored = BAL_SCALER_UNKNOWN;
    begin_scaler(&w);
    run_for(&w, 10000 * MS);
    expect_steady(&w, 3);
}

static void check_that_hangs_finds_nothing(void **state) {
    (void)state;
    struct world w;
    struct bal_order order;
    init_world(&w, &calm, BAL_SCALER_UNKNOWN);
    for (int i = 0; i < 2; i++) { /* no answer */
        assert_true(bal_keeper_order(&w.keeper[1], &order));
        bal_scaler_request(&w.s, w.now, 1, order.kind);
        assert_int_equal(bal_scaler_needs_check(&w.s, 1), i == 0);
        w.now += 500 * MS;
        bal_keeper_run_timers(&w.keeper[1], w.now);
    }
    enum bal_app_event event;
    assert_true(bal_scaler_next_result(&w.s, 1, &event));
    assert_int_equal(event, BAL_APP_GONE);
}

/* The number may have been stated before the order of a keeper begins: that is enough for a stop. */
static void orders_that_begin_late(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, 0);
    w.lag = 30 * MS;
    for (int round = 0; round < 30; round++) {
        w.desire[1] = ON;
        run_for(&w, 1000 * MS);
        expect_steady(&w, 2);
        w.desire[0] = w.desire[1] = OFF;
        run_for(&w, 1000 * MS);
        expect_steady(&w, 0);
    }
    for (uint32_t i = 0; i < w.places; i++)
        assert_int_equal(w.keeper[i].kills, 0);
}

/* One that is wanted again while it is being stopped waits for no hook that stops it. */
static void start_while_stopping(void **state) {
    (void)state;
    struct world w;
    init_world(&w, &calm, 0);
    w.desire[1] = ON;
    run_for(&w, 1000 * MS);
    expect_steady(&w, 2);
    w.next_outcome = HANGS;
    w.desire[1] = OFF;
    run_for(&w, 500 * MS);
    assert_string_equal(bal_keeper_state_name(w.keeper[1].state), "stopping");
    w.next_outcome = WORKS;
    w.desire[1] = ON;
    run_for(&w, 10 * MS);
    assert_string_equal(bal_keeper_state_name(w.keeper[1].state), "starting");
    run_for(&w, 4000 * MS);
    expect_steady(&w, 2);
}

static void stopping_ends_all(void **state) {
    (void)state;
    struct world w;
    struct bal_scaler_config config = calm;
    config.min = 2;
    init_world(&w, &config, BAL_SCALER_UNKNOWN);
    run_for(&w, 1000 * MS);
    expect_steady(&w, 2);
    bal_scaler_stop(&w.s, w.now);
    w.config.min = 0;
    for (uint32_t i = 0; i < w.places; i++)
        bal_keeper_request_stop(&w.keeper[i], w.now, 0);
    run_for(&w, 1000 * MS);
    expect_steady(&w, 0);
}

static void bad_limits_are_refused(void **state) {
    (void)state;
    struct bal_error err;
    assert_int_equal(bal_scaler_check(&calm, &err), BAL_OK);
    const size_t times[] = {offsetof(struct bal_scaler_config, timeout_ns),
                            offsetof(struct bal_scaler_config, back_off_ns),
                            offsetof(struct bal_scaler_config, restate_ns)};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct bal_scaler_config bad = calm;
        memset((char *)&bad + times[i], 0, sizeof(uint64_t));
        assert_int_equal(bal_scaler_check(&bad, &err), BAL_E_RANGE);
    }
    struct bal_scaler_config bad = calm;
    bad.min = 4;
    assert_int_equal(bal_scaler_check(&bad, &err), BAL_E_RANGE);
    bad = calm;
    bad.max = 0;
    assert_int_equal(bal_scaler_check(&bad, &err), BAL_E_RANGE);
    bad = calm;
    bad.back_off_most_ns = 1;
    assert_int_equal(bal_scaler_check(&bad, &err), BAL_E_RANGE);
}

/* ---- storms ---- */

static void crash_replica(struct world *w) {
    const uint32_t i = bal_rng_below(&w->rng, w->places);
    if (!runs_at(w, i))
        return;
    w->ready_at[i] = w->now + (uint64_t)(bal_rng_exp(&w->rng) * (double)w->slowness);
    bal_keeper_event(&w->keeper[i], w->now, BAL_APP_EXITED, w->keeper[i].instance);
    w->crashes++;
}

/* The hook of a keeper that is killed ends with it, with or without effect; of those that it has left behind
 * nothing relies on anything until the next one has looked. */
static void kill_keeper(struct world *w) {
    for (uint32_t i = 0; i < w->places; i++)
        w->keeper[i].state = BAL_KEEPER_LOOKING;
    if (w->hook.number)
        end_hook(w, true);
    if (bal_rng_below(&w->rng, 4) == 0)
        w->stored = BAL_SCALER_UNKNOWN;
    begin_scaler(w);
}

static void disturb(struct world *w) {
    const uint32_t i = bal_rng_below(&w->rng, w->places);
    switch (bal_rng_below(&w->rng, 12)) {
    case 0:
    case 1:
    case 2:
        w->desire[i] = ON;
        break;
    case 3:
    case 4:
    case 5:
        w->desire[i] = OFF;
        break;
    case 6:
        w->next_outcome = (enum outcome)bal_rng_below(&w->rng, OUTCOMES);
        break;
    case 7:
        crash_replica(w);
        break;
    case 8:
        w->disk_full = bal_rng_below(&w->rng, 3) == 0;
        break;
    case 9:
        w->slowness = (uint64_t)(bal_rng_exp(&w->rng) * 500.0) * MS + 1;
        break;
    case 10:
        if (bal_rng_below(&w->rng, 4) == 0)
            kill_keeper(w);
        break;
    default:
        bal_scaler_event(&w->s, w->now, w->s.order.number + bal_rng_below(&w->rng, 2) + 1, true);
        break;
    }
}

static struct bal_scaler_config random_config(struct bal_rng *rng) {
    struct bal_scaler_config config = calm;
    config.max = 1 + bal_rng_below(rng, PLACES_MAX);
    config.min = bal_rng_below(rng, 2) ? 0 : bal_rng_below(rng, config.max + 1);
    config.pause_up_ns = bal_rng_below(rng, 3) * 200 * MS;
    config.pause_down_ns = bal_rng_below(rng, 3) * 500 * MS;
    return config;
}

/* All faults are over: the number that is wanted is that which runs, is stored and is on. */
static void calm_down(struct world *w) {
    const uint32_t wanted = bal_rng_below(&w->rng, w->places + 1);
    w->next_outcome = WORKS;
    w->slowness = 100 * MS;
    w->disk_full = false;
    for (int round = 0; round < 4; round++) { /* as stations repeat it */
        for (uint32_t i = 0; i < w->places; i++)
            w->desire[i] = i < wanted ? ON : OFF;
        run_for(w, 20000 * MS);
    }
    expect_steady(w, wanted > w->config.min ? wanted : w->config.min);
}

static void storms_end_well(void **state) {
    (void)state;
    unsigned orders = 0, changes = 0, late = 0, useless = 0, crashes = 0, full = 0;
    for (uint64_t seed = 0; seed < 1500; seed++) {
        struct world w;
        struct bal_rng rng;
        bal_rng_init(&rng, 11, seed, BAL_STREAM_TEST);
        const struct bal_scaler_config config = random_config(&rng);
        init_world(&w, &config, bal_rng_below(&rng, 2) ? BAL_SCALER_UNKNOWN : 0);
        w.rng = rng;
        w.lag = 10 * MS;
        for (unsigned step = 0; step < 80; step++) {
            disturb(&w);
            run_for(&w, bal_rng_below(&w.rng, 4) ? bal_rng_below(&w.rng, 40) * 5 * MS
                                                 : bal_rng_below(&w.rng, 600) * 5 * MS);
        }
        calm_down(&w);
        orders += w.orders;
        changes += w.changes;
        late += w.late;
        useless += w.useless;
        crashes += w.crashes;
        full += w.full;
    }
    /* The storms were storms. */
    assert_true(orders > 20000 && changes > 10000 && late > 1000 && useless > 1000 && crashes > 1000 &&
                full > 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_up_and_down),
        cmocka_unit_test(keeps_to_its_limits),
        cmocka_unit_test(hook_that_fails_backs_off),
        cmocka_unit_test(hook_that_hangs_is_ended),
        cmocka_unit_test(success_without_effect_is_stated_again),
        cmocka_unit_test(restart_goes_on_with_the_number),
        cmocka_unit_test(check_that_hangs_finds_nothing),
        cmocka_unit_test(orders_that_begin_late),
        cmocka_unit_test(start_while_stopping),
        cmocka_unit_test(stopping_ends_all),
        cmocka_unit_test(bad_limits_are_refused),
        cmocka_unit_test(storms_end_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
