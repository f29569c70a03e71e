/* What came out of claims and findings, as text, csv, JSON and Markdown.
 *
 * A claim is the paper's, a finding is ours; wherever they are shown a finding says so and names the claim
 * that it answers, and the two are counted apart. */
#ifndef REPORT_JUDGEMENTS_H
#define REPORT_JUDGEMENTS_H

#include "ballast/store.h"
#include "format/json.h"

/* Judges all claims and findings of the experiment; the caller frees *judged, which has one for each. */
enum bal_code bal_judgements_new(struct bal_store *store, const struct bal_experiment *experiment,
                                 struct bal_judged **judged, struct bal_error *err);

/* How many there are of each judgement (enum bal_judgement), and how many rest on results that are doubted.
 */
struct bal_tally {
    size_t claim[3], finding[3];
    size_t doubted;
};
void bal_tally_add(struct bal_tally *tally, const struct bal_experiment *experiment,
                   const struct bal_judged *judged);
/* Is there a claim or a finding that does not hold? */
bool bal_tally_fails(const struct bal_tally *tally);
/* "holds", "does not hold, doubted: settling", "undecided". */
enum { BAL_JUDGED_WORDS = 120 };
void bal_judged_words(const struct bal_judged *judged, char text[BAL_JUDGED_WORDS]);

/* "5 claims: 4 hold, 1 does not hold, 0 undecided.", a line of findings where there are some, and one of
 * those that are doubted; nothing where there is none. */
void bal_tally_print(const struct bal_tally *tally, FILE *out);

/* Each with an empty line before it. */
void bal_judgements_text(const struct bal_experiment *experiment, const struct bal_judged *judged, FILE *out);

/* A row for each below a head. */
void bal_judgements_csv_head(FILE *out);
void bal_judgements_csv(const struct bal_experiment *experiment, const struct bal_judged *judged, FILE *out);
void bal_judgements_markdown_head(FILE *out);
void bal_judgements_markdown(const struct bal_experiment *experiment, const struct bal_judged *judged,
                             FILE *out);

/* An object for each claim or, with findings, for each finding, inside a list that is open. */
void bal_judgements_json(struct json *json, const struct bal_experiment *experiment,
                         const struct bal_judged *judged, bool findings);

#endif
