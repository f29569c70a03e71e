/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast run FILE: runs an experiment, stores every trial, prints the results. */
#include "commands.h"
#include "experiment_output.h"
#include "mpi_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct args {
    struct cli_trials trials; /* first: its options are shared */
    const char *file;
    const char *db; /* NULL: the name of the experiment, in the current directory */
    bool dry_run;
    struct bli_shard shard;
    struct bli_strbuf command;
    struct cli_results results;
};

/* "2/16": the second of 16. */
static enum bal_code set_shard(void *into, const char *value, struct bal_error *err) {
    static const char *const what =
        "not NUMBER/COUNT such as 2/16, with a number from 1 to the count of shards";
    struct bli_shard *shard = &((struct args *)into)->shard;
    const size_t number = strspn(value, "0123456789"), slash = value[number] == '/';
    const size_t count = strspn(value + number + slash, "0123456789");
    if (!slash || number < 1 || number > 7 || count < 1 || count > 7 || value[number + slash + count] != 0)
        return bal_fail(err, BAL_E_MODEL, "%s", what);
    shard->number = (unsigned)strtoul(value, NULL, 10);
    shard->count = (unsigned)strtoul(value + number + slash, NULL, 10);
    return shard->number >= 1 && shard->number <= shard->count ? BAL_OK
                                                               : bal_fail(err, BAL_E_MODEL, "%s", what);
}

static const struct bli_option options[] = {
    CLI_STORE_OPTION(struct args),
    {"dry-run", NULL, "say what would be run and about how long it would take; run nothing",
     BLI_STORES_FLAG(struct args, dry_run)},
    {"shard", "I/N", "run the I-th of N parts of the trials, to be merged with `ballast results merge`",
     set_shard},
    CLI_TRIAL_OPTIONS,
    CLI_RESULT_OPTIONS(struct args),
    CLI_SECONDS_OPTION(struct args),
    CLI_QUIET_OPTION,
};

/* ---- what would be run ---- */

static double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds for a unit of work on a free processor, from a short trial of each policy in the middle of the
 * sweep: enough for an estimate. */
static double measure_speed(const struct bli_experiment *e) {
    static const double units = 3e5; /* some ten milliseconds */
    double seconds = 0, cost = 0;
    for (size_t p = 0; p < e->policies; p++) {
        struct bli_case c;
        struct bli_trial trial = {.engine = BLI_ENGINE_AUTO};
        bli_experiment_case(e, e->points / 2, p, &c);
        const double whole = bli_case_cost(&c);
        if (whole > units)
            c.run.time = fmax(1, c.run.time * units / whole);
        const double start = processor_time();
        if (bli_simulate(&c.model, &c.policy, &c.run, &trial, NULL) != BAL_OK)
            continue;
        seconds += processor_time() - start;
        cost += bli_case_cost(&c);
    }
    return cost > 0 ? seconds / cost : 0;
}

static void print_duration(double seconds, FILE *out) {
    if (seconds < 120)
        fprintf(out, "%.0f s", ceil(seconds));
    else if (seconds < 7200)
        fprintf(out, "%.0f min", seconds / 60);
    else
        fprintf(out, "%.1f h", seconds / 3600);
}

static void print_plan(const struct bli_experiment *e, FILE *out) {
    fprintf(out, "%s\n", e->title);
    for (size_t a = 0; a < e->axes; a++) {
        fprintf(out, "axis %s:", e->axis[a].name);
        for (size_t i = 0; i < e->axis[a].count; i++)
            fprintf(out, " %s", e->axis[a].value[i].label);
        fputc('\n', out);
    }
    for (size_t point = 0; point < e->points; point++)
        for (size_t p = 0; p < e->policies; p++) {
            struct bli_case c;
            char where[300], policy[300];
            bli_experiment_case(e, point, p, &c);
            bli_experiment_point_text(e, point, where, sizeof where);
            bal_policy_print(&c.policy, policy, sizeof policy);
            fprintf(out, "%s%s%s: %u%s replications of time %g, %.0f jobs, seed %llu\n", where,
                    *where ? " " : "", policy, c.replications, c.precision > 0 ? " or more" : "", c.run.time,
                    c.run.time * bli_model_arrival_rate(&c.model), (unsigned long long)c.run.seed);
        }
}

static int dry_run(const struct args *args, const struct bli_experiment *e, struct bli_store *store,
                   struct cli_output *output) {
    struct bal_error err = {0};
    struct bli_sweep_progress work;
    if (bli_sweep_status(e, store, &work, &err)) {
        cli_output_discard(output);
        return cli_fail("%s", err.text);
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const double threads = args->trials.threads > 0 ? args->trials.threads
                           : processors > 0         ? (double)processors
                                                    : 1;
    print_plan(e, output->stream);
    fprintf(output->stream, "%zu points x %zu policies: %zu trials, %zu of them done; the rest takes about ",
            e->points, e->policies, work.total, work.done);
    print_duration(work.cost_total * measure_speed(e) / threads, output->stream);
    fprintf(output->stream, " on %.0f thread%s\n", threads, threads > 1 ? "s" : "");
    return cli_output_close(output);
}

/* ---- running ---- */

/* Shows trials as well as the part of the work. */
struct run_show {
    struct cli_progress bar;
};

static void show_progress(void *context, const struct bli_sweep_progress *progress) {
    struct run_show *show = context;
    const double seconds = clock_now() - show->bar.start;
    const size_t fresh = progress->done - progress->found;
    snprintf(show->bar.note, sizeof show->bar.note, "%zu/%zu trials, %.3g/s", progress->done, progress->total,
             seconds > 0 ? (double)fresh / seconds : 0);
    cli_progress_show(&show->bar, progress->cost_total > 0 ? progress->cost_done / progress->cost_total : 1);
}

/* A shard has no results of its own, only trials. */
static int print_shard(const struct args *args, struct cli_output *output) {
    fprintf(output->stream,
            "shard %u of %u is done and in %s; when all are: ballast results merge FILE.db... -o ALL.db\n",
            args->shard.number, args->shard.count, args->db);
    return cli_output_close(output);
}

static int run_experiment(const struct args *args, const struct bli_experiment *e, struct bli_store *store,
                          struct cli_output *output) {
    cli_catch_signals();
    struct run_show show = {.bar = {.shown = false}};
    cli_progress_start(&show.bar, args->trials.quiet);
    const struct bli_sweep_options sweep = {.shard = args->shard,
                                            .command = args->command.text,
                                            .threads = (unsigned)args->trials.threads,
                                            .stop = cli_stop_flag(),
                                            .progress = show_progress,
                                            .progress_context = &show};
    struct bal_error err = {0};
    const enum bal_code code =
        cli_is_mpi() ? cli_mpi_sweep(e, store, &sweep, &err) : bli_sweep_run(e, store, &sweep, &err);
    cli_progress_end(&show.bar);
    if (!code && args->shard.count > 0)
        return print_shard(args, output);
    if (!code)
        return cli_print_experiment(store, e, &args->results, output);
    cli_output_discard(output);
    if (code != BAL_E_STOPPED)
        return cli_fail("%s", err.text);
    cli_warn("interrupted: %s; they are kept in %s, and the same command goes on from there", err.text,
             args->db);
    return CLI_INTERRUPTED;
}

/* A plan needs no file: trials that are not in a file are not done yet. */
static int open_store(const struct args *args, bool measured, struct bli_store **store) {
    struct bal_error err = {0};
    if (args->dry_run && access(args->db, F_OK) != 0)
        return CLI_OK;
    if (measured && access(args->db, F_OK) != 0)
        return cli_fail(
            "%s: its policies are measured on real processes: use `ballast live` instead of `run`",
            args->file);
    const enum bli_store_access access = args->dry_run ? BLI_STORE_READ : BLI_STORE_WRITE;
    return bli_store_open(args->db, access, store, &err) ? cli_fail("%s", err.text) : CLI_OK;
}

static int open_output(const struct args *args, struct cli_output *output) {
    const char *path = args->results.output;
    int status = cli_check_not_input("--output", path, args->file, "the experiment");
    if (status < 0)
        status = cli_check_not_input("--output", path, args->db, "the file of results");
    return status < 0 ? cli_output_open(output, path) : status;
}

/* Shards of one directory have files of their own. */
static char *default_db(const struct args *args, const struct bli_experiment *e) {
    char *name = NULL;
    const int length = args->shard.count > 0
                           ? asprintf(&name, "%s.%u-of-%u.db", e->name, args->shard.number, args->shard.count)
                           : asprintf(&name, "%s.db", e->name);
    return length > 0 ? name : NULL;
}

static int read_and_run(struct args *args) {
    struct bli_experiment *e;
    struct bal_error err = {0};
    if (bli_experiment_read(args->file, args->trials.mode, &e, &err))
        return cli_fail("%s", err.text);
    char *name = args->db ? NULL : default_db(args, e);
    args->db = args->db ? args->db : name;
    struct bli_store *store = NULL;
    struct cli_output output;
    int status = args->db ? open_output(args, &output) : cli_no_memory();
    if (status == CLI_OK && (status = open_store(args, e->live != NULL, &store)) != CLI_OK)
        cli_output_discard(&output);
    if (status == CLI_OK)
        status = (args->dry_run ? dry_run : run_experiment)(args, e, store, &output);
    bli_store_close(store);
    bli_experiment_free(e);
    free(name);
    return status;
}

static int parse_and_run(const struct cli_command *command, int argc, char **argv, struct args *args) {
    int operands;
    const int status = cli_parse(command, argc, argv, args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("run: name the experiment: ballast run FILE.yaml");
    if (args->shard.count > 0 &&
        (args->dry_run || args->results.format != BLI_FORM_TEXT || args->results.seconds))
        return cli_fail(
            "--shard: a shard has trials, not results; leave out --dry-run, --format and --seconds");
    args->file = argv[1];
    return read_and_run(args);
}

static int run_alone(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    if (!cli_command_text(argc, argv, &args.command)) /* before the operands are moved */
        return cli_no_memory();
    const int status = parse_and_run(command, argc, argv, &args);
    bli_strbuf_discard(&args.command);
    return status;
}

static int run_main(const struct cli_command *command, int argc, char **argv) {
    int status = cli_mpi_join();
    if (status >= 0)
        return status;
    status = run_alone(command, argc, argv);
    cli_mpi_leave();
    return status;
}

const struct cli_command cmd_run = {
    .name = "run",
    .summary = "run an experiment file: a sweep over loads, fleets, policies",
    .operands = "FILE.yaml",
    .description = "Runs the trials of an experiment on all processors, keeps each in a file of results as "
                   "it is finished, and\n"
                   "prints one row for each point and policy. Interrupted, it goes on where it was with the "
                   "same command; after\n"
                   "a change of the file only what has changed is run again. Exit status 1: a claim of the "
                   "file does not hold.\n"
                   "Under mpirun the trials are spread over the processes, one thread each.",
    .examples = "  ballast run examples/load.yaml\n"
                "  ballast run examples/load.yaml --dry-run\n"
                "  ballast run load.yaml --db /tmp/load.db --format csv --output load.csv\n"
                "  ballast run load.yaml --shard 2/16\n"
                "  mpirun -n 16 ballast run load.yaml\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .divides = true,
    .run = run_main,
};
