/* SPDX-License-Identifier: BSD-2-Clause */
/* The progress bar on stderr. */
#include "cli.h"

#include "base/utf8.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30 };

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_start(struct cli_progress *progress, bool quiet) {
    *progress = (struct cli_progress){.shown = !quiet && isatty(STDERR_FILENO), .start = clock_now()};
    cli_progress_show(progress, 0);
}

void cli_progress_show(void *context, double part) {
    struct cli_progress *progress = context;
    const double now = clock_now();
    if (!progress->shown || (now - progress->last < 0.1 && part > 0 && part < 1))
        return;
    progress->last = now;
    const double elapsed = now - progress->start;
    char left[40] = "";
    if (part > 0.02 && elapsed > 0.5)
        snprintf(left, sizeof left, ", %.0f s left", ceil(elapsed * (1 - part) / part));
    const int done = (int)(part * WIDTH);
    bal_utf8_tame(progress->note, "");
    fprintf(stderr, "\r[%.*s%*s] %3.0f %%%s%s%s\033[K", done, "##############################", WIDTH - done,
            "", 100 * part, *progress->note ? ", " : "", progress->note, left);
    fflush(stderr);
}

void cli_progress_end(struct cli_progress *progress) {
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
