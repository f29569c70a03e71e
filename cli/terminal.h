/* SPDX-License-Identifier: BSD-2-Clause */
/* A terminal that shows one screen, redraws it and reads keys. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>

struct cli_terminal {
    bool able; /* standard output is a terminal that can be drawn on, and standard input is a keyboard */
    unsigned rows, columns;
    unsigned first; /* line of the text that is shown first */
};

/* Takes over the terminal if it can be drawn on; cli_terminal_end() restores it. */
void cli_terminal_begin(struct cli_terminal *terminal);
void cli_terminal_end(struct cli_terminal *terminal);

/* Shows as much of the text as fits; lines that are too long are cut. */
void cli_terminal_show(struct cli_terminal *terminal, const char *text);

enum cli_key { CLI_NO_KEY, CLI_KEY_QUIT, CLI_KEY_UP, CLI_KEY_DOWN, CLI_KEY_OTHER, CLI_KEY_RESIZED };
/* Waits for so many seconds, or until a key is pressed or the window changes. */
enum cli_key cli_terminal_wait(struct cli_terminal *terminal, double seconds);

#endif
