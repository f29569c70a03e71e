/* SPDX-License-Identifier: BSD-2-Clause */
/* Supervisors: the command, its output, the supervising process, and the keeper's side of it. */
#include "supervisor.h"

#include "app.h"
#include "event_log.h"
#include "group.h"
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
    LOCK_FD = 3,  /* of the lock, in a supervisor */
    ALIVE_FD = 4, /* of the lock that the app inherits */
    EXEC_FD = 9,  /* closed by the exec of the command, in the command */
    END_BY_FORCE = SIGUSR1,
    GRACE_MS = 1000, /* between asking a hook to end and ending it */
    RECORD_MAX = 160,
    LINE_MAX_BYTES = 300,
    READ_MAX = 65536,
    PIPE_MAX = 1 << 20, /* the largest pipe that any user may set */
    NOT_RUN = 127,      /* exit status of a command that could not be run, as in shells */
};

/* ---- the command itself ---- */

static void set_text(const char *name, const char *value) {
    if (setenv(name, value, 1))
        _exit(NOT_RUN);
}

static void set_environment(const struct supervisor_task *task) {
    const struct app_config *app = task->app;
    const struct passwd *user = getpwuid(app->uid);
    clearenv();
    set_text("BALLAST_APP", app->name); /* first, so that a search need not read the whole environment */
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

/* The byte reports that there will be no exec. */
static void fail_exec(const struct supervisor_task *task, const char *step) {
    char quoted[LOG_QUOTED], name[LOG_QUOTED];
    (void)!write(EXEC_FD, "!", 1);
    log_event(LOG_ERROR, task->app->name, "not-run", "what=%s program=%s step=%s error=%s", task->what,
              log_quote(task->argv[0], name), step, log_quote(strerror(errno), quoted));
    _exit(NOT_RUN);
}

static void become_user(const struct supervisor_task *task) {
    const struct app_config *app = task->app;
    if (!app->user || (app->uid == geteuid() && geteuid() != 0))
        return;
    if (initgroups(app->user, app->gid) || setresgid(app->gid, app->gid, app->gid) ||
        setresuid(app->uid, app->uid, app->uid))
        fail_exec(task, "user");
}

/* Never returns. The log still goes to where it went; the output of the command only from the exec on. */
static void run_command(const struct supervisor_task *task, int output, pid_t supervisor) {
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
        fail_exec(task, "processes");
    set_environment(task);
    if (task->group && *task->group && !group_join(task->group))
        fail_exec(task, "cgroup");
    become_user(task);
    if (chdir(task->app->directory))
        fail_exec(task, "directory");
    if (!task->app->new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        fail_exec(task, "privileges");
    /* Without its supervisor no process would watch it. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != supervisor)
        _exit(NOT_RUN);
    const int log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, ALIVE_FD + 1);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execvp(task->argv[0], task->argv);
    const int error = errno;
    dup2(log, STDERR_FILENO);
    errno = error;
    fail_exec(task, "exec");
}

/* ---- its output ---- */

struct output {
    const struct supervisor_task *task;
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

static void flush_line(struct output *out) {
    char quoted[LOG_QUOTED];
    if (out->used == 0)
        return;
    out->line[out->used] = '\0';
    out->used = 0;
    log_event(LOG_INFO, out->task->app->name, "output", "of=%s text=%s", out->task->what,
              log_quote(out->line, quoted));
}

static void log_bytes(struct output *out, const char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (out->left == 0) {
            out->dropped += size - i;
            return;
        }
        out->left--;
        if (bytes[i] != '\n' && bytes[i])
            out->line[out->used++] = bytes[i];
        if (bytes[i] == '\n' || out->used == LINE_MAX_BYTES)
            flush_line(out);
    }
}

static void log_dropped(struct output *out) {
    if (out->dropped)
        log_event(LOG_WARNING, out->task->app->name, "dropped", "of=%s bytes=%llu", out->task->what,
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
    log_dropped(out);
}

/* Returns false when nothing more is there now. */
static bool read_output(struct output *out) {
    char bytes[READ_MAX];
    if (out->fd < 0)
        return false;
    refill(out);
    const ssize_t size = read(out->fd, bytes, sizeof bytes);
    if (size > 0) {
        log_bytes(out, bytes, (size_t)size);
        return true;
    }
    if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(out->fd);
        out->fd = -1;
    }
    return false;
}

/* ---- the supervisor ---- */

struct process_watch {
    const struct supervisor_task *task;
    pid_t command;
    int signals;
    struct output output;
    int exec;          /* closed by the exec of the command; -1: that has been */
    uint64_t force_at; /* in ms; 0: not yet */
    bool ended;
    int status;
};

/* "PID START SESSION SESSION-START BOOT runs": the supervisor, its command once there is one, the boot of the
 * machine in which these numbers mean something, and whether the command has begun. */
static bool write_record(pid_t command, bool running) {
    char record[RECORD_MAX], boot[PROCESS_BOOT_ID];
    process_boot_id(boot);
    const int size = snprintf(record, sizeof record, "%d %llu %d %llu %s%s\n", (int)getpid(),
                              (unsigned long long)process_start_time(getpid()), (int)command,
                              (unsigned long long)(command ? process_start_time(command) : 0), boot,
                              running ? " runs" : "");
    return pwrite(LOCK_FD, record, (size_t)size, 0) == size;
}

/* Everything that belongs to the keeper alone is closed: its sockets, and the locks of others. */
static void close_other_descriptors(int lock, int alive) {
    const int high = alive < 0 ? -1 : fcntl(alive, F_DUPFD_CLOEXEC, EXEC_FD + 1);
    if (lock != LOCK_FD) {
        dup2(lock, LOCK_FD);
        close(lock);
    }
    if (high >= 0)
        dup2(high, ALIVE_FD); /* without close-on-exec */
    (void)syscall(SYS_close_range, high >= 0 ? ALIVE_FD + 1 : LOCK_FD + 1, ~0U, 0);
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

static void reap_children(struct process_watch *w) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == w->command) {
            w->ended = true;
            w->status = status;
        }
}

static void handle_signals(struct process_watch *w) {
    struct signalfd_siginfo info;
    while (read(w->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM && !w->ended)
            kill(w->command, w->task->bound ? SIGTERM : w->task->app->signal);
        if (info.ssi_signo == SIGTERM && w->task->bound && !w->force_at)
            w->force_at = milliseconds() + GRACE_MS;
        if (info.ssi_signo == END_BY_FORCE)
            w->force_at = 1;
    }
    reap_children(w);
}

static void handle_exec(struct process_watch *w) {
    char byte;
    if (read(w->exec, &byte, 1) == 0)
        (void)write_record(w->command, true); /* overwrites the first record, so no disk space is needed */
    close(w->exec);
    w->exec = -1;
}

static void wait_for_event(struct process_watch *w) {
    struct pollfd fds[] = {{.fd = w->signals, .events = POLLIN},
                           {.fd = w->output.fd, .events = POLLIN},
                           {.fd = w->exec, .events = POLLIN}};
    const bool timed = w->force_at || w->output.dropped;
    poll(fds, 3, timed ? 100 : -1);
    if (fds[2].revents)
        handle_exec(w);
    handle_signals(w);
    read_output(&w->output);
}

/* Until there is no child left, however fast they multiply. */
static void kill_all_children(struct process_watch *w) {
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

static void supervise_command(struct process_watch *w) {
    while (!w->ended && !(w->force_at && milliseconds() >= w->force_at))
        wait_for_event(w);
    if (!(w->task->leaves && w->ended && w->status == 0))
        kill_all_children(w);
    /* What was in the pipe, however large; not what a daemon that stays goes on to write. */
    for (size_t i = 0; i < PIPE_MAX / READ_MAX && read_output(&w->output); i++)
        continue;
    flush_line(&w->output);
    log_dropped(&w->output);
}

static int exit_status(const struct process_watch *w) {
    return WIFEXITED(w->status) ? WEXITSTATUS(w->status) : 128 + WTERMSIG(w->status);
}

/* The end of the pipe that the command has must stand where it is expected. */
static bool open_exec_pipe(struct process_watch *w) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return false;
    w->exec = ends[0];
    return ends[1] == EXEC_FD || (dup3(ends[1], EXEC_FD, O_CLOEXEC) == EXEC_FD && close(ends[1]) == 0);
}

static int run_supervisor(const struct supervisor_task *task, int lock, int alive, pid_t keeper) {
    struct process_watch w = {.task = task};
    int output[2];
    close_other_descriptors(lock, alive);
    setsid();
    prctl(PR_SET_NAME, "ballast-warden");
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || !open_exec_pipe(&w) || pipe2(output, O_CLOEXEC))
        return NOT_RUN;
    w.signals = catch_signals();
    if (w.signals < 0 || (task->bound && (prctl(PR_SET_PDEATHSIG, END_BY_FORCE) || getppid() != keeper)))
        return NOT_RUN;
    /* The disk is full: what outlives its keeper and could not be found again must not run. */
    if (!write_record(0, false) && !task->bound) {
        char quoted[LOG_QUOTED];
        log_event(LOG_ERROR, task->app->name, "no-record", "path=%s error=%s", task->lock,
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
    (void)write_record(w.command, false);
    supervise_command(&w);
    (void)!ftruncate(LOCK_FD, 0); /* what is left in a record is that of a supervisor that was killed */
    return exit_status(&w);
}

/* ---- in the keeper ---- */

/* A descriptor that holds the lock; -1 and errno. */
static int acquire_lock(const char *path) {
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

/* A descriptor that holds the lock which the app inherits. It is for reading alone: what is in the directory
 * is not the app's. -1 and errno. */
static int acquire_alive_lock(const char *state, const char *name) {
    char path[PATH_MAX];
    app_path(path, state, name, "alive");
    const int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool supervisor_is_alive(const char *state, const char *name) {
    const int fd = acquire_alive_lock(state, name);
    const bool held = fd < 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return held;
}

static int begin_process(struct supervisor *supervisor, const struct supervisor_task *task, int lock,
                         int alive) {
    const pid_t keeper = getpid(), pid = fork();
    if (pid == 0)
        _exit(run_supervisor(task, lock, alive, keeper));
    if (pid < 0)
        return errno;
    *supervisor = (struct supervisor){.pid = pid, .child = true, .status = -1};
    supervisor->fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return 0;
}

int supervisor_begin(struct supervisor *supervisor, const struct supervisor_task *task) {
    const int lock = acquire_lock(task->lock);
    if (lock < 0)
        return errno;
    const int alive = task->bound ? -1 : acquire_alive_lock(task->state, task->app->name);
    const int error = alive < 0 && !task->bound ? errno : begin_process(supervisor, task, lock, alive);
    close(lock);
    if (alive >= 0)
        close(alive);
    return error;
}

/* What a supervisor has written of itself and its command. */
struct process_record {
    pid_t pid, session;
    uint64_t start, session_start;
    bool running;
};

static bool read_record(const char *path, struct process_record *record) {
    enum { PID, START, SESSION, SESSION_START, BOOT, RUNS, WORDS };
    char text[RECORD_MAX + 1] = "", boot[PROCESS_BOOT_ID], *word[WORDS] = {NULL}, *save = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    const ssize_t size = pread(fd, text, RECORD_MAX, 0);
    close(fd);
    char *end = size > 0 ? strchr(text, '\n') : NULL;
    if (!end)
        return false;
    *end = '\0';
    for (int i = 0; i < WORDS && (word[i] = strtok_r(i ? NULL : text, " ", &save)); i++)
        continue;
    uint64_t pid, session = 0;
    *record = (struct process_record){0};
    if (!word[START] || !config_whole_number(word[PID], &pid) ||
        !config_whole_number(word[START], &record->start))
        return false;
    record->pid = (pid_t)pid;
    /* Older keepers wrote no session. */
    record->running = (word[RUNS] ? word[RUNS] : word[SESSION]) &&
                      strcmp(word[RUNS] ? word[RUNS] : word[SESSION], "runs") == 0;
    process_boot_id(boot);
    if (word[BOOT] && strcmp(word[BOOT], boot) == 0 && config_whole_number(word[SESSION], &session) &&
        config_whole_number(word[SESSION_START], &record->session_start))
        record->session = (pid_t)session;
    return true;
}

void supervisor_session(const char *lock, pid_t *session, uint64_t *start) {
    struct process_record record = {0};
    (void)read_record(lock, &record);
    *session = record.session;
    *start = record.session_start;
}

void supervisor_clear(const char *lock) {
    const int fd = open(lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)!ftruncate(fd, 0);
    close(fd);
}

enum supervisor_find supervisor_find(struct supervisor *supervisor, const char *path) {
    struct process_record record;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? SUPERVISOR_NONE : SUPERVISOR_UNKNOWN;
    const bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    if (!held)
        return SUPERVISOR_NONE;
    if (!read_record(path, &record))
        return SUPERVISOR_UNKNOWN;
    const int process = process_open(record.pid, record.start);
    if (process < 0)
        return SUPERVISOR_UNKNOWN;
    *supervisor = (struct supervisor){.pid = record.pid, .fd = process, .status = -1};
    return SUPERVISOR_FOUND;
}

bool supervisor_runs(const char *path) {
    struct process_record record;
    return read_record(path, &record) && record.running;
}

static void send_signal(const struct supervisor *supervisor, int signal) {
    if (supervisor->pid && !supervisor->ended)
        (void)syscall(SYS_pidfd_send_signal, supervisor->fd, signal, NULL, 0);
}

void supervisor_stop(const struct supervisor *supervisor) {
    send_signal(supervisor, SIGTERM);
}

void supervisor_kill(const struct supervisor *supervisor) {
    send_signal(supervisor, END_BY_FORCE);
}

void supervisor_release(struct supervisor *supervisor) {
    if (supervisor->pid && supervisor->fd >= 0)
        close(supervisor->fd);
    *supervisor = (struct supervisor){0};
}
