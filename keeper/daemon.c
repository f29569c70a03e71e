#include "daemon.h"

#include "bounds.h"
#include "log.h"
#include "notify.h"
#include "roster.h"

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
/* With a keeper that is about to be gone, and with its socket then; times 10 ms. */
enum { PATIENCE = 200, SOCKET_PATIENCE = 20 };

struct daemon {
    const char *path;
    struct roster roster;
    struct sockets sockets;
    struct stat local; /* where the local one stands */
    uint64_t look_at;  /* whether it still does; ns */
    int lock, signals;
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

static void fail(const char *what, const char *path) {
    char quoted[LOG_QUOTED], error[LOG_QUOTED];
    const int number = errno;
    log_say(LOG_ERROR, NULL, "failed", "what=%s path=%s error=%s", what, log_quote(path, quoted),
            log_quote(strerror(number), error));
}

/* ---- sockets ---- */

/* Does anybody hear there? */
static bool is_heard(const struct sockaddr_un *at) {
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool heard = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    if (fd >= 0)
        close(fd);
    return heard;
}

/* A keeper with another state may have it; one that was just killed may not have closed it yet. */
static bool is_taken(const struct sockaddr_un *at) {
    for (int i = 0; i < SOCKET_PATIENCE; i++) {
        if (!is_heard(at))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 10 * (long)millisecond}, NULL);
    }
    return true;
}

static int open_local(const struct config *config) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    memcpy(at.sun_path, config->socket, strlen(config->socket) + 1);
    if (is_taken(&at)) {
        errno = EADDRINUSE;
        fail("socket", config->socket);
        return -1;
    }
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(config->socket); /* of one that is dead */
    const mode_t before = umask(0177);
    const bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    umask(before);
    if (bound && config->socket_group &&
        (chown(config->socket, (uid_t)-1, config->socket_gid) || chmod(config->socket, 0660)))
        fail("socket_group", config->socket);
    if (bound)
        return fd;
    fail("socket", config->socket);
    if (fd >= 0)
        close(fd);
    return -1;
}

static int open_udp(const struct config *config) {
    const int fd = socket(config->listen.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, &config->listen.any, config->listen.size) == 0)
        return fd;
    fail("listen", "UDP");
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool open_sockets(struct daemon *d) {
    d->sockets = (struct sockets){.local = open_local(d->roster.config), .udp = -1};
    if (lstat(d->roster.config->socket, &d->local))
        d->local = (struct stat){0};
    if (d->sockets.local >= 0 && d->roster.config->listen.size)
        d->sockets.udp = open_udp(d->roster.config);
    return d->sockets.local >= 0 && (d->sockets.udp >= 0 || !d->roster.config->listen.size);
}

/* Whoever has cleared its directory away has made the keeper deaf: it makes the socket anew. */
static void keep_local(struct daemon *d, uint64_t now) {
    struct stat there;
    if (now < d->look_at)
        return;
    d->look_at = now + 1000 * millisecond;
    const char *path = d->roster.config->socket;
    if (lstat(path, &there) == 0 && there.st_ino == d->local.st_ino && there.st_dev == d->local.st_dev)
        return;
    const int fd = open_local(d->roster.config);
    if (fd < 0)
        return;
    log_say(LOG_WARNING, NULL, "socket-lost", "%s", "and made anew");
    close(d->sockets.local);
    d->sockets.local = fd;
    if (lstat(path, &d->local))
        d->local = (struct stat){0};
}

/* ---- messages ---- */

static void say_power(struct member *m, const struct sockets *sockets, uint64_t now,
                      const struct peer *peer) {
    struct bal_message message;
    if (peer)
        m->app.core.say_at = 0;
    if (bal_keeper_says(&m->app.core, now, &message))
        post_say(&m->post, sockets, &message, peer);
}

static void obey(struct app *app, const struct peer *peer, const struct bal_message *message) {
    if (app->leaving)
        return;
    if (message->type == BAL_MSG_WAKE)
        app->wish = app->core.wanted ? WISH_NONE : WISH_ON;
    if (message->type == BAL_MSG_REST && peer->may_rest) {
        app->wish = WISH_REST;
        app->rest_ns = message->rest.after_ms * millisecond;
    }
}

/* Every app hears it; the receiver in it says whose it is. */
static bool hear_one(struct daemon *d, const uint8_t *bytes, size_t size, const struct address *from,
                     enum bal_receipt *receipt) {
    const uint64_t now = now_ns();
    bool heard = false;
    *receipt = BAL_RECEIPT_STRAY;
    for (size_t i = 0; i < d->roster.count; i++) {
        struct bal_message message;
        enum bal_receipt what;
        if (d->roster.app[i]->config == &d->roster.member[i]->own)
            continue;
        const struct peer *peer =
            post_hear(&d->roster.member[i]->post, now, bytes, size, from, &message, &what);
        if (what != BAL_RECEIPT_STRAY)
            *receipt = what;
        if (!peer)
            continue;
        heard = true;
        obey(d->roster.app[i], peer, &message);
        bounds_apply(d->roster.config, d->roster.app, d->roster.count, now, &d->rng);
        say_power(d->roster.member[i], &d->sockets, now, peer);
    }
    return heard;
}

/* Told when their number has doubled: whoever sends them must not be able to fill the log. */
static void count_dropped(struct daemon *d, enum bal_receipt receipt) {
    d->dropped++;
    if ((d->dropped & (d->dropped - 1)) == 0)
        log_say(LOG_WARNING, NULL, "datagram-dropped", "why=%s so_far=%llu", bal_receipt_name(receipt),
                (unsigned long long)d->dropped);
}

static void hear(struct daemon *d, int fd) {
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
        if (!hear_one(d, bytes, (size_t)size, &from, &receipt))
            count_dropped(d, receipt);
    }
}

/* ---- processes ---- */

static bool is_ours(struct daemon *d, pid_t pid, int status) {
    for (size_t i = 0; i < d->roster.count; i++)
        if (app_reaped(d->roster.app[i], pid, status))
            return true;
    return false;
}

static void reap(struct daemon *d) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (is_ours(d, pid, status) && WIFSIGNALED(status))
            log_say(LOG_ERROR, NULL, "warden-killed", "warden=%d signal=%d", (int)pid, WTERMSIG(status));
}

/* ---- reload ---- */

struct told {
    size_t count;
};

static void log_mistake(void *context, const char *mistake) {
    struct told *told = context;
    char quoted[LOG_QUOTED];
    told->count++;
    log_say(LOG_ERROR, NULL, "config", "mistake=%s", log_quote(mistake, quoted));
}

static void take_config(struct daemon *d, struct config *config) {
    const char *fixed = roster_change(&d->roster, config, now_ns());
    if (!fixed) {
        log_say(LOG_INFO, NULL, "reload", "result=done apps=%zu", d->roster.count);
        return;
    }
    log_say(LOG_ERROR, NULL, "reload", "result=refused mistake=\"%s cannot change without a restart\"",
            fixed);
    config_free(config);
}

static void reload(struct daemon *d) {
    struct told told = {0};
    struct config *config = NULL;
    char text[80];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(now_ns() / 1000));
    notify_send(text);
    if (config_read(d->path, &config, log_mistake, &told) == 0)
        take_config(d, config);
    else
        log_say(LOG_ERROR, NULL, "reload", "result=refused mistakes=%zu", told.count);
    notify_send("READY=1");
}

/* ---- signals and the end ---- */

static void begin_to_stop(struct daemon *d) {
    notify_send("STOPPING=1");
    if (d->stopping || d->roster.config->on_exit == EXIT_LEAVE)
        d->ended = true; /* twice: now */
    d->stopping = true;
    for (size_t i = 0; i < d->roster.count && !d->ended; i++)
        roster_let_go(d->roster.app[i], now_ns());
    log_say(LOG_INFO, NULL, "ending", "apps=%s", d->ended ? "left" : "stopping");
}

static void hear_signals(struct daemon *d) {
    struct signalfd_siginfo info;
    while (read(d->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            begin_to_stop(d);
        if (info.ssi_signo == SIGHUP && !d->stopping)
            reload(d);
    }
}

/* ---- the loop ---- */

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
    for (size_t i = 0; i < d->roster.count; i++) {
        const struct app *app = d->roster.app[i];
        const bool adopted = app->process.pid && !app->process.child && !app->process.ended;
        add_poll(polled, adopted ? app->process.fd : -1, POLLIN);
        add_poll(polled, app->check.config ? app->check.fd : -1,
                 app->check.config ? check_events(&app->check) : 0);
    }
}

static void look_at_polled(struct daemon *d, const struct polled *polled) {
    for (size_t i = 0; i < d->roster.count; i++) {
        struct app *app = d->roster.app[i];
        if (polled->fd[3 + 2 * i].revents)
            app_reaped(app, app->process.pid, -1);
        if (polled->fd[4 + 2 * i].revents && app->check.config)
            app_checked(app, now_ns());
    }
    reap(d);
    if (polled->fd[1].revents)
        hear(d, d->sockets.local);
    if (polled->fd[2].revents)
        hear(d, d->sockets.udp);
    if (polled->fd[0].revents)
        hear_signals(d); /* the last: it may change the apps */
}

/* Time passes for all; returns when it must again. */
static uint64_t pass(struct daemon *d, uint64_t now) {
    uint64_t next = d->watchdog_at;
    bool changed = false;
    for (size_t i = 0; i < d->roster.count; i++) {
        const enum bal_keeper_state before = d->roster.app[i]->told;
        const uint64_t at = app_pass(d->roster.app[i], now);
        next = at < next ? at : next;
        changed = changed || d->roster.app[i]->told != before;
    }
    bounds_apply(d->roster.config, d->roster.app, d->roster.count, now, &d->rng);
    for (size_t i = 0; i < d->roster.count; i++) {
        say_power(d->roster.member[i], &d->sockets, now, NULL);
        next = d->roster.app[i]->core.ordered ? now : next;
    }
    if (changed)
        roster_write_status(&d->roster, now);
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

static void loop(struct daemon *d) {
    struct polled polled = {0};
    while (!d->ended) {
        const uint64_t now = now_ns();
        feed_watchdog(d, now);
        keep_local(d, now);
        const uint64_t next = pass(d, now);
        if (roster_forget(&d->roster, d->stopping, now))
            roster_write_status(&d->roster, now);
        if (d->stopping && d->roster.count == 0)
            break;
        struct pollfd *fd = realloc(polled.fd, (3 + 2 * d->roster.count) * sizeof *fd);
        if (!fd)
            break;
        polled.fd = fd;
        list_polled(d, &polled);
        const int wait = wait_ms(now_ns(), next);
        if (poll(polled.fd, polled.count, wait) >= 0)
            look_at_polled(d, &polled);
    }
    free(polled.fd);
}

/* ---- the beginning ---- */

/* The directory is made if it is not there; nobody else may write in it. */
static bool open_state(const struct config *config) {
    struct stat status;
    if (mkdir(config->state, 0700) && errno != EEXIST) {
        fail("state", config->state);
        return false;
    }
    if (lstat(config->state, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        status.st_mode & 0022) {
        log_say(
            LOG_ERROR, NULL, "failed",
            "what=state path=%s error=\"it must be a directory of this user in which nobody else may write\"",
            config->state);
        return false;
    }
    return true;
}

/* One that was just killed may have a child that has not closed the lock yet. */
static int take_lock(const struct config *config) {
    char path[PATH_MAX];
    app_path(path, config->state, "keeper", "lock");
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    for (int i = 0; fd >= 0 && i < PATIENCE; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&(struct timespec){.tv_nsec = 10 * (long)millisecond}, NULL);
    }
    if (fd >= 0)
        errno = EBUSY;
    fail("another-keeper", path);
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
            log_say(LOG_ERROR, config->app[i].name, "failed",
                    "what=user error=\"only root can run apps as another user\"");
            return false;
        }
    return true;
}

static bool begin(struct daemon *d) {
    uint64_t seed = 0;
    (void)!getrandom(&seed, sizeof seed, 0);
    bal_rng_init(&d->rng, seed, 0, BAL_STREAM_POWER);
    d->signals = catch_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (d->signals < 0 || !may_change_users(d->roster.config) || !open_state(d->roster.config))
        return false;
    d->lock = take_lock(d->roster.config);
    if (d->lock < 0 || !open_sockets(d))
        return false;
    if (!roster_begin(&d->roster, d->roster.config, clock_ns(CLOCK_REALTIME), now_ns()))
        return false;
    d->watchdog = notify_watchdog_ns();
    d->watchdog_at = d->watchdog == NEVER ? NEVER : 0;
    return true;
}

static void end(struct daemon *d) {
    if (d->sockets.local >= 0) {
        unlink(d->roster.config->socket);
        close(d->sockets.local);
    }
    if (d->sockets.udp >= 0)
        close(d->sockets.udp);
    if (d->signals >= 0)
        close(d->signals);
    if (d->lock >= 0)
        close(d->lock);
    roster_fini(&d->roster);
}

int daemon_run(struct config *config, const char *path) {
    struct daemon d = {.path = path, .roster.config = config, .sockets = {-1, -1}, .lock = -1, .signals = -1};
    const bool begun = begin(&d);
    if (begun) {
        log_say(LOG_INFO, NULL, "begun", "apps=%zu pid=%d", d.roster.count, (int)getpid());
        notify_send("READY=1");
        loop(&d);
        log_say(LOG_INFO, NULL, "ended", "%s", "");
    }
    end(&d);
    return begun ? 0 : 1;
}
