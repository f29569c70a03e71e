/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the words of a comparison into cases, with the parser of the program. */
#include "host.h"

#include "common.h"

static const struct cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_POLICY_OPTION,
    CLI_RUN_OPTIONS,
};

static const struct cli_command command = {
    .name = "compare",
    .summary = "",
    .operands = "",
    .description = "",
    .examples = "",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

int play_settings(int count, struct bal_case *cases, size_t *policies) {
    static struct cli_common common;
    cli_common_init(&common, &command);
    int operands;
    int status = cli_parse(&command, count, play_split(count), &common, 0, &operands);
    if (status < 0)
        status = cli_common_check(&common);
    if (status >= 0)
        return status ? status : 2;
    *policies = common.policies;
    for (size_t i = 0; i < common.policies; i++)
        cases[i] = cli_common_draft(&common, i).c;
    return 0;
}
