/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast help [COMMAND] */
#include "commands.h"

#include <string.h>

void cli_print_overview(FILE *out) {
    fputs("usage: ballast COMMAND [options]\n\n"
          "Ballast compares and tunes policies that distribute work over many servers.\n\ncommands:\n",
          out);
    for (size_t i = 0; i < cli_command_count; i++)
        fprintf(out, "  %-15s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\nballast help COMMAND tells more about one; ballast --version prints the version.\n"
          "To begin: ballast compare\n",
          out);
}

struct args {
    bool manual, completion;
};

static const struct bli_option options[] = {
    {"manual", NULL, "the whole manual page, as mdoc source", BLI_STORES_FLAG(struct args, manual)},
    {"completion", NULL, "completion of command lines, as bash source",
     BLI_STORES_FLAG(struct args, completion)},
};

static int help_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    if (args.manual || args.completion) {
        (args.manual ? cli_print_manual : cli_print_completion)(stdout);
        return CLI_OK;
    }
    if (operands == 0) {
        cli_print_overview(stdout);
        return CLI_OK;
    }
    const struct cli_command *about = cli_find_command(argv[1]);
    if (!about)
        return cli_unknown_command(argv[1]);
    cli_print_help(about, stdout);
    return CLI_OK;
}

const struct cli_command cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .description = "Lists the commands, or explains one of them with all its options.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = help_main,
};
