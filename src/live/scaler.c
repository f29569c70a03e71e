/* SPDX-License-Identifier: BSD-2-Clause */
/* The scaler: from what the keepers of the places want to one number, and when that is stated. */
#include "ballast/live/scaler.h"

#include <stddef.h>

#define NEVER UINT64_MAX

static uint64_t add_time(uint64_t now, uint64_t time) {
    return time < NEVER - now ? now + time : NEVER;
}

static uint64_t min_time(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t back_off(const struct bal_scaler_config *config, uint32_t failures) {
    uint64_t time = config->back_off_ns;
    for (uint32_t i = 1; i < failures && time < config->back_off_most_ns; i++)
        time = time > NEVER / 2 ? NEVER : 2 * time;
    return min_time(time, config->back_off_most_ns);
}

enum bal_code bal_scaler_check(const struct bal_scaler_config *config, struct bal_error *err) {
    const struct {
        const char *name;
        uint64_t time;
    } times[] = {{"timeout", config->timeout_ns},
                 {"back-off", config->back_off_ns},
                 {"longest back-off", config->back_off_most_ns},
                 {"restate", config->restate_ns}};
    if (config->max == 0 || config->min > config->max)
        return bal_fail(err, BAL_E_RANGE,
                        "scaler: %u to %u replicas; the maximum must be at least 1 and the minimum",
                        config->min, config->max);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i].time == 0)
            return bal_fail(err, BAL_E_RANGE, "scaler: the time '%s' is 0; it must be more", times[i].name);
    if (config->back_off_most_ns < config->back_off_ns)
        return bal_fail(
            err, BAL_E_RANGE, "scaler: the longest back-off, %llu ns, is shorter than the first, %llu ns",
            (unsigned long long)config->back_off_most_ns, (unsigned long long)config->back_off_ns);
    return BAL_OK;
}

/* ---- the number ---- */

/* Something may be running there that must not be stopped. */
static bool is_in_use(const struct bal_keeper *keeper) {
    switch (keeper->state) {
    case BAL_KEEPER_LOOKING:
    case BAL_KEEPER_STARTING:
    case BAL_KEEPER_SETUP:
    case BAL_KEEPER_ON:
    case BAL_KEEPER_STANDBY:
    case BAL_KEEPER_DRAINING:
        return true;
    case BAL_KEEPER_OFF:
    case BAL_KEEPER_STOPPING:
    case BAL_KEEPER_KILLING:
        break;
    }
    return keeper->wanted;
}

static uint32_t minimum(const struct bal_scaler *s) {
    return s->stopping ? 0 : s->config.min;
}

uint32_t bal_scaler_wanted(const struct bal_scaler *s) {
    for (uint32_t i = s->places; i > minimum(s); i--)
        if (is_in_use(s->place[i - 1].keeper))
            return i;
    return minimum(s);
}

uint32_t bal_scaler_ready(const struct bal_scaler *s) {
    uint32_t ready = 0;
    for (uint32_t i = 0; i < s->places; i++) {
        const enum bal_keeper_state state = s->place[i].keeper->state;
        ready += state == BAL_KEEPER_ON || state == BAL_KEEPER_STANDBY || state == BAL_KEEPER_DRAINING;
    }
    return ready;
}

/* What a keeper has just ordered belongs to the same statement. */
static bool is_undecided(const struct bal_scaler *s) {
    for (uint32_t i = 0; i < s->places; i++)
        if (s->place[i].keeper->state == BAL_KEEPER_LOOKING || s->place[i].keeper->ordered)
            return true;
    return false;
}

/* ---- the beginning and the end ---- */

static void set_time(struct bal_scaler *s, uint64_t now) {
    if (now > s->now)
        s->now = now;
}

void bal_scaler_init(struct bal_scaler *s, const struct bal_scaler_config *config,
                     struct bal_scaler_place *place, uint32_t stored, uint64_t now) {
    *s = (struct bal_scaler){.config = *config, .place = place, .stored = stored, .now = now};
}

void bal_scaler_add(struct bal_scaler *s, const struct bal_keeper *keeper) {
    s->place[s->places++] = (struct bal_scaler_place){.keeper = keeper};
}

void bal_scaler_reconfigure(struct bal_scaler *s, const struct bal_scaler_config *config, uint64_t now) {
    set_time(s, now);
    s->config = *config;
    s->restate_at = min_time(s->restate_at, add_time(s->now, config->restate_ns));
}

void bal_scaler_stop(struct bal_scaler *s, uint64_t now) {
    set_time(s, now);
    s->stopping = true;
}

/* ---- for the keeper of a place ---- */

void bal_scaler_request(struct bal_scaler *s, uint64_t now, uint32_t place, enum bal_order_kind kind) {
    struct bal_scaler_place *p = &s->place[place];
    set_time(s, now);
    p->asked = true;
    p->kind = kind;
    p->after = s->order.number;
    p->looks += kind == BAL_ORDER_LOOK;
}

/* A check that does not end in time found nothing: there may be no machine at the address of a place that is
 * not in use. */
bool bal_scaler_needs_check(const struct bal_scaler *s, uint32_t place) {
    const struct bal_scaler_place *p = &s->place[place];
    return p->asked && p->kind == BAL_ORDER_LOOK && s->stored == BAL_SCALER_UNKNOWN && p->looks == 1;
}

/* A replica that did not come, or died, may need that the number is stated once more. */
static bool is_start_stated(const struct bal_scaler *s, uint32_t place) {
    return s->stated && s->order.number > s->place[place].after && s->order.replicas > place;
}

/* What was stated when the place was not in use any longer is enough, even if that was before the request. */
static bool is_stop_stated(const struct bal_scaler *s, uint32_t place) {
    return place < bal_scaler_wanted(s) || (s->stated && s->order.replicas <= place);
}

bool bal_scaler_next_result(struct bal_scaler *s, uint32_t place, enum bal_app_event *event) {
    struct bal_scaler_place *p = &s->place[place];
    bool there = p->asked;
    switch (p->kind) {
    case BAL_ORDER_LOOK:
        there = there && !bal_scaler_needs_check(s, place);
        *event = s->stored != BAL_SCALER_UNKNOWN && place < s->stored ? BAL_APP_RUNNING : BAL_APP_GONE;
        break;
    case BAL_ORDER_START:
        there = there && is_start_stated(s, place);
        *event = BAL_APP_RUNNING;
        break;
    case BAL_ORDER_STOP: /* one that runs anyway is only not used any longer */
        there = there && is_stop_stated(s, place);
        *event = BAL_APP_GONE;
        break;
    case BAL_ORDER_KILL: /* to state the number until that succeeds is up to the scaler alone */
        *event = BAL_APP_GONE;
        break;
    case BAL_ORDER_READY:
        there = false;
        break;
    }
    p->asked = p->asked && !there;
    return there;
}

bool bal_scaler_may_start(const struct bal_scaler *s, uint32_t place) {
    if (place >= s->config.max) /* the maximum was lowered while it was in use: it stays until it may stop */
        return is_in_use(s->place[place].keeper);
    return place < bal_scaler_wanted(s) || s->changed_at == 0 ||
           s->now >= add_time(s->changed_at, s->config.pause_up_ns);
}

/* A keeper that drains, or has done with it, stops without being asked again. */
static bool is_leaving(const struct bal_keeper *keeper) {
    return !keeper->wanted && (!is_in_use(keeper) || keeper->state == BAL_KEEPER_DRAINING);
}

bool bal_scaler_may_stop(const struct bal_scaler *s, uint32_t place) {
    if (place < minimum(s))
        return false;
    for (uint32_t i = place + 1; i < s->places; i++)
        if (!is_leaving(s->place[i].keeper))
            return false;
    return s->changed_at == 0 || s->now >= add_time(s->changed_at, s->config.pause_down_ns);
}

bool bal_scaler_must_start(const struct bal_scaler *s, uint32_t place) {
    const struct bal_keeper *keeper = s->place[place].keeper;
    if (keeper->wanted || keeper->state == BAL_KEEPER_LOOKING || s->stopping)
        return false;
    for (uint32_t i = place + 1; i < s->places; i++)
        if (s->place[i].keeper->wanted)
            return true;
    return place < s->config.min;
}

/* ---- for the hook ---- */

static bool is_start_waiting(const struct bal_scaler *s) {
    for (uint32_t i = 0; i < s->places; i++) {
        const struct bal_scaler_place *p = &s->place[i];
        if (p->asked && p->kind == BAL_ORDER_START && s->order.number <= p->after)
            return true;
    }
    return false;
}

bool bal_scaler_order(struct bal_scaler *s, uint64_t now, struct bal_scale_order *order) {
    bal_scaler_run_timers(s, now);
    if (s->under_way || s->now < s->retry_at || is_undecided(s))
        return false;
    const uint32_t wanted = bal_scaler_wanted(s);
    const uint32_t before = s->order.number ? s->order.replicas : s->stored;
    if (s->stated && wanted == before && s->now < s->restate_at && !is_start_waiting(s))
        return false;
    if (before != BAL_SCALER_UNKNOWN && wanted != before)
        s->changed_at = s->now;
    s->order = (struct bal_scale_order){wanted, s->order.number + 1};
    s->under_way = true;
    s->stated = false;
    s->until = add_time(s->now, s->config.timeout_ns);
    s->orders++;
    *order = s->order;
    return true;
}

static void fail_order(struct bal_scaler *s) {
    s->under_way = false;
    s->failed++;
    s->failures += s->failures < UINT32_MAX;
    s->retry_at = add_time(s->now, back_off(&s->config, s->failures));
}

void bal_scaler_event(struct bal_scaler *s, uint64_t now, uint64_t number, bool success) {
    bal_scaler_run_timers(s, now);
    if (!s->under_way || number != s->order.number) {
        s->lost++;
        return;
    }
    if (!success) {
        fail_order(s);
        return;
    }
    s->under_way = false;
    s->stated = true;
    s->failures = 0;
    s->restate_at = add_time(s->now, s->config.restate_ns);
}

/* The times at which something that waits may go on. */
static uint64_t next_time(const struct bal_scaler *s) {
    uint64_t next = s->under_way ? s->until : s->stated ? s->restate_at : NEVER;
    const uint64_t times[] = {s->retry_at, add_time(s->changed_at, s->config.pause_up_ns),
                              add_time(s->changed_at, s->config.pause_down_ns)};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (times[i] > s->now)
            next = min_time(next, times[i]);
    return next;
}

uint64_t bal_scaler_run_timers(struct bal_scaler *s, uint64_t now) {
    set_time(s, now);
    if (s->under_way && s->until <= s->now)
        fail_order(s);
    return next_time(s);
}
