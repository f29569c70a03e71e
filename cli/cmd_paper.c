/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast paper NAME: runs a paper's experiments and prints for every claim whether it holds. */
#include "commands.h"
#include "experiment_output.h"
#include "mpi_sweep.h"

#include "report/paper_report.h"

#include <stdlib.h>
#include <string.h>

struct args {
    struct cli_trials trials; /* first: its options are shared */
    const char *figure;
    const char *output;
    enum bli_form format;
    struct bli_strbuf command;
};

static const struct bli_option options[] = {
    {"figure", "K", "only the experiment of that name or with that figure",
     BLI_STORES_TEXT(struct args, figure)},
    {"quick", NULL, "small sizes: an answer in a minute or two", cli_set_quick},
    {"full", NULL, "the paper's own sizes", cli_set_full},
    {"output", "DIR", "for results, figures and report, also -o (default: NAME, NAME-quick, NAME-full)",
     BLI_STORES_TEXT(struct args, output)},
    CLI_THREADS_OPTION,
    {"format", "FORM", "text, csv, json or markdown (default text)", BLI_STORES_FORM(struct args, format)},
    CLI_QUIET_OPTION,
};

/* ---- running ---- */

struct paper_show {
    struct cli_progress bar;
    size_t number, count; /* of the experiment */
    const char *name;
};

static void show_progress(void *context, const struct bli_sweep_progress *progress) {
    struct paper_show *show = context;
    snprintf(show->bar.note, sizeof show->bar.note, "%zu/%zu trials of %.40s", progress->done,
             progress->total, show->name);
    const double part = progress->cost_total > 0 ? progress->cost_done / progress->cost_total : 1;
    cli_progress_show(&show->bar, ((double)show->number + part) / (double)show->count);
}

static int run_experiments(const struct args *args, struct bli_paper_work *work) {
    cli_catch_signals();
    struct paper_show show = {.count = work->count};
    cli_progress_start(&show.bar, args->trials.quiet);
    const struct bli_sweep_options sweep = {.command = args->command.text,
                                            .threads = (unsigned)args->trials.threads,
                                            .stop = cli_stop_flag(),
                                            .progress = show_progress,
                                            .progress_context = &show};
    struct bal_error err = {0};
    enum bal_code code = BAL_OK;
    for (; show.number < work->count && !code; show.number++) {
        const struct bli_experiment *e = work->experiment[show.number];
        show.name = e->name;
        code = cli_is_mpi() ? cli_mpi_sweep(e, work->store, &sweep, &err)
                            : bli_sweep_run(e, work->store, &sweep, &err);
    }
    cli_progress_end(&show.bar);
    if (code == BAL_E_STOPPED) {
        cli_warn(
            "interrupted; what is done is kept in %s/results.db, and the same command goes on from there",
            work->directory);
        return CLI_INTERRUPTED;
    }
    return code ? cli_fail("%s", err.text) : CLI_OK;
}

/* ---- what came of it ---- */

static int write_page(const struct bli_paper_work *work) {
    char *path;
    if (asprintf(&path, "%s/report.html", work->directory) < 0)
        return cli_no_memory();
    struct cli_output output;
    struct bal_error err = {0};
    int status = cli_output_open(&output, path);
    if (status == CLI_OK && bli_paper_work_page(work, output.stream, &err)) {
        cli_output_discard(&output);
        status = cli_fail("%s", err.text);
    } else if (status == CLI_OK) {
        status = cli_output_close(&output);
    }
    free(path);
    return status;
}

static int print_judgements(const struct args *args, const struct bli_paper_work *work, bool drawn) {
    struct cli_output output;
    int status = cli_output_open(&output, NULL);
    if (status)
        return status;
    bli_paper_print(work, drawn, args->format, output.stream);
    status = cli_output_close(&output);
    const struct bli_tally tally = bli_paper_tally(work);
    return status ? status : bli_tally_fails(&tally) ? CLI_OUTCOME : CLI_OK;
}

/* Without gnuplot there are no figures, but the claims are worth having: a warning is enough. */
static int print_results(const struct args *args, struct bli_paper_work *work) {
    struct bal_error err = {0};
    if (bli_paper_work_judge(work, &err))
        return cli_fail("%s", err.text);
    const bool drawn = bli_paper_work_draw(work, &err) == BAL_OK;
    if (!drawn)
        cli_warn("%s", err.text);
    const int status = write_page(work);
    return status ? status : print_judgements(args, work, drawn);
}

/* ---- the command ---- */

static int list_papers(const struct args *args) {
    struct bal_error err = {0};
    struct bli_papers papers;
    char *directory;
    if (args->format != BLI_FORM_TEXT && args->format != BLI_FORM_JSON)
        return cli_fail("--format: the list of papers is text or json; name a paper for its claims");
    struct cli_output output;
    if (bli_papers_directory(&directory, &err))
        return cli_fail("%s", err.text);
    const enum bal_code code = bli_papers_init(&papers, directory, &err);
    free(directory);
    if (code)
        return cli_fail("%s", err.text);
    int status = cli_output_open(&output, NULL);
    if (status == CLI_OK) {
        (args->format == BLI_FORM_JSON ? bli_papers_json : bli_papers_text)(&papers, output.stream);
        status = cli_output_close(&output);
    }
    bli_papers_fini(&papers);
    return status;
}

static int parse_and_run(const struct cli_command *command, int argc, char **argv, struct args *args) {
    int operands;
    int status = cli_parse(command, argc, argv, args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return list_papers(args);
    struct bli_paper_work work;
    struct bal_error err = {0};
    if (bli_paper_work_init(&work, argv[1], args->trials.mode, args->figure, args->output, &err))
        return cli_fail("%s", err.text);
    status = run_experiments(args, &work);
    if (!status)
        status = print_results(args, &work);
    bli_paper_work_fini(&work);
    return status;
}

static int run_alone(const struct cli_command *command, int argc, char **argv) {
    struct args args = {0};
    if (!cli_command_text(argc, argv, &args.command)) /* before the operands are moved */
        return cli_no_memory();
    const int status = parse_and_run(command, argc, argv, &args);
    bli_strbuf_discard(&args.command);
    return status;
}

static int paper_main(const struct cli_command *command, int argc, char **argv) {
    int status = cli_mpi_join();
    if (status >= 0)
        return status;
    status = run_alone(command, argc, argv);
    cli_mpi_leave();
    return status;
}

const struct cli_command cmd_paper = {
    .name = "paper",
    .summary = "run a paper's experiments and judge its claims",
    .operands = "[NAME]",
    .description =
        "Without a name: lists the papers. With one: runs its experiments and says of every claim what was "
        "measured and\n"
        "whether it holds, is an error of the paper or is undecided; what holds by definition and findings "
        "of "
        "ours are\n"
        "counted apart. Exits with 1 if one does not hold and its file does not say why. Results, figures "
        "and a "
        "page are\n"
        "put into a directory; an interrupted run goes on from there. A name with a slash is a directory "
        "with a "
        "paper.txt\n"
        "and experiment files of your own. Under mpirun the trials are spread over the processes.",
    .examples = "  ballast paper\n"
                "  ballast paper supermarket --quick\n"
                "  ballast paper supermarket --figure load --format json\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .divides = true,
    .run = paper_main,
};
