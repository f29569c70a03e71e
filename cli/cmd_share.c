/* ballast share: how many jobs may be privileged? */
#include "commands.h"
#include "common.h"

#include "ballast/version.h"

#include "format/json.h"
#include "format/table.h"
#include "report/doubt.h"
#include "report/head.h"
#include "study/privilege.h"

#include <math.h>
#include <string.h>

/* Theory is about many servers. A simulated wish counts as met when it is missed by no more than this, or by
 * no more than the error of the simulation. */
static const double tolerance = 0.01;

struct request {
    struct cli_common common; /* first: the shared setters write here */
    struct bal_privilege_wish wish;
    double d1, d2; /* NaN: not given */
    bool given;    /* d1 and d2 come with the policy */
    bool theory_only;
};

static enum bal_code set_policy(void *into, const char *value, struct bal_error *err) {
    struct request *request = into;
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
    request->wish.priority.policy = (enum bal_priority_policy)which;
    request->given = strchr(value, ':') != NULL;
    if (request->given) {
        const bool one = which == BAL_PRIORITY_SEP;
        request->wish.priority.d1 = (unsigned)bal_policy_value(&spec, one ? "d" : "d1");
        request->wish.priority.d2 = (unsigned)bal_policy_value(&spec, one ? "d" : "d2");
    }
    return BAL_OK;
}

static enum bal_code set_probes(const char *value, double *number, struct bal_error *err) {
    static const struct cli_range range = {1, 1e6, true, "a whole number from 1 to 1000000"};
    return cli_number(value, &range, number, err);
}

static enum bal_code set_d1(void *into, const char *value, struct bal_error *err) {
    return set_probes(value, &((struct request *)into)->d1, err);
}

static enum bal_code set_d2(void *into, const char *value, struct bal_error *err) {
    return set_probes(value, &((struct request *)into)->d2, err);
}

static enum bal_code set_gain(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e6, false, "a factor above 0, such as 2.5"};
    return cli_number(value, &range, &((struct request *)into)->wish.gain, err);
}

static enum bal_code set_loss(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e6, false, "a factor above 0, such as 2"};
    return cli_number(value, &range, &((struct request *)into)->wish.loss, err);
}

static enum bal_code set_theory_only(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct request *)into)->theory_only = true;
    return BAL_OK;
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0)
        return bal_fail(err, BAL_E_UNKNOWN, "not one of text, json");
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
     .fallback = "1000"},
    {"theory-only", NULL, "do not simulate", set_theory_only},
    {.setting = "run.jobs"},
    {.setting = "run.time"},
    {.setting = "run.replications"},
    CLI_SEED_OPTION,
    CLI_THREADS_OPTION,
    {"format", "FORM", "text or json (default text)", set_format},
    {"output", "FILE", "write the results there (default: standard output)", cli_set_output},
    {"quiet", NULL, "no progress bar", cli_set_quiet},
};

static bool is_wanted_gain(const struct request *request) {
    return request->wish.gain > 0;
}

static bool is_wanted_loss(const struct request *request) {
    return isfinite(request->wish.loss);
}

/* Brings the request into shape. Returns -1 to go on, otherwise the exit status. */
static int check(struct request *request) {
    struct bal_priority *priority = &request->wish.priority;
    const struct bal_servers *servers = &request->common.draft.c.model.servers;
    if (!is_wanted_gain(request) && !is_wanted_loss(request))
        return cli_fail("share: say what is wanted: --gain, --loss or both, such as --gain 2.5 --loss 2");
    if (request->given && !(isnan(request->d1) && isnan(request->d2)))
        return cli_fail("--d1 and --d2 are in --policy already; give them in one place");
    if (!request->given) {
        priority->d1 = isnan(request->d1) ? 2 : (unsigned)request->d1;
        priority->d2 = isnan(request->d2) ? priority->d1 : (unsigned)request->d2;
    }
    if (priority->policy == BAL_PRIORITY_SEP && priority->d2 != priority->d1)
        return cli_fail("pod-sep probes as many servers for either class; leave --d2 out or use pod-ssp");
    if (servers->groups != 1 || servers->group[0].speed != 1)
        return cli_fail(
            "--servers: the theory is about equal servers of speed 1; give a number, such as 1000");
    priority->lambda = request->common.draft.c.model.load;
    return cli_common_check_length(&request->common);
}

/* ---- what was found ---- */

struct answer {
    const struct request *request;
    struct bal_privilege found;
    bool simulated;
    struct bal_privilege_measured measured;
    bool cut_short;
};

/* "gain >= 2.5 and loss <= 2" */
static void wish_text(const struct request *request, char *text, size_t size) {
    char gain[40] = "", loss[40] = "";
    if (is_wanted_gain(request))
        snprintf(gain, sizeof gain, "gain >= %g", request->wish.gain);
    if (is_wanted_loss(request))
        snprintf(loss, sizeof loss, "loss <= %g", request->wish.loss);
    snprintf(text, size, "%s%s%s", gain, *gain && *loss ? " and " : "", loss);
}

static double miss_of(const struct answer *answer) {
    const struct bal_privilege_measured *measured = &answer->measured;
    return bal_privilege_miss(&answer->request->wish, measured->gain.mean, measured->loss.mean);
}

/* Can it be told at all? */
static bool is_sure(const struct answer *answer) {
    const struct bal_privilege_measured *measured = &answer->measured;
    return bal_result_is_sure(&measured->with) && bal_result_is_sure(&measured->without);
}

/* Is it met when the error of the simulation is given the benefit of the doubt? */
static bool is_confirmed(const struct answer *answer) {
    const struct bal_privilege_measured *measured = &answer->measured;
    if (!is_sure(answer))
        return false;
    if (miss_of(answer) <= tolerance)
        return true;
    const double gain = measured->gain.mean + measured->gain.half,
                 loss = measured->loss.mean - measured->loss.half;
    return measured->replications > 1 && bal_privilege_miss(&answer->request->wish, gain, loss) <= 0;
}

static void print_none(const struct answer *answer, FILE *out) {
    const struct bal_priority *priority = &answer->request->wish.priority;
    const struct bal_privilege *found = &answer->found;
    char policy[BAL_PRIVILEGE_TEXT], wish[80];
    bal_privilege_policy(priority, policy);
    wish_text(answer->request, wish, sizeof wish);
    fprintf(out, "No share of high jobs gives %s with %s at load %g.\n", wish, policy, priority->lambda);
    if (priority->lambda >= 1)
        fprintf(out, "From load 1 on the queues grow without bound.\n");
    else
        fprintf(out,
                "Each for itself: the gain is at most %.3g (with %g %% high), the loss at least %.3g (with "
                "%g %%).\n",
                found->most_gain, 100 * found->most_gain_at, found->least_loss, 100 * found->least_loss_at);
}

static void add_row(struct table *table, const struct answer *answer, const char *what, const char *wanted,
                    double theory, struct bal_estimate measured) {
    bal_table_add(table, "%s", what);
    bal_table_add(table, "%s", wanted);
    bal_table_add(table, "%.4f", theory);
    if (!answer->simulated)
        return;
    const char *mark = is_sure(answer) ? "" : " !";
    if (isnan(measured.mean))
        bal_table_add(table, "%s", "");
    else if (isnan(measured.half))
        bal_table_add(table, "%.4f%s", measured.mean, mark);
    else
        bal_table_add(table, "%.4f \u00b1 %.4f%s", measured.mean, measured.half, mark);
}

static void print_table(const struct answer *answer, FILE *out) {
    const struct request *request = answer->request;
    const struct bal_priority_result *theory = &answer->found.theory;
    const struct bal_privilege_measured *measured = &answer->measured;
    char plain[BAL_PRIVILEGE_TEXT], pod_label[BAL_PRIVILEGE_TEXT + 20], gain[40] = "", loss[40] = "";
    bal_privilege_plain(&request->wish.priority, plain);
    snprintf(pod_label, sizeof pod_label, "mean response, %s", plain);
    if (is_wanted_gain(request))
        snprintf(gain, sizeof gain, ">= %g", request->wish.gain);
    if (is_wanted_loss(request))
        snprintf(loss, sizeof loss, "<= %g", request->wish.loss);
    struct table table;
    bal_table_init(&table, answer->simulated ? 4 : 3);
    bal_table_add(&table, "%s", "");
    bal_table_add(&table, "wanted");
    bal_table_add(&table, "theory");
    if (answer->simulated)
        bal_table_add(&table, "%u servers", request->common.draft.c.model.servers.group[0].count);
    add_row(&table, answer, "gain: pod over high", gain, theory->gain, measured->gain);
    add_row(&table, answer, "loss: low over pod", loss, theory->loss, measured->loss);
    add_row(&table, answer, "mean response, high", "", theory->high, measured->high);
    add_row(&table, answer, "mean response, low", "", theory->low, measured->low);
    add_row(&table, answer, pod_label, "", theory->pod, measured->pod);
    bal_table_print(&table, "llrr", true, out);
    bal_table_fini(&table);
}

static void print_doubts(const struct answer *answer, FILE *out) {
    const struct request *request = answer->request;
    const struct bal_privilege_measured *measured = &answer->measured;
    const struct bal_result *results[2] = {&measured->with, &measured->without};
    const struct bal_run run = {.time = measured->with.time, .warmup = NAN};
    struct bal_case cases[2];
    struct doubt_notes notes = {0};
    fputs("Undecided: the simulation is doubted.\n", out);
    if (bal_privilege_cases(&request->wish, answer->found.p,
                            request->common.draft.c.model.servers.group[0].count, &run, cases, NULL))
        return;
    for (int i = 0; i < 2; i++) {
        char policy[200];
        bal_policy_print(&cases[i].policy, policy, sizeof policy);
        bal_doubt_take(&notes, policy, &cases[i], results[i]);
    }
    bal_doubt_print(&notes, BAL_REMEDY_OPTION, out);
}

static void print_text(const struct answer *answer, FILE *out) {
    const struct request *request = answer->request;
    if (isnan(answer->found.p)) {
        print_none(answer, out);
        return;
    }
    char policy[BAL_PRIVILEGE_TEXT], wish[80];
    bal_privilege_policy(&request->wish.priority, policy);
    wish_text(request, wish, sizeof wish);
    fprintf(out, "At load %g up to %.2f %% of jobs can be high: %s then has %s.\n\n",
            request->wish.priority.lambda, 100 * answer->found.p, policy, wish);
    print_table(answer, out);
    if (!answer->simulated || answer->measured.replications == 0)
        return;
    fputc('\n', out);
    if (answer->measured.replications > 1) {
        static const char *const told[] = {"replications", NULL};
        struct bal_head head = {.used = 0};
        bal_head_add(&head, "\u00b1: 95 %% confidence over %u replications", answer->measured.replications);
        bal_head_add_settings(&head, &request->common.draft, false, told);
        bal_head_add(&head, ", seed" BAL_TABLE_JOIN "%.0f. theory: limit of many servers.",
                     request->common.seed);
        bal_head_print(&head, out);
    }
    const double miss = miss_of(answer);
    if (isnan(miss))
        fputs("Not confirmed: a class of jobs was not measured. Use longer runs (--jobs).\n", out);
    else if (!is_sure(answer))
        print_doubts(answer, out);
    else if (!is_confirmed(answer))
        fprintf(out,
                "Not confirmed: with %u servers the wish is missed by %.1f %%. Wish for less, or use more "
                "servers.\n",
                request->common.draft.c.model.servers.group[0].count, 100 * miss);
    else if (miss > 0)
        fprintf(out, "Confirmed by simulation, to within %.1f %%.\n", ceil(1000 * miss) / 10);
    else
        fputs("Confirmed by simulation.\n", out);
}

static void json_estimate(struct json *json, const char *key, struct bal_estimate estimate) {
    bal_json_open_line(json, key, '{');
    bal_json_number(json, "mean", estimate.mean);
    bal_json_number(json, "ci", estimate.half);
    bal_json_close(json, '}');
}

static void json_spec(struct json *json, const struct request *request) {
    char policy[BAL_PRIVILEGE_TEXT];
    bal_privilege_policy(&request->wish.priority, policy);
    bal_json_open(json, "spec", '{');
    bal_json_text(json, "policy", policy);
    bal_json_number(json, "load", request->wish.priority.lambda);
    bal_json_number(json, "gain", is_wanted_gain(request) ? request->wish.gain : NAN);
    bal_json_number(json, "loss", request->wish.loss);
    bal_json_close(json, '}');
    bal_head_json(json, &request->common.draft, NULL);
}

static void json_theory(struct json *json, const struct bal_privilege *found) {
    bal_json_open(json, "theory", '{');
    bal_json_number(json, "gain", found->theory.gain);
    bal_json_number(json, "loss", found->theory.loss);
    bal_json_number(json, "high", found->theory.high);
    bal_json_number(json, "low", found->theory.low);
    bal_json_number(json, "pod", found->theory.pod);
    bal_json_number(json, "most_gain", found->most_gain);
    bal_json_number(json, "least_loss", found->least_loss);
    bal_json_close(json, '}');
}

static void json_simulation(struct json *json, const struct answer *answer) {
    const struct cli_common *common = &answer->request->common;
    const struct bal_privilege_measured *measured = &answer->measured;
    bal_json_open(json, "simulation", '{');
    bal_json_count(json, "servers", common->draft.c.model.servers.group[0].count);
    bal_json_number(json, "time", measured->with.time);
    bal_json_count(json, "replications", measured->replications);
    bal_json_count(json, "seed", (uint64_t)common->seed);
    json_estimate(json, "gain", measured->gain);
    json_estimate(json, "loss", measured->loss);
    json_estimate(json, "high", measured->high);
    json_estimate(json, "low", measured->low);
    json_estimate(json, "pod", measured->pod);
    bal_doubt_json(json, measured->with.doubts | measured->without.doubts);
    bal_json_bool(json, "confirmed", is_confirmed(answer));
    bal_json_bool(json, "cut_short", answer->cut_short);
    bal_json_close(json, '}');
}

static void print_json(const struct answer *answer, FILE *out) {
    struct json json;
    bal_json_init(&json, out);
    bal_json_open(&json, NULL, '{');
    bal_json_text(&json, "version", BALLAST_VERSION);
    json_spec(&json, answer->request);
    bal_json_number(&json, "share", answer->found.p);
    json_theory(&json, &answer->found);
    if (answer->simulated)
        json_simulation(&json, answer);
    else
        bal_json_null(&json, "simulation");
    bal_json_close(&json, '}');
}

/* ---- the work ---- */

static int simulate(struct answer *answer) {
    const struct request *request = answer->request;
    const struct cli_common *common = &request->common;
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    const struct bal_run run = {
        .seed = (uint64_t)common->seed, .time = bal_draft_time(&common->draft), .warmup = NAN};
    struct bal_error err = {0};
    const enum bal_code code = bal_privilege_measure(
        &request->wish, answer->found.p, common->draft.c.model.servers.group[0].count, &run,
        bal_draft_is_open(&common->draft), common->draft.c.replications, &lab, &answer->measured, &err);
    cli_progress_end(&progress);
    answer->simulated = true;
    answer->cut_short = code == BAL_E_STOPPED;
    return code && !answer->cut_short ? cli_fail("%s", err.text) : 0;
}

static int print(const struct answer *answer, struct cli_output *output) {
    if (answer->request->common.format == CLI_JSON)
        print_json(answer, output->stream);
    else
        print_text(answer, output->stream);
    const int status = cli_output_close(output);
    if (status)
        return status;
    if (answer->cut_short) {
        cli_warn(
            "interrupted: the simulation is cut short and comes from the replications that were complete");
        return CLI_INTERRUPTED;
    }
    return isnan(answer->found.p) || (answer->simulated && !is_confirmed(answer)) ? CLI_OUTCOME : CLI_OK;
}

static int run(const struct cli_command *command, int argc, char **argv) {
    struct request request = {
        .wish = {.priority = {.policy = BAL_PRIORITY_SSP}, .loss = INFINITY}, .d1 = NAN, .d2 = NAN};
    cli_common_init(&request.common, command);
    int operands;
    int status = cli_parse(command, argc, argv, &request, 0, &operands);
    if (status < 0)
        status = check(&request);
    if (status >= 0)
        return status;
    struct cli_output output;
    status = cli_output_open(&output, request.common.output);
    if (status)
        return status;
    struct answer answer = {.request = &request, .found = bal_privilege_find(&request.wish)};
    if (!isnan(answer.found.p) && !request.theory_only)
        status = simulate(&answer);
    if (status) {
        cli_output_discard(&output);
        return status;
    }
    return print(&answer, &output);
}

const struct cli_command cmd_share = {
    .name = "share",
    .summary = "how many jobs may have high priority, for a wanted gain and loss",
    .operands = "",
    .description =
        "Finds the largest share of high-priority jobs at which these are --gain times as fast as under pod "
        "with d1\n"
        "probes, while low-priority jobs take at most --loss times as long: by theory for many servers, and\n"
        "then by simulation at that share, which confirms it if both are met to within 1 % or its error. "
        "Exits\n"
        "with 1 if there is no such share or it is not confirmed.",
    .examples = "  ballast share --load 0.95 --d1 2 --d2 4 --gain 2.5 --loss 2\n"
                "  ballast share --policy pod-sep:d=2 --loss 1.5 --theory-only\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
