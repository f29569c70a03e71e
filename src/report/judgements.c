/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the verdicts on claims and findings. */
#include "report/judgements.h"

#include "format/table.h"
#include "report/doubt_notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum bal_code bli_judgements_new(struct bli_store *store, const struct bli_experiment *experiment,
                                 struct bli_judged **judged, struct bal_error *err) {
    *judged = calloc(experiment->claims + 1, sizeof **judged);
    if (!*judged)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to judge the claims");
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < experiment->claims; i++)
        code = bli_claim_verdict(store, experiment, &experiment->claim[i], &(*judged)[i], err);
    if (code) {
        free(*judged);
        *judged = NULL;
    }
    return code;
}

/* The id of the claim that a finding answers; "" where there is none. */
static const char *answered_claim_id(const struct bli_experiment *e, const struct bli_claim *claim) {
    return claim->answers < 0 ? "" : e->claim[claim->answers].id;
}

static const char *or_nothing(const char *text) {
    return text ? text : "";
}

const char *const bli_claim_group_names[] = {"claims", "definitions", "findings"};

enum bli_claim_group bli_claim_group_of(const struct bli_claim *claim) {
    return claim->finding                       ? BLI_GROUP_FINDINGS
           : claim->kind == BLI_KIND_DEFINITION ? BLI_GROUP_DEFINITIONS
                                                : BLI_GROUP_CLAIMS;
}

/* ---- counting ---- */

enum bli_claim_status bli_claim_status_of(const struct bli_claim *claim, const struct bli_judged *judged) {
    switch (judged->judgement) {
    case BLI_CLAIM_HOLDS:
        return claim->error || claim->reason ? BLI_CLAIM_STATUS_UNEXPECTED : BLI_CLAIM_STATUS_HOLDS;
    case BLI_CLAIM_FAILS:
        return claim->error    ? BLI_CLAIM_STATUS_ERROR
               : claim->reason ? BLI_CLAIM_STATUS_READING
                               : BLI_CLAIM_STATUS_FAILS;
    case BLI_CLAIM_UNDECIDED:
        break;
    }
    return BLI_CLAIM_STATUS_UNDECIDED;
}

void bli_tally_add(struct bli_tally *tally, const struct bli_experiment *experiment,
                   const struct bli_judged *judged) {
    tally->paper = tally->paper || experiment->paper;
    for (size_t i = 0; i < experiment->claims; i++) {
        const struct bli_claim *claim = &experiment->claim[i];
        const enum bli_claim_status fate = bli_claim_status_of(claim, &judged[i]);
        tally->doubted += judged[i].doubts != 0;
        if (claim->finding)
            tally->finding[fate]++;
        else if (claim->kind == BLI_KIND_DEFINITION && fate == BLI_CLAIM_STATUS_HOLDS)
            tally->definitions++;
        else
            tally->claim[fate]++;
    }
}

bool bli_tally_fails(const struct bli_tally *tally) {
    return tally->claim[BLI_CLAIM_STATUS_FAILS] + tally->claim[BLI_CLAIM_STATUS_UNEXPECTED] +
               tally->finding[BLI_CLAIM_STATUS_FAILS] >
           0;
}

static size_t count_all(const size_t count[BLI_FATES]) {
    size_t all = 0;
    for (int fate = 0; fate < BLI_FATES; fate++)
        all += count[fate];
    return all;
}

static void print_plain(const size_t count[BLI_FATES], const char *one, const char *several, FILE *out) {
    const size_t all = count_all(count);
    const size_t hold = count[BLI_CLAIM_STATUS_HOLDS] + count[BLI_CLAIM_STATUS_UNEXPECTED];
    const size_t fail =
        count[BLI_CLAIM_STATUS_FAILS] + count[BLI_CLAIM_STATUS_READING] + count[BLI_CLAIM_STATUS_ERROR];
    if (all > 0)
        fprintf(out, "%zu %s: %zu hold%s, %zu do%s not hold, %zu undecided.\n", all, all == 1 ? one : several,
                hold, hold == 1 ? "s" : "", fail, fail == 1 ? "es" : "", count[BLI_CLAIM_STATUS_UNDECIDED]);
}

/* Outcomes that the files do not expect are mentioned only if there are any. */
static void print_of_paper(const size_t count[BLI_FATES], FILE *out) {
    const size_t all = count_all(count), errors = count[BLI_CLAIM_STATUS_ERROR];
    if (all == 0)
        return;
    fprintf(out, "%zu claim%s: %zu reproduced, %zu error%s of the paper confirmed, %zu undecided", all,
            all == 1 ? "" : "s", count[BLI_CLAIM_STATUS_HOLDS], errors, errors == 1 ? "" : "s",
            count[BLI_CLAIM_STATUS_UNDECIDED]);
    if (count[BLI_CLAIM_STATUS_READING] > 0)
        fprintf(out, ", %zu not as read", count[BLI_CLAIM_STATUS_READING]);
    if (count[BLI_CLAIM_STATUS_FAILS] > 0)
        fprintf(out, ", %zu not reproduced", count[BLI_CLAIM_STATUS_FAILS]);
    if (count[BLI_CLAIM_STATUS_UNEXPECTED] > 0)
        fprintf(out, ", %zu reproduced although an error is stated", count[BLI_CLAIM_STATUS_UNEXPECTED]);
    fputs(".\n", out);
}

void bli_tally_print(const struct bli_tally *tally, FILE *out) {
    if (tally->paper)
        print_of_paper(tally->claim, out);
    else
        print_plain(tally->claim, "claim", "claims", out);
    if (tally->definitions > 0)
        fprintf(out, "%zu statement%s by definition.\n", tally->definitions,
                tally->definitions == 1 ? " holds" : "s hold");
    print_plain(tally->finding, "finding of ours", "findings of ours", out);
    if (tally->doubted > 0)
        fprintf(out, "%zu of these rest%s on results that are doubted.\n", tally->doubted,
                tally->doubted == 1 ? "s" : "");
}

void bli_judged_words(const struct bli_claim *claim, const struct bli_judged *judged,
                      char text[BLI_JUDGED_WORDS]) {
    char words[BLI_DOUBT_WORDS];
    const enum bli_claim_status fate = bli_claim_status_of(claim, judged);
    bli_doubt_words(judged->doubts, words);
    snprintf(text, BLI_JUDGED_WORDS, "%s%s%s",
             fate == BLI_CLAIM_STATUS_ERROR     ? "the paper's error, confirmed"
             : fate == BLI_CLAIM_STATUS_READING ? "does not hold as read"
             : fate == BLI_CLAIM_STATUS_UNEXPECTED
                 ? claim->error ? "holds, although an error is stated" : "holds, although a reason is stated"
                 : bli_judgement_text(judged->judgement),
             *words ? ", doubted: " : "", words);
}

/* ---- text ---- */

static void print_head(const struct bli_experiment *e, const struct bli_claim *claim,
                       const struct bli_judged *judged, FILE *out) {
    char words[BLI_JUDGED_WORDS];
    bli_judged_words(claim, judged, words);
    fprintf(out, "\n  %-13s  %s", words, claim->id);
    if (claim->finding)
        fprintf(out, ", our finding%s%s", claim->answers < 0 ? "" : " on ", answered_claim_id(e, claim));
    if (claim->section)
        fprintf(out, ", %s", claim->section);
    if (claim->kind)
        fprintf(out, ", %s", bli_kinds[claim->kind]);
    fputc('\n', out);
}

static void print_labelled(const char *label, const char *text, const char *end, FILE *out) {
    char *line;
    if (!text || asprintf(&line, "%s%s%s", label, text, end) < 0)
        return;
    bli_table_wrap("", line, 4, out);
    free(line);
}

static void print_claim(const struct bli_experiment *experiment, const struct bli_claim *claim,
                        const struct bli_judged *j, FILE *out) {
    char line[700];
    print_head(experiment, claim, j, out);
    print_labelled("\u201c", claim->quote, "\u201d", out);
    bli_table_wrap("", claim->says, 4, out);
    snprintf(line, sizeof line, "measured %s%s%s, expected %s%s%s", j->measured, *j->where ? " at " : "",
             j->where, j->check->expected, *j->why ? "; " : "", j->why);
    bli_table_wrap("", line, 4, out);
    print_labelled("Error: ", claim->error, "", out);
    print_labelled("Reason: ", claim->reason, "", out);
}

void bli_judgements_text(const struct bli_experiment *experiment, const struct bli_judged *judged,
                         enum bli_claim_group group, FILE *out) {
    for (size_t i = 0; i < experiment->claims; i++)
        if (bli_claim_group_of(&experiment->claim[i]) == group)
            print_claim(experiment, &experiment->claim[i], &judged[i], out);
}

/* ---- csv and Markdown ---- */

/* Half the width of the interval, to its farther side. */
static double half_width(const struct bli_judged *judged) {
    return fmax(judged->high - judged->value, judged->value - judged->low);
}

static void put_claim(struct bli_rows *rows, const struct bli_experiment *experiment,
                      const struct bli_claim *claim, const struct bli_judged *j) {
    const char *kind = claim->finding ? "finding" : claim->kind ? bli_kinds[claim->kind] : "claim";
    do {
        bli_row_begin(rows);
        bli_row_text(rows, "kind", "`finding`, or the kind of the claim: docs/papers.md", kind);
        bli_row_text(rows, "id", "of the claim or finding", claim->id);
        bli_row_text(rows, "answers", "the claim that a finding answers",
                     answered_claim_id(experiment, claim));
        bli_row_text(rows, "experiment", "of which it is", experiment->name);
        bli_row_text(rows, "section", "of the paper", claim->section);
        bli_row_text(rows, "quote", "the words of the paper", claim->quote);
        bli_row_text(rows, "says", "how it is read", claim->says);
        bli_row_text(rows, "measured", "what was measured, for people", j->measured);
        bli_row_text(rows, "at", "at which point of the sweep", j->where);
        bli_row_text(rows, "expected", "what is expected of it", j->check->expected);
        bli_row_text(rows, "verdict", "`holds`, `does not hold` or `undecided`",
                     bli_judgement_text(j->judgement));
        bli_row_text(rows, "error", "why the paper is wrong, where it is", claim->error);
        bli_row_text(rows, "reason", "why it does not hold as read", claim->reason);
        bli_row_number(rows, "value", "what was measured", j->value);
        bli_row_number(rows, "ci", "half of its 95 % interval", half_width(j));
        bli_row_doubts(rows, j->doubts);
    } while (bli_row_end(rows, NULL));
}

void bli_judgements_csv_head(struct bli_rows *rows) {
    static const struct bli_experiment experiment;
    static const struct bli_claim claim = {.answers = -1};
    static const struct bli_check check;
    const struct bli_judged judged = {.check = &check};
    rows->names_only = true;
    put_claim(rows, &experiment, &claim, &judged);
    rows->names_only = false;
}

void bli_judgements_csv(struct bli_rows *rows, const struct bli_experiment *experiment,
                        const struct bli_judged *judged) {
    for (size_t i = 0; i < experiment->claims; i++)
        put_claim(rows, experiment, &experiment->claim[i], &judged[i]);
}

/* Inside a cell of a table: in one line, a bar in it does not end it. */
static void markdown_text(const char *text, FILE *out) {
    for (; *text; text++) {
        if (*text == '|' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static void markdown_cell(const char *text, FILE *out) {
    markdown_text(text, out);
    fputs(" | ", out);
}

void bli_judgements_markdown_head(enum bli_claim_group group, FILE *out) {
    fputs(group == BLI_GROUP_FINDINGS
              ? "| what we found | finding | measured | expected | |\n|---|---|---|---|---|\n"
              : "| the paper's words | where | claim, as we read it | measured | expected | |\n"
                "|---|---|---|---|---|---|\n",
          out);
}

/* "“…” | section 5 | `id` (limit): how it is read | " */
static void markdown_claim(const struct bli_claim *claim, FILE *out) {
    if (claim->quote)
        fputs("\u201c", out);
    markdown_text(or_nothing(claim->quote), out);
    fputs(claim->quote ? "\u201d | " : " | ", out);
    markdown_cell(or_nothing(claim->section), out);
    fprintf(out, "`%s`", claim->id);
    if (claim->kind)
        fprintf(out, " (%s)", bli_kinds[claim->kind]);
    fputs(": ", out);
    markdown_cell(claim->says, out);
}

static void markdown_finding(const struct bli_experiment *experiment, const struct bli_claim *claim,
                             FILE *out) {
    markdown_cell(claim->says, out);
    fprintf(out, "`%s`%s%s%s | ", claim->id, claim->answers < 0 ? "" : ", on `",
            answered_claim_id(experiment, claim), claim->answers < 0 ? "" : "`");
}

static void markdown_row(const struct bli_experiment *experiment, const struct bli_claim *claim,
                         const struct bli_judged *j, FILE *out) {
    const bool holds = j->judgement == BLI_CLAIM_HOLDS;
    fputs("| ", out);
    if (claim->finding)
        markdown_finding(experiment, claim, out);
    else
        markdown_claim(claim, out);
    char measured[sizeof j->measured + sizeof j->where + 8], words[BLI_JUDGED_WORDS];
    snprintf(measured, sizeof measured, "%s%s%s", j->measured, *j->where ? " at " : "", j->where);
    markdown_cell(measured, out);
    markdown_cell(j->check->expected, out);
    bli_judged_words(claim, j, words);
    fprintf(out, "%s%s%s", holds ? "" : "**", words, holds ? "" : "**");
    if (claim->error || claim->reason) {
        fputs(": ", out);
        markdown_text(claim->error ? claim->error : claim->reason, out);
    }
    fputs(" |\n", out);
}

void bli_judgements_markdown(const struct bli_experiment *experiment, const struct bli_judged *judged,
                             enum bli_claim_group group, FILE *out) {
    for (size_t i = 0; i < experiment->claims; i++)
        if (bli_claim_group_of(&experiment->claim[i]) == group)
            markdown_row(experiment, &experiment->claim[i], &judged[i], out);
}

/* ---- JSON ---- */

static void json_or_null(struct json *json, const char *key, const char *text) {
    bli_json_text(json, key, text && *text ? text : NULL);
}

/* A verdict is measured as a word, anything else as a number. */
static void json_measured(struct json *json, const struct bli_judged *judged) {
    const bool verdict = judged->check->measure == BLI_MEASURE_VERDICT;
    bli_json_number_or_text(json, "measured", judged->value,
                            verdict ? bli_verdict_text(judged->verdict) : NULL);
    bli_json_number(json, "ci", verdict ? NAN : half_width(judged));
}

static void json_claim(struct json *json, const struct bli_experiment *experiment,
                       const struct bli_claim *claim, const struct bli_judged *j) {
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "id", claim->id);
    if (claim->finding)
        json_or_null(json, "answers", answered_claim_id(experiment, claim));
    else
        json_or_null(json, "kind", claim->kind ? bli_kinds[claim->kind] : NULL);
    bli_json_text(json, "experiment", experiment->name);
    json_or_null(json, "section", claim->section);
    if (!claim->finding)
        json_or_null(json, "quote", claim->quote);
    bli_json_text(json, "says", claim->says);
    json_measured(json, j);
    bli_json_text(json, "at", j->where);
    bli_json_text(json, "expected", j->check->expected);
    bli_json_text(json, "verdict", bli_judgement_text(j->judgement));
    bli_json_text(json, "why", j->why);
    if (!claim->finding) {
        json_or_null(json, "error", claim->error);
        json_or_null(json, "reason", claim->reason);
    }
    bli_doubt_json(json, j->doubts);
    bli_json_close(json, '}');
}

void bli_judgements_json(struct json *json, const struct bli_experiment *experiment,
                         const struct bli_judged *judged, enum bli_claim_group group) {
    for (size_t i = 0; i < experiment->claims; i++)
        if (bli_claim_group_of(&experiment->claim[i]) == group)
            json_claim(json, experiment, &experiment->claim[i], &judged[i]);
}

struct bli_judged *bli_judgements_sample(const struct bli_experiment *experiment) {
    struct bli_judged *judged = experiment ? calloc(experiment->claims, sizeof *judged) : NULL;
    for (size_t i = 0; judged && i < experiment->claims; i++)
        judged[i].check = experiment->claim[i].check;
    return judged;
}
