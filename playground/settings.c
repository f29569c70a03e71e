/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the words of a comparison into cases, with the parser of the program. */
#include "host.h"

#include "commands.h"

static int read_settings(struct bal_question *question, int count, struct bli_case *cases, size_t *policies) {
    struct bli_request *request = bli_question_request(question);
    struct bal_error err = {0};
    int operands;
    const int status = cli_parse(&cmd_compare, count, play_split(count), request, 0, &operands);
    if (status >= 0)
        return status ? status : CLI_BAD_INPUT;
    if (bli_request_check(request, &err))
        return cli_fail("%s", err.text);
    *policies = request->policies;
    for (size_t i = 0; i < request->policies; i++)
        bli_request_case(request, i, &cases[i]);
    return CLI_OK;
}

int play_settings(int count, struct bli_case *cases, size_t *policies) {
    static struct bal_question *question; /* cases point into it */
    struct bal_error err = {0};
    bal_question_free(question);
    if (bal_question_new("compare", NULL, &question, &err))
        return cli_fail("%s", err.text);
    return read_settings(question, count, cases, policies);
}
