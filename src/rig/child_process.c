/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts, signals and ends child processes. */
#include "rig/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 5 }; /* seconds */

double bli_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bli_pause(double seconds) {
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

/* In the child. Its own process group: Ctrl-C at the terminal then reaches only this process, which ends the
 * others in order. */
static _Noreturn void exec_child(const char *const argv[], const char *const *environment, const char *log,
                                 int out, int space, int signal_number, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, signal_number);
    if (getppid() != parent)
        _exit(127);
    if (space >= 0 && setns(space, CLONE_NEWNET))
        _exit(127);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
              nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 || nothing < 0)
        _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(out >= 0 ? out : file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    for (; environment && *environment; environment++)
        putenv((char *)*environment);
    execv(argv[0], (char *const *)argv);
    dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

enum bal_code bli_process_start(struct rig_process *process, const char *const argv[],
                                const char *const *environment, const char *log, bool piped, int space,
                                int signal_number, struct bal_error *err) {
    int ends[2] = {-1, -1};
    if (piped && pipe2(ends, O_CLOEXEC))
        return bal_fail(err, BAL_E_IO, "%s cannot be started: %s", argv[0], strerror(errno));
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        exec_child(argv, environment, log, ends[1], space, signal_number, parent);
    const int reason = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    if (pid < 0) {
        if (ends[0] >= 0)
            close(ends[0]);
        return bal_fail(err, BAL_E_IO, "%s cannot be started: %s", argv[0], strerror(reason));
    }
    setpgid(pid, pid);
    *process = (struct rig_process){.pid = pid, .out = ends[0]};
    return BAL_OK;
}

enum bal_code bli_process_run(struct rig_process *process, void (*run)(void *context), void *context,
                              struct bal_error *err) {
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            run(context);
        _exit(0);
    }
    if (pid < 0)
        return bal_fail(err, BAL_E_IO, "no process can be started: %s", strerror(errno));
    setpgid(pid, pid);
    *process = (struct rig_process){.pid = pid, .out = -1};
    return BAL_OK;
}

static void reap_child(struct rig_process *process) {
    if (process->pid > 0)
        kill(-process->pid, SIGKILL); /* workers outlive a master that was killed */
    if (process->pid > 0 && process->out >= 0)
        close(process->out);
    *process = (struct rig_process){.out = -1};
}

bool bli_process_has_ended(struct rig_process *process) {
    if (process->pid > 0 && waitpid(process->pid, NULL, WNOHANG) == process->pid)
        reap_child(process);
    return process->pid <= 0;
}

void bli_process_signal(const struct rig_process *process, int signal_number) {
    if (process->pid > 0)
        kill(process->pid, signal_number);
}

void bli_process_signal_all(const struct rig_process *process, int signal_number) {
    if (process->pid > 0)
        kill(-process->pid, signal_number);
}

/* A stopped process must be continued to receive it. */
void bli_process_terminate(const struct rig_process *process) {
    bli_process_signal(process, SIGTERM);
    bli_process_signal_all(process, SIGCONT);
}

void bli_process_kill(struct rig_process *process) {
    if (process->pid <= 0)
        return;
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    reap_child(process);
}

void bli_process_kill_alone(struct rig_process *process) {
    if (process->pid <= 0)
        return;
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *process = (struct rig_process){.out = -1};
}

void bli_process_end(struct rig_process *process) {
    bli_process_terminate(process);
    for (const double until = bli_clock() + PATIENCE; !bli_process_has_ended(process) && bli_clock() < until;)
        bli_pause(0.002);
    bli_process_kill(process);
}

pid_t bli_process_child(const struct rig_process *process) {
    char path[100], text[400] = "";
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process->pid, (long)process->pid);
    FILE *file = process->pid > 0 ? fopen(path, "re") : NULL;
    const bool read = file && fgets(text, sizeof text, file);
    if (file)
        fclose(file);
    long newest = 0;
    for (char *at = text, *end; read; at = end) {
        const long child = strtol(at, &end, 10);
        if (end == at)
            break;
        newest = child;
    }
    return (pid_t)newest;
}
