/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast compare: several policies on one fleet, compared. */
#include "commands.h"
#include "common.h"

#include "report/comparison.h"
#include "report/doubt_notes.h"

#include <stdlib.h>
#include <string.h>

struct args {
    struct cli_common common; /* first: options write into it */
    bool explain;
    bool exact;
};

static enum bal_code set_explain(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->explain = true;
    return BAL_OK;
}

static enum bal_code set_exact(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->exact = true;
    return BAL_OK;
}

static const struct cli_option options[] = {
    CLI_MODEL_OPTIONS,
    CLI_POLICY_OPTION,
    CLI_RUN_OPTIONS,
    CLI_PERCENTILES_OPTION,
    {"explain", NULL, "say below the table what it means and what to do", set_explain},
    {"exact", NULL, "theory: solve the Markov chains of a few servers, up to 8 (seconds)", set_exact},
    CLI_OUTPUT_OPTIONS,
};

static void warn_imprecise(const struct comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bal_result *result = &comparison->results[i];
        if (result->precise || result->replications == 0 || result->verdict == BAL_UNSTABLE)
            continue;
        char policy[200];
        bal_policy_print(&comparison->cases[i].policy, policy, sizeof policy);
        char words[BAL_DOUBT_WORDS];
        bal_doubt_words(result->doubts & ~(unsigned)BAL_DOUBT_PRECISION, words);
        cli_warn("%s: precision %g was not reached after %u replications%s%s; use longer runs (--jobs)",
                 policy, comparison->precision, result->replications,
                 *words ? ", the result is doubted: " : "", words);
    }
}

static int print_results(const struct args *args, const struct comparison *comparison,
                         struct cli_output *output) {
    const struct cli_common *common = &args->common;
    if (common->format == CLI_JSON)
        bal_comparison_json(comparison, output->stream);
    else if (common->format == CLI_CSV)
        bal_comparison_csv(comparison, output->stream);
    else
        bal_comparison_text(comparison, cli_style(common->format), output->stream);
    if (args->explain)
        bal_comparison_explain(comparison, output->stream);
    const int status = cli_output_close(output);
    if (status)
        return status;
    if (comparison->cut_short) {
        cli_warn(
            "interrupted: these results are cut short and come from the replications that were complete");
        return CLI_INTERRUPTED;
    }
    warn_imprecise(comparison);
    return CLI_OK;
}

/* What cannot be solved keeps the theory that it has. */
static void solve_chains(struct bal_theory_row *theory_row, const struct bal_case *cases, size_t count) {
    for (size_t i = 0; i < count && !*cli_stop_flag(); i++) {
        char policy[200];
        bal_policy_print(&cases[i].policy, policy, sizeof policy);
        const bool already = theory_row[i].known.kind == BAL_THEORY_EXACT;
        const enum bal_chain_outcome outcome =
            already ? BAL_CHAIN_SOLVED : bal_theory_row_solve(&theory_row[i], &cases[i]);
        if (outcome == BAL_CHAIN_NONE)
            cli_warn("%s: --exact: no chain is known for this policy on this fleet", policy);
        if (outcome == BAL_CHAIN_LARGE)
            cli_warn(
                "%s: --exact: the chain is too large; fewer servers (at most 8) or a lower load would do",
                policy);
    }
}

static int run_comparison(const struct args *args, struct bal_case *cases, struct bal_result *results) {
    const struct cli_common *common = &args->common;
    struct cli_output output;
    const int opened = cli_output_open(&output, common->output);
    if (opened)
        return opened;
    cli_common_cases(common, cases);
    struct cli_progress progress;
    const struct bal_lab_options lab = cli_common_lab(common, &progress);
    struct bal_error err = {0};
    const enum bal_code code = bal_lab_run(cases, common->policies, &lab, results, &err);
    cli_progress_end(&progress);
    if (code && code != BAL_E_STOPPED) {
        cli_output_discard(&output);
        return cli_fail("%s", err.text);
    }
    struct bal_theory_row *theory_row = bal_theory_rows_new(cases, common->policies);
    if (!theory_row) {
        cli_output_discard(&output);
        return cli_no_memory();
    }
    if (args->exact && code != BAL_E_STOPPED)
        solve_chains(theory_row, cases, common->policies);
    const struct comparison comparison = {
        .cases = cases,
        .results = results,
        .theory_row = theory_row,
        .count = common->policies,
        .jobs = results[0].time * bal_model_arrival_rate(&common->draft.c.model),
        .precision = common->draft.c.precision,
        .draft = &common->draft,
        .called = common->called,
        .cut_short = code == BAL_E_STOPPED,
    };
    const int status = print_results(args, &comparison, &output);
    free(theory_row);
    return status;
}

static int compare_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.explain = false};
    struct cli_common *common = &args.common;
    cli_common_init(common, command);
    int operands;
    int status = cli_parse(command, argc, argv, &args, 0, &operands);
    if (status < 0)
        status = cli_common_check(common);
    if (status >= 0)
        return status;
    if (args.explain && (common->format == CLI_CSV || common->format == CLI_JSON))
        return cli_fail("--explain: sentences belong below a table; use --format text or markdown");
    struct bal_case *cases = calloc(common->policies, sizeof *cases);
    struct bal_result *results = calloc(common->policies, sizeof *results);
    status = cases && results ? run_comparison(&args, cases, results) : cli_no_memory();
    free(cases);
    free(results);
    return status;
}

const struct cli_command cmd_compare = {
    .name = "compare",
    .summary = "compare policies on one fleet: response times, messages, memory",
    .operands = "",
    .description =
        "Simulates each policy on the same fleet with the same arrivals and prints the mean response time "
        "with its\n"
        "95 % confidence interval, percentiles, messages and memory, compared with theory. Best first.",
    .examples = "  ballast compare\n"
                "  ballast compare --servers 50x1,50x10 --load 0.8\n"
                "  ballast compare --policy pod:d=2 --policy jiq --service 'lognormal(4)' --precision 0.01\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = compare_main,
};
