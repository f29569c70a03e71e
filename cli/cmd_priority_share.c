/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast priority-share: how large may the share of high-priority jobs be? */
#include "commands.h"
#include "common.h"

#include "report/share_report.h"

#include <math.h>
#include <string.h>

struct args {
    struct cli_common common; /* first: the shared setters write here */
    struct bal_priority_share_wish wish;
    double d1, d2; /* NaN: not given */
    bool given;    /* d1 and d2 come with the policy */
    bool theory_only;
};

static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    struct bal_policy_spec spec;
    const enum bal_code code = bal_scheme_parse(value, &spec, err);
    if (code)
        return code;
    static const char *const names[] = {"pod-scp", "pod-sep", "pod-ssp"}; /* by enum bal_priority_policy */
    int which = 0;
    while (which < 3 && strcmp(spec.policy->name, names[which]) != 0)
        which++;
    if (which == 3)
        return bal_fail(err, BAL_E_UNKNOWN,
                        "not one of pod-ssp, pod-sep, pod-scp, which treat classes differently");
    args->wish.priority.policy = (enum bal_priority_policy)which;
    args->given = strchr(value, ':') != NULL;
    if (args->given) {
        const bool one = which == BAL_PRIORITY_SEP;
        args->wish.priority.d1 = (unsigned)bal_policy_value(&spec, one ? "d" : "d1");
        args->wish.priority.d2 = (unsigned)bal_policy_value(&spec, one ? "d" : "d2");
    }
    return BAL_OK;
}

static enum bal_code set_probes(const char *value, double *number, struct bal_error *err) {
    static const struct cli_range range = {1, 1e6, true, "a whole number from 1 to 1000000"};
    return cli_number(value, &range, number, err);
}

static enum bal_code set_d1(void *into, const char *value, struct bal_error *err) {
    return set_probes(value, &((struct args *)into)->d1, err);
}

static enum bal_code set_d2(void *into, const char *value, struct bal_error *err) {
    return set_probes(value, &((struct args *)into)->d2, err);
}

static enum bal_code set_gain(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e6, false, "a factor above 0, such as 2.5"};
    return cli_number(value, &range, &((struct args *)into)->wish.gain, err);
}

static enum bal_code set_loss(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e6, false, "a factor above 0, such as 2"};
    return cli_number(value, &range, &((struct args *)into)->wish.loss, err);
}

static enum bal_code set_theory_only(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->theory_only = true;
    return BAL_OK;
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    if (strcmp(value, "csv") == 0)
        return bal_fail(err, BAL_E_UNKNOWN, "not one of text, markdown, json");
    return cli_set_format(into, value, err);
}

static const struct cli_option options[] = {
    {"gain", "G", "high jobs must be at least G times as fast as under pod", set_gain},
    {"loss", "L", "low jobs may take at most L times as long as under pod", set_loss},
    {.setting = "load"},
    {"policy", "POLICY", "pod-ssp, pod-sep or pod-scp (default pod-ssp)", set_policy},
    {"d1", "D", "servers probed for a low job (default 2)", set_d1},
    {"d2", "D", "servers probed for a high job (default: as d1)", set_d2},
    {.argument = "N",
     .help = "servers to confirm it with by simulation",
     .setting = "servers",
     .default_value = "1000"},
    {"theory-only", NULL, "do not simulate", set_theory_only},
    {.setting = "run.jobs"},
    {.setting = "run.time"},
    {.setting = "run.replications"},
    CLI_SEED_OPTION,
    CLI_THREADS_OPTION,
    {"format", "FORM", "text, markdown or json (default text)", set_format},
    {"output", "FILE", "write the results there (default: standard output)", cli_set_output},
    {"quiet", NULL, "no progress bar", cli_set_quiet},
};

/* Completes and checks the request. Returns -1 to go on, otherwise the exit status. */
static int check_args(struct args *args) {
    struct bal_priority *priority = &args->wish.priority;
    const struct bal_servers *servers = &args->common.draft.c.model.servers;
    if (!(args->wish.gain > 0) && !isfinite(args->wish.loss))
        return cli_fail(
            "priority-share: say what is wanted: --gain, --loss or both, such as --gain 2.5 --loss 2");
    if (args->given && !(isnan(args->d1) && isnan(args->d2)))
        return cli_fail("--d1 and --d2 are in --policy already; give them in one place");
    if (!args->given) {
        priority->d1 = isnan(args->d1) ? 2 : (unsigned)args->d1;
        priority->d2 = isnan(args->d2) ? priority->d1 : (unsigned)args->d2;
    }
    if (priority->policy == BAL_PRIORITY_SEP && priority->d2 != priority->d1)
        return cli_fail("pod-sep probes as many servers for either class; leave --d2 out or use pod-ssp");
    if (servers->groups != 1 || servers->group[0].speed != 1)
        return cli_fail(
            "--servers: the theory is about equal servers of speed 1; give a number, such as 1000");
    priority->lambda = args->common.draft.c.model.load;
    return cli_common_check_length(&args->common);
}

/* ---- the work ---- */

static int print_report(const struct args *args, const struct bal_priority_share_answer *answer,
                        struct cli_output *output) {
    const struct bal_share_report report = {.wish = &args->wish,
                                            .answer = answer,
                                            .draft = &args->common.draft,
                                            .seed = (uint64_t)args->common.seed};
    if (args->common.format == CLI_JSON)
        bal_share_json(&report, output->stream);
    else
        bal_share_text(&report, cli_style(args->common.format), output->stream);
    const int status = cli_output_close(output);
    if (status)
        return status;
    if (answer->cut_short) {
        cli_warn(
            "interrupted: the simulation is cut short and comes from the replications that were complete");
        return CLI_INTERRUPTED;
    }
    return isnan(answer->found.p) || (answer->simulated && !answer->confirmed) ? CLI_OUTCOME : CLI_OK;
}

static int find_and_print(const struct args *args) {
    const struct cli_common *common = &args->common;
    struct cli_output output;
    const int opened = cli_output_open(&output, common->output);
    if (opened)
        return opened;
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    const struct bal_run run = {
        .seed = (uint64_t)common->seed, .time = bal_draft_time(&common->draft), .warmup = NAN};
    const uint32_t servers = args->theory_only ? 0 : common->draft.c.model.servers.group[0].count;
    struct bal_priority_share_answer found;
    struct bal_error err = {0};
    const enum bal_code code =
        bal_priority_share_answer(&args->wish, servers, &run, bal_draft_is_open(&common->draft),
                                  common->draft.c.replications, &lab, &found, &err);
    cli_progress_end(&progress);
    if (code) {
        cli_output_discard(&output);
        return cli_fail("%s", err.text);
    }
    return print_report(args, &found, &output);
}

static int share_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {
        .wish = {.priority = {.policy = BAL_PRIORITY_SSP}, .loss = INFINITY}, .d1 = NAN, .d2 = NAN};
    cli_common_init(&args.common, command);
    int operands;
    int status = cli_parse(command, argc, argv, &args, 0, &operands);
    if (status < 0)
        status = check_args(&args);
    return status >= 0 ? status : find_and_print(&args);
}

const struct cli_command cmd_priority_share = {
    .name = "priority-share",
    .summary = "how many jobs may have high priority, for a wanted gain and loss",
    .operands = "",
    .description =
        "Finds the largest share of high-priority jobs at which these are --gain times as fast as under pod "
        "with d1\n"
        "probes, while low-priority jobs take at most --loss times as long: by theory for many servers, and\n"
        "then by simulation at that share, which confirms it if both are met to within 1 % or its error. "
        "Exits\n"
        "with 1 if there is no such share or it is not confirmed.",
    .examples = "  ballast priority-share --load 0.95 --d1 2 --d2 4 --gain 2.5 --loss 2\n"
                "  ballast priority-share --policy pod-sep:d=2 --loss 1.5 --theory-only\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = share_main,
};
