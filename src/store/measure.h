/* What a claim measures at one place. */
#ifndef STORE_MEASURE_H
#define STORE_MEASURE_H

#include "ballast/store.h"

struct bal_measured {
    double value, low, high;  /* low and high bound it */
    enum bal_verdict verdict; /* of BAL_MEASURE_VERDICT */
    const char *unknown;      /* why there is nothing; NULL: there is */
    unsigned doubts;          /* in the values of the results that it was made of, of enum bal_doubt */
};

/* Measures at a point or, for a claim that goes along an axis, along the line of points on which it lies. The
 * interval is so wide that those of `places` places hold together with 95 %. */
enum bal_code bal_claim_measure(struct bal_store *store, const struct bal_experiment *experiment,
                                const struct bal_claim *claim, size_t places, size_t point,
                                struct bal_measured *m, struct bal_error *err);

#endif
