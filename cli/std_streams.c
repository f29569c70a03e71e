/* SPDX-License-Identifier: BSD-2-Clause */
/* The standard streams of the program: results on the one, everything else on the other. */
#include "std_streams.h"

#include "cli.h"

#include "format/file.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static bool pipes_end_us; /* unless the parent process has set it otherwise */
static bool reader_gone;

void cli_ignore_sigpipe(void) {
    signal(SIGXFSZ, SIG_IGN);
    pipes_end_us = signal(SIGPIPE, SIG_IGN) != SIG_IGN;
}

int cli_fail_printing(const char *what) {
    if (errno != EPIPE || !pipes_end_us)
        return cli_fail("cannot write %sto standard output: %s", what, strerror(errno));
    reader_gone = true;
    return CLI_BAD_INPUT;
}

void cli_reraise_sigpipe(void) {
    if (!reader_gone)
        return;
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

void cli_report_error(const char *text) {
    fprintf(stderr, "ballast: %s\n", text);
}

void cli_report_warning(const char *text) {
    fprintf(stderr, "ballast: %s\n", text);
}

int cli_print(const char *what, const char *text, size_t size) {
    if (fflush(stdout) == 0 && bli_file_write_all(STDOUT_FILENO, text, size))
        return CLI_OK;
    return cli_fail_printing(what);
}
