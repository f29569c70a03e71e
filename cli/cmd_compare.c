/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast compare: several policies on one fleet, compared. */
#include "commands.h"

const struct cli_command cmd_compare = {
    .name = "compare",
    .summary = "compare policies on one fleet: response times, messages, memory",
    .operands = "",
    .description =
        "Simulates each policy on the same fleet with the same arrivals and prints the mean response time "
        "with its\n"
        "95 % confidence interval, percentiles, messages and memory, compared with theory. Best first.",
    .examples = "  ballast compare\n"
                "  ballast compare --servers 50x1,50x10 --load 0.8\n"
                "  ballast compare --policy pod:d=2 --policy jiq --service 'lognormal(4)' --precision 0.01\n",
    .question = &bli_question_compare,
    .run = cli_ask,
};
