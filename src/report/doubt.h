/* Doubts in results, as every report shows them: a mark behind the mean, a line under the table that says
 * why and what would help, and words for programs. */
#ifndef REPORT_DOUBT_H
#define REPORT_DOUBT_H

#include "ballast/lab.h"
#include "format/json.h"

/* What the rows of a table have been marked for. All zero at first. */
struct doubt_notes {
    bool undecided;
    struct {
        unsigned rows;
        char who[100]; /* the first of them */
    } doubt[BAL_DOUBTS];
    struct bal_advice advice; /* for all that settle: the longest */
    double jobs, longer;      /* how many jobs that are, and how many times as long */
};

/* Notes a row of that label and returns its mark: " ?", the verdict is open; " !", it is doubted; " ?!"; or
 * "". */
const char *bal_doubt_take(struct doubt_notes *notes, const char *label, const struct bal_case *c,
                           const struct bal_result *result);

/* How whoever reads it can ask for longer runs. */
enum doubt_remedy {
    BAL_REMEDY_OPTION, /* --jobs 20M --warmup 0.9 */
    BAL_REMEDY_FILE,   /* jobs: 20M, warmup: 0.9 */
    BAL_REMEDY_NONE,
};

/* Was any row marked? */
bool bal_doubt_any(const struct doubt_notes *notes);

/* A line for each kind of mark that there was. */
void bal_doubt_print(const struct doubt_notes *notes, enum doubt_remedy remedy, FILE *out);

/* The words of bal_doubt_text with blanks between; the same as a field of a csv row, comma first; and as a
 * list of a JSON object. */
enum { BAL_DOUBT_WORDS = 80 };
void bal_doubt_words(unsigned doubts, char text[BAL_DOUBT_WORDS]);
void bal_doubt_csv(unsigned doubts, FILE *out);
void bal_doubt_json(struct json *json, unsigned doubts);

#endif
