/* SPDX-License-Identifier: BSD-2-Clause */
/* The question tune slots: how many requests a server should work on at once. */
#include "question/ask_tune_slots.h"

#include "ballast/percentile.h"
#include "report/slots_report.h"

#include <math.h>
#include <string.h>

enum bal_code bli_slots_target_parse(const char *text, struct bli_slots_target *target,
                                     struct bal_error *err) {
    static const struct bli_option_range range = {
        1e-6, 1e9, false,
        "a time above 0 behind mean= or a percentile, in mean service times, such as p99=10"};
    const size_t length = strcspn(text, "=");
    struct bli_slots_target read = {0};
    if (text[length] == '=' && length == 4 && strncmp(text, "mean", 4) == 0)
        read.quantile = 0;
    else if (text[length] != '=' || bli_percentile_parse(text, length, &read.quantile, NULL))
        return bal_fail(
            err, BAL_E_SYNTAX,
            "not a target; write mean, or a percentile such as p95 or p99.9, and a number of mean "
            "service times: p99=10");
    const enum bal_code code = bli_option_number(text + length + 1, &range, &read.most, err);
    if (!code)
        *target = read;
    return code;
}

/* The case of the one policy, with as many jobs as a run usually has if nothing is said. */
static enum bal_code set_up_question(struct bli_request *common, const struct bli_slots_target *target,
                                     struct bli_percentiles *percentiles, struct bli_slots_question *question,
                                     struct bal_error *err) {
    struct bli_draft draft = common->draft;
    if (common->policies == 0) {
        const enum bal_code code = bli_request_set_policy(common, "jiq:else=least-conn", err);
        if (code)
            return code;
    }
    draft.c.policy = common->policy[0];
    draft.c.model.slots = BLI_SLOTS_ALL; /* so that the load is that of the best number of them */
    enum bal_code code = bli_model_check(&draft.c.model, err);
    if (code)
        return code;
    if (bli_draft_is_open(&draft))
        draft.time = bli_default_run_length(&draft.c.model);
    bli_draft_complete(&draft);
    draft.c.run.seed = (uint64_t)common->seed;
    *percentiles = (struct bli_percentiles){.count = target->quantile > 0, .quantile = {target->quantile}};
    draft.c.run.percentiles = percentiles;
    *question = (struct bli_slots_question){.base = draft.c,
                                            .quantile = target->quantile,
                                            .target = target->most,
                                            .open = bli_draft_is_open(&common->draft)};
    return BAL_OK;
}

enum bal_code bli_ask_tune_slots(struct bli_request *common, const struct bli_slots_target *target,
                                 struct bli_asking *asking, struct bal_error *err) {
    struct bli_percentiles percentiles;
    struct bli_slots_question question;
    struct bli_slots_answer answer;
    enum bal_code code = set_up_question(common, target, &percentiles, &question, err);
    if (code)
        return code;
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    code = bli_tune_slots(&question, &lab, &answer, err);
    const bool cut_short = code == BAL_E_STOPPED;
    if (code && !cut_short)
        return code;
    struct bal_error why = {0};
    if (common->figure && !cut_short && (code = bli_slots_figure(&question, &answer, common->figure, &why)))
        return bal_fail(err, code, "--figure %s: %s", common->figure, why.text);
    bli_slots_print(&question, &answer, &common->draft, BLI_ROWS(common->format, asking->out));
    if (cut_short)
        bli_asking_cut_short(asking, "%s", bli_cut_short_text);
    return BAL_OK;
}

enum bal_code bli_check_tune_slots(const struct bli_request *common, struct bal_error *err) {
    if (common->policies > 1)
        return bal_fail(err, BAL_E_MODEL, "tune slots: %zu policies; give one", common->policies);
    if (!bli_speeds_given(&common->draft.c.model.speeds))
        return bal_fail(err, BAL_E_MODEL,
                        "tune slots needs --speeds, such as 'cores(4)' or 'batch(8,0.15)': without them more "
                        "slots are always better");
    return BAL_OK;
}
