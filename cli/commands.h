/* SPDX-License-Identifier: BSD-2-Clause */
/* One declaration per command file. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli.h"

extern const struct cli_command cmd_compare;
extern const struct cli_command cmd_figure;
extern const struct cli_command cmd_fit;
extern const struct cli_command cmd_fluid;
extern const struct cli_command cmd_stability;
extern const struct cli_command cmd_check;
extern const struct cli_command cmd_results;
extern const struct cli_command cmd_run;
extern const struct cli_command cmd_help;
extern const struct cli_command cmd_live;
extern const struct cli_command cmd_load;
extern const struct cli_command cmd_paper;
extern const struct cli_command cmd_policies;
extern const struct cli_command cmd_cheapest;
extern const struct cli_command cmd_replay;
extern const struct cli_command cmd_report;
extern const struct cli_command cmd_server;
extern const struct cli_command cmd_test_server;
extern const struct cli_command cmd_priority_share;
extern const struct cli_command cmd_tune;
extern const struct cli_command cmd_twin;
extern const struct cli_command cmd_watch;

void cli_print_overview(FILE *out);
void cli_print_manual(FILE *out);     /* in mdoc */
void cli_print_completion(FILE *out); /* for bash */
int cli_unknown_command(const char *name);

#endif
