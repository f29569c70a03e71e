/* SPDX-License-Identifier: BSD-2-Clause */
/* One loop over poll(2): sockets, signals, time, and the apps. */
#include "daemon.h"

#include "app_table.h"
#include "bounds.h"
#include "control.h"
#include "event_log.h"
#include "group.h"
#include "http.h"
#include "keeper_status.h"
#include "notify.h"
#include "trust.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEVER UINT64_MAX
static const uint64_t millisecond = 1000000;
/* With a keeper that is about to be gone; times 10 ms. */
enum { LOCK_RETRIES = 200 };

struct daemon {
    const char *path;
    struct app_table app_table;
    struct sockets sockets;
    struct http http;
    struct stat local; /* file of the local socket */
    uint64_t look_at;  /* when to check that it still exists; ns */
    int lock, signals;
    char groups[PATH_MAX]; /* the control group below which apps get theirs; empty: none */
    struct bal_rng rng;
    uint64_t watchdog, watchdog_at; /* ns */
    uint64_t dropped;               /* datagrams */
    bool stopping, ended;
};

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 * millisecond + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

static void log_failure(const char *what, const char *path) {
    char quoted[LOG_QUOTED], error[LOG_QUOTED];
    const int number = errno;
    log_event(LOG_ERROR, NULL, "failed", "what=%s path=%s error=%s", what, log_quote(path, quoted),
              log_quote(strerror(number), error));
}

/* ---- sockets ---- */

static int open_udp(const struct config *config) {
    const int fd = socket(config->listen.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, &config->listen.any, config->listen.size) == 0)
        return fd;
    log_failure("listen", "UDP");
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool open_sockets(struct daemon *d) {
    d->sockets = (struct sockets){.local = control_open(d->app_table.config), .udp = -1};
    if (lstat(d->app_table.config->socket, &d->local))
        d->local = (struct stat){0};
    if (d->sockets.local >= 0 && d->app_table.config->listen.size)
        d->sockets.udp = open_udp(d->app_table.config);
    if (d->sockets.local < 0 || (d->sockets.udp < 0 && d->app_table.config->listen.size))
        return false;
    if (http_open(&d->http, &d->app_table.config->status))
        return true;
    log_failure("status", "HTTP");
    return false;
}

/* If the directory of the socket was deleted the keeper receives nothing: it creates the socket again. */
static void restore_socket(struct daemon *d, uint64_t now) {
    struct stat there;
    if (now < d->look_at)
        return;
    d->look_at = now + 1000 * millisecond;
    const char *path = d->app_table.config->socket;
    if (lstat(path, &there) == 0 && there.st_ino == d->local.st_ino && there.st_dev == d->local.st_dev)
        return;
    const int fd = control_open(d->app_table.config);
    if (fd < 0)
        return;
    log_event(LOG_WARNING, NULL, "socket-lost", "%s", "and created again");
    close(d->sockets.local);
    d->sockets.local = fd;
    if (lstat(path, &d->local))
        d->local = (struct stat){0};
}

/* ---- messages ---- */

static void send_power(struct app_entry *m, const struct sockets *sockets, uint64_t now,
                       const struct peer *peer) {
    struct bal_message message;
    if (peer)
        m->app.core.report_at = 0;
    if (bal_keeper_next_message(&m->app.core, now, &message))
        peer_link_send(&m->link, sockets, &message, peer);
}

static void handle_request(struct app *app, const struct peer *peer, const struct bal_message *message) {
    if (app->leaving)
        return;
    if (message->type == BAL_MSG_START) {
        app->desired = app->core.wanted ? DESIRED_NONE : DESIRED_ON;
        app->woken_at = now_ns();
    }
    if (message->type == BAL_MSG_STOP && peer->may_stop) {
        app->desired = DESIRED_OFF;
        app->stop_after_ns = message->stop.after_ms * millisecond;
    }
}

static bool is_configured(const struct daemon *d, size_t i) {
    return d->app_table.app[i]->config != &d->app_table.entry[i]->own;
}

/* Reads a datagram and checks its tag, once: all apps have the same keys. */
static enum bal_receipt open_datagram(struct daemon *d, const uint8_t *bytes, size_t size,
                                      struct bal_message *message) {
    for (size_t i = 0; i < d->app_table.count; i++)
        if (is_configured(d, i))
            return bal_receiver_open_any(&d->app_table.entry[i]->link.receiver, bytes, size, message);
    return BAL_RECEIPT_WRONG_RECEIVER;
}

/* Every app gets the message; its receiver decides which one uses it. */
static bool receive_datagram(struct daemon *d, const uint8_t *bytes, size_t size, const struct address *from,
                             enum bal_receipt *receipt) {
    const uint64_t now = now_ns();
    bool heard = false;
    struct bal_message message;
    *receipt = open_datagram(d, bytes, size, &message);
    if (*receipt != BAL_RECEIPT_FRESH)
        return false;
    *receipt = BAL_RECEIPT_WRONG_RECEIVER;
    for (size_t i = 0; i < d->app_table.count; i++) {
        enum bal_receipt what;
        if (!is_configured(d, i))
            continue;
        const struct peer *peer =
            peer_link_receive(&d->app_table.entry[i]->link, &d->sockets, now, &message, from, &what);
        if (what != BAL_RECEIPT_WRONG_RECEIVER)
            *receipt = what;
        if (!peer)
            continue;
        heard = true;
        handle_request(d->app_table.app[i], peer, &message);
        bounds_apply(d->app_table.config, d->app_table.app, d->app_table.count, now, &d->rng);
        /* The command line client sends its request after the proof, and is answered then. */
        if (message.type != BAL_MSG_PROOF || message.sender != message.receiver)
            send_power(d->app_table.entry[i], &d->sockets, now, peer);
    }
    return heard;
}

/* Logged when their number has doubled, so that a sender of such datagrams cannot fill the log. */
static void count_dropped(struct daemon *d, enum bal_receipt receipt) {
    d->dropped++;
    if ((d->dropped & (d->dropped - 1)) == 0)
        log_event(LOG_WARNING, NULL, "datagram-dropped", "why=%s so_far=%llu", bal_receipt_name(receipt),
                  (unsigned long long)d->dropped);
}

static void receive_datagrams(struct daemon *d, int fd) {
    enum { AT_ONCE = 64 }; /* then others have their turn */
    for (int i = 0; i < AT_ONCE; i++) {
        uint8_t bytes[BAL_DATAGRAM_MAX + 1];
        struct address from = {.size = sizeof from.room};
        const ssize_t size = recvfrom(fd, bytes, sizeof bytes, MSG_DONTWAIT, &from.any, &from.size);
        if (size < 0)
            return;
        if (from.size <= sizeof(sa_family_t))
            from.size = 0; /* a socket without a name */
        enum bal_receipt receipt;
        if (!receive_datagram(d, bytes, (size_t)size, &from, &receipt))
            count_dropped(d, receipt);
    }
}

/* ---- processes ---- */

static bool is_exit_of_app(struct daemon *d, pid_t pid, int status) {
    for (size_t i = 0; i < d->app_table.count; i++)
        if (app_reaped(d->app_table.app[i], pid, status))
            return true;
    for (size_t i = 0; i < d->app_table.groups; i++)
        if (replicas_reaped(d->app_table.replicas[i], pid, status))
            return true;
    return false;
}

static void reap(struct daemon *d) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (is_exit_of_app(d, pid, status) && WIFSIGNALED(status))
            log_event(LOG_ERROR, NULL, "warden-killed", "warden=%d signal=%d", (int)pid, WTERMSIG(status));
}

/* ---- reload ---- */

struct error_count {
    size_t count;
};

static void log_mistake(void *context, const char *mistake) {
    struct error_count *logged_state = context;
    char quoted[LOG_QUOTED];
    logged_state->count++;
    log_event(LOG_ERROR, NULL, "config", "mistake=%s", log_quote(mistake, quoted));
}

static void apply_config(struct daemon *d, struct config *config) {
    const char *fixed = app_table_reconfigure(&d->app_table, config, now_ns());
    if (!fixed) {
        log_event(LOG_INFO, NULL, "reload", "result=done apps=%zu", d->app_table.count);
        return;
    }
    log_event(LOG_ERROR, NULL, "reload", "result=refused mistake=\"%s cannot change without a restart\"",
              fixed);
    config_free(config);
}

static void reload(struct daemon *d) {
    struct error_count logged_state = {0};
    struct config *config = NULL;
    char text[80];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(now_ns() / 1000));
    notify_send(text);
    if (config_read(d->path, &config, log_mistake, &logged_state) == 0)
        apply_config(d, config);
    else
        log_event(LOG_ERROR, NULL, "reload", "result=refused mistakes=%zu", logged_state.count);
    notify_send("READY=1");
}

/* ---- signals and the end ---- */

static void begin_shutdown(struct daemon *d) {
    notify_send("STOPPING=1");
    if (d->stopping || d->app_table.config->on_exit == EXIT_LEAVE)
        d->ended = true; /* twice: now */
    d->stopping = true;
    if (!d->ended)
        app_table_begin_removal_of_all(&d->app_table, now_ns());
    log_event(LOG_INFO, NULL, "ending", "apps=%s", d->ended ? "left" : "stopping");
}

static void handle_signals(struct daemon *d) {
    struct signalfd_siginfo info;
    while (read(d->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            begin_shutdown(d);
        if (info.ssi_signo == SIGHUP && !d->stopping)
            reload(d);
    }
}

/* ---- the loop ---- */

/* In front of those of apps: signals, two sockets, HTTP. */
enum { FIXED = 3 + HTTP_POLLED };

struct polled {
    struct pollfd *fd;
    size_t count;
};

static void add_poll(struct polled *polled, int fd, short events) {
    polled->fd[polled->count++] = (struct pollfd){.fd = fd, .events = events};
}

static void list_polled(struct daemon *d, struct polled *polled) {
    polled->count = 0;
    add_poll(polled, d->signals, POLLIN);
    add_poll(polled, d->sockets.local, POLLIN);
    add_poll(polled, d->sockets.udp, POLLIN);
    http_list(&d->http, &polled->fd[polled->count]);
    polled->count += HTTP_POLLED;
    for (size_t i = 0; i < d->app_table.count; i++) {
        const struct app *app = d->app_table.app[i];
        const bool adopted = app->process.pid && !app->process.child && !app->process.ended;
        add_poll(polled, adopted ? app->process.fd : -1, POLLIN);
        add_poll(polled, app->check.config ? app->check.fd : -1,
                 app->check.config ? check_events(&app->check) : 0);
    }
}

static void handle_polled(struct daemon *d, const struct polled *polled) {
    for (size_t i = 0; i < d->app_table.count; i++) {
        struct app *app = d->app_table.app[i];
        if (polled->fd[FIXED + 2 * i].revents)
            app_reaped(app, app->process.pid, -1);
        if (polled->fd[FIXED + 1 + 2 * i].revents && app->check.config)
            app_checked(app, now_ns());
    }
    reap(d);
    if (polled->fd[1].revents)
        receive_datagrams(d, d->sockets.local);
    if (polled->fd[2].revents)
        receive_datagrams(d, d->sockets.udp);
    http_handle(&d->http, &polled->fd[3], now_ns(), status_answer, &d->app_table);
    if (polled->fd[0].revents)
        handle_signals(d); /* the last: it may change the apps */
}

static uint64_t max_time(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* A station whose app is on and wanted is challenged now and then. One that is gone passes on no requests,
 * and will never send STOP. Returns when to check again. */
static uint64_t watch_station(struct app_entry *m, const struct sockets *sockets, uint64_t now) {
    enum { QUESTIONS = 4 };
    struct app *app = &m->app;
    struct peer *station = peer_link_station(&m->link);
    const uint64_t silent = app->config->silent_ns;
    if (!station || !silent || !app_is_on(app) || !app->core.wanted || app->desired == DESIRED_OFF)
        return NEVER;
    const uint64_t since = max_time(max_time(station->heard, app->on_at), app->woken_at);
    if (now >= since + silent) {
        log_event(LOG_WARNING, app->config->name, "station-silent", "seconds=%llu",
                  (unsigned long long)((now - since) / millisecond / 1000));
        app->desired = DESIRED_OFF;
        app->stop_after_ns = 0;
        return now;
    }
    const uint64_t ask_at = max_time(since, station->asked) + silent / QUESTIONS;
    if (now >= ask_at)
        peer_link_challenge(&m->link, sockets, station, now);
    return now >= ask_at ? now + silent / QUESTIONS : ask_at;
}

/* Runs the timers of all apps; returns when it must be called again. */
static uint64_t run_timers(struct daemon *d, uint64_t now) {
    uint64_t next = d->watchdog_at;
    const uint64_t late = http_run_timers(&d->http, now);
    next = late < next ? late : next;
    bool changed = false;
    for (size_t i = 0; i < d->app_table.count; i++) {
        const enum bal_keeper_state before = d->app_table.app[i]->logged_state;
        const uint64_t at = app_pass(d->app_table.app[i], now);
        next = at < next ? at : next;
        changed = changed || d->app_table.app[i]->logged_state != before;
        const uint64_t watched = watch_station(d->app_table.entry[i], &d->sockets, now);
        next = watched < next ? watched : next;
    }
    bounds_apply(d->app_table.config, d->app_table.app, d->app_table.count, now, &d->rng);
    for (size_t i = 0; i < d->app_table.groups; i++) {
        struct replicas *replicas = d->app_table.replicas[i];
        const uint64_t at = replicas_pass(replicas, now);
        next = at < next ? at : next;
        changed = changed || replicas->changed;
        replicas->changed = false;
    }
    for (size_t i = 0; i < d->app_table.count; i++) {
        send_power(d->app_table.entry[i], &d->sockets, now, NULL);
        next = d->app_table.app[i]->core.ordered ? now : next;
    }
    if (changed)
        app_table_write_status(&d->app_table, now);
    return next;
}

static int wait_ms(uint64_t now, uint64_t next) {
    const uint64_t wait = next <= now ? 0 : (next - now + millisecond - 1) / millisecond;
    return wait < 60000 ? (int)wait : 60000;
}

static void feed_watchdog(struct daemon *d, uint64_t now) {
    if (d->watchdog_at > now)
        return;
    notify_send("WATCHDOG=1");
    d->watchdog_at = now + d->watchdog;
}

static void run_loop(struct daemon *d) {
    struct polled polled = {0};
    while (!d->ended) {
        const uint64_t now = now_ns();
        feed_watchdog(d, now);
        restore_socket(d, now);
        const uint64_t next = run_timers(d, now);
        if (app_table_remove_stopped(&d->app_table, d->stopping, now))
            app_table_write_status(&d->app_table, now);
        if (d->stopping && d->app_table.count == 0)
            break;
        struct pollfd *fd = realloc(polled.fd, (FIXED + 2 * d->app_table.count) * sizeof *fd);
        if (!fd)
            break;
        polled.fd = fd;
        list_polled(d, &polled);
        const int wait = wait_ms(now_ns(), next);
        if (poll(polled.fd, polled.count, wait) >= 0)
            handle_polled(d, &polled);
    }
    free(polled.fd);
}

/* ---- the beginning ---- */

/* The directory is made if it is not there; no other user may write in it. */
static bool open_state(const struct config *config) {
    struct stat status;
    if (mkdir(config->state, 0700) && errno != EEXIST) {
        log_failure("state", config->state);
        return false;
    }
    if (lstat(config->state, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        status.st_mode & 0022) {
        log_event(
            LOG_ERROR, NULL, "failed",
            "what=state path=%s error=\"it must be a directory of this user in which no one else may write\"",
            config->state);
        return false;
    }
    char text[TRUST_FAULT], quoted[LOG_QUOTED];
    const char *fault = trust_fault(config->state, text);
    if (fault)
        log_event(LOG_ERROR, NULL, "failed", "what=state error=%s", log_quote(fault, quoted));
    return !fault;
}

/* One that was just killed may have a child that has not closed the lock yet. */
static int acquire_lock(const struct config *config) {
    char path[PATH_MAX];
    app_path(path, config->state, "keeper", "lock");
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    for (int i = 0; fd >= 0 && i < LOCK_RETRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&(struct timespec){.tv_nsec = 10 * (long)millisecond}, NULL);
    }
    if (fd >= 0)
        errno = EBUSY;
    log_failure("another-keeper", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

static int catch_signals(void) {
    static const int caught[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(&set, caught[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool may_change_users(const struct config *config) {
    for (size_t i = 0; i < config->apps; i++)
        if (config->app[i].uid != geteuid() && geteuid() != 0) {
            log_event(LOG_ERROR, config->app[i].name, "failed",
                      "what=user error=\"only root can run apps as another user\"");
            return false;
        }
    for (size_t i = 0; i < config->groups; i++)
        if (config->replicas[i].hook.uid != geteuid() && geteuid() != 0) {
            log_event(LOG_ERROR, config->replicas[i].hook.name, "failed",
                      "what=user error=\"only root can run scale as another user\"");
            return false;
        }
    return true;
}

static bool find_groups(struct daemon *d) {
    const char *fault;
    char quoted[LOG_QUOTED];
    if (!group_find(d->groups, d->app_table.config->cgroup, &fault))
        *d->groups = '\0';
    if (fault)
        log_event(LOG_ERROR, NULL, "failed", "what=cgroup path=%s error=\"%s\"",
                  log_quote(d->app_table.config->cgroup, quoted), fault);
    return !fault;
}

/* Differs from every earlier start, whatever the clocks show. */
static uint64_t random_boot(void) {
    uint64_t boot = 0;
    if (getrandom(&boot, sizeof boot, 0) != sizeof boot)
        boot = clock_ns(CLOCK_REALTIME);
    return boot >> 1 | 1; /* each app takes the next */
}

static bool init_daemon(struct daemon *d) {
    uint64_t seed = 0;
    (void)!getrandom(&seed, sizeof seed, 0);
    bal_rng_init(&d->rng, seed, 0, BAL_STREAM_POWER);
    d->signals = catch_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (d->signals < 0 || !may_change_users(d->app_table.config) || !open_state(d->app_table.config))
        return false;
    d->lock = acquire_lock(d->app_table.config);
    if (d->lock < 0 || !open_sockets(d))
        return false;
    if (!find_groups(d))
        return false;
    if (!app_table_init(&d->app_table, d->app_table.config, *d->groups ? d->groups : NULL, random_boot(),
                        now_ns()))
        return false;
    d->watchdog = notify_watchdog_ns();
    d->watchdog_at = d->watchdog == NEVER ? NEVER : 0;
    return true;
}

static void fini_daemon(struct daemon *d) {
    if (d->sockets.local >= 0) {
        unlink(d->app_table.config->socket);
        close(d->sockets.local);
    }
    if (d->sockets.udp >= 0)
        close(d->sockets.udp);
    http_close(&d->http);
    if (d->signals >= 0)
        close(d->signals);
    if (d->lock >= 0)
        close(d->lock);
    app_table_fini(&d->app_table);
}

int daemon_run(struct config *config, const char *path) {
    struct daemon d = {
        .path = path, .app_table.config = config, .sockets = {-1, -1}, .lock = -1, .signals = -1};
    (void)http_open(&d.http, &(struct address){0}); /* none yet */
    const bool begun = init_daemon(&d);
    if (begun) {
        log_event(LOG_INFO, NULL, "begun", "apps=%zu pid=%d", d.app_table.count, (int)getpid());
        if (*d.groups)
            log_event(LOG_INFO, NULL, "groups", "path=%s", d.groups);
        notify_send("READY=1");
        run_loop(&d);
        log_event(LOG_INFO, NULL, "ended", "%s", "");
    }
    fini_daemon(&d);
    return begun ? 0 : 1;
}
