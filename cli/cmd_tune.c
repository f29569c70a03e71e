/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast tune tabs: how long an idle server should stay on; tune slots is in tune_slots.c. */
#include "commands.h"
#include "common.h"
#include "tune_slots.h"

#include "report/tune_report.h"

#include <math.h>
#include <string.h>

struct args {
    struct cli_common common; /* first: its setters take the whole */
    double shortest, longest; /* NaN: not given */
    double points;
    struct cli_slots_target target;
};

static const struct cli_range time_range = {1e-6, 1e9, false, "a time above 0 (to 1G), such as 10"};

static enum bal_code set_target(void *into, const char *value, struct bal_error *err) {
    return cli_slots_target_parse(value, &((struct args *)into)->target, err);
}

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
    {.help = "tabs: of the servers; slots: of their best speed", .setting = "load", .default_value = "0.3"},
    {.setting = "service"},
    {.setting = "arrivals"},
    {.help = "tabs: time to switch a server on: its mean, or a law such as det(10)",
     .setting = "setup",
     .default_value = "10"},
    {.help = "tabs: load over time: constant, sine(A,P), table(T:F T:F ...), file(PATH)", .setting = "curve"},
    {.help = "tabs: watts of a server: BUSY,IDLE,SETUP,OFF", .setting = "watts"},
    {"from", "T", "tabs: shortest mean standby time (default: a hundredth of the set-up time)", set_shortest},
    {"to", "T", "tabs: longest (default: a hundred set-up times)", set_longest},
    {"points", "K", "tabs: standby times between them, evenly on a logarithmic scale (default 13)",
     set_points},
    {.help =
         "slots: speed of a server by the jobs in service: cores(4), batch(8,0.15), table(1:1 2:1.8 8:4.5)",
     .setting = "speeds"},
    {"policy", "POLICY", "slots: name or name:key=value,... (default jiq:else=least-conn)", cli_set_policy},
    {"target", "WHAT",
     "slots: what they are judged by and may be at most, in mean service times: p99=10, "
     "mean=2 (default: p99, no limit)",
     set_target},
    CLI_RUN_OPTIONS,
    {"figure", "FILE",
     "draw the frontier, or times over slots, too: FILE.svg, FILE.png or FILE.pdf (needs "
     "gnuplot)",
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

/* Options of one of the two do nothing for the other. */
static int check_options(const struct args *args, bool slots) {
    const struct cli_common *common = &args->common;
    static const char *const of_tabs[] = {"setup", "curve", "watts"};
    if (!slots && (cli_common_given(common, "speeds") || common->policies > 0 || !isnan(args->target.most)))
        return cli_fail("tune tabs: --%s is for tune slots; leave it out", cli_common_given(common, "speeds")
                                                                               ? "speeds"
                                                                           : common->policies > 0 ? "policy"
                                                                                                  : "target");
    for (size_t i = 0; slots && i < sizeof of_tabs / sizeof *of_tabs; i++)
        if (cli_common_given(common, of_tabs[i]))
            return cli_fail("tune slots: --%s is for tune tabs; leave it out", of_tabs[i]);
    if (slots && (!isnan(args->shortest) || !isnan(args->longest)))
        return cli_fail("tune slots: --from and --to are for tune tabs; leave them out");
    return -1;
}

static int tune_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {
        .shortest = NAN, .longest = NAN, .points = 13, .target = {.quantile = 0.99, .most = NAN}};
    cli_common_init(&args.common, command);
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    const bool slots = operands > 0 && strcmp(argv[1], "slots") == 0;
    if (!slots && (operands == 0 || strcmp(argv[1], "tabs") != 0))
        return cli_fail("tune: '%.60s' cannot be tuned; write ballast tune tabs, or ballast tune slots",
                        operands ? argv[1] : "");
    const int foreign = check_options(&args, slots);
    if (foreign >= 0)
        return foreign;
    if (args.common.draft.c.run.engine != BAL_ENGINE_AUTO)
        return cli_fail("--engine: tuning runs several engines; leave it out");
    const int length = cli_common_check_length(&args.common);
    if (length >= 0 || slots) {
        args.common.draft.c.model.setup = (struct bal_dist){0};
        return length >= 0 ? length : cli_tune_slots(&args.common, &args.target);
    }
    struct bal_error err = {0};
    if (bal_model_check(&args.common.draft.c.model, &err))
        return cli_fail("%s", err.text);
    return tune_and_print(&args);
}

const struct cli_command cmd_tune = {
    .name = "tune",
    .summary = "find how long idle servers should stay on, or how many requests they should work on at once",
    .operands = "tabs|slots",
    .description =
        "tabs: sweeps the standby time of tabs, after which an idle server switches off, and shows what "
        "it costs in power and\n"
        "waiting, with the knee of the frontier marked; for comparison servers that are always on "
        "(jiq) and one common queue with\n"
        "the same times (delayed-off).\n"
        "slots: gives servers whose speed depends on the number of requests in service the same traffic "
        "with 1, 2, 3, 4, 6, 8, ...\n"
        "slots each, and shows what each number costs. Requests beyond it wait at the server.",
    .examples = "  ballast tune tabs --servers 100 --load 0.3 --setup 10\n"
                "  ballast tune tabs --servers 1000 --load 0.6 --setup 'det(30)' --figure frontier.svg\n"
                "  ballast tune slots --servers 20 --speeds 'batch(8,0.15)' --load 0.8 --target p99=10\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = tune_main,
};
