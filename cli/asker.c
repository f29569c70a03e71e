/* SPDX-License-Identifier: BSD-2-Clause */
/* What a question tells a command: progress and warnings. */
#include "asker.h"

/* One bar for what is done after each other, until something else begins. */
static void show_progress(void *context, const char *doing, double part) {
    struct cli_asker *asker = context;
    if (!asker->shown || (part == 0 && doing != asker->doing)) {
        cli_progress_end(&asker->bar);
        cli_progress_start(&asker->bar, asker->quiet);
        asker->shown = true;
    }
    asker->doing = doing;
    snprintf(asker->bar.note, sizeof asker->bar.note, "%s", doing ? doing : "");
    cli_progress_show(&asker->bar, part);
}

static void warn(void *context, const char *text, bool of_answer) {
    struct cli_asker *asker = context;
    if (of_answer)
        fprintf(asker->notes.stream, "%s\n", text);
    else
        cli_report_warning(text);
}

struct bal_question_host cli_asker_host(struct cli_asker *asker) {
    return (struct bal_question_host){
        .stop = cli_stop_flag(), .progress = show_progress, .warn = warn, .context = asker};
}

int cli_asker_fail(enum bal_code code, const struct bal_error *err) {
    if (code != BAL_E_STOPPED)
        return cli_fail("%s", err->text);
    cli_warn("interrupted");
    return CLI_INTERRUPTED;
}
