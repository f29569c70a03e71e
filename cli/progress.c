/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress bar on stderr. */
#include "cli.h"

#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30, COLUMNS = 80 /* where the terminal does not report its size */ };

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A terminal that can go back to the start of a line and clear it. */
static bool is_able(void) {
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

/* What is longer than a line of the terminal would begin another one each time. */
static void cut_line(char *line) {
    struct winsize size;
    const bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
    unsigned room = told ? size.ws_col - 1u : COLUMNS - 1;
    const char *at = line;
    while (*at && room--)
        bli_utf8_decode(&at, NULL);
    line[at - line] = '\0';
}

void cli_progress_start(struct cli_progress *progress, bool quiet) {
    *progress = (struct cli_progress){.shown = !quiet && is_able(), .start = clock_now()};
    cli_progress_show(progress, 0);
}

void cli_progress_show(void *context, double part) {
    struct cli_progress *progress = context;
    const double now = clock_now();
    if (!progress->shown || (now - progress->last < 0.1 && part > 0 && part < 1))
        return;
    progress->last = now;
    const double elapsed = now - progress->start;
    char left[40] = "", line[200];
    if (part > 0.02 && elapsed > 0.5)
        snprintf(left, sizeof left, ", %.0f s left", ceil(elapsed * (1 - part) / part));
    const int done = (int)(part * WIDTH);
    bli_utf8_tame(progress->note, "");
    snprintf(line, sizeof line, "[%.*s%*s] %3.0f %%%s%s%s", done, "##############################",
             WIDTH - done, "", 100 * part, *progress->note ? ", " : "", progress->note, left);
    cut_line(line);
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
}

void cli_progress_end(struct cli_progress *progress) {
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
