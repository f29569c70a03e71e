/* SPDX-License-Identifier: BSD-2-Clause */
/* The question fluid: how queue lengths change in a system of very many servers, compared with a simulated
 * one. */
#include "question/kind.h"

#include "ballast/figure.h"
#include "report/fluid_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct args {
    struct bli_request common; /* first: its setters take the whole */
    const char *from;
    enum bli_rcpb_variant variant;
    double until, points, simulate, levels; /* NaN: not given */
    double *start;                          /* the state that `from` names */
    size_t start_levels;
};

/* ---- options ---- */

static enum bal_code set_variant(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"constrained", "high-memory", "high-message"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            ((struct args *)into)->variant = (enum bli_rcpb_variant)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of constrained, high-memory, high-message");
}

static const struct bli_option options[] = {
    {.setting = "load", .help = "arriving work over capacity; from 1 on the queues grow"},
    {.setting = "service", .help = "tabs: law of sizes, in phases: exp, erlang(K), hyper(C2), ..."},
    {.setting = "curve", .help = "tabs: load over time: sine(A,P), table(T:F ...), ..."},
    {.setting = "buffer", .help = "tabs: most jobs at a server; one more is lost"},
    {.setting = "high"},
    {.setting = "steal", .help = "random and pod: idle servers steal: half, one, constant(K), ..."},
    {"variant", "NAME", "rcpb: constrained, or in the limit high-memory (c grows) or high-message (mu grows)",
     set_variant},
    {"from", "STATE",
     "empty (default), full (20 jobs each), a file with s_1 s_2 ...; tabs: busy=X,off=Y, idle",
     BLI_STORES_TEXT(struct args, from)},
    {"until", "T", "how far to go, in mean service times (default 20)",
     BLI_STORES_NUMBER(struct args, until, 1e-6, 1e9, "a time above 0 (to 1G), such as 50")},
    {"points", "K", "times that are printed, from 0 to T (default 21)",
     BLI_STORES_WHOLE(struct args, points, 2, 100001, "a whole number from 2 to 100001")},
    {"levels", "I", "show s_1 to s_I (default: those that matter)",
     BLI_STORES_WHOLE(struct args, levels, 1, BLI_FIGURE_GROUPS_MAX, "a whole number from 1 to 64")},
    {"simulate", "N", "simulate N servers as well, and compare",
     BLI_STORES_WHOLE(struct args, simulate, 1, BLI_SERVERS_MAX, "a whole number of servers, such as 1000")},
    {"seed", "S", "of the simulation (default 1)",
     BLI_STORES_WHOLE(struct bli_request, seed, 0, 9007199254740991, "a whole number from 0")},
    {"figure", "FILE", "draw it, too: FILE.svg, FILE.png or FILE.pdf (needs gnuplot)",
     bli_request_set_figure},
    BLI_OUTPUT_OPTIONS,
};

/* ---- the work ---- */

/* Policies that switch servers off have their own starting state. */
static enum bal_code read_power_start(struct args *args, struct bal_error *err) {
    if (!args->from || strcmp(args->from, "empty") == 0)
        args->from = args->from ? "idle" : "busy=0.1,off=0.9";
    return bli_start_parse(args->from, &args->common.draft.c.model.start, err);
}

static enum bal_code read_start(struct args *args, struct bal_error *err) {
    struct bal_error why = {0};
    if (args->common.policy[0].policy->power) {
        const enum bal_code code = read_power_start(args, &why);
        return code ? bal_fail(err, code, "--from: %s", why.text) : BAL_OK;
    }
    if (!args->from)
        args->from = "empty";
    const enum bal_code code = bli_fluid_path_start(args->from, &args->start, &args->start_levels, &why);
    return code ? bal_fail(err, code, "--from %s", why.text) : BAL_OK;
}

static enum bal_code print_report(const struct args *args, const struct bli_fluid_path_solution *followed,
                                  struct bli_asking *asking, struct bal_error *err) {
    const struct bli_request *common = &args->common;
    const struct bli_fluid_report report = {
        .policy = &common->policy[0],
        .from = args->from,
        .load = common->draft.c.model.load,
        .draft = &common->draft,
        .followed = followed,
        .levels = isnan(args->levels) ? 0 : (size_t)args->levels,
        .servers = bli_servers_count(&common->draft.c.model.servers),
        .seed = (uint64_t)common->seed,
    };
    struct bal_error why = {0};
    const enum bal_code code = common->figure ? bli_fluid_figure(&report, common->figure, &why) : BAL_OK;
    if (code)
        return bal_fail(err, code, "--figure %s: %s", common->figure, why.text);
    bli_fluid_print(&report, BLI_ROWS(common->format, asking->out));
    return BAL_OK;
}

/* The equations alone. */
static bool is_brief(const void *request) {
    return isnan(((const struct args *)request)->simulate);
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    const struct args *args = request;
    const struct bli_request *common = &args->common;
    const struct bli_fluid_path_question question = {
        .model = &common->draft.c.model,
        .policy = &common->policy[0],
        .variant = args->variant,
        .start = args->start,
        .start_levels = args->start_levels,
        .until = args->until,
        .points = (size_t)args->points,
        .simulate = !isnan(args->simulate),
        .seed = (uint64_t)common->seed,
        .stop = asking->host->stop,
    };
    struct bli_fluid_path_solution followed;
    enum bal_code code = bli_fluid_path_solve(&question, &followed, err);
    if (!code)
        code = print_report(args, &followed, asking, err);
    bli_fluid_path_solution_fini(&followed);
    return code;
}

/* Without a simulation the fleet is as large as can be. */
static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    struct bli_request *common = &args->common;
    if (common->policies == 0)
        return bal_fail(
            err, BAL_E_MODEL,
            "fluid: name a policy: ballast fluid POLICY, such as pod:d=2 or rcpb:c=2,mu=9 or tabs");
    common->draft.c.model.servers.groups = 1;
    common->draft.c.model.servers.group[0] = (struct bli_group){
        .count = isnan(args->simulate) ? BLI_SERVERS_MAX : (uint32_t)args->simulate, .speed = 1};
    enum bli_engine engine;
    const enum bal_code code =
        bli_simulate_check(&common->draft.c.model, &common->policy[0], BLI_ENGINE_AUTO, &engine, err);
    return code ? code : read_start(args, err);
}

static void init(void *request) {
    struct args *args = request;
    args->until = 20;
    args->points = 21;
    args->simulate = args->levels = NAN;
    args->variant = BLI_RCPB_CONSTRAINED;
}

static void fini(void *request) {
    free(((struct args *)request)->start);
}

const struct bli_question_kind bli_question_fluid = {
    .name = "fluid",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operand = "policy",
    .operands = 1,
    .set_operand = bli_request_set_policy,
    .size = sizeof(struct args),
    .init = init,
    .fini = fini,
    .is_brief = is_brief,
    .check = check,
    .ask = ask,
};
