/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast live FILE: the policies of a file in front of real servers, compared with the lab's predictions. */
#include "commands.h"
#include "experiment_output.h"
#include "programs.h"

#include "report/live_report.h"
#include "report/outcome.h"
#include "rig/measure_live.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct args {
    struct cli_trials trials; /* first: its options are shared */
    const char *file;
    const char *db;     /* NULL: the name of the experiment, in the current directory */
    const char *module; /* NULL: where it is looked for */
    bool again;
    struct cli_results results;
};

static enum bal_code set_module(void *into, const char *value, struct bal_error *err) {
    if (access(value, R_OK) != 0)
        return bal_fail(err, BAL_E_IO, "cannot be read");
    ((struct args *)into)->module = value;
    return BAL_OK;
}

static const struct bli_option options[] = {
    CLI_STORE_OPTION(struct args),
    {"again", NULL, "measure again what has been measured already", BLI_STORES_FLAG(struct args, again)},
    {"module", "FILE", "the module for nginx (default: next to ballast, or where nginx has its modules)",
     set_module},
    CLI_TRIAL_OPTIONS,
    CLI_RESULT_OPTIONS(struct args),
    CLI_QUIET_OPTION,
};

/* ---- measuring ---- */

static void show_measuring(void *context, double part, const char *label, unsigned round, unsigned rounds) {
    struct cli_progress *bar = context;
    snprintf(bar->note, sizeof bar->note, "round %u of %u: %.40s", round, rounds, label);
    cli_progress_show(bar, part);
}

static enum bal_code measure_live(const struct args *args, const struct bli_experiment *e,
                                  struct bli_store *store, struct bal_error *err) {
    struct cli_programs found;
    struct cli_progress bar = {.shown = false};
    struct rig_outcome outcome;
    struct rig_options rig = {.programs = cli_find_programs(&found),
                              .stop = cli_stop_flag(),
                              .again = args->again,
                              .progress = show_measuring,
                              .context = &bar};
    char *module = args->module ? realpath(args->module, NULL) : NULL;
    if (module)
        rig.programs.module = module;
    cli_progress_start(&bar, args->trials.quiet);
    const enum bal_code code = bli_measure(e, store, &rig, &outcome, err);
    cli_progress_end(&bar);
    free(module);
    if (!code && outcome.measured == 0)
        cli_warn("all of it has been measured already; --again measures it again");
    if (!code && outcome.measured > 0 && e->live->urgent && !outcome.urgent)
        cli_warn("the processes could not go before others of this machine (that takes the right to use "
                 "SCHED_FIFO); what disturbs them is measured too");
    return code;
}

static void show_lab(void *context, const struct bli_sweep_progress *progress) {
    struct cli_progress *bar = context;
    snprintf(bar->note, sizeof bar->note, "the lab: %zu/%zu trials", progress->done, progress->total);
    cli_progress_show(bar, progress->cost_total > 0 ? progress->cost_done / progress->cost_total : 1);
}

static enum bal_code simulate_live(const struct args *args, const struct bli_experiment *e,
                                   struct bli_store *store, struct bal_error *err) {
    struct cli_progress bar = {.shown = false};
    const struct bli_sweep_options sweep = {.threads = (unsigned)args->trials.threads,
                                            .stop = cli_stop_flag(),
                                            .progress = show_lab,
                                            .progress_context = &bar};
    cli_progress_start(&bar, args->trials.quiet);
    const enum bal_code code = bli_sweep_run(e, store, &sweep, err);
    cli_progress_end(&bar);
    return code;
}

static enum bal_code print_outcome(const struct args *args, const struct bli_experiment *e,
                                   struct bli_store *store, FILE *out, struct bal_error *err) {
    struct bli_rows *rows = BLI_ROWS(args->results.format, out);
    return rows->csv ? bli_outcome_print(store, e, NULL, false, rows, err)
                     : bli_live_report_print(store, e, rows, err);
}

static int run_live(const struct args *args, const struct bli_experiment *e, struct bli_store *store,
                    struct cli_output *output) {
    struct bal_error err = {0};
    cli_catch_signals();
    enum bal_code code = measure_live(args, e, store, &err);
    if (!code)
        code = bli_store_adopt_delays(store, e, &err);
    if (!code)
        code = simulate_live(args, e, store, &err);
    if (!code)
        code = print_outcome(args, e, store, output->stream, &err);
    if (!code)
        return cli_output_close(output);
    cli_output_discard(output);
    if (code != BAL_E_STOPPED)
        return cli_fail("%s", err.text);
    cli_warn("interrupted: %s; they are kept in %s, and the same command goes on from there", err.text,
             args->db);
    return CLI_INTERRUPTED;
}

static int read_and_run(struct args *args) {
    struct bli_experiment *e;
    struct bal_error err = {0};
    if (bli_experiment_read(args->file, args->trials.mode, &e, &err))
        return cli_fail("%s", err.text);
    char *name = NULL;
    if (!args->db && asprintf(&name, "%s.db", e->name) > 0)
        args->db = name;
    struct bli_store *store = NULL;
    struct cli_output output;
    int status = args->db ? CLI_OK : cli_no_memory();
    if (status == CLI_OK && !e->live)
        status = cli_fail("%s: it has no `live`, which says how to measure; `ballast run` simulates it",
                          args->file);
    if (status == CLI_OK)
        status = cli_output_open(&output, args->results.output);
    if (status == CLI_OK && bli_store_open(args->db, BLI_STORE_WRITE, &store, &err)) {
        cli_output_discard(&output);
        status = cli_fail("%s", err.text);
    }
    if (status == CLI_OK)
        status = run_live(args, e, store, &output);
    bli_store_close(store);
    bli_experiment_free(e);
    free(name);
    return status;
}

static int live_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("live: name the file: ballast live FILE.yaml");
    args.file = argv[1];
    return read_and_run(&args);
}

const struct cli_command cmd_live = {
    .name = "live",
    .summary = "benchmark policies on real servers of this machine and compare with the simulator",
    .operands = "FILE.yaml",
    .description =
        "Starts servers, stations and dispatchers (nginx with the module, and nginx's and HAProxy's\n"
        "own ways to choose) on loopback in a private directory, sends them the requests that the\n"
        "lab would simulate, in short blocks by turns, ends them, and compares what was measured with\n"
        "what the lab predicts for the same fleet. The file is an experiment file with a part `live`.\n"
        "Blocks are kept as trials of `run` are: interrupted, it goes on with the same command;\n"
        "`ballast report` draws them. No process and no file is left behind, however it ends.",
    .examples = "  ballast live examples/live/demo.yaml\n"
                "  ballast live examples/live/faults.yaml --again --format json\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = live_main,
};
