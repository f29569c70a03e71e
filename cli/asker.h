/* SPDX-License-Identifier: BSD-2-Clause */
/* A command as the host of a question (ballast/question.h): progress on the bar, warnings at once or below
 * the answer, the end of it as an exit status. */
#ifndef CLI_ASKER_H
#define CLI_ASKER_H

#include "cli.h"

/* All zero bytes at first. */
struct cli_asker {
    struct cli_progress bar;
    bool quiet, shown;
    const char *doing;
    struct bli_strbuf notes; /* about the whole answer: lines */
};

struct bal_question_host cli_asker_host(struct cli_asker *asker);

/* Why there is no answer, as an exit status, and printed. */
int cli_asker_fail(enum bal_code code, const struct bal_error *err);

#endif
