/* SPDX-License-Identifier: BSD-2-Clause */
/* Carries out the orders of one app's core: processes, hooks, checks. */
#include "app.h"

#include "event_log.h"
#include "orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEVER UINT64_MAX
static const uint64_t millisecond = 1000000;

enum { MISSES_MAX = 3, UNKNOWN_MAX = 500, ORPHANS_MAX = 20 };

/* ---- names ---- */

void app_path(char path[PATH_MAX], const char *state, const char *name, const char *kind) {
    snprintf(path, PATH_MAX, "%s/%s.%s", state, name, kind);
}

static bool is_supervised(const struct app *app) {
    return app->config->run.argv;
}

static const char *hook_name(enum hook_use use) {
    static const char *const names[] = {"start", "stop", "running", "ready", "busy"};
    return names[use];
}

static const struct command *hook_command(const struct app *app, enum hook_use use) {
    const struct app_config *c = app->config;
    const struct command *const commands[] = {&c->start, &c->stop, &c->running, &c->ready.command, &c->busy};
    return commands[use];
}

/* ---- the mark of an app that hooks have started ---- */

static bool is_marked(const struct app *app) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "mark");
    return access(path, F_OK) == 0;
}

static bool set_mark(const struct app *app) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "mark");
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void remove_mark(const struct app *app) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "mark");
    unlink(path);
}

/* ---- answers ---- */

static void report_event(struct app *app, uint64_t now, enum bal_app_event event) {
    app->under_way = false;
    app->again_at = NEVER;
    bal_keeper_event(&app->core, now, event, app->order.number);
}

static void report_gone(struct app *app, uint64_t now) {
    if (!is_supervised(app))
        remove_mark(app);
    report_event(app, now, BAL_APP_GONE);
}

static void try_again(struct app *app, uint64_t now, uint64_t after) {
    app->again_at = now + after;
    app->begun = false;
}

/* ---- hooks ---- */

static bool start_hook(struct app *app, uint64_t now, enum hook_use use, uint64_t number) {
    char lock[PATH_MAX], quoted[LOG_QUOTED];
    app_path(lock, app->state, app->config->name, "hook");
    const struct supervisor_task task = {.app = app->config,
                                         .what = hook_name(use),
                                         .argv = hook_command(app, use)->argv,
                                         .lock = lock,
                                         .state = app->state,
                                         .bound = true,
                                         .leaves = use == HOOK_START || use == HOOK_STOP};
    const int error = supervisor_begin(&app->hook, &task);
    if (error) {
        log_event(LOG_ERROR, app->config->name, "hook-failed", "hook=%s error=%s", hook_name(use),
                  log_quote(strerror(error), quoted));
        return false;
    }
    app->hook_use = use;
    app->hook_number = number;
    app->hook_ends_at = number ? NEVER : now + app->config->times.answer_ns;
    return true;
}

static void run_hook_for_order(struct app *app, uint64_t now, enum hook_use use) {
    if (!start_hook(app, now, use, app->order.number))
        report_event(app, now, BAL_APP_FAILED);
}

/* ---- checks ---- */

/* Checks whether the app is ready, for an order (number) or to watch one that is on (0). */
static void begin_ready_check(struct app *app, uint64_t now, uint64_t number) {
    app->hook_number = number;
    app->hook_ends_at = number ? NEVER : now + app->config->times.answer_ns;
    if (app->config->ready.kind != CHECK_COMMAND)
        check_begin(&app->check, &app->config->ready);
    else if (!start_hook(app, now, HOOK_READY, number) && number)
        report_event(app, now, BAL_APP_FAILED);
}

/* ---- orders ---- */

/* Kills processes that have lost their supervisor. Returns true if there were any: call it again. */
static bool kill_orphans(const struct app *app) {
    size_t killed;
    const bool there = orphans_end(app->config, app->state, &killed);
    if (killed)
        log_event(LOG_WARNING, app->config->name, "orphans", "killed=%zu", killed);
    return there;
}

static void kill_all_orphans(const struct app *app) {
    for (int i = 0; i < ORPHANS_MAX && kill_orphans(app); i++)
        nanosleep(&(struct timespec){.tv_nsec = (long)millisecond}, NULL);
}

/* Its lock is free. What has lost its supervisor is ended first; what holds the other lock and cannot be
 * found keeps the app from being started, until it ends. */
static void detect_orphans(struct app *app, uint64_t now) {
    if (kill_orphans(app) && ++app->unknown <= ORPHANS_MAX) {
        try_again(app, now, 10 * millisecond);
        return;
    }
    if (app->unknown > ORPHANS_MAX)
        log_event(LOG_ERROR, app->config->name, "orphan-not-found", "%s", "");
    else
        orphans_forget(app->config, app->state);
    app->unknown = 0;
    report_event(app, now, BAL_APP_GONE);
}

/* The lock is held, and the record does not name the holder: it will soon, or it is damaged. Then the
 * processes of the app are ended, and with them their supervisor. */
static void wait_for_record(struct app *app, uint64_t now) {
    if (++app->unknown > UNKNOWN_MAX) {
        kill_orphans(app);
        app->unknown = 0;
    }
    try_again(app, now, millisecond);
}

static void detect_process(struct app *app, uint64_t now) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "app");
    switch (app->process.pid ? SUPERVISOR_FOUND : supervisor_find(&app->process, path)) {
    case SUPERVISOR_NONE:
        detect_orphans(app, now);
        return;
    case SUPERVISOR_UNKNOWN:
        wait_for_record(app, now);
        return;
    case SUPERVISOR_FOUND:
        break;
    }
    app->unknown = 0;
    log_event(LOG_INFO, app->config->name, "found", "warden=%d", (int)app->process.pid);
    report_event(app, now, BAL_APP_RUNNING);
}

/* A hook of a keeper that was killed may still be about to end. */
static bool is_old_hook_there(struct app *app) {
    char path[PATH_MAX];
    struct supervisor old = {0};
    app_path(path, app->state, app->config->name, "hook");
    const enum supervisor_find found = supervisor_find(&old, path);
    if (found == SUPERVISOR_FOUND)
        supervisor_kill(&old);
    supervisor_release(&old);
    return found != SUPERVISOR_NONE;
}

static void detect_app(struct app *app, uint64_t now) {
    if (is_old_hook_there(app))
        try_again(app, now, millisecond);
    else if (is_supervised(app))
        detect_process(app, now);
    else if (app->config->running.argv)
        run_hook_for_order(app, now, HOOK_RUNNING);
    else
        begin_ready_check(app, now, app->order.number);
}

/* Returns 0, or an errno. */
static int begin_process(struct app *app) {
    char lock[PATH_MAX], group[PATH_MAX];
    app_path(lock, app->state, app->config->name, "app");
    if (!orphans_prepare(app->config, app->state, app->groups, group))
        return errno;
    const struct supervisor_task task = {.app = app->config,
                                         .what = "run",
                                         .argv = app->config->run.argv,
                                         .lock = lock,
                                         .state = app->state,
                                         .group = group};
    return supervisor_begin(&app->process, &task);
}

static void start_process(struct app *app, uint64_t now) {
    char quoted[LOG_QUOTED];
    const int error = begin_process(app);
    if (error)
        log_event(LOG_ERROR, app->config->name, "start-failed", "error=%s",
                  log_quote(error == EWOULDBLOCK ? "an instance is there already" : strerror(error), quoted));
    report_event(app, now, error ? BAL_APP_FAILED : BAL_APP_RUNNING);
}

static void start_app(struct app *app, uint64_t now) {
    if (is_supervised(app)) {
        start_process(app, now);
        return;
    }
    if (set_mark(app)) {
        run_hook_for_order(app, now, HOOK_START);
        return;
    }
    char quoted[LOG_QUOTED];
    log_event(LOG_ERROR, app->config->name, "start-failed", "what=mark error=%s",
              log_quote(strerror(errno), quoted));
    report_event(app, now, BAL_APP_FAILED);
}

/* Where no readiness check is configured, an app that runs is ready. */
static void check_ready(struct app *app, uint64_t now) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "app");
    if (app->config->ready.kind == CHECK_NONE)
        report_event(app, now, !is_supervised(app) || supervisor_runs(path) ? BAL_APP_READY : BAL_APP_FAILED);
    else
        begin_ready_check(app, now, app->order.number);
}

static void stop_app(struct app *app, uint64_t now) {
    if (app->config->stop.argv)
        run_hook_for_order(app, now, HOOK_STOP);
    else if (app->process.pid)
        supervisor_stop(&app->process);
    else
        report_gone(app, now);
}

static void kill_app(struct app *app, uint64_t now) {
    char path[PATH_MAX];
    if (!is_supervised(app)) {
        run_hook_for_order(app, now, HOOK_STOP);
        return;
    }
    app_path(path, app->state, app->config->name, "app");
    if (!app->process.pid && supervisor_find(&app->process, path) == SUPERVISOR_UNKNOWN) {
        try_again(app, now, millisecond);
    } else if (app->process.pid) {
        supervisor_kill(&app->process);
    } else {
        kill_orphans(app);
        report_gone(app, now);
    }
}

static void begin_order_of_replica(struct app *app, uint64_t now) {
    struct bal_scaler *scaler = &app->replicas->scaler;
    if (app->order.kind == BAL_ORDER_LOOK && is_old_hook_there(app)) {
        try_again(app, now, millisecond);
        return;
    }
    bal_scaler_request(scaler, now, app->config->place, app->order.kind);
    if (bal_scaler_needs_check(scaler, app->config->place))
        begin_ready_check(app, now, app->order.number);
}

static void report_result_of_replica(struct app *app, uint64_t now) {
    enum bal_app_event event;
    if (app->replicas && app->under_way && app->begun && app->order.kind != BAL_ORDER_READY &&
        bal_scaler_next_result(&app->replicas->scaler, app->config->place, &event))
        report_event(app, now, event);
}

static void begin_order(struct app *app, uint64_t now) {
    static void (*const carry_out[])(struct app *, uint64_t) = {[BAL_ORDER_LOOK] = detect_app,
                                                                [BAL_ORDER_START] = start_app,
                                                                [BAL_ORDER_READY] = check_ready,
                                                                [BAL_ORDER_STOP] = stop_app,
                                                                [BAL_ORDER_KILL] = kill_app};
    app->begun = true;
    app->again_at = NEVER;
    if (app->replicas && app->order.kind != BAL_ORDER_READY) {
        begin_order_of_replica(app, now);
        return;
    }
    carry_out[app->order.kind](app, now);
}

/* ---- what became of hooks and checks ---- */

/* Hooks or checks have found whether the app is running. */
static void on_presence_known(struct app *app, uint64_t now, bool there) {
    switch (app->order.kind) {
    case BAL_ORDER_LOOK:
        if (there)
            report_event(app, now, BAL_APP_RUNNING);
        else if (!app->config->running.argv && is_marked(app))
            run_hook_for_order(app, now, HOOK_STOP); /* it may be in its set-up, where no check sees it */
        else
            report_gone(app, now);
        break;
    case BAL_ORDER_READY:
        report_event(app, now, there ? BAL_APP_READY : BAL_APP_FAILED);
        break;
    case BAL_ORDER_START:
    case BAL_ORDER_STOP:
    case BAL_ORDER_KILL:
        if (there) /* what was stopped is not gone yet */
            try_again(app, now, app->config->times.check_ns);
        else
            report_gone(app, now);
        break;
    }
}

static void stop_hook_ended(struct app *app, uint64_t now, bool good) {
    if (is_supervised(app) && !app->process.pid)
        report_gone(app, now);
    else if (!good && app->order.kind != BAL_ORDER_LOOK)
        report_event(app, now, BAL_APP_FAILED);
    else if (is_supervised(app))
        return; /* it is under way */
    else if (good && app->config->running.argv)
        run_hook_for_order(app, now, HOOK_RUNNING);
    else if (good)
        report_gone(app, now);
}

static void on_watch_result(struct app *app, uint64_t now, bool there) {
    app->misses = there ? 0 : app->misses + 1;
    if (app->misses < MISSES_MAX)
        return;
    app->misses = 0;
    log_event(LOG_WARNING, app->config->name, "lost", "looks=%d", MISSES_MAX);
    bal_keeper_event(&app->core, now, BAL_APP_EXITED, app->core.instance);
}

/* Exit status 0: busy, 1: not; anything else is ignored. */
static void apply_busy_status(struct app *app, int status) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return;
    const bool busy = WEXITSTATUS(status) == 0;
    if (busy && !app->core.wanted) {
        app->desired = DESIRED_ON;
    } else if (!busy && app->core.wanted && app->desired != DESIRED_OFF) {
        app->desired = DESIRED_OFF;
        app->stop_after_ns = 0;
    }
}

static void hook_ended(struct app *app, uint64_t now) {
    const bool good = WIFEXITED(app->hook.status) && WEXITSTATUS(app->hook.status) == 0;
    const bool asked = app->hook_number && app->under_way && app->hook_number == app->order.number;
    const enum hook_use use = app->hook_use;
    const bool tells = use == HOOK_START || use == HOOK_STOP;
    if (tells || app->hook.status < 0 || WIFSIGNALED(app->hook.status))
        log_event(good ? LOG_INFO : LOG_WARNING, app->config->name, "hook", "hook=%s status=%d",
                  hook_name(use), WIFEXITED(app->hook.status) ? WEXITSTATUS(app->hook.status) : -1);
    const int status = app->hook.status;
    supervisor_release(&app->hook);
    if (!app->hook_number && app->under_way)
        return; /* it was ended to make way for another */
    if (!app->hook_number && use == HOOK_BUSY)
        apply_busy_status(app, status);
    else if (!app->hook_number)
        on_watch_result(app, now, good);
    else if (asked && use == HOOK_START)
        report_event(app, now, good ? BAL_APP_RUNNING : BAL_APP_FAILED);
    else if (asked && use == HOOK_STOP)
        stop_hook_ended(app, now, good);
    else if (asked)
        on_presence_known(app, now, good);
}

void app_checked(struct app *app, uint64_t now) {
    const enum check_answer said = check_continue(&app->check);
    if (said == CHECK_WAIT)
        return;
    check_end(&app->check);
    if (!app->hook_number)
        on_watch_result(app, now, said == CHECK_YES);
    else if (app->under_way && app->hook_number == app->order.number)
        on_presence_known(app, now, said == CHECK_YES);
}

/* ---- processes that end ---- */

static void process_ended(struct app *app, uint64_t now) {
    const int status = app->process.status;
    const bool asked = app->under_way && app->begun &&
                       (app->order.kind == BAL_ORDER_STOP || app->order.kind == BAL_ORDER_KILL);
    log_event(asked ? LOG_INFO : LOG_WARNING, app->config->name, "exited", "status=%d",
              status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    supervisor_release(&app->process);
    if (status < 0 || WIFSIGNALED(status)) /* the supervisor itself was killed, or is not our child */
        kill_all_orphans(app);
    if (!supervisor_is_alive(app->state, app->config->name))
        orphans_forget(app->config, app->state);
    if (!asked)
        bal_keeper_event(&app->core, now, BAL_APP_EXITED, app->core.instance);
    else if (app->hook.pid)
        supervisor_stop(&app->hook); /* what it was to bring about has come */
    else
        report_gone(app, now);
}

bool app_reaped(struct app *app, pid_t pid, int status) {
    struct supervisor *const supervisors[] = {&app->process, &app->hook};
    for (size_t i = 0; i < 2; i++)
        if (pid && supervisors[i]->pid == pid) {
            supervisors[i]->ended = true;
            supervisors[i]->status = status;
            return true;
        }
    return false;
}

/* ---- time ---- */

bool app_is_on(const struct app *app) {
    return app->core.state == BAL_KEEPER_ON || app->core.state == BAL_KEEPER_STANDBY ||
           app->core.state == BAL_KEEPER_DRAINING;
}

bool app_is_off(const struct app *app) {
    return app->core.state == BAL_KEEPER_OFF && !app->core.wanted && !app->process.pid && !app->hook.pid;
}

/* Ends a hook that is run for an order that is over, or for none, so that a new one can run. Returns true
 * when no hook runs. */
static bool free_hook_slot(struct app *app) {
    if (app->check.config && app->hook_number != app->order.number)
        check_end(&app->check);
    if (app->hook.pid && app->hook_number != app->order.number)
        supervisor_stop(&app->hook);
    return !app->hook.pid && !app->check.config;
}

static void fetch_orders(struct app *app, uint64_t now) {
    struct bal_order order;
    while (bal_keeper_order(&app->core, &order)) {
        app->order = order;
        app->under_way = true;
        app->begun = false;
        app->again_at = NEVER;
    }
    if (app->under_way && !app->begun && (app->again_at == NEVER || app->again_at <= now) &&
        free_hook_slot(app))
        begin_order(app, now);
}

/* Checks apps that are on and have no supervised process whose end would be noticed. */
static void watch_app(struct app *app, uint64_t now) {
    if (app->hook_ends_at <= now) {
        app->hook_ends_at = NEVER;
        if (app->hook.pid)
            supervisor_stop(&app->hook);
        if (app->check.config) {
            check_end(&app->check);
            on_watch_result(app, now, false);
        }
    }
    const bool idle = app_is_on(app) && !app->under_way && !app->hook.pid && !app->check.config;
    if (!idle || app->watch_at > now)
        return;
    app->watch_at = now + app->config->watch_ns;
    if (app->config->busy.argv)
        start_hook(app, now, HOOK_BUSY, 0);
    else if (!is_supervised(app) && app->config->running.argv)
        start_hook(app, now, HOOK_RUNNING, 0);
    else if (!is_supervised(app))
        begin_ready_check(app, now, 0);
}

static void log_state(struct app *app, uint64_t now) {
    const enum bal_keeper_state state = app->core.state;
    if (state == app->logged_state)
        return;
    if (state == BAL_KEEPER_ON && app->logged_state != BAL_KEEPER_STANDBY &&
        app->logged_state != BAL_KEEPER_DRAINING)
        app->on_at = now;
    app->logged_state = state;
    log_event(LOG_INFO, app->config->name, "state", "state=%s wanted=%d failures=%u warden=%d",
              bal_keeper_state_name(state), app->core.wanted, app->core.failures, (int)app->process.pid);
}

static uint64_t min_time(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t app_pass(struct app *app, uint64_t now) {
    uint64_t next = bal_keeper_run_timers(&app->core, now);
    if (app->hook.ended)
        hook_ended(app, now);
    if (app->process.ended)
        process_ended(app, now);
    if (app->check.config && app->check.failed)
        app_checked(app, now);
    fetch_orders(app, now);
    report_result_of_replica(app, now);
    watch_app(app, now);
    log_state(app, now);
    if (app->hook.ended || app->process.ended || app->check.failed || app->core.ordered)
        return now;
    next = min_time(bal_keeper_run_timers(&app->core, now), next);
    next = min_time(next, min_time(app->again_at, app->hook_ends_at));
    const bool looks = app->config->busy.argv || !is_supervised(app);
    return app_is_on(app) && looks ? min_time(next, app->watch_at) : next;
}

void app_init(struct app *app, const struct app_config *config, const char *state, const char *groups,
              uint64_t now) {
    *app = (struct app){.config = config,
                        .state = state,
                        .groups = groups,
                        .again_at = NEVER,
                        .hook_ends_at = NEVER,
                        .logged_state = BAL_KEEPER_LOOKING};
    bal_keeper_init(&app->core, &config->times, now);
}

void app_fini(struct app *app) {
    check_end(&app->check);
    supervisor_release(&app->process);
    supervisor_release(&app->hook);
}
