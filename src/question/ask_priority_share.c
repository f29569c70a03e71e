/* SPDX-License-Identifier: BSD-2-Clause */
/* The question priority-share: how large may the share of high-priority jobs be? */
#include "question/kind.h"

#include "report/share_report.h"

#include <math.h>
#include <string.h>

struct args {
    struct bli_request common; /* first: the shared setters write here */
    struct bli_priority_share_wish wish;
    double d1, d2; /* NaN: not given */
    bool given;    /* d1 and d2 come with the policy */
    bool theory_only;
};

static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct args *args = into;
    struct bal_policy_spec spec;
    const enum bal_code code = bli_scheme_parse(value, &spec, err);
    if (code)
        return code;
    static const char *const names[] = {"pod-scp", "pod-sep", "pod-ssp"}; /* by enum bli_priority_policy */
    int which = 0;
    while (which < 3 && strcmp(spec.policy->name, names[which]) != 0)
        which++;
    if (which == 3)
        return bal_fail(err, BAL_E_UNKNOWN,
                        "not one of pod-ssp, pod-sep, pod-scp, which treat classes differently");
    args->wish.priority.policy = (enum bli_priority_policy)which;
    args->given = strchr(value, ':') != NULL;
    if (args->given) {
        const bool one = which == BLI_PRIORITY_SEP;
        args->wish.priority.d1 = (unsigned)bal_policy_value(&spec, one ? "d" : "d1");
        args->wish.priority.d2 = (unsigned)bal_policy_value(&spec, one ? "d" : "d2");
    }
    return BAL_OK;
}

static enum bal_code set_probes(const char *value, double *number, struct bal_error *err) {
    static const struct bli_option_range range = {1, 1e6, true, "a whole number from 1 to 1000000"};
    return bli_option_number(value, &range, number, err);
}

static enum bal_code set_d1(void *into, const char *value, struct bal_error *err) {
    return set_probes(value, &((struct args *)into)->d1, err);
}

static enum bal_code set_d2(void *into, const char *value, struct bal_error *err) {
    return set_probes(value, &((struct args *)into)->d2, err);
}

static const struct bli_option options[] = {
    {"gain", "G", "high jobs must be at least G times as fast as under pod",
     BLI_STORES_NUMBER(struct args, wish.gain, 1e-6, 1e6, "a factor above 0, such as 2.5")},
    {"loss", "L", "low jobs may take at most L times as long as under pod",
     BLI_STORES_NUMBER(struct args, wish.loss, 1e-6, 1e6, "a factor above 0, such as 2")},
    {.setting = "load"},
    {"policy", "POLICY", "pod-ssp, pod-sep or pod-scp (default pod-ssp)", set_policy},
    {"d1", "D", "servers probed for a low job (default 2)", set_d1},
    {"d2", "D", "servers probed for a high job (default: as d1)", set_d2},
    {.argument = "N",
     .help = "servers to confirm it with by simulation",
     .setting = "servers",
     .default_value = "1000"},
    {"theory-only", NULL, "do not simulate", BLI_STORES_FLAG(struct args, theory_only)},
    {.setting = "run.jobs"},
    {.setting = "run.time"},
    {.setting = "run.replications"},
    BLI_SEED_OPTION,
    BLI_THREADS_OPTION,
    {"format", "FORM", "text, markdown or json (default text)", bli_request_set_format_but_csv},
    BLI_HOST_OPTIONS,
};

/* Completes and checks the request. */
static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    struct bli_priority *priority = &args->wish.priority;
    const struct bli_servers *servers = &args->common.draft.c.model.servers;
    if (!(args->wish.gain > 0) && !isfinite(args->wish.loss))
        return bal_fail(
            err, BAL_E_MODEL,
            "priority-share: say what is wanted: --gain, --loss or both, such as --gain 2.5 --loss 2");
    if (args->given && !(isnan(args->d1) && isnan(args->d2)))
        return bal_fail(err, BAL_E_MODEL, "--d1 and --d2 are in --policy already; give them in one place");
    if (!args->given) {
        priority->d1 = isnan(args->d1) ? 2 : (unsigned)args->d1;
        priority->d2 = isnan(args->d2) ? priority->d1 : (unsigned)args->d2;
    }
    if (priority->policy == BLI_PRIORITY_SEP && priority->d2 != priority->d1)
        return bal_fail(err, BAL_E_MODEL,
                        "pod-sep probes as many servers for either class; leave --d2 out or use pod-ssp");
    if (servers->groups != 1 || servers->group[0].speed != 1)
        return bal_fail(
            err, BAL_E_MODEL,
            "--servers: the theory is about equal servers of speed 1; give a number, such as 1000");
    priority->lambda = args->common.draft.c.model.load;
    return bli_request_check_length(&args->common, err);
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    const struct args *args = request;
    const struct bli_request *common = &args->common;
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    const struct bli_run run = {
        .seed = (uint64_t)common->seed, .time = bli_draft_time(&common->draft), .warmup = NAN};
    const uint32_t servers = args->theory_only ? 0 : common->draft.c.model.servers.group[0].count;
    struct bli_priority_share_answer answer;
    const enum bal_code code =
        bli_priority_share_answer(&args->wish, servers, &run, bli_draft_is_open(&common->draft),
                                  common->draft.c.replications, &lab, &answer, err);
    if (code)
        return code;
    const struct bli_share_report report = {
        .wish = &args->wish, .answer = &answer, .draft = &common->draft, .seed = (uint64_t)common->seed};
    bli_share_print(&report, BLI_ROWS(common->format, asking->out));
    if (isnan(answer.found.p) || (answer.simulated && !answer.confirmed))
        asking->kind = BAL_ANSWER_NONE;
    if (answer.cut_short)
        bli_asking_cut_short(
            asking,
            "interrupted: the simulation is cut short and comes from the replications that were complete");
    return BAL_OK;
}

static void init(void *request) {
    struct args *args = request;
    args->wish = (struct bli_priority_share_wish){.priority = {.policy = BLI_PRIORITY_SSP}, .loss = INFINITY};
    args->d1 = args->d2 = NAN;
}

const struct bli_question_kind bli_question_priority_share = {
    .name = "priority-share",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .size = sizeof(struct args),
    .init = init,
    .check = check,
    .ask = ask,
};
