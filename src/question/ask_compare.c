/* SPDX-License-Identifier: BSD-2-Clause */
/* The question compare: several policies on one fleet. */
#include "question/kind.h"

#include "report/comparison.h"
#include "report/doubt_notes.h"

#include <stdlib.h>

struct args {
    struct bal_request common; /* first: options write into it */
    bool explain;
    bool exact;
    bool theory;
};

static const struct bal_option options[] = {
    BAL_MODEL_OPTIONS,
    BAL_POLICY_OPTION,
    BAL_RUN_OPTIONS,
    BAL_ANSWER_SUBJECT,
    BAL_PERCENTILES_OPTION,
    {"explain", NULL, "say below the table what it means and what to do",
     BAL_STORES_FLAG(struct args, explain)},
    {"theory", NULL, "columns of theory next to percentiles, in place of bars",
     BAL_STORES_FLAG(struct args, theory)},
    {"exact", NULL, "theory: solve the Markov chains of a few servers, or of short queues (seconds)",
     BAL_STORES_FLAG(struct args, exact)},
    BAL_OUTPUT_OPTIONS,
};

static void warn_imprecise(const struct bal_asking *asking, const struct comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bal_result *result = &comparison->results[i];
        if (result->precise || result->replications == 0 || result->verdict == BAL_UNSTABLE)
            continue;
        char policy[200];
        bal_policy_print(&comparison->cases[i].policy, policy, sizeof policy);
        char words[BAL_DOUBT_WORDS];
        bal_doubt_words(result->doubts & ~(unsigned)BAL_DOUBT_PRECISION, words);
        bal_asking_warn_answer(
            asking, "%s: precision %g was not reached after %u replications%s%s; use longer runs (--jobs)",
            policy, comparison->precision, result->replications, *words ? ", the result is doubted: " : "",
            words);
    }
}

static void print(const struct args *args, const struct comparison *comparison, FILE *out) {
    const enum bal_form format = args->common.format;
    if (format == BAL_FORM_JSON)
        bal_comparison_json(comparison, out);
    else if (format == BAL_FORM_CSV)
        bal_comparison_csv(comparison, out);
    else
        bal_comparison_text(comparison, bal_form_style(format), out);
    if (args->explain)
        bal_comparison_explain(comparison, out);
}

/* A result is held to what was not known when it was made. */
static void doubt_by_chain(const struct bal_theory_row *theory_row, const struct bal_case *c,
                           struct bal_result *result) {
    const double mean = theory_row->known.response_mean;
    const bool has_mean = result->jobs > 0 && result->verdict != BAL_UNSTABLE;
    if (has_mean && !c->path && !c->run.trace && bal_result_contradicts(result, mean, 1e-5 * mean))
        result->doubts |= BAL_DOUBT_THEORY;
}

/* What cannot be solved keeps the theory that it has. */
static void solve_chains(struct bal_theory_row *theory_row, const struct bal_case *cases,
                         struct bal_result *results, size_t count, const struct bal_asking *asking) {
    for (size_t i = 0; i < count && !bal_asking_is_stopped(asking); i++) {
        char policy[200];
        bal_policy_print(&cases[i].policy, policy, sizeof policy);
        const bool already = theory_row[i].known.kind == BAL_THEORY_EXACT;
        const enum bal_chain_outcome outcome =
            already ? BAL_CHAIN_SOLVED : bal_theory_row_solve(&theory_row[i], &cases[i]);
        if (outcome == BAL_CHAIN_SOLVED && !already)
            doubt_by_chain(&theory_row[i], &cases[i], &results[i]);
        if (outcome == BAL_CHAIN_NONE)
            bal_asking_warn(asking, "%s: --exact: no chain is known for this policy on this fleet", policy);
        if (outcome == BAL_CHAIN_LARGE)
            bal_asking_warn(asking,
                            "%s: --exact: the chain is too large; fewer servers or a lower load would do",
                            policy);
    }
}

static enum bal_code run(const struct args *args, struct bal_case *cases, struct bal_result *results,
                         struct bal_asking *asking, struct bal_error *err) {
    const struct bal_request *common = &args->common;
    bal_request_cases(common, cases);
    struct bal_doing doing;
    const struct bal_lab_options lab = bal_asking_lab(asking, common, &doing);
    const enum bal_code code = bal_lab_run(cases, common->policies, &lab, results, err);
    if (code && code != BAL_E_STOPPED)
        return code;
    struct bal_theory_row *theory_row = bal_theory_rows_new(cases, common->policies);
    if (!theory_row)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    if (args->exact && code != BAL_E_STOPPED)
        solve_chains(theory_row, cases, results, common->policies, asking);
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
        .theory_columns = args->theory,
    };
    print(args, &comparison, asking->out);
    free(theory_row);
    if (comparison.cut_short)
        bal_asking_cut_short(asking, "%s", bal_cut_short_text);
    else
        warn_imprecise(asking, &comparison);
    return BAL_OK;
}

static enum bal_code ask(void *request, struct bal_asking *asking, struct bal_error *err) {
    const struct args *args = request;
    struct bal_case *cases = calloc(args->common.policies, sizeof *cases);
    struct bal_result *results = calloc(args->common.policies, sizeof *results);
    const enum bal_code code = cases && results ? run(args, cases, results, asking, err)
                                                : bal_fail(err, BAL_E_MEMORY, "not enough memory");
    free(cases);
    free(results);
    return code;
}

static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    const enum bal_code code = bal_request_check(&args->common, err);
    return code ? code : bal_request_check_explain(&args->common, args->explain, err);
}

const struct bal_question_kind bal_question_compare = {
    .name = "compare",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .size = sizeof(struct args),
    .check = check,
    .ask = ask,
};
