/* ballast paper NAME: runs a paper's experiments and says of every claim whether it holds. */
#include "commands.h"
#include "experiment.h"
#include "spread.h"

#include "ballast/report.h"
#include "format/json.h"
#include "format/table.h"
#include "report/judgements.h"
#include "report/paper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_MARKDOWN };

struct request {
    struct cli_trials trials; /* first: its options are shared */
    const char *figure;
    const char *output;
    enum format format;
};

static enum bal_code set_figure(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct request *)into)->figure = value;
    return BAL_OK;
}

static enum bal_code set_output(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct request *)into)->output = value;
    return BAL_OK;
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"text", "csv", "json", "markdown"};
    for (int i = 0; i < 4; i++)
        if (strcmp(value, names[i]) == 0) {
            ((struct request *)into)->format = (enum format)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of text, csv, json, markdown");
}

static const struct cli_option options[] = {
    {"figure", "K", "only the experiment of that name or with that figure", set_figure},
    {"quick", NULL, "small sizes: an answer in a minute or two", cli_set_quick},
    {"full", NULL, "the paper's own sizes", cli_set_full},
    {"output", "DIR", "for results, figures and report, also -o (default: NAME, NAME-quick, NAME-full)",
     set_output},
    CLI_THREADS_OPTION,
    {"format", "FORM", "text, csv, json or markdown (default text)", set_format},
    CLI_QUIET_OPTION,
};

/* ---- a paper at work ---- */

struct work {
    const struct request *request;
    struct bal_paper paper;
    char *directory; /* for what is made */
    size_t count;
    struct bal_experiment **experiment; /* those that are run */
    const char **only;                  /* the figure of each that is drawn, NULL: all */
    struct bal_store *store;
    struct bal_judged **judged; /* of each experiment, one for each claim and finding */
};

static void work_fini(struct work *work) {
    for (size_t i = 0; i < work->count; i++) {
        bal_experiment_free(work->experiment[i]);
        free(work->judged[i]);
    }
    free(work->experiment);
    free(work->judged);
    free(work->only);
    free(work->directory);
    bal_store_close(work->store);
    bal_paper_fini(&work->paper);
}

/* "figure-1", "figure1" and "1" are the same figure. */
static bool same_figure(const char *wanted, const char *name) {
    static const char word[] = "figure";
    const char *texts[] = {wanted, name};
    for (int i = 0; i < 2; i++)
        if (strncmp(texts[i], word, strlen(word)) == 0) {
            texts[i] += strlen(word);
            texts[i] += *texts[i] == '-';
        }
    return strcmp(texts[0], texts[1]) == 0;
}

/* Is the experiment wanted, and is it one of its figures alone? */
static bool is_wanted(const struct bal_experiment *e, const char *figure, const char **only) {
    *only = NULL;
    if (!figure || same_figure(figure, e->name))
        return true;
    for (size_t i = 0; i < e->plots; i++)
        if (same_figure(figure, e->plot[i].id)) {
            *only = e->plot[i].id;
            return true;
        }
    return false;
}

static int read_experiments(struct work *work) {
    const struct bal_paper *paper = &work->paper;
    work->experiment = calloc(paper->experiments + 1, sizeof(*work->experiment));
    work->judged = calloc(paper->experiments + 1, sizeof(*work->judged));
    work->only = calloc(paper->experiments + 1, sizeof(*work->only));
    if (!work->experiment || !work->judged || !work->only)
        return cli_no_memory();
    char names[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < paper->experiments; i++) {
        struct bal_error err = {0};
        struct bal_experiment *e;
        if (bal_experiment_read(paper->experiment[i], work->request->trials.mode, &e, &err))
            return cli_fail("%s", err.text);
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", e->name);
        if (is_wanted(e, work->request->figure, &work->only[work->count]))
            work->experiment[work->count++] = e;
        else
            bal_experiment_free(e);
    }
    if (work->count == 0 && work->request->figure)
        return cli_fail("--figure %.100s: there is none such in paper %s; its experiments are %s",
                        work->request->figure, paper->name, names);
    if (work->count == 0)
        return cli_fail("paper %s has no experiments (*.yaml) in %s", paper->name, paper->directory);
    return CLI_OK;
}

static int open_store(struct work *work) {
    static const char *const suffix[] = {"", "-quick", "-full"};
    const int length = work->request->output ? asprintf(&work->directory, "%s", work->request->output)
                                             : asprintf(&work->directory, "%s%s", work->paper.name,
                                                        suffix[work->request->trials.mode]);
    if (length < 0) {
        work->directory = NULL;
        return cli_no_memory();
    }
    if (mkdir(work->directory, 0777) != 0 && errno != EEXIST)
        return cli_fail("--output %s: cannot make this directory: %s; choose another place", work->directory,
                        strerror(errno));
    char *path;
    if (asprintf(&path, "%s/results.db", work->directory) < 0)
        return cli_no_memory();
    struct bal_error err = {0};
    const enum bal_code code = bal_store_open(path, BAL_STORE_WRITE, &work->store, &err);
    free(path);
    return code ? cli_fail("%s", err.text) : CLI_OK;
}

/* ---- running ---- */

struct show {
    struct cli_progress bar;
    size_t number, count; /* of the experiment */
    const char *name;
};

static void show_progress(void *context, const struct bal_sweep_progress *progress) {
    struct show *show = context;
    snprintf(show->bar.note, sizeof show->bar.note, "%zu/%zu trials of %.40s", progress->done,
             progress->total, show->name);
    const double part = progress->cost_total > 0 ? progress->cost_done / progress->cost_total : 1;
    cli_progress_show(&show->bar, ((double)show->number + part) / (double)show->count);
}

static int run_experiments(struct work *work) {
    cli_catch_signals();
    struct show show = {.count = work->count};
    cli_progress_start(&show.bar, work->request->trials.quiet);
    const struct bal_sweep_options sweep = {.threads = (unsigned)work->request->trials.threads,
                                            .stop = &cli_stop,
                                            .progress = show_progress,
                                            .progress_context = &show};
    struct bal_error err = {0};
    enum bal_code code = BAL_OK;
    for (; show.number < work->count && !code; show.number++) {
        const struct bal_experiment *e = work->experiment[show.number];
        show.name = e->name;
        code = cli_is_spread() ? cli_spread_sweep(e, work->store, &sweep, &err)
                               : bal_sweep_run(e, work->store, &sweep, &err);
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

static int judge_claims(struct work *work) {
    for (size_t i = 0; i < work->count; i++) {
        struct bal_error err = {0};
        if (bal_judgements_new(work->store, work->experiment[i], &work->judged[i], &err))
            return cli_fail("%s", err.text);
    }
    return CLI_OK;
}

/* ---- figures and the page ---- */

/* Without gnuplot there are no figures, but the claims are worth having: a warning is enough. */
static bool draw_figures(const struct work *work) {
    for (size_t i = 0; i < work->count; i++) {
        const struct bal_chart_files files = {
            .directory = work->directory,
            .formats = (1u << BAL_FIGURE_FORMATS) - 1,
            .only = work->only[i],
        };
        struct bal_error err = {0};
        if (bal_chart_write(work->store, work->experiment[i], &files, &err)) {
            cli_warn("%s", err.text);
            return false;
        }
    }
    return true;
}

static int write_page(const struct work *work) {
    char *path, *database;
    struct bal_error err = {0};
    if (asprintf(&path, "%s/report.html", work->directory) < 0)
        return cli_no_memory();
    if (asprintf(&database, "%s/results.db", work->directory) < 0) {
        free(path);
        return cli_no_memory();
    }
    struct cli_output output;
    int status = cli_output_open(&output, path);
    if (status == CLI_OK && bal_report_write(work->store, database, output.stream, &err)) {
        cli_output_discard(&output);
        status = cli_fail("%s", err.text);
    } else if (status == CLI_OK) {
        status = cli_output_close(&output);
    }
    free(path);
    free(database);
    return status;
}

/* ---- saying it ---- */

static struct bal_tally count(const struct work *work) {
    struct bal_tally tally = {0};
    for (size_t i = 0; i < work->count; i++)
        bal_tally_add(&tally, work->experiment[i], work->judged[i]);
    return tally;
}

static void print_text(const struct work *work, bool drawn, FILE *out) {
    const struct bal_tally tally = count(work);
    fprintf(out, "%s: %s\n", work->paper.name, work->paper.title);
    bal_table_wrap("", work->paper.source, 0, out);
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_text(work->experiment[i], work->judged[i], out);
    fputc('\n', out);
    bal_tally_print(&tally, out);
    fprintf(out, "%s in %s/\n",
            drawn ? "report.html, figures and results.db are" : "report.html and results.db are",
            work->directory);
}

static void print_json(const struct work *work, FILE *out) {
    static const char *const lists[] = {"claims", "findings"};
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "paper", work->paper.name);
    bal_json_text(&json, "title", work->paper.title);
    bal_json_text(&json, "mode", bal_mode_text(work->request->trials.mode));
    bal_json_text(&json, "output", work->directory);
    for (int list = 0; list < 2; list++) {
        bal_json_open(&json, lists[list], '[');
        for (size_t i = 0; i < work->count; i++)
            bal_judgements_json(&json, work->experiment[i], work->judged[i], list == 1);
        bal_json_close(&json, ']');
    }
    bal_json_close(&json, '}');
}

static void print_csv(const struct work *work, FILE *out) {
    bal_judgements_csv_head(out);
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_csv(work->experiment[i], work->judged[i], out);
}

static void print_markdown(const struct work *work, FILE *out) {
    const struct bal_tally tally = count(work);
    bal_judgements_markdown_head(out);
    for (size_t i = 0; i < work->count; i++)
        bal_judgements_markdown(work->experiment[i], work->judged[i], out);
    fputc('\n', out);
    bal_tally_print(&tally, out);
}

static int print_judgements(const struct work *work, bool drawn) {
    struct cli_output output;
    int status = cli_output_open(&output, NULL);
    if (status)
        return status;
    switch (work->request->format) {
    case FORMAT_TEXT:
        print_text(work, drawn, output.stream);
        break;
    case FORMAT_CSV:
        print_csv(work, output.stream);
        break;
    case FORMAT_JSON:
        print_json(work, output.stream);
        break;
    case FORMAT_MARKDOWN:
        print_markdown(work, output.stream);
        break;
    }
    status = cli_output_close(&output);
    const struct bal_tally tally = count(work);
    return status ? status : bal_tally_fails(&tally) ? CLI_OUTCOME : CLI_OK;
}

/* ---- the command ---- */

static void list_json(const struct bal_papers *papers, FILE *out) {
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '[');
    for (size_t i = 0; i < papers->count; i++) {
        bal_json_open_line(&json, NULL, '{');
        bal_json_text(&json, "paper", papers->paper[i].name);
        bal_json_text(&json, "title", papers->paper[i].title);
        bal_json_text(&json, "source", papers->paper[i].source);
        bal_json_count(&json, "experiments", papers->paper[i].experiments);
        bal_json_close(&json, '}');
    }
    bal_json_close(&json, ']');
}

static void list_text(const struct bal_papers *papers, FILE *out) {
    for (size_t i = 0; i < papers->count; i++) {
        bal_table_wrap(papers->paper[i].name, papers->paper[i].title, 15, out);
        bal_table_wrap("", papers->paper[i].source, 15, out);
    }
    fputs("\nballast paper NAME --quick judges the claims of one in a minute or two.\n", out);
}

static int list_papers(const struct request *request) {
    struct bal_error err = {0};
    struct bal_papers papers;
    char *directory;
    if (request->format != FORMAT_TEXT && request->format != FORMAT_JSON)
        return cli_fail("--format: the list of papers is text or json; name a paper for its claims");
    if (bal_papers_directory(&directory, &err))
        return cli_fail("%s", err.text);
    const enum bal_code code = bal_papers_init(&papers, directory, &err);
    free(directory);
    if (code)
        return cli_fail("%s", err.text);
    (request->format == FORMAT_JSON ? list_json : list_text)(&papers, stdout);
    bal_papers_fini(&papers);
    return CLI_OK;
}

/* A name is looked up among the papers; what has a slash is a directory. */
static int find_paper(const char *name, struct bal_paper *paper) {
    struct bal_error err = {0};
    char *directory = NULL, *path = NULL;
    enum bal_code code = BAL_OK;
    if (!strchr(name, '/')) {
        code = bal_papers_directory(&directory, &err);
        if (!code && asprintf(&path, "%s/%s", directory, name) < 0)
            path = NULL;
    } else {
        path = strdup(name);
    }
    if (!code)
        code = path ? bal_paper_init(paper, path, &err) : bal_fail(&err, BAL_E_MEMORY, "not enough memory");
    free(directory);
    free(path);
    return code ? cli_fail("%s", err.text) : CLI_OK;
}

static int run_alone(const struct cli_command *command, int argc, char **argv) {
    struct request request = {0};
    int operands;
    int status = cli_parse(command, argc, argv, &request, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return list_papers(&request);
    struct work work = {.request = &request};
    status = find_paper(argv[1], &work.paper);
    if (!status)
        status = read_experiments(&work);
    if (!status)
        status = open_store(&work);
    if (!status)
        status = run_experiments(&work);
    if (!status)
        status = judge_claims(&work);
    if (!status) {
        const bool drawn = draw_figures(&work);
        status = write_page(&work);
        if (!status)
            status = print_judgements(&work, drawn);
    }
    work_fini(&work);
    return status;
}

static int run(const struct cli_command *command, int argc, char **argv) {
    int status = cli_spread_join();
    if (status >= 0)
        return status;
    status = run_alone(command, argc, argv);
    cli_spread_leave();
    return status;
}

const struct cli_command cmd_paper = {
    .name = "paper",
    .summary = "run a paper's experiments and judge its claims",
    .operands = "[NAME]",
    .description =
        "Without a name: lists the papers. With one: runs its experiments and says of every claim what was "
        "measured and\n"
        "whether it holds, does not hold or is undecided; findings of ours are marked and counted apart. "
        "Exits with 1 if\n"
        "one does not hold. Results, figures and a page are put into a directory; an interrupted run goes on "
        "from there.\n"
        "A name with a slash is a directory with a paper.txt and experiment files of your own. Under mpirun "
        "the trials\n"
        "are spread over the processes.",
    .examples = "  ballast paper\n"
                "  ballast paper supermarket --quick\n"
                "  ballast paper supermarket --figure load --format json\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
