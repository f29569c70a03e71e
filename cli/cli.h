/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands share: the table of commands, declarative options, output, progress, interruption.
 *
 * Results go to stdout, everything else to stderr. Exit status: 0 success, 1 a result that does not pass the
 * check that was asked for, 2 bad input (one line on stderr, nothing on stdout), 130 interrupted. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "ballast/error.h"
#include "question/kind.h"

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CLI_OK = 0, CLI_OUTCOME = 1, CLI_BAD_INPUT = 2, CLI_INTERRUPTED = 130 };

/* ---- commands ---- */

struct cli_command {
    const char *name;
    const char *summary;              /* one line, for the list of commands */
    const char *operands;             /* shown behind the name: "[NAME]"; "" when there are none */
    const char *description;          /* a few sentences for its own help */
    const char *examples;             /* lines, indented by two */
    const struct bli_option *options; /* read them with cli_command_options */
    size_t option_count;
    const struct bli_question_kind *question; /* what it asks, with options of its own; NULL: nothing */
    bool divides;                             /* its work among the processes of mpirun */
    int (*run)(const struct cli_command *command, int argc, char **argv); /* argv[0] is the command's name */
};

/* Those of the host. */
extern const struct cli_command *const cli_commands[];
extern const size_t cli_command_count;
const struct cli_command *cli_find_command(const char *name);

/* The options of a command, settings and groups of them looked up. */
void cli_command_options(const struct cli_command *command, struct bli_options *options);

/* Reads the options of a command into *into. Operands are moved to the front of argv[1..] and their number is
 * left in *operands; at most `most` are taken. Returns -1 to go on; otherwise the exit status (help was
 * printed, or an error). */
int cli_parse(const struct cli_command *command, int argc, char **argv, void *into, int most, int *operands);

void cli_print_help(const struct cli_command *command, FILE *out);

/* The run of a command that asks a question. */
int cli_ask(const struct cli_command *command, int argc, char **argv);

/* Reads logs, with a progress bar, and catches signals from here on. Returns -1 to go on, otherwise the exit
 * status, with the reason printed. The caller ends *logs in any case. */
struct bli_log_request;
struct bli_logs;
int cli_read_logs(const struct bli_log_request *request, const char *const *paths, int count,
                  struct bli_logs *logs);

/* Reports to the host, in one line, why the command fails, and returns CLI_BAD_INPUT. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int cli_no_memory(void); /* the same for lack of memory */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the host ---- */

/* The host runs the commands. It is either the program itself, with standard streams (std_streams.c), signals
 * (interrupt.c) and a progress bar (progress.c), or another program that runs commands in one of its threads
 * and gets all output in memory (embedded.c). Each host implements the functions of this part, cli_stop_flag,
 * cli_catch_signals and the progress. */

/* Prints a message that is not part of the results: one line without control characters and without its
 * newline. */
void cli_report_error(const char *text);
void cli_report_warning(const char *text);

/* Prints, and checks that the output was written. Returns CLI_OK, or CLI_BAD_INPUT after reporting the
 * reason. `what` names the output: "the results ", or "". */
int cli_print(const char *what, const char *text, size_t size);

/* ---- output ---- */

/* Results are gathered in memory and written at the end, so that no partial file is left behind. A path that
 * cannot be written is reported before any work is done. */
struct cli_output {
    FILE *stream; /* write here; NULL when it is closed */
    struct bli_strbuf gather;
    const char *path; /* NULL: stdout */
};
int cli_output_open(struct cli_output *output, const char *path); /* 0, or the exit status */
int cli_output_close(struct cli_output *output);                  /* 0, or the exit status */
void cli_output_discard(struct cli_output *output);

/* The command as it was typed, in one line without control characters, quoted for a shell: text->text, which
 * the caller discards. False without memory. argv[0] is the command's name. */
bool cli_command_text(int argc, char *const *argv, struct bli_strbuf *text);

/* Results must not replace what they are made from: -1 to go on, else the exit status. What says what the
 * input is: "one of the logs". */
int cli_check_not_input(const char *option, const char *path, const char *input, const char *what);

/* ---- interruption ---- */

/* Not 0: the command has been asked to end. */
const volatile int *cli_stop_flag(void);

/* From here on Ctrl-C, SIGTERM and SIGHUP set the flag instead of ending the program; a second Ctrl-C ends it
 * at once. */
void cli_catch_signals(void);

/* ---- progress ---- */

/* A progress bar on stderr, if that is a terminal. For an embedded command, the host is called instead. */
struct cli_progress {
    bool shown;
    double start, last;
    char note[80];     /* shown after the bar; set it before each call of show */
    const void *asker; /* of an embedded command */
};
void cli_progress_start(struct cli_progress *progress, bool quiet);
void cli_progress_show(void *progress, double part); /* fits bli_lab_options.progress */
void cli_progress_end(struct cli_progress *progress);

#endif
