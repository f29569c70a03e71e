/* SPDX-License-Identifier: BSD-2-Clause */
/* Doubts in results, as every report shows them: a mark after the mean, a line under the table with the
 * reason and the remedy, and fixed words for programs. */
#ifndef REPORT_DOUBT_NOTES_H
#define REPORT_DOUBT_NOTES_H

#include "ballast/lab.h"
#include "format/json.h"

/* What the rows of a table have been marked for. All zero at first. */
struct doubt_notes {
    bool undecided;
    struct {
        unsigned rows;
        char who[100]; /* the first of them */
    } doubt[BLI_DOUBTS];
    double rare_jobs;         /* jobs that the marked percentiles would need; 0: none was marked */
    struct bli_advice advice; /* the longest run that any settling row needs */
    double jobs, longer;      /* how many jobs that are, and how many times as long */
};

/* Records a row of that label and returns its mark: " ?", the verdict is open; " !", it is doubted; " ?!",
 * both; or "". */
const char *bli_doubt_add(struct doubt_notes *notes, const char *label, const struct bli_case *c,
                          const struct bli_result *result);

/* Records a percentile and returns its mark: " !", it depends on few spells of long queues; or "". */
const char *bli_doubt_add_rare(struct doubt_notes *notes, const struct bli_case *c,
                               const struct bli_result *result, double quantile);

/* How the reader can ask for longer runs: by options, or in an experiment file. */
enum doubt_remedy {
    BLI_REMEDY_OPTION, /* --jobs 20M --warmup 0.9 */
    BLI_REMEDY_FILE,   /* jobs: 20M, warmup: 0.9 */
    BLI_REMEDY_NONE,
};

/* Was any row marked? */
bool bli_doubt_any(const struct doubt_notes *notes);

/* A line for each kind of mark that there was. */
void bli_doubt_print(const struct doubt_notes *notes, enum doubt_remedy remedy, FILE *out);

/* The words of bli_doubt_text with blanks between; and as a list of a JSON object. */
enum { BLI_DOUBT_WORDS = 80 };
void bli_doubt_words(unsigned doubts, char text[BLI_DOUBT_WORDS]);
void bli_doubt_json(struct json *json, unsigned doubts);

#endif
