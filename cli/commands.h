/* One declaration per command file. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli.h"

extern const struct cli_command cmd_compare;
extern const struct cli_command cmd_help;
extern const struct cli_command cmd_policies;

void cli_print_overview(FILE *out);
void cli_print_manual(FILE *out); /* in mdoc */
int cli_unknown_command(const char *name);

#endif
