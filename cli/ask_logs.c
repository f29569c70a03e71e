/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads access logs for commands that ask no question. */
#include "asker.h"

#include "question/read_logs.h"

int cli_read_logs(const struct bli_log_request *request, const char *const *paths, int count,
                  struct bli_logs *logs) {
    struct cli_asker asker = {.quiet = request->common.quiet};
    const struct bal_question_host host = cli_asker_host(&asker);
    const struct bli_asking asking = {.host = &host};
    struct bal_error err = {0};
    cli_catch_signals();
    const enum bal_code code = bli_read_logs(request, paths, (size_t)count, &asking, logs, &err);
    cli_progress_end(&asker.bar);
    return code ? cli_asker_fail(code, &err) : -1;
}
