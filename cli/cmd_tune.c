/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast tune: how long an idle server should stay on, or how many requests it should work on at once. */
#include "commands.h"

const struct cli_command cmd_tune = {
    .name = "tune",
    .summary = "find how long idle servers should stay on, or how many requests they should work on at once",
    .operands = "tabs|slots",
    .description =
        "tabs: sweeps the standby time of tabs, after which an idle server switches off, and shows what "
        "it costs in power and\n"
        "waiting, with the knee of the frontier marked; for comparison servers that are always on "
        "(jiq) and one common queue with\n"
        "the same times (delayed-off).\n"
        "slots: gives servers whose speed depends on the number of requests in service the same traffic "
        "with 1, 2, 3, 4, 6, 8, ...\n"
        "slots each, and shows what each number costs. Requests beyond it wait at the server.",
    .examples = "  ballast tune tabs --servers 100 --load 0.3 --setup 10\n"
                "  ballast tune tabs --servers 1000 --load 0.6 --setup 'det(30)' --figure frontier.svg\n"
                "  ballast tune slots --servers 20 --speeds 'batch(8,0.15)' --load 0.8 --target p99=10\n",
    .question = &bli_question_tune,
    .run = cli_ask,
};
