/* What theory says of cases: found before anything is printed, and put beside what was measured. */
#ifndef REPORT_BESIDE_H
#define REPORT_BESIDE_H

#include "ballast/known.h"
#include "ballast/lab.h"
#include "ballast/theory.h"

struct bal_beside {
    struct bal_known known;
    double critical_load;  /* as bal_known_critical_load says it */
    double floor_response; /* bal_known_floor: the mean response time that no policy can beat */
    bool chain;            /* jobs are made at servers, of which theorems speak: */
    struct bal_stealing_proof proof;
    struct bal_stealing_bound bound;
};

struct bal_beside bal_beside_of(const struct bal_case *c);

/* Of several, in their order; the caller frees it. NULL: there is no memory. */
struct bal_beside *bal_beside_new(const struct bal_case *cases, size_t count);

#endif
