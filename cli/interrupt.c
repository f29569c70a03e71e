#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

volatile int cli_stop;

/* The next one means it and ends the program at once. But programs that run others may send a signal twice,
 * to a process and to its group; so one that follows within half a second is the same. */
static void on_signal(int number) {
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!cli_stop)
        first = now;
    cli_stop = 1;
    const double apart = (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec);
    if (apart > 0.5) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static bool pipes_end_us; /* unless whoever started the program has said otherwise */
static bool reader_gone;

void cli_survive_writing(void) {
    signal(SIGXFSZ, SIG_IGN);
    pipes_end_us = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
}

int cli_fail_printing(const char *what) {
    if (errno != EPIPE || !pipes_end_us)
        return cli_fail("cannot write %sto standard output: %s", what, strerror(errno));
    reader_gone = true;
    return CLI_BAD_INPUT;
}

void cli_end_with_reader(void) {
    if (!reader_gone)
        return;
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
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
