#include "report/judgements.h"

#include "format/csv.h"
#include "format/table.h"
#include "report/doubt.h"

#include <math.h>
#include <stdlib.h>

enum bal_code bal_judgements_new(struct bal_store *store, const struct bal_experiment *experiment,
                                 struct bal_judged **judged, struct bal_error *err) {
    *judged = calloc(experiment->claims + 1, sizeof **judged);
    if (!*judged)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory to judge the claims");
    enum bal_code code = BAL_OK;
    for (size_t i = 0; !code && i < experiment->claims; i++)
        code = bal_claim_judge(store, experiment, &experiment->claim[i], &(*judged)[i], err);
    if (code) {
        free(*judged);
        *judged = NULL;
    }
    return code;
}

/* The id of the claim that a finding answers; "" where there is none. */
static const char *answered(const struct bal_experiment *e, const struct bal_claim *claim) {
    return claim->answers < 0 ? "" : e->claim[claim->answers].id;
}

static const char *or_nothing(const char *text) {
    return text ? text : "";
}

/* ---- counting ---- */

void bal_tally_add(struct bal_tally *tally, const struct bal_experiment *experiment,
                   const struct bal_judged *judged) {
    for (size_t i = 0; i < experiment->claims; i++) {
        (experiment->claim[i].finding ? tally->finding : tally->claim)[judged[i].judgement]++;
        tally->doubted += judged[i].doubts != 0;
    }
}

bool bal_tally_fails(const struct bal_tally *tally) {
    return tally->claim[BAL_CLAIM_FAILS] > 0 || tally->finding[BAL_CLAIM_FAILS] > 0;
}

static void print_tally(const size_t count[3], const char *one, const char *several, FILE *out) {
    const size_t all = count[0] + count[1] + count[2];
    const size_t hold = count[BAL_CLAIM_HOLDS], fail = count[BAL_CLAIM_FAILS];
    if (all > 0)
        fprintf(out, "%zu %s: %zu hold%s, %zu do%s not hold, %zu undecided.\n", all, all == 1 ? one : several,
                hold, hold == 1 ? "s" : "", fail, fail == 1 ? "es" : "", count[BAL_CLAIM_UNDECIDED]);
}

void bal_tally_print(const struct bal_tally *tally, FILE *out) {
    print_tally(tally->claim, "claim", "claims", out);
    print_tally(tally->finding, "finding of ours", "findings of ours", out);
    if (tally->doubted > 0)
        fprintf(out, "%zu of these rest%s on results that are doubted.\n", tally->doubted,
                tally->doubted == 1 ? "s" : "");
}

void bal_judged_words(const struct bal_judged *judged, char text[BAL_JUDGED_WORDS]) {
    char words[BAL_DOUBT_WORDS];
    bal_doubt_words(judged->doubts, words);
    snprintf(text, BAL_JUDGED_WORDS, "%s%s%s", bal_judgement_text(judged->judgement),
             *words ? ", doubted: " : "", words);
}

/* ---- text ---- */

static void print_head(const struct bal_experiment *e, const struct bal_claim *claim,
                       const struct bal_judged *judged, FILE *out) {
    char words[BAL_JUDGED_WORDS];
    bal_judged_words(judged, words);
    fprintf(out, "\n  %-13s  %s", words, claim->id);
    if (claim->finding)
        fprintf(out, ", our finding%s%s", claim->answers < 0 ? "" : " on ", answered(e, claim));
    if (claim->section)
        fprintf(out, ", %s", claim->section);
    fputc('\n', out);
}

void bal_judgements_text(const struct bal_experiment *experiment, const struct bal_judged *judged,
                         FILE *out) {
    for (size_t i = 0; i < experiment->claims; i++) {
        const struct bal_claim *claim = &experiment->claim[i];
        const struct bal_judged *j = &judged[i];
        print_head(experiment, claim, j, out);
        bal_table_wrap("", claim->says, 4, out);
        char line[700];
        snprintf(line, sizeof line, "measured %s%s%s, expected %s%s%s", j->measured, *j->where ? " at " : "",
                 j->where, claim->expected, *j->why ? "; " : "", j->why);
        bal_table_wrap("", line, 4, out);
    }
}

/* ---- csv and Markdown ---- */

/* Half the width of the interval, to its farther side. */
static double half_width(const struct bal_judged *judged) {
    return fmax(judged->high - judged->value, judged->value - judged->low);
}

static void csv_field(const char *text, FILE *out) {
    bal_csv_text(text, out);
    fputc(',', out);
}

void bal_judgements_csv_head(FILE *out) {
    fputs("kind,id,answers,experiment,section,says,measured,at,expected,verdict,value,ci,doubts\n", out);
}

void bal_judgements_csv(const struct bal_experiment *experiment, const struct bal_judged *judged, FILE *out) {
    for (size_t i = 0; i < experiment->claims; i++) {
        const struct bal_claim *claim = &experiment->claim[i];
        const struct bal_judged *j = &judged[i];
        csv_field(claim->finding ? "finding" : "claim", out);
        csv_field(claim->id, out);
        csv_field(answered(experiment, claim), out);
        csv_field(experiment->name, out);
        csv_field(or_nothing(claim->section), out);
        csv_field(claim->says, out);
        csv_field(j->measured, out);
        csv_field(j->where, out);
        csv_field(claim->expected, out);
        bal_csv_text(bal_judgement_text(j->judgement), out);
        bal_csv_number(j->value, out);
        bal_csv_number(half_width(j), out);
        bal_doubt_csv(j->doubts, out);
        fputc('\n', out);
    }
}

/* A cell of a table: in one line, a bar in it does not end it. */
static void markdown_cell(const char *text, FILE *out) {
    for (; *text; text++) {
        if (*text == '|' || *text == '\\')
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputs(" | ", out);
}

void bal_judgements_markdown_head(FILE *out) {
    fputs("| what is said | where | claim | measured | expected | |\n|---|---|---|---|---|---|\n", out);
}

void bal_judgements_markdown(const struct bal_experiment *experiment, const struct bal_judged *judged,
                             FILE *out) {
    for (size_t i = 0; i < experiment->claims; i++) {
        const struct bal_claim *claim = &experiment->claim[i];
        const struct bal_judged *j = &judged[i];
        const bool holds = j->judgement == BAL_CLAIM_HOLDS;
        fputs(claim->finding ? "| *Ours:* " : "| ", out);
        markdown_cell(claim->says, out);
        markdown_cell(or_nothing(claim->section), out);
        fprintf(out, "`%s`%s%s%s | ", claim->id, claim->answers < 0 ? "" : ", on `",
                answered(experiment, claim), claim->answers < 0 ? "" : "`");
        char measured[sizeof j->measured + sizeof j->where + 8];
        snprintf(measured, sizeof measured, "%s%s%s", j->measured, *j->where ? " at " : "", j->where);
        markdown_cell(measured, out);
        markdown_cell(claim->expected, out);
        char words[BAL_JUDGED_WORDS];
        bal_judged_words(j, words);
        fprintf(out, "%s%s%s |\n", holds ? "" : "**", words, holds ? "" : "**");
    }
}

/* ---- JSON ---- */

static void json_or_null(struct json *json, const char *key, const char *text) {
    if (text && *text)
        bal_json_text(json, key, text);
    else
        bal_json_null(json, key);
}

/* A verdict is measured as a word, anything else as a number. */
static void json_measured(struct json *json, const struct bal_claim *claim, const struct bal_judged *judged) {
    if (claim->measure == BAL_MEASURE_VERDICT)
        bal_json_text(json, "measured", bal_verdict_text(judged->verdict));
    else
        bal_json_number(json, "measured", judged->value);
    bal_json_number(json, "ci", claim->measure == BAL_MEASURE_VERDICT ? NAN : half_width(judged));
}

void bal_judgements_json(struct json *json, const struct bal_experiment *experiment,
                         const struct bal_judged *judged, bool findings) {
    for (size_t i = 0; i < experiment->claims; i++) {
        const struct bal_claim *claim = &experiment->claim[i];
        const struct bal_judged *j = &judged[i];
        if (claim->finding != findings)
            continue;
        bal_json_open(json, NULL, '{');
        bal_json_text(json, "id", claim->id);
        if (findings)
            json_or_null(json, "answers", answered(experiment, claim));
        bal_json_text(json, "experiment", experiment->name);
        json_or_null(json, "section", claim->section);
        bal_json_text(json, "says", claim->says);
        json_measured(json, claim, j);
        bal_json_text(json, "at", j->where);
        bal_json_text(json, "expected", claim->expected);
        bal_json_text(json, "verdict", bal_judgement_text(j->judgement));
        bal_json_text(json, "why", j->why);
        bal_doubt_json(json, j->doubts);
        bal_json_close(json, '}');
    }
}
