/* SPDX-License-Identifier: BSD-2-Clause */
/* The keeper of one app: starts it when it is wanted, stops it when it is not.
 *
 * off → set-up → on → standby → off, with a start, a readiness and a stop that take time, fail or hang. The
 * keeper runs nothing itself: it issues orders, the host carries them out (hooks, processes, sockets) and
 * reports the result. It uses no clock and allocates nothing; the caller passes the time, in nanoseconds of a
 * monotonic clock (a step back counts as no time passed).
 *
 *     struct bal_keeper keeper;
 *     bal_keeper_init(&keeper, &config, now);
 *     for (;;) {
 *         struct bal_order order;
 *         if (bal_keeper_order(&keeper, &order))
 *             ... carry it out; end the previous order first if it is still under way
 *         struct bal_message m;
 *         if (bal_keeper_next_message(&keeper, now, &m))
 *             ... send it to the station
 *         ... wait for an event, a message of the station or the time that bal_keeper_run_timers() returned
 *     }
 *
 * There are never two instances: START is ordered only after the host has reported GONE. Whatever is in doubt
 * (a start that failed or hung, an app that has exited by itself) is killed first, and the host must report
 * GONE. A new keeper first finds out what is running (LOOK): so one that was killed and restarted finds its
 * app again. */
#ifndef BALLAST_LIVE_KEEPER_H
#define BALLAST_LIVE_KEEPER_H

#include "ballast/error.h"
#include "ballast/live/wire.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All times are at least 1. */
struct bal_keeper_config {
    uint64_t start_ns;         /* START may take so long */
    uint64_t ready_ns;         /* from then on until it is ready */
    uint64_t check_ns;         /* between two checks */
    uint64_t answer_ns;        /* how long one READY or LOOK may take */
    uint64_t drain_ns;         /* time between the warning to the station and STOP */
    uint64_t stop_ns;          /* STOP may take so long */
    uint64_t kill_ns;          /* KILL is ordered again after so long */
    uint64_t steady_ns;        /* an app that has been on for so long has started well */
    uint64_t back_off_ns;      /* after a start that came to nothing; then twice as long each time ... */
    uint64_t back_off_most_ns; /* ... but not longer than this */
    uint64_t beat_ns;          /* the state is sent this often even when it has not changed */
};

/* Checks the configuration; the error names the first invalid member. */
enum bal_code bal_keeper_check(const struct bal_keeper_config *config, struct bal_error *err);

/* What the host is to do. Only one is under way: a new one replaces the previous one. */
enum bal_order_kind {
    BAL_ORDER_LOOK,  /* is anything there? RUNNING or GONE */
    BAL_ORDER_START, /* run the start hook. RUNNING or FAILED */
    BAL_ORDER_READY, /* is it ready? READY or FAILED */
    BAL_ORDER_STOP,  /* run the stop hook, and wait until nothing is there. GONE or FAILED */
    BAL_ORDER_KILL,  /* end the app and all hooks by force. GONE or FAILED */
};

struct bal_order {
    enum bal_order_kind kind;
    uint64_t number; /* greater with each order, from 1 */
};

enum bal_app_event {
    BAL_APP_GONE,    /* nothing is there: no process of the app, and no hook that could still bring one */
    BAL_APP_RUNNING, /* something is there */
    BAL_APP_READY,   /* it would serve a request */
    BAL_APP_FAILED,  /* the order could not be carried out; for READY: not ready */
    BAL_APP_EXITED,  /* the app has ended by itself */
};

enum bal_keeper_state {
    BAL_KEEPER_LOOKING,
    BAL_KEEPER_OFF,
    BAL_KEEPER_STARTING,
    BAL_KEEPER_SETUP, /* started, and not ready yet */
    BAL_KEEPER_ON,
    BAL_KEEPER_STANDBY,  /* on, and will be stopped unless a start is requested */
    BAL_KEEPER_DRAINING, /* the same, and the station has been warned */
    BAL_KEEPER_STOPPING,
    BAL_KEEPER_KILLING,
};

/* For the host to read; only the functions below write. */
struct bal_keeper {
    struct bal_keeper_config config;
    enum bal_keeper_state state;
    uint64_t now;
    uint64_t until;         /* when the present state is over; UINT64_MAX: never by itself */
    uint64_t next_check;    /* set-up: when the next check is due, or the one under way has taken too long */
    uint64_t steady_at;     /* on: when it has started well */
    bool wanted;            /* a start was requested: it is to be on */
    uint64_t stop_at;       /* not wanted: when it may be stopped; UINT64_MAX: no stop requested */
    uint32_t failures;      /* starts in a row that came to nothing */
    uint64_t retry_at;      /* not to be started before */
    struct bal_order order; /* the last */
    bool ordered;           /* it has not been fetched yet */
    uint64_t awaited;       /* its number while it is under way, else 0 */
    uint64_t instance;      /* number of the order that started or found the app */
    struct bal_message_power reported;
    uint64_t report_at;                    /* when the state must be sent again */
    uint64_t starts, kills, crashes, lost; /* counted: orders; exits while on; events that came too late */
};

/* Its first order is LOOK. */
void bal_keeper_init(struct bal_keeper *keeper, const struct bal_keeper_config *config, uint64_t now);

/* The app is wanted. This holds until a stop is requested: a start that fails is tried again. A second call
 * changes nothing. */
void bal_keeper_request_start(struct bal_keeper *keeper, uint64_t now);

/* The app may be stopped when no start was requested for this long. A second call does not extend the
 * time. */
void bal_keeper_request_stop(struct bal_keeper *keeper, uint64_t now, uint64_t after_ns);

/* START or STOP of the station, received and accepted as wire.h describes; other types are ignored. */
void bal_keeper_receive(struct bal_keeper *keeper, uint64_t now, const struct bal_message *message);

/* The result of the order with that number; EXITED: of the instance that was started or found by that order.
 * Events of orders that are not under way any longer are counted and ignored. */
void bal_keeper_event(struct bal_keeper *keeper, uint64_t now, enum bal_app_event event, uint64_t number);

/* Time has passed. Returns when it must be called again at the latest. O(1). */
uint64_t bal_keeper_run_timers(struct bal_keeper *keeper, uint64_t now);

/* The order that is to be carried out now; false: none that has not been fetched. */
bool bal_keeper_order(struct bal_keeper *keeper, struct bal_order *order);

/* Type and body of the POWER that is to be sent now; false: nothing has changed, and it is not time. A keeper
 * that does not know yet what is running sends nothing. */
bool bal_keeper_next_message(struct bal_keeper *keeper, uint64_t now, struct bal_message *message);

const char *bal_keeper_state_name(enum bal_keeper_state state); /* "set-up" */
const char *bal_order_name(enum bal_order_kind kind);           /* "START" */
const char *bal_app_event_name(enum bal_app_event event);       /* "GONE" */

#ifdef __cplusplus
}
#endif
#endif
