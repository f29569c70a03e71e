/* SPDX-License-Identifier: BSD-2-Clause */
/* Examines a policy in a process of its own, because the policy may crash it. */
#include "ballast/plugin.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXAMINE_SECONDS = 60,
    REJECTED = 1,
    EXAMINED = 77
}; /* EXAMINED: the child's exit status for a good policy, so that a policy that exits by itself is noticed */

static enum bal_code examine_policy(const char *text, struct bal_error *err) {
    struct bal_policy_spec spec;
    const enum bal_code code =
        bal_plugin_is_path(text) ? bal_plugin_parse(text, &spec, err) : bal_policy_parse(text, &spec, err);
    return code ? code : bal_policy_examine(&spec, err);
}

static void run_child(const char *text, int result) {
    struct bal_error err = {0};
    sigset_t none;
    sigemptyset(&none);
    signal(SIGALRM, SIG_DFL); /* the caller's handler would keep it alive, and so would its mask */
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    alarm(EXAMINE_SECONDS);
    const bool failed = examine_policy(text, &err);
    const ssize_t written = write(result, err.text, strlen(err.text));
    _exit(failed || written < 0 ? REJECTED : EXAMINED);
}

static void read_result(int from, struct bal_error *err) {
    size_t length = 0;
    for (;;) {
        const ssize_t got = read(from, err->text + length, sizeof err->text - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    err->text[length] = 0;
}

static enum bal_code describe_end(const char *text, int status, const struct bal_error *found,
                                  struct bal_error *err) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        return bal_fail(err, BAL_E_MODEL,
                        "%s: it could not be examined in %d seconds; a decision never waits", text,
                        EXAMINE_SECONDS);
    if (WIFSIGNALED(status))
        return bal_fail(err, BAL_E_MODEL, "%s: it was ended by signal %d (%s) while it was examined", text,
                        WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != EXAMINED)
        return bal_fail(err, BAL_E_MODEL, "%s: %s", text,
                        *found->text ? found->text : "it ended the program while it was examined");
    return BAL_OK;
}

static enum bal_code run_examination(const char *text, struct bal_error *err) {
    int ends[2];
    if (pipe(ends))
        return bal_fail(err, BAL_E_IO, "cannot make a pipe: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0)
        run_child(text, ends[1]);
    const int reason = errno;
    close(ends[1]);
    struct bal_error found = {0};
    if (child > 0)
        read_result(ends[0], &found);
    close(ends[0]);
    if (child < 0)
        return bal_fail(err, BAL_E_IO, "cannot make a process: %s", strerror(reason));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return bal_fail(err, BAL_E_IO, "%s: its examination was lost: %s", text, strerror(errno));
    return describe_end(text, status, &found, err);
}

/* A handler of the caller that waits for any child, as nginx has one, must not take the result of this one.
 */
enum bal_code bal_plugin_examine(const char *text, struct bal_error *err) {
    sigset_t child, mask;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &mask);
    const enum bal_code code = run_examination(text, err);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    return code;
}
