/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast fluid POLICY: how queue lengths change in a system of very many servers, compared with a simulated
 * one. */
#include "commands.h"
#include "common.h"

#include "ballast/figure.h"
#include "report/fluid_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct args {
    struct cli_common common; /* first: its setters take the whole */
    const char *from;
    enum bal_rcpb_variant variant;
    double until, points, simulate, levels; /* NaN: not given */
    double *start;                          /* the state that `from` names */
    size_t start_levels;
};

/* ---- options ---- */

static enum bal_code set_from(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct args *)into)->from = value;
    return BAL_OK;
}

static enum bal_code set_until(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e9, false, "a time above 0 (to 1G), such as 50"};
    return cli_number(value, &range, &((struct args *)into)->until, err);
}

static enum bal_code set_points(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {2, 100001, true, "a whole number from 2 to 100001"};
    return cli_number(value, &range, &((struct args *)into)->points, err);
}

static enum bal_code set_simulate(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, BAL_SERVERS_MAX, true,
                                           "a whole number of servers, such as 1000"};
    return cli_number(value, &range, &((struct args *)into)->simulate, err);
}

static enum bal_code set_levels(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, BAL_FIGURE_GROUPS_MAX, true, "a whole number from 1 to 64"};
    return cli_number(value, &range, &((struct args *)into)->levels, err);
}

static enum bal_code set_variant(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"constrained", "high-memory", "high-message"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            ((struct args *)into)->variant = (enum bal_rcpb_variant)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of constrained, high-memory, high-message");
}

static const struct cli_option options[] = {
    {.setting = "load", .help = "arriving work over capacity; from 1 on the queues grow"},
    {.setting = "service", .help = "tabs: law of sizes, in phases: exp, erlang(K), hyper(C2), ..."},
    {.setting = "curve", .help = "tabs: load over time: sine(A,P), table(T:F ...), ..."},
    {.setting = "buffer", .help = "tabs: most jobs at a server; one more is lost"},
    {.setting = "high"},
    {.setting = "steal", .help = "random and pod: idle servers steal: half, one, constant(K), ..."},
    {"variant", "NAME", "rcpb: constrained, or in the limit high-memory (c grows) or high-message (mu grows)",
     set_variant},
    {"from", "STATE",
     "empty (default), full (20 jobs each), a file with s_1 s_2 ...; tabs: busy=X,off=Y, idle", set_from},
    {"until", "T", "how far to go, in mean service times (default 20)", set_until},
    {"points", "K", "times that are printed, from 0 to T (default 21)", set_points},
    {"levels", "I", "show s_1 to s_I (default: those that matter)", set_levels},
    {"simulate", "N", "simulate N servers as well, and compare", set_simulate},
    {"seed", "S", "of the simulation (default 1)", cli_set_seed},
    {"figure", "FILE", "draw it, too: FILE.svg, FILE.png or FILE.pdf (needs gnuplot)", cli_set_figure},
    CLI_OUTPUT_OPTIONS,
};

/* ---- the work ---- */

/* Policies that switch servers off have their own starting state. */
static enum bal_code read_power_start(struct args *args, struct bal_error *err) {
    if (!args->from || strcmp(args->from, "empty") == 0)
        args->from = args->from ? "idle" : "busy=0.1,off=0.9";
    return bal_start_parse(args->from, &args->common.draft.c.model.start, err);
}

static int read_start(struct args *args) {
    struct bal_error err = {0};
    enum bal_code code;
    if (args->common.policy[0].policy->power) {
        code = read_power_start(args, &err);
    } else {
        if (!args->from)
            args->from = "empty";
        code = bal_fluid_path_start(args->from, &args->start, &args->start_levels, &err);
    }
    return code ? cli_fail(args->common.policy[0].policy->power ? "--from: %s" : "--from %s", err.text) : -1;
}

static int print_report(const struct args *args, const struct bal_fluid_path_solution *followed,
                        struct cli_output *output) {
    const struct cli_common *common = &args->common;
    const struct bal_fluid_report report = {
        .policy = &common->policy[0],
        .from = args->from,
        .load = common->draft.c.model.load,
        .draft = &common->draft,
        .followed = followed,
        .levels = isnan(args->levels) ? 0 : (size_t)args->levels,
        .servers = bal_servers_count(&common->draft.c.model.servers),
        .seed = (uint64_t)common->seed,
    };
    struct bal_error err = {0};
    if (common->figure && bal_fluid_figure(&report, common->figure, &err)) {
        cli_output_discard(output);
        return cli_fail("--figure %s: %s", common->figure, err.text);
    }
    if (common->format == CLI_JSON)
        bal_fluid_json(&report, output->stream);
    else if (common->format == CLI_CSV)
        bal_fluid_csv(&report, output->stream);
    else
        bal_fluid_text(&report, cli_style(common->format), output->stream);
    return cli_output_close(output);
}

static int solve_and_print(const struct args *args) {
    const struct cli_common *common = &args->common;
    struct cli_output output;
    int status = cli_output_open(&output, common->output);
    if (status)
        return status;
    const struct bal_fluid_path_question question = {
        .model = &common->draft.c.model,
        .policy = &common->policy[0],
        .variant = args->variant,
        .start = args->start,
        .start_levels = args->start_levels,
        .until = args->until,
        .points = (size_t)args->points,
        .simulate = !isnan(args->simulate),
        .seed = (uint64_t)common->seed,
        .stop = cli_stop_flag(),
    };
    struct bal_fluid_path_solution followed;
    struct bal_error err = {0};
    if (question.simulate)
        cli_catch_signals();
    const enum bal_code code = bal_fluid_path_solve(&question, &followed, &err);
    if (!code) {
        status = print_report(args, &followed, &output);
    } else {
        cli_output_discard(&output);
        status = code == BAL_E_STOPPED ? CLI_INTERRUPTED : cli_fail("%s", err.text);
    }
    if (code == BAL_E_STOPPED)
        cli_warn("interrupted");
    bal_fluid_path_solution_fini(&followed);
    return status;
}

/* Without a simulation the fleet is as large as can be. */
static int check_args(struct args *args, const char *policy) {
    struct cli_common *common = &args->common;
    struct bal_error err = {0};
    if (cli_set_policy(common, policy, &err))
        return cli_fail("%s", err.text);
    common->draft.c.model.servers.groups = 1;
    common->draft.c.model.servers.group[0] = (struct bal_group){
        .count = isnan(args->simulate) ? BAL_SERVERS_MAX : (uint32_t)args->simulate, .speed = 1};
    enum bal_engine engine;
    if (bal_simulate_check(&common->draft.c.model, &common->policy[0], BAL_ENGINE_AUTO, &engine, &err))
        return cli_fail("%s", err.text);
    return read_start(args);
}

static int fluid_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {
        .until = 20, .points = 21, .simulate = NAN, .levels = NAN, .variant = BAL_RCPB_CONSTRAINED};
    cli_common_init(&args.common, command);
    int operands;
    int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status < 0 && operands == 0)
        status =
            cli_fail("fluid: name a policy: ballast fluid POLICY, such as pod:d=2 or rcpb:c=2,mu=9 or tabs");
    if (status < 0)
        status = check_args(&args, argv[1]);
    if (status < 0)
        status = solve_and_print(&args);
    free(args.start);
    return status;
}

const struct cli_command cmd_fluid = {
    .name = "fluid",
    .summary = "solve the fluid model of a policy over time, and compare with a simulation",
    .operands = "POLICY",
    .description =
        "Prints how the fraction s_i of servers with at least i jobs moves in a system of very many servers, "
        "from a\n"
        "starting state on, and what it tends to. For random, pod, pod-scp, pod-sep, pod-ssp, rcpb and jiq, "
        "with\n"
        "exponential sizes of mean 1; and for tabs with sizes in phases and a load that varies, with the "
        "fractions of\n"
        "servers that are idle and on, are in set-up and off.",
    .examples =
        "  ballast fluid pod:d=2 --load 0.95 --until 50\n"
        "  ballast fluid rcpb:c=2,mu=9 --simulate 1000 --figure paths.svg\n"
        "  ballast fluid rcpb:c=100,mup=1 --variant high-memory --from full --until 400 --simulate 10k\n"
        "  ballast fluid tabs:mu=0.1,nu=0.1 --load 0.3 --curve 'sine(0.5,60)' --until 200 --simulate 10k\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = fluid_main,
};
