/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast stability POLICY: the load, or the number of stolen tasks, at which stability ends. */
#include "commands.h"

const struct cli_command cmd_stability = {
    .name = "stability",
    .summary = "find where stability ends: the highest stable load, the least that must be stolen",
    .operands = "POLICY",
    .description =
        "Finds the critical load of a policy by bisection, a sequential test at each load tried; for policy "
        "stealing with\n"
        "--steal constant the critical number of tasks stolen at a time, or with --map that number at many "
        "loads. The\n"
        "probability that any claim is wrong is stated; what could not be decided is said.",
    .examples =
        "  ballast stability stealing --servers 64 --load 0.5 --hosts 1 --steal constant\n"
        "  ballast stability stealing --servers 64 --hosts 1 --steal constant --map --figure map.svg\n"
        "  ballast stability jiq --servers '50x1,50xuniform(1,19)' --slotted\n",
    .question = &bli_question_stability,
    .run = cli_ask,
};
