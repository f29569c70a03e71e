/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast results FILE.db: lists the runs in a file of results, and their results. */
#include "commands.h"
#include "experiment_output.h"

#include "format/table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct args {
    double run; /* 0: not given */
    bool export, list, formatted;
    struct cli_results results;
};

static enum bal_code set_run(void *into, const char *value, struct bal_error *err) {
    static const struct bli_option_range range = {1, 1e9, true, "the number of a run, as in the list"};
    struct args *args = into;
    args->export = true;
    return bli_option_number(value, &range, &args->run, err);
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    args->export = args->formatted = true;
    return bli_form_parse(value, &args->results.format, err);
}

static enum bal_code set_raw(struct args *args, const enum bli_raw_kind *kind, struct bal_error *err) {
    if (args->results.raw && args->results.raw != kind)
        return bal_fail(err, BAL_E_MODEL, "trials or histograms, not both");
    args->results.raw = kind;
    return BAL_OK;
}

static enum bal_code set_trials(void *into, const char *value, struct bal_error *err) {
    static const enum bli_raw_kind kind = BLI_RAW_TRIALS;
    (void)value;
    return set_raw(into, &kind, err);
}

static enum bal_code set_histograms(void *into, const char *value, struct bal_error *err) {
    static const enum bli_raw_kind kind = BLI_RAW_HISTOGRAMS;
    (void)value;
    return set_raw(into, &kind, err);
}

static const struct bli_option options[] = {
    {"run", "K", "print the results of run K (default: list the runs)", set_run},
    {"format", "FORM", "print the results of run K, or of the last run, as text, markdown, csv or json",
     set_format},
    {"trials", NULL, "in place of results the values of each replication, as csv or json (default csv)",
     set_trials},
    {"histograms", NULL,
     "in place of results the distributions of each replication, as csv or json (default csv)",
     set_histograms},
    {"output", "FILE", "write them there (default: standard output)",
     BLI_STORES_TEXT(struct args, results.output)},
    {"list", NULL, "list the runs, as text or markdown, whatever else is said",
     BLI_STORES_FLAG(struct args, list)},
    CLI_SECONDS_OPTION(struct args),
};

/* "1.0.0+4f2a91c0d3be" and "1.0.0" are the same release. */
static bool is_same_release(const char *a, const char *b) {
    return strcspn(a, "+") == strcspn(b, "+") && strncmp(a, b, strcspn(a, "+")) == 0;
}

/* The releases that made the trials, without their commits; they may differ from the one that reads them now.
 */
static void print_versions(struct bli_store *store, const struct bli_experiment *e,
                           const struct bli_store_run *run, char *text, size_t size, struct bal_error *err) {
    struct bli_makers makers;
    snprintf(text, size, "%.*s", (int)strcspn(run->version, "+"), run->version);
    if (bli_store_makers(store, e, &makers, err))
        return;
    size_t used = 0;
    for (size_t i = 0; i < makers.count && used < size; i++) {
        const char *version = makers.maker[i].id ? makers.maker[i].version : "?";
        const size_t length = strcspn(version, "+");
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known = known || is_same_release(version, makers.maker[k].version);
        if (!known)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%.*s", used ? ", " : "", (int)length, version);
    }
}

static void add_run(struct table *table, struct bli_store *store, const struct bli_store_run *run) {
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    struct bli_sweep_progress progress = {0};
    char trials[60] = "?", version[100] = "?";
    if (!bli_store_run_experiment(run, &e, &err) && !bli_sweep_status(e, store, &progress, &err))
        snprintf(trials, sizeof trials, "%zu/%zu", progress.done, progress.total);
    if (!err.code)
        print_versions(store, e, run, version, sizeof version, &err);
    table->failed = table->failed || err.code == BAL_E_MEMORY;
    bli_table_add(table, "%lld", (long long)run->id);
    bli_table_add(table, "%s", run->name);
    bli_table_add(table, "%s", bli_mode_text(run->mode));
    bli_table_add(table, "%s", trials);
    bli_table_add(table, "%s", run->started);
    bli_table_add(table, "%s", run->ended ? run->ended : "not complete");
    bli_table_add(table, "%s", version);
    bli_experiment_free(e);
}

static int list_runs(struct bli_store *store, const struct bli_store_run *runs, size_t count,
                     const struct args *args) {
    struct cli_output output;
    const int status = cli_output_open(&output, args->results.output);
    if (status)
        return status;
    struct table table;
    bli_table_begin(&table, "run|experiment|mode|trials|started|ended|version");
    for (size_t i = 0; i < count; i++)
        add_run(&table, store, &runs[i]);
    bli_table_print(&table, "rllrlll",
                    args->results.format == BLI_FORM_MARKDOWN ? BLI_TABLE_MARKDOWN : BLI_TABLE_RULED,
                    output.stream);
    bli_table_fini(&table);
    return cli_output_close(&output);
}

static int export_run(struct bli_store *store, const struct bli_store_run *runs, size_t count,
                      const struct args *args) {
    const struct bli_store_run *run = count ? &runs[count - 1] : NULL;
    for (size_t i = 0; args->run > 0 && i < count; i++)
        if ((double)runs[i].id == args->run)
            run = &runs[i];
    if (!run)
        return cli_fail("there is no run in the file yet");
    if (args->run > 0 && (double)run->id != args->run)
        return cli_fail("--run %.0f: there is no such run; there are 1 to %lld", args->run,
                        (long long)runs[count - 1].id);
    struct bli_experiment *e;
    struct bal_error err = {0};
    if (bli_store_run_experiment(run, &e, &err))
        return cli_fail("%s", err.text);
    struct cli_output output;
    int status = bli_store_adopt_delays(store, e, &err) ? cli_fail("%s", err.text)
                                                        : cli_output_open(&output, args->results.output);
    if (status == CLI_OK)
        status = cli_print_experiment(store, e, &args->results, &output);
    bli_experiment_free(e);
    return status;
}

/* ballast results merge A.db B.db ... -o ALL.db; the operands are argv[2], ... */
static int merge_stores(int operands, char **argv, const struct args *args) {
    const char *into = args->results.output;
    if (args->export || args->list || args->results.raw)
        return cli_fail("merge: takes --output alone");
    if (operands < 2)
        return cli_fail("merge: name files of results: ballast results merge A.db B.db -o ALL.db");
    if (!into)
        return cli_fail("merge: say where to, such as -o ALL.db");
    for (int i = 2; i <= operands; i++) {
        const int status = cli_check_not_input("--output", into, argv[i], "one of the files to merge");
        if (status >= 0)
            return status;
    }
    struct bal_error err = {0};
    if (bli_store_merge(into, (const char *const *)argv + 2, (size_t)operands - 1, &err))
        return cli_fail("%s", err.text);
    return CLI_OK;
}

static int results_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    int operands;
    const bool merge = argc > 1 && strcmp(argv[1], "merge") == 0;
    int status = cli_parse(command, argc, argv, &args, merge ? INT_MAX : 1, &operands);
    if (status >= 0)
        return status;
    if (merge)
        return merge_stores(operands, argv, &args);
    if (operands == 0)
        return cli_fail("results: name the file of results: ballast results FILE.db");
    if (args.list && args.results.format != BLI_FORM_TEXT && args.results.format != BLI_FORM_MARKDOWN)
        return cli_fail("--list: write text or markdown");
    const bool table = args.results.format == BLI_FORM_TEXT || args.results.format == BLI_FORM_MARKDOWN;
    if (args.results.raw && (args.list || args.results.seconds || (args.formatted && table)))
        return cli_fail("--trials, --histograms: write csv or json; leave out --list and --seconds");
    args.export = args.export || args.results.raw;
    status = cli_check_not_input("--output", args.results.output, argv[1], "the file of results");
    if (status >= 0)
        return status;
    struct bal_error err = {0};
    struct bli_store *store;
    if (bli_store_open(argv[1], BLI_STORE_READ, &store, &err))
        return cli_fail("%s", err.text);
    struct bli_store_run *runs = NULL;
    size_t count = 0;
    if (bli_store_runs(store, &runs, &count, &err))
        status = cli_fail("%s", err.text);
    else
        status = (args.export && !args.list ? export_run : list_runs)(store, runs, count, &args);
    free(runs);
    bli_store_close(store);
    return status;
}

const struct cli_command cmd_results = {
    .name = "results",
    .summary = "list the runs in a file of results, or print what came out",
    .operands = "FILE.db | merge FILE.db...",
    .description = "Lists the experiments that a file of results has seen, or prints the results of one of "
                   "them: a row for each\n"
                   "point and policy, or with --trials the values of each replication, with --histograms "
                   "its distributions.\n"
                   "merge makes one file of several, such as those of `ballast run --shard`.",
    .examples = "  ballast results load.db\n"
                "  ballast results load.db --format csv --output load.csv\n"
                "  ballast results load.db --run 2 --format json\n"
                "  ballast results load.db --trials --output trials.csv\n"
                "  ballast results merge load.1-of-2.db load.2-of-2.db --output load.db\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = results_main,
};
