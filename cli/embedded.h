/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands on files inside another program, in any of its threads: nothing is printed, no signal is caught,
 * and what the command would print comes back as text. The Python package uses this for what is no question
 * (ballast/question.h, docs/decisions/0025-python.md).
 *
 * The commands are cli_commands in embedded.c. */
#ifndef CLI_EMBEDDED_H
#define CLI_EMBEDDED_H

struct bal_command_caller {
    const volatile int *stop; /* when set and not 0, the command ends early; may be NULL */
    /* Called from time to time from one of the threads, never from two at once, with the share of the work
     * that is done, 0 to 1. May be NULL. */
    void (*progress)(void *context, double part);
    void *context;
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

#endif
