/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast-demo: the command `compare` as a program of its own. `make demo` builds it, because it takes half
 * of the time that the whole program takes. */
#include "commands.h"
#include "std_streams.h"

const struct bli_question_kind *const bli_question_kinds[] = {&bli_question_compare, NULL};
const struct cli_command *const cli_commands[] = {&cmd_compare};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

int main(int argc, char **argv) {
    cli_ignore_sigpipe();
    int status = cmd_compare.run(&cmd_compare, argc, argv);
    if (status == CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = cli_fail_printing("");
    cli_reraise_sigpipe();
    return status;
}
