/* SPDX-License-Identifier: BSD-2-Clause */
/* Recommends a policy: the one that needs the fewest servers, and among equal ones the one with the best
 * times. Also finds those whose intervals do not separate them from the best. */
#ifndef REPORT_RECOMMEND_H
#define REPORT_RECOMMEND_H

#include "ballast/scheme.h"
#include "ballast/stats.h"

#include <stddef.h>
#include <stdio.h>

struct bli_candidate {
    const struct bal_policy_spec *policy;
    uint32_t servers; /* that it needs; 0: it cannot meet the target */
    struct bli_estimate time;
    double messages; /* for a job */
};

/* The recommended one of those that the nginx module can run: of all that cannot be distinguished from the
 * best, one that plain nginx has, else the one with the fewest messages. as_good[i]: policy i cannot be
 * distinguished from the best. Returns count if there is none. */
size_t bli_recommend(const struct bli_candidate *candidate, size_t count, bool *as_good);

/* Why, as a comment of nginx: "# jsq and jiq cannot be told apart here; jsq is taken, which nginx has by
 * itself." */
void bli_recommend_explain(const struct bli_candidate *candidate, size_t count, const bool *as_good,
                           size_t taken, bool keep, FILE *out);

#endif
