/* SPDX-License-Identifier: BSD-2-Clause */
/* What the commands on experiments share: naming the store, printing results. */
#ifndef CLI_EXPERIMENT_OUTPUT_H
#define CLI_EXPERIMENT_OUTPUT_H

#include "cli.h"

#include "ballast/store.h"
#include "report/raw_results.h"

/* How trials are run. The request of a command that runs them begins with it. */
struct cli_trials {
    enum bli_mode mode;
    double threads; /* 0: one for each processor */
    bool quiet;
};

#define CLI_STORE_OPTION(type)                                                                               \
    {                                                                                                        \
        "db", "FILE", "keep the results there (default: NAME.db here, after NAME.yaml)",                     \
            BLI_STORES_TEXT(type, db)                                                                        \
    }
#define CLI_TRIAL_OPTIONS                                                                                    \
    {"quick", NULL, "with what the file says under quick", cli_set_quick},                                   \
        {"full", NULL, "with what the file says under full", cli_set_full}, CLI_THREADS_OPTION
/* Of a member `results` of the request, a struct cli_results. */
#define CLI_RESULT_OPTIONS(type)                                                                             \
    {"format", "FORM", "text, markdown, csv or json (default text)", BLI_STORES_FORM(type, results.format)}, \
    {                                                                                                        \
        "output", "FILE", "write the results there (default: standard output)",                              \
            BLI_STORES_TEXT(type, results.output)                                                            \
    }
#define CLI_SECONDS_OPTION(type)                                                                             \
    {                                                                                                        \
        "seconds", NULL, "csv: add the processor time, which differs from run to run",                       \
            BLI_STORES_FLAG(type, results.seconds)                                                           \
    }
#define CLI_THREADS_OPTION                                                                                   \
    {                                                                                                        \
        "threads", "K", "threads to use (default: all processors); results do not depend on it",             \
            BLI_STORES_WHOLE(struct cli_trials, threads, 1, 1024, "a whole number from 1 to 1024")           \
    }
#define CLI_QUIET_OPTION                                                                                     \
    { "quiet", NULL, "no progress bar", BLI_STORES_FLAG(struct cli_trials, quiet) }

/* Setters of --quick and --full; into is a struct cli_trials. */
enum bal_code cli_set_quick(void *into, const char *value, struct bal_error *err);
enum bal_code cli_set_full(void *into, const char *value, struct bal_error *err);

/* How results are wanted. */
struct cli_results {
    enum bli_form format;
    const char *output;           /* NULL: standard output */
    const enum bli_raw_kind *raw; /* NULL: results; else what they were computed from, as csv or JSON */
    bool seconds;                 /* csv: with a column that differs from run to run */
};

/* Prints all results that the store has of the experiment to an open output, and closes it. Returns the exit
 * status: CLI_OUTCOME when a claim or a finding does not hold. */
int cli_print_experiment(struct bli_store *store, const struct bli_experiment *experiment,
                         const struct cli_results *results, struct cli_output *output);

#endif
