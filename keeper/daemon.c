#include "daemon.h"

#include "app.h"
#include "bounds.h"
#include "log.h"
#include "notify.h"
#include "post.h"

#include <dirent.h>
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

/* An app with its post; one that was left behind by an earlier keeper has a configuration of its own. */
struct member {
    struct app app;
    struct post post;
    struct app_config own;
    char own_name[CONFIG_NAME_MAX + 1];
};

struct daemon {
    const char *path;
    struct config *config;
    struct config **old; /* of apps that are leaving */
    size_t olds;
    struct member **member;
    struct app **app; /* the same */
    size_t count;
    struct sockets sockets;
    int lock, signals;
    struct bal_rng rng;
    uint64_t boot;
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

/* ---- apps ---- */

static bool add_member(struct daemon *d, struct member *m) {
    struct member **member = realloc(d->member, (d->count + 1) * sizeof *member);
    if (member)
        d->member = member;
    struct app **app = realloc(d->app, (d->count + 1) * sizeof *app);
    if (app)
        d->app = app;
    if (!m || !member || !app) {
        free(m);
        return false;
    }
    d->member[d->count] = m;
    d->app[d->count++] = &m->app;
    return true;
}

static bool begin_app(struct daemon *d, const struct app_config *config) {
    struct member *m = calloc(1, sizeof *m);
    if (!add_member(d, m))
        return false;
    app_init(&m->app, config, d->config->state, now_ns());
    return post_init(&m->post, d->config, config, d->boot);
}

static void end_app(struct daemon *d, size_t i) {
    app_fini(&d->member[i]->app);
    post_fini(&d->member[i]->post);
    free(d->member[i]);
    d->count--;
    d->member[i] = d->member[d->count];
    d->app[i] = d->app[d->count];
}

static struct member *find_member(struct daemon *d, const char *name) {
    for (size_t i = 0; i < d->count; i++)
        if (strcmp(d->app[i]->config->name, name) == 0)
            return d->member[i];
    return NULL;
}

/* It is to be off as soon as may be, and is not asked any longer. */
static void let_go(struct app *app, uint64_t now) {
    if (app->leaving)
        return;
    app->leaving = true;
    app->wish = WISH_NONE;
    log_say(LOG_INFO, app->config->name, "leaving", "%s", "");
    bal_keeper_rest(&app->core, now, 0);
}

/* A process of an app that is not in the configuration any longer. */
static void take_stray(struct daemon *d, const char *name) {
    struct member *m = calloc(1, sizeof *m);
    static char empty[] = "";
    static char *nothing[] = {empty, NULL};
    if (!add_member(d, m))
        return;
    memcpy(m->own_name, name, strlen(name) + 1);
    m->own = (struct app_config){.name = m->own_name,
                                 .run.argv = nothing,
                                 .directory = "/",
                                 .signal = SIGTERM,
                                 .times = d->config->app[0].times};
    app_init(&m->app, &m->own, d->config->state, now_ns());
    let_go(&m->app, now_ns());
}

static void find_strays(struct daemon *d) {
    DIR *directory = opendir(d->config->state);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char name[CONFIG_NAME_MAX + 1];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".app") != 0 || dot - entry->d_name > CONFIG_NAME_MAX)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        char path[PATH_MAX];
        struct warden warden = {0};
        app_path(path, d->config->state, name, "app");
        const enum warden_find found = find_member(d, name) ? WARDEN_NONE : warden_find(&warden, path);
        warden_forget(&warden);
        if (found != WARDEN_NONE)
            take_stray(d, name);
    }
    if (directory)
        closedir(directory);
}

/* ---- state for people ---- */

static void print_status(struct daemon *d, FILE *out, uint64_t now) {
    fprintf(out, "%-20s %-9s %-7s %8s %7s %8s %8s\n", "app", "state", "wanted", "warden", "starts",
            "failures", "retry");
    for (size_t i = 0; i < d->count; i++) {
        const struct bal_keeper *core = &d->app[i]->core;
        const uint64_t retry = core->retry_at > now ? (core->retry_at - now) / millisecond / 1000 + 1 : 0;
        fprintf(out, "%-20s %-9s %-7s %8d %7llu %8u %7llus\n", d->app[i]->config->name,
                bal_keeper_state_name(core->state), core->wanted ? "yes" : "no", (int)d->app[i]->process.pid,
                (unsigned long long)core->starts, core->failures, (unsigned long long)retry);
    }
}

static void write_status(struct daemon *d, uint64_t now) {
    char path[PATH_MAX], next[PATH_MAX];
    app_path(path, d->config->state, "keeper", "status");
    app_path(next, d->config->state, "keeper", "status.new");
    FILE *out = fopen(next, "we");
    if (!out)
        return;
    print_status(d, out, now);
    if (fclose(out) == 0)
        (void)rename(next, path);
}

/* ---- sockets ---- */

static int open_local(const struct config *config) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    memcpy(at.sun_path, config->socket, strlen(config->socket) + 1);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(config->socket); /* the lock on the state says that nobody else has it */
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
    d->sockets = (struct sockets){.local = open_local(d->config), .udp = -1};
    if (d->sockets.local >= 0 && d->config->listen.size)
        d->sockets.udp = open_udp(d->config);
    return d->sockets.local >= 0 && (d->sockets.udp >= 0 || !d->config->listen.size);
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
    for (size_t i = 0; i < d->count; i++) {
        struct bal_message message;
        enum bal_receipt what;
        if (d->app[i]->config == &d->member[i]->own)
            continue;
        const struct peer *peer = post_hear(&d->member[i]->post, now, bytes, size, from, &message, &what);
        if (what != BAL_RECEIPT_STRAY)
            *receipt = what;
        if (!peer)
            continue;
        heard = true;
        obey(d->app[i], peer, &message);
        bounds_apply(d->config, d->app, d->count, now, &d->rng);
        say_power(d->member[i], &d->sockets, now, peer);
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
    for (size_t i = 0; i < d->count; i++)
        if (app_reaped(d->app[i], pid, status))
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

/* What is open cannot be changed by a reload. */
static const char *fixed_change(const struct config *a, const struct config *b) {
    if (strcmp(a->socket, b->socket) != 0)
        return "socket";
    if (strcmp(a->state, b->state) != 0)
        return "state";
    if (a->fleet != b->fleet)
        return "fleet";
    if (a->listen.size != b->listen.size || memcmp(&a->listen.room, &b->listen.room, a->listen.size) != 0)
        return "listen";
    return NULL;
}

/* An app goes on as it is; how it is started and stopped is new from now on. What is supervised cannot turn
 * into what is not while it runs. */
static bool change_app(struct daemon *d, struct member *m, const struct app_config *config) {
    const bool kind = (m->app.config->run.argv != NULL) == (config->run.argv != NULL);
    if (m->app.leaving || !kind || m->app.config->id != config->id)
        return false;
    m->app.config = config;
    m->app.core.config = config->times;
    return post_change(&m->post, d->config, config);
}

static bool is_in_use(const struct daemon *d, const struct config *config) {
    for (size_t i = 0; i < d->count; i++)
        if (d->app[i]->config >= config->app && d->app[i]->config < config->app + config->apps)
            return true;
    return false;
}

static void free_old(struct daemon *d) {
    for (size_t i = 0; i < d->olds;)
        if (is_in_use(d, d->old[i])) {
            i++;
        } else {
            config_free(d->old[i]);
            d->old[i] = d->old[--d->olds];
        }
}

static const struct app_config *find_config(const struct config *config, const char *name) {
    for (size_t i = 0; i < config->apps; i++)
        if (strcmp(config->app[i].name, name) == 0)
            return &config->app[i];
    return NULL;
}

/* Apps that are new begin when nobody of their name is leaving. */
static void add_new_apps(struct daemon *d) {
    for (size_t i = 0; i < d->config->apps; i++)
        if (!find_member(d, d->config->app[i].name))
            begin_app(d, &d->config->app[i]);
}

static void take_config(struct daemon *d, struct config *config) {
    const uint64_t now = now_ns();
    d->old[d->olds++] = d->config;
    d->config = config;
    for (size_t i = 0; i < d->count; i++) {
        const struct app_config *next = find_config(config, d->app[i]->config->name);
        d->app[i]->state = config->state;
        if (!next || !change_app(d, d->member[i], next))
            let_go(d->app[i], now);
    }
    add_new_apps(d);
}

static void reload(struct daemon *d) {
    struct told told = {0};
    struct config *config = NULL;
    char text[80];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(now_ns() / 1000));
    notify_send(text);
    struct config **old = realloc(d->old, (d->olds + 1) * sizeof *old);
    if (old)
        d->old = old;
    if (old && config_read(d->path, &config, log_mistake, &told) == 0) {
        const char *what = fixed_change(d->config, config);
        if (what) {
            log_say(LOG_ERROR, NULL, "reload",
                    "result=refused mistake=\"%s cannot change without a restart\"", what);
            config_free(config);
        } else {
            take_config(d, config);
            log_say(LOG_INFO, NULL, "reload", "result=done apps=%zu", d->count);
        }
    } else {
        log_say(LOG_ERROR, NULL, "reload", "result=refused mistakes=%zu", told.count);
    }
    notify_send("READY=1");
}

/* ---- signals and the end ---- */

static void begin_to_stop(struct daemon *d) {
    notify_send("STOPPING=1");
    if (d->stopping || d->config->on_exit == EXIT_LEAVE)
        d->ended = true; /* twice: now */
    d->stopping = true;
    for (size_t i = 0; i < d->count && !d->ended; i++)
        let_go(d->app[i], now_ns());
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
    for (size_t i = 0; i < d->count; i++) {
        const struct app *app = d->app[i];
        const bool adopted = app->process.pid && !app->process.child && !app->process.ended;
        add_poll(polled, adopted ? app->process.fd : -1, POLLIN);
        add_poll(polled, app->check.config ? app->check.fd : -1,
                 app->check.config ? check_events(&app->check) : 0);
    }
}

static void look_at_polled(struct daemon *d, const struct polled *polled) {
    for (size_t i = 0; i < d->count; i++) {
        struct app *app = d->app[i];
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
    for (size_t i = 0; i < d->count; i++) {
        const enum bal_keeper_state before = d->app[i]->told;
        const uint64_t at = app_pass(d->app[i], now);
        next = at < next ? at : next;
        changed = changed || d->app[i]->told != before;
    }
    bounds_apply(d->config, d->app, d->count, now, &d->rng);
    for (size_t i = 0; i < d->count; i++) {
        say_power(d->member[i], &d->sockets, now, NULL);
        next = d->app[i]->core.ordered ? now : next;
    }
    if (changed)
        write_status(d, now);
    return next;
}

static void forget_those_who_left(struct daemon *d) {
    const size_t before = d->count;
    for (size_t i = 0; i < d->count;)
        if (d->app[i]->leaving && app_is_off(d->app[i]))
            end_app(d, i);
        else
            i++;
    if (d->count == before)
        return;
    if (!d->stopping)
        add_new_apps(d);
    free_old(d);
    write_status(d, now_ns());
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
        uint64_t now = now_ns();
        feed_watchdog(d, now);
        const uint64_t next = pass(d, now);
        forget_those_who_left(d);
        if (d->stopping && d->count == 0)
            break;
        struct pollfd *fd = realloc(polled.fd, (3 + 2 * d->count) * sizeof *fd);
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
    for (int i = 0; fd >= 0 && i < 200; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
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
    d->boot = clock_ns(CLOCK_REALTIME);
    d->signals = catch_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (d->signals < 0 || !may_change_users(d->config) || !open_state(d->config))
        return false;
    d->lock = take_lock(d->config);
    if (d->lock < 0 || !open_sockets(d))
        return false;
    for (size_t i = 0; i < d->config->apps; i++)
        if (!begin_app(d, &d->config->app[i]))
            return false;
    find_strays(d);
    d->watchdog = notify_watchdog_ns();
    d->watchdog_at = d->watchdog == NEVER ? NEVER : 0;
    return true;
}

static void end(struct daemon *d) {
    while (d->count)
        end_app(d, 0);
    if (d->sockets.local >= 0) {
        unlink(d->config->socket);
        close(d->sockets.local);
    }
    if (d->sockets.udp >= 0)
        close(d->sockets.udp);
    if (d->signals >= 0)
        close(d->signals);
    if (d->lock >= 0)
        close(d->lock);
    for (size_t i = 0; i < d->olds; i++)
        config_free(d->old[i]);
    config_free(d->config);
    free(d->old);
    free(d->member);
    free(d->app);
}

int daemon_run(struct config *config, const char *path) {
    struct daemon d = {.path = path, .config = config, .sockets = {-1, -1}, .lock = -1, .signals = -1};
    const bool begun = begin(&d);
    if (begun) {
        log_say(LOG_INFO, NULL, "begun", "apps=%zu pid=%d", d.count, (int)getpid());
        notify_send("READY=1");
        loop(&d);
        log_say(LOG_INFO, NULL, "ended", "%s", "");
    }
    end(&d);
    return begun ? 0 : 1;
}
