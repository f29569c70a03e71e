/* SPDX-License-Identifier: BSD-2-Clause */
/* What theory predicts for cases: computed before anything is printed, and shown next to measurements. */
#ifndef REPORT_THEORY_ROW_H
#define REPORT_THEORY_ROW_H

#include "ballast/lab.h"
#include "ballast/predict.h"
#include "ballast/theory.h"

struct bal_theory_row {
    struct bal_prediction known;
    bool expanded; /* is there an expansion in 1/N? */
    struct bal_expansion expansion;
    struct bal_chain solved; /* states: 0 where `known` is not the solution of a chain */
    double critical_load;    /* from bal_theory_critical_load */
    double floor_response;   /* bal_theory_lower_bound: the mean response time that no policy can beat */
    bool chain;              /* jobs are made at servers, of which theorems speak: */
    struct bal_stealing_proof proof;
    struct bal_stealing_bound bound;
};

struct bal_theory_row bal_theory_row_of(const struct bal_case *c);

/* Solves the chain of a few servers, where that is possible, in place of what is known otherwise. */
enum bal_chain_outcome bal_theory_row_solve(struct bal_theory_row *theory_row, const struct bal_case *c);

/* Of several, in their order; the caller frees it. NULL: there is no memory. */
struct bal_theory_row *bal_theory_rows_new(const struct bal_case *cases, size_t count);

#endif
