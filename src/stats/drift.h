/* The stability verdict, one replication after the other: no list of them is needed. */
#ifndef STATS_DRIFT_H
#define STATS_DRIFT_H

#include "ballast/stats.h"

#include "stats/moments.h"

/* All 0 to begin with. */
struct bal_drift {
    struct bal_moments excess;  /* of the second half over what critical load would make of the first */
    struct bal_moments growth;  /* from the third quarter to the fourth */
    struct bal_moments before;  /* from the second to the third */
    struct bal_moments slowing; /* above what critical load would make of it */
    double total;
};

/* What bal_verdict_of_drift takes as a list. */
void bal_drift_add(struct bal_drift *drift, const double quarters[4]);
enum bal_verdict bal_drift_verdict(const struct bal_drift *drift);

#endif
