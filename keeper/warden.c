#include "warden.h"

#include "log.h"
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LOCK_FD = 3, /* of the lock, in a warden */
    EXEC_FD = 9, /* closed by the exec of the command, in the command */
    END_BY_FORCE = SIGUSR1,
    GRACE_MS = 1000, /* between asking a hook to end and ending it */
    RECORD_MAX = 64,
    LINE_MAX_BYTES = 300,
    READ_MOST = 65536,
    PIPE_MOST = 1 << 20, /* what anybody may make a pipe hold */
    NOT_RUN = 127,       /* exit status of a command that could not be run, as in shells */
};

/* ---- the command itself ---- */

static void set_text(const char *name, const char *value) {
    if (setenv(name, value, 1))
        _exit(NOT_RUN);
}

static void set_environment(const struct warden_task *task) {
    const struct app_config *app = task->app;
    const struct passwd *user = getpwuid(app->uid);
    clearenv();
    set_text("BALLAST_APP", app->name); /* the first: who looks for them does not read all the rest */
    set_text("BALLAST_KEEPER", task->state);
    set_text("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    set_text("LANG", "C.UTF-8");
    if (user) {
        set_text("USER", user->pw_name);
        set_text("HOME", user->pw_dir);
    }
    for (char **entry = app->environment; entry && *entry; entry++)
        putenv(*entry);
}

/* The byte says that there will be no exec. */
static void refuse_to_run(const struct warden_task *task, const char *step) {
    char quoted[LOG_QUOTED], name[LOG_QUOTED];
    (void)!write(EXEC_FD, "!", 1);
    log_say(LOG_ERROR, task->app->name, "not-run", "what=%s program=%s step=%s error=%s", task->what,
            log_quote(task->argv[0], name), step, log_quote(strerror(errno), quoted));
    _exit(NOT_RUN);
}

static void become_user(const struct warden_task *task) {
    const struct app_config *app = task->app;
    if (!app->user || (app->uid == geteuid() && geteuid() != 0))
        return;
    if (initgroups(app->user, app->gid) || setresgid(app->gid, app->gid, app->gid) ||
        setresuid(app->uid, app->uid, app->uid))
        refuse_to_run(task, "user");
}

/* Never returns. The log still goes to where it went; the output of the command only from the exec on. */
static void run_command(const struct warden_task *task, int output, pid_t warden) {
    const struct rlimit processes = {task->app->processes, task->app->processes};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    setsid();
    umask(022);
    if (setrlimit(RLIMIT_NPROC, &processes) && errno != EPERM)
        refuse_to_run(task, "processes");
    set_environment(task);
    become_user(task);
    if (chdir(task->app->directory))
        refuse_to_run(task, "directory");
    if (!task->app->new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        refuse_to_run(task, "privileges");
    /* Without its warden nobody would look after it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != warden)
        _exit(NOT_RUN);
    const int log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, LOCK_FD + 1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(task->argv[0], task->argv);
    const int error = errno;
    dup2(log, STDERR_FILENO);
    errno = error;
    refuse_to_run(task, "exec");
}

/* ---- its output ---- */

struct output {
    const struct warden_task *task;
    int fd; /* -1: closed */
    uint64_t left, dropped;
    uint64_t refill_at; /* in ms */
    char line[LINE_MAX_BYTES + 1];
    size_t used;
};

static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void end_line(struct output *out) {
    char quoted[LOG_QUOTED];
    if (out->used == 0)
        return;
    out->line[out->used] = '\0';
    out->used = 0;
    log_say(LOG_INFO, out->task->app->name, "output", "of=%s text=%s", out->task->what,
            log_quote(out->line, quoted));
}

static void take_bytes(struct output *out, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (out->left == 0) {
            out->dropped += size - i;
            return;
        }
        out->left--;
        if (bytes[i] != '\n' && bytes[i])
            out->line[out->used++] = bytes[i];
        if (bytes[i] == '\n' || out->used == LINE_MAX_BYTES)
            end_line(out);
    }
}

static void tell_dropped(struct output *out) {
    if (out->dropped)
        log_say(LOG_WARNING, out->task->app->name, "dropped", "of=%s bytes=%llu", out->task->what,
                (unsigned long long)out->dropped);
    out->dropped = 0;
}

/* An app that runs on gets a new allowance each second, a hook never. */
static void refill(struct output *out) {
    const uint64_t now = milliseconds();
    if (out->task->bound || now < out->refill_at)
        return;
    out->refill_at = now + 1000;
    out->left = out->task->app->output;
    tell_dropped(out);
}

/* Returns false when nothing more is there now. */
static bool read_output(struct output *out) {
    char bytes[READ_MOST];
    if (out->fd < 0)
        return false;
    refill(out);
    const ssize_t size = read(out->fd, bytes, sizeof bytes);
    if (size > 0) {
        take_bytes(out, bytes, (size_t)size);
        return true;
    }
    if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(out->fd);
        out->fd = -1;
    }
    return false;
}

/* ---- the warden ---- */

struct watch {
    const struct warden_task *task;
    pid_t command;
    int signals;
    struct output output;
    int exec;          /* closed by the exec of the command; -1: that has been */
    uint64_t force_at; /* in ms; 0: not yet */
    bool ended;
    int status;
};

static bool write_record(bool running) {
    char record[RECORD_MAX];
    const int size = snprintf(record, sizeof record, "%d %llu%s\n", (int)getpid(),
                              (unsigned long long)process_start_time(getpid()), running ? " runs" : "");
    return pwrite(LOCK_FD, record, (size_t)size, 0) == size;
}

/* Everything that belongs to the keeper alone is closed: its sockets, and the locks of others. */
static void keep_only(int lock) {
    if (lock != LOCK_FD) {
        dup2(lock, LOCK_FD);
        close(lock);
    }
    (void)syscall(SYS_close_range, LOCK_FD + 1, ~0U, 0);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    close(null);
    (void)fcntl(LOCK_FD, F_SETFD, FD_CLOEXEC);
}

static int catch_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, END_BY_FORCE);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void collect(struct watch *w) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == w->command) {
            w->ended = true;
            w->status = status;
        }
}

static void hear_signals(struct watch *w) {
    struct signalfd_siginfo info;
    while (read(w->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM && !w->ended)
            kill(w->command, w->task->bound ? SIGTERM : w->task->app->signal);
        if (info.ssi_signo == SIGTERM && w->task->bound && !w->force_at)
            w->force_at = milliseconds() + GRACE_MS;
        if (info.ssi_signo == END_BY_FORCE)
            w->force_at = 1;
    }
    collect(w);
}

static void hear_exec(struct watch *w) {
    char byte;
    if (read(w->exec, &byte, 1) == 0)
        (void)write_record(true); /* in the place of the first: there is room */
    close(w->exec);
    w->exec = -1;
}

static void wait_for_something(struct watch *w) {
    struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
                           {.fd = w->output.fd, .events = POLLIN},
                           {.fd = w->exec, .events = POLLIN}};
    const bool timed = w->force_at || w->output.dropped;
    poll(fds, 3, timed ? 100 : -1);
    if (fds[2].revents)
        hear_exec(w);
    hear_signals(w);
    read_output(&w->output);
}

/* Until there is no child left, however fast they multiply. */
static void end_all(struct watch *w) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) != -1) {
        if (pid == w->command) {
            w->ended = true;
            w->status = status;
        }
        if (pid == 0) {
            process_kill_descendants();
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        read_output(&w->output);
    }
}

static void watch_over(struct watch *w) {
    while (!w->ended && !(w->force_at && milliseconds() >= w->force_at))
        wait_for_something(w);
    if (!(w->task->leaves && w->ended && w->status == 0))
        end_all(w);
    /* What was in the pipe, however large; not what a daemon that stays goes on to write. */
    for (size_t i = 0; i < PIPE_MOST / READ_MOST && read_output(&w->output); i++)
        continue;
    end_line(&w->output);
    tell_dropped(&w->output);
}

static int status_of(const struct watch *w) {
    return WIFEXITED(w->status) ? WEXITSTATUS(w->status) : 128 + WTERMSIG(w->status);
}

/* The end of the pipe that the command has must stand where it is expected. */
static bool open_exec_pipe(struct watch *w) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    w->exec = ends[0];
    return ends[1] == EXEC_FD || (dup3(ends[1], EXEC_FD, O_CLOEXEC) == EXEC_FD && close(ends[1]) == 0);
}

static int be_warden(const struct warden_task *task, int lock, pid_t keeper) {
    struct watch w = {.task = task};
    int output[2];
    keep_only(lock);
    setsid();
    prctl(PR_SET_NAME, "ballast-warden");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || !open_exec_pipe(&w) || pipe2(output, O_CLOEXEC))
        return NOT_RUN;
    w.signals = catch_signals();
    if (w.signals < 0 || (task->bound && (prctl(PR_SET_PDEATHSIG, END_BY_FORCE) || getppid() != keeper)))
        return NOT_RUN;
    /* The disk is full: what outlives its keeper and could not be found again must not run. */
    if (!write_record(false) && !task->bound) {
        char quoted[LOG_QUOTED];
        log_say(LOG_ERROR, task->app->name, "no-record", "path=%s error=%s", task->lock,
                log_quote(strerror(errno), quoted));
        return NOT_RUN;
    }
    const pid_t self = getpid();
    w.command = fork();
    if (w.command == 0)
        run_command(task, output[1], self);
    close(output[1]);
    close(EXEC_FD);
    (void)fcntl(output[0], F_SETFL, O_NONBLOCK);
    w.output = (struct output){.task = task, .fd = output[0], .left = task->app->output};
    if (w.command < 0)
        return NOT_RUN;
    watch_over(&w);
    return status_of(&w);
}

/* ---- in the keeper ---- */

/* A descriptor that holds the lock; -1 and errno. */
static int take_lock(const char *path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && ftruncate(fd, 0) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

int warden_begin(struct warden *warden, const struct warden_task *task) {
    const int lock = take_lock(task->lock);
    if (lock < 0)
        return errno;
    const pid_t keeper = getpid(), pid = fork();
    if (pid == 0)
        _exit(be_warden(task, lock, keeper));
    const int error = errno;
    close(lock);
    if (pid < 0)
        return error;
    *warden = (struct warden){.pid = pid, .child = true, .status = -1};
    warden->fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return 0;
}

static bool read_record(const char *path, pid_t *pid, uint64_t *start, bool *running) {
    char record[RECORD_MAX + 1] = "";
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const ssize_t size = pread(fd, record, RECORD_MAX, 0);
    close(fd);
    char *blank = strchr(record, ' '), *end = strchr(record, '\n');
    uint64_t number;
    if (size <= 0 || !blank || !end)
        return false;
    *blank = *end = '\0';
    char *runs = strstr(blank + 1, " runs");
    *running = runs != NULL;
    if (runs)
        *runs = '\0';
    if (!config_whole_number(record, &number) || !config_whole_number(blank + 1, start))
        return false;
    *pid = (pid_t)number;
    return true;
}

enum warden_find warden_find(struct warden *warden, const char *path) {
    uint64_t start;
    pid_t pid;
    bool running;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? WARDEN_NONE : WARDEN_UNKNOWN;
    const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    if (!held)
        return WARDEN_NONE;
    if (!read_record(path, &pid, &start, &running))
        return WARDEN_UNKNOWN;
    const int process = process_open(pid, start);
    if (process < 0)
        return WARDEN_UNKNOWN;
    *warden = (struct warden){.pid = pid, .fd = process, .status = -1};
    return WARDEN_FOUND;
}

bool warden_runs(const char *path) {
    uint64_t start;
    pid_t pid;
    bool running = false;
    return read_record(path, &pid, &start, &running) && running;
}

static void send_signal(const struct warden *warden, int signal) {
    if (warden->pid && !warden->ended)
        (void)syscall(SYS_pidfd_send_signal, warden->fd, signal, NULL, 0);
}

void warden_stop(const struct warden *warden) {
    send_signal(warden, SIGTERM);
}

void warden_kill(const struct warden *warden) {
    send_signal(warden, END_BY_FORCE);
}

void warden_forget(struct warden *warden) {
    if (warden->pid && warden->fd >= 0)
        close(warden->fd);
    *warden = (struct warden){0};
}
