/* SPDX-License-Identifier: BSD-2-Clause */
/* What theory predicts for cases: computed before anything is printed, and shown next to measurements. */
#ifndef REPORT_THEORY_ROW_H
#define REPORT_THEORY_ROW_H

#include "ballast/lab.h"
#include "ballast/predict.h"
#include "ballast/theory.h"

struct bli_theory_row {
    struct bli_prediction known;
    bool expanded; /* is there an expansion in 1/N? */
    struct bli_expansion expansion;
    struct bli_chain solved; /* states: 0 where `known` is not the solution of a chain */
    double critical_load;    /* from bli_theory_critical_load */
    double floor_response;   /* bli_theory_lower_bound: the mean response time that no policy can beat */
    bool chain;              /* jobs are made at servers, of which theorems speak: */
    struct bli_stealing_proof proof;
    struct bli_stealing_bound bound;
};

struct bli_theory_row bli_theory_row_of(const struct bli_case *c);

/* Solves the chain, where that is possible, in place of what is known otherwise; quick: in part of a second.
 */
enum bli_chain_outcome bli_theory_row_solve(struct bli_theory_row *theory_row, const struct bli_case *c,
                                            bool quick);

/* Of several, in their order, which the cases then refer to; the caller frees it. NULL: there is no memory.
 */
struct bli_theory_row *bli_theory_rows_new(struct bli_case *cases, size_t count);

#endif
