/* SPDX-License-Identifier: BSD-2-Clause */
/* The verdicts on claims and findings, as text, csv, JSON and Markdown.
 *
 * A claim is the paper's, a finding is ours; Wherever they are shown, a finding is marked as one and names
 * the claim that it answers. The two are counted separately. */
#ifndef REPORT_JUDGEMENTS_H
#define REPORT_JUDGEMENTS_H

#include "ballast/store.h"
#include "format/json.h"

/* Judges all claims and findings of the experiment; the caller frees *judged, which has one for each. */
enum bal_code bal_judgements_new(struct bal_store *store, const struct bal_experiment *experiment,
                                 struct bal_judged **judged, struct bal_error *err);

/* The outcome of a claim or finding. */
enum bal_claim_status {
    BAL_CLAIM_STATUS_HOLDS,   /* of a paper: reproduced */
    BAL_CLAIM_STATUS_ERROR,   /* it does not hold, and the file says why the paper is wrong */
    BAL_CLAIM_STATUS_READING, /* it does not hold as it is read, and the file says why the paper is not wrong
                               */
    BAL_CLAIM_STATUS_FAILS,   /* it does not hold, and nothing says why */
    BAL_CLAIM_STATUS_UNDECIDED,
    BAL_CLAIM_STATUS_UNEXPECTED, /* it holds, although the file says why it should not */
    BAL_FATES
};
enum bal_claim_status bal_claim_status_of(const struct bal_claim *claim, const struct bal_judged *judged);

/* How many claims and findings there are of each fate, how many statements hold by definition, which are no
 * claims, and how many of all depend on doubted results. */
struct bal_tally {
    size_t claim[BAL_FATES], finding[BAL_FATES], definitions, doubted;
    bool paper; /* they are those of a paper */
};
void bal_tally_add(struct bal_tally *tally, const struct bal_experiment *experiment,
                   const struct bal_judged *judged);
/* Is there one whose outcome is not the one that the file expects? */
bool bal_tally_fails(const struct bal_tally *tally);
/* "holds", "does not hold, doubted: settling", "the paper's error, confirmed", "undecided". */
enum { BAL_JUDGED_WORDS = 120 };
void bal_judged_words(const struct bal_claim *claim, const struct bal_judged *judged,
                      char text[BAL_JUDGED_WORDS]);

/* "5 claims: 4 hold, 1 does not hold, 0 undecided.", of a paper "5 claims: 4 reproduced, 1 error of the paper
 * confirmed, 0 undecided."; lines of definitions, of findings and of those that are doubted where there are
 * some. */
void bal_tally_print(const struct bal_tally *tally, FILE *out);

/* The groups that lists have, in this order. */
enum bal_claim_group { BAL_GROUP_CLAIMS, BAL_GROUP_DEFINITIONS, BAL_GROUP_FINDINGS, BAL_GROUPS };
extern const char *const bal_claim_group_names[]; /* "claims", "definitions", "findings" */
enum bal_claim_group bal_claim_group_of(const struct bal_claim *claim);

/* Each with an empty line in front of it. */
void bal_judgements_text(const struct bal_experiment *experiment, const struct bal_judged *judged,
                         enum bal_claim_group group, FILE *out);

/* A row for each below a head. */
void bal_judgements_csv_head(FILE *out);
void bal_judgements_csv(const struct bal_experiment *experiment, const struct bal_judged *judged, FILE *out);
void bal_judgements_markdown_head(enum bal_claim_group group, FILE *out);
void bal_judgements_markdown(const struct bal_experiment *experiment, const struct bal_judged *judged,
                             enum bal_claim_group group, FILE *out);

/* An object for each of a group, inside a list that is open. */
void bal_judgements_json(struct json *json, const struct bal_experiment *experiment,
                         const struct bal_judged *judged, enum bal_claim_group group);

#endif
