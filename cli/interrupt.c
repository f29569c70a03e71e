#include "cli.h"

#include <signal.h>
#include <string.h>

volatile int cli_stop;

static void on_signal(int number) {
    cli_stop = 1;
    /* The next one means it: the default action ends the program. */
    signal(number, SIG_DFL);
}

void cli_catch_signals(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}
