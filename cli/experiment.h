/* What the commands on experiments share: naming the store, printing results. */
#ifndef CLI_EXPERIMENT_H
#define CLI_EXPERIMENT_H

#include "cli.h"

#include "ballast/store.h"

/* How results are wanted. */
struct cli_results {
    enum cli_format format;
    const char *output; /* NULL: standard output */
    bool seconds;       /* csv: with a column that differs from run to run */
};

/* Prints everything the store knows of the experiment to an output that has been opened, and closes that.
 * Returns the exit status: CLI_OUTCOME when a claim does not hold. */
int cli_print_experiment(struct bal_store *store, const struct bal_experiment *experiment,
                         const struct cli_results *results, struct cli_output *output);

#endif
