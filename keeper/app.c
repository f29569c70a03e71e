#include "app.h"

#include "log.h"
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEVER UINT64_MAX
static const uint64_t millisecond = 1000000;

enum { MISSES_MAX = 3, UNKNOWN_MAX = 500 };

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

static void answer(struct app *app, uint64_t now, enum bal_app_event event) {
    app->under_way = false;
    app->again_at = NEVER;
    bal_keeper_event(&app->core, now, event, app->order.number);
}

static void gone(struct app *app, uint64_t now) {
    if (!is_supervised(app))
        remove_mark(app);
    answer(app, now, BAL_APP_GONE);
}

static void try_again(struct app *app, uint64_t now, uint64_t after) {
    app->again_at = now + after;
    app->begun = false;
}

/* ---- hooks ---- */

static bool begin_hook(struct app *app, uint64_t now, enum hook_use use, uint64_t number) {
    char lock[PATH_MAX], quoted[LOG_QUOTED];
    app_path(lock, app->state, app->config->name, "hook");
    const struct warden_task task = {.app = app->config,
                                     .what = hook_name(use),
                                     .argv = hook_command(app, use)->argv,
                                     .lock = lock,
                                     .state = app->state,
                                     .bound = true,
                                     .leaves = use == HOOK_START || use == HOOK_STOP};
    const int error = warden_begin(&app->hook, &task);
    if (error) {
        log_say(LOG_ERROR, app->config->name, "hook-failed", "hook=%s error=%s", hook_name(use),
                log_quote(strerror(error), quoted));
        return false;
    }
    app->hook_use = use;
    app->hook_number = number;
    app->hook_ends_at = number ? NEVER : now + app->config->times.answer_ns;
    return true;
}

static void order_hook(struct app *app, uint64_t now, enum hook_use use) {
    if (!begin_hook(app, now, use, app->order.number))
        answer(app, now, BAL_APP_FAILED);
}

/* ---- checks ---- */

/* Asks whether the app is ready, for an order (number) or for a look at one that is on (0). */
static void ask_ready(struct app *app, uint64_t now, uint64_t number) {
    app->hook_number = number;
    app->hook_ends_at = number ? NEVER : now + app->config->times.answer_ns;
    if (app->config->ready.kind != CHECK_COMMAND)
        check_begin(&app->check, &app->config->ready);
    else if (!begin_hook(app, now, HOOK_READY, number) && number)
        answer(app, now, BAL_APP_FAILED);
}

/* ---- orders ---- */

/* What has lost its warden: every process of an app says in its environment whose it is. Returns how many
 * there were. */
static size_t end_orphans(const struct app *app) {
    char name[CONFIG_NAME_MAX + 20], state[PATH_MAX + 20];
    snprintf(name, sizeof name, "BALLAST_APP=%s", app->config->name);
    snprintf(state, sizeof state, "BALLAST_KEEPER=%s", app->state);
    const size_t ended = process_kill_marked(name, state);
    if (ended)
        log_say(LOG_WARNING, app->config->name, "orphans", "killed=%zu", ended);
    return ended;
}

static void end_all_orphans(const struct app *app) {
    enum { ROUNDS = 100 };
    for (int i = 0; i < ROUNDS && end_orphans(app); i++)
        nanosleep(&(struct timespec){.tv_nsec = (long)millisecond}, NULL);
}

static void look_for_process(struct app *app, uint64_t now) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "app");
    const enum warden_find found = app->process.pid ? WARDEN_FOUND : warden_find(&app->process, path);
    app->unknown = found == WARDEN_UNKNOWN ? app->unknown + 1 : 0;
    const bool lost = app->unknown > UNKNOWN_MAX; /* its record is damaged: the app is known by its
                                                     environment */
    if (((found == WARDEN_NONE || lost) && end_orphans(app)) || found == WARDEN_UNKNOWN) {
        app->unknown = lost ? 0 : app->unknown;
        try_again(app, now, millisecond);
        return;
    }
    if (found == WARDEN_FOUND)
        log_say(LOG_INFO, app->config->name, "found", "warden=%d", (int)app->process.pid);
    answer(app, now, found == WARDEN_FOUND ? BAL_APP_RUNNING : BAL_APP_GONE);
}

/* A hook of a keeper that was killed may still be about to end. */
static bool is_old_hook_there(struct app *app) {
    char path[PATH_MAX];
    struct warden old = {0};
    app_path(path, app->state, app->config->name, "hook");
    const enum warden_find found = warden_find(&old, path);
    if (found == WARDEN_FOUND)
        warden_kill(&old);
    warden_forget(&old);
    return found != WARDEN_NONE;
}

static void look(struct app *app, uint64_t now) {
    if (is_old_hook_there(app))
        try_again(app, now, millisecond);
    else if (is_supervised(app))
        look_for_process(app, now);
    else if (app->config->running.argv)
        order_hook(app, now, HOOK_RUNNING);
    else
        ask_ready(app, now, app->order.number);
}

static void start_process(struct app *app, uint64_t now) {
    char lock[PATH_MAX], quoted[LOG_QUOTED];
    app_path(lock, app->state, app->config->name, "app");
    const struct warden_task task = {
        .app = app->config, .what = "run", .argv = app->config->run.argv, .lock = lock, .state = app->state};
    const int error = warden_begin(&app->process, &task);
    if (error)
        log_say(LOG_ERROR, app->config->name, "start-failed", "error=%s",
                log_quote(error == EWOULDBLOCK ? "an instance is there already" : strerror(error), quoted));
    answer(app, now, error ? BAL_APP_FAILED : BAL_APP_RUNNING);
}

static void start(struct app *app, uint64_t now) {
    if (is_supervised(app)) {
        start_process(app, now);
        return;
    }
    if (set_mark(app)) {
        order_hook(app, now, HOOK_START);
        return;
    }
    char quoted[LOG_QUOTED];
    log_say(LOG_ERROR, app->config->name, "start-failed", "what=mark error=%s",
            log_quote(strerror(errno), quoted));
    answer(app, now, BAL_APP_FAILED);
}

/* Where nobody says how to ask, what runs is ready. */
static void ready(struct app *app, uint64_t now) {
    char path[PATH_MAX];
    app_path(path, app->state, app->config->name, "app");
    if (app->config->ready.kind == CHECK_NONE)
        answer(app, now, !is_supervised(app) || warden_runs(path) ? BAL_APP_READY : BAL_APP_FAILED);
    else
        ask_ready(app, now, app->order.number);
}

static void stop(struct app *app, uint64_t now) {
    if (app->config->stop.argv)
        order_hook(app, now, HOOK_STOP);
    else if (app->process.pid)
        warden_stop(&app->process);
    else
        gone(app, now);
}

static void end_by_force(struct app *app, uint64_t now) {
    char path[PATH_MAX];
    if (!is_supervised(app)) {
        order_hook(app, now, HOOK_STOP);
        return;
    }
    app_path(path, app->state, app->config->name, "app");
    if (!app->process.pid && warden_find(&app->process, path) == WARDEN_UNKNOWN)
        try_again(app, now, millisecond);
    else if (app->process.pid)
        warden_kill(&app->process);
    else
        gone(app, now);
}

static void begin_order(struct app *app, uint64_t now) {
    static void (*const carry_out[])(struct app *, uint64_t) = {[BAL_ORDER_LOOK] = look,
                                                                [BAL_ORDER_START] = start,
                                                                [BAL_ORDER_READY] = ready,
                                                                [BAL_ORDER_STOP] = stop,
                                                                [BAL_ORDER_KILL] = end_by_force};
    app->begun = true;
    app->again_at = NEVER;
    carry_out[app->order.kind](app, now);
}

/* ---- what became of hooks and checks ---- */

/* Whether the app is there, as hooks or checks tell. */
static void looked(struct app *app, uint64_t now, bool there) {
    switch (app->order.kind) {
    case BAL_ORDER_LOOK:
        if (there)
            answer(app, now, BAL_APP_RUNNING);
        else if (!app->config->running.argv && is_marked(app))
            order_hook(app, now, HOOK_STOP); /* it may be in its set-up, where nobody sees it */
        else
            gone(app, now);
        break;
    case BAL_ORDER_READY:
        answer(app, now, there ? BAL_APP_READY : BAL_APP_FAILED);
        break;
    case BAL_ORDER_START:
    case BAL_ORDER_STOP:
    case BAL_ORDER_KILL:
        if (there) /* what was stopped is not gone yet */
            try_again(app, now, app->config->times.check_ns);
        else
            gone(app, now);
        break;
    }
}

static void stop_hook_ended(struct app *app, uint64_t now, bool good) {
    if (is_supervised(app) && !app->process.pid)
        gone(app, now);
    else if (!good && app->order.kind != BAL_ORDER_LOOK)
        answer(app, now, BAL_APP_FAILED);
    else if (is_supervised(app))
        return; /* it is under way */
    else if (good && app->config->running.argv)
        order_hook(app, now, HOOK_RUNNING);
    else if (good)
        gone(app, now);
}

static void look_at_one_that_is_on(struct app *app, uint64_t now, bool there) {
    app->misses = there ? 0 : app->misses + 1;
    if (app->misses < MISSES_MAX)
        return;
    app->misses = 0;
    log_say(LOG_WARNING, app->config->name, "lost", "looks=%d", MISSES_MAX);
    bal_keeper_event(&app->core, now, BAL_APP_EXITED, app->core.instance);
}

/* Exit status 0: busy, 1: not; from anything else nothing follows. */
static void busy_or_not(struct app *app, int status) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return;
    const bool busy = WEXITSTATUS(status) == 0;
    if (busy && !app->core.wanted) {
        app->wish = WISH_ON;
    } else if (!busy && app->core.wanted && app->wish != WISH_REST) {
        app->wish = WISH_REST;
        app->rest_ns = 0;
    }
}

static void hook_ended(struct app *app, uint64_t now) {
    const bool good = WIFEXITED(app->hook.status) && WEXITSTATUS(app->hook.status) == 0;
    const bool asked = app->hook_number && app->under_way && app->hook_number == app->order.number;
    const enum hook_use use = app->hook_use;
    const bool tells = use == HOOK_START || use == HOOK_STOP;
    if (tells || app->hook.status < 0 || WIFSIGNALED(app->hook.status))
        log_say(good ? LOG_INFO : LOG_WARNING, app->config->name, "hook", "hook=%s status=%d", hook_name(use),
                WIFEXITED(app->hook.status) ? WEXITSTATUS(app->hook.status) : -1);
    const int status = app->hook.status;
    warden_forget(&app->hook);
    if (!app->hook_number && app->under_way)
        return; /* it was ended to make room */
    if (!app->hook_number && use == HOOK_BUSY)
        busy_or_not(app, status);
    else if (!app->hook_number)
        look_at_one_that_is_on(app, now, good);
    else if (asked && use == HOOK_START)
        answer(app, now, good ? BAL_APP_RUNNING : BAL_APP_FAILED);
    else if (asked && use == HOOK_STOP)
        stop_hook_ended(app, now, good);
    else if (asked)
        looked(app, now, good);
}

void app_checked(struct app *app, uint64_t now) {
    const enum check_answer said = check_go_on(&app->check);
    if (said == CHECK_WAIT)
        return;
    check_end(&app->check);
    if (!app->hook_number)
        look_at_one_that_is_on(app, now, said == CHECK_YES);
    else if (app->under_way && app->hook_number == app->order.number)
        looked(app, now, said == CHECK_YES);
}

/* ---- processes that end ---- */

static void process_ended(struct app *app, uint64_t now) {
    const int status = app->process.status;
    const bool asked = app->under_way && app->begun &&
                       (app->order.kind == BAL_ORDER_STOP || app->order.kind == BAL_ORDER_KILL);
    log_say(asked ? LOG_INFO : LOG_WARNING, app->config->name, "exited", "status=%d",
            status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    warden_forget(&app->process);
    if (status < 0 || WIFSIGNALED(status)) /* the warden itself was killed, or is not our child */
        end_all_orphans(app);
    if (!asked)
        bal_keeper_event(&app->core, now, BAL_APP_EXITED, app->core.instance);
    else if (app->hook.pid)
        warden_stop(&app->hook); /* what it was to bring about has come */
    else
        gone(app, now);
}

bool app_reaped(struct app *app, pid_t pid, int status) {
    struct warden *const wardens[] = {&app->process, &app->hook};
    for (size_t i = 0; i < 2; i++)
        if (pid && wardens[i]->pid == pid) {
            wardens[i]->ended = true;
            wardens[i]->status = status;
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

/* What is run for an order that is over, or for none, makes room for a new one. Returns true when there is.
 */
static bool make_room(struct app *app) {
    if (app->check.config && app->hook_number != app->order.number)
        check_end(&app->check);
    if (app->hook.pid && app->hook_number != app->order.number)
        warden_stop(&app->hook);
    return !app->hook.pid && !app->check.config;
}

static void take_orders(struct app *app, uint64_t now) {
    struct bal_order order;
    while (bal_keeper_order(&app->core, &order)) {
        app->order = order;
        app->under_way = true;
        app->begun = false;
        app->again_at = NEVER;
    }
    if (app->under_way && !app->begun && (app->again_at == NEVER || app->again_at <= now) && make_room(app))
        begin_order(app, now);
}

/* Looks at apps that are on, where no process tells by itself. */
static void watch(struct app *app, uint64_t now) {
    if (app->hook_ends_at <= now) {
        app->hook_ends_at = NEVER;
        if (app->hook.pid)
            warden_stop(&app->hook);
        if (app->check.config) {
            check_end(&app->check);
            look_at_one_that_is_on(app, now, false);
        }
    }
    const bool idle = app_is_on(app) && !app->under_way && !app->hook.pid && !app->check.config;
    if (!idle || app->watch_at > now)
        return;
    app->watch_at = now + app->config->watch_ns;
    if (app->config->busy.argv)
        begin_hook(app, now, HOOK_BUSY, 0);
    else if (!is_supervised(app) && app->config->running.argv)
        begin_hook(app, now, HOOK_RUNNING, 0);
    else if (!is_supervised(app))
        ask_ready(app, now, 0);
}

static void tell_state(struct app *app, uint64_t now) {
    const enum bal_keeper_state state = app->core.state;
    if (state == app->told)
        return;
    if (state == BAL_KEEPER_ON && app->told != BAL_KEEPER_STANDBY && app->told != BAL_KEEPER_DRAINING)
        app->on_at = now;
    app->told = state;
    log_say(LOG_INFO, app->config->name, "state", "state=%s wanted=%d failures=%u warden=%d",
            bal_keeper_state_name(state), app->core.wanted, app->core.failures, (int)app->process.pid);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t app_pass(struct app *app, uint64_t now) {
    uint64_t next = bal_keeper_pass(&app->core, now);
    if (app->hook.ended)
        hook_ended(app, now);
    if (app->process.ended)
        process_ended(app, now);
    if (app->check.config && app->check.failed)
        app_checked(app, now);
    take_orders(app, now);
    watch(app, now);
    tell_state(app, now);
    if (app->hook.ended || app->process.ended || app->check.failed || app->core.ordered)
        return now;
    next = earlier(bal_keeper_pass(&app->core, now), next);
    next = earlier(next, earlier(app->again_at, app->hook_ends_at));
    const bool looks = app->config->busy.argv || !is_supervised(app);
    return app_is_on(app) && looks ? earlier(next, app->watch_at) : next;
}

void app_init(struct app *app, const struct app_config *config, const char *state, uint64_t now) {
    *app = (struct app){.config = config,
                        .state = state,
                        .again_at = NEVER,
                        .hook_ends_at = NEVER,
                        .told = BAL_KEEPER_LOOKING};
    bal_keeper_init(&app->core, &config->times, now);
}

void app_fini(struct app *app) {
    check_end(&app->check);
    warden_forget(&app->process);
    warden_forget(&app->hook);
}
