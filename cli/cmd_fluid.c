/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast fluid POLICY: how queue lengths change in a system of very many servers, compared with a simulated
 * one. */
#include "commands.h"

const struct cli_command cmd_fluid = {
    .name = "fluid",
    .summary = "solve the fluid model of a policy over time, and compare with a simulation",
    .operands = "POLICY",
    .description =
        "Prints how the fraction s_i of servers with at least i jobs moves in a system of very many servers, "
        "from a\n"
        "starting state on, and what it tends to. For random, pod, pod-scp, pod-sep, pod-ssp, rcpb and jiq, "
        "with\n"
        "exponential sizes of mean 1; and for tabs and rate-idle with sizes in phases and a load that "
        "varies, "
        "with\n"
        "the fractions of servers that are idle and on, are in set-up and off.",
    .examples =
        "  ballast fluid pod:d=2 --load 0.95 --until 50\n"
        "  ballast fluid rcpb:c=2,mu=9 --simulate 1000 --figure paths.svg\n"
        "  ballast fluid rcpb:c=100,mup=1 --variant high-memory --from full --until 400 --simulate 10k\n"
        "  ballast fluid tabs:mu=0.1,nu=0.1 --load 0.3 --curve 'sine(0.5,60)' --until 200 --simulate 10k\n",
    .question = &bli_question_fluid,
    .run = cli_ask,
};
