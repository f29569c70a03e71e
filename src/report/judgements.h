/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdicts on claims and findings, as text, csv, JSON and Markdown.
 *
 * A claim is the paper's, a finding is ours; Wherever they are shown, a finding is marked as one and names
 * the claim that it answers. The two are counted separately. */
#ifndef REPORT_JUDGEMENTS_H
#define REPORT_JUDGEMENTS_H

#include "ballast/store.h"
#include "report/rows.h"

/* Judges all claims and findings of the experiment; the caller frees *judged, which has one for each. */
enum bal_code bli_judgements_new(struct bli_store *store, const struct bli_experiment *experiment,
                                 struct bli_judged **judged, struct bal_error *err);

/* The outcome of a claim or finding. */
enum bli_claim_status {
    BLI_CLAIM_STATUS_HOLDS,   /* of a paper: reproduced */
    BLI_CLAIM_STATUS_ERROR,   /* it does not hold, and the file says why the paper is wrong */
    BLI_CLAIM_STATUS_READING, /* it does not hold as it is read, and the file says why the paper is not wrong
                               */
    BLI_CLAIM_STATUS_FAILS,   /* it does not hold, and nothing says why */
    BLI_CLAIM_STATUS_UNDECIDED,
    BLI_CLAIM_STATUS_UNEXPECTED, /* it holds, although the file says why it should not */
    BLI_FATES
};
enum bli_claim_status bli_claim_status_of(const struct bli_claim *claim, const struct bli_judged *judged);

/* How many claims and findings there are of each fate, how many statements hold by definition, which are no
 * claims, and how many of all depend on doubted results. */
struct bli_tally {
    size_t claim[BLI_FATES], finding[BLI_FATES], definitions, doubted;
    bool paper; /* they are those of a paper */
};
void bli_tally_add(struct bli_tally *tally, const struct bli_experiment *experiment,
                   const struct bli_judged *judged);
/* Is there one whose outcome is not the one that the file expects? */
bool bli_tally_fails(const struct bli_tally *tally);
/* "holds", "does not hold, doubted: settling", "the paper's error, confirmed", "undecided". */
enum { BLI_JUDGED_WORDS = 120 };
void bli_judged_words(const struct bli_claim *claim, const struct bli_judged *judged,
                      char text[BLI_JUDGED_WORDS]);

/* "5 claims: 4 hold, 1 does not hold, 0 undecided.", of a paper "5 claims: 4 reproduced, 1 error of the paper
 * confirmed, 0 undecided."; lines of definitions, of findings and of those that are doubted where there are
 * some. */
void bli_tally_print(const struct bli_tally *tally, FILE *out);

/* The groups that lists have, in this order. */
enum bli_claim_group { BLI_GROUP_CLAIMS, BLI_GROUP_DEFINITIONS, BLI_GROUP_FINDINGS, BLI_GROUPS };
extern const char *const bli_claim_group_names[]; /* "claims", "definitions", "findings" */
enum bli_claim_group bli_claim_group_of(const struct bli_claim *claim);

/* Each with an empty line in front of it. */
void bli_judgements_text(const struct bli_experiment *experiment, const struct bli_judged *judged,
                         enum bli_claim_group group, FILE *out);

/* The names of the columns of csv, and a row for each. */
void bli_judgements_csv_head(struct bli_rows *rows);
void bli_judgements_csv(struct bli_rows *rows, const struct bli_experiment *experiment,
                        const struct bli_judged *judged);
void bli_judgements_markdown_head(enum bli_claim_group group, FILE *out);
void bli_judgements_markdown(const struct bli_experiment *experiment, const struct bli_judged *judged,
                             enum bli_claim_group group, FILE *out);

/* An object for each of a group, inside a list that is open. */
void bli_judgements_json(struct json *json, const struct bli_experiment *experiment,
                         const struct bli_judged *judged, enum bli_claim_group group);

/* Nothing is known of any; NULL without memory. The caller frees it. */
struct bli_judged *bli_judgements_sample(const struct bli_experiment *experiment);

#endif
