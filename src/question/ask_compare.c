/* SPDX-License-Identifier: BSD-2-Clause */
/* The question compare: several policies on one fleet. */
#include "question/kind.h"

#include "report/comparison.h"
#include "report/doubt_notes.h"

#include <math.h>
#include <stdlib.h>

struct args {
    struct bli_request common; /* first: options write into it */
    bool explain;
    bool exact;
    bool theory;
};

static const struct bli_option options[] = {
    BLI_MODEL_OPTIONS,
    BLI_POLICY_OPTION,
    BLI_RUN_OPTIONS,
    BLI_ANSWER_SUBJECT,
    BLI_PERCENTILES_OPTION,
    {"explain", NULL, "say below the table what it means and what to do",
     BLI_STORES_FLAG(struct args, explain)},
    {"theory", NULL, "columns of theory next to percentiles, in place of bars",
     BLI_STORES_FLAG(struct args, theory)},
    {"exact", NULL, "theory: solve the Markov chains of a few servers, or of short queues (seconds)",
     BLI_STORES_FLAG(struct args, exact)},
    BLI_OUTPUT_OPTIONS,
};

static void warn_imprecise(const struct bli_asking *asking, const struct comparison *comparison) {
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bli_result *result = &comparison->results[i];
        if (result->precise || result->replications == 0 || result->verdict == BLI_UNSTABLE)
            continue;
        char policy[200];
        bal_policy_print(&comparison->cases[i].policy, policy, sizeof policy);
        char words[BLI_DOUBT_WORDS];
        bli_doubt_words(result->doubts & ~(unsigned)BLI_DOUBT_PRECISION, words);
        bli_asking_warn_answer(
            asking, "%s: precision %g was not reached after %u replications%s%s; use longer runs (--jobs)",
            policy, comparison->precision, result->replications, *words ? ", the result is doubted: " : "",
            words);
    }
}

static void print(const struct args *args, const struct comparison *comparison, FILE *out) {
    bli_comparison_print(comparison, BLI_ROWS(args->common.format, out));
    if (args->explain)
        bli_comparison_explain(comparison, out);
}

/* A result is held to what was not known when it was made. */
static void doubt_by_chain(const struct bli_theory_row *theory_row, const struct bli_case *c,
                           struct bli_result *result) {
    const double mean = theory_row->known.response_mean;
    const bool has_mean = result->jobs > 0 && result->verdict != BLI_UNSTABLE;
    const double error = fmax(1e-5 * mean, theory_row->solved.error);
    if (has_mean && !c->path && !c->run.trace && bli_result_contradicts(result, mean, error))
        result->doubts |= BLI_DOUBT_THEORY;
}

/* What is known already, or near enough when an answer is wanted at once. */
static bool needs_no_chain(const struct bli_theory_row *theory_row, bool exact) {
    const bool is_close = theory_row->expanded && bli_expansion_is_close(&theory_row->expansion);
    return theory_row->known.kind == BLI_THEORY_EXACT ||
           (!exact && (is_close || theory_row->known.kind == BLI_THEORY_APPROXIMATE));
}

/* What cannot be solved keeps the theory that it has. */
static void solve_chains(struct bli_theory_row *theory_row, const struct bli_case *cases,
                         struct bli_result *results, size_t count, bool exact,
                         const struct bli_asking *asking) {
    for (size_t i = 0; i < count && !bli_asking_is_stopped(asking); i++) {
        char policy[200];
        bal_policy_print(&cases[i].policy, policy, sizeof policy);
        if (needs_no_chain(&theory_row[i], exact))
            continue;
        const enum bli_chain_outcome outcome = bli_theory_row_solve(&theory_row[i], &cases[i], !exact);
        if (outcome == BLI_CHAIN_SOLVED)
            doubt_by_chain(&theory_row[i], &cases[i], &results[i]);
        if (!exact)
            continue;
        if (outcome == BLI_CHAIN_NONE)
            bli_asking_warn(asking, "%s: --exact: no chain is known for this policy on this fleet", policy);
        if (outcome == BLI_CHAIN_LARGE)
            bli_asking_warn(asking,
                            "%s: --exact: the chain is too large; fewer servers or a lower load would do",
                            policy);
    }
}

static enum bal_code run(const struct args *args, struct bli_case *cases, struct bli_result *results,
                         struct bli_asking *asking, struct bal_error *err) {
    const struct bli_request *common = &args->common;
    bli_request_cases(common, cases);
    struct bli_theory_row *theory_row = bli_theory_rows_new(cases, common->policies);
    if (!theory_row)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory");
    struct bli_doing doing;
    const struct bli_lab_options lab = bli_asking_lab(asking, common, &doing);
    const enum bal_code code = bli_lab_run(cases, common->policies, &lab, results, err);
    if (code && code != BAL_E_STOPPED) {
        free(theory_row);
        return code;
    }
    if (code != BAL_E_STOPPED)
        solve_chains(theory_row, cases, results, common->policies, args->exact, asking);
    const struct comparison comparison = {
        .cases = cases,
        .results = results,
        .theory_row = theory_row,
        .count = common->policies,
        .jobs = results[0].time * bli_model_arrival_rate(&common->draft.c.model),
        .precision = common->draft.c.precision,
        .draft = &common->draft,
        .called = common->called,
        .cut_short = code == BAL_E_STOPPED,
        .theory_columns = args->theory,
    };
    print(args, &comparison, asking->out);
    free(theory_row);
    if (comparison.cut_short)
        bli_asking_cut_short(asking, "%s", bli_cut_short_text);
    else
        warn_imprecise(asking, &comparison);
    return BAL_OK;
}

static enum bal_code ask(void *request, struct bli_asking *asking, struct bal_error *err) {
    const struct args *args = request;
    struct bli_case *cases = calloc(args->common.policies, sizeof *cases);
    struct bli_result *results = calloc(args->common.policies, sizeof *results);
    const enum bal_code code = cases && results ? run(args, cases, results, asking, err)
                                                : bal_fail(err, BAL_E_MEMORY, "not enough memory");
    free(cases);
    free(results);
    return code;
}

static enum bal_code check(void *request, struct bal_error *err) {
    struct args *args = request;
    const enum bal_code code = bli_request_check(&args->common, err);
    return code ? code : bli_request_check_explain(&args->common, args->explain, err);
}

const struct bli_question_kind bli_question_compare = {
    .name = "compare",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .size = sizeof(struct args),
    .check = check,
    .ask = ask,
};
