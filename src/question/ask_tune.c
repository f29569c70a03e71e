/* SPDX-License-Identifier: BSD-2-Clause */
/* The question tune tabs: how long an idle server should stay on; tune slots is in ask_tune_slots.c. */
#include "question/ask_tune_slots.h"
#include "question/kind.h"

#include "report/tune_report.h"

#include <math.h>
#include <string.h>

struct args {
    struct bli_request common; /* first: its setters take the whole */
    double shortest, longest;  /* NaN: not given */
    double points;
    struct bli_slots_target target;
    const char *what; /* "tabs" or "slots" */
};

#define STORES_STANDBY(member)                                                                               \
    BLI_STORES_NUMBER(struct args, member, 1e-6, 1e9, "a time above 0 (to 1G), such as 10")

static enum bal_code set_target(void *into, const char *value, struct bal_error *err) {
    return bli_slots_target_parse(value, &((struct args *)into)->target, err);
}

static const struct bli_option options[] = {
    {.setting = "servers"},
    {.help = "tabs: of the servers; slots: of their best speed", .setting = "load", .default_value = "0.3"},
    {.setting = "service"},
    {.setting = "arrivals"},
    {.help = "tabs: time to switch a server on: its mean, or a law such as det(10)",
     .setting = "setup",
     .default_value = "10"},
    {.help = "tabs: load over time: constant, sine(A,P), table(T:F T:F ...), file(PATH)", .setting = "curve"},
    {.help = "tabs: watts of a server: BUSY,IDLE,SETUP,OFF", .setting = "watts"},
    {"from", "T", "tabs: shortest mean standby time (default: a hundredth of the set-up time)",
     STORES_STANDBY(shortest)},
    {"to", "T", "tabs: longest (default: a hundred set-up times)", STORES_STANDBY(longest)},
    {"points", "K", "tabs: standby times between them, evenly on a logarithmic scale (default 13)",
     BLI_STORES_WHOLE(struct args, points, 2, 200, "a whole number from 2 to 200")},
    {.help =
         "slots: speed of a server by the jobs in service: cores(4), batch(8,0.15), table(1:1 2:1.8 8:4.5)",
     .setting = "speeds"},
    {"policy", "POLICY", "slots: name or name:key=value,... (default jiq:else=least-conn)",
     bli_request_set_policy},
    {"target", "WHAT",
     "slots: what they are judged by and may be at most, in mean service times: p99=10, "
     "mean=2 (default: p99, no limit)",
     set_target},
    BLI_RUN_OPTIONS,
    BLI_ANSWER_SUBJECT,
    {"figure", "FILE",
     "draw the frontier, or times over slots, too: FILE.svg, FILE.png or FILE.pdf (needs "
     "gnuplot)",
     bli_request_set_figure},
    BLI_OUTPUT_OPTIONS,
};

/* Long enough for many standby and set-up times, in so many jobs as two million allow. */
static double time_of(const struct args *args) {
    const struct bli_request *common = &args->common;
    if (!bli_draft_is_open(&common->draft))
        return bli_draft_time(&common->draft);
    const double rate = bli_model_arrival_rate(&common->draft.c.model);
    return fmin(fmax(fmax(3e5 / rate, 200 * common->draft.c.model.setup.mean), 1000), 2e6 / rate);
}

static enum bal_code print_report(const struct args *args, const struct bli_tuning *tuning,
                                  const struct bli_tuned *tuned, bool cut_short, struct bli_asking *asking,
                                  struct bal_error *err) {
    const struct bli_request *common = &args->common;
    struct bal_error why = {0};
    const enum bal_code code =
        common->figure && !cut_short ? bli_tune_figure(tuning, tuned, common->figure, &why) : BAL_OK;
    if (code)
        return bal_fail(err, code, "--figure %s: %s", common->figure, why.text);
    bli_tune_print(tuning, tuned, &common->draft, BLI_ROWS(common->format, asking->out));
    if (cut_short)
        bli_asking_cut_short(asking, "%s", bli_cut_short_text);
    return BAL_OK;
}

static enum bal_code tune_tabs(const struct args *args, struct bli_asking *asking, struct bal_error *err) {
    const struct bli_request *common = &args->common;
    const double mean = common->draft.c.model.setup.mean;
    struct bli_draft draft = common->draft;
    draft.time = time_of(args);
    bli_draft_complete(&draft);
    draft.c.run.seed = (uint64_t)common->seed;
    const struct bli_tuning tuning = {
        .model = draft.c.model,
        .run = draft.c.run,
        .replications = draft.c.replications,
        .precision = draft.c.precision,
        .open = bli_draft_is_open(&common->draft),
        .shortest = isnan(args->shortest) ? mean / 100 : args->shortest,
        .longest = isnan(args->longest) ? mean * 100 : args->longest,
        .points = (unsigned)args->points,
    };
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    struct bli_tuned tuned;
    enum bal_code code = bli_tune(&tuning, &lab, &tuned, err);
    if (code && code != BAL_E_STOPPED)
        return code;
    code = print_report(args, &tuning, &tuned, code == BAL_E_STOPPED, asking, err);
    bli_tuned_fini(&tuned);
    return code;
}

static bool is_of_slots(const struct args *args) {
    return strcmp(args->what, "slots") == 0;
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    struct args *args = request;
    return is_of_slots(args) ? bli_ask_tune_slots(&args->common, &args->target, asking, err)
                             : tune_tabs(args, asking, err);
}

/* Options of one of the two do nothing for the other. */
static enum bal_code check_options(const struct args *args, struct bal_error *err) {
    const struct bli_request *common = &args->common;
    static const char *const of_tabs[] = {"setup", "curve", "watts"};
    const bool slots = is_of_slots(args), speeds = bli_request_has(common, "speeds");
    if (!slots && (speeds || common->policies > 0 || !isnan(args->target.most)))
        return bal_fail(err, BAL_E_MODEL, "tune tabs: --%s is for tune slots; leave it out",
                        speeds                 ? "speeds"
                        : common->policies > 0 ? "policy"
                                               : "target");
    for (size_t i = 0; slots && i < sizeof of_tabs / sizeof *of_tabs; i++)
        if (bli_request_has(common, of_tabs[i]))
            return bal_fail(err, BAL_E_MODEL, "tune slots: --%s is for tune tabs; leave it out", of_tabs[i]);
    if (slots && (!isnan(args->shortest) || !isnan(args->longest)))
        return bal_fail(err, BAL_E_MODEL, "tune slots: --from and --to are for tune tabs; leave them out");
    return BAL_OK;
}

static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    if (!is_of_slots(args) && strcmp(args->what, "tabs") != 0)
        return bal_fail(err, BAL_E_UNKNOWN,
                        "tune: '%.60s' cannot be tuned; write ballast tune tabs, or ballast tune slots",
                        args->what);
    enum bal_code code = check_options(args, err);
    if (!code && args->common.draft.c.run.engine != BLI_ENGINE_AUTO)
        code = bal_fail(err, BAL_E_MODEL, "--engine: tuning runs several engines; leave it out");
    if (!code)
        code = bli_request_check_length(&args->common, err);
    if (code || !is_of_slots(args))
        return code ? code : bli_model_check(&args->common.draft.c.model, err);
    args->common.draft.c.model.setup = (struct bli_dist){0};
    return bli_check_tune_slots(&args->common, err);
}

static enum bal_code set_what(void *request, const char *value, struct bal_error *err) {
    (void)err;
    ((struct args *)request)->what = value;
    return BAL_OK;
}

static void init(void *request) {
    struct args *args = request;
    args->shortest = args->longest = NAN;
    args->points = 13;
    args->target = (struct bli_slots_target){.quantile = 0.99, .most = NAN};
    args->what = "";
}

const struct bli_question_kind bli_question_tune = {
    .name = "tune",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operand = "what",
    .operands = 1,
    .set_operand = set_what,
    .size = sizeof(struct args),
    .init = init,
    .check = check,
    .ask = ask,
};
