/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast tune slots: how many requests a server should work on at once. */
#include "tune_slots.h"

#include "ballast/percentile.h"
#include "report/slots_report.h"

#include <math.h>
#include <string.h>

enum bal_code cli_slots_target_parse(const char *text, struct cli_slots_target *target,
                                     struct bal_error *err) {
    static const struct cli_range range = {
        1e-6, 1e9, false,
        "a time above 0 behind mean= or a percentile, in mean service times, such as p99=10"};
    const size_t length = strcspn(text, "=");
    struct cli_slots_target read = {0};
    if (text[length] == '=' && length == 4 && strncmp(text, "mean", 4) == 0)
        read.quantile = 0;
    else if (text[length] != '=' || bal_percentile_parse(text, length, &read.quantile, NULL))
        return bal_fail(
            err, BAL_E_SYNTAX,
            "not a target; write mean, or a percentile such as p95 or p99.9, and a number of mean "
            "service times: p99=10");
    const enum bal_code code = cli_number(text + length + 1, &range, &read.most, err);
    if (!code)
        *target = read;
    return code;
}

static int print_answer(const struct cli_common *common, const struct bal_slots_question *question,
                        const struct bal_slots_answer *answer, bool cut_short, struct cli_output *output) {
    struct bal_error err = {0};
    if (common->figure && !cut_short && bal_slots_figure(question, answer, common->figure, &err)) {
        cli_output_discard(output);
        return cli_fail("--figure %s: %s", common->figure, err.text);
    }
    if (common->format == CLI_JSON)
        bal_slots_json(question, answer, &common->draft, output->stream);
    else if (common->format == CLI_CSV)
        bal_slots_csv(question, answer, &common->draft, output->stream);
    else
        bal_slots_text(question, answer, &common->draft, cli_style(common->format), output->stream);
    const int status = cli_output_close(output);
    if (status || !cut_short)
        return status;
    cli_warn("interrupted: these results are cut short and come from the replications that were complete");
    return CLI_INTERRUPTED;
}

/* The case of the one policy, with as many jobs as a run usually has if nothing is said. */
static enum bal_code set_up_question(struct cli_common *common, const struct cli_slots_target *target,
                                     struct bal_percentiles *percentiles, struct bal_slots_question *question,
                                     struct bal_error *err) {
    struct bal_draft draft = common->draft;
    if (common->policies == 0) {
        const enum bal_code code = cli_set_policy(common, "jiq:else=least-conn", err);
        if (code)
            return code;
    }
    draft.c.policy = common->policy[0];
    draft.c.model.slots = BAL_SLOTS_ALL; /* so that the load is that of the best number of them */
    enum bal_code code = bal_model_check(&draft.c.model, err);
    if (code)
        return code;
    if (bal_draft_is_open(&draft))
        draft.time = bal_default_run_length(&draft.c.model);
    bal_draft_complete(&draft);
    draft.c.run.seed = (uint64_t)common->seed;
    *percentiles = (struct bal_percentiles){.count = target->quantile > 0, .quantile = {target->quantile}};
    draft.c.run.percentiles = percentiles;
    *question = (struct bal_slots_question){.base = draft.c,
                                            .quantile = target->quantile,
                                            .target = target->most,
                                            .open = bal_draft_is_open(&common->draft)};
    return BAL_OK;
}

int cli_tune_slots(struct cli_common *common, const struct cli_slots_target *target) {
    struct bal_percentiles percentiles;
    struct bal_slots_question question;
    struct bal_slots_answer answer;
    struct bal_error err = {0};
    if (common->policies > 1)
        return cli_fail("tune slots: %zu policies; give one", common->policies);
    if (!bal_speeds_given(&common->draft.c.model.speeds))
        return cli_fail("tune slots needs --speeds, such as 'cores(4)' or 'batch(8,0.15)': without them more "
                        "slots are always better");
    if (set_up_question(common, target, &percentiles, &question, &err))
        return cli_fail("%s", err.text);
    struct cli_output output;
    const int opened = cli_output_open(&output, common->output);
    if (opened)
        return opened;
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    const enum bal_code code = bal_tune_slots(&question, &lab, &answer, &err);
    cli_progress_end(&progress);
    if (code && code != BAL_E_STOPPED) {
        cli_output_discard(&output);
        return cli_fail("%s", err.text);
    }
    return print_answer(common, &question, &answer, code == BAL_E_STOPPED, &output);
}
