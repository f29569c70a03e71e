/* SPDX-License-Identifier: BSD-2-Clause */
/* One app: carries out what the keeper's core (ballast/live/keeper.h) orders, by a supervised process or by
 * hooks, and reports the result to the core. */
#ifndef KEEPER_APP_H
#define KEEPER_APP_H

#include "app_check.h"
#include "config.h"
#include "replicas.h"
#include "supervisor.h"

#include <limits.h>

/* What a hook is run for. */
enum hook_use { HOOK_START, HOOK_STOP, HOOK_RUNNING, HOOK_READY, HOOK_BUSY };

/* What was requested and has not been passed to the core yet (bounds.h). */
enum desired_state { DESIRED_NONE, DESIRED_ON, DESIRED_OFF };

struct app {
    const struct app_config *config;
    const char *state;  /* the directory */
    const char *groups; /* the control group below which it gets its own; NULL: none */
    struct bal_keeper core;
    struct replicas *replicas; /* of which it is one; they carry out all orders but READY. NULL: none */

    struct bal_order order;
    bool under_way, begun;     /* the order; begun: not only received */
    struct supervisor process; /* of a supervised app */
    struct supervisor hook;
    enum hook_use hook_use;
    uint64_t hook_number;  /* of the order that it is run for; 0: for none */
    uint64_t hook_ends_at; /* of one that is run for no order */
    struct check check;
    uint64_t again_at; /* when to try again what could not be determined; UINT64_MAX: nothing to try */
    unsigned unknown;  /* how often in a row the holder of its lock could not be determined */
    uint64_t watch_at; /* the next check of an app that is on */
    unsigned misses;   /* checks in a row that did not find it */

    enum desired_state desired;
    uint64_t stop_after_ns; /* for DESIRED_OFF: how long it is to stay on */
    uint64_t on_at;         /* when it was last turned on */
    uint64_t woken_at;      /* when a start was last requested */
    bool deferred;          /* held back by a limit, which has been logged */
    bool leaving;           /* it is not in the configuration any longer: forgotten when it is off */
    enum bal_keeper_state logged_state; /* the state that has been logged */
};

void app_init(struct app *app, const struct app_config *config, const char *state, const char *groups,
              uint64_t now);
/* Leaves its process as it is; a hook ends by itself when the keeper does. */
void app_fini(struct app *app);

/* Time has passed, or something happened: continues what can continue. Returns when it must be called again
 * at the latest. */
uint64_t app_pass(struct app *app, uint64_t now);

/* The file descriptor of its check is ready. */
void app_checked(struct app *app, uint64_t now);
/* The process with this pid (a supervisor) has ended. Returns false: it does not belong to this app. */
bool app_reaped(struct app *app, pid_t pid, int status);

bool app_is_on(const struct app *app);
/* Off, with nothing left to do. */
bool app_is_off(const struct app *app);

/* "STATE/NAME.app": the lock of its process; of its hooks; and the mark of an app that hooks have started. */
void app_path(char path[PATH_MAX], const char *state, const char *name, const char *kind);

#endif
