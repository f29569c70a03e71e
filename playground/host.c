/* SPDX-License-Identifier: BSD-2-Clause */
/* The host of commands in the browser: what they print, their failures and their progress go to the page.
 * Functions that a browser does not have are here too, and report that. */
#include "host.h"

#include "ballast/fluid.h"
#include "commands.h"
#include "format/file.h"
#include "plugin/loader.h"
#include "workload/spool.h"

#include <stdlib.h>
#include <string.h>

const struct bli_question_kind *const bli_question_kinds[] = {&bli_question_compare, NULL};
const struct cli_command *const cli_commands[] = {&cmd_compare};
const size_t cli_command_count = 1;

void cli_report_error(const char *text) {
    page_tell(text, strlen(text));
}

void cli_report_warning(const char *text) {
    page_tell(text, strlen(text));
}

int cli_print(const char *what, const char *text, size_t size) {
    (void)what;
    page_print(text, size);
    return CLI_OK;
}

/* A run that is no longer needed ends with its web worker. */
const volatile int *cli_stop_flag(void) {
    static volatile int never;
    return &never;
}

void cli_catch_signals(void) {
}

void cli_progress_start(struct cli_progress *progress, bool quiet) {
    *progress = (struct cli_progress){.shown = !quiet};
}

void cli_progress_show(void *context, double part) {
    const struct cli_progress *progress = context;
    if (progress->shown)
        page_progress(part);
}

void cli_progress_end(struct cli_progress *progress) {
    progress->shown = false;
}

/* ---- what is not here ---- */

enum bal_code bli_file_check(const char *path, struct bal_error *err) {
    return bal_fail(err, BAL_E_IO, "'%s': a page cannot write files; leave it out", path);
}

enum bal_code bli_file_write(const char *path, const char *text, size_t size, struct bal_error *err) {
    (void)text, (void)size;
    return bli_file_check(path, err);
}

enum bal_code bli_spool_read(const struct bli_spool *spool, uint64_t from, void *data, size_t size,
                             struct bal_error *err) {
    (void)spool, (void)from, (void)data, (void)size;
    return bal_fail(err, BAL_E_IO, "a page has no files to read recorded jobs from");
}

/* The fluid equations need SUNDIALS; closed forms and fixed points are all here. */
enum bal_code bli_fluid_path_init(struct bli_fluid_path *path, const struct bli_fluid_model *model,
                                  const double *start, size_t levels, const double *time, size_t times,
                                  struct bal_error *err) {
    (void)path, (void)model, (void)start, (void)levels, (void)time, (void)times;
    return bal_fail(err, BAL_E_MODEL,
                    "the fluid equations are not integrated here; use the program: ballast fluid");
}

void bli_fluid_path_fini(struct bli_fluid_path *path) {
    (void)path;
}

/* ---- words of a command ---- */

static char *words;

char *play_words(size_t size) {
    free(words);
    words = calloc(1, size + 1);
    return words;
}

char **play_split(int count) {
    static char *word[256];
    char *at = words;
    for (int i = 0; i < count && i < 255; i++, at += strlen(at) + 1)
        word[i] = at;
    word[count < 255 ? count : 255] = NULL;
    return word;
}

int play_compare(int count) {
    return cmd_compare.run(&cmd_compare, count, play_split(count));
}
