/* One app: carries out what the keeper's core (ballast/live/keeper.h) orders, by a supervised process or by
 * hooks, and tells the core what became of it. */
#ifndef KEEPER_APP_H
#define KEEPER_APP_H

#include "check.h"
#include "config.h"
#include "warden.h"

#include <limits.h>

/* What a hook is run for. */
enum hook_use { HOOK_START, HOOK_STOP, HOOK_RUNNING, HOOK_READY, HOOK_BUSY };

/* What was asked for and has not been passed to the core yet (bounds.h). */
enum wish { WISH_NONE, WISH_ON, WISH_REST };

struct app {
    const struct app_config *config;
    const char *state; /* the directory */
    struct bal_keeper core;

    struct bal_order order;
    bool under_way, begun; /* the order; begun: not only received */
    struct warden process; /* of a supervised app */
    struct warden hook;
    enum hook_use hook_use;
    uint64_t hook_number;  /* of the order that it is run for; 0: for none */
    uint64_t hook_ends_at; /* of one that is run for no order */
    struct check check;
    uint64_t again_at; /* what cannot be told yet is tried again; UINT64_MAX: nothing is */
    unsigned unknown;  /* how often in a row it could not be told who has its lock */
    uint64_t watch_at; /* the next look at an app that is on */
    unsigned misses;   /* looks in a row that did not find it */

    enum wish wish;
    uint64_t rest_ns;           /* for WISH_REST: how long it is to stay on */
    uint64_t on_at;             /* when it was last turned on */
    bool held_back;             /* by a limit, which has been logged */
    bool leaving;               /* it is not in the configuration any longer: forgotten when it is off */
    enum bal_keeper_state told; /* the state that has been logged */
};

void app_init(struct app *app, const struct app_config *config, const char *state, uint64_t now);
/* Leaves its process as it is; a hook ends by itself when the keeper does. */
void app_fini(struct app *app);

/* Time has passed, or something happened: goes on with whatever can go on. Returns when it wants to be called
 * again at the latest. */
uint64_t app_pass(struct app *app, uint64_t now);

/* Its check is ready for what it waited for. */
void app_checked(struct app *app, uint64_t now);
/* The process (of the warden that is told apart by its number) has ended. Returns false: it is not of this
 * app. */
bool app_reaped(struct app *app, pid_t pid, int status);

bool app_is_on(const struct app *app);
/* Off, with nothing left to do. */
bool app_is_off(const struct app *app);

/* "STATE/NAME.app": the lock of its process; of its hooks; and the mark of an app that hooks have started. */
void app_path(char path[PATH_MAX], const char *state, const char *name, const char *kind);

#endif
