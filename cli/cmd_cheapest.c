/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast cheapest: what policies cost and what that buys; and the cheapest one for a wanted delay. */
#include "commands.h"

const struct cli_command cmd_cheapest = {
    .name = "cheapest",
    .summary = "what policies cost in messages and memory, and the cheapest for a wanted delay",
    .operands = "",
    .description = "Prints for each policy its mean waiting time by simulation and theory, its messages per "
                   "job, its bits of\n"
                   "memory, how these grow with the number of servers, and whether the waiting time can "
                   "vanish as it grows.\n"
                   "With --delay it looks for the cheapest policies and parameters that wait no longer, by "
                   "theory first and\n"
                   "confirmed by simulation; exit status 1 when there is none.",
    .examples = "  ballast cheapest --servers 1000\n"
                "  ballast cheapest --servers 1000 --delay 0.5 --messages 1 --memory 40\n"
                "  ballast cheapest --policy rcpb:c=2,mup=1 --policy rcpb:c=20,mup=1 --policy jiq\n",
    .question = &bli_question_cheapest,
    .run = cli_ask,
};
