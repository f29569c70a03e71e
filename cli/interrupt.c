/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end a command: the first one sets a flag, so that results so far can be saved. */
#include "cli.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static volatile int stop;

/* The second signal ends the program at once. But programs that run others may send a signal twice, to a
 * process and to its group, so a signal within half a second counts as the same one. */
static void on_signal(int number) {
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!stop)
        first = now;
    stop = 1;
    const double apart = (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
    if (apart > 0.5) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

const volatile int *cli_stop_flag(void) {
    return &stop;
}

static void catch_unless_ignored(int number, const struct sigaction *action) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, action, NULL);
}

void cli_catch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    catch_unless_ignored(SIGHUP, &action); /* which nohup asks for */
    catch_unless_ignored(SIGQUIT, &action);
}
