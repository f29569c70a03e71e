/* A terminal that shows one screen again and again, and hears keys. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

struct cli_terminal {
    bool able; /* standard output is a terminal that can be drawn on, and standard input hears keys */
    unsigned rows, columns;
    unsigned first; /* line of the text that is shown first */
};

/* Takes the terminal over where it is able; cli_terminal_end() gives it back as it was. */
void cli_terminal_begin(struct cli_terminal *terminal);
void cli_terminal_end(struct cli_terminal *terminal);

/* Shows as much of the text as there is room for; lines that are too long are cut. */
void cli_terminal_show(struct cli_terminal *terminal, const char *text);

enum cli_key { CLI_NO_KEY, CLI_KEY_QUIT, CLI_KEY_UP, CLI_KEY_DOWN, CLI_KEY_OTHER, CLI_KEY_RESIZED };
/* Waits for so many seconds, or until something has happened. */
enum cli_key cli_terminal_wait(struct cli_terminal *terminal, double seconds);

#endif
