/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast priority-share: how large may the share of high-priority jobs be? */
#include "commands.h"

const struct cli_command cmd_priority_share = {
    .name = "priority-share",
    .summary = "how many jobs may have high priority, for a wanted gain and loss",
    .operands = "",
    .description =
        "Finds the largest share of high-priority jobs at which these are --gain times as fast as under pod "
        "with d1\n"
        "probes, while low-priority jobs take at most --loss times as long: by theory for many servers, and\n"
        "then by simulation at that share, which confirms it if both are met to within 1 % or its error. "
        "Exits\n"
        "with 1 if there is no such share or it is not confirmed.",
    .examples = "  ballast priority-share --load 0.95 --d1 2 --d2 4 --gain 2.5 --loss 2\n"
                "  ballast priority-share --policy pod-sep:d=2 --loss 1.5 --theory-only\n",
    .question = &bli_question_priority_share,
    .run = cli_ask,
};
