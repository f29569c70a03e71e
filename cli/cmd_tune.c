/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast tune tabs: how long an idle server should stay on. */
#include "commands.h"
#include "common.h"

#include "report/tune_report.h"

#include <math.h>
#include <string.h>

struct args {
    struct cli_common common; /* first: its setters take the whole */
    double shortest, longest; /* NaN: not given */
    double points;
};

static const struct cli_range time_range = {1e-6, 1e9, false, "a time above 0 (to 1G), such as 10"};

static enum bal_code set_shortest(void *into, const char *value, struct bal_error *err) {
    return cli_number(value, &time_range, &((struct args *)into)->shortest, err);
}

static enum bal_code set_longest(void *into, const char *value, struct bal_error *err) {
    return cli_number(value, &time_range, &((struct args *)into)->longest, err);
}

static enum bal_code set_points(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {2, 200, true, "a whole number from 2 to 200"};
    return cli_number(value, &range, &((struct args *)into)->points, err);
}

static const struct cli_option options[] = {
    {.setting = "servers"},
    {.setting = "load", .default_value = "0.3"},
    {.help = "time to switch a server on: its mean, or a law such as det(10)",
     .setting = "setup",
     .default_value = "10"},
    {.setting = "service"},
    {.setting = "arrivals"},
    {.setting = "curve"},
    {.setting = "watts"},
    {"from", "T", "shortest mean standby time (default: a hundredth of the set-up time)", set_shortest},
    {"to", "T", "longest (default: a hundred set-up times)", set_longest},
    {"points", "K", "standby times between them, evenly on a logarithmic scale (default 13)", set_points},
    CLI_RUN_OPTIONS,
    {"figure", "FILE", "draw the frontier, too: FILE.svg, FILE.png or FILE.pdf (needs gnuplot)",
     cli_set_figure},
    CLI_OUTPUT_OPTIONS,
};

/* Long enough for many standby and set-up times, in so many jobs as two million allow. */
static double time_of(const struct args *args) {
    const struct cli_common *common = &args->common;
    if (!bal_draft_is_open(&common->draft))
        return bal_draft_time(&common->draft);
    const double rate = bal_model_arrival_rate(&common->draft.c.model);
    return fmin(fmax(fmax(3e5 / rate, 200 * common->draft.c.model.setup.mean), 1000), 2e6 / rate);
}

static int print_report(const struct args *args, const struct bal_tuning *tuning,
                        const struct bal_tuned *tuned, bool cut_short, struct cli_output *output) {
    struct bal_error err = {0};
    if (args->common.figure && !cut_short && bal_tune_figure(tuning, tuned, args->common.figure, &err)) {
        cli_output_discard(output);
        return cli_fail("--figure %s: %s", args->common.figure, err.text);
    }
    if (args->common.format == CLI_JSON)
        bal_tune_json(tuning, tuned, &args->common.draft, output->stream);
    else if (args->common.format == CLI_CSV)
        bal_tune_csv(tuning, tuned, &args->common.draft, output->stream);
    else
        bal_tune_text(tuning, tuned, &args->common.draft, cli_style(args->common.format), output->stream);
    const int status = cli_output_close(output);
    if (status || !cut_short)
        return status;
    cli_warn("interrupted: these results are cut short and come from the replications that were complete");
    return CLI_INTERRUPTED;
}

static int tune_and_print(const struct args *args) {
    const struct cli_common *common = &args->common;
    const double mean = common->draft.c.model.setup.mean;
    struct bal_draft draft = common->draft;
    draft.time = time_of(args);
    bal_draft_complete(&draft);
    draft.c.run.seed = (uint64_t)common->seed;
    const struct bal_tuning tuning = {
        .model = draft.c.model,
        .run = draft.c.run,
        .replications = draft.c.replications,
        .precision = draft.c.precision,
        .open = bal_draft_is_open(&common->draft),
        .shortest = isnan(args->shortest) ? mean / 100 : args->shortest,
        .longest = isnan(args->longest) ? mean * 100 : args->longest,
        .points = (unsigned)args->points,
    };
    struct cli_output output;
    const int opened = cli_output_open(&output, common->output);
    if (opened)
        return opened;
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    struct bal_tuned tuned;
    struct bal_error err = {0};
    const enum bal_code code = bal_tune(&tuning, &lab, &tuned, &err);
    cli_progress_end(&progress);
    if (code && code != BAL_E_STOPPED) {
        cli_output_discard(&output);
        return cli_fail("%s", err.text);
    }
    const int status = print_report(args, &tuning, &tuned, code == BAL_E_STOPPED, &output);
    bal_tuned_fini(&tuned);
    return status;
}

static int tune_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.shortest = NAN, .longest = NAN, .points = 13};
    cli_common_init(&args.common, command);
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0 || strcmp(argv[1], "tabs") != 0)
        return cli_fail("tune: '%.60s' cannot be tuned; write ballast tune tabs", operands ? argv[1] : "");
    if (args.common.draft.c.run.engine != BAL_ENGINE_AUTO)
        return cli_fail("--engine: tuning runs several engines; leave it out");
    struct bal_error err = {0};
    if (bal_model_check(&args.common.draft.c.model, &err))
        return cli_fail("%s", err.text);
    const int length = cli_common_check_length(&args.common);
    return length >= 0 ? length : tune_and_print(&args);
}

const struct cli_command cmd_tune = {
    .name = "tune",
    .summary = "find how long idle servers should stay on: delay against energy",
    .operands = "tabs",
    .description = "Sweeps the standby time of tabs, after which an idle server switches off, and shows what "
                   "it costs in power and\n"
                   "waiting, with the knee of the frontier marked; for comparison servers that are always on "
                   "(jiq) and one common queue with\n"
                   "the same times (delayed-off).",
    .examples = "  ballast tune tabs --servers 100 --load 0.3 --setup 10\n"
                "  ballast tune tabs --servers 1000 --load 0.6 --setup 'det(30)' --figure frontier.svg\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = tune_main,
};
