/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast cheapest: what policies cost and what that buys; and the cheapest one for a wanted delay. */
#include "commands.h"
#include "common.h"

#include "report/price_report.h"

#include <math.h>
#include <stdlib.h>

struct args {
    struct cli_common common; /* first: its setters take the whole */
    struct bal_wish wish;     /* NaN: not given */
};

static enum bal_code set_delay(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-9, 1e9, false, "a mean waiting time above 0, such as 0.1"};
    return cli_number(value, &range, &((struct args *)into)->wish.waiting, err);
}

static enum bal_code set_messages(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 1e12, false,
                                           "a number of messages per job from 0, such as 1.5"};
    return cli_number(value, &range, &((struct args *)into)->wish.messages, err);
}

static enum bal_code set_memory(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0, 1e15, false, "a number of bits from 0, such as 100"};
    return cli_number(value, &range, &((struct args *)into)->wish.memory_bits, err);
}

static const struct cli_option options[] = {
    {"delay", "W", "find the cheapest policies that wait at most W on average", set_delay},
    {"messages", "M", "with --delay: at most M messages per job, a probe counted as two", set_messages},
    {"memory", "B", "with --delay: at most B bits of memory", set_memory},
    CLI_MODEL_OPTIONS,
    {.name = "message-delay", .setting = "delay"},
    CLI_POLICY_OPTION,
    CLI_RUN_OPTIONS,
    CLI_OUTPUT_OPTIONS,
};

/* ---- the list ---- */

static int print_list(const struct cli_common *common, const struct bal_price_list *list,
                      struct cli_output *output) {
    if (common->format == CLI_JSON)
        bal_price_list_json(list, output->stream);
    else if (common->format == CLI_CSV)
        bal_price_list_csv(list, output->stream);
    else
        bal_price_list_text(list, cli_style(common->format), output->stream);
    const int status = cli_output_close(output);
    if (status || !list->cut_short)
        return status;
    cli_warn("interrupted: these results are cut short and come from the replications that were complete");
    return CLI_INTERRUPTED;
}

static enum bal_code measure_prices(const struct cli_common *common, const struct bal_case *cases,
                                    struct bal_result *results, struct bal_price *prices,
                                    struct bal_error *err) {
    for (size_t i = 0; i < common->policies; i++) {
        const enum bal_code code = bal_price_of(&common->draft.c.model, &common->policy[i], &prices[i], err);
        if (code)
            return code;
    }
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    const enum bal_code code = bal_lab_run(cases, common->policies, &lab, results, err);
    cli_progress_end(&progress);
    return code;
}

static int list_prices(struct cli_common *common) {
    struct cli_output output;
    int status = cli_common_check(common);
    if (status >= 0)
        return status;
    status = cli_output_open(&output, common->output);
    if (status)
        return status;
    struct bal_case *cases = calloc(common->policies, sizeof *cases);
    struct bal_result *results = calloc(common->policies, sizeof *results);
    struct bal_price *prices = calloc(common->policies, sizeof *prices);
    struct bal_theory_row *theory_row = NULL;
    struct bal_error err = {0};
    if (cases && results && prices) {
        cli_common_cases(common, cases);
        theory_row = bal_theory_rows_new(cases, common->policies);
    }
    const enum bal_code code = theory_row ? measure_prices(common, cases, results, prices, &err)
                                          : bal_fail(&err, BAL_E_MEMORY, "not enough memory");
    if (code && code != BAL_E_STOPPED) {
        cli_output_discard(&output);
        status = cli_fail("%s", err.text);
    } else {
        const struct bal_price_list list = {.cases = cases,
                                            .results = results,
                                            .prices = prices,
                                            .theory_row = theory_row,
                                            .count = common->policies,
                                            .draft = &common->draft,
                                            .cut_short = code == BAL_E_STOPPED};
        status = print_list(common, &list, &output);
    }
    free(cases);
    free(results);
    free(prices);
    free(theory_row);
    return status;
}

/* ---- the wish ---- */

static int print_offers(const struct cli_common *common, const struct bal_offers *offers,
                        const struct bal_draft *draft, const struct bal_wish *wish,
                        struct cli_output *output) {
    if (common->format == CLI_JSON)
        bal_offers_json(offers, draft, wish, output->stream);
    else if (common->format == CLI_CSV)
        bal_offers_csv(offers, draft, output->stream);
    else
        bal_offers_text(offers, draft, wish, cli_style(common->format), output->stream);
    const int status = cli_output_close(output);
    if (status)
        return status;
    return offers->count > 0 && offers->offer[0].fulfilment == BAL_WISH_MET ? CLI_OK : CLI_OUTCOME;
}

/* A search is many runs: about a thousand service times each, so that they reach the stationary state. */
static double search_jobs(double servers) {
    return fmax(fmax(5e5, 100 * servers), fmin(1000 * servers, 2e6));
}

static int search_and_print(struct args *args) {
    struct cli_common *common = &args->common;
    struct bal_wish wish = args->wish;
    wish.messages = isnan(wish.messages) ? INFINITY : wish.messages;
    wish.memory_bits = isnan(wish.memory_bits) ? INFINITY : wish.memory_bits;
    if (common->policies > 0)
        return cli_fail("--policy: with --delay all policies are looked at; leave it out");
    const bool open = bal_draft_is_open(&common->draft);
    if (open)
        common->draft.jobs = search_jobs(bal_servers_count(&common->draft.c.model.servers));
    const int status = cli_common_check(common);
    if (status >= 0)
        return status;
    struct cli_output output;
    const int opened = cli_output_open(&output, common->output);
    if (opened)
        return opened;
    struct bal_draft draft = cli_common_draft(common, 0);
    draft.c.max_run_length = open ? draft.c.run.time : 0;
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    struct bal_offers *offers;
    struct bal_error err = {0};
    const enum bal_code code = bal_price_search(&draft.c, &wish, &lab, &offers, &err);
    cli_progress_end(&progress);
    if (code) {
        cli_output_discard(&output);
        if (code != BAL_E_STOPPED)
            return cli_fail("%s", err.text);
        cli_warn("interrupted");
        return CLI_INTERRUPTED;
    }
    const int outcome = print_offers(common, offers, &draft, &wish, &output);
    free(offers);
    return outcome;
}

static int price_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.wish = {NAN, NAN, NAN}};
    cli_common_init(&args.common, command);
    int operands;
    const int status = cli_parse(command, argc, argv, &args, 0, &operands);
    if (status >= 0)
        return status;
    if (args.common.draft.c.model.clock == BAL_CLOCK_SLOTTED)
        return cli_fail("--slotted: prices are those of continuous time");
    /* What is proved about messages and memory, and what theory predicts in the search for the cheapest
     * policy. */
    const struct bal_model *model = &args.common.draft.c.model;
    if (model->slots > 1 || model->steal.kind != BAL_STEAL_NONE)
        return cli_fail("--%s: prices are those of servers that work on one job at a time and do not steal",
                        model->slots > 1 ? "slots" : "steal");
    if (!isnan(args.wish.waiting))
        return search_and_print(&args);
    if (!isnan(args.wish.messages) || !isnan(args.wish.memory_bits))
        return cli_fail("--%s: a budget for what? add --delay W, the mean waiting time that is wanted",
                        isnan(args.wish.messages) ? "memory" : "messages");
    return list_prices(&args.common);
}

const struct cli_command cmd_cheapest = {
    .name = "cheapest",
    .summary = "what policies cost in messages and memory, and the cheapest for a wanted delay",
    .operands = "",
    .description = "Prints for each policy its mean waiting time by simulation and theory, its messages per "
                   "job, its bits of\n"
                   "memory, how these grow with the number of servers, and whether the waiting time can "
                   "vanish as it grows.\n"
                   "With --delay it looks for the cheapest policies and parameters that wait no longer, by "
                   "theory first and\n"
                   "confirmed by simulation; exit status 1 when there is none.",
    .examples = "  ballast cheapest --servers 1000\n"
                "  ballast cheapest --servers 1000 --delay 0.5 --messages 1 --memory 40\n"
                "  ballast cheapest --policy rcpb:c=2,mup=1 --policy rcpb:c=20,mup=1 --policy jiq\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = price_main,
};
