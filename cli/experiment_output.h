/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands on experiments share: naming the store, printing results. */
#ifndef CLI_EXPERIMENT_OUTPUT_H
#define CLI_EXPERIMENT_OUTPUT_H

#include "cli.h"

#include "ballast/store.h"
#include "report/raw_results.h"

/* How trials are run. The request of a command that runs them begins with it. */
struct cli_trials {
    enum bal_mode mode;
    double threads; /* 0: one for each processor */
    bool quiet;
};

#define CLI_THREADS_OPTION                                                                                   \
    {                                                                                                        \
        "threads", "K", "threads to use (default: all processors); results do not depend on it",             \
            cli_set_trial_threads                                                                            \
    }
#define CLI_QUIET_OPTION                                                                                     \
    { "quiet", NULL, "no progress bar", cli_set_trial_quiet }

/* Setters of these options and of --quick and --full; into is a struct cli_trials. */
enum bal_code cli_set_quick(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_full(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_trial_threads(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_trial_quiet(void *into, const char *value, struct bal_error *err);

/* How results are wanted. */
struct cli_results {
    enum bal_form format;
    const char *output;           /* NULL: standard output */
    const enum bal_raw_kind *raw; /* NULL: results; else what they were computed from, as csv or JSON */
    bool seconds;                 /* csv: with a column that differs from run to run */
};

/* Prints all results that the store has of the experiment to an open output, and closes it. Returns the exit
 * status: CLI_OUTCOME when a claim or a finding does not hold. */
int cli_print_experiment(struct bal_store *store, const struct bal_experiment *experiment,
                         const struct cli_results *results, struct cli_output *output);

#endif
