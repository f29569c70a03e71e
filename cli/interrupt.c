#include "cli.h"

#include <signal.h>
#include <string.h>
#include <time.h>

static volatile int stop;

/* The next one means it and ends the program at once. But programs that run others may send a signal twice,
 * to a process and to its group; so one that follows within half a second is the same. */
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

void cli_catch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* which nohup asks for */
        sigaction(SIGHUP, &action, NULL);
}
