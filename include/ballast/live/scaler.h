/* SPDX-License-Identifier: BSD-2-Clause */
/* The scaler of replicas of one thing: a deployment, a unit template, an instance group. There are `max`
 * places for replicas, and something else (the hook `scale N`) sees to it that the first N of them run.
 *
 * Each place has a keeper of its own (ballast/live/keeper.h), which says when the app there is wanted and
 * whether it is ready. The scaler carries out LOOK, START, STOP and KILL of all these keepers by one number:
 * that of the highest place that is in use. It runs nothing itself and has no clock; the host passes the time
 * and carries out what it orders: to state that number, by a hook that may be repeated without harm.
 *
 *     bal_scaler_init(&scaler, &config, places, stored_number, now);
 *     for each place: bal_scaler_add(&scaler, &keeper_of_the_place);
 *     for (;;) {
 *         ... an order of the keeper of place i, other than READY: bal_scaler_request(&scaler, now, i, kind);
 *         while (bal_scaler_next_result(&scaler, i, &event))
 *             bal_keeper_event(keeper_of_place[i], now, event, number_of_its_order);
 *         struct bal_scale_order order;
 *         if (bal_scaler_order(&scaler, now, &order))
 *             ... end a hook that still runs, store order.replicas so that it survives, run the hook;
 *                 when it has ended: bal_scaler_event(&scaler, now, order.number, success)
 *         ... wait for an event or the time that bal_scaler_run_timers() returned
 *     }
 *
 * The number is stated again after `restate`, after each START (a hook may have succeeded without effect)
 * and, with a back-off that doubles, after each failure. Only one hook is under way. Nothing is stated until
 * it is known of each place whether it is in use: a scaler that begins stops nothing that it has not looked
 * for. */
#ifndef BALLAST_LIVE_SCALER_H
#define BALLAST_LIVE_SCALER_H

#include "ballast/error.h"
#include "ballast/live/keeper.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What init takes as the stored number where none is stored. */
#define BAL_SCALER_UNKNOWN UINT32_MAX

struct bal_scaler_config {
    uint32_t min, max;         /* replicas; max is at least 1 and at least min */
    uint64_t pause_up_ns;      /* the number is not raised for so long after it has changed; may be 0 */
    uint64_t pause_down_ns;    /* nor lowered; may be 0 */
    uint64_t timeout_ns;       /* the hook may take so long */
    uint64_t back_off_ns;      /* after a hook that failed; then twice as long each time ... */
    uint64_t back_off_most_ns; /* ... but not longer than this */
    uint64_t restate_ns;       /* the number is stated this often even when it has not changed */
};

/* Checks the configuration; the error names the first invalid member. */
enum bal_code bal_scaler_check(const struct bal_scaler_config *config, struct bal_error *err);

/* State the number: see to it that the first `replicas` places run and no others. */
struct bal_scale_order {
    uint32_t replicas;
    uint64_t number; /* greater with each order, from 1 */
};

struct bal_scaler_place {
    const struct bal_keeper *keeper;
    bool asked; /* an order of the keeper waits for its result */
    enum bal_order_kind kind;
    uint64_t after; /* START: number of the last order to state before; a later one must succeed */
    uint32_t looks; /* LOOKs so far */
};

/* For the host to read; only the functions below write. */
struct bal_scaler {
    struct bal_scaler_config config;
    struct bal_scaler_place *place;
    uint32_t places;
    uint32_t stored; /* as an earlier scaler stored it, or BAL_SCALER_UNKNOWN */
    uint64_t now;
    struct bal_scale_order order;  /* the last */
    bool under_way;                /* it has not been answered, and is not late */
    uint64_t until;                /* under way: when it is late */
    uint64_t retry_at;             /* nothing is stated before */
    uint64_t restate_at;           /* and now it is */
    uint64_t changed_at;           /* when the number was last changed; before that 0 */
    bool stated;                   /* the last order succeeded */
    uint32_t failures;             /* orders in a row that failed */
    bool stopping;                 /* the minimum is 0 from now on */
    uint64_t orders, failed, lost; /* counted: orders; those that failed; results that came too late */
};

/* place: storage for config->max places. */
void bal_scaler_init(struct bal_scaler *scaler, const struct bal_scaler_config *config,
                     struct bal_scaler_place *place, uint32_t stored, uint64_t now);
/* The next place, and its keeper, which must live as long as the scaler. */
void bal_scaler_add(struct bal_scaler *scaler, const struct bal_keeper *keeper);
/* Other limits and times; as many places as before. */
void bal_scaler_reconfigure(struct bal_scaler *scaler, const struct bal_scaler_config *config, uint64_t now);
/* No replica is kept for the minimum any longer. */
void bal_scaler_stop(struct bal_scaler *scaler, uint64_t now);

/* The number of replicas that is wanted now: the highest place in use, within the limits. O(places). */
uint32_t bal_scaler_wanted(const struct bal_scaler *scaler);
/* Replicas whose keeper has found them ready. */
uint32_t bal_scaler_ready(const struct bal_scaler *scaler);

/* ---- for the keeper of a place ---- */

/* The keeper of the place has ordered this: LOOK, START, STOP or KILL. */
void bal_scaler_request(struct bal_scaler *scaler, uint64_t now, uint32_t place, enum bal_order_kind kind);
/* What became of it; false: nothing yet. */
bool bal_scaler_next_result(struct bal_scaler *scaler, uint32_t place, enum bal_app_event *event);
/* For LOOK: the host must check whether it is ready, because no number was stored. */
bool bal_scaler_needs_check(const struct bal_scaler *scaler, uint32_t place);

/* May a start (a stop) that was requested of the keeper be passed on to it? */
bool bal_scaler_may_start(const struct bal_scaler *scaler, uint32_t place);
bool bal_scaler_may_stop(const struct bal_scaler *scaler, uint32_t place);
/* Does the place run anyway, because of the minimum or of a higher place? Then it is to be used, too. */
bool bal_scaler_must_start(const struct bal_scaler *scaler, uint32_t place);

/* ---- for the hook ---- */

/* The number that is to be stated now; false: none. An order before it must not be under way any longer. */
bool bal_scaler_order(struct bal_scaler *scaler, uint64_t now, struct bal_scale_order *order);
/* The order with that number has succeeded or failed. Those that are late are counted and ignored. */
void bal_scaler_event(struct bal_scaler *scaler, uint64_t now, uint64_t number, bool success);

/* Time has passed. Returns when it must be called again at the latest. */
uint64_t bal_scaler_run_timers(struct bal_scaler *scaler, uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
