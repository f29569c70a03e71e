/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast help [COMMAND] */
#include "commands.h"

#include "report/report_columns.h"

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
    bool manual, completion, columns, schema;
};

static const struct bli_option options[] = {
    {"manual", NULL, "the whole manual page, as mdoc source", BLI_STORES_FLAG(struct args, manual)},
    {"completion", NULL, "completion of command lines, as bash source",
     BLI_STORES_FLAG(struct args, completion)},
    {"columns", NULL,
     "what the columns of the command's csv and JSON are; without a command, of all, in Markdown",
     BLI_STORES_FLAG(struct args, columns)},
    {"schema", NULL, "the JSON schema of what the command prints as JSON; without a command, of all",
     BLI_STORES_FLAG(struct args, schema)},
};

static int print_columns(const struct args *args, const char *name) {
    const struct cli_command *about = name ? cli_find_command(name) : NULL;
    if (name && !about)
        return cli_unknown_command(name);
    struct cli_output output;
    const int status = cli_output_open(&output, NULL);
    if (status)
        return status;
    const char *command = about ? about->name : NULL;
    const enum bli_table_style style = name ? BLI_TABLE_RULED : BLI_TABLE_MARKDOWN;
    if (args->schema ? bli_columns_schema(command, output.stream)
                     : bli_columns_print(command, style, output.stream))
        return cli_output_close(&output);
    cli_output_discard(&output);
    return cli_fail("%s: it prints no columns; ballast help --columns lists those of all that do", command);
}

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
    if (args.columns || args.schema)
        return print_columns(&args, operands ? argv[1] : NULL);
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
