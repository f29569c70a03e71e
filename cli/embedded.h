/* Commands inside another program, in any of its threads: nothing is printed, no signal is caught, and what
 * the command would print comes back as text. The Python package is made with it
 * (docs/decisions/0025-python.md).
 *
 * The commands are those that answer with JSON: cli_commands in embedded.c. */
#ifndef CLI_EMBEDDED_H
#define CLI_EMBEDDED_H

struct bal_asker {
    const volatile int *stop; /* when set and not 0, the command ends early; may be NULL */
    /* Called now and then from one of the threads, never from two at once, with the share of the work that is
     * done, 0 to 1; may be NULL. */
    void (*progress)(void *context, double part);
    void *context;
};

struct bal_answer {
    int status;     /* the exit status of the command: CLI_OK and so on */
    char *output;   /* what it prints; never NULL */
    char *failure;  /* when the status is CLI_BAD_INPUT: why, in one line; else "" */
    char *warnings; /* lines, each with its end; "" without any */
};

/* Runs `ballast words[0] words[1] ...`, the words being as those of main: at least one, NULL behind the last,
 * and their order is changed. Returns 0, or -1 without memory for the answer, which is then empty. */
int bal_ask(int count, char **words, const struct bal_asker *asker, struct bal_answer *answer);
void bal_answer_fini(struct bal_answer *answer);

#endif
