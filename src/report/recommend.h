/* Which policy to take: the one that needs the fewest servers, and of equal ones the best times; and which
 * others are as good as far as the intervals tell. */
#ifndef REPORT_RECOMMEND_H
#define REPORT_RECOMMEND_H

#include "ballast/scheme.h"
#include "ballast/stats.h"

#include <stddef.h>
#include <stdio.h>

struct bal_candidate {
    const struct bal_policy_spec *policy;
    uint32_t servers; /* that it needs; 0: it is out of the question */
    struct bal_estimate time;
    double messages; /* for a job */
};

/* The one to take of those that the module for nginx can run: of all that cannot be told apart one that nginx
 * has by itself, else the one of the fewest messages. as_good[i]: this one cannot be told from the best.
 * count: there is none.
 */
size_t bal_recommend(const struct bal_candidate *candidate, size_t count, bool *as_good);

/* Why, as a comment of nginx: "# jsq and jiq cannot be told apart here; jsq is taken, which nginx has by
 * itself." */
void bal_recommend_explain(const struct bal_candidate *candidate, size_t count, const bool *as_good,
                           size_t taken, bool keep, FILE *out);

#endif
