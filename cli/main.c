/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast: finds the command and runs it. */
#include "commands.h"
#include "mpi_sweep.h"
#include "std_streams.h"

#include "ballast/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

const struct cli_command *const cli_commands[] = {
    &cmd_compare, &cmd_replay,    &cmd_twin,     &cmd_fit,    &cmd_cheapest, &cmd_priority_share,
    &cmd_tune,    &cmd_stability, &cmd_fluid,    &cmd_report, &cmd_figure,   &cmd_paper,
    &cmd_run,     &cmd_check,     &cmd_results,  &cmd_live,   &cmd_load,     &cmd_test_server,
    &cmd_watch,   &cmd_server,    &cmd_policies, &cmd_help,
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

static int run_command(int argc, char **argv) {
    if (argc < 2) {
        cli_print_overview(stderr);
        return CLI_BAD_INPUT;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("ballast " BALLAST_VERSION);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        cli_print_overview(stdout);
        return CLI_OK;
    }
    const struct cli_command *command = cli_find_command(argv[1]);
    if (!command)
        return cli_unknown_command(argv[1]);
    const int status = command->divides ? -1 : cli_mpi_check_alone(command->name);
    return status < 0 ? command->run(command, argc - 1, argv + 1) : status;
}

/* Where a standard stream is closed its number must not go to a file that is opened later: what is printed
 * would end there. Opened the wrong way round, it still refuses to be used. */
static void reserve_std_fds(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            abort();
}

int main(int argc, char **argv) {
    reserve_std_fds();
    cli_ignore_sigpipe();
    int status = run_command(argc, argv);
    /* Check that all output was written. A command that failed has reported that itself. */
    if (status == CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = cli_fail_printing("");
    cli_reraise_sigpipe();
    return status;
}
