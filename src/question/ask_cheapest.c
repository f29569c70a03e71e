/* SPDX-License-Identifier: BSD-2-Clause */
/* The question cheapest: what policies cost and what that buys; and the cheapest one for a wanted delay. */
#include "question/kind.h"

#include "report/price_report.h"

#include <math.h>
#include <stdlib.h>

struct args {
    struct bli_request common; /* first: its setters take the whole */
    struct bli_wish wish;      /* NaN: not given */
    bool open;                 /* the length of runs was not given */
};

static const struct bli_option options[] = {
    {"delay", "W", "find the cheapest policies that wait at most W on average",
     BLI_STORES_NUMBER(struct args, wish.waiting, 1e-9, 1e9, "a mean waiting time above 0, such as 0.1")},
    {"messages", "M", "with --delay: at most M messages per job, a probe counted as two",
     BLI_STORES_NUMBER(struct args, wish.messages, 0, 1e12,
                       "a number of messages per job from 0, such as 1.5")},
    {"memory", "B", "with --delay: at most B bits of memory",
     BLI_STORES_NUMBER(struct args, wish.memory_bits, 0, 1e15, "a number of bits from 0, such as 100")},
    BLI_MODEL_OPTIONS,
    {.name = "message-delay", .setting = "delay"},
    BLI_POLICY_OPTION,
    BLI_RUN_OPTIONS,
    BLI_OUTPUT_OPTIONS,
};

/* ---- the list ---- */

static enum bal_code measure_prices(const struct bli_request *common, const struct bli_case *cases,
                                    struct bli_result *results, struct bli_price *prices,
                                    const struct bli_asking *asking, struct bal_error *err) {
    for (size_t i = 0; i < common->policies; i++) {
        const enum bal_code code = bli_price_of(&common->draft.c.model, &common->policy[i], &prices[i], err);
        if (code)
            return code;
    }
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    return bli_lab_run(cases, common->policies, &lab, results, err);
}

static enum bal_code list_prices(const struct bli_request *common, struct bli_asking *asking,
                                 struct bal_error *err) {
    struct bli_case *cases = calloc(common->policies, sizeof *cases);
    struct bli_result *results = calloc(common->policies, sizeof *results);
    struct bli_price *prices = calloc(common->policies, sizeof *prices);
    struct bli_theory_row *theory_row = NULL;
    if (cases && results && prices) {
        bli_request_cases(common, cases);
        theory_row = bli_theory_rows_new(cases, common->policies);
    }
    enum bal_code code = theory_row ? measure_prices(common, cases, results, prices, asking, err)
                                    : bal_fail(err, BAL_E_MEMORY, "not enough memory");
    if (!code || code == BAL_E_STOPPED) {
        const struct bli_price_list list = {.cases = cases,
                                            .results = results,
                                            .prices = prices,
                                            .theory_row = theory_row,
                                            .count = common->policies,
                                            .draft = &common->draft,
                                            .cut_short = code == BAL_E_STOPPED};
        bli_price_list_print(&list, BLI_ROWS(common->format, asking->out));
        if (list.cut_short)
            bli_asking_cut_short(asking, "%s", bli_cut_short_text);
        code = BAL_OK;
    }
    free(cases);
    free(results);
    free(prices);
    free(theory_row);
    return code;
}

/* ---- the wish ---- */

static enum bal_code search(const struct args *args, struct bli_asking *asking, struct bal_error *err) {
    const struct bli_request *common = &args->common;
    struct bli_wish wish = args->wish;
    wish.messages = isnan(wish.messages) ? INFINITY : wish.messages;
    wish.memory_bits = isnan(wish.memory_bits) ? INFINITY : wish.memory_bits;
    struct bli_draft draft = common->draft;
    bli_request_case(common, 0, &draft.c);
    draft.c.max_run_length = args->open ? draft.c.run.time : 0;
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    struct bli_price_offers *offers;
    const enum bal_code code = bli_price_search(&draft.c, &wish, &lab, &offers, err);
    if (code)
        return code;
    bli_price_offers_print(offers, &draft, &wish, BLI_ROWS(common->format, asking->out));
    if (offers->count == 0 || offers->offer[0].fulfilment != BLI_WISH_MET)
        asking->kind = BAL_ANSWER_NONE;
    free(offers);
    return BAL_OK;
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    const struct args *args = request;
    return isnan(args->wish.waiting) ? list_prices(&args->common, asking, err) : search(args, asking, err);
}

/* A search is many runs: about a thousand service times each, so that they reach the stationary state. */
static double search_jobs(double servers) {
    return fmax(fmax(5e5, 100 * servers), fmin(1000 * servers, 2e6));
}

static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    struct bli_request *common = &args->common;
    const struct bli_model *model = &common->draft.c.model;
    if (model->clock == BLI_CLOCK_SLOTTED)
        return bal_fail(err, BAL_E_MODEL, "--slotted: prices are those of continuous time");
    /* What is proved about messages and memory, and what theory predicts in the search for the cheapest
     * policy. */
    if (model->slots > 1 || model->steal.kind != BAL_STEAL_NONE)
        return bal_fail(err, BAL_E_MODEL,
                        "--%s: prices are those of servers that work on one job at a time and do not steal",
                        model->slots > 1 ? "slots" : "steal");
    if (!isnan(args->wish.waiting)) {
        if (common->policies > 0)
            return bal_fail(err, BAL_E_MODEL,
                            "--policy: with --delay all policies are looked at; leave it out");
        args->open = bli_draft_is_open(&common->draft);
        if (args->open)
            common->draft.jobs = search_jobs(bli_servers_count(&model->servers));
    } else if (!isnan(args->wish.messages) || !isnan(args->wish.memory_bits)) {
        return bal_fail(err, BAL_E_MODEL,
                        "--%s: a budget for what? add --delay W, the mean waiting time that is wanted",
                        isnan(args->wish.messages) ? "memory" : "messages");
    }
    return bli_request_check(common, err);
}

static void init(void *request) {
    ((struct args *)request)->wish = (struct bli_wish){NAN, NAN, NAN};
}

const struct bli_question_kind bli_question_cheapest = {
    .name = "cheapest",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .size = sizeof(struct args),
    .init = init,
    .check = check,
    .ask = ask,
};
