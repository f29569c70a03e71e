/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs commands inside another program: output, errors and progress are kept in memory instead of printed. */
#include "embedded.h"

#include "commands.h"

#include "base/c_locale.h"

#include <math.h>
#include <stdlib.h>

const struct cli_command *const cli_commands[] = {
    &cmd_run, &cmd_results, &cmd_policies, &cmd_check, &cmd_figure, &cmd_report, &cmd_fit, &cmd_paper,
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

/* The command that a thread is running, and its output so far. */
struct call {
    const struct bal_command_caller *asker;
    struct bli_strbuf output, failure, warnings;
    unsigned failures; /* lines of failure */
};
static _Thread_local struct call *now;

/* ---- the host ---- */

/* A command that checks files has a line for each mistake. */
void cli_report_error(const char *text) {
    fprintf(now->failure.stream, "%s%s", now->failures++ ? "\n" : "", text);
}

void cli_report_warning(const char *text) {
    fprintf(now->warnings.stream, "%s\n", text);
}

int cli_print(const char *what, const char *text, size_t size) {
    (void)what;
    fwrite(text, 1, size, now->output.stream); /* what gets lost is known when the stream is closed */
    return CLI_OK;
}

const volatile int *cli_stop_flag(void) {
    return now->asker->stop;
}

/* The calling program handles signals. */
void cli_catch_signals(void) {
}

/* Threads of the lab show progress too, and `now` is of another. */
void cli_progress_start(struct cli_progress *progress, bool quiet) {
    *progress = (struct cli_progress){.shown = !quiet && now->asker->progress, .asker = now->asker};
    cli_progress_show(progress, 0);
}

void cli_progress_show(void *context, double part) {
    const struct cli_progress *progress = context;
    const struct bal_command_caller *asker = progress->asker;
    if (progress->shown)
        asker->progress(asker->context, fmin(fmax(part, 0), 1));
}

void cli_progress_end(struct cli_progress *progress) {
    progress->shown = false;
}

/* ---- asking ---- */

static int run_words(int count, char **words) {
    const struct cli_command *command = cli_find_command(words[0]);
    return command ? command->run(command, count, words) : cli_unknown_command(words[0]);
}

void bal_command_result_fini(struct bal_command_result *answer) {
    free(answer->output);
    free(answer->failure);
    free(answer->warnings);
    *answer = (struct bal_command_result){0};
}

int bal_command_run(int count, char **words, const struct bal_command_caller *asker,
                    struct bal_command_result *answer) {
    struct call call = {.asker = asker};
    struct call *const outer = now;
    *answer = (struct bal_command_result){0};
    bool whole = bli_strbuf_open(&call.output);
    whole = bli_strbuf_open(&call.failure) && whole;
    whole = bli_strbuf_open(&call.warnings) && whole;
    now = &call;
    const struct bli_locale_swap swap = bli_locale_enter_c();
    const int status = whole ? run_words(count, words) : CLI_BAD_INPUT;
    bli_locale_leave(swap);
    now = outer;
    whole = bli_strbuf_close(&call.output) && whole;
    whole = bli_strbuf_close(&call.failure) && whole;
    whole = bli_strbuf_close(&call.warnings) && whole;
    *answer = (struct bal_command_result){status, call.output.text, call.failure.text, call.warnings.text};
    if (whole)
        return 0;
    bal_command_result_fini(answer);
    return -1;
}
