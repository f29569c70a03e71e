/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast stability POLICY: the load, or the number of stolen tasks, at which stability ends. */
#include "commands.h"
#include "common.h"

#include "report/frontier_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS_MOST = 100 };

struct args {
    struct cli_common common; /* first: its setters take the whole */
    double low, high;         /* NaN: not given */
    double width, error;
    bool constant, map;
    double points; /* NaN: not given */
};

static enum bal_code set_low(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 1e5, false, "a number from 0 to 100k"};
    return cli_number(value, &range, &((struct args *)into)->low, err);
}

static enum bal_code set_high(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e5, false, "a number above 0 (to 100k)"};
    return cli_number(value, &range, &((struct args *)into)->high, err);
}

static enum bal_code set_width(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-5, 1e5, false, "a number above 0, such as 0.002"};
    return cli_number(value, &range, &((struct args *)into)->width, err);
}

static enum bal_code set_error(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-9, 0.4, false, "a probability from 1e-9 to 0.4, such as 0.01"};
    return cli_number(value, &range, &((struct args *)into)->error, err);
}

static enum bal_code set_hosts(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, BAL_SERVERS_MAX, true, "a whole number from 1"};
    struct cli_common *common = into;
    double hosts = 1;
    const enum bal_code code = cli_number(value, &range, &hosts, err);
    common->draft.c.model.placement =
        (struct bal_placement){.kind = BAL_PLACEMENT_HOSTS, .hosts = (uint32_t)hosts};
    cli_common_give(common, "placement");
    return code;
}

static enum bal_code set_map(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->map = true;
    return BAL_OK;
}

static enum bal_code set_points(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {2, LOADS_MOST, true, "a whole number from 2 to 100"};
    return cli_number(value, &range, &((struct args *)into)->points, err);
}

static const struct cli_option options[] = {
    {"n", "N", "policy stealing: so many processors, as --servers", .setting = "servers",
     .default_value = ""},
    {"hosts", "K", "policy stealing: all generators on K processors, as --placement 'hosts(K)'", set_hosts},
    CLI_MODEL_OPTIONS,
    {"from", "X", "least load or constant to try (default 0)", set_low},
    {"to", "X", "largest (default: load 0.999, constant 100k)", set_high},
    {"width", "W", "interval wanted (default: 0.005 of load, 1 of a constant)", set_width},
    {"error", "P", "probability that any claim is wrong, at most (default 0.01)", set_error},
    {.help = "length of the longest runs, in time (slots) (default: by the model)", .setting = "run.time"},
    {"map", NULL, "the critical constant at loads --from 0.1 --to 0.9", set_map},
    {"points", "K", "so many loads of the map (default 9)", set_points},
    {"figure", "FILE", "draw the map, too: FILE.svg, FILE.png or FILE.pdf (needs gnuplot)", cli_set_figure},
    CLI_SEED_OPTION,
    CLI_THREADS_OPTION,
    {.setting = "run.engine"},
    CLI_OUTPUT_OPTIONS,
};

/* --steal constant, without a number, asks for the number: the reader of steal functions is given one. */
static bool fill_missing_constant(int argc, char **argv) {
    static char attached[] = "--steal=constant(1)", value[] = "constant(1)";
    bool asked = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--steal=constant") == 0) {
            argv[i] = attached;
            asked = true;
        } else if (strcmp(argv[i], "--steal") == 0 && i + 1 < argc) {
            asked = strcmp(argv[i + 1], "constant") == 0;
            if (asked)
                argv[i + 1] = value;
        }
    return asked;
}

static int close_output(const struct args *args, bool cut_short, struct cli_output *output) {
    const int status = cli_output_close(output);
    if (status || !cut_short)
        return status;
    cli_warn("interrupted: %s", !args->map ? "these are the points that were complete"
                                : args->common.figure
                                    ? "the map has what was complete, and no figure was drawn"
                                    : "the map has what was complete");
    return CLI_INTERRUPTED;
}

static int find_frontier(const struct args *args, const struct bal_frontier_question *question,
                         const struct bal_lab_options *lab, struct cli_progress *progress,
                         struct cli_output *output) {
    struct bal_frontier frontier;
    struct bal_error err = {0};
    const enum bal_code code = bal_frontier_find(question, lab, &frontier, &err);
    cli_progress_end(progress);
    if (code && code != BAL_E_STOPPED) {
        cli_output_discard(output);
        return cli_fail("%s", err.text);
    }
    if (args->common.format == CLI_JSON)
        bal_frontier_json(question, &frontier, output->stream);
    else if (args->common.format == CLI_CSV)
        bal_frontier_csv(question, &frontier, output->stream);
    else
        bal_frontier_text(question, &frontier, cli_style(args->common.format), output->stream);
    return close_output(args, code == BAL_E_STOPPED, output);
}

static int draw_map(const struct args *args, const struct bal_frontier_question *question,
                    const struct bal_lab_options *lab, struct cli_progress *progress,
                    struct cli_output *output) {
    const unsigned count = isnan(args->points) ? 9 : (unsigned)args->points;
    const double low = isnan(args->low) ? 0.1 : args->low, high = isnan(args->high) ? 0.9 : args->high;
    double load[LOADS_MOST];
    for (unsigned i = 0; i < count; i++) /* 0.3 is to be 0.3 */
        load[i] = round(1e9 * (low + (high - low) * i / (count - 1))) / 1e9;
    struct bal_frontier *frontier = malloc(count * sizeof *frontier);
    struct bal_error err = {0};
    enum bal_code code = BAL_E_MEMORY;
    if (frontier)
        code = bal_frontier_map(question, load, count, lab, frontier, &err);
    else
        bal_fail(&err, code, "not enough memory");
    cli_progress_end(progress);
    const bool cut_short = code == BAL_E_STOPPED;
    const struct bal_frontier_chart chart = {question, load, frontier, count};
    if (!code && args->common.figure)
        code = bal_frontier_map_figure(&chart, args->common.figure, &err);
    if (code && !cut_short) {
        cli_output_discard(output);
        free(frontier);
        return cli_fail("%s", err.text);
    }
    if (args->common.format == CLI_JSON)
        bal_frontier_map_json(&chart, output->stream);
    else if (args->common.format == CLI_CSV)
        bal_frontier_map_csv(&chart, output->stream);
    else
        bal_frontier_map_text(&chart, cli_style(args->common.format), output->stream);
    free(frontier);
    return close_output(args, cut_short, output);
}

static int search_and_print(const struct args *args) {
    const struct cli_common *common = &args->common;
    const bool ranged = !args->map; /* the range of a map is one of loads */
    const struct bal_frontier_question question = {
        .model = common->draft.c.model,
        .policy = common->policy[0],
        .axis = args->constant ? BAL_FRONTIER_CONSTANT : BAL_FRONTIER_LOAD,
        .engine = common->draft.c.run.engine,
        .low = ranged && !isnan(args->low) ? args->low : 0,
        .high = ranged && !isnan(args->high) ? args->high : 0,
        .width = args->width,
        .relative = args->map && !(args->width > 0) ? 0.02 : 0,
        .error = args->error,
        .longest = isnan(common->draft.time) ? 0 : common->draft.time,
        .seed = (uint64_t)common->seed,
    };
    struct cli_output output;
    const int opened = cli_output_open(&output, common->output);
    if (opened)
        return opened;
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    return (args->map ? draw_map : find_frontier)(args, &question, &lab, &progress, &output);
}

/* Options that contradict each other. Returns -1 to go on, otherwise the exit status. */
static int check_args(struct args *args) {
    struct cli_common *common = &args->common;
    const bool chain = bal_scheme_of(common->policy[0].policy) == BAL_SCHEME_GENERATED;
    if (args->constant && !chain)
        return cli_fail(
            "--steal constant: a critical constant is sought for stealing, not for '%s'; give the "
            "number: --steal 'constant(4)'",
            common->policy[0].policy->name);
    if (args->map && !(args->constant && common->draft.c.model.placement.kind == BAL_PLACEMENT_HOSTS))
        return cli_fail("--map: it shows the critical constant of policy stealing; add --hosts 1 --steal "
                        "constant");
    if (args->map && (args->low <= 0 || args->high >= 1 || args->low >= args->high))
        return cli_fail("--from and --to: the loads of a map go up, above 0 and below 1");
    if (!isnan(args->points) && !args->map)
        return cli_fail("--points: it says how many loads the map has; add --map");
    if (args->common.figure && !args->map)
        return cli_fail("--figure: it draws the map; add --map");
    if (cli_common_given(common, "load") && (args->map || !args->constant))
        return cli_fail("--load: it is what is %s; leave it out", args->map ? "varied" : "sought");
    if (!args->constant)
        common->draft.c.model.load = isnan(args->high) ? 0.5 : args->high;
    cli_common_give(common, "load");
    return cli_common_check(common);
}

static int frontier_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.low = NAN, .high = NAN, .error = 0.01, .points = NAN};
    cli_common_init(&args.common, command);
    args.constant = fill_missing_constant(argc, argv);
    int operands;
    int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("stability: of which policy? Write ballast stability jiq");
    struct bal_error err = {0};
    if (cli_set_policy(&args.common, argv[1], &err))
        return cli_fail("%s", err.text);
    status = check_args(&args);
    return status >= 0 ? status : search_and_print(&args);
}

const struct cli_command cmd_stability = {
    .name = "stability",
    .summary = "find where stability ends: the highest stable load, the least that must be stolen",
    .operands = "POLICY",
    .description =
        "Finds the critical load of a policy by bisection, a sequential test at each load tried; for policy "
        "stealing with\n"
        "--steal constant the critical number of tasks stolen at a time, or with --map that number at many "
        "loads. The\n"
        "probability that any claim is wrong is stated; what could not be decided is said.",
    .examples = "  ballast stability stealing --n 64 --load 0.5 --hosts 1 --steal constant\n"
                "  ballast stability stealing --n 64 --hosts 1 --steal constant --map --figure map.svg\n"
                "  ballast stability jiq --servers '50x1,50xuniform(1,19)' --slotted\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = frontier_main,
};
