/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast report FILE.db: one page that shows everything. */
#include "commands.h"

#include "ballast/report.h"

struct args {
    const char *output;
};

static const struct bli_option options[] = {
    {"output", "FILE", "write the page there, also -o (default: standard output)",
     BLI_STORES_TEXT(struct args, output)},
};

static int report_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    int operands;
    int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("report: name the file of results: ballast report FILE.db -o report.html");
    status = cli_check_not_input("--output", args.output, argv[1], "the file of results");
    if (status >= 0)
        return status;
    struct bal_error err = {0};
    struct bli_store *store;
    if (bli_store_open(argv[1], BLI_STORE_READ, &store, &err))
        return cli_fail("%s", err.text);
    struct cli_output output;
    status = cli_output_open(&output, args.output);
    if (status == CLI_OK && bli_report_write(store, argv[1], output.stream, &err)) {
        cli_output_discard(&output);
        status = cli_fail("%s", err.text);
    } else if (status == CLI_OK) {
        status = cli_output_close(&output);
    }
    bli_store_close(store);
    return status;
}

const struct cli_command cmd_report = {
    .name = "report",
    .summary = "make a page of results: claims, figures, tables",
    .operands = "FILE.db",
    .description = "Writes one HTML page about the experiments in a file of results: their claims, figures "
                   "and tables, and how to\n"
                   "repeat them. The page stands alone: it can be sent, archived and read without a network.",
    .examples = "  ballast run load.yaml --db load.db\n"
                "  ballast report load.db -o report.html\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = report_main,
};
