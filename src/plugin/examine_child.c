/* SPDX-License-Identifier: BSD-2-Clause */
/* Examines a policy in a process of its own, because the policy may crash it, or never return. */
#include "plugin/examine.h"
#include "plugin/loader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    EXAMINE_SECONDS = 60,
    NAP_MS = 2, /* between two looks whether the child has ended */
    REJECTED = 1,
    EXAMINED = 77
}; /* EXAMINED: the child's exit status for a good policy, so that a policy that exits by itself is noticed */

static enum bal_code examine_policy(const char *text, struct bal_error *err) {
    struct bal_policy_spec spec;
    const enum bal_code code =
        bli_plugin_is_path(text) ? bli_plugin_parse(text, &spec, err) : bal_policy_parse(text, &spec, err);
    return code ? code : bli_policy_examine(&spec, err);
}

/* The alarm is for a child whose caller was killed: a policy can cancel it, so the caller has a time of its
 * own. */
static void run_child(const char *text, unsigned limit, int result) {
    struct bal_error err = {0};
    sigset_t none;
    sigemptyset(&none);
    signal(SIGALRM, SIG_DFL); /* the caller's handler would keep it alive, and so would its mask */
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    alarm(limit + 1);
    const bool failed = examine_policy(text, &err);
    const ssize_t written = write(result, err.text, strlen(err.text));
    _exit(failed || written < 0 ? REJECTED : EXAMINED);
}

/* ---- the caller ---- */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until the other end is closed, by all processes that have it, or the time is over. */
static void read_result(int from, int64_t deadline, struct bal_error *err) {
    size_t length = 0;
    for (int64_t left; (left = deadline - now_ms()) > 0;) {
        struct pollfd readable = {.fd = from, .events = POLLIN};
        if (poll(&readable, 1, (int)left) <= 0)
            continue;
        const ssize_t got = read(from, err->text + length, sizeof err->text - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    err->text[length] = 0;
}

/* True: it has ended, by the deadline or by being killed then. */
static bool wait_for_child(pid_t child, int64_t deadline, int *status, bool *killed) {
    const struct timespec nap = {0, NAP_MS * 1000000};
    *killed = false;
    for (pid_t ended; (ended = waitpid(child, status, *killed ? 0 : WNOHANG)) != child;) {
        if (ended < 0 && errno != EINTR)
            return false;
        if (ended == 0 && now_ms() < deadline)
            nanosleep(&nap, NULL);
        else if (ended == 0)
            *killed = kill(child, SIGKILL) == 0;
    }
    return true;
}

static enum bal_code describe_end(const char *text, int status, const struct bal_error *found,
                                  struct bal_error *err) {
    if (WIFSIGNALED(status))
        return bal_fail(err, BAL_E_MODEL, "%s: it was ended by signal %d (%s) while it was examined", text,
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != EXAMINED)
        return bal_fail(err, BAL_E_MODEL, "%s: %s", text,
                        *found->text ? found->text : "it ended the program while it was examined");
    return BAL_OK;
}

static enum bal_code await_child(const char *text, pid_t child, int from, unsigned limit,
                                 struct bal_error *err) {
    const int64_t deadline = now_ms() + (int64_t)limit * 1000;
    struct bal_error found = {0};
    int status = 0;
    bool killed;
    read_result(from, deadline, &found);
    if (!wait_for_child(child, deadline, &status, &killed))
        return bal_fail(err, BAL_E_IO, "%s: its examination was lost: %s", text, strerror(errno));
    if (killed)
        return bal_fail(err, BAL_E_MODEL,
                        "%s: it could not be examined in %u seconds; a decision never waits", text, limit);
    return describe_end(text, status, &found, err);
}

static enum bal_code run_examination(const char *text, unsigned limit, struct bal_error *err) {
    int ends[2];
    if (pipe(ends))
        return bal_fail(err, BAL_E_IO, "cannot make a pipe: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0)
        run_child(text, limit, ends[1]);
    const int reason = errno;
    close(ends[1]);
    const enum bal_code code = child < 0
                                   ? bal_fail(err, BAL_E_IO, "cannot make a process: %s", strerror(reason))
                                   : await_child(text, child, ends[0], limit, err);
    close(ends[0]);
    return code;
}

/* A handler of the caller that waits for any child, as nginx has one, must not take the result of this one.
 */
enum bal_code bli_plugin_examine_within(const char *text, unsigned limit, struct bal_error *err) {
    sigset_t child, mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &mask);
    const enum bal_code code = run_examination(text, limit, err);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return code;
}

enum bal_code bli_plugin_examine(const char *text, struct bal_error *err) {
    return bli_plugin_examine_within(text, EXAMINE_SECONDS, err);
}
