/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands inside another program, in any of its threads: nothing is printed, no signal is caught, and what
 * the command would print comes back as text. The Python package uses this
 * (docs/decisions/0025-python.md).
 *
 * The commands are cli_commands in embedded.c. */
#ifndef CLI_EMBEDDED_H
#define CLI_EMBEDDED_H

#include "ballast/policy.h"

struct bal_command_caller {
    const volatile int *stop; /* when set and not 0, the command ends early; may be NULL */
    /* Called from time to time from one of the threads, never from two at once, with the share of the work
     * that is done, 0 to 1. May be NULL. */
    void (*progress)(void *context, double part);
    void *context;
    /* Policies that the caller decides itself: their names, NULL after the last; may be NULL. The command
     * must be told to use one thread: they are called in that of the caller. A command that one of them runs
     * there has those of the outer command, and none of its own. */
    const char *const *policies;
    /* A dispatcher starts, in front of so many servers: what its state is called when route is. */
    uint64_t (*start)(void *context, uint32_t policy, uint32_t servers);
    /* The server for a job of `count` tasks; one that may not be chosen is replaced by one that may. */
    uint32_t (*route)(void *context, uint32_t policy, uint64_t instance, struct bal_fleet *fleet,
                      uint32_t count, uint32_t rank, struct bal_rng *rng);
};

struct bal_command_result {
    int status;     /* the exit status of the command: CLI_OK and so on */
    char *output;   /* what it prints; never NULL */
    char *failure;  /* when the status is CLI_BAD_INPUT: why, in one line (of `check` in several); else "" */
    char *warnings; /* lines, each with its end; "" without any */
};

/* Runs `ballast words[0] words[1] ...`, with words as in main's argv: at least one, NULL after the last.
 * Their order is changed. Returns 0, or -1 without memory for the answer, which is then empty. */
int bal_command_run(int count, char **words, const struct bal_command_caller *asker,
                    struct bal_command_result *answer);
void bal_command_result_fini(struct bal_command_result *answer);

/* For the caller's route: the functions of ballast/policy.h that are no symbols. Probes are counted. `open`
 * has room for all servers, gets the numbers of those that may be chosen, ascending, and their count is
 * returned. */
uint32_t bal_command_fleet_probe(struct bal_fleet *fleet, uint32_t server);
double bal_command_fleet_work(struct bal_fleet *fleet, uint32_t server);
double bal_command_fleet_weight(const struct bal_fleet *fleet, uint32_t server);
bool bal_command_fleet_is_open(const struct bal_fleet *fleet, uint32_t server);
uint32_t bal_command_fleet_open(const struct bal_fleet *fleet, uint32_t *open);
uint64_t bal_command_random(struct bal_rng *rng);

#endif
